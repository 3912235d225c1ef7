//! Accesses that cannot be part of a data race.
//!
//! Where data races are checked, each location lists the accesses that a thread there is about to
//! make. [`rule_out`] removes those for which no other access can be its partner, so that engines
//! need not look at them. Two accesses are no race if
//!
//! - neither writes, or both are atomic;
//! - they go to different objects ([`PointsTo`]) or different cells of one variable;
//! - both threads certainly hold the same lock there ([`Locks::held`]), and not both to read: then
//!   they are never there at the same time;
//! - one of them is made before any other thread is started ([`Alone`]);
//! - they belong to a template of which there is only one thread.
//!
//! So programs that protect their data by locks pay nothing for the check.
//!
//! **Reads of values that nobody uses.** A front end may drop the value of a read, but the access
//! remains. What an edge accesses decides whether it moves, and a thread must not pass an access
//! that may race as if it did nothing; so [`prepare`] lets the edges of its location read the
//! memory, to no effect.
//!
//! Nothing else changes: steps keep their numbers, and the program has the same runs.

use std::collections::BTreeMap;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::graph::{control_flow, reachable};
use mover_ir::program::{
    AccessedMemory, Edge, Effect, MemoryAccess, PrintArg, Program, Variable, VariableId,
};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use crate::facts::locks::{LockSet, Locks};
use crate::facts::points_to::PointsTo;
use crate::facts::single_threaded_prefix::Alone;

/// An access of the program, and what is known of it.
struct Candidate {
    template: usize,
    location: usize,
    number: usize,
    writes: bool,
    atomic: bool,
    /// The cell, where it is certain.
    cell: Option<(VariableId, u64)>,
    held: LockSet,
}

/// What an access may go to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Global(u32),
    Site(u32),
}

/// Makes a program ready to be searched for data races.
pub fn prepare(program: &mut Program) {
    rule_out(program);
    let globals = program.globals.clone();
    for location in program.templates.iter_mut().flat_map(|t| &mut t.locations) {
        let reads = location.accesses.iter().filter(|access| !access.writes);
        let values: Vec<Expr> = reads
            .flat_map(|access| read_values(&globals, access))
            .collect();
        for edge in &mut location.edges {
            let missing = values.iter().filter(|value| !mentions(edge, value));
            let args: Vec<PrintArg> = missing
                .map(|value| PrintArg {
                    value: value.clone(),
                    symbols: None,
                })
                .collect();
            if !args.is_empty() {
                let format = String::new();
                edge.effects.insert(0, Effect::Print { format, args });
            }
        }
    }
}

/// What an access reads.
fn read_values(globals: &[Variable], access: &MemoryAccess) -> Vec<Expr> {
    match &access.memory {
        AccessedMemory::Cell { variable, index } => vec![Expr::Read(Place {
            variable: VariableRef::Global(*variable),
            index: Box::new(index.clone()),
            ty: globals[variable.index()].ty,
        })],
        AccessedMemory::Bytes { address, count } => match count {
            1 | 2 | 4 | 8 => {
                let ty = Ty::unsigned(8 * *count as u8);
                vec![Expr::load(address.clone(), ty)]
            }
            _ => (0..*count)
                .map(|byte| {
                    let offset = Expr::constant(byte as i64, address.width());
                    let address = Expr::binary(BinaryOp::Add, address.clone(), offset);
                    Expr::load(address, Ty::unsigned(8))
                })
                .collect(),
        },
    }
}

/// Whether an edge reads this memory, whatever the type.
fn mentions(edge: &Edge, read: &Expr) -> bool {
    let mut found = false;
    let mut visit = |expr: &Expr| {
        found |= match (expr, read) {
            (Expr::Read(one), Expr::Read(two)) => {
                one.variable == two.variable && one.index == two.index
            }
            (
                Expr::Load { address: one, ty },
                Expr::Load {
                    address: two,
                    ty: wanted,
                },
            ) => one == two && ty.width == wanted.width,
            _ => false,
        };
    };
    edge.guard.walk(&mut visit);
    edge.effects
        .iter()
        .for_each(|effect| effect.walk(&mut visit));
    found
}

