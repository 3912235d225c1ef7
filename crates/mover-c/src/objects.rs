//! Which variables need an address, and how the others are split.
//!
//! A variable that is only ever accessed directly (by its name, with constant offsets and array
//! indices, each time as the scalar of its type) needs no address. It is split into one array
//! of cells for each of its scalar fields: `struct { int x; struct { char c; } a[4]; } s`
//! becomes `s.x` and the array `s.a.c` of four. All later analyses work best on this form.
//! Everything else (its address is stored, passed on, compared, or its bytes are read as
//! another type) is *addressed* and becomes an object of bytes.
//!
//! The analysis is flow-insensitive: one indirect use makes a variable addressed for the whole
//! program.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::flatten::Body;
use crate::flatten::copying::is_gap;
use crate::lifetimes::{Event, Life, Predecessors};
use crate::ssa::*;

/// A variable: of the program, or a local of the code of one kind of thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Object {
    Global(GlobalId),
    /// Body and the value of the alloca.
    Local(usize, ValueId),
}

/// An address as a sum: a variable, bytes, and indices with the bytes of an element.
#[derive(Clone, PartialEq, Debug)]
pub struct Form {
    pub object: Object,
    pub offset: i64,
    pub terms: Vec<(Operand, i64)>,
    /// The bytes of an element in those terms that move the pointer itself: they can
    /// lead anywhere in the variable, whatever they start from.
    pub free_steps: Vec<i64>,
}

/// One index of an access: the sum of the constant and of the operands, each
/// times its factor, must be below the count.
#[derive(Clone, PartialEq, Debug)]
pub struct Dimension {
    pub constant: i64,
    pub terms: Vec<(Operand, i64)>,
    pub count: u64,
}

/// A scalar of a variable that is not addressed.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaf {
    /// Where it lies if all indices are 0: its name among the leaves.
    pub offset: u64,
    pub bytes: u64,
    pub dimensions: Vec<Dimension>,
}

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub is_addressed: bool,
    /// Bodies that access it.
    pub bodies: BTreeSet<usize>,
    pub is_written: bool,
    /// By offset: bytes, and the number of cells.
    pub leaves: BTreeMap<u64, (u64, u64)>,
    /// The bytes of scalars that were accessed; the smallest makes the cells.
    pub has_lifetime: bool,
}

pub struct Objects<'a> {
    module: &'a Module,
    bodies: &'a [Body],
    /// By body: where each value is defined.
    definitions: Vec<HashMap<ValueId, &'a Inst>>,
    pub facts: BTreeMap<Object, Facts>,
    all_writes: bool,
    /// Of the locals of the body that is inspected.
    lives: HashMap<Object, Life<BlockId>>,
    /// The block and the number of the instruction that is inspected.
    at: (BlockId, usize),
}

/// The fields of a library type that the model uses: offset and bytes.
fn library_fields(name: &str, pointer_bytes: u64) -> Option<Vec<(u64, u64)>> {
    let kind = mutex_kind_offset(pointer_bytes);
    let plain = name
        .trim_start_matches("union.")
        .trim_start_matches("struct.");
    let plain = plain.split('.').next().unwrap_or(plain);
    Some(match plain {
        "pthread_mutex_t" | "mtx_t" => vec![(0, 4), (4, 4), (kind, 4)],
        "pthread_cond_t" | "cnd_t" => vec![(0, 8)],
        "pthread_rwlock_t" => vec![(0, 4), (4, 4)],
        "pthread_barrier_t" => vec![(0, 4), (4, 4), (8, 8)],
        "sem_t" | "pthread_mutexattr_t" | "pthread_attr_t" => vec![(0, 4)],
        "once_flag" => vec![(0, 4)],
        _ => return None,
    })
}

/// Where the C library keeps the kind of a mutex, for its static initialisers.
pub fn mutex_kind_offset(pointer_bytes: u64) -> u64 {
    if pointer_bytes == 8 { 16 } else { 12 }
}

/// How many bytes the C library has for what a function initialises, where it may be too little.
pub fn library_bytes(initialiser: &str, pointer_bytes: u64) -> Option<u64> {
    let (with_64_bits, with_32_bits) = match initialiser {
        "pthread_mutex_init" | "mtx_init" => (40, 24),
        "pthread_rwlock_init" => (56, 32),
        "pthread_cond_init" | "cnd_init" => (48, 48),
        "pthread_barrier_init" => (32, 20),
        "pthread_attr_init" => (56, 36),
        "sem_init" => (32, 16),
        _ => return None,
    };
    Some(if pointer_bytes == 8 {
        with_64_bits
    } else {
        with_32_bits
    })
}

