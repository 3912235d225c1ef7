//! One question about one algorithm, answered: verdict, scope, explanation.
//!
//! The pieces are elsewhere; here they are put together so that an answer never
//! says more than was shown. A violation is replayed on the algorithm and
//! judged by two further procedures before it is reported. That a property
//! holds is reported for the numbers of threads and variables searched, and
//! beyond them only under the conditions of the paper's theorems, with what was
//! done about each:
//!
//! * Theorem 1 (strict serializability and opacity, deferred update, from two
//!   threads and two variables) needs P1–P4, see [`crate::structure`] and
//!   [`crate::monotonicity`], and what [`crate::bystanders`] looks at. All that
//!   is checked for two threads and two variables; for more, the property itself
//!   is, at the next sizes, as far as they are small.
//! * Theorem 5 (obstruction freedom, from two threads and one variable) needs
//!   P5 and P6. For P5 the print's sufficient condition is checked in every
//!   state met, that an abort resets its thread and changes nothing else. P6
//!   speaks of infinite words in which a thread ends up alone and never commits, and the
//!   proof uses it only for those with aborts without end. At a size at which the
//!   property itself holds there is no such word, so P6 asks nothing there: the
//!   next sizes are searched, and the answer says at which P6 is assumed.
//! * For the other properties there is no theorem, and none for what the paper
//!   leaves out: reads of old versions, accesses outside of transactions and
//!   nested transactions ([`crate::extended`]). Declared begins are first left
//!   out of the words, which asks for more ([`View`]); only if that fails they
//!   are counted, and then there is no theorem either.
//!
//! Where no theorem applies, or its conditions fail, the next larger sizes are
//! searched as well, as far as they are small or time is given.

use mover_source::diagnostic::Diagnostic;

use crate::algorithm::{Algorithm, Answer, Manager, Transition, View};
use crate::automaton::Automaton;
use crate::bystanders::{Surplus, surplus};
use crate::conflict_graph;
use crate::explain::{explain, table};
use crate::graph::{AlgorithmGraph, Incomplete};
use crate::inclusion::{self, InclusionOutcome, is_run, shortest_run};
use crate::language::program::{ExtraCommand, Program};
use crate::liveness::{Lasso, Stuck, find_lasso};
use crate::monitor::{extended_specification, specification};
use crate::monotonicity;
use crate::property::{Liveness, Property, Safety, Update, is_defined};
use crate::structure::{Condition, refute};
use crate::word::{Word, print_word};

#[derive(Clone, Debug)]
pub struct Options {
    /// Two by default.
    pub threads: Option<usize>,
    /// Two for safety and one for liveness by default.
    pub variables: Option<usize>,
    pub manager: Manager,
    /// Pairs of states of algorithm and specification; the algorithm alone may
    /// have a quarter of it.
    pub max_states: usize,
    /// Whether to look at larger sizes as well, as a check on the theorem.
    pub cross_check: bool,
    /// Whether to ask for whom else a property holds that holds at the size
    /// searched; without, only that size is answered for.
    pub widen_scope: bool,
    /// Whether sizes beyond the one asked for may take as much as that one,
    /// because somebody else limits the time.
    pub time_is_limited: bool,
    /// Whether accesses outside of transactions are left out of the words.
    pub weak_isolation: bool,
}

/// What is told while a question is being answered.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A size is searched now: threads and variables.
    Searching(usize, usize),
    /// The answer if nothing more is searched.
    Settled(Box<Report>),
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: None,
            variables: None,
            manager: Manager::Any,
            max_states: 20_000_000,
            cross_check: false,
            widen_scope: true,
            time_is_limited: false,
            weak_isolation: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Holds,
    Violated,
    Unknown,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Report {
    pub property: Property,
    pub verdict: Verdict,
    /// For which threads, variables and managers, and under which conditions.
    pub scope: String,
    pub threads: usize,
    pub variables: usize,
    pub manager: String,
    /// States of the algorithm; none if there were too many.
    pub states: Option<usize>,
    /// States of the whole specification automaton, where that is small.
    pub spec_states: Option<usize>,
    /// Pairs of both that were met.
    pub product_states: Option<usize>,
    /// The shortest word that violates the property, or the way to the loop.
    pub word: Option<Word>,
    /// The run after it, in extended statements.
    pub run: Vec<String>,
    /// For liveness, what is repeated.
    pub cycle: Option<Vec<String>>,
    pub explanation: String,
    /// The word as a table.
    pub table: Option<String>,
    pub notes: Vec<Diagnostic>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The algorithm or the question is in error.
    Input(Box<Diagnostic>),
    /// Two procedures disagree: an error of ours.
    Internal(String),
}

