//! From states and steps to a template of the IR.
//!
//! A location is an element at which a process is, together with how it got there: a step of an
//! atomic sequence leads to an atomic location. The inside of a `d_step` is a chain of atomic
//! locations. Its first statement is the step that enters it; if it begins with a choice, a
//! step without effect enters it as soon as one option is enabled. Inside, options are tried in
//! order (descending priorities), and where none is enabled the process reaches an error.
//!
//! `else` has a lower priority than its siblings. SPIN's verifier and the IR agree on which
//! siblings count as enabled: of a rendezvous only the sending side. One rule of SPIN needs
//! more: an `else` that was merged into an outer choice considers only the options before it.
//! Then its guard says explicitly which options must be disabled, which cannot be expressed for
//! a rendezvous.

use std::collections::HashMap;
use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{
    Edge, Effect, ErrorMark, Location, LocationId, Property, SourceStatement, TemplateId,
};
use mover_source::Span;

use crate::actions::{Action, Side};
use crate::flow::{
    BlockKind, ElementId, ElementKind, Flow, LabelPlaces, Misplaced, SequenceId, Target,
};
use crate::states::{Interior, States, Transition, analyse};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    element: ElementId,
    /// The d_step that the process is in the middle of.
    within: Option<ElementId>,
    atomic: bool,
}

pub struct Automaton {
    pub locations: Vec<Location>,
    pub entry: LocationId,
    pub labels: LabelPlaces,
    /// For each edge of each location the element that it executes; none for
    /// steps in the middle of a d_step.
    pub elements: Vec<Vec<Option<ElementId>>>,
}

/// Makes the automaton of a body; `provided` must hold for every step.
pub fn build(flow: &mut Flow, provided: Expr) -> Result<Automaton, Vec<Misplaced>> {
    let label_names: Vec<(Rc<str>, ElementId)> = flow
        .label_names()
        .map(|(name, element)| (name.clone(), element))
        .collect();
    let states = analyse(flow)?;
    let mut builder = Builder {
        states: &states,
        provided,
        locations: Vec::new(),
        elements: Vec::new(),
        numbers: HashMap::new(),
        errors: HashMap::new(),
        unfinished: Vec::new(),
        problems: Vec::new(),
    };
    let entry = match states.start() {
        Ok(start) => builder.location(Key {
            element: start,
            within: None,
            atomic: false,
        }),
        Err(problem) => return Err(vec![problem]),
    };
    while let Some(key) = builder.unfinished.pop() {
        if let Err(problem) = builder.fill(key) {
            builder.problems.push(problem);
        }
    }
    let mut labels = LabelPlaces::default();
    for (name, element) in label_names {
        let places = builder
            .numbers
            .iter()
            .filter(|(key, _)| key.element == element && key.within.is_none());
        let mut locations: Vec<LocationId> = places.map(|(_, &location)| location).collect();
        locations.sort();
        labels.insert(name, locations);
    }
    if builder.problems.is_empty() {
        Ok(Automaton {
            locations: builder.locations,
            entry,
            labels,
            elements: builder.elements,
        })
    } else {
        Err(builder.problems)
    }
}

impl Automaton {
    /// The statements of a body as SPIN counts them: a `d_step` is one, jumps are none.
    pub fn statements(&self, flow: &Flow, template: TemplateId) -> Vec<SourceStatement> {
        let mut places: HashMap<ElementId, Vec<LocationId>> = HashMap::new();
        for (location, elements) in (0..).map(LocationId).zip(&self.elements) {
            for &element in elements.iter().flatten() {
                places.entry(element).or_default().push(location);
            }
        }
        let mut statements = Vec::new();
        for (number, element) in flow.elements.iter().enumerate() {
            let text = match &element.kind {
                // Some of these SPIN drops.
                ElementKind::Action(action) if action.is_skip || action.is_never() => continue,
                ElementKind::Action(_) if element.status.in_dstep => continue,
                ElementKind::Action(action) => action.text.clone(),
                ElementKind::Block(BlockKind::DStep, _) => "d_step".to_string(),
                ElementKind::End => "-end-".to_string(),
                _ => continue,
            };
            statements.push(SourceStatement {
                template,
                text,
                span: element.span,
                at: places.remove(&number).unwrap_or_default(),
            });
        }
        statements.sort_by_key(|statement| statement.span.start);
        statements
    }
}

