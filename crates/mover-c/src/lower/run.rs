//! Symbolic execution: one instruction or terminator of one path at a time.
//!
//! Each step returns the paths that continue. An access that would be the edge's second shared
//! one, or a condition that cannot be evaluated in the state before the edge, ends the edge
//! instead: its location is the point before the instruction, where the next edge begins.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{Effect, Property};

use super::arithmetic::modified;
use super::touch::Access;
use super::{Builder, Cell, Lowered, Part, Path};
use crate::expr_builder::{binary, constant, equal, not, resize};
use crate::flatten::Problem;
use crate::objects::{Object, parts};
use crate::ssa::{BlockId, Kind, Operand, Terminator, ValueId};

impl<'w, 'a> Builder<'w, 'a> {
    /// Continues by one instruction; returns the paths that continue.
    pub(super) fn step(&mut self, mut path: Path) -> Lowered<Vec<Path>> {
        let code = self.code;
        let block = &code.blocks[path.block];
        let Some(inst) = block.insts.get(path.index) else {
            return self.terminate(path, &block.end);
        };
        if path.loc.is_none() {
            path.loc = inst.loc;
        }
        if self.undefined.is_read_by(&inst.kind) {
            self.world.shadows.note(inst.loc.or(path.loc), "");
        }
        let is_recomputed = inst.result.is_some_and(|id| self.recomputed(id).is_some());
        let is_address = self.is_address(inst);
        if is_recomputed || is_address && !self.may_lead_astray(inst) {
            path.index += 1;
            return Ok(vec![path]);
        }
        match &inst.kind {
            Kind::Phi(_) => {}
            Kind::Pure(pure) => {
                let (parts, checks) = self.pure(&mut path, pure)?;
                for check in checks {
                    match self.require(path, &check) {
                        Some(going_on) => path = going_on,
                        None => return Ok(Vec::new()),
                    }
                }
                if let Some(id) = inst.result
                    && !is_address
                {
                    self.define(&mut path, id, parts);
                }
            }
            Kind::AtomicBegin => match path.mode.entered() {
                Some(mode) => path.mode = mode,
                None => {
                    let message = "atomic sections that begin again and again without an end";
                    return Err(Problem::new(message, inst.loc));
                }
            },
            Kind::AtomicEnd => path.mode = path.mode.left(),
            Kind::Alloca { count, layout, .. } => {
                let Some(id) = inst.result else {
                    return Ok(Vec::new());
                };
                let object = Object::Local(self.body, id);
                let has_lifetime = self
                    .world
                    .objects
                    .facts(object)
                    .is_some_and(|facts| facts.has_lifetime);
                if let (Some(&local), false) = (self.pinned.get(&object), has_lifetime) {
                    let Some(mut going_on) = self.begin_access(path) else {
                        return Ok(Vec::new());
                    };
                    if matches!(count, Operand::Int { .. }) {
                        self.allocate_object(&mut going_on, object, local);
                    } else {
                        let width = self.world.module.pointer_width();
                        let count = self.scalar(&mut going_on, count)?;
                        let site = self.world.stack_site(object);
                        let size = count.map(|count| {
                            let element = constant(layout.bytes(), width);
                            binary(BinaryOp::Mul, resize(count, width, false), element)
                        });
                        let Some(within) = self.require_room(going_on, &size) else {
                            return Ok(Vec::new());
                        };
                        going_on = within;
                        let place = self.local_place(local, Expr::int(0));
                        going_on.written.insert(place.variable);
                        going_on.effects.push(Effect::Allocate {
                            site,
                            reuse: 0,
                            size: size.now,
                            result: place,
                        });
                    }
                    path = going_on;
                }
            }
            Kind::Lifetime { pointer, begins } => {
                if let Some(form) = self.world.objects.form(self.body, pointer)
                    && let Some(&local) = self.pinned.get(&form.object)
                {
                    let Some(mut going_on) = self.begin_access(path) else {
                        return Ok(Vec::new());
                    };
                    if *begins {
                        self.allocate_object(&mut going_on, form.object, local);
                    } else {
                        self.keep_memory(&mut going_on);
                        let place = self.local_place(local, Expr::int(0));
                        going_on.effects.push(Effect::Free {
                            address: self.local_read(local),
                        });
                        going_on.written.insert(place.variable);
                        let width = place.ty.width;
                        going_on.effects.push(Effect::Assign {
                            place,
                            value: constant(0, width),
                        });
                    }
                    path = going_on;
                }
            }
            Kind::Load {
                pointer,
                shape,
                atomic,
            } => {
                if shape.len() != 1 {
                    return self.load_parts(path, pointer, shape, inst.result);
                }
                let access = Access {
                    reads: true,
                    writes: false,
                    atomic: *atomic,
                };
                let width = memory_width(shape[0]);
                let Some((mut going_on, cell)) = self.come_to(path, pointer, width, access)? else {
                    return Ok(Vec::new());
                };
                if let Some(id) = inst.result {
                    let part = self.read(&going_on, &cell);
                    let part = part.map(|value| resize(value, shape[0], false));
                    self.define(&mut going_on, id, vec![part]);
                }
                path = going_on;
            }
            Kind::Store {
                pointer,
                value,
                shape,
                atomic,
            } => {
                if shape.len() != 1 {
                    return self.store_parts(path, pointer, value, shape);
                }
                let gap = self.world.objects.gap_written(self.body, &inst.kind);
                if gap.is_some_and(|object| !self.world.objects.is_addressed(object)) {
                    path.index += 1;
                    return Ok(vec![path]);
                }
                let access = Access {
                    reads: false,
                    writes: true,
                    atomic: *atomic,
                };
                let width = memory_width(shape[0]);
                let Some((mut going_on, cell)) = self.come_to(path, pointer, width, access)? else {
                    return Ok(Vec::new());
                };
                let value = self.scalar(&mut going_on, value)?;
                let value = resize(value.now, cell.width, false);
                self.write_and_mark(&mut going_on, &cell, value);
                path = going_on;
            }
            Kind::Rmw {
                kind,
                pointer,
                value,
                width,
            } => {
                let access = Access {
                    reads: true,
                    writes: true,
                    atomic: true,
                };
                let Some((mut going_on, cell)) = self.come_to(path, pointer, *width, access)?
                else {
                    return Ok(Vec::new());
                };
                let value = self.scalar(&mut going_on, value)?;
                let old = self.read(&going_on, &cell);
                if let Some(id) = inst.result {
                    self.define(&mut going_on, id, vec![old.clone()]);
                }
                let new = modified(*kind, old.now, value.now);
                self.write_and_mark(&mut going_on, &cell, new);
                path = going_on;
            }
            Kind::CompareExchange {
                pointer,
                expected,
                new,
                width,
                is_weak,
            } => {
                let access = Access {
                    reads: true,
                    writes: true,
                    atomic: true,
                };
                let Some((mut going_on, cell)) = self.come_to(path, pointer, *width, access)?
                else {
                    return Ok(Vec::new());
                };
                let expected = self.scalar(&mut going_on, expected)?;
                let new = self.scalar(&mut going_on, new)?;
                let old = self.read(&going_on, &cell);
                let same = Part::combine(&[&old, &expected], |args| {
                    equal(args[0].clone(), args[1].clone())
                });
                let Some(is_same) = same.pre().cloned() else {
                    // The edge has changed what is compared; a new one begins here.
                    self.finish(going_on);
                    return Ok(Vec::new());
                };
                let mut succeeds = going_on.clone();
                succeeds.assume(is_same.clone());
                if let Some(id) = inst.result {
                    let yes = Part::same(Expr::TRUE);
                    succeeds.env.insert(id, vec![expected, yes]);
                }
                self.write_and_mark(&mut succeeds, &cell, new.now);
                succeeds.index += 1;
                if !is_weak {
                    going_on.assume(not(is_same));
                }
                if let Some(id) = inst.result {
                    let no = Part::same(Expr::FALSE);
                    going_on.env.insert(id, vec![old, no]);
                }
                going_on.index += 1;
                return Ok(vec![succeeds, going_on]);
            }
            Kind::Library {
                name, args, shape, ..
            } => {
                let mut next = self.library(path, name, args, shape, inst.result)?;
                for path in &mut next {
                    path.index += 1;
                }
                return Ok(next);
            }
            Kind::Call { .. }
            | Kind::LandingPad(_)
            | Kind::Assembly { .. }
            | Kind::Float { .. }
            | Kind::Unsupported(_) => {
                return Err(Problem::new("a call that was not inlined", inst.loc).code("C099"));
            }
        }
        path.index += 1;
        Ok(vec![path])
    }