/// What mutexes contain besides their owner, in some program.
#[derive(Clone, Copy)]
pub struct MutexFields {
    pub have_kinds: bool,
    pub are_robust: bool,
}

/// Which bytes behind its pointer arguments a library primitive accesses:
/// argument, offset, bytes.
pub fn library_accesses(
    name: &str,
    pointer_bytes: u64,
    mutexes: MutexFields,
) -> Vec<(usize, i64, u64)> {
    let kind = mutex_kind_offset(pointer_bytes) as i64;
    match name {
        "mutex_lock" | "mutex_trylock" | "mutex_unlock" | "mutex_init" | "mutex_destroy"
        | "mutex_timedlock" | "mutex_consistent" | "mutex_owner_died" => {
            let mut all = vec![(0, 0, 4)];
            if mutexes.have_kinds {
                all.extend([(0, 4, 4), (0, kind, 4)]);
            }
            if mutexes.are_robust {
                all.push((0, 8, 4));
            }
            all
        }
        "spin_lock" | "spin_trylock" | "spin_unlock" | "spin_destroy" => vec![(0, 0, 4)],
        "rwlock_rdlock" | "rwlock_wrlock" | "rwlock_tryrdlock" | "rwlock_trywrlock"
        | "rwlock_unlock" | "rwlock_destroy" => vec![(0, 0, 4), (0, 4, 4)],
        "sem_wait" | "sem_trywait" | "sem_timedwait" | "once_begin" => vec![(0, 0, 4)],
        "cond_sleep" | "cond_wake" => {
            let mut all = vec![(0, 0, 8), (1, 0, 4)];
            if mutexes.have_kinds {
                all.push((1, 4, 4));
            }
            if mutexes.are_robust {
                all.push((1, 8, 4));
            }
            all
        }
        "cond_signal" => vec![(0, 0, 8)],
        "barrier_arrive" | "barrier_leave" => vec![(0, 0, 4), (0, 4, 4), (0, 8, 8)],
        _ => Vec::new(),
    }
}

/// The scalars of a first-class value in memory: offset and width of each.
pub fn parts(shape: &[u8]) -> Vec<(i64, u8)> {
    let mut at = 0i64;
    shape
        .iter()
        .map(|&width| {
            let bytes = i64::from(width.div_ceil(8));
            let aligned = (at + bytes - 1) / bytes * bytes;
            at = aligned + bytes;
            (aligned, width)
        })
        .collect()
}

