//! A data race in words: both threads, both places, the variable, and the locks each holds.
//!
//! The locks are those that a thread certainly holds where it stands, and those that the run shows
//! it to have taken, also inside of dynamic objects. If the run is too long to be looked at, nothing
//! is said of a thread without known locks in a program with dynamic objects.

use mover_ir::program::Program;
use mover_ir::semantics::{Machine, NextAccess, State};
use mover_reduce::facts::access::AccessTable;
use mover_reduce::facts::locks::Locks;
use mover_reduce::facts::single_threaded_prefix::Alone;

use crate::memory::access_text;
use crate::sync_objects::SyncObjects;
use crate::trace::thread_name;

/// What is wrong in a state with a race.
pub fn message(
    program: &Program,
    machine: &Machine,
    state: &State,
    race: [NextAccess; 2],
    objects: Option<&SyncObjects>,
) -> String {
    let alone = Alone::find(program);
    let locks = Locks::find(program, &AccessTable::new(program), &alone);
    let mut names = race
        .iter()
        .filter_map(|next| Some(access_text(program, state, &machine.accessed(state, next)?)?.0));
    let name = names
        .next()
        .map_or(String::new(), |name| format!(" on {name}"));
    let told = race.map(|next| {
        let does = match (next.access.writes, next.access.atomic) {
            (true, false) => "writes",
            (false, false) => "reads",
            (true, true) => "writes (atomically)",
            (false, true) => "reads (atomically)",
        };
        let place = next.access.span.map_or(String::new(), |span| {
            format!(" at {}", program.info.sources.locate(span))
        });
        let thread = thread_name(program, state, next.thread);
        format!(
            "{thread} {does}{place}{}",
            holding(program, &locks, state, next.thread, objects)
        )
    });
    format!("data race{name}: {}, while {}", told[0], told[1])
}

/// The locks that a thread holds.
fn holding(
    program: &Program,
    locks: &Locks,
    state: &State,
    thread: usize,
    objects: Option<&SyncObjects>,
) -> String {
    let Some(Some(alive)) = state.threads.get(thread) else {
        return String::new();
    };
    let held = locks.held(alive.template.index(), alive.location.index());
    let mut names: Vec<String> = held.iter().map(|lock| lock.name(program)).collect();
    for name in objects
        .into_iter()
        .flat_map(|objects| objects.held_by(thread))
    {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    let is_certain = match objects {
        Some(objects) => !objects.has_readers(),
        None => program.sites.is_empty(),
    };
    match &names[..] {
        [] if is_certain => " holding no lock".into(),
        [] => String::new(),
        _ => format!(" holding {}", names.join(" and ")),
    }
}
