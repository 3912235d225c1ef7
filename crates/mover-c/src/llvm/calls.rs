//! Calls, and LLVM's intrinsics.
//!
//! The C library is handled in `flatten`; here only LLVM's own functions are translated:
//! arithmetic with overflow, hints without effect, lifetime markers.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

use super::lists::{all_instructions, functions};
use super::{Reader, Values, callbacks, printed, text, value_name};
use crate::ssa::{BinaryKind, BitsKind, Callee, Kind, Operand, Predicate, Pure, Shape, Slot};

/// Whether a function of the library makes a thread, a lock, a key or its value, which fails
/// where resources are short.
fn makes_something(name: &str) -> bool {
    let is_init = || {
        ["pthread_", "sem_", "mtx_", "cnd_"]
            .iter()
            .any(|s| name.starts_with(s))
    };
    match name {
        "pthread_create"
        | "thrd_create"
        | "pthread_key_create"
        | "tss_create"
        | "pthread_setspecific"
        | "tss_set" => true,
        _ => name.ends_with("_init") && is_init(),
    }
}

impl Reader {
    /// Notes the first call of each kind that does something other than what it does elsewhere.
    pub(super) unsafe fn note_assumptions(&mut self) {
        unsafe {
            let all = functions(self.module).flat_map(|function| all_instructions(function));
            for call in all.filter(|&inst| !LLVMIsACallInst(inst).is_null()) {
                let name = value_name(LLVMGetCalledValue(call));
                let loc = self.loc(call);
                // Where the stack is given back nothing happens here: what is on it lasts.
                if name.starts_with("llvm.stackrestore") {
                    self.out.lasting_arrays.get_or_insert(loc);
                }
                if makes_something(&name) && !LLVMGetFirstUse(call).is_null() {
                    self.out.awaited_failure.get_or_insert(loc);
                }
            }
        }
    }

    pub(super) unsafe fn call(
        &mut self,
        inst: LLVMValueRef,
        shape: Shape,
        values: &Values,
    ) -> Option<Kind> {
        unsafe {
            let callee = LLVMGetCalledValue(inst);
            let count = LLVMGetNumArgOperands(inst);
            if !LLVMIsAInlineAsm(callee).is_null() {
                let mut length = 0;
                let start = LLVMGetInlineAsmAsmString(callee, &mut length);
                let code = text(start, length);
                let start = LLVMGetInlineAsmConstraintString(callee, &mut length);
                let constraints = text(start, length);
                let args: Vec<LLVMValueRef> = (0..count)
                    .map(|index| LLVMGetOperand(inst, index))
                    .collect();
                let arg_shapes = args
                    .iter()
                    .map(|&arg| self.shape(LLVMTypeOf(arg)).unwrap_or_default())
                    .collect();
                return Some(Kind::Assembly {
                    code,
                    constraints,
                    args: args.iter().map(|&arg| self.operand(arg, values)).collect(),
                    arg_shapes,
                    shape,
                });
            }
            let name = value_name(callee);
            if name.starts_with("llvm.dbg.") {
                return None;
            }
            let mut args = Vec::new();
            let mut arg_shapes = Vec::new();
            for index in 0..count {
                let arg = LLVMGetOperand(inst, index);
                if LLVMGetTypeKind(LLVMTypeOf(arg)) == LLVMTypeKind::LLVMMetadataTypeKind {
                    return None;
                }
                // What a call does with an argument of another kind is its own matter.
                let arg_shape = self.shape(LLVMTypeOf(arg));
                args.push(match arg_shape {
                    Some(_) => self.operand(arg, values),
                    None => Operand::Unsupported(printed(arg)),
                });
                arg_shapes.push(arg_shape.unwrap_or_default());
            }
            if let Some(kind) = self.intrinsic(&name, &args, &shape) {
                return kind;
            }
            let byval_kind = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
            let by_value = (0..count)
                .map(|index| {
                    let attribute = LLVMGetCallSiteEnumAttribute(inst, index + 1, byval_kind);
                    (!attribute.is_null())
                        .then(|| self.bytes_of(LLVMGetTypeAttributeValue(attribute)))
                })
                .collect();
            let slot = self.virtual_slot(callee).map(|offset| Slot {
                offset,
                class: self.class_of(inst),
            });
            let is_choice =
                !LLVMIsAPHINode(callee).is_null() || !LLVMIsASelectInst(callee).is_null();
            let group = callbacks::group_of(inst);
            let callee = match (self.operand(callee, values), slot, group) {
                (Operand::Function(id), _, _) => Callee::Function(id),
                (other, _, Some(group)) => Callee::Registered(other, group),
                (other, Some(slot), _) => Callee::Virtual(other, Some(slot)),
                // What a pointer to a member function points to is one or the other.
                (other, None, _) if is_choice => Callee::Virtual(other, None),
                (other, None, _) => Callee::Indirect(other),
            };
            Some(Kind::Call {
                callee,
                args,
                by_value,
                shape,
                arg_shapes,
                unwind: None,
            })
        }
    }

