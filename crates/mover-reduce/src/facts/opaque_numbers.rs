//! Object numbers that the program cannot observe.
//!
//! A new object takes the lowest free number ([`Effect::Allocate`]). So two allocations do not
//! commute: in the other order the two objects have each other's numbers. Most programs cannot
//! tell. They use addresses to access objects, copy them, compare them for equality, and move them
//! inside of their objects. In such a program the numbers are *opaque*, and a state behaves like
//! every state that is the same but for the numbers of its dynamic objects.
//!
//! More precisely, let p be a one-to-one map on the numbers of dynamic objects, and p(s) the state
//! s with each number n replaced by p(n): for the objects themselves and in every address that a
//! cell holds. If numbers are opaque, then (s, p(s)) is a bisimulation that keeps locations and
//! therefore errors: guards have the same truth in both, effects lead to states that are related
//! again, and a new object extends p by its number. Lipton's theory holds in the quotient by this
//! relation, and there an allocation commutes with everything that other threads do. A search may
//! represent a class by any of its states. So with opaque numbers, nothing that an edge does to
//! them ([`crate::facts::access::Object::Numbers`]) keeps it from being a mover.
//!
//! There is one exception: numbers can be exhausted. An allocation that fails for this reason may
//! succeed in the other order. But numbers are a limit of the encoding and not of the program; a
//! run that the reduction leaves out because of it corresponds to one with enough numbers, and that
//! one is explored.
//!
//! **How it is decided.** Each variable and each family of objects (a global with an address, or
//! the dynamic objects of a site) has a set of [`Kind`]s of values. Every expression must be
//! *equivariant*: it may use an address only
//!
//! - as what is loaded, stored or freed at, or asked about with its offset (see below);
//! - in an equality with another address or with a number that is never an address;
//! - in a sum with a number;
//! - by its offset: through a mask or a change of width that cuts off the number;
//! - in the comparison by which front ends check that a sum stays with its object,
//!   `(a + c) ^ (a + x + c) < 2^offset_bits`: both sides have the same base, so its truth depends
//!   on the offset of a and on x alone.
//!
//! A sum of an address and a number that was not checked in this way, and whose offset is not
//! known, may have another object's number: it is *far*, and must not be compared.
//!
//! A question about the object of an address (its size, its site) has the same answer for all
//! numbers if the address points into the object. In front of the object it has the number of
//! another one. So the question must be asked together with the offset: a size is compared with
//! the offset, which is larger than any size in front of the object, and a site is asked of
//! addresses with offset 0 or with an offset that was compared with the size.
//!
//! Bytes of an address must not be accessed one by one. So an access to a family that is narrower
//! than a pointer, or at another offset, must not overlap with one that may store an address.

use mover_ir::eval::{Range, Ranges, eval};
use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef, mask};
use mover_ir::literal::{Literal, flatten};
use mover_ir::program::{Effect, Init, Program, Variable};

use crate::facts::checked_sums::{CheckedSums, is_unchanged, sides_of_check, terms};
use crate::facts::points_to::{PointsTo, Targets};

/// What a value may be; a set of the four constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Kind(u8);

impl Kind {
    /// A number that is never the address of a dynamic object.
    const OUTSIDE: Kind = Kind(1);
    /// A number that may be equal to such an address, but is not derived from one.
    const NUMBER: Kind = Kind(2);
    /// The address of a dynamic object, or one in the room around it.
    const ADDRESS: Kind = Kind(4);
    /// An address plus an offset that was not checked.
    const FAR: Kind = Kind(8);

    fn or(self, other: Kind) -> Kind {
        Kind(self.0 | other.0)
    }

    fn has(self, other: Kind) -> bool {
        self.0 & other.0 != 0
    }

    fn is_derived(self) -> bool {
        self.has(Kind::ADDRESS.or(Kind::FAR))
    }
}

/// An access to memory with addresses.
struct Access {
    targets: Targets,
    offset: Option<u64>,
    bytes: u64,
    stores_address: bool,
}

