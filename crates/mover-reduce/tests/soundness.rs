//! What the plan calls a mover moves: tried on every reachable state of every model.
//!
//! The definitions and the exact claims are in `judge`. There are five plans: the static
//! movers, those of the program that forgets dead values, the classes that transactions are made
//! of, and the plans of the reductions `phase` and `dynamic`. (What a plan lets explicit search
//! assume is tried by that engine's own check of its movers.)

mod common;
mod judge;

use mover_fuzz::ir::smaller::smaller;
use mover_fuzz::{Model, of_seeds};
use mover_ir::expr::Expr;
use mover_ir::print::print_program;
use mover_ir::program::Program;
use mover_reduce::{Reduction, forgetful_movers, movers};

use common::models;
use judge::{Claims, Refusal, Tried, judge};

/// More states than any of the stored models has.
const ALL_STATES: usize = 50_000;

/// Random programs with more are passed over: many small ones find more than a few large ones.
const FEW_STATES: usize = 300;

/// Tries all plans of a program; the error is a claim that does not hold.
fn try_plans(program: &Program, most_states: usize, total: &mut Tried) -> Result<bool, String> {
    let (Ok(movers), Ok(forgetful)) = (movers(program), forgetful_movers(program)) else {
        return Ok(false);
    };
    let plans = [
        ("static", Claims::of_movers(&movers)),
        ("dead values forgotten", Claims::of_movers(&forgetful)),
        ("transactions", Claims::of_classes(&movers)),
        ("phase", Claims::of_plan(program, Reduction::Phase)),
        ("dynamic", Claims::of_plan(program, Reduction::Dynamic)),
    ];
    for (plan, claims) in plans {
        match judge(&claims, most_states) {
            Ok(tried) => total.add(&tried),
            Err(Refusal::TooLarge) => return Ok(false),
            Err(Refusal::Wrong(why)) => return Err(format!("{plan}: {why}")),
        }
    }
    Ok(true)
}

#[test]
fn what_the_plan_calls_a_mover_moves() {
    let mut total = Tried::default();
    let mut complete = 0;
    for model in models() {
        match try_plans(&model.program, ALL_STATES, &mut total) {
            Ok(is_complete) => complete += usize::from(is_complete),
            Err(why) => panic!("{}, {why}\n{}", model.name, model.text),
        }
    }
    println!("{complete} models: {total:?}");
    // Two have no movers.
    assert_eq!(complete, models().len() - 2);
    assert!(total.left > 1000 && total.right > 1000, "{total:?}");
}

/// Tries programs made from seeds; a wrong one is made as small as possible first.
fn try_random(count: u64, program: impl Fn(u64) -> Program + Sync) {
    let tried = of_seeds(count, |seed| {
        let mut program = program(seed);
        let mut tried = Tried::default();
        let mut why = match try_plans(&program, FEW_STATES, &mut tried) {
            Ok(is_complete) => return (is_complete, tried),
            Err(why) => why,
        };
        while let Some((less, still)) = smaller(&program).into_iter().find_map(|less| {
            let wrong = try_plans(&less, FEW_STATES, &mut tried).err()?;
            Some((less, wrong))
        }) {
            (program, why) = (less, still);
        }
        panic!("seed {seed}: {why}\n{}", print_program(&program));
    });
    let count = tried.len();
    let mut total = Tried::default();
    let mut complete = 0;
    for (is_complete, tried) in tried {
        complete += u64::from(is_complete);
        total.add(&tried);
    }
    println!("{complete} of {count} programs: {total:?}");
    assert!(total.left > 0 && total.right > 0, "{total:?}");
}

#[test]
fn movers_of_random_models_move() {
    try_random(300, |seed| {
        let read = mover_promela::parse_text("random", &Model::random(seed).text());
        read.map_or_else(|_| Program::default(), |read| read.program)
    });
}

#[test]
fn movers_of_random_programs_move() {
    try_random(600, mover_fuzz::ir::random);
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
        assert!(judge(&claims, ALL_STATES).is_ok(), "{name}");
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
        let refused = judge(&claims, ALL_STATES);
        assert!(
            matches!(refused, Err(Refusal::Wrong(_))),
            "{name}: `{text}`, left {left}, right {right}"
        );
    }
}
