//! Hash-consed bit-vector terms.
//!
//! A [`Term`] is a number; the [`Terms`] that created it know its definition. Equal terms have
//! equal numbers, so sharing is automatic, equality is a comparison of numbers and a memo is a
//! table. The constructors simplify: constants fold, `x & x` is `x`, a choice between equal
//! terms is that term. Two rules matter most for programs: comparing a choice of constants with
//! a constant is distributed over the choice (so that a program counter that cannot be at a
//! location is recognised as such), and conjunctions of Booleans see through one level of
//! negation.
//!
//! The semantics is that of [`mover_ir::expr`], which follows SMT-LIB; [`Evaluation`]
//! implements it. There are fewer operators than in the IR: the others are expressed by them.

use mover_ir::eval::{Concrete, Domain};
use mover_ir::expr::{BinaryOp, UnaryOp, mask, resize};
use rustc_hash::FxHashMap;

/// A bit-vector of 1 to 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(u32);

/// A free variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub u32);

/// What a term consists of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Const(u64),
    Var(Var),
    Not(Term),
    And(Term, Term),
    Xor(Term, Term),
    Add(Term, Term),
    Sub(Term, Term),
    Mul(Term, Term),
    UDiv(Term, Term),
    URem(Term, Term),
    Shl(Term, Term),
    LShr(Term, Term),
    AShr(Term, Term),
    Eq(Term, Term),
    ULt(Term, Term),
    SLt(Term, Term),
    Ite(Term, Term, Term),
    /// The lowest bits.
    Low(Term),
    ZeroExtend(Term),
    SignExtend(Term),
}

#[derive(Clone)]
pub struct Terms {
    nodes: Vec<(Node, u8)>,
    index: FxHashMap<(Node, u8), Term>,
    /// Comparisons with constants that were looked into.
    compared: FxHashMap<(Term, u64), Term>,
    names: Vec<String>,
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new()
    }
}

impl Terms {
    pub const FALSE: Term = Term(0);
    pub const TRUE: Term = Term(1);

    pub fn new() -> Self {
        let mut terms = Terms {
            nodes: Vec::new(),
            index: FxHashMap::default(),
            compared: FxHashMap::default(),
            names: Vec::new(),
        };
        terms.constant(0, 1);
        terms.constant(1, 1);
        terms
    }

