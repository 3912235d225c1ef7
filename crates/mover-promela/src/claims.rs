//! Claims: formulas, `never`, and labels that begin with `accept` or `progress`.
//!
//! A formula is negated and becomes an automaton; its parts without temporal operators are the
//! propositions. A `never` claim is an automaton already: its locations are the states, accepting
//! where a label begins with `accept`, and its conditions are the propositions. A claim that comes
//! to the end of its body has matched, which is a violation, as is an assertion in it that fails.
//! What a claim does in an `atomic` sequence it does in one state of the program, as in SPIN.
//!
//! `accept` labels are not passed infinitely often by any run, nor does a run end at one. Some
//! `progress` label is passed infinitely often by every infinite run.

use mover_ir::claim::{Check, Claim, ClaimKind, Monitor, Proposition};
use mover_ir::expr::Expr;
use mover_ir::program::{Effect, LocationId, Template, TemplateId};
use mover_ltl::buchi::State;
use mover_ltl::{Buchi, Edge, Formula, Formulas, Label, translate};
use mover_source::Span;

use crate::ast::{BinaryOperator, Expr as Syntax, ExprKind, UnaryOperator};
use crate::automaton::Automaton;
use crate::context::Context;
use crate::flow::{HiddenLabel, LabelPlaces};

/// Collects the propositions of a claim.
#[derive(Default)]
pub struct Propositions {
    all: Vec<Proposition>,
    checks: Vec<(Expr, String)>,
    uses_last: bool,
}

/// Why a claim is not checked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    #[error("it has more than {} different conditions", Label::PROPOSITIONS)]
    TooManyConditions,
    #[error("it uses `{0}`")]
    Uses(&'static str),
    #[error("the argument of `enabled` can fail at run time")]
    FailingArgument,
    #[error("a temporal operator is within `{0}`")]
    TemporalWithin(String),
    #[error("it changes something or uses channels")]
    Effects,
    #[error(transparent)]
    HiddenLabel(#[from] HiddenLabel),
}

/// Where the progress labels of processes are.
pub type Progress = Result<Vec<(TemplateId, LocationId)>, Problem>;

impl Propositions {
    fn number(&mut self, proposition: Proposition) -> Result<u32, Problem> {
        let known = self.all.iter().position(|other| *other == proposition);
        let number = known.unwrap_or(self.all.len());
        if number >= Label::PROPOSITIONS {
            return Err(Problem::TooManyConditions);
        }
        if known.is_none() {
            self.all.push(proposition);
        }
        Ok(number as u32)
    }

    fn condition(&mut self, expr: Expr) -> Result<u32, Problem> {
        let mut uses_timeout = false;
        let mut uses_last = false;
        expr.walk(&mut |part| {
            uses_timeout |= matches!(part, Expr::Timeout);
            uses_last |= matches!(part, Expr::ThreadId);
        });
        if uses_timeout {
            return Err(Problem::Uses("timeout"));
        }
        self.uses_last |= uses_last;
        self.number(Proposition::Holds(expr))
    }

    fn monitor(self, automaton: Buchi, formula: Option<(Formulas, Formula)>) -> Monitor {
        Monitor {
            propositions: self.all,
            automaton,
            formula,
            checks: self.checks,
            extends_finite_runs: true,
            uses_last: self.uses_last,
        }
    }
}

impl Context<'_> {
    /// A formula that all runs must satisfy.
    pub fn ltl(&mut self, syntax: &Syntax, progress: &Progress) -> Check {
        let mut propositions = Propositions::default();
        let mut formulas = Formulas::default();
        self.claim_problem = None;
        let read = self.formula(syntax, progress, &mut propositions, &mut formulas);
        let problem = self.claim_problem.take();
        match (read, problem) {
            (Ok(formula), None) => {
                let negation = formulas.negation(formula);
                match translate(&formulas, negation) {
                    Ok(automaton) => {
                        let formula = Some((formulas, negation));
                        Check::Forbidden(Box::new(propositions.monitor(automaton, formula)))
                    }
                    Err(_) => Check::Untranslated("its automaton is too large".into()),
                }
            }
            (Err(problem), _) => Check::Untranslated(problem.to_string()),
            (_, Some(problem)) => Check::Untranslated(problem),
        }
    }

    fn formula(
        &mut self,
        syntax: &Syntax,
        progress: &Progress,
        propositions: &mut Propositions,
        formulas: &mut Formulas,
    ) -> Result<Formula, Problem> {
        if is_plain(syntax) {
            return self.proposition(syntax, propositions, formulas);
        }
        let mut part = |this: &mut Self, syntax: &Syntax, formulas: &mut Formulas| {
            this.formula(syntax, progress, propositions, formulas)
        };
        Ok(match &syntax.kind {
            ExprKind::Unary(UnaryOperator::Not, operand) => {
                let operand = part(self, operand, formulas)?;
                formulas.negation(operand)
            }
            ExprKind::Binary(BinaryOperator::And, left, right) => {
                let (left, right) = (part(self, left, formulas)?, part(self, right, formulas)?);
                formulas.and(left, right)
            }
            ExprKind::Binary(BinaryOperator::Or, left, right) => {
                let (left, right) = (part(self, left, formulas)?, part(self, right, formulas)?);
                formulas.or(left, right)
            }
            ExprKind::Temporal(operator, operands) => {
                let parts = operands.iter().map(|operand| part(self, operand, formulas));
                let parts = parts.collect::<Result<Vec<Formula>, Problem>>()?;
                match (*operator, &parts[..]) {
                    ("[]", &[a]) => formulas.always(a),
                    ("<>", &[a]) => formulas.eventually(a),
                    ("X", &[a]) => formulas.next(a),
                    ("U", &[a, b]) => formulas.until(a, b),
                    ("W", &[a, b]) => formulas.weak_until(a, b),
                    ("V", &[a, b]) => formulas.release(a, b),
                    ("->", &[a, b]) => formulas.implication(a, b),
                    ("<->", &[a, b]) => formulas.equivalence(a, b),
                    (operator, _) => return Err(Problem::Uses(operator)),
                }
            }
            ExprKind::NonProgress => {
                let places = progress.clone()?;
                let number = propositions.number(Proposition::SomeThreadAt(places))?;
                formulas.literal(number, false)
            }
            ExprKind::Enabled(process) => {
                let process = self.value(process);
                if !process.checks.is_empty() {
                    return Err(Problem::FailingArgument);
                }
                let number = propositions.number(Proposition::Enabled(process.into_number()))?;
                formulas.literal(number, true)
            }
            _ => {
                let text = self.text(syntax.span);
                return Err(Problem::TemporalWithin(text));
            }
        })
    }

    /// A part without temporal operators.
    fn proposition(
        &mut self,
        syntax: &Syntax,
        propositions: &mut Propositions,
        formulas: &mut Formulas,
    ) -> Result<Formula, Problem> {
        if let ExprKind::Unary(UnaryOperator::Not, operand) = &syntax.kind {
            let operand = self.proposition(operand, propositions, formulas)?;
            return Ok(formulas.negation(operand));
        }
        let value = self.value(syntax);
        for check in &value.checks {
            let line = self.sources.locate(check.span).line;
            let message = format!("{} in the claim, line {line}", check.message);
            propositions.checks.push((check.holds.clone(), message));
        }
        let condition = value.into_truth();
        Ok(match condition.as_const() {
            Some(0) => Formula::FALSE,
            Some(_) => Formula::TRUE,
            None => {
                let number = propositions.condition(condition)?;
                formulas.literal(number, true)
            }
        })
    }
}

