//! All ways to search one program, compared with the plainest.
//!
//! The judge is the search without any reduction. Every other way must say the
//! same about errors and about deadlocks, and what it reports must replay on the
//! concrete semantics. A new option joins by a line in [`WAYS`].

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mover_explicit::{Ignoring, Options, Order, Outcome, RunTime, explore, explore_with};
use mover_ir::program::{Program, Property};
use mover_reduce::{Movers, PhaseFacts, movers};
use mover_report::trace::Trace;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    None,
    Static,
    /// Static, without right movers.
    Left,
    Phase,
    Dynamic,
}

/// One way to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    pub reduction: Reduction,
    pub order: Order,
    /// Chain blocks if absent.
    pub ignoring: Option<Ignoring>,
    pub jobs: usize,
}

impl Way {
    /// Whether it is meant to store fewer states than there are.
    pub fn reduces(self) -> bool {
        self.reduction != Reduction::None
    }

    /// Whether the states stored do not depend on the order in which they are found.
    fn is_order_independent(self) -> bool {
        matches!(self.reduction, Reduction::None | Reduction::Static)
    }

    /// Whether it may miss violations.
    fn may_miss(self) -> bool {
        self.ignoring.is_some_and(|ignoring| !ignoring.is_sound())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::BreadthFirst => "breadth first",
            Order::DepthFirst => "depth first",
        };
        write!(f, "{:?}, {order}", self.reduction)?;
        if let Some(ignoring) = self.ignoring {
            write!(f, ", {ignoring:?}")?;
        }
        if self.jobs > 1 {
            write!(f, ", {} jobs", self.jobs)?;
        }
        Ok(())
    }
}

const fn way(reduction: Reduction, order: Order) -> Way {
    Way {
        reduction,
        order,
        ignoring: None,
        jobs: 1,
    }
}

const fn with(reduction: Reduction, ignoring: Ignoring) -> Way {
    Way {
        reduction,
        order: Order::DepthFirst,
        ignoring: Some(ignoring),
        jobs: 1,
    }
}

const fn parallel(reduction: Reduction, jobs: usize) -> Way {
    Way {
        reduction,
        order: Order::BreadthFirst,
        ignoring: None,
        jobs,
    }
}

/// All ways; the first is the judge.
pub const WAYS: &[Way] = &[
    way(Reduction::None, Order::BreadthFirst),
    way(Reduction::None, Order::DepthFirst),
    way(Reduction::Static, Order::BreadthFirst),
    way(Reduction::Static, Order::DepthFirst),
    way(Reduction::Left, Order::BreadthFirst),
    with(Reduction::Static, Ignoring::Cpc),
    with(Reduction::Static, Ignoring::CpcNoL19),
    with(Reduction::Static, Ignoring::Cycle),
    with(Reduction::Static, Ignoring::Lfs),
    with(Reduction::Static, Ignoring::Unsound),
    with(Reduction::Left, Ignoring::Cpc),
    with(Reduction::Phase, Ignoring::Cpc),
    with(Reduction::Phase, Ignoring::Cycle),
    with(Reduction::Phase, Ignoring::Lfs),
    with(Reduction::Dynamic, Ignoring::CpcNoL19),
    way(Reduction::Phase, Order::BreadthFirst),
    way(Reduction::Phase, Order::DepthFirst),
    way(Reduction::Dynamic, Order::BreadthFirst),
    way(Reduction::Dynamic, Order::DepthFirst),
    parallel(Reduction::None, 2),
    parallel(Reduction::Static, 3),
    parallel(Reduction::Phase, 2),
    parallel(Reduction::Dynamic, 2),
];

/// What two ways disagree about, or what one of them did wrong alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub property: Property,
    /// The way that is wrong, in words.
    pub way: String,
    pub what: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.property, self.way, self.what)
    }
}

/// States stored over all properties, by way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    pub states: Vec<u64>,
    pub is_wrong: bool,
    pub has_deadlock: bool,
}

/// Searches a program in all ways. `None` if it has more states than this, cannot be
/// judged in time or has no movers.
pub fn compare(program: &Program, most_states: u64) -> Result<Option<Compared>, Mismatch> {
    let mut compared = Compared {
        states: vec![0; WAYS.len()],
        is_wrong: false,
        has_deadlock: false,
    };
    for property in [Property::UnreachCall, Property::NoDeadlock] {
        let mut program = program.clone();
        if property == Property::NoDeadlock {
            program.resume_after_errors();
        }
        let Ok(movers) = movers(&program) else {
            return Ok(None);
        };
        let facts = PhaseFacts::new(&movers);
        let mut judged = None;
        let mut stored: Vec<u64> = Vec::new();
        for (number, &way) in WAYS.iter().enumerate() {
            let fails = |what: String| Mismatch {
                property,
                way: way.to_string(),
                what,
            };
            let outcome = run(&program, &movers, &facts, way, property).map_err(fails)?;
            if outcome.stopped.is_some() || outcome.statistics.states > most_states {
                return Ok(None);
            }
            let states = outcome.statistics.states;
            compared.states[number] += states;
            let same = WAYS.iter().position(|other| {
                way.jobs > 1 && *other == Way { jobs: 1, ..way } && way.is_order_independent()
            });
            if let Some(other) = same
                && outcome.violation.is_none()
                && stored[other] != states
            {
                let with_one = stored[other];
                return Err(fails(format!(
                    "{states} states, but {with_one} with one job"
                )));
            }
            stored.push(states);
            let found = outcome.violation.is_some();
            match judged {
                None => judged = Some(found),
                Some(expected) if expected != found && !(expected && way.may_miss()) => {
                    let what = if expected { "missed" } else { "made up" };
                    return Err(fails(format!("a violation is {what}")));
                }
                Some(_) => {}
            }
        }
        let found = judged == Some(true);
        match property {
            Property::NoDeadlock => compared.has_deadlock = found,
            _ => compared.is_wrong = found,
        }
    }
    Ok(Some(compared))
}

fn run(
    program: &Program,
    movers: &Movers,
    facts: &PhaseFacts,
    way: Way,
    property: Property,
) -> Result<Outcome, String> {
    let interrupt = AtomicBool::new(false);
    let left_only;
    let movers = match way.reduction {
        Reduction::Left => {
            left_only = mover_reduce::movers(program)?.left_only();
            &left_only
        }
        _ => movers,
    };
    let options = Options {
        order: way.order,
        movers: way.reduces().then_some(movers),
        jobs: way.jobs,
        run_time: match way.reduction {
            Reduction::None | Reduction::Static | Reduction::Left => None,
            Reduction::Phase | Reduction::Dynamic => Some(RunTime {
                facts,
                by_reach: way.reduction == Reduction::Dynamic,
            }),
        },
        errors: property == Property::UnreachCall,
        deadlocks: property == Property::NoDeadlock,
        keep_going: false,
        timeout: Some(Duration::from_secs(2)),
        // The judge need not go on long in what is too large anyway.
        memory: Some(if way == WAYS[0] { 1 << 19 } else { 1 << 28 }),
        interrupt: &interrupt,
        progress: &mut |_| {},
    };
    let outcome = match way.ignoring {
        Some(ignoring) => explore_with(ignoring, movers, options)?,
        None => explore(program, options)?,
    };
    if let Some(violation) = &outcome.violation {
        let (property, error) = (violation.property, violation.error);
        Trace::replay(program, &violation.steps, property, error)
            .map_err(|reason| format!("the counterexample does not replay: {reason}"))?;
    }
    Ok(outcome)
}
