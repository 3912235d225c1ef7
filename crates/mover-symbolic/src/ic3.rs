//! IC3: proofs by induction, found clause by clause.
//!
//! After Bradley (2011), *SAT-Based Model Checking without Unrolling*, with the later
//! refinements that made it practical (delta-encoded frames, a queue of obligations, lifting by
//! unsatisfiable cores, lemmas against counterexamples to generalisation, as in Hassan, Bradley
//! and Somenzi (2013), *Better Generalization in IC3*), on the block relation of Günther et al.
//! (2017).
//!
//! A *frame* k is a set of clauses that hold in all states at most k blocks from the start. A
//! state of the last frame that is bad, or leads to such a state, is an *obligation*: it must
//! be shown unreachable from the previous frame. If it is unreachable, the reason is
//! generalised to a clause that excludes as many states as possible; if it is not, the
//! predecessor is the next obligation. When two frames become equal, they are an inductive
//! invariant.
//!
//! **Predicates.** Günther et al. (2017) use CTIGAR: obligations are abstracted to predicates
//! of the program, and new predicates are added where the abstraction fails. Here the bits of
//! the state are always available; the program's own comparisons are additional literals
//! ([`crate::system::Observable`]). Lifting a predecessor and generalising a clause drop bits
//! first, so the remaining literals are comparisons where these are sufficient and bits where
//! they are not. Without predicates this is plain IC3. A clause that still contains bits of a
//! number is a counterexample to induction that the predicates could not distinguish from
//! reachable states. When that has happened to a cell a few times, comparisons that are true in
//! the counterexample are tried in place of the bits ([`crate::system::refine`]); a comparison
//! that works becomes a predicate.
//!
//! **Conditions on places.** With the reduction `dynamic` a step may move where no other thread can reach
//! a conflicting one any more. A block then ends in more ways, and lemmas depend on where the others are: on
//! classic mutual exclusion programs proofs took up to seven times as long. Elsewhere the same conditions
//! shorten a proof to a tenth, and the formula does not say which. So the plan and its cheaper form
//! ([`mover_reduce::ReductionPlan::without_conditions_on_places`]) take turns, each longer than the one before, until
//! one of them has an answer. A turn is measured in questions and conflicts, so that a search is the same
//! each time.
//!
//! **Reached states.** The search begins with a random walk; the states that it reaches prevent
//! lemmas from excluding reachable states ([`reached`]).

mod generalise;
mod reached;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::{Duration, Instant};

use mover_engine::{
    Conclusion, Control, EngineError, Outcome, SolverEffort, Statistics, Task, UpTo,
};
use mover_ir::program::BoundKind;
use mover_ir::semantics::Step;
use mover_reduce::Reduction;
use rustc_hash::FxHashMap;

use crate::Prepared;
use crate::blast::Blaster;
use crate::certificate::{self, Proved};
use crate::outcome::{Question, RunEnd, stopped};
use crate::sat::{Answer, Decisions, Lit, Solver};
use crate::system::{AlsoBad, Source, System};
use crate::term::{Evaluation, Term, Var};
use reached::Reached;

/// The values of a block's inputs.
type Choices = FxHashMap<Var, u64>;

/// Observables with values, by ascending number.
pub type Cube = Vec<(usize, bool)>;

