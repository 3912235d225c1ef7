//! The rules of the semantics, one small program each, judged by hand.

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::semantics::{Machine, State};
use mover_ir::validate::validate;

fn x() -> Place {
    Place::scalar(VariableRef::Global(VariableId(0)), Ty::BYTE)
}

fn x_is(value: i64) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Read(x()), Expr::constant(value, 8))
}

fn set_x(value: i64) -> Effect {
    Effect::Assign {
        place: x(),
        value: Expr::constant(value, 8),
    }
}

fn edge(priority: i32, guard: Expr, effects: Vec<Effect>, target: u32) -> Edge {
    Edge {
        priority,
        ..Edge::new(guard, effects, target, "")
    }
}

fn place(edges: Vec<Edge>) -> Location {
    Location::with_edges(edges)
}

fn atomic(edges: Vec<Edge>) -> Location {
    Location {
        atomic: true,
        ..place(edges)
    }
}

fn end() -> Location {
    Location {
        valid_end: true,
        ..Location::default()
    }
}

/// A global byte `x`, a channel, and one thread of each template.
fn program(capacity: u32, templates: Vec<Vec<Location>>) -> Program {
    let program = Program {
        info: ProgramInfo::named("test"),
        globals: vec![Variable::scalar("x", Ty::BYTE)],
        channels: vec![ChannelDecl {
            name: "c".into(),
            capacity,
            fields: vec![Field {
                ty: Ty::BYTE,
                symbols: None,
            }],
            span: None,
        }],
        initial: (0..templates.len() as u32)
            .map(|number| Instance::new(number, Vec::new()))
            .collect(),
        templates: templates
            .into_iter()
            .map(|locations| Template::new("T", Vec::new(), locations))
            .collect(),
        max_threads: 3,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

/// The (thread, edge) pairs that can move.
fn moves(machine: &Machine, state: &State) -> Vec<(usize, usize)> {
    let steps = machine.steps(state);
    steps.iter().map(|s| (s.by.thread, s.by.edge)).collect()
}

fn after(machine: &Machine, state: &State, thread: usize, edge: usize) -> State {
    let steps = machine.steps(state);
    let step = steps
        .iter()
        .find(|step| (step.by.thread, step.by.edge) == (thread, edge))
        .expect("the step is possible");
    machine.apply(state, *step)
}

#[test]
fn a_lower_priority_waits_for_the_higher() {
    let program = program(
        1,
        vec![vec![place(vec![
            edge(-1, Expr::TRUE, vec![set_x(2)], 0),
            edge(0, x_is(0), vec![set_x(1)], 0),
        ])]],
    );
    let machine = Machine::new(&program);
    let first = machine.initial();
    assert_eq!(moves(&machine, &first), [(0, 1)]);
    let second = after(&machine, &first, 0, 1);
    assert_eq!(moves(&machine, &second), [(0, 0)]);
}

#[test]
fn an_atomic_location_excludes_others_until_it_blocks() {
    let writer = vec![place(vec![edge(0, Expr::TRUE, vec![set_x(1)], 1)]), end()];
    let holder = vec![
        place(vec![edge(0, Expr::TRUE, vec![], 1)]),
        atomic(vec![edge(0, Expr::TRUE, vec![], 2)]),
        atomic(vec![edge(0, x_is(1), vec![], 3)]),
        end(),
    ];
    let program = program(1, vec![holder, writer]);
    let machine = Machine::new(&program);
    let inside = after(&machine, &machine.initial(), 0, 0);
    assert_eq!(inside.exclusive, Some(0));
    assert_eq!(moves(&machine, &inside), [(0, 0)]);
    let blocked = after(&machine, &inside, 0, 0);
    assert_eq!(blocked.exclusive, None, "a blocked thread loses its right");
    assert_eq!(moves(&machine, &blocked), [(1, 0)]);
    let freed = after(&machine, &blocked, 1, 0);
    assert_eq!(moves(&machine, &freed), [(0, 0)]);
}

#[test]
fn timeout_is_true_only_when_nothing_else_moves() {
    let program = program(
        1,
        vec![
            vec![
                place(vec![edge(0, Expr::Timeout, vec![set_x(9)], 1)]),
                end(),
            ],
            vec![place(vec![edge(0, x_is(0), vec![set_x(1)], 1)]), end()],
        ],
    );
    let machine = Machine::new(&program);
    let first = machine.initial();
    assert_eq!(moves(&machine, &first), [(1, 0)]);
    let idle = after(&machine, &first, 1, 0);
    assert_eq!(moves(&machine, &idle), [(0, 0)]);
    let last = after(&machine, &idle, 0, 0);
    assert!(machine.steps(&last).is_empty());
    assert!(!machine.is_deadlock(&last), "all are at proper ends");
}

fn send(value: i64) -> Effect {
    Effect::Send {
        channel: Expr::Channel(ChannelRef::Global(0)),
        values: vec![Expr::int(value)],
        sorted: false,
    }
}

fn receive(arg: ReceiveArg) -> Effect {
    Effect::Receive {
        channel: Expr::Channel(ChannelRef::Global(0)),
        args: vec![arg],
        random: false,
        peek: false,
    }
}

#[test]
fn a_rendezvous_takes_two_and_hands_exclusivity_to_the_receiver() {
    let sender = vec![place(vec![edge(0, Expr::TRUE, vec![send(5)], 1)]), end()];
    let receiver = |arg| {
        vec![
            place(vec![edge(0, Expr::TRUE, vec![receive(arg)], 1)]),
            atomic(vec![edge(0, Expr::TRUE, vec![], 2)]),
            end(),
        ]
    };
    let store = receiver(ReceiveArg::Store(x()));
    let mismatch = receiver(ReceiveArg::Match(Expr::int(6)));
    let program = program(0, vec![sender, store, mismatch]);
    let machine = Machine::new(&program);
    let steps = machine.steps(&machine.initial());
    assert_eq!(steps.len(), 1, "only the receive that matches takes part");
    assert_eq!(steps[0].with.map(|with| with.thread), Some(1));
    let met = machine.apply(&machine.initial(), steps[0]);
    assert_eq!(met.globals, [5]);
    assert_eq!(met.exclusive, Some(1));
}

#[test]
fn a_buffer_blocks_when_full_and_when_empty() {
    let sender = vec![place(vec![edge(0, Expr::TRUE, vec![send(300)], 0)])];
    let receiver = vec![place(vec![edge(
        0,
        Expr::TRUE,
        vec![receive(ReceiveArg::Store(x()))],
        0,
    )])];
    let program = program(1, vec![sender, receiver]);
    let machine = Machine::new(&program);
    let empty = machine.initial();
    assert_eq!(moves(&machine, &empty), [(0, 0)]);
    let full = after(&machine, &empty, 0, 0);
    assert_eq!(
        full.channels,
        [[vec![300 - 256]]],
        "a field keeps its width"
    );
    assert_eq!(moves(&machine, &full), [(1, 0)]);
    let again = after(&machine, &full, 1, 0);
    assert_eq!(again.globals, [44]);
}

#[test]
fn sorted_sends_keep_order_and_equal_messages_queue_behind() {
    let sorted = |value| Effect::Send {
        channel: Expr::Channel(ChannelRef::Global(0)),
        values: vec![Expr::int(value)],
        sorted: true,
    };
    let locations = [3, 1, 2]
        .iter()
        .enumerate()
        .map(|(at, &value)| {
            place(vec![edge(
                0,
                Expr::TRUE,
                vec![sorted(value)],
                at as u32 + 1,
            )])
        })
        .chain([end()])
        .collect();
    let program = program(3, vec![locations]);
    let machine = Machine::new(&program);
    let mut state = machine.initial();
    for _ in 0..3 {
        state = after(&machine, &state, 0, 0);
    }
    assert_eq!(state.channels, [[vec![1], vec![2], vec![3]]]);
}

#[test]
fn threads_come_at_the_lowest_number_and_go() {
    let child = vec![place(vec![edge(0, Expr::TRUE, vec![Effect::Exit], 0)])];
    let spawn = Effect::Spawn {
        template: TemplateId(0),
        args: Vec::new(),
        priority: 1,
        result: Some(x()),
    };
    let parent = vec![place(vec![edge(0, Expr::TRUE, vec![spawn], 0)])];
    let program = program(1, vec![child, parent]);
    let machine = Machine::new(&program);
    let alone = after(&machine, &machine.initial(), 0, 0);
    assert_eq!(alone.threads.iter().flatten().count(), 1);
    let reborn = after(&machine, &alone, 1, 0);
    assert_eq!(reborn.globals, [0], "number 0 was free");
    let third = after(&machine, &reborn, 1, 0);
    assert_eq!(third.globals, [2]);
    assert!(
        !moves(&machine, &third).contains(&(1, 0)),
        "no more than three threads"
    );
    let fewer = after(&machine, &third, 2, 0);
    assert_eq!(fewer.threads.len(), 2, "numbers at the end are given back");
}

#[test]
fn an_error_ends_the_run_and_is_no_deadlock() {
    let error = Location {
        error: Some(ErrorMark {
            property: Property::UnreachCall,
            message: "wrong".into(),
            resume: None,
        }),
        ..Location::default()
    };
    let program = program(
        1,
        vec![
            vec![place(vec![edge(0, Expr::TRUE, vec![], 1)]), error],
            vec![place(vec![edge(0, Expr::TRUE, vec![], 0)])],
        ],
    );
    let machine = Machine::new(&program);
    let wrong = after(&machine, &machine.initial(), 0, 0);
    assert_eq!(machine.error(&wrong).map(|(thread, _)| thread), Some(0));
    assert!(machine.steps(&wrong).is_empty());
    assert!(!machine.is_deadlock(&wrong));
}

#[test]
fn only_the_highest_priority_that_can_move_moves() {
    let waits = vec![place(vec![edge(0, x_is(1), vec![], 1)]), end()];
    let works = vec![place(vec![edge(0, Expr::TRUE, vec![set_x(1)], 1)]), end()];
    let mut program = program(1, vec![waits, works]);
    program.priority_scheduling = true;
    program.initial[0].priority = 9;
    let machine = Machine::new(&program);
    let first = machine.initial();
    assert_eq!(moves(&machine, &first), [(1, 0)], "the high one is blocked");
    let second = after(&machine, &first, 1, 0);
    assert_eq!(moves(&machine, &second), [(0, 0)]);
}

/// A bound ends the run of all threads and is neither an error nor a deadlock, also in the middle
/// of an atomic sequence.
#[test]
fn bounds_end_the_run() {
    let bound = Location {
        bound: Some(BoundMark {
            kind: BoundKind::Recursion,
            message: "too deep".into(),
        }),
        ..Location::default()
    };
    let program = program(
        1,
        vec![
            vec![
                place(vec![edge(0, Expr::TRUE, vec![], 1)]),
                atomic(vec![edge(0, Expr::TRUE, vec![], 2)]),
                bound,
            ],
            vec![place(vec![edge(0, Expr::TRUE, vec![set_x(1)], 1)]), end()],
        ],
    );
    let machine = Machine::new(&program);
    let mut state = machine.initial();
    assert_eq!(machine.steps(&state).len(), 2);
    for _ in 0..2 {
        assert!(machine.bound(&state).is_none());
        let step = machine.steps(&state)[0];
        assert_eq!(step.by.thread, 0);
        state = machine.apply(&state, step);
    }
    let (met, mark) = machine.bound(&state).expect("the bound is met");
    assert_eq!(met.location, LocationId(2));
    assert_eq!(program.bound(met), Some(mark));
    assert!(machine.steps(&state).is_empty());
    assert!(machine.error(&state).is_none());
    assert!(!machine.is_deadlock(&state));
    let text = mover_ir::print::print_program(&program);
    assert!(text.contains("l2: bound recursion \"too deep\""), "{text}");
}
