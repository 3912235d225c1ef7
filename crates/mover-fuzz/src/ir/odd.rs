//! Odd programs: shapes that no front end produces.
//!
//! Priorities everywhere, atomic locations that block and loop, rendezvous between
//! any threads, threads that come and go, arrays and arithmetic of every width.

use mover_ir::expr::{
    BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, UnaryOp, VariableRef, mask,
};
use mover_ir::program::*;

use super::pieces::{empty, locations, variable};
use crate::random::Random;

struct Generator {
    random: Random,
    program: Program,
    template: usize,
    /// Whether the program may look at all threads at once; that leaves nothing to reduce.
    looks_around: bool,
}

pub fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let looks_around = random.one_in(3);
    let program = Program {
        max_threads: 2 + random.below(3) as u32,
        priority_scheduling: looks_around && random.one_in(3),
        ..empty(format!("random {seed}"))
    };
    let mut generator = Generator {
        random,
        program,
        template: 0,
        looks_around,
    };
    generator.declare();
    generator.fill();
    generator.program
}

impl Generator {
    fn ty(&mut self) -> Ty {
        let width = self.random.pick(&[1, 1, 2, 3, 8, 16, 33, 64]);
        Ty {
            width,
            signed: self.random.one_in(2),
        }
    }

    fn row(&mut self, name: String) -> Variable {
        let ty = self.ty();
        let len = self.random.pick(&[1, 1, 1, 2, 3, 9]);
        let init = self.random.below(3) & mask(ty.width);
        let init = if self.random.one_in(2) {
            Init::All(init)
        } else {
            Init::Cells(
                (0..len)
                    .map(|i| (init + u64::from(i)) & mask(ty.width))
                    .collect(),
            )
        };
        variable(name, ty, len, init)
    }

    fn channel(&mut self, name: String) -> ChannelDecl {
        let fields = (0..1 + self.random.below(2))
            .map(|_| Field {
                ty: self.ty(),
                symbols: None,
            })
            .collect();
        ChannelDecl {
            name,
            capacity: self.random.pick(&[0, 0, 1, 2, 3]),
            fields,
            span: None,
        }
    }

    fn declare(&mut self) {
        for i in 0..1 + self.random.below(3) {
            let row = self.row(format!("g{i}"));
            self.program.globals.push(row);
        }
        for i in 0..self.random.below(3) {
            let channel = self.channel(format!("c{i}"));
            self.program.channels.push(channel);
        }
        for t in 0..1 + self.random.below(2) {
            let mut locals = vec![variable("p".into(), Ty::BYTE, 1, Init::All(0))];
            for i in 0..self.random.below(3) {
                let row = self.row(format!("l{i}"));
                locals.push(row);
            }
            let mut channels = Vec::new();
            for i in 0..self.random.below(2) {
                let channel = self.channel(format!("lc{i}"));
                channels.push(channel);
                let own = Init::Channels(vec![ChannelRef::Local(i as u32)]);
                locals.push(variable(format!("own{i}"), Ty::CHANNEL, 1, own));
            }
            if !self.program.channels.is_empty() {
                let global = Init::Channels(vec![ChannelRef::Global(0)]);
                locals.push(variable("gc".into(), Ty::CHANNEL, 1, global));
            }
            let count = 3 + self.random.below(4) as usize;
            let mut locations = locations(&mut self.random, count, 3);
            let resume = Some(LocationId(0)).filter(|_| self.random.one_in(2));
            locations.push(Location::failure("error", resume));
            self.program.templates.push(Template {
                params: 1,
                channels,
                ..Template::new(format!("T{t}"), locals, locations)
            });
        }
        let most = self.program.max_threads as u64;
        for _ in 0..1 + self.random.below(most) {
            self.program.initial.push(Instance {
                template: TemplateId(self.random.below(self.program.templates.len() as u64) as u32),
                args: vec![self.random.below(3)],
                priority: 1 + self.random.below(2) as u8,
            });
        }
    }

    fn fill(&mut self) {
        for template in 0..self.program.templates.len() {
            self.template = template;
            let count = self.program.templates[template].locations.len() - 1;
            for location in 0..count {
                for _ in 0..1 + self.random.below(4) {
                    let edge = self.edge(count);
                    self.program.templates[template].locations[location]
                        .edges
                        .push(edge);
                }
            }
        }
    }

    fn edge(&mut self, locations: usize) -> Edge {
        let to_error = self.random.one_in(25);
        let target = if to_error {
            locations
        } else {
            self.random.below(locations as u64) as usize
        };
        let mut effects = Vec::new();
        if !to_error {
            match self.random.below(8) {
                0 | 1 => {
                    let channel = self.channel_value();
                    let values = (0..self.random.below(3))
                        .map(|_| self.expr(2, None))
                        .collect();
                    effects.push(Effect::Send {
                        channel,
                        values,
                        sorted: self.random.one_in(3),
                    });
                }
                2 | 3 => {
                    let channel = self.channel_value();
                    let args = self.receive_args();
                    effects.push(Effect::Receive {
                        channel,
                        args,
                        random: self.random.one_in(3),
                        peek: self.random.one_in(4),
                    });
                }
                4 if self.random.one_in(2) => {
                    let template = self.random.below(self.program.templates.len() as u64) as u32;
                    let arg = self.expr(1, Some(8));
                    let result = self.random.one_in(2).then(|| self.place(1));
                    effects.push(Effect::Spawn {
                        template: TemplateId(template),
                        args: vec![arg],
                        priority: 1 + self.random.below(2) as u8,
                        result,
                    });
                }
                _ => {}
            }
            for _ in 0..self.random.below(3) {
                let place = self.place(2);
                let value = self.expr(2, Some(place.ty.width));
                // Keep most values small, so that many programs are finite in practice.
                let small = Expr::constant(3, place.ty.width.max(2)).resize(place.ty.width, false);
                let value = Expr::binary(BinaryOp::And, value, small);
                effects.push(Effect::Assign { place, value });
            }
            if self.looks_around && self.random.one_in(12) {
                effects.push(Effect::SetPriority {
                    thread: self.expr(1, Some(32)),
                    priority: Expr::constant(1 + self.random.below(2) as i64, 8),
                });
            }
            if self.random.one_in(12) {
                effects.push(Effect::Exit);
            }
        }
        Edge {
            priority: self.random.pick(&[0, 0, 0, 0, -1, 1]),
            guard: if self.random.one_in(2) {
                Expr::TRUE
            } else {
                self.expr(3, Some(1))
            },
            effects,
            target: LocationId(target as u32),
            span: None,
            text: "random".into(),
            sync: Vec::new(),
        }
    }

