//! Queries in SMT-LIB, for other solvers.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::term::{Node, Term, Terms};

/// The question whether all of the truth values can hold at once.
pub fn script(terms: &Terms, comment: &str, assertions: &[Term]) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        let _ = writeln!(text, "; {line}");
    }
    text += "(set-logic QF_BV)\n";
    let mut names: FxHashMap<Term, String> = FxHashMap::default();
    for term in terms.below(assertions) {
        let width = terms.width(term);
        let name = match terms.node(term) {
            Node::Const(value) => literal(value, width),
            Node::Var(var) => {
                let name = format!("|{} #{}|", clean(terms.name(var)), var.0);
                let _ = writeln!(text, "(declare-const {name} (_ BitVec {width}))");
                name
            }
            node => {
                let name = format!("t{}", names.len());
                let value = operation(terms, node, width, &names);
                let _ = writeln!(text, "(define-fun {name} () (_ BitVec {width}) {value})");
                name
            }
        };
        names.insert(term, name);
    }
    for assertion in assertions {
        let _ = writeln!(text, "(assert (= {} #b1))", names[assertion]);
    }
    text += "(check-sat)\n";
    text
}

/// Names stand between bars and may hold anything but bars and backslashes.
fn clean(name: &str) -> String {
    name.replace(['|', '\\'], "_")
}

fn literal(value: u64, width: u8) -> String {
    format!("#b{value:0>width$b}", width = usize::from(width))
}

fn operation(terms: &Terms, node: Node, width: u8, names: &FxHashMap<Term, String>) -> String {
    let name = |term: Term| names[&term].as_str();
    let apply = |op: &str, a: Term, b: Term| format!("({op} {} {})", name(a), name(b));
    let compare =
        |op: &str, a: Term, b: Term| format!("(ite ({op} {} {}) #b1 #b0)", name(a), name(b));
    let extra = |a: Term| width - terms.width(a);
    match node {
        Node::Const(value) => literal(value, width),
        Node::Var(_) => unreachable!("variables have names"),
        Node::Not(a) => format!("(bvnot {})", name(a)),
        Node::And(a, b) => apply("bvand", a, b),
        Node::Xor(a, b) => apply("bvxor", a, b),
        Node::Add(a, b) => apply("bvadd", a, b),
        Node::Sub(a, b) => apply("bvsub", a, b),
        Node::Mul(a, b) => apply("bvmul", a, b),
        Node::UDiv(a, b) => apply("bvudiv", a, b),
        Node::URem(a, b) => apply("bvurem", a, b),
        Node::Shl(a, b) => apply("bvshl", a, b),
        Node::LShr(a, b) => apply("bvlshr", a, b),
        Node::AShr(a, b) => apply("bvashr", a, b),
        Node::Eq(a, b) => compare("=", a, b),
        Node::ULt(a, b) => compare("bvult", a, b),
        Node::SLt(a, b) => compare("bvslt", a, b),
        Node::Ite(c, a, b) => format!("(ite (= {} #b1) {} {})", name(c), name(a), name(b)),
        Node::Low(a) => format!("((_ extract {} 0) {})", width - 1, name(a)),
        Node::ZeroExtend(a) => format!("((_ zero_extend {}) {})", extra(a), name(a)),
        Node::SignExtend(a) => format!("((_ sign_extend {}) {})", extra(a), name(a)),
    }
}
