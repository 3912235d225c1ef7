//! The SAT solver, behind a narrow interface.
//!
//! The engines need: new variables and clauses at any time, queries under assumptions, models,
//! and the assumptions on which an unsatisfiable answer depends. The built-in solver is batsat,
//! MiniSat's algorithm in Rust; ARCHITECTURE.md says why. A solver can be created that has each
//! of its unsatisfiable answers checked (see `rup`).

use std::cell::Cell;

use batsat::{
    Callbacks, ClauseKind, Lit as BatLit, Solver as Bat, SolverInterface, SolverOpts, lbool,
};

use mover_engine::{Control, SolverEffort};

use crate::order::{Graph, Log, Order, Point};
use crate::rup::{Checked, Checker, Literal};

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(BatLit);

impl std::fmt::Debug for Lit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0.sign() { "" } else { "-" };
        write!(f, "{sign}{}", self.0.var().idx())
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(!self.0)
    }
}

#[cfg(test)]
impl Lit {
    /// The literal as the solver knows it.
    pub fn inner(self) -> BatLit {
        self.0
    }
}

/// The solver asks at every decision; the clock is inspected from time to time.
struct Patience {
    limit: Control,
    asked: Cell<u32>,
    is_over: Cell<bool>,
    /// Conflicts until the present question is given up.
    conflicts_left: Option<u64>,
    /// Follows what the solver learns.
    witness: Option<Box<Witness>>,
}

/// A checker and what it has found wrong.
#[derive(Default)]
struct Witness {
    checker: Checker,
    clause: Vec<Literal>,
    /// What the theory of order claims, and the edges to check it against.
    lemmas: Option<Log>,
    graph: Graph,
    /// The first thing that did not follow.
    flaw: Option<&'static str>,
}

impl Witness {
    /// The checker with the literals in its own numbers, and where flaws are noted.
    fn told(&mut self, clause: &[BatLit]) -> (&mut Checker, &[Literal]) {
        self.clause.clear();
        let number = |lit: &BatLit| lit.var().idx() << 1 | u32::from(!lit.sign());
        self.clause.extend(clause.iter().map(number));
        (&mut self.checker, &self.clause)
    }

    /// Checks the lemmas of the theory since the last look. They count as clauses of the formula
    /// from then on.
    fn take_lemmas(&mut self) {
        let lemmas = match &self.lemmas {
            Some(log) => std::mem::take(&mut *log.borrow_mut()),
            None => return,
        };
        for lemma in lemmas {
            if self.graph.is_lemma(&lemma) {
                let (checker, clause) = self.told(&lemma);
                checker.accept(clause);
            } else {
                self.flaw
                    .get_or_insert("a lemma about the order of events is no cycle");
            }
        }
    }
}

/// A decision in a formula of millions of clauses can take milliseconds; a look at the clock
/// takes a fraction of the smallest.
const DECISIONS_PER_LOOK: u32 = 64;

impl Callbacks for Patience {
    fn on_new_clause(&mut self, clause: &[BatLit], _: ClauseKind) {
        self.conflicts_left = self.conflicts_left.map(|left| left.saturating_sub(1));
        if let Some(witness) = &mut self.witness {
            witness.take_lemmas();
            let (checker, clause) = witness.told(clause);
            if !checker.learn(clause) {
                witness
                    .flaw
                    .get_or_insert("a clause that the solver learnt does not follow");
            }
        }
    }

    fn on_delete_clause(&mut self, clause: &[BatLit]) {
        if let Some(witness) = &mut self.witness {
            let (checker, clause) = witness.told(clause);
            checker.forget(clause);
        }
    }

    fn on_start(&mut self) {
        self.is_over.set(false);
    }

    fn stop(&self) -> bool {
        let asked = self.asked.get().wrapping_add(1);
        self.asked.set(asked);
        if asked.is_multiple_of(DECISIONS_PER_LOOK) {
            self.is_over.set(self.limit.is_over());
        }
        self.is_over.get() || self.conflicts_left == Some(0)
    }
}

/// What the solver may decide on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decisions {
    /// Every variable: best for one hard question.
    All,
    /// Only variables that are not the outputs of gates, which follow from the
    /// others: best for many easy questions that have answers.
    Inputs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    /// A limit was reached.
    Stopped,
}

pub struct Solver {
    bat: Bat<Patience>,
    decisions: Decisions,
    limit: Control,
    truth: Lit,
    questions: u64,
    /// Size of the clauses as DIMACS text.
    bytes: u64,
    buffer: Vec<BatLit>,
    /// Whether clauses are missing, so that no answer means anything.
    has_given_up: bool,
    /// The theory of order, if some literals have edges.
    order: Option<Box<Order>>,
}

impl Solver {
    pub fn new(limit: Control) -> Self {
        Solver::deciding(Decisions::All, limit)
    }

    /// One whose unsatisfiable answers are checked.
    pub fn checked(limit: Control) -> Self {
        Solver::with(Decisions::All, limit, Some(Box::default()))
    }

    pub fn deciding(decisions: Decisions, limit: Control) -> Self {
        Solver::with(decisions, limit, None)
    }

