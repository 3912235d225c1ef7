//! A checker for unsatisfiable answers of the solver.
//!
//! A SAT solver is some thousand lines of pointers, watches and heuristics; the answer
//! "unsatisfiable" depends on all of them. But the solver can report the clauses it learns, and
//! each of them follows from the previous ones by *reverse unit propagation* (Goldberg and
//! Novikov 2003, *Verification of Proofs of Unsatisfiability for CNF Formulas*): assume that
//! all literals of the clause are false, propagate unit clauses, and derive a conflict. The
//! DRAT format records the same information; here the steps are checked as they arrive, as in
//! CaDiCaL's internal checker, so no proof has to be stored: it would be larger than the
//! formula.
//!
//! The solver is incremental. "Unsatisfiable under assumptions" is the claim that the clause of
//! the negated assumptions follows from the formula so far, and it is checked like any other. A
//! clause that is removed from the solver is removed here as well; clauses derived from it
//! stay, because they follow from the formula in any case, and a clause that is not found (the
//! solver drops literals that are permanently false) stays as well.
//!
//! Only the numbers of the literals are shared with the solver. The checker covers the answer
//! about the clauses; that the clauses describe the program is the responsibility of the
//! encoding, which the tests compare with the concrete semantics.

use rustc_hash::FxHashMap;

/// A literal: twice the variable, plus one if it is negated.
pub type Literal = u32;

fn negated(literal: Literal) -> Literal {
    literal ^ 1
}

/// Where a clause lies.
type Place = u32;

/// A clause that has to be inspected when a literal becomes false.
#[derive(Clone, Copy)]
struct Watch {
    clause: Place,
    /// Another of its literals: if it is true, there is nothing to look at.
    blocker: Literal,
}

/// What has been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Clauses of the formula.
    pub given: u64,
    /// Clauses that the solver has learnt, each checked.
    pub learnt: u64,
    /// Answers "unsatisfiable", each checked.
    pub claims: u64,
    /// Lemmas about the order of events, each checked to be a cycle.
    pub cycles: u64,
}

impl std::ops::AddAssign for Checked {
    fn add_assign(&mut self, other: Checked) {
        self.given += other.given;
        self.learnt += other.learnt;
        self.claims += other.claims;
        self.cycles += other.cycles;
    }
}

#[derive(Default)]
pub struct Checker {
    /// Length and literals of one clause after the other; length 0 if it was taken out.
    arena: Vec<u32>,
    /// By literal, the clauses that watch it; one of their first two literals.
    watches: Vec<Vec<Watch>>,
    /// By literal, whether it is true now.
    is_true: Vec<bool>,
    /// The literals that are true, in the order in which they became so.
    trail: Vec<Literal>,
    /// How many of them have been followed.
    followed: usize,
    /// Whether the clauses contradict each other.
    is_contradiction: bool,
    /// Learnt clauses by a hash of their literals, to take them out again.
    learnt: FxHashMap<u64, Vec<Place>>,
    scratch: Vec<Literal>,
    pub checked: Checked,
}

impl Checker {
    /// Takes in a clause of the formula.
    pub fn give(&mut self, clause: &[Literal]) {
        self.checked.given += 1;
        self.add(clause);
    }

    /// Takes in a lemma of a theory, which is checked elsewhere.
    pub fn accept(&mut self, clause: &[Literal]) {
        self.checked.cycles += 1;
        self.add(clause);
    }

    /// Takes in a clause that is said to follow; whether it does.
    #[must_use]
    pub fn learn(&mut self, clause: &[Literal]) -> bool {
        if !self.follows(clause) {
            return false;
        }
        self.checked.learnt += 1;
        if let Some(place) = self.add(clause) {
            self.learnt.entry(hash(clause)).or_default().push(place);
        }
        true
    }

    /// Whether the formula says that not all of the assumptions hold.
    #[must_use]
    pub fn refutes(&mut self, assumptions: &[Literal]) -> bool {
        let clause: Vec<Literal> = assumptions.iter().map(|&lit| negated(lit)).collect();
        let holds = self.follows(&clause);
        self.checked.claims += u64::from(holds);
        holds
    }

    /// Takes out a learnt clause; one that is not there does not matter.
    pub fn forget(&mut self, clause: &[Literal]) {
        let Some(places) = self.learnt.get_mut(&hash(clause)) else {
            return;
        };
        let arena = &self.arena;
        let is_it = |&place: &Place| {
            let found = literals(arena, place);
            found.len() == clause.len() && clause.iter().all(|lit| found.contains(lit))
        };
        if let Some(position) = places.iter().position(is_it) {
            let place = places.swap_remove(position);
            // Its watches go when they are met.
            self.arena[place as usize] = 0;
        }
    }

