//! Bit-blasting: terms to circuits, circuits to clauses.
//!
//! Each bit of a term becomes a literal of the solver. Gates are hashed and simplified, so that
//! bits that are equal by construction are the same literal even where the terms differ; the
//! clauses are Tseitin's, in both directions, so that a literal can be assumed either way.
//! Nothing is blasted twice and nothing is ever removed: the solver only grows, as incremental
//! queries require.

use rustc_hash::FxHashMap;

use crate::sat::{Answer, Lit, Solver};
use crate::term::{Node, Term, Terms, Var};

/// A solver that understands terms.
pub struct Blaster {
    pub solver: Solver,
    bits: FxHashMap<Term, Box<[Lit]>>,
    ands: FxHashMap<(Lit, Lit), Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    choices: FxHashMap<(Lit, Lit, Lit), Lit>,
    divisions: FxHashMap<(Term, Term), (Vec<Lit>, Vec<Lit>)>,
    /// Terms looked at so far.
    blasted: u64,
}

/// Terms between two checks of the clock.
const TERMS_PER_LOOK: u64 = 1 << 10;

impl Blaster {
    pub fn new(solver: Solver) -> Self {
        Blaster {
            solver,
            bits: FxHashMap::default(),
            ands: FxHashMap::default(),
            xors: FxHashMap::default(),
            choices: FxHashMap::default(),
            divisions: FxHashMap::default(),
            blasted: 0,
        }
    }

    fn truth(&self) -> Lit {
        self.solver.truth()
    }

    fn constant(&self, value: bool) -> Lit {
        if value { self.truth() } else { !self.truth() }
    }

    /// The literals of a term, lowest bit first.
    pub fn bits(&mut self, terms: &Terms, term: Term) -> &[Lit] {
        if !self.bits.contains_key(&term) {
            self.blast(terms, term);
        }
        &self.bits[&term]
    }

    /// The literal of a truth value.
    pub fn lit(&mut self, terms: &Terms, term: Term) -> Lit {
        debug_assert_eq!(terms.width(term), 1);
        self.bits(terms, term)[0]
    }

    /// Makes a term that has not been met yet a free variable. Its children are not looked at.
    pub fn release(&mut self, terms: &Terms, term: Term) {
        debug_assert!(!self.bits.contains_key(&term));
        let bits = (0..terms.width(term)).map(|_| self.solver.new_lit());
        let bits: Box<[Lit]> = bits.collect();
        self.bits.insert(term, bits);
    }

    /// The value of a term in the model, if the solver has seen it.
    pub fn value(&self, term: Term) -> Option<u64> {
        let bits = self.bits.get(&term)?.iter().enumerate();
        let set = bits.filter(|(_, bit)| self.solver.value(**bit));
        Some(set.fold(0, |value, (place, _)| value | 1 << place))
    }

    /// Makes a truth value hold for good.
    pub fn assert(&mut self, terms: &Terms, term: Term) {
        if let Node::And(a, b) = terms.node(term)
            && terms.width(term) == 1
        {
            self.assert(terms, a);
            self.assert(terms, b);
            return;
        }
        let lit = self.lit(terms, term);
        self.solver.add(&[lit]);
    }

    /// Whether all of the truth values can hold at once.
    pub fn check(&mut self, terms: &Terms, assumptions: &[Term]) -> Answer {
        let lits: Vec<Lit> = assumptions
            .iter()
            .map(|&term| self.lit(terms, term))
            .collect();
        self.solver.solve(&lits)
    }

    /// The value of a variable in the model; 0 if the solver has never seen it.
    pub fn model(&self, terms: &Terms, term: Term) -> u64 {
        debug_assert!(matches!(terms.node(term), Node::Var(_)));
        let Some(bits) = self.bits.get(&term) else {
            return 0;
        };
        bits.iter()
            .enumerate()
            .filter(|(_, bit)| self.solver.value(**bit))
            .fold(0, |value, (place, _)| value | 1 << place)
    }

    /// The values of all variables in the model, by number.
    pub fn assignment(
        &self,
        terms: &Terms,
        variables: impl IntoIterator<Item = Term>,
    ) -> FxHashMap<Var, u64> {
        variables
            .into_iter()
            .filter_map(|term| Some((terms.as_var(term)?, self.model(terms, term))))
            .collect()
    }

