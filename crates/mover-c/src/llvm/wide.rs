//! Integers of 128 bits as pairs of 64 bits.
//!
//! The IR's scalars have at most 64 bits. `__int128` has few operations, so each of its values becomes
//! a low and a high word before anything else is done with the module: sums with carry, products and
//! quotients by the runtime library (`runtime/wide.c`), comparisons word by word. Memory is accessed
//! in two words, as on machines. In C on x86-64 no function takes or returns such an integer: clang
//! passes words. What is not lowered (switches, vectors, parameters in files of LLVM IR) keeps its
//! operands and is refused where a run reaches it.
//!
//! Signed overflow is undefined. If it is asked for, a word sum is added that overflows exactly if the
//! wide operation does.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char};

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

use super::lists::{all_instructions, functions};
use super::value_name;

const NO_NAME: *const c_char = c"".as_ptr();

pub(super) unsafe fn is_wide(ty: LLVMTypeRef) -> bool {
    unsafe {
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 128
    }
}

/// The low and the high word of a constant.
pub(super) unsafe fn words_of_constant(value: LLVMValueRef) -> Option<[u64; 2]> {
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(value));
        let builder = LLVMCreateBuilderInContext(context);
        let word = |value| {
            let word = LLVMBuildTrunc(builder, value, LLVMInt64TypeInContext(context), NO_NAME);
            (!LLVMIsAConstantInt(word).is_null()).then(|| LLVMConstIntGetZExtValue(word))
        };
        let by = LLVMConstInt(LLVMTypeOf(value), 64, 0);
        let high = LLVMBuildLShr(builder, value, by, NO_NAME);
        let words = word(value).zip(word(high)).map(|(low, high)| [low, high]);
        LLVMDisposeBuilder(builder);
        words
    }
}

/// Replaces the wide integers of a module; whether the runtime library is needed for it.
pub(super) unsafe fn lower(module: LLVMModuleRef, checks_overflow: bool) -> bool {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let mut lowering = Lowering {
            module,
            builder: LLVMCreateBuilderInContext(context),
            word: LLVMInt64TypeInContext(context),
            checks_overflow,
            calls_runtime: false,
            words: HashMap::new(),
            replaced: Vec::new(),
        };
        for function in functions(module) {
            lowering.function(function);
        }
        LLVMDisposeBuilder(lowering.builder);
        lowering.calls_runtime
    }
}

/// The low and the high word of a value.
#[derive(Clone, Copy)]
struct Wide {
    low: LLVMValueRef,
    high: LLVMValueRef,
}

struct Lowering {
    module: LLVMModuleRef,
    builder: LLVMBuilderRef,
    word: LLVMTypeRef,
    checks_overflow: bool,
    calls_runtime: bool,
    /// What the instructions that were lowered have become; none if they cannot be lowered.
    words: HashMap<LLVMValueRef, Option<Wide>>,
    /// Instructions without a wide result, and what takes their place.
    replaced: Vec<(LLVMValueRef, LLVMValueRef)>,
}

impl Lowering {
    unsafe fn function(&mut self, function: LLVMValueRef) {
        unsafe {
            self.words.clear();
            let touches = |inst: LLVMValueRef| {
                let operands = 0..LLVMGetNumOperands(inst) as u32;
                is_wide(LLVMTypeOf(inst))
                    || operands
                        .map(|at| LLVMGetOperand(inst, at))
                        .any(|value| is_wide(LLVMTypeOf(value)) || is_checked_operation(value))
            };
            let (wide, users): (Vec<LLVMValueRef>, Vec<LLVMValueRef>) = all_instructions(function)
                .filter(|&inst| touches(inst))
                .partition(|&inst| is_wide(LLVMTypeOf(inst)));
            let checked: Vec<LLVMValueRef> = users
                .iter()
                .copied()
                .filter(|&inst| is_checked_operation(inst))
                .collect();
            for &inst in &wide {
                self.wide(inst);
            }
            self.fill_phis(&wide);
            for inst in users {
                self.user(inst);
            }
            self.replace();
            // Those that nothing refers to any more go; from behind, for operands come before.
            let mut left: Vec<LLVMValueRef> = wide
                .into_iter()
                .filter(|inst| matches!(self.words.get(inst), Some(Some(_))))
                .collect();
            self.break_cycles(&left);
            left.extend(checked);
            loop {
                let before = left.len();
                left.reverse();
                left.retain(|&inst| {
                    let is_used = !LLVMGetFirstUse(inst).is_null();
                    if !is_used {
                        LLVMInstructionEraseFromParent(inst);
                    }
                    is_used
                });
                left.reverse();
                if left.is_empty() || left.len() == before {
                    return;
                }
            }
        }
    }

