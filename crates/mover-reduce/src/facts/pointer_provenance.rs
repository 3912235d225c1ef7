//! Whether pointers stay in their objects, derived from the program.
//!
//! Points-to analysis relies on [`Program::pointers_stay`]: an address that points into an
//! object was computed from an address of that object. A front end whose addresses are plain
//! integers cannot guarantee this in general, because a large enough index leads from one
//! object into another. For many programs it can be proved: everything that they use as an
//! address is an address of an object plus integers too small to reach another object.
//!
//! The abstract value is an upper bound on an integer, or the address of some object plus an
//! offset with an upper bound. The distance between objects is the range of offsets; so an
//! integer below that distance is not the address of an object, and an address plus a smaller
//! offset is not the address of another object. Sums of variables that depend on themselves
//! grow until they exceed the bound; then nothing is guaranteed.

use mover_ir::eval::{Domain, Range, Ranges, eval};
use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef, mask};
use mover_ir::program::{Effect, Init, Program, Variable};

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
}

impl Value {
    const OTHER: Value = Value {
        number: None,
        is_negative: false,
        moved: None,
        is_other: true,
    };

    const ADDRESS: Value = Value {
        number: None,
        is_negative: false,
        moved: Some(0),
        is_other: false,
    };

    fn number(most: u64) -> Value {
        Value {
            number: Some(most),
            ..Value::default()
        }
    }

    fn join(self, other: Value) -> Value {
        Value {
            number: self.number.max(other.number),
            is_negative: self.is_negative || other.is_negative,
            moved: self.moved.max(other.moved),
            is_other: self.is_other || other.is_other,
        }
    }
}

struct Provenance<'p> {
    program: &'p Program,
    globals: Vec<Value>,
    /// By template and variable.
    locals: Vec<Vec<Value>>,
    /// The values stored in objects.
    stored: Value,
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
    let width = program.pointers.width;
    let room = program.pointers.max_object_size();
    let Some(most) = mask(program.pointers.offset_bits)
        .checked_sub(room)
        .filter(|&most| most > 0)
    else {
        return false;
    };
    let mut staying = Provenance {
        program,
        globals: Vec::new(),
        locals: Vec::new(),
        stored: Value::default(),
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
    // A value stored in parts cannot be loaded as a whole.
    let narrow = program
        .effects()
        .any(|effect| matches!(effect, Effect::Store { value, .. } if value.width() != width));
    let begins = program.globals.iter().enumerate();
    for (number, variable) in begins.filter(|(_, variable)| variable.addressable) {
        let value = if narrow || variable.ty.width != width && !is_zero(variable) {
            Value::OTHER
        } else {
            staying.globals[number]
        };
        staying.stored = staying.stored.join(value);
    }
    if narrow {
        staying.stored = Value::OTHER;
    }
    for _ in 0..ROUNDS {
        staying.has_changed = false;
        staying.pass();
        if !staying.has_changed {
            return staying.is_kept();
        }
    }
    false
}

fn is_zero(variable: &Variable) -> bool {
    match &variable.init {
        Init::All(value) => *value == 0,
        Init::Cells(values) => values.iter().all(|value| *value == 0),
        Init::Channels(_) => false,
    }
}

impl Provenance<'_> {
    /// A constant may be an address written by the front end.
    fn constant(&self, value: u64) -> Value {
        let pointers = self.program.pointers;
        let object = pointers.object(value);
        let signed = mover_ir::expr::sign_extend(value, pointers.width);
        let live = self.program.addressable_globals();
        if object == 0 {
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

    /// The value, or "other" if it exceeds the bound.
    fn limited(&self, value: Value) -> Value {
        let is_large = |most: Option<u64>| most.is_some_and(|most| most > self.most);
        if is_large(value.number) || is_large(value.moved) || value.is_other {
            Value::OTHER
        } else {
            value
        }
    }

    fn value(&self, template: usize, expr: &Expr) -> Value {
        let (_, value) = eval(&mut { self }, expr, &mut |_, read| {
            let range = Range::all(read.width());
            let value = match read {
                Expr::Address { .. } => Value::ADDRESS,
                Expr::Read(place) => self.variable(template, place),
                Expr::Load { .. } => self.stored,
                _ => self.limited(Value::number(range.most)),
            };
            (range, value)
        });
        value
    }

    fn variable(&self, template: usize, place: &Place) -> Value {
        match place.variable {
            VariableRef::Global(id) if self.program.globals[id.index()].addressable => self.stored,
            VariableRef::Global(id) => self.globals[id.index()],
            VariableRef::Local(id) => self.locals[template][id.index()],
        }
    }

    fn include(known: &mut Value, more: Value, has_changed: &mut bool) {
        let joined = known.join(more);
        *has_changed |= joined != *known;
        *known = joined;
    }

    fn assign(&mut self, template: usize, place: &Place, value: Value) {
        if place.ty.width != self.program.pointers.width {
            return;
        }
        let known = match place.variable {
            VariableRef::Global(id) if self.program.globals[id.index()].addressable => {
                &mut self.stored
            }
            VariableRef::Global(id) => &mut self.globals[id.index()],
            VariableRef::Local(id) => &mut self.locals[template][id.index()],
        };
        Provenance::include(known, value, &mut self.has_changed);
    }

    fn pass(&mut self) {
        let program = self.program;
        let width = program.pointers.width;
        for (template, body) in program.templates.iter().enumerate() {
            let edges = body.locations.iter().flat_map(|location| &location.edges);
            for effect in edges.flat_map(|edge| &edge.effects) {
                match effect {
                    Effect::Assign { place, value } if value.width() == width => {
                        let value = self.value(template, value);
                        self.assign(template, place, value);
                    }
                    Effect::Store { value, .. } if value.width() == width => {
                        let value = self.value(template, value);
                        Provenance::include(&mut self.stored, value, &mut self.has_changed);
                    }
                    Effect::Allocate { result, .. } => {
                        let fresh = Value::ADDRESS.join(Value::number(0));
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
                                let value = self.value(template, arg);
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
        }
    }

    /// Whether every value used as an address is one that stays in its object.
    fn is_kept(&self) -> bool {
        let mut kept = true;
        for (template, body) in self.program.templates.iter().enumerate() {
            let mut look = |expr: &Expr| {
                if let Expr::Load { address, .. }
                | Expr::ObjectSize(address)
                | Expr::ObjectSite { address, .. } = expr
                {
                    kept &= !self.value(template, address).is_other;
                }
            };
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                edge.guard.walk(&mut look);
                for effect in &edge.effects {
                    effect.walk(&mut look);
                }
            }
            let edges = body.locations.iter().flat_map(|location| &location.edges);
            for effect in edges.flat_map(|edge| &edge.effects) {
                if let Effect::Store { address, .. } | Effect::Free { address } = effect {
                    kept &= !self.value(template, address).is_other;
                }
            }
        }
        kept
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
                is_other: false,
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
        (range, self.limited(value))
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
