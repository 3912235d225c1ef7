/* Peterson's algorithm for two threads, in C, waiting busily
 *
 * Inside of the critical section a thread works for a time that an abstraction
 * has forgotten. Asserted: mutual exclusion.
 *
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

static volatile _Bool wants[2];
static volatile int turn;
static int inside, done;

static void *thread(void *arg)
{
	int me = (int)(long)arg, other = 1 - me;
	for (;;) {
		wants[me] = 1;
		turn = other;
		while (wants[other] && turn == other)
			;
		inside++;
		while (__VERIFIER_nondet_bool())
			done = !done;
		assert(inside == 1);
		inside--;
		wants[me] = 0;
	}
	return 0;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, thread, (void *)0);
	pthread_create(&b, 0, thread, (void *)1);
	pthread_join(a, 0);
	pthread_join(b, 0);
}
