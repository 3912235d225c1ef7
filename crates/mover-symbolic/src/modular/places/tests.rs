//! The wrong variants of proofs by facts at places, and random programs, judged by the concrete
//! semantics with two, three and four created threads.

use mover_engine::Control;
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::{
    Edge, Effect, Location, Program, Template, TemplateId, Variable, VariableId,
};
use mover_reduce::Reduction;

use super::facts::{Follow, GiveUp};
use super::predicates::Pool;
use super::{certify, find};
use crate::modular::rules::Rules;
use crate::modular::tests::{
    Do, G, M, Random, X, Y, count, fails_with, program, question, random_program, unsafe_programs,
};

/// What a search says, and whether its facts are certified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Proved,
    Alarm,
    /// The program is not taken.
    Nothing,
    /// The facts fail their check.
    Noticed,
}

fn said(program: &Program, width: usize, follow: Follow) -> Said {
    let Ok(rules) = Rules::new(program) else {
        return Said::Nothing;
    };
    let Some(mut pool) = Pool::new(program, &rules) else {
        return Said::Nothing;
    };
    pool.many_guards = width > 1;
    let limit = Control::unlimited();
    let found = find(program, &rules, &pool, width, true, follow, &limit);
    let claims = match found.expect("a layout") {
        Ok((claims, _)) => claims,
        Err(GiveUp::Alarm) => return Said::Alarm,
        Err(_) => return Said::Nothing,
    };
    let question = question(Reduction::None, limit);
    match certify(program, &rules, &pool, width, &claims, &question) {
        Ok(Some(_)) => Said::Proved,
        Ok(None) => Said::Nothing,
        Err(_) => Said::Noticed,
    }
}

#[test]
fn programs_that_fail_are_not_proved() {
    for (what, program) in unsafe_programs() {
        for width in 1..=2 {
            let said = said(&program, width, Follow::ALL);
            assert!(
                matches!(said, Said::Alarm | Said::Nothing),
                "{what}, {width}: {said:?}"
            );
        }
    }
}

#[test]
fn the_check_notices_what_a_search_forgot() {
    let all = Follow::ALL;
    let forgetful = [
        Follow { own: false, ..all },
        Follow {
            fixed: false,
            ..all
        },
        Follow {
            creation: false,
            ..all
        },
        Follow {
            interference: false,
            ..all
        },
        Follow {
            twins: false,
            ..all
        },
    ];
    for follow in forgetful {
        let mut noticed = 0;
        let twins = [("threads at one spot disturb each other", twins())];
        for (what, program) in unsafe_programs().into_iter().chain(twins) {
            for width in 1..=2 {
                let said = said(&program, width, follow);
                assert_ne!(said, Said::Proved, "{what} is certified with {follow:?}");
                noticed += usize::from(said == Said::Noticed);
            }
        }
        assert!(noticed > 0, "nothing was found with {follow:?}");
    }
}

/// All threads wait at one spot until the gate is open; the first to pass closes the way for those
/// that stand where it stood.
fn twins() -> Program {
    use Do::*;
    let mut made = program(&[&[Cas(X, 0, 1), AssertIs(X, 0)]], &[Set(G, 1)]);
    let [first, second] = [0, 1].map(|number| made.templates[1].locations[number].clone());
    let is_open = second.edges[0].guard.rewrite(&mut |part| match part {
        Expr::Read(place) => Some(Expr::Read(Place {
            variable: VariableRef::Global(VariableId(G)),
            ..place.clone()
        })),
        Expr::Const { value: 0, width } => Some(Expr::constant(1, *width)),
        _ => None,
    });
    let here = &mut made.templates[1].locations[0];
    here.edges = vec![first.edges[0].clone(), second.edges[1].clone()];
    here.edges[0].target = second.edges[0].target;
    for edge in &mut here.edges {
        edge.guard = edge.guard.clone().and(is_open.clone());
    }
    assert_eq!(fails_with(&made, 2), Some(true));
    made
}

/// The changers make one thread enough for a lock made by hand.
#[test]
fn locks_are_proved() {
    use Do::*;
    let mutex: &[Do] = &[Take(M), Set(X, 1), AssertIs(X, 1), Set(X, 0), Release(M)];
    let by_hand: &[Do] = &[
        Cas(X, 0, 1),
        Set(Y, 1),
        AssertIs(Y, 1),
        Set(Y, 0),
        Set(X, 0),
    ];
    for thread in [mutex, by_hand] {
        let program = program(&[thread], &[]);
        assert_eq!(said(&program, 1, Follow::ALL), Said::Proved, "{thread:?}");
    }
    let two_inside: &[Do] = &[Enter(X, 2), AssertNot(X, 0), Subtract(X)];
    let program = program(&[two_inside], &[]);
    assert_ne!(said(&program, 1, Follow::ALL), Said::Proved);
}

const WIDE: Ty = Ty {
    width: 8,
    signed: false,
};

fn global(number: u32) -> Place {
    Place::scalar(VariableRef::Global(VariableId(number)), WIDE)
}

