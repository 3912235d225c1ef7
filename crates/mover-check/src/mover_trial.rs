//! Tests in all interleavings whether the movers of a reduction commute.

use mover_engine::{Control, Progress, Stop, Task};
pub use mover_explicit::{Claim, Defect, NotAMover, Taken};
use mover_explicit::{MoverCheck, check_movers};
use mover_reduce::Reduction;

use crate::options::ReductionChoice;
use crate::{CheckError, claims};

/// What came of trying the movers.
pub enum MoverTrial {
    /// Nothing moves; why.
    NoMovers(String),
    /// All pairs of steps commute as declared.
    Commute {
        states: u64,
        pairs: u64,
    },
    Wrong(Box<NotAMover>),
    /// Not all could be tried; why.
    NotDone {
        reason: String,
        states: u64,
        pairs: u64,
    },
}

/// Tries the movers of the reduction, or the static ones if it has none.
pub fn try_movers(
    task: &Task,
    reduction: ReductionChoice,
    control: &Control,
    progress: &mut Progress,
) -> Result<MoverTrial, CheckError> {
    let movers = match task.movers() {
        Ok(movers) => movers,
        Err(reason) => return Ok(MoverTrial::NoMovers(reason.to_string())),
    };
    let left_only = (reduction == ReductionChoice::Left).then(|| movers.clone().left_only());
    let movers = left_only.as_ref().unwrap_or(movers);
    let run_time = match reduction {
        ReductionChoice::Phase => Reduction::Phase,
        ReductionChoice::Dynamic => Reduction::Dynamic,
        _ => Reduction::Static,
    };
    if run_time != Reduction::Static {
        claims::check(task)?;
    }
    let facts = (run_time != Reduction::Static)
        .then(|| task.facts())
        .flatten();
    let plan = (run_time == Reduction::Dynamic)
        .then(|| task.plan())
        .flatten();
    let MoverCheck {
        wrong,
        stopped,
        refusal,
        states,
        pairs,
    } = check_movers(movers, facts, plan, control, progress)?;
    if let Some(wrong) = wrong {
        return Ok(MoverTrial::Wrong(Box::new(wrong)));
    }
    let reason = match (stopped, refusal) {
        (None, None) => return Ok(MoverTrial::Commute { states, pairs }),
        (_, Some(refusal)) => refusal,
        (Some(Stop::StoreFull), None) => "there are too many states".into(),
        (Some(stop), None) => stop.reason().into(),
    };
    Ok(MoverTrial::NotDone {
        reason,
        states,
        pairs,
    })
}
