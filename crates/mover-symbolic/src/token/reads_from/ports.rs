//! What events read and write, found on the terms.
//!
//! A cell is written by an event if its term where the event ends is not the variable that was
//! read at its beginning. Where the term is a choice that keeps this variable on one side, its
//! condition becomes the condition of the write. An event ends where the next one of its thread
//! begins, or where the thread stops.
//!
//! Reads are found from the other side: a variable that no condition and no value of a write
//! depends on needs no value.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ordering::Ordering;
use crate::order::Point;
use crate::term::{Node as TermNode, Term, Terms};
use crate::token::unroll::{Node, Unrolled, Unroller};

pub struct Read {
    pub point: Point,
    /// When the event is reached.
    pub guard: Term,
    pub value: Term,
}

/// A read of one cell among many, selected by conditions: an element of an array, or what a pointer
/// points to. It is one port: which write it takes its value from does not depend on which
/// element it is.
pub struct Select {
    pub point: Point,
    pub guard: Term,
    /// When it is which cell, by position; at most one of these holds.
    pub cases: Vec<(Term, usize)>,
    /// When it is none of them, and its value then.
    pub none: Term,
    pub default: Term,
    /// The variables of the cells.
    pub variables: Vec<Term>,
    pub value: Term,
}

pub struct Write {
    pub point: Point,
    /// When the event takes place and writes the cell.
    pub guard: Term,
    pub value: Term,
    /// Whether it writes the cell whenever it takes place.
    pub is_certain: bool,
    /// Whether it writes the cell whenever its thread goes on to another event.
    pub is_passed: bool,
}

/// The ports of a cell.
#[derive(Default)]
pub struct OfCell {
    pub reads: Vec<Read>,
    pub writes: Vec<Write>,
}

pub struct Ports {
    /// By position among the shared cells.
    pub cells: Vec<OfCell>,
    pub selects: Vec<Select>,
}

/// Cells from which on a read of one of them is one port.
const FEWEST_CELLS: usize = 3;

type Variables = FxHashMap<Term, (usize, Point, Term)>;

/// Takes a choice between variables of one event apart.
fn selection(terms: &mut Terms, variables: &Variables, value: Term) -> Option<Select> {
    let mut found: Vec<(Term, Term, usize)> = Vec::new();
    let mut rest = value;
    let mut place: Option<(Point, Term)> = None;
    while let TermNode::Ite(condition, then, otherwise) = terms.node(rest) {
        let Some(&(position, point, guard)) = variables.get(&then) else {
            break;
        };
        if place.is_some_and(|place| place != (point, guard)) {
            break;
        }
        place = Some((point, guard));
        found.push((condition, then, position));
        rest = otherwise;
    }
    let (point, guard) = place.filter(|_| found.len() >= FEWEST_CELLS)?;
    let mut cases = Vec::new();
    let mut none = Terms::TRUE;
    for &(condition, _, position) in &found {
        cases.push((terms.and(none, condition), position));
        let not = terms.not(condition);
        none = terms.and(none, not);
    }
    Some(Select {
        point,
        guard,
        cases,
        none,
        default: rest,
        variables: found.into_iter().map(|(_, variable, _)| variable).collect(),
        value,
    })
}

/// Where an event may end: at the beginning of another, or where the thread stops.
enum End {
    Flow(usize),
    State(usize),
}

/// A point at which cells may be written.
struct Writer {
    thread: usize,
    point: Point,
    /// The node of the event; none for what comes before the first.
    node: Option<usize>,
    ends: Vec<(Term, End)>,
}

impl Ports {
    pub fn new(
        unroller: &Unroller,
        unrolled: &Unrolled,
        ordering: &Ordering,
        finals: &[Term],
        terms: &mut Terms,
        asked: &[Term],
    ) -> Self {
        let writers = writers(unrolled, ordering, terms);
        // The variables that are read, with what they are.
        let mut variables = Variables::default();
        for writer in &writers {
            let Some(node) = writer.node else { continue };
            let node = &unrolled.threads[writer.thread].nodes[node];
            for (position, &variable) in node.received.iter().enumerate() {
                variables.insert(variable, (position, writer.point, node.live));
            }
        }
        for (position, &variable) in finals.iter().enumerate() {
            variables.insert(variable, (position, ordering.end(), Terms::TRUE));
        }
        let initial = unroller.layout.initial();
        let mut ports = Ports {
            cells: (0..unrolled.shared.len())
                .map(|_| OfCell::default())
                .collect(),
            selects: Vec::new(),
        };
        let mut is_wanted = vec![false; unrolled.shared.len()];
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut work: Vec<Term> = asked.to_vec();
        for node in unrolled.threads.iter().flat_map(|thread| &thread.nodes) {
            work.extend([node.live, node.goes]);
            work.extend(node.takes.iter().map(|take| take.condition));
        }
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            let mut wanted: Vec<usize> = Vec::new();
            if let Some(select) = selection(terms, &variables, term) {
                work.extend([select.guard, select.none, select.default]);
                for &(condition, position) in &select.cases {
                    work.push(condition);
                    wanted.push(position);
                }
                ports.selects.push(select);
            } else {
                terms.children(term, |child| work.push(child));
            }
            if let Some(&(position, point, guard)) = variables.get(&term) {
                ports.cells[position].reads.push(Read {
                    point,
                    guard,
                    value: term,
                });
                work.push(guard);
                wanted.push(position);
            }
            for position in wanted {
                if std::mem::replace(&mut is_wanted[position], true) {
                    continue;
                }
                let cell = unrolled.shared[position];
                let first = terms.constant(initial[cell], unroller.layout.widths[cell]);
                for writer in &writers {
                    let written = writer.written(unrolled, terms, position, first);
                    if let Some(write) = written {
                        work.extend([write.guard, write.value]);
                        ports.cells[position].writes.push(write);
                    }
                }
            }
        }
        for cell in &mut ports.cells {
            cell.reads.sort_unstable_by_key(|read| read.point);
        }
        ports
    }
}

