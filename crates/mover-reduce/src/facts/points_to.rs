//! Points-to analysis: the objects that an address may point into.
//!
//! An inclusion-based analysis after Andersen (1994), insensitive to flow, fields and cells:
//! each variable, each allocation site, and all channels together have one set of objects whose
//! addresses they may hold, and the effects of the edges say which sets include which. The
//! least sets are computed by iterating over the edges until nothing changes.
//!
//! Addresses are integers in the IR, and an integer can be computed in any way. The analysis
//! therefore depends on a guarantee ([`Program::pointers_stay`], by the front end or by `pointer_provenance`) and answers
//! "anything" without it. It also answers "anything" where a program with this guarantee uses
//! an address in any other way than copying, adding, subtracting or choosing: that is stricter
//! than the guarantee requires, and costs little precision.
//!
//! Beside the objects, a set has the *offset* of the addresses in their objects, if it is the
//! same for all of them ([`PointsTo::offset`]). For that the analysis also tracks which
//! variables hold one constant.

use std::collections::BTreeSet;

use mover_ir::eval::{Domain, eval};
use mover_ir::expr::{BinaryOp, Expr, Place, ReceiveArg, UnaryOp, VariableRef, mask};
use mover_ir::program::{Effect, Program, SiteId, VariableId};
use mover_ir::semantics::Machine;

/// A number that is the same in every run, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Known {
    /// No value has been seen.
    #[default]
    Nothing,
    Exactly(u64),
    Any,
}

impl Known {
    fn joined(self, other: Known) -> Known {
        match (self, other) {
            (Known::Nothing, known) | (known, Known::Nothing) => known,
            (a, b) if a == b => a,
            _ => Known::Any,
        }
    }

    fn apply(self, other: Known, op: impl Fn(u64, u64) -> u64) -> Known {
        match (self, other) {
            (Known::Nothing, _) | (_, Known::Nothing) => Known::Nothing,
            (Known::Exactly(a), Known::Exactly(b)) => Known::Exactly(op(a, b)),
            _ => Known::Any,
        }
    }
}

/// The objects that a value may be an address of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Targets {
    pub globals: BTreeSet<VariableId>,
    pub sites: BTreeSet<SiteId>,
    /// Whether it may be derived from an address in a way that is not tracked.
    is_mixed: bool,
    /// If it is an address: its distance from the beginning of the object.
    offset: Known,
    /// If it is not an address.
    number: Known,
}

impl Targets {
    /// A variable, at any offset.
    pub(crate) fn of_global(global: VariableId) -> Targets {
        Targets {
            globals: BTreeSet::from([global]),
            offset: Known::Any,
            ..Targets::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.globals.is_empty() && self.sites.is_empty() && !self.is_mixed
    }

    fn add(&mut self, other: Targets) {
        self.globals.extend(other.globals);
        self.sites.extend(other.sites);
        self.is_mixed |= other.is_mixed;
        self.offset = self.offset.joined(other.offset);
        self.number = self.number.joined(other.number);
    }

    /// Not an address, and nothing is known of it.
    fn any_number() -> Targets {
        Targets {
            number: Known::Any,
            ..Targets::default()
        }
    }

    fn joined(mut self, other: Targets) -> Targets {
        self.add(other);
        self
    }

    fn without_number(mut self) -> Targets {
        self.offset = Known::Any;
        self.number = Known::Any;
        self
    }

    /// The result of an operator that is not tracked, applied to such values.
    fn mixed(self) -> Targets {
        Targets {
            is_mixed: !self.is_empty(),
            offset: Known::Any,
            number: Known::Any,
            ..Targets::default()
        }
    }
}

pub struct PointsTo<'p> {
    program: &'p Program,
    /// Whether addresses stay in their objects; without it nothing is known.
    is_known: bool,
    /// By global variable; for addressable variables also their contents.
    globals: Vec<Targets>,
    /// By template and local variable.
    locals: Vec<Vec<Targets>>,
    /// Contents of dynamic objects, by allocation site.
    sites: Vec<Targets>,
    /// Contents of messages.
    messages: Targets,
    anything: Targets,
    /// Sites whose objects get addresses of freed objects.
    reusing: BTreeSet<SiteId>,
}

