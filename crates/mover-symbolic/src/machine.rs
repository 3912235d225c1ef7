//! The semantics on terms.
//!
//! A line-by-line counterpart of [`mover_ir::semantics`], in which a state is a vector of terms
//! instead of numbers. Where the concrete machine selects (a cell of an array, a channel by its
//! number, a free slot for a thread), this one makes a case distinction over everything that is
//! possible; the term constructors drop impossible cases. Tests compare the two on random
//! states.

use mover_ir::eval::eval;
use mover_ir::expr::{Expr, Place, ReceiveArg, Ty, VariableRef, mask};
use mover_ir::program::{Edge, Effect, Init, LocationId, Program, TemplateId, Variable};

use crate::layout::{ChannelLayout, ChannelOwner, Layout};
use crate::term::{Term, Terms};

/// A state: a term for each cell of the layout.
pub type Symbols = Vec<Term>;

/// A state as one thread sees it.
#[derive(Clone, Copy)]
pub struct View<'a, 'p> {
    pub layout: &'a Layout<'p>,
    pub state: &'a [Term],
    pub slot: usize,
    pub template: usize,
    /// The value of [`Expr::Timeout`].
    pub timeout: Term,
}

/// How an edge can be taken.
pub enum Readiness {
    /// Alone, if this holds.
    Alone(Term),
    /// Alone if the first holds; or, on a channel without buffer, together with a
    /// thread that takes the message.
    Offers { alone: Term, meetings: Vec<Meeting> },
}

/// A rendezvous that may take place.
pub struct Meeting {
    pub condition: Term,
    pub slot: usize,
    pub template: usize,
    pub location: usize,
    pub edge: usize,
    /// The message, by the fields of the channel.
    pub channel: usize,
    pub message: Vec<Term>,
}

