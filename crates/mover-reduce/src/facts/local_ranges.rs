//! Intervals of local variables, by location: `for (long i = 0; i < n; i++)`.
//!
//! Where addresses are plain integers, an integer as wide as a pointer may be one, unless it is known to
//! be small. Most such integers are counters, and what bounds a counter is the comparison that ends its
//! loop. So each thread's graph is interpreted over *intervals* (Cousot and Cousot 1977): for each
//! location and local variable of that width, the least and the greatest value it can have there, read as a
//! signed number. A guard narrows the intervals of the variables that it compares, an assignment is
//! computed by interval arithmetic, and what may wrap around is any value. Whatever others can write (memory,
//! messages, results of calls) is any value, so the intervals hold in every interleaving.
//!
//! **Widening.** A counter would grow by one at each visit. After a few visits an interval that still
//! grows goes on to the next of the *thresholds*, the constants that the guards compare with, and past the last
//! of them to any value.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef, sign_extend};
use mover_ir::literal::{Literal, conjunction};
use mover_ir::program::{Edge, Effect, Init, Program, VariableId};

use crate::facts::access::edges;

/// Visits of a location before its intervals are widened.
const VISITS: usize = 4;

/// More thresholds than this are not kept.
const MOST_THRESHOLDS: usize = 64;

/// The least and the greatest value, signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    pub least: i128,
    pub most: i128,
}

impl Interval {
    fn exactly(value: i128) -> Interval {
        Interval {
            least: value,
            most: value,
        }
    }

    /// All numbers of a width.
    fn all(width: u8) -> Interval {
        let half = 1i128 << (width - 1);
        Interval {
            least: -half,
            most: half - 1,
        }
    }

    /// The unsigned numbers of a width.
    fn unsigned(width: u8) -> Interval {
        Interval {
            least: 0,
            most: (1i128 << width) - 1,
        }
    }