    fn with(decisions: Decisions, limit: Control, witness: Option<Box<Witness>>) -> Self {
        let patience = Patience {
            limit: limit.clone(),
            asked: Cell::new(0),
            is_over: Cell::new(false),
            conflicts_left: None,
            witness,
        };
        let mut bat = Bat::new(SolverOpts::default(), patience);
        let truth = Lit(BatLit::new(bat.new_var_default(), true));
        let mut solver = Solver {
            bat,
            decisions,
            limit,
            truth,
            questions: 0,
            bytes: 0,
            buffer: Vec::new(),
            has_given_up: false,
            order: None,
        };
        solver.add(&[truth]);
        solver
    }

    /// The literal that always holds.
    pub fn truth(&self) -> Lit {
        self.truth
    }

    pub fn new_lit(&mut self) -> Lit {
        Lit(BatLit::new(self.bat.new_var_default(), true))
    }

    /// A literal whose value follows from others.
    pub fn new_gate(&mut self) -> Lit {
        let decides = self.decisions == Decisions::All;
        Lit(BatLit::new(self.bat.new_var(lbool::UNDEF, decides), true))
    }

    pub fn add(&mut self, clause: &[Lit]) {
        self.buffer.clear();
        self.buffer.extend(clause.iter().map(|lit| lit.0));
        self.bytes += 2 + clause.iter().map(|lit| dimacs_bytes(*lit)).sum::<u64>();
        if let Some(witness) = &mut self.bat.cb_mut().witness {
            let (checker, clause) = witness.told(&self.buffer);
            checker.give(clause);
        }
        self.bat.add_clause_reuse(&mut self.buffer);
    }

    /// Finds what follows from the clauses by unit propagation alone.
    pub fn settle(&mut self) {
        if !self.has_given_up {
            self.bat.simplify();
        }
    }

    /// Whether a literal is known to be false in all models.
    pub fn is_never(&self, lit: Lit) -> bool {
        self.bat.value_lvl_0(lit.0) == lbool::FALSE
    }

    /// Demands that points of an order have no cycle of edges. This edge is there always, or while
    /// a literal is true.
    pub fn edge(&mut self, literal: Option<Lit>, from: Point, to: Point) {
        let literal = literal.map(|lit| lit.0);
        let order = self.order.get_or_insert_with(Box::default);
        order.edge(literal, from, to);
        if let Some(witness) = &mut self.bat.cb_mut().witness {
            witness.graph.edge(literal, from, to);
            witness.lemmas.get_or_insert_with(|| order.log());
        }
        if order.is_broken() {
            self.has_given_up = true;
        }
    }

    /// Claims a lemma in the name of the theory of order.
    #[cfg(test)]
    pub fn claim(&mut self, clause: &[Lit]) {
        let clause = clause.iter().map(|lit| lit.0).collect();
        if let Some(order) = &mut self.order {
            order.log().borrow_mut().push(clause);
        }
    }

    pub fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        if self.has_given_up || self.limit.is_over() {
            return Answer::Stopped;
        }
        self.questions += 1;
        let assumptions: Vec<BatLit> = assumptions.iter().map(|lit| lit.0).collect();
        let answer = match &mut self.order {
            None => self.bat.solve_limited(&assumptions),
            Some(order) => {
                order.begin();
                self.bat.solve_limited_th(order.as_mut(), &assumptions)
            }
        };
        if answer == lbool::TRUE {
            Answer::Sat
        } else if answer == lbool::FALSE {
            if let Some(witness) = &mut self.bat.cb_mut().witness {
                witness.take_lemmas();
                let (checker, assumptions) = witness.told(&assumptions);
                if !checker.refutes(assumptions) {
                    witness
                        .flaw
                        .get_or_insert("an unsatisfiable answer does not follow");
                }
            }
            Answer::Unsat
        } else {
            Answer::Stopped
        }
    }

    /// The same, but given up after so many conflicts.
    pub fn solve_within(&mut self, conflicts: u64, assumptions: &[Lit]) -> Answer {
        self.bat.cb_mut().conflicts_left = Some(conflicts);
        let answer = self.solve(assumptions);
        self.bat.cb_mut().conflicts_left = None;
        answer
    }

    /// Whether a limit was reached.
    pub fn is_over(&self) -> bool {
        self.limit.is_over()
    }

    /// Answers nothing from now on: not all clauses will be added.
    pub fn give_up(&mut self) {
        self.has_given_up = true;
    }

    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// The value of a literal in the model of the last answer, if it matters.
    pub fn value(&self, lit: Lit) -> bool {
        self.bat.value_lit(lit.0) == lbool::TRUE
    }

    /// Whether the last, unsatisfiable answer rests on this assumption.
    pub fn in_core(&self, assumption: Lit) -> bool {
        // The core is kept as the clause that was learnt: the negated assumptions.
        self.bat.unsat_core_contains_lit(!assumption.0)
    }

    /// What was checked of its unsatisfiable answers, none if that was not asked for; an error if
    /// something was wrong with them.
    pub fn checks(&self) -> Result<Option<Checked>, &'static str> {
        match &self.bat.cb().witness {
            None => Ok(None),
            Some(witness) => match witness.flaw {
                None => Ok(Some(witness.checker.checked)),
                Some(flaw) => Err(flaw),
            },
        }
    }

    pub fn effort(&self) -> SolverEffort {
        SolverEffort {
            questions: self.questions,
            conflicts: self.bat.num_conflicts(),
            variables: self.bat.num_vars().into(),
            clauses: self.bat.num_clauses(),
            bytes: self.bytes,
        }
    }
}