/// What Theorem 1 starts from: threads and variables.
const THEOREM_SIZE: (usize, usize) = (2, 2);
/// A state of the algorithm, with its edges, takes the room of so many pairs.
const STATES_FOR_PAIRS: usize = 4;
/// Larger specifications are not counted.
const COUNTED_SPECIFICATION: usize = 50_000;
/// Larger automata are not determinised for the structural conditions.
const STRUCTURE_LIMIT: usize = 150_000;
/// Pairs of states of the algorithm for a thread and a variable more, and of
/// its automaton.
const SURPLUS_LIMIT: usize = 3_000_000;
const MONOTONICITY_LENGTH: usize = 9;
const MONOTONICITY_WORDS: usize = 150_000;
/// Sizes beyond this many states, or pairs, are not checked in support of a
/// theorem.
const SUPPORT_LIMIT: usize = 200_000;
/// States looked at for a shorter run of a word.
const SHORTENED_RUN: usize = 300_000;

pub fn check(program: &Program, property: Property, options: &Options) -> Result<Report, Failure> {
    check_telling(program, property, options, &mut |_| ())
}

/// As [`check`], and says what it is doing.
pub fn check_telling(
    program: &Program,
    property: Property,
    options: &Options,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, Failure> {
    match property {
        Property::Safety(safety) => check_safety(program, safety, options, tell),
        Property::Liveness(liveness) => check_liveness(program, liveness, options, tell),
    }
}

/// What the words of a program have besides the paper's statements.
struct Beyond {
    begins: bool,
    plain: bool,
    /// Reads of old versions, or nesting: no view leaves these out.
    always: bool,
}

impl Beyond {
    fn of(program: &Program, options: &Options) -> Beyond {
        let has = |command| program.extra(command).is_some();
        Beyond {
            begins: has(ExtraCommand::Begin),
            plain: !options.weak_isolation
                && (has(ExtraCommand::PlainRead) || has(ExtraCommand::PlainWrite)),
            always: program.is_multi_version() || has(ExtraCommand::Nest),
        }
    }

    /// The view to begin with: without begins, if that can be said.
    fn first_view(&self) -> View {
        View {
            begins: self.begins && (self.always || self.plain),
            plain: self.plain,
        }
    }

    fn is_in_words(&self, view: View) -> bool {
        self.always || (self.begins && view.begins) || (self.plain && view.plain)
    }

    fn why_no_theorem(&self, view: View) -> Option<NoTheorem> {
        if self.always {
            Some(NoTheorem::OldVersionsOrNesting)
        } else if self.plain && view.plain {
            Some(NoTheorem::PlainAccesses)
        } else if self.begins && view.begins {
            Some(NoTheorem::DeclaredBegins)
        } else {
            None
        }
    }
}

/// Why a property that holds at some sizes is not known to hold at all.
#[derive(Clone, Debug, thiserror::Error)]
enum NoTheorem {
    #[error("there is no reduction theorem for reads of old versions or nested transactions")]
    OldVersionsOrNesting,
    #[error("there is no reduction theorem for accesses outside of transactions")]
    PlainAccesses,
    #[error(
        "it holds only if transactions overlap from their declared begins, for which there is no reduction theorem"
    )]
    DeclaredBegins,
    #[error("no larger size was requested")]
    NotRequested,
    #[error("there is no reduction theorem for this property")]
    OtherProperty,
    #[error("the reduction theorem is for deferred update")]
    DirectUpdate,
    #[error("the reduction theorem starts from 2 threads and 2 variables")]
    SmallSize,
    #[error("the algorithm is too large to check P1 to P4")]
    TooLarge,
    #[error("the algorithm is too large to check with one more thread and variable")]
    TooLargeWithSurplus,
    #[error(
        "one more thread or variable makes a difference even if no statement uses it: {} is a word then",
        print_word(.0)
    )]
    Surplus(Word),
    #[error("with {} the algorithm is in error: {message}", numbers(size.0, size.1))]
    InError {
        size: (usize, usize),
        message: String,
    },
    #[error(
        "{} fails: {} is a word of the algorithm but {} is not",
        condition.name(), print_word(word), print_word(image)
    )]
    Condition {
        condition: Condition,
        word: Word,
        image: Word,
    },
    #[error(
        "P4 fails: {} is a word of the algorithm, but no more sequential form of it is",
        print_word(.0)
    )]
    Monotonicity(Word),
}

