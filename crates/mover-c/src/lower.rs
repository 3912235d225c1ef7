//! From bodies of code to automata.
//!
//! A location of the automaton is a point of the code just before a *shared
//! access*: one load, store, atomic operation or library primitive that other
//! threads can notice. An edge does that one access and then everything that is
//! local, up to the next one. So an edge never does two things that another
//! thread could come between, and local computation costs nothing.
//!
//! The edges from a location are found by running the code symbolically from
//! there ([`Path`]): values are expressions over the local variables as they are
//! when the edge begins. A branch splits the path, its condition goes into the
//! guard. Where a path comes back to a block that it has passed, or where too
//! many paths meet, it is cut: the block gets a location of its own.
//!
//! A value that is needed behind a location has a local variable (a *slot*).
//! Slots of the same C variable that are never needed together are one local
//! variable, and a slot that is not needed any more is set to 0: states that
//! differ only in what nobody will read are one state.
//!
//! An expression has two readings: `now`, after the effects that the edge has
//! had so far, and `pre`, before all of them, which guards need. Usually they are
//! the same; where a store comes between, `now` is saved in a temporary first.
//!
//! A location from which only local steps lead, and not round in a circle, is
//! made atomic: no other thread can tell the difference.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef, mask};
use mover_ir::program::{
    CellNames, Edge, Effect, ErrorMark, Init, Location, LocationId, Property, Template, Variable,
    VariableId,
};

use crate::build::{self, binary, choose, constant, equal, not, resize, rewrite};
use crate::flatten::{Body, Problem};
use crate::objects::{Object, parts};
use crate::ssa::*;
use crate::world::World;

/// Most paths from one location before blocks where ways join become locations.
const MOST_PATHS: usize = 48;

/// Expressions larger than this are computed into a temporary.
const LARGEST: usize = 48;

/// Where in an atomic section a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mode {
    Outside,
    /// In a section that has not accessed anything yet.
    Begun,
    Inside,
}

/// A place of the code where a thread can stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Point {
    block: BlockId,
    /// The next instruction; their number for the terminator.
    index: usize,
    mode: Mode,
}

/// One scalar in its two readings.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    pub now: Expr,
    before: Before,
}

#[derive(Clone, PartialEq, Debug)]
enum Before {
    Same,
    Is(Expr),
    /// It depends on what the edge has done already.
    Lost,
}

impl Part {
    pub fn same(now: Expr) -> Part {
        Part {
            now,
            before: Before::Same,
        }
    }

    pub fn pre(&self) -> Option<&Expr> {
        match &self.before {
            Before::Same => Some(&self.now),
            Before::Is(expr) => Some(expr),
            Before::Lost => None,
        }
    }

    pub fn combine(parts: &[&Part], f: impl Fn(&[Expr]) -> Expr) -> Part {
        let now: Vec<Expr> = parts.iter().map(|part| part.now.clone()).collect();
        let before = if parts.iter().all(|part| part.before == Before::Same) {
            Before::Same
        } else {
            let pre: Option<Vec<Expr>> = parts.iter().map(|part| part.pre().cloned()).collect();
            match pre {
                Some(pre) => Before::Is(f(&pre)),
                None => Before::Lost,
            }
        };
        Part {
            now: f(&now),
            before,
        }
    }

    pub fn map(&self, f: impl Fn(Expr) -> Expr) -> Part {
        Part::combine(&[self], |args| f(args[0].clone()))
    }
}

/// A run of the code from a location on.
#[derive(Clone)]
pub struct Path {
    block: BlockId,
    index: usize,
    mode: Mode,
    env: HashMap<ValueId, Vec<Part>>,
    pub guard: Expr,
    pub effects: Vec<Effect>,
    /// Whether the edge has its shared access.
    accessed: bool,
    has_havoc: bool,
    /// Memory that the edge has written.
    written: BTreeSet<VariableRef>,
    wrote_memory: bool,
    temps: Vec<usize>,
    passed: Vec<BlockId>,
    pub loc: Option<Loc>,
    loc_of_access: bool,
}

impl Path {
    /// Adds to the guard what it does not say already.
    pub fn assume(&mut self, condition: Expr) {
        let mut parts = Vec::new();
        conjuncts(&self.guard, &mut parts);
        let mut more = Vec::new();
        conjuncts(&condition, &mut more);
        for part in more {
            if parts.contains(&part) {
                continue;
            }
            if parts.contains(&not(part.clone())) {
                self.guard = Expr::FALSE;
                return;
            }
            parts.push(part);
        }
        self.guard = parts.into_iter().fold(Expr::TRUE, Expr::and);
    }

    /// What a value that the path has computed is.
    pub fn known(&self, value: ValueId) -> Option<Part> {
        self.env.get(&value)?.first().cloned()
    }
}

fn conjuncts(expr: &Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Binary(BinaryOp::And, lhs, rhs) if lhs.width() == 1 => {
            conjuncts(lhs, out);
            conjuncts(rhs, out);
        }
        Expr::Const { value: 1, width: 1 } => {}
        _ => out.push(expr.clone()),
    }
}

/// What a local variable of the template is for.
#[derive(Clone, PartialEq, Debug)]
enum LocalKind {
    Parameter,
    Slot(ValueId),
    Temporary,
    /// A C variable that is not a register: lives as long as the thread.
    Row,
}

#[derive(Clone, Debug)]
struct Local {
    kind: LocalKind,
    name: String,
    ty: Ty,
    len: u32,
    is_array: bool,
    init: Init,
    names: CellNames,
    span: Option<mover_ir::source::Span>,
}

/// A location in the making.
struct Stand {
    live: Vec<ValueId>,
    atomic: bool,
    valid_end: bool,
    error: Option<ErrorMark>,
    labels: Vec<String>,
    loc: Option<Loc>,
}

/// An edge whose slots have not got their variables yet.
struct Pending {
    from: usize,
    to: usize,
    guard: Expr,
    effects: Vec<Effect>,
    /// Slots and what they get, all at once.
    finals: Vec<(usize, Expr)>,
    temps: Vec<usize>,
    loc: Option<Loc>,
    shared: bool,
    exits: bool,
    text: Option<String>,
}

pub type Lowered<T> = Result<T, Problem>;

/// A cell of memory that an instruction accesses.
pub struct Cell {
    kind: CellKind,
    /// Whether the access is within an object.
    pub valid: Part,
    pub shared: bool,
    pub width: u8,
}

enum CellKind {
    Row {
        variable: VariableRef,
        index: Part,
        ty: Ty,
    },
    Memory {
        address: Part,
    },
}

pub struct Builder<'w, 'a> {
    pub world: &'w mut World<'a>,
    pub body: usize,
    pub code: &'a Body,
    locals: Vec<Local>,
    slots: HashMap<(ValueId, usize), usize>,
    rows: HashMap<(Object, u64), usize>,
    /// Locals that hold addresses of objects made by this thread.
    pub pinned: BTreeMap<Object, usize>,
    pub handle: Option<usize>,
    pub key_row: Option<usize>,
    live_out: Vec<BTreeSet<ValueId>>,
    live_cache: RefCell<HashMap<(BlockId, usize), Rc<BTreeSet<ValueId>>>>,
    recomputed_cache: RefCell<HashMap<ValueId, Option<Kind>>>,
    points: HashMap<Point, usize>,
    stands: Vec<Stand>,
    errors: HashMap<(Property, String, Option<Loc>), usize>,
    end: Option<usize>,
    limits: Vec<usize>,
    pending: Vec<Pending>,
    work: Vec<(usize, Point)>,
    cuts: BTreeSet<BlockId>,
    new_cuts: BTreeSet<BlockId>,
    joins: BTreeSet<BlockId>,
    from: usize,
}

impl<'w, 'a> Builder<'w, 'a> {
    /// The template for a body and the locations where a bound was reached.
    pub fn template(
        world: &'w mut World<'a>,
        body: usize,
    ) -> Lowered<(Template, Vec<LocationId>)> {
        let code = &world.bodies[body];
        let mut cuts = BTreeSet::new();
        let mut predecessors = vec![0usize; code.blocks.len()];
        for block in &code.blocks {
            for next in block.end.successors() {
                predecessors[next] += 1;
            }
        }
        let joins = (0..code.blocks.len())
            .filter(|&block| predecessors[block] > 1)
            .collect::<BTreeSet<_>>();
        loop {
            let mut builder = Builder {
                body,
                code,
                locals: Vec::new(),
                slots: HashMap::new(),
                rows: HashMap::new(),
                pinned: BTreeMap::new(),
                handle: None,
                key_row: None,
                live_out: Vec::new(),
                live_cache: RefCell::default(),
                recomputed_cache: RefCell::default(),
                points: HashMap::new(),
                stands: Vec::new(),
                errors: HashMap::new(),
                end: None,
                limits: Vec::new(),
                pending: Vec::new(),
                work: Vec::new(),
                cuts: cuts.clone(),
                new_cuts: BTreeSet::new(),
                joins: joins.clone(),
                from: 0,
                world: &mut *world,
            };
            builder.prepare();
            builder.build()?;
            if builder.new_cuts.is_empty() {
                return Ok(builder.finish_template());
            }
            cuts.extend(std::mem::take(&mut builder.new_cuts));
        }
    }

    fn prepare(&mut self) {
        let pointer = self.world.module.pointer_width();
        for param in 0..self.code.params {
            let info = &self.code.values[param];
            let width = info.shape.first().copied().unwrap_or(pointer);
            let ty = Ty {
                width,
                signed: info.signed,
            };
            let local = self.new_local(LocalKind::Parameter, &info.name.clone(), ty, 1);
            self.slots.insert((param, 0), local);
            if width == pointer && !info.signed {
                self.locals[local].names = CellNames::pointers(self.world.pointers());
            }
        }
        if !self.code.is_main {
            let ty = Ty::unsigned(pointer);
            self.handle = Some(self.new_local(LocalKind::Parameter, "%self", ty, 1));
        }
        self.live_out = self.liveness();
        self.pin_objects();
    }

    fn new_local(&mut self, kind: LocalKind, name: &str, ty: Ty, len: u32) -> usize {
        self.locals.push(Local {
            kind,
            name: name.to_string(),
            ty,
            len,
            is_array: len != 1,
            init: Init::All(0),
            names: CellNames::default(),
            span: None,
        });
        self.locals.len() - 1
    }