/// Length of a literal in DIMACS: its number from 1, a sign, a space.
fn dimacs_bytes(lit: Lit) -> u64 {
    let number = lit.0.var().idx() + 1;
    u64::from(number.ilog10()) + 2 + u64::from(!lit.0.sign())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assumptions_cores_and_later_clauses() {
        let mut solver = Solver::new(Control::unlimited());
        let [a, b, c] = std::array::from_fn(|_| solver.new_lit());
        solver.add(&[a, b]);
        assert_eq!(solver.solve(&[!a, c]), Answer::Sat);
        assert!(solver.value(b) && !solver.value(a) && solver.value(c));
        solver.add(&[!b, a]);
        assert_eq!(solver.solve(&[c, !a]), Answer::Unsat);
        assert!(solver.in_core(!a) && !solver.in_core(c));
        assert_eq!(solver.solve(&[c]), Answer::Sat);
        assert!(solver.value(a));
    }

    /// Random formulas near the threshold, with assumptions, clauses added in between: each answer
    /// is that of enumeration, and the checker follows all of it.
    #[test]
    fn checked_answers_are_right_and_checked() {
        let mut random = 1u64;
        let mut below = |bound: usize| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) as usize % bound
        };
        let mut all = Checked::default();
        for _ in 0..300 {
            let mut solver = Solver::checked(Control::unlimited());
            let lits: Vec<Lit> = (0..10).map(|_| solver.new_lit()).collect();
            let mut formula: Vec<Vec<(usize, bool)>> = Vec::new();
            let mut unsatisfiable = 0;
            for _ in 0..6 {
                for _ in 0..8 {
                    let clause: Vec<(usize, bool)> =
                        (0..3).map(|_| (below(10), below(2) == 0)).collect();
                    let pick =
                        |&(var, sign): &(usize, bool)| if sign { lits[var] } else { !lits[var] };
                    solver.add(&clause.iter().map(pick).collect::<Vec<_>>());
                    formula.push(clause);
                }
                let assumed: Vec<(usize, bool)> =
                    (0..below(4)).map(|_| (below(10), below(2) == 0)).collect();
                let assumptions: Vec<Lit> = assumed
                    .iter()
                    .map(|&(var, sign)| if sign { lits[var] } else { !lits[var] })
                    .collect();
                let is_true =
                    |bits: u32, (var, sign): (usize, bool)| (bits >> var & 1 == 1) == sign;
                let expected = (0..1u32 << 10).any(|bits| {
                    assumed.iter().all(|&lit| is_true(bits, lit))
                        && formula
                            .iter()
                            .all(|c| c.iter().any(|&lit| is_true(bits, lit)))
                });
                let answer = solver.solve(&assumptions);
                assert_eq!(answer == Answer::Sat, expected);
                unsatisfiable += u64::from(!expected);
            }
            let checked = solver
                .checks()
                .expect("nothing is wrong")
                .expect("it was asked for");
            assert_eq!(checked.claims, unsatisfiable);
            all += checked;
        }
        assert!(all.claims > 300 && all.learnt > 1000, "{all:?}");
    }

    /// A solver that lies is found out.
    #[test]
    fn a_clause_that_does_not_follow_is_noticed() {
        let mut solver = Solver::checked(Control::unlimited());
        let [a, b] = std::array::from_fn(|_| solver.new_lit());
        solver.add(&[a, b]);
        solver
            .bat
            .cb_mut()
            .on_new_clause(&[a.0], ClauseKind::Learnt);
        assert!(solver.checks().is_err());
    }

    /// Nine pigeons in eight holes take more than ten conflicts, and can be asked about again.
    #[test]
    fn a_question_can_be_given_up() {
        let mut solver = Solver::new(Control::unlimited());
        let pigeons: Vec<Vec<Lit>> = (0..9)
            .map(|_| (0..8).map(|_| solver.new_lit()).collect())
            .collect();
        for (number, pigeon) in pigeons.iter().enumerate() {
            solver.add(pigeon);
            for other in &pigeons[..number] {
                for (&one, &two) in pigeon.iter().zip(other) {
                    solver.add(&[!one, !two]);
                }
            }
        }
        assert_eq!(solver.solve_within(10, &[]), Answer::Stopped);
        assert_eq!(solver.solve(&[]), Answer::Unsat);
    }

    #[test]
    fn a_limit_stops_it() {
        let mut solver = Solver::new(Control::unlimited().within(std::time::Duration::ZERO));
        assert_eq!(solver.solve(&[]), Answer::Stopped);
    }
}
