//! Every procedure that can tell whether a memory is safe or live, side by side.
//!
//! The *product* of algorithm and monitor is what `mover tm check` searches; it judges itself by
//! replaying its counterexample and by the definition (Section 2.3 of Guerraoui et al. (2010), literally, as
//! `mover_tm::judge` has it). Beside it: the same with *symmetry*, comparing *automata* without
//! product, the paper's own specifications (*Algorithm 6* and the *antichain* search in the
//! nondeterministic one), and the *words* of the algorithm one by one, as many as there is room
//! for, each judged by the definition. *Loops* are found once more by the closure of the graph.
//! A new procedure joins by a line in [`JUDGES`].

use std::collections::{BTreeSet, VecDeque};
use std::sync::OnceLock;

use mover_tm::algorithm::{Algorithm, Answer, Manager, Successors};
use mover_tm::antichain::{self, Explored};
use mover_tm::automaton::Automaton;
use mover_tm::check::{Failure, Options, Verdict, check};
use mover_tm::graph::{AlgorithmGraph, GraphEdge, Incomplete};
use mover_tm::inclusion::{self, Counterexample, InclusionOutcome, is_run};
use mover_tm::language::program::Program;
use mover_tm::liveness::{Lasso, Stuck, find_lasso};
use mover_tm::monitor::specification;
use mover_tm::property::{Liveness, Property, Safety, Update, is_defined};
use mover_tm::spec_det::DeterministicSpec;
use mover_tm::spec_nondet::NondeterministicSpec;
use mover_tm::word::{Action, Statement, Word, print_word, transactions};
use mover_tm::{conflict_graph, judge as definition};

use crate::compare::{Mismatch, PassedOver, Tally};

/// A procedure that answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judge {
    Product,
    Symmetry,
    Automata,
    Deterministic,
    Antichain,
    Words,
    Order,
    Loops,
    Scope,
}

pub const JUDGES: &[Judge] = &[
    Judge::Product,
    Judge::Symmetry,
    Judge::Automata,
    Judge::Deterministic,
    Judge::Antichain,
    Judge::Words,
    Judge::Order,
    Judge::Loops,
    Judge::Scope,
];

impl Judge {
    pub fn name(self) -> &'static str {
        match self {
            Judge::Product => "tm, product",
            Judge::Symmetry => "tm, symmetry",
            Judge::Automata => "tm, automata",
            Judge::Deterministic => "tm, Algorithm 6",
            Judge::Antichain => "tm, antichains",
            Judge::Words => "tm, words by the definition",
            Judge::Order => "tm, what implies what",
            Judge::Loops => "tm, loops by closure",
            Judge::Scope => "tm, larger numbers",
        }
    }
}

/// What came of an algorithm.
pub struct Judged {
    /// By number in [`JUDGES`].
    pub tallies: Vec<Tally>,
    /// Whether some safety property is violated somewhere.
    pub is_wrong: bool,
    /// Whether some thread can fail for ever.
    pub is_stuck: bool,
}

/// Numbers of threads and variables that are searched.
const SIZES: [(usize, usize); 3] = [(2, 1), (2, 2), (3, 1)];
const MOST_STATES: usize = 800;
const MOST_PAIRS: usize = 60_000;
/// Automata of this size are determinised, and compared by antichains.
const MOST_SUBSETS: usize = 3000;
const MOST_FOR_ANTICHAIN: usize = 250;
/// Words that are judged one by one.
const MOST_WORDS: usize = 800;
/// The definition tries all orders of so many transactions.
const MOST_TRANSACTIONS: usize = 7;
/// The closure of a graph has the square of this many bits.
const MOST_FOR_CLOSURE: usize = 250;
/// For small algorithms the verdict for all numbers is tried at larger ones.
const MOST_FOR_SCOPE: usize = 60;
const LARGER: [(usize, usize); 5] = [(3, 1), (3, 2), (2, 3), (3, 3), (4, 2)];

struct Bench<'p> {
    program: &'p Program,
    tallies: Vec<Tally>,
    question: String,
}

