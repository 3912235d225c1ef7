//! Runs without a scheduler: each thread is unrolled on its own, and events are combined.
//!
//! There is no transition relation. Every thread is unrolled separately ([`unroll`]) into events
//! that read and write shared cells. Two ways to combine them into runs:
//!
//! - [`reads_from`], the default: each read takes its value from a write, and a theory in the
//!   solver orders the events.
//! - Token passing, after Ganai and Kundu (2009), *Reduction of Verification Conditions for
//!   Concurrent System using Mutually Atomic Transactions*: a token that is passed between
//!   accesses carries all values ([`encode`]). The formula depends on the number of pairs of
//!   accesses between which it may be passed ([`pairs`], [`events`]).
//!
//! **When the verdict is `safe`.** The unrolling is deepened until a solver shows that no run
//! reaches its end; before that the answer is at best `safe up to`. With a token `safe` requires a
//! set of pairs that is proved adequate: `all` and `lex` are. `mat` differs from `lex` for two threads
//! only, and there the pairs that `lex` has in addition are guarded by a switch: before the answer is
//! given the query is repeated with the switch on. The paper's set for more threads is not adequate,
//! so `mat-printed` never answers `safe`. In addition some run must satisfy the formula, whichever set
//! it is.
//!
//! **What is searched first.** With a token most violations need few passes (which makes the
//! paper's bound on contexts fast), so runs in which each thread receives it once are tried
//! first, with a limit. Only a violation counts as an answer of this first search. The paper does not
//! have it; [`Settings::few_passes_first`] turns it off.
//!
//! Programs with features that the engine does not support (`timeout`, rendezvous, priorities,
//! dynamic objects whose numbers are observed) get `unknown` with the line.

pub mod encode;
mod events;
mod goals;
pub mod pairs;
pub mod reads_from;
pub mod survey;
pub mod unroll;
mod words;

use std::collections::BTreeSet;
use std::time::Instant;

use mover_engine::{Conclusion, EngineError, Outcome, Proof, Statistics, Task, UpTo, Violation};
use mover_ir::expr::{ChannelRef, Expr, VariableRef};
use mover_ir::program::{BoundMet, ChannelDecl, Effect, Init, Program, SiteId, Template};
use mover_ir::semantics::{Machine, Step};
use mover_reduce::transform::unfold::Unfolded;
use mover_reduce::{Movers, movers, movers_up_to_numbers};
use mover_source::Span;

use crate::blast::Blaster;
use crate::layout::Layout;
use crate::outcome::{Question, RunEnd, confirm, note_checks, stopped};
use crate::sat::{Answer, Lit};
use crate::term::{Term, Terms};
use encode::{ContextBound, Encoding};
use goals::Goals;
use pairs::Pairs;
use reads_from::{ReadsFrom, Rule};
use unroll::{Cut, MOST_NODES, Plan, Pool, Unrolled, Unroller};

/// Options of this engine.
#[derive(Clone, Debug)]
pub struct Settings {
    pub pairs: Pairs,
    /// How often each thread may be given the token; the last bound is that of all further
    /// threads.
    pub contexts: Option<Vec<ContextBound>>,
    /// Numbers of threads that come first in the order of the threads, which `mat`, `mat-printed` and
    /// `lex` depend on.
    pub thread_order: Vec<usize>,
    /// Whether runs in which each thread gets the token once are tried first, with a limit.
    pub few_passes_first: bool,
    /// What tests leave out of the encoding by reads-from.
    pub without: Option<Rule>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            pairs: Pairs::ReadsFrom,
            contexts: None,
            thread_order: Vec::new(),
            few_passes_first: true,
            without: None,
        }
    }
}

