//! The states of a level, and how workers share them out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States that a worker takes from a level at once, at most.
const MOST_TAKEN: usize = 64;

/// The states of one level, by the workers that found them.
#[derive(Default)]
pub struct Level {
    pub segments: Vec<Segment>,
    /// How many states a worker takes at once.
    taken: usize,
}

pub struct Segment {
    pub states: Vec<u32>,
    /// The first that nobody has taken.
    next: AtomicUsize,
}

impl Level {
    pub fn new(found: Vec<Vec<u32>>) -> Self {
        let total: usize = found.iter().map(Vec::len).sum();
        let each = total / (found.len() * 16).max(1);
        let segment = |states| Segment {
            states,
            next: AtomicUsize::new(0),
        };
        Level {
            segments: found.into_iter().map(segment).collect(),
            taken: each.clamp(1, MOST_TAKEN),
        }
    }

    /// Takes some states, of one's own segment if there are any.
    pub fn take(&self, own: usize) -> Option<(usize, Range<usize>)> {
        let count = self.segments.len();
        for number in (0..count).map(|offset| (own + offset) % count) {
            let segment = &self.segments[number];
            let len = segment.states.len();
            if segment.next.load(Ordering::Relaxed) < len {
                let start = segment.next.fetch_add(self.taken, Ordering::Relaxed);
                if start < len {
                    return Some((number, start..len.min(start + self.taken)));
                }
            }
        }
        None
    }
}