impl<'p> PointsTo<'p> {
    pub fn new(program: &'p Program) -> Self {
        PointsTo::find(program, program.pointers_stay)
    }

    /// What is true as long as addresses stay in their objects.
    pub fn while_pointers_stay(program: &'p Program) -> Self {
        PointsTo::find(program, true)
    }

    fn find(program: &'p Program, is_known: bool) -> Self {
        let locals = program.templates.iter();
        let addressable = (0..program.globals.len())
            .filter(|&global| program.globals[global].addressable)
            .map(|global| VariableId(global as u32));
        let mut found = PointsTo {
            program,
            is_known,
            // What memory with addresses contains is not tracked as a number.
            globals: (program.globals.iter())
                .map(|variable| match variable.addressable {
                    true => Targets::any_number(),
                    false => Targets::default(),
                })
                .collect(),
            locals: locals
                .map(|template| vec![Targets::default(); template.locals.len()])
                .collect(),
            sites: vec![Targets::any_number(); program.sites.len()],
            messages: Targets::any_number(),
            reusing: program
                .effects()
                .filter_map(|effect| match effect {
                    Effect::Allocate { site, reuse, .. } if *reuse > 0 => Some(*site),
                    _ => None,
                })
                .collect(),
            anything: Targets {
                globals: addressable.collect(),
                sites: (0..program.sites.len() as u32).map(SiteId).collect(),
                is_mixed: true,
                offset: Known::Any,
                number: Known::Any,
            },
        };
        if is_known {
            found.note_initial_values();
            while found.pass() {}
        }
        found
    }

    /// Whether anything is known about addresses.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// The objects that an address, as a template computes it, may point into.
    pub fn targets(&self, template: usize, address: &Expr) -> Targets {
        if !self.is_known {
            return self.anything.clone();
        }
        let found = self.value(template, address);
        if found.is_mixed {
            return self.anything.clone();
        }
        found
    }

    /// Whether an expression is never derived from an address.
    pub(crate) fn is_number(&self, template: usize, expr: &Expr) -> bool {
        self.is_known && self.value(template, expr).is_empty()
    }

    /// The distance of an address from the beginning of the object into which it points, if that is
    /// always the same.
    pub fn offset(&self, template: usize, address: &Expr) -> Option<u64> {
        if !self.is_known {
            return None;
        }
        let found = self.value(template, address);
        match found.offset {
            Known::Exactly(offset) if !found.is_mixed => Some(offset),
            _ => None,
        }
    }

    /// The global whose address an integer is.
    fn constant(&self, value: u64) -> Targets {
        let number = self.program.pointers.object(value);
        let mut addressable = self.anything.globals.iter();
        let global = usize::try_from(number)
            .ok()
            .and_then(|number| addressable.nth(number.checked_sub(1)?));
        let (offset, number) = match global {
            Some(_) => (
                Known::Exactly(self.program.pointers.offset(value)),
                Known::Nothing,
            ),
            None => (Known::Nothing, Known::Exactly(value)),
        };
        Targets {
            globals: global.copied().into_iter().collect(),
            offset,
            number,
            ..Targets::default()
        }
    }