impl Bench<'_> {
    fn answers(&mut self, judge: Judge) {
        self.tally(judge).answered += 1;
    }

    fn gives_up(&mut self, judge: Judge) {
        self.tally(judge).unfinished += 1;
    }

    fn tally(&mut self, judge: Judge) -> &mut Tally {
        let number = JUDGES.iter().position(|&other| other == judge);
        &mut self.tallies[number.unwrap_or(0)]
    }

    fn wrong(&self, judge: Judge, what: impl Into<String>) -> Mismatch {
        Mismatch {
            property: self.question.clone(),
            way: judge.name().into(),
            what: what.into(),
        }
    }
}

/// Asks all procedures about an algorithm.
pub fn judge(text: &str) -> Result<Result<Judged, PassedOver>, Mismatch> {
    let Some(program) = super::load(text) else {
        return Ok(Err(PassedOver::Invalid));
    };
    let mut bench = Bench {
        program: &program,
        tallies: vec![Tally::default(); JUDGES.len()],
        question: String::new(),
    };
    let mut judged = Judged {
        tallies: Vec::new(),
        is_wrong: false,
        is_stuck: false,
    };
    let mut passed_over = PassedOver::Invalid;
    let mut searched = 0;
    let managers = [Manager::Any, Manager::Aggressive, Manager::Polite];
    for (size, manager) in SIZES
        .into_iter()
        .flat_map(|size| managers.map(|m| (size, m)))
    {
        if manager != Manager::Any && !text.contains("conflict") {
            continue;
        }
        let of = format!("{} threads, {} variables, {manager:?}", size.0, size.1);
        bench.question.clone_from(&of);
        let build = |symmetric: bool| {
            let algorithm = Algorithm::new(&program, size.0, size.1, manager);
            AlgorithmGraph::build(algorithm, symmetric, MOST_STATES)
        };
        let plain = build(false);
        let symmetric = build(true);
        let plain = match (plain, &symmetric) {
            (Ok(plain), Ok(_)) => plain,
            (Err(Incomplete::Limit { .. }), _) => {
                passed_over = PassedOver::TooLarge;
                continue;
            }
            (Err(Incomplete::Error(_)), Err(_)) => continue,
            (Err(Incomplete::Error(error)), Ok(_)) => {
                let what = format!("no error, but one without: {}", error.message);
                return Err(bench.wrong(Judge::Symmetry, what));
            }
            (Ok(_), Err(_)) => {
                return Err(bench.wrong(Judge::Symmetry, "an error, but none without"));
            }
        };
        let Ok(symmetric) = symmetric else { continue };
        searched += 1;
        if symmetric.unreduced_states() != plain.states.len() {
            let (said, there) = (symmetric.unreduced_states(), plain.states.len());
            return Err(bench.wrong(Judge::Symmetry, format!("{said} states instead of {there}")));
        }
        judged.is_wrong |= safety(&mut bench, &of, &plain, &symmetric)?;
        judged.is_stuck |= liveness(&mut bench, &of, &plain)?;
    }
    if searched == 0 {
        return Ok(Err(passed_over));
    }
    scope(&mut bench)?;
    judged.tallies = bench.tallies;
    Ok(Ok(judged))
}