impl<'p> View<'_, 'p> {
    /// The value of an expression.
    pub fn eval(&self, terms: &mut Terms, expr: &Expr) -> Term {
        eval(terms, expr, &mut |terms, expr| self.read(terms, expr))
    }

    /// The value of an expression that reads the state.
    fn read(&self, terms: &mut Terms, expr: &Expr) -> Term {
        match expr {
            Expr::Read(place) => {
                let index = self.eval(terms, &place.index);
                let (first, len) = self.row(place.variable);
                self.element(terms, first, len, index, place.ty.width)
            }
            Expr::ThreadId => terms.constant(self.slot as u64, expr.width()),
            Expr::ThreadCount => {
                let count = self.count_threads(terms);
                terms.resize(count, expr.width(), false)
            }
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => {
                let number = self.eval(terms, thread);
                let mut cases = Vec::new();
                for slot in 0..self.layout.slots.len() {
                    let is = terms.equals(number, slot as u64);
                    if is != Terms::FALSE {
                        let at = self.stands_at(terms, slot, *template, locations);
                        cases.push(terms.and(is, at));
                    }
                }
                terms.any(cases)
            }
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ty,
            } => {
                let number = self.eval(terms, thread);
                let index = self.eval(terms, index);
                let mut value = terms.constant(0, ty.width);
                for (slot, layout) in self.layout.slots.iter().enumerate() {
                    let is = terms.equals(number, slot as u64);
                    let Some(resident) = &layout.residents[template.index()] else {
                        continue;
                    };
                    if is == Terms::FALSE {
                        continue;
                    }
                    let runs = self.runs(terms, slot, template.index());
                    let is = terms.and(is, runs);
                    let first = resident.locals[variable.index()];
                    let len = self.local(*template, variable.index()).len as usize;
                    let there = self.element(terms, first, len, index, ty.width);
                    value = terms.ite(is, there, value);
                }
                value
            }
            Expr::ThreadPriority(thread) => {
                let number = self.eval(terms, thread);
                let mut value = terms.constant(0, 8);
                for (slot, layout) in self.layout.slots.iter().enumerate() {
                    let is = terms.equals(number, slot as u64);
                    if let Some(cell) = layout.priority {
                        value = terms.ite(is, self.state[cell], value);
                    }
                }
                value
            }
            Expr::Channel(channel) => {
                let handle = self.layout.program.channel_handle(*channel, self.slot);
                terms.constant(handle, expr.width())
            }
            Expr::ChannelExists(channel) => {
                let cases = self.channels(terms, channel);
                terms.any(cases.into_iter().map(|(condition, _)| condition))
            }
            Expr::ChannelLen(channel) => {
                let mut value = terms.constant(0, expr.width());
                for (condition, channel) in self.channels(terms, channel) {
                    let len = self.len(terms, channel);
                    let len = terms.resize(len, expr.width(), false);
                    value = terms.ite(condition, len, value);
                }
                value
            }
            Expr::ChannelCapacity(channel) => {
                let mut value = terms.constant(0, expr.width());
                for (condition, channel) in self.channels(terms, channel) {
                    let capacity = self.layout.channels[channel].decl.capacity;
                    let capacity = terms.constant(capacity.into(), expr.width());
                    value = terms.ite(condition, capacity, value);
                }
                value
            }
            Expr::CanReceive {
                channel,
                args,
                random,
            } => {
                let found = self.find_messages(terms, channel, args, *random);
                terms.any(found.into_iter().map(|found| found.condition))
            }
            Expr::Timeout => self.timeout,
            Expr::Address { variable, width } => {
                let program = self.layout.program;
                let address = program.pointers.address(program.object_of(*variable));
                terms.constant(address, *width)
            }
            Expr::Load { address, ty } => self.load(terms, address, *ty),
            Expr::ObjectSize(address) => self.object_size(terms, address),
            Expr::ObjectSite { address, sites } => self.object_site(terms, address, sites),
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. } => self.eval(terms, expr),
        }
    }

    fn local(&self, template: TemplateId, variable: usize) -> &'p Variable {
        &self.layout.program.template(template).locals[variable]
    }

    /// The first cell of a variable and their number.
    fn row(&self, variable: VariableRef) -> (usize, usize) {
        match variable {
            VariableRef::Global(id) => (
                self.layout.globals[id.index()],
                self.layout.program.globals[id.index()].len as usize,
            ),
            VariableRef::Local(id) => {
                let resident = self.layout.slots[self.slot].residents[self.template].as_ref();
                let first = resident.map_or(0, |resident| resident.locals[id.index()]);
                let len = self.local(TemplateId(self.template as u32), id.index()).len;
                (first, if resident.is_some() { len as usize } else { 0 })
            }
        }
    }

    /// The cell with this index; 0 if there is none.
    fn element(&self, terms: &mut Terms, first: usize, len: usize, index: Term, width: u8) -> Term {
        let mut value = terms.constant(0, width);
        if let Some(index) = terms.as_const(index) {
            return if index < len as u64 {
                self.state[first + index as usize]
            } else {
                value
            };
        }
        for offset in 0..len {
            let is = terms.equals(index, offset as u64);
            value = terms.ite(is, self.state[first + offset], value);
        }
        value
    }

    pub fn place(&self, slot: usize) -> Term {
        self.state[self.layout.slots[slot].place]
    }

    pub fn is_alive(&self, terms: &mut Terms, slot: usize) -> Term {
        let gone = terms.equals(self.place(slot), 0);
        terms.not(gone)
    }

    fn count_threads(&self, terms: &mut Terms) -> Term {
        let mut count = terms.constant(0, 16);
        for slot in 0..self.layout.slots.len() {
            let alive = self.is_alive(terms, slot);
            let one = terms.resize(alive, 16, false);
            count = terms.add(count, one);
        }
        count
    }

    /// Whether the slot's thread runs the template.
    fn runs(&self, terms: &mut Terms, slot: usize, template: usize) -> Term {
        let layout = &self.layout.slots[slot];
        let others = layout.residents.iter().enumerate();
        let mut others =
            others.filter(|(other, resident)| *other != template && resident.is_some());
        let Some(resident) = &layout.residents[template] else {
            return Terms::FALSE;
        };
        if others.next().is_none() {
            return self.is_alive(terms, slot);
        }
        let count = self.layout.program.templates[template].locations.len() as u64;
        let place = self.place(slot);
        let cases: Vec<Term> = (0..count)
            .map(|location| terms.equals(place, resident.first_place + location))
            .collect();
        terms.any(cases)
    }

    fn stands_at(
        &self,
        terms: &mut Terms,
        slot: usize,
        template: TemplateId,
        locations: &[LocationId],
    ) -> Term {
        let place = self.place(slot);
        let cases: Vec<Term> = locations
            .iter()
            .filter_map(|&location| self.layout.place_value(slot, template.index(), location))
            .map(|value| terms.equals(place, value))
            .collect();
        terms.any(cases)
    }

    /// The channels that an expression may refer to, each with when it does.
    fn channels(&self, terms: &mut Terms, channel: &Expr) -> Vec<(Term, usize)> {
        let handle = self.eval(terms, channel);
        let mut cases = Vec::new();
        for (number, layout) in self.layout.channels.iter().enumerate() {
            let mut condition = terms.equals(handle, layout.handle & mask(terms.width(handle)));
            if layout.handle > mask(terms.width(handle)) || condition == Terms::FALSE {
                continue;
            }
            if let ChannelOwner::Thread { slot, template } = layout.owner {
                let runs = self.runs(terms, slot, template);
                condition = terms.and(condition, runs);
            }
            if condition != Terms::FALSE {
                cases.push((condition, number));
            }
        }
        cases
    }

    fn channel(&self, number: usize) -> &ChannelLayout {
        &self.layout.channels[number]
    }

    /// The messages in a channel.
    fn len(&self, terms: &mut Terms, channel: usize) -> Term {
        let layout = self.channel(channel);
        if layout.capacity() == 0 {
            terms.constant(0, 1)
        } else {
            self.state[layout.first]
        }
    }

    /// The message that a send of these values makes.
    fn message(&self, terms: &mut Terms, channel: usize, values: &[Expr]) -> Vec<Term> {
        let mut values = values.iter();
        let fields: Vec<Ty> = self
            .channel(channel)
            .decl
            .fields
            .iter()
            .map(|f| f.ty)
            .collect();
        fields
            .into_iter()
            .map(|ty| match values.next() {
                Some(value) => {
                    let value = self.eval(terms, value);
                    terms.resize(value, ty.width, true)
                }
                None => terms.constant(0, ty.width),
            })
            .collect()
    }

    fn matches(
        &self,
        terms: &mut Terms,
        channel: usize,
        args: &[ReceiveArg],
        message: &[Term],
    ) -> Term {
        let fields: Vec<Ty> = self
            .channel(channel)
            .decl
            .fields
            .iter()
            .map(|f| f.ty)
            .collect();
        let mut all = Vec::new();
        for ((arg, ty), &value) in args.iter().zip(fields).zip(message) {
            if let ReceiveArg::Match(wanted) = arg {
                let wanted = self.eval(terms, wanted);
                let wanted = terms.resize(wanted, 64, true);
                let value = terms.resize(value, 64, ty.signed);
                all.push(terms.eq(wanted, value));
            }
        }
        terms.all(all)
    }

    /// Where a receive finds its message, in each channel it may be about.
    fn find_messages(
        &self,
        terms: &mut Terms,
        channel: &Expr,
        args: &[ReceiveArg],
        random: bool,
    ) -> Vec<Found> {
        let mut found = Vec::new();
        for (condition, channel) in self.channels(terms, channel) {
            let capacity = self.channel(channel).capacity();
            let candidates = if random { capacity } else { capacity.min(1) };
            let mut before = Terms::FALSE;
            for position in 0..candidates {
                let message = self.stored(channel, position);
                let len = self.len(terms, channel);
                let at = terms.constant(position as u64, terms.width(len));
                let exists = terms.ult(at, len);
                let fits = self.matches(terms, channel, args, &message);
                let fits = terms.and(exists, fits);
                let none_before = terms.not(before);
                let first = terms.and(fits, none_before);
                found.push(Found {
                    condition: terms.and(condition, first),
                    channel,
                    position,
                });
                before = terms.or(before, fits);
            }
        }
        found
    }

    fn stored(&self, channel: usize, position: usize) -> Vec<Term> {
        let layout = self.channel(channel);
        (0..layout.decl.fields.len())
            .map(|field| self.state[layout.field(position, field)])
            .collect()
    }

    /// When and how an edge of the thread can be taken, priorities aside.
    pub fn readiness(&self, terms: &mut Terms, edge: &Edge) -> Readiness {
        let mut possible = self.eval(terms, &edge.guard);
        let mut meetings = Vec::new();
        for effect in &edge.effects {
            if possible == Terms::FALSE {
                break;
            }
            let also = match effect {
                Effect::Send {
                    channel, values, ..
                } => {
                    let mut room = Vec::new();
                    for (condition, channel) in self.channels(terms, channel) {
                        let capacity = self.channel(channel).capacity();
                        if capacity == 0 {
                            let offer = terms.and(possible, condition);
                            self.takers(terms, offer, channel, values, &mut meetings);
                        } else {
                            let len = self.len(terms, channel);
                            let full = terms.constant(capacity as u64, terms.width(len));
                            let fits = terms.ult(len, full);
                            room.push(terms.and(condition, fits));
                        }
                    }
                    terms.any(room)
                }
                Effect::Receive {
                    channel,
                    args,
                    random,
                    ..
                } => {
                    let found = self.find_messages(terms, channel, args, *random);
                    terms.any(found.into_iter().map(|found| found.condition))
                }
                Effect::Spawn { .. } => {
                    let most = u64::from(self.layout.program.max_threads);
                    if self.layout.slots.len() as u64 > most {
                        let count = self.count_threads(terms);
                        let most = terms.constant(most, 16);
                        terms.ult(count, most)
                    } else if self.layout.slots.len() as u64 == most {
                        let alive: Vec<Term> = (0..self.layout.slots.len())
                            .map(|slot| self.is_alive(terms, slot))
                            .collect();
                        let full = terms.all(alive);
                        terms.not(full)
                    } else {
                        Terms::TRUE
                    }
                }
                _ => Terms::TRUE,
            };
            possible = terms.and(possible, also);
        }
        if meetings.is_empty() {
            Readiness::Alone(possible)
        } else {
            Readiness::Offers {
                alone: possible,
                meetings,
            }
        }
    }

    /// The receives of other threads that can take an offered message.
    fn takers(
        &self,
        terms: &mut Terms,
        offer: Term,
        channel: usize,
        values: &[Expr],
        meetings: &mut Vec<Meeting>,
    ) {
        if offer == Terms::FALSE {
            return;
        }
        let message = self.message(terms, channel, values);
        let handle = self.channel(channel).handle;
        let program = self.layout.program;
        for slot in (0..self.layout.slots.len()).filter(|&slot| slot != self.slot) {
            for (template, body) in program.templates.iter().enumerate() {
                for (location, place) in body.locations.iter().enumerate() {
                    let id = LocationId(location as u32);
                    let Some(value) = self.layout.place_value(slot, template, id) else {
                        continue;
                    };
                    let receives: Vec<(usize, &Edge, &Expr, &Vec<ReceiveArg>)> = place
                        .edges
                        .iter()
                        .enumerate()
                        .filter_map(|(number, edge)| match edge.effects.first() {
                            Some(Effect::Receive { channel, args, .. }) => {
                                Some((number, edge, channel, args))
                            }
                            _ => None,
                        })
                        .collect();
                    if receives.is_empty() {
                        continue;
                    }
                    let at = terms.equals(self.place(slot), value);
                    let offered = terms.and(offer, at);
                    if offered == Terms::FALSE {
                        continue;
                    }
                    let theirs = View {
                        slot,
                        template,
                        ..*self
                    };
                    let ready: Vec<(usize, i32, Term)> = receives
                        .into_iter()
                        .map(|(number, edge, from, args)| {
                            let guard = theirs.eval(terms, &edge.guard);
                            let from = theirs.eval(terms, from);
                            let same = terms.equals(from, handle & mask(terms.width(from)));
                            let fits = theirs.matches(terms, channel, args, &message);
                            let all = terms.all([guard, same, fits]);
                            (number, edge.priority, all)
                        })
                        .collect();
                    for &(edge, priority, takes) in &ready {
                        let higher: Vec<Term> = ready
                            .iter()
                            .filter(|(_, other, _)| *other > priority)
                            .map(|(_, _, takes)| *takes)
                            .collect();
                        let higher = terms.any(higher);
                        let highest = terms.not(higher);
                        let condition = terms.all([offered, takes, highest]);
                        if condition != Terms::FALSE {
                            meetings.push(Meeting {
                                condition,
                                slot,
                                template,
                                location,
                                edge,
                                channel,
                                message: message.clone(),
                            });
                        }
                    }
                }
            }
        }
    }

    /// Whether the thread can take some edge of a location.
    pub fn can_move(&self, terms: &mut Terms, location: usize) -> Term {
        let program = self.layout.program;
        let mut cases = Vec::new();
        for edge in &program.templates[self.template].locations[location].edges {
            match self.readiness(terms, edge) {
                Readiness::Alone(alone) => cases.push(alone),
                Readiness::Offers { alone, meetings } => {
                    cases.push(alone);
                    cases.extend(meetings.iter().map(|meeting| meeting.condition));
                }
            }
        }
        terms.any(cases)
    }
}

