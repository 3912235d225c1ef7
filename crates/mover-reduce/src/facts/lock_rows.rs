//! Locks in rows: `fork[left]`.
//!
//! `locks` finds locks whose cell is known before the search. Here the cell may
//! be picked at run time: a lock is a row and an index, and the index is an
//! expression over what belongs to the thread (its number, its local variables)
//! and over data that is never written. A thread at a location has
//! `fork[left]` if it has taken it on every way there and has not changed
//! `left` since; which cell that is, the state tells.
//!
//! A row is a row of locks if all its cells start out free and every edge that
//! touches one of them takes it, gives it back having it, or looks at it having
//! it. Besides `m == 0 -> m = 1` the shapes are those of a semaphore with one
//! permit (`s > 0 -> s--` and `s++`). A thread that is still alone may make them
//! free again, as programs do that initialise their locks.
//!
//! A row whose cells *name their owner* asks for less. If whoever takes a lock
//! writes his number into it, and others only compare it with their own
//! (`fork[right] == self + 1`), then nobody but its owner sees what becomes of
//! it, whatever way has led there: a thread may give back what its guard says it
//! has. Which locks of such a row a thread has, the cells tell ([`LockRows::mark`]).
//! That is how mutexes in C look: to unlock one that somebody else has is an error
//! that the guard asks for.
//!
//! A variable whose address is taken is not looked at here.
//!
//! Two indices that look different can be the same cell. They are not if one was
//! taken while the thread had the other, for then the other was not free. Two
//! taken in one edge may be the same; such a row is not used.

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, sign_extend};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Init, Program, VariableId};

use crate::facts::access::EdgeRef;
use crate::facts::locks::range;
use crate::facts::single_threaded_prefix::Alone;

/// A lock as the threads of a template see it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LockPlace {
    pub variable: VariableId,
    pub index: Expr,
}

/// What an edge does to locks.
#[derive(Clone, Default, Debug)]
pub struct Handled {
    pub takes: Vec<LockPlace>,
    pub gives_back: Vec<LockPlace>,
}

pub struct LockRows {
    /// By variable.
    is_lock: Vec<bool>,
    /// By template and location: locks that a thread there has.
    held: Vec<Vec<Vec<LockPlace>>>,
    /// By template, location and edge.
    handled: Vec<Vec<Vec<Handled>>>,
    /// By variable: what a thread writes into locks that it takes, if the cells have to tell
    /// who has them.
    marks: Vec<Option<Expr>>,
}

/// What an edge does to one place, and how.
#[derive(Clone, Debug)]
struct Use {
    index: Expr,
    handling: Handling,
    /// The thread's mark, if what is done does no more than ask for it, write it, or take it away.
    mark: Option<Expr>,
}

/// What an edge does to one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handling {
    Takes(Style),
    GivesBack(Style),
    Looks,
}

/// Whether an edge treats the lock as a semaphore with one permit, and if not,
/// whether one could live with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// Counts: relies on 0 being the only value of a lock that is taken.
    Counts,
    /// Makes it 0, or free.
    Plain,
    /// Makes it neither free nor 0.
    Other,
}

/// The places of a row that an edge touches; `None` if it breaks the rules.
type PlacesOfRow = Option<Vec<Use>>;

impl LockRows {
    pub fn find(program: &Program, alone: &Alone) -> LockRows {
        let never_written = never_written(program);
        let mut candidates: Vec<bool> = (0..program.globals.len())
            .map(|variable| {
                free_value(program, VariableId(variable as u32)).is_some()
                    && !never_written[variable]
                    && !program.globals[variable].addressable
            })
            .collect();
        loop {
            let mut broken = vec![false; candidates.len()];
            let rows = LockRows::with(program, alone, &candidates, &never_written, &mut broken);
            let mut changed = false;
            for (candidate, broken) in candidates.iter_mut().zip(broken) {
                changed |= *candidate && broken;
                *candidate &= !broken;
            }
            if !changed {
                return rows;
            }
        }
    }

