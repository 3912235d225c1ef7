//! Arrays of locks: `fork[left]`.
//!
//! `locks` finds locks whose cell is known before the search. Here the cell may be selected at
//! run time: a lock is an array and an index, where the index is an expression over data of the
//! thread (its number, its local variables) and over data that is never written. A thread at a
//! location holds `fork[left]` if it has acquired it on every path there and has not changed
//! `left` since; the state determines which cell that is.
//!
//! An array is an array of locks if all its cells are initially free and every edge that
//! accesses one of them acquires it, releases it while holding it, or reads it while holding
//! it. Besides `m == 0 -> m = 1` the accepted patterns are those of a binary semaphore (`s > 0
//! -> s--` and `s++`). A thread that is still the only one may set the cells to free, as
//! programs do that initialise their locks.
//!
//! Fewer conditions are needed for an array whose cells *name their owner*. If the acquiring
//! thread writes its number into the lock, and other threads only compare the lock with their
//! own numbers (`fork[right] == self + 1`), then only the owner observes changes of it,
//! whatever path led there: a thread may release a lock that its guard says it holds. Which
//! locks of such an array a thread holds follows from the cells ([`LockRows::mark`]). Mutexes
//! in C are of this form: unlocking a mutex of another thread is an error, and the guard checks
//! for it.
//!
//! Variables whose address is taken are not considered here.
//!
//! An array whose cells are also tested by threads that do not hold them (a failing `trylock`)
//! is *observed*: holding one of its cells still excludes other holders, and so protects data,
//! but acquiring and releasing do not commute with the tests. The cells themselves are then
//! ordinary data ([`LockRows::is_lock`] is false).
//!
//! An index is the name that a thread has for a lock, and it can change: if an edge changes the index
//! of a lock that its thread holds, but stores its value in a local variable, that variable is the
//! name from then on. A lock never has two names at a time: a release takes back one of them only.
//!
//! Two syntactically different indices can denote the same cell. They do not if one lock was
//! acquired while the thread held the other, because then the other was not free. Two locks
//! acquired by one edge may be the same; such an array is not used.

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, sign_extend};
use mover_ir::literal::conjunction;
use mover_ir::program::{Edge, Effect, Init, Location, Program, VariableId};

use crate::facts::access::EdgeRef;
use crate::facts::locks::{abandons_run, is_beside, range};
use crate::facts::single_threaded_prefix::Alone;

/// A lock as an expression over the state of a template's thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LockPlace {
    pub variable: VariableId,
    pub index: Expr,
}

/// What an edge does to locks.
#[derive(Clone, Default, Debug)]
pub struct Handled {
    pub takes: Vec<LockPlace>,
    pub releases: Vec<LockPlace>,
}

pub struct LockRows {
    /// By variable.
    is_lock: Vec<bool>,
    /// By variable: whether threads test its cells without holding them.
    is_observed: Vec<bool>,
    /// By template and location: locks that a thread there holds.
    held: Vec<Vec<Vec<LockPlace>>>,
    /// By template, location and edge.
    handled: Vec<Vec<Vec<Handled>>>,
    /// By variable: the value that a thread writes into the locks it acquires, if the cells determine
    /// who holds them.
    marks: Vec<Option<Expr>>,
}

/// The variables that may be locks, and what is known of them.
#[derive(Clone, Copy)]
struct Candidates<'a> {
    rows: &'a [bool],
    may_be_observed: &'a [bool],
    never_written: &'a [bool],
}

/// The use of one lock by an edge, with its details.
#[derive(Clone, Debug)]
struct Use {
    index: Expr,
    handling: Handling,
    /// The thread's mark, if the edge only compares with it, writes it, or removes it.
    mark: Option<Expr>,
}

/// The use of one lock by an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handling {
    Takes(Style),
    GivesBack(Style),
    Looks,
}

/// Whether an edge treats the lock as a binary semaphore, and if not, whether it is compatible with
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// Counts: requires that 0 is the only value of a held lock.
    Counts,
    /// Makes it 0, or free.
    Plain,
    /// Makes it neither free nor 0.
    Other,
}

/// The locks of an array that an edge accesses; `None` if it violates the rules.
type PlacesOfRow = Option<Vec<Use>>;

