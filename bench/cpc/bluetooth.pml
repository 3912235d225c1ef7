/*
 * Stopping a Bluetooth driver
 *
 * Requests count themselves in, work, and count themselves out; stopping the
 * driver sets a flag, gives up its own count, and waits until the count is
 * zero. Asserted: no request works on a stopped driver. The driver's extension
 * is protected by a lock, as are the requests' own tables; the count is changed
 * by interlocked instructions. What a request does meanwhile has been abstracted
 * to loops that end by a free choice.
 *
 * A row of Table 1 of "Sound Transaction-based Reduction without Cycle
 * Detection" (Bluetooth, there from an abstracted C program). With -DBUG the
 * flag is read before the request has counted itself in: the known error.
 *
 * expect: safe
 */

#ifndef REQUESTS
#define REQUESTS 2
#endif

byte pending = 1;
bool stopping;
bool drained;
bool stopped;
bool queue_lock;
byte queued;

inline lock(m)
{
	atomic { !m -> m = true }
}

inline unlock(m)
{
	m = false
}

inline abstracted()
{
	do
	:: choice = true;
		choice = false
	:: break
	od
}

inline count_out()
{
	atomic {
		pending--;
		was_last = (pending == 0)
	};
	if
	:: was_last -> drained = true
	:: else
	fi;
	was_last = false
}

active [REQUESTS] proctype Request()
{
	bool choice, was_last, granted;

	do
	:: abstracted();
#ifdef BUG
		granted = !stopping;
		if
		:: granted -> pending++
		:: else
		fi;
#else
		pending++;
		granted = !stopping;
		if
		:: granted
		:: else -> count_out()
		fi;
#endif
		if
		:: granted ->
			granted = false;
			lock(queue_lock);
			queued = (queued + 1) % 3;
			abstracted();
			unlock(queue_lock);
			abstracted();
			assert(!stopped);
			lock(queue_lock);
			abstracted();
			queued = (queued + 2) % 3;
			unlock(queue_lock);
			count_out()
		:: else
		fi
	od
}

active proctype Stopper()
{
	bool choice, was_last;

	abstracted();
	stopping = true;
	abstracted();
	count_out();
	drained;
	abstracted();
	stopped = true
}