    fn with(
        program: &Program,
        alone: &Alone,
        candidates: &[bool],
        never_written: &[bool],
        broken: &mut [bool],
    ) -> LockRows {
        let mut taken = vec![false; candidates.len()];
        let mut counts = vec![false; candidates.len()];
        let mut other = vec![false; candidates.len()];
        let mut marks: Vec<Option<Expr>> = vec![None; candidates.len()];
        let mut has_other_marks = vec![false; candidates.len()];
        let mut needs_mark = vec![false; candidates.len()];
        let mut places = Vec::new();
        let mut handled = Vec::new();
        for template in &program.templates {
            let mut of_template = Vec::new();
            let mut handled_of_template = Vec::new();
            for location in &template.locations {
                let mut of_location = Vec::new();
                let mut handled_of_location = Vec::new();
                for edge in &location.edges {
                    let mut of_edge = Vec::new();
                    let mut handles = Handled::default();
                    for variable in rows_touched(edge) {
                        if !candidates[variable.index()] {
                            continue;
                        }
                        let found = places_of_row(program, edge, variable, never_written);
                        let Some(found) = found else {
                            broken[variable.index()] = true;
                            continue;
                        };
                        for Use {
                            index,
                            handling,
                            mark,
                        } in found
                        {
                            let place = LockPlace { variable, index };
                            match handling {
                                Handling::Takes(_) => {
                                    taken[variable.index()] = true;
                                    let known = &mut marks[variable.index()];
                                    let is_same = known.is_none() || *known == mark;
                                    has_other_marks[variable.index()] |= mark.is_none() || !is_same;
                                    *known = mark.clone();
                                    handles.takes.push(place.clone());
                                }
                                Handling::GivesBack(_) => handles.gives_back.push(place.clone()),
                                Handling::Looks => {}
                            }
                            if let Handling::Takes(style) | Handling::GivesBack(style) = handling {
                                counts[variable.index()] |= style == Style::Counts;
                                other[variable.index()] |= style == Style::Other;
                            }
                            of_edge.push((place, handling, mark));
                        }
                    }
                    // It is enabled only if these are not, which is a look at their locks.
                    let above = location.edges.iter();
                    for higher in above.filter(|higher| higher.priority > edge.priority) {
                        for variable in rows_touched(higher) {
                            if !candidates[variable.index()] {
                                continue;
                            }
                            match places_of_row(program, higher, variable, never_written) {
                                None => broken[variable.index()] = true,
                                Some(found) => of_edge.extend(found.into_iter().map(|found| {
                                    let index = found.index;
                                    let is_look = found.handling == Handling::Looks;
                                    let mark = found.mark.filter(|_| is_look);
                                    (LockPlace { variable, index }, Handling::Looks, mark)
                                })),
                            }
                        }
                    }
                    of_location.push(of_edge);
                    handled_of_location.push(handles);
                }
                of_template.push(of_location);
                handled_of_template.push(handled_of_location);
            }
            places.push(of_template);
            handled.push(handled_of_template);
        }
        for (variable, broken) in broken.iter_mut().enumerate() {
            *broken |= !taken[variable] || (counts[variable] && other[variable]);
        }
        let held: Vec<Vec<Vec<LockPlace>>> = (0..program.templates.len())
            .map(|template| must_hold(program, template, &handled[template]))
            .collect();
        for (template, of_template) in places.iter().enumerate() {
            for (location, of_location) in of_template.iter().enumerate() {
                let is_atomic = program.templates[template].locations[location].atomic;
                for (edge, of_edge) in of_location.iter().enumerate() {
                    let at = EdgeRef {
                        template,
                        location,
                        edge,
                    };
                    for (place, handling, mark) in of_edge {
                        let row = place.variable.index();
                        let has = held[template][location].contains(place);
                        let names_owner = !matches!(handling, Handling::Takes(_))
                            && mark.is_some()
                            && *mark == marks[row]
                            && !has_other_marks[row];
                        let obeys = match handling {
                            Handling::Takes(_) => !is_atomic && !has,
                            // To make a lock free before there is anybody to take it does no harm.
                            Handling::GivesBack(Style::Plain) => has || alone.is_alone(program, at),
                            Handling::GivesBack(_) | Handling::Looks => has,
                        };
                        needs_mark[row] |= !obeys;
                        broken[row] |= !obeys && !names_owner;
                    }
                }
            }
        }
        LockRows {
            is_lock: candidates.to_vec(),
            held,
            handled,
            marks: marks
                .into_iter()
                .zip(needs_mark)
                .map(|(mark, needs_mark)| mark.filter(|_| needs_mark))
                .collect(),
        }
    }

    pub fn is_lock(&self, variable: VariableId) -> bool {
        self.is_lock[variable.index()]
    }

