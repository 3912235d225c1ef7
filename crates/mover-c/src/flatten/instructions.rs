//! A function is copied block by block and instruction by instruction.
//!
//! Calls become copies of what they call ([`super::calls`]) or what the library does
//! ([`super::library`]). An instruction that is not supported ends its block in a bound, so that it matters
//! only where a run comes to it.

use std::collections::HashMap;

use mover_ir::program::Property;

use super::*;
use crate::ssa::*;

impl Flattener<'_> {
    /// Copies a function; returns its first block and, for a call, what it returns.
    pub(super) fn copy(
        &mut self,
        id: FunctionId,
        args: Vec<Operand>,
        returns_to: Option<BlockId>,
        call_loc: Option<Loc>,
    ) -> Flat<(BlockId, Vec<(Operand, BlockId)>)> {
        let module = self.module;
        let function = &module.functions[id];
        if self.size > LARGEST {
            return Err(Problem::new(
                format!("more than {LARGEST} instructions after inlining"),
                function.loc,
            )
            .code(TOO_LARGE)
            .help("check a smaller program, or lower --recursion"));
        }
        self.stack.push(id);
        let first_value = self.values.len();
        self.values
            .extend(function.values[function.params..].iter().cloned());
        let begins: Vec<BlockId> = function.blocks.iter().map(|_| self.new_block()).collect();
        let rest = args.get(function.params).cloned();
        let mut frame = Frame {
            args,
            first_value,
            ends: begins.clone(),
            begins,
            call_loc: call_loc.filter(|_| function.is_runtime || function.is_system),
            returns_to,
            returned: Vec::new(),
            rest,
            objects: Vec::new(),
            marked: marked_variables(function),
            constants: HashMap::new(),
            ignored: self.ignored_values(id),
            arrivals: function.blocks.iter().map(|_| Vec::new()).collect(),
            cleanup: vec![None; function.blocks.len()],
            landings: Vec::new(),
            landed: Vec::new(),
            pads: HashMap::new(),
        };
        self.begin_unwinding(None);
        let outside = (self.cleanup, self.alive.clone());
        frame.cleanup[0] = Some(self.cleanup);
        // Only what can be reached is copied, where constants decide: a recursion
        // whose depth is constant ends by itself.
        let order = reverse_postorder(function);
        let mut state = vec![Reached::No; function.blocks.len()];
        state[0] = Reached::Waiting;
        while let Some(&number) = order
            .iter()
            .find(|&&block| state[block] == Reached::Waiting)
        {
            state[number] = Reached::Copied;
            for next in self.copy_block(function, number, &mut frame)? {
                if state[next] == Reached::No {
                    state[next] = Reached::Waiting;
                }
            }
        }
        // A phi names the block that its value comes from: where that ends now.
        for (number, &begin) in frame.begins.iter().enumerate() {
            if exceptions::clauses(function, number).is_some() {
                self.connect_pad(&frame, number);
                continue;
            }
            for inst in &mut self.blocks[begin].insts {
                if let Kind::Phi(incoming) = &mut inst.kind {
                    for (_, from) in incoming {
                        // Phis that stand for returned values are made with new numbers.
                        *from = frame.ends[*from];
                    }
                }
            }
        }
        self.leave_frame(&frame, call_loc);
        self.stack.pop();
        (self.cleanup, self.alive) = outside;
        Ok((frame.begins[0], frame.returned))
    }

    /// Copies one block; returns the blocks of the original that can come next.
    pub(super) fn copy_block(
        &mut self,
        function: &Function,
        number: BlockId,
        frame: &mut Frame,
    ) -> Flat<Vec<BlockId>> {
        let owns_objects = frame.returns_to.is_some() && number == 0;
        let block = &function.blocks[number];
        let mut at = frame.begins[number];
        self.begin_block(frame, number);
        for (index, inst) in block.insts.iter().enumerate() {
            let before = self.blocks[at].insts.len();
            if let Some(copied) = self.cleanup_step(at, function, (number, index), frame) {
                at = copied.or_else(|problem| self.refuse(at, before, problem))?;
                continue;
            }
            let loc = inst.loc.or(frame.call_loc);
            let mut kind = inst.kind.clone();
            for operand in kind.operands_mut() {
                frame.rename(operand, function.params);
            }
            if let Kind::LandingPad(clauses) = &kind {
                let result = inst.result.map(|id| frame.number(id, function.params));
                let copied = self.landing_pad(at, result, clauses, number, loc, frame);
                at = copied.or_else(|problem| self.refuse(at, before, problem))?;
                continue;
            }
            self.number_type(&mut kind);
            let is_marked = inst.result.is_some_and(|id| frame.marked.contains(&id));
            let is_ignored = inst.result.is_some_and(|id| frame.ignored.contains(&id));
            if is_ignored && matches!(kind, Kind::Float { .. })
                || ignored::is_input(&self.module.functions, &inst.kind, function, &frame.ignored)
            {
                continue;
            }
            let is_call = matches!(kind, Kind::Call { .. });
            let result = inst.result.filter(|_| !(is_ignored && is_call));
            let result = result.map(|id| frame.number(id, function.params));
            if let (Kind::Pure(pure), Some(id)) = (&kind, result)
                && let Some(constant) = fold(pure)
            {
                frame.constants.insert(id, constant);
            }
            if let (
                Some(id),
                Kind::Call {
                    callee: Callee::Function(callee),
                    ..
                },
            ) = (inst.result, &kind)
                && means(&self.module.functions[*callee].name).is_some()
            {
                self.only_meaning = only_compared_with_zero(function, id);
            }
            let before = self.blocks[at].insts.len();
            let pad = match &kind {
                Kind::Call { unwind, .. } => *unwind,
                _ => None,
            };
            if let Some(pad) = pad {
                self.begin_unwinding(exceptions::clauses(function, pad));
            }
            let copied = self.inst(at, result, kind, loc, frame, owns_objects && !is_marked);
            if let Some(pad) = pad {
                self.land(frame, number, pad, loc);
            }
            match copied.or_else(|problem| self.refuse(at, before, problem)) {
                Ok(next) => at = next,
                // The program is refused, but first the rest of it is inspected.
                Err(problem) if problem.code != TOO_LARGE => self.note_problem(problem),
                Err(problem) => return Err(problem),
            }
        }
        frame.ends[number] = at;
        let loc = block.end_loc.or(frame.call_loc);
        let is_over = !matches!(self.blocks[at].end, Terminator::Unreachable);
        let known = |operand: &Operand| {
            let mut operand = operand.clone();
            frame.rename(&mut operand, function.params);
            match operand {
                Operand::Int { value, .. } => Some(value),
                _ => None,
            }
        };
        let end = match &block.end {
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => match known(condition) {
                Some(0) => Terminator::Jump(*otherwise),
                Some(_) => Terminator::Jump(*then),
                None => block.end.clone(),
            },
            Terminator::Switch {
                value,
                cases,
                default,
            } => match known(value) {
                Some(value) => {
                    let case = cases.iter().find(|(case, _)| *case == value);
                    Terminator::Jump(case.map_or(*default, |(_, to)| *to))
                }
                None => block.end.clone(),
            },
            other => other.clone(),
        };
        self.terminator(at, &end, loc, frame, function)?;
        let mut next = if is_over {
            Vec::new()
        } else {
            end.successors()
        };
        self.pass_on_cleanup(frame, at, &next, loc);
        next.append(&mut frame.landings);
        let here = frame.landed.iter().filter(|way| way.from == number);
        next.extend(here.map(|way| way.pad));
        Ok(next)
    }

    pub(super) fn terminator(
        &mut self,
        mut at: BlockId,
        end: &Terminator,
        loc: Option<Loc>,
        frame: &mut Frame,
        function: &Function,
    ) -> Flat<()> {
        let rename = |operand: &Operand| {
            let mut operand = operand.clone();
            frame.rename(&mut operand, function.params);
            operand
        };
        let before = self.blocks[at].insts.len();
        let used = match end {
            Terminator::Return(value) => value.as_ref(),
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if let Some(what) = used.map(rename).as_ref().and_then(unsupported) {
            // A block that has ended for good stays ended.
            if matches!(self.blocks[at].end, Terminator::Unreachable) {
                let problem = Problem::new(format!("not supported: `{what}`"), loc);
                self.refuse(at, before, problem)?;
            }
            return Ok(());
        }
        let end = match end {
            Terminator::Return(value) => {
                if let Err(problem) = self.check_return(frame, loc)
                    && matches!(self.blocks[at].end, Terminator::Unreachable)
                {
                    self.refuse(at, before, problem)?;
                    return Ok(());
                }
                let value = value.as_ref().map(rename);
                match frame.returns_to {
                    Some(to) => {
                        for pointer in frame.objects.clone() {
                            self.set_lifetime(at, &pointer, false, loc);
                        }
                        if let Some(value) = value {
                            frame.returned.push((value, at));
                        }
                        Terminator::Jump(to)
                    }
                    None if self.is_main => {
                        let status = value.unwrap_or(Operand::Int {
                            value: 0,
                            width: 32,
                        });
                        at = self.leave_process(at, status, loc)?;
                        Terminator::EndProcess
                    }
                    None => {
                        at = self.leave_thread(at, loc)?;
                        let width = self.module.pointer_width();
                        let value = match value {
                            Some(value) if function.return_shape.len() == 1 => {
                                let arg = value;
                                let kind = Kind::Pure(Pure::Resize {
                                    arg,
                                    width,
                                    extension: Extension::Sign,
                                });
                                self.value(at, width, kind, loc)
                            }
                            _ => Operand::Int { value: 0, width },
                        };
                        Terminator::EndThread(value)
                    }
                }
            }
            Terminator::Jump(to) => Terminator::Jump(frame.begins[*to]),
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => Terminator::Branch {
                condition: rename(condition),
                then: frame.begins[*then],
                otherwise: frame.begins[*otherwise],
            },
            Terminator::Switch {
                value,
                cases,
                default,
            } => Terminator::Switch {
                value: rename(value),
                cases: cases
                    .iter()
                    .map(|(case, to)| (*case, frame.begins[*to]))
                    .collect(),
                default: frame.begins[*default],
            },
            // After a call that does not return, or a bug in the program.
            Terminator::Unreachable => match self.blocks[at].end {
                Terminator::Unreachable => Terminator::Fail {
                    property: Property::UnreachCall,
                    message: "code marked unreachable is reached (undefined behaviour)".into(),
                },
                _ => return Ok(()),
            },
            Terminator::Resume(exception) => {
                if matches!(self.blocks[at].end, Terminator::Unreachable) {
                    self.resume(at, rename(exception), loc)?;
                }
                return Ok(());
            }
            Terminator::Unsupported(what) => {
                let problem = Problem::new(format!("not supported: `{what}`"), loc);
                if matches!(self.blocks[at].end, Terminator::Unreachable) {
                    self.refuse(at, before, problem)?;
                }
                return Ok(());
            }
            other => other.clone(),
        };
        // A block that has ended for good (abort, a failed assertion) stays ended.
        if matches!(self.blocks[at].end, Terminator::Unreachable) {
            self.end(at, end, loc);
        }
        Ok(())
    }

    /// Copies one instruction; returns the block where the code continues.
    pub(super) fn inst(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        kind: Kind,
        loc: Option<Loc>,
        frame: &mut Frame,
        owns_objects: bool,
    ) -> Flat<BlockId> {
        // After a call that does not return nothing is done.
        if !matches!(self.blocks[at].end, Terminator::Unreachable) {
            return Ok(at);
        }
        if let Some(what) = kind.operands().into_iter().find_map(unsupported) {
            let harmless = matches!(&kind, Kind::Call { callee: Callee::Function(id), .. }
                if is_output(&self.module.functions[*id].name)
                    || cpp::is_stream_output(&self.module.functions[*id].name));
            if !harmless {
                return Err(Problem::new(format!("not supported: `{what}`"), loc));
            }
        }
        if let Some(name) = kind
            .operands()
            .into_iter()
            .find_map(|operand| self.declared(operand))
            .filter(|name| !self.is_named_only(name, &kind))
        {
            let message = format!("the variable `{name}` is declared but not defined");
            return Err(Problem::new(message, loc).code("C011"));
        }
        match kind {
            Kind::Unsupported(what) => {
                let help = if what.starts_with("floating") {
                    "use integers (fixed point) in the code that is checked"
                } else {
                    "exclude this code when the program is checked, for instance with an #ifdef"
                };
                Err(Problem::new(format!("not supported: {what}"), loc).help(help))
            }
            Kind::Assembly {
                code,
                constraints,
                args,
                arg_shapes,
                shape,
            } => self.assembly(
                at,
                result,
                &code,
                &constraints,
                &args,
                &arg_shapes,
                &shape,
                loc,
            ),
            Kind::Float {
                kind,
                args,
                from,
                to,
            } => self.float(at, result, kind, args, from, to, loc),
            Kind::Alloca { .. } => {
                let Some(id) = result else { return Ok(at) };
                self.emit(at, result, kind, loc);
                if owns_objects {
                    frame.objects.push(Operand::Value(id));
                    self.set_lifetime(at, &Operand::Value(id), true, loc);
                }
                Ok(at)
            }
            Kind::Call {
                callee,
                args,
                by_value,
                shape,
                arg_shapes,
                unwind: _,
            } => {
                let callee = match callee {
                    Callee::Indirect(Operand::Function(id))
                    | Callee::Virtual(Operand::Function(id), _)
                    | Callee::Registered(Operand::Function(id), _) => Callee::Function(id),
                    other => other,
                };
                match callee {
                    Callee::Function(id)
                        if self.module.functions[id].name.starts_with("llvm.va_start") =>
                    {
                        match (args.first(), frame.rest.clone()) {
                            (Some(list), Some(rest)) => self.start_list(at, list, rest, loc),
                            _ => return Err(Problem::new("`va_start` without arguments", loc)),
                        }
                        Ok(at)
                    }
                    Callee::Function(id) => {
                        self.call_function(at, result, id, args, &by_value, shape, arg_shapes, loc)
                    }
                    Callee::Indirect(target) => {
                        let through = Through::Pointer;
                        self.call_pointer(
                            at,
                            result,
                            target,
                            through,
                            args,
                            shape,
                            &arg_shapes,
                            loc,
                        )
                    }
                    Callee::Virtual(target, slot) => {
                        let through = Through::Table(slot);
                        self.call_pointer(
                            at,
                            result,
                            target,
                            through,
                            args,
                            shape,
                            &arg_shapes,
                            loc,
                        )
                    }
                    Callee::Registered(target, group) => {
                        let through = Through::Registration(group);
                        self.call_pointer(
                            at,
                            result,
                            target,
                            through,
                            args,
                            shape,
                            &arg_shapes,
                            loc,
                        )
                    }
                }
            }
            // A pointer to a member function is two words.
            Kind::Load {
                pointer,
                shape,
                atomic,
            } if are_words(&shape) => {
                let mut parts = Vec::new();
                for number in 0..shape.len() {
                    let load = Kind::Load {
                        pointer: displaced(&pointer, 8 * number as i64),
                        shape: vec![64],
                        atomic,
                    };
                    parts.push(self.value(at, 64, load, loc));
                }
                let whole = Pure::Copy(Operand::Aggregate(parts));
                self.emit(at, result, Kind::Pure(whole), loc);
                Ok(at)
            }
            Kind::Store {
                pointer,
                value,
                shape,
                atomic,
            } if are_words(&shape) => {
                for number in 0..shape.len() {
                    let part = Kind::Pure(Pure::Extract {
                        from: value.clone(),
                        first: number,
                        count: 1,
                    });
                    let value = self.value(at, 64, part, loc);
                    let store = Kind::Store {
                        pointer: displaced(&pointer, 8 * number as i64),
                        value,
                        shape: vec![64],
                        atomic,
                    };
                    self.emit(at, None, store, loc);
                }
                Ok(at)
            }
            Kind::Load {
                pointer,
                shape,
                atomic,
            } if has_odd_width(&shape) => {
                let width = shape[0];
                let mut whole = Operand::Int { value: 0, width };
                for (at_byte, piece) in pieces(width) {
                    let load = Kind::Load {
                        pointer: displaced(&pointer, at_byte),
                        shape: vec![piece],
                        atomic,
                    };
                    let part = self.value(at, piece, load, loc);
                    let part = self.resized(at, part, width, loc);
                    let shift = Operand::Int {
                        value: 8 * at_byte as u64,
                        width,
                    };
                    let part = self.binary(at, BinaryKind::Shl, part, shift, width, loc);
                    whole = self.binary(at, BinaryKind::Or, whole, part, width, loc);
                }
                self.emit(at, result, Kind::Pure(Pure::Copy(whole)), loc);
                Ok(at)
            }
            Kind::Store {
                pointer,
                value,
                shape,
                atomic,
            } if has_odd_width(&shape) => {
                let width = shape[0];
                for (at_byte, piece) in pieces(width) {
                    let shift = Operand::Int {
                        value: 8 * at_byte as u64,
                        width,
                    };
                    let part = self.binary(at, BinaryKind::LShr, value.clone(), shift, width, loc);
                    let part = self.resized(at, part, piece, loc);
                    let store = Kind::Store {
                        pointer: displaced(&pointer, at_byte),
                        value: part,
                        shape: vec![piece],
                        atomic,
                    };
                    self.emit(at, None, store, loc);
                }
                Ok(at)
            }
            kind => {
                self.emit(at, result, kind, loc);
                Ok(at)
            }
        }
    }

    /// Ends a block where it comes to something that is not supported: an error only if some run
    /// does. What of it was translated already (after `before` instructions) is dropped.
    pub(super) fn refuse(&mut self, at: BlockId, before: usize, problem: Problem) -> Flat<BlockId> {
        let Some(kind) = problem.bound() else {
            return Err(problem);
        };
        let message = problem.message;
        self.blocks[at].insts.truncate(before);
        self.end(at, Terminator::Bound { kind, message }, problem.loc);
        Ok(at)
    }
}
