//! Movers at run time.
//!
//! The class of a step depends on who has exclusive access to what it touches
//! (paper 002, Section 4), and that can be seen in a state: a lock belongs to the
//! thread that has it; a cell that is only ever touched under a lock belongs to
//! the thread that has the lock; a cell that one thread alone touches belongs to
//! that thread; what nothing writes disturbs nobody. Which of these holds is not
//! given but found out during the search (Section 6): for each object the locks
//! that were held at *every* access so far, who touched it, and whether it was
//! written. What turns out wrong later is taken back, see [`Ledger`].
//!
//! Three things were learnt by experiment. An access counts whether or not its
//! edge is enabled, and from the very first on. Exclusive access by locks means
//! having *all* of the common locks: so a set that shrinks, but not to nothing,
//! never takes an exclusiveness back. And locks are preferred to a single owner
//! as the reason, for the same sake.
//!
//! What the value of a cell says of its owner (`mover_reduce::owners`) counts as a
//! lock that the thread has: a cell that is a lock as such, a predicate that the
//! user has given as one that nobody takes or gives back by a mover.
//!
//! A reader-writer lock (`mover_reduce::rw_locks`) is in hand for reading data if the
//! thread has it in either way, for writing only if it has it to write. Whoever
//! has it in either way when it comes to data under it has the data as far as it
//! needs: had it written without the lock to write, the lock would not be among
//! those held at every access.
//!
//! **Channels** have two ends. A thread that alone receives from a channel with
//! a message in it can do so now or later, whatever others send; likewise a
//! thread that alone sends while there is room. These steps are left movers, but
//! not right movers: others may be waiting for them. A receive from an empty
//! channel or a send to a full one is no mover, since others decide about it.
//!
//! **Leaving.** The end of a thread is seen only by those who count or start
//! threads. If no other thread can reach such a place any more, it is a left
//! mover.
//!
//! **Waiting for threads.** While there is only one thread, whatever it does to
//! memory moves and does not count: neither before it has started the others nor
//! after it has waited for all of them. That is told by a row of cells which the
//! front end keeps; a step that touches it moves nowhere, except that a
//! thread's end may move left. So no transaction that is completed changes who is there, and a state in which there is another thread is
//! never replaced by one in which it has gone unobserved.
//!
//! With `dynamic`, what no other thread can reach any more is exclusive, too
//! (paper 001, Table 2), and what a thread does before it has started anybody who
//! knows the variable does not count.

use std::collections::HashMap;
use std::io;
use std::sync::OnceLock;

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::program::{Effect, LocationId, Program, SiteId, TemplateId, VariableId};
use mover_reduce::PhaseFacts;
use mover_reduce::access::{EdgeRef, Object};
use mover_reduce::owners::OwnerCell;
use mover_reduce::rw_locks::{Mode, RwLock};
use mover_reduce::touch::{End, Touch};

use crate::checkpoint::{Sink, Source, nonsense};
use crate::code::{Code, Compiler, View};
use crate::layout::Layout;
use crate::machine::{CompiledLocation, Machine, Moves, Step, Workspace};
use crate::memory::Memory;

/// Something that threads touch: a cell, a channel or one end of it.
pub type ObjectId = u32;

/// A row of objects, one of which is picked by an index.
#[derive(Debug)]
struct PickedCell {
    first: ObjectId,
    len: u32,
    /// All of the row if absent.
    index: Option<Code>,
}

#[derive(Debug)]
enum CompiledTouch {
    /// A cell of a row of locks.
    Lock(PickedCell),
    Cells {
        cells: PickedCell,
        variable: u32,
        writes: bool,
    },
    Channel {
        channel: Option<Code>,
        end: End,
    },
    OwnChannels,
    Object {
        object: Object,
        writes: bool,
    },
    Leaves {
        in_order: bool,
    },
    /// Tells those who wait that the thread has ended.
    Finishes,
    Seen,
}

#[derive(Debug, Default)]
struct EdgeFacts {
    touches: Vec<CompiledTouch>,
    takes: Vec<PickedCell>,
    /// Those among them that are taken to read.
    takes_to_read: Vec<ObjectId>,
    gives_back: bool,
    meets: Meets,
    /// Makes an offer, where others can see that none was made.
    offers: bool,
}

/// Whether an edge is a receive from a channel that may have no buffer.
#[derive(Debug, Default)]
enum Meets {
    #[default]
    Never,
    Always,
    /// If this channel has none; nobody else can change which one it is.
    At(Code),
}

#[derive(Debug, Default)]
struct LocationFacts {
    held: Vec<PickedCell>,
    /// Those among them that the thread has to read.
    held_to_read: Vec<ObjectId>,
    /// In the order of the compiled edges.
    edges: Vec<EdgeFacts>,
    takes_lock: bool,
    counts_ahead: bool,
    /// A channel is used or the thread ends on some way from here.
    may_release: bool,
    reads_ahead: Vec<bool>,
    writes_ahead: Vec<bool>,
    /// Variables that nobody else can have touched yet.
    alone: Vec<bool>,
}

/// The static side of run-time classification, by program counter.
pub struct PhaseTables {
    locations: Vec<LocationFacts>,
    /// Number of cells; the owners' predicates come after them, then other objects.
    cells: u32,
    owners: Vec<CompiledOwner>,
    /// Locks whose cells tell who has them.
    signed: Vec<CompiledOwner>,
    claims: Vec<Claim>,
    /// The cells that say which threads there are, if the program has such.
    presence: Vec<Code>,
}

