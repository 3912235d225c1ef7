//! Mutants of an algorithm: does a property notice a small mistake?
//!
//! A mutant differs from the algorithm in one place: a guard or one of its
//! conjuncts is dropped, a statement is dropped, or two neighbouring statements
//! change places. Each is checked for the properties that the algorithm itself
//! has; one that is refused or violates something is caught. A survivor is classified
//! by its words, compared with the algorithm's for two threads
//! and two variables: with the same words the difference does not show; with
//! fewer words without aborts it only aborts or waits more; with more it is
//! safe and permits more; and with both it needs a manual review.

use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use crate::algorithm::{Algorithm, Manager};
use crate::antichain;
use crate::automaton::Automaton;
use crate::check::{Failure, Options, Verdict, check};
use crate::graph::AlgorithmGraph;
use crate::language::program::Program;
use crate::language::resolve::resolve;
use crate::language::syntax::*;
use crate::property::{Liveness, Property, Safety};
use crate::word::{Action, Statement};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutationKind {
    DroppedGuard,
    DroppedConjunct,
    DroppedStatement,
    SwappedStatements,
}

impl MutationKind {
    pub fn name(self) -> &'static str {
        match self {
            MutationKind::DroppedGuard => "dropped guard",
            MutationKind::DroppedConjunct => "dropped conjunct",
            MutationKind::DroppedStatement => "dropped statement",
            MutationKind::SwappedStatements => "swapped statements",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Mutant {
    pub kind: MutationKind,
    /// What was dropped, or the first of the two that were swapped.
    pub span: Span,
    pub file: File,
}

/// How the words of a mutant relate to those of the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Words {
    Same,
    /// They differ only in where aborts are possible.
    OnlyAborts,
    Fewer,
    More,
    Other,
    /// Too large to compare.
    Unknown,
}

impl Words {
    pub fn name(self) -> &'static str {
        match self {
            Words::Same => "same words",
            Words::OnlyAborts => "same words but for aborts",
            Words::Fewer => "fewer words",
            Words::More => "more words",
            Words::Other => "other words",
            Words::Unknown => "words not compared",
        }
    }
}

/// A mutant and what noticed it.
#[derive(Clone, Debug)]
pub struct MutantResult {
    pub mutant: Mutant,
    pub caught_by: Vec<String>,
    /// For a survivor.
    pub words: Option<Words>,
}

/// All mutants of an algorithm, and the properties that could notice them.
#[derive(Clone, Debug)]
pub struct Survey {
    pub criteria: Vec<String>,
    pub results: Vec<MutantResult>,
}

/// A place that can be changed.
enum Site<'f> {
    Guard(&'f mut Option<Expr>),
    Block(&'f mut Vec<Stmt>),
}

fn visit_block<'f>(block: &'f mut Vec<Stmt>, visit: &mut dyn FnMut(Site<'_>)) {
    visit(Site::Block(block));
    for statement in block {
        match &mut statement.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                visit_block(then, visit);
                visit_block(otherwise, visit);
            }
            StmtKind::For {
                condition, body, ..
            } => {
                visit(Site::Guard(condition));
                visit_block(body, visit);
            }
            StmtKind::Assign { .. } | StmtKind::Call { .. } => {}
        }
    }
}

