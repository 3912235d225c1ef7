//! The three specifications of a property side by side.

use crate::antichain::{Explored, difference};
use crate::automaton::Automaton;
use crate::monitor::specification;
use crate::property::{Safety, Update};
use crate::spec_det::DeterministicSpec;
use crate::spec_nondet::NondeterministicSpec;
use crate::word::Word;

/// Sizes of the automata for one property, and whether they agree.
pub struct Comparison {
    pub property: Safety,
    pub monitor: Option<usize>,
    pub minimal: Option<usize>,
    pub deterministic: Option<usize>,
    pub nondeterministic: Option<usize>,
    /// Whether all could be built and were compared.
    pub compared: bool,
    /// Which two differ, and a word on which they do.
    pub differs: Option<(String, Word)>,
}

const MAX_STATES: usize = 2_000_000;
const MAX_COMPARED: usize = 60_000;

pub fn compare(threads: usize, variables: usize) -> Vec<Comparison> {
    [Safety::StrictSerializability, Safety::Opacity]
        .map(|property| compare_property(property, threads, variables))
        .into()
}

fn compare_property(property: Safety, threads: usize, variables: usize) -> Comparison {
    let monitor = specification(property, Update::Deferred, threads, variables)
        .and_then(|spec| Automaton::of_specification(spec.as_ref(), MAX_STATES));
    let deterministic = DeterministicSpec::new(property, threads, variables);
    let deterministic = Automaton::of_specification(&deterministic, MAX_STATES);
    let spec = NondeterministicSpec::new(property, threads);
    let nondeterministic = Explored::new(&spec, (threads, variables), MAX_STATES);
    let minimal = monitor.as_ref().map(Automaton::minimized);
    let mut differs = None;
    let mut compared = false;
    if let (Some(least), Some(deterministic), Some(nondeterministic)) =
        (&minimal, &deterministic, &nondeterministic)
        && nondeterministic.len() <= MAX_COMPARED
    {
        compared = true;
        let name = |what: &str| what.to_string();
        differs = difference(least, deterministic)
            .map(|word| (name("the monitor and the deterministic one differ"), word))
            .or_else(|| {
                let word = nondeterministic.word_not_in(least)?;
                Some((name("only the nondeterministic one accepts"), word))
            })
            .or_else(|| {
                let word = nondeterministic.word_missing_from(least)?;
                Some((name("the nondeterministic one refuses"), word))
            });
    }
    Comparison {
        property,
        monitor: monitor.map(|a| a.len()),
        minimal: minimal.map(|a| a.len()),
        deterministic: deterministic.map(|a| a.len()),
        nondeterministic: nondeterministic.map(|e| e.len()),
        compared,
        differs,
    }
}
