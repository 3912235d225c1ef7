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
//!   (`x = __VERIFIER_nondet_int(); __VERIFIER_assume(0 <= x && x < 5)`), the others end the run there without any
//!   effect, and are not tried. What is done before the end is executed for one value of each interval between the constants
//!   that the input is compared with.
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
const MOST_BLOCKS: usize = 32;

/// The library function that chooses a value which no report shows.
pub const ANY: &str = "any";

/// Where a value is used.
#[derive(Default)]
struct Uses {
    insts: Vec<(BlockId, usize)>,
    /// A branch or the result of a thread depends on it.
    is_at_end: bool,
}

/// Replaces inputs of a body by choices among fewer values. Where claims see how a run ends, the process
/// that ends at once for some values is a run, too; a failed assumption never is one.
pub fn replace(body: &mut Body, ends_are_seen: bool) {
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
            let inputs = Assumptions {
                body,
                start: (number, index + 1),
                input: id,
                width,
                ends_are_seen,
            };
            let interval = inputs.interval();
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
        self.greatest == all.greatest && self.high >= mask(width - 1)
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

/// What is assumed of an input before anything else is done.
struct Assumptions<'b> {
    body: &'b Body,
    /// Block and instruction behind the input.
    start: (BlockId, usize),
    input: ValueId,
    width: u8,
    ends_are_seen: bool,
}

/// A value while the assumptions are executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    /// The input itself.
    Input,
    /// Computed from comparisons of the input with constants, so that it changes only at those.
    Computed(u64),
}

