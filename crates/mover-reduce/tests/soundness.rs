//! What the plan calls a mover moves: tried on every reachable state of every model.
//!
//! The definitions and the exact claims are in `common::judge`. There are four plans: the static
//! movers, those of the program that forgets dead values, the classes that transactions are made
//! of, and the conditions of the reduction `dynamic`. (Those of `phase` that only explicit search
//! knows are tried by that engine's own check of its movers.)

mod common;

use mover_ir::expr::Expr;
use mover_reduce::{Movers, Reduction, forgetful_movers, movers};

use common::judge::{Claims, Tried, judge};
use common::models;

fn all_claims(program: &mover_ir::program::Program) -> Vec<(&'static str, Claims)> {
    let (Ok(movers), Ok(forgetful)) = (movers(program), forgetful_movers(program)) else {
        return Vec::new();
    };
    let of_classes = |movers: &Movers| Claims::of_classes(movers);
    vec![
        ("static", Claims::of_movers(&movers)),
        (
            "static, dead values forgotten",
            Claims::of_movers(&forgetful),
        ),
        ("transactions", of_classes(&movers)),
        (
            "dynamic",
            Claims::of_conditions(program, Reduction::Dynamic),
        ),
    ]
}

#[test]
fn what_the_plan_calls_a_mover_moves() {
    let mut total = Tried::default();
    let mut wrong = Vec::new();
    for model in models() {
        for (plan, claims) in all_claims(&model.program) {
            match judge(&claims) {
                Ok(tried) => {
                    total.states += tried.states;
                    total.left += tried.left;
                    total.right += tried.right;
                }
                Err(why) => wrong.push(format!("{}, {plan}: {why}", model.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{total:?}");
    assert!(total.left > 1000 && total.right > 1000, "{total:?}");
}

/// A model, an edge of it, and whether it is wrongly called a left and a right mover.
const DOCTORED: [(&str, &str, bool, bool); 11] = [
    // A write that nothing protects.
    ("unprotected", "x = ", true, true),
    ("unprotected", "x = ", true, false),
    ("unprotected", "x = ", false, true),
    // Taking a lock is no left mover, giving it back no right mover.
    ("plain_lock", "!m", true, false),
    ("plain_lock", "m = false", false, true),
    // What the new thread does cannot come before its start.
    ("spawn_and_stay", "run P", false, true),
    // The offer of a rendezvous is seen not to be made.
    ("rendezvous_or_else", "l = 3", true, false),
    ("rendezvous_unless", "l = 3", true, false),
    // A message that is waited for.
    ("channel_shared", "c?l", true, false),
    // A flag that another thread waits for; a statement that can be interrupted.
    ("publish_by_flag", "ready = true", false, true),
    ("unless", "a = 1", true, false),
];

#[test]
fn a_doctored_plan_is_refused() {
    let models = models();
    for (name, text, left, right) in DOCTORED {
        let model = models.iter().find(|model| model.name == name);
        let program = &model.expect("the model is there").program;
        let movers = movers(program).expect("there are movers");
        let mut claims = Claims::of_movers(&movers);
        assert!(judge(&claims).is_ok(), "{name}");
        let mut found = 0;
        for (template, body) in claims.program.templates.iter().enumerate() {
            for (location, place) in body.locations.iter().enumerate() {
                for (number, edge) in place.edges.iter().enumerate() {
                    if edge.text.contains(text) {
                        let claim = &mut claims.edges[template][location][number];
                        if left {
                            claim.left = Expr::TRUE;
                        }
                        if right {
                            claim.right = Expr::TRUE;
                        }
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 0, "{name} has an edge `{text}`");
        let refused = judge(&claims).is_err();
        assert!(refused, "{name}: `{text}`, left {left}, right {right}");
    }
}