    /// Variables may hold addresses of others from the start.
    fn note_initial_values(&mut self) {
        let program = self.program;
        let layout = program.pointers;
        let machine = Machine::new(program);
        let initial = machine.initial();
        let mut first = 0;
        for (number, variable) in program.globals.iter().enumerate() {
            let len = variable.len as usize;
            let mut found = Targets::default();
            if variable.ty.width == layout.width {
                for &value in &initial.globals[first..first + len] {
                    found.add(self.constant(value));
                }
            } else if variable.addressable {
                let id = VariableId(number as u32);
                let base = layout.address(program.object_of(id));
                let bytes = u64::from(layout.width / 8);
                for group in 0..variable.bytes() / bytes {
                    let address = Expr::Const {
                        value: base + group * bytes,
                        width: layout.width,
                    };
                    let ty = mover_ir::expr::Ty::unsigned(layout.width);
                    let value = machine.eval(&initial, 0, &Expr::load(address, ty));
                    found.add(self.constant(value));
                }
            }
            self.globals[number].add(found);
            first += len;
        }
        for (template, body) in program.templates.iter().enumerate() {
            for (local, variable) in body.locals.iter().enumerate() {
                let found = match &variable.init {
                    mover_ir::program::Init::All(value) => self.constant(*value),
                    mover_ir::program::Init::Cells(values) => values
                        .iter()
                        .fold(Targets::default(), |all, &v| all.joined(self.constant(v))),
                    mover_ir::program::Init::Channels(_) => Targets::default(),
                };
                if variable.ty.width == layout.width {
                    self.locals[template][local].add(found);
                }
            }
        }
        for instance in &program.initial {
            for (param, &arg) in instance.args.iter().enumerate() {
                let found = self.constant(arg);
                self.locals[instance.template.index()][param].add(found);
            }
        }
    }

    /// One iteration over all edges; returns whether a set has grown.
    fn pass(&mut self) -> bool {
        let mut has_grown = false;
        let program = self.program;
        for (template, body) in program.templates.iter().enumerate() {
            let edges = body.locations.iter().flat_map(|location| &location.edges);
            for effect in edges.flat_map(|edge| &edge.effects) {
                has_grown |= self.effect(template, effect);
            }
        }
        has_grown
    }

    fn effect(&mut self, template: usize, effect: &Effect) -> bool {
        match effect {
            Effect::Assign { place, value } => {
                let value = self.value(template, value);
                self.assign(template, place, value)
            }
            Effect::Store { address, value } => {
                // A value narrower than an address is not an address.
                if value.width() != self.program.pointers.width {
                    return false;
                }
                let value = self.value(template, value);
                let targets = self.targets(template, address);
                let mut has_grown = false;
                for global in targets.globals {
                    has_grown |= include(&mut self.globals[global.index()], &value);
                }
                for site in targets.sites {
                    has_grown |= include(&mut self.sites[site.index()], &value);
                }
                has_grown
            }
            Effect::Allocate { site, result, .. } => {
                // It may fail.
                // An old address of another object may have come back, or come back later.
                let mut sites = self.reusing.clone();
                sites.insert(*site);
                let value = Targets {
                    sites,
                    offset: Known::Exactly(0),
                    number: Known::Exactly(0),
                    ..Targets::default()
                };
                self.assign(template, result, value)
            }
            Effect::Send { values, .. } => {
                let mut has_grown = false;
                for value in values {
                    let value = self.value(template, value);
                    has_grown |= include(&mut self.messages, &value);
                }
                has_grown
            }
            Effect::Receive { args, .. } => {
                let mut has_grown = false;
                for arg in args {
                    if let ReceiveArg::Store(place) = arg {
                        let value = self.messages.clone();
                        has_grown |= self.assign(template, place, value);
                    }
                }
                has_grown
            }
            Effect::Spawn {
                template: started,
                args,
                result,
                ..
            } => {
                let mut has_grown = match result {
                    Some(place) => self.assign(template, place, Targets::any_number()),
                    None => false,
                };
                for (param, arg) in args.iter().enumerate() {
                    let value = self.value(template, arg);
                    let param = &mut self.locals[started.index()][param];
                    has_grown |= include(param, &value);
                }
                has_grown
            }
            Effect::Havoc { place, .. } => self.assign(template, place, Targets::any_number()),
            Effect::Free { .. }
            | Effect::Exit
            | Effect::SetPriority { .. }
            | Effect::Print { .. } => false,
        }
    }

    fn assign(&mut self, template: usize, place: &Place, value: Targets) -> bool {
        let variable = match place.variable {
            VariableRef::Global(id) => &mut self.globals[id.index()],
            VariableRef::Local(id) => &mut self.locals[template][id.index()],
        };
        include(variable, &value)
    }