struct Analysis<'p> {
    program: &'p Program,
    points_to: PointsTo<'p>,
    /// By variable; of addressable ones the contents.
    globals: Vec<Kind>,
    locals: Vec<Vec<Kind>>,
    /// Contents of objects, by site.
    sites: Vec<Kind>,
    has_changed: bool,
    is_observed: bool,
    accesses: Vec<Access>,
}

/// What surrounds an expression.
struct Context<'e> {
    template: usize,
    /// Sums that the guard has checked.
    checked: &'e CheckedSums,
    /// Addresses that point into their objects if the expression matters.
    inside: &'e [Expr],
}

/// Whether no behaviour of the program depends on the numbers of its dynamic objects.
pub fn numbers_are_opaque(program: &Program) -> bool {
    let uses_channels = program
        .effects()
        .any(|effect| matches!(effect, Effect::Send { .. } | Effect::Receive { .. }));
    // Which freed number comes back depends on the order of numbers.
    let reuses = program
        .effects()
        .any(|effect| matches!(effect, Effect::Allocate { reuse: 1.., .. }));
    if !program.pointers_stay || uses_channels || reuses {
        return false;
    }
    let mut analysis = Analysis {
        program,
        points_to: PointsTo::new(program),
        globals: Vec::new(),
        locals: Vec::new(),
        sites: vec![Kind::OUTSIDE; program.sites.len()],
        has_changed: true,
        is_observed: false,
        accesses: Vec::new(),
    };
    analysis.globals = program
        .globals
        .iter()
        .map(|v| analysis.initial(v))
        .collect();
    let locals = |body: &mover_ir::program::Template| {
        let locals = body.locals.iter();
        locals.map(|v| analysis.initial(v)).collect()
    };
    analysis.locals = program.templates.iter().map(locals).collect();
    for instance in &program.initial {
        for (param, &arg) in instance.args.iter().enumerate() {
            let kind = analysis.constant(arg);
            let known = &mut analysis.locals[instance.template.index()][param];
            *known = known.or(kind);
        }
    }
    while analysis.has_changed && !analysis.is_observed {
        analysis.has_changed = false;
        analysis.accesses.clear();
        analysis.pass();
    }
    !analysis.is_observed && !analysis.has_torn_addresses()
}