struct Builder<'s, 'f> {
    states: &'s States<'f>,
    provided: Expr,
    locations: Vec<Location>,
    elements: Vec<Vec<Option<ElementId>>>,
    numbers: HashMap<Key, LocationId>,
    /// Error locations, by what they say and where they resume.
    errors: HashMap<(String, Span, Option<LocationId>), LocationId>,
    unfinished: Vec<Key>,
    problems: Vec<Misplaced>,
}

/// What decides whether a d_step can be entered.
#[derive(Default)]
struct Guards {
    any: Option<Expr>,
    rendezvous: Option<Side>,
}

impl Guards {
    fn add(&mut self, executable: Expr, rendezvous: Option<Side>) {
        let others = self.any.take().unwrap_or(Expr::FALSE);
        self.any = Some(others.or(executable));
        self.rendezvous = self.rendezvous.or(rendezvous);
    }
}

/// The edges of one location, in the making.
struct Edges {
    at: LocationId,
    priority: i32,
    /// What every edge asks for besides its own guard.
    provided: Expr,
    /// The element they execute, if that is a whole step to SPIN.
    via: Option<ElementId>,
}

impl Builder<'_, '_> {
    fn location(&mut self, key: Key) -> LocationId {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = LocationId(self.locations.len() as u32);
        let element = &self.states.flow.elements[key.element];
        self.locations.push(Location {
            labels: match key.within {
                None => element
                    .labels
                    .iter()
                    .map(|label| label.to_string())
                    .collect(),
                Some(_) => Vec::new(),
            },
            atomic: key.atomic,
            valid_end: key.within.is_none() && self.states.is_end(key.element),
            error: None,
            bound: None,
            edges: Vec::new(),
            accesses: Vec::new(),
            span: Some(element.span),
        });
        self.elements.push(Vec::new());
        self.numbers.insert(key, number);
        self.unfinished.push(key);
        number
    }

    fn error_location(
        &mut self,
        message: &str,
        span: Span,
        resume: Option<LocationId>,
    ) -> LocationId {
        let key = (message.to_string(), span, resume);
        if let Some(&number) = self.errors.get(&key) {
            return number;
        }
        let number = LocationId(self.locations.len() as u32);
        self.locations.push(Location {
            error: Some(ErrorMark {
                property: Property::UnreachCall,
                message: message.to_string(),
                resume,
            }),
            span: Some(span),
            ..Location::default()
        });
        self.elements.push(Vec::new());
        self.errors.insert(key, number);
        number
    }

    /// A place from which nothing but this error is reached.
    fn before_error(&mut self, error: LocationId, action: &Action) -> LocationId {
        let number = LocationId(self.locations.len() as u32);
        self.locations.push(Location {
            atomic: true,
            edges: vec![Edge {
                priority: 0,
                guard: Expr::TRUE,
                effects: Vec::new(),
                target: error,
                span: Some(action.span),
                text: action.text.clone(),
                sync: Vec::new(),
            }],
            span: Some(action.span),
            ..Location::default()
        });
        self.elements.push(vec![None]);
        number
    }

    fn push(
        &mut self,
        edges: &Edges,
        guard: Expr,
        effects: Vec<Effect>,
        target: LocationId,
        text: &str,
        span: Span,
    ) {
        let guard = edges.provided.clone().and(guard);
        if guard == Expr::FALSE {
            return;
        }
        self.elements[edges.at.index()].push(edges.via);
        self.locations[edges.at.index()].edges.push(Edge {
            priority: edges.priority,
            guard,
            effects,
            target,
            span: Some(span),
            text: text.to_string(),
            sync: Vec::new(),
        });
    }

