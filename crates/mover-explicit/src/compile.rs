//! Compiles the locations of a template for the machine.
//!
//! Everything that is known before the search is computed here: edges sorted by priority,
//! guards as decision trees, effects as actions on cells, and the initial image of a thread.

use mover_ir::expr::{ChannelRef, mask};
use mover_ir::program::{Edge, Effect, Init, LocationId, Program, TemplateId};
use mover_ir::semantics::AccessedBytes;
use mover_reduce::Movers;

use crate::code::Compiler;
use crate::guards::decide;
use crate::layout::Layout;
use crate::machine::{
    Action, Choices, CompiledEdge, CompiledLocation, Image, MAX_CHOICES, Moves, Operation, Place,
    Reads, RunEnd, Workspace,
};
use crate::races::CompiledAccess;

pub fn compile_location(
    compiler: &Compiler,
    movers: Option<&Movers>,
    template: TemplateId,
    location: LocationId,
) -> CompiledLocation {
    let source = compiler.program.template(template).location(location);
    let mut edges: Vec<CompiledEdge> = source
        .edges
        .iter()
        .enumerate()
        .map(|(original, edge)| {
            let mut operation = Operation::Plain;
            let mut actions = Vec::new();
            let mut choices = Choices::None;
            for effect in &edge.effects {
                match effect {
                    Effect::Assign { place, value } => {
                        actions.push(Action::Assign(compiler.target(place), compiler.expr(value)))
                    }
                    Effect::Send {
                        channel,
                        values,
                        sorted,
                    } => {
                        operation = Operation::Send {
                            channel: compiler.expr(channel),
                            values: values
                                .iter()
                                .map(|value| (compiler.expr(value), value.width()))
                                .collect(),
                            sorted: *sorted,
                        }
                    }
                    Effect::Receive {
                        channel,
                        args,
                        random,
                        peek,
                    } => {
                        operation = Operation::Receive {
                            channel: compiler.expr(channel),
                            args: compiler.args(args),
                            random: *random,
                            peek: *peek,
                        }
                    }
                    Effect::Spawn {
                        template,
                        args,
                        priority,
                        result,
                    } => actions.push(Action::Spawn {
                        template: template.index(),
                        args: args.iter().map(|arg| compiler.expr(arg)).collect(),
                        priority: *priority,
                        result: result.as_ref().map(|place| compiler.target(place)),
                    }),
                    Effect::Exit => actions.push(Action::Exit),
                    Effect::SetPriority { thread, priority } => {
                        actions.push(Action::SetPriority {
                            thread: compiler.expr(thread),
                            priority: compiler.expr(priority),
                        });
                    }
                    Effect::Print { .. } => {}
                    Effect::Store { address, value } => {
                        let bytes = value.width() / 8;
                        let (address, value) = (compiler.expr(address), compiler.expr(value));
                        actions.push(match compiler.known_target(&address, bytes) {
                            Some(target) => Action::Assign(target, value),
                            None => Action::Store {
                                address,
                                value,
                                bytes,
                            },
                        });
                    }
                    Effect::Havoc { place, values } => {
                        actions.push(Action::Havoc(compiler.target(place)));
                        let last = match values {
                            0 => mask(place.ty.width),
                            values => values - 1,
                        };
                        choices = match last {
                            last if last < MAX_CHOICES.into() => Choices::All(last as u16 + 1),
                            last => Choices::TooMany(format!(
                                "{}has {} choices, and explicit search supports at most \
                                 {MAX_CHOICES}; the engines bmc and ic3 support more",
                                whereabouts(compiler.program, edge),
                                u128::from(last) + 1,
                            )),
                        };
                    }
                    Effect::Allocate {
                        site,
                        reuse,
                        size,
                        result,
                    } => actions.push(Action::Allocate {
                        site: site.0,
                        reuse: *reuse,
                        size: compiler.expr(size),
                        result: compiler.target(result),
                        whereabouts: whereabouts(compiler.program, edge),
                    }),
                    Effect::Free { address } => {
                        actions.push(Action::Free(compiler.expr(address)));
                    }
                }
            }
            let moves = movers.map_or(Moves::NONE, |movers| {
                let mover = movers.edges[template.index()][location.index()][original];
                Moves {
                    left: mover.left,
                    right: mover.right,
                    takes_lock: mover.takes_lock,
                    releases_lock: mover.releases_lock,
                }
            });
            CompiledEdge {
                moves,
                choices,
                priority: edge.priority,
                guard: compiler.expr(&edge.guard),
                operation,
                spawns: edge
                    .effects
                    .iter()
                    .any(|effect| matches!(effect, Effect::Spawn { .. })),
                actions,
                target_pc: compiler.layout.pc_of(template, edge.target).into(),
                original,
            }
        })
        .collect();
    edges.sort_by_key(|edge| std::cmp::Reverse(edge.priority));
    let numbered: Vec<(u16, &CompiledEdge)> = (0..).zip(&edges).collect();
    let decisions = numbered
        .chunk_by(|(_, a), (_, b)| a.priority == b.priority)
        .map(|class| {
            let guard = |edge: &CompiledEdge| &source.edges[edge.original].guard;
            decide(
                compiler,
                class.iter().map(|(number, edge)| (*number, guard(edge))),
            )
        })
        .collect::<Vec<_>>();
    let place = Place {
        ends_transaction: edges.is_empty() || edges.iter().any(|edge| !edge.moves.left),
        is_met: movers.is_some_and(|m| m.meets[template.index()][location.index()]),
        takes_lock: edges.iter().any(|edge| edge.moves.takes_lock),
        has_lock: movers.is_some_and(|m| {
            let held = m.locks.held(template.index(), location.index());
            let has_other = m.object_locks.holds(template.index(), location.index());
            !held.is_empty() || has_other
        }),
    };
    CompiledLocation {
        reads: Reads::of(compiler, &decisions, &edges),
        receives: edges
            .iter()
            .any(|edge| matches!(edge.operation, Operation::Receive { .. })),
        decisions,
        edges,
        atomic: source.atomic,
        valid_end: source.valid_end,
        accesses: source
            .accesses
            .iter()
            .map(|access| {
                let (variable, first, count) = compiler.program.bytes_of(&access.memory);
                CompiledAccess {
                    guard: compiler.expr(&access.guard),
                    bytes: AccessedBytes {
                        variable,
                        first: 0,
                        count,
                    },
                    first: compiler.expr(&first),
                    writes: access.writes,
                    atomic: access.atomic,
                    ahead: access.ahead,
                }
            })
            .collect(),
        place,
        run_end: source.ends_run().then(|| RunEnd {
            violates: source.error.as_ref().map(|error| error.property),
            template,
            location,
            resume_pc: source
                .error
                .as_ref()
                .and_then(|error| error.resume)
                .map(|resume| compiler.layout.pc_of(template, resume).into()),
        }),
    }
}

