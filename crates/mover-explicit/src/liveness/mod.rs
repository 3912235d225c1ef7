//! Search for runs that a claim forbids.
//!
//! A [`Monitor`] has a Büchi automaton that accepts the runs that violate a claim. The search goes
//! through the *product*: pairs of a state of the program and a state of the automaton. In each
//! step the automaton reads the state that the program is in, and then the program moves. A claim
//! is violated if and only if some cycle of the product can be reached and passes an accepting
//! state (Vardi and Wolper 1986).
//!
//! As in SPIN, the automaton does not see the middle of an atomic sequence, unless the sequence is
//! blocked there. If no thread can move, the last state is repeated for ever where the monitor says
//! so; a run that ends in an error does not go on. The end of a C process is a place in which one
//! thread loops for ever while no other can move ([`is_process_end`]); it is a state that is seen,
//! and the end of the run.
//!
//! - `product`: states, letters, successors;
//! - `cycles`: a search for strongly connected components (Couvreur 1999), which finds a cycle as
//!   soon as its last edge is seen. Fairness is a set of marks that a cycle must have besides the
//!   accepting one, so it needs no copies of the state space. If a finite beginning of a run
//!   decides, a breadth-first search for a shortest one is enough (`prefix`);
//! - `streett`: the search with strong fairness, on the whole product;
//! - `lasso`: a stem and a loop through a component that was found;
//! - `local_steps`: the reduction, which `cycles` uses where neither fairness nor the claim forbids it.

mod channel_futures;
mod cycles;
mod lasso;
mod local_steps;
mod prefix;
mod product;
mod streett;

use mover_engine::{Control, EngineError, Statistics, Stop};
use mover_ir::claim::Monitor;
use mover_ir::expr::Expr;
use mover_ir::program::{BoundMet, Edge, Location, LocationId, Program};
use mover_ir::semantics::Step;

use product::Product;

/// Whether the process is over when a thread comes here: nothing happens from then on.
pub fn is_process_end(at: LocationId, location: &Location) -> bool {
    let is_loop =
        |edge: &Edge| edge.target == at && edge.guard == Expr::TRUE && edge.effects.is_empty();
    location.atomic
        && location.valid_end
        && location.labels.iter().any(|label| label == PROCESS_END)
        && location.edges.iter().all(is_loop)
}

/// The label of the place, which no source can have.
const PROCESS_END: &str = "end of the process";

/// Which infinite runs count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which a thread that can always move from some point on moves infinitely often.
    Weak,
    /// Those in which a thread that can move infinitely often does.
    Strong,
}

/// What a search for a forbidden run found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// No run is forbidden.
    Nothing,
    /// However it goes on, a run that begins like this is forbidden.
    Prefix(Vec<Step>),
    /// A forbidden run: the steps from `loop_start` on are repeated for ever. If there are none,
    /// the run ends and its last state counts for ever.
    Lasso {
        steps: Vec<Step>,
        loop_start: usize,
    },
    Stopped(Stop),
    /// Something was met that explicit search does not support, or the claim has no value.
    Refused(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Searched {
    pub found: Found,
    /// Whether local steps went first somewhere.
    pub is_reduced: bool,
    /// Bounds that some run meets; runs are cut off there.
    pub bounds: Vec<BoundMet>,
    pub statistics: Statistics,
}

/// Looks for a run of the program that the monitor forbids; with the reduction if it is wanted and
/// possible.
pub fn find_forbidden_run(
    program: &Program,
    monitor: &Monitor,
    fairness: Fairness,
    reduce: bool,
    control: &Control,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Searched, EngineError> {
    let mut product = Product::new(program, monitor, fairness)?;
    if reduce && fairness == Fairness::None {
        product.reduce(program, monitor);
    }
    // A finite run can always be continued fairly, so fairness does not matter here.
    let found = if monitor.extends_finite_runs && monitor.automaton.is_terminal() {
        prefix::search(&mut product, control, progress)
    } else if fairness == Fairness::Strong {
        streett::search(&mut product, control, progress)
    } else {
        cycles::search(&mut product, control, progress)
    };
    Ok(product.searched(found))
}
