//! Sets of views, in the words of the source: for each place of a created thread, what is known of
//! shared memory while a thread is there, and which places exclude each other.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::program::{LocationId, Program, TemplateId};

use super::configurations::Member;
use super::rules::Rules;
use super::view_sets::ViewSets;

/// Values of a variable that are listed, at most.
const MOST_VALUES: usize = 4;
/// Lines about places that exclude each other, at most.
const MOST_PAIRS: usize = 200;

type Place = (TemplateId, LocationId);

fn place_of(member: &Member) -> Place {
    (member.thread.template, member.thread.location)
}

fn describe_place(program: &Program, (template, location): Place) -> String {
    let body = program.template(template);
    let line = body.location(location).span.map(|span| {
        let line = program.info.sources.locate(span).line;
        format!(" (line {line})")
    });
    let (name, number) = (&body.name, location.index());
    format!("{name}:{number}{}", line.unwrap_or_default())
}

/// The scalars of the source that are no owners, by the number of their cell.
fn scalars<'p>(program: &'p Program, rules: &Rules) -> Vec<(usize, &'p str)> {
    let mut offset = 0;
    let mut found = Vec::new();
    for (number, variable) in program.globals.iter().enumerate() {
        let has_name = !variable.name.starts_with('%');
        if variable.len == 1 && has_name && !rules.is_owner(None, number) {
            found.push((offset, variable.name.as_str()));
        }
        offset += variable.len as usize;
    }
    found
}

/// One line for each thing that is known.
pub fn describe(sets: &ViewSets, program: &Program, rules: &Rules, width: usize) -> Vec<String> {
    let scalars = scalars(program, rules);
    let mut everywhere: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); scalars.len()];
    let mut at_place: BTreeMap<Place, Vec<BTreeSet<u64>>> = BTreeMap::new();
    for (shared, members) in sets.meetings() {
        for (number, &(cell, _)) in scalars.iter().enumerate() {
            everywhere[number].insert(shared.globals[cell]);
        }
        for member in members {
            let values = at_place
                .entry(place_of(member))
                .or_insert_with(|| vec![BTreeSet::new(); scalars.len()]);
            for (number, &(cell, _)) in scalars.iter().enumerate() {
                values[number].insert(shared.globals[cell]);
            }
        }
    }
    let listed = |values: &BTreeSet<u64>| {
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        values.join(" or ")
    };
    let mut lines = Vec::new();
    for (&(_, name), values) in scalars.iter().zip(&everywhere) {
        if values.len() <= MOST_VALUES {
            lines.push(format!("{name} == {}", listed(values)));
        }
    }
    for (&place, values) in &at_place {
        let mut facts = Vec::new();
        for (number, &(_, name)) in scalars.iter().enumerate() {
            let here = &values[number];
            if here.len() <= MOST_VALUES && here.len() < everywhere[number].len() {
                facts.push(format!("{name} == {}", listed(here)));
            }
        }
        if !facts.is_empty() {
            let place = describe_place(program, place);
            lines.push(format!("a thread at {place}: {}", facts.join(", ")));
        }
    }
    if width > 1 {
        let together: BTreeSet<(Place, Place)> = sets
            .pairs()
            .flat_map(|(one, two)| {
                let (one, two) = (place_of(one), place_of(two));
                [(one, two), (two, one)]
            })
            .collect();
        let places: Vec<Place> = at_place.keys().copied().collect();
        for (number, &one) in places.iter().enumerate() {
            for &two in &places[number..] {
                if !together.contains(&(one, two)) && lines.len() < MOST_PAIRS {
                    lines.push(format!(
                        "no thread at {} while another is at {}",
                        describe_place(program, one),
                        describe_place(program, two)
                    ));
                }
            }
        }
    }
    lines
}
