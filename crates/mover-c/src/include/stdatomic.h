/* The generic functions of <stdatomic.h> as gcc has them: they also take pointers to types that are not atomic.
 * Clang's take pointers to atomic types only. */
#include_next <stdatomic.h>

#ifndef MOVER_STDATOMIC
#define MOVER_STDATOMIC

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_xor
#undef atomic_fetch_xor_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit

/* The type without qualifiers, and a pointer to it. */
#define __mover_value(p) __typeof_unqual__(*(p))
#define __mover_plain(p) ((__mover_value(p) *)(p))
#define __mover_any __ATOMIC_SEQ_CST

/* Initialising is no atomic access. */
#define atomic_init(p, v) ((void)(*__mover_plain(p) = (v)))
#define atomic_load_explicit(p, order) __atomic_load_n(__mover_plain(p), order)
#define atomic_load(p) atomic_load_explicit(p, __mover_any)
#define atomic_store_explicit(p, v, order) __atomic_store_n(__mover_plain(p), (__mover_value(p))(v), order)
#define atomic_store(p, v) atomic_store_explicit(p, v, __mover_any)
#define atomic_exchange_explicit(p, v, order) __atomic_exchange_n(__mover_plain(p), (__mover_value(p))(v), order)
#define atomic_exchange(p, v) atomic_exchange_explicit(p, v, __mover_any)
#define atomic_compare_exchange_strong_explicit(p, e, v, then, otherwise) \
    __atomic_compare_exchange_n(__mover_plain(p), __mover_plain(e), (__mover_value(p))(v), 0, then, otherwise)
#define atomic_compare_exchange_strong(p, e, v) \
    atomic_compare_exchange_strong_explicit(p, e, v, __mover_any, __mover_any)
#define atomic_compare_exchange_weak_explicit(p, e, v, then, otherwise) \
    __atomic_compare_exchange_n(__mover_plain(p), __mover_plain(e), (__mover_value(p))(v), 1, then, otherwise)
#define atomic_compare_exchange_weak(p, e, v) \
    atomic_compare_exchange_weak_explicit(p, e, v, __mover_any, __mover_any)
#define atomic_fetch_add_explicit(p, v, order) __atomic_fetch_add(__mover_plain(p), v, order)
#define atomic_fetch_add(p, v) atomic_fetch_add_explicit(p, v, __mover_any)
#define atomic_fetch_sub_explicit(p, v, order) __atomic_fetch_sub(__mover_plain(p), v, order)
#define atomic_fetch_sub(p, v) atomic_fetch_sub_explicit(p, v, __mover_any)
#define atomic_fetch_or_explicit(p, v, order) __atomic_fetch_or(__mover_plain(p), v, order)
#define atomic_fetch_or(p, v) atomic_fetch_or_explicit(p, v, __mover_any)
#define atomic_fetch_xor_explicit(p, v, order) __atomic_fetch_xor(__mover_plain(p), v, order)
#define atomic_fetch_xor(p, v) atomic_fetch_xor_explicit(p, v, __mover_any)
#define atomic_fetch_and_explicit(p, v, order) __atomic_fetch_and(__mover_plain(p), v, order)
#define atomic_fetch_and(p, v) atomic_fetch_and_explicit(p, v, __mover_any)

#endif
