//! What all threads share: the program under construction.
//!
//! Decides once for all bodies which variables are split into cells, which become objects with
//! an address and in which order (their numbers are part of pointers), which threads there can
//! be, and how source locations are printed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mover_ir::expr::{BinaryOp, Expr, Ty, mask};
use mover_ir::program::{
    AllocationSite, CellName, CellNames, Init, PointerLayout, Property, SiteId, SiteKind,
    SymbolSet, SymbolSetId, TemplateId, Variable, VariableId,
};
use mover_ir::validate::MAX_ROW;
use mover_source::{FileId, SourceMap, Span};

use crate::expr_builder::{binary, constant, equal};
use crate::flatten::{Body, Notes, Problem};
use crate::objects::{Leaf, Object, Objects, cell_bytes};
use crate::shadow::Shadows;
use crate::ssa::*;

/// How the program is to be understood.
#[derive(Clone, Debug)]
pub struct Settings {
    pub properties: BTreeSet<Property>,
    pub spurious_wakeups: bool,
    /// The arguments of the program, after its name.
    pub arguments: Vec<String>,
    pub malloc_may_fail: bool,
    /// Whether an allocation may get the address of a freed object.
    pub reuses_addresses: bool,
}

/// The set of the names of functions.
const FUNCTIONS: SymbolSetId = SymbolSetId(0);

pub struct World<'a> {
    pub module: &'a Module,
    pub bodies: &'a [Body],
    pub objects: &'a Objects<'a>,
    pub settings: &'a Settings,
    pub notes: &'a Notes,
    pub sources: SourceMap,
    files: Vec<Option<FileId>>,
    pub globals: Vec<Variable>,
    rows: HashMap<(Object, u64), VariableId>,
    /// Addressed variables that live as long as the program.
    pub memory: BTreeMap<Object, VariableId>,
    /// How many of them are constants; their objects have the first numbers.
    pub constants: u64,
    pub sites: Vec<AllocationSite>,
    stack_sites: HashMap<Object, SiteId>,
    /// By body and value of the call.
    heap_sites: HashMap<(usize, ValueId), SiteId>,
    pub threads: Threads,
    /// Names for values: first those of functions, then those of enumerations.
    symbols: RefCell<Vec<SymbolSet>>,
    /// Which memory is told apart by whether it has been written.
    pub shadows: Shadows,
    /// The allocation sites of it, and the addresses of global variables that it is.
    shadow_sites: Vec<SiteId>,
    shadow_bases: Vec<u64>,
    /// The first left shift, if overflows are searched for.
    pub shifted: Option<Option<Loc>>,
    /// The first wait for a condition variable that ends only if it is told to.
    pub waits: Option<Option<Loc>>,
    /// Where the program looks whether an attempt to lock has failed, if races are looked for.
    pub failed_attempts: Option<Option<Loc>>,
    /// How many objects from `malloc` there are, if that counts.
    pub live_objects: Option<VariableId>,
    /// What the parameters of `main` are.
    pub arguments: Vec<u64>,
}

/// Bytes, and addresses in them: offset and number.
type InitialBytes = (Vec<u8>, Vec<(u64, u64)>);

/// Which threads there can be.
pub struct Threads {
    /// The template of each function that threads start with.
    pub templates: BTreeMap<FunctionId, TemplateId>,
    /// All functions that a thread can start with if the pointer is not constant.
    pub routines: Vec<FunctionId>,
    /// The number in the thread's handle where a thread is created only once.
    pub fixed: HashMap<(usize, ValueId), u64>,
    /// Bodies that at most one thread runs.
    pub once: BTreeSet<usize>,
    /// The first handle that is given out at run time, and how many there are.
    pub first_free: u64,
    pub dynamic: u64,
    /// State of each handle: see [`crate::actions`].
    pub status: Option<VariableId>,
    pub results: Option<VariableId>,
    /// By handle: whether some thread has asked that it be cancelled.
    pub cancel_requests: Option<VariableId>,
    pub keys: Option<VariableId>,
    /// Which keys were deleted, if some are.
    pub deleted_keys: Option<VariableId>,
    pub has_detach: bool,
}

impl Threads {
    /// Maximum number of threads that are alive at a time.
    pub fn most(&self) -> u32 {
        // Handle 0 is none, 1 the main thread's.
        (self.first_free - 1 + self.dynamic) as u32
    }

