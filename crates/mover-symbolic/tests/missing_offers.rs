//! Models in which a process sees that another one is *not* yet waiting for a rendezvous: by an
//! atomic sequence that stops, by an `else`, by what the send would interrupt. The step by which
//! the other one comes to its receive is no left mover there, under any reduction. (With `dynamic`
//! it was one, and the failed assertions were missed.)

use std::time::{Duration, Instant};

use mover_reduce::{Heuristics, Reduction};
use mover_symbolic::layout::Bounds;
use mover_symbolic::outcome::{Conclusion, Question};
use mover_symbolic::sat::Limit;
use mover_symbolic::{check_bounded, check_inductive};

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
        for reduction in Reduction::ALL {
            let question = Question {
                reduction,
                heuristics: Heuristics::ALL,
                peephole: false,
                unfold: true,
                errors: true,
                deadlocks: false,
                bounds: Bounds::default(),
                depth: Some(12),
                contexts: None,
                certify: false,
                check_answers: false,
                carry_over: false,
                limit: Limit {
                    interrupt: Vec::new(),
                    deadline: Some(Instant::now() + Duration::from_secs(60)),
                },
            };
            let bounded = check_bounded(&read.program, &question, &mut |_| {});
            let inductive = check_inductive(&read.program, &question, &mut |_| {});
            for (engine, outcome) in [("bmc", bounded), ("ic3", inductive)] {
                let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}: {text}"));
                if !matches!(outcome.conclusion, Conclusion::Unsafe(_)) {
                    missed.push(format!(
                        "{engine}, {reduction}: {:?}\n{text}",
                        outcome.conclusion
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