impl NoTheorem {
    fn in_error(size: (usize, usize), error: &Diagnostic) -> NoTheorem {
        NoTheorem::InError {
            size,
            message: error.message.clone(),
        }
    }
}

fn manager_name(program: &Program, manager: Manager) -> String {
    match manager {
        Manager::Any => "any".to_string(),
        Manager::Aggressive => "aggressive".to_string(),
        Manager::Polite => "polite".to_string(),
        Manager::Own(index) => program.managers[index].name.clone(),
    }
}

fn with_manager(program: &Program, manager: Manager) -> String {
    match manager {
        Manager::Any => "with any contention manager".to_string(),
        _ => format!(
            "with the contention manager {}",
            manager_name(program, manager)
        ),
    }
}

fn numbers(threads: usize, variables: usize) -> String {
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    format!(
        "{} and {}",
        plural(threads, "thread"),
        plural(variables, "variable")
    )
}

impl Report {
    fn new(program: &Program, property: Property, size: (usize, usize), options: &Options) -> Self {
        Report {
            property,
            verdict: Verdict::Unknown,
            scope: String::new(),
            threads: size.0,
            variables: size.1,
            manager: manager_name(program, options.manager),
            states: None,
            spec_states: None,
            product_states: None,
            word: None,
            run: Vec::new(),
            cycle: None,
            explanation: String::new(),
            table: None,
            notes: Vec::new(),
        }
    }

    /// What is said of a question whose search was stopped from outside.
    pub fn stopped(program: &Program, property: Property, options: &Options, why: &str) -> Report {
        let usual = match property {
            Property::Safety(_) => 2,
            Property::Liveness(_) => 1,
        };
        let size = (
            options.threads.unwrap_or(2),
            options.variables.unwrap_or(usual),
        );
        let mut report = Report::new(program, property, size, options);
        report.scope = format!("{}, not finished", numbers(size.0, size.1));
        report.explanation = format!("{why}.");
        report
    }

    fn gave_up(mut self, what: &str, limit: usize) -> Self {
        self.verdict = Verdict::Unknown;
        self.scope = format!("{}, not finished", numbers(self.threads, self.variables));
        self.explanation = format!(
            "There are more than {limit} {what}; raise --max-states, or ask for fewer threads or variables."
        );
        self
    }
}

