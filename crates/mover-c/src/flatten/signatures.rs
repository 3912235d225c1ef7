//! The types that the C library gives to the functions that are modelled as primitives.
//!
//! A program may declare a library function with other types: old code without prototypes, a
//! handle declared as `long`, a result that is ignored. Linking does not notice, and on the usual
//! machines such a call passes the low bits of each argument. The models are written for the
//! library's types, so a call is first brought to these ([`Flattener::library`]). Functions of the
//! runtime have types of their own, and are adapted to them where they are called
//! ([`Flattener::runtime`]).

use super::library_names::{is_output, is_without_effect};
use super::{Flat, Flattener};
use crate::ssa::*;

/// Result and parameters: `v` is nothing, `i` an `int`, `p` a pointer or a number as wide as one.
fn signature(name: &str) -> Option<&'static str> {
    Some(match name {
        "pthread_create" => "ipppp",
        "thrd_create" => "ippp",
        "pthread_join" | "thrd_join" | "pthread_tryjoin_np" | "pthread_equal" | "thrd_equal" => {
            "ipp"
        }
        "pthread_timedjoin_np" => "ippp",
        "pthread_clockjoin_np" => "ippip",
        "pthread_detach" | "thrd_detach" | "pthread_cancel" => "ip",
        "pthread_self" | "thrd_current" => "p",
        "pthread_exit" => "vp",
        "thrd_exit" => "vi",
        "pthread_mutex_lock"
        | "pthread_mutex_trylock"
        | "pthread_mutex_unlock"
        | "pthread_mutex_destroy"
        | "pthread_mutex_consistent"
        | "mtx_lock"
        | "mtx_trylock"
        | "mtx_unlock"
        | "mtx_destroy"
        | "pthread_spin_lock"
        | "pthread_spin_trylock"
        | "pthread_spin_unlock"
        | "pthread_spin_destroy"
        | "pthread_rwlock_rdlock"
        | "pthread_rwlock_wrlock"
        | "pthread_rwlock_tryrdlock"
        | "pthread_rwlock_trywrlock"
        | "pthread_rwlock_unlock"
        | "pthread_rwlock_destroy"
        | "sem_wait"
        | "sem_trywait"
        | "sem_post"
        | "pthread_cond_signal"
        | "pthread_cond_broadcast"
        | "cnd_signal"
        | "cnd_broadcast"
        | "cnd_init"
        | "pthread_barrier_wait"
        | "pthread_mutexattr_init"
        | "pthread_attr_init" => "ip",
        "pthread_mutex_timedlock"
        | "mtx_timedlock"
        | "sem_timedwait"
        | "pthread_rwlock_timedrdlock"
        | "pthread_rwlock_timedwrlock"
        | "pthread_mutex_init"
        | "pthread_rwlock_init"
        | "pthread_cond_init"
        | "pthread_cond_wait"
        | "cnd_wait"
        | "pthread_once"
        | "call_once"
        | "sem_getvalue"
        | "pthread_key_create"
        | "tss_create" => "ipp",
        "pthread_cond_timedwait" | "cnd_timedwait" => "ippp",
        "pthread_cond_clockwait" => "ippip",
        "mtx_init"
        | "pthread_spin_init"
        | "pthread_mutexattr_settype"
        | "pthread_attr_setdetachstate" => "ipi",
        "pthread_barrier_init" => "ippi",
        "sem_init" => "ipii",
        "pthread_key_delete" | "tss_delete" => "ii",
        "pthread_getspecific" | "tss_get" => "pi",
        "pthread_setspecific" | "tss_set" => "iip",
        "malloc" | "alloca" => "pp",
        "free" => "vp",
        _ => return None,
    })
}

/// Whether a function without a body is one that is modelled and not part of the runtime.
pub fn is_known(name: &str) -> bool {
    signature(name).is_some()
        || is_output(name)
        || is_without_effect(name)
        || name.starts_with("__VERIFIER_")
        || matches!(
            name,
            "abort" | "exit" | "_exit" | "_Exit" | "quick_exit" | "__pthread_unwind_next"
        )
}

impl Flattener<'_> {
    /// A function without a body, whatever types the program declares it with.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn library(
        &mut self,
        at: BlockId,
        result: Option<ValueId>,
        name: &str,
        mut args: Vec<Operand>,
        shape: Shape,
        arg_shapes: Vec<Shape>,
        loc: Option<Loc>,
    ) -> Flat<BlockId> {
        let pointer = self.module.pointer_width();
        let Some(types) = signature(name) else {
            return self.modelled(at, result, name, args, shape, arg_shapes, loc);
        };
        let width = |kind: u8| match kind {
            b'p' => Some(pointer),
            b'i' => Some(32),
            _ => None,
        };
        let (returns, params) = types.as_bytes().split_at(1);
        for ((arg, from), kind) in args.iter_mut().zip(&arg_shapes).zip(params) {
            if let (&[from], Some(to)) = (&from[..], width(*kind))
                && from != to
            {
                *arg = self.resized(at, arg.clone(), to, loc);
            }
        }
        let natural: Shape = width(returns[0]).into_iter().collect();
        if result.is_none() || shape == natural {
            return self.modelled(at, result, name, args, shape, arg_shapes, loc);
        }
        let value = width(returns[0]).map(|width| self.new_value(vec![width], ""));
        let next = self.modelled(at, value, name, args, natural, arg_shapes, loc)?;
        self.convert(next, value, result, loc);
        Ok(next)
    }

    /// Gives a call's result the type that the program expects.
    pub(super) fn convert(
        &mut self,
        at: BlockId,
        value: Option<ValueId>,
        result: Option<ValueId>,
        loc: Option<Loc>,
    ) {
        let Some(id) = result else { return };
        if !matches!(self.blocks[at].end, Terminator::Unreachable) {
            return;
        }
        let shape = self.values[id].shape.clone();
        let pure = match (value, &shape[..]) {
            (Some(value), &[width]) => Pure::Resize {
                arg: Operand::Value(value),
                width,
                extension: Extension::Zero,
            },
            _ => Pure::Copy(Operand::Undef(shape)),
        };
        self.emit(at, result, Kind::Pure(pure), loc);
    }
}