/// The points at which cells may be written, with where they end.
fn writers(unrolled: &Unrolled, ordering: &Ordering, terms: &mut Terms) -> Vec<Writer> {
    let mut writers = Vec::new();
    for (number, thread) in unrolled.threads.iter().enumerate() {
        let first = writers.len();
        let mut writer_of: FxHashMap<usize, usize> = FxHashMap::default();
        writers.push(Writer {
            thread: number,
            point: ordering.root(number),
            node: None,
            ends: Vec::new(),
        });
        for (at, node) in thread.nodes.iter().enumerate() {
            if node.is_event {
                // Here those end that come before.
                let mut ending: Vec<usize> = Vec::new();
                for &(_, from) in &node.incoming {
                    let from = &thread.nodes[from];
                    ending.extend(from.sources.iter().map(|source| writer_of[source]));
                    ending.extend(from.is_outside.then_some(first));
                }
                if node.incoming.is_empty() {
                    ending.push(first);
                }
                ending.sort_unstable();
                ending.dedup();
                for writer in ending {
                    writers[writer].ends.push((node.live, End::Flow(at)));
                }
                writer_of.insert(at, writers.len());
                let event = writers.len() - first - 1;
                writers.push(Writer {
                    thread: number,
                    point: ordering.point(number, event),
                    node: Some(at),
                    ends: Vec::new(),
                });
            }
            let stays = terms.not(node.goes);
            let stops = terms.and(node.live, stays);
            if stops != Terms::FALSE {
                let of_events = node.sources.iter().map(|source| writer_of[source]);
                let outside = node.is_outside.then_some(first);
                for writer in of_events.chain(outside) {
                    writers[writer].ends.push((stops, End::State(at)));
                }
            }
        }
    }
    writers
}

impl Writer {
    /// What the event writes to a cell, if anything.
    fn written(
        &self,
        unrolled: &Unrolled,
        terms: &mut Terms,
        position: usize,
        initial: Term,
    ) -> Option<Write> {
        let nodes: &[Node] = &unrolled.threads[self.thread].nodes;
        let (live, old) = match self.node {
            Some(node) => (nodes[node].live, nodes[node].received[position]),
            None => {
                // The terms may look as if the initial value were written back: those of single
                // bits do not keep the shape of a choice. An event has read what it writes back,
                // in one point; this here has not.
                unrolled.threads[self.thread].early.get(&position)?;
                (Terms::TRUE, initial)
            }
        };
        let value = |end: &End| match *end {
            End::Flow(node) => nodes[node].flow[position],
            End::State(node) => nodes[node].state[unrolled.shared[position]],
        };
        // The first that holds counts: the thread may come to later ones by way of it.
        let ((_, last), rest) = self.ends.split_last()?;
        if self.ends.iter().all(|(_, end)| value(end) == old) {
            return None;
        }
        let mut left = value(last);
        for (condition, end) in rest.iter().rev() {
            left = terms.ite(*condition, value(end), left);
        }
        let mut splitter = Splitter {
            old,
            changes: FxHashMap::default(),
        };
        let changes = splitter.changes(terms, left);
        let guard = terms.and(live, changes);
        if guard == Terms::FALSE {
            return None;
        }
        let new = splitter.value(terms, left);
        let is_passed = self.ends.iter().all(|(_, end)| match end {
            End::Flow(_) => splitter.changes(terms, value(end)) == Terms::TRUE,
            End::State(_) => true,
        });
        Some(Write {
            point: self.point,
            guard,
            value: new,
            is_certain: changes == Terms::TRUE,
            is_passed,
        })
    }
}

/// Takes a value apart into whether it is a new one, and which.
struct Splitter {
    old: Term,
    changes: FxHashMap<Term, Term>,
}

impl Splitter {
    fn changes(&mut self, terms: &mut Terms, term: Term) -> Term {
        if term == self.old {
            return Terms::FALSE;
        }
        let TermNode::Ite(condition, then, otherwise) = terms.node(term) else {
            return Terms::TRUE;
        };
        if let Some(&known) = self.changes.get(&term) {
            return known;
        }
        let then = self.changes(terms, then);
        let otherwise = self.changes(terms, otherwise);
        let changes = terms.ite(condition, then, otherwise);
        self.changes.insert(term, changes);
        changes
    }

    /// The new value; what it is where there is none does not matter.
    fn value(&mut self, terms: &mut Terms, term: Term) -> Term {
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        self.value_of(terms, term, &mut known)
    }

    fn value_of(
        &mut self,
        terms: &mut Terms,
        term: Term,
        known: &mut FxHashMap<Term, Term>,
    ) -> Term {
        let TermNode::Ite(condition, then, otherwise) = terms.node(term) else {
            return term;
        };
        if let Some(&value) = known.get(&term) {
            return value;
        }
        let value = if self.changes(terms, then) == Terms::FALSE {
            self.value_of(terms, otherwise, known)
        } else if self.changes(terms, otherwise) == Terms::FALSE {
            self.value_of(terms, then, known)
        } else {
            let then = self.value_of(terms, then, known);
            let otherwise = self.value_of(terms, otherwise, known);
            terms.ite(condition, then, otherwise)
        };
        known.insert(term, value);
        value
    }
}
