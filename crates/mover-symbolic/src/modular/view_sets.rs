//! Views as explicit sets, for programs with few values.
//!
//! After Abdulla, Haziza and Holík (2013), *All for the Price of Few*: the smallest set of views of
//! k created threads that contains the start and is closed under
//!
//! - *own* steps of a thread of the view,
//! - steps of a *fixed* thread, with or without *creation*,
//! - *interference*: a step of a thread outside of the view. It may be any thread that fits: view
//!   and thread together form k + 1 threads all of whose views are in the set, and no owner cell
//!   names two of them.
//!
//! If no step of a view meets a violation, no run with any number of threads does. More threads per
//! view need not be looked at: a step changes shared memory and its own thread, so a view after it
//! comes from at most k + 1 threads before it.
//!
//! Different from the paper: the fixed threads belong to the shared part, owner cells name members
//! ([`super::configurations`]), and configurations of fewer than k threads are kept exactly as they
//! are instead of as views, so the set is not closed under subsets. A view is a multiset: two
//! threads may be in the same state.
//!
//! [`ViewSets::check`] is the certificate. It shares no code with the fixpoint but the steps: it
//! goes through the set by mover, not by what is new, and a sample of configurations is run with
//! all k + 1 threads at once.

use std::collections::VecDeque;
use std::hash::Hash;
use std::rc::Rc;

use mover_engine::Control;
use mover_ir::semantics::State;
use rustc_hash::{FxHashMap, FxHashSet};

use super::configurations::{After, Configurations, GiveUp, Member};

/// Members of a view, ascending by their numbers.
type View = Box<[u32]>;

/// Values with numbers.
struct Numbered<T> {
    all: Vec<Rc<T>>,
    numbers: FxHashMap<Rc<T>, u32>,
}

impl<T: Hash + Eq> Numbered<T> {
    fn new() -> Self {
        Numbered {
            all: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    fn number(&mut self, value: T) -> u32 {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let number = self.all.len() as u32;
        let value = Rc::new(value);
        self.all.push(Rc::clone(&value));
        self.numbers.insert(value, number);
        number
    }

    fn find(&self, value: &T) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    fn get(&self, number: u32) -> Rc<T> {
        Rc::clone(&self.all[number as usize])
    }
}

/// A step of one thread, with numbers.
struct Outcome {
    shared: u32,
    /// The mover, if it was a member and has not ended.
    mover: Option<u32>,
    created: Vec<u32>,
    kept: u64,
}

/// What is known where shared memory has a certain value.
#[derive(Default)]
struct Here {
    views: FxHashSet<View>,
    /// The members of full views.
    present: Vec<u32>,
}

/// Which steps the fixpoint follows; tests leave some out and see that the check notices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follow {
    pub own: bool,
    pub fixed: bool,
    pub creation: bool,
    pub interference: bool,
    /// Whether two threads may be in the same state.
    pub twins: bool,
}

impl Follow {
    pub const ALL: Follow = Follow {
        own: true,
        fixed: true,
        creation: true,
        interference: true,
        twins: true,
    };
}

/// Views stored, at most.
const MOST_VIEWS: usize = 60_000;
/// Views made, also such that are known, at most.
const MOST_WORK: u64 = 3_000_000;
/// Configurations of the certificate that are run as a whole.
const SAMPLE: usize = 2_000;

pub struct ViewSets<'c, 'r, 'p> {
    configurations: &'c Configurations<'r, 'p>,
    width: usize,
    shared: Numbered<State>,
    members: Numbered<Member>,
    here: Vec<Here>,
    own: FxHashMap<(u32, u32), Rc<Vec<Outcome>>>,
    fixed: FxHashMap<u32, Rc<Vec<Outcome>>>,
    open: VecDeque<(u32, View)>,
    follow: Follow,
    stored: usize,
    work: u64,
}

impl<'c, 'r, 'p> ViewSets<'c, 'r, 'p> {
    pub fn new(configurations: &'c Configurations<'r, 'p>, width: usize) -> Self {
        ViewSets {
            configurations,
            width,
            shared: Numbered::new(),
            members: Numbered::new(),
            here: Vec::new(),
            own: FxHashMap::default(),
            fixed: FxHashMap::default(),
            open: VecDeque::new(),
            follow: Follow::ALL,
            stored: 0,
            work: 0,
        }
    }

    /// How many views there are.
    pub fn count(&self) -> usize {
        self.stored
    }