/// A message that a receive finds, and when.
struct Found {
    condition: Term,
    channel: usize,
    position: usize,
}

/// What a step leaves behind.
pub struct Performer<'a, 'p> {
    pub layout: &'a Layout<'p>,
    pub state: Symbols,
    /// When the step needs more threads than there are slots.
    pub beyond: Term,
    /// If dynamic objects are [`crate::layout::ObjectHome::Made`]: those that the allocations of
    /// the step make, the last first; none where there are not enough.
    pub made: Option<Vec<Option<usize>>>,
}

impl<'a, 'p> Performer<'a, 'p> {
    pub(crate) fn view(&self, slot: usize, template: usize) -> View<'_, 'p> {
        View {
            layout: self.layout,
            state: &self.state,
            slot,
            template,
            timeout: Terms::FALSE,
        }
    }

    /// Takes an edge; `offered` is the message of a rendezvous and its channel,
    /// `choice` the value of a havoc.
    pub fn perform(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        edge: &Edge,
        offered: Option<(usize, &[Term])>,
        choice: Option<Term>,
    ) {
        if let Some(place) = self.layout.place_value(slot, template, edge.target) {
            let cell = self.layout.slots[slot].place;
            self.state[cell] = terms.constant(place, self.layout.widths[cell]);
        }
        for effect in &edge.effects {
            self.effect(terms, slot, template, effect, offered, choice);
        }
    }

