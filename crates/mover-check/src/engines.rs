//! Construction of engines from their options.

use std::sync::Arc;

use mover_engine::{Control, Engine, EngineError, Task};
use mover_explicit::{Completion, Explicit, Order};
use mover_reduce::Reduction;
use mover_symbolic::{Bmc, Ic3, Modular, Token};

use crate::options::{EngineChoice, Options, ReductionChoice};
use crate::strategy::{Hunt, Run};

/// The engine of a run.
pub fn engine(run: &Run, options: &Options) -> Arc<dyn Engine> {
    match run.engine {
        EngineChoice::Auto | EngineChoice::Explicit => explicit(run, options),
        EngineChoice::Bmc => Arc::new(Bmc {
            reduction: reduction(run.reduction),
            peephole: run.reduction == ReductionChoice::Peephole,
            options: options.symbolic.clone(),
            certify: options.certify,
        }),
        EngineChoice::Ic3 => Arc::new(Ic3 {
            reduction: reduction(run.reduction),
            options: options.symbolic.clone(),
            certify: options.certify,
        }),
        EngineChoice::Modular => Arc::new(Modular {
            reduction: reduction(run.reduction),
            options: options.symbolic.clone(),
            certify: options.certify,
        }),
        EngineChoice::Token => Arc::new(Token {
            options: options.symbolic.clone(),
            certify: options.certify,
        }),
    }
}

fn explicit(run: &Run, options: &Options) -> Arc<dyn Engine> {
    if let Some(search) = options.approximate {
        return Arc::new(search);
    }
    let search = Explicit {
        reduction: reduction(run.reduction),
        left_only: run.reduction == ReductionChoice::Left,
        order: match run.hunt {
            Some(Hunt::DepthFirst) => Order::DepthFirst,
            _ => options.order.unwrap_or(Order::BreadthFirst),
        },
        persistent: options.persistent,
        jobs: run.jobs,
        keep_going: options.keep_going,
        first: options.first,
        checkpoints: options.checkpoints.clone(),
        peers: options.peers.clone(),
        // Whoever chooses a reduction wants to see what it does.
        may_drop: options.reduction.is_none(),
        ..Explicit::default()
    };
    match options.ignoring {
        Some(ignoring) => Arc::new(Completion { search, ignoring }),
        None => Arc::new(search),
    }
}

/// The question that `bmc` asks, in SMT-LIB.
pub fn dump_bounded(task: &Task, options: &Options) -> Result<String, EngineError> {
    let reduction = options.reduction.unwrap_or(ReductionChoice::None);
    let engine = Bmc {
        reduction: self::reduction(reduction),
        peephole: false,
        options: options.symbolic.clone(),
        certify: false,
    };
    engine.dump(task, &control(options))
}

/// The question whether the invariant that `ic3` finds can be broken, in SMT-LIB.
pub fn dump_invariant(task: &Task, options: &Options) -> Result<String, EngineError> {
    let reduction = options.reduction.unwrap_or(ReductionChoice::None);
    let engine = Ic3 {
        reduction: self::reduction(reduction),
        options: options.symbolic.clone(),
        certify: false,
    };
    engine.dump(task, &control(options))
}

fn control(options: &Options) -> Control {
    match options.timeout {
        Some(timeout) => Control::unlimited().within(timeout),
        None => Control::unlimited(),
    }
}

/// What a choice means to an engine that knows it only in part.
fn reduction(choice: ReductionChoice) -> Reduction {
    match choice {
        ReductionChoice::None | ReductionChoice::Peephole => Reduction::None,
        // Left movers alone are asked of explicit search only; all of them are as sound.
        ReductionChoice::Static | ReductionChoice::Left => Reduction::Static,
        ReductionChoice::Phase => Reduction::Phase,
        ReductionChoice::Dynamic => Reduction::Dynamic,
    }
}
