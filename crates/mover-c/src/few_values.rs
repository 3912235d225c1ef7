//! Inputs of which a few values are enough.
//!
//! An input of 32 bits has 2³² values, more than explicit search enumerates. Often a program looks at
//! little of it.
//!
//! - If it only compares the input with constants, two values that compare alike lead to the same runs.
//!   The constants cut the numbers into intervals, and one value of each is enough: next to each constant
//!   `c` there are `c - 1` and `c + 1`, and the numbers end at the least and the greatest one, signed and
//!   unsigned. If it is only asked for equality, the constants and one other number are enough.
//! - If the input is assumed to lie in an interval before anything else is done
//!   (`x = __VERIFIER_nondet_int(); __VERIFIER_assume(x < 5)`), the others end the run there without any
//!   effect, and are not tried.
//!
//! - If only its remainder by a constant is used (`rand() % 10`, `rand() & 7`), the numbers below the constant
//!   are enough.
//!
//! What is chosen is a number from 0 on. In the first case the value is computed from it. So that is done only
//! for values that nobody set and for results of the C library: reports and replays take the choice of
//! `__VERIFIER_nondet_*` for its result.

use std::collections::{BTreeSet, HashMap, HashSet};

use mover_ir::expr::{mask, sign_extend};

use crate::flatten::Body;
use crate::ssa::*;

/// Inputs that need more values than this are left as they are.
const MOST_VALUES: usize = 24;

/// Intervals with more values than this are: explicit search does not enumerate them either.
const LARGEST_INTERVAL: u64 = 4096;

/// Blocks that are passed for assumptions about one input.
const MOST_BLOCKS: usize = 8;

/// The library function that chooses a value which no report shows.
pub const ANY: &str = "any";

/// Where a value is used.
#[derive(Default)]
struct Uses {
    insts: Vec<(BlockId, usize)>,
    /// A branch or the result of a thread depends on it.
    is_at_end: bool,
}

/// Replaces inputs of a body by choices among fewer values.
pub fn replace(body: &mut Body) {
    let mut uses: HashMap<ValueId, Uses> = HashMap::new();
    for (number, block) in body.blocks.iter().enumerate() {
        for (index, inst) in block.insts.iter().enumerate() {
            for operand in inst.kind.operands() {
                operand.values(&mut |id| uses.entry(id).or_default().insts.push((number, index)));
            }
        }
        if let Terminator::EndThread(value)
        | Terminator::Return(Some(value))
        | Terminator::Branch {
            condition: value, ..
        }
        | Terminator::Switch { value, .. } = &block.end
        {
            value.values(&mut |id| uses.entry(id).or_default().is_at_end = true);
        }
    }
    let mut found: Vec<(BlockId, usize, Choice)> = Vec::new();
    for (number, block) in body.blocks.iter().enumerate() {
        for (index, inst) in block.insts.iter().enumerate() {
            let Some((id, width)) = input(inst) else {
                continue;
            };
            let is_free = matches!(&inst.kind, Kind::Library { name, .. } if name == ANY);
            let choice = match is_free {
                true => representatives(body, &uses, id, width),
                false => None,
            };
            let interval = assumed(body, number, index, id, width);
            let choice = choice
                .or_else(|| remainders(body, &uses, id, width, &interval))
                .or_else(|| interval.choice());
            found.extend(choice.map(|choice| (number, index, choice)));
        }
    }
    // From the last, so that positions stay right.
    for (block, index, choice) in found.into_iter().rev() {
        write(body, block, index, choice);
    }
}

enum Choice {
    OneOf(Vec<u64>),
    /// The numbers below this one.
    Below(u64),
}

/// The result and the width of an instruction that chooses any number.
fn input(inst: &Inst) -> Option<(ValueId, u8)> {
    let Kind::Library {
        name, args, shape, ..
    } = &inst.kind
    else {
        return None;
    };
    let is_any = matches!(name.as_str(), ANY | "nondet")
        && matches!(args[..], [Operand::Int { value: 0, .. }]);
    match shape[..] {
        [width] if is_any && (4..=64).contains(&width) => Some((inst.result?, width)),
        _ => None,
    }
}

