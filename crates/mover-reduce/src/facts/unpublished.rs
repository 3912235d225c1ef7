//! Objects that no other thread knows yet.
//!
//! A thread allocates an object, fills it, and then *publishes* its address: it stores it in
//! memory or in a global variable, or hands it to a new thread. Before that no other thread can
//! access the object, so the accesses of its own thread conflict with nothing. The same holds for
//! an object that is never published, such as a buffer that a thread frees again.
//!
//! This is a forward data-flow analysis of each template, one effect after the other. A scalar
//! local variable is *fresh* at a location if on every path to it the variable holds no
//! address (it is 0, say), or an address in an object that the thread has allocated and not published. Fresh variables are
//! grouped by the allocation that made their object. The analysis does not tell objects of a
//! group apart, so publishing one ends the freshness of the whole group. An address counts as
//! published as soon as it goes anywhere but into a fresh variable: into a cell that others see,
//! and also into a local variable by an operation that is not followed, or where paths meet
//! with different knowledge about a variable.
//!
//! That an address computed from a fresh variable points into the same object is the front end's
//! promise ([`Program::pointers_stay`]). Freeing an object ends the freshness of its group, because
//! a freed address may belong to another object later.

use std::collections::BTreeMap;

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Effect, Init, Program, Template, VariableId};

use crate::facts::points_to::PointsTo;

/// What is known of a scalar local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    /// A number that is not derived from an address.
    Number,
    /// Such a number or an address in an unpublished object of this group.
    Fresh(usize),
}

/// The local variables of which something is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    known: BTreeMap<VariableId, Holds>,
}

/// The analysis of a whole program.
pub struct Unpublished {
    /// By template and location.
    locations: Vec<Vec<Standing>>,
}

impl Unpublished {
    pub fn find(program: &Program, points_to: &PointsTo) -> Unpublished {
        let allocates = program
            .effects()
            .any(|effect| matches!(effect, Effect::Allocate { .. }));
        let is_watched = program.any_expr(|expr| matches!(expr, Expr::RemoteRead { .. }));
        let is_followed = allocates && points_to.is_known() && !is_watched;
        let of_template = |(number, template): (usize, &Template)| {
            if is_followed {
                locations(program, points_to, number, template)
            } else {
                vec![Standing::default(); template.locations.len()]
            }
        };
        let templates = program.templates.iter().enumerate();
        Unpublished {
            locations: templates.map(of_template).collect(),
        }
    }

    pub fn at(&self, template: usize, location: usize) -> &Standing {
        &self.locations[template][location]
    }
}

