//! Bounded model checking over blocks.
//!
//! The blocks are unrolled from the initial state, one after the other, in one solver that only
//! grows. The state after each block is a term over the choices made so far, not a vector of
//! new variables: what is constant in the initial state stays constant until something changes
//! it, so locations that cannot be reached in this many blocks cost nothing.
//!
//! The verdict is `safe` only if no run is longer than the unrolling.
//!
//! Bounds of the program are queried together with violations. A bound that is met is recorded
//! and not queried again; the search continues at the same depth.

use std::collections::BTreeSet;
use std::time::Instant;

use mover_engine::{Conclusion, EngineError, Outcome, Proof, Statistics, Task, UpTo};
use mover_ir::program::BoundMet;

use crate::Prepared;
use crate::blast::Blaster;
use crate::blocks::{Block, Blocks, Inputs};
use crate::outcome::{Question, RunEnd, note_checks, stopped};
use crate::peephole::{Move, Peephole};
use crate::sat::Answer;
use crate::smtlib;
use crate::term::{Evaluation, Term, Terms, Var};

pub fn check(
    task: &Task,
    question: &Question,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Outcome, EngineError> {
    let mut question = question.clone();
    loop {
        let (outcome, is_beyond) = check_within(task, &question, progress)?;
        let is_bounded = matches!(outcome.conclusion, Conclusion::Safe { .. }) && is_beyond;
        match question.bounds.grown() {
            Some(grown) if is_bounded => question.bounds = grown,
            _ => return Ok(outcome),
        }
    }
}

/// Checks within the bounds asked for; whether a run left them.
fn check_within(
    task: &Task,
    question: &Question,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<(Outcome, bool), EngineError> {
    let started = Instant::now();
    let prepared = Prepared::new(task, question)?;
    let plan = &prepared.plan;
    let blocks = prepared.blocks(question)?;
    let mut search = BoundedSearch::new(&blocks, question);
    let mut declined = plan.declined.clone();
    if question.peephole {
        match Peephole::new(&plan.program) {
            Ok(peephole) => search.peephole = Some(peephole),
            Err(reason) => declined = Some(reason.to_string()),
        }
    }
    let places = prepared.bounds();
    let mut bounds = BTreeSet::new();
    let conclusion = loop {
        let found = search.next_depth();
        search.statistics.time = started.elapsed();
        progress(&search.statistics);
        let mut up_to = Vec::new();
        if search.is_beyond {
            up_to.extend(blocks.layout.bounds());
        }
        match found {
            Found::Nothing => {}
            Found::Run(steps) => match prepared.confirm(task.program(), steps)? {
                RunEnd::Violation(violation) => break Conclusion::Unsafe(violation),
                RunEnd::Bound(met) => {
                    // The same depth again, without this bound.
                    let same = places.iter().filter(|(_, original)| *original == met);
                    search.met.extend(same.map(|(here, _)| *here));
                    if !bounds.insert(met) {
                        return Err(EngineError::Internal("a bound is met twice".into()));
                    }
                    continue;
                }
            },
            Found::Complete => {
                if let Some(contexts) = question.contexts {
                    up_to.push(UpTo::ContextSwitches(contexts));
                }
                break Conclusion::Safe { up_to };
            }
            Found::Stopped => {
                let depth = search.statistics.depth;
                let so_far = format!("; safe up to {depth} blocks");
                break stopped(&question.limit, so_far, "--engine ic3");
            }
        }
        if question
            .depth
            .is_some_and(|most| search.statistics.depth >= most)
        {
            up_to.insert(0, UpTo::Blocks(search.statistics.depth));
            break Conclusion::Safe { up_to };
        }
    };
    let mut proof = Proof::default();
    note_checks(&mut proof, &search.blaster.solver)?;
    search.statistics.time = started.elapsed();
    let is_peephole = question.peephole && declined.is_none();
    let reduction = if is_peephole {
        "peephole"
    } else {
        plan.reduction.name()
    };
    let outcome = Outcome {
        bounds: bounds.into_iter().collect(),
        declined,
        proof: Some(proof),
        ..Outcome::new(conclusion, search.statistics, reduction)
    };
    Ok((outcome, search.is_beyond))
}

/// Blocks that a dumped question unrolls if nothing else was asked for.
const DUMPED: u64 = 10;

/// The question whether a violation is at most this many blocks away, in SMT-LIB.
pub fn dump(task: &Task, question: &Question) -> Result<String, EngineError> {
    let prepared = Prepared::new(task, question)?;
    let plan = &prepared.plan;
    let blocks = prepared.blocks(question)?;
    let mut search = BoundedSearch::new(&blocks, question);
    let depth = question.depth.unwrap_or(DUMPED);
    let mut so_far = Terms::TRUE;
    let mut violations = Vec::new();
    for number in 0..=depth {
        let bad = crate::bad(&blocks, question, &mut search.terms, &search.state);
        violations.push(search.terms.and(so_far, bad));
        if number < depth {
            let mut inputs = Inputs::new(format!(" {number}"));
            let block = blocks.block(&mut search.terms, &search.state, &mut inputs);
            so_far = search.terms.and(so_far, block.possible);
            search.state = block.next;
        }
    }
    let any = search.terms.any(violations);
    let comment = format!(
        "{}: is a violation at most {depth} blocks away? (reduction {})\nsat: yes, unsat: no",
        task.program().info.name,
        plan.reduction
    );
    Ok(smtlib::script(&search.terms, &comment, &[any]))
}

enum Found {
    /// No violation and no further bound of the program at this depth.
    Nothing,
    /// A run to a violation or a bound of the program.
    Run(Vec<mover_ir::semantics::Step>),
    /// No run continues from here.
    Complete,
    Stopped,
}

struct BoundedSearch<'a, 'p> {
    blocks: &'a Blocks<'p>,
    question: &'a Question,
    terms: Terms,
    blaster: Blaster,
    state: Vec<Term>,
    unrolled: Vec<Block>,
    inputs: Vec<Term>,
    /// How often another thread has taken over so far.
    switches: Term,
    /// The bounds of the encoded program that are known to be met.
    met: BTreeSet<BoundMet>,
    /// Whether some run needs more than is encoded.
    is_beyond: bool,
    peephole: Option<Peephole<'a>>,
    last_move: Option<Move>,
    statistics: Statistics,
}

impl<'a, 'p> BoundedSearch<'a, 'p> {
    fn new(blocks: &'a Blocks<'p>, question: &'a Question) -> Self {
        let mut terms = Terms::new();
        let layout = &blocks.layout;
        let state = layout
            .initial()
            .iter()
            .zip(&layout.widths)
            .map(|(&value, &width)| terms.constant(value, width))
            .collect();
        let switches = terms.constant(0, 32);
        BoundedSearch {
            blocks,
            question,
            blaster: Blaster::new(question.solver()),
            state,
            unrolled: Vec::new(),
            inputs: Vec::new(),
            switches,
            met: BTreeSet::new(),
            is_beyond: false,
            peephole: None,
            last_move: None,
            statistics: Statistics {
                bits: layout.widths.iter().map(|&width| u64::from(width)).sum(),
                ..Statistics::default()
            },
            terms,
        }
    }

    /// Searches for violations at the present depth, then unrolls one more block.
    fn next_depth(&mut self) -> Found {
        let found = self.look();
        self.statistics.terms = self.terms.len() as u64;
        self.statistics.effort = self.blaster.solver.effort();
        found
    }

    fn look(&mut self) -> Found {
        let bad = crate::bad(self.blocks, self.question, &mut self.terms, &self.state);
        let met = &self.met;
        let bound = self
            .blocks
            .meets_bound(&mut self.terms, &self.state, |at, _| !met.contains(&at));
        let wanted = self.terms.or(bad, bound);
        match self.blaster.check(&self.terms, &[wanted]) {
            Answer::Sat => return Found::Run(self.steps()),
            Answer::Stopped => return Found::Stopped,
            Answer::Unsat => {}
        }
        let beyond = self.blocks.beyond(&mut self.terms, &self.state);
        if beyond != Terms::FALSE && !self.is_beyond {
            match self.blaster.check(&self.terms, &[beyond]) {
                Answer::Sat => self.is_beyond = true,
                Answer::Stopped => return Found::Stopped,
                Answer::Unsat => {}
            }
        }
        let number = self.unrolled.len();
        let mut inputs = Inputs::new(format!(" {number}"));
        let block = self.blocks.block(&mut self.terms, &self.state, &mut inputs);
        if block.is_cut {
            return Found::Stopped;
        }
        self.inputs.extend(&inputs.all);
        self.blaster.assert(&self.terms, block.possible);
        if let Some(peephole) = &self.peephole {
            let (terms, layout) = (&mut self.terms, &self.blocks.layout);
            let moved = peephole.touched(terms, layout, &self.state, &block);
            if let Some(last) = self.last_move.replace(moved)
                && let Some(moved) = &self.last_move
            {
                let fits = last.fits(terms, moved);
                self.blaster.assert(terms, fits);
            }
        }
        if let (Some(most), Some(last)) = (self.question.contexts, self.unrolled.last()) {
            let terms = &mut self.terms;
            let differs = terms.ne(last.who, block.who);
            let one = terms.resize(differs, 32, false);
            self.switches = terms.add(self.switches, one);
            let limit = terms.constant(most, 32);
            let too_many = terms.ult(limit, self.switches);
            let few = terms.not(too_many);
            self.blaster.assert(terms, few);
        }
        match self.blaster.check(&self.terms, &[]) {
            Answer::Unsat => return Found::Complete,
            Answer::Stopped => return Found::Stopped,
            Answer::Sat => {}
        }
        self.state = block.next.clone();
        self.unrolled.push(block);
        self.statistics.depth += 1;
        Found::Nothing
    }

    /// The steps of the run that the solver found.
    fn steps(&self) -> Vec<mover_ir::semantics::Step> {
        let values = self
            .blaster
            .assignment(&self.terms, self.inputs.iter().copied());
        let value = |var: Var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&self.terms, &value);
        self.unrolled
            .iter()
            .flat_map(|block| self.blocks.steps(block, &mut evaluation))
            .collect()
    }
}