    /// Goes to the cell that an instruction accesses; none if the edge had to end first.
    fn come_to(
        &mut self,
        mut path: Path,
        pointer: &Operand,
        width: u8,
        access: Access,
    ) -> Lowered<Option<(Path, Cell)>> {
        let cell = self.cell(&mut path, pointer, 0, width)?;
        let mut reached = self.reach_noted(path, &cell, access)?;
        if access.writes {
            reached = reached.and_then(|path| self.require_variable(path, pointer, &cell));
        }
        if access.reads {
            reached = reached.and_then(|path| self.settle(path, &cell));
        }
        Ok(reached.map(|path| (path, cell)))
    }

    /// A structure is loaded scalar by scalar.
    fn load_parts(
        &mut self,
        mut path: Path,
        pointer: &Operand,
        shape: &[u8],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let mut values = Vec::new();
        for (at, width) in parts(shape) {
            let cell = self.cell(&mut path, pointer, at, memory_width(width))?;
            // Only memory of the thread's own can be read in one go.
            if cell.shared && !values.is_empty() {
                let message = "a structure is read from shared memory as a whole";
                return Err(Problem::new(message, path.loc).help("read its fields one by one"));
            }
            let access = Access {
                reads: true,
                writes: false,
                atomic: false,
            };
            let reached = self.reach_noted(path, &cell, access)?;
            let Some(going_on) = reached.and_then(|path| self.settle(path, &cell)) else {
                return Ok(Vec::new());
            };
            let value = self.read(&going_on, &cell);
            values.push(value.map(|value| resize(value, width, false)));
            path = going_on;
        }
        if let Some(id) = result {
            self.define(&mut path, id, values);
        }
        path.index += 1;
        Ok(vec![path])
    }