    fn make_room(&mut self, clause: &[Literal]) {
        let most = clause.iter().map(|&lit| (lit | 1) as usize + 1).max();
        if let Some(most) = most.filter(|&most| most > self.is_true.len()) {
            self.is_true.resize(most, false);
            self.watches.resize_with(most, Vec::new);
        }
    }

    fn is_false(&self, literal: Literal) -> bool {
        self.is_true[negated(literal) as usize]
    }

    fn assume(&mut self, literal: Literal) {
        self.is_true[literal as usize] = true;
        self.trail.push(literal);
    }

    /// Adds a clause and what follows from it alone. Gives its place if it has one.
    fn add(&mut self, clause: &[Literal]) -> Option<Place> {
        self.make_room(clause);
        let mut kept = std::mem::take(&mut self.scratch);
        kept.clear();
        kept.extend_from_slice(clause);
        kept.sort_unstable();
        kept.dedup();
        let is_tautology = kept.windows(2).any(|pair| pair[0] == negated(pair[1]));
        let place = if is_tautology {
            None
        } else {
            self.attach(&mut kept)
        };
        self.scratch = kept;
        place
    }

    /// Adds a clause without repetitions.
    fn attach(&mut self, clause: &mut [Literal]) -> Option<Place> {
        // What is not false for good comes first: it is watched.
        let mut open = 0;
        for position in 0..clause.len() {
            if open < 2 && !self.is_false(clause[position]) {
                clause.swap(open, position);
                open += 1;
            }
        }
        match open {
            0 => {
                self.is_contradiction = true;
                None
            }
            1 => {
                if !self.is_true[clause[0] as usize] {
                    self.assume(clause[0]);
                    self.is_contradiction |= !self.propagate();
                }
                None
            }
            _ => {
                let place = self.arena.len() as Place;
                self.arena.push(clause.len() as u32);
                self.arena.extend_from_slice(clause);
                for (watched, other) in [(clause[0], clause[1]), (clause[1], clause[0])] {
                    self.watches[watched as usize].push(Watch {
                        clause: place,
                        blocker: other,
                    });
                }
                Some(place)
            }
        }
    }

    /// Whether a clause follows by unit propagation.
    fn follows(&mut self, clause: &[Literal]) -> bool {
        if self.is_contradiction {
            return true;
        }
        self.make_room(clause);
        let start = self.trail.len();
        let mut is_refuted = false;
        for &literal in clause {
            if self.is_true[literal as usize] {
                is_refuted = true;
                break;
            }
            if !self.is_false(literal) {
                self.assume(negated(literal));
            }
        }
        is_refuted = is_refuted || !self.propagate();
        for literal in self.trail.drain(start..) {
            self.is_true[literal as usize] = false;
        }
        self.followed = start;
        is_refuted
    }

    /// Follows all clauses with one literal left; false if one has none.
    fn propagate(&mut self) -> bool {
        while self.followed < self.trail.len() {
            let now_false = negated(self.trail[self.followed]);
            self.followed += 1;
            let mut watches = std::mem::take(&mut self.watches[now_false as usize]);
            let mut kept = 0;
            let mut at = 0;
            let mut is_consistent = true;
            while at < watches.len() {
                let watch = watches[at];
                at += 1;
                if self.is_true[watch.blocker as usize] {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                let place = watch.clause as usize;
                let length = self.arena[place] as usize;
                if length == 0 {
                    continue;
                }
                let clause = &mut self.arena[place + 1..=place + length];
                if clause[0] == now_false {
                    clause.swap(0, 1);
                }
                let first = clause[0];
                let is_true = &self.is_true;
                let other = clause[2..]
                    .iter()
                    .position(|&literal| !is_true[negated(literal) as usize]);
                if let (Some(other), false) = (other, is_true[first as usize]) {
                    clause.swap(1, other + 2);
                    let watched = clause[1];
                    self.watches[watched as usize].push(Watch {
                        blocker: first,
                        ..watch
                    });
                    continue;
                }
                watches[kept] = Watch {
                    blocker: first,
                    ..watch
                };
                kept += 1;
                if self.is_true[first as usize] {
                    continue;
                }
                if self.is_false(first) {
                    is_consistent = false;
                    break;
                }
                self.assume(first);
            }
            watches.copy_within(at.., kept);
            watches.truncate(kept + watches.len() - at);
            self.watches[now_false as usize] = watches;
            if !is_consistent {
                return false;
            }
        }
        true
    }
}

fn literals(arena: &[u32], place: Place) -> &[Literal] {
    let place = place as usize;
    &arena[place + 1..=place + arena[place] as usize]
}

/// The same for the same literals in any order.
fn hash(clause: &[Literal]) -> u64 {
    let each = |&literal: &Literal| {
        let mixed = (u64::from(literal) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 29
    };
    clause.iter().map(each).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((self.0 >> 33) % u64::from(bound)) as u32
        }

        fn clause(&mut self, variables: u32, most: u32) -> Vec<Literal> {
            let length = 1 + self.below(most);
            (0..length).map(|_| self.below(2 * variables)).collect()
        }
    }

