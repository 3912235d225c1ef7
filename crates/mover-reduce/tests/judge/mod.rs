//! Lipton's definitions, tried out on every reachable state.
//!
//! A *step* is what a thread does without anybody else coming between: one edge of the fused
//! program or a whole atomic sequence of edges. A step that stops in the middle of its sequence,
//! because the thread has to wait there, has no claim. Otherwise
//!
//! - it is claimed to be a *right mover* if the condition `right` of each of its edges holds in the
//!   state behind that edge;
//! - it is claimed to be a *left mover* if the condition `left` of each of its edges holds in the
//!   state before that edge, and where the thread passes in the middle of its sequence the same is
//!   true of all edges of that location (an edge that is not taken there may be up to others).
//!
//! Let s be a reachable state, a a step of thread t in s, and b a step of another thread u that
//! a does not take part in. Claimed is:
//!
//! 1. If a is a right mover and b follows it, then b is possible in s, a follows it, and both orders
//!    lead to the same state, in which a is still a right mover. (So it can move past further steps.)
//! 2. If b is a left mover in s and a is possible in s, then b is possible behind a and is still a
//!    left mover there, a is possible behind b, and both orders lead to the same state.
//! 3. If all that u can do in s are left movers, whatever it is, then behind a it can do nothing
//!    else. (A transaction behind its commit point goes on without asking others; it ends where its
//!    thread has to wait.)
//! 4. If the classes do not depend on the state and b follows a as a left mover, then b is possible
//!    in s and a behind it, with the same result. This is Lipton's definition. For classes that
//!    depend on the state 2 and 3 take its place: a thread that waits for what a does is not in a
//!    transaction.
//! 5. The end of a run, an error or a bound, stays: if a leads to one and b is a left mover in s,
//!    a is possible after b; and if b leads to one, it need not be followed by anything.
//!
//! 6. A step by which the run is abandoned (an atomic sequence that goes round at one place, so that
//!    nobody ever moves again) has no claim, and no step has to commute with it: nothing follows it,
//!    and it violates nothing.
//!
//! All of it is worked out with the concrete semantics, which knows nothing of movers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::Program;
use mover_ir::semantics::{Machine, Move, State, Step};
use mover_reduce::facts::access::EdgeRef;
use mover_reduce::facts::thread_bound::most_threads;
use mover_reduce::plan::transactions::Classes;
use mover_reduce::{Heuristics, Movers, Reduction, ReductionPlan};

/// Steps of the longest atomic sequence that is followed, and most sequences of one thread.
const LONGEST: usize = 32;
const MOST_SEQUENCES: usize = 64;

/// The largest value that a step may pick and be tried.
const MOST_CHOICES: u64 = 16;

/// Why not everything was found to be in order.
#[derive(Debug)]
pub enum Refusal {
    /// A claim that does not hold.
    Wrong(String),
    /// More states, or longer atomic sequences, than are tried.
    TooLarge,
}

#[derive(Clone)]
pub struct Claim {
    pub left: Expr,
    pub right: Expr,
}

/// What is said to move in a program, by template, location and edge.
pub struct Claims {
    pub program: Program,
    pub edges: Vec<Vec<Vec<Claim>>>,
    meets: Vec<Vec<bool>>,
    /// Whether the classes are the same in all states.
    is_static: bool,
}

impl Claims {
    /// What the edges are said to be whatever the state.
    fn constant(movers: &Movers, class: impl Fn(EdgeRef) -> (bool, bool)) -> Claims {
        let program = movers.fused.program.clone();
        let constant = |value| if value { Expr::TRUE } else { Expr::FALSE };
        let mut edges = Vec::new();
        for (template, body) in program.templates.iter().enumerate() {
            let of_location = |location: usize| {
                let claim = |edge| {
                    let (left, right) = class(EdgeRef {
                        template,
                        location,
                        edge,
                    });
                    Claim {
                        left: constant(left),
                        right: constant(right),
                    }
                };
                (0..body.locations[location].edges.len())
                    .map(claim)
                    .collect()
            };
            edges.push((0..body.locations.len()).map(of_location).collect());
        }
        Claims {
            program,
            edges,
            meets: movers.meets.clone(),
            is_static: true,
        }
    }