/// What the user says protects a variable.
struct Claim {
    variable: u32,
    /// The predicate, as an object.
    object: ObjectId,
    /// Its number in the program.
    given: usize,
    /// The first access where the predicate did not hold.
    broken_by: OnceLock<EdgeRef>,
}

/// A cell whose value tells who has it.
struct CompiledOwner {
    /// The cell if it is a lock, else a number behind the cells.
    object: ObjectId,
    predicate: Code,
}

impl PhaseTables {
    pub fn new(
        program: &Program,
        layout: &Layout,
        memory: &Memory,
        facts: &PhaseFacts,
        locations: &[CompiledLocation],
    ) -> Self {
        let mut firsts = Vec::new();
        let mut cells = 0;
        for variable in &program.globals {
            firsts.push(cells);
            cells += variable.len;
        }
        let mut compiler = Compiler::new(program, layout, memory);
        let has_rendezvous = program.has_rendezvous();
        let mut all = vec![LocationFacts::default()];
        for (template, body) in program.templates.iter().enumerate() {
            compiler.template = template;
            for location in 0..body.locations.len() {
                let pc = layout.pc_of(TemplateId(template as u32), LocationId(location as u32));
                let pick = |variable: usize, index: Option<&Expr>| PickedCell {
                    first: firsts[variable],
                    len: program.globals[variable].len,
                    index: index.map(|index| compiler.expr(index)),
                };
                let touch = |touch: &Touch, is_quiet_end: bool| match touch {
                    Touch::Cells {
                        variable,
                        index,
                        writes,
                    } => {
                        if program.presence == Some(*variable) {
                            return if is_quiet_end {
                                CompiledTouch::Finishes
                            } else {
                                CompiledTouch::Seen
                            };
                        }
                        let cells = pick(variable.index(), index.as_ref());
                        let is_lock = facts.locks.is_lock(*variable);
                        if is_lock
                            || facts.is_rw(*variable)
                            || facts.owners.lock(*variable).is_some()
                        {
                            CompiledTouch::Lock(cells)
                        } else {
                            CompiledTouch::Cells {
                                cells,
                                variable: variable.0,
                                writes: *writes,
                            }
                        }
                    }
                    Touch::Channel { channel, end } => CompiledTouch::Channel {
                        channel: channel.as_ref().map(|channel| compiler.expr(channel)),
                        end: *end,
                    },
                    Touch::OwnChannels => CompiledTouch::OwnChannels,
                    Touch::Object { object, writes } => CompiledTouch::Object {
                        object: *object,
                        writes: *writes,
                    },
                    Touch::Leaves { in_order } => CompiledTouch::Leaves {
                        in_order: *in_order,
                    },
                    Touch::Counts | Touch::Seen => CompiledTouch::Seen,
                };
                let place = |place: &mover_reduce::lock_rows::LockPlace| {
                    pick(place.variable.index(), Some(&place.index))
                };
                let rw_cells = |is_meant: &dyn Fn(&RwLock) -> bool| {
                    let locks = facts.rw.iter().filter(|lock| is_meant(lock));
                    let cells: Vec<PickedCell> = locks
                        .flat_map(|lock| &lock.cells)
                        .map(|cell| pick(cell.index(), Some(&Expr::int(0))))
                        .collect();
                    cells.into_iter()
                };
                let meets = |edge: usize| {
                    let effects = &body.locations[location].edges[edge].effects;
                    let received = effects.iter().find_map(|effect| match effect {
                        Effect::Receive { channel, .. } => Some(channel),
                        _ => None,
                    });
                    match received {
                        Some(channel) if has_rendezvous => {
                            if facts.is_own(channel) {
                                Meets::At(compiler.expr(channel))
                            } else {
                                Meets::Always
                            }
                        }
                        _ => Meets::Never,
                    }
                };
                let edges: Vec<EdgeFacts> = locations[pc as usize]
                    .edges
                    .iter()
                    .map(|edge| {
                        let handled = facts.locks.handled(template, location, edge.original);
                        let at = EdgeRef {
                            template,
                            location,
                            edge: edge.original,
                        };
                        let owned = |does: fn(&OwnerCell, EdgeRef) -> bool| {
                            let locks = facts.owners.cells.iter().filter(|cell| cell.is_lock);
                            locks.filter(move |cell| does(cell, at))
                        };
                        let taken = owned(OwnerCell::is_taken_by)
                            .map(|cell| pick(cell.variable.index(), Some(&Expr::int(0))));
                        EdgeFacts {
                            touches: facts
                                .touches
                                .of(template, location, edge.original)
                                .iter()
                                .map(|touched| touch(touched, facts.quiet_ends.contains(&at)))
                                .collect(),
                            takes: handled
                                .takes
                                .iter()
                                .map(place)
                                .chain(taken)
                                .chain(rw_cells(&|lock| lock.taken_by(at).is_some()))
                                .collect(),
                            takes_to_read: rw_cells(&|lock| lock.taken_by(at) == Some(Mode::Reads))
                                .map(|cell| cell.first)
                                .collect(),
                            gives_back: !handled.gives_back.is_empty()
                                || owned(OwnerCell::is_given_back_by).next().is_some()
                                || facts.rw.iter().any(|lock| lock.gives_back.contains(&at)),
                            meets: meets(edge.original),
                            offers: facts.offers[template][location][edge.original],
                        }
                    })
                    .collect();
                let ahead = facts.ahead.ahead(template, location);
                let variables = 0..program.globals.len();
                all.push(LocationFacts {
                    held: facts
                        .locks
                        .held(template, location)
                        .iter()
                        .map(place)
                        .chain(rw_cells(&|lock| lock.held(template, location).is_some()))
                        .collect(),
                    held_to_read: rw_cells(&|lock| {
                        lock.held(template, location) == Some(Mode::Reads)
                    })
                    .map(|cell| cell.first)
                    .collect(),
                    takes_lock: edges.iter().any(|edge| !edge.takes.is_empty()),
                    counts_ahead: ahead.counts,
                    may_release: ahead.channels || ahead.leaves,
                    reads_ahead: variables.clone().map(|v| ahead.reads.contains(v)).collect(),
                    writes_ahead: variables
                        .clone()
                        .map(|v| ahead.writes.contains(v))
                        .collect(),
                    alone: variables
                        .map(|v| facts.ahead.is_alone(program, template, location, v))
                        .collect(),
                    edges,
                });
            }
        }
        let presence = program.presence.map_or_else(Vec::new, |variable| {
            let row = &program.globals[variable.index()];
            let cell = |index: u32| {
                let place = Place::element(
                    VariableRef::Global(variable),
                    Expr::int(index.into()),
                    row.ty,
                );
                compiler.expr(&Expr::Read(place))
            };
            (0..row.len).map(cell).collect()
        });
        let mut signed = Vec::new();
        for (variable, row) in program.globals.iter().enumerate() {
            let id = VariableId(variable as u32);
            let Some(mark) = facts.locks.mark(id) else {
                continue;
            };
            for index in 0..row.len {
                let of = VariableRef::Global(id);
                let cell = Expr::Read(Place::element(of, Expr::int(index.into()), row.ty));
                let mark = mark.clone().resize(row.ty.width, false);
                let is_own = Expr::binary(BinaryOp::Eq, cell, mark);
                signed.push(CompiledOwner {
                    object: firsts[variable] + index,
                    predicate: compiler.expr(&is_own),
                });
            }
        }
        let mut owners = Vec::new();
        let mut claims = Vec::new();
        let mut next = cells;
        for cell in &facts.owners.cells {
            let object = if cell.is_lock {
                firsts[cell.variable.index()]
            } else {
                next += 1;
                next - 1
            };
            claims.extend(cell.given.map(|given| Claim {
                variable: program.exclusive[given].variable.0,
                object,
                given,
                broken_by: OnceLock::new(),
            }));
            owners.push(CompiledOwner {
                object,
                predicate: compiler.expr(&cell.predicate),
            });
        }
        PhaseTables {
            locations: all,
            cells,
            owners,
            signed,
            claims,
            presence,
        }
    }
}

