//! Pieces of programs for what Promela cannot say.

use mover_ir::expr::{Expr, Ty};
use mover_ir::program::{
    CellNames, Edge, Effect, Init, Instance, Location, LocationId, Template, TemplateId, Variable,
};

/// A variable whose cells all begin with the value.
pub fn cells(name: &str, ty: Ty, len: u32, value: u64, addressable: bool) -> Variable {
    Variable {
        name: name.into(),
        ty,
        len,
        is_array: len > 1,
        init: Init::All(value),
        symbols: None,
        addressable,
        names: CellNames::default(),
        span: None,
    }
}

/// A location with one edge.
pub fn step(guard: Expr, effects: Vec<Effect>, target: u32) -> Location {
    Location {
        edges: vec![Edge {
            priority: 0,
            guard,
            effects,
            target: LocationId(target),
            span: None,
            text: String::new(),
            sync: Vec::new(),
        }],
        ..Location::default()
    }
}

/// A template whose last location, which is added, is its end.
pub fn thread(name: &str, locals: Vec<Variable>, mut locations: Vec<Location>) -> Template {
    locations.push(Location {
        valid_end: true,
        ..Location::default()
    });
    Template {
        name: name.into(),
        params: 0,
        locals,
        channels: Vec::new(),
        locations,
        entry: LocationId(0),
        span: None,
    }
}

/// A thread that exists at the start.
pub fn instance(template: u32) -> Instance {
    Instance {
        template: TemplateId(template),
        args: Vec::new(),
        priority: 0,
    }
}