pub fn check(
    task: &Task,
    question: &Question,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    let original = task.program();
    let mut question = question.clone();
    let mut total = SolverEffort::default();
    let mut ignores_beyond = false;
    let mut asked_bounds = BTreeSet::from(BoundKind::ALL);
    let mut bounds = BTreeSet::new();
    let mut turn = FIRST_TURN;
    loop {
        let prepared = Prepared::new(task, &question)?;
        let plan = &prepared.plan;
        let blocks = prepared.blocks(&question)?;
        // First a run that leaves the bounds counts as bad; if there is one, they
        // grow, and in the end the answer is for runs that do not leave them.
        // A bound of the program counts as bad, too. Once one is met there is no proof for all
        // runs; the search begins again without those of its kind.
        let also_bad = AlsoBad {
            beyond: !blocks.layout.is_exact() && !ignores_beyond,
            bounds: asked_bounds.clone(),
        };
        let up_to = if ignores_beyond {
            blocks.layout.bounds()
        } else {
            Vec::new()
        };
        let Some(mut system) = System::new(&blocks, &question, &also_bad, true) else {
            let so_far = " before the formula was made".to_string();
            let statistics = Statistics {
                effort: total,
                time: started.elapsed(),
                ..Statistics::default()
            };
            return Ok(Outcome {
                declined: plan.declined.clone(),
                ..Outcome::new(
                    stopped(&question.limit, so_far, "another --reduce"),
                    statistics,
                    plan.reduction.name(),
                )
            });
        };
        let mut search = Ic3Search::new(&mut system, &question, started, total, Vec::new());
        search.turn = prepared.has_cheaper_plan.then_some(turn);
        let found = search.run(progress);
        let turn_is_over = search.turn_is_over();
        total = search.effort();
        let statistics = search.statistics();
        let (conclusion, proof) = match found {
            Found::Stopped if turn_is_over => {
                question.cheaper = !question.cheaper;
                turn *= if turn == FIRST_TURN {
                    SECOND_TURN
                } else {
                    NEXT_TURN
                };
                continue;
            }
            Found::Stopped => {
                let depth = statistics.depth;
                let so_far = format!("; safe up to {depth} blocks");
                (stopped(&question.limit, so_far, "another --reduce"), None)
            }
            Found::Run { beyond: true, .. } => {
                match question.bounds.grown() {
                    Some(grown) => question.bounds = grown,
                    None => ignores_beyond = true,
                }
                continue;
            }
            Found::Run { steps, .. } => match prepared.confirm(original, steps)? {
                RunEnd::Violation(violation) => (Conclusion::Unsafe(violation), None),
                RunEnd::Bound(met) => {
                    let kind = original.bound(met).map(|mark| mark.kind);
                    if !kind.is_some_and(|kind| asked_bounds.remove(&kind)) {
                        return Err(EngineError::Internal("a bound is met twice".into()));
                    }
                    bounds.insert(met);
                    continue;
                }
            },
            Found::Invariant(clauses) => {
                match certificate::prove(&system, &question, &also_bad, &clauses)? {
                    Some(mut proof) => {
                        if question.carry_over && plan.reduction != Reduction::None {
                            let patience = CARRYING_OVER + 3 * started.elapsed();
                            let limit = question.limit.within(patience);
                            let question = Question {
                                limit,
                                ..question.clone()
                            };
                            let proved = Proved {
                                system: &system,
                                excluded: &clauses,
                                also_bad: &also_bad,
                            };
                            certificate::carry_over(task, &question, &proved, &mut proof)?;
                        }
                        (Conclusion::Safe { up_to }, Some(proof))
                    }
                    None => {
                        let so_far = " before the proof was certified".to_string();
                        (stopped(&question.limit, so_far, "another --reduce"), None)
                    }
                }
            }
        };
        return Ok(Outcome {
            bounds: bounds.into_iter().collect(),
            declined: plan.declined.clone(),
            proof,
            ..Outcome::new(conclusion, statistics, plan.reduction.name())
        });
    }
}

/// The question whether the invariant found can be broken, in SMT-LIB.
pub fn dump(task: &Task, question: &Question) -> Result<String, EngineError> {
    let prepared = Prepared::new(task, question)?;
    let plan = &prepared.plan;
    let blocks = prepared.blocks(question)?;
    let also_bad = AlsoBad {
        beyond: true,
        ..AlsoBad::default()
    };
    let Some(mut system) = System::new(&blocks, question, &also_bad, true) else {
        return Err(EngineError::Unsupported(
            "a limit was reached before the formula was made".into(),
        ));
    };
    match prove(&mut system, question, Vec::new()) {
        Found::Invariant(excluded) => {
            let (terms, broken) = certificate::broken(&system, &excluded);
            let comment = format!(
                "{}: does the invariant of {} clauses admit a violation, or is there a block that \
                 breaks it? (reduction {})\nunsat: the proof holds",
                task.program().info.name,
                excluded.len(),
                plan.reduction
            );
            Ok(crate::smtlib::script(&terms, &comment, &[broken]))
        }
        Found::Run { beyond: true, .. } => Err(EngineError::Unsupported(format!(
            "there are runs that need more than {}",
            UpTo::list(&blocks.layout.bounds(), " and ")
        ))),
        Found::Run { .. } => Err(EngineError::Unsupported(
            "there is a violation, so there is no invariant to dump".into(),
        )),
        Found::Stopped => Err(EngineError::Unsupported(
            "a limit was reached before an invariant was found".into(),
        )),
    }
}

