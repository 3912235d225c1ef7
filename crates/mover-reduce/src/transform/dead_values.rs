//! Dead values.
//!
//! After `counter = tmp + 1` the value of `tmp` distinguishes states but makes no other
//! difference: `tmp` is always written before it is read again. Such a variable is *dead*, and
//! [`forget_dead_values`] resets it to its initial value on the edge on which it dies. States
//! that differ only in dead values have the same errors and deadlocks ahead of them, step for
//! step, so merging them loses nothing (live-variable analysis, as in compilers; SPIN does it
//! for some variables). None of the papers that mover implements describes it, but transactions
//! profit more than single steps: between transactions most of a thread's intermediate results
//! are dead.
//!
//! Edges and locations keep their numbers, so a run of the transformed program is also a run of
//! the original one.
//!
//! A global variable is *useless* if it is read only to compute useless variables, such as a counter
//! of rounds that nobody tests. [`drop_useless_globals`] drops the assignments to such variables.
//! Accesses that count for data races stay: a variable with one is never useless here.
//!
//! A local variable that another thread may read is never dead. Nor is any variable in programs that
//! allocate: the number of a new object depends on what the state mentions, so resetting a
//! pointer would be observable there. (The C front end itself resets dead registers.)

use mover_ir::expr::{Expr, Place, VariableRef};
use mover_ir::graph::{FixedBitSet, include};
use mover_ir::program::{
    AccessedMemory, Edge, Effect, Init, MemoryAccess, Program, Template, Variable, VariableId,
};

/// Longest array that is reset; each of its cells needs an assignment.
const LONGEST_ROW: u32 = 16;

/// Resets variables to their initial values where they die.
pub fn forget_dead_values(program: &mut Program) {
    if !program.sites.is_empty() {
        return;
    }
    let seen = seen_by_others(program);
    for (template, seen) in program.templates.iter_mut().zip(seen) {
        let can_die =
            |local: usize| !seen.contains(local) && is_forgettable(&template.locals[local]);
        let mortal: Vec<usize> = (0..template.locals.len()).filter(|&l| can_die(l)).collect();
        let live = live_variables(template);
        let clean: Vec<(usize, Vec<Effect>)> = mortal
            .into_iter()
            .map(|local| (local, first_values(template, local)))
            .collect();
        forget_in(template, &live, &clean);
    }
}

/// Drops assignments to global variables that are read only to compute such variables.
pub fn drop_useless_globals(program: &mut Program) {
    let useful = useful_globals(program);
    let is_useless = |effect: &Effect| {
        matches!(effect, Effect::Assign { place, .. }
            if matches!(place.variable, VariableRef::Global(id) if !useful.contains(id.index())))
    };
    for template in &mut program.templates {
        for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
            edge.effects.retain(|effect| !is_useless(effect));
        }
    }
}

