//! Whether what the reductions declare to commute does.
//!
//! A wrong class need not lead to a wrong answer: the violation that it hides may be found in
//! another schedule. So the classes are also tested themselves, in all states of a small
//! program, against every step of every other thread ([`mover_explicit::check_movers`]).

use std::fmt;
use std::time::Duration;

use mover_engine::{Control, Task};
use mover_explicit::{MoverCheck, Taken, check_movers};
use mover_ir::program::{Program, Property};
use mover_reduce::Reduction;

use crate::compare::{Mismatch, Tally};

/// The movers of one reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial(pub Reduction);

/// All trials.
pub const TRIALS: &[Trial] = &[
    Trial(Reduction::Static),
    Trial(Reduction::Phase),
    Trial(Reduction::Dynamic),
];

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "movers, {}", self.0)
    }
}

/// Tries the movers of all reductions, each for as long as this.
pub fn try_all(program: &Program, patience: Duration) -> Result<Vec<Tally>, Mismatch> {
    let task = Task::new(
        program.clone(),
        vec![Property::UnreachCall, Property::NoDeadlock],
    );
    let each = TRIALS.iter().map(|trial| {
        let fails = |what: String| Mismatch {
            property: "movers commute".into(),
            way: trial.to_string(),
            what,
        };
        let mut tally = Tally::default();
        let Ok(movers) = task.movers() else {
            tally.unsupported += 1;
            return Ok(tally);
        };
        let facts = match trial.0 {
            Reduction::Phase | Reduction::Dynamic => task.facts(),
            Reduction::None | Reduction::Static => None,
        };
        let control = Control::unlimited()
            .within(patience)
            .with_memory(Some(1 << 28));
        let plan = match trial.0 {
            Reduction::Dynamic => task.plan(),
            _ => None,
        };
        let checked = check_movers(movers, facts, plan, &control, &mut |_| {});
        let checked = checked.map_err(|error| fails(error.to_string()))?;
        if let Some(wrong) = told(&movers.fused.program, &checked) {
            return Err(fails(wrong));
        }
        tally.states = checked.states;
        match checked.stopped.is_none() && checked.refusal.is_none() {
            true => tally.answered += 1,
            false => tally.unfinished += 1,
        }
        Ok(tally)
    });
    each.collect()
}

/// Which step is not what it is declared to be.
fn told(program: &Program, checked: &MoverCheck) -> Option<String> {
    let wrong = checked.wrong.as_ref()?;
    let text = |taken: &Taken| {
        let template = program.template(taken.template);
        let edge = &template.location(taken.location).edges[taken.edge];
        format!("{}[{}] {}", template.name, taken.thread, edge.text)
    };
    let all = |steps: &[Taken]| steps.iter().map(text).collect::<Vec<_>>().join("; ");
    Some(format!(
        "{:?}, {:?}: {} beside {} after {}",
        wrong.claim,
        wrong.defect,
        all(&wrong.mover),
        all(&wrong.other),
        all(&wrong.path)
    ))
}
