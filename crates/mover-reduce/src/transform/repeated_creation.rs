//! The program in which every creation may happen any number of times.
//!
//! A program whose number of threads is a constant (`active [3] proctype`, a loop that creates ten
//! workers, three calls one after the other) is one of a family, with a member for each number of
//! threads at each place that creates some. [`repeated_creation`] makes one program that has the runs
//! of all members:
//!
//! - where a thread is created, the same thread may be created once more before the program goes on,
//!   with the same arguments, any number of times;
//! - several threads of one kind that are there from the start are replaced by a *creator*, a thread
//!   that does nothing but create such threads. It may do so late, which is no more than that a
//!   thread makes its first step late.
//!
//! A limit of the language on the number of threads is not to be met ([`forget_thread_limit`]).
//!
//! A sequence that keeps other threads from moving may be interrupted where it creates a thread;
//! otherwise a single step would create any number. So the program has more runs than the members of
//! the family together: what holds for it holds for each of them, but a violation in it may be one of
//! none. Members with fewer threads than written are covered, too, as long as nobody waits for the
//! end of a thread: a thread that never moves is like none.

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::program::{
    Edge, Effect, Instance, Location, LocationId, Program, Template, TemplateId,
};
use mover_ir::simplify::fold_parts;

/// Why there is no such program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotRepeatable {
    #[error("it creates no threads")]
    NoCreation,
    #[error("the threads that run `{0}` from the start have different arguments")]
    DifferentArguments(String),
    #[error("what a thread is given is computed in the step that creates it: `{0}`")]
    ComputedArguments(String),
    #[error("one step creates several threads: `{0}`")]
    SeveralAtOnce(String),
}

/// The program in which every creation may happen any number of times.
pub fn repeated_creation(original: &Program) -> Result<Program, NotRepeatable> {
    let mut program = original.clone();
    let mut creates = add_creators(&mut program)?;
    for body in &mut program.templates[..original.templates.len()] {
        for (number, location) in body.locations.iter_mut().enumerate() {
            let mut again = Vec::new();
            for edge in &location.edges {
                again.extend(once_more(edge, LocationId(number as u32))?);
            }
            if !again.is_empty() {
                creates = true;
                location.atomic = false;
                location.edges.append(&mut again);
            }
        }
    }
    if creates {
        Ok(program)
    } else {
        Err(NotRepeatable::NoCreation)
    }
}

/// The member of the family with so many threads of each kind of which there are several from the
/// start.
pub fn with_copies(original: &Program, copies: usize) -> Program {
    let mut program = original.clone();
    let mut initial: Vec<Instance> = Vec::new();
    for instance in &original.initial {
        let same = |other: &&Instance| *other == instance;
        if original.initial.iter().filter(same).count() == 1 {
            initial.push(instance.clone());
        } else if !initial.contains(instance) {
            initial.extend(vec![instance.clone(); copies]);
        }
    }
    program.initial = initial;
    program
}

/// Takes out the errors for more threads than the language allows.
pub fn forget_thread_limit(program: &mut Program) {
    let limit = u64::from(program.max_threads);
    let places = program.templates.iter_mut().flat_map(|t| &mut t.locations);
    for edge in places.flat_map(|place| &mut place.edges) {
        edge.guard = without_limit(&edge.guard, limit);
    }
}

/// Whether an edge only creates threads and changes nothing else, so that its thread is where it was.
pub fn only_creates(edge: &Edge, from: LocationId) -> bool {
    edge.target == from
        && !edge.effects.is_empty()
        && edge
            .effects
            .iter()
            .all(|effect| matches!(effect, Effect::Spawn { result: None, .. }))
}