/// The statement of an edge as the beginning of a sentence about it.
fn whereabouts(program: &Program, edge: &Edge) -> String {
    match edge.span {
        Some(span) => format!("`{}` at {} ", edge.text, program.info.sources.locate(span)),
        None => format!("`{}` ", edge.text),
    }
}

pub fn compile_image(program: &Program, layout: &Layout, id: TemplateId) -> Image {
    let template = program.template(id);
    let rows = &layout.templates[id.index()].locals;
    let mut work = Workspace::zeros(layout.slot_lanes);
    let mut own_channels = Vec::new();
    work.write(0, layout.pc, layout.pc_of(id, template.entry).into());
    for (variable, row) in template.locals.iter().zip(rows) {
        for index in 0..u64::from(variable.len) {
            let Some(cell) = row.cell(index) else {
                continue;
            };
            let value = match &variable.init {
                Init::All(value) => *value,
                Init::Cells(values) => values[index as usize],
                Init::Channels(channels) => match channels[index as usize] {
                    ChannelRef::Local(own) => {
                        own_channels.push((cell, own));
                        0
                    }
                    global => program.channel_handle(global, 0),
                },
            };
            work.write(0, cell, value);
        }
    }
    Image {
        lanes: work.lanes,
        params: rows[..template.params as usize]
            .iter()
            .filter_map(|row| row.cell(0))
            .collect(),
        own_channels,
    }
}
