//! From bodies of code to automata.
//!
//! A location of the automaton is a point of the code just before a *shared access*: one load,
//! store, atomic operation or library primitive that other threads can observe. An edge does
//! that one access and then all local computation up to the next one. So an edge never contains
//! two accesses that another thread could interleave with, and local computation costs nothing.
//!
//! The edges from a location are found by symbolic execution of the code from there ([`Path`]):
//! values are expressions over the local variables at the beginning of the edge. A branch
//! splits the path, and its condition becomes part of the guard. Where a path returns to a
//! block that it has passed, or where too many paths meet, it is cut: the block gets its own
//! location.
//!
//! A value that is needed after a location has a local variable (a *slot*). Slots of the same C
//! variable that are never live together share one local variable, and a dead slot is set to 0:
//! states that differ only in dead values are one state.
//!
//! An expression has two readings: `now`, after the effects that the edge has had so far, and
//! `pre`, before all of them, which guards need. Usually they are the same; where a store comes
//! between, `now` is saved in a temporary first.
//!
//! A location with only local steps, and not on a cycle of such steps, is made atomic: no other
//! thread can observe the difference.
//!
//! This module builds a template location by location and edge by edge. `run` executes the
//! code, `values` and `arithmetic` contain its expressions, `memory` its accesses; `locations`
//! and `locals` collect the parts of the template, and `finish` assembles it.

mod arithmetic;
mod failed_try;
mod finish;
mod first_write;
mod live;
mod locals;
mod locations;
mod memory;
mod path;
mod run;
mod touch;
mod undefined;
mod unset;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr, Ty};
use mover_ir::program::{
    BoundKind, BoundMark, CellNames, Effect, ErrorMark, Init, Property, SymbolSetId,
};
use mover_ir::sync::SyncOp;

use crate::expr_builder::{binary, constant, not};
use crate::flatten::{Body, Problem};
use crate::objects::Object;
use crate::ssa::*;
use crate::world::World;

pub use finish::Finished;
pub use first_write::{FirstWrites, Unwritten, gaps_between};
pub use memory::Cell;
pub use path::{Part, Path};
use touch::Touch;
pub use undefined::Undefined;

/// Most paths from one location before blocks where ways join become locations.
const MOST_PATHS: usize = 48;

/// Expressions larger than this are computed into a temporary.
const LARGEST: usize = 48;

/// Where in an atomic section a thread stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mode {
    Outside,
    /// In a section that has not accessed anything yet; how many sections are nested.
    Begun(u8),
    Inside(u8),
}

/// Most sections that are nested.
const MOST_NESTED: u8 = 64;

impl Mode {
    /// In one more section; none if there are too many.
    fn entered(self) -> Option<Mode> {
        Some(match self {
            Mode::Outside => Mode::Begun(1),
            Mode::Begun(MOST_NESTED) | Mode::Inside(MOST_NESTED) => return None,
            Mode::Begun(depth) => Mode::Begun(depth + 1),
            Mode::Inside(depth) => Mode::Inside(depth + 1),
        })
    }

    fn left(self) -> Mode {
        match self {
            Mode::Outside | Mode::Begun(1) | Mode::Inside(1) => Mode::Outside,
            Mode::Begun(depth) => Mode::Begun(depth - 1),
            Mode::Inside(depth) => Mode::Inside(depth - 1),
        }
    }
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
    span: Option<mover_source::Span>,
}

/// A location in the making.
struct Stand {
    live: Vec<ValueId>,
    atomic: bool,
    valid_end: bool,
    error: Option<ErrorMark>,
    bound: Option<BoundMark>,
    labels: Vec<String>,
    loc: Option<Loc>,
}

impl Stand {
    fn ends_run(&self) -> bool {
        self.error.is_some() || self.bound.is_some()
    }
}

/// An edge whose slots have not got their variables yet.
struct Pending {
    from: usize,
    to: usize,
    guard: Expr,
    effects: Vec<Effect>,
    sync: Vec<SyncOp>,
    /// Slots and what they get, all at once.
    finals: Vec<(usize, Expr)>,
    temps: Vec<usize>,
    loc: Option<Loc>,
    shared: bool,
    /// Source location of the shared access.
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
    /// By row of a variable: the row that tells which of its cells have been written.
    shadow_rows: HashMap<usize, usize>,
    live_out: Vec<BTreeSet<ValueId>>,
    live_cache: RefCell<LiveCache>,
    recomputed_cache: RefCell<HashMap<ValueId, Option<Kind>>>,
    points: HashMap<Point, usize>,
    stands: Vec<Stand>,
    errors: HashMap<(Property, String, Option<Loc>), usize>,
    bounds: HashMap<(BoundKind, String, Option<Loc>), usize>,
    end: Option<usize>,
    failed_assumption: Option<usize>,
    /// The accesses that may be part of a data race, by where the thread is then.
    touches: Vec<(usize, Touch)>,
    /// Where a lock is tried.
    tries: BTreeSet<usize>,
    pending: Vec<Pending>,
    work: Vec<(usize, Point)>,
    cuts: BTreeSet<BlockId>,
    new_cuts: BTreeSet<BlockId>,
    joins: BTreeSet<BlockId>,
    undefined: Rc<Undefined>,
    from: usize,
}

impl<'w, 'a> Builder<'w, 'a> {
    /// Notes that the action tries a lock, and goes on if that fails.
    pub(crate) fn note_try(&mut self) {
        self.tries.insert(self.from);
    }

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
                shadow_rows: HashMap::new(),
                live_out: Vec::new(),
                live_cache: RefCell::default(),
                recomputed_cache: RefCell::default(),
                points: HashMap::new(),
                stands: Vec::new(),
                errors: HashMap::new(),
                bounds: HashMap::new(),
                end: None,
                failed_assumption: None,
                touches: Vec::new(),
                tries: BTreeSet::new(),
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
            if width == pointer && !info.signed && !info.is_number {
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
            sync: Vec::new(),
            accessed: false,
            has_havoc: false,
            written: BTreeSet::new(),
            wrote_memory: false,
            is_again: false,
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
        let size =
            self.world.objects.layout(object).bytes() + self.world.shadows.more_bytes(object);
        let place = self.local_place(local, Expr::int(0));
        path.effects.push(Effect::Allocate {
            site,
            reuse: 0,
            size: constant(size, width),
            result: place.clone(),
        });
        path.written.insert(place.variable);
        path.accessed = true;
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
        if let Mode::Begun(depth) = path.mode {
            path.mode = Mode::Inside(depth);
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

    /// Lets the path continue only where a condition holds; elsewhere is an error.
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
        let ends_run = self.stands[to].ends_run();
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
            effects: if ends_run { Vec::new() } else { path.effects },
            sync: if ends_run { Vec::new() } else { path.sync },
            finals: if ends_run { Vec::new() } else { finals },
            temps: path.temps,
            loc: path.loc,
            shared: path.accessed,
            access: path.access.or(path.loc).filter(|_| path.accessed),
            exits,
            text: None,
        });
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

    /// Continues in one of several ways: each has a condition on the state before
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