    /// What a thread writes into the locks of a row that it takes, if that tells which of them it
    /// has: those, besides the ones that are held by its location.
    pub fn mark(&self, variable: VariableId) -> Option<&Expr> {
        let mark = self.marks[variable.index()].as_ref();
        mark.filter(|_| self.is_lock(variable))
    }

    /// Locks that a thread at the location has.
    pub fn held(&self, template: usize, location: usize) -> &[LockPlace] {
        &self.held[template][location]
    }

    pub fn handled(&self, template: usize, location: usize, edge: usize) -> &Handled {
        &self.handled[template][location][edge]
    }
}

/// For each location the locks held on every way to it; none where no way leads,
/// since nobody is ever there.
fn must_hold(program: &Program, template: usize, handled: &[Vec<Handled>]) -> Vec<Vec<LockPlace>> {
    let body = &program.templates[template];
    let mut held: Vec<Option<Vec<LockPlace>>> = vec![None; body.locations.len()];
    held[body.entry.index()] = Some(Vec::new());
    let mut work = vec![body.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = held[location].clone() else {
            continue;
        };
        for (edge, handles) in body.locations[location]
            .edges
            .iter()
            .zip(&handled[location])
        {
            let mut after = before.clone();
            for place in &handles.takes {
                if !after.contains(place) {
                    after.push(place.clone());
                }
            }
            let is_given_back = |place: &LockPlace| {
                // An index that the thread is not known to have can be that of any of its locks.
                let is_any =
                    |given: &LockPlace| given.variable == place.variable && !before.contains(given);
                let mut given_back = handles.gives_back.iter();
                given_back.any(|given| given == place || is_any(given))
            };
            after.retain(|place| !is_given_back(place));
            after.retain(|place| !changes(edge, &place.index));
            let target = edge.target.index();
            let joined = match &held[target] {
                None => after,
                Some(known) => {
                    let both = known.iter().filter(|place| after.contains(place));
                    both.cloned().collect()
                }
            };
            if held[target].as_ref() != Some(&joined) {
                held[target] = Some(joined);
                work.push(target);
            }
        }
    }
    held.into_iter().map(Option::unwrap_or_default).collect()
}

/// Whether an edge writes a local variable that the index is made of.
fn changes(edge: &Edge, index: &Expr) -> bool {
    edge.effects
        .iter()
        .flat_map(Effect::written_places)
        .any(|place| reads_variable(index, place.variable))
}

fn reads_variable(expr: &Expr, variable: VariableRef) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(part, Expr::Read(place) if place.variable == variable);
    });
    found
}

pub(crate) fn never_written(program: &Program) -> Vec<bool> {
    let mut never = vec![true; program.globals.len()];
    let edges = program
        .templates
        .iter()
        .flat_map(|template| &template.locations)
        .flat_map(|location| &location.edges);
    for place in edges
        .flat_map(|edge| &edge.effects)
        .flat_map(Effect::written_places)
    {
        if let VariableRef::Global(id) = place.variable {
            never[id.index()] = false;
        }
    }
    never
}

/// The value that all cells of a row start with.
fn free_value(program: &Program, variable: VariableId) -> Option<u64> {
    match &program.globals[variable.index()].init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => {
            let first = *values.first()?;
            values.iter().all(|&value| value == first).then_some(first)
        }
        Init::Channels(_) => None,
    }
}

/// The global rows that an edge touches.
fn rows_touched(edge: &Edge) -> Vec<VariableId> {
    let mut rows = Vec::new();
    let mut add = |variable: VariableRef| {
        if let VariableRef::Global(id) = variable
            && !rows.contains(&id)
        {
            rows.push(id);
        }
    };
    let mut visit = |expr: &Expr| {
        if let Expr::Read(place) = expr {
            add(place.variable);
        }
    };
    edge.guard.walk(&mut visit);
    for effect in &edge.effects {
        effect.walk(&mut visit);
    }
    for place in edge.effects.iter().flat_map(Effect::written_places) {
        add(place.variable);
    }
    rows
}

