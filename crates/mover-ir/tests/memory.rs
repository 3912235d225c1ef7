//! The rules of memory with addresses, one small run each, judged by hand.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::semantics::{Machine, State};
use mover_ir::validate::validate;

const WORD: Ty = Ty::unsigned(64);

fn row(name: &str, ty: Ty, len: u32, addressable: bool) -> Variable {
    Variable {
        len,
        is_array: len > 1,
        addressable,
        ..Variable::scalar(name, ty)
    }
}

/// Globals: `bytes` (u8[3]), `halves` (u16[4]), both with addresses, pointers `p`
/// and `q`, a byte `x`. One thread that does one effect after the other.
fn program(effects: Vec<Effect>) -> Program {
    let count = effects.len() as u32;
    let mut locations: Vec<Location> = (1..)
        .zip(effects)
        .map(|(target, effect)| {
            Location::with_edges(vec![Edge::new(Expr::TRUE, vec![effect], target, "")])
        })
        .collect();
    locations.resize(count as usize + 1, Location::default());
    let program = Program {
        info: ProgramInfo::named("memory"),
        globals: vec![
            row("bytes", Ty::BYTE, 3, true),
            row("p", WORD, 1, false),
            row("halves", Ty::unsigned(16), 4, true),
            row("q", WORD, 1, false),
            row("x", Ty::BYTE, 1, false),
        ],
        templates: vec![Template::new("T", Vec::new(), locations)],
        initial: vec![Instance::new(0, Vec::new())],
        sites: vec![
            AllocationSite::heap("a", Ty::unsigned(32)),
            AllocationSite::heap("b", Ty::BYTE),
        ],
        max_threads: 1,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

/// Runs all effects, with the first choice of each.
fn run(effects: Vec<Effect>) -> (Program, State) {
    let program = program(effects);
    let machine = Machine::new(&program);
    let mut state = machine.initial();
    while let Some(&step) = machine.steps(&state).first() {
        state = machine.apply(&state, step);
    }
    (program, state)
}

fn value(program: &Program, state: &State, expr: &Expr) -> u64 {
    Machine::new(program).eval(state, 0, expr)
}

const BYTES: u32 = 0;
const P: u32 = 1;
const HALVES: u32 = 2;
const Q: u32 = 3;

fn global(id: u32, ty: Ty) -> Place {
    Place::scalar(VariableRef::Global(VariableId(id)), ty)
}

fn read(id: u32) -> Expr {
    Expr::Read(global(id, WORD))
}

fn plus(address: Expr, offset: i64) -> Expr {
    Expr::binary(BinaryOp::Add, address, Expr::constant(offset, 64))
}

fn address(id: u32) -> Expr {
    Expr::Address {
        variable: VariableId(id),
        width: 64,
    }
}

fn load(address: Expr, width: u8) -> Expr {
    Expr::load(address, Ty::unsigned(width))
}

fn store(address: Expr, value: i64, width: u8) -> Effect {
    Effect::Store {
        address,
        value: Expr::constant(value, width),
    }
}

fn allocate(site: u32, size: i64, result: u32) -> Effect {
    Effect::Allocate {
        site: SiteId(site),
        reuse: 0,
        size: Expr::constant(size, 64),
        result: global(result, WORD),
    }
}

fn free(address: Expr) -> Effect {
    Effect::Free { address }
}

fn assign(id: u32, value: Expr) -> Effect {
    Effect::Assign {
        place: global(id, WORD),
        value,
    }
}

fn size_of(address: Expr) -> Expr {
    Expr::ObjectSize(Box::new(address))
}

fn is_of(address: Expr, site: u32) -> Expr {
    Expr::ObjectSite {
        address: Box::new(address),
        sites: vec![SiteId(site)],
    }
}

/// The object number of what a variable points to.
fn number(state: &State, program: &Program, id: u32) -> u64 {
    program.pointers.object(value(program, state, &read(id)))
}

#[test]
fn stores_and_loads_mean_bytes_whatever_the_cells() {
    let (program, state) = run(vec![
        store(plus(address(HALVES), 1), 0x0403_0201, 32),
        store(plus(address(HALVES), 3), 0xAA, 8),
    ]);
    let at = |offset, width| {
        value(
            &program,
            &state,
            &load(plus(address(HALVES), offset), width),
        )
    };
    assert_eq!(&state.globals[4..8], [0x0100, 0xAA02, 0x0004, 0]);
    assert_eq!(at(0, 64), 0x04_AA02_0100);
    assert_eq!(at(1, 32), 0x04AA_0201);
    assert_eq!(at(5, 16), 0);
    assert_eq!(at(4, 8), 4);
}

#[test]
fn what_is_not_wholly_within_an_object_is_nothing() {
    let (program, state) = run(vec![
        store(address(BYTES), 0x0707, 16),
        store(plus(address(BYTES), 2), 0x0909, 16),
        store(plus(address(BYTES), -1), 0x0909, 16),
        store(Expr::constant(0, 64), 1, 8),
        allocate(0, 6, P),
        store(plus(read(P), 4), 0x0505, 16),
        store(plus(read(P), 6), 9, 8),
        store(plus(read(P), 5), 0x0909, 16),
    ]);
    assert_eq!(&state.globals[..3], [7, 7, 0]);
    let evaluates = |expr: Expr| value(&program, &state, &expr);
    assert_eq!(evaluates(load(plus(address(BYTES), 1), 16)), 7);
    assert_eq!(evaluates(load(plus(address(BYTES), 2), 16)), 0);
    assert_eq!(evaluates(load(plus(read(P), 4), 16)), 0x0505);
    assert_eq!(evaluates(load(plus(read(P), 5), 8)), 5);
    // The second cell has room for two bytes more, but they are not of the object.
    assert_eq!(evaluates(load(plus(read(P), 4), 32)), 0);
    let object = state.heap[0].as_ref().expect("it lives");
    assert_eq!((object.size, &object.cells[..]), (6, &[0, 0x0505][..]));
}

#[test]
fn objects_tell_their_size_and_site() {
    let (program, state) = run(vec![
        allocate(0, 6, P),
        allocate(1, 0, Q),
        free(plus(read(P), 100)),
    ]);
    let evaluates = |expr: Expr| value(&program, &state, &expr);
    assert_eq!(evaluates(size_of(plus(address(HALVES), 77))), 8);
    assert_eq!(evaluates(size_of(read(P))), 0, "it is gone");
    assert_eq!(evaluates(is_of(read(P), 0)), 0);
    assert_eq!(evaluates(size_of(read(Q))), 0, "it has no bytes");
    assert_eq!(evaluates(is_of(read(Q), 1)), 1, "but it lives");
    assert_eq!(evaluates(is_of(read(Q), 0)), 0);
    assert_eq!(evaluates(is_of(address(BYTES), 0)), 0);
}

#[test]
fn new_objects_are_zero_and_do_not_come_where_a_pointer_points() {
    // Two addressable globals, so the first dynamic object has number 3.
    let (program, state) = run(vec![
        allocate(0, 4, P),
        store(read(P), 5, 32),
        free(read(P)),
        allocate(0, 4, Q),
    ]);
    assert_eq!(number(&state, &program, P), 3);
    assert_eq!(number(&state, &program, Q), 4, "p still mentions 3");
    assert_eq!(value(&program, &state, &load(read(P), 32)), 0);
    assert_eq!(state.heap.len(), 2);

    let (program, state) = run(vec![
        allocate(0, 4, P),
        store(read(P), 5, 32),
        free(read(P)),
        assign(P, Expr::constant(0, 64)),
        allocate(0, 4, Q),
    ]);
    assert_eq!(number(&state, &program, Q), 3, "nothing mentions 3");
    assert_eq!(value(&program, &state, &load(read(Q), 32)), 0);
}

#[test]
fn a_freed_number_comes_back_to_an_allocation_that_reuses() {
    let again = |reuse: u32| {
        let reusing = match allocate(0, 4, Q) {
            Effect::Allocate {
                site, size, result, ..
            } => Effect::Allocate {
                site,
                reuse,
                size,
                result,
            },
            other => other,
        };
        run(vec![
            allocate(0, 4, P),
            store(read(P), 5, 32),
            free(read(P)),
            reusing,
        ])
    };
    let (program, state) = again(1);
    assert_eq!(number(&state, &program, Q), 3, "where p still points");
    assert_eq!(value(&program, &state, &load(read(P), 32)), 0, "and new");
    let (program, state) = again(2);
    assert_eq!(number(&state, &program, Q), 4, "there is no second one");
}

#[test]
fn pointers_inside_of_objects_are_mentions_if_aligned() {
    // The address of a dead object survives only in an object with narrow cells.
    let kept_at = |offset: i64| {
        let (program, state) = run(vec![
            allocate(1, 24, Q),
            allocate(0, 4, P),
            Effect::Store {
                address: plus(read(Q), offset),
                value: read(P),
            },
            free(read(P)),
            assign(P, Expr::constant(0, 64)),
            allocate(0, 4, P),
        ]);
        number(&state, &program, P)
    };
    assert_eq!(kept_at(8), 5, "number 4 is mentioned");
    assert_eq!(kept_at(1), 4, "not where it is not aligned");
}

#[test]
fn the_heap_ends_with_a_live_object() {
    let (_, state) = run(vec![
        allocate(0, 4, P),
        allocate(0, 4, Q),
        free(read(P)),
        free(read(Q)),
        free(read(Q)),
        free(address(BYTES)),
    ]);
    assert_eq!(state.heap, []);
}

#[test]
fn what_is_too_large_is_not_allocated() {
    let most = PointerLayout::LP64.max_object_size() as i64;
    let (program, state) = run(vec![allocate(1, most + 1, P), allocate(1, -1, Q)]);
    assert_eq!(value(&program, &state, &read(P)), 0);
    assert_eq!(value(&program, &state, &read(Q)), 0);
    assert_eq!(state.heap, []);
}

#[test]
fn an_edge_with_a_choice_is_a_step_for_each_value() {
    let havoc = |values| {
        program(vec![Effect::Havoc {
            place: global(4, Ty::BYTE),
            values,
        }])
    };
    for (values, count) in [(0, 256), (1, 1), (3, 3)] {
        let program = havoc(values);
        let machine = Machine::new(&program);
        let initial = machine.initial();
        let steps = machine.steps(&initial);
        assert_eq!(steps.len(), count);
        for (choice, &step) in (0..).zip(&steps) {
            assert!(machine.can_take(&initial, step));
            assert_eq!(machine.apply(&initial, step).globals[9], choice);
        }
        let mut none = steps[0];
        none.choice = count as u64;
        assert!(!machine.can_take(&initial, none));
    }
}