    /// Gives each object that the thread makes for itself a place for its address.
    fn pin_objects(&mut self) {
        let width = self.world.module.pointer_width();
        let own: Vec<Object> = self
            .world
            .objects
            .facts
            .iter()
            .filter(|(object, facts)| facts.is_addressed && self.is_made_by_thread(**object))
            .map(|(object, _)| *object)
            .collect();
        for object in own {
            let name = format!("%&{}", self.world.objects.name(object));
            let local = self.new_local(LocalKind::Row, &name, Ty::unsigned(width), 1);
            self.locals[local].names = CellNames::pointers(self.world.pointers());
            self.pinned.insert(object, local);
        }
    }

    /// Whether an addressed variable of this body is made anew by each thread.
    fn is_made_by_thread(&self, object: Object) -> bool {
        match object {
            Object::Global(id) => {
                self.world.module.globals[id].thread_local
                    && self
                        .world
                        .objects
                        .facts(object)
                        .is_some_and(|facts| facts.bodies.contains(&self.body))
            }
            Object::Local(body, _) => {
                body == self.body && !self.world.memory.contains_key(&object)
            }
        }
    }

    // Liveness.

    /// The values that must be at hand to know an operand.
    fn needs(&self, operand: &Operand, out: &mut Vec<ValueId>) {
        if let Some(form) = self.world.objects.form(self.body, operand) {
            for (term, _) in &form.terms {
                self.needs(term, out);
            }
            return;
        }
        match operand {
            Operand::Value(id) => match self.recomputed(*id) {
                Some(again) => {
                    for operand in again.operands() {
                        self.needs(operand, out);
                    }
                }
                None => out.push(*id),
            },
            Operand::Pure(pure) => {
                for operand in pure.operands() {
                    self.needs(operand, out);
                }
            }
            Operand::Aggregate(parts) => parts.iter().for_each(|part| self.needs(part, out)),
            _ => {}
        }
    }

    /// What a value is computed from again wherever it is needed, instead of being
    /// kept: constants, and what tells neither more nor less than its operand.
    fn recomputed(&self, value: ValueId) -> Option<Kind> {
        if let Some(known) = self.recomputed_cache.borrow().get(&value) {
            return known.clone();
        }
        let found = self.find_recomputed(value);
        let mut cache = self.recomputed_cache.borrow_mut();
        cache.insert(value, found.clone());
        found
    }

    fn find_recomputed(&self, value: ValueId) -> Option<Kind> {
        let inst = self.world.objects.definition(self.body, value)?;
        let is_constant = |operand: &Operand| {
            let mut needed = Vec::new();
            self.needs(operand, &mut needed);
            needed.is_empty()
                && !matches!(operand, Operand::Undef(_) | Operand::Aggregate(_))
                && self.world.objects.form(self.body, operand).is_none()
        };
        match &inst.kind {
            Kind::Library { name, .. } if name == "thread_reserve" => {
                let fixed = self.world.threads.fixed.get(&(self.body, value))?;
                Some(Kind::Pure(Pure::Copy(Operand::Int {
                    value: *fixed,
                    width: self.world.module.pointer_width(),
                })))
            }
            Kind::Pure(pure) => {
                let keeps_all = match pure {
                    Pure::Copy(arg) => self.world.objects.form(self.body, arg).is_none(),
                    Pure::Resize { arg, width, .. } => {
                        let from = match arg {
                            Operand::Value(id) => self.code.values[*id].shape.first(),
                            _ => None,
                        };
                        from.is_some_and(|from| from <= width) || is_constant(arg)
                    }
                    Pure::Binary {
                        kind: BinaryKind::Add | BinaryKind::Sub | BinaryKind::Xor,
                        nsw,
                        lhs,
                        rhs,
                    } => {
                        let is_checked = *nsw && self.world.wants(Property::NoOverflow);
                        !is_checked && (is_constant(rhs) || is_constant(lhs))
                    }
                    Pure::Gep { terms, .. } => terms.is_empty(),
                    Pure::Compare { lhs, rhs, .. } => is_constant(lhs) && is_constant(rhs),
                    _ => false,
                };
                keeps_all.then(|| inst.kind.clone())
            }
            _ => None,
        }
    }

    fn needs_of(&self, inst: &Inst) -> Vec<ValueId> {
        let mut out = Vec::new();
        let is_recomputed = inst.result.is_some_and(|id| self.recomputed(id).is_some());
        if self.is_address(inst) || is_recomputed || matches!(inst.kind, Kind::Phi(_)) {
            return out;
        }
        for operand in inst.kind.operands() {
            self.needs(operand, &mut out);
        }
        out
    }

    /// Whether the instruction only computes an address that is known by its form.
    fn is_address(&self, inst: &Inst) -> bool {
        match (&inst.kind, inst.result) {
            (Kind::Pure(_) | Kind::Alloca { .. }, Some(id)) => self
                .world
                .objects
                .form(self.body, &Operand::Value(id))
                .is_some(),
            _ => false,
        }
    }

    fn needs_of_end(&self, end: &Terminator) -> Vec<ValueId> {
        let mut out = Vec::new();
        match end {
            Terminator::Return(Some(value)) => self.needs(value, &mut out),
            Terminator::EndThread(value) if self.world.threads.results.is_some() => {
                self.needs(value, &mut out);
            }
            Terminator::Branch { condition, .. } => self.needs(condition, &mut out),
            Terminator::Switch { value, .. } => self.needs(value, &mut out),
            _ => {}
        }
        out
    }

    fn live_before(&self, block: BlockId, index: usize) -> Rc<BTreeSet<ValueId>> {
        if let Some(known) = self.live_cache.borrow().get(&(block, index)) {
            return Rc::clone(known);
        }
        let live = Rc::new(self.compute_live_before(block, index));
        let mut cache = self.live_cache.borrow_mut();
        cache.insert((block, index), Rc::clone(&live));
        live
    }

    fn compute_live_before(&self, block: BlockId, index: usize) -> BTreeSet<ValueId> {
        let code = self.code;
        let mut live = self.live_out[block].clone();
        live.extend(self.needs_of_end(&code.blocks[block].end));
        for inst in code.blocks[block].insts.iter().skip(index).rev() {
            if let Some(id) = inst.result {
                live.remove(&id);
            }
            live.extend(self.needs_of(inst));
        }
        live
    }

    fn liveness(&mut self) -> Vec<BTreeSet<ValueId>> {
        let code = self.code;
        let count = code.blocks.len();
        self.live_out = vec![BTreeSet::new(); count];
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (number, block) in code.blocks.iter().enumerate() {
            for next in block.end.successors() {
                predecessors[next].push(number);
            }
        }
        let mut work: Vec<BlockId> = (0..count).collect();
        while let Some(block) = work.pop() {
            let live = self.compute_live_before(block, 0);
            for &from in &predecessors[block] {
                let mut coming = live.clone();
                for inst in &code.blocks[block].insts {
                    let Kind::Phi(incoming) = &inst.kind else {
                        break;
                    };
                    for (operand, source) in incoming {
                        if *source == from {
                            let mut needed = Vec::new();
                            self.needs(operand, &mut needed);
                            coming.extend(needed);
                        }
                    }
                }
                let known = self.live_out[from].len();
                self.live_out[from].extend(coming);
                if self.live_out[from].len() > known {
                    work.push(from);
                }
            }
        }
        std::mem::take(&mut self.live_out)
    }

    // Locations.

    fn stand(&mut self, point: Point) -> usize {
        if let Some(&known) = self.points.get(&point) {
            return known;
        }
        let live: Vec<ValueId> = self
            .live_before(point.block, point.index)
            .iter()
            .copied()
            .collect();
        let block = &self.code.blocks[point.block];
        let loc = block
            .insts
            .get(point.index..)
            .unwrap_or_default()
            .iter()
            .find_map(|inst| inst.loc)
            .or(block.end_loc);
        self.stands.push(Stand {
            live,
            atomic: point.mode == Mode::Inside,
            valid_end: false,
            error: None,
            labels: Vec::new(),
            loc,
        });
        let number = self.stands.len() - 1;
        self.points.insert(point, number);
        self.work.push((number, point));
        number
    }

    fn sink(&mut self, stand: Stand) -> usize {
        self.stands.push(stand);
        self.stands.len() - 1
    }

    fn error(&mut self, property: Property, message: &str, loc: Option<Loc>) -> usize {
        let key = (property, message.to_string(), loc);
        if let Some(&known) = self.errors.get(&key) {
            return known;
        }
        let number = self.sink(Stand {
            live: Vec::new(),
            atomic: false,
            valid_end: false,
            error: Some(ErrorMark {
                property,
                message: message.to_string(),
                resume: None,
            }),
            labels: Vec::new(),
            loc,
        });
        self.errors.insert(key, number);
        number
    }

    /// Where a thread ends the whole process: nobody moves any more.
    fn process_end(&mut self) -> usize {
        if let Some(end) = self.end {
            return end;
        }
        let end = self.sink(Stand {
            live: Vec::new(),
            atomic: true,
            valid_end: true,
            error: None,
            labels: vec!["end of the process".into()],
            loc: None,
        });
        self.end = Some(end);
        self.turn_for_ever(end, "the process has ended");
        end
    }

    fn turn_for_ever(&mut self, stand: usize, text: &str) {
        self.pending.push(Pending {
            from: stand,
            to: stand,
            guard: Expr::TRUE,
            effects: Vec::new(),
            finals: Vec::new(),
            temps: Vec::new(),
            loc: None,
            shared: true,
            exits: false,
            text: Some(text.to_string()),
        });
    }

    /// Where the translation stops short of what the program does.
    pub fn limit(&mut self, path: Path, message: &str) {
        let stand = self.sink(Stand {
            live: Vec::new(),
            atomic: true,
            valid_end: true,
            error: None,
            labels: vec![format!("limit: {message}")],
            loc: path.loc,
        });
        self.limits.push(stand);
        self.turn_for_ever(stand, message);
        self.emit(path, stand, false);
    }

    // Building.