    fn fill(&mut self, key: Key) -> Result<(), Misplaced> {
        let at = self.numbers[&key];
        if let Some(dstep) = key.within {
            return self.fill_interior(at, dstep, key.element);
        }
        let transitions = self.states.transitions(key.element)?;
        for (position, &transition) in transitions.iter().enumerate() {
            let edges = Edges {
                at,
                // Every second number, so that each level has room for an `else`.
                priority: transition.level * 2,
                provided: self.provided.clone(),
                via: Some(transition.via),
            };
            let before = &transitions[..position];
            let behind = &transitions[position + 1..];
            if self.is_else(transition.via)? {
                self.add_else(edges, transition, before, behind)?;
            } else {
                self.add_step(&edges, transition.via, Expr::TRUE)?;
            }
        }
        Ok(())
    }

    /// Where an ordinary step of an element leads.
    fn target_of(&mut self, via: ElementId) -> Result<LocationId, Misplaced> {
        let element = self.states.target(via)?.unwrap_or(via);
        let atomic = self.states.flow.elements[via].status.atomic;
        Ok(self.location(Key {
            element,
            within: None,
            atomic,
        }))
    }

    fn add_step(
        &mut self,
        edges: &Edges,
        via: ElementId,
        condition: Expr,
    ) -> Result<(), Misplaced> {
        let states = self.states;
        let element = &states.flow.elements[via];
        match &element.kind {
            ElementKind::Action(action) => {
                let target = self.target_of(via)?;
                self.add_action(edges, action, condition, target);
            }
            ElementKind::End => {
                let next = Expr::binary(BinaryOp::Add, Expr::ThreadId, Expr::int(1));
                let is_youngest = Expr::binary(BinaryOp::Eq, next, Expr::ThreadCount);
                self.push(
                    edges,
                    condition.and(is_youngest),
                    vec![Effect::Exit],
                    edges.at,
                    "-end-",
                    element.span,
                );
            }
            ElementKind::Block(BlockKind::DStep, _) => self.add_dstep(edges, via, condition)?,
            kind => {
                let text = match kind {
                    ElementKind::Else => "else".to_string(),
                    ElementKind::Goto(Target::Element(target)) => self.goto_text(*target),
                    ElementKind::Exit => "break".to_string(),
                    _ => "goto".to_string(),
                };
                let target = self.target_of(via)?;
                self.push(edges, condition, Vec::new(), target, &text, element.span);
            }
        }
        Ok(())
    }

    fn goto_text(&self, target: ElementId) -> String {
        let element = &self.states.flow.elements[target];
        match (&element.kind, element.labels.first()) {
            (_, Some(label)) => format!("goto {label}"),
            (ElementKind::Exit, None) => "break".to_string(),
            _ => "goto".to_string(),
        }
    }

    /// The edges of a basic statement: one that does it, one for each way in
    /// which it can fail.
    fn add_action(&mut self, edges: &Edges, action: &Action, condition: Expr, target: LocationId) {
        let mut safe = condition;
        for check in &action.checks {
            let error = self.error_location(&check.message, check.span, None);
            let fails = safe.clone().and(check.holds.clone().negate());
            self.push(edges, fails, Vec::new(), error, &action.text, action.span);
            safe = safe.and(check.holds.clone());
        }
        if let Some(message) = &action.assertion {
            let error = self.error_location(message, action.span, Some(target));
            let fails = safe.clone().and(action.guard.clone().negate());
            self.push(edges, fails, Vec::new(), error, &action.text, action.span);
        }
        for mistake in &action.mistakes {
            let resume = mistake.resumes.then_some(target);
            let error = self.error_location(&mistake.message, action.span, resume);
            let guard = safe.clone().and(mistake.guard.clone());
            // An edge into an error has no effects: they come before it, in one step with it.
            let target = match mistake.effects.is_empty() {
                true => error,
                false => self.before_error(error, action),
            };
            let effects = mistake.effects.clone();
            self.push(edges, guard, effects, target, &action.text, action.span);
        }
        let guard = safe.and(action.guard.clone());
        self.push(
            edges,
            guard,
            action.effects.clone(),
            target,
            &action.text,
            action.span,
        );
    }

    fn is_else(&self, via: ElementId) -> Result<bool, Misplaced> {
        let elements = &self.states.flow.elements;
        Ok(match elements[via].kind {
            ElementKind::Else => true,
            ElementKind::Block(BlockKind::DStep, _) => match self.states.dstep_start(via)? {
                Interior::Inside(first) => matches!(elements[first].kind, ElementKind::Else),
                Interior::Outside => false,
            },
            _ => false,
        })
    }

