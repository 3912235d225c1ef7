//! The program without the handles of its threads.
//!
//! A *handle* (`pthread_t`) is the number of a cell in a row with one cell for each thread: which
//! threads are there, what they returned. The translation makes such rows of a fixed length, so a
//! program for any number of threads must not mention them. [`without_handles`] makes a program
//! that does not, and that has every behaviour of the given one, whatever the length:
//!
//! - variables that are used within single edges only are split, one for each edge;
//! - variables that may hold a handle, rows that are indexed by one, and sets of threads as bits are
//!   dropped;
//! - a condition over what was dropped may hold and may fail (it is weakened). So a join never waits,
//!   a creation never meets the end of the pool, and a wait for a condition variable, whose waiters
//!   are bits by number, may end at any time;
//! - what is computed from such a row and kept elsewhere (the result of a joined thread) is any
//!   value.
//!
//! What cannot be said so is refused, with the reason. Accesses that count for data races are
//! dropped, too: races are not looked for here.

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef};
use mover_ir::program::{Edge, Effect, Init, Program, Template, Variable, VariableId};

use super::rules::{Dependence, Refusal, names_the_thread};

/// A variable of the program or of a template.
type Named = (Option<usize>, usize);

/// As many threads as a program without handles may have at a time; nothing depends on it.
const MANY: u32 = 255;

/// What may hold a handle, or is indexed by one.
#[derive(Debug, Default)]
struct Handles {
    /// Variables that may hold a handle.
    holders: BTreeSet<Named>,
    /// Global rows with a cell for each handle.
    rows: BTreeSet<usize>,
    /// The row that says which threads there are.
    presence: Option<usize>,
}

/// The error says why there is no such program.
pub fn without_handles(original: &Program) -> Result<Program, Refusal> {
    let mut program = original.clone();
    program.templates.iter_mut().for_each(split_temporaries);
    let handles = Handles::find(&program);
    handles.drop_from(&mut program)?;
    program.presence = None;
    program.max_threads = program.max_threads.max(MANY);
    Ok(program)
}

/// The program without its arrays of more cells than this: what is read from them is any value.
pub fn without_arrays(original: &Program, most: u32) -> Result<Program, Refusal> {
    let mut program = original.clone();
    let globals = original.globals.iter().enumerate();
    let rows = globals.filter(|(_, global)| global.len > most && !global.addressable);
    let handles = Handles {
        rows: rows.map(|(number, _)| number).collect(),
        ..Handles::default()
    };
    handles.drop_from(&mut program)?;
    Ok(program)
}

impl Handles {
    /// Takes what is dropped out of a program.
    fn drop_from(&self, program: &mut Program) -> Result<(), Refusal> {
        let handles = self;
        for (template, body) in program.templates.iter_mut().enumerate() {
            for location in &mut body.locations {
                location.accesses.clear();
                for edge in &mut location.edges {
                    // There a thread that waits lets others move, and one that never waits does not.
                    if location.atomic && handles.reads_dropped(&edge.guard, template) {
                        return Err(Refusal::AtomicWait(edge.text.clone()));
                    }
                    handles
                        .forget_in(edge, template)
                        .map_err(|reason| Refusal::OnEdge {
                            reason,
                            edge: edge.text.clone(),
                        })?;
                }
            }
            for (number, local) in body.locals.iter_mut().enumerate() {
                if handles.holders.contains(&(Some(template), number)) {
                    forget(local)?;
                }
            }
        }
        for (number, global) in program.globals.iter_mut().enumerate() {
            if handles.is_dropped((None, number)) {
                forget(global)?;
            }
        }
        Ok(())
    }
}

/// Gives each edge its own copy of the local variables that are used within single edges only. One
/// that holds a handle in one edge and a number in another would make that number a handle.
fn split_temporaries(body: &mut Template) {
    let live = live_variables(body);
    for local in body.params as usize..body.locals.len() {
        let variable = body.locals[local].clone();
        let id = VariableRef::Local(VariableId(local as u32));
        let edges = || body.locations.iter().flat_map(|location| &location.edges);
        let is_simple = |effect: &Effect| match effect {
            Effect::Assign { .. } | Effect::Havoc { .. } => true,
            other => other
                .written_places()
                .iter()
                .all(|place| place.variable != id),
        };
        if variable.len != 1
            || variable.addressable
            || live.iter().any(|live| live.contains(&local))
            || !edges().flat_map(|edge| &edge.effects).all(is_simple)
        {
            continue;
        }
        let uses = edges().filter(|edge| mentions(edge, id)).count();
        let mut copies = uses.saturating_sub(1);
        for location in &mut body.locations {
            for edge in &mut location.edges {
                if copies == 0 || !mentions(edge, id) {
                    continue;
                }
                copies -= 1;
                let copy = VariableRef::Local(VariableId(body.locals.len() as u32));
                body.locals.push(variable.clone());
                let rename = &mut |part: &mut Expr| {
                    if let Expr::Read(place) = part
                        && place.variable == id
                    {
                        place.variable = copy;
                    }
                };
                edge.guard.walk_mut(rename);
                for effect in &mut edge.effects {
                    effect.walk_mut(rename);
                    if let Effect::Assign { place, .. } | Effect::Havoc { place, .. } = effect
                        && place.variable == id
                    {
                        place.variable = copy;
                    }
                }
            }
        }
    }
}

