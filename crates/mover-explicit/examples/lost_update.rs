//! Checks a model that is built in Rust: `cargo run --package mover-explicit --example lost_update`.

use std::error::Error;
use std::sync::atomic::AtomicBool;

use mover_explicit::{Options, Order, explore};
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::validate::validate;

/// Two threads that each read a counter and write it back with one added.
fn lost_update() -> Program {
    let byte = Ty::unsigned(8);
    let variable = |name: &str| Variable {
        name: name.into(),
        ty: byte,
        len: 1,
        is_array: false,
        init: Init::All(0),
        symbols: None,
        addressable: false,
        names: CellNames::default(),
        span: None,
    };
    let counter = || Place::scalar(VariableRef::Global(VariableId(0)), byte);
    let done = || Place::scalar(VariableRef::Global(VariableId(1)), byte);
    let own = || Place::scalar(VariableRef::Local(VariableId(0)), byte);
    let plus_one =
        |place: Place| Expr::binary(BinaryOp::Add, Expr::Read(place), Expr::constant(1, 8));
    let is = |place: Place, value: i64| {
        Expr::binary(BinaryOp::Eq, Expr::Read(place), Expr::constant(value, 8))
    };
    let edge = |guard: Expr, effects: Vec<Effect>, target: u32, text: &str| Edge {
        priority: 0,
        guard,
        effects,
        target: LocationId(target),
        span: None,
        text: text.into(),
    };
    let assign = |place: Place, value: Expr| Effect::Assign { place, value };
    let location = |edges: Vec<Edge>| Location {
        edges,
        ..Location::default()
    };
    let both_done = || is(done(), 2);
    let locations = vec![
        location(vec![edge(
            Expr::TRUE,
            vec![assign(own(), Expr::Read(counter()))],
            1,
            "own = counter",
        )]),
        location(vec![edge(
            Expr::TRUE,
            vec![
                assign(counter(), plus_one(own())),
                assign(done(), plus_one(done())),
            ],
            2,
            "counter = own + 1",
        )]),
        location(vec![
            edge(
                both_done().and(is(counter(), 1)),
                Vec::new(),
                3,
                "assert(counter == 2)",
            ),
            edge(
                both_done().and(is(counter(), 2)),
                Vec::new(),
                4,
                "assert(counter == 2)",
            ),
        ]),
        Location {
            error: Some(ErrorMark {
                property: Property::UnreachCall,
                message: "an update was lost".into(),
                resume: None,
            }),
            ..Location::default()
        },
        Location {
            valid_end: true,
            ..Location::default()
        },
    ];
    let thread = || Instance {
        template: TemplateId(0),
        args: Vec::new(),
        priority: 0,
    };
    Program {
        info: ProgramInfo::named("lost update"),
        globals: vec![variable("counter"), variable("done")],
        templates: vec![Template {
            name: "T".into(),
            params: 0,
            locals: vec![variable("own")],
            channels: Vec::new(),
            locations,
            entry: LocationId(0),
            span: None,
        }],
        initial: vec![thread(), thread()],
        pointers_stay: true,
        max_threads: 2,
        ..Program::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = lost_update();
    validate(&program)?;
    let outcome = explore(
        &program,
        Options {
            order: Order::BreadthFirst,
            movers: None,
            run_time: None,
            jobs: 1,
            errors: true,
            deadlocks: true,
            keep_going: false,
            timeout: None,
            memory: None,
            interrupt: &AtomicBool::new(false),
            progress: &mut |_| {},
        },
    )?;
    let violation = outcome.violation.ok_or("no update is lost")?;
    println!(
        "{} after {} steps:",
        violation.property.name(),
        violation.steps.len()
    );
    let machine = mover_ir::semantics::Machine::new(&program);
    let mut state = machine.initial();
    for step in violation.steps {
        let thread = step.by.thread;
        let place = state.threads[thread]
            .as_ref()
            .ok_or("a thread that is gone")?;
        let location = program.template(place.template).location(place.location);
        println!("  thread {thread}: {}", location.edges[step.by.edge].text);
        state = machine.apply(&state, step);
    }
    Ok(())
}
