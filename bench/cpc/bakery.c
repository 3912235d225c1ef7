/* Lamport's bakery, in C
 *
 * Each customer comes once. Asserted: mutual exclusion.
 *
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static volatile int choosing[N], number[N];
static int inside;

static void *customer(void *arg)
{
	int me = (int)(long)arg, highest = 0;
	choosing[me] = 1;
	for (int i = 0; i < N; i++) {
		int other = number[i];
		if (other > highest)
			highest = other;
	}
	number[me] = highest + 1;
	choosing[me] = 0;
	for (int i = 0; i < N; i++) {
		while (choosing[i])
			;
		for (;;) {
			int theirs = number[i], mine = number[me];
			if (theirs == 0 || theirs > mine || (theirs == mine && i >= me))
				break;
		}
	}
	inside++;
	assert(inside == 1);
	inside--;
	number[me] = 0;
	return arg;
}

int main(void)
{
	pthread_t threads[N];
	for (long i = 0; i < N; i++)
		pthread_create(&threads[i], 0, customer, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], 0);
}