    fn store_parts(
        &mut self,
        mut path: Path,
        pointer: &Operand,
        value: &Operand,
        shape: &[u8],
    ) -> Lowered<Vec<Path>> {
        let values = self.value(&mut path, value)?;
        for (number, (at, width)) in parts(shape).into_iter().enumerate() {
            let cell = self.cell(&mut path, pointer, at, memory_width(width))?;
            if cell.shared && number > 0 {
                let message = "a structure is written to shared memory as a whole";
                return Err(Problem::new(message, path.loc).help("write its fields one by one"));
            }
            let access = Access {
                reads: false,
                writes: true,
                atomic: false,
            };
            let reached = self.reach_noted(path, &cell, access)?;
            let reached = reached.and_then(|path| self.require_variable(path, pointer, &cell));
            let Some(mut going_on) = reached else {
                return Ok(Vec::new());
            };
            let value = resize(values[number].now.clone(), cell.width, false);
            self.write_and_mark(&mut going_on, &cell, value);
            path = going_on;
        }
        path.index += 1;
        Ok(vec![path])
    }

    /// Goes to another block.
    fn enter(&mut self, mut path: Path, to: BlockId) -> Lowered<Vec<Path>> {
        let code = self.code;
        let insts = &code.blocks[to].insts;
        let first = insts
            .iter()
            .take_while(|inst| matches!(inst.kind, Kind::Phi(_)))
            .count();
        let needed = self.live_before(to, first);
        let mut defined = Vec::new();
        for inst in &insts[..first] {
            let (Kind::Phi(incoming), Some(id)) = (&inst.kind, inst.result) else {
                continue;
            };
            if !needed.contains(&id) {
                continue;
            }
            if let Some((operand, _)) = incoming.iter().find(|(_, from)| *from == path.block) {
                defined.push((id, self.value(&mut path, operand)?));
            }
        }
        for (id, parts) in defined {
            self.define(&mut path, id, parts);
        }
        let again = path.passed.contains(&to);
        path.passed.push(to);
        path.block = to;
        path.index = first;
        if again && !self.cuts.contains(&to) {
            self.new_cuts.insert(to);
        }
        if again || self.cuts.contains(&to) {
            self.finish(path);
            return Ok(Vec::new());
        }
        Ok(vec![path])
    }

