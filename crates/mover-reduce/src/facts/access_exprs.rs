//! The accesses of an edge as expressions over the state.
//!
//! `access` names shared objects before the search and must treat all of `fork[left]` as one
//! object. Here an access keeps its index, as an expression over the state before the edge, so
//! that a search can distinguish the cells. A channel has two ends: the only sender and the
//! only receiver of a channel do not interfere as long as neither blocks. An atomic sequence
//! that blocks in the middle, because a channel is empty or full, does so visibly; inside
//! atomic sequences a channel is therefore accessed as a whole.
//!
//! Addressable memory is distinguished no further than in `access`.
//!
//! An index that depends on an earlier effect of the same edge cannot be evaluated in the state
//! before the edge; such an access counts as one to the whole array.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::access::{AccessTable, EdgeRef, Object};
use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{Edge, Effect, LocationId, Program, TemplateId, VariableId};

/// Which end of a channel is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Send,
    Receive,
    /// Reads how full it is, or changes both ends.
    Both,
    /// Only tests whether the channel exists.
    Existence,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touch {
    Cells {
        variable: VariableId,
        /// Over the state before the edge; `None` stands for every cell.
        index: Option<Expr>,
        writes: bool,
    },
    Channel {
        /// Over the state before the edge; `None` stands for every channel.
        channel: Option<Expr>,
        end: End,
    },
    /// All channels that belong to the executing thread.
    OwnChannels,
    /// Exits: observed by edges that count or start threads.
    Leaves {
        /// Only when the thread is the youngest.
        in_order: bool,
    },
    /// Counts threads or starts one.
    Counts,
    /// An object of memory with addresses, as a whole.
    Object { object: Object, writes: bool },
    /// Something that other threads observe and that is not analysed further.
    Seen,
}

/// The internal state of a template's threads that other threads observe.
#[derive(Default)]
struct Observed {
    locations: BTreeSet<LocationId>,
    variables: BTreeSet<VariableId>,
}

pub struct Touches {
    /// By template, location and edge.
    edges: Vec<Vec<Vec<Vec<Touch>>>>,
}

impl Touches {
    pub fn new(program: &Program, table: &AccessTable) -> Self {
        let observed = observed(program);
        let edges = program
            .templates
            .iter()
            .enumerate()
            .map(|(template, body)| {
                let template = TemplateId(template as u32);
                let of_location = |(number, location): (usize, &mover_ir::program::Location)| {
                    let at = LocationId(number as u32);
                    let of_edge = |(edge_number, edge): (usize, &Edge)| {
                        let mut found = Gather::default();
                        found.edge(program, edge);
                        if location.atomic {
                            found.wait_for_channels();
                        }
                        for other in &location.edges {
                            if other.priority > edge.priority {
                                Gather::enabledness(program, other, &mut found.touches);
                            }
                        }
                        if shows(&observed, template, at, edge) {
                            found.touches.push(Touch::Seen);
                        }
                        let touched = table.of(EdgeRef {
                            template: template.index(),
                            location: number,
                            edge: edge_number,
                        });
                        for (&object, &writes) in touched {
                            if has_address(program, object) {
                                found.touches.push(Touch::Object { object, writes });
                            }
                        }
                        found.touches
                    };
                    location.edges.iter().enumerate().map(of_edge).collect()
                };
                body.locations.iter().enumerate().map(of_location).collect()
            })
            .collect();
        Touches { edges }
    }

    /// Drops accesses to the numbers of dynamic objects, where the program does not observe them.
    pub fn forget_numbers(&mut self) {
        for touches in self.edges.iter_mut().flatten().flatten() {
            touches.retain(|touch| {
                !matches!(touch, Touch::Object { object, .. } if *object == Object::Numbers)
            });
        }
    }

    pub fn of(&self, template: usize, location: usize, edge: usize) -> &[Touch] {
        &self.edges[template][location][edge]
    }
}

/// Whether an object can be accessed through a pointer, or concerns pointers themselves.
fn has_address(program: &Program, object: Object) -> bool {
    match object {
        Object::Cell(variable, _) | Object::Variable(variable) => {
            program.globals[variable.index()].addressable
        }
        Object::Site(_) | Object::Numbers => true,
        Object::Channel(_) | Object::AnyChannel | Object::Threads | Object::Inside(_) => false,
    }
}

fn observed(program: &Program) -> BTreeMap<TemplateId, Observed> {
    let mut found: BTreeMap<TemplateId, Observed> = BTreeMap::new();
    program.any_expr(|expr| {
        match expr {
            Expr::ThreadAt {
                template,
                locations,
                ..
            } => {
                let of_template = found.entry(*template).or_default();
                of_template.locations.extend(locations);
            }
            Expr::RemoteRead {
                template, variable, ..
            } => {
                let of_template = found.entry(*template).or_default();
                of_template.variables.insert(*variable);
            }
            _ => {}
        }
        false
    });
    found
}

/// Whether other threads can observe, by reading the thread's internal state, that the edge was taken.
fn shows(
    observed: &BTreeMap<TemplateId, Observed>,
    template: TemplateId,
    from: LocationId,
    edge: &Edge,
) -> bool {
    let of_template = observed.get(&template);
    let starts_or_ends = edge.effects.iter().any(|effect| match effect {
        Effect::Exit => of_template.is_some(),
        Effect::Spawn { template, .. } => observed.contains_key(template),
        _ => false,
    });
    let Some(of_template) = of_template else {
        return starts_or_ends;
    };
    let writes = |effect: &Effect| {
        effect.written_places().iter().any(|place| {
            matches!(place.variable, VariableRef::Local(id) if of_template.variables.contains(&id))
        })
    };
    starts_or_ends
        || of_template.locations.contains(&from) != of_template.locations.contains(&edge.target)
        || (of_template.locations.contains(&from) && from != edge.target)
        || edge.effects.iter().any(writes)
}