    fn effect(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        effect: &Effect,
        offered: Option<(usize, &[Term])>,
        choice: Option<Term>,
    ) {
        match effect {
            Effect::Assign { place, value } => {
                let value = self.view(slot, template).eval(terms, value);
                self.store(terms, slot, template, place, value, Terms::TRUE);
            }
            Effect::Havoc { place, .. } => {
                if let Some(value) = choice {
                    self.store(terms, slot, template, place, value, Terms::TRUE);
                }
            }
            Effect::Send { .. } if offered.is_some() => {}
            Effect::Send {
                channel,
                values,
                sorted,
            } => self.send(terms, slot, template, channel, values, *sorted),
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => {
                let cases = match offered {
                    Some((channel, message)) => vec![(Terms::TRUE, channel, message.to_vec())],
                    None => self.receive(terms, slot, template, channel, args, *random, *peek),
                };
                self.deliver(terms, slot, template, args, &cases);
            }
            Effect::Spawn {
                template: made,
                args,
                priority,
                result,
            } => {
                let view = self.view(slot, template);
                let args: Vec<Term> = args.iter().map(|arg| view.eval(terms, arg)).collect();
                let number = self.spawn(terms, *made, &args, *priority);
                if let Some(place) = result {
                    let number = terms.resize(number, place.ty.width, false);
                    self.store(terms, slot, template, place, number, Terms::TRUE);
                }
            }
            Effect::Exit => self.clear(terms, slot, template),
            Effect::SetPriority { thread, priority } => {
                let view = self.view(slot, template);
                let thread = view.eval(terms, thread);
                let priority = view.eval(terms, priority);
                for other in 0..self.layout.slots.len() {
                    let Some(cell) = self.layout.slots[other].priority else {
                        continue;
                    };
                    let is = terms.equals(thread, other as u64);
                    let alive = self.view(slot, template).is_alive(terms, other);
                    let is = terms.and(is, alive);
                    self.state[cell] = terms.ite(is, priority, self.state[cell]);
                }
            }
            Effect::Print { .. } => {}
            Effect::Store { address, value } => {
                self.store_bytes(terms, slot, template, address, value);
            }
            Effect::Allocate {
                site,
                reuse,
                size,
                result,
            } => {
                let address = self.allocate(terms, slot, template, (*site, *reuse), size);
                self.store(terms, slot, template, result, address, Terms::TRUE);
            }
            Effect::Free { address } => self.free(terms, slot, template, address),
        }
    }

