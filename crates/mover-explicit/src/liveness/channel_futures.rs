//! Which ends of channels a thread can still use from where it is.
//!
//! Processes get their channels as parameters, so which of them shares a channel with which is seen in the
//! state, not in the text. A channel expression of a template is *constant* if it has one value as long as the
//! thread lives: it is made of literals, variables that nothing writes, and the thread's number. For each place
//! the constant expressions that are used on some path from it are collected; a search evaluates them for each
//! thread. A thread that is started on the path adds its own, with the arguments put in. Whatever is not constant
//! stands for every channel.

use mover_ir::expr::{ChannelRef, Expr, VariableRef};
use mover_ir::program::{Effect, Init, LocationId, Program, TemplateId, Variable};
use mover_reduce::facts::access_exprs::{End, Touch, Touches};
use rustc_hash::FxHashSet;

use crate::code::Code;
use crate::machine::Machine;

/// With more expressions at a place, they stand for every channel.
const MOST_USES: usize = 16;

/// A use of a channel. Without an expression, of any channel.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Use {
    channel: Option<Expr>,
    end: End,
}

/// By program counter: the uses that are ahead.
pub struct ChannelFutures(Vec<Vec<(Option<Code>, End)>>);

impl ChannelFutures {
    pub fn new(program: &Program, machine: &Machine, touches: &Touches) -> ChannelFutures {
        let constants = Constants::new(program);
        let mut ahead: Vec<Vec<Vec<Use>>> = (program.templates.iter())
            .map(|template| vec![Vec::new(); template.locations.len()])
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (number, template) in program.templates.iter().enumerate() {
                for (at, location) in template.locations.iter().enumerate().rev() {
                    let mut found = ahead[number][at].clone();
                    for (edge_number, edge) in location.edges.iter().enumerate() {
                        for touch in touches.of(number, at, edge_number) {
                            if let Touch::Channel { channel, end } = touch
                                && *end != End::Existence
                            {
                                let channel = channel.clone();
                                let channel =
                                    channel.filter(|expr| constants.is_constant(number, expr));
                                add(&mut found, Use { channel, end: *end });
                            }
                        }
                        for used in &ahead[number][edge.target.index()] {
                            add(&mut found, used.clone());
                        }
                        for effect in &edge.effects {
                            let Effect::Spawn { template, args, .. } = effect else {
                                continue;
                            };
                            let entry = program.template(*template).entry.index();
                            for used in &ahead[template.index()][entry] {
                                let started =
                                    constants.of_started(number, *template, args, used.clone());
                                if let Some(started) = started {
                                    add(&mut found, started);
                                }
                            }
                        }
                    }
                    if found != ahead[number][at] {
                        ahead[number][at] = found;
                        changed = true;
                    }
                }
            }
        }
        let mut by_counter: Vec<Vec<(Option<Code>, End)>> = Vec::new();
        by_counter.resize_with(machine.program_counters(), Vec::new);
        for (number, places) in ahead.iter().enumerate() {
            let id = TemplateId(number as u32);
            for (at, uses) in (0..).map(LocationId).zip(places) {
                let codes = uses.iter().map(|used| {
                    let channel = used.channel.as_ref();
                    let code = channel.map(|expr| machine.compile_expr_of(program, id, expr));
                    (code, used.end)
                });
                by_counter[machine.counter_of(id, at)] = codes.collect();
            }
        }
        ChannelFutures(by_counter)
    }

    /// Whether a thread other than this one may still use an end of a channel.
    pub fn is_used_by_others(
        &self,
        machine: &Machine,
        lanes: &[u64],
        thread: usize,
        handle: u64,
        end: End,
    ) -> bool {
        let others = (0..machine.threads(lanes)).filter(|&other| other != thread);
        { others }.any(|other| {
            let view = machine.view(lanes, other, false);
            self.0[machine.pc(lanes, other)]
                .iter()
                .any(|(channel, used)| {
                    let is_end = *used == End::Both || *used == end;
                    is_end && (channel.as_ref()).is_none_or(|channel| view.eval(channel) == handle)
                })
        })
    }
}

