//! A transaction as a formula.
//!
//! After paper 001, Sections 4.2, 4.3 and 5. Between transactions every thread is
//! *external*. A block takes one thread from an external state through one
//! transaction; while it only takes right movers it is *right* (pre-commit), after
//! another step it is *left* (post-commit) and takes left movers only. The paper
//! rewrites the program so that locations carry phases (its Table 3); here the
//! same graph is walked while the formula is made: a [`Node`] is a location with a
//! phase, and the mover conditions of the edges decide which node a step leads to.
//!
//! The formula is made by *merging*: nodes are visited in an order in which every
//! node comes after those that lead to it; each has a condition (the block passes
//! here) and a state, which is a choice between the states that came in. So its
//! size grows with the program and not with the number of its paths (large-block
//! encoding).
//!
//! Graphs with loops have no such order, so loops are cut:
//! - in the left phase the block ends at a cut, which is also what keeps a
//!   transaction from running for ever after its commit while others wait;
//! - in the right phase the state at a cut is exposed, and only the same thread
//!   may go on from there (the paper's C′);
//! - the same inside an atomic sequence.
//!
//! Corrections to the paper, found by experiment: a left location is external not
//! only where some edge may not move, but also where no edge is enabled or none is
//! there; otherwise others would wait for it for ever.
//!
//! **Atomic sequences.** Steps inside of one are a single step to others: right if
//! all its steps are, left only if that is known statically, for it cannot be left
//! half done; and never left if it may run for ever.
//!
//! **Deadlocks.** Right movers hide them. If deadlocks matter, a block also ends
//! where its thread cannot go on, and before it takes a second lock.
//!
//! **Rendezvous.** A thread at a receive without buffer is moved by others, so it
//! is external there; after a rendezvous a block ends.

use mover_ir::expr::Expr;
use mover_ir::program::{Edge, Effect, Template};
use mover_ir::semantics::Step;
use mover_reduce::access::EdgeRef;
use mover_reduce::control::feedback_set;
use mover_reduce::{Conditions, Reduction};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::layout::{Bounds, Layout, Turn};
use crate::machine::{Performer, Readiness, Symbols, View};
use crate::sat::Limit;
use crate::term::{Evaluation, Term, Terms};

/// Where a thread is in its transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Phase {
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
struct Node {
    location: usize,
    phase: Phase,
}

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Arrival {
    Inside(Node),
    /// The block ends, and this is whose turn it is then.
    Ends(Ending),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Ending {
    External,
    Exclusive,
    Uncommitted { took_lock: bool },
}

/// The nodes of one template in an order in which formulas can be made.
struct Graph {
    order: Vec<Node>,
    cut: FxHashSet<Node>,
    /// Locations that are left in the `static` reduction however they were reached.
    always_left: Vec<bool>,
    /// Locations where a thread can be between transactions.
    external: Vec<bool>,
}

/// A step that a block may contain.
pub struct Possible {
    /// Whether the block contains it.
    pub condition: Term,
    slot: usize,
    template: usize,
    location: usize,
    edge: usize,
    with: Option<(usize, usize)>,
    choice: Option<Term>,
}

impl Possible {
    pub fn edge(&self) -> EdgeRef {
        EdgeRef {
            template: self.template,
            location: self.location,
            edge: self.edge,
        }
    }
}

/// The formula of one block.
pub struct Block {
    /// The state after it.
    pub next: Symbols,
    /// Whether there is such a block at all.
    pub possible: Term,
    /// In an order in which those that happen happen.
    pub steps: Vec<Possible>,
    /// The scheduler's choice: which thread moves.
    pub who: Term,
    /// Whether a limit was reached before the formula was complete.
    pub is_cut: bool,
}

/// Free variables of a block: what the scheduler and the program choose.
#[derive(Default)]
pub struct Inputs {
    name: String,
    known: FxHashMap<(usize, usize), Term>,
    pub all: Vec<Term>,
}

impl Inputs {
    pub fn new(name: impl Into<String>) -> Self {
        Inputs {
            name: name.into(),
            ..Inputs::default()
        }
    }

    fn get(&mut self, terms: &mut Terms, node: usize, option: usize, width: u8) -> Term {
        if let Some(&known) = self.known.get(&(node, option))
            && terms.width(known) == width
        {
            return known;
        }
        let term = terms.variable(format!("choice{} {node}.{option}", self.name), width);
        self.known.insert((node, option), term);
        self.all.push(term);
        term
    }

    fn who(&mut self, terms: &mut Terms, width: u8) -> Term {
        let term = terms.variable(format!("who{}", self.name), width);
        self.all.push(term);
        term
    }
}

pub struct Blocks<'p> {
    pub layout: Layout<'p>,
    conditions: &'p Conditions,
    graphs: Vec<Graph>,
    keep_deadlocks: bool,
    uses_timeout: bool,
    /// When to give up making a formula.
    limit: Limit,
}

