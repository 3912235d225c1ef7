//! Linear temporal logic: formulas and the automata that accept the same runs.
//!
//! A run is an infinite sequence of states. All that matters of a state here is which
//! *propositions* hold in it. A formula says which runs are good; a Büchi automaton accepts a run
//! if it can read it so that it passes an accepting state infinitely often (Vardi and Wolper
//! 1986). To check that all runs of a program satisfy φ, one translates ¬φ and looks for a run of
//! the program that the automaton accepts.
//!
//! - [`formula`]: formulas in negation normal form, hash-consed and simplified when they are made;
//! - [`alternating`]: a formula as a very weak alternating automaton (Gastin and Oddoux 2001);
//! - [`generalised`]: the same as a generalised Büchi automaton with accepting transitions;
//! - [`buchi`]: Büchi automata, and how the former becomes one;
//! - [`reduce`]: what makes automata smaller without changing their language;
//! - [`lasso`]: runs of the form stem·loop^ω, on which formulas and automata are evaluated by
//!   definition. The translation is tested against it.
//! - [`text`]: formulas as text, for programs whose language has no notation for them.
//!
//! The crate knows no program: a proposition is a number.

pub mod alternating;
pub mod buchi;
pub mod formula;
pub mod generalised;
pub mod lasso;
pub mod reduce;
pub mod text;

pub use buchi::{Buchi, Edge, Label};
pub use formula::{Formula, Formulas, Node};

/// The automaton of a formula would be too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// A Büchi automaton for the formula, reduced.
pub fn translate(formulas: &Formulas, formula: Formula) -> Result<Buchi, TooLarge> {
    let alternating = alternating::Alternating::new(formulas, formula);
    let generalised = generalised::Generalised::new(&alternating)?;
    Ok(reduce::reduce(Buchi::from_generalised(&generalised)))
}
