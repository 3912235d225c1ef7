//! Enforces the time and memory limits of an engine.
//!
//! Symbolic engines check the clock themselves and stop in good order: they still report how
//! far they got. But between two checks a large formula may be built or simplified, which can
//! take arbitrarily long, and no engine knows in advance how much memory that needs. So an
//! engine runs in its own thread, and the thread that waits for it also checks the clock and
//! the memory of the process. When a limit is reached the engine is asked to stop; if it does
//! not stop shortly it is abandoned, and its last report is used. It ends with the process.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use memory_stats::memory_stats;
use mover_engine::{CancelReason, Control, Stop};

/// How an engine ended, or that it did not.
pub enum Ended<T> {
    Answered(T),
    /// It answered, but had been asked to stop because of the memory.
    OutOfMemory(T),
    Abandoned(Stop),
}

/// Between two inspections of the memory, in which an engine takes some ten megabytes at most.
const INSPECT_EVERY: Duration = Duration::from_millis(10);

/// What an engine gets to stop in good order, when it is not the clock that it has to inspect.
const TO_STOP: Duration = Duration::from_millis(300);

/// As much as the main thread has.
const STACK: usize = 8 << 20;

enum Message<N, T> {
    News(N),
    Answer(T),
}

/// Lets an engine work under the control, which it is given with a request of its own added.
pub fn watch<N, T>(
    control: &Control,
    work: impl FnOnce(&Control, &mut (dyn FnMut(N) + Send)) -> T + Send + 'static,
    mut hear: impl FnMut(N),
) -> Ended<T>
where
    N: Send + 'static,
    T: Send + 'static,
{
    let (inner, cancel) = control.child();
    let is_full = || cancel.reason() == Some(CancelReason::Memory);
    let (sender, messages) = channel::<Message<N, T>>();
    let worker = std::thread::Builder::new()
        .name("engine".into())
        .stack_size(STACK)
        .spawn(move || {
            let news: Sender<Message<N, T>> = sender.clone();
            // The receiver is gone if the engine was abandoned.
            let answer = work(&inner, &mut move |told| {
                drop(news.send(Message::News(told)))
            });
            drop(sender.send(Message::Answer(answer)));
        });
    let worker = match worker {
        Ok(worker) => worker,
        Err(error) => panic!("no thread for the engine: {error}"),
    };
    let whole = control.time_left();
    let mut asked_to_stop: Option<Instant> = None;
    loop {
        match messages.recv_timeout(INSPECT_EVERY) {
            Ok(Message::News(told)) => hear(told),
            Ok(Message::Answer(answer)) if is_full() => return Ended::OutOfMemory(answer),
            Ok(Message::Answer(answer)) => return Ended::Answered(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => panic!("an engine without an answer"),
            },
        }
        let now = Instant::now();
        if let (Some(end), Some(whole)) = (control.deadline, whole)
            && now >= end + whole / 25
        {
            return Ended::Abandoned(Stop::Time);
        }
        let is_late = asked_to_stop.is_some_and(|asked| now > asked + TO_STOP);
        if let (Some(most), Some(taken)) = (control.memory, memory_stats())
            && taken.physical_mem > most
        {
            cancel.request(CancelReason::Memory);
            // It may take a little more while it stops, but not much.
            if is_late || taken.physical_mem > most + most / 20 {
                return Ended::Abandoned(Stop::Memory);
            }
            asked_to_stop.get_or_insert(now);
        } else if let Some(stop) = control.cancelled() {
            if is_late {
                return Ended::Abandoned(stop);
            }
            asked_to_stop.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_engine::Cancel;

    fn watched(control: &Control, stubborn: bool) -> (Ended<u8>, Duration) {
        let started = Instant::now();
        let work = move |inner: &Control, _: &mut (dyn FnMut(u8) + Send)| {
            while stubborn || inner.cancelled().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            7
        };
        let ended = watch(control, work, |_| ());
        (ended, started.elapsed())
    }

    #[test]
    fn an_engine_that_does_not_stop_is_abandoned() {
        let whole = Duration::from_millis(200);
        let (ended, time) = watched(&Control::unlimited().within(whole), true);
        assert!(matches!(ended, Ended::Abandoned(Stop::Time)));
        assert!(time >= whole);
        let cancel = Cancel::default();
        cancel.request(CancelReason::User);
        let (ended, _) = watched(&Control::cancelled_by(&cancel), true);
        assert!(matches!(ended, Ended::Abandoned(Stop::User)));
    }

    #[test]
    fn an_engine_that_fills_the_memory_is_asked_to_stop() {
        // This process has more than a byte, and more than a twentieth more than that.
        let (ended, _) = watched(&Control::unlimited().with_memory(Some(1)), true);
        assert!(matches!(ended, Ended::Abandoned(Stop::Memory)));
        let now = memory_stats().map_or(0, |stats| stats.physical_mem);
        let limit = Some(now - now / 200);
        let (ended, _) = watched(&Control::unlimited().with_memory(limit), false);
        assert!(matches!(
            ended,
            Ended::OutOfMemory(7) | Ended::Abandoned(Stop::Memory)
        ));
    }

    #[test]
    fn news_come_before_the_answer() {
        let mut heard = Vec::new();
        let work = |_: &Control, tell: &mut (dyn FnMut(u32) + Send)| {
            (0..100).for_each(&mut *tell);
            "done"
        };
        let ended = watch(&Control::unlimited(), work, |n| heard.push(n));
        assert!(matches!(ended, Ended::Answered("done")));
        assert_eq!(heard, (0..100).collect::<Vec<_>>());
    }
}