impl<'a> Objects<'a> {
    /// With `all_writes`, writes whose result is never read count as well, as for data races.
    pub fn find(
        module: &'a Module,
        bodies: &'a [Body],
        mutexes: MutexFields,
        all_writes: bool,
    ) -> Objects<'a> {
        let definitions = bodies
            .iter()
            .map(|body| {
                let insts = body.blocks.iter().flat_map(|block| &block.insts);
                insts
                    .filter_map(|inst| Some((inst.result?, inst)))
                    .collect()
            })
            .collect();
        let mut objects = Objects {
            module,
            bodies,
            definitions,
            facts: BTreeMap::new(),
            all_writes,
            lives: HashMap::new(),
            at: (0, 0),
        };
        for number in 0..bodies.len() {
            objects.survey(number, mutexes);
        }
        objects.follow_initialisers();
        objects
    }

    /// The address that an operand always stands for.
    pub fn form(&self, body: usize, operand: &Operand) -> Option<Form> {
        match operand {
            Operand::Global(id) => Some(Form {
                object: Object::Global(*id),
                offset: 0,
                terms: Vec::new(),
                free_steps: Vec::new(),
            }),
            Operand::Value(id) => match &self.definitions[body].get(id)?.kind {
                Kind::Alloca { .. } => Some(Form {
                    object: Object::Local(body, *id),
                    offset: 0,
                    terms: Vec::new(),
                    free_steps: Vec::new(),
                }),
                Kind::Pure(pure) => self.form_of_pure(body, pure),
                _ => None,
            },
            Operand::Pure(pure) => self.form_of_pure(body, pure),
            _ => None,
        }
    }

    fn form_of_pure(&self, body: usize, pure: &Pure) -> Option<Form> {
        match pure {
            Pure::Copy(arg) => self.form(body, arg),
            Pure::Gep {
                base,
                offset,
                terms,
                moves_base,
            } => {
                let mut form = self.form(body, base)?;
                form.offset = form.offset.checked_add(*offset)?;
                if *moves_base && let Some((_, step)) = terms.first() {
                    form.free_steps.push(*step);
                }
                form.terms.extend(terms.iter().cloned());
                Some(form)
            }
            _ => None,
        }
    }

    /// The variable of which an instruction writes a byte between its scalars and does nothing else.
    /// That is nothing, unless something else makes the variable addressed.
    pub fn gap_written(&self, body: usize, kind: &Kind) -> Option<Object> {
        let Kind::Store { pointer, shape, .. } = kind else {
            return None;
        };
        let form = self.form(body, pointer)?;
        let is_byte = shape[..] == [8] && form.terms.is_empty();
        (is_byte && !self.all_writes && is_gap(&self.layout(form.object), form.offset))
            .then_some(form.object)
    }

    pub fn layout(&self, object: Object) -> Layout {
        match object {
            Object::Global(id) => self.module.globals[id].layout.clone(),
            Object::Local(body, value) => match &self.definitions[body][&value].kind {
                Kind::Alloca { layout, count, .. } => match count {
                    Operand::Int { value: 1, .. } => layout.clone(),
                    Operand::Int { value, .. } => Layout::Array {
                        stride: layout.bytes(),
                        element: Box::new(layout.clone()),
                        count: *value,
                    },
                    _ => Layout::Opaque { bytes: 0 },
                },
                _ => Layout::Opaque { bytes: 0 },
            },
        }
    }

    pub fn debug(&self, object: Object) -> &DebugType {
        static NONE: DebugType = DebugType { fields: Vec::new() };
        match object {
            Object::Global(id) => &self.module.globals[id].debug,
            Object::Local(body, value) => match &self.definitions[body][&value].kind {
                Kind::Alloca { debug, .. } => debug,
                _ => &NONE,
            },
        }
    }

    pub fn name(&self, object: Object) -> String {
        match object {
            Object::Global(id) => crate::llvm::short(&self.module.globals[id].name),
            Object::Local(body, value) => self.bodies[body].values[value].name.clone(),
        }
    }

    pub fn facts(&self, object: Object) -> Option<&Facts> {
        self.facts.get(&object)
    }

    pub fn is_addressed(&self, object: Object) -> bool {
        self.facts
            .get(&object)
            .is_some_and(|facts| facts.is_addressed)
    }

    /// The leaf to which an access of this many bytes refers, if it is exactly one.
    pub fn leaf(&self, form: &Form, bytes: u64) -> Option<Leaf> {
        let mut leaf = Leaf {
            offset: 0,
            bytes,
            dimensions: Vec::new(),
        };
        let layout = self.layout(form.object);
        let steps_over_elements = |step: &i64| match &layout {
            Layout::Array { stride, .. } => *stride != 0 && step % *stride as i64 == 0,
            _ => false,
        };
        if !form.free_steps.iter().all(steps_over_elements) {
            return None;
        }
        let pointer = self.module.pointer_bytes;
        resolve(&layout, form.offset, &form.terms, pointer, &mut leaf).then_some(leaf)
    }

    fn address_taken(&mut self, body: usize, form: &Form) {
        let facts = self.facts.entry(form.object).or_default();
        facts.is_addressed = true;
        facts.bodies.insert(body);
    }

    fn touched(&mut self, body: usize, object: Object, writes: bool) -> &mut Facts {
        let facts = self.facts.entry(object).or_default();
        facts.bodies.insert(body);
        facts.is_written |= writes;
        facts
    }

    /// Notes an access through an operand, which is direct if it has a form.
    fn access(&mut self, body: usize, pointer: &Operand, at: i64, bytes: u64, writes: bool) {
        let Some(mut form) = self.form(body, pointer) else {
            self.use_of(body, pointer);
            return;
        };
        form.offset += at;
        self.note(form.object, Event::Access);
        let leaf = self.leaf(&form, bytes);
        let facts = self.touched(body, form.object, writes);
        match leaf {
            Some(leaf) => {
                let cells = leaf.dimensions.iter().map(|d| d.count).product();
                facts.leaves.insert(leaf.offset, (bytes, cells));
            }
            None => facts.is_addressed = true,
        }
        // What the indices consist of.
        for (operand, _) in form.terms {
            self.use_of(body, &operand);
        }
    }

    /// A use of a value as a number: if it is an address, the variable is addressed.
    fn use_of(&mut self, body: usize, operand: &Operand) {
        if let Some(form) = self.form(body, operand) {
            self.address_taken(body, &form);
            for (term, _) in form.terms {
                self.use_of(body, &term);
            }
            return;
        }
        match operand {
            Operand::Pure(pure) => {
                for operand in pure.operands() {
                    self.use_of(body, operand);
                }
            }
            Operand::Aggregate(parts) => parts.iter().for_each(|part| self.use_of(body, part)),
            _ => {}
        }
    }

    fn survey(&mut self, body: usize, mutexes: MutexFields) {
        let bodies = self.bodies;
        let mut predecessors = Predecessors::new();
        for (number, block) in bodies[body].blocks.iter().enumerate() {
            for next in block.end.successors() {
                predecessors.entry(next).or_default().push(number);
            }
            for (index, inst) in block.insts.iter().enumerate() {
                self.at = (number, index);
                self.survey_inst(body, inst, mutexes);
            }
            match &block.end {
                Terminator::Return(Some(value)) | Terminator::EndThread(value) => {
                    self.use_of(body, value);
                }
                Terminator::Branch { condition, .. } => self.use_of(body, condition),
                Terminator::Switch { value, .. } => self.use_of(body, value),
                _ => {}
            }
        }
        // What may be accessed when it is dead needs an address that can dangle.
        for (object, life) in std::mem::take(&mut self.lives) {
            if !life.has_all_accesses(&predecessors, bodies[body].entry) {
                self.facts.entry(object).or_default().is_addressed = true;
            }
        }
    }

    /// Remembers what happens to a local variable; others live for ever.
    fn note(&mut self, object: Object, event: Event) {
        if let Object::Local(..) = object {
            let (block, index) = self.at;
            let life = self.lives.entry(object).or_default();
            life.note(block, index, event);
        }
    }

    fn survey_inst(&mut self, body: usize, inst: &Inst, mutexes: MutexFields) {
        match &inst.kind {
            Kind::Load { pointer, shape, .. } => {
                for (at, width) in parts(shape) {
                    self.access(body, pointer, at, u64::from(width.div_ceil(8)), false);
                }
            }
            Kind::Store {
                pointer,
                value,
                shape,
                ..
            } => {
                self.use_of(body, value);
                if let Some(object) = self.gap_written(body, &inst.kind) {
                    self.note(object, Event::Access);
                    self.touched(body, object, true);
                    return;
                }
                for (at, width) in parts(shape) {
                    self.access(body, pointer, at, u64::from(width.div_ceil(8)), true);
                }
            }
            Kind::Rmw {
                pointer,
                value,
                width,
                ..
            } => {
                self.use_of(body, value);
                self.access(body, pointer, 0, u64::from(width.div_ceil(8)), true);
            }
            Kind::CompareExchange {
                pointer,
                expected,
                new,
                width,
                ..
            } => {
                self.use_of(body, expected);
                self.use_of(body, new);
                self.access(body, pointer, 0, u64::from(width.div_ceil(8)), true);
            }
            Kind::Lifetime { pointer, begins } => {
                if let Some(form) = self.form(body, pointer) {
                    let event = if *begins { Event::Begins } else { Event::Ends };
                    self.note(form.object, event);
                    self.facts.entry(form.object).or_default().has_lifetime = true;
                }
            }
            // Only asked is how large it is.
            Kind::Library { name, .. } if name == "room_for" => {}
            Kind::Library { name, args, .. } => {
                let accesses = library_accesses(name, self.module.pointer_bytes, mutexes);
                for (index, arg) in args.iter().enumerate() {
                    if !accesses.iter().any(|(of, _, _)| *of == index) {
                        self.use_of(body, arg);
                    }
                }
                for (index, at, bytes) in accesses {
                    self.access(body, &args[index], at, bytes, true);
                }
            }
            Kind::Alloca { count, .. } => {
                if let Some(id) = inst.result {
                    let facts = self.facts.entry(Object::Local(body, id)).or_default();
                    facts.is_addressed |= !matches!(count, Operand::Int { .. });
                }
                self.use_of(body, count);
            }
            // An address is computed; what counts is what is done with it.
            Kind::Pure(pure) if self.form_of_pure(body, pure).is_some() => {}
            kind => kind
                .operands()
                .into_iter()
                .for_each(|operand| self.use_of(body, operand)),
        }
    }

    /// The initial values of the variables that are used refer to others.
    fn follow_initialisers(&mut self) {
        let mut work: Vec<GlobalId> = self.used_globals();
        let mut seen: BTreeSet<GlobalId> = BTreeSet::new();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            let module = self.module;
            if let Some(Initial::Bytes { addresses, .. }) = &module.globals[id].initial {
                for (_, operand) in addresses {
                    let mut found = Vec::new();
                    globals_in(operand, &mut found);
                    for target in found {
                        let facts = self.facts.entry(Object::Global(target)).or_default();
                        facts.is_addressed = true;
                        work.push(target);
                    }
                }
            }
        }
    }

    pub fn used_globals(&self) -> Vec<GlobalId> {
        let objects = self.facts.keys();
        objects
            .filter_map(|object| match object {
                Object::Global(id) => Some(*id),
                Object::Local(..) => None,
            })
            .collect()
    }

    /// The definition of a value.
    pub fn definition(&self, body: usize, value: ValueId) -> Option<&'a Inst> {
        self.definitions[body].get(&value).copied()
    }
}