/// What an instruction does with an input.
enum Use {
    /// Its result is the input.
    Copies,
    /// It asks something, and its result is not the input.
    Ends,
}

/// Looks at all that is done with an input and its copies; none if something is done that the visitor
/// does not know.
fn follow(
    body: &Body,
    uses: &HashMap<ValueId, Uses>,
    input: ValueId,
    mut visit: impl FnMut(ValueId, &Inst) -> Option<Use>,
) -> Option<()> {
    let mut seen = HashSet::from([input]);
    let mut work = vec![input];
    while let Some(id) = work.pop() {
        let Some(uses) = uses.get(&id) else { continue };
        if uses.is_at_end {
            return None;
        }
        for &(block, index) in &uses.insts {
            let inst = &body.blocks[block].insts[index];
            if let Use::Copies = visit(id, inst)? {
                let copy = inst.result?;
                if seen.insert(copy) {
                    work.push(copy);
                }
            }
        }
    }
    Some(())
}

/// One value for each outcome of the comparisons, if nothing else is done with an input.
fn representatives(
    body: &Body,
    uses: &HashMap<ValueId, Uses>,
    input: ValueId,
    width: u8,
) -> Option<Choice> {
    let mut constants = BTreeSet::new();
    let mut is_ordered = false;
    follow(body, uses, input, |id, inst| match &inst.kind {
        Kind::Pure(Pure::Copy(Operand::Value(_))) | Kind::Phi(_) => {
            let is_whole = |operand: &Operand| {
                let mut mentions = false;
                operand.values(&mut |other| mentions |= other == id);
                !mentions || matches!(operand, Operand::Value(_))
            };
            let all = inst.kind.operands().into_iter().all(is_whole);
            all.then_some(Use::Copies)
        }
        Kind::Pure(Pure::Compare {
            predicate,
            lhs,
            rhs,
        }) => match (lhs, rhs) {
            (Operand::Value(_), Operand::Int { value, .. })
            | (Operand::Int { value, .. }, Operand::Value(_)) => {
                constants.insert(*value & mask(width));
                is_ordered |= !matches!(predicate, Predicate::Eq | Predicate::Ne);
                Some(Use::Ends)
            }
            _ => None,
        },
        _ => None,
    })?;
    if constants.is_empty() {
        return None;
    }
    let top = 1u64 << (width - 1);
    let mut values = constants.clone();
    if is_ordered {
        values.extend([0, mask(width), top, top - 1]);
        for constant in constants {
            values.insert(constant.wrapping_sub(1) & mask(width));
            values.insert(constant.wrapping_add(1) & mask(width));
        }
    } else {
        values.extend((0..=mask(width)).find(|value| !constants.contains(value)));
    }
    (values.len() <= MOST_VALUES).then(|| Choice::OneOf(values.into_iter().collect()))
}

/// Whether all that is done with an input is to divide it, for the remainder, by one constant.
fn remainders(
    body: &Body,
    uses: &HashMap<ValueId, Uses>,
    input: ValueId,
    width: u8,
    interval: &Interval,
) -> Option<Choice> {
    let is_positive = interval.least == 0;
    let is_free = *interval == Interval::all(width);
    if !interval.has_no_end(width) || !is_positive && !is_free {
        return None;
    }
    let mut divisor = None;
    follow(body, uses, input, |_, inst| {
        let constant = match &inst.kind {
            // Whether it is negative has been asked, and it is not.
            Kind::Pure(Pure::Compare {
                predicate: Predicate::Sge | Predicate::Slt,
                lhs: Operand::Value(_),
                rhs: Operand::Int { value: 0, .. },
            }) if is_positive => return Some(Use::Ends),
            Kind::Pure(Pure::Copy(Operand::Value(_))) => return Some(Use::Copies),
            Kind::Phi(incoming) => {
                let is_plain = |(operand, _): &(Operand, BlockId)| {
                    matches!(operand, Operand::Value(_) | Operand::Int { .. })
                };
                return incoming.iter().all(is_plain).then_some(Use::Copies);
            }
            Kind::Pure(Pure::Resize {
                arg: Operand::Value(_),
                width: to,
                extension,
            }) if *to >= width && (is_positive || *extension == Extension::Zero) => {
                return Some(Use::Copies);
            }
            Kind::Pure(Pure::Binary {
                kind,
                lhs: Operand::Value(_),
                rhs: Operand::Int { value, .. },
                ..
            }) => match kind {
                BinaryKind::URem => *value,
                BinaryKind::SRem if is_positive => *value,
                BinaryKind::And => value.checked_add(1).filter(|next| next.is_power_of_two())?,
                _ => return None,
            },
            _ => return None,
        };
        let known = *divisor.get_or_insert(constant);
        (known == constant).then_some(Use::Ends)
    })?;
    // A divisor beyond the numbers of the type would name values that there are not.
    let most = LARGEST_INTERVAL.min(mask(width - 1));
    let divisor = divisor.filter(|constant| (1..=most).contains(constant))?;
    Some(Choice::Below(divisor))
}

