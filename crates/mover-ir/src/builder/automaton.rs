//! The automaton of one thread while it is being written.
//!
//! A statement adds edges at the location where the last one ended. Where branches meet and loops
//! close, two locations become one, instead of being joined by an edge: control flow takes no
//! steps of its own. Which locations are the same is kept aside and resolved in
//! [`Automaton::finish`].

use std::collections::HashMap;
use std::panic::Location as Caller;

use crate::expr::Expr;
use crate::program::{Edge, Effect, ErrorMark, Location, LocationId};

pub(super) type CallerRef = &'static Caller<'static>;

/// A location by its place among all that were made.
pub(super) type Draft = usize;

#[derive(Default)]
pub(super) struct Automaton {
    locations: Vec<Location>,
    /// By location and edge: the call that made it.
    callers: Vec<Vec<CallerRef>>,
    /// By location: the one that it is the same as; itself if it is one of its own.
    same_as: Vec<Draft>,
    /// Pairs of a location and a loop's head: the first does what the second does, but is another.
    copies: Vec<(Draft, Draft)>,
}

/// A thread's automaton with nothing left open.
pub(super) struct Finished {
    pub locations: Vec<Location>,
    pub callers: Vec<Vec<CallerRef>>,
    pub entry: LocationId,
    pub end: LocationId,
}

impl Automaton {
    pub fn location(&mut self, atomic: bool) -> Draft {
        self.locations.push(Location {
            atomic,
            ..Location::default()
        });
        self.callers.push(Vec::new());
        self.same_as.push(self.same_as.len());
        self.locations.len() - 1
    }

    pub fn error(&mut self, mark: ErrorMark) -> Draft {
        let location = self.location(false);
        self.locations[location].error = Some(mark);
        location
    }

    pub fn get(&mut self, location: Draft) -> &mut Location {
        &mut self.locations[location]
    }

    /// Returns the number of the edge at its location.
    pub fn edge(
        &mut self,
        (from, to): (Draft, Draft),
        guard: Expr,
        effects: Vec<Effect>,
        text: String,
        caller: CallerRef,
    ) -> usize {
        let edges = &mut self.locations[from].edges;
        edges.push(Edge {
            guard,
            effects,
            target: LocationId(to as u32),
            text,
            ..Edge::default()
        });
        self.callers[from].push(caller);
        edges.len() - 1
    }

    pub fn resolve(&self, mut location: Draft) -> Draft {
        while self.same_as[location] != location {
            location = self.same_as[location];
        }
        location
    }

    /// Makes the first location the second; the first must have no edges. Gives false if they are
    /// one already.
    pub fn unite(&mut self, from: Draft, to: Draft) -> bool {
        let (from, to) = (self.resolve(from), self.resolve(to));
        if from == to {
            return false;
        }
        self.same_as[from] = to;
        let labels = std::mem::take(&mut self.locations[from].labels);
        let valid_end = self.locations[from].valid_end;
        self.locations[to].labels.extend(labels);
        self.locations[to].valid_end |= valid_end;
        true
    }

    /// Another location that does what `head` will do.
    pub fn copy_later(&mut self, location: Draft, head: Draft) {
        self.copies.push((location, head));
    }

    /// Leaves out what cannot be reached; the end stays, since others may ask for it.
    pub fn finish(mut self, entry: Draft, end: Draft) -> Finished {
        // What is copied last may be part of what was to be copied before.
        while let Some((location, head)) = self.copies.pop() {
            let (location, head) = (self.resolve(location), self.resolve(head));
            let edges = self.locations[head].edges.clone();
            let callers = self.callers[head].clone();
            self.locations[location].edges.extend(edges);
            self.callers[location].extend(callers);
        }
        let (entry, end) = (self.resolve(entry), self.resolve(end));
        let mut reached = vec![false; self.locations.len()];
        let mut waiting = vec![entry, end];
        while let Some(location) = waiting.pop() {
            if std::mem::replace(&mut reached[location], true) {
                continue;
            }
            let targets = self.locations[location].edges.iter();
            waiting.extend(targets.map(|edge| self.resolve(edge.target.index())));
            let resume = self.locations[location].error.as_ref();
            waiting.extend(
                resume
                    .and_then(|error| error.resume)
                    .map(|resume| self.resolve(resume.index())),
            );
        }
        let kept: Vec<Draft> = (0..reached.len()).filter(|&draft| reached[draft]).collect();
        let numbers: HashMap<Draft, u32> = (0..).zip(&kept).map(|(n, &draft)| (draft, n)).collect();
        let number = |draft: Draft| LocationId(numbers[&self.resolve(draft)]);
        let renumbered = |draft: &Draft| {
            let mut location = self.locations[*draft].clone();
            for edge in &mut location.edges {
                edge.target = number(edge.target.index());
            }
            if let Some(ErrorMark {
                resume: Some(resume),
                ..
            }) = &mut location.error
            {
                *resume = number(resume.index());
            }
            location
        };
        Finished {
            locations: kept.iter().map(renumbered).collect(),
            entry: number(entry),
            end: number(end),
            callers: kept
                .iter()
                .map(|&draft| self.callers[draft].clone())
                .collect(),
        }
    }
}