impl Analysis<'_> {
    fn constant(&self, value: u64) -> Kind {
        let layout = self.program.pointers;
        let object = layout.object(value);
        let is_dynamic =
            object > self.program.addressable_globals() && object <= layout.last_dynamic_object();
        if is_dynamic {
            Kind::NUMBER
        } else {
            Kind::OUTSIDE
        }
    }

    fn initial(&self, variable: &Variable) -> Kind {
        match &variable.init {
            _ if variable.ty.width != self.program.pointers.width && !variable.addressable => {
                Kind::OUTSIDE
            }
            Init::All(0) => Kind::OUTSIDE,
            Init::All(value) if variable.ty.width == self.program.pointers.width => {
                self.constant(*value)
            }
            Init::Cells(values) if variable.ty.width == self.program.pointers.width => values
                .iter()
                .fold(Kind::default(), |all, &value| all.or(self.constant(value))),
            // Narrow cells of an object can together be any number.
            _ => Kind::NUMBER,
        }
    }

    fn pass(&mut self) {
        let program = self.program;
        for (template, body) in program.templates.iter().enumerate() {
            for edge in body.locations.iter().flat_map(|location| &location.edges) {
                let mut checked = Guarded::new(program, &edge.guard);
                self.plain(template, &checked, &edge.guard);
                for effect in &edge.effects {
                    self.effect(template, &checked, &edge.guard, effect);
                    checked.after(effect);
                }
            }
        }
    }

    fn effect(&mut self, template: usize, checked: &Guarded, guard: &Expr, effect: &Effect) {
        for place in effect.written_places() {
            self.plain(template, checked, &place.index);
        }
        match effect {
            Effect::Assign { place, value } => {
                let kind = self.value(template, checked, value);
                self.assign(template, place, kind);
            }
            Effect::Store { address, value } => {
                self.value(template, checked, address);
                let kind = self.value(template, checked, value);
                let targets = self.points_to.targets(template, address);
                // Narrow values next to each other can together be any number.
                let stored = if value.width() == self.program.pointers.width {
                    kind
                } else {
                    Kind::NUMBER
                };
                for &site in &targets.sites {
                    include(&mut self.sites[site.index()], stored, &mut self.has_changed);
                }
                for &global in &targets.globals {
                    include(
                        &mut self.globals[global.index()],
                        stored,
                        &mut self.has_changed,
                    );
                }
                self.access(template, address, targets, value.width(), kind.is_derived());
            }
            Effect::Havoc { place, values } => {
                let layout = self.program.pointers;
                let is_small = *values > 0 && layout.object(*values - 1) == 0;
                let kind = if place.ty.width != layout.width || is_small {
                    Kind::OUTSIDE
                } else {
                    Kind::NUMBER
                };
                self.assign(template, place, kind);
            }
            Effect::Allocate { size, result, .. } => {
                self.plain(template, checked, size);
                self.assign(template, result, Kind::ADDRESS.or(Kind::OUTSIDE));
            }
            Effect::Free { address } => {
                let kind = self.value(template, checked, address);
                let is_asked = mentions_start_of(self.program, guard, address);
                let is_known = self.points_to.offset(template, address).is_some();
                self.is_observed |= kind.is_derived() && !is_asked && !is_known;
            }
            Effect::Spawn {
                template: started,
                args,
                result,
                ..
            } => {
                for (param, arg) in args.iter().enumerate() {
                    let kind = self.value(template, checked, arg);
                    let known = &mut self.locals[started.index()][param];
                    include(known, kind, &mut self.has_changed);
                }
                if let Some(place) = result {
                    self.assign(template, place, Kind::OUTSIDE);
                }
            }
            Effect::SetPriority { thread, priority } => {
                self.plain(template, checked, thread);
                self.plain(template, checked, priority);
            }
            // What is printed is seen by people only.
            Effect::Exit | Effect::Print { .. } => {}
            Effect::Send { .. } | Effect::Receive { .. } => self.is_observed = true,
        }
    }

    fn assign(&mut self, template: usize, place: &Place, kind: Kind) {
        match place.variable {
            VariableRef::Global(id) => {
                self.named(place, kind.is_derived());
                let is_narrow = place.ty.width != self.program.pointers.width;
                let is_memory = self.program.globals[id.index()].addressable;
                let kind = if is_narrow && is_memory {
                    Kind::NUMBER
                } else {
                    kind
                };
                include(&mut self.globals[id.index()], kind, &mut self.has_changed);
            }
            VariableRef::Local(id) => {
                let known = &mut self.locals[template][id.index()];
                include(known, kind, &mut self.has_changed);
            }
        }
    }

    /// The kinds of an expression's values.
    fn value(&mut self, template: usize, checked: &Guarded, expr: &Expr) -> Kind {
        let context = Context {
            template,
            checked: &checked.sums,
            inside: &checked.inside,
        };
        self.kind(&context, expr)
    }

    /// An expression that must not depend on numbers of objects.
    fn plain(&mut self, template: usize, checked: &Guarded, expr: &Expr) {
        let kind = self.value(template, checked, expr);
        self.is_observed |= kind.is_derived();
    }

    fn kind(&mut self, context: &Context, expr: &Expr) -> Kind {
        let layout = self.program.pointers;
        match expr {
            Expr::Const { value, width } if *width == layout.width => self.constant(*value),
            Expr::Read(place) => {
                self.only_plain(context, &place.index);
                self.read(context.template, place)
            }
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => {
                self.only_plain(context, thread);
                self.only_plain(context, index);
                self.locals[template.index()][variable.index()]
            }
            Expr::Unary(UnaryOp::Not, arg) if arg.width() == 1 => self.condition(context, expr),
            Expr::Unary(_, arg) | Expr::ThreadPriority(arg) => {
                self.only_plain(context, arg);
                self.number(expr)
            }
            Expr::Binary(op, lhs, rhs) => self.binary(context, expr, *op, lhs, rhs),
            Expr::If(condition, then, otherwise) => {
                self.only_plain(context, condition);
                let then = self.kind(context, then);
                then.or(self.kind(context, otherwise))
            }
            Expr::Resize { arg, width, .. } => {
                let kind = self.kind(context, arg);
                self.is_observed |= kind.is_derived() && *width > layout.offset_bits;
                if arg.width() <= layout.offset_bits || *width < layout.width {
                    // The number is 0 or, if it is negative, above those of dynamic objects.
                    Kind::OUTSIDE
                } else {
                    self.number(expr)
                }
            }
            Expr::Load { address, ty } => {
                self.kind(context, address);
                let targets = self.points_to.targets(context.template, address);
                let mut kind = Kind::OUTSIDE;
                for site in &targets.sites {
                    kind = kind.or(self.sites[site.index()]);
                }
                for global in &targets.globals {
                    kind = kind.or(self.globals[global.index()]);
                }
                self.access(context.template, address, targets, ty.width, false);
                if ty.width == layout.width {
                    kind
                } else {
                    Kind::OUTSIDE
                }
            }
            Expr::ObjectSize(address) => {
                let kind = self.kind(context, address);
                let offset = self.points_to.offset(context.template, address);
                self.is_observed |= kind.is_derived() && offset.is_none();
                Kind::OUTSIDE
            }
            Expr::ObjectSite { address, .. } => {
                let kind = self.kind(context, address);
                let offset = self.points_to.offset(context.template, address);
                let is_asked = context.inside.contains(address);
                self.is_observed |= kind.is_derived() && offset.is_none() && !is_asked;
                Kind::OUTSIDE
            }
            Expr::ThreadAt { thread, .. } => {
                self.only_plain(context, thread);
                Kind::OUTSIDE
            }
            Expr::Const { .. } | Expr::ThreadId | Expr::ThreadCount | Expr::Address { .. } => {
                Kind::OUTSIDE
            }
            Expr::Channel(_)
            | Expr::ChannelExists(_)
            | Expr::ChannelLen(_)
            | Expr::ChannelCapacity(_)
            | Expr::CanReceive { .. }
            | Expr::Timeout => {
                self.is_observed = true;
                Kind::OUTSIDE
            }
        }
    }

    fn only_plain(&mut self, context: &Context, expr: &Expr) {
        let kind = self.kind(context, expr);
        self.is_observed |= kind.is_derived();
    }

    fn binary(
        &mut self,
        context: &Context,
        expr: &Expr,
        op: BinaryOp,
        lhs: &Expr,
        rhs: &Expr,
    ) -> Kind {
        let layout = self.program.pointers;
        if lhs.width() == 1 && matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.condition(context, expr);
        }
        if let Some((a, b)) = sides_of_check(self.program, expr)
            && self.is_moved(context, a, b)
        {
            return Kind::OUTSIDE;
        }
        if let Some(address) = offset_within_size(self.program, expr) {
            self.kind(context, address);
            return Kind::OUTSIDE;
        }
        let (left, right) = (self.kind(context, lhs), self.kind(context, rhs));
        let is_derived = left.is_derived() || right.is_derived();
        match op {
            _ if !is_derived => self.number(expr),
            BinaryOp::Eq | BinaryOp::Ne => {
                let is_confused = |a: Kind, b: Kind| {
                    a.has(Kind::FAR) || (a.has(Kind::ADDRESS) && b.has(Kind::NUMBER))
                };
                self.is_observed |= is_confused(left, right) || is_confused(right, left);
                Kind::OUTSIDE
            }
            BinaryOp::Add | BinaryOp::Sub
                if !(left.is_derived() && right.is_derived())
                    && (op == BinaryOp::Add || left.is_derived()) =>
            {
                let offset = self.points_to.offset(context.template, expr);
                let stays = offset.is_some_and(|offset| offset <= layout.max_object_size())
                    || context.checked.of(expr).is_some();
                let moved = if stays { Kind::ADDRESS } else { Kind::FAR };
                // What is no address may become any number.
                let numbers = Kind::OUTSIDE.or(Kind::NUMBER);
                let also = if left.has(numbers) && right.has(numbers) && !stays {
                    Kind::NUMBER
                } else {
                    Kind::OUTSIDE
                };
                moved.or(also)
            }
            BinaryOp::And => {
                let is_offset = |expr: &Expr| {
                    let value = expr.as_const();
                    value.is_some_and(|value| value <= mask(layout.offset_bits))
                };
                self.is_observed |= !is_offset(lhs) && !is_offset(rhs);
                Kind::OUTSIDE
            }
            _ => {
                self.is_observed = true;
                Kind::NUMBER
            }
        }
    }

    /// A truth value, as a conjunction where it is one.
    fn condition(&mut self, context: &Context, expr: &Expr) -> Kind {
        let mut literals = Vec::new();
        flatten(expr, true, &mut literals);
        let mut inside = addresses_inside(self.program, &literals);
        inside.extend_from_slice(context.inside);
        let inner = Context {
            inside: &inside,
            ..*context
        };
        for literal in &literals {
            match &literal.condition {
                // A disjunction, or a negated conjunction.
                condition @ Expr::Binary(BinaryOp::And | BinaryOp::Or, lhs, rhs)
                    if lhs.width() == 1 =>
                {
                    if condition == expr {
                        self.only_plain(context, lhs);
                        self.only_plain(context, rhs);
                    } else {
                        self.condition(&inner, condition);
                    }
                }
                condition => self.only_plain(&inner, condition),
            }
        }
        Kind::OUTSIDE
    }

    /// Whether `b` is `a` plus something, `a` has one address as its base, and nothing else is derived
    /// from addresses.
    fn is_moved(&mut self, context: &Context, a: &Expr, b: &Expr) -> bool {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        terms(a, &mut of_a);
        terms(b, &mut of_b);
        let derived: Vec<Expr> = (of_a.iter())
            .filter(|term| self.kind(context, term).is_derived())
            .map(|&term| term.clone())
            .collect();
        let [base] = &derived[..] else {
            return false;
        };
        let mut bases = 0;
        for term in of_b {
            if term == base {
                bases += 1;
            } else if self.kind(context, term).is_derived() {
                return false;
            }
        }
        bases == 1 && of_a.iter().filter(|&&term| term == base).count() == 1
    }

    /// The kind of a number that is not derived from an address.
    fn number(&self, expr: &Expr) -> Kind {
        let layout = self.program.pointers;
        if expr.width() != layout.width {
            return Kind::OUTSIDE;
        }
        let range = eval(&mut Ranges, expr, &mut |_, read| Range::all(read.width()));
        if layout.object(range.most) == 0 {
            Kind::OUTSIDE
        } else {
            Kind::NUMBER
        }
    }

    fn read(&mut self, template: usize, place: &Place) -> Kind {
        let kind = match place.variable {
            VariableRef::Global(id) => {
                self.named(place, false);
                self.globals[id.index()]
            }
            VariableRef::Local(id) => self.locals[template][id.index()],
        };
        if place.ty.width == self.program.pointers.width {
            kind
        } else {
            Kind::OUTSIDE
        }
    }

    /// Notes an access by name to a variable that has an address.
    fn named(&mut self, place: &Place, stores_address: bool) {
        let VariableRef::Global(id) = place.variable else {
            return;
        };
        if self.program.globals[id.index()].addressable {
            let bytes = u64::from(place.ty.width / 8);
            self.accesses.push(Access {
                targets: Targets::of_global(id),
                offset: (place.index.as_const()).map(|index| index.wrapping_mul(bytes)),
                bytes,
                stores_address,
            });
        }
    }

    fn access(
        &mut self,
        template: usize,
        address: &Expr,
        targets: Targets,
        width: u8,
        stores_address: bool,
    ) {
        self.accesses.push(Access {
            targets,
            offset: self.points_to.offset(template, address),
            bytes: u64::from(width / 8),
            stores_address,
        });
    }

    /// Whether a part of an address may be accessed without the rest.
    fn has_torn_addresses(&self) -> bool {
        let stores: Vec<&Access> = self.accesses.iter().filter(|a| a.stores_address).collect();
        self.accesses.iter().any(|access| {
            stores.iter().any(|store| {
                let shares = !access.targets.sites.is_disjoint(&store.targets.sites)
                    || !access.targets.globals.is_disjoint(&store.targets.globals);
                let overlaps = match (access.offset, store.offset) {
                    (Some(a), Some(b)) => {
                        let is_same = a == b && access.bytes == store.bytes;
                        !is_same
                            && (a.wrapping_sub(b) < store.bytes || b.wrapping_sub(a) < access.bytes)
                    }
                    _ => true,
                };
                shares && overlaps
            })
        })
    }
}

