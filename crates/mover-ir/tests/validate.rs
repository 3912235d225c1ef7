//! Each rule of the validator, broken once: a valid program with one defect
//! must be rejected with a reason that names it.

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, VariableRef};
use mover_ir::program::*;
use mover_ir::validate::validate;

fn edge(guard: Expr, effects: Vec<Effect>, target: u32) -> Edge {
    Edge::new(guard, effects, target, "statement")
}

fn global_x() -> Place {
    Place::scalar(VariableRef::Global(VariableId(0)), Ty::BYTE)
}

fn receive() -> Effect {
    Effect::Receive {
        channel: Expr::Channel(ChannelRef::Global(0)),
        args: vec![ReceiveArg::Store(global_x())],
        random: false,
        peek: false,
    }
}

/// Location 0 with one edge to itself, location 1 an error.
fn valid() -> Program {
    let assign = Effect::Assign {
        place: global_x(),
        value: Expr::constant(1, 8),
    };
    Program {
        info: ProgramInfo::named("valid"),
        globals: vec![
            Variable::scalar("x", Ty::BYTE),
            Variable::array("a", Ty::INT, 3),
        ],
        channels: vec![ChannelDecl {
            name: "c".into(),
            capacity: 1,
            fields: vec![Field {
                ty: Ty::BYTE,
                symbols: None,
            }],
            span: None,
        }],
        templates: vec![Template {
            params: 1,
            ..Template::new(
                "P",
                vec![Variable::scalar("p", Ty::BYTE)],
                vec![
                    Location::with_edges(vec![
                        edge(Expr::TRUE, vec![assign], 0),
                        edge(Expr::FALSE, vec![], 1),
                    ]),
                    Location::failure("wrong", Some(LocationId(0))),
                ],
            )
        }],
        initial: vec![Instance::new(0, vec![7])],
        max_threads: 4,
        ..Program::default()
    }
}

#[test]
fn the_starting_point_is_valid() {
    assert_eq!(validate(&valid()), Ok(()));
}

/// Applies a defect and checks that the reason speaks of it.
fn rejects(words: &str, defect: impl FnOnce(&mut Program)) {
    let mut program = valid();
    defect(&mut program);
    match validate(&program) {
        Ok(()) => panic!("accepted, but should have said `{words}`"),
        Err(reason) => assert!(
            reason.to_string().contains(words),
            "`{reason}` does not say `{words}`"
        ),
    }
}

fn first_edge(program: &mut Program) -> &mut Edge {
    &mut program.templates[0].locations[0].edges[0]
}

/// Location 1 as a bound instead of an error.
fn bound(program: &mut Program) -> &mut Location {
    let location = &mut program.templates[0].locations[1];
    location.error = None;
    location.bound = Some(BoundMark {
        kind: BoundKind::Threads,
        message: "too many".into(),
    });
    location
}

#[test]
fn bounds_are_sinks() {
    let mut program = valid();
    bound(&mut program);
    assert_eq!(validate(&program), Ok(()));
    rejects("a bound location has an edge", |p| {
        bound(p).edges.push(edge(Expr::TRUE, vec![], 0));
    });
    rejects("edge into a bound has effects", |p| {
        bound(p);
        first_edge(p).target = LocationId(1);
    });
    rejects("the entry is a bound", |p| {
        bound(p);
        p.templates[0].entry = LocationId(1);
    });
    rejects("a bound location is an error, too", |p| {
        let mark = bound(&mut valid()).bound.take();
        p.templates[0].locations[1].bound = mark;
    });
}

