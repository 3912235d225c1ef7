//! The program as one transition relation over named state variables.
//!
//! Each cell of the state becomes a variable, each next state a term over these and the inputs.
//! Bits that have one value in all reachable states are constants ([`crate::constant_bits`]):
//! they are found by building the formula, evaluating it on known and unknown bits until a
//! fixed point, and building it again with their values substituted. Cells on which nothing of
//! interest depends are omitted.
//!
//! Besides the bits of the cells, cubes and clauses may contain *predicates*: the comparisons
//! that the program itself makes (see [`Observable`]), and conditions one block earlier that
//! imply them ([`weakest`]); a proof may add more ([`refine`]).

pub mod refine;
mod weakest;

use std::collections::BTreeSet;

use mover_ir::eval::KnownBits;
use mover_ir::expr::Expr;
use mover_ir::program::{BoundKind, Effect};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blocks::{Block, Blocks, Inputs};
use crate::constant_bits::{reachable_bits, variable};
use crate::initial_prefix::{Start, places, starts};
use crate::machine::View;
use crate::outcome::Question;
use crate::term::{Node, Term, Terms, Var};

/// A bit that cubes and clauses can speak about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A bit of a cell.
    Bit {
        cell: usize,
        bit: u8,
    },
    Predicate(usize),
}

impl Source {
    /// The cell that a bit belongs to.
    pub fn cell(self) -> Option<usize> {
        match self {
            Source::Bit { cell, .. } => Some(cell),
            Source::Predicate(_) => None,
        }
    }
}

/// Something true or false of a state, now and after the next block.
#[derive(Clone, Copy, Debug)]
pub struct Observable {
    pub source: Source,
    /// The term; of a bit, the cell that it belongs to.
    pub now: Term,
    pub next: Term,
    /// Which bit of the terms.
    pub bit: u8,
}

pub struct Predicate {
    pub name: String,
    pub now: Term,
    pub next: Term,
}

/// What counts as bad besides violations.
#[derive(Clone, Default)]
pub struct AlsoBad {
    /// Leaving the bounds of the encoding.
    pub beyond: bool,
    /// Meeting a bound of the program of one of these kinds.
    pub bounds: BTreeSet<BoundKind>,
}

pub struct System<'a, 'p> {
    pub blocks: &'a Blocks<'p>,
    pub terms: Terms,
    /// A variable or a constant for each cell.
    pub state: Vec<Term>,
    /// The states in which the search begins.
    pub starts: Vec<Start>,
    pub block: Block,
    pub inputs: Vec<Term>,
    pub bad: Term,
    pub observables: Vec<Observable>,
    pub predicates: Vec<Predicate>,
    /// The comparisons after the last predicates: those that were added in a proof.
    pub refinements: Vec<refine::Comparison>,
    /// What is known of each cell in all states that can be reached.
    known: Vec<KnownBits>,
}

impl<'a, 'p> System<'a, 'p> {
    /// Nothing if a limit was reached.
    pub fn new(
        blocks: &'a Blocks<'p>,
        question: &Question,
        also_bad: &AlsoBad,
        predicates: bool,
    ) -> Option<Self> {
        let layout = &blocks.layout;
        let starts = starts(blocks, question);
        let places = places(blocks, &starts);
        let stands = |slot: usize, place: u64| places.contains(&(slot, place));
        let initial: Vec<&[u64]> = starts.iter().map(|start| &start.state[..]).collect();
        // What is known of each cell in all states that can be reached.
        let mut known: Vec<KnownBits> = layout
            .widths
            .iter()
            .map(|&width| KnownBits::nothing(width))
            .collect();
        loop {
            let mut terms = Terms::new();
            let state: Vec<Term> = (0..layout.widths.len())
                .map(|cell| {
                    let name = layout.name(cell);
                    variable(known[cell], &mut terms, name, layout.widths[cell])
                })
                .collect();
            let mut inputs = Inputs::new("");
            let block = blocks.block_from(&mut terms, &state, &mut inputs, &stands);
            if block.is_cut {
                return None;
            }
            let found = reachable_bits(&terms, &state, &block.next, &initial, &question.limit)?;
            // What is known in two ways is known; each round leaves fewer bits open.
            let more: Vec<KnownBits> = known.iter().zip(found).map(|(a, b)| a.meet(b)).collect();
            if more != known {
                known = more;
                continue;
            }
            let mut bad = crate::bad(blocks, question, &mut terms, &state);
            let asked = &also_bad.bounds;
            let bound = blocks.meets_bound(&mut terms, &state, |_, kind| asked.contains(&kind));
            bad = terms.or(bad, bound);
            if also_bad.beyond {
                let over = blocks.beyond(&mut terms, &state);
                bad = terms.or(bad, over);
            }
            let mut system = System {
                blocks,
                terms,
                state,
                starts: starts.clone(),
                block,
                inputs: inputs.all,
                bad,
                observables: Vec::new(),
                predicates: Vec::new(),
                refinements: Vec::new(),
                known,
            };
            system.observe();
            if predicates {
                system.predicates_of_the_program();
                system.predicates_before();
            }
            return Some(system);
        }
    }

