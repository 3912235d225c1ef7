//! The transactions of a run.
//!
//! `transactions` says where transactions begin and end in a template, for all paths. Here a
//! run is given, so each step has one position in a transaction: before the commit point, at
//! it, or after it. A transaction continues as long as its thread runs without a context switch
//! and it has not committed or only left movers can follow. The steps of an atomic sequence are
//! never separated.
//!
//! The run is one of the original program; the classes are those of the fused program, in which
//! an atomic sequence is one edge. Locations have the same numbers in both.

use mover_ir::program::{LocationId, Program, TemplateId};
use mover_ir::semantics::{Machine, Step};

use crate::facts::access::EdgeRef;
use crate::plan::movers::Movers;
use crate::plan::transactions::Classes;

/// The part of its transaction that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransactionPart {
    /// A right mover: the transaction could still begin later.
    Before,
    /// The step by which the transaction takes effect.
    Commit,
    /// A left mover after the commit point.
    After,
}

impl TransactionPart {
    pub fn name(self) -> &'static str {
        match self {
            TransactionPart::Before => "before",
            TransactionPart::Commit => "commit",
            TransactionPart::After => "after",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Whether a transaction begins with this step.
    pub begins: bool,
    pub part: TransactionPart,
    pub is_left: bool,
    pub is_right: bool,
}

/// A thread in the middle of a fused edge.
struct Middle {
    /// Number of its remaining steps.
    left: usize,
    edge: EdgeRef,
}

/// Assigns the steps of a run to transactions. The run must be one of the program for which the
/// movers were computed.
pub fn place(original: &Program, movers: &Movers, steps: &[Step]) -> Vec<Placed> {
    let classes = Classes::new(movers);
    let machine = Machine::new(original);
    let mut state = machine.initial();
    let mut placed: Vec<Placed> = Vec::new();
    let mut middle: Option<Middle> = None;
    let mut last_thread = None;
    let mut has_committed = false;
    for &step in steps {
        let thread = step.by.thread;
        let Some(alive) = &state.threads[thread] else {
            break;
        };
        let same_thread = last_thread == Some(thread);
        let in_middle = middle
            .take()
            .filter(|middle| same_thread && middle.left > 0);
        let edge = match &in_middle {
            Some(middle) => middle.edge,
            None => EdgeRef {
                template: alive.template.index(),
                location: alive.location.index(),
                edge: step.by.edge,
            },
        };
        let class = Class::of(&classes, edge);
        let goes_on = same_thread
            && (in_middle.is_some()
                || state.exclusive == Some(thread)
                || may_go_on(&classes, alive.template, alive.location, has_committed));
        if !goes_on {
            has_committed = false;
        }
        let part = match (has_committed, class.is_right) {
            (true, _) => TransactionPart::After,
            (false, true) => TransactionPart::Before,
            (false, false) => TransactionPart::Commit,
        };
        has_committed |= part == TransactionPart::Commit;
        placed.push(Placed {
            begins: !goes_on,
            part,
            is_left: class.is_left,
            is_right: class.is_right,
        });
        let left = match in_middle {
            Some(middle) => middle.left - 1,
            None => class.parts.saturating_sub(1),
        };
        middle = Some(Middle { left, edge });
        last_thread = Some(thread);
        state = machine.apply(&state, step);
    }
    placed
}

struct Class {
    is_left: bool,
    is_right: bool,
    /// Number of original edges it consists of.
    parts: usize,
}

impl Class {
    /// An edge that is absent from the fused program is a non-mover.
    fn of(classes: &Classes, edge: EdgeRef) -> Class {
        let movers = classes.movers;
        let location = &movers.fused.program.templates[edge.template].locations[edge.location];
        if edge.edge >= location.edges.len() {
            return Class {
                is_left: false,
                is_right: false,
                parts: 1,
            };
        }
        Class {
            is_left: classes.is_left(edge),
            is_right: classes.is_right(edge),
            parts: movers.fused.made_of[edge.template][edge.location][edge.edge].len(),
        }
    }
}

/// Whether a transaction may continue from a location, as in [`Classes::transactions`].
fn may_go_on(
    classes: &Classes,
    template: TemplateId,
    location: LocationId,
    has_committed: bool,
) -> bool {
    let (template, location) = (template.index(), location.index());
    if classes.movers.meets[template][location] {
        return false;
    }
    let edges = &classes.movers.fused.program.templates[template].locations[location].edges;
    !has_committed
        || (0..edges.len()).all(|edge| {
            classes.is_left(EdgeRef {
                template,
                location,
                edge,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_ir::builder::ProgramBuilder;
    use mover_ir::expr::Ty;
    use mover_ir::semantics::Move;

    /// Takes a lock, writes what it protects, releases it, writes what nothing protects.
    fn program() -> Program {
        let mut model = ProgramBuilder::new("test");
        let lock = model.mutex("lock");
        let data = model.global("data", Ty::BYTE);
        let free = model.global("free", Ty::BYTE);
        let thread = model.thread("P", |t| {
            t.lock(lock);
            t.assign(data, 5);
            t.unlock(lock);
            t.assign(free, 7);
        });
        model.start(thread);
        model.start(thread);
        model.build().expect("it is well-formed")
    }

    #[test]
    fn a_critical_section_is_one_transaction() {
        let program = program();
        let movers = crate::movers(&program).expect("movers");
        let step = |thread| Step {
            by: Move { thread, edge: 0 },
            with: None,
            choice: 0,
        };
        let steps: Vec<Step> = [0, 0, 0, 0, 1, 1].into_iter().map(step).collect();
        let placed = place(&program, &movers, &steps);
        let begins: Vec<bool> = placed.iter().map(|placed| placed.begins).collect();
        assert_eq!(begins, [true, false, false, true, true, false]);
        let parts: Vec<TransactionPart> = placed.iter().map(|placed| placed.part).collect();
        assert_eq!(
            parts,
            [
                TransactionPart::Before,
                TransactionPart::Before,
                TransactionPart::Commit,
                TransactionPart::Commit,
                TransactionPart::Before,
                TransactionPart::Before
            ]
        );
    }
}