    fn join(self, other: Interval) -> Interval {
        Interval {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn meet(self, other: Interval) -> Option<Interval> {
        let met = Interval {
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        };
        (met.least <= met.most).then_some(met)
    }

    fn is_inside(self, other: Interval) -> bool {
        other.least <= self.least && self.most <= other.most
    }
}

/// What is known of local variables at some moment; nothing of those that are absent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Known(BTreeMap<VariableId, Interval>);

impl Known {
    /// The interval of a local variable.
    pub fn of(&self, local: VariableId) -> Option<Interval> {
        self.0.get(&local).copied()
    }

    fn joined(&self, other: &Known) -> Known {
        let both = self.0.iter().filter_map(|(&local, interval)| {
            let there = other.0.get(&local)?;
            Some((local, interval.join(*there)))
        });
        Known(both.collect())
    }

    /// What is known of an expression; none if it may be any number of its width.
    fn value(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::Const { value, width } => {
                Some(Interval::exactly(sign_extend(*value, *width).into()))
            }
            Expr::Read(place) => match place.variable {
                VariableRef::Local(id) => self.of(id),
                VariableRef::Global(_) => None,
            },
            Expr::Binary(op, lhs, rhs) => {
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                let corners: Vec<i128> = match op {
                    BinaryOp::Add => vec![a.least + b.least, a.most + b.most],
                    BinaryOp::Sub => vec![a.least - b.most, a.most - b.least],
                    BinaryOp::Mul => [a.least, a.most]
                        .iter()
                        .flat_map(|x| [x.checked_mul(b.least), x.checked_mul(b.most)])
                        .collect::<Option<_>>()?,
                    _ => return None,
                };
                let found = Interval {
                    least: *corners.iter().min()?,
                    most: *corners.iter().max()?,
                };
                found.is_inside(Interval::all(lhs.width())).then_some(found)
            }
            Expr::Resize { arg, width, signed } => {
                let from = arg.width();
                let known = self.value(arg);
                if *width <= from {
                    return known.filter(|known| known.is_inside(Interval::all(*width)));
                }
                Some(match (known, signed) {
                    (Some(known), true) => known,
                    (Some(known), false) if known.least >= 0 => known,
                    (None, true) => Interval::all(from),
                    (_, false) => Interval::unsigned(from),
                })
            }
            Expr::If(_, then, otherwise) => Some(self.value(then)?.join(self.value(otherwise)?)),
            _ => None,
        }
    }

    /// What is known if a guard holds; none if it cannot hold.
    fn given(mut self, tracked: &BTreeSet<VariableId>, guard: &Expr) -> Option<Known> {
        for Literal { condition, holds } in conjunction(guard) {
            let Expr::Binary(op, lhs, rhs) = &condition else {
                continue;
            };
            let all = Interval::all(lhs.width());
            let a = self.value(lhs).unwrap_or(all);
            let b = self.value(rhs).unwrap_or(all);
            let (a, b) = compared(*op, holds, a, b)?;
            for (side, found) in [(lhs, a), (rhs, b)] {
                let counter = counter(side).filter(|(local, _)| tracked.contains(local));
                let Some((local, plus)) = counter.filter(|_| found != all) else {
                    continue;
                };
                // A sum that may wrap says nothing of the variable.
                if plus == 0 || self.value(side).is_some() {
                    let found = Interval {
                        least: found.least - plus,
                        most: found.most - plus,
                    };
                    self.0.insert(local, found);
                }
            }
        }
        Some(self)
    }

    /// What is known after an effect.
    pub fn after(&mut self, tracked: &BTreeSet<VariableId>, effect: &Effect) {
        let value = match effect {
            Effect::Assign { value, .. } => self.value(value),
            Effect::Havoc { values, .. } if *values > 0 => Some(Interval {
                least: 0,
                most: i128::from(*values) - 1,
            }),
            _ => None,
        };
        for place in effect.written_places() {
            let VariableRef::Local(local) = place.variable else {
                continue;
            };
            let fits = |value: &Interval| value.is_inside(Interval::all(place.ty.width));
            match value.filter(fits) {
                Some(value) if tracked.contains(&local) => self.0.insert(local, value),
                _ => self.0.remove(&local),
            };
        }
    }

    /// Intervals that grew since an earlier visit, up to the next threshold.
    fn widened(mut self, before: &Known, thresholds: &BTreeSet<i128>) -> Known {
        self.0.retain(|local, interval| {
            let Some(old) = before.of(*local) else {
                return false;
            };
            if interval.least < old.least {
                let next = thresholds.range(..=interval.least).next_back();
                let Some(&next) = next else { return false };
                interval.least = next;
            }
            if interval.most > old.most {
                let Some(&next) = thresholds.range(interval.most..).next() else {
                    return false;
                };
                interval.most = next;
            }
            true
        });
        self
    }
}

/// What two compared numbers can be; none if the comparison cannot have this result.
fn compared(op: BinaryOp, holds: bool, a: Interval, b: Interval) -> Option<(Interval, Interval)> {
    // `a + gap <= b`
    let below = |a: Interval, b: Interval, gap: i128| {
        let least = a.least + gap;
        let most = b.most - gap;
        Some((
            a.meet(Interval {
                least: a.least,
                most,
            })?,
            b.meet(Interval {
                least,
                most: b.most,
            })?,
        ))
    };
    let swapped = |(b, a): (Interval, Interval)| (a, b);
    // An unsigned number below one whose sign bit is 0 has a sign bit of 0.
    let positive = |a: Interval| a.meet(Interval { least: 0, ..a });
    match (op, holds) {
        (BinaryOp::Eq, true) => a.meet(b).map(|both| (both, both)),
        (BinaryOp::Eq, false) => Some((without(a, b)?, without(b, a)?)),
        (BinaryOp::ULt, true) if b.least >= 0 => below(positive(a)?, b, 1),
        (BinaryOp::ULe, true) if b.least >= 0 => below(positive(a)?, b, 0),
        (BinaryOp::ULt, false) if a.least >= 0 => below(positive(b)?, a, 0).map(swapped),
        (BinaryOp::ULe, false) if a.least >= 0 => below(positive(b)?, a, 1).map(swapped),
        (BinaryOp::SLt, true) => below(a, b, 1),
        (BinaryOp::SLe, true) => below(a, b, 0),
        (BinaryOp::SLt, false) => below(b, a, 0).map(swapped),
        (BinaryOp::SLe, false) => below(b, a, 1).map(swapped),
        _ => Some((a, b)),
    }
}

/// An interval without a number, if that is known and at one of its ends.
fn without(interval: Interval, other: Interval) -> Option<Interval> {
    let mut left = interval;
    if other.least == other.most {
        left.least += i128::from(left.least == other.least);
        left.most -= i128::from(left.most == other.least && interval.most > interval.least);
    }
    (left.least <= left.most).then_some(left)
}

/// A local variable plus a constant.
fn counter(expr: &Expr) -> Option<(VariableId, i128)> {
    match expr {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(id) => Some((id, 0)),
            VariableRef::Global(_) => None,
        },
        Expr::Binary(BinaryOp::Add, lhs, rhs) => {
            let (local, plus) = counter(lhs)?;
            let Expr::Const { value, width } = **rhs else {
                return None;
            };
            Some((local, plus + i128::from(sign_extend(value, width))))
        }
        _ => None,
    }
}