    fn blast(&mut self, terms: &Terms, root: Term) {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.bits.contains_key(&term) {
                stack.pop();
                continue;
            }
            self.blasted += 1;
            if self.blasted.is_multiple_of(TERMS_PER_LOOK) && self.solver.is_over() {
                self.solver.give_up();
            }
            if self.solver.has_given_up() {
                // It will answer nothing any more, so these need not mean anything.
                let bits = (0..terms.width(term)).map(|_| self.solver.new_lit());
                let bits: Box<[Lit]> = bits.collect();
                self.bits.insert(term, bits);
                stack.pop();
                continue;
            }
            let mut ready = true;
            terms.children(term, |child| {
                if !self.bits.contains_key(&child) {
                    ready = false;
                    stack.push(child);
                }
            });
            if ready {
                let bits = self.node(terms, term);
                debug_assert_eq!(bits.len(), usize::from(terms.width(term)));
                self.bits.insert(term, bits.into());
                stack.pop();
            }
        }
    }

    fn of(&self, term: Term) -> Vec<Lit> {
        self.bits[&term].to_vec()
    }

    fn node(&mut self, terms: &Terms, term: Term) -> Vec<Lit> {
        let width = usize::from(terms.width(term));
        match terms.node(term) {
            Node::Const(value) => (0..width)
                .map(|place| self.constant(value >> place & 1 == 1))
                .collect(),
            Node::Var(_) => (0..width).map(|_| self.solver.new_lit()).collect(),
            Node::Not(a) => self.bits[&a].iter().map(|&bit| !bit).collect(),
            Node::And(a, b) => self.pairwise(a, b, Blaster::and),
            Node::Xor(a, b) => self.pairwise(a, b, Blaster::xor),
            Node::Add(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                let no = self.constant(false);
                self.sum(&a, &b, no).0
            }
            Node::Sub(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                self.difference(&a, &b).0
            }
            Node::Mul(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                self.product(&a, &b)
            }
            Node::UDiv(a, b) => self.division(a, b).0,
            Node::URem(a, b) => self.division(a, b).1,
            Node::Shl(a, b) => {
                let (mut a, b) = (self.of(a), self.of(b));
                a.reverse();
                let no = self.constant(false);
                let mut shifted = self.shift_down(&a, &b, no);
                shifted.reverse();
                shifted
            }
            Node::LShr(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                let no = self.constant(false);
                self.shift_down(&a, &b, no)
            }
            Node::AShr(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                let sign = a[width - 1];
                self.shift_down(&a, &b, sign)
            }
            Node::Eq(a, b) => {
                let differ = self.pairwise(a, b, Blaster::xor);
                let same: Vec<Lit> = differ.into_iter().map(|bit| !bit).collect();
                vec![self.all(&same)]
            }
            Node::ULt(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                vec![!self.difference(&a, &b).1]
            }
            Node::SLt(a, b) => {
                // The same with the signs exchanged.
                let (mut a, mut b) = (self.of(a), self.of(b));
                for bits in [&mut a, &mut b] {
                    if let Some(sign) = bits.last_mut() {
                        *sign = !*sign;
                    }
                }
                vec![!self.difference(&a, &b).1]
            }
            Node::Ite(condition, a, b) => {
                let condition = self.bits[&condition][0];
                let (a, b) = (self.of(a), self.of(b));
                self.choose_all(condition, &a, &b)
            }
            Node::Low(a) => self.bits[&a][..width].to_vec(),
            Node::ZeroExtend(a) => {
                let mut bits = self.of(a);
                bits.resize(width, self.constant(false));
                bits
            }
            Node::SignExtend(a) => {
                let mut bits = self.of(a);
                let sign = *bits.last().unwrap_or(&!self.truth());
                bits.resize(width, sign);
                bits
            }
        }
    }

    fn pairwise(&mut self, a: Term, b: Term, gate: fn(&mut Blaster, Lit, Lit) -> Lit) -> Vec<Lit> {
        let (a, b) = (self.of(a), self.of(b));
        a.into_iter()
            .zip(b)
            .map(|(x, y)| gate(self, x, y))
            .collect()
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.truth(), !self.truth());
        if a == no || b == no || a == !b {
            return no;
        }
        if a == yes || a == b {
            return b;
        }
        if b == yes {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&gate) = self.ands.get(&key) {
            return gate;
        }
        let gate = self.solver.new_gate();
        self.solver.add(&[!gate, a]);
        self.solver.add(&[!gate, b]);
        self.solver.add(&[gate, !a, !b]);
        self.ands.insert(key, gate);
        gate
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    fn all(&mut self, bits: &[Lit]) -> Lit {
        bits.iter()
            .fold(self.truth(), |all, &bit| self.and(all, bit))
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.truth(), !self.truth());
        if a == no {
            return b;
        }
        if b == no {
            return a;
        }
        if a == yes {
            return !b;
        }
        if b == yes {
            return !a;
        }
        if a == b {
            return no;
        }
        if a == !b {
            return yes;
        }
        // Gates are kept for positive inputs; the sign goes to the output.
        let (x, y) = (a.min(!a), b.min(!b));
        let flipped = (a != x) != (b != y);
        let key = (x.min(y), x.max(y));
        let gate = match self.xors.get(&key) {
            Some(&gate) => gate,
            None => {
                let gate = self.solver.new_gate();
                self.solver.add(&[!gate, x, y]);
                self.solver.add(&[!gate, !x, !y]);
                self.solver.add(&[gate, !x, y]);
                self.solver.add(&[gate, x, !y]);
                self.xors.insert(key, gate);
                gate
            }
        };
        if flipped { !gate } else { gate }
    }

    fn choose(&mut self, condition: Lit, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.truth(), !self.truth());
        if condition == yes || a == b {
            return a;
        }
        if condition == no {
            return b;
        }
        if a == !b {
            return !self.xor(condition, a);
        }
        if a == yes || a == condition {
            return self.or(condition, b);
        }
        if a == no || a == !condition {
            return self.and(!condition, b);
        }
        if b == yes || b == !condition {
            return self.or(!condition, a);
        }
        if b == no || b == condition {
            return self.and(condition, a);
        }
        let key = (condition, a, b);
        if let Some(&gate) = self.choices.get(&key) {
            return gate;
        }
        let gate = self.solver.new_gate();
        self.solver.add(&[!condition, !a, gate]);
        self.solver.add(&[!condition, a, !gate]);
        self.solver.add(&[condition, !b, gate]);
        self.solver.add(&[condition, b, !gate]);
        // Not needed, but lets the solver conclude without knowing the condition.
        self.solver.add(&[!a, !b, gate]);
        self.solver.add(&[a, b, !gate]);
        self.choices.insert(key, gate);
        gate
    }

    fn choose_all(&mut self, condition: Lit, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        a.iter()
            .zip(b)
            .map(|(&x, &y)| self.choose(condition, x, y))
            .collect()
    }

    /// Sum and carry of two bits and a carry.
    fn full_adder(&mut self, a: Lit, b: Lit, carry: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        let sum = self.xor(half, carry);
        // Where the two differ the carry continues, else it is either of them.
        (sum, self.choose(half, carry, a))
    }

    fn sum(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Vec<Lit>, Lit) {
        let mut bits = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let (bit, next) = self.full_adder(x, y, carry);
            bits.push(bit);
            carry = next;
        }
        (bits, carry)
    }

    /// `a - b`, and whether `a >= b` as unsigned numbers.
    fn difference(&mut self, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Lit) {
        let negated: Vec<Lit> = b.iter().map(|&bit| !bit).collect();
        let yes = self.truth();
        self.sum(a, &negated, yes)
    }

    fn product(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let width = a.len();
        let no = self.constant(false);
        let mut result = vec![no; width];
        for (place, &bit) in b.iter().enumerate() {
            if bit == no {
                continue;
            }
            let row: Vec<Lit> = a[..width - place]
                .iter()
                .map(|&x| self.and(x, bit))
                .collect();
            let (high, _) = self.sum(&result[place..], &row, no);
            result.splice(place.., high);
        }
        result
    }

    /// Quotient and remainder by school division; dividing by 0 gives all ones
    /// and the dividend, by the way it is built.
    fn division(&mut self, a: Term, b: Term) -> (Vec<Lit>, Vec<Lit>) {
        if let Some(known) = self.divisions.get(&(a, b)) {
            return known.clone();
        }
        let (dividend, divisor) = (self.of(a), self.of(b));
        let width = dividend.len();
        let no = self.constant(false);
        let mut quotient = vec![no; width];
        // One bit more, for the remainder is shifted before it is compared.
        let mut remainder = vec![no; width + 1];
        let mut wide = divisor;
        wide.push(no);
        for place in (0..width).rev() {
            remainder.pop();
            remainder.insert(0, dividend[place]);
            let (rest, fits) = self.difference(&remainder, &wide);
            quotient[place] = fits;
            remainder = self.choose_all(fits, &rest, &remainder);
        }
        remainder.truncate(width);
        let result = (quotient, remainder);
        self.divisions.insert((a, b), result.clone());
        result
    }

    /// Shifts towards the lowest bit; what comes in is `fill`.
    fn shift_down(&mut self, a: &[Lit], by: &[Lit], fill: Lit) -> Vec<Lit> {
        let width = a.len();
        let mut bits = a.to_vec();
        let mut too_far = self.constant(false);
        for (place, &bit) in by.iter().enumerate() {
            if place < 63 && 1usize << place < width {
                let distance = 1 << place;
                let moved: Vec<Lit> = (0..width)
                    .map(|i| bits.get(i + distance).copied().unwrap_or(fill))
                    .collect();
                bits = self.choose_all(bit, &moved, &bits);
            } else {
                too_far = self.or(too_far, bit);
            }
        }
        let gone = vec![fill; width];
        self.choose_all(too_far, &gone, &bits)
    }
}