/// Adds a use; too many become uses of any channel.
fn add(uses: &mut Vec<Use>, new: Use) {
    let is_any = |end| Use { channel: None, end };
    let covers = |old: &Use| *old == new || *old == is_any(new.end) || *old == is_any(End::Both);
    if uses.iter().any(covers) {
        return;
    }
    let same_end = uses.iter().filter(|old| old.end == new.end).count();
    let new = match same_end < MOST_USES {
        true => new,
        false => is_any(new.end),
    };
    if new.channel.is_none() {
        uses.retain(|old| old.end != new.end);
    }
    uses.push(new);
}

/// Which variables nothing writes.
struct Constants<'a> {
    program: &'a Program,
    written: FxHashSet<(Option<usize>, VariableRef)>,
    writes_memory: bool,
}

impl<'a> Constants<'a> {
    fn new(program: &'a Program) -> Self {
        let mut written = FxHashSet::default();
        for (number, template) in program.templates.iter().enumerate() {
            for edge in template.locations.iter().flat_map(|at| &at.edges) {
                for place in edge.effects.iter().flat_map(Effect::written_places) {
                    written.insert((owner(number, place.variable), place.variable));
                }
            }
        }
        let stores = |effect: &Effect| matches!(effect, Effect::Store { .. });
        Constants {
            program,
            written,
            writes_memory: program.effects().any(stores),
        }
    }

    fn variable(&self, template: usize, variable: VariableRef) -> &Variable {
        match variable {
            VariableRef::Global(id) => &self.program.globals[id.index()],
            VariableRef::Local(id) => &self.program.templates[template].locals[id.index()],
        }
    }

    fn is_constant(&self, template: usize, expr: &Expr) -> bool {
        let mut is_constant = true;
        expr.walk(&mut |part| {
            is_constant &= match part {
                Expr::Read(place) => {
                    let key = (owner(template, place.variable), place.variable);
                    let variable = self.variable(template, place.variable);
                    !(self.written.contains(&key) || variable.addressable && self.writes_memory)
                }
                Expr::Const { .. }
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::If(..)
                | Expr::Resize { .. }
                | Expr::ThreadId
                | Expr::Channel(_) => true,
                _ => false,
            };
        });
        is_constant
    }

    /// A use by a thread that is started, in the words of the one that starts it. None if the channel is
    /// one of its own, which nobody has yet.
    fn of_started(
        &self,
        starter: usize,
        started: TemplateId,
        args: &[Expr],
        used: Use,
    ) -> Option<Use> {
        if let Some(Expr::Channel(ChannelRef::Local(_))) = used.channel {
            return None;
        }
        let channel = used.channel.and_then(|channel| {
            let mut is_known = true;
            let template = self.program.template(started);
            let said = channel.rewrite(&mut |part| match part {
                Expr::Read(place) => {
                    let VariableRef::Local(id) = place.variable else {
                        return None;
                    };
                    let arg = args.get(id.index());
                    let arg = arg.filter(|_| id.0 < template.params);
                    let value = match arg {
                        Some(arg) => Some(arg.clone().resize(place.ty.width, place.ty.signed)),
                        None => initial(self.program, &template.locals[id.index()], &place.index),
                    };
                    is_known &= value.is_some();
                    value
                }
                Expr::ThreadId | Expr::Channel(ChannelRef::Local(_)) => {
                    is_known = false;
                    None
                }
                _ => None,
            });
            (is_known && self.is_constant(starter, &said)).then_some(said)
        });
        Some(Use { channel, ..used })
    }
}

/// Global variables belong to no template.
fn owner(template: usize, variable: VariableRef) -> Option<usize> {
    matches!(variable, VariableRef::Local(_)).then_some(template)
}

/// The value that a cell begins with.
fn initial(program: &Program, variable: &Variable, index: &Expr) -> Option<Expr> {
    let index = index.as_const()? as usize;
    let width = variable.ty.width;
    let value = match &variable.init {
        Init::All(value) => *value,
        Init::Cells(values) => *values.get(index)?,
        Init::Channels(channels) => match channels.get(index)? {
            global @ ChannelRef::Global(_) => program.channel_handle(*global, 0),
            ChannelRef::Local(_) => return None,
        },
    };
    Some(Expr::Const { value, width })
}