/// Searches for an invariant; the hints are cubes that may be unreachable.
pub fn prove(system: &mut System, question: &Question, hints: Vec<Cube>) -> Found {
    let now = Instant::now();
    Ic3Search::new(system, question, now, SolverEffort::default(), hints).run(&mut |_| {})
}

/// Those of the cubes that no state that can be reached is in, by induction on all of them: what
/// a block can enter from outside of all is dropped until nothing is. None if a limit was reached.
fn inductive(system: &System, limit: Control, mut cubes: Vec<Cube>) -> Option<Vec<Cube>> {
    if cubes.is_empty() {
        return Some(cubes);
    }
    let mut relation = Relation::new(system, Solver::deciding(Decisions::Inputs, limit));
    let mut switches: FxHashMap<Cube, (Lit, Lit)> = FxHashMap::default();
    for cube in &cubes {
        let [outside, entered] = [(); 2].map(|()| relation.solver().new_lit());
        let mut clause: Vec<Lit> = cube.iter().map(|&lit| !relation.now(lit)).collect();
        clause.push(!outside);
        relation.solver().add(&clause);
        relation.enters(entered, cube);
        switches.insert(cube.clone(), (outside, entered));
    }
    loop {
        let switch = relation.solver().new_lit();
        let mut assumptions = vec![switch, relation.possible];
        let mut some_entered = vec![!switch];
        for (outside, entered) in cubes.iter().map(|cube| switches[cube]) {
            assumptions.push(outside);
            some_entered.push(entered);
        }
        relation.solver().add(&some_entered);
        match relation.solver().solve(&assumptions) {
            Answer::Unsat => return Some(cubes),
            Answer::Stopped => return None,
            Answer::Sat => {}
        }
        let holds_next = |&lit: &(usize, bool)| relation.blaster.solver.value(relation.next(lit));
        cubes.retain(|cube| !cube.iter().all(holds_next));
        relation.solver().add(&[!switch]);
    }
}

pub enum Found {
    /// Cubes that no reachable state is in.
    Invariant(Vec<Cube>),
    Run {
        steps: Vec<Step>,
        /// Whether it ends beyond the bounds.
        beyond: bool,
    },
    Stopped,
}

/// A limit was reached.
struct Stop;

/// A set of states that lead to a bad one.
struct Obligation {
    cube: Cube,
    /// A state in the cube.
    state: Cube,
    /// The choices that lead on, and the obligation they lead to; none from a bad state.
    then: Option<(Choices, usize)>,
}

/// A solver that knows the relation, with its literals for the observables.
struct Relation {
    blaster: Blaster,
    now: Vec<Lit>,
    next: Vec<Lit>,
    possible: Lit,
    bad: Lit,
    inputs: Vec<(Term, Vec<Lit>)>,
}

impl Relation {
    fn new(system: &System, solver: Solver) -> Self {
        let mut blaster = Blaster::new(solver);
        let terms = &system.terms;
        let mut relation = Relation {
            now: Vec::new(),
            next: Vec::new(),
            possible: blaster.lit(terms, system.block.possible),
            bad: blaster.lit(terms, system.bad),
            inputs: system
                .inputs
                .iter()
                .map(|&input| (input, blaster.bits(terms, input).to_vec()))
                .collect(),
            blaster,
        };
        relation.observe(system);
        relation
    }