    /// Makes the bits of all cells that matter observable.
    fn observe(&mut self) {
        let cells = self.influential();
        for cell in cells {
            let (now, next) = (self.state[cell], self.block.next[cell]);
            for bit in 0..self.blocks.layout.widths[cell] {
                if self.known[cell].has(bit) {
                    continue;
                }
                self.observables.push(Observable {
                    source: Source::Bit { cell, bit },
                    now,
                    next,
                    bit,
                });
            }
        }
    }

    /// The cells that decide, now or later, whether a state is bad or a block possible.
    fn influential(&self) -> Vec<usize> {
        let cell_of: FxHashMap<Var, usize> = self
            .state
            .iter()
            .enumerate()
            .filter_map(|(cell, &term)| Some((self.variable_of(term)?, cell)))
            .collect();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut cells: FxHashSet<usize> = FxHashSet::default();
        let mut work = vec![self.bad, self.block.possible];
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Node::Var(var) = self.terms.node(term)
                && let Some(&cell) = cell_of.get(&var)
                && cells.insert(cell)
            {
                work.push(self.block.next[cell]);
            }
            self.terms.children(term, |child| work.push(child));
        }
        let mut cells: Vec<usize> = cells.into_iter().collect();
        cells.sort_unstable();
        cells
    }

    /// The comparisons in guards and assignments, for every thread that can make them.
    fn predicates_of_the_program(&mut self) {
        let blocks = self.blocks;
        let layout = &blocks.layout;
        let program = layout.program;
        let influential: FxHashSet<Var> = self
            .observables
            .iter()
            .filter_map(|o| self.variable_of(o.now))
            .collect();
        let mut known: FxHashSet<Term> = FxHashSet::default();
        for (slot, residents) in layout.slots.iter().enumerate() {
            for (template, body) in program.templates.iter().enumerate() {
                if residents.residents[template].is_none() {
                    continue;
                }
                let mut comparisons: Vec<&Expr> = Vec::new();
                for edge in body.locations.iter().flat_map(|location| &location.edges) {
                    collect(&edge.guard, &mut comparisons);
                    for effect in &edge.effects {
                        if let Effect::Assign { value, .. } = effect {
                            collect(value, &mut comparisons);
                        }
                    }
                }
                for comparison in comparisons {
                    let view = |state| View {
                        layout,
                        state,
                        slot,
                        template,
                        timeout: Terms::FALSE,
                    };
                    let now = view(&self.state).eval(&mut self.terms, comparison);
                    let positive = match self.terms.node(now) {
                        Node::Not(inner) => inner,
                        _ => now,
                    };
                    if self.is_plain(positive)
                        || !known.insert(positive)
                        || !self.depends_only_on(positive, &influential)
                    {
                        continue;
                    }
                    let next = view(&self.block.next).eval(&mut self.terms, comparison);
                    let name = mover_ir::print::print_expr(program, Some(body), comparison);
                    let owner = format!("{}[{slot}]", body.name);
                    self.add_predicate(format!("{owner}: {name}"), now, next);
                }
            }
        }
    }

    /// Whether a term says no more than one bit or one cell's value does.
    fn is_plain(&self, term: Term) -> bool {
        match self.terms.node(term) {
            Node::Const(_) | Node::Var(_) => true,
            Node::Eq(a, b) => {
                let constant = |term| self.terms.as_const(term).is_some();
                constant(a) && self.terms.width(b) == 1 || constant(b) && self.terms.width(a) == 1
            }
            _ => false,
        }
    }

    fn depends_only_on(&self, term: Term, variables: &FxHashSet<Var>) -> bool {
        let below = self.terms.below(&[term]);
        let mut found = below.iter().filter_map(|&term| self.terms.as_var(term));
        found.all(|variable| variables.contains(&variable))
    }

    fn add_predicate(&mut self, name: String, now: Term, next: Term) {
        let number = self.predicates.len();
        self.predicates.push(Predicate { name, now, next });
        self.observables.push(Observable {
            source: Source::Predicate(number),
            now,
            next,
            bit: 0,
        });
    }

    /// The variable that encodes a cell, if the cell is not constant.
    pub fn variable_of(&self, cell: Term) -> Option<Var> {
        let below = self.terms.below(&[cell]);
        below.into_iter().find_map(|term| self.terms.as_var(term))
    }

    /// The values of the variables in a state.
    pub fn assignment(&self, state: &[u64]) -> FxHashMap<Var, u64> {
        let cells = self.state.iter().zip(state);
        cells
            .filter_map(|(&term, &value)| Some((self.variable_of(term)?, value)))
            .collect()
    }

    /// The value of a cell in a state that all observables are given of.
    pub fn value_in(&self, state: &[(usize, bool)], cell: usize) -> u64 {
        let bits = state.iter().filter(|literal| literal.1);
        let of_cell = bits.filter_map(|&(observable, _)| {
            let o = &self.observables[observable];
            (o.source.cell() == Some(cell)).then_some(o.bit)
        });
        of_cell.fold(self.known[cell].value(), |value, bit| value | 1 << bit)
    }

    /// A cube in the words of the source. None if there is no state in it: its bits name a place that
    /// no thread has.
    pub fn describe(&self, literals: &[(usize, bool)]) -> Option<Vec<String>> {
        let layout = &self.blocks.layout;
        let mut parts: Vec<String> = Vec::new();
        let mut number = 0;
        while number < literals.len() {
            let (observable, value) = literals[number];
            match self.observables[observable].source {
                Source::Predicate(predicate) => {
                    let name = &self.predicates[predicate].name;
                    parts.push(if value {
                        name.clone()
                    } else {
                        format!("!({name})")
                    });
                    number += 1;
                }
                Source::Bit { cell, .. } => {
                    let of_cell: Vec<(u8, bool)> = literals[number..]
                        .iter()
                        .map_while(|&(other, value)| match self.observables[other].source {
                            Source::Bit { cell: same, bit } if same == cell => Some((bit, value)),
                            _ => None,
                        })
                        .collect();
                    number += of_cell.len();
                    parts.push(self.describe_cell(layout, cell, &of_cell)?);
                }
            }
        }
        Some(parts)
    }

    fn describe_cell(
        &self,
        layout: &crate::layout::Layout,
        cell: usize,
        bits: &[(u8, bool)],
    ) -> Option<String> {
        let width = layout.widths[cell];
        let name = layout.name(cell);
        let fits = |value: u64| {
            bits.iter()
                .all(|&(bit, set)| (value >> bit & 1 == 1) == set)
        };
        match layout.cells[cell] {
            crate::layout::Cell::Place { slot } => {
                let places: Vec<String> = (0..layout.slots[slot].places)
                    .filter(|&place| fits(place))
                    .map(|place| layout.describe_place(slot, place))
                    .collect();
                let places = places.join(" or ");
                return (!places.is_empty()).then(|| format!("{name} at {places}"));
            }
            crate::layout::Cell::Turn => {}
            _ if width == 1 => {
                return Some(format!("{name} == {}", u8::from(bits[0].1)));
            }
            _ => {}
        }
        let known = &self.known[cell];
        if bits.len() as u32 == known.unknown().count_ones() {
            let value = bits.iter().fold(known.value(), |value, &(bit, set)| {
                value | u64::from(set) << bit
            });
            return Some(format!("{name} == {value}"));
        }
        if known.unknown() < 16 {
            let values: Vec<String> = (0..=known.unknown())
                .filter(|&v| v & !known.unknown() == 0 && fits(v))
                .map(|v| (v | known.value()).to_string())
                .collect();
            return Some(format!("{name} in {{{}}}", values.join(", ")));
        }
        let bits: Vec<String> = bits
            .iter()
            .map(|&(bit, set)| format!("{name}.bit{bit} == {}", u8::from(set)))
            .collect();
        Some(bits.join(" && "))
    }
}

/// The comparisons in an expression that speak about numbers.
pub fn collect<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(op, a, b) => {
            if op.is_comparison() && a.width() > 1 {
                found.push(expr);
            } else {
                collect(a, found);
                collect(b, found);
            }
        }
        Expr::Unary(_, a) | Expr::Resize { arg: a, .. } => collect(a, found),
        Expr::If(a, b, c) => {
            collect(a, found);
            collect(b, found);
            collect(c, found);
        }
        _ => {}
    }
}
