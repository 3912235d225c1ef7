//! Random programs in the style of C: locks, compare-and-swap and plain accesses
//! through pointers that threads get as arguments and sometimes change.
//!
//! The shapes are those that dynamic movers look for, and near misses of them:
//! threads that share a lock and threads that do not, pointers that are equal,
//! differ or change later, plain writers beside compare-and-swap, accesses by name
//! beside accesses by pointer.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;

use super::pieces::{assign, empty, equal, local, own_mark, variable};
use crate::random::Random;

const WORD: Ty = Ty::unsigned(32);
const LOCKS: VariableId = VariableId(0);
const DATA: VariableId = VariableId(1);
const PLAIN: VariableId = VariableId(2);
/// Locals: pointer to data, pointer to a lock, two registers.
const POINTER: u32 = 0;
const LOCK: u32 = 1;
const VALUE: u32 = 2;
const INDEX: u32 = 3;

fn pointer_type() -> Ty {
    Ty::unsigned(64)
}

fn read(id: u32) -> Expr {
    let ty = if id == POINTER || id == LOCK {
        pointer_type()
    } else {
        WORD
    };
    Expr::Read(local(id, ty))
}

fn word(value: i64) -> Expr {
    Expr::constant(value, 32)
}

struct Builder {
    random: Random,
    locations: Vec<Location>,
    error: u32,
}

impl Builder {
    fn statement(&mut self, at: usize, count: usize, held: &mut bool) {
        let next = at as u32 + 1;
        let there = Expr::load(read(POINTER), WORD);
        let own = own_mark();
        let lock = Expr::load(read(LOCK), WORD);
        let element = || Place::element(VariableRef::Global(PLAIN), read(INDEX), WORD);
        let cell = Expr::Read(element());
        let store = |value: Expr| Effect::Store {
            address: read(POINTER),
            value,
        };
        let error = self.error;
        let done = |effects, text| vec![Edge::new(Expr::TRUE, effects, next, text)];
        let edges = match self.random.below(16) {
            0..=2 if !*held => {
                *held = true;
                let take = Effect::Store {
                    address: read(LOCK),
                    value: own,
                };
                vec![Edge::new(equal(lock, word(0)), vec![take], next, "lock")]
            }
            0..=2 => {
                *held = false;
                let give = Effect::Store {
                    address: read(LOCK),
                    value: word(0),
                };
                vec![
                    Edge::new(equal(lock.clone(), own.clone()), vec![give], next, "unlock"),
                    Edge::new(equal(lock, own).negate(), vec![], error, "unlock"),
                ]
            }
            3 | 4 => {
                let value = word(self.random.below(3) as i64);
                done(vec![store(value)], "*p = c")
            }
            5 => {
                let sum = Expr::binary(BinaryOp::Add, there, word(1));
                let small = Expr::binary(BinaryOp::And, sum, word(3));
                done(vec![store(small)], "*p += 1")
            }
            6 => done(vec![assign(local(VALUE, WORD), there)], "v = *p"),
            7 => {
                // Now and then the pointer is cleared in the same step.
                let mut effects = vec![assign(local(VALUE, WORD), there)];
                if self.random.one_in(2) {
                    effects.push(assign(
                        local(POINTER, pointer_type()),
                        Expr::constant(0, 64),
                    ));
                }
                done(effects, "v = *p, p = 0")
            }
            8 => {
                let is = equal(there, word(self.random.below(3) as i64));
                vec![
                    Edge::new(is.clone(), vec![], next, "assert *p"),
                    Edge::new(is.negate(), vec![], error, "assert *p"),
                ]
            }
            9 | 10 => {
                let expected = if self.random.one_in(5) { 1 } else { 0 };
                let is = equal(cell.clone(), word(expected));
                let new = word(self.random.below(3) as i64);
                vec![
                    Edge::new(
                        is.clone(),
                        vec![assign(element(), new), assign(local(VALUE, WORD), word(1))],
                        next,
                        "cas",
                    ),
                    Edge::new(
                        is.negate(),
                        vec![assign(local(VALUE, WORD), word(0))],
                        next,
                        "cas",
                    ),
                ]
            }
            11 => done(vec![assign(local(VALUE, WORD), cell)], "v = a[i]"),
            12 if self.random.one_in(3) => done(vec![assign(element(), word(1))], "a[i] = 1"),
            12 => {
                let named = Place::element(VariableRef::Global(DATA), word(0), WORD);
                done(vec![assign(named, word(2))], "d[0] = 2")
            }
            13 if self.random.one_in(2) => {
                let other = Expr::binary(
                    BinaryOp::Add,
                    Expr::Address {
                        variable: DATA,
                        width: 64,
                    },
                    Expr::constant(4 * self.random.below(2) as i64, 64),
                );
                done(vec![assign(local(POINTER, pointer_type()), other)], "p = q")
            }
            13 => {
                let index = word(self.random.below(2) as i64);
                done(vec![assign(local(INDEX, WORD), index)], "i = c")
            }
            14 => {
                let target = self.random.below(count as u64) as u32;
                let is = equal(read(VALUE), word(self.random.below(2) as i64));
                vec![
                    Edge::new(is.clone(), vec![], target, "if"),
                    Edge::new(is.negate(), vec![], next, "if"),
                ]
            }
            _ => {
                let is = equal(read(VALUE), word(2)).negate();
                vec![
                    Edge::new(is.clone(), vec![], next, "assert v"),
                    Edge::new(is.negate(), vec![], error, "assert v"),
                ]
            }
        };
        self.locations[at].edges = edges;
    }
}

fn template(random: &mut Random, name: String) -> Template {
    let count = 3 + random.below(5) as usize;
    let mut builder = Builder {
        random: Random(random.number()),
        locations: vec![Location::default(); count + 2],
        error: count as u32 + 1,
    };
    let mut held = false;
    for at in 0..count {
        builder.statement(at, count, &mut held);
    }
    builder.locations[count].valid_end = true;
    builder.locations[count + 1] = Location::failure("error", None);
    let locals = vec![
        Variable::scalar("p", pointer_type()),
        Variable::scalar("lock", pointer_type()),
        Variable::scalar("v", WORD),
        Variable::scalar("i", WORD),
    ];
    Template {
        params: 2,
        ..Template::new(name, locals, builder.locations)
    }
}

pub fn program(seed: u64) -> Program {
    let mut random = Random(seed ^ 0x0B0E_7E25);
    let global = |name: &str, addressable: bool| Variable {
        addressable,
        ..variable(name.into(), WORD, 2, Init::All(0))
    };
    let mut program = Program {
        globals: vec![global("m", true), global("d", true), global("a", false)],
        pointers: PointerLayout::LP64,
        pointers_stay: true,
        max_threads: 4,
        ..empty(format!("pointers {seed}"))
    };
    let templates = 1 + random.below(2);
    for number in 0..templates {
        let body = template(&mut random, format!("T{number}"));
        program.templates.push(body);
    }
    let address = |variable: VariableId, index: u64, program: &Program| {
        program.pointers.address(program.object_of(variable)) + 4 * index
    };
    let one_lock = random.one_in(2);
    let apart = random.one_in(2);
    for number in 0..2 + random.below(2) {
        let data = if apart { number % 2 } else { random.below(2) };
        let lock = if one_lock { 0 } else { random.below(2) };
        let args = vec![
            address(DATA, data, &program),
            address(LOCKS, lock, &program),
        ];
        let template = random.below(templates) as u32;
        program.initial.push(Instance::new(template, args));
    }
    program
}
