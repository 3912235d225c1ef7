//! Declared operations do on every reachable state what they are declared to do, and no acquisition
//! of a lock is without its declaration.

use std::collections::HashSet;

use mover_ir::expr::{Expr, Place, mask};
use mover_ir::program::{Effect, Program};
use mover_ir::semantics::{Machine, State};
use mover_ir::sync::{SyncAction, mark};

/// Returns how many operations were tried.
pub fn try_declarations(program: &Program, most_states: usize) -> usize {
    for template in &program.templates {
        for edge in template.locations.iter().flat_map(|at| &at.edges) {
            let takes = |effect: &Effect| match effect {
                Effect::Assign { value, .. } | Effect::Store { value, .. } => *value == mark(),
                _ => false,
            };
            let is_declared = |action| edge.sync.iter().any(|op| op.action == action);
            if edge.effects.iter().any(takes) {
                assert!(is_declared(SyncAction::Acquire), "{}", edge.text);
            }
        }
    }
    let machine = Machine::new(program);
    let mut seen = HashSet::from([machine.initial()]);
    let mut work = vec![machine.initial()];
    let mut tried = 0;
    while let Some(state) = work.pop() {
        assert!(seen.len() <= most_states, "too many states");
        for (step, next) in machine.successors(&state) {
            let number = step.by.thread;
            if let Some(thread) = &state.threads[number] {
                let location = program.template(thread.template).location(thread.location);
                let edge = &location.edges[step.by.edge];
                for op in &edge.sync {
                    let cell = |expr| contents(&machine, [&state, &next], number, expr);
                    let count = op.count.as_ref().map(cell);
                    let holds = fits(op.action, cell(&op.cell), count, number as u64 + 1);
                    assert!(holds, "{op:?} in {}", edge.text);
                    tried += 1;
                }
            }
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    tried
}

/// What the cell that an expression reads before a step contains before and after it.
fn contents(machine: &Machine, states: [&State; 2], thread: usize, cell: &Expr) -> [u64; 2] {
    let [before, _] = states;
    let now = |expr: &Expr| Expr::Const {
        value: machine.eval(before, thread, expr),
        width: expr.width(),
    };
    let same = match cell {
        Expr::Read(place) => Expr::Read(Place {
            index: Box::new(now(&place.index)),
            ..place.clone()
        }),
        Expr::Load { address, ty } => Expr::load(now(address), *ty),
        other => panic!("{other:?} is no cell"),
    };
    states.map(|state| machine.eval(state, thread, &same))
}

fn fits(action: SyncAction, cell: [u64; 2], count: Option<[u64; 2]>, mark: u64) -> bool {
    let [before, after] = cell;
    let word = mask(32);
    let counts = |by: u64| count.is_some_and(|[old, new]| new == old.wrapping_add(by) & word);
    match action {
        SyncAction::Acquire => before != mark && after == mark,
        SyncAction::AcquireAgain => cell == [mark, mark] && counts(1),
        SyncAction::ReleaseOnce => cell == [mark, mark] && counts(word),
        SyncAction::Release => after != mark,
        SyncAction::Fail => before == after,
        SyncAction::AcquireShared => after == before + 1,
        SyncAction::ReleaseShared => after + 1 == before,
        SyncAction::Other => true,
    }
}
