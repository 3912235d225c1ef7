/* Stopping a Bluetooth driver, in C
 *
 * As bluetooth.pml: requests count themselves in, work on a table under a lock
 * and count themselves out; whoever stops the driver waits until the count is
 * zero. Asserted: no request works on a stopped driver.
 *
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#ifndef REQUESTS
#define REQUESTS 2
#endif

extern _Bool __VERIFIER_nondet_bool(void);

static int pending = 1;
static volatile _Bool stopping, drained, stopped;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queued;

static void count_out(void)
{
	if (__sync_sub_and_fetch(&pending, 1) == 0)
		drained = 1;
}

static void *request(void *arg)
{
	for (;;) {
		__sync_add_and_fetch(&pending, 1);
		if (stopping) {
			count_out();
			continue;
		}
		pthread_mutex_lock(&queue_lock);
		while (__VERIFIER_nondet_bool())
			queued = (queued + 1) % 3;
		pthread_mutex_unlock(&queue_lock);
		assert(!stopped);
		pthread_mutex_lock(&queue_lock);
		queued = 0;
		pthread_mutex_unlock(&queue_lock);
		count_out();
	}
	return arg;
}

static void *stopper(void *arg)
{
	stopping = 1;
	count_out();
	while (!drained)
		;
	stopped = 1;
	return arg;
}

int main(void)
{
	pthread_t threads[REQUESTS], stops;
	for (int i = 0; i < REQUESTS; i++)
		pthread_create(&threads[i], 0, request, 0);
	pthread_create(&stops, 0, stopper, 0);
	for (int i = 0; i < REQUESTS; i++)
		pthread_join(threads[i], 0);
	pthread_join(stops, 0);
}
