//! C to Program.
pub(crate) mod ssa;
mod llvm;
mod flatten;
pub(crate) const RUNTIME_NAME: &str = "mover-runtime.c";
pub fn probe(files: &[&std::path::Path], rt: &std::path::Path) { println!("{:#?}", llvm::read(files, rt)); }
