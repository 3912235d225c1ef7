//! The formula of one thread's transaction, node by node.

use mover_ir::program::{Edge, Effect};
use rustc_hash::FxHashMap;

use super::graph::{Arrival, Ending, Node, NodePhase, is_idle};
use super::{Blocks, Inputs, Possible};
use crate::layout::Turn;
use crate::machine::{Meeting, Performer, Readiness, Symbols, View};
use crate::term::{Term, Terms};

/// A way to continue from a node.
struct Alternative<'e> {
    condition: Term,
    edge: usize,
    body: &'e Edge,
    meeting: Option<Meeting>,
    choice: Option<Term>,
}

/// The state in which exactly one of the conditions holds.
pub(super) fn merge(terms: &mut Terms, cases: &[(Term, Symbols)], otherwise: &[Term]) -> Symbols {
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

/// The input that says whether a block stops before a bound; edges have the numbers from 0.
const STOPS: usize = usize::MAX;

/// A block in the making.
pub(super) struct Encoding<'b, 'p> {
    pub(super) blocks: &'b Blocks<'p>,
    pub(super) stands: &'b dyn Fn(usize, u64) -> bool,
    pub(super) inputs: &'b mut Inputs,
    pub(super) exits: Vec<(Term, Symbols)>,
    pub(super) steps: Vec<Possible>,
    pub(super) is_cut: bool,
}

impl Encoding<'_, '_> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn thread(
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
        let meets = blocks.plan.program.has_rendezvous();
        let mut incoming: FxHashMap<Node, Vec<(Term, Symbols)>> = FxHashMap::default();
        for (number, &node) in graph.order.iter().enumerate() {
            let id = mover_ir::program::LocationId(node.location as u32);
            let mut cases = incoming.remove(&node).unwrap_or_default();
            let entered_by = match node.phase {
                NodePhase::Start => Some(Turn::Anyone),
                NodePhase::Right { took_lock } if graph.cut.contains(&node) => {
                    Some(Turn::Uncommitted { slot, took_lock })
                }
                NodePhase::Atomic if meets || graph.cut.contains(&node) => {
                    Some(Turn::Exclusive(slot))
                }
                _ => None,
            };
            if let Some(entered_by) = entered_by
                && let Some(place) = layout.place_value(slot, template, id)
                && (self.stands)(slot, place)
            {
                let at = terms.equals(state[layout.slots[slot].place], place);
                let is_turn = terms.equals(turn, layout.turn_value(entered_by));
                let mut condition = terms.all([at, is_turn, chosen]);
                if node.phase == NodePhase::Start {
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
            if blocks.limit.is_over() {
                self.is_cut = true;
                return;
            }
            let here = merge(terms, &cases, state);
            let timeout = if node.phase == NodePhase::Start {
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

    /// Continues from a node.
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
        if place.ends_run() {
            return;
        }
        let plan = &blocks.plan.edges[template][node.location];
        let view = blocks.view(&here, slot, template, timeout);
        let mut condition = condition;
        if node.phase == NodePhase::Left {
            let left: Vec<Term> = plan
                .iter()
                .map(|edge| view.eval(terms, &edge.left.condition()))
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
            NodePhase::Left => true,
            NodePhase::Right { .. } => blocks.keep_deadlocks,
            _ => false,
        };
        if ends_if_stuck {
            // A thread that can only stay where it is must let the others continue, too.
            let is_bound = |edge: &Edge| body.location(edge.target).bound.is_some();
            let (bounds, others): (Vec<_>, Vec<_>) = options.iter().partition(|o| is_bound(o.body));
            let leads_on = others.iter().filter(|o| !is_idle(node.location, o.body));
            let any = terms.any(leads_on.map(|option| option.condition));
            let meets_bound = terms.any(bounds.iter().map(|option| option.condition));
            let mut stuck = terms.not(any);
            if meets_bound != Terms::FALSE {
                // One that can only meet a bound does either.
                let stops = self.inputs.get(terms, number, STOPS, 1);
                let is_free = terms.not(meets_bound);
                let may_stop = terms.or(is_free, stops);
                stuck = terms.and(stuck, may_stop);
            }
            let ends = terms.and(condition, stuck);
            self.exit(terms, ends, &here, Turn::Anyone);
            if meets_bound != Terms::FALSE {
                let goes_on = terms.not(stuck);
                condition = terms.and(condition, goes_on);
            }
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

    /// The enabled ways to continue, by the edges' priorities.
    fn options<'e>(
        &mut self,
        terms: &mut Terms,
        view: &View,
        number: usize,
        edges: &'e [Edge],
    ) -> Vec<Alternative<'e>> {
        let mut options: Vec<Alternative> = Vec::new();
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
            options.push(Alternative {
                condition: alone,
                edge,
                body,
                meeting: None,
                choice: choice.map(|(term, _)| term),
            });
            for meeting in meetings {
                options.push(Alternative {
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
        option: Alternative,
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
            made: None,
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
        let edge = &blocks.plan.edges[template][node.location][option.edge];
        let right = view.eval(terms, &edge.right.condition());
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