pub fn check(
    task: &Task,
    question: &Question,
    settings: &Settings,
    progress: &mut dyn FnMut(&Statistics),
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    let original = task.program();
    let mut statistics = Statistics::default();
    let outcome = |conclusion, statistics: Statistics| {
        let statistics = Statistics {
            time: started.elapsed(),
            ..statistics
        };
        Outcome::new(conclusion, statistics, settings.pairs.name())
    };
    let takes_objects = settings.pairs == Pairs::ReadsFrom;
    if let Some(reason) = refusal(original, takes_objects) {
        let conclusion = Conclusion::Refused {
            reason,
            advice: "another --engine".into(),
        };
        return Ok(outcome(conclusion, statistics));
    }
    let unfolded = unfolded(task, question, settings);
    let source = unfolded.map_or(original, |unfolded| &unfolded.program);
    let parked = park(source);
    let program = parked.as_ref().unwrap_or(source);
    let mut objects = Pool::initial(program);
    let movers = match objects.is_empty() {
        true => movers(program).map(Some),
        false => movers_up_to_numbers(program),
    };
    let movers = movers.map_err(|reason| EngineError::Unsupported(reason.to_string()))?;
    let Some(movers) = movers else {
        let conclusion = Conclusion::Refused {
            reason: "`--engine token` does not support dynamic objects in programs that can tell \
                     their addresses apart by more than equality, or that get freed ones again"
                .into(),
            advice: "another --engine".into(),
        };
        return Ok(outcome(conclusion, statistics));
    };
    let mut question = question.clone();
    let mut depth = 0;
    let mut is_fitted = false;
    let mut proof = Proof::default();
    let mut bounds = BTreeSet::new();
    let conclusion = loop {
        let layout = Layout::with_objects(&movers.fused.program, question.bounds, &objects)?;
        let search = TokenSearch {
            original,
            unfolded,
            source,
            program,
            movers: &movers,
            layout: &layout,
            question: &question,
            settings,
            is_fitted,
        };
        if let Some(reason) = no_such_thread(settings, layout.slots.len()) {
            break Conclusion::Refused {
                reason,
                advice: "--thread-order with numbers of threads".into(),
            };
        }
        statistics.depth = depth;
        let found = match search.at(depth, &mut statistics, &mut proof, &mut bounds) {
            Err(EngineError::Unsupported(reason)) => {
                break Conclusion::Refused {
                    reason: format!("`--engine token` does not support this: {reason}"),
                    advice: "another --engine".into(),
                };
            }
            found => found?,
        };
        statistics.time = started.elapsed();
        progress(&statistics);
        let mut up_to = Vec::new();
        match found {
            Found::Violation(violation) => break Conclusion::Unsafe(violation),
            Found::OtherObjects(others) => {
                is_fitted = others.len() < objects.len();
                objects = others;
                continue;
            }
            Found::Stopped => {
                break stopped(&question.limit, so_far(depth), "--engine ic3");
            }
            Found::Nothing(cuts) => {
                if let Some(&Cut::AtomicBlocks(template, location)) =
                    cuts.iter().find(|cut| matches!(cut, Cut::AtomicBlocks(..)))
                {
                    let place = &program.templates[template].locations[location];
                    let span = place.edges.iter().find_map(|edge| edge.span);
                    break Conclusion::Refused {
                        reason: format!(
                            "an atomic sequence blocks and lets other threads run{}, which \
                             `--engine token` does not follow; no violation elsewhere",
                            at(program, span)
                        ),
                        advice: "another --engine".into(),
                    };
                }
                if cuts.contains(&Cut::Size) {
                    break Conclusion::Refused {
                        reason: format!(
                            "a thread has more than {MOST_NODES} steps{}",
                            so_far(depth)
                        ),
                        advice: "another --engine, or --depth for an answer up to a bound".into(),
                    };
                }
                let needs_more = cuts.contains(&Cut::Bounds);
                if needs_more && let Some(grown) = question.bounds.grown() {
                    question.bounds = grown;
                    continue;
                }
                if needs_more {
                    up_to.extend(layout.bounds());
                }
                if cuts.contains(&Cut::Depth) {
                    let next = next(depth);
                    if question.depth.is_none_or(|most| next <= most) {
                        depth = next;
                        is_fitted = false;
                        continue;
                    }
                    up_to.push(UpTo::Repetitions(depth));
                }
                if let Some(contexts) = &settings.contexts {
                    up_to.push(UpTo::TokenPasses {
                        bounds: contexts
                            .iter()
                            .map(|bound| (bound.least, bound.most))
                            .collect(),
                        representatives: settings.pairs != Pairs::All,
                    });
                }
                if settings.pairs == Pairs::MatPrinted {
                    break Conclusion::Refused {
                        reason: "no violation in the runs that `--pairs mat-printed` covers, but the set \
                                 loses runs: Theorem 4 of Ganai and Kundu (2009) is false for three \
                                 and more threads"
                            .into(),
                        advice: "--pairs mat or --pairs lex".into(),
                    };
                }
                break Conclusion::Safe { up_to };
            }
        }
    };
    let mut outcome = outcome(conclusion, statistics);
    outcome.bounds = bounds.into_iter().collect();
    outcome.proof = Some(proof);
    Ok(outcome)
}