impl LockRows {
    /// `is_rw` says which variables are halves of reader-writer locks, whose tests are no observations.
    pub fn find(program: &Program, alone: &Alone, is_rw: impl Fn(VariableId) -> bool) -> LockRows {
        let may_be_observed: Vec<bool> = (0..program.globals.len())
            .map(|variable| !is_rw(VariableId(variable as u32)))
            .collect();
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
            let found = Candidates {
                rows: &candidates,
                may_be_observed: &may_be_observed,
                never_written: &never_written,
            };
            let rows = LockRows::with(program, alone, found, &mut broken);
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
        candidates: Candidates,
        broken: &mut [bool],
    ) -> LockRows {
        let Candidates {
            rows: candidates,
            may_be_observed,
            never_written,
        } = candidates;
        let mut is_observed = vec![false; candidates.len()];
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
                            let ends_run = template.location(edge.target).ends_run();
                            let observes_nothing = || {
                                let fails = |place| {
                                    fails_to_take(program, location, edge, place, never_written)
                                };
                                abandons_run(template, edge) || (ends_run && fails(&place))
                            };
                            if handling == Handling::Looks && observes_nothing() {
                                continue;
                            }
                            match handling {
                                Handling::Takes(_) => {
                                    taken[variable.index()] = true;
                                    let known = &mut marks[variable.index()];
                                    let is_same = known.is_none() || *known == mark;
                                    has_other_marks[variable.index()] |= mark.is_none() || !is_same;
                                    *known = mark.clone();
                                    handles.takes.push(place.clone());
                                }
                                Handling::GivesBack(_) => handles.releases.push(place.clone()),
                                Handling::Looks => {}
                            }
                            if let Handling::Takes(style) | Handling::GivesBack(style) = handling {
                                counts[variable.index()] |= style == Style::Counts;
                                other[variable.index()] |= style == Style::Other;
                            }
                            of_edge.push((place, handling, mark));
                        }
                    }
                    // It is enabled only if these are not, so it reads their locks.
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
                            // Setting a lock to free before there is another thread is harmless.
                            Handling::GivesBack(Style::Plain) => has || alone.is_alone(program, at),
                            Handling::GivesBack(_) | Handling::Looks => has,
                        };
                        needs_mark[row] |= !obeys;
                        let tests = *handling == Handling::Looks && may_be_observed[row];
                        is_observed[row] |= !obeys && !names_owner && tests;
                        broken[row] |= !obeys && !names_owner && !tests;
                    }
                }
            }
        }
        LockRows {
            is_lock: candidates.to_vec(),
            is_observed,
            held,
            handled,
            marks: marks
                .into_iter()
                .zip(needs_mark)
                .map(|(mark, needs_mark)| mark.filter(|_| needs_mark))
                .collect(),
        }
    }

    /// Whether the variable consists of locks that only their holders observe.
    pub fn is_lock(&self, variable: VariableId) -> bool {
        self.is_lock[variable.index()] && !self.is_observed[variable.index()]
    }

    /// Whether the cells of the variable are locks, and if so, whether threads that do not hold them
    /// observe them.
    pub fn excludes(&self, variable: VariableId) -> Option<bool> {
        self.is_lock[variable.index()].then(|| self.is_observed[variable.index()])
    }

    /// The value that a thread writes into the locks of an array that it acquires, if that value
    /// determines which of them it holds, in addition to those that it must hold at its location.
    pub fn mark(&self, variable: VariableId) -> Option<&Expr> {
        let mark = self.marks[variable.index()].as_ref();
        mark.filter(|_| self.is_lock[variable.index()])
    }

    /// Locks that a thread at the location holds.
    pub fn held(&self, template: usize, location: usize) -> &[LockPlace] {
        &self.held[template][location]
    }

    pub fn handled(&self, template: usize, location: usize, edge: usize) -> &Handled {
        &self.handled[template][location][edge]
    }
}

/// For each location the locks held on every path to it; none at unreachable locations.
fn must_hold(program: &Program, template: usize, handled: &[Vec<Handled>]) -> Vec<Vec<LockPlace>> {
    let body = &program.templates[template];
    let mut held: Vec<Option<Vec<LockPlace>>> = vec![None; body.locations.len()];
    held[body.entry.index()] = Some(Vec::new());
    let mut work = vec![body.entry.index()];
    let all = handled.iter().flatten();
    let given_back: Vec<&LockPlace> = all.flat_map(|handles| &handles.releases).collect();
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
                // An index that is not known to be held can denote any of the thread's locks.
                let is_any =
                    |given: &LockPlace| given.variable == place.variable && !before.contains(given);
                let mut given_back = handles.releases.iter();
                given_back.any(|given| given == place || is_any(given))
            };
            after.retain(|place| !is_given_back(place));
            let renamed = renamed(edge, &after, &given_back);
            after.retain(|place| !changes(edge, &place.index));
            for place in renamed {
                if !after.contains(&place) {
                    after.push(place);
                }
            }
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

