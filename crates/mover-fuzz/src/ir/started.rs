//! Random programs in which a first thread starts the others in a loop.
//!
//! The threads are those of [`super::pointers`]. They are started one by one, with arguments
//! that are known or that depend on an earlier choice; they stay or exit, sometimes while
//! holding a lock; slots for them may be scarce; and the first thread reads flags that they
//! set, while it starts others and afterwards. In half of the programs they also record their
//! presence ([`Program::presence`]), and the first thread waits for all of them, or all but
//! one, before it reads their results.

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;

use super::pieces::{assign, equal, local, variable};
use super::pointers;
use crate::random::Random;

const WORD: Ty = Ty::unsigned(32);
const COUNTER: u32 = 0;
const CHOICE: u32 = 1;

fn word(id: u32) -> Place {
    local(id, WORD)
}

fn is(id: u32, value: u64) -> Expr {
    equal(Expr::Read(word(id)), Expr::constant(value as i64, 32))
}

fn count_up() -> Effect {
    let one = Expr::constant(1, 32);
    let next = Expr::binary(BinaryOp::Add, Expr::Read(word(COUNTER)), one);
    assign(word(COUNTER), next)
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
    let mark = |number: &Expr, value: i64| assign(cell(number), Expr::constant(value, 8));
    // Each thread learns which flag is its own by a third argument.
    for template in &mut program.templates {
        let own = template.locals.len() as u32;
        template.locals.push(Variable::scalar("own", WORD));
        let end = template.locations.iter().position(|l| l.valid_end);
        let ends = is_present || random.one_in(2);
        let tells = random.below(2) as i64;
        for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
            if Some(edge.target.index()) == end {
                let number = Expr::Read(word(own));
                if is_present {
                    edge.effects.push(mark(&number, 2));
                }
                if !is_quiet {
                    edge.effects
                        .push(assign(flag(number), Expr::constant(1 + tells, 32)));
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
    let main = program.templates.len() as u32;
    let edge = |guard, effects, target| Edge::new(guard, effects, target, "start");
    let mut locations = vec![Location::default(); 8];
    let effects = if chooses {
        let place = word(CHOICE);
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
        args.push(Expr::Read(word(COUNTER)));
        let spawn = Effect::Spawn {
            template: instance.template,
            args,
            priority: 1,
            result: None,
        };
        let guard = is(COUNTER, number as u64);
        let mut effects = vec![spawn, count_up()];
        if is_present {
            effects.insert(0, mark(&Expr::Read(word(COUNTER)), 1));
        }
        locations[1].edges.push(edge(guard, effects, 1));
    }
    let all = is(COUNTER, count);
    let reset = assign(word(COUNTER), Expr::constant(0, 32));
    let after = if is_quiet { 5 } else { 2 };
    locations[1]
        .edges
        .push(edge(all.clone(), vec![reset.clone()], after));
    if is_present {
        let counted = Expr::Read(word(COUNTER));
        let ended = equal(Expr::Read(cell(&counted)), Expr::constant(2, 8));
        let waited = is(COUNTER, count - random.below(2));
        let joins = vec![mark(&counted, 0), count_up()];
        let guard = ended.and(waited.clone().negate());
        locations[5].edges.push(edge(guard, joins, 5));
        locations[5].edges.push(edge(waited, Vec::new(), 6));
        let data = Place::element(VariableRef::Global(VariableId(1)), Expr::int(0), WORD);
        let remember = assign(word(CHOICE), Expr::Read(data.clone()));
        locations[6].edges.push(edge(Expr::TRUE, vec![remember], 7));
        let same = equal(Expr::Read(word(CHOICE)), Expr::Read(data));
        locations[7]
            .edges
            .push(edge(same.clone().negate(), Vec::new(), 4));
        locations[7].edges.push(edge(same, Vec::new(), 3));
    }
    // Waits for each thread, or looks whether it has come to its end.
    let told = Expr::Read(flag(Expr::Read(word(COUNTER))));
    let not_all = all.clone().negate();
    let zero = Expr::constant(0, 32);
    let nothing = equal(told.clone(), zero);
    let two = equal(told, Expr::constant(2, 32));
    let wrong = random.one_in(4);
    let ready = nothing.clone().negate().and(not_all.clone());
    let fine = if wrong {
        ready.clone().and(two.clone().negate())
    } else {
        ready.clone()
    };
    locations[2].edges.push(edge(fine, vec![count_up()], 2));
    if wrong {
        locations[2].edges.push(edge(ready.and(two), Vec::new(), 4));
    }
    if random.one_in(3) {
        locations[2]
            .edges
            .push(edge(nothing.and(not_all), vec![count_up()], 2));
    }
    if random.one_in(5) {
        // Which number a thread has is seen by who looks at the mark in its lock.
        let owner = Place::element(VariableRef::Global(VariableId(0)), Expr::int(0), WORD);
        let second = equal(Expr::Read(owner), Expr::constant(2, 32));
        locations[2].edges.push(edge(second, Vec::new(), 4));
    }
    let after = if is_present { 5 } else { 3 };
    locations[2].edges.push(edge(all, vec![reset], after));
    locations[3].valid_end = true;
    locations[4] = Location::failure("error", None);
    let locals = vec![Variable::scalar("i", WORD), Variable::scalar("c", WORD)];
    program
        .templates
        .push(Template::new("first", locals, locations));
    program.initial = vec![Instance::new(main, Vec::new())];
    program.max_threads = if random.one_in(5) {
        count as u32
    } else {
        count as u32 + 1
    };
    program.info_mut().name = format!("started {seed}");
    program
}

fn swap_locals(template: &mut Template, a: u32, b: u32) {
    template.locals.swap(a as usize, b as usize);
    let swap = |place: &mut Place| match &mut place.variable {
        VariableRef::Local(id) if id.0 == a => id.0 = b,
        VariableRef::Local(id) if id.0 == b => id.0 = a,
        _ => {}
    };
    let mut swap_read = |expr: &mut Expr| {
        if let Expr::Read(place) = expr {
            swap(place);
        }
    };
    for edge in template.locations.iter_mut().flat_map(|l| &mut l.edges) {
        edge.guard.walk_mut(&mut swap_read);
        for effect in &mut edge.effects {
            match effect {
                Effect::Assign { place, .. } => swap(place),
                Effect::Store { .. } | Effect::Exit => {}
                other => panic!("the threads do not do this: {other:?}"),
            }
            effect.walk_mut(&mut swap_read);
        }
    }
}