    fn build(&mut self) -> Lowered<()> {
        let entry = Point {
            block: self.code.entry,
            index: 0,
            mode: Mode::Outside,
        };
        self.stand(entry);
        while let Some((stand, point)) = self.work.pop() {
            self.from = stand;
            let first_edge = self.pending.len();
            let path = self.start(point, stand == 0);
            let mut paths = vec![path];
            let mut finished = 0;
            while let Some(path) = paths.pop() {
                let mut next = self.step(path)?;
                finished += usize::from(next.is_empty());
                next.reverse();
                paths.append(&mut next);
                if finished + paths.len() > MOST_PATHS {
                    let joined: BTreeSet<BlockId> = paths
                        .iter()
                        .flat_map(|path| &path.passed)
                        .copied()
                        .filter(|block| self.joins.contains(block) && !self.cuts.contains(block))
                        .collect();
                    if !joined.is_empty() {
                        self.new_cuts.extend(joined);
                        // The template is built again with these cuts.
                        self.pending.truncate(first_edge);
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, point: Point, is_entry: bool) -> Path {
        let mut path = Path {
            block: point.block,
            index: point.index,
            mode: point.mode,
            env: HashMap::new(),
            guard: Expr::TRUE,
            effects: Vec::new(),
            accessed: false,
            has_havoc: false,
            written: BTreeSet::new(),
            wrote_memory: false,
            temps: Vec::new(),
            passed: Vec::new(),
            loc: None,
            loc_of_access: false,
        };
        if is_entry {
            self.begin_thread(&mut path);
        }
        path
    }

    /// Makes the thread's own copies of thread-local variables that have addresses.
    fn begin_thread(&mut self, path: &mut Path) {
        let own: Vec<(GlobalId, usize)> = self
            .pinned
            .iter()
            .filter_map(|(object, local)| match object {
                Object::Global(id) => Some((*id, *local)),
                Object::Local(..) => None,
            })
            .collect();
        for (id, local) in own {
            let object = Object::Global(id);
            self.allocate_object(path, object, local);
            let (bytes, addresses) = self.world.initial_bytes(id);
            let width = self.world.module.pointer_width();
            let base = self.local_read(local);
            for (at, &byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                let address = binary(BinaryOp::Add, base.clone(), constant(at as u64, width));
                path.effects.push(Effect::Store {
                    address,
                    value: constant(byte.into(), 8),
                });
            }
            for (at, value) in addresses {
                let address = binary(BinaryOp::Add, base.clone(), constant(at, width));
                let value = constant(value, width);
                path.effects.push(Effect::Store { address, value });
            }
        }
    }

    fn allocate_object(&mut self, path: &mut Path, object: Object, local: usize) {
        let width = self.world.module.pointer_width();
        let site = self.world.stack_site(object);
        let size = self.world.objects.layout(object).bytes();
        let place = self.local_place(local, Expr::int(0));
        path.effects.push(Effect::Allocate {
            site,
            size: constant(size, width),
            result: place.clone(),
        });
        path.written.insert(place.variable);
        path.accessed = true;
    }

    fn local_place(&self, local: usize, index: Expr) -> Place {
        let variable = VariableRef::Local(VariableId(local as u32));
        Place::element(variable, index, self.locals[local].ty)
    }

    pub fn local_read(&self, local: usize) -> Expr {
        Expr::Read(self.local_place(local, Expr::int(0)))
    }

    fn slot(&mut self, value: ValueId, part: usize) -> usize {
        if let Some(&known) = self.slots.get(&(value, part)) {
            return known;
        }
        let info = &self.code.values[value];
        let ty = Ty {
            width: info.shape[part],
            signed: info.signed,
        };
        let name = if info.is_variable {
            info.name.clone()
        } else {
            format!("%{}", ty.width)
        };
        let local = self.new_local(LocalKind::Slot(value), &name, ty, 1);
        if ty.width == self.world.module.pointer_width() && !ty.signed {
            self.locals[local].names = CellNames::pointers(self.world.pointers());
        }
        self.slots.insert((value, part), local);
        local
    }

    pub fn temp(&mut self, path: &mut Path, width: u8) -> usize {
        let ty = Ty::unsigned(width);
        let free = (0..self.locals.len()).find(|&local| {
            self.locals[local].kind == LocalKind::Temporary
                && self.locals[local].ty == ty
                && !path.temps.contains(&local)
        });
        let name = format!("%tmp{width}");
        let local =
            free.unwrap_or_else(|| self.new_local(LocalKind::Temporary, &name, ty, 1));
        path.temps.push(local);
        local
    }

    pub fn temp_place(&self, local: usize) -> Place {
        self.local_place(local, Expr::int(0))
    }

    // Values.

    pub fn value(&mut self, path: &mut Path, operand: &Operand) -> Lowered<Vec<Part>> {
        if let Some(form) = self.world.objects.form(self.body, operand) {
            return Ok(vec![self.address(path, &form)?]);
        }
        let width = self.world.module.pointer_width();
        Ok(match operand {
            Operand::Value(id) => {
                if let Some(parts) = path.env.get(id) {
                    return Ok(parts.clone());
                }
                if let Some(Kind::Pure(pure)) = self.recomputed(*id) {
                    return Ok(self.pure(path, &pure)?.0);
                }
                let count = self.code.values[*id].shape.len();
                (0..count)
                    .map(|part| {
                        let slot = self.slot(*id, part);
                        Part::same(self.local_read(slot))
                    })
                    .collect()
            }
            Operand::Int { value, width } => vec![Part::same(constant(*value, *width))],
            Operand::Function(id) => {
                let address = self.world.function_address(*id);
                vec![Part::same(constant(address, width))]
            }
            Operand::Undef(shape) => {
                self.world.note_uninitialised(path.loc);
                let zero = |&width: &u8| Part::same(constant(0, width));
                shape.iter().map(zero).collect()
            }
            Operand::Pure(pure) => self.pure(path, pure)?.0,
            Operand::Aggregate(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.value(path, part)?);
                }
                all
            }
            Operand::Global(_) => Vec::new(),
            Operand::Unsupported(what) => {
                return Err(Problem::new(format!("not supported: `{what}`"), path.loc));
            }
        })
    }

    pub fn scalar(&mut self, path: &mut Path, operand: &Operand) -> Lowered<Part> {
        let mut parts = self.value(path, operand)?;
        match parts.pop() {
            Some(part) if parts.is_empty() => Ok(part),
            _ => Err(Problem::new(
                "a value of several parts where one is expected",
                path.loc,
            )),
        }
    }

    fn address(&mut self, path: &mut Path, form: &crate::objects::Form) -> Lowered<Part> {
        let width = self.world.module.pointer_width();
        let base = match self.pinned.get(&form.object) {
            Some(&local) => self.row_read(path, local),
            None => match self.world.address_of(form.object) {
                Some(expr) => Part::same(expr),
                None => {
                    let name = self.world.objects.name(form.object);
                    let message = format!("the variable `{name}` is declared but not defined");
                    return Err(Problem::new(message, path.loc)
                        .help("give the file that defines it too"));
                }
            },
        };
        self.displaced(path, base, form.offset, &form.terms, width)
    }

    fn row_read(&self, path: &Path, local: usize) -> Part {
        let now = self.local_read(local);
        let variable = VariableRef::Local(VariableId(local as u32));
        let before = if path.written.contains(&variable) {
            Before::Lost
        } else {
            Before::Same
        };
        Part { now, before }
    }

    fn displaced(
        &mut self,
        path: &mut Path,
        base: Part,
        offset: i64,
        terms: &[(Operand, i64)],
        width: u8,
    ) -> Lowered<Part> {
        let mut sum = base;
        for (operand, stride) in terms {
            let index = self.scalar(path, operand)?;
            sum = Part::combine(&[&sum, &index], |args| {
                let index = resize(args[1].clone(), width, true);
                let bytes = binary(BinaryOp::Mul, index, constant(*stride as u64, width));
                binary(BinaryOp::Add, args[0].clone(), bytes)
            });
        }
        Ok(sum.map(|sum| binary(BinaryOp::Add, sum, constant(offset as u64, width))))
    }

    /// What a computation yields, and what must hold for it to be defined.
    fn pure(&mut self, path: &mut Path, pure: &Pure) -> Lowered<(Vec<Part>, Vec<Check>)> {
        let mut checks = Vec::new();
        let parts = match pure {
            Pure::Copy(arg) => self.value(path, arg)?,
            Pure::Binary {
                kind,
                nsw,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                let overflows = *nsw && self.world.wants(Property::NoOverflow);
                checks_of(*kind, overflows, &lhs, &rhs, &mut checks);
                let op = operator(*kind);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    binary(op, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Compare {
                predicate,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    compare(*predicate, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Resize {
                arg,
                width,
                extension,
            } => {
                let arg = self.scalar(path, arg)?;
                vec![arg.map(|arg| resize(arg, *width, *extension == Extension::Sign))]
            }
            Pure::Select {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.scalar(path, condition)?;
                let then = self.value(path, then)?;
                let otherwise = self.value(path, otherwise)?;
                let pairs = then.iter().zip(&otherwise);
                pairs
                    .map(|(then, otherwise)| {
                        Part::combine(&[&condition, then, otherwise], |args| {
                            choose(args[0].clone(), args[1].clone(), args[2].clone())
                        })
                    })
                    .collect()
            }
            Pure::Gep {
                base,
                offset,
                terms,
            } => {
                let width = self.world.module.pointer_width();
                let base = self.scalar(path, base)?;
                vec![self.displaced(path, base, *offset, terms, width)?]
            }
            Pure::Extract { from, first, count } => {
                let all = self.value(path, from)?;
                all.get(*first..first + count)
                    .map(<[Part]>::to_vec)
                    .ok_or_else(|| Problem::new("a part that a value does not have", path.loc))?
            }
            Pure::Insert { into, value, first } => {
                let mut all = match into {
                    Operand::Undef(shape) => shape
                        .iter()
                        .map(|&width| Part::same(constant(0, width)))
                        .collect(),
                    _ => self.value(path, into)?,
                };
                for (offset, part) in self.value(path, value)?.into_iter().enumerate() {
                    if let Some(target) = all.get_mut(first + offset) {
                        *target = part;
                    }
                }
                all
            }
            Pure::WithOverflow {
                kind,
                signed,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                let op = operator(*kind);
                let result = Part::combine(&[&lhs, &rhs], |args| {
                    binary(op, args[0].clone(), args[1].clone())
                });
                let overflow = Part::combine(&[&lhs, &rhs], |args| {
                    overflows(*kind, *signed, args[0].clone(), args[1].clone())
                });
                vec![result, overflow]
            }
            Pure::Abs(arg) => {
                let arg = self.scalar(path, arg)?;
                vec![arg.map(|arg| {
                    let zero = constant(0, arg.width());
                    let negative = binary(BinaryOp::SLt, arg.clone(), zero);
                    choose(negative, build::neg(arg.clone()), arg)
                })]
            }
            Pure::MinMax {
                predicate,
                lhs,
                rhs,
            } => {
                let (lhs, rhs) = (self.scalar(path, lhs)?, self.scalar(path, rhs)?);
                vec![Part::combine(&[&lhs, &rhs], |args| {
                    let first = compare(*predicate, args[0].clone(), args[1].clone());
                    choose(first, args[0].clone(), args[1].clone())
                })]
            }
            Pure::Bits { kind, arg } => {
                let arg = self.scalar(path, arg)?;
                vec![arg.map(|arg| bits(*kind, &arg))]
            }
        };
        Ok((parts, checks))
    }

    /// Gives a value of the code what it is, by way of a temporary if it is large.
    pub fn define(&mut self, path: &mut Path, value: ValueId, parts: Vec<Part>) {
        let parts = parts
            .into_iter()
            .map(|part| {
                if build::size(&part.now) <= LARGEST {
                    return part;
                }
                let temp = self.temp(path, part.now.width());
                self.save(path, temp, part)
            })
            .collect();
        path.env.insert(value, parts);
    }

    /// Stores what a part is now in a temporary.
    fn save(&mut self, path: &mut Path, temp: usize, part: Part) -> Part {
        let before = match part.pre() {
            Some(pre) if build::size(pre) <= 8 * LARGEST => Before::Is(pre.clone()),
            _ => Before::Lost,
        };
        path.effects.push(Effect::Assign {
            place: self.temp_place(temp),
            value: part.now,
        });
        Part {
            now: self.local_read(temp),
            before,
        }
    }

    /// Before memory changes: saves what values that are still needed were read from it.
    fn keep(&mut self, path: &mut Path, changes: impl Fn(&Expr) -> bool) {
        let needed = self.live_before(path.block, path.index + 1);
        let mut values: Vec<ValueId> = path.env.keys().copied().collect();
        values.sort_unstable();
        for value in values {
            if !needed.contains(&value) {
                continue;
            }
            let mut parts = path.env.remove(&value).unwrap_or_default();
            for part in &mut parts {
                let mut touched = false;
                part.now.walk(&mut |expr| touched |= changes(expr));
                if touched {
                    let temp = self.temp(path, part.now.width());
                    *part = self.save(path, temp, part.clone());
                }
            }
            path.env.insert(value, parts);
        }
    }

    // Memory.

    /// The cell that an access of so many bytes behind a pointer touches.
    pub fn cell(
        &mut self,
        path: &mut Path,
        pointer: &Operand,
        at: i64,
        width: u8,
    ) -> Lowered<Cell> {
        let bytes = u64::from(width / 8);
        if !matches!(width, 8 | 16 | 32 | 64) {
            let message = format!("an access to memory of {width} bits is not supported");
            return Err(Problem::new(message, path.loc));
        }
        let form = self.world.objects.form(self.body, pointer).map(|mut form| {
            form.offset += at;
            form
        });
        if let Some(form) = &form
            && !self.world.objects.is_addressed(form.object)
        {
            return self.row_cell(path, form, bytes, width);
        }
        let pointer_width = self.world.module.pointer_width();
        let address = match &form {
            Some(form) => self.address(path, form)?,
            None => {
                let base = self.scalar(path, pointer)?;
                base.map(|base| binary(BinaryOp::Add, base, constant(at as u64, pointer_width)))
            }
        };
        if let Some(form) = &form
            && form.terms.is_empty()
            && let Some(&id) = self.world.memory.get(&form.object)
        {
            let variable = &self.world.globals[id.index()];
            let inside = form.offset >= 0 && form.offset as u64 + bytes <= variable.bytes();
            let cell_bytes = u64::from(variable.ty.width / 8);
            let ty = variable.ty;
            if inside && cell_bytes == bytes && (form.offset as u64).is_multiple_of(bytes) {
                let index = Expr::int(form.offset / bytes as i64);
                return Ok(Cell {
                    kind: CellKind::Row {
                        variable: VariableRef::Global(id),
                        index: Part::same(index),
                        ty,
                    },
                    valid: Part::same(Expr::TRUE),
                    shared: true,
                    width,
                });
            }
            let valid = Part::same(constant(u64::from(inside), 1));
            return Ok(Cell {
                kind: CellKind::Memory { address },
                valid,
                shared: true,
                width,
            });
        }
        let offset_mask = mask(self.world.pointers().offset_bits);
        let valid = address.map(|address| {
            let offset = binary(
                BinaryOp::And,
                address.clone(),
                constant(offset_mask, pointer_width),
            );
            let end = binary(BinaryOp::Add, offset, constant(bytes, pointer_width));
            if address.as_const().is_some() {
                return Expr::FALSE;
            }
            binary(BinaryOp::ULe, end, Expr::ObjectSize(Box::new(address)))
        });
        Ok(Cell {
            kind: CellKind::Memory { address },
            valid,
            shared: true,
            width,
        })
    }

    fn row_cell(
        &mut self,
        path: &mut Path,
        form: &crate::objects::Form,
        bytes: u64,
        width: u8,
    ) -> Lowered<Cell> {
        let Some(leaf) = self.world.objects.leaf(form, bytes) else {
            let name = self.world.objects.name(form.object);
            let message = format!("an access to `{name}` that its type does not have");
            return Err(Problem::new(message, path.loc));
        };
        let pointer = self.world.module.pointer_width();
        let mut index = Part::same(constant(0, pointer));
        let mut valid = Part::same(Expr::TRUE);
        for dimension in &leaf.dimensions {
            let zero = Part::same(constant(0, pointer));
            let here = self.displaced(
                path,
                zero,
                dimension.constant,
                &dimension.terms,
                pointer,
            )?;
            let count = constant(dimension.count, pointer);
            valid = Part::combine(&[&valid, &here], |args| {
                let inside = binary(BinaryOp::ULt, args[1].clone(), count.clone());
                args[0].clone().and(inside)
            });
            index = Part::combine(&[&index, &here], |args| {
                let scaled = binary(BinaryOp::Mul, args[0].clone(), count.clone());
                binary(BinaryOp::Add, scaled, args[1].clone())
            });
        }
        let index = index.map(|index| resize(index, 32, false));
        let is_thread_local = match form.object {
            Object::Global(id) => self.world.module.globals[id].thread_local,
            Object::Local(..) => true,
        };
        let (variable, ty, shared, len) = if is_thread_local {
            let local = self.local_row(form.object, &leaf);
            let len = self.locals[local].len;
            let variable = VariableRef::Local(VariableId(local as u32));
            (variable, self.locals[local].ty, false, len)
        } else {
            let Some(id) = self.world.row(form.object, &leaf) else {
                let name = self.world.objects.name(form.object);
                let message = format!("the variable `{name}` is declared but not defined");
                return Err(
                    Problem::new(message, path.loc).help("give the file that defines it too")
                );
            };
            let shared = !self.world.is_private(form.object);
            let variable = &self.world.globals[id.index()];
            (VariableRef::Global(id), variable.ty, shared, variable.len)
        };
        // A constant index outside is an error, and no index of the row.
        let index = match index.now.as_const() {
            Some(constant) if constant >= u64::from(len) => Part::same(Expr::int(0)),
            _ => index,
        };
        Ok(Cell {
            kind: CellKind::Row {
                variable,
                index,
                ty,
            },
            valid,
            shared,
            width,
        })
    }

    /// The row of a local or thread-local variable that has no address.
    fn local_row(&mut self, object: Object, leaf: &crate::objects::Leaf) -> usize {
        if let Some(&known) = self.rows.get(&(object, leaf.offset)) {
            return known;
        }
        let (variable, init) = self.world.row_variable(object, leaf);
        let local = self.new_local(LocalKind::Row, &variable.name, variable.ty, variable.len);
        let fresh = &mut self.locals[local];
        fresh.is_array = variable.is_array;
        fresh.init = init;
        fresh.names = variable.names;
        fresh.span = variable.span;
        self.rows.insert((object, leaf.offset), local);
        local
    }

    pub fn read(&self, path: &Path, cell: &Cell) -> Part {
        match &cell.kind {
            CellKind::Row {
                variable,
                index,
                ty,
            } => {
                let (variable, ty) = (*variable, *ty);
                let mut part =
                    index.map(|index| Expr::Read(Place::element(variable, index, ty)));
                if path.written.contains(&variable) {
                    part.before = Before::Lost;
                }
                part
            }
            CellKind::Memory { address } => {
                let ty = Ty::unsigned(cell.width);
                let mut part = address.map(|address| Expr::load(address, ty));
                if path.wrote_memory {
                    part.before = Before::Lost;
                }
                part
            }
        }
    }

    pub fn write(&mut self, path: &mut Path, cell: &Cell, value: Expr) {
        match &cell.kind {
            CellKind::Row {
                variable,
                index,
                ty,
            } => {
                let written = *variable;
                let is_object = matches!(written, VariableRef::Global(id)
                    if self.world.globals[id.index()].addressable);
                self.keep(path, |expr| match expr {
                    Expr::Read(place) => place.variable == written,
                    Expr::Load { .. } | Expr::ObjectSize(_) => is_object,
                    _ => false,
                });
                path.written.insert(written);
                path.wrote_memory |= is_object;
                path.effects.push(Effect::Assign {
                    place: Place::element(written, index.now.clone(), *ty),
                    value,
                });
            }
            CellKind::Memory { address } => {
                self.keep_memory(path);
                path.effects.push(Effect::Store {
                    address: address.now.clone(),
                    value,
                });
            }
        }
    }

    /// Before memory behind a pointer changes.
    pub fn keep_memory(&mut self, path: &mut Path) {
        let objects: HashSet<VariableId> = self.world.memory.values().copied().collect();
        self.keep(path, |expr| match expr {
            Expr::Load { .. } | Expr::ObjectSize(_) | Expr::ObjectSite { .. } => true,
            Expr::Read(place) => {
                matches!(place.variable, VariableRef::Global(id) if objects.contains(&id))
            }
            _ => false,
        });
        path.wrote_memory = true;
        path.written
            .extend(objects.into_iter().map(VariableRef::Global));
    }

    /// Whether the path can still do a shared access; if not, its edge ends here.
    pub fn begin_access(&mut self, path: Path) -> Option<Path> {
        if path.accessed {
            self.finish(path);
            return None;
        }
        Some(self.mark_access(path))
    }

    fn mark_access(&mut self, mut path: Path) -> Path {
        path.accessed = true;
        if path.mode == Mode::Begun {
            path.mode = Mode::Inside;
        }
        if !path.loc_of_access {
            let inst = self.code.blocks[path.block].insts.get(path.index);
            let loc = match inst {
                Some(inst) => inst.loc,
                None => self.code.blocks[path.block].end_loc,
            };
            path.loc = loc.or(path.loc);
            path.loc_of_access = true;
        }
        path
    }

    /// Lets the path go on only where a condition holds; elsewhere is an error.
    /// None if the edge had to end first.
    pub fn require(&mut self, mut path: Path, check: &Check) -> Option<Path> {
        if check.holds.now.as_const() == Some(1) {
            return Some(path);
        }
        let Some(pre) = check.holds.pre().cloned() else {
            self.finish(path);
            return None;
        };
        let loc = self.here(&path);
        let error = self.error(check.property, &check.message, loc);
        let mut failing = path.clone();
        failing.assume(not(pre.clone()));
        failing.loc = loc;
        if failing.guard != Expr::FALSE {
            self.emit(failing, error, false);
        }
        path.assume(pre);
        (path.guard != Expr::FALSE).then_some(path)
    }

    fn here(&self, path: &Path) -> Option<Loc> {
        let block = &self.code.blocks[path.block];
        match block.insts.get(path.index) {
            Some(inst) => inst.loc.or(path.loc),
            None => block.end_loc.or(path.loc),
        }
    }

    /// Ends the edge of a path before its next instruction.
    fn finish(&mut self, path: Path) {
        let point = Point {
            block: path.block,
            index: path.index,
            mode: path.mode,
        };
        let target = self.stand(point);
        self.emit(path, target, false);
    }

    pub fn emit(&mut self, path: Path, to: usize, exits: bool) {
        if path.guard == Expr::FALSE {
            return;
        }
        let is_error = self.stands[to].error.is_some();
        let live = if exits {
            Vec::new()
        } else {
            self.stands[to].live.clone()
        };
        let mut finals = Vec::new();
        for value in live {
            let count = self.code.values[value].shape.len();
            for part in 0..count {
                let slot = self.slot(value, part);
                let now = match path.env.get(&value) {
                    Some(parts) => parts[part].now.clone(),
                    None => self.local_read(slot),
                };
                finals.push((slot, now));
            }
        }
        self.pending.push(Pending {
            from: self.from,
            to,
            guard: path.guard,
            effects: if is_error { Vec::new() } else { path.effects },
            finals: if is_error { Vec::new() } else { finals },
            temps: path.temps,
            loc: path.loc,
            shared: path.accessed,
            exits,
            text: None,
        });
    }

    // Running.

    /// Goes on by one instruction; gives the paths that go on.
    fn step(&mut self, mut path: Path) -> Lowered<Vec<Path>> {
        let code = self.code;
        let block = &code.blocks[path.block];
        let Some(inst) = block.insts.get(path.index) else {
            return self.terminate(path, &block.end);
        };
        if path.loc.is_none() {
            path.loc = inst.loc;
        }
        let is_recomputed = inst.result.is_some_and(|id| self.recomputed(id).is_some());
        if is_recomputed || self.is_address(inst) && !matches!(inst.kind, Kind::Alloca { .. }) {
            path.index += 1;
            return Ok(vec![path]);
        }
        match &inst.kind {
            Kind::Phi(_) => {}
            Kind::Pure(pure) => {
                let (parts, checks) = self.pure(&mut path, pure)?;
                for check in checks {
                    match self.require(path, &check) {
                        Some(going_on) => path = going_on,
                        None => return Ok(Vec::new()),
                    }
                }
                if let Some(id) = inst.result {
                    self.define(&mut path, id, parts);
                }
            }
            Kind::AtomicBegin => path.mode = Mode::Begun,
            Kind::AtomicEnd => path.mode = Mode::Outside,
            Kind::Alloca { count, layout, .. } => {
                let Some(id) = inst.result else {
                    return Ok(Vec::new());
                };
                let object = Object::Local(self.body, id);
                let has_lifetime = self
                    .world
                    .objects
                    .facts(object)
                    .is_some_and(|facts| facts.has_lifetime);
                if let (Some(&local), false) = (self.pinned.get(&object), has_lifetime) {
                    let Some(mut going_on) = self.begin_access(path) else {
                        return Ok(Vec::new());
                    };
                    if matches!(count, Operand::Int { .. }) {
                        self.allocate_object(&mut going_on, object, local);
                    } else {
                        let width = self.world.module.pointer_width();
                        let count = self.scalar(&mut going_on, count)?;
                        let site = self.world.stack_site(object);
                        let element = constant(layout.bytes(), width);
                        let count = resize(count.now, width, false);
                        let place = self.local_place(local, Expr::int(0));
                        going_on.written.insert(place.variable);
                        going_on.effects.push(Effect::Allocate {
                            site,
                            size: binary(BinaryOp::Mul, count, element),
                            result: place,
                        });
                    }
                    path = going_on;
                }
            }
            Kind::Lifetime { pointer, begins } => {
                if let Some(form) = self.world.objects.form(self.body, pointer)
                    && let Some(&local) = self.pinned.get(&form.object)
                {
                    let Some(mut going_on) = self.begin_access(path) else {
                        return Ok(Vec::new());
                    };
                    if *begins {
                        self.allocate_object(&mut going_on, form.object, local);
                    } else {
                        self.keep_memory(&mut going_on);
                        let place = self.local_place(local, Expr::int(0));
                        going_on.effects.push(Effect::Free {
                            address: self.local_read(local),
                        });
                        going_on.written.insert(place.variable);
                        let width = place.ty.width;
                        going_on.effects.push(Effect::Assign {
                            place,
                            value: constant(0, width),
                        });
                    }
                    path = going_on;
                }
            }
            Kind::Load { pointer, shape } => {
                if shape.len() != 1 {
                    return self.load_parts(path, pointer, shape, inst.result);
                }
                let cell = self.cell(&mut path, pointer, 0, memory_width(shape[0]))?;
                let Some(mut going_on) = self.reach(path, &cell) else {
                    return Ok(Vec::new());
                };
                if let Some(id) = inst.result {
                    let part = self.read(&going_on, &cell);
                    let part = part.map(|value| resize(value, shape[0], false));
                    self.define(&mut going_on, id, vec![part]);
                }
                path = going_on;
            }
            Kind::Store {
                pointer,
                value,
                shape,
            } => {
                if shape.len() != 1 {
                    return self.store_parts(path, pointer, value, shape);
                }
                let cell = self.cell(&mut path, pointer, 0, memory_width(shape[0]))?;
                let Some(mut going_on) = self.reach(path, &cell) else {
                    return Ok(Vec::new());
                };
                let value = self.scalar(&mut going_on, value)?;
                let value = resize(value.now, cell.width, false);
                self.write(&mut going_on, &cell, value);
                path = going_on;
            }
            Kind::Rmw {
                kind,
                pointer,
                value,
                width,
            } => {
                let cell = self.cell(&mut path, pointer, 0, *width)?;
                let Some(mut going_on) = self.reach(path, &cell) else {
                    return Ok(Vec::new());
                };
                let value = self.scalar(&mut going_on, value)?;
                let old = self.read(&going_on, &cell);
                if let Some(id) = inst.result {
                    self.define(&mut going_on, id, vec![old.clone()]);
                }
                let new = modified(*kind, old.now, value.now);
                self.write(&mut going_on, &cell, new);
                path = going_on;
            }
            Kind::CompareExchange {
                pointer,
                expected,
                new,
                width,
            } => {
                let cell = self.cell(&mut path, pointer, 0, *width)?;
                let Some(mut going_on) = self.reach(path, &cell) else {
                    return Ok(Vec::new());
                };
                let expected = self.scalar(&mut going_on, expected)?;
                let new = self.scalar(&mut going_on, new)?;
                let old = self.read(&going_on, &cell);
                let same = Part::combine(&[&old, &expected], |args| {
                    equal(args[0].clone(), args[1].clone())
                });
                let Some(is_same) = same.pre().cloned() else {
                    return Err(Problem::new("a comparison after a store", inst.loc));
                };
                let mut succeeds = going_on.clone();
                succeeds.assume(is_same.clone());
                if let Some(id) = inst.result {
                    let yes = Part::same(Expr::TRUE);
                    succeeds.env.insert(id, vec![expected, yes]);
                }
                self.write(&mut succeeds, &cell, new.now);
                succeeds.index += 1;
                going_on.assume(not(is_same));
                if let Some(id) = inst.result {
                    let no = Part::same(Expr::FALSE);
                    going_on.env.insert(id, vec![old, no]);
                }
                going_on.index += 1;
                return Ok(vec![succeeds, going_on]);
            }
            Kind::Library { name, args, shape, .. } => {
                let mut next = self.library(path, name, args, shape, inst.result)?;
                for path in &mut next {
                    path.index += 1;
                }
                return Ok(next);
            }
            Kind::Call { .. } | Kind::Unsupported(_) => {
                return Err(Problem::new("a call that was not put in line", inst.loc));
            }
        }
        path.index += 1;
        Ok(vec![path])
    }

    /// Begins an access: checks that it is within an object.
    pub fn reach(&mut self, path: Path, cell: &Cell) -> Option<Path> {
        if cell.shared && path.accessed {
            self.finish(path);
            return None;
        }
        if cell.valid.pre().is_none() && cell.valid.now.as_const() != Some(1) {
            self.finish(path);
            return None;
        }
        let path = if cell.shared {
            self.mark_access(path)
        } else {
            path
        };
        let check = Check {
            holds: cell.valid.clone(),
            property: Property::MemorySafety,
            message: cell.complaint(),
        };
        self.require(path, &check)
    }

    /// A structure is loaded scalar by scalar.
    fn load_parts(
        &mut self,
        mut path: Path,
        pointer: &Operand,
        shape: &[u8],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let mut values = Vec::new();
        for (at, width) in parts(shape) {
            let cell = self.cell(&mut path, pointer, at, memory_width(width))?;
            // Only memory of the thread's own can be read in one go.
            if cell.shared && !values.is_empty() {
                let message = "a structure is read from shared memory as a whole";
                return Err(Problem::new(message, path.loc)
                    .help("read its fields one by one"));
            }
            let Some(going_on) = self.reach(path, &cell) else {
                return Ok(Vec::new());
            };
            let value = self.read(&going_on, &cell);
            values.push(value.map(|value| resize(value, width, false)));
            path = going_on;
        }
        if let Some(id) = result {
            self.define(&mut path, id, values);
        }
        path.index += 1;
        Ok(vec![path])
    }

    fn store_parts(
        &mut self,
        mut path: Path,
        pointer: &Operand,
        value: &Operand,
        shape: &[u8],
    ) -> Lowered<Vec<Path>> {
        let values = self.value(&mut path, value)?;
        for (number, (at, width)) in parts(shape).into_iter().enumerate() {
            let cell = self.cell(&mut path, pointer, at, memory_width(width))?;
            if cell.shared && number > 0 {
                let message = "a structure is written to shared memory as a whole";
                return Err(Problem::new(message, path.loc)
                    .help("write its fields one by one"));
            }
            let Some(mut going_on) = self.reach(path, &cell) else {
                return Ok(Vec::new());
            };
            let value = resize(values[number].now.clone(), cell.width, false);
            self.write(&mut going_on, &cell, value);
            path = going_on;
        }
        path.index += 1;
        Ok(vec![path])
    }

    /// Goes to another block.
    fn enter(&mut self, mut path: Path, to: BlockId) -> Lowered<Vec<Path>> {
        let code = self.code;
        let insts = &code.blocks[to].insts;
        let first = insts
            .iter()
            .take_while(|inst| matches!(inst.kind, Kind::Phi(_)))
            .count();
        let needed = self.live_before(to, first);
        let mut defined = Vec::new();
        for inst in &insts[..first] {
            let (Kind::Phi(incoming), Some(id)) = (&inst.kind, inst.result) else {
                continue;
            };
            if !needed.contains(&id) {
                continue;
            }
            if let Some((operand, _)) = incoming.iter().find(|(_, from)| *from == path.block) {
                defined.push((id, self.value(&mut path, operand)?));
            }
        }
        for (id, parts) in defined {
            self.define(&mut path, id, parts);
        }
        let again = path.passed.contains(&to);
        path.passed.push(to);
        path.block = to;
        path.index = first;
        if again && !self.cuts.contains(&to) {
            self.new_cuts.insert(to);
        }
        if again || self.cuts.contains(&to) {
            self.finish(path);
            return Ok(Vec::new());
        }
        Ok(vec![path])
    }

    fn terminate(&mut self, mut path: Path, end: &Terminator) -> Lowered<Vec<Path>> {
        let end_loc = self.code.blocks[path.block].end_loc;
        if path.loc.is_none() {
            path.loc = end_loc;
        }
        match end {
            Terminator::Jump(to) => self.enter(path, *to),
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.scalar(&mut path, condition)?;
                match condition.now.as_const() {
                    Some(0) => return self.enter(path, *otherwise),
                    Some(_) => return self.enter(path, *then),
                    None => {}
                }
                let Some(pre) = condition.pre().cloned() else {
                    self.finish(path);
                    return Ok(Vec::new());
                };
                let mut paths = Vec::new();
                for (target, holds) in [(*then, pre.clone()), (*otherwise, not(pre))] {
                    let mut path = path.clone();
                    path.assume(holds);
                    if path.guard != Expr::FALSE {
                        paths.extend(self.enter(path, target)?);
                    }
                }
                Ok(paths)
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                let value = self.scalar(&mut path, value)?;
                if let Some(constant) = value.now.as_const() {
                    let case = cases.iter().find(|(case, _)| *case == constant);
                    return self.enter(path, case.map_or(*default, |(_, to)| *to));
                }
                let Some(pre) = value.pre().cloned() else {
                    self.finish(path);
                    return Ok(Vec::new());
                };
                let width = pre.width();
                let mut paths = Vec::new();
                let mut none = Expr::TRUE;
                for (case, to) in cases {
                    let is_it = equal(pre.clone(), constant(*case, width));
                    let mut path = path.clone();
                    path.assume(is_it.clone());
                    none = none.and(not(is_it));
                    if path.guard != Expr::FALSE {
                        paths.extend(self.enter(path, *to)?);
                    }
                }
                path.assume(none);
                if path.guard != Expr::FALSE {
                    paths.extend(self.enter(path, *default)?);
                }
                Ok(paths)
            }
            Terminator::Fail { property, message } => {
                let always = *property == Property::MemorySafety;
                let to = if always || self.world.wants(*property) {
                    let loc = end_loc.or(path.loc);
                    path.loc = loc;
                    self.error(*property, message, loc)
                } else {
                    self.process_end()
                };
                self.emit(path, to, false);
                Ok(Vec::new())
            }
            Terminator::EndProcess => {
                let end = self.process_end();
                self.emit(path, end, false);
                Ok(Vec::new())
            }
            Terminator::EndThread(value) => self.end_thread(path, value),
            Terminator::Limit(message) => {
                self.limit(path, message);
                Ok(Vec::new())
            }
            Terminator::Return(_) | Terminator::Unreachable | Terminator::Unsupported(_) => {
                Err(Problem::new("code that leads nowhere", end_loc))
            }
        }
    }

    /// Frees what the thread has made, tells that it has ended, and ends it.
    fn end_thread(&mut self, path: Path, value: &Operand) -> Lowered<Vec<Path>> {
        let Some(mut path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        let value = match self.world.threads.results {
            Some(_) => self.scalar(&mut path, value)?,
            None => Part::same(constant(0, self.world.module.pointer_width())),
        };
        for local in self.pinned.values().copied().collect::<Vec<_>>() {
            path.effects.push(Effect::Free {
                address: self.local_read(local),
            });
        }
        let alternatives = self.thread_ends(path, value.now)?;
        for mut path in alternatives {
            path.effects.push(Effect::Exit);
            let to = match self.end {
                Some(end) => end,
                None => self.process_end(),
            };
            self.emit(path, to, true);
        }
        Ok(Vec::new())
    }

    /// Goes on in one of several ways: each has a condition on the state before
    /// the edge. None if a condition cannot be told from that state.
    pub fn split(&mut self, path: Path, conditions: &[Part]) -> Option<Vec<Path>> {
        let pre: Option<Vec<Expr>> = conditions.iter().map(|c| c.pre().cloned()).collect();
        let Some(pre) = pre else {
            self.finish(path);
            return None;
        };
        Some(
            pre.into_iter()
                .map(|condition| {
                    let mut path = path.clone();
                    path.assume(condition);
                    path
                })
                .collect(),
        )
    }

    pub fn set_havoc(&mut self, mut path: Path) -> Option<Path> {
        if path.has_havoc {
            self.finish(path);
            return None;
        }
        path.has_havoc = true;
        Some(path)
    }

    pub fn lost(&self, expr: Expr) -> Part {
        Part {
            now: expr,
            before: Before::Lost,
        }
    }

    pub fn row_of_keys(&mut self, count: u32) -> usize {
        if let Some(row) = self.key_row {
            return row;
        }
        let ty = Ty::unsigned(self.world.module.pointer_width());
        let row = self.new_local(LocalKind::Row, "pthread_specific", ty, count);
        self.locals[row].is_array = true;
        self.key_row = Some(row);
        row
    }

    pub fn row_cell_at(&self, local: usize, index: Part, valid: Part) -> Cell {
        let ty = self.locals[local].ty;
        Cell {
            kind: CellKind::Row {
                variable: VariableRef::Local(VariableId(local as u32)),
                index,
                ty,
            },
            valid,
            shared: false,
            width: ty.width,
        }
    }

    /// A cell of a global row that the model itself keeps.
    pub fn global_cell(&self, id: VariableId, index: Part) -> Cell {
        let ty = self.world.globals[id.index()].ty;
        Cell {
            kind: CellKind::Row {
                variable: VariableRef::Global(id),
                index,
                ty,
            },
            valid: Part::same(Expr::TRUE),
            shared: true,
            width: ty.width,
        }
    }

    // Finishing.

    /// Slots become local variables, edges their effects.
    fn finish_template(mut self) -> (Template, Vec<LocationId>) {
        let merged = self.merge_slots();
        // Parameters come first, then whatever is used.
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        let mut variables: Vec<usize> = Vec::new();
        let parameters = (0..self.locals.len())
            .filter(|&local| self.locals[local].kind == LocalKind::Parameter);
        for local in parameters {
            numbers.insert(local, variables.len() as u32);
            variables.push(local);
        }
        let params = variables.len() as u32;
        for local in 0..self.locals.len() {
            let owner = merged[local];
            if owner == local && !numbers.contains_key(&local) {
                numbers.insert(local, variables.len() as u32);
                variables.push(local);
            }
        }
        let place_of = |local: usize| VariableId(numbers[&merged[local]]);
        let mut spares = Spares {
            first: variables.len() as u32,
            types: Vec::new(),
        };
        let silent = self.silent_stands();
        let mut locations: Vec<Location> = self
            .stands
            .iter()
            .enumerate()
            .map(|(number, stand)| Location {
                labels: stand.labels.clone(),
                atomic: stand.atomic || silent.contains(&number),
                valid_end: stand.valid_end,
                error: stand.error.clone(),
                edges: Vec::new(),
                span: self.world.span(stand.loc),
            })
            .collect();
        for pending in std::mem::take(&mut self.pending) {
            let edge = self.edge(&pending, &place_of, &merged, &mut spares);
            locations[pending.from].edges.push(edge);
        }
        let mut locals: Vec<Variable> = variables
            .iter()
            .map(|&local| {
                let local = &self.locals[local];
                Variable {
                    name: local.name.clone(),
                    ty: local.ty,
                    len: local.len,
                    is_array: local.is_array,
                    init: local.init.clone(),
                    symbols: None,
                    span: local.span,
                    addressable: false,
                    names: local.names.clone(),
                }
            })
            .collect();
        locals.extend(spares.types.iter().map(|&ty| Variable {
            name: "%spare".into(),
            ty,
            len: 1,
            is_array: false,
            init: Init::All(0),
            symbols: None,
            span: None,
            addressable: false,
            names: CellNames::default(),
        }));
        let entry = skip_entry(&mut locals, &locations, params);
        let (locations, entry, renumbered) = drop_unreachable(locations, entry);
        make_names_unique(&mut locals);
        let limits = self
            .limits
            .iter()
            .filter_map(|&stand| renumbered[stand])
            .collect();
        let template = Template {
            name: self.code.name.clone(),
            params,
            locals,
            channels: Vec::new(),
            locations,
            entry,
            span: self.world.span(self.code.loc),
        };
        (template, limits)
    }

    /// For each local the one that stands for it: slots of one C variable that
    /// are never needed at the same time are one.
    fn merge_slots(&self) -> Vec<usize> {
        let mut merged: Vec<usize> = (0..self.locals.len()).collect();
        let mut together: HashSet<(usize, usize)> = HashSet::new();
        for stand in &self.stands {
            let live: Vec<usize> = stand
                .live
                .iter()
                .flat_map(|&value| {
                    let count = self.code.values[value].shape.len();
                    (0..count).filter_map(move |part| self.slots.get(&(value, part)).copied())
                })
                .collect();
            for (number, &a) in live.iter().enumerate() {
                for &b in &live[number + 1..] {
                    together.insert((a.min(b), a.max(b)));
                }
            }
        }
        let mut groups: BTreeMap<(String, u8, bool), Vec<Vec<usize>>> = BTreeMap::new();
        for (number, local) in self.locals.iter().enumerate() {
            if !matches!(local.kind, LocalKind::Slot(_)) {
                continue;
            }
            let key = (local.name.clone(), local.ty.width, local.ty.signed);
            let classes = groups.entry(key).or_default();
            let conflicts = |class: &Vec<usize>| {
                class
                    .iter()
                    .any(|&other| together.contains(&(other.min(number), other.max(number))))
            };
            match classes.iter_mut().find(|class| !conflicts(class)) {
                Some(class) => {
                    merged[number] = class[0];
                    class.push(number);
                }
                None => classes.push(vec![number]),
            }
        }
        merged
    }

    /// Locations from which only local steps lead, and not round in a circle.
    fn silent_stands(&self) -> HashSet<usize> {
        let count = self.stands.len();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut is_silent = vec![true; count];
        for pending in &self.pending {
            is_silent[pending.from] &= !pending.shared;
            edges[pending.from].push(pending.to);
        }
        for (number, stand) in self.stands.iter().enumerate() {
            is_silent[number] &= stand.error.is_none() && !edges[number].is_empty();
        }
        let mut ends: HashSet<usize> = HashSet::new();
        loop {
            let before = ends.len();
            for number in 0..count {
                if is_silent[number]
                    && edges[number]
                        .iter()
                        .all(|to| !is_silent[*to] || ends.contains(to))
                {
                    ends.insert(number);
                }
            }
            if ends.len() == before {
                return ends;
            }
        }
    }

    fn edge(
        &mut self,
        pending: &Pending,
        place_of: &impl Fn(usize) -> VariableId,
        merged: &[usize],
        spares: &mut Spares,
    ) -> Edge {
        let rename_all = |expr: &Expr| rename(expr, place_of);
        let rename_place = |place: &Place| Place {
            variable: match place.variable {
                VariableRef::Local(id) => VariableRef::Local(place_of(id.index())),
                global => global,
            },
            index: Box::new(rename_all(&place.index)),
            ty: place.ty,
        };
        let mut effects: Vec<Effect> = pending
            .effects
            .iter()
            .map(|effect| map_effect(effect, &rename_all, &rename_place))
            .collect();
        let exit = pending.exits.then(|| effects.pop()).flatten();
        // All slots get their values at once; those that nobody needs become 0.
        let mut moves: BTreeMap<usize, Expr> = BTreeMap::new();
        if !pending.exits && self.stands[pending.to].error.is_none() {
            for &value in &self.stands[pending.from].live {
                let count = self.code.values[value].shape.len();
                for part in 0..count {
                    if let Some(&slot) = self.slots.get(&(value, part)) {
                        let owner = merged[slot];
                        moves.insert(owner, constant(0, self.locals[owner].ty.width));
                    }
                }
            }
            for &temp in &pending.temps {
                moves.insert(temp, constant(0, self.locals[temp].ty.width));
            }
            if pending.from == 0 {
                // A parameter that is not needed at all is forgotten at once.
                for param in 0..self.code.params {
                    let local = self.slots[&(param, 0)];
                    moves.insert(local, constant(0, self.locals[local].ty.width));
                }
            }
            for (slot, value) in &pending.finals {
                moves.insert(merged[*slot], value.clone());
            }
        }
        let moves: Vec<(VariableId, Ty, Expr)> = moves
            .into_iter()
            .map(|(local, value)| {
                (
                    place_of(local),
                    self.locals[local].ty,
                    rename_all(&value),
                )
            })
            .collect();
        effects.extend(in_order(moves, spares));
        effects.extend(exit);
        let span = self.world.span(pending.loc);
        let text = match &pending.text {
            Some(text) => text.clone(),
            None => span
                .map(|span| self.world.sources.text(span).to_string())
                .unwrap_or_default(),
        };
        Edge {
            priority: 0,
            guard: rename_all(&pending.guard),
            effects,
            target: LocationId(pending.to as u32),
            span,
            text,
        }
    }
}

impl Cell {
    fn complaint(&self) -> String {
        match self.kind {
            CellKind::Row { .. } => "index out of bounds".into(),
            CellKind::Memory { .. } => {
                "access outside of a live object (null, dangling or out of bounds)".into()
            }
        }
    }
}

/// What must hold for a computation to be defined.
pub struct Check {
    pub holds: Part,
    pub property: Property,
    pub message: String,
}

/// Widths of cells; a truth value has a byte.
fn memory_width(width: u8) -> u8 {
    match width {
        1..=8 => 8,
        other => other,
    }
}

fn operator(kind: BinaryKind) -> BinaryOp {
    match kind {
        BinaryKind::Add => BinaryOp::Add,
        BinaryKind::Sub => BinaryOp::Sub,
        BinaryKind::Mul => BinaryOp::Mul,
        BinaryKind::UDiv => BinaryOp::UDiv,
        BinaryKind::SDiv => BinaryOp::SDiv,
        BinaryKind::URem => BinaryOp::URem,
        BinaryKind::SRem => BinaryOp::SRem,
        BinaryKind::And => BinaryOp::And,
        BinaryKind::Or => BinaryOp::Or,
        BinaryKind::Xor => BinaryOp::Xor,
        BinaryKind::Shl => BinaryOp::Shl,
        BinaryKind::LShr => BinaryOp::LShr,
        BinaryKind::AShr => BinaryOp::AShr,
    }
}

pub fn compare(predicate: Predicate, lhs: Expr, rhs: Expr) -> Expr {
    match predicate {
        Predicate::Eq => binary(BinaryOp::Eq, lhs, rhs),
        Predicate::Ne => binary(BinaryOp::Ne, lhs, rhs),
        Predicate::Ult => binary(BinaryOp::ULt, lhs, rhs),
        Predicate::Ule => binary(BinaryOp::ULe, lhs, rhs),
        Predicate::Ugt => binary(BinaryOp::ULt, rhs, lhs),
        Predicate::Uge => binary(BinaryOp::ULe, rhs, lhs),
        Predicate::Slt => binary(BinaryOp::SLt, lhs, rhs),
        Predicate::Sle => binary(BinaryOp::SLe, lhs, rhs),
        Predicate::Sgt => binary(BinaryOp::SLt, rhs, lhs),
        Predicate::Sge => binary(BinaryOp::SLe, rhs, lhs),
    }
}

/// What must hold of the operands.
fn checks_of(kind: BinaryKind, nsw: bool, lhs: &Part, rhs: &Part, out: &mut Vec<Check>) {
    let width = lhs.now.width();
    let least = 1u64 << (width - 1);
    match kind {
        BinaryKind::UDiv | BinaryKind::SDiv | BinaryKind::URem | BinaryKind::SRem => {
            out.push(Check {
                holds: rhs.map(|rhs| binary(BinaryOp::Ne, rhs, constant(0, width))),
                property: Property::UnreachCall,
                message: "division by zero".into(),
            });
            if matches!(kind, BinaryKind::SDiv | BinaryKind::SRem) {
                let holds = Part::combine(&[lhs, rhs], |args| {
                    let least = equal(args[0].clone(), constant(least, width));
                    let minus_one = equal(args[1].clone(), constant(u64::MAX, width));
                    not(least.and(minus_one))
                });
                out.push(Check {
                    holds,
                    property: Property::UnreachCall,
                    message: "the smallest number is divided by -1".into(),
                });
            }
        }
        BinaryKind::Shl | BinaryKind::LShr | BinaryKind::AShr => out.push(Check {
            holds: rhs.map(|rhs| binary(BinaryOp::ULt, rhs, constant(width.into(), width))),
            property: Property::UnreachCall,
            message: "shift by the width of the type or more".into(),
        }),
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul if nsw => out.push(Check {
            holds: Part::combine(&[lhs, rhs], |args| {
                not(overflows(kind, true, args[0].clone(), args[1].clone()))
            }),
            property: Property::NoOverflow,
            message: "signed overflow".into(),
        }),
        _ => {}
    }
}

/// Whether a sum, difference or product does not fit the type.
fn overflows(kind: BinaryKind, signed: bool, lhs: Expr, rhs: Expr) -> Expr {
    use BinaryOp::*;
    let width = lhs.width();
    let zero = || constant(0, width);
    let negative = |expr: Expr| binary(SLt, expr, zero());
    let result = binary(operator(kind), lhs.clone(), rhs.clone());
    match (kind, signed) {
        (BinaryKind::Add, true) => {
            let a = binary(Xor, lhs, result.clone());
            let b = binary(Xor, rhs, result);
            negative(binary(And, a, b))
        }
        (BinaryKind::Sub, true) => {
            let a = binary(Xor, lhs.clone(), rhs);
            let b = binary(Xor, lhs, result);
            negative(binary(And, a, b))
        }
        (BinaryKind::Add, false) => binary(ULt, result, lhs),
        (BinaryKind::Sub, false) => binary(ULt, lhs, rhs),
        // Twice the width holds any product.
        (_, signed) if width <= 32 => {
            let wide = |expr: Expr| resize(expr, 64, signed);
            let exact = binary(Mul, wide(lhs), wide(rhs));
            binary(Ne, exact, wide(result))
        }
        (_, true) => {
            let back = binary(SDiv, result, lhs.clone());
            let minus_one = equal(lhs.clone(), constant(u64::MAX, width));
            let least = equal(rhs.clone(), constant(1 << (width - 1), width));
            let wrong = binary(Ne, back, rhs).or(minus_one.and(least));
            binary(Ne, lhs, zero()).and(wrong)
        }
        (_, false) => {
            let back = binary(UDiv, result, lhs.clone());
            binary(Ne, lhs, zero()).and(binary(Ne, back, rhs))
        }
    }
}

fn modified(kind: RmwKind, old: Expr, value: Expr) -> Expr {
    let pick = |predicate: Predicate, old: Expr, value: Expr| {
        let keeps = compare(predicate, old.clone(), value.clone());
        choose(keeps, old, value)
    };
    match kind {
        RmwKind::Exchange => value,
        RmwKind::Add => binary(BinaryOp::Add, old, value),
        RmwKind::Sub => binary(BinaryOp::Sub, old, value),
        RmwKind::And => binary(BinaryOp::And, old, value),
        RmwKind::Nand => not(binary(BinaryOp::And, old, value)),
        RmwKind::Or => binary(BinaryOp::Or, old, value),
        RmwKind::Xor => binary(BinaryOp::Xor, old, value),
        RmwKind::Max => pick(Predicate::Sgt, old, value),
        RmwKind::Min => pick(Predicate::Sle, old, value),
        RmwKind::UMax => pick(Predicate::Ugt, old, value),
        RmwKind::UMin => pick(Predicate::Ule, old, value),
    }
}

fn bits(kind: BitsKind, arg: &Expr) -> Expr {
    let width = arg.width();
    let bit = |at: u8| {
        let moved = binary(BinaryOp::LShr, arg.clone(), constant(at.into(), width));
        binary(BinaryOp::And, moved, constant(1, width))
    };
    let is_set = |at: u8| binary(BinaryOp::Ne, bit(at), constant(0, width));
    match kind {
        BitsKind::Population => (0..width)
            .map(bit)
            .reduce(|a, b| binary(BinaryOp::Add, a, b))
            .unwrap_or_else(|| constant(0, width)),
        BitsKind::TrailingZeros => (0..width)
            .rev()
            .fold(constant(width.into(), width), |rest, at| {
                choose(is_set(at), constant(at.into(), width), rest)
            }),
        BitsKind::LeadingZeros => (0..width)
            .fold(constant(width.into(), width), |rest, at| {
                choose(is_set(at), constant((width - 1 - at).into(), width), rest)
            }),
        BitsKind::ByteSwap => (0..width / 8)
            .map(|byte| {
                let from = constant((8 * byte).into(), width);
                let to = constant((width - 8 - 8 * byte).into(), width);
                let low = binary(
                    BinaryOp::And,
                    binary(BinaryOp::LShr, arg.clone(), from),
                    constant(255, width),
                );
                binary(BinaryOp::Shl, low, to)
            })
            .reduce(|a, b| binary(BinaryOp::Or, a, b))
            .unwrap_or_else(|| arg.clone()),
    }
}

/// The expression with the locals that stand for those of the making.
fn rename(expr: &Expr, place_of: &impl Fn(usize) -> VariableId) -> Expr {
    rewrite(expr, &mut |expr| match expr {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(id) => Some(Expr::Read(Place {
                variable: VariableRef::Local(place_of(id.index())),
                index: Box::new(rename(&place.index, place_of)),
                ty: place.ty,
            })),
            VariableRef::Global(_) => None,
        },
        _ => None,
    })
}

fn map_effect(
    effect: &Effect,
    expr: &impl Fn(&Expr) -> Expr,
    place: &impl Fn(&Place) -> Place,
) -> Effect {
    match effect {
        Effect::Assign {
            place: target,
            value,
        } => Effect::Assign {
            place: place(target),
            value: expr(value),
        },
        Effect::Store { address, value } => Effect::Store {
            address: expr(address),
            value: expr(value),
        },
        Effect::Havoc {
            place: target,
            values,
        } => Effect::Havoc {
            place: place(target),
            values: *values,
        },
        Effect::Allocate { site, size, result } => Effect::Allocate {
            site: *site,
            size: expr(size),
            result: place(result),
        },
        Effect::Free { address } => Effect::Free {
            address: expr(address),
        },
        Effect::Spawn {
            template,
            args,
            priority,
            result,
        } => Effect::Spawn {
            template: *template,
            args: args.iter().map(expr).collect(),
            priority: *priority,
            result: result.as_ref().map(place),
        },
        other => other.clone(),
    }
}

/// Local variables that edges use in passing, beyond those of the template.
struct Spares {
    first: u32,
    types: Vec<Ty>,
}

impl Spares {
    /// The first spare of a type that is not in use.
    fn take(&mut self, ty: Ty, in_use: &[VariableId]) -> VariableId {
        let id = |index: usize| VariableId(self.first + index as u32);
        let known = (0..self.types.len())
            .find(|&index| self.types[index] == ty && !in_use.contains(&id(index)));
        let index = known.unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        });
        VariableId(self.first + index as u32)
    }
}

/// Assignments that are meant to happen at once, one after the other.
fn in_order(moves: Vec<(VariableId, Ty, Expr)>, spares: &mut Spares) -> Vec<Effect> {
    let is_read = |expr: &Expr, variable: VariableId| {
        let mut found = false;
        expr.walk(&mut |expr| {
            found |= matches!(expr, Expr::Read(place)
                if place.variable == VariableRef::Local(variable));
        });
        found
    };
    let assign = |variable: VariableId, ty: Ty, value: Expr| Effect::Assign {
        place: Place::scalar(VariableRef::Local(variable), ty),
        value,
    };
    let mut rest: Vec<(VariableId, Ty, Expr)> = moves
        .into_iter()
        .filter(|(variable, ty, value)| {
            *value != Expr::Read(Place::scalar(VariableRef::Local(*variable), *ty))
        })
        .collect();
    let mut effects = Vec::new();
    let mut in_use: Vec<(VariableId, Ty)> = Vec::new();
    while !rest.is_empty() {
        let ready = (0..rest.len()).find(|&this| {
            let variable = rest[this].0;
            let mut others = rest.iter().enumerate().filter(|(other, _)| *other != this);
            others.all(|(_, (_, _, value))| !is_read(value, variable))
        });
        if let Some(this) = ready {
            let (variable, ty, value) = rest.remove(this);
            effects.push(assign(variable, ty, value));
            continue;
        }
        // Variables change places: one of them waits in a spare.
        let (variable, ty, _) = rest[0].clone();
        let taken: Vec<VariableId> = in_use.iter().map(|(id, _)| *id).collect();
        let spare = spares.take(ty, &taken);
        in_use.push((spare, ty));
        let old = Expr::Read(Place::scalar(VariableRef::Local(variable), ty));
        effects.push(assign(spare, ty, old));
        for (_, _, value) in &mut rest {
            *value = rewrite(value, &mut |expr| match expr {
                Expr::Read(place) if place.variable == VariableRef::Local(variable) => {
                    Some(Expr::Read(Place::scalar(VariableRef::Local(spare), ty)))
                }
                _ => None,
            });
        }
    }
    for (spare, ty) in in_use {
        effects.push(assign(spare, ty, constant(0, ty.width)));
    }
    effects
}

/// Entering the first location may do nothing but set constants: then the
/// template begins behind it.
fn skip_entry(locals: &mut [Variable], locations: &[Location], params: u32) -> LocationId {
    let mut entry = LocationId(0);
    while let [edge] = &locations[entry.index()].edges[..] {
        if edge.guard != Expr::TRUE || edge.target == entry {
            return entry;
        }
        let target = &locations[edge.target.index()];
        if target.error.is_some() || target.atomic && !target.valid_end && target.edges.is_empty() {
            return entry;
        }
        let mut known: Vec<(usize, u64)> = Vec::new();
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                return entry;
            };
            let (VariableRef::Local(id), Some(value), Some(0)) =
                (place.variable, value.as_const(), place.index.as_const())
            else {
                return entry;
            };
            if id.0 < params || locals[id.index()].len != 1 {
                return entry;
            }
            known.push((id.index(), value));
        }
        // A location that is come back to must not forget what is set before it.
        let comes_back = locations
            .iter()
            .flat_map(|location| &location.edges)
            .any(|edge| edge.target == entry);
        if comes_back || target.atomic {
            return entry;
        }
        for (local, value) in known {
            locals[local].init = Init::All(value);
        }
        entry = edge.target;
    }
    entry
}

type Renumbering = Vec<Option<LocationId>>;

fn drop_unreachable(
    locations: Vec<Location>,
    entry: LocationId,
) -> (Vec<Location>, LocationId, Renumbering) {
    let mut numbers: Renumbering = vec![None; locations.len()];
    let mut order = Vec::new();
    let mut work = vec![entry.index()];
    while let Some(location) = work.pop() {
        if numbers[location].is_some() {
            continue;
        }
        numbers[location] = Some(LocationId(order.len() as u32));
        order.push(location);
        let edges = &locations[location].edges;
        work.extend(edges.iter().rev().map(|edge| edge.target.index()));
    }
    let mut locations: Vec<Option<Location>> = locations.into_iter().map(Some).collect();
    let mut kept = Vec::new();
    for number in order {
        let Some(mut location) = locations[number].take() else {
            continue;
        };
        for edge in &mut location.edges {
            edge.target = numbers[edge.target.index()].unwrap_or(edge.target);
        }
        kept.push(location);
    }
    (kept, LocationId(0), numbers)
}

/// The second `i` of a function becomes `i'2`.
fn make_names_unique(locals: &mut [Variable]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for local in locals {
        let count = seen.entry(local.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            local.name = format!("{}'{count}", local.name);
        }
    }
}