/// What an input is assumed to be, by the signed and by the unsigned order.
#[derive(PartialEq, Eq)]
struct Interval {
    least: i64,
    greatest: i64,
    high: u64,
}

impl Interval {
    fn all(width: u8) -> Interval {
        let top = 1u64 << (width - 1);
        Interval {
            least: sign_extend(top, width),
            greatest: sign_extend(top - 1, width),
            high: mask(width),
        }
    }

    /// Whether nothing is assumed of large numbers.
    fn has_no_end(&self, width: u8) -> bool {
        let all = Interval::all(width);
        (self.greatest, self.high) == (all.greatest, all.high)
    }

    fn choice(&self) -> Option<Choice> {
        // Both orders agree on numbers that are not negative.
        let greatest = u64::try_from(self.greatest).ok();
        let greatest = greatest.filter(|_| self.least >= 0);
        let count = self
            .high
            .min(greatest.unwrap_or(self.high))
            .checked_add(1)?;
        (count <= LARGEST_INTERVAL).then_some(Choice::Below(count))
    }
}

/// The interval that an input is assumed to lie in before anything is done.
fn assumed(body: &Body, mut block: BlockId, index: usize, input: ValueId, width: u8) -> Interval {
    let all = Interval::all(width);
    let (mut least, mut greatest, mut high) = (all.least, all.greatest, all.high);
    let mut first = index + 1;
    let mut definitions: HashMap<ValueId, &Pure> = HashMap::new();
    for _ in 0..MOST_BLOCKS {
        let code = &body.blocks[block];
        for inst in &code.insts[first..] {
            let (Kind::Pure(pure), Some(id)) = (&inst.kind, inst.result) else {
                break;
            };
            definitions.insert(id, pure);
        }
        let passed = code.insts[first..].iter();
        let is_quiet = |inst: &Inst| {
            matches!(
                inst.kind,
                Kind::Pure(Pure::Compare { .. } | Pure::Resize { .. } | Pure::Copy(_))
            )
        };
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &code.end
        else {
            break;
        };
        if !passed.into_iter().all(is_quiet) {
            break;
        }
        let is_end = |block: BlockId| {
            let code = &body.blocks[block];
            code.insts.is_empty() && matches!(code.end, Terminator::EndProcess)
        };
        let (next, holds) = match (is_end(*then), is_end(*otherwise)) {
            (false, true) => (*then, true),
            (true, false) => (*otherwise, false),
            _ => break,
        };
        let Some((predicate, constant)) = asked(condition, input, holds, &definitions) else {
            break;
        };
        let signed = sign_extend(constant, width);
        // What cannot be written as such a bound is left out: fewer assumptions are always right.
        match predicate {
            Predicate::Eq => {
                (least, greatest) = (least.max(signed), greatest.min(signed));
            }
            Predicate::Ne | Predicate::Ugt | Predicate::Uge => {}
            Predicate::Ult => high = high.min(constant.saturating_sub(1)),
            Predicate::Ule => high = high.min(constant),
            Predicate::Slt => greatest = greatest.min(signed.saturating_sub(1)),
            Predicate::Sle => greatest = greatest.min(signed),
            Predicate::Sgt => least = least.max(signed.saturating_add(1)),
            Predicate::Sge => least = least.max(signed),
        }
        (block, first) = (next, 0);
    }
    Interval {
        least,
        greatest,
        high,
    }
}

