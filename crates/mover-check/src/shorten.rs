//! Shortening of counterexamples: fewest context switches, then fewest steps.
//!
//! The first run that an engine finds is rarely the best one to read. A run in which each
//! thread runs as long as it can shows where an interleaving *matters*, so runs are compared by
//! the number of context switches, and by length only if that is equal.
//!
//! There are three methods, each of which uses the results of the previous ones as a bound:
//!
//! 1. *Rewriting* the run: cycles are removed, contexts are moved to where their thread ran
//!    before or will run next, contexts and steps are dropped. Fast, and works for runs of any
//!    length.
//! 2. *A search restricted to the edges of the run*: the cheapest run in which each thread
//!    takes only edges that it takes in the run found.
//! 3. *An unrestricted search*. If it ends within its budget, no violation of the property has
//!    fewer switches, or as few switches and fewer steps.
//!
//! The searches are Dijkstra's: a node is a state with the thread that ran last, a step costs a
//! step, a step of another thread costs a switch as well. A node is omitted if the same state
//! was reached by another thread with one switch less and no more steps, because that path can
//! do whatever the node can. Runs with few switches reach few states (context-bounded search,
//! Qadeer and Rehof 2005), so this often ends where searching all states would not.
//!
//! States are distinguished by a hash of 64 bits. A collision can hide a shorter run; it cannot
//! produce a wrong one, because whatever is found is a run of the concrete semantics and is
//! replayed before it is shown.
//!
//! The budget counts work, not time, so that the same input gives the same result on every
//! machine; time and memory have limits besides.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};

use mover_engine::Control;
use mover_ir::program::{LocationId, Program, Property, TemplateId};
use mover_ir::semantics::{Machine, State, Step};

/// How hard to try.
pub struct Effort {
    /// Cells of states made, about; see [`Effort::USUAL_WORK`].
    pub work: u64,
    pub control: Control,
}

impl Effort {
    /// Less than a second on a machine of today.
    pub const USUAL_WORK: u64 = 30_000_000;
}

/// A run that violates the property and is no worse than the one given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortened {
    pub steps: Vec<Step>,
    /// The error location it ends in; none for a deadlock.
    pub error: Option<(TemplateId, LocationId)>,
    /// Whether no violation of the property has fewer context switches, or as few and fewer steps.
    pub is_shortest: bool,
}

/// Context switches and steps.
type Cost = (usize, usize);

/// The numbers of context switches and of steps.
pub fn cost(steps: &[Step]) -> Cost {
    let switches = steps
        .windows(2)
        .filter(|pair| pair[0].by.thread != pair[1].by.thread)
        .count();
    (switches, steps.len())
}

/// Searches for a better run than one that violates the property. What is no such run comes back as
/// it is.
pub fn shorten(
    program: &Program,
    found: &[Step],
    property: Property,
    effort: &Effort,
) -> Shortened {
    let mut search = Shortener {
        machine: Machine::new(program),
        property,
        effort,
        work: 0,
        limit: effort.work,
        is_over: false,
    };
    let mut best = match search.replay(found) {
        Some(steps) => steps,
        None => found.to_vec(),
    };
    search.limit = effort.work / 4;
    best = search.rewrite(best);
    let allowed = Allowed::of_run(&search.machine, &best);
    search.limit = search.work + effort.work.saturating_sub(search.work) / 2;
    best = search.cheapest(best, Some(&allowed)).0;
    search.limit = effort.work;
    let (best, is_shortest) = search.cheapest(best, None);
    Shortened {
        error: search.error_of(&best),
        steps: best,
        is_shortest,
    }
}

/// What a thread took in a run: its number, where it was, the edge, and which choices.
struct Allowed {
    choices: HashMap<(usize, TemplateId, LocationId, usize), HashSet<u64>>,
}

impl Allowed {
    fn of_run(machine: &Machine, steps: &[Step]) -> Self {
        let mut allowed = Allowed {
            choices: HashMap::new(),
        };
        let mut state = machine.initial();
        for &step in steps {
            if let Some(key) = Allowed::key(&state, step) {
                let choices = allowed.choices.entry(key).or_default();
                choices.insert(step.choice);
            }
            state = machine.apply(&state, step);
        }
        allowed
    }