    fn receive_args(&mut self) -> Vec<ReceiveArg> {
        (0..self.random.below(3))
            .map(|_| match self.random.below(3) {
                0 => ReceiveArg::Match(self.expr(1, None)),
                1 => ReceiveArg::Store(self.place(1)),
                _ => ReceiveArg::Ignore,
            })
            .collect()
    }

    fn channel_value(&mut self) -> Expr {
        let own = self.program.templates[self.template].channels.len() as u64;
        let global = self.program.channels.len() as u64;
        match self.random.below(4) {
            0 if own > 0 => Expr::Channel(ChannelRef::Local(self.random.below(own) as u32)),
            1 | 2 if global > 0 => {
                Expr::Channel(ChannelRef::Global(self.random.below(global) as u32))
            }
            3 => Expr::constant(self.random.below(6) as i64, Ty::CHANNEL.width),
            _ => self.expr(1, Some(Ty::CHANNEL.width)),
        }
    }

    fn place(&mut self, depth: u32) -> Place {
        let locals = &self.program.templates[self.template].locals;
        let globals = &self.program.globals;
        let which = self.random.below((globals.len() + locals.len()) as u64) as usize;
        let (variable, decl) = if which < globals.len() {
            (
                VariableRef::Global(VariableId(which as u32)),
                &globals[which],
            )
        } else {
            let local = which - globals.len();
            (VariableRef::Local(VariableId(local as u32)), &locals[local])
        };
        let (ty, len) = (decl.ty, decl.len);
        let index = if depth > 0 && self.random.one_in(3) {
            let index = self.expr(depth - 1, Some(32));
            match index {
                Expr::Const { .. } => Expr::int(0),
                index => index,
            }
        } else {
            Expr::int(self.random.below(len.into()) as i64)
        };
        Place::element(variable, index, ty)
    }

    fn expr(&mut self, depth: u32, width: Option<u8>) -> Expr {
        let expr = self.any_expr(depth);
        match width {
            Some(width) => {
                let signed = self.random.one_in(2);
                expr.resize(width, signed)
            }
            None => expr,
        }
    }

    fn any_expr(&mut self, depth: u32) -> Expr {
        use BinaryOp::*;
        if depth == 0 || self.random.one_in(4) {
            return match self.random.below(6) {
                0 => Expr::ThreadId,
                1 => Expr::ThreadCount,
                2 => Expr::constant(self.random.below(4) as i64 - 1, self.ty().width),
                3 if self.looks_around && self.random.one_in(2) => Expr::Timeout,
                _ => Expr::Read(self.place(depth.saturating_sub(1))),
            };
        }
        let below = depth - 1;
        match self.random.below(14) {
            0 => {
                let arg = self.any_expr(below);
                Expr::unary(self.random.pick(&[UnaryOp::Not, UnaryOp::Neg]), arg)
            }
            1 => {
                let condition = self.expr(below, Some(1));
                let then = self.any_expr(below);
                let otherwise = self.expr(below, Some(then.width()));
                Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise))
            }
            2 => {
                let width = self.ty().width;
                self.expr(below, Some(width))
            }
            3 => {
                let thread = Box::new(self.expr(below, Some(32)));
                let template = self.random.below(self.program.templates.len() as u64) as u32;
                Expr::ThreadAt {
                    thread,
                    template: TemplateId(template),
                    locations: vec![LocationId(self.random.below(3) as u32), LocationId(0)],
                }
            }
            4 => {
                let thread = Box::new(self.expr(below, Some(32)));
                Expr::RemoteRead {
                    thread,
                    template: TemplateId(0),
                    variable: VariableId(0),
                    index: Box::new(Expr::int(0)),
                    ty: Ty::BYTE,
                }
            }
            5 => Expr::ChannelLen(Box::new(self.channel_value())),
            6 => match self.random.below(3) {
                0 => Expr::ChannelExists(Box::new(self.channel_value())),
                1 => Expr::ChannelCapacity(Box::new(self.channel_value())),
                _ if self.looks_around => {
                    Expr::ThreadPriority(Box::new(self.expr(below, Some(32))))
                }
                _ => Expr::ThreadCount,
            },
            7 => Expr::CanReceive {
                channel: Box::new(self.channel_value()),
                args: self.receive_args(),
                random: self.random.one_in(2),
            },
            _ => {
                let op = self.random.pick(&[
                    Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Eq,
                    Eq, Ne, Ne, ULt, ULe, SLt, SLe,
                ]);
                let lhs = self.any_expr(below);
                let rhs = self.expr(below, Some(lhs.width()));
                Expr::binary(op, lhs, rhs)
            }
        }
    }
}
