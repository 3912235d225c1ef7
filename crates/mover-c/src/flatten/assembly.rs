//! Inline assembly in the forms that threaded programs use, on x86.
//!
//! Hints (`pause`), fences and empty barriers do nothing here, because memory is sequentially
//! consistent. Wrappers of atomic instructions (`xchg`, and with `lock`: `cmpxchg`, `xadd`, and
//! arithmetic on memory) become the atomic accesses they are. The template is in AT&T syntax, where
//! the target comes last; `$0` is the first operand of the constraints, outputs before inputs.
//! Everything else is not supported.

use super::{Flat, Flattener, Problem};
use crate::ssa::*;

/// Instructions without an effect under sequential consistency.
const NOTHING: [&str; 11] = [
    "pause", "nop", "rep nop", "yield", "mfence", "lfence", "sfence", "dmb ish", "dmb sy", "isb",
    "wfe",
];

/// An operand of the template.
enum Place {
    Memory(Operand),
    /// By number in the list of registers.
    Register(usize),
    Immediate(u64),
}

struct Register {
    /// `ax` where the constraint names one.
    name: String,
    width: u8,
    value: Option<Operand>,
    /// Which of the results it is.
    output: Option<usize>,
}

struct Assembly<'a> {
    registers: Vec<Register>,
    /// By number in the template.
    operands: Vec<Place>,
    /// The result of the last comparison or computation: whether it is equal, or zero.
    is_zero: Option<Operand>,
    code: &'a str,
    loc: Option<Loc>,
}

impl Assembly<'_> {
    fn refused(&self) -> Problem {
        let code: Vec<&str> = self.code.split_whitespace().collect();
        let message = format!("not supported: inline assembly `{}`", code.join(" "));
        Problem::new(message, self.loc)
    }
}