/// Removes the accesses that have no possible partner in a race; returns their number.
pub fn rule_out(program: &mut Program) -> usize {
    if !program.has_accesses() {
        return 0;
    }
    let alone = Alone::find(program);
    let locks = Locks::find(program, &AccessTable::new(program), &alone);
    let single = single_templates(program);
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut by_target: BTreeMap<Target, Vec<usize>> = BTreeMap::new();
    let points_to = PointsTo::new(program);
    let mut removed = 0;
    for (template, body) in program.templates.iter().enumerate() {
        for (location, here) in body.locations.iter().enumerate() {
            let edges = (0..here.edges.len()).map(|edge| EdgeRef {
                template,
                location,
                edge,
            });
            let mut edges = edges.peekable();
            let is_alone =
                edges.peek().is_some() && edges.all(|edge| alone.is_alone(program, edge));
            if is_alone {
                removed += here.accesses.len();
                continue;
            }
            for (number, access) in here.accesses.iter().enumerate() {
                for target in targets(&points_to, template, access) {
                    by_target.entry(target).or_default().push(candidates.len());
                }
                candidates.push(Candidate {
                    template,
                    location,
                    number,
                    writes: access.writes,
                    atomic: access.atomic,
                    cell: certain_cell(access),
                    held: locks.held(template, location).clone(),
                });
            }
        }
    }
    let may_race = |one: &Candidate, two: &Candidate| {
        let excludes = |lock: &Object| {
            let is_rw = |lock: &Object| match lock {
                Object::Cell(id, _) => locks.is_rw(*id),
                _ => true,
            };
            two.held.contains(lock) && !is_rw(lock)
        };
        (one.writes || two.writes)
            && !(one.atomic && two.atomic)
            && !(one.template == two.template && single[one.template])
            && !matches!((one.cell, two.cell), (Some(a), Some(b)) if a != b)
            && !one.held.iter().any(excludes)
    };
    let mut racy = vec![false; candidates.len()];
    for members in by_target.values() {
        for (position, &one) in members.iter().enumerate() {
            for &two in &members[position..] {
                if !(racy[one] && racy[two]) && may_race(&candidates[one], &candidates[two]) {
                    racy[one] = true;
                    racy[two] = true;
                }
            }
        }
    }
    removed += racy.iter().filter(|is_racy| !**is_racy).count();
    let mut kept: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (candidate, is_racy) in candidates.iter().zip(racy) {
        if is_racy {
            let place = (candidate.template, candidate.location);
            kept.entry(place).or_default().push(candidate.number);
        }
    }
    for (template, body) in program.templates.iter_mut().enumerate() {
        for (location, here) in body.locations.iter_mut().enumerate() {
            let kept = kept.get(&(template, location));
            let mut number = 0;
            here.accesses.retain(|_| {
                number += 1;
                kept.is_some_and(|kept| kept.contains(&(number - 1)))
            });
        }
    }
    removed
}

/// The objects that an access may go to.
fn targets(points_to: &PointsTo, template: usize, access: &MemoryAccess) -> Vec<Target> {
    match &access.memory {
        AccessedMemory::Cell { variable, .. } => vec![Target::Global(variable.0)],
        AccessedMemory::Bytes { address, .. } => {
            let found = points_to.targets(template, address);
            let globals = found.globals.iter().map(|id| Target::Global(id.0));
            let sites = found.sites.iter().map(|id| Target::Site(id.0));
            globals.chain(sites).collect()
        }
    }
}

/// The cell of a variable that an access certainly goes to. None for bytes: they may be part of
/// a cell.
fn certain_cell(access: &MemoryAccess) -> Option<(VariableId, u64)> {
    match &access.memory {
        AccessedMemory::Cell {
            variable,
            index: Expr::Const { value, .. },
        } => Some((*variable, *value)),
        _ => None,
    }
}

/// The templates of which there is at most one thread in a run: they are started once, by a thread
/// of such a template, outside of loops.
fn single_templates(program: &Program) -> Vec<bool> {
    let count = program.templates.len();
    let mut starts: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (template, body) in program.templates.iter().enumerate() {
        for (location, here) in body.locations.iter().enumerate() {
            for effect in here.edges.iter().flat_map(|edge| &edge.effects) {
                if let Effect::Spawn { template: id, .. } = effect {
                    starts[id.index()].push((template, location));
                }
            }
        }
    }
    let mut initial = vec![0; count];
    for instance in &program.initial {
        initial[instance.template.index()] += 1;
    }
    let is_in_loop = |template: usize, location: usize| {
        let body = &program.templates[template];
        let edges = body.locations[location].edges.iter();
        let next = edges.map(|edge| edge.target.index());
        reachable(&control_flow(body), next).contains(location)
    };
    let mut single: Vec<bool> = (0..count)
        .map(|id| match (initial[id], &starts[id][..]) {
            (0, []) | (1, []) => true,
            (0, &[(template, location)]) => template != id && !is_in_loop(template, location),
            _ => false,
        })
        .collect();
    // What a template of several threads starts is there several times.
    loop {
        let mut changed = false;
        for id in 0..count {
            let by_several = starts[id].iter().any(|&(template, _)| !single[template]);
            changed |= single[id] && by_several;
            single[id] &= !by_several;
        }
        if !changed {
            return single;
        }
    }
}