    fn store(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        place: &Place,
        value: Term,
        condition: Term,
    ) {
        let view = self.view(slot, template);
        let index = view.eval(terms, &place.index);
        let (first, len) = view.row(place.variable);
        for offset in 0..len {
            let is = terms.equals(index, offset as u64);
            let is = terms.and(is, condition);
            let cell = &mut self.state[first + offset];
            *cell = terms.ite(is, value, *cell);
        }
    }

    fn send(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        channel: &Expr,
        values: &[Expr],
        sorted: bool,
    ) {
        let cases = self.view(slot, template).channels(terms, channel);
        let before = self.state.clone();
        let channels: Vec<usize> = cases.iter().map(|(_, channel)| *channel).collect();
        for (condition, channel) in cases {
            let layout = &self.layout.channels[channel];
            if layout.capacity() == 0 {
                continue;
            }
            let view = View {
                layout: self.layout,
                state: &before,
                slot,
                template,
                timeout: Terms::FALSE,
            };
            let message = view.message(terms, channel, values);
            let len = before[layout.first];
            let width = terms.width(len);
            // Whether a stored message stays in front of the new one.
            let mut in_front = Terms::TRUE;
            for position in 0..layout.capacity() {
                let at = terms.constant(position as u64, width);
                let exists = terms.ult(at, len);
                let earlier = in_front;
                in_front = terms.and(earlier, exists);
                if sorted {
                    let stored = view.stored(channel, position);
                    let not_after = not_greater(terms, layout, &stored, &message);
                    in_front = terms.and(in_front, not_after);
                }
                for (field, &new) in message.iter().enumerate() {
                    let cell = layout.field(position, field);
                    let moved = match position.checked_sub(1) {
                        Some(previous) => before[layout.field(previous, field)],
                        None => new,
                    };
                    let behind = terms.ite(earlier, new, moved);
                    let value = terms.ite(in_front, before[cell], behind);
                    self.state[cell] = terms.ite(condition, value, self.state[cell]);
                }
            }
            let one = terms.constant(1, width);
            let longer = terms.add(len, one);
            let cell = layout.first;
            self.state[cell] = terms.ite(condition, longer, self.state[cell]);
        }
        self.clear_behind(terms, &channels);
    }