impl PhaseTables {
    /// Writes which claims are broken by what.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        for claim in &self.claims {
            let edge = claim.broken_by.get();
            sink.flag(edge.is_some())?;
            if let Some(edge) = edge {
                let EdgeRef {
                    template,
                    location,
                    edge,
                } = *edge;
                sink.numbers(&[template as u64, location as u64, edge as u64])?;
            }
        }
        Ok(())
    }

    pub fn restore(&self, source: &mut Source) -> Result<(), String> {
        for claim in &self.claims {
            if source.flag()? {
                let [template, location, edge] = source.numbers()?[..] else {
                    return Err(nonsense("a claim is broken by no edge"));
                };
                claim.broken_by.get_or_init(|| EdgeRef {
                    template: template as usize,
                    location: location as usize,
                    edge: edge as usize,
                });
            }
        }
        Ok(())
    }

    /// The claims of the user that some access did not keep to, and that access.
    pub fn broken_claims(&self) -> Vec<BrokenClaim> {
        let broken = |claim: &Claim| {
            let edge = *claim.broken_by.get()?;
            let given = claim.given;
            Some(BrokenClaim { given, edge })
        };
        self.claims.iter().filter_map(broken).collect()
    }
}

/// A variable is touched although the user's predicate does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BrokenClaim {
    /// The number among the program's claims.
    pub given: usize,
    /// In the program with atomic sequences fused.
    pub edge: EdgeRef,
}