    /// Phis refer to each other in circles; one that only lowered instructions use has no value any more.
    unsafe fn break_cycles(&self, lowered: &[LLVMValueRef]) {
        unsafe {
            let all: HashSet<LLVMValueRef> = lowered.iter().copied().collect();
            for &phi in lowered {
                if LLVMIsAPHINode(phi).is_null() {
                    continue;
                }
                let mut next = LLVMGetFirstUse(phi);
                let mut is_needed = false;
                while !next.is_null() {
                    is_needed |= !all.contains(&LLVMGetUser(next));
                    next = LLVMGetNextUse(next);
                }
                if !is_needed {
                    LLVMReplaceAllUsesWith(phi, LLVMGetUndef(LLVMTypeOf(phi)));
                }
            }
        }
    }

    unsafe fn before(&self, inst: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, inst);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(inst));
        }
    }

    unsafe fn constant(&self, value: u64) -> LLVMValueRef {
        unsafe { LLVMConstInt(self.word, value, 0) }
    }

    /// The words of a value; none if it cannot be lowered. The builder may be elsewhere afterwards.
    unsafe fn wide(&mut self, value: LLVMValueRef) -> Option<Wide> {
        unsafe {
            if let Some(&known) = self.words.get(&value) {
                return known;
            }
            if LLVMIsAInstruction(value).is_null() {
                if LLVMIsUndef(value) != 0 {
                    let undef = LLVMGetUndef(self.word);
                    return Some(Wide {
                        low: undef,
                        high: undef,
                    });
                }
                if LLVMIsAConstantInt(value).is_null() {
                    return None;
                }
                let [low, high] = words_of_constant(value)?;
                let (low, high) = (self.constant(low), self.constant(high));
                return Some(Wide { low, high });
            }
            if !LLVMIsAPHINode(value).is_null() {
                self.before(value);
                let low = LLVMBuildPhi(self.builder, self.word, NO_NAME);
                let high = LLVMBuildPhi(self.builder, self.word, NO_NAME);
                let found = Some(Wide { low, high });
                self.words.insert(value, found);
                return found;
            }
            let found = self.lowered(value);
            self.words.insert(value, found);
            found
        }
    }

    /// The words that come into phis, when all of them are there.
    unsafe fn fill_phis(&mut self, all: &[LLVMValueRef]) {
        unsafe {
            for &phi in all {
                if LLVMIsAPHINode(phi).is_null() {
                    continue;
                }
                let Some(Some(words)) = self.words.get(&phi).copied() else {
                    continue;
                };
                let mut is_complete = true;
                for index in 0..LLVMCountIncoming(phi) {
                    let from = self.wide(LLVMGetIncomingValue(phi, index));
                    is_complete &= from.is_some();
                    let undef = LLVMGetUndef(self.word);
                    let from = from.unwrap_or(Wide {
                        low: undef,
                        high: undef,
                    });
                    let block = LLVMGetIncomingBlock(phi, index);
                    for (phi, mut value) in [(words.low, from.low), (words.high, from.high)] {
                        LLVMAddIncoming(phi, &mut value, [block].as_mut_ptr(), 1);
                    }
                }
                if !is_complete {
                    // What comes in is refused where a run reaches it, so no run gets here with it.
                    self.words.insert(phi, None);
                }
            }
        }
    }

    /// The words of an instruction with a wide result.
    unsafe fn lowered(&mut self, inst: LLVMValueRef) -> Option<Wide> {
        use LLVMOpcode::*;
        unsafe {
            let operand = |index| LLVMGetOperand(inst, index);
            let opcode = LLVMGetInstructionOpcode(inst);
            match opcode {
                LLVMLoad => {
                    if !is_plain(inst) {
                        return None;
                    }
                    self.before(inst);
                    let low = self.load(inst, operand(0), 0);
                    let high = self.load(inst, operand(0), 1);
                    Some(Wide { low, high })
                }
                LLVMZExt | LLVMSExt | LLVMPtrToInt => {
                    if LLVMGetTypeKind(LLVMTypeOf(operand(0))) == LLVMTypeKind::LLVMIntegerTypeKind
                        && LLVMGetIntTypeWidth(LLVMTypeOf(operand(0))) > 64
                    {
                        return None;
                    }
                    self.before(inst);
                    let b = self.builder;
                    let low = match opcode {
                        LLVMPtrToInt => LLVMBuildPtrToInt(b, operand(0), self.word, NO_NAME),
                        LLVMSExt => LLVMBuildSExtOrBitCast(b, operand(0), self.word, NO_NAME),
                        _ => LLVMBuildZExtOrBitCast(b, operand(0), self.word, NO_NAME),
                    };
                    let high = match opcode {
                        LLVMSExt => LLVMBuildAShr(b, low, self.constant(63), NO_NAME),
                        _ => self.constant(0),
                    };
                    Some(Wide { low, high })
                }
                LLVMSelect => {
                    let (then, otherwise) = (self.wide(operand(1))?, self.wide(operand(2))?);
                    self.before(inst);
                    Some(self.select(operand(0), then, otherwise))
                }
                LLVMFreeze => {
                    let arg = self.wide(operand(0))?;
                    self.before(inst);
                    let low = LLVMBuildFreeze(self.builder, arg.low, NO_NAME);
                    let high = LLVMBuildFreeze(self.builder, arg.high, NO_NAME);
                    Some(Wide { low, high })
                }
                LLVMExtractValue => {
                    let (wide, _) = self.checked(operand(0))?;
                    (*LLVMGetIndices(inst) == 0).then_some(wide)
                }
                LLVMFPToSI | LLVMFPToUI => {
                    self.before(inst);
                    let double = LLVMDoubleTypeInContext(LLVMGetModuleContext(self.module));
                    let number = match LLVMGetTypeKind(LLVMTypeOf(operand(0))) {
                        LLVMTypeKind::LLVMFloatTypeKind => {
                            LLVMBuildFPExt(self.builder, operand(0), double, NO_NAME)
                        }
                        LLVMTypeKind::LLVMDoubleTypeKind => operand(0),
                        _ => return None,
                    };
                    let bits = LLVMBuildBitCast(self.builder, number, self.word, NO_NAME);
                    Some(self.call_for_wide(inst, c"__mover_wide_from_float", &[bits]))
                }
                LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr
                | LLVMAShr | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => {
                    let (lhs, rhs) = (self.wide(operand(0))?, self.wide(operand(1))?);
                    self.before(inst);
                    Some(self.arithmetic(inst, opcode, lhs, rhs))
                }
                _ => None,
            }
        }
    }

    unsafe fn arithmetic(
        &mut self,
        inst: LLVMValueRef,
        opcode: LLVMOpcode,
        lhs: Wide,
        rhs: Wide,
    ) -> Wide {
        use LLVMOpcode::*;
        unsafe {
            let b = self.builder;
            let by_word = |build: unsafe extern "C" fn(_, _, _, _) -> LLVMValueRef| Wide {
                low: build(b, lhs.low, rhs.low, NO_NAME),
                high: build(b, lhs.high, rhs.high, NO_NAME),
            };
            match opcode {
                LLVMAnd => by_word(LLVMBuildAnd),
                LLVMOr => by_word(LLVMBuildOr),
                LLVMXor => by_word(LLVMBuildXor),
                LLVMShl | LLVMLShr | LLVMAShr => self.shift(opcode, lhs, rhs),
                LLVMUDiv => self.divide(inst, c"__mover_wide_udiv", lhs, rhs),
                LLVMSDiv => self.divide(inst, c"__mover_wide_sdiv", lhs, rhs),
                LLVMURem => self.divide(inst, c"__mover_wide_urem", lhs, rhs),
                LLVMSRem => self.divide(inst, c"__mover_wide_srem", lhs, rhs),
                _ => {
                    let is_checked = self.checks_overflow && LLVMGetNSW(inst) != 0;
                    let (result, overflows) =
                        self.ring(opcode, lhs, rhs, is_checked.then_some(true));
                    if let Some(overflows) = overflows {
                        // The largest word plus one, where the wide operation overflows.
                        let one = LLVMBuildZExt(b, overflows, self.word, NO_NAME);
                        LLVMBuildNSWAdd(b, self.constant(i64::MAX as u64), one, NO_NAME);
                    }
                    result
                }
            }
        }
    }

    /// Sum, difference or product, and whether it overflows as a signed or unsigned number if asked.
    unsafe fn ring(
        &mut self,
        opcode: LLVMOpcode,
        lhs: Wide,
        rhs: Wide,
        is_signed: Option<bool>,
    ) -> (Wide, Option<LLVMValueRef>) {
        use LLVMIntPredicate::*;
        unsafe {
            let b = self.builder;
            match opcode {
                LLVMOpcode::LLVMMul => {
                    let args = [lhs.low, rhs.low];
                    let high = self.call(c"__mover_wide_multiply_high", &args, self.word);
                    let cross = LLVMBuildAdd(
                        b,
                        LLVMBuildMul(b, lhs.high, rhs.low, NO_NAME),
                        LLVMBuildMul(b, lhs.low, rhs.high, NO_NAME),
                        NO_NAME,
                    );
                    let result = Wide {
                        low: LLVMBuildMul(b, lhs.low, rhs.low, NO_NAME),
                        high: LLVMBuildAdd(b, high, cross, NO_NAME),
                    };
                    let overflows = is_signed.map(|is_signed| {
                        let name = match is_signed {
                            true => c"__mover_wide_smul_overflows",
                            false => c"__mover_wide_umul_overflows",
                        };
                        let args = [lhs.low, lhs.high, rhs.low, rhs.high];
                        let found = self.call(name, &args, self.word);
                        LLVMBuildICmp(b, LLVMIntNE, found, self.constant(0), NO_NAME)
                    });
                    (result, overflows)
                }
                LLVMOpcode::LLVMAdd => {
                    let low = LLVMBuildAdd(b, lhs.low, rhs.low, NO_NAME);
                    let carry = LLVMBuildICmp(b, LLVMIntULT, low, lhs.low, NO_NAME);
                    let carry = LLVMBuildZExt(b, carry, self.word, NO_NAME);
                    let high = LLVMBuildAdd(b, lhs.high, rhs.high, NO_NAME);
                    let high = LLVMBuildAdd(b, high, carry, NO_NAME);
                    let result = Wide { low, high };
                    let overflows = is_signed.map(|is_signed| match is_signed {
                        // Both operands differ in sign from the sum.
                        true => self.are_negative([(lhs.high, high), (rhs.high, high)]),
                        false => self.compare(LLVMIntULT, result, lhs),
                    });
                    (result, overflows)
                }
                _ => {
                    let low = LLVMBuildSub(b, lhs.low, rhs.low, NO_NAME);
                    let borrow = LLVMBuildICmp(b, LLVMIntULT, lhs.low, rhs.low, NO_NAME);
                    let borrow = LLVMBuildZExt(b, borrow, self.word, NO_NAME);
                    let high = LLVMBuildSub(b, lhs.high, rhs.high, NO_NAME);
                    let high = LLVMBuildSub(b, high, borrow, NO_NAME);
                    let result = Wide { low, high };
                    let overflows = is_signed.map(|is_signed| match is_signed {
                        true => self.are_negative([(lhs.high, rhs.high), (lhs.high, high)]),
                        false => self.compare(LLVMIntULT, lhs, rhs),
                    });
                    (result, overflows)
                }
            }
        }
    }

    /// Whether the two words of each of these pairs differ in sign.
    unsafe fn are_negative(&self, pairs: [(LLVMValueRef, LLVMValueRef); 2]) -> LLVMValueRef {
        unsafe {
            let b = self.builder;
            let [one, other] = pairs.map(|(a, c)| LLVMBuildXor(b, a, c, NO_NAME));
            let both = LLVMBuildAnd(b, one, other, NO_NAME);
            LLVMBuildICmp(
                b,
                LLVMIntPredicate::LLVMIntSLT,
                both,
                self.constant(0),
                NO_NAME,
            )
        }
    }

    /// Shifts by less than 64 and by at least 64 are different. A shift that is as wide as the type
    /// becomes one of a word that is.
    unsafe fn shift(&self, opcode: LLVMOpcode, value: Wide, by: Wide) -> Wide {
        use LLVMIntPredicate::*;
        unsafe {
            let b = self.builder;
            let too_far = LLVMBuildOr(
                b,
                LLVMBuildICmp(b, LLVMIntUGE, by.low, self.constant(128), NO_NAME),
                LLVMBuildICmp(b, LLVMIntNE, by.high, self.constant(0), NO_NAME),
                NO_NAME,
            );
            let inside = LLVMBuildAnd(b, by.low, self.constant(63), NO_NAME);
            let checked = LLVMBuildSelect(b, too_far, self.constant(64), inside, NO_NAME);
            let rest = LLVMBuildSub(b, self.constant(63), inside, NO_NAME);
            let is_far = LLVMBuildICmp(b, LLVMIntUGE, by.low, self.constant(64), NO_NAME);
            if opcode == LLVMOpcode::LLVMShl {
                let low = LLVMBuildShl(b, value.low, checked, NO_NAME);
                let high = LLVMBuildShl(b, value.high, inside, NO_NAME);
                let half = LLVMBuildLShr(b, value.low, self.constant(1), NO_NAME);
                let over = LLVMBuildLShr(b, half, rest, NO_NAME);
                let near = Wide {
                    low,
                    high: LLVMBuildOr(b, high, over, NO_NAME),
                };
                let far = Wide {
                    low: self.constant(0),
                    high: low,
                };
                return self.select(is_far, far, near);
            }
            let is_arithmetic = opcode == LLVMOpcode::LLVMAShr;
            let (high, filled) = match is_arithmetic {
                true => (
                    LLVMBuildAShr(b, value.high, checked, NO_NAME),
                    LLVMBuildAShr(b, value.high, self.constant(63), NO_NAME),
                ),
                false => (
                    LLVMBuildLShr(b, value.high, checked, NO_NAME),
                    self.constant(0),
                ),
            };
            let low = LLVMBuildLShr(b, value.low, inside, NO_NAME);
            // No bit of the high word is lost twice: first by one, which cannot be too far.
            let twice = LLVMBuildShl(b, value.high, self.constant(1), NO_NAME);
            let over = LLVMBuildShl(b, twice, rest, NO_NAME);
            let near = Wide {
                low: LLVMBuildOr(b, low, over, NO_NAME),
                high,
            };
            let far = Wide {
                low: high,
                high: filled,
            };
            self.select(is_far, far, near)
        }
    }

    unsafe fn select(&self, condition: LLVMValueRef, then: Wide, otherwise: Wide) -> Wide {
        unsafe {
            let b = self.builder;
            Wide {
                low: LLVMBuildSelect(b, condition, then.low, otherwise.low, NO_NAME),
                high: LLVMBuildSelect(b, condition, then.high, otherwise.high, NO_NAME),
            }
        }
    }

    unsafe fn compare(&self, predicate: LLVMIntPredicate, lhs: Wide, rhs: Wide) -> LLVMValueRef {
        use LLVMIntPredicate::*;
        unsafe {
            let b = self.builder;
            let build = |predicate, lhs, rhs| LLVMBuildICmp(b, predicate, lhs, rhs, NO_NAME);
            let are_equal = build(LLVMIntEQ, lhs.high, rhs.high);
            if matches!(predicate, LLVMIntEQ | LLVMIntNE) {
                let low = build(LLVMIntEQ, lhs.low, rhs.low);
                let all = LLVMBuildAnd(b, are_equal, low, NO_NAME);
                return match predicate {
                    LLVMIntEQ => all,
                    _ => LLVMBuildNot(b, all, NO_NAME),
                };
            }
            let (strict, low) = match predicate {
                LLVMIntUGT => (LLVMIntUGT, LLVMIntUGT),
                LLVMIntUGE => (LLVMIntUGT, LLVMIntUGE),
                LLVMIntULT => (LLVMIntULT, LLVMIntULT),
                LLVMIntULE => (LLVMIntULT, LLVMIntULE),
                LLVMIntSGT => (LLVMIntSGT, LLVMIntUGT),
                LLVMIntSGE => (LLVMIntSGT, LLVMIntUGE),
                LLVMIntSLT => (LLVMIntSLT, LLVMIntULT),
                _ => (LLVMIntSLT, LLVMIntULE),
            };
            let high = build(strict, lhs.high, rhs.high);
            let low = build(low, lhs.low, rhs.low);
            let low = LLVMBuildAnd(b, are_equal, low, NO_NAME);
            LLVMBuildOr(b, high, low, NO_NAME)
        }
    }

    unsafe fn divide(&mut self, inst: LLVMValueRef, name: &CStr, lhs: Wide, rhs: Wide) -> Wide {
        unsafe { self.call_for_wide(inst, name, &[lhs.low, lhs.high, rhs.low, rhs.high]) }
    }

    /// `__builtin_add_overflow` and its like: the result, and whether it overflows.
    unsafe fn checked(&mut self, call: LLVMValueRef) -> Option<(Wide, LLVMValueRef)> {
        unsafe {
            if !is_checked_operation(call) {
                return None;
            }
            let name = value_name(LLVMGetCalledValue(call));
            let kind = name.strip_prefix("llvm.")?.split('.').next()?;
            let (is_signed, kind) = (kind.starts_with('s'), kind.get(1..)?);
            let opcode = match kind {
                "add" => LLVMOpcode::LLVMAdd,
                "sub" => LLVMOpcode::LLVMSub,
                "mul" => LLVMOpcode::LLVMMul,
                _ => return None,
            };
            let lhs = self.wide(LLVMGetOperand(call, 0))?;
            let rhs = self.wide(LLVMGetOperand(call, 1))?;
            self.before(call);
            let (result, overflows) = self.ring(opcode, lhs, rhs, Some(is_signed));
            Some((result, overflows?))
        }
    }

    /// Lowers an instruction that takes wide values and yields none.
    unsafe fn user(&mut self, inst: LLVMValueRef) {
        use LLVMOpcode::*;
        unsafe {
            let operand = |index| LLVMGetOperand(inst, index);
            let replaced = match LLVMGetInstructionOpcode(inst) {
                LLVMStore => {
                    if !is_plain(inst) {
                        return;
                    }
                    let Some(value) = self.wide(operand(0)) else {
                        return;
                    };
                    self.before(inst);
                    self.store(inst, value.low, operand(1), 0);
                    self.store(inst, value.high, operand(1), 1);
                    LLVMInstructionEraseFromParent(inst);
                    return;
                }
                LLVMTrunc | LLVMIntToPtr => {
                    let Some(value) = self.wide(operand(0)) else {
                        return;
                    };
                    let ty = LLVMTypeOf(inst);
                    self.before(inst);
                    match LLVMGetTypeKind(ty) {
                        LLVMTypeKind::LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) > 64 => return,
                        LLVMTypeKind::LLVMIntegerTypeKind => {
                            LLVMBuildTruncOrBitCast(self.builder, value.low, ty, NO_NAME)
                        }
                        _ => LLVMBuildIntToPtr(self.builder, value.low, ty, NO_NAME),
                    }
                }
                LLVMICmp => {
                    let (Some(lhs), Some(rhs)) = (self.wide(operand(0)), self.wide(operand(1)))
                    else {
                        return;
                    };
                    self.before(inst);
                    self.compare(LLVMGetICmpPredicate(inst), lhs, rhs)
                }
                opcode @ (LLVMSIToFP | LLVMUIToFP) => {
                    let Some(value) = self.wide(operand(0)) else {
                        return;
                    };
                    self.before(inst);
                    let context = LLVMGetModuleContext(self.module);
                    let ty = LLVMTypeOf(inst);
                    let is_signed = self.constant(u64::from(opcode == LLVMSIToFP));
                    let args = [value.low, value.high, is_signed];
                    let bits = match LLVMGetTypeKind(ty) {
                        LLVMTypeKind::LLVMDoubleTypeKind => {
                            self.call(c"__mover_wide_to_double", &args, self.word)
                        }
                        LLVMTypeKind::LLVMFloatTypeKind => {
                            let int = LLVMInt32TypeInContext(context);
                            self.call(c"__mover_wide_to_single", &args, int)
                        }
                        _ => return,
                    };
                    LLVMBuildBitCast(self.builder, bits, ty, NO_NAME)
                }
                LLVMExtractValue if *LLVMGetIndices(inst) == 1 => {
                    let Some((_, overflows)) = self.checked(operand(0)) else {
                        return;
                    };
                    overflows
                }
                _ => return,
            };
            self.replaced.push((inst, replaced));
        }
    }

    /// Puts the replacements in place, when nothing refers to the replaced ones any more but
    /// instructions: a word may be one of them.
    unsafe fn replace(&mut self) {
        unsafe {
            let all: Vec<(LLVMValueRef, LLVMValueRef)> = self.replaced.drain(..).collect();
            let by: HashMap<LLVMValueRef, LLVMValueRef> = all.iter().copied().collect();
            for &(inst, mut value) in &all {
                while let Some(&next) = by.get(&value) {
                    value = next;
                }
                LLVMReplaceAllUsesWith(inst, value);
            }
            for (inst, _) in all {
                LLVMInstructionEraseFromParent(inst);
            }
        }
    }

    unsafe fn place(&self, pointer: LLVMValueRef, word: u64) -> LLVMValueRef {
        unsafe {
            if word == 0 {
                return pointer;
            }
            let mut index = self.constant(word);
            LLVMBuildInBoundsGEP2(self.builder, self.word, pointer, &mut index, 1, NO_NAME)
        }
    }

    unsafe fn load(&self, of: LLVMValueRef, pointer: LLVMValueRef, word: u64) -> LLVMValueRef {
        unsafe {
            let load = LLVMBuildLoad2(self.builder, self.word, self.place(pointer, word), NO_NAME);
            LLVMSetVolatile(load, LLVMGetVolatile(of));
            LLVMSetAlignment(load, LLVMGetAlignment(of).min(8));
            load
        }
    }

    unsafe fn store(&self, of: LLVMValueRef, value: LLVMValueRef, to: LLVMValueRef, word: u64) {
        unsafe {
            let store = LLVMBuildStore(self.builder, value, self.place(to, word));
            LLVMSetVolatile(store, LLVMGetVolatile(of));
            LLVMSetAlignment(store, LLVMGetAlignment(of).min(8));
        }
    }

    /// Calls a function of the runtime library.
    unsafe fn call(&mut self, name: &CStr, args: &[LLVMValueRef], ty: LLVMTypeRef) -> LLVMValueRef {
        unsafe {
            self.calls_runtime = true;
            let mut args = args.to_vec();
            let mut types: Vec<LLVMTypeRef> = args.iter().map(|&arg| LLVMTypeOf(arg)).collect();
            let count = args.len() as u32;
            let ty = LLVMFunctionType(ty, types.as_mut_ptr(), count, 0);
            let mut callee = LLVMGetNamedFunction(self.module, name.as_ptr());
            if callee.is_null() {
                callee = LLVMAddFunction(self.module, name.as_ptr(), ty);
            }
            LLVMBuildCall2(self.builder, ty, callee, args.as_mut_ptr(), count, NO_NAME)
        }
    }

    /// Calls a function that stores two words; a variable before the arguments is for them.
    unsafe fn call_for_wide(
        &mut self,
        inst: LLVMValueRef,
        name: &CStr,
        args: &[LLVMValueRef],
    ) -> Wide {
        unsafe {
            let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
            let first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
            self.before(first);
            let ty = LLVMArrayType2(self.word, 2);
            let variable = LLVMBuildAlloca(self.builder, ty, NO_NAME);
            LLVMSetAlignment(variable, 8);
            self.before(inst);
            let mut all = vec![variable];
            all.extend(args);
            let nothing = LLVMVoidTypeInContext(LLVMGetModuleContext(self.module));
            self.call(name, &all, nothing);
            let word =
                |at| LLVMBuildLoad2(self.builder, self.word, self.place(variable, at), NO_NAME);
            Wide {
                low: word(0),
                high: word(1),
            }
        }
    }
}

unsafe fn is_plain(inst: LLVMValueRef) -> bool {
    unsafe { LLVMGetOrdering(inst) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
}

/// Whether a value is what `llvm.sadd.with.overflow.i128` or its like yields.
unsafe fn is_checked_operation(value: LLVMValueRef) -> bool {
    unsafe {
        if LLVMIsACallInst(value).is_null() {
            return false;
        }
        let name = value_name(LLVMGetCalledValue(value));
        name.starts_with("llvm.") && name.ends_with(".with.overflow.i128")
    }
}