    /// What lies behind the last message is 0, so that equal states are equal rows.
    fn clear_behind(&mut self, terms: &mut Terms, channels: &[usize]) {
        for layout in channels
            .iter()
            .map(|&channel| &self.layout.channels[channel])
        {
            if layout.capacity() == 0 {
                continue;
            }
            let len = self.state[layout.first];
            for position in 0..layout.capacity() {
                let at = terms.constant(position as u64, terms.width(len));
                let exists = terms.ult(at, len);
                for field in 0..layout.decl.fields.len() {
                    let cell = layout.field(position, field);
                    let none = terms.constant(0, self.layout.widths[cell]);
                    self.state[cell] = terms.ite(exists, self.state[cell], none);
                }
            }
        }
    }

    /// Takes the message out; returns it for each channel that it may come from.
    #[allow(clippy::too_many_arguments)]
    fn receive(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        channel: &Expr,
        args: &[ReceiveArg],
        random: bool,
        peek: bool,
    ) -> Vec<(Term, usize, Vec<Term>)> {
        let before = self.state.clone();
        let view = View {
            layout: self.layout,
            state: &before,
            slot,
            template,
            timeout: Terms::FALSE,
        };
        let found = view.find_messages(terms, channel, args, random);
        let mut cases: Vec<(Term, usize, Vec<Term>)> = Vec::new();
        for Found {
            condition,
            channel,
            position,
        } in found
        {
            let layout = &self.layout.channels[channel];
            let message = view.stored(channel, position);
            if !peek {
                for at in position..layout.capacity() {
                    for field in 0..layout.decl.fields.len() {
                        let cell = layout.field(at, field);
                        let value = if at + 1 < layout.capacity() {
                            before[layout.field(at + 1, field)]
                        } else {
                            terms.constant(0, self.layout.widths[cell])
                        };
                        self.state[cell] = terms.ite(condition, value, self.state[cell]);
                    }
                }
                let len = before[layout.first];
                let one = terms.constant(1, terms.width(len));
                let shorter = terms.sub(len, one);
                let cell = layout.first;
                self.state[cell] = terms.ite(condition, shorter, self.state[cell]);
            }
            cases.push((condition, channel, message));
        }
        cases
    }

