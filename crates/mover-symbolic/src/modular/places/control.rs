//! Places, contexts, and the ways from one to the next.
//!
//! A *spot* is where a thread stands: its template and its location, or nowhere. A *context* says
//! where the fixed threads stand and where the threads of a view stand. A *way* is one step of one
//! thread from a known spot: an edge, or an atomic sequence from its first edge to where others may
//! move again. Since the spot is known, a way is a small formula: a condition, and what the cells
//! hold afterwards.

use std::rc::Rc;

use mover_engine::{Control, EngineError};
use mover_ir::expr::mask;
use mover_ir::program::{BoundKind, Edge, Effect, LocationId, Program, Property};
use rustc_hash::FxHashMap;

use crate::layout::{Bounds, Layout};
use crate::machine::{Performer, Readiness, Symbols, View};
use crate::modular::views::cells_of;
use crate::term::{Term, Terms};

/// Template and location of a thread; none: there is no such thread.
pub type Spot = Option<(usize, usize)>;

/// Where the fixed threads stand, and where those of a view; the seats are sorted, empty ones first.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Context {
    pub fixed: Vec<Spot>,
    pub seats: Vec<Spot>,
}

impl Context {
    /// Whether two threads stand at the same spot, so that either may have the first seat.
    pub fn has_twins(&self) -> bool {
        let pairs = self.seats.windows(2);
        pairs
            .into_iter()
            .any(|pair| pair[0].is_some() && pair[0] == pair[1])
    }

    /// With the seats in order, and for each of them the slot that it was given with.
    pub fn seated(fixed: Vec<Spot>, threads: &[(Spot, usize)]) -> (Context, Vec<usize>) {
        let mut threads = threads.to_vec();
        threads.sort_unstable();
        let context = Context {
            fixed,
            seats: threads.iter().map(|&(spot, _)| spot).collect(),
        };
        (context, threads.into_iter().map(|(_, slot)| slot).collect())
    }
}

/// How a way ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    At(usize),
    /// The thread has exited.
    Gone,
    /// At an error, or at a bound that is no answer.
    Bad,
}

/// One step of a thread.
pub struct Way {
    pub condition: Term,
    pub after: Symbols,
    pub end: End,
    /// The spot of the thread that it creates.
    pub creates: Spot,
}

/// Why there are no ways.
pub enum NoWays {
    /// Something that is not modelled here.
    Unsuited,
    Stopped,
}

/// Ways from one spot, at most, and edges of one way.
const MOST_WAYS: usize = 400;
const LONGEST: usize = 60;

/// The program as small formulas.
pub struct Ways<'p> {
    pub layout: Layout<'p>,
    pub terms: Terms,
    pub now: Vec<Term>,
    pub fixed: usize,
    pub width: usize,
    /// Whether errors of `unreach-call` count.
    errors: bool,
    /// By mover, spot and free slot.
    known: FxHashMap<(usize, usize, usize, usize), Vec<Rc<Way>>>,
    choices: FxHashMap<(usize, u8), Term>,
    limit: Control,
}

impl<'p> Ways<'p> {
    /// None if the threads of the program are not alike, or not without number.
    pub fn new(
        program: &'p Program,
        width: usize,
        errors: bool,
        limit: &Control,
    ) -> Result<Option<Self>, EngineError> {
        let fixed = program.initial.len();
        let bounds = Bounds {
            threads: fixed + width + 1,
            may_grow: false,
            ..Bounds::default()
        };
        let layout = Layout::new(program, bounds)?;
        let slots = layout.slots.len();
        let alike = (fixed..slots).all(|slot| {
            cells_of(&layout, slot).len() == cells_of(&layout, fixed).len()
                && layout.slots[slot].places == layout.slots[fixed].places
        });
        if slots != fixed + width + 1 || !alike {
            return Ok(None);
        }
        let mut terms = Terms::new();
        let now = (0..layout.widths.len())
            .map(|cell| terms.variable(layout.name(cell), layout.widths[cell]))
            .collect();
        Ok(Some(Ways {
            layout,
            terms,
            now,
            fixed,
            width,
            errors,
            known: FxHashMap::default(),
            choices: FxHashMap::default(),
            limit: limit.clone(),
        }))
    }

    /// The slot of a thread that is not in the view.
    pub fn outside(&self) -> usize {
        self.fixed + self.width
    }

