//! Whether a proof relies on sequential consistency.
//!
//! All engines interleave accesses as they stand in the program. C and the machines promise that only to
//! programs without data races (Adve and Hill 1990). If races are asked for, one is a violation. If they
//! are not, `safe` of a program with a race says nothing of reordered accesses; so such a proof is followed
//! by a search for races, unless locks and the order of creation rule them out, and a race becomes a
//! caveat. The search has about as much time as the proof; if it does not finish, the caveat says that.

use std::time::Duration;

use mover_engine::{Conclusion, Control, EngineError, Task};
use mover_ir::program::Property;

use crate::driver::CheckError;
use crate::engines::engine;
use crate::options::{EngineChoice, Options, ReductionChoice};
use crate::strategy::Run;
use crate::trace::Trace;

/// The search has this much time in any case.
const LEAST: Duration = Duration::from_secs(1);

/// What a proof that took this long does not cover.
pub fn caveat(
    task: &Task,
    took: Duration,
    control: &Control,
) -> Result<Option<String>, CheckError> {
    let Some(racy) = task.about_races() else {
        return Ok(None);
    };
    let open = "checked under sequential consistency, and data races were not ruled out";
    let options = Options {
        first: true,
        ..Options::default()
    };
    let run = Run {
        engine: EngineChoice::Explicit,
        reduction: ReductionChoice::Dynamic,
        jobs: 1,
        hunt: None,
    };
    let within = control.within(LEAST + took);
    let outcome = match engine(&run, &options).run(&racy, &within, &mut |_| {}) {
        Ok(outcome) => outcome,
        Err(EngineError::Unsupported(_)) => return Ok(Some(open.into())),
        Err(error) => return Err(error.into()),
    };
    let mut violations = outcome.violations();
    if let Some(race) = violations.find(|violation| violation.property == Property::NoDataRace) {
        let trace = Trace::replay(racy.program(), race)
            .map_err(|error| CheckError::Internal(format!("a race does not replay: {error}")))?;
        return Ok(Some(format!(
            "checked under sequential consistency, which a program with a data race does not have ({})",
            trace.message
        )));
    }
    Ok(match &outcome.conclusion {
        Conclusion::Safe { up_to } if up_to.is_empty() => None,
        _ => Some(open.into()),
    })
}