/// The shortest bad word of each property, by all procedures; whether there is one at all.
fn safety(
    bench: &mut Bench,
    of: &str,
    plain: &AlgorithmGraph,
    symmetric: &AlgorithmGraph,
) -> Result<bool, Mismatch> {
    let update = bench.program.update;
    let size = (plain.algorithm.threads(), plain.algorithm.variables());
    let language = Automaton::of_algorithm(plain, MOST_SUBSETS);
    let enumerated = Enumerated::new(&plain.algorithm);
    let mut verdicts = Vec::new();
    for property in Safety::ALL {
        if !is_defined(property, update) {
            continue;
        }
        bench.question = format!("{}, {of}", Property::Safety(property));
        let Some(spec) = specification(property, update, size.0, size.1) else {
            continue;
        };
        let found = match inclusion::check(plain, spec.as_ref(), MOST_PAIRS).outcome {
            InclusionOutcome::Limit => {
                bench.gives_up(Judge::Product);
                continue;
            }
            InclusionOutcome::Included => None,
            InclusionOutcome::Violated(found) => Some(found),
        };
        if let Some(found) = &found {
            replayed(bench, Judge::Product, plain, found, property)?;
        }
        bench.answers(Judge::Product);
        let length = found.as_ref().map(|found| found.word.len());
        verdicts.push((property, length.is_none()));
        let same = |bench: &mut Bench, judge: Judge, said: Option<usize>| {
            if said != length {
                let told = |length: Option<usize>| match length {
                    None => "it holds".into(),
                    Some(length) => format!("a word of length {length} violates it"),
                };
                let what = format!("{}, but {}", told(said), told(length));
                return Err(bench.wrong(judge, what));
            }
            bench.answers(judge);
            Ok(())
        };
        match inclusion::check(symmetric, spec.as_ref(), MOST_PAIRS).outcome {
            InclusionOutcome::Limit => bench.gives_up(Judge::Symmetry),
            InclusionOutcome::Included => same(bench, Judge::Symmetry, None)?,
            InclusionOutcome::Violated(found) => {
                replayed(bench, Judge::Symmetry, plain, &found, property)?;
                same(bench, Judge::Symmetry, Some(found.word.len()))?;
            }
        }
        if let Some(language) = &language {
            match monitor(property, update, size) {
                Some(monitor) => {
                    let word = antichain::word_lost(language, monitor, |_| true);
                    same(bench, Judge::Automata, word.map(|word| word.len()))?;
                }
                None => bench.gives_up(Judge::Automata),
            }
            if let Some(spec) = printed_spec(property, update, size) {
                if let Some(automaton) = &spec.deterministic {
                    let word = antichain::word_lost(language, automaton, |_| true);
                    same(bench, Judge::Deterministic, word.map(|word| word.len()))?;
                }
                match &spec.nondeterministic {
                    Some(explored) if language.len() <= MOST_FOR_ANTICHAIN => {
                        // The search drops sets, so its word need not be a shortest one.
                        let word = explored.word_missing_from(language);
                        let violated = word.is_some();
                        same(bench, Judge::Antichain, length.filter(|_| violated))?;
                        if violated != length.is_some() {
                            return Err(bench.wrong(Judge::Antichain, "a violation is made up"));
                        }
                    }
                    _ => bench.gives_up(Judge::Antichain),
                }
            }
        } else {
            bench.gives_up(Judge::Automata);
        }
        enumerated.compare(bench, property, length)?;
    }
    let holds = |property: Safety| {
        let found = verdicts.iter().find(|(other, _)| *other == property);
        found.map(|(_, holds)| *holds)
    };
    for (stronger, weaker) in [
        (Safety::Opacity, Safety::StrictSerializability),
        (Safety::StrictSerializability, Safety::Serializability),
        (Safety::StrictSerializability, Safety::SnapshotIsolation),
    ] {
        if let (Some(strong), Some(weak)) = (holds(stronger), holds(weaker)) {
            if strong && !weak {
                bench.question = of.into();
                let what = format!("{stronger:?} holds and {weaker:?} does not");
                return Err(bench.wrong(Judge::Order, what));
            }
            bench.answers(Judge::Order);
        }
    }
    Ok(verdicts.iter().any(|(_, holds)| !holds))
}

/// A counterexample must be a run, and bad by the definition, and not bad before its end.
fn replayed(
    bench: &Bench,
    judge: Judge,
    plain: &AlgorithmGraph,
    found: &Counterexample,
    property: Safety,
) -> Result<(), Mismatch> {
    let update = bench.program.update;
    let word = &found.word;
    let told = |what: &str| bench.wrong(judge, format!("{}: {what}", print_word(word)));
    let of_run: Word = found.run.iter().filter_map(|step| step.statement).collect();
    if !is_run(&plain.algorithm, &found.run) || of_run != *word {
        return Err(told("not a word of the algorithm"));
    }
    if conflict_graph::is_acyclic(word, property, update) {
        return Err(told("its conflict graph has no cycle"));
    }
    if transactions(word).len() <= MOST_TRANSACTIONS {
        if definition::satisfies(word, property, update) {
            return Err(told("no violation by the definition"));
        }
        let before = &word[..word.len() - 1];
        if !definition::satisfies(before, property, update) {
            return Err(told("a violation before its end"));
        }
    }
    Ok(())
}