    /// The fixpoint: an error if a violation is reached by views or there are too many.
    pub fn close(&mut self, follow: Follow, limit: &Control) -> Result<(), GiveUp> {
        self.follow = follow;
        let start = self.number_shared(self.configurations.initial());
        self.put(start, Vec::new())?;
        let mut turns = 0u64;
        while let Some((shared, view)) = self.open.pop_front() {
            turns += 1;
            if turns.is_multiple_of(64) && limit.is_over() {
                return Err(GiveUp::Stopped);
            }
            if follow.own {
                self.own_steps(shared, &view)?;
            }
            self.fixed_steps(shared, &view)?;
            if follow.interference && view.len() == self.width {
                self.interference(shared, &view)?;
            }
        }
        Ok(())
    }

    fn number_shared(&mut self, shared: State) -> u32 {
        let number = self.shared.number(shared);
        if number as usize == self.here.len() {
            self.here.push(Here::default());
        }
        number
    }

    /// Adds a configuration, or its views.
    fn put(&mut self, shared: u32, mut members: Vec<u32>) -> Result<(), GiveUp> {
        self.work += 1;
        if self.work > MOST_WORK {
            return Err(GiveUp::TooMany);
        }
        members.sort_unstable();
        if !self.follow.twins {
            members.dedup();
        }
        if members.len() > self.width {
            for view in smaller(&members) {
                self.put(shared, view)?;
            }
            return Ok(());
        }
        let here = &mut self.here[shared as usize];
        let view: View = members.into();
        if here.views.contains(&view) {
            return Ok(());
        }
        if view.len() == self.width {
            for &member in &view {
                if !here.present.contains(&member) {
                    here.present.push(member);
                }
            }
        }
        here.views.insert(view.clone());
        self.stored += 1;
        if self.stored > MOST_VIEWS {
            return Err(GiveUp::TooMany);
        }
        self.open.push_back((shared, view));
        Ok(())
    }

    fn own_steps(&mut self, shared: u32, view: &View) -> Result<(), GiveUp> {
        for (number, &mover) in view.iter().enumerate() {
            if number > 0 && view[number - 1] == mover {
                continue;
            }
            let rest = without(view, number);
            for outcome in self.steps_of(shared, mover)?.iter() {
                let mut members = self.keep(&rest, outcome.kept);
                members.extend(outcome.mover);
                self.put(outcome.shared, members)?;
            }
        }
        Ok(())
    }

    fn fixed_steps(&mut self, shared: u32, view: &View) -> Result<(), GiveUp> {
        for outcome in self.steps_of_fixed(shared)?.iter() {
            let follows = if outcome.created.is_empty() {
                self.follow.fixed
            } else {
                self.follow.creation
            };
            if follows {
                let mut members = self.keep(view, outcome.kept);
                members.extend(&outcome.created);
                self.put(outcome.shared, members)?;
            }
        }
        Ok(())
    }

    /// The steps of all threads that fit the view, and of its own beside them.
    fn interference(&mut self, shared: u32, view: &View) -> Result<(), GiveUp> {
        let present = self.here[shared as usize].present.clone();
        for other in present {
            let mut all = view.to_vec();
            all.push(other);
            all.sort_unstable();
            if !self.fits(shared, &all) {
                continue;
            }
            for (number, &mover) in all.iter().enumerate() {
                if number > 0 && all[number - 1] == mover {
                    continue;
                }
                let rest = without(&all, number);
                for outcome in self.steps_of(shared, mover)?.iter() {
                    let members = self.keep(&rest, outcome.kept);
                    self.put(outcome.shared, members)?;
                }
            }
        }
        Ok(())
    }

    /// Whether k + 1 threads may be together.
    fn fits(&self, shared: u32, all: &[u32]) -> bool {
        let mut named = 0;
        for &member in all {
            let owns = self.members.all[member as usize].owns;
            if named & owns != 0 {
                return false;
            }
            named |= owns;
        }
        let views = &self.here[shared as usize].views;
        smaller(all).iter().all(|view| views.contains(&view[..]))
    }

    /// The members that a step leaves alone, with the owner cells that still name them.
    fn keep(&mut self, members: &[u32], kept: u64) -> Vec<u32> {
        let mut now = Vec::with_capacity(members.len() + 1);
        for &number in members {
            let member = &self.members.all[number as usize];
            now.push(if member.owns & !kept == 0 {
                number
            } else {
                let changed = Member {
                    owns: member.owns & kept,
                    thread: member.thread.clone(),
                };
                self.members.number(changed)
            });
        }
        now
    }

    fn steps_of(&mut self, shared: u32, member: u32) -> Result<Rc<Vec<Outcome>>, GiveUp> {
        if let Some(known) = self.own.get(&(shared, member)) {
            return Ok(Rc::clone(known));
        }
        let here = self.shared.get(shared);
        let mover = self.members.get(member);
        let fixed = self.configurations.fixed;
        let after = self.configurations.steps(&here, &[&mover], fixed)?;
        let outcomes = Rc::new(after.into_iter().map(|one| self.outcome(one)).collect());
        self.own.insert((shared, member), Rc::clone(&outcomes));
        Ok(outcomes)
    }

