//! Whether pointers stay in their objects, derived from the program.
//!
//! Points-to analysis relies on [`Program::pointers_stay`]: an address that points into an
//! object was computed from an address of that object. A front end whose addresses are plain
//! integers cannot guarantee this in general, because a large enough index leads from one
//! object into another. For many programs it can be proved: everything that they use as an
//! address is an address of an object plus integers too small to reach another object, or a sum
//! that was checked to stay with its object ([`crate::facts::checked_sums`]).
//!
//! The abstract value is an upper bound on an integer, or the address of some object plus an
//! offset with an upper bound. The distance between objects is the range of offsets; so an
//! integer below that distance is not the address of an object, and an address plus a smaller
//! offset is not the address of another object. A checked sum may also lie in the room in front of
//! its object, where no object has bytes. Sums of variables that depend on themselves grow until
//! they exceed the bound; then nothing is guaranteed. A counter is as large as the comparison that ends its loop
//! lets it become ([`crate::facts::local_ranges`]).
//!
//! **Memory.** Each *family* of objects (an addressable global, or the dynamic objects of a site)
//! has one abstract value for what is stored in it as a whole, at the width of a pointer. A load
//! can also combine parts of several stores, and then be any number. This is ruled out if every
//! store to the family that may overlap with the load is at the same offset and as wide, or if
//! both are multiples of the width of a pointer. Which families and offsets an access has is told by
//! points-to analysis *under the assumption* that pointers stay. That is no circle: in a run, look
//! at the first address that does not stay. Up to there the assumption holds, so what is stored in
//! memory was put there by stores to the families that the analysis names, and by this module the
//! address stays.

use std::collections::BTreeMap;

use mover_ir::eval::{Domain, Range, Ranges, eval_top};
use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef, mask};
use mover_ir::program::{Edge, Effect, Init, Program, SiteId, Variable, VariableId};
use mover_ir::semantics::Machine;

use crate::facts::access::{EdgeRef, edges};
use crate::facts::checked_sums::{CheckedSums, Sum};
use crate::facts::local_ranges::{Interval, Known, LocalRanges};
use crate::facts::points_to::{PointsTo, Targets};

/// The abstraction of a pointer-sized value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Value {
    /// An integer of at most this absolute value.
    number: Option<u64>,
    /// Whether the number may be below 0.
    is_negative: bool,
    /// An address plus an offset of at most this many bytes.
    moved: Option<u64>,
    /// Possibly any other value.
    is_other: bool,
    /// Possibly no multiple of the bytes of a pointer.
    is_odd: bool,
}

impl Value {
    const OTHER: Value = Value {
        number: None,
        is_negative: false,
        moved: None,
        is_other: true,
        is_odd: true,
    };

    const ADDRESS: Value = Value {
        number: None,
        is_negative: false,
        moved: Some(0),
        is_other: false,
        is_odd: false,
    };

    fn number(most: u64) -> Value {
        Value {
            number: Some(most),
            is_odd: true,
            ..Value::default()
        }
    }

    fn join(self, other: Value) -> Value {
        Value {
            number: self.number.max(other.number),
            is_negative: self.is_negative || other.is_negative,
            moved: self.moved.max(other.moved),
            is_other: self.is_other || other.is_other,
            is_odd: self.is_odd || other.is_odd,
        }
    }
}

/// A set of objects that are not told apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Family {
    Global(VariableId),
    Site(SiteId),
}

fn families(targets: &Targets) -> impl Iterator<Item = Family> {
    let globals = targets.globals.iter().map(|&id| Family::Global(id));
    globals.chain(targets.sites.iter().map(|&id| Family::Site(id)))
}

/// Which bytes of an object an access concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bytes {
    /// None if it varies.
    offset: Option<u64>,
    count: u64,
    /// Whether the offset may be no multiple of the bytes of a pointer.
    is_odd: bool,
}

impl Bytes {
    /// Whether a store to these bytes may change a part of the others, and not all of them.
    fn tears(self, load: Bytes, pointer: u64) -> bool {
        match (self.offset, load.offset) {
            (Some(a), Some(b)) => {
                let is_whole = a == b && self.count == load.count;
                !is_whole && (a.wrapping_sub(b) < load.count || b.wrapping_sub(a) < self.count)
            }
            _ => self.is_odd || load.is_odd || self.count != pointer || load.count != pointer,
        }
    }
}

