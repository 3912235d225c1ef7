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
//! - the number of threads, and whether any of them can move (`_nr_pr` and `timeout` of Promela), are
//!   treated as if they were dropped;
//! - a condition over what was dropped may hold and may fail (it is weakened). So a join never waits,
//!   a creation never meets the end of the pool, and a wait for a condition variable, whose waiters
//!   are bits by number, may end at any time;
//! - an error that depends on what was dropped, such as that a thread is joined twice, is left out,
//!   and its property is not proved;
//! - what is computed from such a row and kept elsewhere (the result of a joined thread) is any
//!   value.
//!
//! What cannot be said so is refused, with the reason. Accesses that count for data races are dropped
//! where they are to memory that depends on what was dropped ([`keeps_accesses`]).

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef};
use mover_ir::program::{Edge, Effect, Init, Program, Property, Template, Variable, VariableId};

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
    let before = program.clone();
    handles.drop_from(&mut program)?;
    leave_errors_out(&before, &mut program);
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
                location.accesses.retain(|access| {
                    let [_, place] = access.exprs();
                    !handles.reads_dropped(place, template)
                });
                for access in &mut location.accesses {
                    access.guard = handles.weaken(&access.guard, template, true);
                }
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

/// Leaves out errors whose conditions depend on what was dropped, such as that a thread is joined
/// twice; they would be possible always. What follows where the run goes on stays.
fn leave_errors_out(before: &Program, program: &mut Program) {
    for (template, place, number) in changed_conditions(before, program) {
        let body = &mut program.templates[template];
        let target = body.locations[place].edges[number].target;
        if let Some(mark) = &body.locations[target.index()].error
            && mark.property != Property::UnreachCall
        {
            let resume = mark.resume;
            let edge = &mut body.locations[place].edges[number];
            match resume {
                Some(resume) => edge.target = resume,
                None => edge.guard = Expr::FALSE,
            }
        }
    }
}

/// The properties of which errors were left out.
pub fn left_out(original: &Program, without: &Program) -> BTreeSet<Property> {
    let changed = changed_conditions(original, without).into_iter();
    let marks = changed.filter_map(|(template, place, number)| {
        let body = &original.templates[template];
        let edge = &body.locations[place].edges[number];
        let mark = body.location(edge.target).error.as_ref()?;
        (mark.property != Property::UnreachCall).then_some(mark.property)
    });
    marks.collect()
}

/// Whether all accesses that count for data races are still there.
pub fn keeps_accesses(original: &Program, without: &Program) -> bool {
    let count = |program: &Program| {
        let places = program.templates.iter().flat_map(|t| &t.locations);
        places.map(|place| place.accesses.len()).sum::<usize>()
    };
    count(original) == count(without)
}

/// The edges, by template, location and number, whose conditions are not those of the original: such
/// an edge may be impossible where its condition holds.
pub fn changed_conditions(
    original: &Program,
    without: &Program,
) -> BTreeSet<(usize, usize, usize)> {
    let mut changed = BTreeSet::new();
    for (template, (old, new)) in original
        .templates
        .iter()
        .zip(&without.templates)
        .enumerate()
    {
        for (place, (old, new)) in old.locations.iter().zip(&new.locations).enumerate() {
            for (number, (old, new)) in old.edges.iter().zip(&new.edges).enumerate() {
                if old.guard != new.guard {
                    changed.insert((template, place, number));
                }
            }
        }
    }
    changed
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
            || is_accessed(body, id)
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

/// Whether it depends on how many threads there are, or on whether any of them can move.
fn is_about_all_threads(expr: &Expr) -> bool {
    matches!(expr, Expr::ThreadCount | Expr::Timeout)
}

/// Whether an access that counts for data races depends on a variable.
fn is_accessed(body: &Template, variable: VariableRef) -> bool {
    let mut found = false;
    for access in body.locations.iter().flat_map(|place| &place.accesses) {
        let mut look = |part: &Expr| {
            found |= matches!(part, Expr::Read(place) if place.variable == variable);
        };
        for expr in access.exprs() {
            expr.walk(&mut look);
        }
    }
    found
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
            found |= match part {
                Expr::Read(place) => self.is_dropped(named(place, template)),
                _ => is_about_all_threads(part),
            };
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
                    effect.parts(&mut |part| found |= reads(part));
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