/// Intervals by template and location.
pub struct LocalRanges {
    /// By template: the variables of which something may be known.
    tracked: Vec<BTreeSet<VariableId>>,
    /// None at locations that no thread reaches.
    known: Vec<Vec<Option<Known>>>,
}

impl LocalRanges {
    pub fn find(program: &Program) -> LocalRanges {
        let params = params(program);
        let tracked: Vec<BTreeSet<VariableId>> = (0..program.templates.len())
            .map(|template| tracked(program, template))
            .collect();
        let known = (0..program.templates.len())
            .map(|template| walk(program, template, params[template], &tracked[template]))
            .collect();
        LocalRanges { tracked, known }
    }

    /// What is known before the effects of an edge, when it is taken; none if it never is.
    pub fn on(&self, template: usize, location: usize, edge: &Edge) -> Option<Known> {
        let here = self.known[template][location].clone()?;
        here.given(&self.tracked[template], &edge.guard)
    }

    /// Passes an effect of an edge of the template.
    pub fn pass(&self, template: usize, known: &mut Known, effect: &Effect) {
        known.after(&self.tracked[template], effect);
    }
}

/// By template: how many of its local variables are arguments.
fn params(program: &Program) -> Vec<usize> {
    let mut params = vec![0; program.templates.len()];
    for instance in &program.initial {
        let count = &mut params[instance.template.index()];
        *count = (*count).max(instance.args.len());
    }
    for effect in edges(program).flat_map(|(_, edge)| &edge.effects) {
        if let Effect::Spawn { template, args, .. } = effect {
            let count = &mut params[template.index()];
            *count = (*count).max(args.len());
        }
    }
    params
}

