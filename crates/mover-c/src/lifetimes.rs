//! Whether a variable is accessed only during its lifetime.
//!
//! Markers say where the lifetime of a stack variable begins and ends: that of its block, or
//! that of the call to which it belongs. After the end a pointer to it dangles. A variable for
//! which that cannot happen needs neither an address nor a place in memory.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// What happens to a variable at an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Begins,
    Ends,
    Access,
}

/// What happens to a variable, by blocks of the code.
pub struct Life<B> {
    /// With the number of the instruction in its block.
    events: HashMap<B, Vec<(usize, Event)>>,
    is_marked: bool,
}

/// For each block those from which the run comes there.
pub type Predecessors<B> = HashMap<B, Vec<B>>;

impl<B> Default for Life<B> {
    fn default() -> Life<B> {
        Life {
            events: HashMap::new(),
            is_marked: false,
        }
    }
}

impl<B: Copy + Eq + Hash> Life<B> {
    pub fn note(&mut self, block: B, number: usize, event: Event) {
        self.events.entry(block).or_default().push((number, event));
        self.is_marked |= event != Event::Access;
    }

    /// Whether every access is after a beginning and before the end, on every path from `entry` on.
    /// What has no marks lives all the time. The ways are followed backwards, for lives are short.
    pub fn has_all_accesses(mut self, predecessors: &Predecessors<B>, entry: B) -> bool {
        if !self.is_marked {
            return true;
        }
        // Blocks at whose beginning it has to be alive.
        let mut open = Vec::new();
        for (&block, events) in &mut self.events {
            events.sort_by_key(|(number, _)| *number);
            let mut lives = None;
            for (_, event) in events {
                match (*event, lives) {
                    (Event::Begins, _) => lives = Some(true),
                    (Event::Ends, _) => lives = Some(false),
                    (Event::Access, Some(true)) => {}
                    (Event::Access, Some(false)) => return false,
                    (Event::Access, None) => {
                        open.push(block);
                        lives = Some(true);
                    }
                }
            }
        }
        let mut seen: HashSet<B> = open.iter().copied().collect();
        while let Some(block) = open.pop() {
            if block == entry {
                return false;
            }
            for &before in predecessors.get(&block).into_iter().flatten() {
                let events = self.events.get(&before).into_iter().flatten().rev();
                let mut marks = events.filter(|(_, event)| *event != Event::Access);
                match marks.next() {
                    Some((_, Event::Begins)) => {}
                    Some(_) => return false,
                    None if seen.insert(before) => open.push(before),
                    None => {}
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_within(edges: &[(u32, u32)], events: &[(u32, usize, Event)]) -> bool {
        let mut predecessors = Predecessors::new();
        for &(from, to) in edges {
            predecessors.entry(to).or_insert_with(Vec::new).push(from);
        }
        let mut life = Life::default();
        for &(block, number, event) in events {
            life.note(block, number, event);
        }
        life.has_all_accesses(&predecessors, 0)
    }

    #[test]
    fn accesses_are_within_a_life_on_every_way() {
        use Event::*;
        let line = [(0, 1), (1, 2)];
        assert!(is_within(&line, &[(0, 0, Access)]), "no marks");
        let good = [(0, 0, Begins), (1, 5, Access), (2, 0, Access), (2, 1, Ends)];
        assert!(is_within(&line, &good));
        let behind = [(0, 0, Begins), (1, 0, Ends), (1, 1, Access)];
        assert!(!is_within(&line, &behind));
        let before = [(0, 1, Begins), (0, 0, Access)];
        assert!(!is_within(&line, &before));
        // The life ends on one of two ways.
        let fork = [(0, 1), (0, 2), (1, 3), (2, 3)];
        let one_way = [(0, 0, Begins), (1, 0, Ends), (3, 0, Access)];
        assert!(!is_within(&fork, &one_way));
        let both_ways = [(1, 0, Begins), (2, 0, Begins), (3, 0, Access)];
        assert!(is_within(&fork, &both_ways));
        // In a loop each time anew, or too late.
        let around = [(0, 1), (1, 1)];
        assert!(is_within(
            &around,
            &[(1, 0, Begins), (1, 1, Access), (1, 2, Ends)]
        ));
        assert!(!is_within(
            &around,
            &[(0, 0, Begins), (1, 0, Access), (1, 1, Ends)]
        ));
    }
}