    fn steps_of_fixed(&mut self, shared: u32) -> Result<Rc<Vec<Outcome>>, GiveUp> {
        if let Some(known) = self.fixed.get(&shared) {
            return Ok(Rc::clone(known));
        }
        let here = self.shared.get(shared);
        let mut outcomes = Vec::new();
        for mover in 0..self.configurations.fixed {
            for after in self.configurations.steps(&here, &[], mover)? {
                outcomes.push(self.outcome(after));
            }
        }
        let outcomes = Rc::new(outcomes);
        self.fixed.insert(shared, Rc::clone(&outcomes));
        Ok(outcomes)
    }

    fn outcome(&mut self, after: After) -> Outcome {
        let mut members = after.members.into_iter();
        let mover = members.next().flatten();
        Outcome {
            shared: self.number_shared(after.shared),
            mover: mover.map(|member| self.members.number(member)),
            created: after
                .created
                .into_iter()
                .map(|member| self.members.number(member))
                .collect(),
            kept: after.kept,
        }
    }

    /// Checks that the set contains the start and every step out of it, and that no step meets a
    /// violation; the error says what is missing. True if it is so, false if a limit was reached.
    pub fn check(&self, limit: &Control) -> Result<bool, String> {
        let start = self.configurations.initial();
        if !self.contains(&start, Vec::new()) {
            return Err("the start is missing".into());
        }
        let mut sampled = 0;
        for (number, here) in self.here.iter().enumerate() {
            let shared = &self.shared.all[number];
            let full: Vec<&View> = here
                .views
                .iter()
                .filter(|v| v.len() == self.width)
                .collect();
            let mut movers: Vec<u32> = here.views.iter().flat_map(|v| v.iter().copied()).collect();
            movers.sort_unstable();
            movers.dedup();
            for mover in 0..self.configurations.fixed {
                for after in self.run(shared, &[], mover)? {
                    for view in &here.views {
                        let mut members = self.named(view, after.kept);
                        members.extend(after.created.iter().cloned());
                        self.expect(&after.shared, members, "a step of a fixed thread")?;
                    }
                }
            }
            for &mover in &movers {
                if limit.is_over() {
                    return Ok(false);
                }
                let moving = self.members.get(mover);
                for after in self.run(shared, &[&moving], self.configurations.fixed)? {
                    for view in &here.views {
                        if let Some(at) = view.iter().position(|&member| member == mover) {
                            let mut members = self.named(&without(view, at), after.kept);
                            members.extend(after.members.iter().flatten().cloned());
                            self.expect(&after.shared, members, "a step of a thread")?;
                        }
                    }
                    for view in &full {
                        if self.may_join(here, view, mover) {
                            let members = self.named(view, after.kept);
                            self.expect(&after.shared, members, "a step of another thread")?;
                        }
                    }
                }
            }
            for view in &full {
                if sampled < SAMPLE
                    && let Some(&other) = movers.iter().find(|&&m| self.may_join(here, view, m))
                {
                    sampled += 1;
                    self.run_together(shared, view, other)?;
                }
            }
        }
        Ok(true)
    }

    fn run(&self, shared: &State, members: &[&Member], mover: usize) -> Result<Vec<After>, String> {
        self.configurations
            .steps(shared, members, mover)
            .map_err(|_| "a step meets a violation".into())
    }

    /// Whether a thread may be beside those of a full view.
    fn may_join(&self, here: &Here, view: &View, other: u32) -> bool {
        let owns = |member: u32| self.members.all[member as usize].owns;
        for (number, &one) in view.iter().enumerate() {
            if owns(one) & owns(other) != 0
                || view[..number].iter().any(|&two| owns(one) & owns(two) != 0)
            {
                return false;
            }
            let mut exchanged = view.to_vec();
            exchanged[number] = other;
            exchanged.sort_unstable();
            if !here.views.contains(&exchanged[..]) {
                return false;
            }
        }
        true
    }

    /// Runs k + 1 threads in one state, each of them.
    fn run_together(&self, shared: &State, view: &View, other: u32) -> Result<(), String> {
        let numbers = view.iter().copied().chain([other]);
        let members: Vec<Rc<Member>> = numbers.map(|number| self.members.get(number)).collect();
        let members: Vec<&Member> = members.iter().map(|member| &**member).collect();
        for mover in 0..self.configurations.fixed + members.len() {
            for after in self.run(shared, &members, mover)? {
                let all = after.members.into_iter().flatten().chain(after.created);
                self.expect(&after.shared, all.collect(), "a step of several threads")?;
            }
        }
        Ok(())
    }