/// Scalars as wide as a pointer that guards compare, and those that they are computed from.
fn tracked(program: &Program, template: usize) -> BTreeSet<VariableId> {
    let body = &program.templates[template];
    let is_wide = |place: &Place| match place.variable {
        VariableRef::Local(id) => {
            let local = &body.locals[id.index()];
            let is_it = local.len == 1 && local.ty.width == program.pointers.width;
            is_it.then_some(id)
        }
        VariableRef::Global(_) => None,
    };
    let read = |expr: &Expr, found: &mut BTreeSet<VariableId>| {
        expr.walk(&mut |part| {
            if let Expr::Read(place) = part {
                found.extend(is_wide(place));
            }
        });
    };
    let all_edges = || body.locations.iter().flat_map(|location| &location.edges);
    let mut found = BTreeSet::new();
    for literal in all_edges().flat_map(|edge| conjunction(&edge.guard)) {
        if let Expr::Binary(op, lhs, rhs) = &literal.condition
            && op.is_comparison()
        {
            let sides = [counter(lhs), counter(rhs)];
            found.extend(sides.into_iter().flatten().map(|(local, _)| local));
        }
    }
    found.retain(|id| {
        is_wide(&Place::scalar(
            VariableRef::Local(*id),
            body.locals[id.index()].ty,
        ))
        .is_some()
    });
    loop {
        let before = found.len();
        for effect in all_edges().flat_map(|edge| &edge.effects) {
            if let Effect::Assign { place, value } = effect
                && is_wide(place).is_some_and(|id| found.contains(&id))
            {
                read(value, &mut found);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The constants that guards compare with, and their neighbours.
fn thresholds(program: &Program, template: usize) -> BTreeSet<i128> {
    let locations = &program.templates[template].locations;
    let guards = locations.iter().flat_map(|location| &location.edges);
    let mut found = BTreeSet::from([-1, 0, 1]);
    for literal in guards.flat_map(|edge| conjunction(&edge.guard)) {
        if let Expr::Binary(op, lhs, rhs) = &literal.condition
            && op.is_comparison()
        {
            for side in [lhs, rhs] {
                if let Expr::Const { value, width } = **side {
                    let value = i128::from(sign_extend(value, width));
                    found.extend([value - 1, value, value + 1]);
                }
            }
        }
    }
    if found.len() > MOST_THRESHOLDS {
        let step = found.len().div_ceil(MOST_THRESHOLDS);
        let last = found.last().copied();
        found = found.into_iter().step_by(step).chain(last).collect();
    }
    found
}

fn walk(
    program: &Program,
    template: usize,
    params: usize,
    tracked: &BTreeSet<VariableId>,
) -> Vec<Option<Known>> {
    let body = &program.templates[template];
    if tracked.is_empty() {
        return vec![Some(Known::default()); body.locations.len()];
    }
    let thresholds = thresholds(program, template);
    let initial = tracked.iter().filter_map(|&id| {
        let local = &body.locals[id.index()];
        match local.init {
            Init::All(value) if id.index() >= params => {
                let value = sign_extend(value, local.ty.width);
                Some((id, Interval::exactly(value.into())))
            }
            _ => None,
        }
    });
    let mut known: Vec<Option<Known>> = vec![None; body.locations.len()];
    let mut visits = vec![0; body.locations.len()];
    known[body.entry.index()] = Some(Known(initial.collect()));
    let mut work = vec![body.entry.index()];
    while let Some(location) = work.pop() {
        let Some(before) = known[location].clone() else {
            continue;
        };
        for edge in &body.locations[location].edges {
            let Some(mut after) = before.clone().given(tracked, &edge.guard) else {
                continue;
            };
            for effect in &edge.effects {
                after.after(tracked, effect);
            }
            let target = edge.target.index();
            let joined = match &known[target] {
                None => after,
                Some(there) => {
                    let joined = there.joined(&after);
                    if visits[target] < VISITS {
                        joined
                    } else {
                        joined.widened(there, &thresholds)
                    }
                }
            };
            if known[target].as_ref() != Some(&joined) {
                visits[target] += 1;
                known[target] = Some(joined);
                work.push(target);
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use mover_ir::expr::Ty;
    use mover_ir::program::{Instance, Location, Template, Variable};
    use mover_ir::semantics::Machine;

    use super::*;

    const WIDTH: u8 = 8;
    const LOCALS: u32 = 2;
    const LOCATIONS: u32 = 4;

    /// A linear congruential generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = (self.0)
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }
    }

    fn local(id: u32) -> Place {
        Place::scalar(VariableRef::Local(VariableId(id)), Ty::signed(WIDTH))
    }

    fn operand(random: &mut Random) -> Expr {
        let small = |random: &mut Random| {
            let values = [-128, -2, -1, 0, 1, 2, 5, 9, 100, 127];
            Expr::constant(values[random.below(10) as usize], WIDTH)
        };
        let read = Expr::Read(local(random.below(LOCALS.into()) as u32));
        match random.below(4) {
            0 => small(random),
            1 | 2 => read,
            _ => Expr::binary(BinaryOp::Add, read, small(random)),
        }
    }

    fn guard(random: &mut Random) -> Expr {
        use BinaryOp::{Eq, Ne, SLe, SLt, ULe, ULt};
        let op = [Eq, Ne, SLe, SLt, ULe, ULt][random.below(6) as usize];
        let asked = Expr::binary(op, operand(random), operand(random));
        match random.below(3) {
            0 => asked.negate(),
            _ => asked,
        }
    }

    fn assigned(random: &mut Random) -> Expr {
        let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Xor];
        match random.below(4) {
            0 => operand(random),
            1 => {
                let narrow = operand(random).resize(4, false);
                narrow.resize(WIDTH, random.below(2) == 0)
            }
            _ => {
                let op = op[random.below(4) as usize];
                Expr::binary(op, operand(random), operand(random))
            }
        }
    }

    fn program(random: &mut Random) -> Program {
        let edge = |random: &mut Random| {
            let guards = random.below(3);
            let guard = (0..guards).fold(Expr::TRUE, |all, _| all.and(guard(random)));
            let place = local(random.below(LOCALS.into()) as u32);
            let value = assigned(random);
            let target = random.below(LOCATIONS.into()) as u32;
            Edge::new(guard, vec![Effect::Assign { place, value }], target, "")
        };
        let locations = (0..LOCATIONS)
            .map(|_| Location::with_edges((0..2).map(|_| edge(random)).collect()))
            .collect();
        let variable = |name| Variable::scalar(name, Ty::signed(WIDTH));
        let mut program = Program {
            templates: vec![Template::new(
                "t",
                vec![variable("a"), variable("b")],
                locations,
            )],
            initial: vec![Instance::new(0, Vec::new())],
            max_threads: 1,
            ..Program::default()
        };
        program.pointers.width = WIDTH;
        program
    }

    /// Every state that the concrete semantics reaches is within the intervals, and an edge that is taken
    /// is not ruled out.
    #[test]
    fn intervals_contain_every_state_that_is_reached() {
        let mut narrow = 0;
        for seed in 0..3000 {
            let program = program(&mut Random(seed));
            let ranges = LocalRanges::find(&program);
            let machine = Machine::new(&program);
            let mut seen = HashSet::new();
            let mut work = vec![machine.initial()];
            while let Some(state) = work.pop() {
                let Some(thread) = state.threads[0].clone() else {
                    continue;
                };
                let location = thread.location.index();
                let at = (location, thread.locals.clone());
                if seen.len() > 3000 || !seen.insert(at) {
                    continue;
                }
                let known = ranges.known[0][location].as_ref();
                let known = known.expect("a reached location is known to be reached");
                for (&id, interval) in &known.0 {
                    let value = i128::from(sign_extend(thread.locals[id.index()], WIDTH));
                    let holds = (interval.least..=interval.most).contains(&value);
                    assert!(holds, "seed {seed}, {location}: {id:?} is {value}");
                    narrow += u32::from(*interval != Interval::all(WIDTH));
                }
                for (step, next) in machine.successors(&state) {
                    let edge = &program.templates[0].locations[location].edges[step.by.edge];
                    assert!(ranges.on(0, location, edge).is_some(), "seed {seed}");
                    work.push(next);
                }
            }
        }
        assert!(narrow > 10_000, "only {narrow} intervals say anything");
    }

    /// `for (i = 0; i < 10; i++)`, `for (i = 9; i >= 0; i--)`, `for (i = 0; i != 10; i++)`.
    #[test]
    fn counters_are_bounded_by_their_loops() {
        let constant = |value| Expr::constant(value, WIDTH);
        let counter = || Expr::Read(local(0));
        let goes_on = [
            (BinaryOp::SLt, counter(), constant(10), 0, 1, (0, 10)),
            (BinaryOp::SLe, constant(0), counter(), 9, -1, (-1, 9)),
            (BinaryOp::Ne, counter(), constant(10), 0, 1, (0, 10)),
            (BinaryOp::ULt, counter(), constant(10), 0, 1, (0, 10)),
        ];
        for (op, lhs, rhs, start, step, (least, most)) in goes_on {
            let asked = Expr::binary(op, lhs, rhs);
            let set = |value| Effect::Assign {
                place: local(0),
                value,
            };
            let next = Expr::binary(BinaryOp::Add, counter(), constant(step));
            let mut program = program(&mut Random(0));
            program.templates[0].locations = vec![
                Location::with_edges(vec![Edge::new(
                    Expr::TRUE,
                    vec![set(constant(start))],
                    1,
                    "",
                )]),
                Location::with_edges(vec![
                    Edge::new(asked.clone(), vec![set(next)], 1, ""),
                    Edge::new(asked.negate(), Vec::new(), 2, ""),
                ]),
                Location::default(),
            ];
            let ranges = LocalRanges::find(&program);
            let known = ranges.known[0][1].as_ref().expect("a loop that is reached");
            assert_eq!(
                known.of(VariableId(0)),
                Some(Interval { least, most }),
                "{op:?}"
            );
        }
    }
}