impl PickedCell {
    /// The object, unless the index is outside of the row.
    fn pick(&self, view: &View) -> Option<ObjectId> {
        let index = view.eval(self.index.as_ref()?);
        (index < u64::from(self.len)).then(|| self.first + index as u32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Nobody,
    One(u16),
    Many,
}

/// What has been seen of an object.
#[derive(Clone, Debug)]
struct Sightings {
    /// Locks in hand at every access; all locks before the first.
    locks: Option<Vec<ObjectId>>,
    owner: Owner,
    written: bool,
}

impl Sightings {
    const NONE: Sightings = Sightings {
        locks: None,
        owner: Owner::Nobody,
        written: false,
    };

    fn is_protected(&self) -> bool {
        !matches!(&self.locks, Some(locks) if locks.is_empty())
            || self.owner != Owner::Many
            || !self.written
    }

    /// Whether a thread with these locks has it to itself.
    fn is_exclusive_to(&self, thread: u16, held: &[ObjectId]) -> bool {
        match &self.locks {
            Some(locks) if locks.is_empty() => !self.written || self.owner == Owner::One(thread),
            Some(locks) => locks.iter().all(|lock| held.contains(lock)),
            None => true,
        }
    }
}

/// What is believed of objects, and which blocks rest on it.
///
/// A block that counted on an object being exclusive notes it. When the object
/// loses its protection, exactly the blocks that counted on it have to be run
/// again; the states that they found are real and stay.
pub struct Ledger {
    cells: usize,
    /// Cells first, then what has been met of the rest.
    objects: Vec<Sightings>,
    numbers: HashMap<Key, ObjectId>,
    /// Objects that have lost their protection and whose blocks have not been told.
    fallen: Vec<ObjectId>,
    /// The sets of objects that blocks counted on.
    sets: HashMap<Box<[ObjectId]>, usize>,
    /// For each set the blocks.
    relying: Vec<Vec<Block>>,
    /// Whether accesses still change what is believed.
    is_frozen: bool,
    /// Whether anything has been seen that changed a belief since others were told.
    has_news: bool,
}

/// What a ledger believes, for other ledgers of the same search.
pub struct Beliefs {
    cells: Vec<Sightings>,
    others: Vec<(Key, Sightings)>,
}

/// A block by its state and thread; all threads if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Block {
    pub state: u32,
    pub thread: Option<u16>,
}

/// What is numbered when it is first met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// All of a channel.
    Channel(u64),
    SendingEnd(u64),
    ReceivingEnd(u64),
    Object(Object),
}

impl Ledger {
    fn new(cells: u32) -> Self {
        Ledger {
            cells: cells as usize,
            objects: vec![Sightings::NONE; cells as usize],
            numbers: HashMap::new(),
            fallen: Vec::new(),
            sets: HashMap::new(),
            relying: Vec::new(),
            is_frozen: false,
            has_news: false,
        }
    }

    /// What is believed now, if that has changed since the last call.
    pub fn changed_beliefs(&mut self) -> Option<Beliefs> {
        if !std::mem::take(&mut self.has_news) {
            return None;
        }
        let numbered = self.numbers.iter();
        let others = numbered.map(|(&key, &object)| (key, self.objects[object as usize].clone()));
        Some(Beliefs {
            cells: self.objects[..self.cells].to_vec(),
            others: others.collect(),
        })
    }

    /// Takes in what another ledger has seen.
    pub fn hear(&mut self, beliefs: &Beliefs) {
        for (object, theirs) in beliefs.cells.iter().enumerate() {
            self.join(object as ObjectId, theirs);
        }
        for (key, theirs) in &beliefs.others {
            let object = self.number(*key);
            self.join(object, theirs);
        }
    }

    fn join(&mut self, object: ObjectId, theirs: &Sightings) {
        let seen = &mut self.objects[object as usize];
        let before = seen.is_protected();
        match (&mut seen.locks, &theirs.locks) {
            (_, None) => {}
            (None, Some(locks)) => seen.locks = Some(locks.clone()),
            (Some(mine), Some(locks)) => mine.retain(|lock| locks.contains(lock)),
        }
        seen.owner = match (seen.owner, theirs.owner) {
            (Owner::Nobody, other) | (other, Owner::Nobody) => other,
            (Owner::One(a), Owner::One(b)) if a == b => Owner::One(a),
            _ => Owner::Many,
        };
        seen.written |= theirs.written;
        if before && !seen.is_protected() {
            self.fallen.push(object);
        }
    }

    /// Believes what it does now for ever.
    pub fn freeze(&mut self) {
        self.is_frozen = true;
    }

