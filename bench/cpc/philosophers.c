/* Dining philosophers, in C
 *
 * They take the fork with the lower number first, eat for a time that an
 * abstraction has forgotten, and begin again. Asserted: neighbours do not eat at
 * the same time.
 *
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

extern _Bool __VERIFIER_nondet_bool(void);

static pthread_mutex_t forks[N];
static int eating[N];

static void *philosopher(void *arg)
{
	int seat = (int)(long)arg, next = (seat + 1) % N;
	int low = seat < next ? seat : next;
	int high = seat < next ? next : seat;
	for (;;) {
		pthread_mutex_lock(&forks[low]);
		pthread_mutex_lock(&forks[high]);
		eating[seat] = 1;
		while (__VERIFIER_nondet_bool())
			assert(!eating[next]);
		eating[seat] = 0;
		pthread_mutex_unlock(&forks[high]);
		pthread_mutex_unlock(&forks[low]);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[N];
	for (long i = 0; i < N; i++)
		pthread_create(&threads[i], 0, philosopher, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], 0);
}