#[test]
fn each_defect_is_named() {
    rejects("width 0", |p| p.globals[0].ty.width = 0);
    rejects("width 65", |p| p.globals[0].ty.width = 65);
    rejects("cells", |p| p.globals[0].len = 0);
    rejects("3 cells and 1 values", |p| {
        p.globals[1].init = Init::Cells(vec![1])
    });
    rejects("does not fit", |p| p.globals[0].init = Init::All(256));
    rejects("does not hold its channels", |p| {
        p.globals[0].init = Init::Channels(vec![ChannelRef::Global(0)]);
    });
    rejects("unknown set of symbols", |p| {
        p.globals[0].symbols = Some(SymbolSetId(3));
    });
    rejects("capacity", |p| p.channels[0].capacity = u32::MAX);
    rejects("no template", |p| p.initial[0].template = TemplateId(9));
    rejects("number of arguments", |p| p.initial[0].args.clear());
    rejects("does not fit", |p| p.initial[0].args[0] = 300);
    rejects("initial threads", |p| p.max_threads = 0);
    rejects("channel reference", |p| {
        p.max_threads = 70_000;
        let channel = p.channels[0].clone();
        p.templates[0].channels.push(channel);
    });
    rejects("entry", |p| p.templates[0].entry = LocationId(2));
    rejects("more parameters", |p| {
        p.templates[0].params = 2;
        p.initial.clear();
    });
    rejects("not a scalar", |p| p.templates[0].locals[0].len = 2);
    rejects("error location has an edge", |p| {
        let copy = first_edge(p).clone();
        p.templates[0].locations[1].edges.push(copy);
    });
    rejects("resumes", |p| {
        if let Some(error) = &mut p.templates[0].locations[1].error {
            error.resume = Some(LocationId(1));
        }
    });
    rejects("target", |p| first_edge(p).target = LocationId(5));
    rejects("guard has width 8", |p| {
        first_edge(p).guard = Expr::constant(1, 8)
    });
    rejects("edge into an error has effects", |p| {
        first_edge(p).target = LocationId(1)
    });
    rejects("value has width 1", |p| {
        first_edge(p).effects = vec![Effect::Assign {
            place: global_x(),
            value: Expr::TRUE,
        }];
    });
    rejects("more than one channel operation", |p| {
        first_edge(p).effects = vec![receive(), receive()];
    });
    rejects("not the first effect", |p| {
        first_edge(p).effects.push(receive())
    });
    rejects("follows the exit", |p| {
        first_edge(p).effects.insert(0, Effect::Exit)
    });
    rejects("right operand", |p| {
        first_edge(p).guard = Expr::binary(BinaryOp::Eq, Expr::int(1), Expr::TRUE);
    });
    rejects("another type", |p| {
        let place = Place::scalar(VariableRef::Global(VariableId(0)), Ty::INT);
        let read = Expr::Read(place);
        first_edge(p).guard = Expr::binary(BinaryOp::Eq, read, Expr::int(0));
    });
    rejects("unknown variable", |p| {
        let place = Place::scalar(VariableRef::Local(VariableId(4)), Ty::BOOL);
        first_edge(p).guard = Expr::Read(place);
    });
    rejects("constant index outside", |p| {
        let place = Place::element(VariableRef::Global(VariableId(1)), Expr::int(3), Ty::INT);
        let read = Expr::Read(place);
        first_edge(p).guard = Expr::binary(BinaryOp::Eq, read, Expr::int(0));
    });
    rejects("unknown channel", |p| {
        let channel = Expr::Channel(ChannelRef::Local(0));
        first_edge(p).guard = Expr::ChannelExists(Box::new(channel));
    });
    rejects("unknown template", |p| {
        first_edge(p).effects = vec![Effect::Spawn {
            template: TemplateId(1),
            args: Vec::new(),
            priority: 1,
            result: None,
        }];
    });
    rejects("unknown location", |p| {
        first_edge(p).guard = Expr::ThreadAt {
            thread: Box::new(Expr::ThreadId),
            template: TemplateId(0),
            locations: vec![LocationId(2)],
        };
    });
}

fn address() -> Expr {
    Expr::constant(0, PointerLayout::default().width)
}

fn store(address: Expr, value: Expr) -> Effect {
    Effect::Store { address, value }
}

#[test]
fn each_defect_about_memory_is_named() {
    let one = |effect: Effect| move |p: &mut Program| first_edge(p).effects = vec![effect];
    let asks = |guard: Expr| move |p: &mut Program| first_edge(p).guard = guard;
    rejects("pointers of 16 bits", |p| p.pointers.width = 16);
    rejects("64 bits of offset", |p| p.pointers.offset_bits = 64);
    rejects("cells that are not bytes", |p| {
        p.globals[0].ty = Ty::BOOL;
        p.globals[0].addressable = true;
        first_edge(p).effects.clear();
        first_edge(p).guard = Expr::TRUE;
    });
    rejects("too large for its address", |p| {
        p.globals[1].addressable = true;
        p.pointers.offset_bits = 2;
    });
    rejects("is addressable", |p| {
        p.templates[0].locals[0].addressable = true
    });
    rejects("cells of `s` are not bytes", |p| {
        p.sites.push(AllocationSite {
            name: "s".into(),
            cell: Ty::BOOL,
            kind: SiteKind::Heap,
            names: CellNames::default(),
            span: None,
        });
    });
    rejects("a store of 1 bits", one(store(address(), Expr::TRUE)));
    rejects(
        "address has width 32",
        one(store(Expr::int(0), Expr::int(0))),
    );
    rejects(
        "address has width 32",
        one(Effect::Free {
            address: Expr::int(0),
        }),
    );
    rejects(
        "257 values",
        one(Effect::Havoc {
            place: global_x(),
            values: 257,
        }),
    );
    rejects("beside another choice", |p| {
        let havoc = Effect::Havoc {
            place: global_x(),
            values: 0,
        };
        first_edge(p).effects = vec![havoc.clone(), havoc];
    });
    rejects("beside another choice or a channel operation", |p| {
        let havoc = Effect::Havoc {
            place: global_x(),
            values: 0,
        };
        first_edge(p).effects = vec![receive(), havoc];
    });
    rejects(
        "unknown allocation site",
        one(Effect::Allocate {
            site: SiteId(0),
            reuse: 0,
            size: address(),
            result: global_x(),
        }),
    );
    rejects(
        "which has none",
        asks(Expr::binary(
            BinaryOp::Eq,
            Expr::Address {
                variable: VariableId(0),
                width: 64,
            },
            address(),
        )),
    );
    rejects("a load of 1 bits", asks(Expr::load(address(), Ty::BOOL)));
    rejects(
        "unknown allocation site",
        asks(Expr::ObjectSite {
            address: Box::new(address()),
            sites: vec![SiteId(0)],
        }),
    );
}
