//! Locations with phases, in an order in which they can be encoded.
//!
//! The graph of a template is computed as a fixed point: where blocks may end, other blocks may
//! begin. Loops are cut at as few nodes as possible, preferably in the left phase, because a
//! block ends there anyway.

use mover_ir::graph::{feedback_set, from_successors, reverse_postorder};
use mover_ir::program::{Edge, Effect};
use mover_reduce::Reduction;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Blocks;

/// Where a thread is in its transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum NodePhase {
    /// Between transactions, about to begin one.
    Start,
    /// Only right movers so far.
    Right {
        took_lock: bool,
    },
    Left,
    /// In an atomic sequence, only right movers so far.
    AtomicRight {
        took_lock: bool,
    },
    /// In an atomic sequence that makes the transaction left.
    Atomic,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Node {
    pub(super) location: usize,
    pub(super) phase: NodePhase,
}

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Arrival {
    Inside(Node),
    /// The block ends, and this is whose turn it is then.
    Ends(Ending),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Ending {
    External,
    Exclusive,
    Uncommitted { took_lock: bool },
}

/// The nodes of one template in an order in which formulas can be made.
pub(super) struct Graph {
    pub(super) order: Vec<Node>,
    pub(super) cut: FxHashSet<Node>,
    /// Locations that are left in the `static` reduction however they were reached.
    always_left: Vec<bool>,
    /// Locations where a thread can be between transactions.
    external: Vec<bool>,
}

impl Blocks<'_> {
    /// Whether a thread may pass a location in the left phase, as far as that is known statically.
    fn may_pass_left(&self, template: usize, location: usize) -> bool {
        let body = self.template(template);
        let place = &body.locations[location];
        !place.edges.is_empty()
            && !place.ends_run()
            && !self.plan.meets[template][location]
            && self.plan.reduction != Reduction::None
            && place.edges.iter().enumerate().all(|(number, edge)| {
                let condition = &self.plan.edges[template][location][number];
                let target = edge.target.index();
                condition.left.may_hold()
                    && (!body.locations[target].atomic || self.is_short(template, target))
            })
    }

    /// Whether the atomic sequence that begins at a location certainly ends and all
    /// its steps are left movers.
    fn is_short(&self, template: usize, location: usize) -> bool {
        fn walk(
            blocks: &Blocks,
            template: usize,
            location: usize,
            open: &mut Vec<usize>,
            done: &mut FxHashSet<usize>,
        ) -> bool {
            let place = &blocks.template(template).locations[location];
            // Whoever is about to meet a bound in it must let the others continue first.
            if place.bound.is_some() {
                return false;
            }
            if !place.atomic || done.contains(&location) {
                return true;
            }
            if open.contains(&location) || blocks.plan.meets[template][location] {
                return false;
            }
            open.push(location);
            let all = place.edges.iter().enumerate().all(|(number, edge)| {
                blocks.plan.edges[template][location][number]
                    .left
                    .is_always()
                    && walk(blocks, template, edge.target.index(), open, done)
            });
            open.pop();
            done.insert(location);
            all
        }
        walk(
            self,
            template,
            location,
            &mut Vec::new(),
            &mut FxHashSet::default(),
        )
    }

    pub(super) fn graph(&self, template: usize) -> Graph {
        let body = self.template(template);
        let count = body.locations.len();
        let mut always_left = vec![false; count];
        let mut external = vec![false; count];
        external[body.entry.index()] = true;
        if self.plan.program.has_rendezvous() {
            // Where a rendezvous leads the thread is between transactions.
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                if edge.effects.iter().any(Effect::is_channel_operation) {
                    external[edge.target.index()] = true;
                }
            }
        }
        loop {
            let graph = self.graph_with(template, always_left.clone(), external.clone());
            let mut grew = false;
            for location in self.ends(template, &graph) {
                grew |= !std::mem::replace(&mut external[location], true);
            }
            // Statically a location that can be left on some path is left on all paths.
            if self.plan.reduction == Reduction::Static {
                for node in graph
                    .order
                    .iter()
                    .filter(|node| node.phase == NodePhase::Left)
                {
                    grew |= !std::mem::replace(&mut always_left[node.location], true);
                }
            }
            if !grew {
                return graph;
            }
        }
    }

    /// Locations at which blocks may end with the thread external.
    fn ends(&self, template: usize, graph: &Graph) -> Vec<usize> {
        let mut ends = Vec::new();
        for node in &graph.order {
            let stops = match node.phase {
                NodePhase::Left => true,
                NodePhase::Right { .. } => self.keep_deadlocks,
                _ => false,
            };
            if stops {
                ends.push(node.location);
            }
            let place = &self.template(template).locations[node.location];
            for (number, edge) in place.edges.iter().enumerate() {
                let takes_lock = self.plan.edges[template][node.location][number].takes_lock;
                for (right, moves) in [(true, true), (true, false), (false, true), (false, false)] {
                    let arrival =
                        self.arrival(template, graph, node.phase, edge, right, takes_lock, moves);
                    if arrival == Arrival::Ends(Ending::External) {
                        ends.push(edge.target.index());
                    }
                }
            }
        }
        ends
    }

    fn graph_with(&self, template: usize, always_left: Vec<bool>, external: Vec<bool>) -> Graph {
        let mut graph = Graph {
            order: Vec::new(),
            cut: FxHashSet::default(),
            always_left,
            external,
        };
        // All reachable nodes, first without cuts.
        let mut nodes: Vec<Node> = Vec::new();
        let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
        let locations = 0..self.template(template).locations.len();
        let atomic = |location: &usize| self.template(template).locations[*location].atomic;
        let mut work: Vec<Node> = locations
            .clone()
            .filter(|&location| graph.external[location])
            .map(|location| Node {
                location,
                phase: NodePhase::Start,
            })
            .collect();
        // The receiver of a rendezvous may find itself in an atomic sequence.
        if self.plan.program.has_rendezvous() {
            work.extend(locations.filter(atomic).map(|location| Node {
                location,
                phase: NodePhase::Atomic,
            }));
        }
        let mut successors: Vec<Vec<Node>> = Vec::new();
        while let Some(node) = work.pop() {
            if numbers.contains_key(&node) {
                continue;
            }
            numbers.insert(node, nodes.len());
            nodes.push(node);
            let after = self.successors(template, &graph, node);
            work.extend(&after);
            successors.push(after);
        }
        let loops = from_successors(nodes.len(), |node| {
            successors[node].iter().rev().map(|next| numbers[next])
        });
        let cut = feedback_set(&loops, |node| match nodes[node].phase {
            NodePhase::Start => 0,
            NodePhase::Left => 1,
            NodePhase::Right { .. } => 2,
            NodePhase::AtomicRight { .. } | NodePhase::Atomic => 3,
        });
        for node in cut.ones().map(|number| nodes[number]) {
            graph.cut.insert(node);
            // A cut right-phase atomic sequence continues as a plain atomic one.
            if matches!(node.phase, NodePhase::AtomicRight { .. }) {
                let plain = Node {
                    phase: NodePhase::Atomic,
                    ..node
                };
                graph.cut.insert(plain);
            }
        }
        // What is continued with after a cut may be new, and lead to what is new.
        let mut resumed: Vec<Node> = graph.cut.iter().copied().collect();
        resumed.sort_unstable();
        let mut number_of = |node: Node, nodes: &mut Vec<Node>| {
            *numbers.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };
        for node in resumed {
            number_of(node, &mut nodes);
        }
        let mut successors: Vec<Vec<usize>> = Vec::new();
        while let Some(&node) = nodes.get(successors.len()) {
            let mut inside = Vec::new();
            for next in self.successors(template, &graph, node) {
                let number = number_of(next, &mut nodes);
                if !graph.cut.contains(&next) {
                    inside.push(number);
                }
            }
            successors.push(inside);
        }
        let acyclic = from_successors(nodes.len(), |node| successors[node].iter().rev().copied());
        let order = reverse_postorder(&acyclic, 0..nodes.len());
        graph.order = order.into_iter().map(|number| nodes[number]).collect();
        graph
    }

    /// The nodes that steps from a node may lead to, whatever the state.
    fn successors(&self, template: usize, graph: &Graph, node: Node) -> Vec<Node> {
        let body = self.template(template);
        let mut after = Vec::new();
        if body.locations[node.location].ends_run() {
            return after;
        }
        for (number, edge) in body.locations[node.location].edges.iter().enumerate() {
            if is_idle(node.location, edge) {
                continue;
            }
            let condition = &self.plan.edges[template][node.location][number];
            for right in [true, false] {
                if right && !condition.right.may_hold() || !right && condition.right.is_always() {
                    continue;
                }
                for moves in [true, false] {
                    let took = condition.takes_lock;
                    let arrival =
                        self.arrival(template, graph, node.phase, edge, right, took, moves);
                    if let Arrival::Inside(node) = arrival {
                        after.push(node);
                    }
                }
            }
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Where an edge leads from a phase; `right` says whether it was a right mover,
    /// `moves` whether the thread can continue in the atomic sequence that it leads into.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn arrival(
        &self,
        template: usize,
        graph: &Graph,
        from: NodePhase,
        edge: &Edge,
        right: bool,
        takes_lock: bool,
        moves: bool,
    ) -> Arrival {
        let external = Arrival::Ends(Ending::External);
        let location = edge.target.index();
        let place = &self.template(template).locations[location];
        if edge.effects.last() == Some(&Effect::Exit) || place.ends_run() {
            return external;
        }
        let took_before = match from {
            NodePhase::Right { took_lock } | NodePhase::AtomicRight { took_lock } => took_lock,
            _ => false,
        };
        let took_lock = self.keep_deadlocks && (took_before || takes_lock);
        let uncommitted = right && !matches!(from, NodePhase::Left | NodePhase::Atomic);
        if place.atomic {
            if !moves {
                return external;
            }
            let phase = if uncommitted {
                NodePhase::AtomicRight { took_lock }
            } else {
                NodePhase::Atomic
            };
            let node = Node { location, phase };
            return if graph.cut.contains(&node) {
                Arrival::Ends(Ending::Exclusive)
            } else {
                Arrival::Inside(node)
            };
        }
        if self.plan.reduction == Reduction::None || self.plan.meets[template][location] {
            return external;
        }
        if uncommitted && !graph.always_left[location] {
            let node = Node {
                location,
                phase: NodePhase::Right { took_lock },
            };
            let takes_another = took_lock
                && self.plan.edges[template][location]
                    .iter()
                    .any(|condition| condition.takes_lock);
            return if takes_another {
                external
            } else if graph.cut.contains(&node) {
                Arrival::Ends(Ending::Uncommitted { took_lock })
            } else {
                Arrival::Inside(node)
            };
        }
        let node = Node {
            location,
            phase: NodePhase::Left,
        };
        if graph.cut.contains(&node) || !self.may_pass_left(template, location) {
            external
        } else {
            Arrival::Inside(node)
        }
    }
}

/// Whether an edge leaves everything as it is. Such a step leads nowhere new, so no
/// block needs it; that it is possible still keeps its thread from being stuck.
pub(super) fn is_idle(location: usize, edge: &Edge) -> bool {
    edge.target.index() == location
        && edge
            .effects
            .iter()
            .all(|effect| matches!(effect, Effect::Print { .. }))
}