    /// How many different terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.0 as usize].0
    }

    pub fn width(&self, term: Term) -> u8 {
        self.nodes[term.0 as usize].1
    }

    pub fn name(&self, var: Var) -> &str {
        &self.names[var.0 as usize]
    }

    pub fn variables(&self) -> usize {
        self.names.len()
    }

    fn make(&mut self, node: Node, width: u8) -> Term {
        let next = Term(self.nodes.len() as u32);
        let term = *self.index.entry((node, width)).or_insert(next);
        if term == next {
            self.nodes.push((node, width));
        }
        term
    }

    pub fn constant(&mut self, value: u64, width: u8) -> Term {
        self.make(Node::Const(value & mask(width)), width)
    }

    pub fn truth(&self, value: bool) -> Term {
        if value { Terms::TRUE } else { Terms::FALSE }
    }

    /// A new variable, different from all others.
    pub fn variable(&mut self, name: impl Into<String>, width: u8) -> Term {
        let var = Var(self.names.len() as u32);
        self.names.push(name.into());
        self.make(Node::Var(var), width)
    }

    pub fn as_const(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_var(&self, term: Term) -> Option<Var> {
        match self.node(term) {
            Node::Var(var) => Some(var),
            _ => None,
        }
    }

    fn zero(&mut self, width: u8) -> Term {
        self.constant(0, width)
    }

    fn is_zero(&self, term: Term) -> bool {
        self.as_const(term) == Some(0)
    }

    fn is_ones(&self, term: Term) -> bool {
        self.as_const(term) == Some(mask(self.width(term)))
    }

    pub fn not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match self.node(a) {
            Node::Const(value) => self.constant(!value, width),
            Node::Not(inner) => inner,
            _ => self.make(Node::Not(a), width),
        }
    }

    fn is_negation(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Not(b) || self.node(b) == Node::Not(a)
    }

    pub fn and(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = (a.min(b), a.max(b));
        if a == b || self.is_zero(a) || self.is_ones(b) {
            return a;
        }
        if self.is_zero(b) || self.is_ones(a) {
            return b;
        }
        if self.is_negation(a, b) {
            return self.zero(width);
        }
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(x & y, width);
        }
        if let Some(simpler) = self.absorb(a, b).or_else(|| self.absorb(b, a)) {
            return simpler;
        }
        self.make(Node::And(a, b), width)
    }

    /// `a & b` where `b` contains `a` or its negation.
    fn absorb(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.node(b) {
            Node::And(x, y) => {
                if x == a || y == a {
                    return Some(b);
                }
                (self.is_negation(x, a) || self.is_negation(y, a)).then(|| self.zero(self.width(a)))
            }
            Node::Not(inner) => match self.node(inner) {
                Node::And(x, y) if self.is_negation(x, a) || self.is_negation(y, a) => Some(a),
                Node::And(x, y) if x == a => {
                    let rest = self.not(y);
                    Some(self.and(a, rest))
                }
                Node::And(x, y) if y == a => {
                    let rest = self.not(x);
                    Some(self.and(a, rest))
                }
                _ => None,
            },
            // Two comparisons of one thing with different constants exclude each other.
            Node::Eq(x, y) => match self.node(a) {
                Node::Eq(u, v) => {
                    let mine = self.with_constant(x, y)?;
                    let other = self.with_constant(u, v)?;
                    (mine.0 == other.0 && mine.1 != other.1).then_some(Terms::FALSE)
                }
                Node::Not(inner) => match self.node(inner) {
                    Node::Eq(u, v) => {
                        let mine = self.with_constant(x, y)?;
                        let other = self.with_constant(u, v)?;
                        (mine.0 == other.0 && mine.1 != other.1).then_some(b)
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn with_constant(&self, a: Term, b: Term) -> Option<(Term, u64)> {
        match (self.as_const(a), self.as_const(b)) {
            (Some(value), None) => Some((b, value)),
            (None, Some(value)) => Some((a, value)),
            _ => None,
        }
    }

    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let a = self.not(a);
        self.or(a, b)
    }

    pub fn all(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let items: Vec<Term> = items.into_iter().collect();
        self.balanced(&items, Terms::TRUE, Terms::and)
    }

    pub fn any(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let items: Vec<Term> = items.into_iter().collect();
        self.balanced(&items, Terms::FALSE, Terms::or)
    }

    fn balanced(
        &mut self,
        items: &[Term],
        none: Term,
        join: fn(&mut Terms, Term, Term) -> Term,
    ) -> Term {
        match items {
            [] => none,
            [one] => *one,
            _ => {
                let (left, right) = items.split_at(items.len() / 2);
                let left = self.balanced(left, none, join);
                let right = self.balanced(right, none, join);
                join(self, left, right)
            }
        }
    }

    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.zero(width);
        }
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(x ^ y, width);
        }
        // Negations move to the outside.
        if let Node::Not(inner) = self.node(a) {
            let rest = self.xor(inner, b);
            return self.not(rest);
        }
        if let Node::Not(inner) = self.node(b) {
            let rest = self.xor(a, inner);
            return self.not(rest);
        }
        for (x, y) in [(a, b), (b, a)] {
            if self.is_zero(x) {
                return y;
            }
            if self.is_ones(x) {
                return self.not(y);
            }
        }
        self.make(Node::Xor(a.min(b), a.max(b)), width)
    }

    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = if self.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        match (self.node(a), self.node(b)) {
            (Node::Const(x), Node::Const(y)) => self.constant(x.wrapping_add(y), width),
            (_, Node::Const(0)) => a,
            // Counting up a counter: constants gather at the end.
            (Node::Add(x, c), Node::Const(y)) if self.as_const(c).is_some() => {
                let sum = self.as_const(c).unwrap_or(0).wrapping_add(y);
                let sum = self.constant(sum, width);
                self.add(x, sum)
            }
            (_, Node::Const(_)) => self.make(Node::Add(a, b), width),
            _ => self.make(Node::Add(a.min(b), a.max(b)), width),
        }
    }

    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if a == b {
            return self.zero(width);
        }
        match (self.node(a), self.node(b)) {
            (Node::Const(x), Node::Const(y)) => self.constant(x.wrapping_sub(y), width),
            (_, Node::Const(y)) => {
                let negative = self.constant(y.wrapping_neg(), width);
                self.add(a, negative)
            }
            _ => self.make(Node::Sub(a, b), width),
        }
    }

    pub fn neg(&mut self, a: Term) -> Term {
        let zero = self.zero(self.width(a));
        self.sub(zero, a)
    }

    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (a, b) = if self.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => self.constant(x.wrapping_mul(y), width),
            (_, Some(0)) => b,
            (_, Some(1)) => a,
            (_, Some(y)) if y.is_power_of_two() => {
                let by = self.constant(y.trailing_zeros().into(), width);
                self.shl(a, by)
            }
            (_, Some(_)) => self.make(Node::Mul(a, b), width),
            _ => self.make(Node::Mul(a.min(b), a.max(b)), width),
        }
    }

    fn folded(&mut self, op: BinaryOp, a: Term, b: Term) -> Option<Term> {
        let (x, y) = (self.as_const(a)?, self.as_const(b)?);
        let width = self.width(a);
        let result = if op.is_comparison() { 1 } else { width };
        Some(self.constant(op.apply(x, y, width), result))
    }

    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        if let Some(folded) = self.folded(BinaryOp::UDiv, a, b) {
            return folded;
        }
        if self.as_const(b) == Some(1) {
            return a;
        }
        self.make(Node::UDiv(a, b), self.width(a))
    }

    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let Some(folded) = self.folded(BinaryOp::URem, a, b) {
            return folded;
        }
        match self.as_const(b) {
            Some(value) if value.is_power_of_two() => {
                let bits = self.constant(value - 1, width);
                self.and(a, bits)
            }
            _ => self.make(Node::URem(a, b), width),
        }
    }

    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        self.shift(BinaryOp::Shl, a, b, Node::Shl(a, b))
    }

    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        self.shift(BinaryOp::LShr, a, b, Node::LShr(a, b))
    }

    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        self.shift(BinaryOp::AShr, a, b, Node::AShr(a, b))
    }

    fn shift(&mut self, op: BinaryOp, a: Term, b: Term, node: Node) -> Term {
        if let Some(folded) = self.folded(op, a, b) {
            return folded;
        }
        if self.is_zero(b) || self.is_zero(a) {
            return a;
        }
        self.make(node, self.width(a))
    }

    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return Terms::TRUE;
        }
        let (a, b) = if self.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        if let Some(value) = self.as_const(b) {
            return self.equals(a, value);
        }
        if self.is_negation(a, b) {
            return Terms::FALSE;
        }
        if self.width(a) == 1 {
            let differ = self.xor(a, b);
            return self.not(differ);
        }
        self.make(Node::Eq(a.min(b), a.max(b)), 1)
    }

    /// Comparison with a constant.
    pub fn equals(&mut self, a: Term, value: u64) -> Term {
        let width = self.width(a);
        match self.node(a) {
            Node::Const(other) => return self.truth(other == value),
            _ if width == 1 => {
                return if value == 1 { a } else { self.not(a) };
            }
            Node::ZeroExtend(inner) => {
                let from = self.width(inner);
                return if value > mask(from) {
                    Terms::FALSE
                } else {
                    self.equals(inner, value)
                };
            }
            Node::SignExtend(inner) => {
                let from = self.width(inner);
                return if resize(value & mask(from), from, width, true) == value {
                    self.equals(inner, value & mask(from))
                } else {
                    Terms::FALSE
                };
            }
            Node::Not(inner) => return self.equals(inner, !value & mask(width)),
            Node::Add(x, c) if self.as_const(c).is_some() => {
                let constant = self.as_const(c).unwrap_or(0);
                return self.equals(x, value.wrapping_sub(constant) & mask(width));
            }
            _ => {}
        }
        if let Some(&known) = self.compared.get(&(a, value)) {
            return known;
        }
        let result = match self.node(a) {
            Node::Ite(condition, then, otherwise)
                if self.is_constant_choice(then) || self.is_constant_choice(otherwise) =>
            {
                let then = self.equals(then, value);
                let otherwise = self.equals(otherwise, value);
                self.ite(condition, then, otherwise)
            }
            _ => {
                let value = self.constant(value, width);
                self.make(Node::Eq(a.min(value), a.max(value)), 1)
            }
        };
        self.compared.insert((a, value), result);
        result
    }

    fn is_constant_choice(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Const(_) => true,
            Node::Ite(_, then, otherwise) => {
                matches!(self.node(then), Node::Const(_) | Node::Ite(..))
                    || matches!(self.node(otherwise), Node::Const(_) | Node::Ite(..))
            }
            _ => false,
        }
    }

    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let equal = self.eq(a, b);
        self.not(equal)
    }

    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        if let Some(folded) = self.folded(BinaryOp::ULt, a, b) {
            return folded;
        }
        if a == b || self.is_zero(b) || self.is_ones(a) {
            return Terms::FALSE;
        }
        if self.as_const(b) == Some(1) {
            return self.equals(a, 0);
        }
        if self.is_zero(a) {
            let zero = self.equals(b, 0);
            return self.not(zero);
        }
        self.make(Node::ULt(a, b), 1)
    }

    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        if let Some(folded) = self.folded(BinaryOp::SLt, a, b) {
            return folded;
        }
        if a == b {
            return Terms::FALSE;
        }
        // Both widened with zeros: the sign plays no part.
        if let (Node::ZeroExtend(x), Node::ZeroExtend(y)) = (self.node(a), self.node(b))
            && self.width(x) == self.width(y)
        {
            return self.ult(x, y);
        }
        self.make(Node::SLt(a, b), 1)
    }

    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        if then == otherwise {
            return then;
        }
        match self.node(condition) {
            Node::Const(value) => return if value == 1 { then } else { otherwise },
            Node::Not(inner) => return self.ite(inner, otherwise, then),
            _ => {}
        }
        let width = self.width(then);
        if width == 1 {
            if then == Terms::TRUE || then == condition {
                return self.or(condition, otherwise);
            }
            if otherwise == Terms::FALSE || otherwise == condition {
                return self.and(condition, then);
            }
            if then == Terms::FALSE {
                let not = self.not(condition);
                return self.and(not, otherwise);
            }
            if otherwise == Terms::TRUE {
                let not = self.not(condition);
                return self.or(not, then);
            }
            if self.is_negation(then, otherwise) {
                let differ = self.xor(condition, then);
                return self.not(differ);
            }
        }
        // A choice that has been made already.
        let then = match self.node(then) {
            Node::Ite(same, inner, _) if same == condition => inner,
            _ => then,
        };
        let otherwise = match self.node(otherwise) {
            Node::Ite(same, _, inner) if same == condition => inner,
            _ => otherwise,
        };
        if then == otherwise {
            return then;
        }
        match (self.node(then), self.node(otherwise)) {
            (_, Node::Ite(second, inner, last)) if inner == then => {
                let either = self.or(condition, second);
                return self.ite(either, then, last);
            }
            (Node::Ite(second, first, inner), _) if inner == otherwise => {
                let both = self.and(condition, second);
                return self.ite(both, first, otherwise);
            }
            _ => {}
        }
        self.make(Node::Ite(condition, then, otherwise), width)
    }

    pub fn resize(&mut self, a: Term, width: u8, signed: bool) -> Term {
        let from = self.width(a);
        if from == width {
            return a;
        }
        if let Some(value) = self.as_const(a) {
            return self.constant(resize(value, from, width, signed), width);
        }
        if width < from {
            return match self.node(a) {
                Node::Low(inner) => self.resize(inner, width, false),
                Node::ZeroExtend(inner) | Node::SignExtend(inner) => {
                    let is_signed = matches!(self.node(a), Node::SignExtend(_));
                    self.resize(inner, width, is_signed)
                }
                Node::Ite(condition, then, otherwise)
                    if self.as_const(then).is_some() || self.as_const(otherwise).is_some() =>
                {
                    let then = self.resize(then, width, false);
                    let otherwise = self.resize(otherwise, width, false);
                    self.ite(condition, then, otherwise)
                }
                _ => self.make(Node::Low(a), width),
            };
        }
        match self.node(a) {
            Node::ZeroExtend(inner) => self.make(Node::ZeroExtend(inner), width),
            Node::SignExtend(inner) if signed => self.make(Node::SignExtend(inner), width),
            _ if signed => self.make(Node::SignExtend(a), width),
            _ => self.make(Node::ZeroExtend(a), width),
        }
    }

    fn sign(&mut self, a: Term) -> Term {
        let zero = self.zero(self.width(a));
        self.slt(a, zero)
    }

    fn magnitude(&mut self, a: Term) -> Term {
        let negative = self.sign(a);
        let negated = self.neg(a);
        self.ite(negative, negated, a)
    }

    fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let (x, y) = (self.magnitude(a), self.magnitude(b));
        let quotient = self.udiv(x, y);
        let (sa, sb) = (self.sign(a), self.sign(b));
        let differ = self.xor(sa, sb);
        let negated = self.neg(quotient);
        self.ite(differ, negated, quotient)
    }

    fn srem(&mut self, a: Term, b: Term) -> Term {
        let (x, y) = (self.magnitude(a), self.magnitude(b));
        let remainder = self.urem(x, y);
        let negative = self.sign(a);
        let negated = self.neg(remainder);
        self.ite(negative, negated, remainder)
    }

    /// An operator of the IR.
    pub fn binary(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        match op {
            BinaryOp::Add => self.add(a, b),
            BinaryOp::Sub => self.sub(a, b),
            BinaryOp::Mul => self.mul(a, b),
            BinaryOp::UDiv => self.udiv(a, b),
            BinaryOp::SDiv => self.sdiv(a, b),
            BinaryOp::URem => self.urem(a, b),
            BinaryOp::SRem => self.srem(a, b),
            BinaryOp::And => self.and(a, b),
            BinaryOp::Or => self.or(a, b),
            BinaryOp::Xor => self.xor(a, b),
            BinaryOp::Shl => self.shl(a, b),
            BinaryOp::LShr => self.lshr(a, b),
            BinaryOp::AShr => self.ashr(a, b),
            BinaryOp::Eq => self.eq(a, b),
            BinaryOp::Ne => self.ne(a, b),
            BinaryOp::ULt => self.ult(a, b),
            BinaryOp::ULe => {
                let greater = self.ult(b, a);
                self.not(greater)
            }
            BinaryOp::SLt => self.slt(a, b),
            BinaryOp::SLe => {
                let greater = self.slt(b, a);
                self.not(greater)
            }
        }
    }

    pub fn unary(&mut self, op: UnaryOp, a: Term) -> Term {
        match op {
            UnaryOp::Not => self.not(a),
            UnaryOp::Neg => self.neg(a),
        }
    }

    /// Calls `visit` on the terms that a term consists of.
    pub fn children(&self, term: Term, mut visit: impl FnMut(Term)) {
        match self.node(term) {
            Node::Const(_) | Node::Var(_) => {}
            Node::Not(a) | Node::Low(a) | Node::ZeroExtend(a) | Node::SignExtend(a) => visit(a),
            Node::And(a, b)
            | Node::Xor(a, b)
            | Node::Add(a, b)
            | Node::Sub(a, b)
            | Node::Mul(a, b)
            | Node::UDiv(a, b)
            | Node::URem(a, b)
            | Node::Shl(a, b)
            | Node::LShr(a, b)
            | Node::AShr(a, b)
            | Node::Eq(a, b)
            | Node::ULt(a, b)
            | Node::SLt(a, b) => {
                visit(a);
                visit(b);
            }
            Node::Ite(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
        }
    }

    /// All terms below the roots and the roots themselves, children first.
    pub fn below(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen: FxHashMap<Term, bool> = FxHashMap::default();
        let mut order = Vec::new();
        let mut stack: Vec<Term> = roots.to_vec();
        while let Some(&term) = stack.last() {
            match seen.get(&term) {
                None => {
                    seen.insert(term, false);
                    self.children(term, |child| {
                        if !seen.contains_key(&child) {
                            stack.push(child);
                        }
                    });
                }
                Some(false) => {
                    seen.insert(term, true);
                    order.push(term);
                    stack.pop();
                }
                Some(true) => {
                    stack.pop();
                }
            }
        }
        order
    }

    /// The term with other terms, of the same widths, in place of variables.
    pub fn substitute(&mut self, root: Term, replace: impl Fn(Var) -> Option<Term>) -> Term {
        let mut made: FxHashMap<Term, Term> = FxHashMap::default();
        for term in self.below(&[root]) {
            let width = self.width(term);
            let of = |child: Term| made[&child];
            let new = match self.node(term) {
                Node::Const(_) => term,
                Node::Var(var) => replace(var).unwrap_or(term),
                Node::Not(a) => self.not(of(a)),
                Node::And(a, b) => self.and(of(a), of(b)),
                Node::Xor(a, b) => self.xor(of(a), of(b)),
                Node::Add(a, b) => self.add(of(a), of(b)),
                Node::Sub(a, b) => self.sub(of(a), of(b)),
                Node::Mul(a, b) => self.mul(of(a), of(b)),
                Node::UDiv(a, b) => self.udiv(of(a), of(b)),
                Node::URem(a, b) => self.urem(of(a), of(b)),
                Node::Shl(a, b) => self.shl(of(a), of(b)),
                Node::LShr(a, b) => self.lshr(of(a), of(b)),
                Node::AShr(a, b) => self.ashr(of(a), of(b)),
                Node::Eq(a, b) => self.eq(of(a), of(b)),
                Node::ULt(a, b) => self.ult(of(a), of(b)),
                Node::SLt(a, b) => self.slt(of(a), of(b)),
                Node::Ite(a, b, c) => self.ite(of(a), of(b), of(c)),
                Node::Low(a) | Node::ZeroExtend(a) => self.resize(of(a), width, false),
                Node::SignExtend(a) => self.resize(of(a), width, true),
            };
            made.insert(term, new);
        }
        made[&root]
    }

    /// The value of a node in a domain, whose children have these values.
    pub fn apply<D: Domain>(
        &self,
        domain: &mut D,
        term: Term,
        value: impl Fn(Term) -> D::Value,
    ) -> D::Value {
        let width = self.width(term);
        let mut binary = |op: BinaryOp, a: Term, b: Term| {
            let (left, right) = (value(a), value(b));
            domain.binary(op, left, right, self.width(a))
        };
        match self.node(term) {
            Node::Const(constant) => domain.constant(constant, width),
            Node::Var(_) => value(term),
            Node::Not(a) => domain.unary(UnaryOp::Not, value(a), width),
            Node::And(a, b) => binary(BinaryOp::And, a, b),
            Node::Xor(a, b) => binary(BinaryOp::Xor, a, b),
            Node::Add(a, b) => binary(BinaryOp::Add, a, b),
            Node::Sub(a, b) => binary(BinaryOp::Sub, a, b),
            Node::Mul(a, b) => binary(BinaryOp::Mul, a, b),
            Node::UDiv(a, b) => binary(BinaryOp::UDiv, a, b),
            Node::URem(a, b) => binary(BinaryOp::URem, a, b),
            Node::Shl(a, b) => binary(BinaryOp::Shl, a, b),
            Node::LShr(a, b) => binary(BinaryOp::LShr, a, b),
            Node::AShr(a, b) => binary(BinaryOp::AShr, a, b),
            Node::Eq(a, b) => binary(BinaryOp::Eq, a, b),
            Node::ULt(a, b) => binary(BinaryOp::ULt, a, b),
            Node::SLt(a, b) => binary(BinaryOp::SLt, a, b),
            Node::Ite(c, a, b) => {
                let condition = value(c);
                match domain.truth(&condition) {
                    Some(true) => value(a),
                    Some(false) => value(b),
                    None => domain.choose(condition, value(a), value(b)),
                }
            }
            Node::Low(a) | Node::ZeroExtend(a) => {
                domain.resize(value(a), self.width(a), width, false)
            }
            Node::SignExtend(a) => domain.resize(value(a), self.width(a), width, true),
        }
    }
}