/// The monitor as an automaton; made once for each property and size.
fn monitor(property: Safety, update: Update, size: (usize, usize)) -> Option<&'static Automaton> {
    type Made = OnceLock<Option<Automaton>>;
    static MADE: [[[Made; 3]; 2]; 4] = [const { [const { [const { OnceLock::new() }; 3] }; 2] }; 4];
    let property_at = Safety::ALL.iter().position(|&other| other == property)?;
    let size_at = SIZES.iter().position(|&other| other == size)?;
    MADE[property_at][usize::from(update == Update::Direct)][size_at]
        .get_or_init(|| {
            let spec = specification(property, update, size.0, size.1)?;
            Automaton::of_specification(spec.as_ref(), 100_000)
        })
        .as_ref()
}

/// The specifications as the paper has them.
struct PrintedSpec {
    deterministic: Option<Automaton>,
    nondeterministic: Option<Explored>,
}

fn printed_spec(
    property: Safety,
    update: Update,
    size: (usize, usize),
) -> Option<&'static PrintedSpec> {
    static MADE: [[OnceLock<PrintedSpec>; 3]; 2] = [const { [const { OnceLock::new() }; 3] }; 2];
    let property_at = match (property, update) {
        (Safety::StrictSerializability, Update::Deferred) => 0,
        (Safety::Opacity, Update::Deferred) => 1,
        _ => return None,
    };
    let size_at = SIZES.iter().position(|&other| other == size)?;
    Some(MADE[property_at][size_at].get_or_init(|| {
        let deterministic = DeterministicSpec::new(property, size.0, size.1);
        let nondeterministic = NondeterministicSpec::new(property, size.0);
        PrintedSpec {
            deterministic: Automaton::of_specification(&deterministic, 100_000),
            nondeterministic: Explored::new(&nondeterministic, size, 30_000),
        }
    }))
}

/// The words of an algorithm by their length, found by its steps alone.
struct Enumerated {
    /// Words up to this length are all there.
    complete: usize,
    words: Vec<Word>,
}

impl Enumerated {
    fn new(algorithm: &Algorithm) -> Enumerated {
        type States = BTreeSet<Vec<u8>>;
        let mut level: Vec<(Word, States)> =
            vec![(Word::new(), States::from([algorithm.initial()]))];
        let mut all = Enumerated {
            complete: 0,
            words: Vec::new(),
        };
        let mut successors = Successors::default();
        while !level.is_empty() {
            let mut next: Vec<(Word, States)> = Vec::new();
            for (word, states) in &level {
                let mut seen = states.clone();
                let mut queue: VecDeque<Vec<u8>> = states.iter().cloned().collect();
                let mut after: Vec<(Statement, States)> = Vec::new();
                while let Some(state) = queue.pop_front() {
                    if algorithm.successors(&state, &mut successors).is_err() {
                        return all;
                    }
                    for (transition, target) in successors.iter(algorithm.layout.size()) {
                        match transition.statement {
                            None if seen.insert(target.to_vec()) => {
                                queue.push_back(target.to_vec());
                            }
                            None => {}
                            Some(statement) => {
                                let place = after.iter().position(|(s, _)| *s == statement);
                                let place = place.unwrap_or_else(|| {
                                    after.push((statement, States::new()));
                                    after.len() - 1
                                });
                                after[place].1.insert(target.to_vec());
                            }
                        }
                    }
                }
                for (statement, states) in after {
                    let mut longer = word.clone();
                    longer.push(statement);
                    next.push((longer, states));
                }
                if all.words.len() + next.len() > MOST_WORDS {
                    return all;
                }
            }
            all.complete += 1;
            all.words.extend(next.iter().map(|(word, _)| word.clone()));
            level = next;
        }
        all
    }

    fn compare(
        &self,
        bench: &mut Bench,
        property: Safety,
        length: Option<usize>,
    ) -> Result<(), Mismatch> {
        let update = bench.program.update;
        for word in &self.words {
            // A word that continues after a bad one is bad whatever it says.
            if length.is_some_and(|length| word.len() > length) {
                break;
            }
            if transactions(word).len() > MOST_TRANSACTIONS {
                continue;
            }
            let good = definition::satisfies(word, property, update);
            if good != conflict_graph::is_acyclic(word, property, update) {
                let what = format!("{}: the conflict graph disagrees", print_word(word));
                return Err(bench.wrong(Judge::Words, what));
            }
            if !good && length.is_none_or(|length| word.len() < length) {
                let what = format!("{} violates it", print_word(word));
                return Err(bench.wrong(Judge::Words, what));
            }
        }
        let is_there = |length: usize| {
            let mut words = self.words.iter().filter(|word| word.len() == length);
            words.any(|word| !definition::satisfies(word, property, update))
        };
        match length {
            Some(length) if length <= self.complete && !is_there(length) => {
                let what = format!("no word of length {length} violates it");
                Err(bench.wrong(Judge::Words, what))
            }
            _ => {
                bench.answers(Judge::Words);
                Ok(())
            }
        }
    }
}