/// The program with one template for each thread, if there is one and no bound would have to be
/// translated back. There no slot has room for several threads, one after the other.
fn unfolded<'t>(task: &'t Task, question: &Question, settings: &Settings) -> Option<&'t Unfolded> {
    let is_asked = settings.pairs == Pairs::ReadsFrom && question.unfold;
    let unfolded = is_asked.then(|| task.unfolded()).flatten()?;
    let templates = &unfolded.program.templates;
    let mut places = templates.iter().flat_map(|template| &template.locations);
    let is_bounded = places.any(|place| place.bound.is_some());
    (!is_bounded && refusal(&unfolded.program, true).is_none()).then_some(unfolded)
}

/// Why the order of threads cannot be as it is asked for.
fn no_such_thread(settings: &Settings, threads: usize) -> Option<String> {
    let mut order = settings.thread_order.iter();
    let number = order.find(|&&number| number >= threads)?;
    Some(format!(
        "`--thread-order` names thread {number}, but the threads are 0 to {}",
        threads - 1
    ))
}

/// What is known when the search at a depth did not come to its end.
fn so_far(depth: u64) -> String {
    match depth {
        0 => String::new(),
        _ => format!("; safe up to {}", UpTo::Repetitions(previous(depth))),
    }
}

/// The next depth to unroll to.
fn next(depth: u64) -> u64 {
    depth + (depth / 2).max(1)
}

/// The depth before this one.
fn previous(depth: u64) -> u64 {
    let mut before = 0;
    while next(before) < depth {
        before = next(before);
    }
    before
}

enum Found {
    Violation(Violation),
    /// No violation, and where runs were cut off.
    Nothing(Vec<Cut>),
    /// The layout has not the dynamic objects that the unrolling makes; these would fit.
    OtherObjects(Vec<SiteId>),
    Stopped,
}

struct TokenSearch<'a> {
    original: &'a Program,
    unfolded: Option<&'a Unfolded>,
    /// The original, or the unfolded one.
    source: &'a Program,
    /// The one that is unrolled, before its steps were fused.
    program: &'a Program,
    movers: &'a Movers,
    layout: &'a Layout<'a>,
    question: &'a Question,
    settings: &'a Settings,
    /// Whether the layout has only those dynamic objects that are made.
    is_fitted: bool,
}

