//! The one intermediate language of mover and its one concrete meaning.
//!
//! - [`program`]: what a program is made of, [`expr`]: its expressions;
//! - [`validate`]: which programs are well-formed;
//! - [`semantics`]: what a program does, state by state;
//! - [`mod@eval`]: expressions evaluated in any domain of values, [`simplify`]: expressions made
//!   simpler, [`graph`]: questions about control-flow graphs;
//! - [`mod@print`]: programs as text, [`literal`]: guards as conjunctions of literals.
//!
//! # An example
//!
//! A program is plain data. This one has two threads that each read a counter and write it back with
//! one added; the semantics finds out in which states it can end.
//!
//! ```
//! use std::collections::BTreeSet;
//! use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
//! use mover_ir::program::*;
//! use mover_ir::semantics::Machine;
//! use mover_ir::validate::validate;
//!
//! fn lost_update() -> Program {
//!     let byte = Ty::unsigned(8);
//!     let variable = |name: &str| Variable {
//!         name: name.into(),
//!         ty: byte,
//!         len: 1,
//!         is_array: false,
//!         init: Init::All(0),
//!         symbols: None,
//!         addressable: false,
//!         names: CellNames::default(),
//!         span: None,
//!     };
//!     let counter = || Place::scalar(VariableRef::Global(VariableId(0)), byte);
//!     let done = || Place::scalar(VariableRef::Global(VariableId(1)), byte);
//!     let own = || Place::scalar(VariableRef::Local(VariableId(0)), byte);
//!     let plus_one = |place: Place| Expr::binary(BinaryOp::Add, Expr::Read(place), Expr::constant(1, 8));
//!     let is = |place: Place, value: i64| {
//!         Expr::binary(BinaryOp::Eq, Expr::Read(place), Expr::constant(value, 8))
//!     };
//!     let edge = |guard: Expr, effects: Vec<Effect>, target: u32, text: &str| Edge {
//!         priority: 0,
//!         guard,
//!         effects,
//!         target: LocationId(target),
//!         span: None,
//!         text: text.into(),
//!     };
//!     let assign = |place: Place, value: Expr| Effect::Assign { place, value };
//!     let location = |edges: Vec<Edge>| Location {
//!         edges,
//!         ..Location::default()
//!     };
//!     let both_done = || is(done(), 2);
//!     let locations = vec![
//!         location(vec![edge(Expr::TRUE, vec![assign(own(), Expr::Read(counter()))], 1, "own = counter")]),
//!         location(vec![edge(
//!             Expr::TRUE,
//!             vec![assign(counter(), plus_one(own())), assign(done(), plus_one(done()))],
//!             2,
//!             "counter = own + 1",
//!         )]),
//!         location(vec![
//!             edge(both_done().and(is(counter(), 1)), Vec::new(), 3, "assert(counter == 2)"),
//!             edge(both_done().and(is(counter(), 2)), Vec::new(), 4, "assert(counter == 2)"),
//!         ]),
//!         Location {
//!             error: Some(ErrorMark {
//!                 property: Property::UnreachCall,
//!                 message: "an update was lost".into(),
//!                 resume: None,
//!             }),
//!             ..Location::default()
//!         },
//!         Location {
//!             valid_end: true,
//!             ..Location::default()
//!         },
//!     ];
//!     let thread = || Instance {
//!         template: TemplateId(0),
//!         args: Vec::new(),
//!         priority: 0,
//!     };
//!     Program {
//!         info: ProgramInfo::named("lost update"),
//!         globals: vec![variable("counter"), variable("done")],
//!         templates: vec![Template {
//!             name: "T".into(),
//!             params: 0,
//!             locals: vec![variable("own")],
//!             channels: Vec::new(),
//!             locations,
//!             entry: LocationId(0),
//!             span: None,
//!         }],
//!         initial: vec![thread(), thread()],
//!         pointers_stay: true,
//!         max_threads: 2,
//!         ..Program::default()
//!     }
//! }
//!
//! let program = lost_update();
//! assert_eq!(validate(&program), Ok(()));
//! let machine = Machine::new(&program);
//! let mut waiting = vec![machine.initial()];
//! let mut seen: BTreeSet<_> = waiting.iter().cloned().collect();
//! let mut errors = BTreeSet::new();
//! while let Some(state) = waiting.pop() {
//!     if let Some((_, error)) = machine.error(&state) {
//!         errors.insert(error.message.clone());
//!     }
//!     for (_step, next) in machine.successors(&state) {
//!         if seen.insert(next.clone()) {
//!             waiting.push(next);
//!         }
//!     }
//! }
//! assert_eq!(errors.into_iter().collect::<Vec<_>>(), ["an update was lost"]);
//! ```

pub mod builder;
pub mod eval;
pub mod expr;
pub mod graph;
pub mod literal;
pub mod print;
pub mod program;
pub mod semantics;
pub mod simplify;
pub mod validate;
mod walk;