fn globals_in(operand: &Operand, out: &mut Vec<GlobalId>) {
    match operand {
        Operand::Global(id) => out.push(*id),
        Operand::Pure(pure) => pure
            .operands()
            .into_iter()
            .for_each(|operand| globals_in(operand, out)),
        _ => {}
    }
}

/// Finds the scalar at an address within a type.
fn resolve(
    layout: &Layout,
    offset: i64,
    terms: &[(Operand, i64)],
    pointer_bytes: u64,
    leaf: &mut Leaf,
) -> bool {
    match layout {
        Layout::Scalar { bytes } => offset == 0 && terms.is_empty() && *bytes == leaf.bytes,
        Layout::Opaque { .. } => false,
        Layout::Array {
            element,
            count,
            stride,
        } => {
            let stride = *stride as i64;
            if stride == 0 {
                return false;
            }
            let (here, below): (Vec<_>, Vec<_>) = terms
                .iter()
                .cloned()
                .partition(|(_, step)| step % stride == 0);
            leaf.dimensions.push(Dimension {
                constant: offset.div_euclid(stride),
                terms: here
                    .into_iter()
                    .map(|(operand, step)| (operand, step / stride))
                    .collect(),
                count: *count,
            });
            resolve(
                element,
                offset.rem_euclid(stride),
                &below,
                pointer_bytes,
                leaf,
            )
        }
        Layout::Struct {
            name,
            fields,
            bytes,
        } => {
            let known = library_fields(name, pointer_bytes);
            let inside = |at: u64, size: u64| {
                offset >= at as i64 && (offset as u64) < at + size.max(1) && offset >= 0
            };
            if let Some(known) = known {
                return terms.is_empty()
                    && offset < *bytes as i64
                    && known.iter().any(|&(at, size)| {
                        offset == at as i64 && size == leaf.bytes && {
                            leaf.offset += at;
                            true
                        }
                    });
            }
            let Some((at, field)) = fields
                .iter()
                .find(|(at, field)| inside(*at, field.bytes()) && field.bytes() > 0)
            else {
                return false;
            };
            leaf.offset += at;
            resolve(field, offset - *at as i64, terms, pointer_bytes, leaf)
        }
    }
}

/// The width in bytes of the cells that suit a type: its smallest scalar.
pub fn cell_bytes(layout: &Layout, pointer_bytes: u64) -> u64 {
    fn smallest(layout: &Layout, pointer_bytes: u64) -> u64 {
        match layout {
            Layout::Scalar { bytes } if matches!(bytes, 1 | 2 | 4 | 8) => *bytes,
            Layout::Scalar { .. } | Layout::Opaque { .. } => 1,
            Layout::Array { element, .. } => smallest(element, pointer_bytes),
            Layout::Struct { name, fields, .. } => {
                if library_fields(name, pointer_bytes).is_some() {
                    return 4;
                }
                fields
                    .iter()
                    .filter(|(_, field)| field.bytes() > 0)
                    .map(|(at, field)| {
                        let size = smallest(field, pointer_bytes);
                        // Packed structures are not aligned.
                        if at % size == 0 { size } else { 1 }
                    })
                    .min()
                    .unwrap_or(1)
            }
        }
    }
    let size = smallest(layout, pointer_bytes);
    if layout.bytes().is_multiple_of(size) {
        size
    } else {
        1
    }
}