    fn holds(clause: &[Literal], assignment: u32) -> bool {
        let is_true =
            |&literal: &Literal| assignment >> (literal / 2) & 1 == u32::from(literal % 2 == 0);
        clause.iter().any(is_true)
    }

    /// Whether each assignment that satisfies the formula satisfies the clause.
    fn implies(formula: &[Vec<Literal>], clause: &[Literal], variables: u32) -> bool {
        (0..1u32 << variables).all(|assignment| {
            holds(clause, assignment) || !formula.iter().all(|given| holds(given, assignment))
        })
    }

    /// Reverse unit propagation, written as its definition.
    fn follows_by_definition(clauses: &[Vec<Literal>], clause: &[Literal]) -> bool {
        let mut known: Vec<Literal> = clause.iter().map(|&literal| negated(literal)).collect();
        loop {
            if known
                .iter()
                .any(|&literal| known.contains(&negated(literal)))
            {
                return true;
            }
            let mut news = Vec::new();
            for clause in clauses {
                if clause.iter().any(|literal| known.contains(literal)) {
                    continue;
                }
                let mut open: Vec<Literal> = clause.clone();
                open.retain(|&literal| !known.contains(&negated(literal)));
                open.sort_unstable();
                open.dedup();
                match open[..] {
                    [] => return true,
                    [literal] => news.push(literal),
                    _ => {}
                }
            }
            if news.is_empty() {
                return false;
            }
            known.extend(news);
        }
    }

    /// On random formulas and random claims the checker says what the definition says, and what
    /// it accepts is true by enumeration.
    #[test]
    fn accepts_what_follows_and_nothing_else() {
        let (mut accepted, mut refused) = (0, 0);
        for seed in 0..3000 {
            let mut random = Random(seed);
            let variables = 2 + random.below(6);
            let mut checker = Checker::default();
            let mut formula = Vec::new();
            // Everything that the checker has and has not been told to forget.
            let mut clauses: Vec<Vec<Literal>> = Vec::new();
            for _ in 0..30 {
                match random.below(4) {
                    0 | 1 => {
                        let clause = random.clause(variables, 3);
                        checker.give(&clause);
                        formula.push(clause.clone());
                        clauses.push(clause);
                    }
                    2 => {
                        let clause = random.clause(variables, 4);
                        let expected = follows_by_definition(&clauses, &clause);
                        assert_eq!(checker.learn(&clause), expected, "seed {seed}");
                        if expected {
                            assert!(implies(&formula, &clause, variables), "seed {seed}");
                            accepted += 1;
                            clauses.push(clause);
                        } else {
                            refused += 1;
                        }
                    }
                    _ => {
                        let assumptions = random.clause(variables, 4);
                        let clause: Vec<Literal> = assumptions
                            .iter()
                            .map(|&literal| negated(literal))
                            .collect();
                        let expected = follows_by_definition(&clauses, &clause);
                        assert_eq!(checker.refutes(&assumptions), expected, "seed {seed}");
                    }
                }
            }
            // What is forgotten may or may not have had an effect for good.
            for clause in &clauses {
                if random.below(2) == 0 {
                    checker.forget(clause);
                }
            }
            for _ in 0..10 {
                let clause = random.clause(variables, 3);
                if checker.learn(&clause) {
                    assert!(implies(&formula, &clause, variables), "seed {seed}");
                }
            }
        }
        assert!(accepted > 3000 && refused > 3000, "{accepted} {refused}");
    }

    /// A clause that was taken out no longer counts, unless it had its effect for good.
    #[test]
    fn what_is_forgotten_does_not_count() {
        let (a, b, c) = (0, 2, 4);
        let mut checker = Checker::default();
        checker.give(&[negated(a), b, c]);
        checker.give(&[negated(a), b, negated(c)]);
        assert!(checker.learn(&[b, negated(a)]));
        assert!(checker.refutes(&[a, negated(b)]));
        checker.forget(&[negated(a), b]);
        // Without it, propagation still shows it, since c follows and not c.
        assert!(checker.refutes(&[a, negated(b)]));
        assert!(!checker.refutes(&[a]));
        checker.give(&[negated(b), c]);
        assert!(!checker.refutes(&[a]));
        checker.give(&[negated(b), negated(c)]);
        assert!(!checker.refutes(&[a]), "that takes a case split");
        assert!(checker.learn(&[negated(b)]));
        assert!(checker.refutes(&[a]));
    }
}
