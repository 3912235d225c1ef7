//! Claims that forbid states, checked by the ordinary search with its reduction.
//!
//! `[] p` forbids the states in which `p` does not hold, and so does every formula and every `never`
//! claim whose automaton waits in one state until a condition holds. Such a claim is an assertion:
//! [`instrument`] makes a program in which each *visible* step, one that may change the condition,
//! is followed in the same atomic step by a test that leads to an error. The program is the
//! original one otherwise, so whatever holds for reductions and errors holds here: a visible step
//! accesses all that the condition reads, and therefore does not move across another visible step.
//! No other notion of visibility is needed.
//!
//! A claim does not see the middle of an atomic sequence. So the test is at the steps that leave a
//! sequence, and programs in which a sequence with visible steps may block are not instrumented, nor
//! are those with a visible rendezvous, whose two sides move at once. These are left to the search
//! through the product, as is a violation that does not stand up to its replay.

use mover_ir::claim::{Monitor, Proposition};
use mover_ir::expr::{Expr, Place, ReceiveArg, VariableRef};
use mover_ir::program::{
    BoundKind, BoundMark, BoundMet, Edge, Effect, ErrorMark, Location, LocationId, Program,
    Property, Template, TemplateId, VariableId,
};
use mover_ir::semantics::{Machine, Step};
use mover_ltl::{Buchi, Label};

use mover_explicit::liveness::is_process_end;

/// More propositions than these are not looked through for a tautology.
const MOST_PROPOSITIONS: usize = 12;

/// The program with the claim as an assertion.
pub struct Instrumented {
    pub program: Program,
    /// Locations of each template in the original program.
    locations: Vec<usize>,
    /// Where runs end that end in an error of the original program.
    ends: Vec<BoundMet>,
    /// Whether the first state is forbidden.
    pub fails_at_once: bool,
}

/// What a condition reads.
#[derive(Default)]
struct Reads {
    globals: Vec<VariableId>,
    channels: bool,
}

/// The program in which the claim is an assertion; none if it cannot be made one.
pub fn instrument(program: &Program, monitor: &Monitor) -> Option<Instrumented> {
    if program.priority_scheduling
        || monitor.uses_last
        || !monitor.checks.is_empty()
        || !monitor.extends_finite_runs
    {
        return None;
    }
    let forbidden = forbidden_states(monitor)?;
    let reads = Reads::of(&forbidden)?;
    // A store through a pointer may change a variable that has an address.
    let has_address = |id: &VariableId| program.globals[id.index()].addressable;
    if reads.globals.iter().any(has_address) {
        return None;
    }
    let mut changed = program.clone();
    // What the user claims of exclusive access is not about the condition.
    changed.info_mut().exclusive.clear();
    let mut ends = Vec::new();
    for (number, template) in changed.templates.iter_mut().enumerate() {
        let id = TemplateId(number as u32);
        let original = &program.templates[number];
        let hides = hides_visible_steps(&reads, original);
        let is_passed_on = |location: &Location| {
            location.atomic && location.edges.iter().any(|edge| may_meet(program, edge))
        };
        if hides && (original.locations.iter()).any(|l| may_block(l) || is_passed_on(l)) {
            return None;
        }
        for (at, location) in original.locations.iter().enumerate() {
            if location.error.is_some() {
                let end = &mut template.locations[at];
                end.error = None;
                end.bound = Some(BoundMark {
                    kind: BoundKind::Unsupported,
                    message: String::new(),
                });
                ends.push(BoundMet {
                    template: id,
                    location: LocationId(at as u32),
                });
            }
            for (which, edge) in location.edges.iter().enumerate() {
                let target = original.location(edge.target);
                let is_visible = reads.sees(edge);
                let is_end = hides && is_middle(original, LocationId(at as u32));
                if target.ends_run() || !(is_visible || is_end) {
                    continue;
                }
                if may_meet(program, edge) || edge.effects.contains(&Effect::Exit) {
                    return None;
                }
                if is_middle(original, edge.target) {
                    continue;
                }
                let number = template.locations.len();
                template.locations[at].edges[which].target = LocationId(number as u32);
                template
                    .locations
                    .extend(test_before(&forbidden, edge, number));
            }
        }
    }
    let machine = Machine::new(program);
    let fails_at_once = machine.eval(&machine.initial(), 0, &forbidden) != 0;
    Some(Instrumented {
        locations: (program.templates.iter())
            .map(|template| template.locations.len())
            .collect(),
        ends,
        fails_at_once,
        program: changed,
    })
}