    /// The static movers.
    pub fn of_movers(movers: &Movers) -> Claims {
        Claims::constant(movers, |at| {
            let mover = &movers.edges[at.template][at.location][at.edge];
            (mover.left, mover.right)
        })
    }

    /// The classes that transactions are made of, which know locks in rows.
    pub fn of_classes(movers: &Movers) -> Claims {
        let classes = Classes::new(movers);
        Claims::constant(movers, |at| (classes.is_left(at), classes.is_right(at)))
    }

    /// The plan of a reduction.
    pub fn of_plan(original: &Program, reduction: Reduction) -> Claims {
        let threads = most_threads(original) as usize;
        let plan = ReductionPlan::new(original, reduction, Heuristics::ALL, threads);
        let claim = |edge: &mover_reduce::EdgePlan| Claim {
            left: edge.left.condition(),
            right: edge.right.condition(),
        };
        let of_location = |edges: &Vec<_>| edges.iter().map(claim).collect();
        let of_template = |locations: &Vec<Vec<_>>| locations.iter().map(of_location).collect();
        Claims {
            edges: plan.edges.iter().map(of_template).collect(),
            program: plan.program,
            meets: plan.meets,
            is_static: reduction == Reduction::Static,
        }
    }
}

/// How much was tried.
#[derive(Default, Debug)]
pub struct Tried {
    pub states: usize,
    pub right: usize,
    pub left: usize,
}

impl Tried {
    pub fn add(&mut self, more: &Tried) {
        self.states += more.states;
        self.right += more.right;
        self.left += more.left;
    }
}

/// A step of a thread: one edge or an atomic sequence.
struct Doing {
    steps: Vec<Step>,
    after: State,
    ends_run: bool,
    /// Whether the run goes round at one place from there.
    is_abandoned: bool,
    left: bool,
    right: bool,
}

impl Doing {
    fn involves(&self, thread: usize) -> bool {
        self.steps.iter().any(|step| {
            step.by.thread == thread || step.with.is_some_and(|with| with.thread == thread)
        })
    }
}

/// Tries all claims in programs of at most so many states; the error is the first that does not
/// hold.
pub fn judge(claims: &Claims, most_states: usize) -> Result<Tried, Refusal> {
    let judge = Judge {
        claims,
        machine: Machine::new(&claims.program),
    };
    let mut tried = Tried::default();
    let first = judge.machine.initial();
    let mut seen = BTreeSet::from([first.clone()]);
    let mut work = VecDeque::from([first]);
    while let Some(state) = work.pop_front() {
        tried.states += 1;
        if tried.states > most_states {
            return Err(Refusal::TooLarge);
        }
        let mut doings: BTreeMap<usize, Vec<Doing>> = BTreeMap::new();
        for thread in 0..state.threads.len() {
            doings.insert(thread, judge.doings(&state, thread)?);
        }
        for first in doings.values().flatten() {
            judge.try_first(&state, &doings, first, &mut tried)?;
            if !first.ends_run && seen.insert(first.after.clone()) {
                work.push_back(first.after.clone());
            }
        }
    }
    Ok(tried)
}

struct Judge<'c> {
    claims: &'c Claims,
    machine: Machine<'c>,
}