/// New names for locks whose names an edge changes: where it stores the value that the index had before
/// in a local variable. Each lock gets one of them, one by which locks are given back.
fn renamed(edge: &Edge, held: &[LockPlace], given_back: &[&LockPlace]) -> Vec<LockPlace> {
    let mut found: Vec<(&LockPlace, LockPlace)> = Vec::new();
    let mut written: Vec<VariableRef> = Vec::new();
    for (number, effect) in edge.effects.iter().enumerate() {
        if let Effect::Assign { place, value } = effect
            && matches!(place.variable, VariableRef::Local(_))
            && place.index.as_const() == Some(0)
            && !written.iter().any(|&local| reads_variable(value, local))
        {
            let mut later = edge.effects[number + 1..].iter();
            let is_last = !later.any(|effect| {
                let mut places = effect.written_places().into_iter();
                places.any(|other| other.variable == place.variable)
            });
            let lost = held.iter().filter(|lock| changes(edge, &lock.index));
            for lock in lost.filter(|lock| is_last && lock.index == *value) {
                let name = LockPlace {
                    variable: lock.variable,
                    index: Expr::Read(place.clone()),
                };
                let is_named = found.iter().any(|(known, _)| *known == lock);
                if !is_named && given_back.contains(&&name) {
                    found.push((lock, name));
                }
            }
        }
        written.extend(effect.written_places().iter().map(|place| place.variable));
    }
    found.into_iter().map(|(_, place)| place).collect()
}

/// Whether an edge writes a local variable that the index consists of.
pub(crate) fn changes(edge: &Edge, index: &Expr) -> bool {
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

/// The common initial value of all cells of an array.
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

/// The global arrays that an edge accesses.
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
    holds &= assigned.is_empty() || edge.effects.iter().all(is_beside);
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

/// The value, if it is the thread's number plus a constant. Where such a value is never the value
/// of a free lock (`range`), no two threads write the same value.
pub(crate) fn own_mark(value: &Expr) -> Option<&Expr> {
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

/// The mark with which a comparison compares a lock.
fn mark_in<'e>(condition: &'e Expr, reads: &impl Fn(&Place) -> bool) -> Option<&'e Expr> {
    let is_place = |expr: &Expr| match expr {
        Expr::Read(read) => reads(read),
        // Zero extension keeps the value.
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

/// The mark that the guard requires a lock to contain.
pub(crate) fn asked_mark(edge: &Edge, place: &Place) -> Option<Expr> {
    let literals = conjunction(&edge.guard);
    let mut marks = literals.iter().filter_map(|literal| {
        let is_equality = matches!(literal.condition, Expr::Binary(BinaryOp::Eq, ..));
        let mark = mark_in(&literal.condition, &|read| read == place)?;
        (literal.holds == is_equality).then(|| mark.clone())
    });
    marks.next()
}

/// The mark with which the lock is compared wherever the edge reads it.
pub(crate) fn compared_mark(edge: &Edge, row: VariableRef, index: &Expr) -> Option<Expr> {
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

/// Whether an edge that ends the run is possible only while a lock is free, and is beside an edge that
/// acquires it. Such an edge does not observe who holds the lock ([`crate::facts::locks`]).
fn fails_to_take(
    program: &Program,
    location: &Location,
    edge: &Edge,
    lock: &LockPlace,
    never_written: &[bool],
) -> bool {
    let Some(free) = free_value(program, lock.variable) else {
        return false;
    };
    let takes = |beside: &Edge| {
        let uses = places_of_row(program, beside, lock.variable, never_written);
        let is_it =
            |found: &Use| matches!(found.handling, Handling::Takes(_)) && found.index == lock.index;
        uses.is_some_and(|uses| uses.iter().any(is_it))
    };
    let mut is_free = false;
    edge.guard.walk(&mut |part| {
        if let Expr::Read(place) = part
            && place.variable == VariableRef::Global(lock.variable)
            && *place.index == lock.index
        {
            is_free |= says(&edge.guard, place, free, false);
        }
    });
    is_free && location.edges.iter().any(takes)
}

/// The difference between a value and the content of the lock, if it is constant.
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

/// Whether the guard implies that the lock contains the value, or, for a semaphore, a value greater
/// than 0.
fn says(guard: &Expr, place: &Place, value: u64, positive: bool) -> bool {
    let reads = |expr: &Expr| match expr {
        Expr::Read(read) => read == place,
        // Zero extension keeps the value.
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