    fn terminate(&mut self, mut path: Path, end: &Terminator) -> Lowered<Vec<Path>> {
        let end_loc = self.code.blocks[path.block].end_loc;
        if path.loc.is_none() {
            path.loc = end_loc;
        }
        let read = match end {
            Terminator::EndThread(value) => {
                Some(value).filter(|_| self.world.threads.results.is_some())
            }
            Terminator::Return(Some(value)) => Some(value),
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if read.is_some_and(|operand| self.undefined.is_in(operand)) {
            self.world.shadows.note(path.loc, "");
        }
        match end {
            Terminator::Jump(to) => self.enter(path, *to),
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.scalar(&mut path, condition)?;
                match condition.now.as_const() {
                    Some(0) => return self.enter(path, *otherwise),
                    Some(_) => return self.enter(path, *then),
                    None => {}
                }
                let Some(pre) = condition.pre().cloned() else {
                    self.finish(path);
                    return Ok(Vec::new());
                };
                let mut paths = Vec::new();
                for (target, holds) in [(*then, pre.clone()), (*otherwise, not(pre))] {
                    let mut path = path.clone();
                    path.assume(holds);
                    if path.guard != Expr::FALSE {
                        paths.extend(self.enter(path, target)?);
                    }
                }
                Ok(paths)
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                let value = self.scalar(&mut path, value)?;
                if let Some(constant) = value.now.as_const() {
                    let case = cases.iter().find(|(case, _)| *case == constant);
                    return self.enter(path, case.map_or(*default, |(_, to)| *to));
                }
                let Some(pre) = value.pre().cloned() else {
                    self.finish(path);
                    return Ok(Vec::new());
                };
                let width = pre.width();
                let mut paths = Vec::new();
                let mut none = Expr::TRUE;
                for (case, to) in cases {
                    let is_it = equal(pre.clone(), constant(*case, width));
                    let mut path = path.clone();
                    path.assume(is_it.clone());
                    none = none.and(not(is_it));
                    if path.guard != Expr::FALSE {
                        paths.extend(self.enter(path, *to)?);
                    }
                }
                path.assume(none);
                if path.guard != Expr::FALSE {
                    paths.extend(self.enter(path, *default)?);
                }
                Ok(paths)
            }
            Terminator::Fail { property, message } => {
                let always = *property == Property::MemorySafety;
                if !always && !self.world.wants(*property) {
                    let end = self.process_end();
                    return self.end_run(path, end);
                }
                let loc = end_loc.or(path.loc);
                path.loc = loc;
                let error = self.error(*property, message, loc);
                self.emit(path, error, false);
                Ok(Vec::new())
            }
            Terminator::EndProcess => {
                let end = self.process_end();
                self.end_run(path, end)
            }
            Terminator::Infeasible => {
                let end = self.failed_assumption();
                self.end_run(path, end)
            }
            Terminator::EndThread(value) => self.end_thread(path, value),
            Terminator::Bound { kind, message } => {
                path.loc = end_loc.or(path.loc);
                self.bound(path, *kind, message);
                Ok(Vec::new())
            }
            Terminator::Return(_)
            | Terminator::Resume(_)
            | Terminator::Unreachable
            | Terminator::Unsupported(_) => {
                Err(Problem::new("code that leads nowhere", end_loc).code("C099"))
            }
        }
    }

    /// The end of all others is seen by them: between it and what the thread did last they may
    /// still do something.
    fn end_run(&mut self, path: Path, end: usize) -> Lowered<Vec<Path>> {
        if let Some(path) = self.begin_access(path) {
            self.emit(path, end, false);
        }
        Ok(Vec::new())
    }

    /// Frees what the thread has made, tells that it has ended, and ends it.
    fn end_thread(&mut self, path: Path, value: &Operand) -> Lowered<Vec<Path>> {
        let Some(mut path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        let value = match self.world.threads.results {
            Some(_) => self.scalar(&mut path, value)?,
            None => Part::same(constant(0, self.world.module.pointer_width())),
        };
        for local in self.pinned.values().copied().collect::<Vec<_>>() {
            path.effects.push(Effect::Free {
                address: self.local_read(local),
            });
        }
        let alternatives = self.thread_ends(path, value.now)?;
        for mut path in alternatives {
            path.effects.push(Effect::Exit);
            let to = match self.end {
                Some(end) => end,
                None => self.process_end(),
            };
            self.emit(path, to, true);
        }
        Ok(Vec::new())
    }
}

/// Widths of cells; a truth value has a byte.
fn memory_width(width: u8) -> u8 {
    match width {
        1..=8 => 8,
        other => other,
    }
}
