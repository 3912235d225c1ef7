//! Thread identifiers that are compared by `==`.
//!
//! POSIX lets a program compare identifiers with `pthread_equal` only, but `pthread_t` is a number in
//! glibc, and programs use `==`. The identifier of a thread that was joined may be given to another
//! thread, so the two may be equal. Where both operands of a comparison are identifiers, it becomes the
//! primitive `thread_equal`, which knows that.
//!
//! Identifiers are followed from where they are made through copies, phis and variables: a value that is
//! loaded from a variable that an identifier is stored in is one. Those in heap memory or behind
//! pointers of which nothing is known are not followed; they are compared as numbers.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::flatten::Body;
use crate::ssa::*;

/// A variable, and which byte of it; none if an index is not constant.
type Place = (Root, Option<i64>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Root {
    Global(GlobalId),
    Local(usize, ValueId),
}

/// Replaces comparisons of identifiers.
pub fn compare(bodies: &mut [Body]) {
    let asks = |body: &Body| {
        let mut insts = body.blocks.iter().flat_map(|block| &block.insts);
        insts.any(|inst| is_comparison(&inst.kind).is_some())
    };
    if !bodies.iter().any(asks) {
        return;
    }
    let handles = find(bodies);
    for (number, body) in bodies.iter_mut().enumerate() {
        let is_handle = |operand: &Operand| matches!(operand, Operand::Value(id) if handles.contains(&(number, *id)));
        let mut values = std::mem::take(&mut body.values);
        for block in &mut body.blocks {
            let mut insts = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                if let Some((predicate, lhs, rhs)) = is_comparison(&inst.kind)
                    && is_handle(&lhs)
                    && is_handle(&rhs)
                {
                    values.push(ValueInfo {
                        shape: vec![32],
                        ..ValueInfo::default()
                    });
                    let same = values.len() - 1;
                    let as_numbers = Operand::Int {
                        value: 1,
                        width: 32,
                    };
                    insts.push(Inst {
                        result: Some(same),
                        kind: Kind::Library {
                            name: "thread_equal".into(),
                            args: vec![lhs, rhs, as_numbers],
                            arg_shapes: Vec::new(),
                            shape: vec![32],
                        },
                        loc: inst.loc,
                    });
                    inst.kind = Kind::Pure(Pure::Compare {
                        predicate: match predicate {
                            Predicate::Eq => Predicate::Ne,
                            _ => Predicate::Eq,
                        },
                        lhs: Operand::Value(same),
                        rhs: Operand::Int {
                            value: 0,
                            width: 32,
                        },
                    });
                }
                insts.push(inst);
            }
            block.insts = insts;
        }
        body.values = values;
    }
}

fn is_comparison(kind: &Kind) -> Option<(Predicate, Operand, Operand)> {
    match kind {
        Kind::Pure(Pure::Compare {
            predicate: predicate @ (Predicate::Eq | Predicate::Ne),
            lhs: lhs @ Operand::Value(_),
            rhs: rhs @ Operand::Value(_),
        }) => Some((*predicate, lhs.clone(), rhs.clone())),
        _ => None,
    }
}

/// The values that are identifiers, by body.
fn find(bodies: &[Body]) -> HashSet<(usize, ValueId)> {
    let definitions: Vec<HashMap<ValueId, &Kind>> = bodies
        .iter()
        .map(|body| {
            let insts = body.blocks.iter().flat_map(|block| &block.insts);
            insts
                .filter_map(|inst| Some((inst.result?, &inst.kind)))
                .collect()
        })
        .collect();
    let mut handles: HashSet<(usize, ValueId)> = HashSet::new();
    let mut places: BTreeSet<Place> = BTreeSet::new();
    let mut is_stable = false;
    while !is_stable {
        is_stable = true;
        for (number, body) in bodies.iter().enumerate() {
            let place = |pointer: &Operand| place(pointer, number, &definitions[number]);
            for inst in body.blocks.iter().flat_map(|block| &block.insts) {
                let is_handle = |operand: &Operand| matches!(operand, Operand::Value(id) if handles.contains(&(number, *id)));
                let is_one = match &inst.kind {
                    Kind::Library { name, .. } => {
                        matches!(&name[..], "thread_reserve" | "thread_self")
                    }
                    Kind::Load { pointer, .. } => {
                        place(pointer).is_some_and(|place| holds(&places, place))
                    }
                    Kind::Phi(incoming) => incoming.iter().any(|(operand, _)| is_handle(operand)),
                    Kind::Pure(Pure::Copy(operand)) => is_handle(operand),
                    Kind::Store { pointer, value, .. } => {
                        if is_handle(value)
                            && let Some(place) = place(pointer)
                        {
                            is_stable &= !places.insert(place);
                        }
                        false
                    }
                    _ => false,
                };
                if let Some(id) = inst.result.filter(|_| is_one) {
                    is_stable &= !handles.insert((number, id));
                }
            }
        }
    }
    handles
}

fn holds(places: &BTreeSet<Place>, (root, at): Place) -> bool {
    places
        .iter()
        .any(|(other, byte)| *other == root && (*byte == at || byte.is_none() || at.is_none()))
}

fn place(pointer: &Operand, body: usize, definitions: &HashMap<ValueId, &Kind>) -> Option<Place> {
    match pointer {
        Operand::Global(id) => Some((Root::Global(*id), Some(0))),
        Operand::Value(id) => match definitions.get(id)? {
            Kind::Alloca { .. } => Some((Root::Local(body, *id), Some(0))),
            Kind::Pure(pure) => place_of_pure(pure, body, definitions),
            _ => None,
        },
        Operand::Pure(pure) => place_of_pure(pure, body, definitions),
        _ => None,
    }
}

fn place_of_pure(pure: &Pure, body: usize, definitions: &HashMap<ValueId, &Kind>) -> Option<Place> {
    match pure {
        Pure::Copy(arg) => place(arg, body, definitions),
        Pure::Gep {
            base,
            offset,
            terms,
            ..
        } => {
            let (root, at) = place(base, body, definitions)?;
            let at = at.filter(|_| terms.is_empty());
            Some((root, at.and_then(|at| at.checked_add(*offset))))
        }
        _ => None,
    }
}
