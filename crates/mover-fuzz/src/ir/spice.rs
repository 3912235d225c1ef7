//! Adds a feature of another family to a program.
//!
//! Features of one front end never occur together with those of another: priorities and locks,
//! atomic sequences and pointers, choices in the middle of a protocol, claims of exclusive
//! access. Here they are combined. A program that guarantees that its pointers stay in their
//! objects still does so afterwards: nothing here computes an address, and only variables that
//! cannot hold one are changed. The guarantee that threads record their presence is withdrawn
//! where edges change.

use mover_ir::expr::{BinaryOp, Expr, INDEX_WIDTH, Place, VariableRef};
use mover_ir::program::{
    BoundKind, BoundMark, Edge, Effect, Exclusive, Init, Location, LocationId, Program, Template,
    Variable, VariableId,
};
use mover_source::Span;

use crate::random::Random;

/// One to four things.
pub fn spice(random: &mut Random, program: &mut Program) {
    for _ in 0..1 + random.below(4) {
        let template = random.below(program.templates.len() as u64) as usize;
        let kind = random.below(12);
        if (5..10).contains(&kind) {
            program.presence = None;
        }
        match kind {
            0..=2 => with_location(random, program, template, |location| {
                location.atomic = !location.atomic;
            }),
            3 => with_location(random, program, template, |location| {
                location.valid_end = !location.valid_end;
            }),
            4 => {
                let priority = random.pick(&[-1, 0, 1]);
                with_edge(random, program, template, |edge| edge.priority = priority);
            }
            5 => with_edge(random, program, template, |edge| {
                if !edge.effects.contains(&Effect::Exit) {
                    edge.effects.push(Effect::Exit);
                }
            }),
            6 => shortcut(random, &mut program.templates[template]),
            7 => choice(random, program, template),
            8 => look(random, program, template),
            9 => join(random, &mut program.templates[template]),
            10 => claim(random, program),
            _ => program.max_threads = program.max_threads.saturating_sub(1).max(1),
        }
    }
    if random.one_in(4) {
        bound(random, program);
    }
}

/// Makes a location a bound, or leads to a new one from somewhere.
pub fn bound(random: &mut Random, program: &mut Program) {
    let template = random.below(program.templates.len() as u64) as usize;
    let places = small_places(program, template);
    let body = &mut program.templates[template];
    let at = random.below(body.locations.len() as u64) as usize;
    let mark = BoundMark {
        kind: random.pick(&BoundKind::ALL),
        message: "a bound".into(),
    };
    if body.locations[at].ends_run() {
        return;
    }
    program.presence = None;
    if at != body.entry.index() && random.one_in(2) {
        body.locations[at].edges.clear();
        body.locations[at].bound = Some(mark);
        let id = LocationId(at as u32);
        for edge in body.locations.iter_mut().flat_map(|l| &mut l.edges) {
            if edge.target == id {
                edge.effects.clear();
            }
        }
        return;
    }
    let target = LocationId(body.locations.len() as u32);
    body.locations.push(Location {
        bound: Some(mark),
        ..Location::default()
    });
    let guard = match &places[..] {
        [] => Expr::TRUE,
        places => {
            let place = random.pick(places);
            let value = Expr::constant(random.below(2) as i64, place.ty.width);
            let op = random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
            Expr::binary(op, Expr::Read(place), value)
        }
    };
    body.locations[at]
        .edges
        .push(Edge::new(guard, Vec::new(), target.0, "bound"));
}

fn with_location(
    random: &mut Random,
    program: &mut Program,
    template: usize,
    change: impl FnOnce(&mut mover_ir::program::Location),
) {
    let locations = &mut program.templates[template].locations;
    let at = random.below(locations.len() as u64) as usize;
    if !locations[at].ends_run() {
        change(&mut locations[at]);
    }
}

fn with_edge(
    random: &mut Random,
    program: &mut Program,
    template: usize,
    change: impl FnOnce(&mut Edge),
) {
    let all = program.templates[template].locations.iter_mut();
    let mut edges: Vec<&mut Edge> = all.flat_map(|location| &mut location.edges).collect();
    if !edges.is_empty() {
        let at = random.below(edges.len() as u64) as usize;
        change(edges[at]);
    }
}

