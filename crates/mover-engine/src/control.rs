//! Limits and requests to stop, with their reasons.
//!
//! A [`Control`] is passed to an engine, which polls it: [`Control::stop`] says whether to
//! stop, and why. There are four reasons, and they must not be confused: the user interrupted,
//! which ends the whole command; another engine has the answer, which ends only this engine;
//! the time limit; the memory limit. A [`Cancel`] is a request with its reason. Controls form a
//! tree: a race derives one for its engines, so that the winner stops the others and nothing
//! else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Why an engine ended before it had an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The user interrupted.
    User,
    /// Another engine has the answer.
    Answered,
    Time,
    Memory,
    /// The store can number no more states.
    StoreFull,
    /// Something was met that the engine does not take.
    Refused,
}

impl Stop {
    pub fn reason(self) -> &'static str {
        match self {
            Stop::User => "the search was interrupted",
            Stop::Answered => "another engine had the answer",
            Stop::Time => "the time limit was reached",
            Stop::Memory => "the memory limit was reached",
            Stop::StoreFull => "the store can hold no more states",
            Stop::Refused => "the program does something that this engine does not support",
        }
    }

    /// What would help.
    pub fn advice(self) -> &'static str {
        match self {
            Stop::User | Stop::Answered => "letting it run longer",
            Stop::Time => "a longer --timeout",
            Stop::Memory => "a larger --memory",
            Stop::StoreFull => "a model with smaller parameters",
            Stop::Refused => "another engine",
        }
    }
}

/// Why an engine is asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelReason {
    User,
    Answered,
    Memory,
}

/// A request to stop that can be made from any thread, or from a signal handler.
#[derive(Clone, Default, Debug)]
pub struct Cancel(Arc<AtomicU8>);

const USER: u8 = 1;
const ANSWERED: u8 = 2;
const MEMORY: u8 = 3;

impl Cancel {
    /// Asks to stop. The first reason counts; says whether this was it.
    pub fn request(&self, reason: CancelReason) -> bool {
        let number = match reason {
            CancelReason::User => USER,
            CancelReason::Answered => ANSWERED,
            CancelReason::Memory => MEMORY,
        };
        let exchanged = self
            .0
            .compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        exchanged.is_ok()
    }

    pub fn reason(&self) -> Option<CancelReason> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            USER => Some(CancelReason::User),
            ANSWERED => Some(CancelReason::Answered),
            _ => Some(CancelReason::Memory),
        }
    }
}

/// What an engine may take, and who may stop it.
#[derive(Clone, Default, Debug)]
pub struct Control {
    pub deadline: Option<Instant>,
    /// Bytes.
    pub memory: Option<usize>,
    /// From the outermost inwards.
    cancels: Vec<Cancel>,
}

impl Control {
    /// Without limits and without requests to stop.
    pub fn unlimited() -> Control {
        Control::default()
    }

    /// One that this request stops.
    pub fn cancelled_by(cancel: &Cancel) -> Control {
        Control {
            cancels: vec![cancel.clone()],
            ..Control::default()
        }
    }

    pub fn with_deadline(mut self, deadline: Option<Instant>) -> Control {
        self.deadline = deadline;
        self
    }

    pub fn with_memory(mut self, bytes: Option<usize>) -> Control {
        self.memory = bytes;
        self
    }

    /// The same control with a further request that stops it, which is given, too.
    pub fn child(&self) -> (Control, Cancel) {
        let cancel = Cancel::default();
        let mut child = self.clone();
        child.cancels.push(cancel.clone());
        (child, cancel)
    }

    /// The same control, with at most this much time from now on.
    pub fn within(&self, time: Duration) -> Control {
        let end = Instant::now() + time;
        let deadline = self.deadline.map_or(end, |deadline| deadline.min(end));
        Control {
            deadline: Some(deadline),
            ..self.clone()
        }
    }

    /// The same control for one of so many parts of the time that is left, but not more than `most`.
    pub fn share(&self, parts: u32, most: Duration) -> Control {
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()) / parts);
        self.within(left.map_or(most, |left| left.min(most)))
    }

    /// Time that is left, if it is limited.
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether a stop was requested, without checking the clock.
    pub fn cancelled(&self) -> Option<Stop> {
        let reason = self.cancels.iter().find_map(Cancel::reason)?;
        Some(match reason {
            CancelReason::User => Stop::User,
            CancelReason::Answered => Stop::Answered,
            CancelReason::Memory => Stop::Memory,
        })
    }

    /// Whether to stop, and why. Memory is for those who know what they take.
    pub fn stop(&self) -> Option<Stop> {
        self.cancelled().or_else(|| {
            let is_late = self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline);
            is_late.then_some(Stop::Time)
        })
    }

    /// The same for an engine that takes this many bytes.
    pub fn stop_at(&self, bytes: usize) -> Option<Stop> {
        self.stop().or_else(|| {
            let is_full = self.memory.is_some_and(|memory| bytes > memory);
            is_full.then_some(Stop::Memory)
        })
    }

    pub fn is_over(&self) -> bool {
        self.stop().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_winner_stops_its_race_and_nobody_else() {
        let user = Cancel::default();
        let whole = Control::cancelled_by(&user);
        let (race, win) = whole.child();
        assert_eq!(race.stop(), None);
        assert!(win.request(CancelReason::Answered));
        assert_eq!(race.stop(), Some(Stop::Answered));
        assert_eq!(whole.stop(), None);
        // A signal after the win is seen by what follows, and says that it came from the user.
        assert!(user.request(CancelReason::User));
        assert_eq!(whole.stop(), Some(Stop::User));
        assert_eq!(race.stop(), Some(Stop::User));
    }

    #[test]
    fn the_first_reason_counts() {
        let cancel = Cancel::default();
        assert!(cancel.request(CancelReason::Memory));
        assert!(!cancel.request(CancelReason::User));
        assert_eq!(cancel.reason(), Some(CancelReason::Memory));
    }

    #[test]
    fn an_earlier_deadline_counts() {
        let past = Control::unlimited().within(Duration::ZERO);
        assert_eq!(past.stop(), Some(Stop::Time));
        let later = past.within(Duration::from_secs(1000));
        assert_eq!(later.deadline, past.deadline);
        assert_eq!(
            Control::unlimited()
                .within(Duration::from_secs(1000))
                .stop(),
            None
        );
    }
}
