//! Random programs in which a first thread starts the others in a loop.
//!
//! The threads are those of [`super::pointers`]. They are started one by one, with
//! arguments that are known or that hang on a choice made before; they stay or end, now
//! and then with a lock in hand; room for them may be tight; and the first thread looks at
//! what they do, by flags that they set, while it starts others and afterwards. In half of the
//! programs they also tell that they are there ([`Program::presence`]), and the first thread
//! waits for all of them, or all but one, before it looks at what they have left.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;

use super::pointers;
use super::variable;
use crate::random::Random;

const WORD: Ty = Ty::unsigned(32);
const COUNTER: VariableId = VariableId(0);
const CHOICE: VariableId = VariableId(1);

fn local(id: VariableId) -> Place {
    Place::scalar(VariableRef::Local(id), WORD)
}

fn is(id: VariableId, value: u64) -> Expr {
    let value = Expr::constant(value as i64, 32);
    Expr::binary(BinaryOp::Eq, Expr::Read(local(id)), value)
}

pub fn program(seed: u64) -> Program {
    let mut random = Random(seed ^ 0x57A2_7ED0);
    let mut program = pointers::program(seed);
    program.pointers_stay = random.one_in(2);
    program
        .globals
        .push(variable("done".into(), WORD, 4, Init::All(0)));
    let done = VariableId(program.globals.len() as u32 - 1);
    let flag = |index: Expr| Place::element(VariableRef::Global(done), index, WORD);
    let is_present = random.one_in(2);
    let is_quiet = is_present && random.one_in(2);
    if is_present {
        // The first cell is that of the first thread.
        let mut row = variable("here".into(), Ty::BYTE, 5, Init::All(0));
        row.init = Init::Cells(vec![1, 0, 0, 0, 0]);
        program.globals.push(row);
        program.presence = Some(VariableId(done.0 + 1));
    }
    let cell = |number: &Expr| {
        let index = Expr::binary(BinaryOp::Add, number.clone(), Expr::constant(1, 32));
        Place::element(VariableRef::Global(VariableId(done.0 + 1)), index, Ty::BYTE)
    };
    let mark = |number: &Expr, value: i64| Effect::Assign {
        place: cell(number),
        value: Expr::constant(value, 8),
    };
    // Each thread learns which flag is its own by a third argument.
    for template in &mut program.templates {
        let own = template.locals.len() as u32;
        template
            .locals
            .push(variable("own".into(), WORD, 1, Init::All(0)));
        let end = template.locations.iter().position(|l| l.valid_end);
        let ends = is_present || random.one_in(2);
        let tells = random.below(2) as i64;
        for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
            if Some(edge.target.index()) == end {
                let number = Expr::Read(local(VariableId(own)));
                if is_present {
                    edge.effects.push(mark(&number, 2));
                }
                if !is_quiet {
                    edge.effects.push(Effect::Assign {
                        place: flag(number),
                        value: Expr::constant(1 + tells, 32),
                    });
                }
                if ends {
                    edge.effects.push(Effect::Exit);
                }
            }
        }
        // Parameters come first: the third local changes places with the new one.
        swap_locals(template, 2, own);
        template.params = 3;
    }
    let started = std::mem::take(&mut program.initial);
    let count = started.len() as u64;
    let chooses = random.one_in(3);
    let main = TemplateId(program.templates.len() as u32);
    let edge = |guard: Expr, effects: Vec<Effect>, target: u32| Edge {
        priority: 0,
        guard,
        effects,
        target: LocationId(target),
        span: None,
        text: "start".into(),
    };
    let mut locations = vec![Location::default(); 8];
    let effects = if chooses {
        let place = local(CHOICE);
        vec![Effect::Havoc { place, values: 2 }]
    } else {
        Vec::new()
    };
    locations[0].edges.push(edge(Expr::TRUE, effects, 1));
    for (number, instance) in started.iter().enumerate() {
        let other = &started[random.below(count) as usize];
        let mut args: Vec<Expr> = (0..2)
            .map(|arg| {
                let known = Expr::constant(instance.args[arg] as i64, 64);
                if chooses && random.one_in(2) {
                    let else_ = Expr::constant(other.args[arg] as i64, 64);
                    Expr::If(Box::new(is(CHOICE, 0)), Box::new(known), Box::new(else_))
                } else {
                    known
                }
            })
            .collect();
        args.push(Expr::Read(local(COUNTER)));
        let spawn = Effect::Spawn {
            template: instance.template,
            args,
            priority: 1,
            result: None,
        };
        let one = Expr::constant(1, 32);
        let next = Expr::binary(BinaryOp::Add, Expr::Read(local(COUNTER)), one);
        let count_up = Effect::Assign {
            place: local(COUNTER),
            value: next,
        };
        let guard = is(COUNTER, number as u64);
        let mut effects = vec![spawn, count_up];
        if is_present {
            effects.insert(0, mark(&Expr::Read(local(COUNTER)), 1));
        }
        locations[1].edges.push(edge(guard, effects, 1));
    }
    let all = is(COUNTER, count);
    let reset = Effect::Assign {
        place: local(COUNTER),
        value: Expr::constant(0, 32),
    };
    let after = if is_quiet { 5 } else { 2 };
    locations[1]
        .edges
        .push(edge(all.clone(), vec![reset.clone()], after));
    if is_present {
        let counted = Expr::Read(local(COUNTER));
        let ended = Expr::binary(
            BinaryOp::Eq,
            Expr::Read(cell(&counted)),
            Expr::constant(2, 8),
        );
        let waited = is(COUNTER, count - random.below(2));
        let next = Effect::Assign {
            place: local(COUNTER),
            value: Expr::binary(BinaryOp::Add, counted.clone(), Expr::constant(1, 32)),
        };
        let joins = vec![mark(&counted, 0), next];
        let guard = ended.and(waited.clone().negate());
        locations[5].edges.push(edge(guard, joins, 5));
        locations[5].edges.push(edge(waited, Vec::new(), 6));
        let data = Place::element(VariableRef::Global(VariableId(1)), Expr::int(0), WORD);
        let remember = Effect::Assign {
            place: local(CHOICE),
            value: Expr::Read(data.clone()),
        };
        locations[6].edges.push(edge(Expr::TRUE, vec![remember], 7));
        let same = Expr::binary(BinaryOp::Eq, Expr::Read(local(CHOICE)), Expr::Read(data));
        locations[7]
            .edges
            .push(edge(same.clone().negate(), Vec::new(), 4));
        locations[7].edges.push(edge(same, Vec::new(), 3));
    }
    // Waits for each thread, or looks whether it has come to its end.
    let told = Expr::Read(flag(Expr::Read(local(COUNTER))));
    let not_all = all.clone().negate();
    let next = Effect::Assign {
        place: local(COUNTER),
        value: Expr::binary(
            BinaryOp::Add,
            Expr::Read(local(COUNTER)),
            Expr::constant(1, 32),
        ),
    };
    let zero = Expr::constant(0, 32);
    let nothing = Expr::binary(BinaryOp::Eq, told.clone(), zero);
    let two = Expr::binary(BinaryOp::Eq, told, Expr::constant(2, 32));
    let wrong = random.one_in(4);
    let ready = nothing.clone().negate().and(not_all.clone());
    let fine = if wrong {
        ready.clone().and(two.clone().negate())
    } else {
        ready.clone()
    };
    locations[2].edges.push(edge(fine, vec![next.clone()], 2));
    if wrong {
        locations[2].edges.push(edge(ready.and(two), Vec::new(), 4));
    }
    if random.one_in(3) {
        locations[2]
            .edges
            .push(edge(nothing.and(not_all), vec![next], 2));
    }
    if random.one_in(5) {
        // Which number a thread has is seen by who looks at the mark in its lock.
        let owner = Place::element(VariableRef::Global(VariableId(0)), Expr::int(0), WORD);
        let second = Expr::binary(BinaryOp::Eq, Expr::Read(owner), Expr::constant(2, 32));
        locations[2].edges.push(edge(second, Vec::new(), 4));
    }
    let after = if is_present { 5 } else { 3 };
    locations[2].edges.push(edge(all, vec![reset], after));
    locations[3].valid_end = true;
    locations[4].error = Some(ErrorMark {
        property: Property::UnreachCall,
        message: "error".into(),
        resume: None,
    });
    program.templates.push(Template {
        name: "first".into(),
        params: 0,
        locals: vec![
            variable("i".into(), WORD, 1, Init::All(0)),
            variable("c".into(), WORD, 1, Init::All(0)),
        ],
        channels: Vec::new(),
        locations,
        entry: LocationId(0),
        span: None,
    });
    program.initial = vec![Instance {
        template: main,
        args: Vec::new(),
        priority: 1,
    }];
    program.max_threads = if random.one_in(5) {
        count as u32
    } else {
        count as u32 + 1
    };
    program.name = format!("started {seed}");
    program
}