    /// Makes literals for observables that have none.
    fn observe(&mut self, system: &System) {
        for o in &system.observables[self.now.len()..] {
            let place = usize::from(o.bit);
            self.now
                .push(self.blaster.bits(&system.terms, o.now)[place]);
            self.next
                .push(self.blaster.bits(&system.terms, o.next)[place]);
        }
    }

    /// Forgets the last observable.
    fn forget(&mut self) {
        self.now.pop();
        self.next.pop();
    }

    fn solver(&mut self) -> &mut Solver {
        &mut self.blaster.solver
    }

    /// Makes a literal imply that the next state is in the cube.
    fn enters(&mut self, entered: Lit, cube: &Cube) {
        for &lit in cube {
            let next = self.next(lit);
            self.solver().add(&[!entered, next]);
        }
    }

    fn now(&self, (observable, value): (usize, bool)) -> Lit {
        let lit = self.now[observable];
        if value { lit } else { !lit }
    }

    fn next(&self, (observable, value): (usize, bool)) -> Lit {
        let lit = self.next[observable];
        if value { lit } else { !lit }
    }
}

struct Ic3Search<'s, 'a, 'p> {
    system: &'s mut System<'a, 'p>,
    question: &'s Question,
    started: Instant,
    before: SolverEffort,
    retired: SolverEffort,
    relation: Relation,
    /// Without frames, to lift predecessors.
    lifter: Relation,
    /// Cubes that are known to be unreachable.
    known: Vec<Cube>,
    /// Cubes excluded from frames 1 to k, for each k.
    frames: Vec<Vec<Cube>>,
    /// The literal that switches on the clauses of each frame; the first is for where the search begins.
    active: Vec<Lit>,
    reached: Reached,
    /// How often an observable was in a clause that was learnt.
    activity: Vec<f64>,
    temporary: usize,
    /// By cell: lemmas that had to speak about its bits, since a comparison was last tried for it,
    /// and how many must do so before one is tried again.
    unrefined: FxHashMap<usize, (u64, u64)>,
    obligations: Vec<Obligation>,
    looked_at: u64,
    /// After how many questions and conflicts a turn is over.
    turn: Option<u64>,
}

/// Questions and conflicts of the first turn; see above.
const FIRST_TURN: u64 = 4_000;

/// How many times as long the second turn is, the first one of the cheaper form, and how many times as long
/// each further one.
const SECOND_TURN: u64 = 8;
const NEXT_TURN: u64 = 4;

/// A solver is built anew after this many clauses that were needed only once.
const MOST_TEMPORARY: usize = 2_000;

/// What a proof about transactions may take to be carried over to single steps, besides three times
/// what it took to be found.
const CARRYING_OVER: Duration = Duration::from_secs(2);

/// What may be spent on finding out which hints are right, at most.
const LOOKING_AT_HINTS: Duration = Duration::from_secs(3);

impl<'s, 'a, 'p> Ic3Search<'s, 'a, 'p> {
    fn new(
        system: &'s mut System<'a, 'p>,
        question: &'s Question,
        started: Instant,
        before: SolverEffort,
        mut hints: Vec<Cube>,
    ) -> Self {
        let reached = Reached::new(system, &question.limit);
        hints.retain(|cube| reached.find(cube).is_none());
        let limit = question.limit.share(4, LOOKING_AT_HINTS);
        let known = inductive(system, limit, hints).unwrap_or_default();
        let solver = || Solver::deciding(Decisions::Inputs, question.limit.clone());
        let mut search = Ic3Search {
            relation: Relation::new(system, solver()),
            lifter: Relation::new(system, solver()),
            known,
            frames: vec![Vec::new()],
            active: Vec::new(),
            activity: vec![0.0; system.observables.len()],
            reached,
            temporary: 0,
            unrefined: FxHashMap::default(),
            obligations: Vec::new(),
            looked_at: 0,
            turn: None,
            retired: SolverEffort::default(),
            system,
            question,
            started,
            before,
        };
        search.activate_frames();
        search
    }