    fn add_else(
        &mut self,
        mut edges: Edges,
        transition: Transition,
        before: &[Transition],
        behind: &[Transition],
    ) -> Result<(), Misplaced> {
        let siblings: Vec<ElementId> = before
            .iter()
            .filter(|other| other.level == transition.level)
            .map(|other| other.via)
            .collect();
        for &sibling in &siblings {
            if self.is_else(sibling)? {
                return Err(Misplaced {
                    span: self.states.span(transition.via),
                    message: "this `else` merges into a choice that has another `else`".to_string(),
                });
            }
        }
        if behind.iter().all(|other| other.level != transition.level) {
            edges.priority -= 1;
            return self.add_step(&edges, transition.via, Expr::TRUE);
        }
        let mut condition = Expr::TRUE;
        for sibling in siblings {
            let (executable, rendezvous) = self.executable(sibling)?;
            if rendezvous == Some(Side::Sender) {
                return Err(Misplaced {
                    span: self.states.span(transition.via),
                    message: "this `else` comes before further options of an outer choice and after a send that may be a rendezvous, which is not supported".to_string(),
                });
            }
            condition = condition.and(executable.negate());
        }
        self.add_step(&edges, transition.via, condition)
    }

    /// Whether a step is possible, rendezvous apart, and which side of a
    /// rendezvous it could be besides.
    fn executable(&self, via: ElementId) -> Result<(Expr, Option<Side>), Misplaced> {
        let states = self.states;
        Ok(match &states.flow.elements[via].kind {
            ElementKind::Action(action) => (action.executable.clone(), action.rendezvous),
            ElementKind::Block(BlockKind::DStep, _) => match states.dstep_start(via)? {
                Interior::Inside(first) => self.interior_executable(first),
                Interior::Outside => (Expr::TRUE, None),
            },
            _ => (Expr::TRUE, None),
        })
    }

    fn interior_executable(&self, first: ElementId) -> (Expr, Option<Side>) {
        match &self.states.flow.elements[first].kind {
            ElementKind::Action(action) => (action.executable.clone(), action.rendezvous),
            ElementKind::Choice(options) => {
                let mut guards = Guards::default();
                self.collect_guards(options, &mut guards);
                let any = guards.any.unwrap_or(Expr::TRUE);
                (any, guards.rendezvous)
            }
            _ => (Expr::TRUE, None),
        }
    }

    /// What SPIN asks before it enters a d_step that begins with a choice: if
    /// one of those options is possible that begin with a condition, a channel
    /// operation or another `if`. Options that begin with anything else are
    /// asked only if there are no others.
    fn collect_guards(&self, options: &[SequenceId], guards: &mut Guards) {
        let flow = self.states.flow;
        for &option in options {
            let mut opening = flow.sequences[option].first;
            if let Some(first) = opening
                && let ElementKind::Block(_, inner) = &flow.elements[first].kind
            {
                opening = flow.sequences[*inner].first;
                // Of a block only a choice at its start is inspected.
                let is_choice =
                    |first: ElementId| matches!(flow.elements[first].kind, ElementKind::Choice(_));
                opening = opening.filter(|&first| is_choice(first));
            }
            let Some(first) = opening else {
                continue;
            };
            match &flow.elements[first].kind {
                ElementKind::Action(action) if action.is_guard => {
                    guards.add(action.executable.clone(), action.rendezvous);
                }
                ElementKind::Else => guards.add(Expr::TRUE, None),
                ElementKind::Choice(inner) => self.collect_guards(inner, guards),
                _ => {}
            }
        }
    }

    /// The location where a d_step continues, inside or after it.
    fn dstep_location(
        &mut self,
        dstep: ElementId,
        onward: Interior,
    ) -> Result<LocationId, Misplaced> {
        match onward {
            Interior::Inside(element) => Ok(self.location(Key {
                element,
                within: Some(dstep),
                atomic: true,
            })),
            Interior::Outside => self.target_of(dstep),
        }
    }