/// What is known at some moment while an edge is taken.
struct Here {
    checked: CheckedSums,
    known: Known,
}

struct Provenance<'p> {
    program: &'p Program,
    ranges: LocalRanges,
    points_to: PointsTo<'p>,
    /// By variable; unused for those with addresses.
    globals: Vec<Value>,
    /// By template and variable.
    locals: Vec<Vec<Value>>,
    /// The values stored in objects as a whole.
    stored: BTreeMap<Family, Value>,
    /// The bytes that stores write.
    stores: BTreeMap<Family, Vec<Bytes>>,
    /// Maximum offset.
    most: u64,
    has_changed: bool,
}

/// Iterations after which a value that still grows counts as unbounded.
const ROUNDS: usize = 60;

/// Whether every address that the program uses stays in the object from which it was derived.
pub fn pointers_stay(program: &Program) -> bool {
    if program.pointers_stay {
        return true;
    }
    let room = program.pointers.max_object_size();
    let Some(most) = mask(program.pointers.offset_bits)
        .checked_sub(room)
        .filter(|&most| most > 0)
    else {
        return false;
    };
    let mut staying = Provenance {
        program,
        ranges: LocalRanges::find(program),
        points_to: PointsTo::while_pointers_stay(program),
        globals: Vec::new(),
        locals: Vec::new(),
        stored: BTreeMap::new(),
        stores: BTreeMap::new(),
        most,
        has_changed: false,
    };
    staying.globals = program.globals.iter().map(|v| staying.initial(v)).collect();
    staying.locals = program
        .templates
        .iter()
        .map(|t| t.locals.iter().map(|v| staying.initial(v)).collect())
        .collect();
    for instance in &program.initial {
        for (param, &arg) in instance.args.iter().enumerate() {
            let template = instance.template.index();
            let value = staying.constant(arg);
            staying.locals[template][param] = staying.locals[template][param].join(value);
        }
    }
    staying.note_initial_memory();
    for _ in 0..ROUNDS {
        staying.has_changed = false;
        staying.pass();
        if !staying.has_changed {
            return staying.is_kept();
        }
    }
    false
}

