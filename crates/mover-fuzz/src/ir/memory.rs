//! Random programs about memory with addresses.
//!
//! Pointers to globals and to dynamic objects are copied, stored in objects of
//! every cell width, sent through channels, followed, moved by bytes, and used
//! after their objects are gone; loads and stores of every width hit cells of
//! every width, aligned or not.
//!
//! *Wild* programs make addresses out of anything, with offsets so small that
//! arithmetic leads from one object into the next. *Tame* programs keep the
//! promise of [`Program::pointers_stay`] by a discipline: all pointers point to the
//! first byte of an object, where an object holds a pointer; numbers are kept from
//! byte 8 on.

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef};
use mover_ir::program::*;

use super::pieces::{assign, empty, equal, global, local, locations, variable};
use crate::random::Random;

pub fn program(seed: u64) -> Program {
    let mut random = Random(seed ^ 0x00AD_D8E5);
    let tame = random.one_in(2);
    let pointers = if tame {
        random.pick(&[PointerLayout::LP64, PointerLayout::ILP32])
    } else {
        let small = |width| PointerLayout {
            width,
            offset_bits: 4,
        };
        random.pick(&[PointerLayout::LP64, small(32), small(64), small(32)])
    };
    let mut generator = Generator {
        program: Program {
            pointers,
            pointers_stay: tame,
            max_threads: 3,
            ..empty(format!("memory {seed}"))
        },
        random,
        template: 0,
        tame,
    };
    generator.declare();
    generator.fill();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    template: usize,
    tame: bool,
}

impl Generator {
    fn pointer(&self) -> Ty {
        Ty::unsigned(self.program.pointers.width)
    }

    fn width(&mut self) -> u8 {
        self.random.pick(&[8, 8, 16, 32, 64])
    }

    fn declare(&mut self) {
        let pointer = self.pointer();
        for number in 0..1 + self.random.below(3) {
            let ty = match self.random.below(3) {
                0 => pointer,
                _ => Ty::unsigned(self.width()),
            };
            let bytes = u64::from(ty.width / 8);
            let len = if self.tame {
                (16 / bytes) as u32
            } else {
                1 + self.random.below((15 / bytes).min(4)) as u32
            };
            let init = if self.tame {
                Init::All(0)
            } else {
                Init::Cells((0..len).map(|_| self.random.below(3)).collect())
            };
            let mut global = variable(format!("a{number}"), ty, len, init);
            global.addressable = self.random.below(4) > 0;
            self.program.globals.push(global);
        }
        self.program.globals.push(Variable::scalar("gp", pointer));
        self.program.globals.push(Variable::scalar("x", Ty::BYTE));
        for number in 0..1 + self.random.below(2) {
            let cell = Ty::unsigned(self.width());
            self.program
                .sites
                .push(AllocationSite::heap(format!("s{number}"), cell));
        }
        if self.random.one_in(3) {
            self.program.channels.push(ChannelDecl {
                name: "c".into(),
                capacity: self.random.below(2) as u32,
                fields: vec![Field {
                    ty: pointer,
                    symbols: None,
                }],
                span: None,
            });
        }
        for number in 0..1 + self.random.below(2) {
            let mut locals = vec![
                Variable::scalar("p", pointer),
                Variable::scalar("y", Ty::BYTE),
            ];
            if self.random.one_in(2) {
                let len = 1 + self.random.below(2) as u32;
                locals.push(variable("q".into(), pointer, len, Init::All(0)));
            }
            if self.random.one_in(2) {
                locals.push(Variable::scalar("n", Ty::unsigned(64)));
            }
            let count = 3 + self.random.below(4) as usize;
            let mut locations = locations(&mut self.random, count, 4);
            locations.push(Location::failure("error", None));
            self.program.templates.push(Template {
                params: 1,
                ..Template::new(format!("T{number}"), locals, locations)
            });
        }
        for _ in 0..1 + self.random.below(3) {
            let template = self.random.below(self.program.templates.len() as u64) as u32;
            self.program.initial.push(Instance::new(template, vec![0]));
        }
    }

