fn main() {
    for a in std::env::args().skip(1) {
        let (s, d, m) = mover_promela::read_ast(std::path::Path::new(&a), &Default::default());
        println!("{a}: {} units, {} diags", m.units.len(), d.len());
        for d in d { println!("   {:?} {} {}", d.severity, d.message, d.label.map(|(sp,_)| format!("{} `{}`", s.locate(sp), s.text(sp))).unwrap_or_default()); }
    }
}
