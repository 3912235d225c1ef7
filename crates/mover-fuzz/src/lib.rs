//! Random programs on which all engines are compared.
//!
//! Reductions are easy to get wrong: an error that a reduction hides is missed by every test
//! that does not target it. So programs are generated at random ([`promela`], [`ir`], and with
//! the feature `c` also C, by operations and by what protects data), every variant of the search is compared with the search of all
//! interleavings ([`mod@compare`], and with the feature `symbolic` the other engines), and a
//! program on which they disagree is minimised until nothing can be removed ([`smallest`]).
//! With the feature `tm` there are also transactional-memory algorithms, and all procedures
//! that decide their properties.

#[cfg(feature = "c")]
pub mod c;
pub mod compare;
mod cores;
pub mod ir;
pub mod promela;
#[cfg(feature = "c")]
pub mod protection;
pub mod random;
#[cfg(feature = "symbolic")]
pub mod subject;
#[cfg(feature = "symbolic")]
pub mod symbolic;
#[cfg(feature = "tm")]
pub mod tm;
pub mod trial;

pub use compare::{Compared, Mismatch, PassedOver, WAYS, Way, compare};
pub use cores::on_all_cores;
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

/// For tests: how many programs to try. `MOVER_PROGRAMS` says so, or `MOVER_LONG` (set by
/// `make test-long`) that there is time for more.
pub fn programs(usual: u64) -> u64 {
    let is_long = std::env::var_os("MOVER_LONG").is_some();
    setting("MOVER_PROGRAMS", if is_long { LONG * usual } else { usual })
}

/// How many times as many programs are tried with `MOVER_LONG`.
const LONG: u64 = 6;

/// For tests: what comes of so many programs (see [`programs`]), one for each seed, tried on all
/// cores. `MOVER_SEED` says which seed is the first. A seed that panics ends the test.
pub fn of_seeds<R: Send>(usual: u64, try_seed: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let first = setting("MOVER_SEED", 1);
    let seeds: Vec<u64> = (first..first + programs(usual)).collect();
    on_all_cores(&seeds, |&seed| try_seed(seed))
}

/// The smallest model that still shows a mismatch, and the mismatch.
pub fn smallest(model: &Model, mismatch: Mismatch) -> (Model, Mismatch) {
    shrink(model.clone(), mismatch, Model::smaller, |model| {
        check_model(model).err()
    })
}

/// Continues to smaller things for as long as one of them still fails.
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