    fn deliver(
        &mut self,
        terms: &mut Terms,
        slot: usize,
        template: usize,
        args: &[ReceiveArg],
        cases: &[(Term, usize, Vec<Term>)],
    ) {
        for (position, arg) in args.iter().enumerate() {
            let ReceiveArg::Store(place) = arg else {
                continue;
            };
            let mut value = terms.constant(0, place.ty.width);
            let mut any = Terms::FALSE;
            for (condition, channel, message) in cases {
                let fields = &self.layout.channels[*channel].decl.fields;
                let Some(field) = fields.get(position) else {
                    continue;
                };
                let this = terms.resize(message[position], place.ty.width, field.ty.signed);
                value = terms.ite(*condition, this, value);
                any = terms.or(any, *condition);
            }
            self.store(terms, slot, template, place, value, any);
        }
    }

    /// Starts a thread at the lowest free number, which it gives.
    fn spawn(&mut self, terms: &mut Terms, made: TemplateId, args: &[Term], priority: u8) -> Term {
        let mut number = terms.constant(0, 32);
        let mut found = Terms::FALSE;
        for slot in 0..self.layout.slots.len() {
            let free = terms.equals(self.state[self.layout.slots[slot].place], 0);
            let none_before = terms.not(found);
            let here = terms.and(free, none_before);
            found = terms.or(found, free);
            if here == Terms::FALSE {
                continue;
            }
            let Some(resident) = self.layout.slots[slot].residents[made.index()].clone() else {
                continue;
            };
            let value = terms.constant(slot as u64, 32);
            number = terms.ite(here, value, number);
            let template = self.layout.program.template(made);
            let place = self.layout.slots[slot].place;
            let entry = resident.first_place + u64::from(template.entry.0);
            self.set(terms, here, place, entry);
            for (variable, first) in template.locals.iter().zip(&resident.locals) {
                for index in 0..variable.len as usize {
                    let value = initial_cell(self.layout.program, variable, index, slot);
                    self.set(terms, here, first + index, value);
                }
            }
            for (param, &arg) in args.iter().enumerate() {
                let cell = resident.locals[param];
                self.state[cell] = terms.ite(here, arg, self.state[cell]);
            }
            if let Some(cell) = self.layout.slots[slot].priority {
                self.set(terms, here, cell, priority.into());
            }
        }
        if !self.layout.has_all_threads {
            let full = terms.not(found);
            self.beyond = terms.or(self.beyond, full);
        }
        number
    }

    fn set(&mut self, terms: &mut Terms, condition: Term, cell: usize, value: u64) {
        let value = terms.constant(value, self.layout.widths[cell]);
        self.state[cell] = terms.ite(condition, value, self.state[cell]);
    }

    /// Removes a thread with all that is its own.
    fn clear(&mut self, terms: &mut Terms, slot: usize, template: usize) {
        let layout = &self.layout.slots[slot];
        let mut cells = vec![layout.place];
        cells.extend(layout.priority);
        if let Some(resident) = &layout.residents[template] {
            let locals = &self.layout.program.templates[template].locals;
            for (variable, &first) in locals.iter().zip(&resident.locals) {
                cells.extend(first..first + variable.len as usize);
            }
        }
        for channel in &self.layout.channels {
            if channel.owner == (ChannelOwner::Thread { slot, template }) && channel.capacity() > 0
            {
                let count = 1 + channel.capacity() * channel.decl.fields.len();
                cells.extend(channel.first..channel.first + count);
            }
        }
        for cell in cells {
            self.state[cell] = terms.constant(0, self.layout.widths[cell]);
        }
    }
}

/// What a cell of a variable holds at the start of its life.
pub(crate) fn initial_cell(
    program: &Program,
    variable: &Variable,
    index: usize,
    slot: usize,
) -> u64 {
    match &variable.init {
        Init::All(value) => *value,
        Init::Cells(values) => values[index],
        Init::Channels(channels) => program.channel_handle(channels[index], slot),
    }
}

/// Whether a message comes before another in the order of sorted sends, or is equal.
fn not_greater(terms: &mut Terms, layout: &ChannelLayout, a: &[Term], b: &[Term]) -> Term {
    let mut result = Terms::TRUE;
    for ((field, &x), &y) in layout.decl.fields.iter().zip(a).zip(b).rev() {
        let less = if field.ty.signed || field.ty.width == 64 {
            terms.slt(x, y)
        } else {
            terms.ult(x, y)
        };
        let equal = terms.eq(x, y);
        let and_rest = terms.and(equal, result);
        result = terms.or(less, and_rest);
    }
    result
}