    fn effort(&self) -> SolverEffort {
        let mut effort = self.before;
        effort += self.retired;
        effort += self.relation.blaster.solver.effort();
        effort += self.lifter.blaster.solver.effort();
        effort
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            depth: self.frames.len() as u64 - 1,
            obligations: self.looked_at,
            lemmas: self.frames.iter().map(|frame| frame.len() as u64).sum(),
            predicates: self.system.predicates.len() as u64,
            bits: self
                .system
                .observables
                .iter()
                .filter(|o| matches!(o.source, Source::Bit { .. }))
                .count() as u64,
            terms: self.system.terms.len() as u64,
            effort: self.effort(),
            time: self.started.elapsed(),
            ..Statistics::default()
        }
    }

    /// Adds the clauses of all frames to the solver.
    fn activate_frames(&mut self) {
        self.active.clear();
        let first = self.relation.solver().new_lit();
        self.active.push(first);
        let mut one_of = vec![!first];
        for start in 0..self.system.starts.len() {
            let this = self.relation.solver().new_lit();
            one_of.push(this);
            for observable in 0..self.system.observables.len() {
                let value = self.reached.value(observable, start);
                let lit = self.relation.now((observable, value));
                self.relation.solver().add(&[!this, lit]);
            }
        }
        self.relation.solver().add(&one_of);
        for cube in &self.known {
            let clause: Vec<Lit> = cube.iter().map(|&lit| !self.relation.now(lit)).collect();
            self.relation.blaster.solver.add(&clause);
        }
        for level in 1..self.frames.len() {
            let lit = self.relation.solver().new_lit();
            self.active.push(lit);
            for cube in self.frames[level].clone() {
                self.exclude(level, &cube);
            }
        }
    }

    fn exclude(&mut self, level: usize, cube: &Cube) {
        let mut clause: Vec<Lit> = cube.iter().map(|&lit| !self.relation.now(lit)).collect();
        clause.push(!self.active[level]);
        self.relation.solver().add(&clause);
    }

    /// A new solver in place of one that is full of what it needs no more.
    fn renew(&mut self) {
        self.retired += self.relation.blaster.solver.effort();
        let solver = Solver::deciding(Decisions::Inputs, self.question.limit.clone());
        self.relation = Relation::new(self.system, solver);
        self.temporary = 0;
        self.activate_frames();
    }

    /// The assumptions that make a state one of a frame.
    fn in_frame(&self, level: usize) -> Vec<Lit> {
        if level == 0 {
            vec![self.active[0]]
        } else {
            self.active[level..].to_vec()
        }
    }

    fn run(&mut self, progress: &mut dyn FnMut(&Statistics)) -> Found {
        match self.try_run(progress) {
            Ok(found) => found,
            Err(Stop) => Found::Stopped,
        }
    }

    fn turn_is_over(&self) -> bool {
        let effort = self.effort();
        let spent = effort.questions + effort.conflicts;
        let before = self.before.questions + self.before.conflicts;
        self.turn.is_some_and(|turn| spent - before > turn) && !self.question.limit.is_over()
    }

    fn try_run(&mut self, progress: &mut dyn FnMut(&Statistics)) -> Result<Found, Stop> {
        // The states to begin with themselves.
        let mut assumptions = self.in_frame(0);
        assumptions.push(self.relation.bad);
        if self.solve(&assumptions)? {
            let state = self.state();
            return Ok(self.run_of(&state, &[]));
        }
        loop {
            self.frames.push(Vec::new());
            let lit = self.relation.solver().new_lit();
            self.active.push(lit);
            let last = self.frames.len() - 1;
            loop {
                progress(&self.statistics());
                let mut assumptions = self.in_frame(last);
                assumptions.push(self.relation.bad);
                if !self.solve(&assumptions)? {
                    break;
                }
                let state = self.state();
                let cube = self.lift_bad(&state)?;
                if let Some(run) = self.block(cube, state, last)? {
                    return Ok(run);
                }
            }
            if let Some(invariant) = self.push_clauses()? {
                return Ok(Found::Invariant(invariant));
            }
        }
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, Stop> {
        if self.turn_is_over() {
            return Err(Stop);
        }
        match self.relation.solver().solve(assumptions) {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Stopped => Err(Stop),
        }
    }

    /// The state of the model.
    fn state(&self) -> Cube {
        let solver = &self.relation.blaster.solver;
        let now = self.relation.now.iter().enumerate();
        now.map(|(observable, &lit)| (observable, solver.value(lit)))
            .collect()
    }

    fn choices(&self) -> Choices {
        let inputs = self.system.inputs.iter().copied();
        self.relation.blaster.assignment(&self.system.terms, inputs)
    }

    /// Observables in the order in which they should be kept: predicates first.
    fn by_preference(&self, cube: &Cube) -> Cube {
        let mut ordered = cube.clone();
        ordered.sort_by_key(|&(observable, _)| {
            !matches!(
                self.system.observables[observable].source,
                Source::Predicate(_)
            )
        });
        ordered
    }

    /// The part of a bad state that makes it bad.
    fn lift_bad(&mut self, state: &Cube) -> Result<Cube, Stop> {
        let ordered = self.by_preference(state);
        let mut assumptions = vec![!self.lifter.bad];
        assumptions.extend(ordered.iter().map(|&lit| self.lifter.now(lit)));
        self.lift(assumptions, state)
    }

    /// The part of a state that leads, by these choices, into the cube.
    fn lift_predecessor(
        &mut self,
        state: &Cube,
        choices: &Choices,
        cube: &Cube,
    ) -> Result<Cube, Stop> {
        let switch = self.lifter.solver().new_lit();
        let mut elsewhere: Vec<Lit> = cube.iter().map(|&lit| !self.lifter.next(lit)).collect();
        elsewhere.push(!self.lifter.possible);
        elsewhere.push(!switch);
        self.lifter.solver().add(&elsewhere);
        let mut assumptions = vec![switch];
        for (input, bits) in &self.lifter.inputs {
            let value = self
                .system
                .terms
                .as_var(*input)
                .and_then(|var| choices.get(&var));
            let value = value.copied().unwrap_or(0);
            for (place, &bit) in bits.iter().enumerate() {
                assumptions.push(if value >> place & 1 == 1 { bit } else { !bit });
            }
        }
        let ordered = self.by_preference(state);
        assumptions.extend(ordered.iter().map(|&lit| self.lifter.now(lit)));
        let lifted = self.lift(assumptions, state)?;
        self.lifter.solver().add(&[!switch]);
        Ok(lifted)
    }

    fn lift(&mut self, assumptions: Vec<Lit>, state: &Cube) -> Result<Cube, Stop> {
        match self.lifter.solver().solve(&assumptions) {
            Answer::Unsat => {
                let solver = &self.lifter.blaster.solver;
                Ok(state
                    .iter()
                    .copied()
                    .filter(|&lit| solver.in_core(self.lifter.now(lit)))
                    .collect())
            }
            Answer::Stopped => Err(Stop),
            // The observables leave out what has no influence, so this does not
            // happen; the whole state is right in any case.
            Answer::Sat => Ok(state.clone()),
        }
    }

    fn is_reached(&self, cube: &Cube) -> bool {
        self.reached.find(cube).is_some()
    }

    /// Shows that a cube of bad states is unreachable, or finds a run to it.
    fn block(&mut self, bad: Cube, state: Cube, level: usize) -> Result<Option<Found>, Stop> {
        self.obligations.clear();
        self.obligations.push(Obligation {
            cube: bad,
            state,
            then: None,
        });
        let mut queue = BinaryHeap::new();
        queue.push(Reverse((level, 0usize, 0usize)));
        let mut order = 0;
        while let Some(Reverse((level, _, number))) = queue.pop() {
            self.looked_at += 1;
            let cube = self.obligations[number].cube.clone();
            if level == 0 || self.is_reached(&cube) {
                return Ok(Some(self.run_of(&cube, &self.chain(number))));
            }
            if self.is_excluded(&cube, level) {
                continue;
            }
            match self.predecessor(&cube, level)? {
                Some((state, choices)) => {
                    let lifted = self.lift_predecessor(&state, &choices, &cube)?;
                    self.obligations.push(Obligation {
                        cube: lifted,
                        state,
                        then: Some((choices, number)),
                    });
                    order += 1;
                    queue.push(Reverse((level - 1, order, self.obligations.len() - 1)));
                    queue.push(Reverse((level, order, number)));
                }
                None => {
                    let core = self.core(&cube);
                    let clause = self.generalise(core, level)?;
                    let clause = self.refine(clause, number, level)?;
                    let reached = self.highest(&clause, level)?;
                    self.learn(clause, reached);
                    if reached + 1 < self.frames.len() {
                        order += 1;
                        queue.push(Reverse((reached + 1, order, number)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether a clause of the frame already excludes the cube.
    fn is_excluded(&self, cube: &Cube, level: usize) -> bool {
        self.frames[level..]
            .iter()
            .flatten()
            .any(|excluded| is_subset(excluded, cube))
    }

    /// A state of the frame before, outside of the cube, that leads into the cube.
    fn predecessor(&mut self, cube: &Cube, level: usize) -> Result<Option<(Cube, Choices)>, Stop> {
        if self.temporary > MOST_TEMPORARY {
            self.renew();
        }
        self.temporary += 1;
        let switch = self.relation.solver().new_lit();
        let mut outside: Vec<Lit> = cube.iter().map(|&lit| !self.relation.now(lit)).collect();
        outside.push(!switch);
        self.relation.solver().add(&outside);
        let mut assumptions = self.in_frame(level - 1);
        assumptions.push(switch);
        assumptions.push(self.relation.possible);
        let ordered = self.by_preference(cube);
        assumptions.extend(ordered.iter().map(|&lit| self.relation.next(lit)));
        let found = self.solve(&assumptions)?;
        let result = found.then(|| (self.state(), self.choices()));
        if found {
            self.relation.solver().add(&[!switch]);
        }
        Ok(result)
    }

    /// The part of a cube that was enough to show it unreachable; what keeps states
    /// outside that are reached is added again.
    fn core(&mut self, cube: &Cube) -> Cube {
        let solver = &self.relation.blaster.solver;
        let mut core: Cube = cube
            .iter()
            .copied()
            .filter(|&lit| solver.in_core(self.relation.next(lit)))
            .collect();
        while let Some(state) = self.reached.find(&core) {
            let differs = |&&(observable, value): &&(usize, bool)| {
                self.reached.value(observable, state) != value
            };
            // A literal that was useful before is the better choice.
            let best = cube
                .iter()
                .filter(differs)
                .max_by(|a, b| self.activity[a.0].total_cmp(&self.activity[b.0]));
            let Some(&best) = best else {
                // The cube itself contains the state; the caller has checked that before.
                return cube.clone();
            };
            core.push(best);
            core.sort_unstable();
        }
        core
    }

    /// The highest frame that excludes the cube as well.
    fn highest(&mut self, cube: &Cube, mut level: usize) -> Result<usize, Stop> {
        while level + 1 < self.frames.len() {
            if self.predecessor(cube, level + 1)?.is_some() {
                break;
            }
            level += 1;
        }
        Ok(level)
    }

    fn learn(&mut self, cube: Cube, level: usize) {
        for frame in &mut self.frames[..=level] {
            frame.retain(|known| !is_subset(&cube, known));
        }
        for &(observable, _) in &cube {
            self.activity[observable] += 1.0;
        }
        self.activity
            .iter_mut()
            .for_each(|activity| *activity *= 0.99);
        self.exclude(level, &cube);
        self.frames[level].push(cube);
    }

    /// Moves clauses to later frames; an invariant if a frame has none of its own left.
    fn push_clauses(&mut self) -> Result<Option<Vec<Cube>>, Stop> {
        for level in 1..self.frames.len() - 1 {
            for cube in self.frames[level].clone() {
                if !self.frames[level].contains(&cube) {
                    continue;
                }
                if self.predecessor(&cube, level + 1)?.is_none() {
                    self.learn(cube, level + 1);
                }
            }
            if self.frames[level].is_empty() {
                let rest = self.frames[level + 1..].iter().flatten().cloned();
                return Ok(Some(self.with_what_it_rests_on(rest.collect())?));
            }
        }
        Ok(None)
    }

    /// Adds the known cubes to an invariant that are needed to show it one.
    fn with_what_it_rests_on(&self, mut invariant: Vec<Cube>) -> Result<Vec<Cube>, Stop> {
        let solver = Solver::deciding(Decisions::Inputs, self.question.limit.clone());
        let mut relation = Relation::new(self.system, solver);
        let outside = |relation: &Relation, cube: &Cube| -> Vec<Lit> {
            cube.iter().map(|&lit| !relation.now(lit)).collect()
        };
        let mut unused: Vec<(Lit, Cube)> = Vec::new();
        for cube in &self.known {
            let switch = relation.solver().new_lit();
            let mut clause = outside(&relation, cube);
            clause.push(!switch);
            relation.solver().add(&clause);
            unused.push((switch, cube.clone()));
        }
        let mut shown = 0;
        loop {
            let mut some_wrong = Vec::new();
            for cube in &invariant[shown..] {
                let clause = outside(&relation, cube);
                relation.solver().add(&clause);
                let entered = relation.solver().new_lit();
                relation.enters(entered, cube);
                let possible = relation.possible;
                relation.solver().add(&[!entered, possible]);
                some_wrong.push(entered);
            }
            if shown == 0 {
                some_wrong.push(relation.bad);
            }
            shown = invariant.len();
            let switch = relation.solver().new_lit();
            some_wrong.push(!switch);
            relation.solver().add(&some_wrong);
            let mut assumptions = vec![switch];
            assumptions.extend(unused.iter().map(|(lit, _)| *lit));
            match relation.solver().solve(&assumptions) {
                Answer::Unsat => {}
                Answer::Stopped => return Err(Stop),
                // The check of the proof will reject it.
                Answer::Sat => return Ok([invariant, self.known.clone()].concat()),
            }
            let solver = &relation.blaster.solver;
            let (used, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut unused)
                .into_iter()
                .partition(|(switch, _)| solver.in_core(*switch));
            unused = rest;
            if used.is_empty() {
                return Ok(invariant);
            }
            invariant.extend(used.into_iter().map(|(_, cube)| cube));
            relation.solver().add(&[!switch]);
        }
    }

    /// The choices from an obligation to the bad state.
    fn chain(&self, mut number: usize) -> Vec<Choices> {
        let mut chain = Vec::new();
        while let Some((choices, next)) = &self.obligations[number].then {
            chain.push(choices.clone());
            number = *next;
        }
        chain
    }

    /// The run by these choices from a state that is reached and in the cube.
    fn run_of(&self, cube: &Cube, chain: &[Choices]) -> Found {
        let system = &*self.system;
        let (start, walk) = self.reached.walk_to(self.reached.find(cube).unwrap_or(0));
        let start = &system.starts[start];
        let mut state = start.state.clone();
        let mut steps = start.steps.clone();
        for choices in walk.iter().chain(chain) {
            let cells = system.assignment(&state);
            let value = |var: Var| {
                cells
                    .get(&var)
                    .or_else(|| choices.get(&var))
                    .copied()
                    .unwrap_or(0)
            };
            let mut evaluation = Evaluation::new(&system.terms, &value);
            steps.extend(system.blocks.steps(&system.block, &mut evaluation));
            state = system
                .block
                .next
                .iter()
                .map(|&next| evaluation.eval(next))
                .collect();
        }
        let layout = &system.blocks.layout;
        let beyond = layout.turn_value(crate::layout::Turn::Beyond);
        Found::Run {
            steps,
            beyond: !layout.is_exact() && state[layout.turn] == beyond,
        }
    }
}

/// Whether all literals of one cube are in the other.
fn is_subset(small: &Cube, large: &Cube) -> bool {
    let mut rest = large.iter();
    small.iter().all(|lit| rest.any(|other| other == lit))
}
