//! A run through memory with addresses, told, written to a file and replayed.

use mover_check::trace::Trace;
use mover_engine::Violation;
use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::semantics::{Move, Step};
use mover_ir::validate::validate;
use mover_report::json::{read_trace_file, trace_file};

const WIDTH: u8 = 64;

fn variable(name: &str, ty: Ty, names: CellNames) -> Variable {
    Variable {
        names,
        ..Variable::scalar(name, ty)
    }
}

fn field(offset: u64, name: &str, ty: Ty, is_pointer: bool) -> CellName {
    CellName {
        offset,
        name: name.into(),
        ty,
        is_pointer,
        symbols: None,
    }
}

/// One thread that takes one edge after the other and ends in an error.
fn program(effects: Vec<Effect>) -> Program {
    let pointers = PointerLayout::LP64;
    let mut head = variable(
        "head",
        Ty::unsigned(WIDTH),
        CellNames::pointers(pointers, None),
    );
    head.addressable = true;
    let mut locations: Vec<Location> = effects
        .into_iter()
        .enumerate()
        .map(|(number, effect)| Location::with_edges(vec![edge(vec![effect], number as u32 + 1)]))
        .collect();
    let last = locations.len() as u32;
    locations.push(Location::with_edges(vec![edge(Vec::new(), last + 1)]));
    locations.push(Location {
        error: Some(ErrorMark {
            property: Property::MemorySafety,
            message: "use after free".into(),
            resume: None,
        }),
        ..Location::default()
    });
    let node = CellNames {
        stride: 16,
        fields: vec![
            field(0, "next", Ty::unsigned(WIDTH), true),
            field(8, "value", Ty::INT, false),
        ],
        hidden_bytes: 0,
    };
    let site = |name: &str, names: CellNames| AllocationSite {
        names,
        ..AllocationSite::heap(name, Ty::unsigned(32))
    };
    let program = Program {
        info: ProgramInfo::named("list"),
        globals: vec![head, variable("x", Ty::BYTE, CellNames::default())],
        templates: vec![Template::new(
            "main",
            vec![variable(
                "p",
                Ty::unsigned(WIDTH),
                CellNames::pointers(pointers, None),
            )],
            locations,
        )],
        initial: vec![Instance::new(0, Vec::new())],
        pointers,
        sites: vec![site("node", node), site("raw", CellNames::default())],
        pointers_stay: true,
        max_threads: 1,
        ..Program::default()
    };
    assert_eq!(validate(&program), Ok(()));
    program
}

fn edge(effects: Vec<Effect>, target: u32) -> Edge {
    Edge::new(Expr::TRUE, effects, target, "step")
}

fn head() -> Place {
    Place::scalar(VariableRef::Global(VariableId(0)), Ty::unsigned(WIDTH))
}

fn p() -> Place {
    Place::scalar(VariableRef::Local(VariableId(0)), Ty::unsigned(WIDTH))
}

fn at(place: Place, offset: i64) -> Expr {
    let offset = Expr::constant(offset, WIDTH);
    Expr::binary(BinaryOp::Add, Expr::Read(place), offset)
}

fn allocate(site: u32, size: i64, result: Place) -> Effect {
    Effect::Allocate {
        site: SiteId(site),
        reuse: 0,
        size: Expr::constant(size, WIDTH),
        result,
    }
}

fn store(address: Expr, value: Expr) -> Effect {
    Effect::Store { address, value }
}

fn violation(steps: Vec<Step>, error: Option<(TemplateId, LocationId)>) -> Violation {
    Violation {
        property: Property::MemorySafety,
        error,
        steps,
    }
}

#[test]
fn traces_tell_memory_by_names_and_replay_with_their_choices() {
    let program = program(vec![
        allocate(0, 32, p()),
        store(at(p(), 24), Expr::int(-7)),
        Effect::Assign {
            place: head(),
            value: at(p(), 16),
        },
        allocate(1, 12, p()),
        store(at(p(), 8), Expr::int(5)),
        store(at(head(), 0), Expr::Read(p())),
        store(at(head(), 12), Expr::constant(9, 8)),
        Effect::Free {
            address: Expr::Read(p()),
        },
        Effect::Havoc {
            place: Place::scalar(VariableRef::Global(VariableId(1)), Ty::BYTE),
            values: 0,
        },
        store(program_address(), Expr::constant(0, WIDTH)),
    ]);
    let step = |choice| Step {
        by: Move { thread: 0, edge: 0 },
        with: None,
        choice,
    };
    let mut steps = vec![step(0); 11];
    steps[8] = step(200);
    let error = Some((TemplateId(0), LocationId(11)));
    let trace = Trace::replay(&program, &violation(steps.clone(), error)).expect("it is a run");
    let told: Vec<String> = trace
        .steps
        .iter()
        .map(|step| {
            let changes = step.changes.iter();
            let texts: Vec<String> = changes
                .map(|change| format!("{} {} -> {}", change.name, change.from, change.to))
                .collect();
            texts.join(", ")
        })
        .collect();
    assert_eq!(
        told,
        [
            "node#1  -> allocated, 32 bytes, main[0]:p NULL -> &node#1",
            "node#1[1].value 0 -> -7",
            "head NULL -> &node#1[1]",
            "raw#2  -> allocated, 12 bytes, main[0]:p &node#1 -> &raw#2",
            "raw#2+8 0 -> 5",
            "node#1[1].next NULL -> &raw#2",
            "node#1+28 0 -> 9",
            "raw#2  -> freed",
            "x 0 -> 200",
            "head &node#1[1] -> NULL",
            "",
        ]
    );
    let file = trace_file(&program.info.name, &trace, &[Property::MemorySafety]).to_string();
    let claim = read_trace_file(&file).expect("it was written by us");
    assert_eq!(claim.violation, violation(steps.clone(), error));
    assert_eq!(claim.properties, [Property::MemorySafety]);
    let again = Trace::replay(&program, &claim.violation);
    assert_eq!(again.as_ref(), Ok(&trace));

    let mut wrong = steps;
    wrong[8] = step(256);
    let refused = Trace::replay(&program, &violation(wrong, error));
    assert!(refused.is_err(), "a byte has no value 256");
}

/// The address of `head`, the first addressable global.
fn program_address() -> Expr {
    Expr::Address {
        variable: VariableId(0),
        width: WIDTH,
    }
}