/// Whether a visible step leads into the middle of an atomic sequence.
fn hides_visible_steps(reads: &Reads, template: &Template) -> bool {
    let mut edges = template.locations.iter().flat_map(|l| &l.edges);
    edges.any(|edge| is_middle(template, edge.target) && reads.sees(edge))
}

/// Whether claims do not see the states in which a thread is here.
fn is_middle(template: &Template, at: LocationId) -> bool {
    let location = template.location(at);
    location.atomic && !is_process_end(at, location)
}

/// Two locations: the test behind an edge, and the error.
fn test_before(forbidden: &Expr, edge: &Edge, number: usize) -> [Location; 2] {
    let error = LocationId(number as u32 + 1);
    let way = |guard: Expr, target: LocationId| Edge {
        priority: 0,
        guard,
        effects: Vec::new(),
        target,
        span: edge.span,
        text: edge.text.clone(),
        sync: Vec::new(),
    };
    [
        Location {
            atomic: true,
            edges: vec![
                way(forbidden.clone(), error),
                way(forbidden.clone().negate(), edge.target),
            ],
            span: edge.span,
            ..Location::default()
        },
        Location {
            error: Some(ErrorMark {
                property: Property::UnreachCall,
                message: "the claim is violated".into(),
                resume: None,
            }),
            span: edge.span,
            ..Location::default()
        },
    ]
}

/// The condition that no state satisfies if the claim holds, if that is all that it says.
fn forbidden_states(monitor: &Monitor) -> Option<Expr> {
    let automaton = &monitor.automaton;
    let conditions: Vec<Expr> = (monitor.propositions.iter())
        .map(|proposition| match proposition {
            Proposition::Holds(expr) => Some(expr.clone()),
            Proposition::SomeThreadAt(_) | Proposition::Enabled(_) | Proposition::NoneEnabled => {
                None
            }
        })
        .collect::<Option<_>>()?;
    let labels = bad_labels(automaton, conditions.len())?;
    let condition = |label: &Label| {
        let literals = conditions.iter().enumerate().flat_map(|(number, expr)| {
            let positive = (label.positive >> number & 1 == 1).then(|| expr.clone());
            let negative = (label.negative >> number & 1 == 1).then(|| expr.clone().negate());
            [positive, negative]
        });
        literals.flatten().fold(Expr::TRUE, Expr::and)
    };
    Some(labels.iter().map(condition).fold(Expr::FALSE, Expr::or))
}

/// The labels of which one must hold at some time for the automaton to accept: it waits in its
/// first state, whatever it reads, until one does, and then accepts everything.
fn bad_labels(automaton: &Buchi, propositions: usize) -> Option<Vec<Label>> {
    if propositions > MOST_PROPOSITIONS {
        return None;
    }
    let first = automaton.states.first()?;
    if automaton.accepts_all(0) || first.accepting {
        return None;
    }
    let mut bad = Vec::new();
    let mut stays = Vec::new();
    for edge in &first.edges {
        if edge.target == 0 {
            stays.push(edge.label);
        } else if automaton.accepts_all(edge.target) {
            bad.push(edge.label);
        } else {
            return None;
        }
    }
    let goes_on = |letter: u64| stays.iter().chain(&bad).any(|label| label.holds(letter));
    (0..1 << propositions).all(goes_on).then_some(bad)
}

