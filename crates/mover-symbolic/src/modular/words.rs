//! Invariants about views, in the words of the source.

use rustc_hash::FxHashSet;

use super::views::{Observable, Views, Who, cells_of};
use crate::layout::Cell;

impl Views<'_, '_> {
    fn person(&self, who: Who) -> String {
        let program = self.blocks.layout.program;
        match who {
            Who::Nobody => "nobody".into(),
            Who::Fixed(slot) => {
                let template = program.initial[slot].template;
                program.template(template).name.clone()
            }
            Who::Position(0) => "this thread".into(),
            Who::Position(1) => "another thread".into(),
            Who::Position(number) => format!("thread {}", number + 1),
        }
    }

    /// A cube in the words of the source.
    pub fn describe(&self, cube: &[(usize, bool)]) -> String {
        let layout = &self.blocks.layout;
        let mut parts = Vec::new();
        let mut done: FxHashSet<(usize, usize)> = FxHashSet::default();
        for &(number, value) in cube {
            let (position, cell, own) = match self.observables[number] {
                Observable::Shared { cell, .. } => (usize::MAX, cell, cell),
                Observable::Own { position, cell, .. } => {
                    (position, cells_of(layout, self.fixed)[cell], cell)
                }
                ref other => {
                    let text = self.describe_one(other);
                    parts.push(if value { text } else { format!("!({text})") });
                    continue;
                }
            };
            if !done.insert((position, own)) {
                continue;
            }
            let bits: Vec<(u8, bool)> = cube
                .iter()
                .filter_map(|&(other, value)| match self.observables[other] {
                    Observable::Shared { cell, bit } if position == usize::MAX && cell == own => {
                        Some((bit, value))
                    }
                    Observable::Own {
                        position: at,
                        cell,
                        bit,
                    } if at == position && cell == own => Some((bit, value)),
                    _ => None,
                })
                .collect();
            parts.push(self.describe_bits(position, cell, &bits));
        }
        format!("not ({})", parts.join(" && "))
    }

    fn describe_bits(&self, position: usize, cell: usize, bits: &[(u8, bool)]) -> String {
        let layout = &self.blocks.layout;
        let fits = |value: u64| {
            bits.iter()
                .all(|&(bit, set)| (value >> bit & 1 == 1) == set)
        };
        let name = match layout.cells[cell] {
            Cell::Local {
                template, variable, ..
            } if position != usize::MAX => {
                let body = &layout.program.templates[template];
                let owner = self.person(Who::Position(position));
                format!("{} of {owner}", body.locals[variable].name)
            }
            _ => layout.name(cell),
        };
        if let Cell::Place { slot } = layout.cells[cell] {
            let places: Vec<String> = (0..layout.slots[slot].places)
                .filter(|&place| fits(place))
                .map(|place| layout.describe_place(slot, place))
                .collect();
            return format!("{name} at {}", places.join(" or "));
        }
        if bits.len() == usize::from(layout.widths[cell]) {
            let value = bits
                .iter()
                .fold(0, |value, &(bit, set)| value | u64::from(set) << bit);
            return format!("{name} == {value}");
        }
        let bits: Vec<String> = bits
            .iter()
            .map(|&(bit, set)| format!("{name}.bit{bit} == {}", u8::from(set)))
            .collect();
        bits.join(" && ")
    }

    fn describe_one(&self, observable: &Observable) -> String {
        let layout = &self.blocks.layout;
        match *observable {
            Observable::At { position, place } => {
                let place = self.blocks.layout.describe_place(self.fixed, place);
                format!("{} at {place}", self.person(Who::Position(position)))
            }
            Observable::Turn { who, .. } => format!("only {} may move", self.person(who)),
            Observable::OwnerIs { cell, value } => format!("{} == {value}", layout.name(cell)),
            Observable::Owner { cell, who } => {
                format!("{} names {}", layout.name(cell), self.person(who))
            }
            Observable::Changer { number, who } => format!(
                "{} was last changed by {}",
                layout.name(self.changed[number]),
                self.person(who)
            ),
            Observable::Comparison { number, who } => {
                let (template, expr) = &self.comparisons[number];
                let body = &layout.program.templates[*template];
                let text = mover_ir::print::print_expr(layout.program, Some(body), expr);
                format!("{text} of {}", self.person(who))
            }
            Observable::Shared { .. } | Observable::Own { .. } => String::new(),
        }
    }
}
