/* An abstracted program of loops, in C
 *
 * What predicate abstraction leaves of a program whose threads update tables
 * under locks, as in conc.pml. Asserted: what holds between the predicates of
 * one lock.
 *
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

extern _Bool __VERIFIER_nondet_bool(void);

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static _Bool filled, dirty;	/* protected by table_lock: dirty implies filled */
static _Bool sorted, fresh;	/* protected by index_lock: fresh implies sorted */
static volatile _Bool hint;	/* unprotected */

static void *worker(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&table_lock);
		assert(!dirty || filled);
		filled = 1;
		while (__VERIFIER_nondet_bool())
			dirty = __VERIFIER_nondet_bool();
		pthread_mutex_unlock(&table_lock);
		hint = 1;
		pthread_mutex_lock(&index_lock);
		assert(!fresh || sorted);
		while (__VERIFIER_nondet_bool()) {
			sorted = 1;
			fresh = __VERIFIER_nondet_bool();
		}
		pthread_mutex_unlock(&index_lock);
		pthread_mutex_lock(&table_lock);
		while (__VERIFIER_nondet_bool()) {
			dirty = 0;
			filled = 0;
		}
		pthread_mutex_lock(&index_lock);
		fresh = 0;
		sorted = !dirty;
		pthread_mutex_unlock(&index_lock);
		pthread_mutex_unlock(&table_lock);
		hint = 0;
	}
	return arg;
}

int main(void)
{
	pthread_t threads[N];
	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], 0, worker, 0);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], 0);
}