    /// The steps of the thread in a slot from its spot; a thread that is created takes the free slot.
    pub fn ways(
        &mut self,
        slot: usize,
        (template, location): (usize, usize),
        free: usize,
    ) -> Result<Vec<Rc<Way>>, NoWays> {
        let key = (slot, template, location, free);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let mut state = self.now.clone();
        for other in 0..self.layout.slots.len() {
            let cell = self.layout.slots[other].place;
            // Of the others nothing is read but whether their slots are free.
            let place = if other == free { 0 } else { 1 };
            state[cell] = self.terms.constant(place, self.layout.widths[cell]);
        }
        let id = LocationId(location as u32);
        let Some(place) = self.layout.place_value(slot, template, id) else {
            return Err(NoWays::Unsuited);
        };
        let cell = self.layout.slots[slot].place;
        state[cell] = self.terms.constant(place, self.layout.widths[cell]);
        state[self.layout.turn] = self.terms.constant(0, self.layout.widths[self.layout.turn]);
        let mut found = Vec::new();
        let begin = Begun {
            slot,
            template,
            path: vec![location],
            condition: Terms::TRUE,
            state,
            creates: None,
        };
        self.follow(begin, &mut found)?;
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// All ways on from the last location of a path.
    fn follow(&mut self, begun: Begun, found: &mut Vec<Rc<Way>>) -> Result<(), NoWays> {
        if self.limit.is_over() {
            return Err(NoWays::Stopped);
        }
        let (slot, template) = (begun.slot, begun.template);
        let program = self.layout.program;
        let body = &program.templates[template];
        let Some(&here) = begun.path.last() else {
            return Ok(());
        };
        for (edge, ready, choice) in self.options(&begun, &body.locations[here].edges)? {
            let condition = self.terms.and(begun.condition, ready);
            if condition == Terms::FALSE {
                continue;
            }
            let mut performer = Performer {
                layout: &self.layout,
                state: begun.state.clone(),
                beyond: Terms::FALSE,
                made: None,
            };
            performer.perform(&mut self.terms, slot, template, edge, None, choice);
            let state = performer.state;
            let mut creates = begun.creates;
            for effect in &edge.effects {
                if let Effect::Spawn { template: made, .. } = effect {
                    if creates.is_some() {
                        return Err(NoWays::Unsuited);
                    }
                    creates = Some((made.index(), program.template(*made).entry.index()));
                }
            }
            let mut end = |end, condition, state: &Symbols| {
                if condition != Terms::FALSE {
                    found.push(Rc::new(Way {
                        condition,
                        after: state.clone(),
                        end,
                        creates,
                    }));
                }
            };
            if edge.effects.last() == Some(&Effect::Exit) {
                end(End::Gone, condition, &state);
                continue;
            }
            let target = edge.target.index();
            let location = &body.locations[target];
            if let Some(mark) = &location.error
                && (self.errors || mark.property != Property::UnreachCall)
            {
                end(End::Bad, condition, &state);
                continue;
            }
            if let Some(mark) = &location.bound {
                // The same creation goes on without the bound.
                if mark.kind != BoundKind::Threads {
                    end(End::Bad, condition, &state);
                }
                continue;
            }
            if !location.atomic {
                end(End::At(target), condition, &state);
                continue;
            }
            let view = view(&self.layout, &state, slot, template);
            let moves = view.can_move(&mut self.terms, target);
            let stays = self.terms.not(moves);
            let paused = self.terms.and(condition, stays);
            end(End::At(target), paused, &state);
            let condition = self.terms.and(condition, moves);
            if condition == Terms::FALSE {
                continue;
            }
            if begun.path.contains(&target) {
                // It stays here for ever and nobody else moves any more.
                if target == here && edge.effects.is_empty() && edge.guard.as_const() == Some(1) {
                    continue;
                }
                return Err(NoWays::Unsuited);
            }
            if begun.path.len() >= LONGEST || found.len() >= MOST_WAYS {
                return Err(NoWays::Unsuited);
            }
            let mut path = begun.path.clone();
            path.push(target);
            let on = Begun {
                path,
                condition,
                state,
                creates,
                ..begun
            };
            self.follow(on, found)?;
        }
        Ok(())
    }

    /// The edges that can be taken, each with when, by their priorities.
    fn options<'e>(&mut self, begun: &Begun, edges: &'e [Edge]) -> Result<Vec<Ready<'e>>, NoWays> {
        let mut ready = Vec::new();
        for edge in edges {
            let view = view(&self.layout, &begun.state, begun.slot, begun.template);
            match view.readiness(&mut self.terms, edge) {
                Readiness::Alone(alone) => ready.push((edge, alone)),
                Readiness::Offers { .. } => return Err(NoWays::Unsuited),
            }
        }
        let mut found = Vec::new();
        for &(edge, alone) in &ready {
            let higher = ready
                .iter()
                .filter(|(other, _)| other.priority > edge.priority);
            let higher = self.terms.any(higher.map(|(_, ready)| *ready));
            let highest = self.terms.not(higher);
            let mut condition = self.terms.and(alone, highest);
            let havoc = edge.effects.iter().find_map(|effect| match effect {
                Effect::Havoc { place, values } => Some((place.ty.width, *values)),
                _ => None,
            });
            let choice = havoc.map(|(width, _)| self.choice(begun.path.len(), width));
            if let (Some((width, values)), Some(choice)) = (havoc, choice)
                && values > 0
                && values <= mask(width)
            {
                let bound = self.terms.constant(values, width);
                let allowed = self.terms.ult(choice, bound);
                condition = self.terms.and(condition, allowed);
            }
            found.push((edge, condition, choice));
        }
        Ok(found)
    }

    /// What the program chooses at a step of a way. Ways are looked at one at a time, so they may
    /// share these variables.
    fn choice(&mut self, step: usize, width: u8) -> Term {
        let terms = &mut self.terms;
        *self
            .choices
            .entry((step, width))
            .or_insert_with(|| terms.variable(format!("choice {step}"), width))
    }
}

/// An edge, when it can be taken, and what it chooses.
type Ready<'e> = (&'e Edge, Term, Option<Term>);

/// A way in the making.
struct Begun {
    slot: usize,
    template: usize,
    path: Vec<usize>,
    condition: Term,
    state: Symbols,
    creates: Spot,
}

pub fn view<'a, 'p>(
    layout: &'a Layout<'p>,
    state: &'a [Term],
    slot: usize,
    template: usize,
) -> View<'a, 'p> {
    View {
        layout,
        state,
        slot,
        template,
        timeout: Terms::FALSE,
    }
}