    fn fill(&mut self) {
        for template in 0..self.program.templates.len() {
            self.template = template;
            let count = self.program.templates[template].locations.len() - 1;
            for location in 0..count {
                for _ in 0..1 + self.random.below(2) {
                    let edge = self.edge(location, count);
                    self.program.templates[template].locations[location]
                        .edges
                        .push(edge);
                }
            }
        }
    }

    fn edge(&mut self, from: usize, locations: usize) -> Edge {
        let mut guard = match self.random.below(3) {
            0 => self.truth(2),
            _ => Expr::TRUE,
        };
        let mut effects = Vec::new();
        let to_error = self.random.one_in(12);
        if to_error {
            guard = guard.and(self.truth(2));
        } else {
            self.effects(&mut guard, &mut effects);
        }
        // Mostly onwards, so that many programs end.
        let target = match self.random.below(3) {
            _ if to_error => locations,
            0 => self.random.below(locations as u64) as usize,
            _ => (from + 1).min(locations - 1),
        };
        Edge {
            priority: self.random.pick(&[0, 0, 0, 0, 0, 1]),
            guard,
            effects,
            target: LocationId(target as u32),
            span: None,
            text: "random".into(),
            sync: Vec::new(),
        }
    }

    fn effects(&mut self, guard: &mut Expr, effects: &mut Vec<Effect>) {
        match self.random.below(12) {
            0..=2 => {
                let site = SiteId(self.random.below(self.program.sites.len() as u64) as u32);
                let result = self.pointer_place();
                let size = if self.tame {
                    self.random.pick(&[8, 9, 12, 16])
                } else {
                    self.random.below(13) as i64
                };
                let size = Expr::constant(size, self.pointer().width);
                // Not while it points to something that lives: few objects at a time.
                if self.random.below(8) > 0 {
                    let none = Expr::ObjectSize(Box::new(Expr::Read(result.clone())));
                    let zero = Expr::constant(0, self.pointer().width);
                    *guard = guard.clone().and(equal(none, zero));
                }
                let reuse = self.random.pick(&[0, 0, 0, 1, 2]);
                effects.push(Effect::Allocate {
                    site,
                    reuse,
                    size,
                    result,
                });
            }
            3 => {
                let address = self.address(2);
                effects.push(Effect::Free { address });
            }
            4 => {
                let place = self.place();
                let values = 1 + self.random.below(3);
                effects.push(Effect::Havoc { place, values });
            }
            5 if !self.program.channels.is_empty() => effects.push(Effect::Send {
                channel: Expr::Channel(ChannelRef::Global(0)),
                values: vec![self.address(1)],
                sorted: false,
            }),
            6 if !self.program.channels.is_empty() => effects.push(Effect::Receive {
                channel: Expr::Channel(ChannelRef::Global(0)),
                args: vec![ReceiveArg::Store(self.pointer_place())],
                random: false,
                peek: false,
            }),
            7 if self.random.one_in(2) => effects.push(Effect::Spawn {
                template: TemplateId(self.random.below(self.program.templates.len() as u64) as u32),
                args: vec![self.address(1)],
                priority: 1,
                result: None,
            }),
            _ => {}
        }
        for _ in 0..self.random.below(3) {
            let effect = match self.random.below(4) {
                0 | 1 if self.random.one_in(3) => Effect::Store {
                    address: self.address(2),
                    value: self.address(1),
                },
                0 | 1 => {
                    let address = self.address_of_number(2);
                    let width = self.width();
                    let value = self.small_number(width);
                    Effect::Store { address, value }
                }
                2 => {
                    let place = self.pointer_place();
                    let value = if self.random.one_in(4) {
                        Expr::constant(0, place.ty.width)
                    } else {
                        self.address(2)
                    };
                    Effect::Assign { place, value }
                }
                _ => {
                    let place = self.place();
                    let value = self.small_number(place.ty.width);
                    Effect::Assign { place, value }
                }
            };
            effects.push(effect);
        }
        if self.random.one_in(20) {
            effects.push(Effect::Exit);
        }
    }