    fn number(&mut self, key: Key) -> ObjectId {
        let next = self.objects.len() as ObjectId;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.objects.push(Sightings::NONE);
        }
        number
    }

    fn see(&mut self, object: ObjectId, thread: u16, in_hand: &[ObjectId], writes: bool) {
        if self.is_frozen {
            return;
        }
        let seen = &mut self.objects[object as usize];
        let before = seen.is_protected();
        match &mut seen.locks {
            None => {
                seen.locks = Some(in_hand.to_vec());
                self.has_news = true;
            }
            Some(locks) => {
                let count = locks.len();
                locks.retain(|lock| in_hand.contains(lock));
                self.has_news |= locks.len() < count;
            }
        }
        let owner = match seen.owner {
            Owner::Nobody => Owner::One(thread),
            Owner::One(owner) if owner == thread => Owner::One(thread),
            _ => Owner::Many,
        };
        self.has_news |= owner != seen.owner || writes && !seen.written;
        seen.owner = owner;
        seen.written |= writes;
        if before && !seen.is_protected() {
            self.fallen.push(object);
        }
    }

    /// Notes what a block counted on.
    pub fn rely(&mut self, block: Block, on: &[ObjectId]) {
        if on.is_empty() {
            return;
        }
        let set = match self.sets.get(on) {
            Some(&set) => set,
            None => {
                let set = self.relying.len();
                self.sets.insert(on.into(), set);
                self.relying.push(Vec::new());
                set
            }
        };
        self.relying[set].push(block);
    }

    /// The blocks that counted on what has turned out wrong since the last call.
    pub fn take_invalid(&mut self) -> Vec<Block> {
        if self.fallen.is_empty() {
            return Vec::new();
        }
        let fallen = std::mem::take(&mut self.fallen);
        let mut invalid = Vec::new();
        for (on, &set) in &self.sets {
            if on.iter().any(|object| fallen.contains(object)) {
                invalid.append(&mut self.relying[set]);
            }
        }
        invalid.sort_unstable();
        invalid.dedup();
        invalid
    }

    /// Writes what is believed and who relies on it, between two expansions.
    pub fn save(&self, sink: &mut Sink) -> io::Result<()> {
        // Whatever joins the ledger has to be written, too.
        let Ledger {
            cells: _,
            objects,
            numbers,
            fallen,
            sets,
            relying,
            is_frozen: _,
            has_news,
        } = self;
        sink.number(objects.len() as u64)?;
        for seen in objects {
            let Sightings {
                locks,
                owner,
                written,
            } = seen;
            sink.flag(locks.is_some())?;
            sink.smalls(locks.as_deref().unwrap_or(&[]))?;
            sink.small(match owner {
                Owner::Nobody => 1 << 16,
                Owner::One(thread) => (*thread).into(),
                Owner::Many => 2 << 16,
            })?;
            sink.flag(*written)?;
        }
        // By number, so that the same search writes the same bytes.
        let mut numbered: Vec<(ObjectId, Key)> = numbers
            .iter()
            .map(|(&key, &object)| (object, key))
            .collect();
        numbered.sort_unstable_by_key(|&(object, _)| object);
        sink.number(numbered.len() as u64)?;
        for (object, key) in numbered {
            sink.small(object)?;
            let (kind, first, second) = key.to_numbers();
            sink.small(kind)?;
            sink.number(first)?;
            sink.small(second)?;
        }
        sink.smalls(fallen)?;
        let mut by_set: Vec<(usize, &[ObjectId])> =
            sets.iter().map(|(on, &set)| (set, &**on)).collect();
        by_set.sort_unstable_by_key(|&(set, _)| set);
        sink.number(by_set.len() as u64)?;
        for (set, on) in by_set {
            sink.smalls(on)?;
            save_blocks(&relying[set], sink)?;
        }
        sink.flag(*has_news)
    }

    /// Reads what was saved, of the same program.
    pub fn restore(&mut self, source: &mut Source, states: u32) -> Result<(), String> {
        let count = source.number()?;
        self.objects.clear();
        for _ in 0..count {
            let (has_locks, locks) = (source.flag()?, source.smalls()?);
            let owner = match source.small()? {
                0x1_0000 => Owner::Nobody,
                0x2_0000 => Owner::Many,
                thread => Owner::One(thread as u16),
            };
            self.objects.push(Sightings {
                locks: has_locks.then_some(locks),
                owner,
                written: source.flag()?,
            });
        }
        let is_object = |object: ObjectId| u64::from(object) < count;
        let no_object = || nonsense("a belief is about nothing");
        if count < self.cells as u64 {
            return Err(no_object());
        }
        for _ in 0..source.number()? {
            let object = source.small()?;
            let numbers = (source.small()?, source.number()?, source.small()?);
            let key = Key::from_numbers(numbers).filter(|_| is_object(object));
            self.numbers.insert(key.ok_or_else(no_object)?, object);
        }
        self.fallen = source.smalls()?;
        for set in 0..source.number()? {
            let on = source.smalls()?;
            if !on.iter().all(|&object| is_object(object)) {
                return Err(no_object());
            }
            self.sets.insert(on.into(), set as usize);
            self.relying.push(restore_blocks(source, states)?);
        }
        self.has_news = source.flag()?;
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        let blocks: usize = self.relying.iter().map(Vec::capacity).sum();
        blocks * size_of::<Block>() + self.objects.capacity() * size_of::<Sightings>()
    }
}

pub fn save_blocks(blocks: &[Block], sink: &mut Sink) -> io::Result<()> {
    sink.number(blocks.len() as u64)?;
    blocks.iter().try_for_each(|block| {
        sink.small(block.state)?;
        sink.small(block.thread.map_or(1 << 16, u32::from))
    })
}

/// Reads blocks of states that there are.
pub fn restore_blocks(source: &mut Source, states: u32) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    for _ in 0..source.number()? {
        let (state, thread) = (source.small()?, source.small()?);
        if state >= states {
            return Err(nonsense("a block begins nowhere"));
        }
        let thread = u16::try_from(thread).ok();
        blocks.push(Block { state, thread });
    }
    Ok(blocks)
}

impl Key {
    fn to_numbers(self) -> (u32, u64, u32) {
        match self {
            Key::Channel(channel) => (0, channel, 0),
            Key::SendingEnd(channel) => (1, channel, 0),
            Key::ReceivingEnd(channel) => (2, channel, 0),
            Key::Object(object) => match object {
                Object::Cell(variable, index) => (3, variable.0.into(), index),
                Object::Variable(variable) => (4, variable.0.into(), 0),
                Object::Channel(channel) => (5, channel.into(), 0),
                Object::AnyChannel => (6, 0, 0),
                Object::Threads => (7, 0, 0),
                Object::Inside(template) => (8, template.0.into(), 0),
                Object::Site(site) => (9, site.0.into(), 0),
                Object::Numbers => (10, 0, 0),
            },
        }
    }