fn mentions(edge: &Edge, variable: VariableRef) -> bool {
    let mut found = false;
    let mut look = |part: &Expr| {
        found |= matches!(part, Expr::Read(place) if place.variable == variable);
    };
    edge.guard.walk(&mut look);
    for effect in &edge.effects {
        effect.walk(&mut look);
    }
    let mut written = edge.effects.iter().flat_map(Effect::written_places);
    found || written.any(|place| place.variable == variable)
}

/// For each location the local variables that may be read before they are written.
pub(super) fn live_variables(body: &Template) -> Vec<BTreeSet<usize>> {
    let mut live: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); body.locations.len()];
    let mut grew = true;
    while grew {
        grew = false;
        for number in (0..body.locations.len()).rev() {
            for edge in &body.locations[number].edges {
                let mut here = live[edge.target.index()].clone();
                for effect in edge.effects.iter().rev() {
                    for place in effect.written_places() {
                        if let VariableRef::Local(id) = place.variable
                            && body.locals[id.index()].len == 1
                        {
                            here.remove(&id.index());
                        }
                    }
                    effect.walk(&mut |part| note_read(part, &mut here));
                }
                edge.guard.walk(&mut |part| note_read(part, &mut here));
                if !here.is_subset(&live[number]) {
                    live[number].append(&mut here);
                    grew = true;
                }
            }
        }
    }
    live
}

fn note_read(part: &Expr, live: &mut BTreeSet<usize>) {
    if let Expr::Read(place) = part
        && let VariableRef::Local(id) = place.variable
    {
        live.insert(id.index());
    }
}

/// Nobody reads or writes it any more.
fn forget(variable: &mut Variable) -> Result<(), Refusal> {
    if variable.addressable {
        return Err(Refusal::AddressableHandle);
    }
    variable.len = 1;
    variable.init = Init::All(0);
    Ok(())
}

fn named(place: &Place, template: usize) -> Named {
    match place.variable {
        VariableRef::Global(id) => (None, id.index()),
        VariableRef::Local(id) => (Some(template), id.index()),
    }
}

impl Handles {
    fn find(program: &Program) -> Handles {
        let presence = program.presence.map(|row| row.index());
        let mut handles = Handles {
            rows: presence.into_iter().collect(),
            presence,
            ..Handles::default()
        };
        loop {
            let before = (handles.holders.len(), handles.rows.len());
            for (template, body) in program.templates.iter().enumerate() {
                for edge in body.locations.iter().flat_map(|location| &location.edges) {
                    let mut places: Vec<Place> = Vec::new();
                    let mut note = |expr: &Expr| {
                        if let Expr::Read(place) = expr {
                            places.push(place.clone());
                        }
                    };
                    edge.guard.walk(&mut note);
                    for effect in &edge.effects {
                        effect.walk(&mut note);
                    }
                    for place in &places {
                        handles.note_row(place, template);
                    }
                    for effect in &edge.effects {
                        handles.note_flow(effect, template);
                    }
                }
            }
            if before == (handles.holders.len(), handles.rows.len()) {
                return handles;
            }
        }
    }

    /// A row that is indexed by a handle has a cell for each.
    fn note_row(&mut self, place: &Place, template: usize) {
        if let VariableRef::Global(id) = place.variable
            && self.carries(&place.index, template)
        {
            self.rows.insert(id.index());
        }
    }

