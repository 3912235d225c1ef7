//! Random programs, searched in all ways.
//!
//! Reductions are easy to get wrong: an error that they hide is not seen in any
//! test that does not know of it. So programs are made at random ([`promela`]),
//! every way to search is compared with the search of all interleavings
//! ([`mod@compare`]), and a program on which they disagree is made smaller until
//! nothing can be left out ([`smallest`]).

pub mod compare;
pub mod promela;
pub mod random;

pub use compare::{Compared, Mismatch, WAYS, Way, compare};
pub use promela::Model;

/// Models with more states are passed over: many small ones find more than a few large ones.
const MOST_STATES: u64 = 600;

/// Compares one model; `None` if it is no valid model or too large.
pub fn check_model(model: &Model) -> Result<Option<Compared>, Mismatch> {
    match mover_promela::parse_text("random", &model.text()) {
        Ok(read) => compare(&read.program, MOST_STATES),
        Err(_) => Ok(None),
    }
}

/// The smallest model that still shows a mismatch, and the mismatch.
pub fn smallest(model: &Model, mismatch: Mismatch) -> (Model, Mismatch) {
    let mut best = (model.clone(), mismatch);
    'smaller: loop {
        for model in best.0.smaller() {
            if let Err(mismatch) = check_model(&model) {
                best = (model, mismatch);
                continue 'smaller;
            }
        }
        return best;
    }
}
