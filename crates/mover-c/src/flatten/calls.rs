//! Calls: each is replaced by a copy of the callee.
//!
//! A recursive function is copied up to a given depth, beyond which the run ends at a bound. A
//! call through a pointer selects among the functions that have its type and whose
//! address a pointer of the program can have, and fails if it is none of them. Structures that are passed by value
//! are copied, with their own lifetime.

use mover_ir::program::{BoundKind, Property};

use super::cpp::{Through, is_stream_output};
use super::library_names::{is_modelled, plain_name};
use super::{Flat, Flattener, Problem};
use crate::llvm::short;
use crate::ssa::*;

impl Flattener<'_> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call_function(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        id: FunctionId,
        mut args: Vec<Operand>,
        by_value: &[Option<u64>],
        shape: Shape,
        arg_shapes: Vec<Shape>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let module = self.module;
        let function = &module.functions[id];
        let name = plain_name(&function.name);
        if matches!(name, "reach_error" | "__VERIFIER_error") {
            let message = format!("{name}() is called");
            return Ok(self.fail(at, Property::UnreachCall, message, loc));
        }
        if function.blocks.is_empty() || is_modelled(name) || is_stream_output(name) {
            let at = self.cancellation_point(at, name, loc)?;
            let before = self.blocks[at].insts.len();
            let expanded = self.library(at, result, name, args, shape, arg_shapes, loc);
            return expanded.or_else(|problem| self.refuse(at, before, problem));
        }
        let mut at = at;
        let mut objects = Vec::new();
        for (arg, size) in args.iter_mut().zip(by_value) {
            if let Some(size) = size {
                (at, *arg) = self.copy_structure(at, arg.clone(), *size, loc)?;
                objects.push(arg.clone());
            }
        }
        if function.is_variadic && args.len() >= function.params {
            if by_value.iter().skip(function.params).any(Option::is_some) {
                let message = format!("a structure among the variable arguments of `{name}`");
                return Err(Problem::new(message, loc).code("C012"));
            }
            let rest = args.split_off(function.params).into_iter();
            let rest: Vec<_> = rest
                .zip(arg_shapes.into_iter().skip(function.params))
                .collect();
            let area = self.pass_rest(at, name, &rest, loc)?;
            objects.push(area.clone());
            args.push(area);
        }
        let is_atomic = name.starts_with("__VERIFIER_atomic_");
        if is_atomic {
            self.emit(at, None, Kind::AtomicBegin, loc);
        }
        let next = self.call(at, id, args, result, loc)?;
        if matches!(self.blocks[next].end, Terminator::Unreachable) {
            for object in objects {
                self.set_lifetime(next, &object, false, loc);
            }
        }
        if is_atomic {
            self.emit(next, None, Kind::AtomicEnd, loc);
        }
        Ok(next)
    }

    /// A copy of a structure for a callee that gets it by value.
    fn copy_structure(
        &mut self,
        at: BlockId,
        from: Operand,
        size: u64,
        loc: Option<Loc>,
    ) -> Flat<(BlockId, Operand)> {
        let width = self.module.pointer_width();
        let bytes = Layout::Array {
            element: Box::new(Layout::Scalar { bytes: 1 }),
            count: size,
            stride: 1,
        };
        let kind = Kind::Alloca {
            layout: self.variable_of(&from, size).unwrap_or(bytes),
            count: Operand::Int { value: 1, width },
            debug: DebugType::default(),
        };
        let copy = self.value(at, width, kind, loc);
        self.set_lifetime(at, &copy, true, loc);
        let size = Operand::Int { value: size, width };
        let at = self.copy_memory(at, "memcpy", copy.clone(), from, size, loc)?;
        Ok((at, copy))
    }

    /// Copies memory by scalars, or else by `memcpy` or `memmove` of the runtime library.
    pub(super) fn copy_memory(
        &mut self,
        at: BlockId,
        name: &str,
        to: Operand,
        from: Operand,
        size: Operand,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        if self.copy_scalars(at, &to, &from, &size, loc) {
            return Ok(at);
        }
        let name = match name {
            "memcpy" if self.has_small_elements(&size, &[&to, &from]) => "memcpy_of_ints",
            "memmove" if self.has_small_elements(&size, &[&to, &from]) => "memmove_of_ints",
            other => other,
        };
        let size = self.resized(at, size, self.module.pointer_width(), loc);
        self.runtime(at, name, vec![to, from, size], None, loc)
    }

    /// The scalars that an operand consists of.
    fn shape_of(&self, operand: &Operand) -> Shape {
        let pointer = self.module.pointer_width();
        match operand {
            Operand::Value(id) => self.values[*id].shape.clone(),
            Operand::Int { width, .. } => vec![*width],
            Operand::Undef(shape) => shape.clone(),
            Operand::Aggregate(parts) => {
                parts.iter().flat_map(|part| self.shape_of(part)).collect()
            }
            Operand::Global(_) | Operand::Function(_) | Operand::Unsupported(_) => vec![pointer],
            Operand::Pure(pure) => match &**pure {
                Pure::Resize { width, .. } => vec![*width],
                Pure::Compare { .. } => vec![1],
                Pure::Gep { .. } => vec![pointer],
                Pure::Copy(arg)
                | Pure::Abs(arg)
                | Pure::Bits { arg, .. }
                | Pure::Binary { lhs: arg, .. }
                | Pure::MinMax { lhs: arg, .. }
                | Pure::Select { then: arg, .. } => self.shape_of(arg),
                Pure::Extract { from, first, count } => {
                    let all = self.shape_of(from);
                    all.iter().skip(*first).take(*count).copied().collect()
                }
                Pure::Insert { into, .. } => self.shape_of(into),
                Pure::WithOverflow { lhs, .. } => {
                    let mut shape = self.shape_of(lhs);
                    shape.push(1);
                    shape
                }
            },
        }
    }

    /// Calls a function of the runtime library, whatever types the program declares it with.
    pub(super) fn runtime(
        &mut self,
        at: BlockId,
        name: &str,
        args: Vec<Operand>,
        result: Option<ValueId>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let Some(id) = self.module.find(&format!("__mover_{name}")) else {
            return Err(Problem::new(format!("`{name}` is not supported"), loc));
        };
        let function = &self.module.functions[id];
        let mut adapted = Vec::new();
        for param in 0..function.params {
            let Some(arg) = args.get(param) else {
                let message = format!("`{name}` is called with too few arguments");
                return Err(Problem::new(message, loc));
            };
            let to = &function.values[param].shape;
            let arg = match (&self.shape_of(arg)[..], &to[..]) {
                (&[from], &[to]) if from != to => self.resized(at, arg.clone(), to, loc),
                (&[_], &[_]) => arg.clone(),
                _ => {
                    let message = format!("`{name}` is called with an argument of another type");
                    return Err(Problem::new(message, loc));
                }
            };
            adapted.push(arg);
        }
        match result {
            Some(id_of) if self.values[id_of].shape != function.return_shape => {
                let value = match &function.return_shape[..] {
                    [] => None,
                    shape => Some(self.new_value(shape.to_vec(), "")),
                };
                let next = self.call(at, id, adapted, value, loc)?;
                self.convert(next, value, result, loc);
                Ok(next)
            }
            _ => self.call(at, id, adapted, result, loc),
        }
    }

    /// Puts a copy of a function in place of a call.
    pub(super) fn call(
        &mut self,
        at: BlockId,
        id: FunctionId,
        args: Vec<Operand>,
        result: Option<ValueId>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let module = self.module;
        let depth = self.stack.iter().filter(|&&other| other == id).count();
        if depth >= self.limits.recursion {
            let name = short(&module.functions[id].name);
            let message = format!("`{name}` recurses more than {depth} deep");
            let kind = BoundKind::Recursion;
            self.end(at, Terminator::Bound { kind, message }, loc);
            return Ok(at);
        }
        let next = self.new_block();
        let (begin, returned) = self.copy(id, args, Some(next), loc)?;
        self.end(at, Terminator::Jump(begin), loc);
        if let Some(result) = result {
            self.join(next, result, returned, loc);
        }
        Ok(next)
    }

    /// Assigns to a value what comes from several blocks.
    fn join(
        &mut self,
        at: BlockId,
        result: ValueId,
        from: Vec<(Operand, BlockId)>,
        loc: Option<Loc>,
    ) {
        let kind = match &from[..] {
            [(only, _)] => Kind::Pure(Pure::Copy(only.clone())),
            [] => Kind::Pure(Pure::Copy(Operand::Undef(
                self.values[result].shape.clone(),
            ))),
            _ => Kind::Phi(from),
        };
        self.emit(at, Some(result), kind, loc);
    }

    /// Chooses among the functions that a pointer can point to.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call_pointer(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        target: Operand,
        through: Through,
        args: Vec<Operand>,
        shape: Shape,
        arg_shapes: &[Shape],
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let module = self.module;
        let fits = |function: &Function| {
            (function.params == arg_shapes.len()
                || function.is_variadic && function.params < arg_shapes.len())
                && function.return_shape == shape
                && (0..function.params).all(|i| function.values[i].shape == arg_shapes[i])
        };
        let targets: Vec<FunctionId> = self
            .possible_targets(through)
            .into_iter()
            .filter(|&id| fits(&module.functions[id]))
            .collect();
        let next = self.new_block();
        let mut returned = Vec::new();
        let mut cases = Vec::new();
        for id in targets {
            let then = self.new_block();
            cases.push((module.function_address(id), then));
            let value = result.map(|id| self.new_value(self.values[id].shape.clone(), ""));
            let (args, shapes) = (args.clone(), arg_shapes.to_vec());
            let by_value = &module.functions[id].by_value;
            let shape = shape.clone();
            let back = self.call_function(then, value, id, args, by_value, shape, shapes, loc)?;
            if matches!(self.blocks[back].end, Terminator::Unreachable) {
                self.end(back, Terminator::Jump(next), loc);
                if let Some(value) = value {
                    returned.push((Operand::Value(value), back));
                }
            }
        }
        let default = self.new_block();
        let message =
            "call through a pointer that does not point to a function of this type".to_string();
        self.fail(default, Property::MemorySafety, message, loc);
        let end = Terminator::Switch {
            value: target,
            cases,
            default,
        };
        self.end(at, end, loc);
        if let Some(result) = result {
            self.join(next, result, returned, loc);
        }
        Ok(next)
    }
}
