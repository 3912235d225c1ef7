//! `--certify`: what is checked once more when an engine has answered.
//!
//! A counterexample has been replayed in any case. The symbolic engines bring what was checked of
//! their solvers' answers. Whoever says `safe`, small programs are walked through again by the
//! definition of what a program does (`mover_report::recheck`), without reduction, packing or
//! solver; so a proof of the reduced program is checked on the unreduced one there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mover_ir::program::Program;
use mover_report::recheck::{Most, Recheck, recheck};
use mover_report::text::grouped;
use mover_report::verdict::{Answer, Verdict};

use mover_cli::CliError;

use crate::input::Limit;

/// Most states of the definition that are walked through.
const MOST_STATES: usize = 200_000;

/// Most bytes that they may take.
const MOST_BYTES: usize = 1 << 30;

/// Adds to an answer how it was checked again, if that was asked for; fails if it is wrong.
pub fn certify(
    program: &Program,
    answer: &mut Answer,
    limits: &[Limit],
    timeout: Option<Duration>,
    memory: Option<usize>,
    interrupt: &AtomicBool,
) -> Result<(), CliError> {
    let Some(certified) = &mut answer.certified else {
        return Ok(());
    };
    match &answer.verdict {
        Verdict::Unsafe(_) => {
            certified.by =
                vec!["the run was replayed on the definition of what a program does".into()];
            return Ok(());
        }
        Verdict::Unknown { .. } => {
            answer.certified = None;
            return Ok(());
        }
        // The walk knows no bounds.
        Verdict::SafeUpTo(_) => return Ok(()),
        Verdict::Safe => {}
    }
    // Engines that race stop each other by it.
    interrupt.store(false, Ordering::Relaxed);
    let started = Instant::now();
    let left = timeout.map(|timeout| timeout.saturating_sub(answer.time));
    let is_over =
        || interrupt.load(Ordering::Relaxed) || left.is_some_and(|left| started.elapsed() >= left);
    let forbidden: Vec<_> = limits
        .iter()
        .map(|limit| (limit.template, limit.location))
        .collect();
    let properties = &answer.properties;
    let most = Most {
        states: MOST_STATES,
        bytes: memory.unwrap_or(MOST_BYTES).min(MOST_BYTES),
    };
    match recheck(program, properties, &forbidden, most, &is_over) {
        Recheck::Holds { states } => certified.by.push(format!(
            "a walk through all {} states of the definition, without reduction, met no violation",
            grouped(states as u64)
        )),
        Recheck::NotDone { reason } => certified.not_by.push(format!(
            "by a walk through all states of the definition: {reason}"
        )),
        Recheck::Fails { what } => {
            return Err(CliError::internal(format!(
                "the verdict is safe, but by the definition {what}"
            )));
        }
    }
    Ok(())
}