fn check_safety(
    program: &Program,
    property: Safety,
    options: &Options,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, Failure> {
    let size = (options.threads.unwrap_or(2), options.variables.unwrap_or(2));
    if !is_defined(property, program.update) {
        return Err(Failure::Input(Box::new(Diagnostic::coded(
            "T021",
            format!(
                "{} is not defined for direct update: it speaks of one moment at which all writes appear",
                Property::Safety(property)
            ),
        ))));
    }
    let beyond = Beyond::of(program, options);
    let mut view = beyond.first_view();
    tell(Progress::Searching(size.0, size.1));
    let mut report = search_safety(program, property, size, view, options)?;
    if report.verdict == Verdict::Violated && beyond.begins && !view.begins {
        view.begins = true;
        report = search_safety(program, property, size, view, options)?;
    }
    if report.verdict != Verdict::Holds {
        return Ok(report);
    }
    let manager = with_manager(program, options.manager);
    let only = |reason: &str| {
        format!(
            "{} only, {manager}, because {reason}",
            numbers(size.0, size.1)
        )
    };
    let mut settled = report.clone();
    settled.scope = only("larger sizes were not searched to the end");
    tell(Progress::Settled(Box::new(settled)));
    let mut carried_over = match beyond.why_no_theorem(view) {
        Some(reason) if options.widen_scope => Err(reason),
        _ => carry_over(program, property, size, options)?,
    };
    if let Err(reason) = &carried_over {
        let mut settled = report.clone();
        settled.scope = only(&reason.to_string());
        tell(Progress::Settled(Box::new(settled)));
    }
    let mut searched = Vec::new();
    let mut unfinished = Vec::new();
    for other in other_sizes(size, options, carried_over.is_ok()) {
        // What the theorem starts from is not given up lightly.
        let unsupported = options.time_is_limited && carried_over.is_err();
        let max_states = match options.cross_check || other == THEOREM_SIZE || unsupported {
            true => options.max_states,
            false => options.max_states.min(SUPPORT_LIMIT),
        };
        tell(Progress::Searching(other.0, other.1));
        let limited = Options {
            max_states,
            ..options.clone()
        };
        let report = match search_safety(program, property, other, view, &limited) {
            Err(Failure::Input(error)) if !options.cross_check => {
                carried_over = Err(NoTheorem::in_error(other, &error));
                break;
            }
            other => other?,
        };
        match report.verdict {
            // The words that are searched without begins ask for more than the
            // property does.
            Verdict::Violated if beyond.begins && !view.begins => {
                let counted = View {
                    begins: true,
                    ..view
                };
                let report = search_safety(program, property, other, counted, &limited)?;
                match report.verdict {
                    Verdict::Violated => return Ok(report),
                    Verdict::Holds => searched.push(other),
                    Verdict::Unknown => unfinished.push(other),
                }
                let reason = beyond.why_no_theorem(counted);
                carried_over = Err(reason.unwrap_or(NoTheorem::DeclaredBegins));
            }
            Verdict::Violated => return Ok(report),
            Verdict::Holds => searched.push(other),
            Verdict::Unknown => unfinished.push(other),
        }
    }
    let list = |sizes: &[(usize, usize)]| {
        let sizes: Vec<_> = sizes.iter().map(|(n, k)| format!("({n},{k})")).collect();
        sizes.join(", ")
    };
    report.scope = match carried_over {
        Err(reason) => only(&reason.to_string()),
        Ok(_) if unfinished.contains(&THEOREM_SIZE) => {
            only("the search for 2 threads and 2 variables stopped at --max-states")
        }
        Ok(conditions) => format!(
            "all numbers of threads and variables, {manager}, {conditions}; searched: {}",
            numbers(size.0, size.1)
        ),
    };
    if !searched.is_empty() {
        report.scope += &format!("; also searched: {}", list(&searched));
    }
    if options.cross_check && !unfinished.is_empty() {
        report.scope += &format!("; stopped at --max-states: {}", list(&unfinished));
    }
    Ok(report)
}

/// The sizes to search besides the one asked for: what the reduction theorem
/// starts from, and larger ones as a check on it.
fn other_sizes(size: (usize, usize), options: &Options, carried_over: bool) -> Vec<(usize, usize)> {
    let mut sizes = Vec::new();
    if carried_over && size != THEOREM_SIZE {
        sizes.push(THEOREM_SIZE);
    }
    if options.widen_scope || options.cross_check {
        sizes.extend([(2, 3), (3, 2)]);
    }
    if options.cross_check {
        sizes.push((3, 3));
    }
    sizes.retain(|&other| {
        let larger = other.0 >= size.0 && other.1 >= size.1;
        other != size && (larger || other == THEOREM_SIZE)
    });
    sizes
}

/// Searches one size; the scope of a positive answer is left to the caller.
fn search_safety(
    program: &Program,
    property: Safety,
    size: (usize, usize),
    view: View,
    options: &Options,
) -> Result<Report, Failure> {
    let (threads, variables) = size;
    let mut report = Report::new(program, Property::Safety(property), size, options);
    let extended = Beyond::of(program, options).is_in_words(view);
    let spec = match extended {
        true => extended_specification(property, threads, variables),
        false => specification(property, program.update, threads, variables),
    };
    let Some(spec) = spec else {
        return Err(Failure::Input(Box::new(Diagnostic::coded(
            "T021",
            format!(
                "{} are too many for statements beyond the paper's: at most {} threads times variables plus threads",
                numbers(threads, variables),
                crate::extended_monitor::MAX_NODES
            ),
        ))));
    };
    // The sizes of the paper are searched as they are, for their figures.
    let symmetric = threads + variables > 4 && !extended;
    let algorithm = Algorithm::new(program, threads, variables, options.manager).with_view(view);
    let limit = options.max_states / STATES_FOR_PAIRS;
    let graph = match AlgorithmGraph::build(algorithm, symmetric, limit) {
        Ok(graph) => graph,
        Err(Incomplete::Error(error)) => return Err(Failure::Input(error)),
        Err(Incomplete::Limit { .. }) => return Ok(report.gave_up("states", limit)),
    };
    report.states = Some(graph.unreduced_states());
    report.notes.extend(graph.unjustified_choice.clone());
    report.spec_states = if extended {
        None
    } else {
        Automaton::of_specification(spec.as_ref(), COUNTED_SPECIFICATION).map(|a| a.len())
    };
    let inclusion = inclusion::check(&graph, spec.as_ref(), options.max_states);
    report.product_states = Some(inclusion.pairs);
    match inclusion.outcome {
        InclusionOutcome::Included => {
            report.verdict = Verdict::Holds;
            report.explanation = format!(
                "Every word of the algorithm for {} is {}.",
                numbers(threads, variables),
                property.adjective()
            );
        }
        InclusionOutcome::Limit => {
            return Ok(report.gave_up("pairs of states", options.max_states));
        }
        InclusionOutcome::Violated(found) => {
            let plain =
                Algorithm::new(program, threads, variables, options.manager).with_view(view);
            let refused = spec.accepted_prefix(&found.word) + 1 == found.word.len();
            let cyclic = !conflict_graph::is_acyclic(&found.word, property, program.update);
            if !is_run(&plain, &found.run) || !refused || !cyclic {
                return Err(Failure::Internal(format!(
                    "the counterexample {} failed its replay",
                    print_word(&found.word)
                )));
            }
            let explanation = explain(&found.word, property, program.update);
            report.verdict = Verdict::Violated;
            report.scope = format!(
                "{}, {}",
                numbers(threads, variables),
                with_manager(program, options.manager)
            );
            let run = shortest_run(&plain, &found.word, SHORTENED_RUN)
                .filter(|run| is_run(&plain, run))
                .unwrap_or(found.run);
            report.run = run.iter().map(|step| plain.label(step)).collect();
            report.table = Some(table(&found.word));
            report.explanation = explanation.text();
            report.word = Some(found.word);
        }
    }
    Ok(report)
}

/// Under which conditions a property that holds at one size holds at all, and
/// what was done about them; or why nothing follows.
fn carry_over(
    program: &Program,
    property: Safety,
    (threads, variables): (usize, usize),
    options: &Options,
) -> Result<Result<String, NoTheorem>, Failure> {
    let not = |reason: NoTheorem| Ok(Err(reason));
    if !options.widen_scope {
        return not(NoTheorem::NotRequested);
    }
    if !matches!(property, Safety::StrictSerializability | Safety::Opacity) {
        return not(NoTheorem::OtherProperty);
    }
    if program.update == Update::Direct {
        return not(NoTheorem::DirectUpdate);
    }
    if threads < THEOREM_SIZE.0 || variables < THEOREM_SIZE.1 {
        return not(NoTheorem::SmallSize);
    }
    // The conditions are inspected for the size of the theorem.
    let paper = View {
        begins: false,
        plain: false,
    };
    let algorithm = Algorithm::new(program, 2, 2, options.manager).with_view(paper);
    let graph = match AlgorithmGraph::build(algorithm, false, STRUCTURE_LIMIT) {
        Ok(graph) => graph,
        Err(Incomplete::Error(error)) => return Err(Failure::Input(error)),
        Err(Incomplete::Limit { .. }) => {
            return not(NoTheorem::TooLarge);
        }
    };
    let Some(automaton) = Automaton::of_algorithm(&graph, STRUCTURE_LIMIT) else {
        return not(NoTheorem::TooLarge);
    };
    let automaton = automaton.minimized();
    let larger = Algorithm::new(program, 3, 3, options.manager).with_view(paper);
    match surplus(&larger, &automaton, SURPLUS_LIMIT) {
        Surplus::Nothing => {}
        Surplus::Word(word) => return not(NoTheorem::Surplus(word)),
        Surplus::TooLarge => return not(NoTheorem::TooLargeWithSurplus),
        Surplus::Error(error) => return not(NoTheorem::in_error((3, 3), &error)),
    }
    for condition in Condition::ALL {
        if let Some(witness) = refute(&automaton, condition) {
            return not(NoTheorem::Condition {
                condition,
                word: witness.word,
                image: witness.image,
            });
        }
    }
    let monotonicity = monotonicity::check(
        &automaton,
        property,
        MONOTONICITY_LENGTH,
        MONOTONICITY_WORDS,
    );
    if let Some(word) = monotonicity.witness {
        return not(NoTheorem::Monotonicity(word));
    }
    Ok(Ok(format!(
        "given P1 to P4 (Theorem 1); P1, P2 and P3 checked on all words of 2 threads and 2 variables, P4 on those up to length {}",
        monotonicity.length
    )))
}

fn check_liveness(
    program: &Program,
    property: Liveness,
    options: &Options,
    tell: &mut dyn FnMut(Progress),
) -> Result<Report, Failure> {
    let size = (options.threads.unwrap_or(2), options.variables.unwrap_or(1));
    tell(Progress::Searching(size.0, size.1));
    let limit = options.max_states / STATES_FOR_PAIRS;
    let (mut report, resets) = search_liveness(program, property, size, options, limit)?;
    if report.verdict != Verdict::Holds {
        return Ok(report);
    }
    let manager = with_manager(program, options.manager);
    let only = format!("{} only, {manager}", numbers(size.0, size.1));
    if !options.widen_scope {
        report.scope = format!("{only}, because no larger size was requested");
        return Ok(report);
    }
    let no_theorem = if property != Liveness::ObstructionFreedom {
        Some("there is no reduction theorem for this property")
    } else if size.0 < 2 {
        Some("the reduction theorem starts from 2 threads")
    } else if !resets {
        Some("an abort does not reset its thread alone, so P5 is not shown")
    } else {
        None
    };
    let mut settled = report.clone();
    let reason = no_theorem.unwrap_or("larger sizes were not searched to the end");
    settled.scope = format!("{only}, because {reason}");
    tell(Progress::Settled(Box::new(settled)));
    let mut supported = Vec::new();
    for larger in [(2, 2), (3, 1), (3, 2)] {
        if larger == size || larger.0 < size.0 || larger.1 < size.1 {
            continue;
        }
        let unsupported = options.time_is_limited && no_theorem.is_some();
        let limit = if options.cross_check || unsupported {
            limit
        } else {
            limit.min(SUPPORT_LIMIT)
        };
        tell(Progress::Searching(larger.0, larger.1));
        let (other, _) = match search_liveness(program, property, larger, options, limit) {
            Err(Failure::Input(error)) if !options.cross_check => {
                report.scope = format!("{only}, because {}", NoTheorem::in_error(larger, &error));
                return Ok(report);
            }
            found => found?,
        };
        match other.verdict {
            Verdict::Violated => return Ok(other),
            Verdict::Holds => supported.push(format!("({},{})", larger.0, larger.1)),
            Verdict::Unknown => {}
        }
    }
    if let Some(reason) = no_theorem {
        report.scope = format!("{only}, because {reason}");
        if !supported.is_empty() {
            report.scope += &format!("; also searched: {}", supported.join(", "));
        }
        return Ok(report);
    }
    report.scope = format!(
        "all numbers of threads and variables, {manager}, given P5 and P6 (Theorem 5); searched: {}; for P5, an abort resets its thread alone in every state searched",
        numbers(size.0, size.1)
    );
    report.scope += &match &supported[..] {
        [] => "; P6 is not checked".to_string(),
        sizes => format!(
            "; the property also holds at {}, so P6 is assumed only of words beyond these sizes",
            sizes.join(", ")
        ),
    };
    Ok(report)
}

/// Searches one size; also says whether every abort resets its thread alone.
fn search_liveness(
    program: &Program,
    property: Liveness,
    size: (usize, usize),
    options: &Options,
    max_states: usize,
) -> Result<(Report, bool), Failure> {
    let mut report = Report::new(program, Property::Liveness(property), size, options);
    let algorithm = Algorithm::new(program, size.0, size.1, options.manager);
    let graph = match AlgorithmGraph::build(algorithm, false, max_states) {
        Ok(graph) => graph,
        Err(Incomplete::Error(error)) => return Err(Failure::Input(error)),
        Err(Incomplete::Limit { .. }) => {
            return Ok((report.gave_up("states", max_states), false));
        }
    };
    report.states = Some(graph.states.len());
    report.notes.extend(graph.unjustified_choice.clone());
    let Some(lasso) = find_lasso(&graph, property) else {
        report.verdict = Verdict::Holds;
        report.explanation = format!(
            "The algorithm for {} has no loop that violates it.",
            numbers(size.0, size.1)
        );
        return Ok((report, aborts_reset(&graph)));
    };
    let run = [lasso.stem.clone(), lasso.cycle.clone(), lasso.cycle.clone()].concat();
    if !is_run(&graph.algorithm, &run) {
        return Err(Failure::Internal("a loop failed its replay".to_string()));
    }
    let labels = |steps: &[Transition]| -> Vec<String> {
        steps.iter().map(|s| graph.algorithm.label(s)).collect()
    };
    report.verdict = Verdict::Violated;
    report.scope = format!(
        "{}, {}",
        numbers(size.0, size.1),
        with_manager(program, options.manager)
    );
    report.word = Some(lasso.stem.iter().filter_map(|s| s.statement).collect());
    report.run = labels(&lasso.stem);
    report.cycle = Some(labels(&lasso.cycle));
    report.explanation = explain_lasso(&lasso, property, &report);
    Ok((report, false))
}

fn explain_lasso(lasso: &Lasso, property: Liveness, report: &Report) -> String {
    let stem = match report.run.is_empty() {
        true => "From the beginning".to_string(),
        false => format!("After {}", report.run.join(" ")),
    };
    let cycle = report.cycle.as_deref().unwrap_or_default().join(" ");
    let names: Vec<String> = lasso.threads.iter().map(|t| (t + 1).to_string()).collect();
    let who = match names.len() {
        1 => format!("thread {}", names[0]),
        _ => format!("threads {}", names.join(" and ")),
    };
    match (lasso.kind, property) {
        (Stuck::Blocked, _) => format!(
            "{stem}, a command of {who} has no step at all: it is in conflict and the contention manager allows none of the ways to resolve that (against rule 5 of Section 3)."
        ),
        (Stuck::Spinning, _) => format!(
            "{stem}, {who} can only repeat {cycle}, even if left alone: its command is never answered."
        ),
        (Stuck::Aborting, Liveness::ObstructionFreedom) => format!(
            "{stem}, {cycle} can be repeated for ever: {who} runs alone, aborts again and again and never commits."
        ),
        (Stuck::Aborting, Liveness::LivelockFreedom) => format!(
            "{stem}, {cycle} can be repeated for ever: no thread commits, and every thread that takes part ({who}) aborts again and again."
        ),
        (Stuck::Aborting, Liveness::WaitFreedom) => format!(
            "{stem}, {cycle} can be repeated for ever: {who} aborts again and again and never commits."
        ),
    }
}

fn aborts_reset(graph: &AlgorithmGraph<'_>) -> bool {
    let algorithm = &graph.algorithm;
    let initial = algorithm.initial();
    let size = algorithm.layout.per_thread.len();
    (0..graph.states.len() as u32).all(|state| {
        graph
            .edges(state)
            .iter()
            .filter(|edge| edge.transition.answer == Answer::Aborted)
            .all(|edge| {
                let block = algorithm
                    .layout
                    .thread_block(edge.transition.thread as usize);
                let mut expected = graph.states.get(state).to_vec();
                expected[block..block + size].copy_from_slice(&initial[block..block + size]);
                expected == graph.states.get(edge.target)
            })
    })
}