fn swap_locals(template: &mut Template, a: u32, b: u32) {
    template.locals.swap(a as usize, b as usize);
    let swapped = |id: VariableId| match id.0 {
        id if id == a => VariableId(b),
        id if id == b => VariableId(a),
        _ => id,
    };
    for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
        rename(&mut edge.guard, &swapped);
        for effect in &mut edge.effects {
            match effect {
                Effect::Assign { place, value } => {
                    rename_place(place, &swapped);
                    rename(value, &swapped);
                }
                Effect::Store { address, value } => {
                    rename(address, &swapped);
                    rename(value, &swapped);
                }
                Effect::Exit => {}
                other => panic!("the threads do not do this: {other:?}"),
            }
        }
    }
}

fn rename_place(place: &mut Place, swapped: &impl Fn(VariableId) -> VariableId) {
    if let VariableRef::Local(id) = &mut place.variable {
        *id = swapped(*id);
    }
    rename(&mut place.index, swapped);
}

fn rename(expr: &mut Expr, swapped: &impl Fn(VariableId) -> VariableId) {
    match expr {
        Expr::Read(place) => rename_place(place, swapped),
        Expr::Unary(_, arg) | Expr::Resize { arg, .. } | Expr::Load { address: arg, .. } => {
            rename(arg, swapped);
        }
        Expr::Binary(_, a, b) => {
            rename(a, swapped);
            rename(b, swapped);
        }
        Expr::If(a, b, c) => {
            rename(a, swapped);
            rename(b, swapped);
            rename(c, swapped);
        }
        _ => {}
    }
}