fn places_of_row(
    program: &Program,
    edge: &Edge,
    variable: VariableId,
    never_written: &[bool],
) -> PlacesOfRow {
    let row = VariableRef::Global(variable);
    let mut indices: Vec<Expr> = Vec::new();
    let mut assigned: Vec<(&Place, &Expr)> = Vec::new();
    let mut written = Vec::new();
    let mut holds = true;
    let note = |index: &Expr, written: &[VariableRef], indices: &mut Vec<Expr>| {
        let is_own = is_own(index, never_written);
        let is_old = !written.iter().any(|&local| reads_variable(index, local));
        if !indices.contains(index) {
            indices.push(index.clone());
        }
        is_own && is_old
    };
    edge.guard.walk(&mut |expr| {
        if let Expr::Read(place) = expr
            && place.variable == row
        {
            holds &= note(&place.index, &written, &mut indices);
        }
    });
    for effect in &edge.effects {
        effect.walk(&mut |expr| {
            if let Expr::Read(place) = expr
                && place.variable == row
            {
                holds &= note(&place.index, &written, &mut indices);
            }
        });
        for place in effect.written_places() {
            if place.variable == row {
                holds &= note(&place.index, &written, &mut indices);
                match effect {
                    Effect::Assign { value, .. } => assigned.push((place, value)),
                    _ => holds = false,
                }
            }
        }
        written.extend(effect.written_places().iter().map(|place| place.variable));
    }
    let is_plain = |effect: &Effect| matches!(effect, Effect::Assign { .. } | Effect::Print { .. });
    holds &= assigned.is_empty() || edge.effects.iter().all(is_plain);
    if !holds {
        return None;
    }
    let free = free_value(program, variable)?;
    let mut found = Vec::new();
    for index in indices {
        let mut to_it = assigned.iter().filter(|(place, _)| *place.index == index);
        let mut to_mark = to_it.clone();
        let handling = match (to_it.next(), to_it.next()) {
            (None, _) => Handling::Looks,
            (Some((place, value)), None) => handling(program, edge, place, value, free)?,
            _ => return None,
        };
        let mark = match (handling, to_mark.next()) {
            (Handling::Takes(_), Some((_, value))) => own_mark(value).cloned(),
            (Handling::GivesBack(_), Some((place, _))) => asked_mark(edge, place),
            _ => compared_mark(edge, row, &index),
        };
        found.push(Use {
            index,
            handling,
            mark,
        });
    }
    let taken: Vec<&Expr> = found
        .iter()
        .filter(|found| matches!(found.handling, Handling::Takes(_)))
        .map(|found| &found.index)
        .collect();
    let told_apart = taken.iter().all(|index| index.as_const().is_some());
    (taken.len() < 2 || told_apart).then_some(found)
}

/// The thread's number plus a constant, if that is what the value is. Where such a value is never
/// that of a lock that is free (`range`), no two threads write the same.
fn own_mark(value: &Expr) -> Option<&Expr> {
    let mark = without_resize(value);
    let is_mark = match mark {
        Expr::ThreadId => true,
        Expr::Binary(BinaryOp::Add, lhs, rhs) => {
            matches!(without_resize(lhs), Expr::ThreadId) && rhs.as_const().is_some()
        }
        _ => false,
    };
    is_mark.then_some(mark)
}

/// The mark that a comparison asks a place for.
fn mark_in<'e>(condition: &'e Expr, reads: &impl Fn(&Place) -> bool) -> Option<&'e Expr> {
    let is_place = |expr: &Expr| match expr {
        Expr::Read(read) => reads(read),
        // Widening keeps the number.
        Expr::Resize { arg, width, signed } => match &**arg {
            Expr::Read(read) => reads(read) && read.ty.width <= *width && !signed,
            _ => false,
        },
        _ => false,
    };
    let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, lhs, rhs) = condition else {
        return None;
    };
    match (is_place(lhs), is_place(rhs)) {
        (true, false) => own_mark(rhs),
        (false, true) => own_mark(lhs),
        _ => None,
    }
}

/// The mark that the guard says is in a place.
fn asked_mark(edge: &Edge, place: &Place) -> Option<Expr> {
    let literals = conjunction(&edge.guard);
    let mut marks = literals.iter().filter_map(|literal| {
        let is_equality = matches!(literal.condition, Expr::Binary(BinaryOp::Eq, ..));
        let mark = mark_in(&literal.condition, &|read| read == place)?;
        (literal.holds == is_equality).then(|| mark.clone())
    });
    marks.next()
}