/// An edge once more, to some other place.
fn shortcut(random: &mut Random, template: &mut Template) {
    let count = template.locations.len() as u64;
    let from = random.below(count) as usize;
    let target = LocationId(random.below(count) as u32);
    if !template.locations[target.index()].ends_run()
        && let Some(edge) = template.locations[from].edges.first().cloned()
    {
        let edge = Edge { target, ..edge };
        template.locations[from].edges.push(edge);
    }
}

/// Small enough that no address fits into it, and not what threads are counted by.
fn holds_no_address(variable: &Variable, program: &Program) -> bool {
    variable.ty.width <= 8
        && variable.ty.width < program.pointers.offset_bits
        && !variable.addressable
        && !matches!(variable.init, Init::Channels(_))
}

fn small_places(program: &Program, template: usize) -> Vec<Place> {
    let globals = program.globals.iter().enumerate();
    let globals = globals
        .filter(|(id, _)| program.presence.is_none_or(|row| row.index() != *id))
        .map(|(id, variable)| (VariableRef::Global(VariableId(id as u32)), variable));
    let locals = program.templates[template].locals.iter().enumerate();
    let locals = locals.map(|(id, variable)| (VariableRef::Local(VariableId(id as u32)), variable));
    globals
        .chain(locals)
        .filter(|(_, variable)| holds_no_address(variable, program))
        .map(|(name, variable)| Place::element(name, Expr::int(0), variable.ty))
        .collect()
}

/// A choice of a value at some edge.
fn choice(random: &mut Random, program: &mut Program, template: usize) {
    let places = small_places(program, template);
    if places.is_empty() {
        return;
    }
    let place = random.pick(&places);
    let values = 2 + random.below(2);
    let fits = place.ty.width > 1 || values == 2;
    with_edge(random, program, template, |edge| {
        let has_other = edge.effects.iter().any(|effect| {
            effect.is_channel_operation() || matches!(effect, Effect::Havoc { .. } | Effect::Exit)
        });
        if !has_other && fits {
            edge.effects.push(Effect::Havoc { place, values });
        }
    });
}

/// A guard that looks at something small.
fn look(random: &mut Random, program: &mut Program, template: usize) {
    let places = small_places(program, template);
    if places.is_empty() {
        return;
    }
    let place = random.pick(&places);
    let width = place.ty.width;
    let value = Expr::constant(random.below(2) as i64, width);
    let op = random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
    with_edge(random, program, template, |edge| {
        let looks = Expr::binary(op, Expr::Read(place), value);
        edge.guard = edge.guard.clone().and(looks);
    });
}

/// Two edges that follow each other become one as well.
fn join(random: &mut Random, template: &mut Template) {
    let from = random.below(template.locations.len() as u64) as usize;
    let Some(first) = template.locations[from].edges.first().cloned() else {
        return;
    };
    let second = &template.locations[first.target.index()];
    let Some(second) = second.edges.first().cloned() else {
        return;
    };
    if second.guard == Expr::TRUE {
        let effects = [first.effects, second.effects].concat();
        let (target, text) = (second.target, "joined".into());
        let joined = Edge {
            effects,
            target,
            text,
            ..first
        };
        template.locations[from].edges.push(joined);
    }
}

/// A claim of who has a variable to himself, which may be wrong.
fn claim(random: &mut Random, program: &mut Program) {
    let rows = program.globals.len() as u64;
    let (variable, by) = (random.below(rows) as u32, random.below(rows) as usize);
    let owner = &program.globals[by];
    if owner.addressable || matches!(owner.init, Init::Channels(_)) {
        return;
    }
    let place = Place::element(
        VariableRef::Global(VariableId(by as u32)),
        Expr::int(0),
        owner.ty,
    );
    let number = Expr::binary(
        BinaryOp::Add,
        Expr::ThreadId,
        Expr::int(random.below(2) as i64),
    );
    let cell = Expr::Read(place).resize(INDEX_WIDTH, false);
    let file = match program.info.sources.find("claims") {
        Some(file) => file,
        None => program.info_mut().sources.add("claims", "claimed"),
    };
    program.info_mut().exclusive.push(Exclusive {
        variable: VariableId(variable),
        predicate: Expr::binary(BinaryOp::Eq, cell, number),
        span: Span::new(file, 0, 7),
    });
}
