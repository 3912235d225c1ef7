//! Undefined values that no way through the code reads.
//!
//! Where ways join, LLVM joins all variables of the source, also those that have not been set on one of
//! the ways (`phi [undef, …]`). Most of these are read on no way on which they are undefined: clang
//! selects by a number how to go on behind a `return` in a loop, and the result is read only if that
//! number says that there is one. To choose a value for them would be 2³² choices for nothing.
//!
//! So the ways through the code are followed with what matters of the values: which of them are undefined
//! and by which of the `undef`s, and which are known numbers that a branch or `switch` asks for. A value is
//! forgotten when it is dead. An `undef` that no way reads becomes 0, which makes no difference; the
//! others are left, and [`crate::unset`] makes inputs of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::flatten::{Body, fold};
use crate::lower::Undefined;
use crate::ssa::*;

/// After so many different states the ways are not followed further, and every `undef` is left.
const MOST_STATES: usize = 20_000;

/// So many operations are looked through to find what a branch asks for.
const DEEPEST: usize = 6;

/// An operand of a phi, or of a copy, that is undefined: block, instruction, number of the operand.
type Source = (BlockId, usize, usize);

/// What is known where a block begins.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
struct Known {
    numbers: BTreeMap<ValueId, u64>,
    undefined: BTreeMap<ValueId, BTreeSet<usize>>,
}

/// Replaces the undefined operands that no way reads; false if there are too many ways.
pub fn clear(body: &mut Body, returns_are_read: bool) -> bool {
    let sources = sources(body);
    if sources.is_empty() {
        return true;
    }
    let Some(read) = Ways::new(body, &sources, returns_are_read).read() else {
        return false;
    };
    for (number, &(block, index, operand)) in sources.iter().enumerate() {
        if read.contains(&number) {
            continue;
        }
        match &mut body.blocks[block].insts[index].kind {
            Kind::Phi(incoming) => incoming[operand].0 = zero(&incoming[operand].0),
            Kind::Pure(Pure::Copy(copied)) => *copied = zero(copied),
            _ => {}
        }
    }
    true
}

fn sources(body: &Body) -> Vec<Source> {
    let mut found = Vec::new();
    for (block, code) in body.blocks.iter().enumerate() {
        for (index, inst) in code.insts.iter().enumerate() {
            match &inst.kind {
                Kind::Phi(incoming) => {
                    let undefined = incoming.iter().enumerate();
                    let undefined = undefined.filter(|(_, (operand, _))| is_undef(operand));
                    found.extend(undefined.map(|(operand, _)| (block, index, operand)));
                }
                Kind::Pure(Pure::Copy(copied)) if is_undef(copied) => found.push((block, index, 0)),
                _ => {}
            }
        }
    }
    found
}

fn is_undef(operand: &Operand) -> bool {
    matches!(operand, Operand::Undef(_))
}

fn zero(operand: &Operand) -> Operand {
    let Operand::Undef(shape) = operand else {
        return operand.clone();
    };
    let parts: Vec<Operand> = shape
        .iter()
        .map(|&width| Operand::Int { value: 0, width })
        .collect();
    match &parts[..] {
        [only] => only.clone(),
        _ => Operand::Aggregate(parts),
    }
}

struct Ways<'a> {
    body: &'a Body,
    sources: HashMap<Source, usize>,
    undefined: Undefined,
    definitions: HashMap<ValueId, &'a Kind>,
    /// The values that matter where a block begins.
    live: Vec<HashSet<ValueId>>,
    returns_are_read: bool,
}

