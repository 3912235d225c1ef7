/*
 * Two threads take two locks in opposite orders and give the first one back if
 * the second is taken. They cannot deadlock, but they can be polite for ever.
 *
 * expect --property termination: termination unsafe
 * expect --property termination -DORDERED: termination safe
 */
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
#ifdef ORDERED
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
#else
	for (;;) {
		pthread_mutex_lock(first);
		if (pthread_mutex_trylock(second) == 0)
			break;
		pthread_mutex_unlock(first);
	}
#endif
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *left(void *unused)
{
	(void)unused;
	both(&a, &b);
	return 0;
}

static void *right(void *unused)
{
	(void)unused;
#ifdef ORDERED
	both(&a, &b);
#else
	both(&b, &a);
#endif
	return 0;
}

int main(void)
{
	pthread_t l, r;
	pthread_create(&l, 0, left, 0);
	pthread_create(&r, 0, right, 0);
	pthread_join(l, 0);
	pthread_join(r, 0);
	return 0;
}
