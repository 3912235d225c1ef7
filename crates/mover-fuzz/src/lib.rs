//! Random programs, searched in all ways.
//!
//! Reductions are easy to get wrong: an error that they hide is not seen in any
//! test that does not know of it. So programs are made at random ([`promela`], [`ir`], and with
//! the feature `c` also C), every way to search is compared with the search of all interleavings
//! ([`mod@compare`], and with the feature `symbolic` the other engines), and a program on
//! which they disagree is made smaller until nothing can be left out ([`smallest`]). With the
//! feature `tm` there are algorithms of transactional memories as well, and all there is to
//! judge them by.

#[cfg(feature = "c")]
pub mod c;
pub mod compare;
pub mod ir;
pub mod promela;
pub mod random;
#[cfg(feature = "symbolic")]
pub mod subject;
#[cfg(feature = "symbolic")]
pub mod symbolic;
#[cfg(feature = "tm")]
pub mod tm;

use std::sync::atomic::{AtomicU64, Ordering};

pub use compare::{Compared, Mismatch, PassedOver, WAYS, Way, compare};
pub use promela::Model;

/// Models with more states are passed over: many small ones find more than a few large ones.
pub const MOST_STATES: u64 = 600;

/// Compares one model.
pub fn check_model(model: &Model) -> Result<Result<Compared, PassedOver>, Mismatch> {
    match mover_promela::parse_text("random", &model.text()) {
        Ok(read) => compare(&read.program, MOST_STATES),
        Err(_) => Ok(Err(PassedOver::Invalid)),
    }
}

/// For tests: how much to try, if the environment says so.
pub fn setting(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => usual,
    }
}

/// For tests: how many programs to try. `MOVER_PROGRAMS` says so, or `MOVER_LONG` that it may take
/// an hour.
pub fn programs(usual: u64) -> u64 {
    let is_long = std::env::var_os("MOVER_LONG").is_some();
    setting("MOVER_PROGRAMS", if is_long { LONG * usual } else { usual })
}

/// How many times as many programs are tried by tests that may take an hour.
const LONG: u64 = 6;

/// For tests: what comes of so many programs (see [`programs`]), one for each seed, tried on all
/// cores. `MOVER_SEED` says which seed is the first. The results are in the order of the seeds; a
/// seed that panics ends the test.
pub fn of_seeds<R: Send>(usual: u64, try_seed: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let first = setting("MOVER_SEED", 1);
    let end = first + programs(usual);
    let next = AtomicU64::new(first);
    let work = || {
        let mut results = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return results;
            }
            // Nobody else needs to go on if this one panics.
            let stop = StopOnPanic { next: &next, end };
            results.push((seed, try_seed(seed)));
            std::mem::forget(stop);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(u64, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect()
    });
    results.sort_by_key(|(seed, _)| *seed);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Takes all seeds that are left when it is dropped.
struct StopOnPanic<'a> {
    next: &'a AtomicU64,
    end: u64,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.next.store(self.end, Ordering::Relaxed);
    }
}

/// The smallest model that still shows a mismatch, and the mismatch.
pub fn smallest(model: &Model, mismatch: Mismatch) -> (Model, Mismatch) {
    shrink(model.clone(), mismatch, Model::smaller, |model| {
        check_model(model).err()
    })
}

/// Goes on to smaller things for as long as one of them still fails.
pub fn shrink<T>(
    thing: T,
    mismatch: Mismatch,
    smaller: impl Fn(&T) -> Vec<T>,
    fails: impl Fn(&T) -> Option<Mismatch>,
) -> (T, Mismatch) {
    let mut best = (thing, mismatch);
    'smaller: loop {
        for thing in smaller(&best.0) {
            if let Some(mismatch) = fails(&thing) {
                best = (thing, mismatch);
                continue 'smaller;
            }
        }
        return best;
    }
}
