//! Caveats: what a verdict on a C program assumes.
//!
//! Some behaviours of a real machine are not explored: allocation failures, spurious wakeups,
//! other address values. If a program depends on one of them, the verdict says so, with the
//! first place where it does.

use mover_ir::program::Template;

use crate::flatten::Notes;
use crate::left_locked;
use crate::reuse::MOST_REUSED;
use crate::ssa::Loc;
use crate::world::World;

/// The caveats of a program that has been translated.
pub fn find(world: &World, notes: &Notes, templates: &[Template]) -> Vec<String> {
    let module = world.module;
    let place = |loc: Option<Loc>| match world.span(loc) {
        Some(span) => format!(" (first at {})", world.sources.locate(span)),
        None => String::new(),
    };
    let mut caveats = Vec::new();
    let mut assumes = |what: Option<Option<Loc>>, words: &str| {
        caveats.extend(what.map(|loc| format!("{words}{}", place(loc))));
    };
    if world.bodies.len() > 1 {
        assumes(
            module.weak_ordering,
            "checked under sequential consistency although the program uses weaker memory orderings",
        );
        assumes(
            world.failed_attempts,
            "a `trylock` that fails is assumed to order accesses, which C11 does not promise",
        );
    }
    if let Some(first) = &world.shadows.assumed {
        let words = "uninitialised memory is assumed to be zero";
        let words = match (first.loc, first.variable.as_str()) {
            (None, variable) if !variable.is_empty() => format!("{words} (first `{variable}`)"),
            _ => words.to_string(),
        };
        assumes(Some(first.loc), &words);
    }
    assumes(world.shifted, "left shifts are not checked for overflow");
    assumes(
        world.waits,
        "condition variables are assumed to have no spurious wakeups",
    );
    if !world.settings.malloc_may_fail {
        assumes(notes.allocates, "allocations are assumed to succeed");
    }
    if world.settings.reuses_addresses {
        let words = format!("an allocation reuses one of at most {MOST_REUSED} freed addresses");
        assumes(notes.allocates, &words);
    }
    assumes(
        module.awaited_failure,
        "creating threads, locks and keys is assumed to succeed",
    );
    assumes(
        module.numbered_addresses,
        "addresses are used as integers, and their values differ between machines",
    );
    assumes(
        module.lasting_arrays,
        "variable-length arrays live until their thread exits",
    );
    assumes(
        notes.prints,
        "memory that is read only to be printed is not checked",
    );
    assumes(
        notes.machine,
        "a machine with 2 processors and pages of 4096 bytes is assumed",
    );
    assumes(
        notes.clock,
        "clocks of C++ stand still or go on by 2^40 nanoseconds, three times at most",
    );
    assumes(
        notes.hash_table,
        "unordered containers are checked with one hash function and one order of their elements",
    );
    assumes(notes.environment, "no environment variable is set");
    assumes(notes.signals, "no signal is sent to the program");
    for (name, loc) in &notes.havocked {
        let words = format!("`{name}` has no body: it returns any value and has no side effect");
        assumes(Some(*loc), &words);
    }
    if !world.arguments.is_empty() && world.settings.arguments.is_empty() {
        caveats.push("the program is run without arguments".into());
    }
    if notes.ignored_attributes {
        caveats.push(
            "attributes of threads and locks other than kind and detach state are ignored".into(),
        );
    }
    if let Some(end) = left_locked::find(templates, &world.globals) {
        let at = end.map_or_else(String::new, |span| {
            format!(" (first at {})", world.sources.locate(span))
        });
        caveats.push(format!(
            "a thread may exit while holding a lock{at}; a later thread with the same number counts as its owner"
        ));
    }
    caveats
}
