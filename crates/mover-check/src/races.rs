//! A data race in words: both threads, both places, the variable, and the locks each holds.
//!
//! The locks are those of global variables that a thread certainly holds where it stands. In a
//! program with dynamic objects a thread may hold a lock inside of one; then nothing is said of a
//! thread without known locks.

use mover_ir::program::Program;
use mover_ir::semantics::{Machine, NextAccess, State};
use mover_reduce::facts::access::AccessTable;
use mover_reduce::facts::locks::Locks;
use mover_reduce::facts::single_threaded_prefix::Alone;

use crate::memory::access_text;
use crate::trace::thread_name;

/// What is wrong in a state with a race.
pub fn message(
    program: &Program,
    machine: &Machine,
    state: &State,
    race: [NextAccess; 2],
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
            holding(program, &locks, state, next.thread)
        )
    });
    format!("data race{name}: {}, while {}", told[0], told[1])
}

/// The locks that a thread holds.
fn holding(program: &Program, locks: &Locks, state: &State, thread: usize) -> String {
    let Some(Some(alive)) = state.threads.get(thread) else {
        return String::new();
    };
    let held = locks.held(alive.template.index(), alive.location.index());
    let names: Vec<String> = held.iter().map(|lock| lock.name(program)).collect();
    match &names[..] {
        [] if program.sites.is_empty() => " holding no lock".into(),
        [] => String::new(),
        _ => format!(" holding {}", names.join(" and ")),
    }
}