    /// One of the cells that a function selects from each variable.
    fn place_among(&mut self, cells: impl Fn(&Variable) -> std::ops::Range<u32>) -> Place {
        let globals = self.program.globals.iter().enumerate().map(|(id, v)| {
            let id = VariableId(id as u32);
            (VariableRef::Global(id), v.ty, v.len, cells(v))
        });
        let locals = self.program.templates[self.template].locals.iter();
        let locals = locals.enumerate().map(|(id, v)| {
            let id = VariableId(id as u32);
            (VariableRef::Local(id), v.ty, v.len, cells(v))
        });
        let found: Vec<_> = globals
            .chain(locals)
            .filter(|(.., cells)| !cells.is_empty())
            .collect();
        let (variable, ty, len, cells) = self.random.pick(&found);
        let known = cells.start + self.random.below(cells.len() as u64) as u32;
        let index = if len > 1 && cells.len() == len as usize && self.random.one_in(4) {
            self.small_number(32)
        } else {
            Expr::int(known.into())
        };
        let index = match index {
            Expr::Const { .. } => Expr::int(known.into()),
            index => index,
        };
        Place::element(variable, index, ty)
    }

    /// Where numbers are kept; wild programs keep them where pointers are, too.
    fn place(&mut self) -> Place {
        let (tame, pointer) = (self.tame, self.pointer());
        self.place_among(|variable| match variable.len {
            len if !tame => 0..len,
            len if variable.addressable => len / 2..len,
            len if variable.ty.width == 8 => 0..len,
            len if variable.name == "n" && pointer.width != 64 => 0..len,
            _ => 0..0,
        })
    }

    fn pointer_place(&mut self) -> Place {
        let (tame, pointer) = (self.tame, self.pointer());
        self.place_among(|variable| match variable.len {
            _ if variable.ty != pointer => 0..0,
            _ if tame && variable.addressable => 0..1,
            len => 0..len,
        })
    }

    /// Something to use as the address of a number.
    fn address_of_number(&mut self, depth: u32) -> Expr {
        let address = self.address(depth);
        if !self.tame {
            return address;
        }
        let by = 8 + self.random.below(8) as i64;
        let by = Expr::constant(by, self.pointer().width);
        Expr::binary(BinaryOp::Add, address, by)
    }

    /// Something to use as an address.
    fn address(&mut self, depth: u32) -> Expr {
        let pointer = self.pointer();
        let addressable: Vec<VariableId> = (0..self.program.globals.len())
            .filter(|&id| self.program.globals[id].addressable)
            .map(|id| VariableId(id as u32))
            .collect();
        match self.random.below(8) {
            0 if depth > 0 => Expr::load(self.address(depth - 1), pointer),
            1 if !self.tame && depth > 0 => {
                let by = Expr::constant(self.random.below(9) as i64, pointer.width);
                Expr::binary(BinaryOp::Add, self.address(depth - 1), by)
            }
            2 | 3 if !addressable.is_empty() => {
                self.program.address_of(self.random.pick(&addressable))
            }
            4 if !self.tame && depth > 0 => {
                let op = self.random.pick(&[BinaryOp::Sub, BinaryOp::Add]);
                let by = self.number(depth - 1).resize(pointer.width, false);
                Expr::binary(op, self.address(depth - 1), by)
            }
            5 if !self.tame => Expr::constant(self.random.below(200) as i64, pointer.width),
            _ => Expr::Read(self.pointer_place()),
        }
    }

    fn small_number(&mut self, width: u8) -> Expr {
        let number = self.number(2).resize(width, false);
        let most = Expr::constant(3, width);
        Expr::binary(BinaryOp::And, number, most)
    }

    fn truth(&mut self, depth: u32) -> Expr {
        let lhs = self.number(depth);
        let rhs = match self.random.below(3) {
            0 => self.number(depth).resize(lhs.width(), false),
            _ => Expr::constant(self.random.below(3) as i64, lhs.width()),
        };
        use BinaryOp::*;
        Expr::binary(self.random.pick(&[Eq, Eq, Ne, ULt, SLe]), lhs, rhs)
    }