    fn from_numbers((kind, first, second): (u32, u64, u32)) -> Option<Key> {
        let id = u32::try_from(first);
        Some(match kind {
            0 => Key::Channel(first),
            1 => Key::SendingEnd(first),
            2 => Key::ReceivingEnd(first),
            3 => Key::Object(Object::Cell(VariableId(id.ok()?), second)),
            4 => Key::Object(Object::Variable(VariableId(id.ok()?))),
            5 => Key::Object(Object::Channel(id.ok()?)),
            6 => Key::Object(Object::AnyChannel),
            7 => Key::Object(Object::Threads),
            8 => Key::Object(Object::Inside(TemplateId(id.ok()?))),
            9 => Key::Object(Object::Site(SiteId(id.ok()?))),
            10 => Key::Object(Object::Numbers),
            _ => return None,
        })
    }
}

/// What a thread's location looks like in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Some edge here is not a left mover, or there is none.
    pub ends_transaction: bool,
    /// A thread here can be the receiver of a rendezvous.
    pub is_met: bool,
    /// A lock is taken here.
    pub takes_lock: bool,
    /// A pure left mover may still come.
    pub may_release: bool,
}

/// An object that a step touches, as it was worked out in the state before.
#[derive(Clone, Copy, Debug)]
enum Touched {
    Lock(ObjectId),
    Data {
        object: ObjectId,
        variable: u32,
        writes: bool,
    },
    /// A channel whose end can go on by itself now.
    ReadyEnd {
        whole: ObjectId,
        end: ObjectId,
    },
    /// A channel that others decide about.
    Channel(ObjectId),
    /// Something in memory with addresses.
    Object(ObjectId),
    /// Leaves when it can; others may wait for it.
    Leaves {
        in_order: bool,
    },
    Finishes,
    Seen,
}

/// Classifies the steps of one block after the other.
pub struct Classifier<'m> {
    machine: &'m Machine,
    tables: &'m PhaseTables,
    pub ledger: Ledger,
    /// Whether what no other thread can reach is exclusive.
    by_reach: bool,
    /// Objects that the present block counts on.
    used: Vec<ObjectId>,
    held: Vec<ObjectId>,
    in_hand: Vec<ObjectId>,
    /// Without those that the thread has to read only.
    in_hand_to_write: Vec<ObjectId>,
    touched: Vec<Touched>,
    work: Workspace,
}

/// The locks that protect an access.
fn in_hand_for<'a>(writes: bool, all: &'a [ObjectId], to_write: &'a [ObjectId]) -> &'a [ObjectId] {
    if writes { to_write } else { all }
}

impl<'m> Classifier<'m> {
    pub fn new(machine: &'m Machine, tables: &'m PhaseTables, by_reach: bool) -> Self {
        Classifier {
            machine,
            tables,
            ledger: Ledger::new(tables.cells + tables.owners.len() as u32),
            by_reach,
            used: Vec::new(),
            held: Vec::new(),
            in_hand: Vec::new(),
            in_hand_to_write: Vec::new(),
            touched: Vec::new(),
            work: Workspace::default(),
        }
    }

    pub fn start_block(&mut self) {
        self.used.clear();
    }

    /// What the block since the start counts on, sorted; whether it still holds.
    pub fn finish_block(&mut self) -> (&[ObjectId], bool) {
        self.used.sort_unstable();
        self.used.dedup();
        let ledger = &self.ledger;
        let holds =
            (self.used.iter()).all(|&object| ledger.objects[object as usize].is_protected());
        (&self.used, holds)
    }

