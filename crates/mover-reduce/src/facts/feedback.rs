//! Location feedback sets.
//!
//! A *location feedback set* of a template contains at least one location of every cycle of its
//! graph (Günther et al. 2017, Definition 2; Flanagan and Qadeer 2003, Section 4.2: "ensuring
//! that every cycle … is broken"). A search that schedules the other threads at these locations
//! cannot ignore them for ever in a loop. A minimum set is hard to compute; the targets of the
//! back edges of a depth-first traversal form a feedback set, and for most programs they are
//! the loop heads.
//!
//! A thread is never observed at an atomic location unless it blocks there. A cycle must be
//! broken at an observable location, so the traversal treats paths through atomic locations as
//! single edges. A cycle of atomic locations only is a single step that never ends; it need not
//! be broken.

use mover_ir::graph::{FixedBitSet, back_edge_targets, from_successors};
use mover_ir::program::{LocationId, Template};

/// The locations of a template that are in the set.
pub fn feedback_set(template: &Template) -> FixedBitSet {
    let visible = from_successors(template.locations.len(), |location| {
        visible_successors(template, location)
    });
    back_edge_targets(&visible, template.entry.index())
}

/// The locations that are not atomic and can be reached through atomic ones only, in the order of
/// the edges.
fn visible_successors(template: &Template, location: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut passed = vec![false; template.locations.len()];
    let targets = |location: usize| {
        let edges = template.locations[location].edges.iter().rev();
        edges.map(|edge| edge.target.index())
    };
    let mut work: Vec<usize> = targets(location).collect();
    while let Some(location) = work.pop() {
        if std::mem::replace(&mut passed[location], true) {
            continue;
        }
        if template.location(LocationId(location as u32)).atomic {
            work.extend(targets(location));
        } else {
            found.push(location);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_ir::expr::Expr;
    use mover_ir::program::{Edge, Location};

    /// A template with these edges; the locations after the bar are atomic.
    fn template(edges: &[(u32, u32)], atomic: &[usize]) -> Template {
        let most = edges.iter().flat_map(|&(from, to)| [from, to]).max();
        let mut locations = vec![Location::default(); most.map_or(0, |most| most as usize + 1)];
        for &(from, to) in edges {
            locations[from as usize].edges.push(Edge {
                priority: 0,
                guard: Expr::TRUE,
                effects: Vec::new(),
                target: LocationId(to),
                span: None,
                text: String::new(),
                sync: Vec::new(),
            });
        }
        for &location in atomic {
            locations[location].atomic = true;
        }
        Template {
            name: "T".into(),
            params: 0,
            locals: Vec::new(),
            channels: Vec::new(),
            locations,
            entry: LocationId(0),
            span: None,
        }
    }

    fn set(edges: &[(u32, u32)], atomic: &[usize]) -> Vec<usize> {
        feedback_set(&template(edges, atomic)).ones().collect()
    }

    #[test]
    fn loop_heads_are_chosen() {
        assert_eq!(set(&[(0, 1), (1, 2), (2, 3)], &[]), []);
        assert_eq!(set(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[]), [1]);
        let nested = [(0, 1), (1, 2), (2, 3), (3, 2), (2, 4), (4, 1), (4, 5)];
        assert_eq!(set(&nested, &[]), [1, 2]);
    }

    #[test]
    fn a_cycle_is_broken_where_it_can_be_seen() {
        assert_eq!(set(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[1]), [2]);
        assert_eq!(set(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[1, 2]), []);
    }
}