    /// A number, which may depend on the numbers of objects.
    fn number(&mut self, depth: u32) -> Expr {
        use BinaryOp::*;
        match self.random.below(10) {
            0 | 1 => Expr::Read(self.place()),
            2 | 3 if depth > 0 => {
                let ty = Ty::unsigned(self.width());
                Expr::load(self.address_of_number(depth - 1), ty)
            }
            4 if depth > 0 => Expr::ObjectSize(Box::new(self.address(depth - 1))),
            5 if depth > 0 => Expr::ObjectSite {
                address: Box::new(self.address(depth - 1)),
                sites: vec![SiteId(0)],
            },
            6 if depth > 0 => self.address(depth - 1),
            7 if depth > 0 => {
                let lhs = self.number(depth - 1);
                let rhs = self.number(depth - 1).resize(lhs.width(), true);
                Expr::binary(
                    self.random.pick(&[Add, Sub, Mul, Xor, LShr, URem]),
                    lhs,
                    rhs,
                )
            }
            8 => Expr::ThreadId,
            _ => Expr::constant(self.random.below(4) as i64, 8),
        }
    }
}

/// A program whose verdict depends on what comes between two statements of a
/// thread: threads remember something about memory and check that it is still so,
/// while others write, free, allocate and drop pointers. It keeps the promise of
/// [`Program::pointers_stay`] in the same way as the tame programs do.
pub fn racy_program(seed: u64) -> Program {
    let mut random = Random(seed ^ 0xACE5);
    let mut program = racy_frame(format!("racy {seed}"));
    program.pointers_stay = !random.one_in(4);
    for site in &mut program.sites {
        site.cell = Ty::unsigned(random.pick(&[8, 32, 64]));
    }
    // A program that does fewer kinds of things leaves more to reduce.
    let kinds: Vec<u64> = (0..STATEMENTS).filter(|_| random.below(3) > 0).collect();
    for number in 0..2 + random.below(2) {
        let mut thread = Racy {
            random: &mut random,
            kinds: &kinds,
            locations: vec![Location::default()],
            is_locked: false,
        };
        thread.prepare(number == 0);
        for _ in 0..2 + thread.random.below(5) {
            thread.statement();
        }
        thread.add_to(&mut program);
    }
    program
}

/// A thread frees an object and then drops its last pointer to it; another one
/// allocates and asserts that it gets the number again. It does not if it comes
/// between the two.
pub fn dropping_program() -> Program {
    let mut program = racy_frame("dropping".into());
    program.pointers_stay = true;
    let is_freed = global(3, Ty::BYTE);
    let allocate = Effect::Allocate {
        site: SiteId(0),
        reuse: 0,
        size: Expr::constant(16, 64),
        result: local(0, POINTER),
    };
    let (mut one, mut two) = (Random(0), Random(0));
    fn thread(random: &mut Random) -> Racy<'_> {
        Racy {
            random,
            kinds: &[],
            locations: vec![Location::default()],
            is_locked: false,
        }
    }
    let mut dropper = thread(&mut one);
    dropper.then(Expr::TRUE, vec![allocate.clone()]);
    dropper.then(
        Expr::TRUE,
        vec![
            Effect::Free {
                address: Expr::Read(local(0, POINTER)),
            },
            assign(is_freed.clone(), Expr::constant(1, 8)),
        ],
    );
    dropper.then(
        Expr::TRUE,
        vec![assign(local(0, POINTER), Expr::constant(0, 64))],
    );
    dropper.add_to(&mut program);
    let mut other = thread(&mut two);
    let guard = equal(Expr::Read(is_freed), Expr::constant(1, 8));
    other.then(guard, vec![allocate]);
    let first = program.pointers.address(program.addressable_globals() + 1);
    let is_first = equal(
        Expr::Read(local(0, POINTER)),
        Expr::constant(first as i64, 64),
    );
    other.edge(is_first.clone().negate(), Vec::new(), u32::MAX);
    other.then(is_first, Vec::new());
    other.add_to(&mut program);
    program
}

