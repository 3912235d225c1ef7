/* The annotations of GenMC, for programs of its test suite: they mean nothing to other checkers.
 * Its hazard pointers and threads of its own are only declared, so a program that uses them is refused by name. */
#ifndef MOVER_PUBLIC_GENMC_H
#define MOVER_PUBLIC_GENMC_H

#include <stdbool.h>

void __VERIFIER_assume(int);
int __VERIFIER_nondet_int(void);

#define __VERIFIER_loop_begin() ((void)0)
#define __VERIFIER_spin_start() ((void)0)
#define __VERIFIER_spin_end(b) ((void)(b))
#define __VERIFIER_local_write(s) do { s; } while (0)
#define __VERIFIER_final_write(s) do { s; } while (0)
#define __VERIFIER_helped_CAS(c) do { c; } while (0)
#define __VERIFIER_helping_CAS(c) do { c; } while (0)
#define __VERIFIER_speculative_read(c) (c)
#define __VERIFIER_confirming_read(c) (c)
#define __VERIFIER_confirming_CAS(c) (c)
#define __VERIFIER_final_CAS(c) (c)
/* Steps that may be left out. */
#define __VERIFIER_optional(x) do { if (__VERIFIER_nondet_int()) { x; } } while (0)

typedef struct __VERIFIER_hazard *__VERIFIER_hp_t;
__VERIFIER_hp_t __VERIFIER_hp_alloc(void);
void *__VERIFIER_hp_protect(__VERIFIER_hp_t, void *);
void __VERIFIER_hp_clear(__VERIFIER_hp_t);
void __VERIFIER_hp_free(__VERIFIER_hp_t);
void __VERIFIER_hp_retire(void *);

#endif