impl Provenance<'_> {
    fn pointer_bytes(&self) -> u64 {
        u64::from(self.program.pointers.width / 8)
    }

    /// A constant may be an address written by the front end.
    fn constant(&self, value: u64) -> Value {
        let pointers = self.program.pointers;
        let object = pointers.object(value);
        let signed = mover_ir::expr::sign_extend(value, pointers.width);
        let live = self.program.addressable_globals();
        let found = if object == 0 {
            Value::number(value)
        } else if object <= live && pointers.offset(value) <= pointers.max_object_size() {
            Value::ADDRESS
        } else if signed < 0 && signed.unsigned_abs() <= self.most {
            Value {
                is_negative: true,
                ..Value::number(signed.unsigned_abs())
            }
        } else {
            Value::OTHER
        };
        Value {
            is_odd: !value.is_multiple_of(self.pointer_bytes()),
            ..found
        }
    }

    fn initial(&self, variable: &Variable) -> Value {
        if variable.ty.width != self.program.pointers.width {
            return Value::default();
        }
        match &variable.init {
            Init::All(value) => self.constant(*value),
            Init::Cells(values) => values.iter().fold(Value::default(), |all, &value| {
                all.join(self.constant(value))
            }),
            Init::Channels(_) => Value::OTHER,
        }
    }

    /// What variables with addresses contain at first. New objects contain 0.
    fn note_initial_memory(&mut self) {
        let program = self.program;
        let bytes = self.pointer_bytes();
        let machine = Machine::new(program);
        let state = machine.initial();
        for (number, variable) in program.globals.iter().enumerate() {
            if !variable.addressable {
                continue;
            }
            let id = VariableId(number as u32);
            let base = program.pointers.address(program.object_of(id));
            let groups = match &variable.init {
                Init::All(0) => 0,
                _ => variable.bytes() / bytes,
            };
            let mut value = self.constant(0);
            for group in 0..groups {
                let address = Expr::Const {
                    value: base + group * bytes,
                    width: program.pointers.width,
                };
                let ty = mover_ir::expr::Ty::unsigned(program.pointers.width);
                let found = machine.eval(&state, 0, &Expr::load(address, ty));
                value = value.join(self.constant(found));
            }
            self.stored.insert(Family::Global(id), value);
        }
        for site in 0..program.sites.len() as u32 {
            let zero = self.constant(0);
            self.stored.insert(Family::Site(SiteId(site)), zero);
        }
    }

    /// The value, or "other" if it exceeds the bound.
    fn limited(&self, value: Value) -> Value {
        let is_large = |most: Option<u64>| most.is_some_and(|most| most > self.most);
        if is_large(value.number) || is_large(value.moved) || value.is_other {
            Value {
                is_odd: value.is_odd,
                ..Value::OTHER
            }
        } else {
            value
        }
    }

    fn value(&self, template: usize, here: &Here, expr: &Expr) -> Value {
        self.evaluated(template, here, expr).1
    }

    fn evaluated(&self, template: usize, here: &Here, expr: &Expr) -> (Range, Value) {
        if let Some(check) = here.checked.of(expr)
            && let Some(value) = self.checked(template, here, &check.base)
        {
            let (_, plain) = self.top(template, here, expr);
            let is_odd = plain.is_odd;
            return (Range::all(expr.width()), Value { is_odd, ..value });
        }
        self.top(template, here, expr)
    }

    fn top(&self, template: usize, here: &Here, expr: &Expr) -> (Range, Value) {
        let part = &mut |_: &mut &Self, part: &Expr| self.evaluated(template, here, part);
        eval_top(&mut { self }, expr, part).unwrap_or_else(|| {
            let range = Range::all(expr.width());
            let value = match expr {
                Expr::Address { .. } => Value::ADDRESS,
                Expr::Read(place) => return self.read(template, here, place),
                Expr::Load { address, ty } => self.loaded(template, here, address, ty.width),
                _ => self.limited(Value::number(range.most)),
            };
            (range, value)
        })
    }

    /// The value of a checked sum, if what it stays with is in the window of an object.
    fn checked(&self, template: usize, here: &Here, base: &Sum) -> Option<Value> {
        let pointers = self.program.pointers;
        let window = mask(pointers.offset_bits) - pointers.room_before();
        let mut sum = (Range::exactly(base.plus), self.constant(base.plus));
        for term in &base.terms {
            let term = self.evaluated(template, here, term);
            sum = { self }.binary(BinaryOp::Add, sum, term, pointers.width);
        }
        let (_, base) = sum;
        let is_inside = |most: Option<u64>| most.is_none_or(|most| most <= window);
        let stays = !base.is_other && is_inside(base.number) && is_inside(base.moved);
        stays.then_some(Value {
            number: base.number.and(Some(window)),
            is_negative: base.number.is_some(),
            moved: base.moved.and(Some(window)),
            is_other: false,
            is_odd: true,
        })
    }

    /// The value of a variable, which is a number if its interval has only small ones.
    fn read(&self, template: usize, here: &Here, place: &Place) -> (Range, Value) {
        let found = self.variable(template, place);
        let range = Range::all(place.ty.width);
        let VariableRef::Local(local) = place.variable else {
            return (range, found);
        };
        let limit = i128::from(self.most);
        match here.known.of(local) {
            Some(Interval { least, most }) if -limit <= least && most <= limit => {
                let number = Value {
                    is_negative: least < 0,
                    is_odd: found.is_odd,
                    ..Value::number(least.unsigned_abs().max(most.unsigned_abs()) as u64)
                };
                let range = match (u64::try_from(least), u64::try_from(most)) {
                    (Ok(least), Ok(most)) => Range { least, most },
                    _ => range,
                };
                (range, number)
            }
            _ => (range, found),
        }
    }

    fn variable(&self, template: usize, place: &Place) -> Value {
        match place.variable {
            VariableRef::Global(id) if self.program.globals[id.index()].addressable => {
                self.memory([Family::Global(id)].into_iter(), self.named_bytes(place))
            }
            VariableRef::Global(id) => self.globals[id.index()],
            VariableRef::Local(id) => self.locals[template][id.index()],
        }
    }

    fn named_bytes(&self, place: &Place) -> Bytes {
        let count = u64::from(place.ty.width / 8);
        Bytes {
            offset: (place.index.as_const()).map(|index| index.wrapping_mul(count)),
            count,
            is_odd: !count.is_multiple_of(self.pointer_bytes()),
        }
    }

    fn bytes(&self, template: usize, here: &Here, address: &Expr, width: u8) -> Bytes {
        Bytes {
            offset: self.points_to.offset(template, address),
            count: u64::from(width / 8),
            is_odd: self.value(template, here, address).is_odd,
        }
    }

    fn loaded(&self, template: usize, here: &Here, address: &Expr, width: u8) -> Value {
        if width != self.program.pointers.width {
            return self.limited(Value::number(mask(width)));
        }
        let bytes = self.bytes(template, here, address, width);
        let targets = self.points_to.targets(template, address);
        self.memory(families(&targets), bytes)
    }

    /// What a load of these bytes of some object of the families yields.
    fn memory(&self, families: impl Iterator<Item = Family>, bytes: Bytes) -> Value {
        let pointer = self.pointer_bytes();
        // Outside of live objects it yields 0.
        let mut value = self.constant(0);
        for family in families {
            let mut stores = self.stores.get(&family).into_iter().flatten();
            if stores.any(|store| store.tears(bytes, pointer)) || is_askew(bytes, pointer) {
                return Value::OTHER;
            }
            value = value.join(self.stored.get(&family).copied().unwrap_or(Value::OTHER));
        }
        value
    }

    fn include(known: &mut Value, more: Value, has_changed: &mut bool) {
        let joined = known.join(more);
        *has_changed |= joined != *known;
        *known = joined;
    }

    /// Notes a store of a value to some bytes of a family.
    fn store(&mut self, family: Family, bytes: Bytes, value: Value) {
        let known = self.stores.entry(family).or_default();
        if !known.contains(&bytes) {
            known.push(bytes);
            self.has_changed = true;
        }
        if bytes.count == self.pointer_bytes() {
            let known = self.stored.entry(family).or_default();
            Provenance::include(known, value, &mut self.has_changed);
        }
    }

    fn assign(&mut self, template: usize, place: &Place, value: Value) {
        if let VariableRef::Global(id) = place.variable
            && self.program.globals[id.index()].addressable
        {
            return self.store(Family::Global(id), self.named_bytes(place), value);
        }
        if place.ty.width != self.program.pointers.width {
            return;
        }
        let known = match place.variable {
            VariableRef::Global(id) => &mut self.globals[id.index()],
            VariableRef::Local(id) => &mut self.locals[template][id.index()],
        };
        Provenance::include(known, value, &mut self.has_changed);
    }

    fn pass(&mut self) {
        let program = self.program;
        for (at, edge) in edges(program) {
            let template = at.template;
            if let Some(mut here) = self.here(at, edge) {
                for effect in &edge.effects {
                    self.effect(template, &here, effect);
                    self.ranges.pass(template, &mut here.known, effect);
                    here.checked.after(effect);
                }
            }
        }
    }

    fn effect(&mut self, template: usize, here: &Here, effect: &Effect) {
        let program = self.program;
        let width = program.pointers.width;
        match effect {
            Effect::Assign { place, value } => {
                let value = if value.width() == width {
                    self.value(template, here, value)
                } else {
                    Value::default()
                };
                self.assign(template, place, value);
            }
            Effect::Store { address, value } => {
                let bytes = self.bytes(template, here, address, value.width());
                let targets = self.points_to.targets(template, address);
                let value = self.value(template, here, value);
                for family in families(&targets) {
                    self.store(family, bytes, value);
                }
            }
            Effect::Allocate { result, .. } => {
                let fresh = Value::ADDRESS.join(self.constant(0));
                self.assign(template, result, fresh);
            }
            Effect::Spawn {
                template: made,
                args,
                result,
                ..
            } => {
                for (param, arg) in args.iter().enumerate() {
                    if arg.width() == width {
                        let value = self.value(template, here, arg);
                        let known = &mut self.locals[made.index()][param];
                        Provenance::include(known, value, &mut self.has_changed);
                    }
                }
                if let Some(place) = result {
                    let number = Value::number(program.max_threads.into());
                    self.assign(template, place, number);
                }
            }
            Effect::Havoc { place, values } => {
                let value = if *values > 0 && *values <= self.most {
                    Value::number(*values)
                } else {
                    Value::OTHER
                };
                self.assign(template, place, value);
            }
            other => {
                for place in other.written_places() {
                    self.assign(template, place, Value::OTHER);
                }
            }
        }
    }

    /// Whether every value used as an address is one that stays in its object.
    fn is_kept(&self) -> bool {
        edges(self.program).all(|(at, edge)| {
            let Some(mut here) = self.here(at, edge) else {
                return true;
            };
            let mut kept = true;
            let mut keep = |here: &Here, address: &Expr| {
                kept &= !self.value(at.template, here, address).is_other;
            };
            // Where a check in the guard fails, nothing is accessed.
            edge.guard
                .walk(&mut |expr| asked(expr, &mut |address| keep(&here, address)));
            for effect in &edge.effects {
                effect.walk(&mut |expr| asked(expr, &mut |address| keep(&here, address)));
                if let Effect::Store { address, .. } | Effect::Free { address } = effect {
                    keep(&here, address);
                }
                self.ranges.pass(at.template, &mut here.known, effect);
                here.checked.after(effect);
            }
            kept
        })
    }

    /// What is known where an edge is taken; none if it never is.
    fn here(&self, at: EdgeRef, edge: &Edge) -> Option<Here> {
        Some(Here {
            checked: CheckedSums::of_guard(self.program, &edge.guard),
            known: self.ranges.on(at.template, at.location, edge)?,
        })
    }
}