    /// The step that enters a d_step.
    fn add_dstep(
        &mut self,
        edges: &Edges,
        dstep: ElementId,
        condition: Expr,
    ) -> Result<(), Misplaced> {
        let states = self.states;
        let span = states.span(dstep);
        let start = states.dstep_start(dstep)?;
        if let Interior::Inside(first) = start {
            match &states.flow.elements[first].kind {
                ElementKind::Action(action) => {
                    let onward = states.dstep_next(dstep, first)?;
                    let target = self.dstep_location(dstep, onward)?;
                    self.add_action(edges, action, condition, target);
                    return Ok(());
                }
                ElementKind::Choice(_) => {
                    let (executable, rendezvous) = self.interior_executable(first);
                    if rendezvous.is_some() {
                        return Err(Misplaced {
                            span,
                            message: "a d_step that begins with a choice over channels which may have no buffer is not supported".to_string(),
                        });
                    }
                    let target = self.dstep_location(dstep, start)?;
                    self.push(
                        edges,
                        condition.and(executable),
                        Vec::new(),
                        target,
                        "d_step",
                        span,
                    );
                    return Ok(());
                }
                _ => {
                    let onward = states.dstep_next(dstep, first)?;
                    let target = self.dstep_location(dstep, onward)?;
                    self.push(edges, condition, Vec::new(), target, "else", span);
                    return Ok(());
                }
            }
        }
        let target = self.target_of(dstep)?;
        self.push(edges, condition, Vec::new(), target, "d_step", span);
        Ok(())
    }

    /// The steps at an element inside a d_step.
    fn fill_interior(
        &mut self,
        at: LocationId,
        dstep: ElementId,
        element: ElementId,
    ) -> Result<(), Misplaced> {
        let states = self.states;
        let openings: Vec<Interior> = match &states.flow.elements[element].kind {
            ElementKind::Choice(options) => options
                .iter()
                .map(|&option| states.dstep_option(dstep, option))
                .collect::<Result<_, _>>()?,
            _ => vec![Interior::Inside(element)],
        };
        // A d_step is one step, so the `provided` clause was asked at its start.
        let mut edges = Edges {
            at,
            priority: 0,
            provided: Expr::TRUE,
            via: None,
        };
        let mut can_block = true;
        for opening in openings {
            match opening {
                Interior::Outside => {
                    let target = self.dstep_location(dstep, opening)?;
                    self.push(
                        &edges,
                        Expr::TRUE,
                        Vec::new(),
                        target,
                        "goto",
                        states.span(element),
                    );
                    can_block = false;
                }
                Interior::Inside(first) => {
                    can_block &= self.add_interior(&edges, dstep, element, first)?
                }
            }
            edges.priority -= 1;
        }
        if can_block {
            let error =
                self.error_location("a statement in a d_step blocks", states.span(element), None);
            self.push(
                &edges,
                Expr::TRUE,
                Vec::new(),
                error,
                "d_step",
                states.span(element),
            );
        }
        Ok(())
    }

    /// One way on inside a d_step; whether it can be impossible.
    fn add_interior(
        &mut self,
        edges: &Edges,
        dstep: ElementId,
        element: ElementId,
        first: ElementId,
    ) -> Result<bool, Misplaced> {
        let states = self.states;
        let onward = states.dstep_next(dstep, first)?;
        match &states.flow.elements[first].kind {
            ElementKind::Action(action) => {
                let target = self.dstep_location(dstep, onward)?;
                self.add_action(edges, action, Expr::TRUE, target);
                let decides = action.effects.iter().any(Effect::is_channel_operation);
                Ok(decides || (action.guard != Expr::TRUE && action.assertion.is_none()))
            }
            ElementKind::Choice(_) if first != element => {
                let target = self.dstep_location(dstep, Interior::Inside(first))?;
                self.push(
                    edges,
                    Expr::TRUE,
                    Vec::new(),
                    target,
                    "goto",
                    states.span(first),
                );
                Ok(false)
            }
            _ => {
                let target = self.dstep_location(dstep, onward)?;
                self.push(
                    edges,
                    Expr::TRUE,
                    Vec::new(),
                    target,
                    "else",
                    states.span(first),
                );
                Ok(false)
            }
        }
    }
}