impl Judge<'_> {
    /// What a thread can do in a state in which nobody is in the middle of a sequence.
    fn doings(&self, state: &State, thread: usize) -> Result<Vec<Doing>, Refusal> {
        let mut doings = Vec::new();
        let mut work: Vec<(Vec<Step>, State, bool, bool)> =
            vec![(Vec::new(), state.clone(), true, true)];
        while let Some((steps, at, left, right)) = work.pop() {
            let ends_process = !steps.is_empty() && self.turns_for_ever(&at)?;
            let ends_run = ends_process
                || self.machine.error(&at).is_some()
                || self.machine.bound(&at).is_some();
            if !steps.is_empty() && (ends_run || at.exclusive.is_none()) {
                let stops = !ends_run && self.stops_in_sequence(&at, steps[steps.len() - 1]);
                doings.push(Doing {
                    steps,
                    after: at,
                    ends_run,
                    is_abandoned: ends_process,
                    left: left && !stops && !ends_process,
                    right: right && !stops && !ends_process,
                });
                continue;
            }
            if steps.len() >= LONGEST || doings.len() > MOST_SEQUENCES {
                return Err(Refusal::TooLarge);
            }
            let goes_on = at.exclusive.unwrap_or(thread);
            let left = left && (steps.is_empty() || self.all_left(&at, goes_on));
            for step in self.steps_of(&at, goes_on)? {
                let after = self.machine.apply(&at, step);
                let mut longer = steps.clone();
                longer.push(step);
                let parts = || [Some(step.by), step.with].into_iter().flatten();
                let left = left && parts().all(|part| self.is_left(&at, part));
                let right = right && parts().all(|part| self.is_right(&at, part, &after));
                work.push((longer, after, left, right));
            }
        }
        Ok(doings)
    }

    /// Whether an atomic sequence goes round at one place, and nobody else ever moves again: so a
    /// process ends whose threads do not.
    fn turns_for_ever(&self, state: &State) -> Result<bool, Refusal> {
        let Some(thread) = state.exclusive else {
            return Ok(false);
        };
        let steps = self.steps_of(state, thread)?;
        let mut after = steps.iter().map(|&step| self.machine.apply(state, step));
        Ok(!steps.is_empty() && after.all(|after| after == *state))
    }

    fn steps_of(&self, state: &State, thread: usize) -> Result<Vec<Step>, Refusal> {
        let mut steps = Vec::new();
        for step in self.machine.undecided_steps(state) {
            if step.by.thread != thread {
                continue;
            }
            let last = self.machine.choices(state, step).unwrap_or(0);
            if last > MOST_CHOICES {
                return Err(Refusal::TooLarge);
            }
            steps.extend((0..=last).map(|choice| Step { choice, ..step }));
        }
        Ok(steps)
    }

    /// Whether the thread that went last waits in the middle of an atomic sequence.
    fn stops_in_sequence(&self, state: &State, last: Step) -> bool {
        let thread = last.with.unwrap_or(last.by).thread;
        self.place(state, thread)
            .is_some_and(|(template, location)| {
                self.claims.program.templates[template].locations[location].atomic
            })
    }

    fn place(&self, state: &State, thread: usize) -> Option<(usize, usize)> {
        let thread = state.threads.get(thread)?.as_ref()?;
        Some((thread.template.index(), thread.location.index()))
    }

    fn claim(&self, state: &State, by: Move) -> &Claim {
        let (template, location) = self.place(state, by.thread).expect("it is alive");
        &self.claims.edges[template][location][by.edge]
    }

    fn is_left(&self, before: &State, by: Move) -> bool {
        self.holds(before, by.thread, &self.claim(before, by).left)
    }

    fn is_right(&self, before: &State, by: Move, after: &State) -> bool {
        self.holds(after, by.thread, &self.claim(before, by).right)
    }

    /// A condition on the local variables of a thread that has ended holds for nobody.
    fn holds(&self, state: &State, thread: usize, condition: &Expr) -> bool {
        let mut reads_locals = false;
        condition.walk(&mut |expr| {
            reads_locals |= matches!(
                expr,
                Expr::Read(place) if matches!(place.variable, VariableRef::Local(_))
            );
        });
        let is_gone = self.place(state, thread).is_none();
        !(is_gone && reads_locals) && self.machine.eval(state, thread, condition) == 1
    }

    /// Whether all edges of the location of a thread are left movers.
    fn all_left(&self, state: &State, thread: usize) -> bool {
        let Some((template, location)) = self.place(state, thread) else {
            return false;
        };
        let edges = self.claims.edges[template][location].len();
        !self.claims.meets[template][location]
            && (0..edges).all(|edge| self.is_left(state, Move { thread, edge }))
    }

    fn try_first(
        &self,
        state: &State,
        doings: &BTreeMap<usize, Vec<Doing>>,
        first: &Doing,
        tried: &mut Tried,
    ) -> Result<(), Refusal> {
        if first.is_abandoned {
            return Ok(());
        }
        let thread = first.steps[0].by.thread;
        let others = (0..first.after.threads.len()).filter(|&other| !first.involves(other));
        for other in others {
            let before: &[Doing] = doings.get(&other).map_or(&[], Vec::as_slice);
            let movers = before.iter();
            let movers = movers.filter(|doing| doing.left && !doing.involves(thread));
            if first.ends_run {
                for mover in movers {
                    tried.left += 1;
                    if !mover.ends_run && self.both(state, mover, first)?.is_none() {
                        return self.wrong(
                            "left mover hides the end of a run",
                            state,
                            mover,
                            first,
                        );
                    }
                }
                continue;
            }
            let behind = self.doings(&first.after, other)?;
            for mover in movers {
                tried.left += 1;
                let Some(same) = behind.iter().find(|doing| doing.steps == mover.steps) else {
                    return self.wrong("left mover is disabled", state, mover, first);
                };
                if !same.left {
                    return self.wrong("left mover ceases to be one", state, mover, first);
                }
                if mover.ends_run != same.ends_run {
                    return self.wrong("left mover has another result", state, mover, first);
                }
                if !mover.ends_run {
                    match self.both(state, mover, first)? {
                        None => {
                            return self.wrong("left mover disables another", state, mover, first);
                        }
                        Some(after) if after != same.after => {
                            return self.wrong("left mover changes another", state, mover, first);
                        }
                        Some(_) => {}
                    }
                }
            }
            let is_settled = !before.is_empty()
                && before.iter().all(|doing| doing.left)
                && self.all_left(state, other);
            let is_old = self.place(state, other).is_some();
            for second in behind.iter().filter(|doing| !doing.involves(thread)) {
                let is_known = before.iter().any(|doing| doing.steps == second.steps);
                if is_settled && !is_known {
                    return self.wrong("left movers only, and another joins", state, second, first);
                }
                if first.right && !second.is_abandoned {
                    tried.right += 1;
                    if !self.commutes(state, first, second, true)? {
                        return self.wrong("right mover does not commute", state, first, second);
                    }
                }
                if self.claims.is_static && is_old && second.left {
                    tried.left += 1;
                    if !self.commutes(state, first, second, false)? {
                        return self.wrong("left mover does not commute", state, second, first);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether `second` and then `first` leads where `first` and then `second` does; `stays` asks
    /// that `first` is still a right mover there.
    fn commutes(
        &self,
        state: &State,
        first: &Doing,
        second: &Doing,
        stays: bool,
    ) -> Result<bool, Refusal> {
        let Some(early) = self.find(state, second)? else {
            return Ok(false);
        };
        if second.ends_run || early.ends_run {
            return Ok(second.ends_run == early.ends_run);
        }
        let late = self.find(&early.after, first)?;
        Ok(late.is_some_and(|late| late.after == second.after && (late.right || !stays)))
    }

    /// The state after one step and then the other, if both are possible.
    fn both(&self, state: &State, first: &Doing, second: &Doing) -> Result<Option<State>, Refusal> {
        let Some(middle) = self.find(state, first)? else {
            return Ok(None);
        };
        Ok(self.find(&middle.after, second)?.map(|end| end.after))
    }

    fn find(&self, state: &State, wanted: &Doing) -> Result<Option<Doing>, Refusal> {
        let mut doings = self.doings(state, wanted.steps[0].by.thread)?.into_iter();
        Ok(doings.find(|doing| doing.steps == wanted.steps))
    }

    fn wrong(
        &self,
        what: &str,
        state: &State,
        mover: &Doing,
        other: &Doing,
    ) -> Result<(), Refusal> {
        Err(Refusal::Wrong(format!(
            "{what}: {} beside {} in {state:?}",
            self.told(state, mover, other)?,
            self.told(state, other, mover)?
        )))
    }

    /// The texts of a step that is taken in the state or behind the other one.
    fn told(&self, state: &State, doing: &Doing, other: &Doing) -> Result<String, Refusal> {
        let mut at = match (self.find(state, doing)?, self.find(state, other)?) {
            (None, Some(other)) => other.after,
            _ => state.clone(),
        };
        let mut texts = Vec::new();
        for &step in &doing.steps {
            let (template, location) = self.place(&at, step.by.thread).expect("it is alive");
            let body = &self.claims.program.templates[template];
            let edge = &body.locations[location].edges[step.by.edge];
            texts.push(format!("{}[{}] {}", body.name, step.by.thread, edge.text));
            at = self.machine.apply(&at, step);
        }
        Ok(texts.join("; "))
    }
}