/// The domain of terms.
impl Domain for Terms {
    type Value = Term;

    fn constant(&mut self, value: u64, width: u8) -> Term {
        Terms::constant(self, value, width)
    }

    fn unary(&mut self, op: UnaryOp, arg: Term, _: u8) -> Term {
        Terms::unary(self, op, arg)
    }

    fn binary(&mut self, op: BinaryOp, lhs: Term, rhs: Term, _: u8) -> Term {
        Terms::binary(self, op, lhs, rhs)
    }

    fn resize(&mut self, arg: Term, _: u8, to: u8, signed: bool) -> Term {
        Terms::resize(self, arg, to, signed)
    }

    fn truth(&self, condition: &Term) -> Option<bool> {
        self.as_const(*condition).map(|value| value != 0)
    }

    fn choose(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        self.ite(condition, then, otherwise)
    }
}

/// Terms in the order in which they can be computed, for many assignments.
pub struct Circuit<'t> {
    terms: &'t Terms,
    order: Vec<Term>,
    /// By number of the term.
    values: Vec<u64>,
}

impl<'t> Circuit<'t> {
    pub fn new(terms: &'t Terms, roots: &[Term]) -> Self {
        Circuit {
            order: terms.below(roots),
            values: vec![0; terms.len()],
            terms,
        }
    }