impl<'a> Ways<'a> {
    fn new(body: &'a Body, sources: &[Source], returns_are_read: bool) -> Ways<'a> {
        let insts = body.blocks.iter().flat_map(|block| &block.insts);
        let undefined = Undefined::find(body);
        let relevant = relevant(body, &undefined);
        Ways {
            body,
            sources: sources.iter().copied().zip(0..).collect(),
            undefined,
            definitions: insts
                .filter_map(|inst| Some((inst.result?, &inst.kind)))
                .collect(),
            live: liveness(body, &relevant),
            returns_are_read,
        }
    }

    /// The sources that some way reads; none if there are too many ways.
    fn read(&self) -> Option<BTreeSet<usize>> {
        let mut read = BTreeSet::new();
        let mut seen: HashSet<(BlockId, Known)> = HashSet::new();
        let mut open = vec![(self.body.entry, Known::default())];
        while let Some((block, known)) = open.pop() {
            let known = self.pass(block, known, &mut read);
            for next in self.next(block, &known) {
                let there = self.arrive(block, next, &known);
                if seen.len() == MOST_STATES {
                    return None;
                }
                if seen.insert((next, there.clone())) {
                    open.push((next, there));
                }
            }
        }
        Some(read)
    }

    /// What is known behind the phis of a block that is entered from another.
    fn arrive(&self, from: BlockId, to: BlockId, known: &Known) -> Known {
        let mut there = Known::default();
        for (index, inst) in self.body.blocks[to].insts.iter().enumerate() {
            let (Kind::Phi(incoming), Some(id)) = (&inst.kind, inst.result) else {
                break;
            };
            let mut found = incoming.iter().enumerate();
            let Some((number, (operand, _))) = found.find(|(_, (_, block))| *block == from) else {
                continue;
            };
            if let Some(value) = number_of(operand, known) {
                there.numbers.insert(id, value);
            }
            let mut by = undefined_by(operand, known);
            by.extend(self.sources.get(&(to, index, number)));
            if !by.is_empty() {
                there.undefined.insert(id, by);
            }
        }
        let is_live = |id: &ValueId| self.live[to].contains(id);
        let carried = known.numbers.iter().filter(|(id, _)| is_live(id));
        for (&id, &value) in carried {
            there.numbers.entry(id).or_insert(value);
        }
        for (id, by) in known.undefined.iter().filter(|(id, _)| is_live(id)) {
            there.undefined.entry(*id).or_insert_with(|| by.clone());
        }
        there
    }

    /// Passes the instructions of a block.
    fn pass(&self, block: BlockId, mut known: Known, read: &mut BTreeSet<usize>) -> Known {
        let code = &self.body.blocks[block];
        for (index, inst) in code.insts.iter().enumerate() {
            if matches!(inst.kind, Kind::Phi(_)) {
                continue;
            }
            let mut by = BTreeSet::new();
            by.extend(self.sources.get(&(block, index, 0)));
            for operand in inst.kind.operands() {
                by.extend(undefined_by(operand, &known));
            }
            if let Some(id) = inst.result {
                // The block may have been passed before.
                known.numbers.remove(&id);
                known.undefined.remove(&id);
            }
            if by.is_empty() {
                continue;
            }
            if self.undefined.is_read_by(&inst.kind) {
                read.extend(&by);
            }
            if let Some(id) = inst.result
                && self.undefined.is_in(&Operand::Value(id))
            {
                known.undefined.insert(id, by);
            }
        }
        let asked = match &code.end {
            Terminator::EndThread(value) => Some(value).filter(|_| self.returns_are_read),
            Terminator::Return(Some(value))
            | Terminator::Branch {
                condition: value, ..
            }
            | Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if let Some(asked) = asked {
            read.extend(undefined_by(asked, &known));
        }
        known
    }

    /// Where a block may go on.
    fn next(&self, block: BlockId, known: &Known) -> Vec<BlockId> {
        let end = &self.body.blocks[block].end;
        match end {
            Terminator::Switch {
                value,
                cases,
                default,
            } => match self.value_of(value, known, DEEPEST) {
                Some(number) => {
                    let case = cases.iter().find(|(case, _)| *case == number);
                    vec![case.map_or(*default, |(_, to)| *to)]
                }
                None => end.successors(),
            },
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => match self.truth(condition, known) {
                Some(true) => vec![*then],
                Some(false) => vec![*otherwise],
                None => vec![*then, *otherwise],
            },
            _ => end.successors(),
        }
    }

    fn truth(&self, condition: &Operand, known: &Known) -> Option<bool> {
        self.value_of(condition, known, DEEPEST)
            .map(|number| number != 0)
    }

    /// What an operand is computed to from numbers that are known. An operand that dominates its use has
    /// been computed from what its own operands are now.
    fn value_of(&self, operand: &Operand, known: &Known, depth: usize) -> Option<u64> {
        if let Some(number) = number_of(operand, known) {
            return Some(number);
        }
        let pure = match operand {
            Operand::Value(id) => match self.definitions.get(id)? {
                Kind::Pure(pure) if depth > 0 => pure,
                _ => return None,
            },
            Operand::Pure(pure) if depth > 0 => pure,
            _ => return None,
        };
        let mut pure = pure.clone();
        if let Pure::Select {
            condition,
            then,
            otherwise,
        } = &pure
        {
            let chosen = match self.value_of(condition, known, depth - 1)? {
                0 => otherwise,
                _ => then,
            };
            return self.value_of(chosen, known, depth - 1);
        }
        for operand in pure.operands_mut() {
            let value = self.value_of(operand, known, depth - 1)?;
            let width = self.width_of(operand)?;
            *operand = Operand::Int { value, width };
        }
        match fold(&pure)? {
            Operand::Int { value, .. } => Some(value),
            _ => None,
        }
    }

    fn width_of(&self, operand: &Operand) -> Option<u8> {
        match operand {
            Operand::Int { width, .. } => Some(*width),
            Operand::Value(id) => match self.body.values[*id].shape[..] {
                [width] => Some(width),
                _ => None,
            },
            _ => None,
        }
    }
}

fn number_of(operand: &Operand, known: &Known) -> Option<u64> {
    match operand {
        Operand::Int { value, .. } => Some(*value),
        Operand::Value(id) => known.numbers.get(id).copied(),
        _ => None,
    }
}

fn undefined_by(operand: &Operand, known: &Known) -> BTreeSet<usize> {
    let mut by = BTreeSet::new();
    operand.values(&mut |id| by.extend(known.undefined.get(&id).into_iter().flatten()));
    by
}

/// The values of which something can be known: those that may be undefined, and phis that may be numbers.
fn relevant(body: &Body, undefined: &Undefined) -> HashSet<ValueId> {
    let mut found = HashSet::new();
    let mut is_stable = false;
    while !is_stable {
        is_stable = true;
        for inst in body.blocks.iter().flat_map(|block| &block.insts) {
            let Some(id) = inst.result.filter(|id| !found.contains(id)) else {
                continue;
            };
            let may_be_number = |operand: &Operand| match operand {
                Operand::Int { .. } => true,
                Operand::Value(id) => found.contains(id),
                _ => false,
            };
            let is_number = match &inst.kind {
                Kind::Phi(incoming) => incoming.iter().any(|(operand, _)| may_be_number(operand)),
                _ => false,
            };
            if is_number || undefined.is_in(&Operand::Value(id)) {
                found.insert(id);
                is_stable = false;
            }
        }
    }
    found
}

/// The relevant values that are read at or behind the beginning of each block, its phis done.
fn liveness(body: &Body, relevant: &HashSet<ValueId>) -> Vec<HashSet<ValueId>> {
    let note = |operand: &Operand, out: &mut HashSet<ValueId>| {
        operand.values(&mut |id| {
            if relevant.contains(&id) {
                out.insert(id);
            }
        });
    };
    // What a block reads and defines itself, and what the phis behind it take from it.
    let count = body.blocks.len();
    let mut read: Vec<HashSet<ValueId>> = vec![HashSet::new(); count];
    let mut defined: Vec<HashSet<ValueId>> = vec![HashSet::new(); count];
    let mut joined: Vec<HashSet<ValueId>> = vec![HashSet::new(); count];
    let mut taken: Vec<HashSet<ValueId>> = vec![HashSet::new(); count];
    let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    for (number, block) in body.blocks.iter().enumerate() {
        for next in block.end.successors() {
            before[next].push(number);
        }
        if let Terminator::EndThread(value)
        | Terminator::Return(Some(value))
        | Terminator::Branch {
            condition: value, ..
        }
        | Terminator::Switch { value, .. } = &block.end
        {
            note(value, &mut read[number]);
        }
        for inst in block.insts.iter().rev() {
            if let Kind::Phi(incoming) = &inst.kind {
                for (operand, from) in incoming {
                    note(operand, &mut taken[*from]);
                }
                joined[number].extend(inst.result);
                continue;
            }
            if let Some(id) = inst.result {
                read[number].remove(&id);
                defined[number].insert(id);
            }
            for operand in inst.kind.operands() {
                note(operand, &mut read[number]);
            }
        }
    }
    let mut live = read;
    let mut work: Vec<BlockId> = (0..count).collect();
    while let Some(number) = work.pop() {
        let mut behind: HashSet<ValueId> = taken[number].clone();
        for next in body.blocks[number].end.successors() {
            behind.extend(live[next].difference(&joined[next]));
        }
        let size = live[number].len();
        live[number].extend(behind.difference(&defined[number]));
        if live[number].len() > size {
            work.extend(&before[number]);
        }
    }
    live
}