    /// LLVM's own functions; the outer none leaves it a call, the inner one drops it.
    fn intrinsic(&self, name: &str, args: &[Operand], shape: &Shape) -> Option<Option<Kind>> {
        let rest = name.strip_prefix("llvm.")?;
        let arg = |index: usize| args.get(index).cloned();
        let is = |prefix: &str| rest == prefix || rest.starts_with(&format!("{prefix}."));
        let pure = |pure: Pure| Some(Some(Kind::Pure(pure)));
        const OVERFLOWS: [(&str, BinaryKind, bool); 6] = [
            ("sadd.with.overflow", BinaryKind::Add, true),
            ("uadd.with.overflow", BinaryKind::Add, false),
            ("ssub.with.overflow", BinaryKind::Sub, true),
            ("usub.with.overflow", BinaryKind::Sub, false),
            ("smul.with.overflow", BinaryKind::Mul, true),
            ("umul.with.overflow", BinaryKind::Mul, false),
        ];
        for (prefix, kind, signed) in OVERFLOWS {
            if is(prefix) {
                return pure(Pure::WithOverflow {
                    kind,
                    signed,
                    lhs: arg(0)?,
                    rhs: arg(1)?,
                });
            }
        }
        const CHOICES: [(&str, Predicate); 4] = [
            ("smax", Predicate::Sgt),
            ("smin", Predicate::Slt),
            ("umax", Predicate::Ugt),
            ("umin", Predicate::Ult),
        ];
        for (prefix, predicate) in CHOICES {
            if is(prefix) {
                return pure(Pure::MinMax {
                    predicate,
                    lhs: arg(0)?,
                    rhs: arg(1)?,
                });
            }
        }
        const BITS: [(&str, BitsKind); 4] = [
            ("ctpop", BitsKind::Population),
            ("ctlz", BitsKind::LeadingZeros),
            ("cttz", BitsKind::TrailingZeros),
            ("bswap", BitsKind::ByteSwap),
        ];
        for (prefix, kind) in BITS {
            if is(prefix) {
                // `ctlz` and `cttz` say whether 0 has a result; the others have one.
                let takes_zero = !matches!(args.get(1), Some(Operand::Int { value: 1, .. }));
                return pure(Pure::Bits {
                    kind,
                    arg: arg(0)?,
                    takes_zero,
                });
            }
        }
        if is("lifetime.start") || is("lifetime.end") {
            return Some(Some(Kind::Lifetime {
                pointer: arg(1)?,
                begins: is("lifetime.start"),
            }));
        }
        if is("eh.typeid.for") {
            return match args.first() {
                Some(Operand::Global(id)) => {
                    let (value, width) = (crate::ssa::type_number(*id), 32);
                    pure(Pure::Copy(Operand::Int { value, width }))
                }
                _ => None,
            };
        }
        if is("abs") {
            return pure(Pure::Abs(arg(0)?));
        }
        if is("fabs") {
            let width = *shape.first()?;
            let value = mover_ir::expr::mask(width) >> 1;
            return pure(Pure::Binary {
                kind: BinaryKind::And,
                nsw: false,
                lhs: arg(0)?,
                rhs: Operand::Int { value, width },
            });
        }
        if is("expect") || is("threadlocal.address") || is("ptr.annotation") || is("ssa.copy") {
            return pure(Pure::Copy(arg(0)?));
        }
        if is("is.constant") {
            return pure(Pure::Copy(Operand::Int { value: 0, width: 1 }));
        }
        if is("objectsize") {
            let unknown = matches!(args.get(1), Some(Operand::Int { value: 0, .. }));
            let value = if unknown { u64::MAX } else { 0 };
            let width = *shape.first()?;
            return pure(Pure::Copy(Operand::Int {
                value: value & mover_ir::expr::mask(width),
                width,
            }));
        }
        let nothing = [
            "assume",
            "donothing",
            "stackrestore",
            "var.annotation",
            "prefetch",
            "experimental.noalias.scope.decl",
            "sideeffect",
            "x86.sse2.pause",
            "x86.sse2.mfence",
            "x86.sse2.lfence",
            "x86.sse.sfence",
            "invariant.start",
            "invariant.end",
        ];
        if nothing.iter().any(|name| is(name)) {
            return Some(None);
        }
        if is("stacksave") {
            let width = self.out.pointer_width();
            return pure(Pure::Copy(Operand::Int { value: 0, width }));
        }
        None
    }
}