fn ticket() -> Place {
    Place::scalar(VariableRef::Local(VariableId(0)), WIDE)
}

fn number(value: i64) -> Expr {
    Expr::constant(value, WIDE.width)
}

fn compare(op: BinaryOp, a: Place, b: Expr) -> Expr {
    Expr::binary(op, Expr::Read(a), b)
}

fn more(place: Place) -> Effect {
    let value = Expr::binary(BinaryOp::Add, Expr::Read(place.clone()), number(1));
    Effect::Assign { place, value }
}

/// A ticket lock: `l = t++ (unless that overflows); await s == l; c = 1; assert c == 1; c = 0; s++`,
/// by any number of threads; the wrong one draws the ticket in two steps.
fn ticket_lock(is_wrong: bool) -> Program {
    let [served, next, inside] = [0, 1, 2];
    let set = |place: Place, value: Expr| Effect::Assign { place, value };
    let draw = set(ticket(), Expr::Read(global(next)));
    let may = || compare(BinaryOp::Ne, global(next), number(-1));
    let mut locations = match is_wrong {
        false => vec![Location::with_edges(vec![Edge::new(
            may(),
            vec![draw, more(global(next))],
            1,
            "draw",
        )])],
        true => vec![
            Location::with_edges(vec![Edge::new(may(), vec![draw], 1, "read")]),
            Location::with_edges(vec![Edge::new(may(), vec![more(global(next))], 2, "add")]),
        ],
    };
    let at = locations.len() as u32;
    let steps = [
        (
            compare(BinaryOp::Eq, global(served), Expr::Read(ticket())),
            vec![],
            "await",
        ),
        (Expr::TRUE, vec![set(global(inside), number(1))], "enter"),
        (
            compare(BinaryOp::Eq, global(inside), number(1)),
            vec![],
            "assert",
        ),
        (Expr::TRUE, vec![set(global(inside), number(0))], "leave"),
        (Expr::TRUE, vec![more(global(served))], "serve"),
        (Expr::TRUE, vec![Effect::Exit], "end"),
    ];
    for (offset, (guard, effects, text)) in steps.into_iter().enumerate() {
        let edge = Edge::new(guard, effects, at + offset as u32 + 1, text);
        locations.push(Location::with_edges(vec![edge]));
    }
    let end = locations.len() as u32;
    let fails = compare(BinaryOp::Ne, global(inside), number(1));
    locations[at as usize + 2]
        .edges
        .push(Edge::new(fails, vec![], end + 1, "fail"));
    locations.push(Location::default());
    locations.push(Location::failure("two threads are inside", None));
    let spawn = Effect::Spawn {
        template: TemplateId(1),
        args: Vec::new(),
        priority: 1,
        result: None,
    };
    let main = vec![Location::with_edges(vec![Edge::new(
        Expr::TRUE,
        vec![spawn],
        0,
        "create",
    )])];
    let mut made = program(&[&[]], &[]);
    made.globals = ["s", "t", "c"]
        .map(|name| Variable::scalar(name, WIDE))
        .into();
    made.templates = vec![
        Template::new("main", Vec::new(), main),
        Template::new("t", vec![Variable::scalar("l", WIDE)], locations),
    ];
    made
}

/// Two threads have different tickets, and nobody waits for one that was served: facts about two
/// threads and about numbers that are never constants.
#[test]
fn a_ticket_lock_is_proved_with_two_threads() {
    let right = ticket_lock(false);
    assert_eq!(said(&right, 1, Follow::ALL), Said::Alarm);
    assert_eq!(said(&right, 2, Follow::ALL), Said::Proved);
    let wrong = ticket_lock(true);
    assert_eq!(fails_with(&wrong, 2), Some(true));
    assert_eq!(said(&wrong, 2, Follow::ALL), Said::Alarm);
}

#[test]
fn facts_about_random_programs_are_judged_by_the_semantics() {
    let count = count(100, 10_000);
    let mut random = Random(0x853C_49E6_748F_EA9B);
    let (mut proved, mut safe, mut failing) = ([0; 2], 0, 0);
    for number in 0..count {
        let (program, text) = random_program(&mut random);
        let fails = (1..=4).any(|created| fails_with(&program, created) == Some(true));
        for width in 1..=2 {
            let said = said(&program, width, Follow::ALL);
            assert_ne!(said, Said::Noticed, "program {number}: {text}");
            assert!(
                !(fails && said == Said::Proved),
                "program {number} is proved by facts about {width} threads but fails: {text}"
            );
            proved[width - 1] += usize::from(said == Said::Proved);
        }
        failing += usize::from(fails);
        safe += usize::from(!fails);
        if number % 500 == 499 {
            println!("{number}: {failing} fail, {safe} do not, {proved:?} are proved");
        }
    }
    println!("{failing} fail, {safe} do not with 4 threads, {proved:?} of these are proved");
    assert!(failing * 5 > count, "too few programs fail");
    assert!(proved[1] * 2 > safe, "too few programs are proved");
}