/// Whether a thread in the middle of an atomic sequence may have to wait here.
fn may_block(location: &Location) -> bool {
    let is_free = |edge: &Edge| {
        let is_possible = |effect: &Effect| {
            !effect.is_channel_operation() && !matches!(effect, Effect::Spawn { .. })
        };
        edge.guard == Expr::TRUE && edge.effects.iter().all(is_possible)
    };
    location.atomic && !location.ends_run() && !location.edges.iter().any(is_free)
}

/// Whether an edge may be one side of a rendezvous.
fn may_meet(program: &Program, edge: &Edge) -> bool {
    let mut channels = program
        .channels
        .iter()
        .chain(program.templates.iter().flat_map(|t| &t.channels));
    edge.effects.iter().any(Effect::is_channel_operation)
        && channels.any(|channel| channel.capacity == 0)
}

impl Reads {
    /// None if the condition depends on anything but global variables and channels: on who moved
    /// last, on what can move, on memory with addresses, or on where threads are. A thread that has
    /// just come to a place stands at the test, so places would be read wrongly there.
    fn of(condition: &Expr) -> Option<Reads> {
        let mut reads = Reads::default();
        let mut is_known = true;
        condition.walk(&mut |part| match part {
            Expr::Read(place) => match place.variable {
                VariableRef::Global(id) => reads.globals.push(id),
                VariableRef::Local(_) => is_known = false,
            },
            Expr::ThreadId
            | Expr::ThreadCount
            | Expr::ThreadAt { .. }
            | Expr::RemoteRead { .. }
            | Expr::ThreadPriority(_)
            | Expr::Timeout
            | Expr::Load { .. }
            | Expr::ObjectSize(_)
            | Expr::ObjectSite { .. } => is_known = false,
            Expr::ChannelExists(_)
            | Expr::ChannelLen(_)
            | Expr::ChannelCapacity(_)
            | Expr::CanReceive { .. } => reads.channels = true,
            Expr::Const { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::If(..)
            | Expr::Resize { .. }
            | Expr::Channel(_)
            | Expr::Address { .. } => {}
        });
        is_known.then_some(reads)
    }

    /// Whether a step may change the condition.
    fn sees(&self, edge: &Edge) -> bool {
        let is_read = |place: &Place| match place.variable {
            VariableRef::Global(id) => self.globals.contains(&id),
            VariableRef::Local(_) => false,
        };
        edge.effects.iter().any(|effect| match effect {
            Effect::Assign { place, .. } | Effect::Havoc { place, .. } => is_read(place),
            Effect::Allocate { result, .. } => is_read(result),
            Effect::Send { .. } => self.channels,
            Effect::Receive { args, .. } => {
                let stores = |arg: &ReceiveArg| match arg {
                    ReceiveArg::Store(place) => is_read(place),
                    ReceiveArg::Match(_) | ReceiveArg::Ignore => false,
                };
                self.channels || args.iter().any(stores)
            }
            // Channels of a process come and go with it.
            Effect::Spawn { result, .. } => self.channels || result.as_ref().is_some_and(is_read),
            Effect::Exit => self.channels,
            Effect::Store { .. }
            | Effect::Free { .. }
            | Effect::SetPriority { .. }
            | Effect::Print { .. } => false,
        })
    }
}

impl Instrumented {
    /// The steps of the original program among those of a run; none if they are no run.
    pub fn original_steps(&self, steps: &[Step]) -> Option<Vec<Step>> {
        let machine = Machine::new(&self.program);
        let mut state = machine.initial();
        let mut original = Vec::new();
        for &step in steps {
            if !machine.can_take(&state, step) {
                return None;
            }
            let thread = state.threads[step.by.thread].as_ref()?;
            if thread.location.index() < self.locations[thread.template.index()] {
                original.push(step);
            }
            state = machine.apply(&state, step);
        }
        Some(original)
    }

    /// The bounds that are bounds of the original program, too.
    pub fn original_bounds(&self, met: &[BoundMet]) -> Vec<BoundMet> {
        let is_original = |bound: &&BoundMet| !self.ends.contains(bound);
        met.iter().filter(is_original).cloned().collect()
    }
}