impl Assumptions<'_> {
    /// The smallest interval that contains all values with which the run goes on.
    fn interval(&self) -> Interval {
        let all = Interval::all(self.width);
        let top = 1u64 << (self.width - 1);
        let largest = mask(self.width);
        let mut work = vec![0, top - 1, top, largest];
        let mut tried: BTreeSet<u64> = BTreeSet::new();
        let mut kept: Vec<u64> = Vec::new();
        while let Some(value) = work.pop() {
            if !tried.insert(value) {
                continue;
            }
            if tried.len() > 8 * MOST_VALUES {
                return all;
            }
            let mut constants = Vec::new();
            if self.goes_on(value, &mut constants) {
                kept.push(value);
            }
            for constant in constants {
                let next = [constant.wrapping_sub(1), constant, constant.wrapping_add(1)];
                work.extend(next.map(|value| value & largest));
            }
        }
        // Between two neighbours that were tried all values compare as the neighbours do.
        let signed = kept.iter().map(|&value| sign_extend(value, self.width));
        let (least, greatest) = (signed.clone().min(), signed.max());
        match (least, greatest, kept.iter().max()) {
            (Some(least), Some(greatest), Some(&high)) => Interval {
                least,
                greatest,
                high,
            },
            _ => all,
        }
    }

    /// Whether the run does something with this value, or may. The constants are those that the input is
    /// compared with on the way.
    fn goes_on(&self, value: u64, constants: &mut Vec<u64>) -> bool {
        let mut values = HashMap::from([(self.input, Now::Input)]);
        let (mut block, mut first) = self.start;
        let mut from = None;
        let mut passed = HashSet::new();
        // Not around a loop.
        while passed.insert(block) && passed.len() <= MOST_BLOCKS {
            let code = &self.body.blocks[block];
            for inst in &code.insts[first..] {
                let Some(id) = inst.result else { return true };
                match self.execute(&inst.kind, value, from, &values, constants) {
                    Some(Some(now)) => values.insert(id, now),
                    Some(None) => values.remove(&id),
                    None => return true,
                };
            }
            let next = match &code.end {
                Terminator::Infeasible => return false,
                Terminator::EndProcess => return self.ends_are_seen,
                Terminator::Jump(to) => *to,
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => match self.known(condition, &values) {
                    Some(Now::Computed(0)) => *otherwise,
                    Some(Now::Computed(_)) => *then,
                    _ => return true,
                },
                _ => return true,
            };
            (from, block, first) = (Some(block), next, 0);
        }
        true
    }

    fn known(&self, operand: &Operand, values: &HashMap<ValueId, Now>) -> Option<Now> {
        match operand {
            Operand::Value(id) => values.get(id).copied(),
            Operand::Int { value, .. } => Some(Now::Computed(*value)),
            _ => None,
        }
    }

    /// The result of an instruction without effects, if it is known; none if it may have effects.
    fn execute(
        &self,
        kind: &Kind,
        input: u64,
        from: Option<BlockId>,
        values: &HashMap<ValueId, Now>,
        constants: &mut Vec<u64>,
    ) -> Option<Option<Now>> {
        let known = |operand: &Operand| self.known(operand, values);
        let computed = |operand: &Operand| match known(operand) {
            Some(Now::Computed(value)) => Some(value),
            _ => None,
        };
        Some(match kind {
            Kind::Phi(incoming) => {
                let taken = incoming.iter().find(|(_, block)| Some(*block) == from);
                taken.and_then(|(operand, _)| known(operand))
            }
            Kind::Pure(Pure::Copy(arg)) => known(arg),
            Kind::Pure(Pure::Resize {
                arg,
                width,
                extension: Extension::Zero,
            }) => computed(arg).map(|value| Now::Computed(value & mask(*width))),
            Kind::Pure(Pure::Resize { .. }) => None,
            Kind::Pure(Pure::Select {
                condition,
                then,
                otherwise,
            }) => match computed(condition) {
                Some(0) => known(otherwise),
                Some(_) => known(then),
                None => None,
            },
            Kind::Pure(Pure::Binary {
                kind: kind @ (BinaryKind::And | BinaryKind::Or | BinaryKind::Xor),
                lhs,
                rhs,
                ..
            }) => computed(lhs).zip(computed(rhs)).map(|(a, b)| {
                Now::Computed(match kind {
                    BinaryKind::And => a & b,
                    BinaryKind::Or => a | b,
                    _ => a ^ b,
                })
            }),
            Kind::Pure(Pure::Compare {
                predicate,
                lhs,
                rhs,
            }) => {
                let sides = match (known(lhs), known(rhs)) {
                    (Some(Now::Input), Some(Now::Computed(constant))) => {
                        constants.push(constant & mask(self.width));
                        Some((input, constant, self.width))
                    }
                    (Some(Now::Computed(constant)), Some(Now::Input)) => {
                        constants.push(constant & mask(self.width));
                        Some((constant, input, self.width))
                    }
                    // Truth values, also as wider numbers: without a sign.
                    (Some(Now::Computed(a)), Some(Now::Computed(b)))
                        if a.max(b) <= 1 && matches!(predicate, Predicate::Eq | Predicate::Ne) =>
                    {
                        Some((a, b, 64))
                    }
                    _ => None,
                };
                sides.map(|(a, b, width)| Now::Computed(compare(*predicate, a, b, width).into()))
            }
            _ => return None,
        })
    }
}