/// Replaces several threads of one kind by a creator of such; says whether there are any.
fn add_creators(program: &mut Program) -> Result<bool, NotRepeatable> {
    let several = |instance: &Instance| {
        let same = |other: &&Instance| other.template == instance.template;
        program.initial.iter().filter(same).count() > 1
    };
    let (many, single): (Vec<Instance>, Vec<Instance>) =
        program.initial.iter().cloned().partition(several);
    let mut kinds: Vec<Instance> = Vec::new();
    for instance in many {
        match kinds.iter().find(|kind| kind.template == instance.template) {
            None => kinds.push(instance),
            Some(kind) if *kind == instance => {}
            Some(_) => {
                let name = program.templates[instance.template.index()].name.clone();
                return Err(NotRepeatable::DifferentArguments(name));
            }
        }
    }
    program.initial = single;
    for kind in &kinds {
        let creator = TemplateId(program.templates.len() as u32);
        let creator_template = creator_of(&program.templates[kind.template.index()], kind);
        program.templates.push(creator_template);
        program.initial.push(Instance::new(creator.0, Vec::new()));
    }
    Ok(!kinds.is_empty())
}

fn creator_of(body: &Template, kind: &Instance) -> Template {
    let args = kind.args.iter().zip(&body.locals);
    let effect = Effect::Spawn {
        template: kind.template,
        args: args
            .map(|(&value, param)| Expr::Const {
                value,
                width: param.ty.width,
            })
            .collect(),
        priority: kind.priority,
        result: None,
    };
    let text = format!("one more {}", body.name);
    let edge = Edge::new(Expr::TRUE, vec![effect], 0, text);
    let place = Location {
        edges: vec![edge],
        valid_end: true,
        span: body.span,
        ..Location::default()
    };
    Template::new(format!("creator of {}", body.name), Vec::new(), vec![place])
}

/// The edge that creates the same thread and stays.
fn once_more(edge: &Edge, from: LocationId) -> Result<Option<Edge>, NotRepeatable> {
    let is_spawn = |effect: &&Effect| matches!(effect, Effect::Spawn { .. });
    match edge.effects.iter().filter(is_spawn).count() {
        0 => return Ok(None),
        1 => {}
        _ => return Err(NotRepeatable::SeveralAtOnce(edge.text.clone())),
    }
    let mut written: Vec<VariableRef> = Vec::new();
    for effect in &edge.effects {
        let Effect::Spawn {
            template,
            args,
            priority,
            ..
        } = effect
        else {
            written.extend(effect.written_places().iter().map(|place| place.variable));
            // What is stored at an address may be anywhere.
            let is_plain = matches!(
                effect,
                Effect::Assign { .. } | Effect::Havoc { .. } | Effect::Print { .. }
            );
            if !is_plain {
                return Err(NotRepeatable::ComputedArguments(edge.text.clone()));
            }
            continue;
        };
        let mut depends = false;
        for arg in args {
            arg.walk(&mut |part| {
                depends |= matches!(part, Expr::Read(place) if written.contains(&place.variable));
            });
        }
        if depends {
            return Err(NotRepeatable::ComputedArguments(edge.text.clone()));
        }
        return Ok(Some(Edge {
            effects: vec![Effect::Spawn {
                template: *template,
                args: args.clone(),
                priority: *priority,
                result: None,
            }],
            target: from,
            sync: Vec::new(),
            ..edge.clone()
        }));
    }
    Ok(None)
}

/// The condition where the number of threads never reaches the limit of the language.
fn without_limit(condition: &Expr, limit: u64) -> Expr {
    let is_limit = |expr: &Expr| matches!(expr, Expr::Const { value, .. } if *value >= limit);
    match condition {
        Expr::Binary(BinaryOp::ULt, count, most)
            if **count == Expr::ThreadCount && is_limit(most) =>
        {
            Expr::TRUE
        }
        Expr::Binary(BinaryOp::ULe, most, count)
            if **count == Expr::ThreadCount && is_limit(most) =>
        {
            Expr::FALSE
        }
        _ => fold_parts(condition, &mut |part| without_limit(part, limit)),
    }
}