    pub fn handles(&self) -> u64 {
        self.first_free + self.dynamic
    }
}

impl<'a> World<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        module: &'a Module,
        bodies: &'a [Body],
        objects: &'a Objects<'a>,
        settings: &'a Settings,
        notes: &'a Notes,
        sources: SourceMap,
        files: Vec<Option<FileId>>,
        threads: Threads,
        shadows: Shadows,
    ) -> Result<World<'a>, Problem> {
        let mut world = World {
            module,
            bodies,
            objects,
            settings,
            notes,
            sources,
            files,
            globals: Vec::new(),
            rows: HashMap::new(),
            memory: BTreeMap::new(),
            constants: 0,
            sites: Vec::new(),
            stack_sites: HashMap::new(),
            heap_sites: HashMap::new(),
            threads,
            symbols: RefCell::default(),
            shadows,
            shadow_sites: Vec::new(),
            shadow_bases: Vec::new(),
            shifted: None,
            waits: None,
            failed_attempts: None,
            live_objects: None,
            arguments: Vec::new(),
        };
        let functions = world.function_names();
        world.symbols.borrow_mut().push(functions);
        world.place_objects()?;
        world.add_arguments();
        world.find_sites();
        world.place_shadows();
        world.add_thread_rows();
        if settings.properties.contains(&Property::MemoryCleanup) && !world.sites.is_empty() {
            world.live_objects = Some(world.model_row("%live_objects", Ty::unsigned(32), 1));
        }
        Ok(world)
    }

    pub fn wants(&self, property: Property) -> bool {
        self.settings.properties.contains(&property)
    }

    pub fn pointers(&self) -> PointerLayout {
        self.module.pointers()
    }

    /// LLVM does not tell shifts of signed numbers from others. Those that have no place in the source
    /// are the library's own, unless nothing has.
    pub fn note_shift(&mut self, loc: Option<Loc>) {
        let knows_places = self.files.iter().any(Option::is_some);
        if self.span(loc).is_some() || !knows_places {
            self.shifted.get_or_insert(loc);
        }
    }

    /// The line of the source as a span.
    pub fn span(&self, loc: Option<Loc>) -> Option<Span> {
        let loc = loc?;
        let file = (*self.files.get(loc.file as usize)?)?;
        let source = self.sources.file(file);
        let range = source.line_range(loc.line as usize);
        let text = source.text.get(range.clone())?;
        let start = range.start + (text.len() - text.trim_start().len());
        let end = range.start + text.trim_end().len();
        (start < end).then(|| Span::new(file, start, end))
    }

    /// Whether an addressed variable lives as long as the program.
    fn is_static(&self, object: Object) -> bool {
        match object {
            Object::Global(id) => !self.module.globals[id].thread_local,
            Object::Local(body, value) => {
                let has_lifetime = self
                    .objects
                    .facts(object)
                    .is_some_and(|facts| facts.has_lifetime);
                let has_size = matches!(
                    self.objects.definition(body, value).map(|inst| &inst.kind),
                    Some(Kind::Alloca {
                        count: Operand::Int { .. },
                        ..
                    })
                );
                let body = &self.bodies[body];
                // What belongs to `main` goes with it if it ends before the process does.
                let ends = |block: &Block| matches!(block.end, Terminator::EndThread(_));
                let stays = body.is_main && !body.blocks.iter().any(ends);
                stays && !has_lifetime && has_size
            }
        }
    }

    /// Whether a variable is small enough to be kept in states.
    pub fn check_size(&self, object: Object) -> Result<(), Problem> {
        let layout = self.objects.layout(object);
        let bytes = layout.bytes();
        let cells = bytes / cell_bytes(&layout, self.module.pointer_bytes).max(1);
        if bytes > self.pointers().max_object_size() || cells > u64::from(MAX_ROW) {
            let name = self.objects.name(object);
            let message = format!("`{name}` has {bytes} bytes, more than is supported");
            let help =
                "check the program with a smaller array, for instance by a macro for its size";
            return Err(Problem::new(message, self.loc_of(object)).help(help));
        }
        Ok(())
    }

    /// Assigns numbers, then initial values, to addressable variables.
    fn place_objects(&mut self) -> Result<(), Problem> {
        let addressed: Vec<Object> = self
            .objects
            .facts
            .iter()
            .filter(|(_, facts)| facts.is_addressed)
            .map(|(object, _)| *object)
            .filter(|object| self.is_static(*object))
            .collect();
        let is_constant = |object: &Object| match object {
            Object::Global(id) => self.module.globals[*id].is_constant,
            Object::Local(..) => false,
        };
        let (constants, variables): (Vec<Object>, Vec<Object>) =
            addressed.into_iter().partition(is_constant);
        for object in constants.into_iter().chain(variables) {
            if let Object::Global(id) = object
                && self.module.globals[id].initial.is_none()
            {
                // Only declared: an error where it is accessed.
                continue;
            }
            let layout = self.objects.layout(object);
            let bytes = layout.bytes();
            let loc = self.loc_of(object);
            let name = self.objects.name(object);
            self.check_size(object)?;
            let cell = cell_bytes(&layout, self.module.pointer_bytes);
            let id = VariableId(self.globals.len() as u32);
            let more_bytes = self.shadows.more_bytes(object);
            let len = ((bytes.next_multiple_of(cell) + more_bytes) / cell).max(1) as u32;
            let signed = self.sign(object, 0);
            self.globals.push(Variable {
                name: tidy(&name),
                ty: Ty {
                    width: 8 * cell as u8,
                    signed,
                },
                len,
                is_array: bytes / cell > 1,
                init: Init::All(0),
                symbols: None,
                span: self.span(loc),
                addressable: true,
                names: self.cell_names(object, &layout),
            });
            self.memory.insert(object, id);
            self.constants += u64::from(match object {
                Object::Global(id) => self.module.globals[id].is_constant,
                Object::Local(..) => false,
            });
        }
        for (object, id) in self.memory.clone() {
            let Object::Global(global) = object else {
                continue;
            };
            let (bytes, addresses) = self.checked_initial(global)?;
            let mut bytes = bytes;
            let pointer = self.module.pointer_bytes as usize;
            for (at, value) in addresses {
                let at = at as usize;
                if let Some(target) = bytes.get_mut(at..at + pointer) {
                    target.copy_from_slice(&value.to_le_bytes()[..pointer]);
                }
            }
            let variable = &mut self.globals[id.index()];
            let cell = usize::from(variable.ty.width / 8);
            let cells: Vec<u64> = bytes
                .chunks(cell)
                .map(|chunk| {
                    let mut word = [0u8; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                })
                .collect();
            if cells.iter().any(|&cell| cell != 0) && cells.len() == variable.len as usize {
                variable.init = Init::Cells(cells);
            }
        }
        Ok(())
    }

    /// What `main` gets: the name of the program and the arguments asked for.
    fn add_arguments(&mut self) {
        let main = &self.bodies[0];
        if main.params == 0 {
            return;
        }
        let words = std::iter::once("program".to_string());
        let words: Vec<String> = words.chain(self.settings.arguments.clone()).collect();
        self.arguments = vec![words.len() as u64];
        if main.params > 1 {
            let pointers = self.pointers();
            let width = self.module.pointer_width();
            let mut vector_cells = Vec::new();
            for (at, word) in words.iter().enumerate() {
                vector_cells.push(pointers.address(self.globals.len() as u64 + 1));
                let mut cells: Vec<u64> = word.bytes().map(u64::from).collect();
                cells.push(0);
                let name = format!("%argv[{at}]");
                let row = self.model_row(&name, Ty::unsigned(8), cells.len() as u32);
                self.globals[row.index()].init = Init::Cells(cells);
                self.globals[row.index()].addressable = true;
            }
            vector_cells.push(0);
            let number = self.globals.len() as u64 + 1;
            let vector = self.model_row("%argv", Ty::unsigned(width), vector_cells.len() as u32);
            self.globals[vector.index()].init = Init::Cells(vector_cells);
            self.globals[vector.index()].addressable = true;
            self.arguments.push(pointers.address(number));
        }
        // Further parameters (the environment) are null.
        self.arguments.resize(main.params, 0);
    }

    fn loc_of(&self, object: Object) -> Option<Loc> {
        match object {
            Object::Global(id) => self.module.globals[id].loc,
            Object::Local(body, value) => self.objects.definition(body, value)?.loc,
        }
    }

    fn sign(&self, object: Object, offset: u64) -> bool {
        let fields = &self.objects.debug(object).fields;
        fields
            .iter()
            .find(|field| field.offset == offset)
            .is_some_and(|field| field.signed)
    }

    fn cell_names(&self, object: Object, layout: &Layout) -> CellNames {
        let stride = match layout {
            Layout::Array { stride, .. } => *stride,
            _ => 0,
        };
        let mut names = self.names_of(self.objects.debug(object), stride);
        if self.shadows.more_bytes(object) > 0 {
            names.hidden_bytes = self.shadows.distance;
        }
        names
    }

    fn checked_initial(&self, id: GlobalId) -> Result<InitialBytes, Problem> {
        let global = &self.module.globals[id];
        if let Some(Initial::Unsupported(what)) = &global.initial {
            let message = format!("the initial value of `{}`: {what}", global.name);
            return Err(Problem::new(message, global.loc));
        }
        Ok(self.initial_bytes(id))
    }

    /// The initial bytes of a variable, and the addresses in it as numbers.
    pub fn initial_bytes(&self, id: GlobalId) -> InitialBytes {
        let global = &self.module.globals[id];
        match &global.initial {
            Some(Initial::Bytes { bytes, addresses }) => {
                let addresses = addresses
                    .iter()
                    .filter_map(|(at, operand)| Some((*at, self.constant_address(operand)?)))
                    .collect();
                (bytes.clone(), addresses)
            }
            _ => (vec![0; global.layout.bytes() as usize], Vec::new()),
        }
    }

    /// An address that is a constant of the program, as a number.
    fn constant_address(&self, operand: &Operand) -> Option<u64> {
        match operand {
            Operand::Int { value, .. } => Some(*value),
            Operand::Function(id) => Some(self.function_address(*id)),
            Operand::Global(id) => self.number_of(Object::Global(*id)),
            Operand::Pure(pure) => match &**pure {
                Pure::Copy(arg) | Pure::Resize { arg, .. } => self.constant_address(arg),
                Pure::Gep {
                    base,
                    offset,
                    terms,
                    ..
                } if terms.is_empty() => {
                    Some(self.constant_address(base)?.wrapping_add(*offset as u64))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn number_of(&self, object: Object) -> Option<u64> {
        let id = *self.memory.get(&object)?;
        let before = self.globals[..id.index()].iter();
        let object = 1 + before.filter(|variable| variable.addressable).count() as u64;
        Some(self.pointers().address(object))
    }

    pub fn address_of(&self, object: Object) -> Option<Expr> {
        let variable = *self.memory.get(&object)?;
        let width = self.module.pointer_width();
        Some(Expr::Address { variable, width })
    }

    pub fn function_address(&self, id: FunctionId) -> u64 {
        self.module.function_address(id)
    }

    fn function_names(&self) -> SymbolSet {
        let functions = self.module.functions.iter().enumerate();
        let width = self.pointers().width;
        SymbolSet {
            names: functions
                .filter(|(_, function)| !function.is_runtime)
                .map(|(id, function)| {
                    let address = Ty::unsigned(width).number(self.function_address(id));
                    (address, crate::llvm::short(&function.name))
                })
                .collect(),
        }
    }

    /// How a pointer is printed: where it points to, or the function.
    pub fn pointer_names(&self) -> CellNames {
        CellNames::pointers(self.pointers(), Some(FUNCTIONS))
    }

    /// The set of an enumeration's names; none if there are none.
    pub fn enumeration(&self, names: &[(i64, String)]) -> Option<SymbolSetId> {
        if names.is_empty() {
            return None;
        }
        let mut sets = self.symbols.borrow_mut();
        let known = sets.iter().position(|set| set.names == names);
        let number = known.unwrap_or_else(|| {
            sets.push(SymbolSet {
                names: names.to_vec(),
            });
            sets.len() - 1
        });
        Some(SymbolSetId(number as u32))
    }

    pub fn symbols(&self) -> Vec<SymbolSet> {
        self.symbols.take()
    }

    /// What the fields of an object, or of each of its elements, are called.
    fn names_of(&self, debug: &DebugType, stride: u64) -> CellNames {
        let library = debug.fields.iter().flat_map(library_parts);
        let fields = debug
            .fields
            .iter()
            .filter(|field| matches!(field.bytes, 1 | 2 | 4 | 8))
            .map(|field| CellName {
                offset: field.offset,
                name: field.path.trim_start_matches('.').to_string(),
                ty: Ty {
                    width: (8 * field.bytes) as u8,
                    signed: field.signed,
                },
                is_pointer: field.is_pointer,
                symbols: if field.is_pointer {
                    Some(FUNCTIONS)
                } else {
                    self.enumeration(&field.enumerators)
                },
            })
            .chain(library)
            .collect();
        CellNames {
            stride,
            fields,
            hidden_bytes: 0,
        }
    }

    /// The row of a scalar of a variable that has no address.
    pub fn row(&mut self, object: Object, leaf: &Leaf) -> Option<VariableId> {
        if let Some(&known) = self.rows.get(&(object, leaf.offset)) {
            return Some(known);
        }
        if let Object::Global(id) = object
            && self.module.globals[id].initial.is_none()
        {
            return None;
        }
        let (mut variable, init) = self.row_variable(object, leaf);
        variable.init = init;
        let id = VariableId(self.globals.len() as u32);
        self.globals.push(variable);
        self.rows.insert((object, leaf.offset), id);
        Some(id)
    }

    /// How the row of a scalar is called and what it begins with.
    pub fn row_variable(&self, object: Object, leaf: &Leaf) -> (Variable, Init) {
        let fields = &self.objects.debug(object).fields;
        let field = fields.iter().find(|field| field.offset == leaf.offset);
        let path = match field {
            Some(field) => field.path.clone(),
            None if leaf.offset == 0 => String::new(),
            None => format!("+{}", leaf.offset),
        };
        let len = leaf.dimensions.iter().map(|d| d.count).product::<u64>() as u32;
        let name = format!("{}{path}", tidy(&self.objects.name(object)));
        let variable = Variable {
            name,
            ty: Ty {
                width: (8 * leaf.bytes) as u8,
                signed: field.is_some_and(|field| field.signed),
            },
            len: len.max(1),
            is_array: !leaf.dimensions.is_empty(),
            init: Init::All(0),
            symbols: field.and_then(|field| self.enumeration(&field.enumerators)),
            span: self.span(self.loc_of(object)),
            addressable: false,
            names: match field {
                Some(field) if field.is_pointer => self.pointer_names(),
                _ => CellNames::default(),
            },
        };
        let init = match object {
            Object::Global(id) => self.row_init(id, leaf, variable.len),
            Object::Local(..) => Init::All(0),
        };
        (variable, init)
    }

    fn row_init(&self, id: GlobalId, leaf: &Leaf, len: u32) -> Init {
        let (mut bytes, addresses) = self.initial_bytes(id);
        let pointer = self.module.pointer_bytes as usize;
        for (at, value) in addresses {
            let at = at as usize;
            if let Some(target) = bytes.get_mut(at..at + pointer) {
                target.copy_from_slice(&value.to_le_bytes()[..pointer]);
            }
        }
        let layout = &self.module.globals[id].layout;
        let mut offsets = Vec::new();
        leaf_offsets(layout, leaf.offset, 0, &mut offsets);
        let cells: Vec<u64> = offsets
            .iter()
            .map(|&at| {
                let mut word = [0u8; 8];
                let (at, size) = (at as usize, leaf.bytes as usize);
                if let Some(found) = bytes.get(at..at + size) {
                    word[..size].copy_from_slice(found);
                }
                u64::from_le_bytes(word)
            })
            .collect();
        if cells.len() == len as usize && cells.iter().any(|&cell| cell != 0) {
            Init::Cells(cells)
        } else {
            Init::All(0)
        }
    }

    /// Whether only one thread ever accesses a variable.
    pub fn is_private(&self, object: Object) -> bool {
        let Some(facts) = self.objects.facts(object) else {
            return true;
        };
        if !facts.is_written {
            return true;
        }
        let mut bodies = facts.bodies.iter();
        match (bodies.next(), bodies.next()) {
            (Some(only), None) => self.threads.once.contains(only),
            (None, _) => true,
            _ => false,
        }
    }

    fn find_sites(&mut self) {
        for (number, body) in self.bodies.iter().enumerate() {
            for inst in body.blocks.iter().flat_map(|block| &block.insts) {
                let (Kind::Library { name, args, .. }, Some(id)) = (&inst.kind, inst.result) else {
                    continue;
                };
                if !name.starts_with("allocate") {
                    continue;
                }
                let info = &body.values[id];
                let name = match (&info.pointee, self.span(inst.loc)) {
                    (Some(pointee), _) => pointee.name.clone(),
                    (None, Some(span)) => format!("heap@{}", self.sources.locate(span).line),
                    (None, None) => "heap".to_string(),
                };
                let names = match &info.pointee {
                    Some(pointee) => {
                        let is_one = matches!(args.first(), Some(Operand::Int { value, .. })
                            if *value == pointee.bytes);
                        self.names_of(&pointee.debug, if is_one { 0 } else { pointee.bytes })
                    }
                    None => CellNames::default(),
                };
                let mut names = names;
                let site = SiteId(self.sites.len() as u32);
                if self.shadows.allocations.contains(&(number, id)) {
                    names.hidden_bytes = self.shadows.distance;
                    self.shadow_sites.push(site);
                }
                self.sites.push(AllocationSite {
                    name,
                    cell: Ty::unsigned(32),
                    kind: SiteKind::Heap,
                    names,
                    span: self.span(inst.loc),
                });
                self.heap_sites.insert((number, id), site);
            }
        }
    }

    /// Makes known where the objects are that have a shadow.
    fn place_shadows(&mut self) {
        let addressed = |object: &Object| self.objects.is_addressed(*object);
        let variables: Vec<Object> = self.shadows.variables.iter().copied().collect();
        for object in variables.into_iter().filter(addressed) {
            match self.memory.get(&object) {
                Some(id) => {
                    let before = &self.globals[..id.index()];
                    let number = before.iter().filter(|other| other.addressable).count() as u64;
                    self.shadow_bases.push(self.pointers().address(number + 1));
                }
                None => {
                    let site = self.stack_site(object);
                    self.shadow_sites.push(site);
                }
            }
        }
    }

    /// Whether no object with addresses has a shadow.
    pub fn has_no_shadowed_memory(&self) -> bool {
        self.shadow_sites.is_empty() && self.shadow_bases.is_empty()
    }

    /// Whether the object at an address has a shadow.
    pub fn has_shadow(&self, address: Expr) -> Expr {
        let layout = self.pointers();
        let base = binary(
            BinaryOp::And,
            address.clone(),
            constant(!mask(layout.offset_bits), layout.width),
        );
        let is_dynamic = match self.shadow_sites.is_empty() {
            true => Expr::FALSE,
            false => Expr::ObjectSite {
                address: Box::new(address),
                sites: self.shadow_sites.clone(),
            },
        };
        self.shadow_bases.iter().fold(is_dynamic, |found, &global| {
            found.or(equal(base.clone(), constant(global, layout.width)))
        })
    }

    pub fn heap_site(&self, body: usize, value: ValueId) -> Option<SiteId> {
        self.heap_sites.get(&(body, value)).copied()
    }

    pub fn all_heap_sites(&self) -> Vec<SiteId> {
        let mut sites: Vec<SiteId> = self.heap_sites.values().copied().collect();
        sites.sort_unstable();
        sites
    }

    pub fn stack_site(&mut self, object: Object) -> SiteId {
        if let Some(&known) = self.stack_sites.get(&object) {
            return known;
        }
        let layout = self.objects.layout(object);
        let site = SiteId(self.sites.len() as u32);
        self.sites.push(AllocationSite {
            name: tidy(&self.objects.name(object)),
            cell: Ty::unsigned(8 * cell_bytes(&layout, self.module.pointer_bytes) as u8),
            kind: SiteKind::Stack,
            names: self.cell_names(object, &layout),
            span: self.span(self.loc_of(object)),
        });
        self.stack_sites.insert(object, site);
        site
    }

    /// The rows that the model of threads keeps.
    fn add_thread_rows(&mut self) {
        let has = |wanted: &str| {
            self.bodies.iter().any(|body| {
                let insts = body.blocks.iter().flat_map(|block| &block.insts);
                insts
                    .into_iter()
                    .any(|inst| matches!(&inst.kind, Kind::Library { name, .. } if name == wanted))
            })
        };
        self.threads.has_detach = has("thread_detach") || self.has_detached_start();
        let cancels = has("thread_cancel");
        let has_status =
            has("thread_join") || cancels || self.threads.has_detach || self.threads.dynamic > 0;
        let has_keys = has("key_create");
        let deletes_keys = has_keys && has("key_delete");
        let handles = self.threads.handles() as u32;
        if has_status {
            let mut cells = vec![0; handles as usize];
            if let Some(main) = cells.get_mut(1) {
                *main = crate::actions::RUNNING;
            }
            let id = self.model_row("%thread_status", Ty::unsigned(8), handles);
            self.globals[id.index()].init = Init::Cells(cells);
            self.threads.status = Some(id);
        }
        if cancels {
            let row = self.model_row("%cancel_requests", Ty::unsigned(8), handles);
            self.threads.cancel_requests = Some(row);
        }
        if self.notes.uses_join_results {
            let ty = Ty::unsigned(self.module.pointer_width());
            self.threads.results = Some(self.model_row("%thread_result", ty, handles));
        }
        if has_keys {
            self.threads.keys = Some(self.model_row("%pthread_keys", Ty::unsigned(32), 1));
        }
        if deletes_keys {
            let row = self.model_row("%deleted_keys", Ty::unsigned(8), crate::actions::MOST_KEYS);
            self.threads.deleted_keys = Some(row);
        }
    }

    fn has_detached_start(&self) -> bool {
        self.bodies.iter().any(|body| {
            let mut insts = body.blocks.iter().flat_map(|block| &block.insts);
            insts.any(|inst| match &inst.kind {
                Kind::Library { name, args, .. } if name == "thread_start" => {
                    !matches!(args.get(1), Some(Operand::Int { value: 0, .. }))
                }
                _ => false,
            })
        })
    }

    fn model_row(&mut self, name: &str, ty: Ty, len: u32) -> VariableId {
        let id = VariableId(self.globals.len() as u32);
        self.globals.push(Variable {
            name: name.into(),
            ty,
            len,
            is_array: len != 1,
            init: Init::All(0),
            symbols: None,
            span: None,
            addressable: false,
            names: CellNames::default(),
        });
        id
    }
}

/// Where the cells of a leaf lie, in the order of its row.
fn leaf_offsets(layout: &Layout, wanted: u64, base: u64, out: &mut Vec<u64>) {
    match layout {
        Layout::Array {
            element,
            count,
            stride,
        } => {
            for index in 0..*count {
                leaf_offsets(element, wanted, base + index * stride, out);
            }
        }
        Layout::Struct { fields, .. } => {
            let field = fields
                .iter()
                .filter(|(at, field)| *at <= wanted && wanted < at + field.bytes().max(1))
                .find(|(_, field)| field.bytes() > 0);
            match field {
                Some((at, field)) => leaf_offsets(field, wanted - at, base + at, out),
                None => out.push(base + wanted),
            }
        }
        _ => out.push(base + wanted),
    }
}

/// A name without what LLVM appends to static variables of functions.
pub(crate) fn tidy(name: &str) -> String {
    match name.split_once('.') {
        Some((function, variable)) if !function.is_empty() && !variable.is_empty() => {
            let variable = variable.split('.').next().unwrap_or(variable);
            if variable.chars().all(|c| c.is_ascii_digit()) {
                function.to_string()
            } else {
                variable.to_string()
            }
        }
        _ => name.to_string(),
    }
}

/// The cells of an object of the thread library within a structure, whose size the debug
/// information gives only as the extent of the field: `lock`, `lock+4`.
fn library_parts(field: &DebugField) -> Vec<CellName> {
    /// What `pthread_cond_t` takes; its first cell is a word with a bit for each waiting thread.
    const CONDITION: u64 = 48;
    let parts: &[(u64, u8)] = match (field.bytes, field.extent) {
        (0, CONDITION) => &[(0, 64)],
        (0, 32) => &[(0, 32), (4, 32), (8, 64)],
        (0, 40..) => &[(0, 32), (4, 32), (16, 32)],
        _ => &[],
    };
    let name = field.path.trim_start_matches('.');
    let part = |&(at, width): &(u64, u8)| CellName {
        offset: field.offset + at,
        name: match at {
            0 => name.to_string(),
            _ => format!("{name}+{at}"),
        },
        ty: Ty::unsigned(width),
        is_pointer: false,
        symbols: None,
    };
    let is_named = !name.is_empty();
    parts.iter().filter(|_| is_named).map(part).collect()
}