/// What a condition asks of the input: a predicate and a constant.
fn asked(
    condition: &Operand,
    input: ValueId,
    mut holds: bool,
    definitions: &HashMap<ValueId, &Pure>,
) -> Option<(Predicate, u64)> {
    let mut condition = condition;
    loop {
        let Operand::Value(id) = condition else {
            return None;
        };
        match definitions.get(id)? {
            Pure::Copy(arg) => condition = arg,
            // Of a truth value, by zeros.
            Pure::Resize {
                arg,
                extension: Extension::Zero,
                ..
            } => condition = arg,
            Pure::Compare {
                predicate,
                lhs,
                rhs: Operand::Int { value, .. },
            } => {
                if *lhs == Operand::Value(input) {
                    let predicate = if holds {
                        *predicate
                    } else {
                        opposite(*predicate)
                    };
                    return Some((predicate, *value));
                }
                match (predicate, value) {
                    (Predicate::Ne, 0) => {}
                    (Predicate::Eq, 0) => holds = !holds,
                    _ => return None,
                }
                condition = lhs;
            }
            _ => return None,
        }
    }
}

fn opposite(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Eq => Predicate::Ne,
        Predicate::Ne => Predicate::Eq,
        Predicate::Ult => Predicate::Uge,
        Predicate::Ule => Predicate::Ugt,
        Predicate::Ugt => Predicate::Ule,
        Predicate::Uge => Predicate::Ult,
        Predicate::Slt => Predicate::Sge,
        Predicate::Sle => Predicate::Sgt,
        Predicate::Sgt => Predicate::Sle,
        Predicate::Sge => Predicate::Slt,
    }
}

/// Puts a choice of a number and the value computed from it in place of an input.
fn write(body: &mut Body, block: BlockId, index: usize, choice: Choice) {
    let inst = &body.blocks[block].insts[index];
    let (loc, result) = (inst.loc, inst.result);
    let Some((_, width)) = input(inst) else {
        return;
    };
    let mut fresh = |width: u8| {
        body.values.push(ValueInfo {
            shape: vec![width],
            ..ValueInfo::default()
        });
        body.values.len() - 1
    };
    let number = |value: u64| Operand::Int { value, width };
    let choose = |count: u64| Kind::Library {
        name: "nondet".into(),
        args: vec![Operand::Int {
            value: count,
            width: 64,
        }],
        arg_shapes: vec![vec![64]],
        shape: vec![width],
    };
    let mut insts = Vec::new();
    let mut push = |result, kind| insts.push(Inst { result, kind, loc });
    match choice {
        Choice::OneOf(values) => {
            let chosen = fresh(width);
            push(Some(chosen), choose(values.len() as u64));
            let mut whole = number(values[0]);
            for (place, &value) in values.iter().enumerate().skip(1) {
                let is_it = fresh(1);
                push(
                    Some(is_it),
                    Kind::Pure(Pure::Compare {
                        predicate: Predicate::Eq,
                        lhs: Operand::Value(chosen),
                        rhs: number(place as u64),
                    }),
                );
                let selected = fresh(width);
                push(
                    Some(selected),
                    Kind::Pure(Pure::Select {
                        condition: Operand::Value(is_it),
                        then: number(value),
                        otherwise: whole,
                    }),
                );
                whole = Operand::Value(selected);
            }
            push(result, Kind::Pure(Pure::Copy(whole)));
        }
        // A choice between two is two ways, and reports would not know which number it is.
        Choice::Below(count) => push(result, choose(count.max(3))),
    }
    body.blocks[block].insts.splice(index..=index, insts);
}