    fn facts(&self, lanes: &[u64], thread: usize) -> &'m LocationFacts {
        &self.tables.locations[self.machine.pc(lanes, thread)]
    }

    /// Looks at all edges of a thread's location and counts what they touch.
    pub fn look(&mut self, lanes: &[u64], thread: usize) -> Look {
        let facts = self.facts(lanes, thread);
        self.find_held(lanes, thread);
        let is_met = self.is_met(lanes, thread);
        let mut ends_transaction = facts.edges.is_empty() || is_met;
        for number in 0..facts.edges.len() {
            self.touched.clear();
            self.touch(lanes, thread, number);
            ends_transaction |= facts.edges[number].offers || !self.is_left(lanes, thread);
        }
        Look {
            ends_transaction,
            is_met,
            takes_lock: facts.takes_lock,
            may_release: facts.may_release || self.holds_lock(),
        }
    }

    /// Counts what all edges of a thread's location touch, in the middle of an atomic sequence.
    pub fn count_place(&mut self, lanes: &[u64], thread: usize) {
        self.touched.clear();
        self.find_held(lanes, thread);
        for number in 0..self.facts(lanes, thread).edges.len() {
            self.touch(lanes, thread, number);
        }
    }

    /// Whether another thread could take the next step of this one as a rendezvous.
    fn is_met(&self, lanes: &[u64], thread: usize) -> bool {
        let view = self.machine.view(lanes, thread, false);
        let mut edges = self.facts(lanes, thread).edges.iter();
        edges.any(|edge| match &edge.meets {
            Meets::Never => false,
            Meets::Always => true,
            Meets::At(channel) => {
                let found = view.channel(view.eval(channel));
                found.is_none_or(|(shape, _)| shape.capacity == 0)
            }
        })
    }

    /// Counts what a step touches, on both sides of a rendezvous.
    pub fn count(&mut self, lanes: &[u64], step: Step) {
        self.touched.clear();
        self.find_held(lanes, step.thread());
        self.touch(lanes, step.thread(), step.edge());
        if let Some((partner, edge)) = step.partner() {
            self.find_held(lanes, partner);
            self.touch(lanes, partner, edge);
        }
    }

    /// How the steps of a thread, which nobody comes between, commute as one.
    /// What they touch has been counted.
    pub fn moves(&mut self, before: &[u64], thread: usize, steps: &[Step], after: &[u64]) -> Moves {
        // A thread that leaves a place where it can be met withdraws an offer.
        let is_own = |step: &Step| step.thread() == thread && step.partner().is_none();
        if !steps.iter().all(is_own) || self.is_met(before, thread) {
            return Moves::NONE;
        }
        let mut moves = Moves::START;
        let mut offers = false;
        let mut work = std::mem::take(&mut self.work);
        work.lanes.clear();
        work.lanes.extend_from_slice(before);
        work.forget();
        let mut touched = Vec::new();
        for (position, &step) in steps.iter().enumerate() {
            let facts = &self.facts(&work.lanes, thread).edges[step.edge()];
            moves.takes_lock |= !facts.takes.is_empty();
            moves.gives_lock_back |= facts.gives_back;
            offers |= facts.offers;
            if position == 0 {
                self.count(&work.lanes, step);
            } else {
                // What it could have done there instead is up to whoever can change it.
                self.count_place(&work.lanes, thread);
            }
            touched.extend(self.touched.iter().map(|&touched| match touched {
                Touched::ReadyEnd { whole, .. } if position > 0 => Touched::Channel(whole),
                _ => touched,
            }));
            if position + 1 < steps.len() {
                self.machine.apply(&mut work, step);
            }
        }
        self.work = work;
        self.touched = touched;
        self.find_held(before, thread);
        moves.left = !offers && self.is_left(before, thread);
        self.find_held(after, thread);
        moves.right = self.is_right(after, thread);
        moves
    }

    /// The locks that a thread has.
    fn find_held(&mut self, lanes: &[u64], thread: usize) {
        let facts = self.facts(lanes, thread);
        let view = self.machine.view(lanes, thread, false);
        self.held.clear();
        self.held
            .extend(facts.held.iter().filter_map(|lock| lock.pick(&view)));
        let owners = self.tables.owners.iter();
        let owned = owners.filter(|owner| view.eval(&owner.predicate) != 0);
        self.held.extend(owned.map(|owner| owner.object));
        for lock in &self.tables.signed {
            if view.eval(&lock.predicate) != 0 && !self.held.contains(&lock.object) {
                self.held.push(lock.object);
            }
        }
    }

    /// Whether a lock is among what the thread has, not just a predicate.
    fn holds_lock(&self) -> bool {
        self.held.iter().any(|&object| object < self.tables.cells)
    }

    /// Appends what an edge touches and counts the accesses.
    fn touch(&mut self, lanes: &[u64], thread: usize, number: usize) {
        let here = self.facts(lanes, thread);
        let facts = &here.edges[number];
        let view = self.machine.view(lanes, thread, false);
        let is_only = self.is_only_thread(&view);
        self.in_hand.clear();
        self.in_hand.extend_from_slice(&self.held);
        let taken = facts.takes.iter().filter_map(|lock| lock.pick(&view));
        self.in_hand.extend(taken);
        self.in_hand_to_write.clear();
        let only_read =
            |lock| here.held_to_read.contains(lock) || facts.takes_to_read.contains(lock);
        let to_write = self.in_hand.iter().filter(|lock| !only_read(lock));
        self.in_hand_to_write.extend(to_write);
        for touch in &facts.touches {
            match touch {
                CompiledTouch::Lock(cell) => {
                    let picked = cell.pick(&view);
                    self.touched.extend(picked.map(Touched::Lock));
                }
                CompiledTouch::Cells {
                    cells,
                    variable,
                    writes,
                } => {
                    let is_alone = is_only || self.by_reach && here.alone[*variable as usize];
                    for claim in &self.tables.claims {
                        let is_kept = is_alone
                            || claim.variable != *variable
                            || self.in_hand.contains(&claim.object);
                        if !is_kept {
                            let edge = self.machine.edge_at(lanes, thread, number);
                            claim.broken_by.get_or_init(|| edge);
                        }
                    }
                    let picked = match &cells.index {
                        Some(_) => match cells.pick(&view) {
                            Some(object) => object..object + 1,
                            None => continue,
                        },
                        None => cells.first..cells.first + cells.len,
                    };
                    for object in picked {
                        if !is_alone {
                            let in_hand =
                                in_hand_for(*writes, &self.in_hand, &self.in_hand_to_write);
                            self.ledger.see(object, thread as u16, in_hand, *writes);
                        }
                        self.touched.push(Touched::Data {
                            object,
                            variable: *variable,
                            writes: *writes,
                        });
                    }
                }
                CompiledTouch::Channel {
                    channel: Some(channel),
                    end: End::Existence,
                } if self.machine.exists_for_good(view.eval(channel), thread) => {}
                CompiledTouch::Channel { channel, end } => {
                    let found = channel.as_ref().and_then(|channel| {
                        let handle = view.eval(channel);
                        let (shape, base) = view.channel(handle)?;
                        (shape.capacity > 0).then_some((handle, shape, base))
                    });
                    let Some((handle, shape, base)) = found else {
                        self.touched.push(Touched::Seen);
                        continue;
                    };
                    let whole = self.see_channel(handle, *end, thread);
                    let len = shape.len.get(lanes, base);
                    let is_ready = match end {
                        End::Both | End::Existence => false,
                        End::Send => len < u64::from(shape.capacity),
                        End::Receive => len > 0 && self.machine.finds_message(&view, number),
                    };
                    self.touched.push(if is_ready {
                        let end = self.ledger.number(match end {
                            End::Send => Key::SendingEnd(handle),
                            _ => Key::ReceivingEnd(handle),
                        });
                        Touched::ReadyEnd { whole, end }
                    } else {
                        Touched::Channel(whole)
                    });
                }
                CompiledTouch::OwnChannels => {
                    for handle in self.machine.own_channels(lanes, thread) {
                        let whole = self.see_channel(handle, End::Both, thread);
                        self.touched.push(Touched::Channel(whole));
                    }
                }
                CompiledTouch::Object { object, writes } => {
                    let object = self.ledger.number(Key::Object(*object));
                    if !is_only {
                        let in_hand = in_hand_for(*writes, &self.in_hand, &self.in_hand_to_write);
                        self.ledger.see(object, thread as u16, in_hand, *writes);
                    }
                    self.touched.push(Touched::Object(object));
                }
                CompiledTouch::Leaves { in_order } => {
                    let can = !in_order || self.machine.guard_holds(&view, number);
                    self.touched.push(if can {
                        Touched::Leaves {
                            in_order: *in_order,
                        }
                    } else {
                        Touched::Seen
                    });
                }
                CompiledTouch::Finishes => self.touched.push(Touched::Finishes),
                CompiledTouch::Seen => self.touched.push(Touched::Seen),
            }
        }
    }

    /// Whether all other threads have ended and been waited for, or never started.
    fn is_only_thread(&self, view: &View) -> bool {
        let mut present = self.tables.presence.iter();
        let is_present = |cell: &&Code| view.eval(cell) != 0;
        !self.tables.presence.is_empty() && present.by_ref().filter(is_present).take(2).count() < 2
    }

    /// Counts the use of a channel; gives the object that stands for all of it.
    fn see_channel(&mut self, handle: u64, end: End, thread: usize) -> ObjectId {
        let whole = self.ledger.number(Key::Channel(handle));
        let thread = thread as u16;
        self.ledger.see(whole, thread, &self.in_hand_to_write, true);
        if end != End::Receive {
            let sending = self.ledger.number(Key::SendingEnd(handle));
            self.ledger
                .see(sending, thread, &self.in_hand_to_write, true);
        }
        if end != End::Send {
            let receiving = self.ledger.number(Key::ReceivingEnd(handle));
            self.ledger
                .see(receiving, thread, &self.in_hand_to_write, true);
        }
        whole
    }

    fn others<'a>(
        &'a self,
        lanes: &'a [u64],
        thread: usize,
    ) -> impl Iterator<Item = &'m LocationFacts> + 'a {
        (0..self.machine.threads(lanes))
            .filter(move |&other| other != thread && self.machine.pc(lanes, other) != 0)
            .map(move |other| self.facts(lanes, other))
    }

    /// Whether no other thread can come to touch the variable in a way that matters.
    fn out_of_reach(&self, lanes: &[u64], thread: usize, variable: u32, writes: bool) -> bool {
        let variable = variable as usize;
        self.by_reach
            && self.others(lanes, thread).all(|facts| {
                !(facts.writes_ahead[variable] || writes && facts.reads_ahead[variable])
            })
    }

    /// Whether the thread has what was touched to itself, in a state where it
    /// has the locks that were found last.
    fn is_exclusive(&mut self, thread: usize, object: ObjectId) -> bool {
        let seen = &self.ledger.objects[object as usize];
        let is = seen.is_exclusive_to(thread as u16, &self.held);
        if is {
            self.used.push(object);
        }
        is
    }

    fn is_left(&mut self, lanes: &[u64], thread: usize) -> bool {
        self.all_move(lanes, thread, true)
    }

    fn is_right(&mut self, lanes: &[u64], thread: usize) -> bool {
        self.all_move(lanes, thread, false)
    }

    fn all_move(&mut self, lanes: &[u64], thread: usize, left: bool) -> bool {
        let counted_on = self.used.len();
        let is_only = self.is_only_thread(&self.machine.view(lanes, thread, false));
        for position in 0..self.touched.len() {
            let moves = match self.touched[position] {
                Touched::Lock(_) | Touched::Data { .. } | Touched::Object(_) if is_only => true,
                Touched::Lock(lock) => self.held.contains(&lock),
                Touched::Data {
                    object,
                    variable,
                    writes,
                } => {
                    self.out_of_reach(lanes, thread, variable, writes)
                        || self.is_exclusive(thread, object)
                }
                Touched::ReadyEnd { whole, end } => {
                    self.is_exclusive(thread, whole) || (left && self.is_exclusive(thread, end))
                }
                Touched::Channel(object) | Touched::Object(object) => {
                    self.is_exclusive(thread, object)
                }
                Touched::Leaves { in_order } => {
                    (left || !in_order)
                        && self.others(lanes, thread).all(|facts| !facts.counts_ahead)
                }
                Touched::Finishes => left,
                Touched::Seen => false,
            };
            if !moves {
                self.used.truncate(counted_on);
                return false;
            }
        }
        true
    }
}