/// What racy programs have in common: everything but their threads.
fn racy_frame(name: String) -> Program {
    let pointers = PointerLayout::LP64;
    let pointer = Ty::unsigned(pointers.width);
    let mut object = variable("a".into(), Ty::unsigned(32), 4, Init::All(0));
    object.addressable = true;
    let site = |name: &str| AllocationSite::heap(name, Ty::unsigned(32));
    Program {
        globals: vec![
            Variable::scalar("gp", pointer),
            Variable::scalar("gq", pointer),
            object,
            Variable::scalar("m", Ty::BYTE),
        ],
        pointers,
        sites: vec![site("s"), site("t")],
        max_threads: 3,
        ..empty(name)
    }
}

/// Builds one thread, statement by statement.
struct Racy<'r> {
    random: &'r mut Random,
    /// The kinds of statements that the program has.
    kinds: &'r [u64],
    locations: Vec<Location>,
    is_locked: bool,
}

const POINTER: Ty = Ty::unsigned(64);

/// How many kinds of statements there are, the frequent ones counted several times.
const STATEMENTS: u64 = 14;

impl Racy<'_> {
    /// Makes it a thread of the program. Locals: pointers `p` and `q`, what is
    /// remembered, a byte.
    fn add_to(mut self, program: &mut Program) {
        let number = program.templates.len() as u32;
        program.initial.push(Instance::new(number, Vec::new()));
        if let Some(last) = self.locations.last_mut() {
            last.valid_end = true;
        }
        let error = self.locations.len() as u32;
        for edge in self.locations.iter_mut().flat_map(|l| &mut l.edges) {
            if edge.target == LocationId(u32::MAX) {
                edge.target = LocationId(error);
            }
        }
        self.locations.push(Location::failure("changed", None));
        let locals = vec![
            Variable::scalar("p", POINTER),
            Variable::scalar("q", POINTER),
            Variable::scalar("seen", Ty::BYTE),
            Variable::scalar("y", Ty::BYTE),
        ];
        let body = Template::new(format!("T{number}"), locals, self.locations);
        program.templates.push(body);
    }

    /// The first thread makes two objects, and all take their addresses.
    fn prepare(&mut self, is_first: bool) {
        if is_first {
            let make = |site: u32, result: u32| Effect::Allocate {
                site: SiteId(site),
                reuse: 0,
                size: Expr::constant(16, 64),
                result: global(result, POINTER),
            };
            let mut effects = vec![make(0, 0), make(1, 1)];
            if self.random.one_in(2) {
                effects.push(Effect::Store {
                    address: Expr::Read(global(0, POINTER)),
                    value: Expr::Read(global(1, POINTER)),
                });
            }
            self.then(Expr::TRUE, effects);
        }
        let take =
            |from: u32, to: u32| assign(local(to, POINTER), Expr::Read(global(from, POINTER)));
        let is_made = Expr::binary(
            BinaryOp::Ne,
            Expr::Read(global(1, POINTER)),
            Expr::constant(0, 64),
        );
        self.then(is_made, vec![take(0, 0), take(1, 1)]);
    }

    /// An edge from the last location to a new one.
    fn then(&mut self, guard: Expr, effects: Vec<Effect>) {
        let next = self.locations.len() as u32;
        self.edge(guard, effects, next);
        self.locations.push(Location::default());
    }

    fn edge(&mut self, guard: Expr, effects: Vec<Effect>, target: u32) {
        let edge = Edge::new(guard, effects, target, "racy");
        if let Some(last) = self.locations.last_mut() {
            last.edges.push(edge);
        }
    }

    fn pointer(&mut self) -> Place {
        match self.random.below(6) {
            0 | 1 => global(0, POINTER),
            2 => global(1, POINTER),
            3 => local(1, POINTER),
            _ => local(0, POINTER),
        }
    }

    fn address(&mut self) -> Expr {
        match self.random.below(8) {
            0 => Expr::Address {
                variable: VariableId(2),
                width: 64,
            },
            1 | 2 => Expr::load(Expr::Read(self.pointer()), POINTER),
            _ => Expr::Read(self.pointer()),
        }
    }

    fn number_at(&mut self, address: Expr) -> Expr {
        let by = Expr::constant(self.random.pick(&[8, 8, 9]), 64);
        Expr::binary(BinaryOp::Add, address, by)
    }

    /// Something to be remembered, which others can change.
    fn seen(&mut self) -> Expr {
        let address = self.address();
        let seen = match self.random.below(5) {
            0 => Expr::ObjectSize(Box::new(address)),
            1 => Expr::ObjectSite {
                address: Box::new(address),
                sites: vec![SiteId(0)],
            },
            2 => Expr::binary(BinaryOp::LShr, address, Expr::constant(32, 64)),
            3 => Expr::Read(Place::element(
                VariableRef::Global(VariableId(2)),
                Expr::int(2),
                Ty::unsigned(32),
            )),
            _ => Expr::load(self.number_at(address), Ty::BYTE),
        };
        seen.resize(8, false)
    }

    fn statement(&mut self) {
        let seen = local(2, Ty::BYTE);
        let kind = match self.kinds {
            [] => 0,
            kinds => self.random.pick(kinds),
        };
        match kind {
            0..=2 => {
                let what = self.seen();
                let remember = assign(seen.clone(), what.clone());
                self.then(Expr::TRUE, vec![remember]);
                if self.random.one_in(3) {
                    self.statement();
                }
                let same = equal(Expr::Read(seen), what);
                self.edge(same.clone().negate(), Vec::new(), u32::MAX);
                self.then(same, Vec::new());
            }
            3 => {
                let number = Expr::binary(
                    BinaryOp::LShr,
                    Expr::Read(self.pointer()),
                    Expr::constant(32, 64),
                );
                let wrong = Expr::constant(2 + self.random.below(3) as i64, 64);
                let same = equal(number, wrong);
                self.edge(same.clone(), Vec::new(), u32::MAX);
                self.then(same.negate(), Vec::new());
            }
            4 | 5 => {
                let effect = Effect::Allocate {
                    site: SiteId(self.random.below(2) as u32),
                    reuse: self.random.pick(&[0, 0, 1]),
                    size: Expr::constant(self.random.pick(&[9, 16]), 64),
                    result: self.pointer(),
                };
                self.then(Expr::TRUE, vec![effect]);
            }
            6 => {
                let address = self.address();
                self.then(Expr::TRUE, vec![Effect::Free { address }]);
            }
            7 | 8 => {
                let address = self.address();
                let address = self.number_at(address);
                let value = Expr::constant(1 + self.random.below(2) as i64, 8);
                self.then(Expr::TRUE, vec![Effect::Store { address, value }]);
            }
            9 => {
                let (address, value) = (self.address(), self.address());
                self.then(Expr::TRUE, vec![Effect::Store { address, value }]);
            }
            10 => {
                let effect = assign(self.pointer(), Expr::constant(0, 64));
                self.then(Expr::TRUE, vec![effect]);
            }
            11 => {
                let lock = |value: i64| assign(global(3, Ty::BYTE), Expr::constant(value, 8));
                let is_free = equal(Expr::Read(global(3, Ty::BYTE)), Expr::constant(0, 8));
                if self.is_locked {
                    self.then(Expr::TRUE, vec![lock(0)]);
                } else {
                    self.then(is_free, vec![lock(1)]);
                }
                self.is_locked = !self.is_locked;
            }
            12 => {
                let effect = Effect::Havoc {
                    place: local(3, Ty::BYTE),
                    values: 2,
                };
                self.then(Expr::TRUE, vec![effect]);
            }
            _ => {
                let effect = assign(self.pointer(), self.address());
                self.then(Expr::TRUE, vec![effect]);
            }
        }
    }
}