fn compare(predicate: Predicate, a: u64, b: u64, width: u8) -> bool {
    let (a, b) = (a & mask(width), b & mask(width));
    let (signed_a, signed_b) = (sign_extend(a, width), sign_extend(b, width));
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Ne => a != b,
        Predicate::Ult => a < b,
        Predicate::Ule => a <= b,
        Predicate::Ugt => a > b,
        Predicate::Uge => a >= b,
        Predicate::Slt => signed_a < signed_b,
        Predicate::Sle => signed_a <= signed_b,
        Predicate::Sgt => signed_a > signed_b,
        Predicate::Sge => signed_a >= signed_b,
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

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: ValueId = 0;

    fn int(value: u64, width: u8) -> Operand {
        Operand::Int { value, width }
    }

    fn inst(result: ValueId, kind: Kind) -> Inst {
        Inst {
            result: Some(result),
            kind,
            loc: None,
        }
    }

    fn compare_with(result: ValueId, predicate: Predicate, lhs: Operand, rhs: Operand) -> Inst {
        let pure = Pure::Compare {
            predicate,
            lhs,
            rhs,
        };
        inst(result, Kind::Pure(pure))
    }

    fn block(insts: Vec<Inst>, end: Terminator) -> Block {
        Block {
            insts,
            end,
            end_loc: None,
        }
    }

    fn branch(condition: ValueId, then: BlockId, otherwise: BlockId) -> Terminator {
        Terminator::Branch {
            condition: Operand::Value(condition),
            then,
            otherwise,
        }
    }

    /// The interval of an input of 32 bits that the first block begins behind.
    fn interval(blocks: Vec<Block>, ends_are_seen: bool) -> (i64, i64, u64) {
        let body = Body {
            name: "f".into(),
            is_main: true,
            params: 0,
            values: Vec::new(),
            blocks,
            entry: 0,
            loc: None,
        };
        let found = Assumptions {
            body: &body,
            start: (0, 0),
            input: INPUT,
            width: 32,
            ends_are_seen,
        }
        .interval();
        (found.least, found.greatest, found.high)
    }

    fn goes_on() -> Block {
        block(Vec::new(), Terminator::Return(None))
    }

    /// `0 <= x && x < 100`, as clang writes it.
    fn both_sides(end: Terminator) -> Vec<Block> {
        let input = || Operand::Value(INPUT);
        let phi = Kind::Phi(vec![(int(0, 1), 0), (Operand::Value(2), 1)]);
        let wide = Pure::Resize {
            arg: Operand::Value(3),
            width: 32,
            extension: Extension::Zero,
        };
        vec![
            block(
                vec![compare_with(1, Predicate::Sle, int(0, 32), input())],
                branch(1, 1, 2),
            ),
            block(
                vec![compare_with(2, Predicate::Slt, input(), int(100, 32))],
                Terminator::Jump(2),
            ),
            block(
                vec![
                    inst(3, phi),
                    inst(4, Kind::Pure(wide)),
                    compare_with(5, Predicate::Ne, Operand::Value(4), int(0, 32)),
                ],
                branch(5, 3, 4),
            ),
            goes_on(),
            block(Vec::new(), end),
        ]
    }

    #[test]
    fn assumptions_with_two_sides_are_an_interval() {
        let found = interval(both_sides(Terminator::Infeasible), true);
        assert_eq!(found, (0, 99, 99));
    }

    #[test]
    fn a_process_that_ends_is_a_run_where_claims_see_it() {
        assert_eq!(interval(both_sides(Terminator::EndProcess), false).1, 99);
        let all = Interval::all(32);
        let found = interval(both_sides(Terminator::EndProcess), true);
        assert_eq!(found, (all.least, all.greatest, all.high));
    }

    /// Each value of a small type, tried by the definition: the interval loses none that goes on.
    #[test]
    fn no_value_that_goes_on_is_lost() {
        for predicate in [
            Predicate::Eq,
            Predicate::Ne,
            Predicate::Ult,
            Predicate::Ule,
            Predicate::Ugt,
            Predicate::Uge,
            Predicate::Slt,
            Predicate::Sle,
            Predicate::Sgt,
            Predicate::Sge,
        ] {
            for constant in [0u64, 1, 7, 8, 15] {
                for is_left in [false, true] {
                    let sides = match is_left {
                        true => (int(constant, 4), Operand::Value(INPUT)),
                        false => (Operand::Value(INPUT), int(constant, 4)),
                    };
                    let asked = compare_with(1, predicate, sides.0, sides.1);
                    let body = Body {
                        name: "f".into(),
                        is_main: true,
                        params: 0,
                        values: Vec::new(),
                        blocks: vec![
                            block(vec![asked], branch(1, 1, 2)),
                            goes_on(),
                            block(Vec::new(), Terminator::Infeasible),
                        ],
                        entry: 0,
                        loc: None,
                    };
                    let found = Assumptions {
                        body: &body,
                        start: (0, 0),
                        input: INPUT,
                        width: 4,
                        ends_are_seen: false,
                    }
                    .interval();
                    for value in 0..16 {
                        let (a, b) = if is_left {
                            (constant, value)
                        } else {
                            (value, constant)
                        };
                        if compare(predicate, a, b, 4) {
                            let signed = sign_extend(value, 4);
                            assert!((found.least..=found.greatest).contains(&signed));
                            assert!(value <= found.high);
                        }
                    }
                }
            }
        }
    }
}