    /// The objects whose addresses an expression may evaluate to.
    fn value(&self, template: usize, expr: &Expr) -> Targets {
        eval(&mut { self }, expr, &mut |_, read| match read {
            Expr::Address { variable, .. } => Targets {
                globals: BTreeSet::from([*variable]),
                offset: Known::Exactly(0),
                ..Targets::default()
            },
            Expr::Read(place) if place.ty.width != self.program.pointers.width => {
                Targets::any_number()
            }
            Expr::Read(place) => match place.variable {
                VariableRef::Global(id) => self.globals[id.index()].clone(),
                VariableRef::Local(id) => self.locals[template][id.index()].clone(),
            },
            Expr::RemoteRead {
                template, variable, ..
            } => self.locals[template.index()][variable.index()].clone(),
            Expr::Load { address, ty } if ty.width == self.program.pointers.width => {
                let targets = self.targets(template, address);
                let globals = targets.globals.iter().map(|id| &self.globals[id.index()]);
                let sites = targets.sites.iter().map(|id| &self.sites[id.index()]);
                globals
                    .chain(sites)
                    .fold(Targets::any_number(), |all, held| all.joined(held.clone()))
            }
            // Numbers, truth values and channels.
            _ => Targets::any_number(),
        })
    }
}

/// The abstract domain of points-to sets.
impl Domain for &PointsTo<'_> {
    type Value = Targets;

    fn constant(&mut self, value: u64, width: u8) -> Targets {
        if width == self.program.pointers.width {
            PointsTo::constant(self, value)
        } else {
            Targets::any_number()
        }
    }

    fn unary(&mut self, _: UnaryOp, arg: Targets, _: u8) -> Targets {
        arg.mixed()
    }

    fn binary(&mut self, op: BinaryOp, lhs: Targets, rhs: Targets, width: u8) -> Targets {
        let fits = |value: u64| value & mask(width);
        let plus = |a: u64, b: u64| fits(a.wrapping_add(b));
        let minus = |a: u64, b: u64| fits(a.wrapping_sub(b));
        match op {
            BinaryOp::Add | BinaryOp::Sub if width == self.program.pointers.width => {
                let is_sum = op == BinaryOp::Add;
                let (offset, number) = if is_sum {
                    let left = lhs.offset.apply(rhs.number, plus);
                    let right = lhs.number.apply(rhs.offset, plus);
                    (left.joined(right), lhs.number.apply(rhs.number, plus))
                } else {
                    let moved = lhs.offset.apply(rhs.number, minus);
                    (moved, lhs.number.apply(rhs.number, minus))
                };
                // A combination of two addresses.
                let is_both = !lhs.is_empty() && !rhs.is_empty();
                let is_less = !is_sum && !rhs.is_empty();
                let mut joined = lhs.joined(rhs);
                joined.offset = if is_both || is_less {
                    Known::Any
                } else {
                    offset
                };
                joined.number = if is_less { Known::Any } else { number };
                joined
            }
            BinaryOp::Add | BinaryOp::Sub => lhs.joined(rhs).without_number(),
            _ if op.is_comparison() => Targets::any_number(),
            _ => lhs.joined(rhs).mixed(),
        }
    }

    fn resize(&mut self, arg: Targets, _: u8, _: u8, _: bool) -> Targets {
        arg.mixed()
    }

    fn truth(&self, _: &Targets) -> Option<bool> {
        None
    }

    fn choose(&mut self, _: Targets, then: Targets, otherwise: Targets) -> Targets {
        then.joined(otherwise)
    }
}

/// Makes a set include another; returns whether it has grown.
fn include(set: &mut Targets, other: &Targets) -> bool {
    let size = |set: &Targets| {
        let objects = (set.globals.len(), set.sites.len(), set.is_mixed);
        (objects, set.offset, set.number)
    };
    let before = size(set);
    set.add(other.clone());
    size(set) != before
}