    fn named(&self, members: &[u32], kept: u64) -> Vec<Member> {
        let members = members.iter().map(|&number| self.members.get(number));
        members
            .map(|member| Member {
                owns: member.owns & kept,
                thread: member.thread.clone(),
            })
            .collect()
    }

    fn expect(&self, shared: &State, members: Vec<Member>, what: &str) -> Result<(), String> {
        if self.contains(shared, members) {
            Ok(())
        } else {
            Err(format!("{what} leads out of the views"))
        }
    }

    /// Whether a configuration or all of its views are in the set.
    fn contains(&self, shared: &State, members: Vec<Member>) -> bool {
        let Some(number) = self.shared.find(shared) else {
            return false;
        };
        let views = &self.here[number as usize].views;
        let found: Option<Vec<u32>> = members.iter().map(|m| self.members.find(m)).collect();
        let Some(mut found) = found else {
            return false;
        };
        found.sort_unstable();
        self.has_all(views, found)
    }

    fn has_all(&self, views: &FxHashSet<View>, members: Vec<u32>) -> bool {
        if members.len() <= self.width {
            return views.contains(&members[..]);
        }
        smaller(&members)
            .into_iter()
            .all(|view| self.has_all(views, view))
    }

    /// Whether two threads of a configuration may race. The set must be closed, of views of two
    /// threads at least: two threads that race are in one view, or with few others in a configuration
    /// that is kept as it is.
    pub fn may_race(&self) -> bool {
        self.any_view(|shared, members| self.configurations.has_race(shared, members))
    }

    /// Whether all threads of a configuration may be blocked, some of them where they may not stay.
    ///
    /// All threads of such a configuration are blocked in each of its views, since what a thread can
    /// do depends on shared memory and itself. One may choose a view: with a thread that may not stay,
    /// and with as many of those that own something as fit beside it. So a view in which an owner is
    /// missing counts only if all members but one are owners. With fewer members than fit, nobody is
    /// missing.
    pub fn may_deadlock(&self) -> bool {
        let configurations = self.configurations;
        let fixed = configurations.fixed;
        self.any_view(|shared, members| {
            let own = members.iter().fold(0, |bits, member| bits | member.owns);
            let owners = members.iter().filter(|member| member.owns != 0).count();
            let is_missing = configurations.held(shared) & !own != 0;
            let is_full = members.len() == self.width;
            if is_missing && (!is_full || owners + 1 < members.len()) {
                return false;
            }
            let threads = shared.threads.iter().flatten();
            let mut all = threads.chain(members.iter().map(|member| &member.thread));
            all.any(|thread| configurations.must_move(thread))
                && !(0..fixed + members.len())
                    .any(|mover| configurations.surely_moves(shared, members, mover))
        })
    }

    fn any_view(&self, mut holds: impl FnMut(&State, &[&Member]) -> bool) -> bool {
        self.here
            .iter()
            .zip(&self.shared.all)
            .any(|(here, shared)| {
                here.views.iter().any(|view| {
                    let members = view
                        .iter()
                        .map(|&number| &*self.members.all[number as usize]);
                    holds(shared, &members.collect::<Vec<_>>())
                })
            })
    }

    /// The shared states, each with the members that are there, for words.
    pub fn meetings(&self) -> impl Iterator<Item = (&State, Vec<&Member>)> {
        self.here.iter().enumerate().map(|(number, here)| {
            let mut members: Vec<u32> = here.views.iter().flat_map(|v| v.iter().copied()).collect();
            members.sort_unstable();
            members.dedup();
            let members = members
                .iter()
                .map(|&member| &*self.members.all[member as usize]);
            (&*self.shared.all[number], members.collect())
        })
    }

    /// Pairs of places that two threads of a view have.
    pub fn pairs(&self) -> impl Iterator<Item = (&Member, &Member)> {
        let views = self.here.iter().flat_map(|here| &here.views);
        views.flat_map(|view| {
            let member = |number: u32| &*self.members.all[number as usize];
            (0..view.len()).flat_map(move |one| {
                (one + 1..view.len()).map(move |two| (member(view[one]), member(view[two])))
            })
        })
    }
}

/// The multiset with one member left out, in each way.
fn smaller(members: &[u32]) -> Vec<Vec<u32>> {
    (0..members.len()).map(|at| without(members, at)).collect()
}

fn without(members: &[u32], at: usize) -> Vec<u32> {
    let mut rest = members.to_vec();
    rest.remove(at);
    rest
}
