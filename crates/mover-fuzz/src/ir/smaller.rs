//! Smaller variants of a program.
//!
//! Threads, edges, effects, parts of expressions, marks, and then everything that is no longer
//! referenced are removed. A program with a guarantee ([`Program::presence`],
//! [`Program::pointers_stay`]) must still satisfy it, otherwise the reductions that rely on it
//! would rightly fail. So the guarantee itself is removed first; as long as it is needed to
//! reproduce the failure, only what cannot violate it is removed.

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{Edge, LocationId, Program, TemplateId, VariableId};
use mover_ir::validate::validate;

/// Every valid program with one thing less.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let mut offer = |change: &dyn Fn(&mut Program) -> bool| {
        let mut less = program.clone();
        if change(&mut less) && validate(&less).is_ok() {
            all.push(less);
        }
    };
    offer(&|less| less.presence.take().is_some());
    offer(&|less| std::mem::replace(&mut less.pointers_stay, false));
    for number in 0..program.info.exclusive.len() {
        offer(&|less| {
            less.info_mut().exclusive.remove(number);
            true
        });
    }
    if program.initial.len() > 1 {
        for number in 0..program.initial.len() {
            offer(&|less| {
                less.initial.remove(number);
                true
            });
        }
    }
    for edge in 0..edges(&mut program.clone()).len() {
        offer(&|less| {
            remove_edge(less, edge);
            true
        });
    }
    if program.presence.is_none() {
        simpler_edges(program, &mut offer);
        if !program.pointers_stay {
            simpler_expressions(program, &mut offer);
        }
    }
    unused(program, &mut offer);
    all
}

type Offer<'o> = dyn FnMut(&dyn Fn(&mut Program) -> bool) + 'o;

fn edges(program: &mut Program) -> Vec<&mut Edge> {
    let locations = program.templates.iter_mut().flat_map(|t| &mut t.locations);
    locations.flat_map(|location| &mut location.edges).collect()
}

fn remove_edge(program: &mut Program, number: usize) {
    let mut number = number;
    for location in program.templates.iter_mut().flat_map(|t| &mut t.locations) {
        if number < location.edges.len() {
            location.edges.remove(number);
            return;
        }
        number -= location.edges.len();
    }
}

fn simpler_edges(program: &Program, offer: &mut Offer) {
    let mut copy = program.clone();
    for (number, edge) in edges(&mut copy).iter().enumerate() {
        for effect in 0..edge.effects.len() {
            offer(&|less| {
                edges(less)[number].effects.remove(effect);
                true
            });
        }
        if edge.guard != Expr::TRUE {
            offer(&|less| {
                edges(less)[number].guard = Expr::TRUE;
                true
            });
        }
        if edge.priority != 0 {
            offer(&|less| {
                edges(less)[number].priority = 0;
                true
            });
        }
    }
    for (template, body) in program.templates.iter().enumerate() {
        for (location, at) in body.locations.iter().enumerate() {
            if at.atomic {
                offer(&|less| {
                    less.templates[template].locations[location].atomic = false;
                    true
                });
            }
        }
    }
    offer(&|less| std::mem::replace(&mut less.priority_scheduling, false));
}

/// Each expression by 0 or by one of its own parts.
fn simpler_expressions(program: &Program, offer: &mut Offer) {
    let mut count = 0;
    each_expression(&mut program.clone(), &mut |_| count += 1);
    for number in 0..count {
        for simpler in 0..4 {
            offer(&|less| {
                let mut at = 0;
                let mut changed = false;
                each_expression(less, &mut |expr| {
                    if at == number
                        && let Some(by) = simpler_forms(expr).into_iter().nth(simpler)
                    {
                        *expr = by;
                        changed = true;
                    }
                    at += 1;
                });
                changed
            });
        }
    }
}

fn simpler_forms(expr: &Expr) -> Vec<Expr> {
    let width = expr.width();
    let mut forms = Vec::new();
    match expr {
        Expr::Const { .. } => return forms,
        Expr::Unary(_, arg) | Expr::Resize { arg, .. } => forms.push((**arg).clone()),
        Expr::Binary(_, lhs, rhs) => forms.extend([(**lhs).clone(), (**rhs).clone()]),
        Expr::If(_, then, otherwise) => {
            forms.extend([(**then).clone(), (**otherwise).clone()]);
        }
        _ => {}
    }
    forms.retain(|form| form.width() == width);
    forms.push(Expr::constant(0, width));
    forms
}

/// What nothing refers to: places, templates, and the last of each row of declarations.
fn unused(program: &Program, offer: &mut Offer) {
    for (template, body) in program.templates.iter().enumerate() {
        for location in 0..body.locations.len() {
            offer(&|less| remove_location(less, template, location));
            offer(&|less| {
                let location = &mut less.templates[template].locations[location];
                location.bound.take().is_some()
            });
        }
        offer(&|less| less.templates[template].channels.pop().is_some());
        offer(&|less| {
            let body = &mut less.templates[template];
            body.locals.len() > body.params as usize && body.locals.pop().is_some()
        });
    }
    if program.templates.len() > 1 {
        offer(&|less| less.templates.pop().is_some());
    }
    offer(&|less| {
        let last = VariableId(less.globals.len().saturating_sub(1) as u32);
        let is_named = less.presence == Some(last);
        !is_named && !is_claimed(less, last) && less.globals.pop().is_some()
    });
    offer(&|less| less.channels.pop().is_some());
    offer(&|less| less.sites.pop().is_some());
}

/// Whether a claim mentions a global; the validator does not look at claims.
fn is_claimed(program: &Program, global: VariableId) -> bool {
    program.info.exclusive.iter().any(|claim| {
        let mut found = claim.variable == global;
        claim.predicate.walk(&mut |expr| {
            found |= matches!(expr, Expr::Read(place) if place.variable == VariableRef::Global(global));
        });
        found
    })
}

/// Removes a place that no edge leads to.
fn remove_location(program: &mut Program, template: usize, location: usize) -> bool {
    let removed = LocationId(location as u32);
    let body = &mut program.templates[template];
    let leads = body.locations.iter().any(|from| {
        let resumes = from.error.as_ref().and_then(|error| error.resume) == Some(removed);
        resumes || from.edges.iter().any(|edge| edge.target == removed)
    });
    if leads || body.entry == removed {
        return false;
    }
    body.locations.remove(location);
    let renamed = |id: &mut LocationId| id.0 -= u32::from(id.0 > removed.0);
    renamed(&mut body.entry);
    for from in &mut body.locations {
        if let Some(resume) = from.error.as_mut().and_then(|error| error.resume.as_mut()) {
            renamed(resume);
        }
        for edge in &mut from.edges {
            renamed(&mut edge.target);
        }
    }
    each_expression(program, &mut |expr| {
        if let Expr::ThreadAt {
            template: TemplateId(of),
            locations,
            ..
        } = expr
            && *of as usize == template
        {
            locations.retain(|at| *at != removed);
            locations.iter_mut().for_each(renamed);
        }
    });
    true
}

/// Visits every expression of the program and all below it, parents first.
fn each_expression(program: &mut Program, visit: &mut impl FnMut(&mut Expr)) {
    for edge in edges(program) {
        edge.guard.walk_mut(visit);
        for effect in &mut edge.effects {
            effect.walk_mut(visit);
        }
    }
}
