fn main(){ let a: Vec<String> = std::env::args().collect(); mover_c::probe(&[a[1].as_ref()], a[2].as_ref()); }