impl Flattener<'_> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn assembly(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        code: &str,
        constraints: &str,
        args: &[Operand],
        arg_shapes: &[Shape],
        shape: &Shape,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let mut assembly = Assembly {
            registers: Vec::new(),
            operands: Vec::new(),
            is_zero: None,
            code,
            loc,
        };
        let known = read_constraints(&mut assembly, constraints, args, arg_shapes, shape);
        let mut is_locked = false;
        for instruction in instructions(code) {
            let mut text = instruction.as_str();
            if let Some(rest) = text.strip_prefix("lock") {
                is_locked = true;
                text = rest.trim();
                if text.is_empty() {
                    continue;
                }
            }
            if NOTHING.contains(&text) || is_locked && is_stack_fence(text) {
                is_locked = false;
                continue;
            }
            if !known || !self.module.is_x86 {
                return Err(assembly.refused());
            }
            self.instruction(at, text, is_locked, &mut assembly)?;
            is_locked = false;
        }
        let Some(result) = result else {
            return Ok(at);
        };
        let mut parts = Vec::new();
        for (number, &width) in shape.iter().enumerate() {
            let mut outputs = assembly.registers.iter();
            let register = outputs.find(|register| register.output == Some(number));
            let Some(value) = register.and_then(|register| register.value.clone()) else {
                return Err(assembly.refused());
            };
            parts.push(self.resized(at, value, width, loc));
        }
        let whole = match &parts[..] {
            [only] => only.clone(),
            _ => Operand::Aggregate(parts),
        };
        self.emit(at, Some(result), Kind::Pure(Pure::Copy(whole)), loc);
        Ok(at)
    }

    fn instruction(
        &mut self,
        at: BlockId,
        text: &str,
        is_locked: bool,
        assembly: &mut Assembly,
    ) -> Flat<()> {
        let refused = assembly.refused();
        let loc = assembly.loc;
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let places: Vec<&str> = rest.split(',').map(str::trim).collect();
        let (plain, suffix) = without_suffix(name);
        let numbers: Vec<Option<usize>> = places.iter().map(|text| number_of(text)).collect();
        let memory = |number: Option<usize>| match assembly.operands.get(number?)? {
            Place::Memory(pointer) => Some(pointer.clone()),
            _ => None,
        };
        let register = |number: Option<usize>| match assembly.operands.get(number?)? {
            Place::Register(register) => Some(*register),
            _ => None,
        };
        match (name, plain, &numbers[..]) {
            ("sete" | "setz", _, [target]) => {
                let Some(is_zero) = assembly.is_zero.clone() else {
                    return Err(refused);
                };
                let value = self.resized(at, is_zero, 8, loc);
                if let Some(pointer) = memory(*target) {
                    let store = Kind::Store {
                        pointer,
                        value,
                        shape: vec![8],
                        atomic: false,
                    };
                    self.emit(at, None, store, loc);
                    return Ok(());
                }
                let Some(target) = register(*target) else {
                    return Err(refused);
                };
                let width = assembly.registers[target].width;
                assembly.registers[target].value = Some(self.resized(at, value, width, loc));
            }
            (_, "xchg" | "xadd" | "cmpxchg", [first, second]) => {
                if plain != "xchg" && !is_locked {
                    return Err(refused);
                }
                // `xchg` is symmetric.
                let (from, pointer) = match (memory(*first), memory(*second)) {
                    (None, Some(pointer)) => (register(*first), pointer),
                    (Some(pointer), None) if plain == "xchg" => (register(*second), pointer),
                    _ => return Err(refused),
                };
                let Some(from) = from else {
                    return Err(refused);
                };
                let width = suffix.unwrap_or(assembly.registers[from].width);
                let Some(value) = assembly.registers[from].value.clone() else {
                    return Err(refused);
                };
                let value = self.resized(at, value, width, loc);
                if plain == "cmpxchg" {
                    let mut all = assembly.registers.iter();
                    let Some(accumulator) =
                        all.position(|register| register.name == "ax" && register.value.is_some())
                    else {
                        return Err(refused);
                    };
                    let expected = assembly.registers[accumulator].value.clone();
                    let Some(expected) = expected else {
                        return Err(refused);
                    };
                    let expected = self.resized(at, expected, width, loc);
                    let kind = Kind::CompareExchange {
                        pointer,
                        expected,
                        new: value,
                        width,
                        is_weak: false,
                    };
                    let both = self.new_value(vec![width, 1], "");
                    self.emit(at, Some(both), kind, loc);
                    let part = |first| {
                        let from = Operand::Value(both);
                        Kind::Pure(Pure::Extract {
                            from,
                            first,
                            count: 1,
                        })
                    };
                    let old = self.value(at, width, part(0), loc);
                    assembly.is_zero = Some(self.value(at, 1, part(1), loc));
                    for register in &mut assembly.registers {
                        if register.name == "ax" {
                            register.value = Some(old.clone());
                        }
                    }
                } else {
                    let kind = match plain {
                        "xchg" => RmwKind::Exchange,
                        _ => RmwKind::Add,
                    };
                    let kind = Kind::Rmw {
                        kind,
                        pointer,
                        value,
                        width,
                    };
                    let old = self.value(at, width, kind, loc);
                    assembly.registers[from].value = Some(old);
                    assembly.is_zero = None;
                }
            }
            (_, "inc" | "dec" | "add" | "sub" | "and" | "or" | "xor", _) if is_locked => {
                let kind = match plain {
                    "inc" | "add" => RmwKind::Add,
                    "dec" | "sub" => RmwKind::Sub,
                    "and" => RmwKind::And,
                    "or" => RmwKind::Or,
                    _ => RmwKind::Xor,
                };
                let has_one = matches!(plain, "inc" | "dec");
                let Some(pointer) = numbers.last().and_then(|&target| memory(target)) else {
                    return Err(refused);
                };
                let source = numbers.first().copied().flatten();
                let from = source.filter(|_| !has_one && numbers.len() == 2);
                let by_register = register(from);
                let width = suffix.or(by_register.map(|from| assembly.registers[from].width));
                let Some(width) = width else {
                    return Err(refused);
                };
                let immediate = match from.and_then(|from| assembly.operands.get(from)) {
                    Some(Place::Immediate(value)) => Some(*value),
                    _ => None,
                };
                let written = places.first().and_then(|text| text.strip_prefix("$$"));
                let written = written.and_then(|text| text.parse::<i64>().ok());
                let constant = written.map(|value| value as u64).or(immediate);
                let value = if has_one {
                    Operand::Int { value: 1, width }
                } else if let Some(register) = by_register {
                    let Some(value) = assembly.registers[register].value.clone() else {
                        return Err(refused);
                    };
                    self.resized(at, value, width, loc)
                } else if let Some(value) = constant {
                    let value = value & mover_ir::expr::mask(width);
                    Operand::Int { value, width }
                } else {
                    return Err(refused);
                };
                let rmw = Kind::Rmw {
                    kind,
                    pointer,
                    value: value.clone(),
                    width,
                };
                let old = self.value(at, width, rmw, loc);
                let operation = match kind {
                    RmwKind::Add => BinaryKind::Add,
                    RmwKind::Sub => BinaryKind::Sub,
                    RmwKind::And => BinaryKind::And,
                    RmwKind::Or => BinaryKind::Or,
                    _ => BinaryKind::Xor,
                };
                let new = self.binary(at, operation, old, value, width, loc);
                let is_zero = Kind::Pure(Pure::Compare {
                    predicate: Predicate::Eq,
                    lhs: new,
                    rhs: Operand::Int { value: 0, width },
                });
                assembly.is_zero = Some(self.value(at, 1, is_zero, loc));
            }
            _ => return Err(refused),
        }
        Ok(())
    }
}