/// A way to go on from a node.
struct Option_<'e> {
    condition: Term,
    edge: usize,
    body: &'e Edge,
    meeting: Option<crate::machine::Meeting>,
    choice: Option<Term>,
}

impl<'p> Blocks<'p> {
    pub fn new(
        conditions: &'p Conditions,
        bounds: Bounds,
        keep_deadlocks: bool,
        limit: Limit,
    ) -> Result<Self, String> {
        let layout = Layout::new(&conditions.program, bounds)?;
        let mut blocks = Blocks {
            uses_timeout: conditions.program.uses_timeout(),
            layout,
            conditions,
            graphs: Vec::new(),
            keep_deadlocks,
            limit,
        };
        for template in 0..conditions.program.templates.len() {
            let graph = blocks.graph(template);
            blocks.graphs.push(graph);
        }
        Ok(blocks)
    }

    fn template(&self, template: usize) -> &'p Template {
        &self.conditions.program.templates[template]
    }

    /// Whether a thread may pass a location in the left phase, as far as that is known statically.
    fn may_pass_left(&self, template: usize, location: usize) -> bool {
        let body = self.template(template);
        let place = &body.locations[location];
        !place.edges.is_empty()
            && place.error.is_none()
            && !self.conditions.meets[template][location]
            && self.conditions.reduction != Reduction::None
            && place.edges.iter().enumerate().all(|(number, edge)| {
                let condition = &self.conditions.edges[template][location][number];
                let target = edge.target.index();
                condition.left != Expr::FALSE
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
            if !place.atomic || done.contains(&location) {
                return true;
            }
            if open.contains(&location) || blocks.conditions.meets[template][location] {
                return false;
            }
            open.push(location);
            let all = place.edges.iter().enumerate().all(|(number, edge)| {
                blocks.conditions.edges[template][location][number].left == Expr::TRUE
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

    fn graph(&self, template: usize) -> Graph {
        let body = self.template(template);
        let count = body.locations.len();
        let mut always_left = vec![false; count];
        let mut external = vec![false; count];
        external[body.entry.index()] = true;
        if self.conditions.program.has_rendezvous() {
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
            // Statically a location that can be left on some way is left on all ways.
            if self.conditions.reduction == Reduction::Static {
                for node in graph.order.iter().filter(|node| node.phase == Phase::Left) {
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
                Phase::Left => true,
                Phase::Right { .. } => self.keep_deadlocks,
                _ => false,
            };
            if stops {
                ends.push(node.location);
            }
            let place = &self.template(template).locations[node.location];
            for (number, edge) in place.edges.iter().enumerate() {
                let takes_lock = self.conditions.edges[template][node.location][number].takes_lock;
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
        // All nodes that can be come to, first without cuts.
        let mut nodes: Vec<Node> = Vec::new();
        let mut numbers: FxHashMap<Node, usize> = FxHashMap::default();
        let locations = 0..self.template(template).locations.len();
        let atomic = |location: &usize| self.template(template).locations[*location].atomic;
        let mut work: Vec<Node> = locations
            .clone()
            .filter(|&location| graph.external[location])
            .map(|location| Node {
                location,
                phase: Phase::Start,
            })
            .collect();
        // The receiver of a rendezvous may find itself in an atomic sequence.
        if self.conditions.program.has_rendezvous() {
            work.extend(locations.filter(atomic).map(|location| Node {
                location,
                phase: Phase::Atomic,
            }));
        }
        let mut successors: Vec<Vec<usize>> = Vec::new();
        let mut pending: Vec<Vec<Node>> = Vec::new();
        while let Some(node) = work.pop() {
            if numbers.contains_key(&node) {
                continue;
            }
            numbers.insert(node, nodes.len());
            nodes.push(node);
            let after = self.successors(template, &graph, node);
            work.extend(&after);
            pending.push(after);
        }
        for after in pending {
            successors.push(after.iter().map(|node| numbers[node]).collect());
        }
        let roots: Vec<usize> = (0..nodes.len()).collect();
        let cut = feedback_set(
            nodes.len(),
            &roots,
            |node| successors[node].clone(),
            |node| match nodes[node].phase {
                Phase::Start => 0,
                Phase::Left => 1,
                Phase::Right { .. } => 2,
                Phase::AtomicRight { .. } | Phase::Atomic => 3,
            },
        );
        for (number, node) in nodes.iter().enumerate() {
            if cut[number] {
                graph.cut.insert(*node);
                // A cut right-phase atomic sequence goes on as a plain atomic one.
                if matches!(node.phase, Phase::AtomicRight { .. }) {
                    let plain = Node {
                        phase: Phase::Atomic,
                        ..*node
                    };
                    graph.cut.insert(plain);
                }
            }
        }
        // What is gone on with behind a cut may be new, and lead to what is new.
        let mut seen: FxHashSet<Node> = nodes.iter().copied().collect();
        let mut resumed: Vec<Node> = graph.cut.iter().copied().collect();
        resumed.sort_unstable();
        nodes.extend(resumed.into_iter().filter(|node| seen.insert(*node)));
        let mut number = 0;
        while number < nodes.len() {
            for after in self.successors(template, &graph, nodes[number]) {
                if seen.insert(after) {
                    nodes.push(after);
                }
            }
            number += 1;
        }
        graph.order = topological(&nodes, |node| {
            let mut after = self.successors(template, &graph, node);
            after.retain(|next| !graph.cut.contains(next));
            after
        });
        graph
    }

    /// The nodes that steps from a node may lead to, whatever the state.
    fn successors(&self, template: usize, graph: &Graph, node: Node) -> Vec<Node> {
        let body = self.template(template);
        let mut after = Vec::new();
        if body.locations[node.location].error.is_some() {
            return after;
        }
        for (number, edge) in body.locations[node.location].edges.iter().enumerate() {
            if is_idle(node.location, edge) {
                continue;
            }
            let condition = &self.conditions.edges[template][node.location][number];
            for right in [true, false] {
                if right && condition.right == Expr::FALSE
                    || !right && condition.right == Expr::TRUE
                {
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
    /// `moves` whether the thread can go on in the atomic sequence that it leads into.
    #[allow(clippy::too_many_arguments)]
    fn arrival(
        &self,
        template: usize,
        graph: &Graph,
        from: Phase,
        edge: &Edge,
        right: bool,
        takes_lock: bool,
        moves: bool,
    ) -> Arrival {
        let external = Arrival::Ends(Ending::External);
        let location = edge.target.index();
        let place = &self.template(template).locations[location];
        if edge.effects.last() == Some(&Effect::Exit) || place.error.is_some() {
            return external;
        }
        let took_before = match from {
            Phase::Right { took_lock } | Phase::AtomicRight { took_lock } => took_lock,
            _ => false,
        };
        let took_lock = self.keep_deadlocks && (took_before || takes_lock);
        let uncommitted = right && !matches!(from, Phase::Left | Phase::Atomic);
        if place.atomic {
            if !moves {
                return external;
            }
            let phase = if uncommitted {
                Phase::AtomicRight { took_lock }
            } else {
                Phase::Atomic
            };
            let node = Node { location, phase };
            return if graph.cut.contains(&node) {
                Arrival::Ends(Ending::Exclusive)
            } else {
                Arrival::Inside(node)
            };
        }
        if self.conditions.reduction == Reduction::None || self.conditions.meets[template][location]
        {
            return external;
        }
        if uncommitted && !graph.always_left[location] {
            let node = Node {
                location,
                phase: Phase::Right { took_lock },
            };
            let takes_another = took_lock
                && self.conditions.edges[template][location]
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
            phase: Phase::Left,
        };
        if graph.cut.contains(&node) || !self.may_pass_left(template, location) {
            external
        } else {
            Arrival::Inside(node)
        }
    }

    /// The formula of one block from a state.
    pub fn block(&self, terms: &mut Terms, state: &[Term], inputs: &mut Inputs) -> Block {
        self.block_from(terms, state, inputs, &|_, _| true)
    }

    /// The same for states in which threads stand at certain places only, by slot and number.
    pub fn block_from(
        &self,
        terms: &mut Terms,
        state: &[Term],
        inputs: &mut Inputs,
        stands: &dyn Fn(usize, u64) -> bool,
    ) -> Block {
        let slots = self.layout.slots.len();
        let who = inputs.who(terms, crate::layout::bits_for(slots as u64));
        let mut block = Encoding {
            blocks: self,
            stands,
            inputs,
            exits: Vec::new(),
            steps: Vec::new(),
            is_cut: false,
        };
        let enabled: Option<Vec<Term>> = (self.uses_timeout
            || self.conditions.program.priority_scheduling)
            .then(|| self.enabled(terms, state, Terms::FALSE));
        let timeout = match &enabled {
            Some(enabled) if self.uses_timeout => {
                let any = terms.any(enabled.iter().copied());
                terms.not(any)
            }
            _ => Terms::FALSE,
        };
        let first = match enabled {
            Some(_) if self.conditions.program.priority_scheduling => {
                let enabled = self.enabled(terms, state, timeout);
                self.of_highest_priority(terms, state, &enabled)
            }
            _ => vec![Terms::TRUE; slots],
        };
        let no_error = {
            let error = self.error(terms, state);
            terms.not(error)
        };
        for (slot, &may_start) in first.iter().enumerate() {
            let chosen = terms.equals(who, slot as u64);
            let chosen = terms.and(chosen, no_error);
            for template in 0..self.graphs.len() {
                if self.layout.slots[slot].residents[template].is_some() {
                    block.thread(terms, state, slot, template, chosen, may_start, timeout);
                }
            }
        }
        let Encoding {
            exits,
            steps,
            is_cut,
            ..
        } = block;
        let possible = terms.any(exits.iter().map(|(condition, _)| *condition));
        Block {
            next: merge(terms, &exits, state),
            possible,
            steps,
            who,
            is_cut,
        }
    }

    /// For each slot whether its thread can move, whoever's turn it is.
    pub fn enabled(&self, terms: &mut Terms, state: &[Term], timeout: Term) -> Vec<Term> {
        (0..self.layout.slots.len())
            .map(|slot| {
                let mut cases = Vec::new();
                for template in 0..self.graphs.len() {
                    for (location, place) in self.template(template).locations.iter().enumerate() {
                        let id = mover_ir::program::LocationId(location as u32);
                        let Some(value) = self.layout.place_value(slot, template, id) else {
                            continue;
                        };
                        if place.edges.is_empty() {
                            continue;
                        }
                        let view = self.view(state, slot, template, timeout);
                        let at = terms.equals(view.place(slot), value);
                        if at != Terms::FALSE {
                            let can = view.can_move(terms, location);
                            cases.push(terms.and(at, can));
                        }
                    }
                }
                terms.any(cases)
            })
            .collect()
    }

    fn of_highest_priority(
        &self,
        terms: &mut Terms,
        state: &[Term],
        enabled: &[Term],
    ) -> Vec<Term> {
        let priority = |slot: usize| self.layout.slots[slot].priority.map(|cell| state[cell]);
        (0..enabled.len())
            .map(|slot| {
                let Some(mine) = priority(slot) else {
                    return Terms::TRUE;
                };
                let mut all = Vec::new();
                for (other, &can) in enabled.iter().enumerate() {
                    if let Some(theirs) = priority(other) {
                        let above = terms.ult(mine, theirs);
                        let held_up = terms.and(above, can);
                        all.push(terms.not(held_up));
                    }
                }
                terms.all(all)
            })
            .collect()
    }

    fn view<'a>(
        &'a self,
        state: &'a [Term],
        slot: usize,
        template: usize,
        timeout: Term,
    ) -> View<'a, 'p> {
        View {
            layout: &self.layout,
            state,
            slot,
            template,
            timeout,
        }
    }

    /// Whether some thread has run into an error.
    pub fn error(&self, terms: &mut Terms, state: &[Term]) -> Term {
        self.somebody_at(terms, state, |location| location.error.is_some())
    }

    pub fn somebody_at(
        &self,
        terms: &mut Terms,
        state: &[Term],
        wanted: impl Fn(&mover_ir::program::Location) -> bool,
    ) -> Term {
        let mut cases = Vec::new();
        for slot in 0..self.layout.slots.len() {
            for (template, body) in self.conditions.program.templates.iter().enumerate() {
                for (location, place) in body.locations.iter().enumerate() {
                    let id = mover_ir::program::LocationId(location as u32);
                    if wanted(place)
                        && let Some(value) = self.layout.place_value(slot, template, id)
                    {
                        let cell = self.layout.slots[slot].place;
                        cases.push(terms.equals(state[cell], value));
                    }
                }
            }
        }
        terms.any(cases)
    }

    /// Whether no thread can move although some thread is not at a proper end.
    pub fn deadlock(&self, terms: &mut Terms, state: &[Term]) -> Term {
        let waits = self.somebody_at(terms, state, |location| !location.valid_end);
        let error = self.error(terms, state);
        let no_error = terms.not(error);
        let turn = terms.equals(state[self.layout.turn], 0);
        let mut all = vec![waits, no_error, turn];
        let timeouts = if self.uses_timeout {
            vec![Terms::FALSE, Terms::TRUE]
        } else {
            vec![Terms::FALSE]
        };
        for timeout in timeouts {
            for can in self.enabled(terms, state, timeout) {
                all.push(terms.not(can));
            }
        }
        terms.all(all)
    }

    /// Whether the run has left the bounds.
    pub fn beyond(&self, terms: &mut Terms, state: &[Term]) -> Term {
        if self.layout.is_exact() {
            Terms::FALSE
        } else {
            terms.equals(
                state[self.layout.turn],
                self.layout.turn_value(Turn::Beyond),
            )
        }
    }

    /// The steps of a block under an assignment of the inputs, as steps of the original program.
    pub fn steps(&self, block: &Block, values: &mut Evaluation) -> Vec<Step> {
        let mut steps = Vec::new();
        for possible in &block.steps {
            if !values.holds(possible.condition) {
                continue;
            }
            let with = possible
                .with
                .map(|(thread, edge)| mover_ir::semantics::Move { thread, edge });
            let choice = possible.choice.map_or(0, |choice| values.eval(choice));
            let parts =
                &self.conditions.made_of[possible.template][possible.location][possible.edge];
            steps.extend(parts.iter().map(|part| Step {
                by: mover_ir::semantics::Move {
                    thread: possible.slot,
                    edge: part.edge,
                },
                with,
                choice: if part.chooses { choice } else { 0 },
            }));
        }
        steps
    }
}

/// Whether an edge leaves everything as it is. Such a step leads nowhere new, so no
/// block needs it; that it is possible still keeps its thread from being stuck.
fn is_idle(location: usize, edge: &Edge) -> bool {
    edge.target.index() == location
        && edge
            .effects
            .iter()
            .all(|effect| matches!(effect, Effect::Print { .. }))
}

/// Nodes in an order in which every node comes before its successors.
fn topological(nodes: &[Node], successors: impl Fn(Node) -> Vec<Node>) -> Vec<Node> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    for &root in nodes {
        if !seen.insert(root) {
            continue;
        }
        let mut stack = vec![(root, successors(root))];
        while let Some((node, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) => {
                    if seen.insert(next) {
                        stack.push((next, successors(next)));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

/// The state in which exactly one of the conditions holds.
fn merge(terms: &mut Terms, cases: &[(Term, Symbols)], otherwise: &[Term]) -> Symbols {
    let Some(((_, last), rest)) = cases.split_last() else {
        return otherwise.to_vec();
    };
    let mut merged = last.clone();
    for (condition, state) in rest.iter().rev() {
        for (cell, &value) in merged.iter_mut().zip(state) {
            if *cell != value {
                *cell = terms.ite(*condition, value, *cell);
            }
        }
    }
    merged
}

/// A block in the making.
struct Encoding<'b, 'p> {
    blocks: &'b Blocks<'p>,
    stands: &'b dyn Fn(usize, u64) -> bool,
    inputs: &'b mut Inputs,
    exits: Vec<(Term, Symbols)>,
    steps: Vec<Possible>,
    is_cut: bool,
}

impl Encoding<'_, '_> {
    #[allow(clippy::too_many_arguments)]
    fn thread(
        &mut self,
        terms: &mut Terms,
        state: &[Term],
        slot: usize,
        template: usize,
        chosen: Term,
        may_start: Term,
        timeout: Term,
    ) {
        let blocks = self.blocks;
        let layout = &blocks.layout;
        let graph = &blocks.graphs[template];
        let turn = state[layout.turn];
        let meets = blocks.conditions.program.has_rendezvous();
        let mut incoming: FxHashMap<Node, Vec<(Term, Symbols)>> = FxHashMap::default();
        for (number, &node) in graph.order.iter().enumerate() {
            let id = mover_ir::program::LocationId(node.location as u32);
            let mut cases = incoming.remove(&node).unwrap_or_default();
            let entered_by = match node.phase {
                Phase::Start => Some(Turn::Anyone),
                Phase::Right { took_lock } if graph.cut.contains(&node) => {
                    Some(Turn::Uncommitted { slot, took_lock })
                }
                Phase::Atomic if meets || graph.cut.contains(&node) => Some(Turn::Exclusive(slot)),
                _ => None,
            };
            if let Some(entered_by) = entered_by
                && let Some(place) = layout.place_value(slot, template, id)
                && (self.stands)(slot, place)
            {
                let at = terms.equals(state[layout.slots[slot].place], place);
                let is_turn = terms.equals(turn, layout.turn_value(entered_by));
                let mut condition = terms.all([at, is_turn, chosen]);
                if node.phase == Phase::Start {
                    condition = terms.and(condition, may_start);
                }
                if condition != Terms::FALSE {
                    let mut begun = state.to_vec();
                    let cell = layout.turn;
                    begun[cell] = terms.constant(0, layout.widths[cell]);
                    cases.push((condition, begun));
                }
            }
            if cases.is_empty() {
                continue;
            }
            let condition = terms.any(cases.iter().map(|(condition, _)| *condition));
            if condition == Terms::FALSE {
                continue;
            }
            if blocks.limit.is_reached() {
                self.is_cut = true;
                return;
            }
            let here = merge(terms, &cases, state);
            let timeout = if node.phase == Phase::Start {
                timeout
            } else {
                Terms::FALSE
            };
            self.node(
                terms,
                slot,
                template,
                number,
                node,
                condition,
                here,
                timeout,
                &mut incoming,
            );
        }
    }

    /// Goes on from a node.
    #[allow(clippy::too_many_arguments)]
    fn node(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        number: usize,
        node: Node,
        condition: Term,
        here: Symbols,
        timeout: Term,
        incoming: &mut FxHashMap<Node, Vec<(Term, Symbols)>>,
    ) {
        let blocks = self.blocks;
        let body = blocks.template(template);
        let place = &body.locations[node.location];
        if place.error.is_some() {
            return;
        }
        let conditions = &blocks.conditions.edges[template][node.location];
        let view = blocks.view(&here, slot, template, timeout);
        let mut condition = condition;
        if node.phase == Phase::Left {
            let left: Vec<Term> = conditions
                .iter()
                .map(|edge| view.eval(terms, &edge.left))
                .collect();
            let left = terms.all(left);
            let not_left = terms.not(left);
            let ends = terms.and(condition, not_left);
            self.exit(terms, ends, &here, Turn::Anyone);
            condition = terms.and(condition, left);
        }
        if condition == Terms::FALSE {
            return;
        }
        let options = self.options(terms, &view, number, &place.edges);
        let ends_if_stuck = match node.phase {
            Phase::Left => true,
            Phase::Right { .. } => blocks.keep_deadlocks,
            _ => false,
        };
        if ends_if_stuck {
            // A thread that can only stay where it is must let the others go on, too.
            let leads_on = options.iter().filter(|o| !is_idle(node.location, o.body));
            let any = terms.any(leads_on.map(|option| option.condition));
            let stuck = terms.not(any);
            let ends = terms.and(condition, stuck);
            self.exit(terms, ends, &here, Turn::Anyone);
        }
        let exclusive = (0..options.len()).all(|a| {
            (0..a).all(|b| terms.and(options[a].condition, options[b].condition) == Terms::FALSE)
        });
        let mut left_over = condition;
        let count = options.len();
        for (position, option) in options.into_iter().enumerate() {
            let mut taken = terms.and(left_over, option.condition);
            if !exclusive && position + 1 < count {
                let choice = self.inputs.get(terms, number, position, 1);
                taken = terms.and(taken, choice);
            }
            if taken == Terms::FALSE {
                continue;
            }
            let not_taken = terms.not(taken);
            left_over = terms.and(left_over, not_taken);
            if is_idle(node.location, option.body) {
                continue;
            }
            self.take(terms, slot, template, node, taken, &here, option, incoming);
        }
    }

    /// The enabled ways to go on, by the edges' priorities.
    fn options<'e>(
        &mut self,
        terms: &mut Terms,
        view: &View,
        number: usize,
        edges: &'e [Edge],
    ) -> Vec<Option_<'e>> {
        let mut options: Vec<Option_> = Vec::new();
        for (edge, body) in edges.iter().enumerate() {
            let choice = body.effects.iter().find_map(|effect| match effect {
                Effect::Havoc { place, values } => Some((place.ty.width, *values)),
                _ => None,
            });
            let (alone, meetings) = match view.readiness(terms, body) {
                Readiness::Alone(alone) => (alone, Vec::new()),
                Readiness::Offers { alone, meetings } => (alone, meetings),
            };
            let choice = choice.map(|(width, values)| {
                // Beside the choices between edges, which are numbered from 0.
                let term = self
                    .inputs
                    .get(terms, number, edges.len() + 1_000 + edge, width);
                (term, values)
            });
            options.push(Option_ {
                condition: alone,
                edge,
                body,
                meeting: None,
                choice: choice.map(|(term, _)| term),
            });
            for meeting in meetings {
                options.push(Option_ {
                    condition: meeting.condition,
                    edge,
                    body,
                    meeting: Some(meeting),
                    choice: None,
                });
            }
        }
        let ready: Vec<(i32, Term)> = options
            .iter()
            .map(|option| (option.body.priority, option.condition))
            .collect();
        for option in &mut options {
            let higher: Vec<Term> = ready
                .iter()
                .filter(|(priority, _)| *priority > option.body.priority)
                .map(|(_, ready)| *ready)
                .collect();
            let higher = terms.any(higher);
            let highest = terms.not(higher);
            option.condition = terms.and(option.condition, highest);
            if let Some(choice) = option.choice {
                let values = option.body.effects.iter().find_map(|effect| match effect {
                    Effect::Havoc { values, .. } if *values > 0 => Some(*values),
                    _ => None,
                });
                if let Some(values) = values {
                    let width = terms.width(choice);
                    if values <= mover_ir::expr::mask(width) {
                        let bound = terms.constant(values, width);
                        let allowed = terms.ult(choice, bound);
                        option.condition = terms.and(option.condition, allowed);
                    }
                }
            }
        }
        options.retain(|option| option.condition != Terms::FALSE);
        options
    }

    #[allow(clippy::too_many_arguments)]
    fn take(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        node: Node,
        taken: Term,
        here: &Symbols,
        option: Option_,
        incoming: &mut FxHashMap<Node, Vec<(Term, Symbols)>>,
    ) {
        let blocks = self.blocks;
        let layout = &blocks.layout;
        self.steps.push(Possible {
            condition: taken,
            slot,
            template,
            location: node.location,
            edge: option.edge,
            with: option.meeting.as_ref().map(|m| (m.slot, m.edge)),
            choice: option.choice,
        });
        let mut performer = Performer {
            layout,
            state: here.clone(),
            beyond: Terms::FALSE,
        };
        let offered = option.meeting.as_ref().map(|m| (m.channel, &m.message[..]));
        performer.perform(terms, slot, template, option.body, offered, option.choice);
        if let Some(meeting) = &option.meeting {
            let theirs =
                &blocks.template(meeting.template).locations[meeting.location].edges[meeting.edge];
            performer.perform(terms, meeting.slot, meeting.template, theirs, offered, None);
            let target = theirs.target.index();
            let is_atomic = blocks.template(meeting.template).locations[target].atomic
                && theirs.effects.last() != Some(&Effect::Exit);
            let after = performer.state;
            let goes_on = if is_atomic {
                let view = blocks.view(&after, meeting.slot, meeting.template, Terms::FALSE);
                view.can_move(terms, target)
            } else {
                Terms::FALSE
            };
            let passes_on = terms.and(taken, goes_on);
            self.exit(terms, passes_on, &after, Turn::Exclusive(meeting.slot));
            let stops = terms.not(goes_on);
            let stops = terms.and(taken, stops);
            self.exit(terms, stops, &after, Turn::Anyone);
            return;
        }
        let Performer {
            state: after,
            beyond,
            ..
        } = performer;
        let leaves = terms.and(taken, beyond);
        self.exit(terms, leaves, &after, Turn::Beyond);
        let stays = terms.not(beyond);
        let taken = terms.and(taken, stays);
        let target = option.body.target.index();
        let view = blocks.view(&after, slot, template, Terms::FALSE);
        let is_gone = option.body.effects.last() == Some(&Effect::Exit);
        let moves = if blocks.template(template).locations[target].atomic && !is_gone {
            view.can_move(terms, target)
        } else {
            Terms::TRUE
        };
        let edge = &blocks.conditions.edges[template][node.location][option.edge];
        let right = view.eval(terms, &edge.right);
        let graph = &blocks.graphs[template];
        let mut arrivals: Vec<(Arrival, Term)> = Vec::new();
        for (is_right, can_go_on) in [(true, true), (true, false), (false, true), (false, false)] {
            let arrival = blocks.arrival(
                template,
                graph,
                node.phase,
                option.body,
                is_right,
                edge.takes_lock,
                can_go_on,
            );
            let right = if is_right { right } else { terms.not(right) };
            let moves = if can_go_on { moves } else { terms.not(moves) };
            let case = terms.and(right, moves);
            match arrivals.iter_mut().find(|(known, _)| *known == arrival) {
                Some((_, condition)) => *condition = terms.or(*condition, case),
                None => arrivals.push((arrival, case)),
            }
        }
        for (arrival, case) in arrivals {
            let condition = terms.and(taken, case);
            if condition == Terms::FALSE {
                continue;
            }
            match arrival {
                Arrival::Inside(node) => {
                    incoming
                        .entry(node)
                        .or_default()
                        .push((condition, after.clone()));
                }
                Arrival::Ends(ending) => {
                    let turn = match ending {
                        Ending::External => Turn::Anyone,
                        Ending::Exclusive => Turn::Exclusive(slot),
                        Ending::Uncommitted { took_lock } => Turn::Uncommitted { slot, took_lock },
                    };
                    self.exit(terms, condition, &after, turn);
                }
            }
        }
    }

    fn exit(&mut self, terms: &mut Terms, condition: Term, state: &Symbols, turn: Turn) {
        if condition == Terms::FALSE {
            return;
        }
        let layout = &self.blocks.layout;
        let mut state = state.clone();
        let value = layout.turn_value(turn);
        state[layout.turn] = terms.constant(value, layout.widths[layout.turn]);
        self.exits.push((condition, state));
    }
}