impl TokenSearch<'_> {
    /// Searches for a violation in the unrolling to some depth, and for bounds that are not known to
    /// be met yet.
    fn at(
        &self,
        depth: u64,
        statistics: &mut Statistics,
        proof: &mut Proof,
        bounds: &mut BTreeSet<BoundMet>,
    ) -> Result<Found, EngineError> {
        let is_token = self.settings.pairs != Pairs::ReadsFrom;
        let mut plan = Plan {
            depth,
            transactions: self.settings.pairs != Pairs::All,
            errors: self.question.errors,
            stops: self.question.deadlocks,
            maximal: self.settings.contexts.is_none(),
            unwritten: false,
            ghosts: is_token,
        };
        let mut unroller = Unroller::new(self.layout, self.movers, plan);
        let mut terms = Terms::new();
        let mut blaster = Blaster::new(self.question.solver());
        let Some(mut unrolled) = unroller.unroll(&mut terms, &self.question.limit)? else {
            return Ok(Found::Stopped);
        };
        if plan.maximal && unrolled.threads.iter().any(|t| !t.broken.is_empty()) {
            plan.maximal = false;
            unroller = Unroller::new(self.layout, self.movers, plan);
            terms = Terms::new();
            match unroller.unroll(&mut terms, &self.question.limit)? {
                Some(again) => unrolled = again,
                None => return Ok(Found::Stopped),
            }
        }
        if let Some(others) = unrolled.pool.next(!self.is_fitted) {
            return Ok(Found::OtherObjects(others));
        }
        let (mut encoding, switch) = self.encode(&unroller, unrolled, &mut terms, &mut blaster);
        let goals = encoding.goals(&mut terms);
        if is_token && plan.maximal {
            goals.assert_maximal(&mut terms, &mut blaster);
        }
        let mut wanted = vec![goals.error(&mut terms)];
        if self.question.deadlocks {
            wanted.push(goals.deadlock(&mut terms));
        }
        let goal = terms.any(wanted);
        let possible_cuts = goals.cuts(&mut terms);
        let some_bound = goals.bound(&mut terms, &BTreeSet::new());
        if let Formula::ReadsFrom(reads_from) = &mut encoding {
            let mut asked = vec![goal, some_bound];
            asked.extend(possible_cuts.iter().map(|(_, condition)| *condition));
            reads_from.assert(&mut terms, &mut blaster, &asked);
        }
        let mut asker = Asker {
            terms: &terms,
            blaster: &mut blaster,
            switch,
        };
        let mut answer = Answer::Unsat;
        let is_asked = self.settings.contexts.is_none() && self.settings.few_passes_first;
        if let (Formula::Token(encoding), true) = (&encoding, is_asked) {
            answer = asker.ask_first(goal, encoding.few_changes);
        }
        if answer != Answer::Sat {
            answer = asker.ask(goal);
        }
        let mut found = match answer {
            Answer::Sat => match self.run_end(&encoding, &terms, &blaster)? {
                RunEnd::Violation(violation) => Found::Violation(violation),
                RunEnd::Bound(_) => {
                    let reason = "a run to a violation meets a bound before it";
                    return Err(EngineError::Internal(reason.into()));
                }
            },
            Answer::Stopped => Found::Stopped,
            Answer::Unsat => Found::Nothing(Vec::new()),
        };
        if matches!(found, Found::Nothing(_)) && self.settings.contexts.is_none() {
            // A formula that no run satisfies proves nothing.
            match blaster.solver.solve(switch.as_slice()) {
                Answer::Sat => {}
                Answer::Stopped => found = Found::Stopped,
                Answer::Unsat => {
                    return Err(EngineError::Internal("no run fits the formula".into()));
                }
            }
        }
        while let Found::Nothing(_) = found {
            let bound = encoding.goals(&mut terms).bound(&mut terms, bounds);
            if bound == Terms::FALSE {
                break;
            }
            let mut asker = Asker {
                terms: &terms,
                blaster: &mut blaster,
                switch,
            };
            match asker.ask(bound) {
                Answer::Sat => match self.run_end(&encoding, &terms, &blaster)? {
                    RunEnd::Bound(met) if bounds.insert(met) => {}
                    _ => {
                        let reason = "a run to a bound does not end there";
                        return Err(EngineError::Internal(reason.into()));
                    }
                },
                Answer::Unsat => break,
                Answer::Stopped => found = Found::Stopped,
            }
        }
        if let Found::Nothing(cuts) = &mut found {
            for (cut, condition) in &possible_cuts {
                if *condition == Terms::FALSE || cuts.contains(cut) {
                    continue;
                }
                let mut asker = Asker {
                    terms: &terms,
                    blaster: &mut blaster,
                    switch,
                };
                match asker.ask(*condition) {
                    Answer::Sat => cuts.push(*cut),
                    Answer::Unsat => {}
                    Answer::Stopped => {
                        found = Found::Stopped;
                        break;
                    }
                }
            }
        }
        encoding.count(statistics);
        statistics.terms = terms.len() as u64;
        statistics.effort = blaster.solver.effort();
        proof.certified.clear();
        note_checks(proof, &blaster.solver)?;
        Ok(found)
    }

    /// Combines the threads into runs.
    fn encode<'e>(
        &self,
        unroller: &'e Unroller<'e>,
        unrolled: Unrolled,
        terms: &mut Terms,
        blaster: &mut Blaster,
    ) -> (Formula<'e>, Option<Lit>) {
        if self.settings.pairs == Pairs::ReadsFrom {
            let reads_from = ReadsFrom::new(unroller, unrolled, terms, self.settings.without);
            return (Formula::ReadsFrom(reads_from), None);
        }
        let (encoding, switch) = Encoding::new(
            unroller,
            unrolled,
            terms,
            blaster,
            self.settings,
            &self.question.limit,
        );
        (Formula::Token(encoding), switch)
    }

    /// How the run ends that the solver found.
    fn run_end(
        &self,
        encoding: &Formula,
        terms: &Terms,
        blaster: &Blaster,
    ) -> Result<RunEnd, EngineError> {
        let steps = encoding.steps(terms, blaster, &self.movers.fused.made_of);
        let steps = finish(self.source, self.program, steps);
        let steps = match self.unfolded {
            Some(unfolded) => unfolded
                .original_steps(self.original, &steps)
                .map_err(|reason| EngineError::Internal(reason.to_string()))?,
            None => steps,
        };
        confirm(self.original, steps)
    }
}

