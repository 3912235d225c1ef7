//! Holds an engine to its limits of time and memory.
//!
//! Symbolic engines look at the clock themselves, and stop in good order: they still say how far
//! they have come. But between two looks a large formula may be built or simplified, which takes
//! as long as it takes, and what that needs of memory no engine knows beforehand. So an engine
//! works in a thread of its own, and whoever waits for it also looks at the clock and at what the
//! process takes of the memory. When a limit is reached the engine is asked to stop; if it does
//! not in a moment it is left behind, and what it knew last is told. It ends with the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use mover_cli::resources::resident_bytes;

/// What an engine may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// When it is to stop, and of how much time that is the end.
    pub time: Option<(Instant, Duration)>,
    pub memory: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    Time,
    Memory,
    /// Somebody else said so: a signal, or another engine that has the answer.
    Told,
}

/// How an engine ended, or that it did not.
pub enum Ended<T> {
    Answered(T),
    /// It answered, but had been asked to stop because of the memory.
    Filled(T),
    LeftBehind(Over),
}

/// Between two looks at the memory, in which an engine takes some ten megabytes at most.
const LOOK: Duration = Duration::from_millis(10);
/// What an engine gets to stop in good order, when it is not the clock that it has to look at.
const MOMENT: Duration = Duration::from_millis(300);

enum Message<N, T> {
    News(N),
    Answer(T),
}

/// Lets an engine work, within limits. It tells its news as it goes, and is stopped by the flag
/// `full` if the memory is; `stop` is the flag that others stop it by.
pub fn watch<N, T>(
    limits: Limits,
    stop: &AtomicBool,
    full: &Arc<AtomicBool>,
    work: impl FnOnce(&mut (dyn FnMut(N) + Send)) -> T + Send + 'static,
    mut hear: impl FnMut(N),
) -> Ended<T>
where
    N: Send + 'static,
    T: Send + 'static,
{
    let (sender, messages) = channel::<Message<N, T>>();
    let worker = std::thread::Builder::new()
        .name("engine".into())
        .stack_size(STACK)
        .spawn(move || {
            let news: Sender<Message<N, T>> = sender.clone();
            // Nobody listens any more if it was left behind.
            let answer = work(&mut move |told| drop(news.send(Message::News(told))));
            drop(sender.send(Message::Answer(answer)));
        });
    let worker = match worker {
        Ok(worker) => worker,
        Err(error) => panic!("no thread for the engine: {error}"),
    };
    let mut asked_to_stop: Option<Instant> = None;
    loop {
        match messages.recv_timeout(LOOK) {
            Ok(Message::News(told)) => hear(told),
            Ok(Message::Answer(answer)) if full.load(Ordering::Relaxed) => {
                return Ended::Filled(answer);
            }
            Ok(Message::Answer(answer)) => return Ended::Answered(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => panic!("an engine without an answer"),
            },
        }
        let now = Instant::now();
        if let Some((end, whole)) = limits.time
            && now >= end + whole / 25
        {
            return Ended::LeftBehind(Over::Time);
        }
        if let (Some(most), Some(taken)) = (limits.memory, resident_bytes())
            && taken > most
        {
            full.store(true, Ordering::Relaxed);
            // It may take a little more while it stops, but not much.
            let is_late = asked_to_stop.is_some_and(|asked| now > asked + MOMENT);
            if is_late || taken > most + most / 20 {
                return Ended::LeftBehind(Over::Memory);
            }
            asked_to_stop.get_or_insert(now);
        } else if stop.load(Ordering::Relaxed) {
            if asked_to_stop.is_some_and(|asked| now > asked + MOMENT) {
                return Ended::LeftBehind(Over::Told);
            }
            asked_to_stop.get_or_insert(now);
        }
    }
}

/// As much as the main thread has.
const STACK: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(limits: Limits, stop: &AtomicBool, stubborn: bool) -> (Ended<u8>, Duration) {
        let full = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&full);
        let started = Instant::now();
        let work = move |_: &mut (dyn FnMut(u8) + Send)| {
            while stubborn || !seen.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            7
        };
        let ended = watch(limits, stop, &full, work, |_| ());
        (ended, started.elapsed())
    }

    #[test]
    fn an_engine_that_does_not_stop_is_left_behind() {
        let whole = Duration::from_millis(200);
        let limits = Limits {
            time: Some((Instant::now() + whole, whole)),
            memory: None,
        };
        let (ended, time) = watched(limits, &AtomicBool::new(false), true);
        assert!(matches!(ended, Ended::LeftBehind(Over::Time)));
        assert!(time >= whole);
        let unlimited = Limits {
            time: None,
            memory: None,
        };
        let (ended, _) = watched(unlimited, &AtomicBool::new(true), true);
        assert!(matches!(ended, Ended::LeftBehind(Over::Told)));
    }

    #[test]
    fn an_engine_that_fills_the_memory_is_asked_to_stop() {
        // This process has more than a byte, and more than a twentieth more than that.
        let limits = Limits {
            time: None,
            memory: Some(1),
        };
        let (ended, _) = watched(limits, &AtomicBool::new(false), true);
        assert!(matches!(ended, Ended::LeftBehind(Over::Memory)));
        let now = resident_bytes().unwrap_or(0);
        let limits = Limits {
            time: None,
            memory: Some(now - now / 200),
        };
        let (ended, _) = watched(limits, &AtomicBool::new(false), false);
        assert!(matches!(
            ended,
            Ended::Filled(7) | Ended::LeftBehind(Over::Memory)
        ));
    }

    #[test]
    fn news_come_before_the_answer() {
        let limits = Limits {
            time: None,
            memory: None,
        };
        let mut heard = Vec::new();
        let full = Arc::new(AtomicBool::new(false));
        let work = |tell: &mut (dyn FnMut(u32) + Send)| {
            (0..100).for_each(&mut *tell);
            "done"
        };
        let ended = watch(limits, &AtomicBool::new(false), &full, work, |n| {
            heard.push(n)
        });
        assert!(matches!(ended, Ended::Answered("done")));
        assert_eq!(heard, (0..100).collect::<Vec<_>>());
    }
}