fn include(known: &mut Kind, more: Kind, has_changed: &mut bool) {
    let joined = known.or(more);
    *has_changed |= joined != *known;
    *known = joined;
}

/// The address whose offset, plus a constant, is compared with the size of its object.
fn offset_within_size<'e>(program: &Program, expr: &'e Expr) -> Option<&'e Expr> {
    let Expr::Binary(BinaryOp::ULe | BinaryOp::ULt, lhs, rhs) = expr else {
        return None;
    };
    let Expr::ObjectSize(address) = &**rhs else {
        return None;
    };
    let offset = match &**lhs {
        Expr::Binary(BinaryOp::Add, offset, by) if is_small(program, by, address) => offset,
        _ => lhs,
    };
    (masked(program, offset)? == &**address).then_some(address)
}

/// Whether a number of bytes cannot lead from the room in front of an object into it: a constant, or a
/// choice between constants by the site of the object.
fn is_small(program: &Program, bytes: &Expr, of: &Expr) -> bool {
    match bytes {
        Expr::If(condition, then, otherwise) => {
            matches!(&**condition, Expr::ObjectSite { address, .. } if **address == *of)
                && is_small(program, then, of)
                && is_small(program, otherwise, of)
        }
        _ => (bytes.as_const()).is_some_and(|bytes| bytes <= program.pointers.room_before()),
    }
}

