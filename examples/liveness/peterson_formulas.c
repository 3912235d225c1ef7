/*
 * Peterson's mutual exclusion in C11, with formulas over global variables and places.
 *
 * Only one thread is inside, and who wants to get in does, if threads are scheduled fairly.
 *
 * expect: [] (inside[0] + inside[1] <= 1) safe
 * expect: [] !(first@critical && second@critical_too) safe
 * expect: [] (flag[0] -> <> inside[0]) unsafe
 * expect --fair weak: [] (flag[0] -> <> inside[0]) safe
 * expect --fair weak: [] (flag[1] -> (!inside[0] W inside[1])) unsafe
 * expect --fair weak: <> [] (inside[0] == 0 && inside[1] == 0) unsafe
 * expect -DWRONG: [] (inside[0] + inside[1] <= 1) unsafe
 * expect -DWRONG: [] !(first@critical && second@critical_too) unsafe
 */
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag[2], turn, inside[2];

static void enter(int me)
{
#ifdef WRONG
	while (atomic_load(&flag[1 - me]))
		;
	atomic_store(&flag[me], 1);
#else
	atomic_store(&flag[me], 1);
	atomic_store(&turn, 1 - me);
	while (atomic_load(&flag[1 - me]) && atomic_load(&turn) == 1 - me)
		;
#endif
}

static void *first(void *unused)
{
	(void)unused;
	for (;;) {
		enter(0);
critical:
		atomic_store(&inside[0], 1);
		atomic_store(&inside[0], 0);
		atomic_store(&flag[0], 0);
	}
	return 0;
}

static void *second(void *unused)
{
	(void)unused;
	for (;;) {
		enter(1);
critical_too:
		atomic_store(&inside[1], 1);
		atomic_store(&inside[1], 0);
		atomic_store(&flag[1], 0);
	}
	return 0;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, first, 0);
	pthread_create(&b, 0, second, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
