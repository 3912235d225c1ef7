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

mod arithmetic;
mod finish;
mod first_write;
mod live;
mod memory;
mod path;
mod touch;
mod undefined;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::{CellNames, Effect, ErrorMark, Init, Property, SymbolSetId, VariableId};

use crate::build::{binary, constant, equal, not, resize};
use crate::flatten::copying::all_scalars;
use crate::flatten::{Body, Problem};
use crate::objects::{Object, parts};
use crate::ssa::*;
use crate::world::World;

use arithmetic::modified;
pub use finish::Finished;
use first_write::gaps_between;
pub use memory::Cell;
pub use path::{Part, Path};
use touch::Access;
pub use touch::{Memory, Touch};
use undefined::Undefined;

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
    symbols: Option<SymbolSetId>,
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
    /// Where the shared access stands.
    access: Option<Loc>,
    exits: bool,
    text: Option<String>,
}

pub type Lowered<T> = Result<T, Problem>;

/// By block and instruction: what is live before it.
type LiveCache = HashMap<(BlockId, usize), Rc<BTreeSet<ValueId>>>;

/// A template in the making.
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
    live_cache: RefCell<LiveCache>,
    recomputed_cache: RefCell<HashMap<ValueId, Option<Kind>>>,
    points: HashMap<Point, usize>,
    stands: Vec<Stand>,
    errors: HashMap<(Property, String, Option<Loc>), usize>,
    end: Option<usize>,
    limits: Vec<usize>,
    /// The accesses that may be part of a data race, by where the thread stands then.
    touches: Vec<(usize, Touch)>,
    pending: Vec<Pending>,
    work: Vec<(usize, Point)>,
    cuts: BTreeSet<BlockId>,
    new_cuts: BTreeSet<BlockId>,
    joins: BTreeSet<BlockId>,
    undefined: Rc<Undefined>,
    from: usize,
}

impl<'w, 'a> Builder<'w, 'a> {
    /// The template for a body.
    pub fn template(world: &'w mut World<'a>, body: usize) -> Lowered<Finished> {
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
        let undefined = Rc::new(Undefined::find(code));
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
                touches: Vec::new(),
                pending: Vec::new(),
                work: Vec::new(),
                cuts: cuts.clone(),
                new_cuts: BTreeSet::new(),
                joins: joins.clone(),
                undefined: undefined.clone(),
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
                self.locals[local].names = self.world.pointer_names();
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
            symbols: None,
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
            self.locals[local].names = self.world.pointer_names();
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
            Object::Local(body, _) => body == self.body && !self.world.memory.contains_key(&object),
        }
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
            access: None,
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
            access: None,
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
            self.locals[local].names = self.world.pointer_names();
        }
        self.locals[local].symbols = self.world.enumeration(&info.enumerators);
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
        let local = free.unwrap_or_else(|| self.new_local(LocalKind::Temporary, &name, ty, 1));
        path.temps.push(local);
        local
    }

    pub fn temp_place(&self, local: usize) -> Place {
        self.local_place(local, Expr::int(0))
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
            path.access = path.loc;
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
            access: path.access.or(path.loc).filter(|_| path.accessed),
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
        if self.undefined.is_read_by(&inst.kind) {
            self.world.note_uninitialised(inst.loc.or(path.loc), "");
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
                let bytes = match count {
                    Operand::Int { value: 1, .. } => layout.bytes(),
                    _ => u64::MAX,
                };
                let scalars = all_scalars(layout).unwrap_or_default();
                let gaps = gaps_between(scalars.into_iter(), bytes);
                if self.may_read_unwritten(path.block, path.index, id, bytes, gaps) {
                    self.world
                        .note_uninitialised(inst.loc, &code.values[id].name);
                }
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
            Kind::Load {
                pointer,
                shape,
                atomic,
            } => {
                if shape.len() != 1 {
                    return self.load_parts(path, pointer, shape, inst.result);
                }
                let cell = self.cell(&mut path, pointer, 0, memory_width(shape[0]))?;
                let access = Access {
                    writes: false,
                    atomic: *atomic,
                };
                let Some(mut going_on) = self.reach_noted(path, &cell, access)? else {
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
                atomic,
            } => {
                if shape.len() != 1 {
                    return self.store_parts(path, pointer, value, shape);
                }
                let cell = self.cell(&mut path, pointer, 0, memory_width(shape[0]))?;
                let access = Access {
                    writes: true,
                    atomic: *atomic,
                };
                let Some(mut going_on) = self.reach_noted(path, &cell, access)? else {
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
                let access = Access {
                    writes: true,
                    atomic: true,
                };
                let Some(mut going_on) = self.reach_noted(path, &cell, access)? else {
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
                let access = Access {
                    writes: true,
                    atomic: true,
                };
                let Some(mut going_on) = self.reach_noted(path, &cell, access)? else {
                    return Ok(Vec::new());
                };
                let expected = self.scalar(&mut going_on, expected)?;
                let new = self.scalar(&mut going_on, new)?;
                let old = self.read(&going_on, &cell);
                let same = Part::combine(&[&old, &expected], |args| {
                    equal(args[0].clone(), args[1].clone())
                });
                let Some(is_same) = same.pre().cloned() else {
                    // The edge has changed what is compared; a new one begins here.
                    self.finish(going_on);
                    return Ok(Vec::new());
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
            Kind::Library {
                name, args, shape, ..
            } => {
                let mut next = self.library(path, name, args, shape, inst.result)?;
                for path in &mut next {
                    path.index += 1;
                }
                return Ok(next);
            }
            Kind::Call { .. } | Kind::Unsupported(_) => {
                return Err(Problem::new("a call that was not put in line", inst.loc).code("C099"));
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
                return Err(Problem::new(message, path.loc).help("read its fields one by one"));
            }
            let access = Access {
                writes: false,
                atomic: false,
            };
            let Some(going_on) = self.reach_noted(path, &cell, access)? else {
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
                return Err(Problem::new(message, path.loc).help("write its fields one by one"));
            }
            let access = Access {
                writes: true,
                atomic: false,
            };
            let Some(mut going_on) = self.reach_noted(path, &cell, access)? else {
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
        let read = match end {
            Terminator::Return(Some(value)) | Terminator::EndThread(value) => Some(value),
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Switch { value, .. } => Some(value),
            _ => None,
        };
        if read.is_some_and(|operand| self.undefined.is_in(operand)) {
            self.world.note_uninitialised(path.loc, "");
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
                Err(Problem::new("code that leads nowhere", end_loc).code("C099"))
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