/// How unrolled threads are combined into runs.
enum Formula<'e> {
    Token(Encoding<'e, 'e>),
    ReadsFrom(ReadsFrom<'e, 'e>),
}

impl<'e> Formula<'e> {
    fn goals(&self, terms: &mut Terms) -> Goals<'_, 'e> {
        match self {
            Formula::Token(encoding) => encoding.goals(terms),
            Formula::ReadsFrom(encoding) => encoding.goals(),
        }
    }

    fn steps(&self, terms: &Terms, blaster: &Blaster, made_of: &words::MadeOf) -> Vec<Step> {
        match self {
            Formula::Token(encoding) => encoding.steps(terms, blaster, made_of),
            Formula::ReadsFrom(encoding) => encoding.steps(terms, blaster, made_of),
        }
    }

    fn count(&self, statistics: &mut Statistics) {
        match self {
            Formula::Token(encoding) => {
                statistics.bits = encoding.bits();
                statistics.events = encoding.system.events() as u64;
                statistics.pairs = encoding.pairs.len() as u64;
            }
            Formula::ReadsFrom(encoding) => {
                statistics.events = encoding.events();
                statistics.pairs = encoding.choices;
            }
        }
    }
}

/// Asks with the pairs of `mat` first, and with those of `lex` before it takes a no.
struct Asker<'a> {
    terms: &'a Terms,
    blaster: &'a mut Blaster,
    switch: Option<Lit>,
}

/// Conflicts that are spent on runs with few changes.
const FIRST_CONFLICTS: u64 = 20_000;

impl Asker<'_> {
    /// Asks for runs with few changes only, and not for long: what can be found is most often
    /// found there, and soon.
    fn ask_first(&mut self, goal: Term, few_changes: Term) -> Answer {
        let mut assumptions = vec![
            self.blaster.lit(self.terms, goal),
            self.blaster.lit(self.terms, few_changes),
        ];
        assumptions.extend(self.switch.map(|switch| !switch));
        let solver = &mut self.blaster.solver;
        solver.solve_within(FIRST_CONFLICTS, &assumptions)
    }

    fn ask(&mut self, goal: Term) -> Answer {
        let goal = self.blaster.lit(self.terms, goal);
        let Some(switch) = self.switch else {
            return self.blaster.solver.solve(&[goal]);
        };
        match self.blaster.solver.solve(&[goal, !switch]) {
            Answer::Unsat => self.blaster.solver.solve(&[goal, switch]),
            answer => answer,
        }
    }
}

/// The place of something, for the end of a sentence.
fn at(program: &Program, span: Option<Span>) -> String {
    match span {
        Some(span) => format!(" ({})", program.info.sources.locate(span)),
        None => String::new(),
    }
}