#[derive(Default)]
struct Gather {
    touches: Vec<Touch>,
    /// Variables written by the effects so far.
    written: BTreeSet<VariableRef>,
}

impl Gather {
    fn edge(&mut self, program: &Program, edge: &Edge) {
        self.reads(program, &edge.guard);
        // Waiting to be the youngest thread does not count as counting: it is part of exiting.
        let counted = self.touches.contains(&Touch::Counts);
        let in_order = counted && edge.effects == [Effect::Exit];
        if in_order {
            self.touches.retain(|touch| *touch != Touch::Counts);
        }
        for effect in &edge.effects {
            effect.walk(&mut |expr| self.read(program, expr));
            for place in effect.written_places() {
                if let VariableRef::Global(variable) = place.variable
                    && !program.globals[variable.index()].addressable
                {
                    let index = self.before(&place.index);
                    self.touches.push(Touch::Cells {
                        variable,
                        index,
                        writes: true,
                    });
                }
            }
            match effect {
                Effect::Send {
                    channel, sorted, ..
                } => {
                    // In a sorted channel a new message can be the first one.
                    let end = if *sorted { End::Both } else { End::Send };
                    let channel = self.before(channel);
                    self.touches.push(Touch::Channel { channel, end });
                }
                Effect::Receive { channel, .. } => {
                    let channel = self.before(channel);
                    self.touches.push(Touch::Channel {
                        channel,
                        end: End::Receive,
                    });
                }
                Effect::Spawn { .. } => self.touches.push(Touch::Counts),
                Effect::Exit => {
                    self.touches.push(Touch::Leaves { in_order });
                    if program.channels_per_thread() > 0 {
                        self.touches.push(Touch::OwnChannels);
                    }
                }
                Effect::SetPriority { .. } => self.touches.push(Touch::Seen),
                Effect::Assign { .. }
                | Effect::Havoc { .. }
                | Effect::Store { .. }
                | Effect::Allocate { .. }
                | Effect::Free { .. }
                | Effect::Print { .. } => {}
            }
            let written = effect.written_places().into_iter();
            self.written.extend(written.map(|place| place.variable));
        }
    }

    /// Inside an atomic sequence: a sequence that blocks on a channel observes that it is blocked.
    fn wait_for_channels(&mut self) {
        for touch in &mut self.touches {
            if let Touch::Channel { end, .. } = touch
                && *end != End::Existence
            {
                *end = End::Both;
            }
        }
    }

    /// What decides whether an edge of higher priority is enabled.
    fn enabledness(program: &Program, edge: &Edge, touches: &mut Vec<Touch>) {
        let mut found = Gather::default();
        found.edge(program, edge);
        for touch in found.touches {
            touches.push(match touch {
                Touch::Cells {
                    variable, index, ..
                } => Touch::Cells {
                    variable,
                    index,
                    writes: false,
                },
                Touch::Channel {
                    channel,
                    end: End::Existence,
                } => Touch::Channel {
                    channel,
                    end: End::Existence,
                },
                Touch::Channel { channel, .. } => Touch::Channel {
                    channel,
                    end: End::Both,
                },
                Touch::OwnChannels | Touch::Leaves { .. } => continue,
                Touch::Counts => Touch::Counts,
                Touch::Seen => Touch::Seen,
                // These are already in the table.
                Touch::Object { .. } => continue,
            });
        }
    }

    /// The expression, if it has the same value in the state before the edge.
    fn before(&self, expr: &Expr) -> Option<Expr> {
        let mut same = true;
        expr.walk(&mut |part| match part {
            Expr::Read(place) => same &= !self.written.contains(&place.variable),
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. }
            | Expr::ThreadId
            | Expr::Channel(_) => {}
            _ => same = false,
        });
        same.then(|| expr.clone())
    }

    fn reads(&mut self, program: &Program, expr: &Expr) {
        expr.walk(&mut |part| self.read(program, part));
    }

    fn read(&mut self, program: &Program, expr: &Expr) {
        match expr {
            Expr::Read(place) => {
                if let VariableRef::Global(variable) = place.variable
                    && !program.globals[variable.index()].addressable
                {
                    let index = self.before(&place.index);
                    self.touches.push(Touch::Cells {
                        variable,
                        index,
                        writes: false,
                    });
                }
            }
            Expr::ThreadCount | Expr::ThreadPriority(_) => self.touches.push(Touch::Counts),
            Expr::ThreadAt { .. } | Expr::RemoteRead { .. } => self.touches.push(Touch::Seen),
            Expr::ChannelExists(channel) | Expr::ChannelCapacity(channel) => {
                let channel = self.before(channel);
                self.touches.push(Touch::Channel {
                    channel,
                    end: End::Existence,
                });
            }
            Expr::ChannelLen(channel) | Expr::CanReceive { channel, .. } => {
                let channel = self.before(channel);
                self.touches.push(Touch::Channel {
                    channel,
                    end: End::Both,
                });
            }
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. }
            | Expr::ThreadId
            | Expr::Channel(_)
            | Expr::Address { .. }
            | Expr::Load { .. }
            | Expr::ObjectSize(_)
            | Expr::ObjectSite { .. }
            | Expr::Timeout => {}
        }
    }
}
