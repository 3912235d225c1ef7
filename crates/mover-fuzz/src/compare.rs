//! Compares all variants of explicit search with the simplest one.
//!
//! The judge is the search without any reduction, and it is checked itself: the concrete
//! semantics ([`mod@crate::ir::judge`]) must find the same number of states. Every other
//! variant must agree about errors, about deadlocks and, where there are none of these, about
//! bounds, and its counterexamples must replay on the concrete semantics. A new option is added
//! by a line in [`WAYS`].

use std::fmt;
use std::time::Duration;

use mover_engine::{Conclusion, Control, Engine, EngineError, Outcome, ReplayError, Task};
use mover_explicit::{Completion, Explicit, Ignoring, Order};
use mover_ir::program::{Program, Property};
use mover_reduce::Reduction as Movers;

use crate::ir::judge::judge;

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
    /// Whether values that are no longer read are forgotten.
    pub forgets: bool,
    /// Whether only a persistent set of threads is expanded where there is one.
    pub persistent: bool,
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
        if self.forgets {
            write!(f, ", forgetful")?;
        }
        if !self.persistent {
            write!(f, ", without sets")?;
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
        forgets: false,
        persistent: true,
    }
}

const fn with(reduction: Reduction, ignoring: Ignoring) -> Way {
    Way {
        reduction,
        order: Order::DepthFirst,
        ignoring: Some(ignoring),
        jobs: 1,
        forgets: false,
        persistent: true,
    }
}

const fn parallel(reduction: Reduction, jobs: usize) -> Way {
    Way {
        reduction,
        order: Order::BreadthFirst,
        ignoring: None,
        jobs,
        forgets: false,
        persistent: true,
    }
}

/// The same in the program that forgets values that are no longer read, as `mover check` does it.
const fn forgetful(way: Way) -> Way {
    Way {
        forgets: true,
        ..way
    }
}

/// The same with all threads of every state.
const fn without_sets(way: Way) -> Way {
    Way {
        persistent: false,
        ..way
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
    with(Reduction::Static, Ignoring::Scc),
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
    without_sets(way(Reduction::Dynamic, Order::BreadthFirst)),
    without_sets(parallel(Reduction::Dynamic, 2)),
    forgetful(way(Reduction::Static, Order::BreadthFirst)),
    forgetful(way(Reduction::Left, Order::BreadthFirst)),
    forgetful(with(Reduction::Static, Ignoring::Cpc)),
    forgetful(way(Reduction::Phase, Order::BreadthFirst)),
    forgetful(way(Reduction::Dynamic, Order::BreadthFirst)),
    forgetful(way(Reduction::Dynamic, Order::DepthFirst)),
    forgetful(parallel(Reduction::Static, 2)),
    forgetful(parallel(Reduction::Dynamic, 2)),
];

/// What two ways disagree about, or what one of them did wrong alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    pub property: String,
    /// The way that is wrong, in words.
    pub way: String,
    pub what: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.property, self.way, self.what)
    }
}

/// What is wrong with an answer.
#[derive(Debug, thiserror::Error)]
enum WrongAnswer {
    #[error(transparent)]
    Failed(#[from] EngineError),
    #[error("the counterexample does not replay: {0}")]
    NoReplay(#[from] ReplayError),
    #[error("{states} states, but {with_one} with one job")]
    OtherStates { states: u64, with_one: u64 },
    #[error("a violation is {0}")]
    Violation(Mistake),
    #[error("a bound is {0}")]
    Bound(Mistake),
    #[error("{states} states, but {defined} by the definition")]
    StatesByDefinition { states: u64, defined: u64 },
    #[error("a violation is {0}, says the definition")]
    ViolationByDefinition(Mistake),
    #[error("a bound is {0}, says the definition")]
    BoundByDefinition(Mistake),
}

#[derive(Debug)]
enum Mistake {
    Missed,
    MadeUp,
}

impl Mistake {
    /// Of an answer that says the opposite of what is expected.
    fn against(expected: bool) -> Mistake {
        if expected {
            Mistake::Missed
        } else {
            Mistake::MadeUp
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mistake::Missed => "missed",
            Mistake::MadeUp => "made up",
        })
    }
}

/// How an engine came off with the questions about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Answers that were compared.
    pub answered: u64,
    /// Questions that it does not take.
    pub unsupported: u64,
    /// Questions for which there was no time, or which it answered up to a bound only.
    pub unfinished: u64,
    /// States stored, for an engine that does.
    pub states: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.answered += other.answered;
        self.unsupported += other.unsupported;
        self.unfinished += other.unfinished;
        self.states += other.states;
    }
}

/// Why there was nothing to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassedOver {
    /// It is no program of its language.
    Invalid,
    TooLarge,
}

impl PassedOver {
    pub const ALL: [PassedOver; 2] = [PassedOver::Invalid, PassedOver::TooLarge];

    pub fn name(self) -> &'static str {
        match self {
            PassedOver::Invalid => "not valid",
            PassedOver::TooLarge => "too large",
        }
    }
}

/// What came of a program in all ways.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// By way, and after them the walk by the definition.
    pub tallies: Vec<Tally>,
    pub is_wrong: bool,
    pub has_deadlock: bool,
    /// Whether runs meet a bound, as far as errors and as far as deadlocks were asked for. Says
    /// nothing where there are some.
    pub meets_bound: [bool; 2],
}

impl Compared {
    /// States stored over all properties, by way.
    pub fn states(&self) -> impl Iterator<Item = u64> {
        self.tallies.iter().take(WAYS.len()).map(|way| way.states)
    }
}

/// What the walk by the concrete semantics is called.
pub const DEFINITION: &str = "the definition";