/// Whether a part of a formula is an expression over the state.
fn is_plain(syntax: &Syntax) -> bool {
    match &syntax.kind {
        ExprKind::Temporal(..) | ExprKind::NonProgress | ExprKind::Enabled(_) => false,
        ExprKind::Unary(_, operand) => is_plain(operand),
        ExprKind::Binary(_, left, right) => is_plain(left) && is_plain(right),
        ExprKind::Conditional(parts) => parts.iter().all(is_plain),
        _ => true,
    }
}

/// The automaton of a `never` claim as it is written.
pub fn never(automaton: &Automaton) -> Check {
    match never_monitor(automaton) {
        Ok(monitor) => Check::Forbidden(Box::new(monitor)),
        Err(problem) => Check::Untranslated(problem.to_string()),
    }
}

fn never_monitor(automaton: &Automaton) -> Result<Monitor, Problem> {
    let mut propositions = Propositions::default();
    let mut is_accepting = vec![false; automaton.locations.len()];
    let accepting = (automaton.labels).beginning_with("accept", &automaton.locations)?;
    for location in accepting {
        is_accepting[location.index()] = true;
    }
    // State 0 is the entry, state k + 1 is location k.
    let mut states = vec![State::default()];
    let mut options: Vec<Vec<Edge>> = Vec::new();
    for location in &automaton.locations {
        options.push(edges_of(location, &mut propositions)?);
    }
    for (number, location) in automaton.locations.iter().enumerate() {
        let has_matched = location.ends_run() || location.edges.iter().any(ends_claim);
        states.push(if has_matched {
            let stay = Edge {
                label: Label::TRUE,
                target: number + 1,
            };
            State {
                accepting: true,
                edges: vec![stay],
            }
        } else {
            let mut edges = Vec::new();
            for edge in &options[number] {
                through_atomic(automaton, &options, *edge, &mut Vec::new(), &mut edges);
            }
            State {
                accepting: is_accepting[number],
                edges,
            }
        });
    }
    states[0].edges = states[1 + automaton.entry.index()].edges.clone();
    let automaton = mover_ltl::reduce::reduce(Buchi { states });
    Ok(propositions.monitor(automaton, None))
}

fn ends_claim(edge: &mover_ir::program::Edge) -> bool {
    edge.effects.contains(&Effect::Exit)
}