/// The global variables on which something else may depend.
fn useful_globals(program: &Program) -> FixedBitSet {
    let mut useful = FixedBitSet::with_capacity(program.globals.len());
    for (number, variable) in program.globals.iter().enumerate() {
        let is_row_of_channels = matches!(variable.init, Init::Channels(_));
        useful.set(number, variable.addressable || is_row_of_channels);
    }
    if let Some(presence) = program.presence {
        useful.insert(presence.index());
    }
    for claim in &program.info.exclusive {
        useful.insert(claim.variable.index());
        claim
            .predicate
            .walk(&mut |expr| note_global(expr, &mut useful));
    }
    let locations = || program.templates.iter().flat_map(|t| &t.locations);
    for location in locations() {
        for access in &location.accesses {
            if let AccessedMemory::Cell { variable, .. } = &access.memory {
                useful.insert(variable.index());
            }
            let exprs = access.exprs().into_iter();
            exprs.for_each(|expr| expr.walk(&mut |expr| note_global(expr, &mut useful)));
        }
    }
    let mut before = usize::MAX;
    while useful.count_ones(..) != before {
        before = useful.count_ones(..);
        for edge in locations().flat_map(|location| &location.edges) {
            edge.guard.walk(&mut |expr| note_global(expr, &mut useful));
            for effect in &edge.effects {
                match effect {
                    Effect::Assign { place, .. } if matches!(place.variable, VariableRef::Global(id) if !useful.contains(id.index())) =>
                        {}
                    _ => {
                        effect.walk(&mut |expr| note_global(expr, &mut useful));
                        // Only assignments are dropped.
                        if !matches!(effect, Effect::Assign { .. }) {
                            for place in effect.written_places() {
                                if let VariableRef::Global(id) = place.variable {
                                    useful.insert(id.index());
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    useful
}

fn note_global(expr: &Expr, useful: &mut FixedBitSet) {
    if let Expr::Read(place) = expr
        && let VariableRef::Global(id) = place.variable
    {
        useful.insert(id.index());
    }
}

fn is_forgettable(variable: &Variable) -> bool {
    variable.len <= LONGEST_ROW && !matches!(variable.init, Init::Channels(_))
}

/// For each template the variables that other threads read.
fn seen_by_others(program: &Program) -> Vec<FixedBitSet> {
    let sizes = program.templates.iter();
    let mut seen: Vec<FixedBitSet> = sizes
        .map(|t| FixedBitSet::with_capacity(t.locals.len()))
        .collect();
    program.any_expr(|expr| {
        if let Expr::RemoteRead {
            template, variable, ..
        } = expr
        {
            seen[template.index()].insert(variable.index());
        }
        false
    });
    seen
}

/// The assignments that reset a variable to its initial value; 0 for a parameter.
fn first_values(template: &Template, local: usize) -> Vec<Effect> {
    let variable = &template.locals[local];
    let first_value = |cell: usize| match &variable.init {
        _ if local < template.params as usize => 0,
        Init::All(value) => *value,
        Init::Cells(values) => values[cell],
        Init::Channels(_) => 0,
    };
    let of_cell = |cell: usize| Effect::Assign {
        place: Place::element(
            VariableRef::Local(VariableId(local as u32)),
            Expr::int(cell as i64),
            variable.ty,
        ),
        value: Expr::Const {
            value: first_value(cell),
            width: variable.ty.width,
        },
    };
    (0..variable.len as usize).map(of_cell).collect()
}

/// Appends resets to the edges on which variables die. By induction over a run, a variable that is
/// dead before and after an edge that does not write it already has its initial value.
fn forget_in(template: &mut Template, live: &[FixedBitSet], clean: &[(usize, Vec<Effect>)]) {
    for (location, alive_before) in live.iter().enumerate() {
        for number in 0..template.locations[location].edges.len() {
            let edge = &template.locations[location].edges[number];
            let target = edge.target.index();
            let ends_run = template.locations[target].ends_run();
            if ends_run || edge.effects.last() == Some(&Effect::Exit) {
                continue;
            }
            let dies = |local: usize| {
                !live[target].contains(local)
                    && (alive_before.contains(local) || writes(edge, local))
            };
            let died = clean.iter().filter(|(local, _)| dies(*local));
            let forgotten: Vec<Effect> = died.flat_map(|(_, effects)| effects.clone()).collect();
            template.locations[location].edges[number]
                .effects
                .extend(forgotten);
        }
    }
}

fn local_of(place: &Place) -> Option<usize> {
    match place.variable {
        VariableRef::Local(variable) => Some(variable.index()),
        VariableRef::Global(_) => None,
    }
}

fn writes(edge: &Edge, local: usize) -> bool {
    let places = edge.effects.iter().flat_map(Effect::written_places);
    places
        .into_iter()
        .any(|place| local_of(place) == Some(local))
}

/// For each location the variables that may be read before they are written.
fn live_variables(template: &Template) -> Vec<FixedBitSet> {
    let mut live =
        vec![FixedBitSet::with_capacity(template.locals.len()); template.locations.len()];
    let mut grew = true;
    while grew {
        grew = false;
        for number in (0..template.locations.len()).rev() {
            let location = &template.locations[number];
            for edge in &location.edges {
                let before = live_before(template, edge, live[edge.target.index()].clone());
                grew |= include(&mut live[number], &before);
            }
            for expr in location.accesses.iter().flat_map(MemoryAccess::exprs) {
                expr.walk(&mut |expr| note_read(expr, &mut live[number]));
            }
            // A search that continues after errors resumes from here.
            let resume = location.error.as_ref().and_then(|error| error.resume);
            if let Some(resume) = resume {
                let behind = live[resume.index()].clone();
                grew |= include(&mut live[number], &behind);
            }
        }
    }
    live
}

/// The variables live before an edge, given those live after it.
fn live_before(template: &Template, edge: &Edge, mut live: FixedBitSet) -> FixedBitSet {
    for effect in edge.effects.iter().rev() {
        for place in effect.written_places() {
            let is_whole = *place.index == Expr::int(0);
            if let Some(local) = local_of(place)
                && template.locals[local].len == 1
                && is_whole
            {
                live.set(local, false);
            }
        }
        effect.walk(&mut |expr| note_read(expr, &mut live));
    }
    edge.guard.walk(&mut |expr| note_read(expr, &mut live));
    live
}

fn note_read(expr: &Expr, live: &mut FixedBitSet) {
    if let Expr::Read(place) = expr
        && let Some(local) = local_of(place)
    {
        live.insert(local);
    }
}