/// Loops, by the closure of the graph; whether some thread can fail for ever.
fn liveness(bench: &mut Bench, of: &str, graph: &AlgorithmGraph) -> Result<bool, Mismatch> {
    let mut before: Option<(Liveness, bool)> = None;
    let mut is_stuck = false;
    for property in [
        Liveness::ObstructionFreedom,
        Liveness::LivelockFreedom,
        Liveness::WaitFreedom,
    ] {
        bench.question = format!("{}, {of}", Property::Liveness(property));
        if graph.states.len() > MOST_FOR_CLOSURE {
            bench.gives_up(Judge::Loops);
            continue;
        }
        let lasso = find_lasso(graph, property);
        let aborts = matches!(&lasso, Some(lasso) if lasso.kind == Stuck::Aborting);
        if aborts != has_bad_loop(graph, property) {
            let what = match aborts {
                true => "there is no such loop",
                false => "a loop is missed",
            };
            return Err(bench.wrong(Judge::Loops, what));
        }
        if !aborts && lasso.is_some() != is_unanswered(graph) {
            return Err(bench.wrong(Judge::Loops, "a thread without answer is missed"));
        }
        if let Some(lasso) = &lasso {
            let run = [&lasso.stem[..], &lasso.cycle, &lasso.cycle].concat();
            if !is_run(&graph.algorithm, &run) || (aborts && !is_bad(lasso, property)) {
                return Err(bench.wrong(Judge::Loops, "the loop is no violation"));
            }
        }
        is_stuck |= lasso.is_some();
        bench.answers(Judge::Loops);
        if let Some((weaker, true)) = before
            && !aborts
        {
            let what = format!("{weaker:?} is violated and {property:?} is not");
            return Err(bench.wrong(Judge::Order, what));
        }
        before = Some((property, aborts));
    }
    Ok(is_stuck)
}

fn commits(edge: &GraphEdge) -> bool {
    let statement = edge.transition.statement;
    statement.is_some_and(|statement| statement.action == Action::Commit)
}

/// Whether the steps of a loop are those of a violation, as Section 6 says.
fn is_bad(lasso: &Lasso, property: Liveness) -> bool {
    let aborts = |thread: u8| {
        let mut steps = lasso.cycle.iter();
        steps.any(|step| step.thread == thread && step.answer == Answer::Aborted)
    };
    let commits = |thread: u8| {
        let mut statements = lasso.cycle.iter().filter_map(|step| step.statement);
        statements.any(|s| s.thread == thread && s.action == Action::Commit)
    };
    let actors: BTreeSet<u8> = lasso.cycle.iter().map(|step| step.thread).collect();
    match property {
        Liveness::ObstructionFreedom => {
            actors.len() == 1 && actors.iter().all(|&t| aborts(t) && !commits(t))
        }
        Liveness::LivelockFreedom => actors.iter().all(|&t| aborts(t) && !commits(t)),
        Liveness::WaitFreedom => actors.iter().any(|&t| aborts(t) && !commits(t)),
    }
}

fn has_bad_loop(graph: &AlgorithmGraph, property: Liveness) -> bool {
    let threads = graph.algorithm.threads() as u8;
    match property {
        Liveness::ObstructionFreedom => (0..threads).any(|thread| {
            let own = |edge: &GraphEdge| edge.transition.thread == thread && !commits(edge);
            has_loop(graph, &own, &[thread])
        }),
        Liveness::LivelockFreedom => (1u8..1 << threads).any(|group| {
            let members: Vec<u8> = (0..threads).filter(|t| group >> t & 1 == 1).collect();
            let within =
                |edge: &GraphEdge| group >> edge.transition.thread & 1 == 1 && !commits(edge);
            has_loop(graph, &within, &members)
        }),
        Liveness::WaitFreedom => (0..threads).any(|thread| {
            let others = |edge: &GraphEdge| edge.transition.thread != thread || !commits(edge);
            has_loop(graph, &others, &[thread])
        }),
    }
}