/// What the engine does not take, with its place.
fn refusal(program: &Program, takes_objects: bool) -> Option<String> {
    let refuse = |what: &str, span| {
        let place = at(program, span);
        Some(format!("`--engine token` does not support {what}{place}"))
    };
    let has_rendezvous = program.has_rendezvous();
    for template in &program.templates {
        for edge in template.locations.iter().flat_map(|l| &l.edges) {
            let mut what = None;
            let meets = |effect: &Effect| match effect {
                Effect::Send { channel, .. } => {
                    has_rendezvous && !has_buffer(program, template, channel)
                }
                _ => false,
            };
            if edge.effects.iter().any(meets) {
                return refuse("sends without buffer", edge.span);
            }
            let mut visit = |expr: &Expr| match expr {
                Expr::Timeout => what = Some("`timeout`"),
                Expr::ThreadPriority(_) => what = Some("priorities"),
                _ => {}
            };
            edge.guard.walk(&mut visit);
            edge.effects
                .iter()
                .for_each(|effect| effect.walk(&mut visit));
            for effect in &edge.effects {
                match effect {
                    Effect::SetPriority { .. } => what = Some("priorities"),
                    Effect::Allocate { .. } if !takes_objects => {
                        what = Some("dynamic objects with `--pairs` other than `reads-from`");
                    }
                    _ => {}
                }
            }
            if let Some(what) = what {
                return refuse(what, edge.span);
            }
        }
    }
    if program.uses_priorities() {
        return refuse("priorities", None);
    }
    None
}

/// Whether it is clear that a channel has a buffer.
fn has_buffer(program: &Program, template: &Template, channel: &Expr) -> bool {
    let holds = |channel: ChannelRef, own: &[ChannelDecl]| {
        let decl = match channel {
            ChannelRef::Global(number) => program.channels.get(number as usize),
            ChannelRef::Local(number) => own.get(number as usize),
        };
        decl.is_some_and(|decl| decl.capacity > 0)
    };
    match channel {
        Expr::Channel(channel) => holds(*channel, &template.channels),
        Expr::Read(place) => {
            let VariableRef::Global(id) = place.variable else {
                return false;
            };
            let writes = |effect: &Effect| {
                let mut places = effect.written_places().into_iter();
                places.any(|written| written.variable == place.variable)
            };
            match &program.globals[id.index()].init {
                Init::Channels(channels) => {
                    channels.iter().all(|&channel| holds(channel, &[]))
                        && !program.effects().any(writes)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The program in which finished threads stay at their last location, if that is not observable.
///
/// A Promela process that has ended goes as soon as all younger ones are gone. That is an
/// access of its own, in conflict with all others of its kind, and often to no end.
fn park(program: &Program) -> Option<Program> {
    let spawns = |effect: &Effect| matches!(effect, Effect::Spawn { .. });
    if program.effects().any(spawns) || program.channels_per_thread() > 0 {
        return None;
    }
    let mut parked = program.clone();
    let mut is_changed = false;
    for location in parked.templates.iter_mut().flat_map(|t| &mut t.locations) {
        if location.valid_end && leaves_only(&location.edges) {
            location.edges.clear();
            is_changed = true;
        }
    }
    let looks = |expr: &Expr| {
        matches!(
            expr,
            Expr::ThreadCount | Expr::ThreadAt { .. } | Expr::RemoteRead { .. }
        )
    };
    let exits = parked.effects().any(|effect| *effect == Effect::Exit);
    (is_changed && !exits && !parked.any_expr(looks)).then_some(parked)
}

/// Whether all that can be done is to go.
fn leaves_only(edges: &[mover_ir::program::Edge]) -> bool {
    matches!(edges, [edge] if edge.effects == [Effect::Exit])
}

/// The steps up to the first error or bound; without one, threads that were parked go at the end.
fn finish(original: &Program, parked: &Program, mut steps: Vec<Step>) -> Vec<Step> {
    let machine = Machine::new(original);
    let mut state = machine.initial();
    for (number, &step) in steps.iter().enumerate() {
        if !machine.can_take(&state, step) {
            return steps;
        }
        state = machine.apply(&state, step);
        if machine.error(&state).is_some() || machine.bound(&state).is_some() {
            steps.truncate(number + 1);
            return steps;
        }
    }
    let goes = |step: &Step, state: &mover_ir::semantics::State| {
        let thread = state.threads[step.by.thread].as_ref();
        thread.is_some_and(|thread| {
            let template = &parked.templates[thread.template.index()];
            let location = &template.locations[thread.location.index()];
            location.valid_end && location.edges.is_empty()
        })
    };
    while let Some(step) = machine.steps(&state).into_iter().find(|s| goes(s, &state)) {
        state = machine.apply(&state, step);
        steps.push(step);
    }
    steps
}
