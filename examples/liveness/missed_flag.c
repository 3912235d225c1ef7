/*
 * A thread waits for a flag that nobody sets, and spins for ever.
 *
 * No assertion fails, and there is no deadlock: the thread can always move.
 *
 * expect --property termination: termination unsafe
 * expect --property termination -DFIXED: termination safe
 * expect --fair weak: <> ready unsafe
 * expect --fair weak -DFIXED: <> ready safe
 * expect --fair weak -DFIXED: <> (ready == 2) unsafe
 * expect -DFIXED: [] (ready == 0 || ready == 1) safe
 */
#include <pthread.h>
#include <stdatomic.h>

atomic_int ready;

static void *setter(void *unused)
{
	(void)unused;
#ifdef FIXED
	atomic_store(&ready, 1);
#endif
	return 0;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, setter, 0);
	while (!atomic_load(&ready)) {
	}
	pthread_join(thread, 0);
	return 0;
}
