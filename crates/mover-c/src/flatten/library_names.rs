//! What the front end knows of a library function by its name alone.

use super::is_null;
use crate::ssa::*;

/// Functions of the runtime that are not those of the C library by the same name.
pub(super) fn is_internal(name: &str) -> bool {
    name.starts_with("float_")
        || name.starts_with("wide_")
        || name.starts_with("category_")
        || matches!(
            name,
            "allocate"
                | "allocate_zeroed"
                | "object_size"
                | "release"
                | "bad_free"
                | "cancel_enabled"
                | "failed_for"
                | "new_key"
                | "key_get"
                | "key_set"
                | "forget_key"
                | "leave_thread"
                | "leave_mutexes"
                | "robust_given"
                | "robust_taken"
                | "owner_died"
                | "memcpy_of_ints"
                | "memmove_of_ints"
                | "memset_of_ints"
                | "add_magnitudes"
                | "any_positive"
                | "choice"
                | "class"
                | "exponent"
                | "fill"
                | "format"
                | "from_magnitude"
                | "has"
                | "is_nan"
                | "leading_zeros"
                | "length"
                | "normal"
                | "normalise_and_round"
                | "number"
                | "order"
                | "pack"
                | "printed"
                | "put"
                | "read_bytes"
                | "round_single"
                | "run_handlers"
                | "shift_jam"
                | "single_from_magnitude"
                | "sub_magnitudes"
                | "swap"
                | "tick"
                | "unsupported"
                | "up_to"
                | "variable"
                | "any_seed"
                | "digit"
                | "digit_count"
                | "format_double"
                | "interrupted"
                | "power"
                | "read_double"
                | "register"
                | "round_digits"
                | "scale"
                | "select_from"
                | "sets_signals"
                | "program_cancels"
                | "destructors"
                | "errno"
                | "is_pending"
                | "divide_words"
                | "is_negative"
                | "works"
                | "number_or_error"
                | "any_number"
                | "priority"
                | "processors"
        )
}

/// Functions that the front end knows better than the program's own body of them.
pub(super) fn is_modelled(name: &str) -> bool {
    matches!(
        name,
        "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" | "__VERIFIER_assume"
    )
}

/// The name of a library function without the marks of a version of the C standard.
pub fn plain_name(name: &str) -> &str {
    let stripped = name
        .strip_prefix("__isoc99_")
        .or_else(|| name.strip_prefix("__isoc23_"));
    stripped.unwrap_or(name)
}

/// Functions that change nothing; their result says whether the time is one.
pub fn is_sleep(name: &str) -> bool {
    matches!(name, "nanosleep" | "clock_nanosleep")
}

/// Functions that only write to files or the terminal.
pub fn is_output(name: &str) -> bool {
    matches!(
        name,
        "printf"
            | "fprintf"
            | "vprintf"
            | "vfprintf"
            | "dprintf"
            | "puts"
            | "putchar"
            | "putc"
            | "fputs"
            | "fputc"
            | "fflush"
            | "perror"
            | "setbuf"
            | "setvbuf"
            | "__printf_chk"
            | "__fprintf_chk"
            | "fwrite"
            | "_IO_putc"
            | "fclose"
            | "vdprintf"
            | "putc_unlocked"
            | "putchar_unlocked"
            | "fputc_unlocked"
            | "fputs_unlocked"
            | "fwrite_unlocked"
            | "fflush_unlocked"
            | "__vprintf_chk"
            | "__vfprintf_chk"
            | "psignal"
            | "setlinebuf"
    )
}

/// Functions whose arguments make no difference here.
pub(super) fn takes_no_notice(name: &str) -> bool {
    matches!(
        name,
        "srand" | "srandom" | "srand48" | "sleep" | "usleep" | "alarm" | "sched_yield"
    )
}

/// Functions that return something and do nothing else.
pub(super) fn is_mere_input(name: &str, args: &[Operand]) -> bool {
    let is_clock = name == "time" && is_null(args.first());
    let is_other = matches!(
        name,
        "rand" | "random" | "lrand48" | "mrand48" | "clock" | "getpid" | "getppid"
    );
    is_clock || is_other
}

/// Functions that change nothing that a program can see, and succeed.
pub(super) fn is_without_effect(name: &str) -> bool {
    matches!(
        name,
        "sleep"
            | "usleep"
            | "nanosleep"
            | "clock_nanosleep"
            | "sched_yield"
            | "pthread_yield"
            | "thrd_yield"
            | "thrd_sleep"
            | "srand"
            | "srandom"
            | "srand48"
            | "lcong48"
            | "rewind"
            | "pthread_testcancel"
            | "pthread_sigmask"
            | "sigprocmask"
            | "pthread_setaffinity_np"
            | "sched_setaffinity"
            | "pthread_setschedparam"
            | "madvise"
            | "clearerr"
            | "pthread_attr_destroy"
            | "pthread_mutexattr_destroy"
            | "pthread_condattr_init"
            | "pthread_condattr_destroy"
            | "pthread_condattr_setclock"
            | "pthread_rwlockattr_init"
            | "pthread_rwlockattr_destroy"
            | "pthread_barrierattr_init"
            | "pthread_barrierattr_destroy"
            | "pthread_cond_destroy"
            | "cnd_destroy"
            | "pthread_barrier_destroy"
            | "sem_destroy"
            | "pthread_setname_np"
            | "pthread_setconcurrency"
            | "setlocale"
            | "alarm"
    ) || (name.starts_with("pthread_") && name.contains("attr_set"))
        || name.ends_with("attr_setpshared")
}