/// The address of which an expression is the offset.
fn masked<'e>(program: &Program, expr: &'e Expr) -> Option<&'e Expr> {
    let Expr::Binary(BinaryOp::And, lhs, rhs) = expr else {
        return None;
    };
    (rhs.as_const()? == mask(program.pointers.offset_bits)).then_some(lhs)
}

/// The address that a condition requires to have offset 0.
fn start_of<'e>(program: &Program, condition: &'e Expr) -> Option<&'e Expr> {
    match condition {
        Expr::Binary(BinaryOp::Eq, lhs, rhs) if rhs.as_const() == Some(0) => masked(program, lhs),
        _ => None,
    }
}

/// The addresses that literals put into their objects: at their beginning or within their size.
fn addresses_inside(program: &Program, literals: &[Literal]) -> Vec<Expr> {
    let literals = literals.iter().filter(|literal| literal.holds);
    literals
        .filter_map(|Literal { condition, .. }| {
            start_of(program, condition).or_else(|| offset_within_size(program, condition))
        })
        .cloned()
        .collect()
}

/// What the guard of an edge has checked, as far as it still holds.
struct Guarded {
    sums: CheckedSums,
    inside: Vec<Expr>,
}

impl Guarded {
    fn new(program: &Program, guard: &Expr) -> Guarded {
        let mut literals = Vec::new();
        flatten(guard, true, &mut literals);
        Guarded {
            sums: CheckedSums::of_guard(program, guard),
            inside: addresses_inside(program, &literals),
        }
    }

    fn after(&mut self, effect: &Effect) {
        self.sums.after(effect);
        self.inside.retain(|address| is_unchanged(address, effect));
    }
}

/// Whether the guard asks if an address has offset 0, as front ends do before they free it.
fn mentions_start_of(program: &Program, guard: &Expr, address: &Expr) -> bool {
    let mut found = false;
    guard.walk(&mut |part| found |= start_of(program, part) == Some(address));
    found
}
