//! Options that would have no effect are refused.
//!
//! An option that is accepted and ignored misleads: the user believes that the answer depends on it. Each
//! option that belongs to some engines, to a reduction or to a language is listed here with what it needs.
//! `auto` may come to every engine, so what belongs to an engine is accepted with it.

use super::choices::{Engine, Reduction};
use super::options::CheckArgs;

/// An option that the rest of the command line leaves without effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{option} has no effect here: {needs}")]
pub struct NoEffect {
    option: &'static str,
    needs: &'static str,
}

/// The first option given that has no effect.
pub fn check(args: &CheckArgs) -> Result<(), NoEffect> {
    let engine = args.engine;
    let symbolic = &args.symbolic;
    let is_auto = engine == Engine::Auto && args.explicit_only().is_none();
    let is_symbolic = !matches!(engine, Engine::Auto | Engine::Explicit);
    let by_formulas = is_auto || is_symbolic;
    let has_conditions = is_auto || matches!(engine, Engine::Bmc | Engine::Ic3);
    let has_invariant = is_auto || matches!(engine, Engine::Ic3 | Engine::Modular);
    let is_dynamic = matches!(args.reduce, Reduction::Auto | Reduction::Dynamic);
    let of_engines = "it is for the symbolic engines; `--engine bmc` is one";
    let rules = [
        (
            symbolic.heuristics.is_some() && !(has_conditions && is_dynamic),
            "--heuristics",
            "it is about the conditions of `--reduce dynamic` in `--engine bmc` and `--engine ic3`",
        ),
        (
            symbolic.no_unfold && !by_formulas,
            "--no-unfold",
            of_engines,
        ),
        (
            symbolic.thread_slots.is_some() && !by_formulas,
            "--thread-slots",
            of_engines,
        ),
        (
            symbolic.object_slots.is_some() && !by_formulas,
            "--object-slots",
            of_engines,
        ),
        (
            symbolic.object_bytes.is_some() && !by_formulas,
            "--object-bytes",
            of_engines,
        ),
        (
            symbolic.show_invariant && !has_invariant,
            "--show-invariant",
            "invariants are found by `--engine ic3` and `--engine modular`",
        ),
        (
            args.check_movers && args.reduce == Reduction::None,
            "--check-movers",
            "without a reduction there are no movers; remove `--reduce none`",
        ),
    ];
    let of_command = rules
        .into_iter()
        .find_map(|(is_idle, option, needs)| is_idle.then_some(NoEffect { option, needs }));
    let of_language = args.input.c_only().map(|option| NoEffect {
        option,
        needs: "it is for C, and this is a Promela model",
    });
    of_command.or(of_language).map_or(Ok(()), Err)
}