    fn key(state: &State, step: Step) -> Option<(usize, TemplateId, LocationId, usize)> {
        let thread = state.threads[step.by.thread].as_ref()?;
        Some((
            step.by.thread,
            thread.template,
            thread.location,
            step.by.edge,
        ))
    }

    fn choices(&self, state: &State, step: Step) -> Option<&HashSet<u64>> {
        self.choices.get(&Allowed::key(state, step)?)
    }
}

struct Shortener<'p, 'e> {
    machine: Machine<'p>,
    property: Property,
    effort: &'e Effort,
    work: u64,
    /// What `work` may come to for now.
    limit: u64,
    /// Out of time, or interrupted.
    is_over: bool,
}

/// How a node of the search was come to.
struct Node {
    parent: u32,
    step: Step,
}

/// The cheapest ways to a state that are known, by the thread that went last.
type Ways = Vec<(usize, Cost)>;

/// A step with more choices than this is tried only with those of the run.
const MOST_CHOICES: u64 = 256;

/// Cells of states that may wait to be expanded: 256 MB.
const MOST_WAITING: u64 = 32 << 20;

const ROOT: u32 = u32::MAX;

fn cells(state: &State) -> u64 {
    let threads = state.threads.iter().flatten();
    let locals: usize = threads.map(|thread| thread.locals.len() + 16).sum();
    let objects = state.heap.iter().flatten();
    let heap: usize = objects.map(|object| object.cells.len() + 8).sum();
    (32 + state.globals.len() + 4 * state.channels.len() + locals + heap) as u64
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

impl Shortener<'_, '_> {
    fn is_goal(&self, state: &State) -> bool {
        match self.property {
            Property::NoDeadlock => self.machine.is_deadlock(state),
            Property::NoDataRace => self.machine.race(state).is_some(),
            property => {
                let error = self.machine.error(state);
                error.is_some_and(|(_, mark)| mark.property == property)
            }
        }
    }

    fn error_of(&self, steps: &[Step]) -> Option<(TemplateId, LocationId)> {
        let mut state = self.machine.initial();
        for &step in steps {
            state = self.machine.apply(&state, step);
        }
        let (thread, _) = self.machine.error(&state)?;
        let thread = state.threads[thread].as_ref()?;
        Some((thread.template, thread.location))
    }

    fn may_go_on(&mut self) -> bool {
        self.is_over = self.is_over || self.effort.control.is_over();
        !self.is_over && self.work < self.limit
    }

    /// The steps up to the first violation, if all of them are possible and there is one.
    fn replay(&mut self, steps: &[Step]) -> Option<Vec<Step>> {
        let mut state = self.machine.initial();
        for (number, &step) in steps.iter().enumerate() {
            if self.property != Property::NoDeadlock && self.is_goal(&state) {
                return Some(steps[..number].to_vec());
            }
            self.work += cells(&state);
            if step.by.thread >= state.threads.len() || !self.machine.can_take(&state, step) {
                return None;
            }
            state = self.machine.apply(&state, step);
        }
        self.is_goal(&state).then(|| steps.to_vec())
    }

    /// Takes a candidate if it is a violation and better.
    fn improve(&mut self, best: &mut Vec<Step>, candidate: &[Step]) -> bool {
        match self.replay(candidate) {
            Some(steps) if cost(&steps) < cost(best) => {
                *best = steps;
                true
            }
            _ => false,
        }
    }

    fn rewrite(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut best = self.without_circles(steps);
        while self.may_go_on() && (self.move_contexts(&mut best) || self.drop_parts(&mut best)) {}
        best
    }

    /// Leaves out what leads back to a state that was there before.
    fn without_circles(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut state = self.machine.initial();
        let mut seen = HashMap::from([(fingerprint(&state), 0)]);
        let mut marks = vec![fingerprint(&state)];
        let mut kept: Vec<Step> = Vec::new();
        for &step in &steps {
            self.work += cells(&state);
            state = self.machine.apply(&state, step);
            kept.push(step);
            let mark = fingerprint(&state);
            if let Some(&length) = seen.get(&mark) {
                kept.truncate(length);
                for gone in marks.drain(length + 1..) {
                    seen.remove(&gone);
                }
            } else {
                seen.insert(mark, kept.len());
                marks.push(mark);
            }
        }
        let mut best = steps;
        self.improve(&mut best, &kept);
        best
    }

    /// Moves a context to the one before or after it of the same thread.
    fn move_contexts(&mut self, best: &mut Vec<Step>) -> bool {
        let mut is_better = false;
        let mut first = 0;
        while first < best.len() && self.may_go_on() {
            let contexts = contexts(best);
            let Some(at) = contexts.iter().position(|context| context.end > first) else {
                break;
            };
            let here = contexts[at].clone();
            let thread = best[here.start].by.thread;
            let again = contexts[at + 1..]
                .iter()
                .find(|context| best[context.start].by.thread == thread);
            if let Some(again) = again.cloned() {
                let between = here.end..again.start;
                let earlier = join([
                    &best[..here.end],
                    &best[again.clone()],
                    &best[between.clone()],
                    &best[again.end..],
                ]);
                let later = join([
                    &best[..here.start],
                    &best[between],
                    &best[here.clone()],
                    &best[again.start..],
                ]);
                if self.improve(best, &earlier) || self.improve(best, &later) {
                    is_better = true;
                    continue;
                }
            }
            first = here.end;
        }
        is_better
    }

    /// Drops contexts, and steps of them, that are not needed.
    fn drop_parts(&mut self, best: &mut Vec<Step>) -> bool {
        let mut is_better = false;
        let mut end = best.len();
        while end > 0 && self.may_go_on() {
            let start = contexts(best)
                .iter()
                .map(|context| context.start)
                .rfind(|&start| start < end)
                .unwrap_or(0);
            let mut length = end - start;
            // The whole context, then halves of it, down to single steps.
            while length > 0 && self.may_go_on() {
                let mut at = end;
                while at > start && self.may_go_on() {
                    let from = at.saturating_sub(length).max(start);
                    let without = join([&best[..from], &best[at..], &[], &[]]);
                    if self.improve(best, &without) {
                        is_better = true;
                        end = end.min(best.len());
                    }
                    at = from.min(best.len());
                }
                length /= 2;
            }
            end = start.min(best.len());
        }
        is_better
    }

    /// The steps to try from a state, and whether these are all.
    fn steps(&self, state: &State, only: Option<&Allowed>, found: &Allowed) -> (Vec<Step>, bool) {
        let mut steps = Vec::new();
        let mut are_all = true;
        for step in self.machine.undecided_steps(state) {
            let decided = |choice: u64| Step { choice, ..step };
            match (only, self.machine.choices(state, step)) {
                (Some(allowed), _) => {
                    let choices = allowed.choices(state, step).into_iter().flatten();
                    steps.extend(choices.map(|&choice| decided(choice)));
                }
                (None, None) => steps.push(step),
                (None, Some(last)) if last < MOST_CHOICES => {
                    steps.extend((0..=last).map(decided));
                }
                (None, Some(last)) => {
                    are_all = false;
                    let mut choices = vec![0, 1, last];
                    choices.extend(found.choices(state, step).into_iter().flatten());
                    choices.sort_unstable();
                    choices.dedup();
                    steps.extend(choices.into_iter().map(decided));
                }
            }
        }
        if only.is_some() {
            // A set gives its choices in any order; the same story each time needs one.
            steps.sort_unstable();
        }
        (steps, are_all)
    }

    /// The cheapest violation, and whether it is known that there is none cheaper.
    fn cheapest(&mut self, best: Vec<Step>, only: Option<&Allowed>) -> (Vec<Step>, bool) {
        let bound = cost(&best);
        let found = Allowed::of_run(&self.machine, &best);
        let mut nodes: Vec<Node> = Vec::new();
        let mut known: HashMap<u64, Ways> = HashMap::new();
        let mut queue: BTreeMap<Cost, Vec<(u32, usize, State)>> = BTreeMap::new();
        let initial = self.machine.initial();
        let mut waiting = cells(&initial);
        queue.insert((0, 0), vec![(ROOT, usize::MAX, initial)]);
        let mut is_complete = true;
        while let Some((reached, entries)) = queue.pop_first() {
            for (node, last, state) in entries {
                let size = cells(&state);
                waiting = waiting.saturating_sub(size);
                let is_stale = known
                    .get(&fingerprint(&state))
                    .is_some_and(|ways| is_beaten(ways, last, reached));
                if is_stale {
                    continue;
                }
                if self.is_goal(&state) {
                    return (way_to(&nodes, node), is_complete);
                }
                if !self.may_go_on() || waiting > MOST_WAITING || nodes.len() >= ROOT as usize {
                    return (best, false);
                }
                let (steps, are_all) = self.steps(&state, only, &found);
                is_complete &= are_all;
                self.work += size;
                for step in steps {
                    let is_switch = last != usize::MAX && last != step.by.thread;
                    let new = (reached.0 + usize::from(is_switch), reached.1 + 1);
                    // Among everything, one as good as the run given may be found as well: then it
                    // does not matter which engine found that.
                    if new > bound || (new == bound && only.is_some()) {
                        continue;
                    }
                    let next = self.machine.apply(&state, step);
                    self.work += size;
                    let ways = known.entry(fingerprint(&next)).or_default();
                    if !enter(ways, step.by.thread, new) {
                        continue;
                    }
                    waiting += cells(&next);
                    nodes.push(Node { parent: node, step });
                    let number = nodes.len() as u32 - 1;
                    let bucket = queue.entry(new).or_default();
                    bucket.push((number, step.by.thread, next));
                }
            }
        }
        (best, is_complete && only.is_none())
    }
}

/// Whether a node is no use: the state was come to more cheaply since, or by another thread with
/// a switch less.
fn is_beaten(ways: &Ways, last: usize, cost: Cost) -> bool {
    ways.iter().any(|&(thread, known)| {
        if thread == last {
            known < cost
        } else {
            known.0 < cost.0 && known.1 <= cost.1
        }
    })
}

/// Notes a new way to a state; false if it is no use.
fn enter(ways: &mut Ways, last: usize, cost: Cost) -> bool {
    let is_useless = ways.iter().any(|&(thread, known)| {
        if thread == last {
            known <= cost
        } else {
            known.0 < cost.0 && known.1 <= cost.1
        }
    });
    if is_useless {
        return false;
    }
    ways.retain(|&(thread, _)| thread != last);
    ways.push((last, cost));
    true
}

fn way_to(nodes: &[Node], mut node: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    while node != ROOT {
        let at = &nodes[node as usize];
        steps.push(at.step);
        node = at.parent;
    }
    steps.reverse();
    steps
}

/// The contexts of a run: its maximal stretches of one thread.
pub fn contexts(steps: &[Step]) -> Vec<std::ops::Range<usize>> {
    let mut contexts = Vec::new();
    let mut start = 0;
    for number in 1..=steps.len() {
        if number == steps.len() || steps[number].by.thread != steps[start].by.thread {
            contexts.push(start..number);
            start = number;
        }
    }
    contexts
}

fn join(parts: [&[Step]; 4]) -> Vec<Step> {
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_ir::semantics::Move;

    fn run(threads: &[usize]) -> Vec<Step> {
        let step = |&thread: &usize| Step {
            by: Move { thread, edge: 0 },
            with: None,
            choice: 0,
        };
        threads.iter().map(step).collect()
    }

    #[test]
    fn switches_are_counted_before_steps() {
        assert_eq!(cost(&run(&[])), (0, 0));
        assert_eq!(cost(&run(&[0, 0, 1, 1, 0])), (2, 5));
        assert!(cost(&run(&[0, 0, 0, 1])) < cost(&run(&[0, 1, 0])));
    }

    #[test]
    fn contexts_are_the_stretches_of_one_thread() {
        assert_eq!(contexts(&run(&[])), []);
        assert_eq!(contexts(&run(&[0, 0, 1, 0])), [0..2, 2..3, 3..4]);
    }

    #[test]
    fn a_way_of_another_thread_with_a_switch_less_will_do() {
        let mut ways = Ways::new();
        assert!(enter(&mut ways, 0, (1, 4)));
        assert!(!enter(&mut ways, 1, (2, 4)));
        assert!(enter(&mut ways, 1, (2, 3)));
        assert!(!enter(&mut ways, 0, (1, 4)));
        assert!(enter(&mut ways, 0, (0, 9)));
    }
}