/// The mark that a place is compared with wherever the edge reads it.
fn compared_mark(edge: &Edge, row: VariableRef, index: &Expr) -> Option<Expr> {
    let is_it = |place: &Place| place.variable == row && *place.index == *index;
    let mut reads = 0;
    let mut comparisons = Vec::new();
    let mut visit = |expr: &Expr| {
        if let Expr::Read(place) = expr
            && is_it(place)
        {
            reads += 1;
        }
        comparisons.extend(mark_in(expr, &is_it).cloned());
    };
    edge.guard.walk(&mut visit);
    for effect in &edge.effects {
        effect.walk(&mut visit);
    }
    let mark = comparisons.first()?.clone();
    let all_same = comparisons.iter().all(|other| *other == mark);
    (all_same && comparisons.len() == reads).then_some(mark)
}

/// Whether only the thread itself can change the value of an expression.
pub(crate) fn is_own(expr: &Expr, never_written: &[bool]) -> bool {
    let mut own = true;
    expr.walk(&mut |part| match part {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(_) => {}
            VariableRef::Global(id) => own &= never_written[id.index()],
        },
        Expr::Const { .. }
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::If(..)
        | Expr::Resize { .. }
        | Expr::ThreadId => {}
        _ => own = false,
    });
    own
}

fn handling(
    program: &Program,
    edge: &Edge,
    place: &Place,
    value: &Expr,
    free: u64,
) -> Option<Handling> {
    if value.as_const() == Some(free) {
        return Some(Handling::GivesBack(Style::Plain));
    }
    let step = distance(value, place).filter(|_| free == 1);
    if step == Some(1) {
        return Some(Handling::GivesBack(Style::Counts));
    }
    let (least, most) = range(program, value);
    let has_permit = free == 1 && says(&edge.guard, place, free, true);
    if has_permit && (step == Some(-1) || most == 0) {
        return Some(Handling::Takes(Style::Counts));
    }
    let never_free = free < least || free > most;
    let style = if most == 0 {
        Style::Plain
    } else {
        Style::Other
    };
    (never_free && says(&edge.guard, place, free, false)).then_some(Handling::Takes(style))
}

/// How much a value differs from what the place holds, if it is that plus a constant.
fn distance(value: &Expr, place: &Place) -> Option<i64> {
    let Expr::Binary(op, lhs, rhs) = without_resize(value) else {
        return None;
    };
    let is_it = |expr: &Expr| matches!(without_resize(expr), Expr::Read(read) if read == place);
    let Expr::Const { value, width } = &**rhs else {
        return None;
    };
    let constant = sign_extend(*value, *width);
    match op {
        BinaryOp::Add if is_it(lhs) => Some(constant),
        BinaryOp::Sub if is_it(lhs) => constant.checked_neg(),
        _ => None,
    }
}

pub(crate) fn without_resize(expr: &Expr) -> &Expr {
    match expr {
        Expr::Resize { arg, .. } => without_resize(arg),
        _ => expr,
    }
}

/// Whether the guard implies that the place holds the value, or, for a
/// permit, that it holds something greater than 0.
fn says(guard: &Expr, place: &Place, value: u64, positive: bool) -> bool {
    let reads = |expr: &Expr| match expr {
        Expr::Read(read) => read == place,
        // Widening keeps the number.
        Expr::Resize { arg, width, signed } => {
            let widens = |read: &Place| read.ty.width <= *width && !(*signed && read.ty.width == 1);
            matches!(&**arg, Expr::Read(read) if read == place && widens(read))
        }
        _ => false,
    };
    conjunction(guard).iter().any(|literal| {
        let is = |expr: &Expr, constant: u64| expr.as_const() == Some(constant);
        match &literal.condition {
            Expr::Binary(BinaryOp::Eq, lhs, rhs) => {
                let constant = if literal.holds { value } else { 0 };
                let applies = literal.holds || positive;
                applies && ((reads(lhs) && is(rhs, constant)) || (reads(rhs) && is(lhs, constant)))
            }
            Expr::Binary(BinaryOp::ULt | BinaryOp::SLt, lhs, rhs) if positive && literal.holds => {
                is(lhs, 0) && reads(rhs)
            }
            Expr::Binary(BinaryOp::ULe | BinaryOp::SLe, lhs, rhs) if positive && !literal.holds => {
                reads(lhs) && is(rhs, 0)
            }
            condition @ Expr::Read(_) if condition.width() == 1 => {
                reads(condition) && u64::from(literal.holds) == value
            }
            _ => false,
        }
    })
}