fn locations(
    program: &Program,
    points_to: &PointsTo,
    number: usize,
    template: &Template,
) -> Vec<Standing> {
    let mut first = Standing::default();
    for (local, variable) in template.locals.iter().enumerate() {
        let is_param = local < template.params as usize;
        if !is_param && variable.len == 1 && matches!(variable.init, Init::All(0)) {
            first.known.insert(VariableId(local as u32), Holds::Number);
        }
    }
    // A group is an allocating effect; its number is that of its edge among all edges.
    let mut group = 0;
    let mut groups = Vec::new();
    for location in &template.locations {
        groups.push(group);
        group += location.edges.len();
    }
    let mut found: Vec<Option<Standing>> = vec![None; template.locations.len()];
    found[template.entry.index()] = Some(first);
    let mut work = vec![template.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = found[location].clone() else {
            continue;
        };
        for (at, edge) in template.locations[location].edges.iter().enumerate() {
            let mut after = before.clone();
            for effect in &edge.effects {
                after.follow(program, points_to, number, effect, groups[location] + at);
            }
            let target = edge.target.index();
            // A search that continues after an error resumes at another location.
            let error = template.locations[target].error.as_ref();
            let resume = error.and_then(|error| error.resume).map(|at| at.index());
            for target in [Some(target), resume].into_iter().flatten() {
                let joined = match &found[target] {
                    None => after.clone(),
                    Some(known) => known.joined(&after),
                };
                if found[target].as_ref() != Some(&joined) {
                    found[target] = Some(joined);
                    work.push(target);
                }
            }
        }
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

impl Standing {
    /// Whether an address, if it points into a live object, points into an unpublished one.
    pub fn is_unpublished(&self, points_to: &PointsTo, template: usize, address: &Expr) -> bool {
        self.base(points_to, template, address).is_some()
    }

    /// Takes an effect of an edge; `group` stands for the edge.
    pub fn follow(
        &mut self,
        program: &Program,
        points_to: &PointsTo,
        template: usize,
        effect: &Effect,
        group: usize,
    ) {
        match effect {
            Effect::Assign { place, value } => {
                let holds = if self.is_number(points_to, template, value) {
                    Some(Holds::Number)
                } else {
                    self.base(points_to, template, value)
                };
                match (scalar_local(program, template, place), holds) {
                    (Some(local), Some(holds)) => {
                        self.known.insert(local, holds);
                    }
                    (local, _) => {
                        self.publish(value);
                        if let Some(local) = local {
                            self.known.remove(&local);
                        }
                    }
                }
            }
            Effect::Allocate { reuse, result, .. } => {
                if let Some(local) = scalar_local(program, template, result) {
                    self.known.remove(&local);
                    // Others may have an address that comes back.
                    if *reuse == 0 {
                        self.known.insert(local, Holds::Fresh(group));
                    }
                }
            }
            Effect::Free { address } => self.publish(address),
            Effect::Store { value, .. } => self.publish(value),
            Effect::Spawn { args, .. } => args.iter().for_each(|arg| self.publish(arg)),
            Effect::Send { values, .. } => values.iter().for_each(|value| self.publish(value)),
            Effect::Havoc { .. }
            | Effect::Receive { .. }
            | Effect::Exit
            | Effect::SetPriority { .. }
            | Effect::Print { .. } => {}
        }
        if !matches!(effect, Effect::Assign { .. } | Effect::Allocate { .. }) {
            for place in effect.written_places() {
                if let VariableRef::Local(local) = place.variable {
                    self.known.remove(&local);
                }
            }
        }
    }

    /// What an expression holds if it is a fresh variable, one plus numbers, or a choice between such.
    fn base(&self, points_to: &PointsTo, template: usize, expr: &Expr) -> Option<Holds> {
        match expr {
            Expr::Read(place) => match place.variable {
                VariableRef::Local(local) => self.known.get(&local).copied(),
                VariableRef::Global(_) => None,
            },
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), lhs, rhs) => {
                if self.is_number(points_to, template, rhs) {
                    self.base(points_to, template, lhs)
                } else if *op == BinaryOp::Add && self.is_number(points_to, template, lhs) {
                    self.base(points_to, template, rhs)
                } else {
                    None
                }
            }
            Expr::If(_, then, otherwise) => {
                let of = |part: &Expr| match self.is_number(points_to, template, part) {
                    true => Some(Holds::Number),
                    false => self.base(points_to, template, part),
                };
                match (of(then)?, of(otherwise)?) {
                    (one, other) if one == other => Some(one),
                    (Holds::Number, fresh) | (fresh, Holds::Number) => Some(fresh),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_number(&self, points_to: &PointsTo, template: usize, expr: &Expr) -> bool {
        points_to.is_number(template, expr) && self.derived_from(expr).is_empty()
    }

    /// The groups whose addresses the value of an expression may be derived from.
    fn derived_from(&self, expr: &Expr) -> Vec<usize> {
        let mut groups = Vec::new();
        self.gather(expr, &mut groups);
        groups
    }

    fn gather(&self, expr: &Expr, groups: &mut Vec<usize>) {
        match expr {
            Expr::Read(place) => {
                if let VariableRef::Local(local) = place.variable
                    && let Some(Holds::Fresh(group)) = self.known.get(&local)
                {
                    groups.push(*group);
                }
                self.gather(&place.index, groups);
            }
            Expr::Unary(_, arg) | Expr::Resize { arg, .. } => self.gather(arg, groups),
            Expr::Binary(op, lhs, rhs) if !op.is_comparison() => {
                self.gather(lhs, groups);
                self.gather(rhs, groups);
            }
            Expr::If(_, then, otherwise) => {
                self.gather(then, groups);
                self.gather(otherwise, groups);
            }
            // What is found at an address, or the result of a comparison, is not the address.
            _ => {}
        }
    }

    fn publish(&mut self, value: &Expr) {
        let groups = self.derived_from(value);
        self.end(&groups);
    }

    fn end(&mut self, groups: &[usize]) {
        self.known
            .retain(|_, holds| !matches!(holds, Holds::Fresh(group) if groups.contains(group)));
    }

    fn joined(&self, other: &Standing) -> Standing {
        let mut joined = Standing::default();
        let mut ended = Vec::new();
        for (local, &mine) in &self.known {
            match (mine, other.known.get(local).copied()) {
                (mine, Some(theirs)) if mine == theirs => {
                    joined.known.insert(*local, mine);
                }
                (Holds::Fresh(group), Some(Holds::Number))
                | (Holds::Number, Some(Holds::Fresh(group))) => {
                    joined.known.insert(*local, Holds::Fresh(group));
                }
                (mine, theirs) => {
                    for holds in [Some(mine), theirs].into_iter().flatten() {
                        if let Holds::Fresh(group) = holds {
                            ended.push(group);
                        }
                    }
                }
            }
        }
        for (local, &theirs) in &other.known {
            if let Holds::Fresh(group) = theirs
                && !self.known.contains_key(local)
            {
                ended.push(group);
            }
        }
        joined.end(&ended);
        joined
    }
}

/// A local variable of one cell.
fn scalar_local(program: &Program, template: usize, place: &Place) -> Option<VariableId> {
    match place.variable {
        VariableRef::Local(id) if program.templates[template].locals[id.index()].len == 1 => {
            Some(id)
        }
        _ => None,
    }
}
