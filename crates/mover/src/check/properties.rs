//! The values of `--property`.
//!
//! A name selects a property, `all` every property of the language, and `+name` adds one to what
//! is checked anyway. Which properties a language has and which are checked anyway is said by
//! whoever reads the language.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mover_ir::program::Property;

/// One value of `--property`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    All,
    Only(Property),
    /// What is checked anyway, and this.
    Also(Property),
}

/// The names of all properties, as they are added.
const ADDED: [&str; 9] = [
    "+unreach-call",
    "+no-deadlock",
    "+memory-safety",
    "+memory-cleanup",
    "+no-overflow",
    "+mutex-misuse",
    "+no-data-race",
    "+claims",
    "+termination",
];

/// Knows all values, so that completions offer them and misspelt ones get a suggestion.
pub fn parser() -> impl TypedValueParser<Value = Asked> {
    let named = Property::ALL.map(|property| PossibleValue::new(property.name()));
    let values = [PossibleValue::new("all")].into_iter().chain(named);
    let added = ADDED.map(PossibleValue::new);
    PossibleValuesParser::new(values.chain(added)).try_map(|value| match value.as_str() {
        "all" => Ok(Asked::All),
        name => match name.strip_prefix('+') {
            Some(name) => name.parse().map(Asked::Also),
            None => name.parse().map(Asked::Only),
        },
    })
}

/// The properties to check. `every` is what the language has and `usual` what is checked if
/// nothing is said; `from_files` was read from property files.
pub fn resolve(
    values: &[Asked],
    from_files: &[Property],
    every: &[Property],
    usual: &[Property],
) -> Vec<Property> {
    let mut asked = from_files.to_vec();
    if !is_selected(values, from_files) {
        asked.extend(usual);
    }
    for value in values {
        match *value {
            Asked::All => asked.extend(every),
            Asked::Only(property) | Asked::Also(property) => asked.push(property),
        }
    }
    asked.sort();
    asked.dedup();
    asked
}

/// Whether properties are selected, and not only added.
pub fn is_selected(values: &[Asked], from_files: &[Property]) -> bool {
    let mut values = values.iter();
    !from_files.is_empty() || values.any(|value| !matches!(value, Asked::Also(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: [Property; 2] = Property::BASIC;

    fn resolved(values: &[Asked], from_files: &[Property]) -> Vec<Property> {
        resolve(values, from_files, &Property::ALL, &USUAL)
    }

    #[test]
    fn every_property_can_be_added() {
        let names = Property::ALL.map(|property| format!("+{property}"));
        assert_eq!(names, ADDED);
    }

    #[test]
    fn nothing_said_is_the_usual() {
        assert_eq!(resolved(&[], &[]), USUAL);
    }

    #[test]
    fn names_select_and_plus_adds() {
        use Property::{NoDataRace, NoDeadlock, UnreachCall};
        assert_eq!(resolved(&[Asked::Only(NoDataRace)], &[]), [NoDataRace]);
        assert_eq!(
            resolved(&[Asked::Also(NoDataRace)], &[]),
            [UnreachCall, NoDeadlock, NoDataRace]
        );
        assert_eq!(
            resolved(&[Asked::Only(NoDeadlock), Asked::Also(NoDataRace)], &[]),
            [NoDeadlock, NoDataRace]
        );
        assert_eq!(
            resolved(&[Asked::Also(NoDataRace)], &[UnreachCall]),
            [UnreachCall, NoDataRace]
        );
    }

    #[test]
    fn all_is_every_property_once() {
        let mut every = Property::ALL.to_vec();
        every.sort();
        assert_eq!(
            resolved(&[Asked::All, Asked::Also(Property::NoOverflow)], &[]),
            every
        );
    }
}
