//! What explicit search does not take must never end in `safe`, nor hide what it
//! has found before.

use mover_engine::{Conclusion, Control, Engine, Outcome, Task};
use mover_explicit::Explicit;
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::validate::validate;

fn place(id: u32, width: u8) -> Place {
    Place::scalar(VariableRef::Global(VariableId(id)), Ty::unsigned(width))
}

fn variable(name: &str, width: u8) -> Variable {
    Variable {
        name: name.into(),
        ty: Ty::unsigned(width),
        len: 1,
        is_array: false,
        init: Init::All(0),
        symbols: None,
        addressable: false,
        names: CellNames::default(),
        span: None,
    }
}

fn edge(guard: Expr, effects: Vec<Effect>, target: u32) -> Edge {
    Edge {
        priority: 0,
        guard,
        effects,
        target: LocationId(target),
        span: None,
        text: "choose".into(),
        sync: Vec::new(),
    }
}

/// One thread that does the effect and then asserts that `x` is below a bound.
fn program(effect: Effect, bound: i64) -> Program {
    let x = Expr::Read(place(0, 16));
    let wrong = Expr::binary(BinaryOp::ULe, Expr::constant(bound, 16), x);
    let location = |edges: Vec<Edge>| Location {
        valid_end: true,
        edges,
        ..Location::default()
    };
    let program = Program {
        info: ProgramInfo::named("refusal"),
        globals: vec![variable("x", 16), variable("p", 64)],
        templates: vec![Template {
            name: "T".into(),
            params: 0,
            locals: Vec::new(),
            channels: Vec::new(),
            locations: vec![
                location(vec![edge(Expr::TRUE, vec![effect], 1)]),
                location(vec![edge(wrong, Vec::new(), 2)]),
                Location {
                    error: Some(ErrorMark {
                        property: Property::UnreachCall,
                        message: "too large".into(),
                        resume: None,
                    }),
                    ..Location::default()
                },
            ],
            entry: LocationId(0),
            span: None,
        }],
        initial: vec![Instance {
            template: TemplateId(0),
            args: Vec::new(),
            priority: 0,
        }],
        sites: vec![AllocationSite {
            name: "block".into(),
            cell: Ty::BYTE,
            kind: SiteKind::Heap,
            names: CellNames::default(),
            span: None,
        }],
        pointers_stay: true,
        max_threads: 1,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

fn run(program: &Program) -> Outcome {
    let task = Task::new(program.clone(), Property::BASIC.to_vec());
    let outcome = Explicit::default().run(&task, &Control::unlimited(), &mut |_| ());
    outcome.expect("it fits")
}

const SAFE: Conclusion = Conclusion::Safe { up_to: Vec::new() };

fn havoc(values: u64) -> Effect {
    Effect::Havoc {
        place: place(0, 16),
        values,
    }
}

#[test]
fn as_many_choices_as_it_takes_are_all_explored() {
    let all = run(&program(havoc(4096), 4096));
    assert_eq!(all.conclusion, SAFE);
    assert_eq!(all.statistics.states, 1 + 4096);
    let found = run(&program(havoc(4096), 4095));
    let violation = found.violation().expect("the last value is wrong");
    assert_eq!(violation.steps[0].choice, 4095);
}

#[test]
fn more_choices_are_refused_by_name() {
    for values in [4097, 0] {
        let outcome = run(&program(havoc(values), 4096));
        let Conclusion::Refused { reason, .. } = outcome.conclusion else {
            panic!("it is not refused: {outcome:?}");
        };
        assert!(reason.contains("`choose`"), "{reason}");
        assert!(reason.contains("4096"), "{reason}");
    }
}

#[test]
fn an_allocation_without_room_is_refused_by_name() {
    let allocate = |size: u64| Effect::Allocate {
        site: SiteId(0),
        reuse: 0,
        size: Expr::Const {
            value: size,
            width: 64,
        },
        result: place(1, 64),
    };
    let most = PointerLayout::LP64.max_object_size();
    let outcome = run(&program(allocate(most + 1), 1));
    let Conclusion::Refused { reason, .. } = &outcome.conclusion else {
        panic!("it is not refused: {outcome:?}");
    };
    assert!(reason.contains("`choose`"), "{reason}");
    let outcome = run(&program(allocate(most), 1));
    assert_eq!(outcome.conclusion, SAFE);
}