/// Visits every place of the algorithm; contention managers are left alone.
fn visit_sites(file: &mut File, visit: &mut dyn FnMut(Site<'_>)) {
    for item in &mut file.items {
        match item {
            Item::Procedure(procedure) => visit_block(&mut procedure.body, visit),
            Item::Require(guard) => {
                let mut optional = Some(guard.clone());
                visit(Site::Guard(&mut optional));
                *guard = optional.unwrap_or(Expr {
                    kind: ExprKind::Bool(true),
                    span: guard.span,
                });
            }
            Item::Command(rules) => {
                for rule in &mut rules.rules {
                    visit(Site::Guard(&mut rule.when));
                    visit_block(&mut rule.body, visit);
                }
            }
            Item::Abort { body, .. } => visit_block(body, visit),
            Item::Update(_)
            | Item::Expect(_)
            | Item::State(_)
            | Item::Predicate(_)
            | Item::Conflict(_)
            | Item::Manager(_) => {}
        }
    }
}

fn conjuncts(guard: &Expr, found: &mut Vec<Expr>) {
    match &guard.kind {
        ExprKind::Binary {
            op: BinaryOp::And,
            left,
            right,
        } => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        _ => found.push(guard.clone()),
    }
}

fn conjunction(parts: Vec<Expr>) -> Option<Expr> {
    parts.into_iter().reduce(|left, right| Expr {
        span: left.span.to(right.span),
        kind: ExprKind::Binary {
            op: BinaryOp::And,
            left: Box::new(left),
            right: Box::new(right),
        },
    })
}

/// Applies the change of a given number at a site, if it has so many.
fn change(site: Site<'_>, number: usize) -> Option<(MutationKind, Span)> {
    match site {
        Site::Guard(guard) => {
            let whole = guard.as_ref()?.clone();
            let mut parts = Vec::new();
            conjuncts(&whole, &mut parts);
            if number == 0 {
                *guard = None;
                return Some((MutationKind::DroppedGuard, whole.span));
            }
            let dropped = number - 1;
            if parts.len() < 2 || dropped >= parts.len() {
                return None;
            }
            let span = parts.remove(dropped).span;
            *guard = conjunction(parts);
            Some((MutationKind::DroppedConjunct, span))
        }
        Site::Block(block) => {
            let count = block.len();
            if number < count {
                let dropped = block.remove(number);
                return Some((MutationKind::DroppedStatement, dropped.span));
            }
            let first = number - count;
            if first + 1 < count {
                block.swap(first, first + 1);
                return Some((MutationKind::SwappedStatements, block[first + 1].span));
            }
            None
        }
    }
}

/// All mutants of a file.
pub fn mutants(file: &File) -> Vec<Mutant> {
    let mut sites = 0;
    visit_sites(&mut file.clone(), &mut |_| sites += 1);
    let mut found = Vec::new();
    for wanted in 0..sites {
        for number in 0.. {
            let mut copy = file.clone();
            let mut changed = None;
            let mut at = 0;
            visit_sites(&mut copy, &mut |site| {
                if at == wanted {
                    changed = change(site, number);
                }
                at += 1;
            });
            let Some((kind, span)) = changed else {
                break;
            };
            found.push(Mutant {
                kind,
                span,
                file: copy,
            });
        }
    }
    found
}

/// A property that the algorithm has, and the manager it has it with.
type Criterion = (Property, Option<String>);

fn options(program: &Program, manager: Option<&String>) -> Options {
    Options {
        manager: manager
            .and_then(|name| Manager::find(program, name))
            .unwrap_or_default(),
        max_states: 400_000,
        widen_scope: false,
        ..Options::default()
    }
}

fn criteria(program: &Program) -> Vec<Criterion> {
    let mut wanted: Vec<Criterion> = vec![
        (Property::Safety(Safety::StrictSerializability), None),
        (Property::Safety(Safety::Opacity), None),
        (Property::Liveness(Liveness::ObstructionFreedom), None),
    ];
    for expected in program.expectations.iter().filter(|e| e.holds && !e.weak) {
        let criterion = (expected.property, expected.manager.clone());
        if !wanted.contains(&criterion) {
            wanted.push(criterion);
        }
    }
    wanted.retain(|(property, manager)| {
        let options = options(program, manager.as_ref());
        check(program, *property, &options).is_ok_and(|report| report.verdict == Verdict::Holds)
    });
    wanted
}

const MAX_AUTOMATON: usize = 150_000;

fn language(program: &Program) -> Option<Automaton> {
    let algorithm = Algorithm::new(program, 2, 2, Manager::Any);
    let graph = AlgorithmGraph::build(algorithm, false, MAX_AUTOMATON).ok()?;
    Automaton::of_algorithm(&graph, MAX_AUTOMATON)
}

fn compare(original: Option<&Automaton>, mutant: Option<&Automaton>) -> Words {
    let (Some(original), Some(mutant)) = (original, mutant) else {
        return Words::Unknown;
    };
    if antichain::difference(original, mutant).is_none() {
        return Words::Same;
    }
    let successful = |s: Statement| s.action != Action::Abort;
    let fewer = antichain::word_lost(original, mutant, successful).is_some();
    let more = antichain::word_lost(mutant, original, successful).is_some();
    match (fewer, more) {
        (false, false) => Words::OnlyAborts,
        (true, false) => Words::Fewer,
        (false, true) => Words::More,
        (true, true) => Words::Other,
    }
}

/// Checks all mutants of an algorithm.
pub fn run(file: &File) -> Result<Survey, Vec<Diagnostic>> {
    let original = resolve(file)?;
    let criteria = criteria(&original);
    let original = language(&original);
    let mut results = Vec::new();
    for mutant in mutants(file) {
        let program = resolve(&mutant.file).ok();
        let caught_by = match &program {
            None => vec!["the reader".to_string()],
            Some(program) => caught_by(program, &criteria),
        };
        let words = match &program {
            Some(program) if caught_by.is_empty() => {
                Some(compare(original.as_ref(), language(program).as_ref()))
            }
            _ => None,
        };
        results.push(MutantResult {
            mutant,
            caught_by,
            words,
        });
    }
    Ok(Survey {
        criteria: criteria.iter().map(criterion_name).collect(),
        results,
    })
}

fn criterion_name((property, manager): &Criterion) -> String {
    match manager {
        Some(manager) => format!("{property} with {manager}"),
        None => property.to_string(),
    }
}

fn caught_by(program: &Program, criteria: &[Criterion]) -> Vec<String> {
    let mut found = Vec::new();
    for criterion in criteria {
        let options = options(program, criterion.1.as_ref());
        match check(program, criterion.0, &options) {
            Ok(report) if report.verdict == Verdict::Violated => {
                found.push(criterion_name(criterion));
            }
            Ok(_) | Err(Failure::Internal(_)) => {}
            Err(Failure::Input(_)) => return vec!["a rule of Section 3".to_string()],
        }
    }
    found
}