    /// How many terms are computed.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Computes all values.
    pub fn run(&mut self, assignment: impl Fn(Var) -> u64) {
        for &term in &self.order {
            let value = match self.terms.node(term) {
                Node::Var(var) => assignment(var) & mask(self.terms.width(term)),
                _ => {
                    let value = |child: Term| self.values[child.0 as usize];
                    self.terms.apply(&mut Concrete, term, value)
                }
            };
            self.values[term.0 as usize] = value;
        }
    }

    /// The value of one of the roots, or of a term below them, in the last run.
    pub fn value(&self, term: Term) -> u64 {
        self.values[term.0 as usize]
    }
}

/// Values of terms under one assignment of the variables, each computed once.
pub struct Evaluation<'t> {
    terms: &'t Terms,
    values: FxHashMap<Term, u64>,
    assignment: &'t dyn Fn(Var) -> u64,
}

impl<'t> Evaluation<'t> {
    pub fn new(terms: &'t Terms, assignment: &'t dyn Fn(Var) -> u64) -> Self {
        Evaluation {
            terms,
            values: FxHashMap::default(),
            assignment,
        }
    }

    pub fn eval(&mut self, root: Term) -> u64 {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.values.contains_key(&term) {
                stack.pop();
                continue;
            }
            let mut ready = true;
            self.terms.children(term, |child| {
                if !self.values.contains_key(&child) {
                    ready = false;
                    stack.push(child);
                }
            });
            if ready {
                let value = match self.terms.node(term) {
                    Node::Var(var) => (self.assignment)(var) & mask(self.terms.width(term)),
                    _ => self
                        .terms
                        .apply(&mut Concrete, term, |child| self.values[&child]),
                };
                self.values.insert(term, value);
                stack.pop();
            }
        }
        self.values[&root]
    }

    pub fn holds(&mut self, term: Term) -> bool {
        self.eval(term) == 1
    }
}