    fn note_flow(&mut self, effect: &Effect, template: usize) {
        for place in effect.written_places() {
            self.note_row(place, template);
        }
        match effect {
            Effect::Assign { place, value } if self.carries(value, template) => {
                self.holders.insert(named(place, template));
            }
            Effect::Spawn {
                template: made,
                args,
                result,
                ..
            } => {
                for (param, arg) in args.iter().enumerate() {
                    if self.carries(arg, template) {
                        self.holders.insert((Some(made.index()), param));
                    }
                }
                let result = result.as_ref();
                self.holders
                    .extend(result.map(|place| named(place, template)));
            }
            _ => {}
        }
    }

    /// Whether a value may be a handle. Which threads are there decides what the next handle is.
    fn carries(&self, expr: &Expr, template: usize) -> bool {
        let mut found = false;
        match expr {
            Expr::Read(place) => {
                let read = named(place, template);
                found |= self.holders.contains(&read);
                found |= read.0.is_none() && self.presence == Some(read.1);
            }
            // Bits by the number of a thread: who waits for a condition variable.
            Expr::Binary(BinaryOp::Shl, _, by) if names_the_thread(by) => found = true,
            _ => expr.parts(&mut |part| found |= self.carries(part, template)),
        }
        found
    }

    fn is_dropped(&self, variable: Named) -> bool {
        self.holders.contains(&variable) || variable.0.is_none() && self.rows.contains(&variable.1)
    }

    /// Whether an expression reads what is dropped.
    fn reads_dropped(&self, expr: &Expr, template: usize) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            if let Expr::Read(place) = part {
                found |= self.is_dropped(named(place, template));
            }
        });
        found
    }

    /// The condition with `verdict` for each part that depends on what is dropped; below a negation
    /// the opposite. With true it holds wherever the condition may hold.
    fn weaken(&self, condition: &Expr, template: usize, verdict: bool) -> Expr {
        if !self.reads_dropped(condition, template) {
            return condition.clone();
        }
        match condition {
            Expr::Unary(UnaryOp::Not, arg) => self.weaken(arg, template, !verdict).negate(),
            Expr::Binary(BinaryOp::And, a, b) if a.width() == 1 => self
                .weaken(a, template, verdict)
                .and(self.weaken(b, template, verdict)),
            Expr::Binary(BinaryOp::Or, a, b) if a.width() == 1 => self
                .weaken(a, template, verdict)
                .or(self.weaken(b, template, verdict)),
            _ if verdict => Expr::TRUE,
            _ => Expr::FALSE,
        }
    }

    fn forget_in(&self, edge: &mut Edge, template: usize) -> Result<(), Dependence> {
        edge.guard = self.weaken(&edge.guard, template, true);
        let mut effects = Vec::new();
        for effect in std::mem::take(&mut edge.effects) {
            let reads = |expr: &Expr| self.reads_dropped(expr, template);
            match effect {
                Effect::Print { .. } => {}
                Effect::Assign { ref place, .. } | Effect::Havoc { ref place, .. }
                    if self.is_dropped(named(place, template)) => {}
                Effect::Assign { ref place, .. } | Effect::Havoc { ref place, .. }
                    if reads(&place.index) =>
                {
                    return Err(Dependence::Handle);
                }
                Effect::Assign { place, value } if reads(&value) => {
                    effects.push(Effect::Havoc { place, values: 0 });
                }
                Effect::Spawn {
                    template: made,
                    args,
                    priority,
                    result: _,
                } => {
                    let plain = |(param, arg): (usize, Expr)| {
                        if self.holders.contains(&(Some(made.index()), param)) {
                            Ok(Expr::constant(0, arg.width()))
                        } else if reads(&arg) {
                            Err(Dependence::Handle)
                        } else {
                            Ok(arg)
                        }
                    };
                    let args = args.into_iter().enumerate().map(plain);
                    effects.push(Effect::Spawn {
                        template: made,
                        args: args.collect::<Result<_, _>>()?,
                        priority,
                        result: None,
                    });
                }
                effect => {
                    let mut found = false;
                    effect.walk(&mut |part| {
                        if let Expr::Read(place) = part {
                            found |= self.is_dropped(named(place, template));
                        }
                    });
                    let mut written = effect.written_places().into_iter();
                    if found || written.any(|place| self.is_dropped(named(place, template))) {
                        return Err(Dependence::Handle);
                    }
                    effects.push(effect);
                }
            }
        }
        let is_any = |effect: &&Effect| matches!(effect, Effect::Havoc { .. });
        let channels = effects.iter().any(Effect::is_channel_operation);
        let any = effects.iter().filter(is_any).count();
        if any > 1 || any == 1 && channels {
            return Err(Dependence::Handle);
        }
        edge.effects = effects;
        Ok(())
    }
}
