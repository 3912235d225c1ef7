//! A barrier that breaks up when a participant fails.
//!
//! Workers wait for each other. With a common barrier, a worker that panics would leave the others waiting for
//! ever; here they are told.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
    participants: usize,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// How often all have met.
    met: u64,
    is_broken: bool,
}

/// Breaks the meeting up if its thread panics.
pub struct Attendance<'a>(&'a Meeting);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

impl Meeting {
    pub fn new(participants: usize) -> Self {
        Meeting {
            state: Mutex::default(),
            changed: Condvar::new(),
            participants,
        }
    }

    /// To be kept by each participant as long as it may wait.
    pub fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all others; false if one of them has failed.
    pub fn wait(&self) -> bool {
        let mut state = self.lock();
        state.waiting += 1;
        if state.waiting == self.participants {
            state.waiting = 0;
            state.met += 1;
            self.changed.notify_all();
            return !state.is_broken;
        }
        let met = state.met;
        while state.met == met && !state.is_broken {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_meet_again_and_again() {
        let (meeting, count) = (Meeting::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=100 {
                        count.fetch_add(1, Ordering::Relaxed);
                        assert!(meeting.wait());
                        assert_eq!(count.load(Ordering::Relaxed), 3 * round);
                        assert!(meeting.wait());
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_one_that_fails() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let fails = scope.spawn(|| {
                let _attendance = meeting.attend();
                std::panic::resume_unwind(Box::new("on purpose"));
            });
            assert!(!meeting.wait());
            assert!(fails.join().is_err());
        });
    }
}
