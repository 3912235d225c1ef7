//! A model written in Rust: two threads count in the same variable. Do both count?

use std::error::Error;

use mover_ir::builder::ProgramBuilder;
use mover_ir::expr::Ty;
use mover_report::text::{self, Rows, Style};

fn main() -> Result<(), Box<dyn Error>> {
    let mut model = ProgramBuilder::new("lost update");
    let counter = model.global("counter", Ty::BYTE);
    let worker = model.thread("worker", |t| {
        let own = t.local("own", Ty::BYTE);
        t.assign(own, counter);
        t.assign(counter, own + 1);
    });
    model.main(|t| {
        let (a, b) = (t.spawn(worker), t.spawn(worker));
        t.join(a);
        t.join(b);
        t.assert(counter.eq(2), "both updates count");
    });
    let answer = mover_check::check(&model.build()?).threads(2).run()?;
    let plain = Style { color: false };
    print!("{}", text::answer(&answer, plain, Rows::Folded, false));
    Ok(())
}