/// What the operands of the template are; false where a constraint is not understood.
fn read_constraints(
    assembly: &mut Assembly,
    constraints: &str,
    args: &[Operand],
    arg_shapes: &[Shape],
    shape: &Shape,
) -> bool {
    let mut inputs = args.iter().zip(arg_shapes);
    let mut results = 0;
    // For each output of the template its register.
    let mut outputs: Vec<Option<usize>> = Vec::new();
    for constraint in constraints.split(',') {
        if constraint.starts_with('~') {
            continue;
        }
        let name = constraint
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
            .map(|(name, _)| name.to_string());
        let name = name.unwrap_or_default();
        if let Some(output) = constraint.strip_prefix('=') {
            if output.trim_start_matches('&').starts_with('*') {
                let Some((pointer, _)) = inputs.next() else {
                    return false;
                };
                assembly.operands.push(Place::Memory(pointer.clone()));
                outputs.push(None);
                continue;
            }
            let Some(&width) = shape.get(results) else {
                return false;
            };
            assembly.registers.push(Register {
                name,
                width,
                value: None,
                output: Some(results),
            });
            results += 1;
            outputs.push(Some(assembly.registers.len() - 1));
            let number = assembly.registers.len() - 1;
            assembly.operands.push(Place::Register(number));
            continue;
        }
        let Some((value, shape)) = inputs.next() else {
            return false;
        };
        if constraint.starts_with('*') {
            assembly.operands.push(Place::Memory(value.clone()));
            continue;
        }
        if let Ok(tied) = constraint.parse::<usize>() {
            let Some(Some(register)) = outputs.get(tied) else {
                return false;
            };
            assembly.registers[*register].value = Some(value.clone());
            assembly.operands.push(Place::Register(*register));
            continue;
        }
        let &[width] = &shape[..] else {
            return false;
        };
        if let (Operand::Int { value, .. }, true) = (value, constraint.contains(['i', 'n', 'e'])) {
            assembly.operands.push(Place::Immediate(*value));
            continue;
        }
        assembly.registers.push(Register {
            name,
            width,
            value: Some(value.clone()),
            output: None,
        });
        let number = assembly.registers.len() - 1;
        assembly.operands.push(Place::Register(number));
    }
    true
}

/// The instructions of a template, in small letters and without comments.
fn instructions(code: &str) -> Vec<String> {
    let lines = code.split(['\n', ';']);
    let clean = |line: &str| {
        let line = line.split('#').next().unwrap_or("").to_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    };
    let mut found: Vec<String> = lines.map(clean).filter(|line| !line.is_empty()).collect();
    // `rep; nop` is one instruction in two lines.
    while let Some(at) = found.iter().position(|line| line == "rep") {
        found.remove(at);
        if found.get(at).is_none_or(|next| next != "nop") {
            found.insert(at, "rep of something else".into());
        }
    }
    found
}

/// `addl $0, 0(%rsp)` with `lock` is a fence.
fn is_stack_fence(text: &str) -> bool {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let Some((amount, target)) = rest.split_once(',') else {
        return false;
    };
    let is_nothing = matches!(amount.trim(), "$$0" | "$$0x0");
    let on_stack = ["(%rsp)", "(%esp)", "(%%rsp)", "(%%esp)"];
    let is_or_add = name.starts_with("add") || name.starts_with("or");
    is_or_add && is_nothing && on_stack.iter().any(|stack| target.trim().ends_with(stack))
}

/// The name of an instruction and the width that its last letter says.
fn without_suffix(name: &str) -> (&str, Option<u8>) {
    const NAMES: [&str; 10] = [
        "xchg", "xadd", "cmpxchg", "inc", "dec", "add", "sub", "and", "or", "xor",
    ];
    if NAMES.contains(&name) {
        return (name, None);
    }
    let Some(last) = name.chars().last() else {
        return (name, None);
    };
    let width = match last {
        'b' => 8,
        'w' => 16,
        'l' => 32,
        'q' => 64,
        _ => return (name, None),
    };
    (&name[..name.len() - 1], Some(width))
}

/// Which operand `$1` or `${1:b}` is.
fn number_of(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('$')?;
    let rest = match rest.strip_prefix('{') {
        Some(inner) => inner.strip_suffix('}')?.split(':').next()?,
        None => rest,
    };
    rest.parse().ok()
}