/// Searches a program in all ways. It is passed over if it has more states than this or
/// cannot be judged in time.
pub fn compare(
    program: &Program,
    most_states: u64,
) -> Result<Result<Compared, PassedOver>, Mismatch> {
    let mut compared = Compared {
        tallies: vec![Tally::default(); WAYS.len() + 1],
        is_wrong: false,
        has_deadlock: false,
        meets_bound: [false; 2],
    };
    let properties = [Property::UnreachCall, Property::NoDeadlock];
    for (asked, property) in properties.into_iter().enumerate() {
        let remembering = Task::new(program.clone(), vec![property]).keep_dead_values(true);
        let forgetting = Task::new(program.clone(), vec![property]);
        let mut judged = None;
        let mut stored: Vec<u64> = Vec::new();
        for (number, &way) in WAYS.iter().enumerate() {
            let fails = |what: WrongAnswer| Mismatch {
                property: property.to_string(),
                way: way.to_string(),
                what: what.to_string(),
            };
            let task = if way.forgets {
                &forgetting
            } else {
                &remembering
            };
            // Blocks take steps that wait for `timeout` separately.
            let movers = match way.ignoring.is_none() {
                true => task.movers_between_timeouts(),
                false => task.movers(),
            };
            if way.reduces() && movers.is_err() {
                compared.tallies[number].unsupported += 1;
                stored.push(0);
                continue;
            }
            let outcome = run(task, way).map_err(fails)?;
            let is_cut = matches!(outcome.conclusion, Conclusion::Stopped { .. })
                || has_refused(&outcome, way);
            if is_cut || outcome.statistics.states > most_states {
                return Ok(Err(PassedOver::TooLarge));
            }
            let states = outcome.statistics.states;
            compared.tallies[number].states += states;
            compared.tallies[number].answered += 1;
            let same = WAYS.iter().position(|other| {
                way.jobs > 1 && *other == Way { jobs: 1, ..way } && way.is_order_independent()
            });
            let found = outcome.violation().is_some();
            if let Some(other) = same
                && !found
                && stored[other] != states
            {
                let with_one = stored[other];
                return Err(fails(WrongAnswer::OtherStates { states, with_one }));
            }
            stored.push(states);
            let meets_bound = !outcome.bounds.is_empty();
            match judged {
                None => {
                    judged = Some(found);
                    compared.meets_bound[asked] = meets_bound;
                    compared.tallies[WAYS.len()] +=
                        define(task.program(), property, &outcome).map_err(fails)?;
                }
                Some(expected) if expected != found && !(expected && way.may_miss()) => {
                    let mistake = Mistake::against(expected);
                    return Err(fails(WrongAnswer::Violation(mistake)));
                }
                Some(_) => {}
            }
            let expected = compared.meets_bound[asked];
            if !found && meets_bound != expected && !(expected && way.may_miss()) {
                return Err(fails(WrongAnswer::Bound(Mistake::against(expected))));
            }
        }
        let found = judged == Some(true);
        match property {
            Property::NoDeadlock => compared.has_deadlock = found,
            _ => compared.is_wrong = found,
        }
    }
    Ok(Ok(compared))
}

/// Compares the search of all interleavings with the definition.
fn define(program: &Program, property: Property, outcome: &Outcome) -> Result<Tally, WrongAnswer> {
    let found = outcome.violation().is_some();
    let states = outcome.statistics.states;
    let mut tally = Tally::default();
    let Some(judgement) = judge(program) else {
        tally.unfinished += 1;
        return Ok(tally);
    };
    let expected = match property {
        Property::NoDeadlock => judgement.deadlock || judgement.fatal_error,
        _ => judgement.error,
    };
    if found != expected {
        let mistake = Mistake::against(expected);
        return Err(WrongAnswer::ViolationByDefinition(mistake));
    }
    let defined = judgement.stored as u64;
    if !found && defined != states {
        return Err(WrongAnswer::StatesByDefinition { states, defined });
    }
    if !found && judgement.bound == outcome.bounds.is_empty() {
        let mistake = Mistake::against(judgement.bound);
        return Err(WrongAnswer::BoundByDefinition(mistake));
    }
    tally.answered += 1;
    tally.states += defined;
    Ok(tally)
}

/// Whether a search gave up on something that it does not take. One that may miss violations
/// refuses to call a program safe, which is no such thing.
fn has_refused(outcome: &Outcome, way: Way) -> bool {
    matches!(outcome.conclusion, Conclusion::Refused { .. }) && !way.may_miss()
}

fn run(task: &Task, way: Way) -> Result<Outcome, WrongAnswer> {
    let search = Explicit {
        reduction: match way.reduction {
            Reduction::None => Movers::None,
            Reduction::Static | Reduction::Left => Movers::Static,
            Reduction::Phase => Movers::Phase,
            Reduction::Dynamic => Movers::Dynamic,
        },
        left_only: way.reduction == Reduction::Left,
        order: way.order,
        jobs: way.jobs,
        // Small programs have narrow levels only.
        narrow: 0,
        persistent: way.persistent,
        ..Explicit::default()
    };
    // The judge need not continue long in what is too large anyway.
    let memory = if way == WAYS[0] { 1 << 19 } else { 1 << 28 };
    let control = Control::unlimited()
        .within(Duration::from_secs(2))
        .with_memory(Some(memory));
    let outcome = match way.ignoring {
        Some(ignoring) => Completion { search, ignoring }.run(task, &control, &mut |_| ()),
        None => search.run(task, &control, &mut |_| ()),
    };
    let outcome = outcome?;
    if let Some(violation) = outcome.violation() {
        violation.replay(task.program())?;
    }
    Ok(outcome)
}