/// The edges of a location; those of lower priority only where no other is possible.
fn edges_of(
    location: &mover_ir::program::Location,
    propositions: &mut Propositions,
) -> Result<Vec<Edge>, Problem> {
    let mut by_priority: Vec<&mover_ir::program::Edge> = location.edges.iter().collect();
    by_priority.sort_by_key(|edge| -edge.priority);
    let mut edges = Vec::new();
    let mut higher = Label::TRUE;
    let mut taken: Vec<(i32, Option<u32>)> = Vec::new();
    for edge in by_priority {
        if ends_claim(edge) {
            continue;
        }
        if !edge
            .effects
            .iter()
            .all(|effect| matches!(effect, Effect::Print { .. }))
        {
            return Err(Problem::Effects);
        }
        let mut is_excluded = false;
        for &(priority, proposition) in &taken {
            if priority > edge.priority {
                match proposition {
                    Some(number) => higher.negative |= 1 << number,
                    None => is_excluded = true,
                }
            }
        }
        if is_excluded {
            continue;
        }
        let proposition = match edge.guard.as_const() {
            Some(0) => continue,
            Some(_) => None,
            None => Some(propositions.condition(edge.guard.clone())?),
        };
        taken.push((edge.priority, proposition));
        let own = proposition.map_or(Label::TRUE, |number| Label::literal(number, true));
        if let Some(label) = higher.and(own) {
            edges.push(Edge {
                label,
                target: edge.target.index() + 1,
            });
        }
    }
    Ok(edges)
}

/// Adds an edge; one into the middle of an atomic sequence together with what follows there, and
/// alone where nothing of that is possible.
fn through_atomic(
    automaton: &Automaton,
    options: &[Vec<Edge>],
    edge: Edge,
    passed: &mut Vec<usize>,
    edges: &mut Vec<Edge>,
) {
    let location = edge.target - 1;
    let is_atomic = automaton.locations[location].atomic;
    if !is_atomic || passed.contains(&location) {
        edges.push(edge);
        return;
    }
    passed.push(location);
    let mut blocked = vec![edge.label];
    for next in &options[location] {
        if let Some(label) = edge.label.and(next.label) {
            let target = next.target;
            through_atomic(automaton, options, Edge { label, target }, passed, edges);
        }
        blocked = blocked
            .iter()
            .flat_map(|label| without(*label, next.label))
            .collect();
    }
    passed.pop();
    edges.extend(blocked.into_iter().map(|label| Edge { label, ..edge }));
}

/// The first condition without the second, as a disjunction.
fn without(label: Label, excluded: Label) -> Vec<Label> {
    let literals = (0..Label::PROPOSITIONS as u32).flat_map(|number| {
        let positive = excluded.positive >> number & 1 == 1;
        let negative = excluded.negative >> number & 1 == 1;
        (positive || negative).then_some(Label::literal(number, negative))
    });
    literals.filter_map(|literal| label.and(literal)).collect()
}

/// The claim that labels make: `accept` labels must not be passed infinitely often, `progress` labels
/// must.
pub fn label_claim(
    kind: ClaimKind,
    name: String,
    line: usize,
    places: Result<Vec<(TemplateId, LocationId)>, Problem>,
) -> Claim {
    let mut propositions = Propositions::default();
    let mut formulas = Formulas::default();
    let at = places.and_then(|places| propositions.number(Proposition::SomeThreadAt(places)));
    let check = match at {
        Err(problem) => Check::Untranslated(problem.to_string()),
        Ok(number) => {
            let forbidden = if kind == ClaimKind::Accept {
                let passed = formulas.literal(number, true);
                let again = formulas.eventually(passed);
                formulas.always(again)
            } else {
                let avoided = formulas.literal(number, false);
                let for_ever = formulas.always(avoided);
                formulas.eventually(for_ever)
            };
            match translate(&formulas, forbidden) {
                Ok(automaton) => Check::Forbidden(Box::new(Monitor {
                    // SPIN calls the former an accept stutter; there is no progress in the end.
                    extends_finite_runs: kind == ClaimKind::Accept,
                    ..propositions.monitor(automaton, Some((formulas, forbidden)))
                })),
                Err(_) => Check::Untranslated("its automaton is too large".into()),
            }
        }
    };
    Claim {
        kind,
        name: Some(name),
        line: Some(line),
        check,
    }
}

/// Where labels of processes are that begin like this.
pub fn places_of(
    labels: &[&LabelPlaces],
    templates: &[Template],
    prefix: &str,
) -> Result<Vec<(TemplateId, LocationId)>, Problem> {
    let mut places = Vec::new();
    for (number, (labels, template)) in labels.iter().zip(templates).enumerate() {
        let id = TemplateId(number as u32);
        let locations = labels.beginning_with(prefix, &template.locations)?;
        places.extend(locations.into_iter().map(|location| (id, location)));
    }
    Ok(places)
}

impl Context<'_> {
    /// Where a claim says something that is not translated.
    pub fn note_claim_problem(&mut self, span: Span, what: &str) {
        let line = self.sources.locate(span).line;
        self.claim_problem
            .get_or_insert_with(|| format!("it uses {what}, line {line}"));
    }
}