/// Whether some loop of such edges has an abort of each of the threads.
fn has_loop(graph: &AlgorithmGraph, allowed: &dyn Fn(&GraphEdge) -> bool, threads: &[u8]) -> bool {
    let count = graph.states.len();
    let reaches = closure(graph, allowed);
    (0..count).any(|center| {
        // All that can be reached from the state and reaches it lies on one loop with it.
        let on_loop =
            |state: usize| state == center || (reaches[center][state] && reaches[state][center]);
        threads.iter().all(|&thread| {
            (0..count).filter(|&state| on_loop(state)).any(|state| {
                graph.edges(state as u32).iter().any(|edge| {
                    let is_abort = edge.transition.answer == Answer::Aborted;
                    let target = edge.target as usize;
                    allowed(edge)
                        && is_abort
                        && edge.transition.thread == thread
                        && on_loop(target)
                        && (target == center || reaches[target][center])
                })
            })
        })
    })
}

/// Which state leads to which, by one such edge or more.
fn closure(graph: &AlgorithmGraph, allowed: &dyn Fn(&GraphEdge) -> bool) -> Vec<Vec<bool>> {
    let count = graph.states.len();
    let mut reaches = vec![vec![false; count]; count];
    for (from, reached) in reaches.iter_mut().enumerate() {
        let mut open = vec![from as u32];
        while let Some(state) = open.pop() {
            for edge in graph.edges(state).iter().filter(|edge| allowed(edge)) {
                let target = edge.target as usize;
                if !reached[target] {
                    reached[target] = true;
                    open.push(edge.target);
                }
            }
        }
    }
    reaches
}

/// Whether a thread is blocked, or does nothing but wait when it is alone.
fn is_unanswered(graph: &AlgorithmGraph) -> bool {
    let threads = graph.algorithm.threads() as u8;
    graph.blocked.is_some()
        || (0..threads).any(|thread| {
            (0..graph.states.len() as u32).any(|start| {
                let mut at = start;
                (0..=graph.states.len()).all(|_| {
                    let own = |edge: &&GraphEdge| edge.transition.thread == thread;
                    let mut own = graph.edges(at).iter().filter(own);
                    match (own.next(), own.next()) {
                        (Some(only), None) if only.transition.answer == Answer::Pending => {
                            at = only.target;
                            true
                        }
                        _ => false,
                    }
                })
            })
        })
}

/// A verdict for all numbers of threads and variables must hold at larger ones.
fn scope(bench: &mut Bench) -> Result<(), Mismatch> {
    let algorithm = Algorithm::new(bench.program, 2, 2, Manager::Any);
    if AlgorithmGraph::build(algorithm, false, MOST_FOR_SCOPE).is_err() {
        bench.gives_up(Judge::Scope);
        return Ok(());
    }
    for property in [Safety::StrictSerializability, Safety::Opacity] {
        bench.question = Property::Safety(property).to_string();
        let ask = |threads: usize, variables: usize, widen_scope: bool| {
            let options = Options {
                threads: Some(threads),
                variables: Some(variables),
                max_states: 4 * MOST_PAIRS,
                widen_scope,
                ..Options::default()
            };
            check(bench.program, Property::Safety(property), &options)
        };
        let report = match ask(2, 2, true) {
            Ok(report) => report,
            Err(Failure::Input(_)) => continue,
            Err(Failure::Internal(reason)) => return Err(bench.wrong(Judge::Product, reason)),
        };
        if report.verdict != Verdict::Holds || !report.scope.starts_with("all numbers") {
            bench.gives_up(Judge::Scope);
            continue;
        }
        for (threads, variables) in LARGER {
            match ask(threads, variables, false) {
                Ok(larger) if larger.verdict == Verdict::Violated => {
                    let word = larger.word.unwrap_or_default();
                    let what = format!(
                        "said to hold for all numbers, but {} violates it",
                        print_word(&word)
                    );
                    return Err(bench.wrong(Judge::Scope, what));
                }
                Ok(_) | Err(Failure::Input(_)) => {}
                Err(Failure::Internal(reason)) => {
                    return Err(bench.wrong(Judge::Product, reason));
                }
            }
        }
        bench.answers(Judge::Scope);
    }
    Ok(())
}