/// The address at which an expression looks.
fn asked(expr: &Expr, look: &mut dyn FnMut(&Expr)) {
    if let Expr::Load { address, .. }
    | Expr::ObjectSize(address)
    | Expr::ObjectSite { address, .. } = expr
    {
        look(address);
    }
}

/// Whether a load of the width of a pointer may not be aligned with the groups of bytes of which
/// the contents of memory are known.
fn is_askew(bytes: Bytes, pointer: u64) -> bool {
    match bytes.offset {
        Some(offset) => !offset.is_multiple_of(pointer),
        None => bytes.is_odd,
    }
}

/// The abstract domain of such values combined with ranges, for values of any width.
impl Domain for &Provenance<'_> {
    type Value = (Range, Value);

    fn constant(&mut self, value: u64, width: u8) -> Self::Value {
        (
            Ranges.constant(value, width),
            Provenance::constant(self, value),
        )
    }

    fn unary(&mut self, op: UnaryOp, (arg, _): Self::Value, width: u8) -> Self::Value {
        let range = Ranges.unary(op, arg, width);
        (range, self.limited(Value::number(range.most)))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        (range_a, a): Self::Value,
        (range_b, b): Self::Value,
        width: u8,
    ) -> Self::Value {
        let range = Ranges.binary(op, range_a, range_b, width);
        // A negative offset leads into another object, if only to its end.
        let is_down = |x: Value, y: Value| x.moved.is_some() && y.is_negative;
        let is_followed = !a.is_other
            && !b.is_other
            && match op {
                BinaryOp::Add => {
                    (a.moved.is_none() || b.moved.is_none()) && !is_down(a, b) && !is_down(b, a)
                }
                _ => a.moved.is_none() && b.moved.is_none(),
            };
        let plus = |x: Option<u64>, y: Option<u64>| Some(x?.saturating_add(y?));
        let times = |x: Option<u64>, y: Option<u64>| Some(x?.saturating_mul(y?));
        let value = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if !is_followed => Value::OTHER,
            BinaryOp::Add => Value {
                number: plus(a.number, b.number),
                is_negative: a.is_negative || b.is_negative,
                moved: plus(a.moved, b.number).max(plus(a.number, b.moved)),
                ..Value::default()
            },
            BinaryOp::Sub => Value {
                number: plus(a.number, b.number),
                is_negative: true,
                ..Value::default()
            },
            BinaryOp::Mul => Value {
                number: times(a.number, b.number),
                is_negative: a.is_negative || b.is_negative,
                ..Value::default()
            },
            _ => Value::number(range.most),
        };
        let is_odd = match op {
            BinaryOp::Add | BinaryOp::Sub => a.is_odd || b.is_odd,
            BinaryOp::Mul | BinaryOp::And => a.is_odd && b.is_odd,
            _ => true,
        };
        (range, self.limited(Value { is_odd, ..value }))
    }

    fn resize(&mut self, arg: Self::Value, from: u8, to: u8, signed: bool) -> Self::Value {
        let most = arg.0.most;
        let value = if signed {
            // Either sign, unless the highest bit is known to be 0.
            let half = mask(from) / 2;
            Value {
                is_negative: most > half,
                ..Value::number(most.min(half + 1))
            }
        } else {
            Value::number(most)
        };
        let value = Value {
            is_odd: arg.1.is_odd,
            ..value
        };
        (Ranges.resize(arg.0, from, to, signed), self.limited(value))
    }

    fn truth(&self, _: &Self::Value) -> Option<bool> {
        None
    }

    fn choose(&mut self, _: Self::Value, then: Self::Value, otherwise: Self::Value) -> Self::Value {
        (then.0.join(otherwise.0), then.1.join(otherwise.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mover_ir::expr::Ty;
    use mover_ir::program::{Edge, Location, Template, VariableId};

    fn variable(name: &str, ty: Ty, addressable: bool) -> Variable {
        Variable {
            addressable,
            ..Variable::scalar(name, ty)
        }
    }

    /// A program that moves a pointer to `x` by what it is told, and loads from there.
    fn loading(moved: impl Fn(Expr, Expr, Expr) -> Expr) -> Program {
        let local = |number, ty| Place::scalar(VariableRef::Local(VariableId(number)), ty);
        let (word, pointer) = (Ty::unsigned(32), Ty::unsigned(64));
        let address = Expr::Address {
            variable: VariableId(0),
            width: 64,
        };
        let index = Expr::Read(local(0, word)).resize(64, false);
        let value = moved(address, index, Expr::Read(local(1, pointer)));
        let to = |target, place, value| {
            let effects = vec![Effect::Assign { place, value }];
            Location::with_edges(vec![Edge::new(Expr::TRUE, effects, target, "")])
        };
        let read = Expr::load(Expr::Read(local(1, pointer)), word);
        Program {
            globals: vec![variable("x", word, true)],
            templates: vec![Template::new(
                "t",
                vec![variable("i", word, false), variable("p", pointer, false)],
                vec![to(1, local(1, pointer), value), to(0, local(0, word), read)],
            )],
            max_threads: 2,
            ..Program::default()
        }
    }

    #[test]
    fn pointers_stay_if_they_are_moved_by_little() {
        let add = |a, b| Expr::binary(BinaryOp::Add, a, b);
        let number = |value| Expr::constant(value, 64);
        assert!(pointers_stay(&loading(|x, _, _| x)));
        assert!(pointers_stay(&loading(|x, _, _| add(x, number(4)))));
        assert!(pointers_stay(&loading(|x, i, _| {
            let few = Expr::binary(BinaryOp::And, i, number(3));
            add(x, Expr::binary(BinaryOp::Mul, few, number(4)))
        })));
    }

    #[test]
    fn nothing_is_promised_of_pointers_that_may_leave() {
        let add = |a, b| Expr::binary(BinaryOp::Add, a, b);
        let number = |value| Expr::constant(value, 64);
        // By any index, downwards, further in every round, and by no address at all.
        assert!(!pointers_stay(&loading(|x, i, _| {
            add(x, Expr::binary(BinaryOp::Mul, i, number(4)))
        })));
        assert!(!pointers_stay(&loading(|x, _, _| add(x, number(-4)))));
        assert!(!pointers_stay(&loading(|x, _, p| {
            let further = add(p, number(1 << 28));
            Expr::If(Box::new(Expr::TRUE), Box::new(x), Box::new(further))
        })));
        assert!(!pointers_stay(&loading(|_, i, _| {
            Expr::binary(BinaryOp::Mul, i, number(1 << 20))
        })));
    }
}
