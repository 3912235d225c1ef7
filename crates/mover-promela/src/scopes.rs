//! Scopes: the meaning of names.
//!
//! SPIN 6 opens a scope with each brace, and looks up a name from the innermost scope outwards.
//! There is no shadowing: a visible name cannot be declared again, so each use has one possible
//! meaning, and sibling scopes may use the same name. A name can be used only after its
//! declaration; for globals that is decided by the unit (declaration or proctype) in which they
//! are declared.

use std::collections::HashMap;
use std::rc::Rc;

use mover_ir::expr::{ChannelRef, VariableRef};
use mover_ir::program::VariableId;
use mover_source::Span;

use crate::types::{ChannelShape, Shape};

/// A declared variable and where its leaves are.
#[derive(Clone)]
pub struct VariableInfo {
    pub name: Rc<str>,
    pub span: Span,
    pub shape: Shape,
    pub is_global: bool,
    /// The IR variable of the first leaf; the others follow.
    pub first: u32,
    /// The channels that the cells hold, if nothing in the model can change
    /// them: then a use of the variable is a use of that channel.
    pub fixed_channels: Option<Rc<[ChannelRef]>>,
    /// The shape of its channels, if it was declared with one.
    pub channel: Option<Rc<ChannelShape>>,
    /// Value of a scalar with a constant initial value: SPIN lets it stand for
    /// the length of an array.
    pub constant: Option<i32>,
}

impl VariableInfo {
    pub fn leaf(&self, offset: usize) -> VariableRef {
        let id = VariableId(self.first + offset as u32);
        if self.is_global {
            VariableRef::Global(id)
        } else {
            VariableRef::Local(id)
        }
    }
}

/// The nested scopes of one proctype.
pub struct Scopes {
    open: Vec<Scope>,
    opened: u32,
}

struct Scope {
    number: u32,
    names: HashMap<Rc<str>, VariableInfo>,
}

impl Scopes {
    pub fn new() -> Self {
        let mut scopes = Scopes {
            open: Vec::new(),
            opened: 0,
        };
        scopes.enter();
        scopes
    }

    pub fn enter(&mut self) {
        self.open.push(Scope {
            number: self.opened,
            names: HashMap::new(),
        });
        self.opened += 1;
    }

    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// The numbers of the open scopes, outermost first.
    pub fn path(&self) -> Vec<u32> {
        self.open.iter().map(|scope| scope.number).collect()
    }

    pub fn find(&self, name: &str) -> Option<&VariableInfo> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    pub fn declare(&mut self, info: VariableInfo) {
        if let Some(scope) = self.open.last_mut() {
            scope.names.insert(info.name.clone(), info);
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.open
            .iter()
            .flat_map(|scope| scope.names.keys().map(|name| &**name))
    }
}

/// The name that the writer may have meant.
pub fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = if wanted.len() < 4 { 1 } else { 2 };
    candidates
        .filter(|candidate| {
            candidate.len().abs_diff(wanted.len()) <= limit && candidate.len() <= 64
        })
        .map(|candidate| (distance(wanted, candidate), candidate))
        .filter(|(distance, _)| *distance > 0 && *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate.to_string())
}

/// How many letters must be changed, added or dropped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_typing_error_away() {
        let names = ["turn", "flag", "ncrit"];
        assert_eq!(nearest("trun", names.into_iter()), Some("turn".to_string()));
        assert_eq!(
            nearest("ncit", names.into_iter()),
            Some("ncrit".to_string())
        );
        assert_eq!(nearest("x", names.into_iter()), None);
        assert_eq!(nearest("flag", names.into_iter()), None);
    }
}
