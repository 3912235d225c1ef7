//! Models in which a process sees that another one is *not* yet waiting for a rendezvous: by an
//! atomic sequence that stops, by an `else`, by what the send would interrupt. The step by which
//! the other one comes to its receive is no left mover there, under any reduction. (With `dynamic`
//! it was one, and the failed assertions were missed.)

use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, Task};
use mover_ir::program::Property;
use mover_reduce::Reduction;
use mover_symbolic::{Bmc, Ic3, SymbolicOptions};

const MODELS: [&str; 3] = [
    "byte x, y; chan s = [0] of { byte };
    active proctype P() { atomic { y == 1 -> x = 1; s!1 } }
    active proctype Q() { byte l; y = 1; skip; if :: s?l :: x == 1 -> assert(false) fi }",
    "byte y; chan s = [0] of { byte };
    active proctype P() { y == 1; if :: s!1 :: else -> assert(false) fi }
    active proctype Q() { byte l; y = 1; skip; s?l }",
    "byte x, y; chan s = [0] of { byte };
    active proctype P() { y == 1; { x = 1; assert(x == 0) } unless { s!1 } }
    active proctype Q() { byte l; y = 1; skip; s?l }",
];

#[test]
fn an_offer_that_is_not_made_is_seen() {
    let mut missed = Vec::new();
    for text in MODELS {
        let read = mover_promela::parse_text("model", text).unwrap_or_else(|_| panic!("{text}"));
        let task = Task::new(read.program, vec![Property::UnreachCall]);
        for reduction in Reduction::ALL {
            let options = SymbolicOptions {
                depth: Some(12),
                ..SymbolicOptions::default()
            };
            let bounded = Bmc {
                reduction,
                options: options.clone(),
                ..Bmc::default()
            };
            let inductive = Ic3 {
                reduction,
                options,
                certify: false,
            };
            for engine in [&bounded as &dyn Engine, &inductive] {
                let control = Control::unlimited().within(Duration::from_secs(60));
                let outcome = engine.run(&task, &control, &mut |_| {});
                let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}: {text}"));
                if !matches!(outcome.conclusion, Conclusion::Unsafe(_)) {
                    missed.push(format!(
                        "{}, {reduction}: {:?}\n{text}",
                        engine.name(),
                        outcome.conclusion
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
