//! What a verdict on a C program assumes, in words.
//!
//! Some things that may happen on a machine are not tried: that memory is short, that a wait ends by
//! itself, that addresses are others. A program that depends on one of them gets a verdict that says
//! so, with the first place where it does.

use mover_ir::program::Template;

use crate::flatten::Notes;
use crate::left_locked;
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
    assumes(
        module.weak_ordering,
        "under sequential consistency: the program uses weaker memory orderings",
    );
    if let Some(first) = &world.uninitialised {
        let words = "memory that is not initialised is taken to be zero";
        let words = match (first.loc, first.variable.as_str()) {
            (None, variable) if !variable.is_empty() => format!("{words} (first `{variable}`)"),
            _ => words.to_string(),
        };
        assumes(Some(first.loc), &words);
    }
    assumes(world.shifted, "left shifts are not looked at for overflow");
    assumes(
        world.waits,
        "waits for condition variables end only when they are told to, without `--spurious-wakeups`",
    );
    assumes(
        notes.allocates,
        "there is always memory to allocate, each time at a new address",
    );
    assumes(
        module.awaited_failure,
        "threads, locks and keys can always be made",
    );
    assumes(
        module.numbered_addresses,
        "addresses are taken for numbers, which other machines number otherwise",
    );
    assumes(
        module.lasting_arrays,
        "arrays of variable length last until their thread ends",
    );
    assumes(notes.prints, "what is read to be printed is not looked at");
    for (name, loc) in &notes.havocked {
        let words = format!("`{name}` has no body: any result, no other effect");
        assumes(Some(*loc), &words);
    }
    if !world.arguments.is_empty() {
        caveats.push("the program is run without arguments".into());
    }
    if notes.ignored_attributes {
        caveats.push(
            "attributes of threads and locks other than kind and detach state are ignored".into(),
        );
    }
    let mut ends = templates.iter();
    if let Some(end) = ends.find_map(|template| left_locked::find(template, &world.globals)) {
        let at = end.map_or_else(String::new, |span| {
            format!(" (first at {})", world.sources.locate(span))
        });
        caveats.push(format!(
            "a thread may end with a lock in hand{at}; a later one with its number passes for its owner"
        ));
    }
    caveats
}
