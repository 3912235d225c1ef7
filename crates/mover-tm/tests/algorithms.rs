//! The library of algorithms: sizes, verdicts, lassos, reduction, robustness.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mover_source::SourceMap;
use mover_tm::algorithm::{Algorithm, Manager, View};
use mover_tm::antichain;
use mover_tm::automaton::Automaton;
use mover_tm::check::{Failure, Options, Progress, Verdict, check, check_telling};
use mover_tm::conflict_graph::is_acyclic;
use mover_tm::graph::AlgorithmGraph;
use mover_tm::inclusion::{self, InclusionOutcome};
use mover_tm::judge;
use mover_tm::language;
use mover_tm::language::program::{ExtraCommand, Program};
use mover_tm::liveness::find_lasso;
use mover_tm::monitor::specification;
use mover_tm::monotonicity;
use mover_tm::mutate;
use mover_tm::property::{Liveness, Property, Safety, Update, is_defined};
use mover_tm::structure::{Condition, refute};
use mover_tm::word::{Outcome, Word, parse_word, transactions};

mod random;
use random::Random;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/tm")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(directory().join(name)).unwrap()
}

fn parse(text: &str) -> Result<Program, Vec<String>> {
    let mut sources = SourceMap::default();
    let file = sources.add("test.tm", text);
    language::load(&sources, file)
        .map_err(|errors| errors.into_iter().map(|error| error.message).collect())
}

fn program(name: &str) -> Program {
    parse(&text(name)).unwrap_or_else(|errors| panic!("{name}: {errors:?}"))
}

fn examples() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tm"))
        .collect();
    names.sort();
    names
}

fn graph(program: &Program, size: (usize, usize), manager: Manager) -> AlgorithmGraph<'_> {
    let algorithm = Algorithm::new(program, size.0, size.1, manager);
    AlgorithmGraph::build(algorithm, false, 1_000_000).unwrap()
}

#[test]
fn sizes_at_two_threads_and_two_variables() {
    let size = |name: &str, manager| graph(&program(name), (2, 2), manager).states.len();
    assert_eq!(size("seq.tm", Manager::Any), 3);
    assert_eq!(size("2pl.tm", Manager::Any), 240);
    assert_eq!(size("dstm.tm", Manager::Any), 2864);
    assert_eq!(size("tl2-printed.tm", Manager::Any), 21568);
    assert_eq!(size("tl2.tm", Manager::Any), 19504);
    assert_eq!(size("tl2-modified.tm", Manager::Polite), 18648);
}

#[test]
fn every_example_has_the_verdicts_that_its_header_expects() {
    let names = examples();
    assert!(names.len() >= 31);
    for name in names {
        let program = program(&name);
        assert!(program.expectations.len() >= 2, "{name}");
        for expected in &program.expectations {
            let manager = match &expected.manager {
                Some(manager) => Manager::find(&program, manager).unwrap(),
                None => Manager::Any,
            };
            let options = Options {
                manager,
                weak_isolation: expected.weak,
                ..Options::default()
            };
            let started = std::time::Instant::now();
            let report = check(&program, expected.property, &options).unwrap();
            println!(
                "{name} {}: {:.2} s, {:?} states, {} for {}",
                expected.property,
                started.elapsed().as_secs_f64(),
                report.states,
                report.verdict.name(),
                report.scope
            );
            let wanted = if expected.holds {
                Verdict::Holds
            } else {
                Verdict::Violated
            };
            assert_eq!(report.verdict, wanted, "{name}: {expected:?}");
            if let (Property::Safety(safety), Some(word)) = (expected.property, &report.word) {
                assert!(
                    !judge::satisfies(word, safety, program.update),
                    "{name}: {word:?}"
                );
            }
        }
    }
}

#[test]
fn the_shortest_counterexamples_have_the_known_lengths() {
    let word = |name: &str, property, manager| {
        let program = program(name);
        let options = Options {
            manager,
            ..Options::default()
        };
        let report = check(&program, Property::Safety(property), &options).unwrap();
        report.word.unwrap()
    };
    let strict = Safety::StrictSerializability;
    assert_eq!(word("tl2-modified.tm", strict, Manager::Polite).len(), 6);
    assert_eq!(
        word("tl2-printed.tm", Safety::Opacity, Manager::Any).len(),
        6
    );
    assert_eq!(word("snapshot-isolation.tm", strict, Manager::Any).len(), 6);
    assert_eq!(word("occ.tm", Safety::Opacity, Manager::Any).len(), 4);
}

#[test]
fn the_printed_counterexample_is_a_word_of_modified_tl2() {
    let printed = parse_word("(w,2)_1 (w,1)_2 (r,2)_2 (r,1)_1 c_2 c_1").unwrap();
    let modified = program("tl2-modified.tm");
    let modified = graph(&modified, (2, 2), Manager::Polite);
    let language = Automaton::of_algorithm(&modified, 1_000_000).unwrap();
    assert!(language.accepts(&printed));
    let repaired = program("tl2.tm");
    let repaired = graph(&repaired, (2, 2), Manager::Polite);
    let language = Automaton::of_algorithm(&repaired, 1_000_000).unwrap();
    assert!(!language.accepts(&printed));
}

/// Table 1: the words of the runs shown are words of the algorithms.
#[test]
fn the_words_of_table_1_are_in_the_languages() {
    for (name, text) in [
        ("seq.tm", "(r,1)_1 (w,2)_1 c_1 (w,1)_2 c_2"),
        ("seq.tm", "(r,1)_1 (w,2)_1 a_2 c_1 (w,1)_2 c_2"),
        ("2pl.tm", "(r,1)_1 (w,2)_1 c_1"),
        ("2pl.tm", "a_2 (r,1)_1 (w,2)_1 c_1"),
        ("dstm.tm", "(r,1)_1 (w,1)_2 (w,2)_1 c_1 a_2"),
        ("dstm.tm", "(r,1)_1 (w,1)_2 c_2 (w,2)_1 a_1"),
        ("tl2-printed.tm", "(r,1)_1 (w,2)_1 (w,1)_2 c_1 c_2"),
        ("tl2-printed.tm", "(r,1)_1 (w,2)_1 (w,1)_2 a_1 c_2"),
    ] {
        let program = program(name);
        let graph = graph(&program, (2, 2), Manager::Any);
        let language = Automaton::of_algorithm(&graph, 1_000_000).unwrap();
        assert!(
            language.accepts(&parse_word(text).unwrap()),
            "{name}: {text}"
        );
    }
}

#[test]
fn loops_have_the_known_lengths() {
    let length = |name: &str, manager, property| {
        let program = program(name);
        let graph = graph(&program, (2, 1), manager);
        find_lasso(&graph, property).map(|lasso| lasso.cycle.len())
    };
    use Liveness::{LivelockFreedom, ObstructionFreedom, WaitFreedom};
    for property in [ObstructionFreedom, LivelockFreedom, WaitFreedom] {
        assert_eq!(length("seq.tm", Manager::Any, property), Some(1));
        assert_eq!(length("2pl.tm", Manager::Any, property), Some(1));
        assert_eq!(length("tl2.tm", Manager::Polite, property), Some(1));
    }
    assert_eq!(
        length("dstm.tm", Manager::Aggressive, ObstructionFreedom),
        None
    );
    assert_eq!(
        length("dstm.tm", Manager::Aggressive, LivelockFreedom),
        Some(4)
    );
    assert_eq!(length("dstm.tm", Manager::Aggressive, WaitFreedom), Some(4));
}

/// The print's DSTM gives up its ownerships before it looks for victims.
#[test]
fn dstm_with_its_commit_as_printed_is_not_strictly_serializable() {
    let right = "    for u != t where rs(u) meets os(t) { status(u) := invalid; }\n    reset(t);\n";
    let printed =
        "    reset(t);\n    for u != t where rs(u) meets os(t) { status(u) := invalid; }\n";
    let text = text("dstm.tm");
    assert!(text.contains(right));
    let program = parse(&text.replace(right, printed)).unwrap();
    let property = Property::Safety(Safety::StrictSerializability);
    let report = check(&program, property, &Options::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!(report.word.unwrap().len(), 5);
}

/// Searching with and without symmetry gives the same sizes and verdicts.
#[test]
fn symmetry_reduction_changes_no_answer() {
    for name in examples() {
        let program = program(&name);
        // Only words of the paper are searched with symmetry.
        if program.is_multi_version() || program.extra(ExtraCommand::Nest).is_some() {
            continue;
        }
        let view = View {
            begins: false,
            plain: false,
        };
        let algorithm = || Algorithm::new(&program, 2, 2, Manager::Any).with_view(view);
        let Ok(plain) = AlgorithmGraph::build(algorithm(), false, 100_000) else {
            assert_eq!(name, "tl2-clock.tm");
            continue;
        };
        let reduced = AlgorithmGraph::build(algorithm(), true, 1_000_000).unwrap();
        assert_eq!(plain.states.len(), reduced.unreduced_states(), "{name}");
        for property in [Safety::StrictSerializability, Safety::Opacity] {
            let spec = specification(property, program.update, 2, 2).unwrap();
            let length = |graph: &AlgorithmGraph<'_>| match inclusion::check(
                graph,
                spec.as_ref(),
                1_000_000,
            )
            .outcome
            {
                InclusionOutcome::Included => None,
                InclusionOutcome::Violated(found) => {
                    assert!(inclusion::is_run(&plain.algorithm, &found.run), "{name}");
                    assert!(!judge::satisfies(&found.word, property, program.update));
                    Some(found.word.len())
                }
                InclusionOutcome::Limit => panic!("{name} is small"),
            };
            assert_eq!(length(&plain), length(&reduced), "{name} {property:?}");
        }
    }
}

/// Inclusion by way of the automata: no product, no dropped information. None
/// if the automaton is too large; else the length of the shortest bad word.
fn by_automata(
    graph: &AlgorithmGraph<'_>,
    property: Safety,
    update: Update,
) -> Option<Option<usize>> {
    let (threads, variables) = (graph.algorithm.threads(), graph.algorithm.variables());
    let spec = specification(property, update, threads, variables).unwrap();
    let language = Automaton::of_algorithm(graph, 5_000)?;
    let spec = Automaton::of_specification(spec.as_ref(), 1_000_000).unwrap();
    Some(antichain::word_lost(&language, &spec, |_| true).map(|word| word.len()))
}

fn by_product(graph: &AlgorithmGraph<'_>, property: Safety, update: Update) -> Option<usize> {
    let (threads, variables) = (graph.algorithm.threads(), graph.algorithm.variables());
    let spec = specification(property, update, threads, variables).unwrap();
    match inclusion::check(graph, spec.as_ref(), 10_000_000).outcome {
        InclusionOutcome::Included => None,
        InclusionOutcome::Violated(found) => Some(found.word.len()),
        InclusionOutcome::Limit => panic!("the example is small"),
    }
}

/// The examples, and mutants of some of them, which fail in more ways.
#[test]
fn the_product_agrees_with_comparing_automata() {
    let mut compared = 0;
    let mut violated = 0;
    let mut compare = |program: &Program, size: (usize, usize)| {
        let algorithm = Algorithm::new(program, size.0, size.1, Manager::Any);
        let Ok(graph) = AlgorithmGraph::build(algorithm, false, 4_000) else {
            return;
        };
        for property in Safety::ALL {
            if !is_defined(property, program.update) {
                continue;
            }
            if let Some(expected) = by_automata(&graph, property, program.update) {
                let found = by_product(&graph, property, program.update);
                assert_eq!(found, expected, "{} {property:?}", program.name);
                compared += 1;
                violated += usize::from(found.is_some());
            }
        }
    };
    for name in examples() {
        compare(&program(&name), (2, 2));
        compare(&program(&name), (3, 1));
    }
    for name in ["2pl.tm", "dstm.tm", "occ.tm", "mcrt.tm"] {
        let text = text(name);
        let mut sources = SourceMap::default();
        let file = sources.add(name, text.clone());
        let tree = language::parser::parse(&text, file).unwrap();
        for mutant in mutate::mutants(&tree) {
            if let Ok(program) = language::resolve::resolve(&mutant.file) {
                compare(&program, (2, 2));
            }
        }
    }
    assert!(compared > 200 && violated > 50, "{compared} {violated}");
}

#[test]
fn larger_sizes_confirm_the_reduction_theorem() {
    for (name, size) in [("2pl.tm", (3, 3)), ("dstm.tm", (3, 2)), ("dstm.tm", (2, 3))] {
        let program = program(name);
        for property in [Safety::StrictSerializability, Safety::Opacity] {
            let options = Options {
                threads: Some(size.0),
                variables: Some(size.1),
                ..Options::default()
            };
            let report = check(&program, Property::Safety(property), &options).unwrap();
            assert_eq!(report.verdict, Verdict::Holds, "{name}");
            assert!(report.scope.starts_with("all numbers"), "{}", report.scope);
        }
    }
    // Write skew needs no more than two of each.
    let store = program("snapshot-isolation.tm");
    let options = Options {
        threads: Some(3),
        variables: Some(2),
        ..Options::default()
    };
    let property = Property::Safety(Safety::StrictSerializability);
    let report = check(&store, property, &options).unwrap();
    assert_eq!(report.word.unwrap().len(), 6);
}

#[test]
fn scopes_say_what_was_shown() {
    let scope = |name: &str, property, limit| {
        let options = Options {
            max_states: limit,
            ..Options::default()
        };
        let program = program(name);
        let report = check(&program, property, &options).unwrap();
        (report.verdict, report.scope)
    };
    let opacity = Property::Safety(Safety::Opacity);
    let (verdict, text) = scope("seq.tm", opacity, 1000);
    assert_eq!(verdict, Verdict::Holds);
    assert!(text.contains("given P1 to P4"), "{text}");
    let (verdict, text) = scope("tl2.tm", opacity, 1000);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(text.contains("not finished"), "{text}");
    let isolation = Property::Safety(Safety::SnapshotIsolation);
    let (_, text) = scope("snapshot-isolation.tm", isolation, 1_000_000);
    assert!(text.contains("only"), "{text}");
    let (_, text) = scope(
        "mcrt.tm",
        Property::Safety(Safety::StrictSerializability),
        1_000_000,
    );
    assert!(text.contains("deferred update"), "{text}");
}

/// Theorem 5 needs P6 for words with aborts without end, and at a size at which the property holds
/// there is none.
#[test]
fn obstruction_freedom_says_beyond_which_sizes_p6_is_assumed() {
    let dstm = program("dstm.tm");
    let options = Options {
        manager: Manager::find(&dstm, "aggressive").unwrap(),
        ..Options::default()
    };
    let property = Property::Liveness(Liveness::ObstructionFreedom);
    let report = check(&dstm, property, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    assert!(report.scope.starts_with("all numbers"), "{}", report.scope);
    let (_, told) = report
        .scope
        .split_once("the property also holds at ")
        .expect("other sizes");
    let (sizes, told) = told.split_once(", so ").expect("a conclusion");
    assert_eq!(told, "P6 is assumed only of words beyond these sizes");
    for size in sizes.split(", ") {
        let numbers = size.trim_matches(['(', ')']).split_once(',').expect("two");
        let options = Options {
            threads: Some(numbers.0.parse().unwrap()),
            variables: Some(numbers.1.parse().unwrap()),
            widen_scope: false,
            ..options.clone()
        };
        let there = check(&dstm, property, &options).unwrap();
        assert_eq!(there.verdict, Verdict::Holds, "{size}");
    }
}

/// An aborted attempt helps the next one: that is what P1 excludes.
#[test]
fn a_memory_that_breaks_p1_gets_no_verdict_for_all_numbers() {
    let text = "algorithm grudge;
        thread { tries: 0..1; }
        on read(v) { do read when tries(t) = 1; }
        on write(v) { do write when tries(t) = 1; }
        on commit { do commit; }
        on abort { tries(t) := 1; }";
    let program = parse(text).unwrap();
    // Reads nothing consistently, but a single thread and variable are safe.
    let options = Options {
        threads: Some(2),
        variables: Some(2),
        ..Options::default()
    };
    let property = Property::Safety(Safety::SnapshotIsolation);
    let report = check(&program, property, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    let locked = "algorithm grudge;
        global { lock: thread or none; }
        thread { tries: 0..1; }
        require lock = none or lock = t;
        on read(v) { do read when tries(t) = 1 { lock := t; } }
        on write(v) { do write when tries(t) = 1 { lock := t; } }
        on commit { do commit { if lock = t { lock := none; } } }
        on abort { if lock = t { lock := none; } tries(t) := 1; }";
    let program = parse(locked).unwrap();
    let property = Property::Safety(Safety::Opacity);
    let report = check(&program, property, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    assert!(report.scope.contains("P1 fails"), "{}", report.scope);
}

/// With two threads it is one after the other; a third that does nothing lets both in.
const COMPANY: &str = "algorithm company;
    thread { status: { finished, started }; }
    require exists u != t : status(u) = finished;
    on read(v) { do read { status(t) := started; } }
    on write(v) { do write { status(t) := started; } }
    on commit { do commit { status(t) := finished; } }
    on abort { status(t) := finished; }";

/// As [`COMPANY`], but the third must have taken a step, which is no statement.
const HELPED: &str = "algorithm helped;
    thread { status: { finished, started, waiting }; }
    require status(t) = waiting
      or (forall u != t: status(u) != started)
      or (exists u != t: status(u) = waiting);
    on read(v) { do read when status(t) != waiting { status(t) := started; } }
    on write(v) {
      do wait pending when status(t) = finished { status(t) := waiting; }
      do wait pending when status(t) = waiting;
      do write when status(t) = started;
    }
    on commit { do commit when status(t) != waiting { status(t) := finished; } }
    on abort { status(t) := finished; }";

#[test]
fn a_thread_that_is_not_heard_of_can_make_a_difference() {
    for text in [COMPANY, HELPED] {
        one_thread_more_makes_a_difference(text);
    }
}

fn one_thread_more_makes_a_difference(text: &str) {
    let program = parse(text).unwrap();
    let ask = |threads: usize| {
        let options = Options {
            threads: Some(threads),
            variables: Some(2),
            ..Options::default()
        };
        let mut settled = Vec::new();
        let opacity = Property::Safety(Safety::Opacity);
        let report = check_telling(&program, opacity, &options, &mut |told| {
            if let Progress::Settled(report) = told {
                settled.push(*report);
            }
        });
        (report.unwrap(), settled.pop())
    };
    // It holds for two, for no more because of the third, and so three are searched.
    let (found, two) = ask(2);
    let two = two.unwrap();
    assert_eq!(two.verdict, Verdict::Holds);
    assert!(
        two.scope.contains("one more thread or variable"),
        "{}",
        two.scope
    );
    assert_eq!((found.verdict, found.threads), (Verdict::Violated, 3));
    assert_eq!(ask(3).0.verdict, Verdict::Violated);
}

/// The counter has no room for a third thread: no answer for all, but one for two.
#[test]
fn an_error_of_a_larger_size_does_not_hide_the_answer() {
    let counted = text("occ.tm")
        .replace(
            "algorithm occ;",
            "algorithm counted; global { active: 0..2; }",
        )
        .replace("stale: bool;", "stale: bool; on: bool;")
        .replace(
            "rs(u) := {};",
            "rs(u) := {}; if on(u) { on(u) := false; active -= 1; }",
        )
        .replace("{ rs(t) += {v}; }", "{ rs(t) += {v}; begin(t); }")
        .replace("{ ws(t) += {v}; }", "{ ws(t) += {v}; begin(t); }")
        .replace(
            "procedure reset",
            "procedure begin(thread u) { if not on(u) { on(u) := true; active += 1; } }
             procedure reset",
        );
    let program = parse(&counted).unwrap();
    let property = Property::Safety(Safety::StrictSerializability);
    let report = check(&program, property, &Options::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    let reason =
        "2 threads and 2 variables only, with any contention manager, because with 3 threads";
    assert!(report.scope.starts_with(reason), "{}", report.scope);
    let asked = Options {
        threads: Some(3),
        ..Options::default()
    };
    assert!(matches!(
        check(&program, property, &asked),
        Err(Failure::Input(_))
    ));
}

/// Readers that are going to abort may see two commits in either order, if both writers were at
/// work already when the first one committed. With two threads that cannot happen.
const VIRTUAL_WORLDS: &str = "algorithm virtual_worlds;
    thread {
      rs, ws: set of variables;
      stale: bool;
      barred: set of variables;   // written since something read was overwritten
      apart: set of threads;      // stale readers to whom this writer's commit may come first
    }
    procedure reset(thread u) {
      rs(u) := {}; ws(u) := {}; stale(u) := false; barred(u) := {}; apart(u) := {};
    }
    on read(v) {
      do read when v in ws(t);
      do read when v not in ws(t) and v not in barred(t) { rs(t) += {v}; apart(t) := {}; }
    }
    on write(v) {
      do write { if not (ws(t) within {v}) { apart(t) := {}; } ws(t) += {v}; }
    }
    on commit {
      do commit when not stale(t) {
        for u != t where stale(u) and (u not in apart(t) or rs(u) meets ws(t)) {
          barred(u) := barred(u) | ws(t);
        }
        for u != t { apart(u) := {}; }
        for u != t where not stale(u) and rs(u) meets ws(t) and rs(t) = {} {
          for thread w where w != u and w != t and rs(w) = {} and size(ws(w)) = 1 {
            apart(w) += {u};
          }
        }
        for u != t where not stale(u) and rs(u) meets ws(t) { barred(u) := ws(t); }
        for u != t where rs(u) meets ws(t) { stale(u) := true; }
        reset(t);
      }
    }
    on abort { reset(t); }";

/// Theorem 1 as printed is wrong for opacity: this has P1 to P3 with three threads, and P4 as far
/// as one looks, and is opaque with two.
#[test]
fn opacity_of_two_threads_is_not_that_of_three() {
    let program = parse(VIRTUAL_WORLDS).unwrap();
    let algorithm = Algorithm::new(&program, 3, 2, Manager::Any);
    let graph = AlgorithmGraph::build(algorithm, false, 200_000).unwrap();
    let automaton = Automaton::of_algorithm(&graph, 200_000)
        .unwrap()
        .minimized();
    for condition in Condition::ALL {
        assert_eq!(refute(&automaton, condition), None);
    }
    let printed = monotonicity::check(&automaton, Safety::StrictSerializability, 6, 100_000);
    assert_eq!(printed.witness, None);
    assert!(printed.length >= 5, "{}", printed.length);

    let wrong = parse_word("(r,1)_1 (w,1)_2 (w,2)_3 c_2 (r,2)_2 c_3 (r,2)_1").unwrap();
    assert!(automaton.accepts(&wrong));
    assert!(!is_acyclic(&wrong, Safety::Opacity, Update::Deferred));
    for left_out in [1, 2] {
        let alone: Word = transactions(&wrong)
            .iter()
            .filter(|x| x.outcome == Outcome::Committing || usize::from(x.thread) != left_out - 1)
            .flat_map(|x| x.statements.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|at| wrong[at])
            .collect();
        assert!(alone.len() < wrong.len());
        assert!(is_acyclic(&alone, Safety::Opacity, Update::Deferred));
        assert!(monotonicity::has_form(
            &automaton,
            Safety::StrictSerializability,
            &alone
        ));
    }
    assert!(!monotonicity::has_form(&automaton, Safety::Opacity, &wrong));

    let opacity = Property::Safety(Safety::Opacity);
    let plain = Options {
        widen_scope: false,
        ..Options::default()
    };
    assert_eq!(
        check(&program, opacity, &plain).unwrap().verdict,
        Verdict::Holds
    );
    let report = check(&program, opacity, &Options::default()).unwrap();
    assert_eq!((report.verdict, report.threads), (Verdict::Violated, 3));
}

/// What names itself is a mistake, and has no end when it is expanded.
#[test]
fn bodies_that_name_themselves_are_refused() {
    let complete = "on read(v) { do read when p(t); } on write(v) { do write; } on commit { do commit { q(t); } } on abort { }";
    for declared in [
        "procedure q(thread t) { b(t) := true; q(t); } predicate p(thread t) = b(t);",
        "procedure q(thread t) { b(t) := true; } predicate p(thread t) = b(t) and p(t);",
    ] {
        let text = format!("algorithm a; thread {{ b: bool; }} {declared} {complete}");
        // A stack that is soon full.
        let small = std::thread::Builder::new().stack_size(1 << 18);
        let parsed = small.spawn(move || parse(&text).map(|_| ())).unwrap();
        assert!(parsed.join().unwrap().is_err(), "{declared}");
    }
}

#[test]
fn mistakes_are_named() {
    let complete = "on read(v) { do read; } on write(v) { do write; } on abort { }";
    let message = |text: &str| parse(text).unwrap_err().join("\n");
    assert!(message("algorithm a;").contains("`on read` is missing"));
    assert!(message(&format!("algorithm a; {complete}")).contains("`on commit` is missing"));
    let with = |more: &str| format!("algorithm a; {more} {complete} on commit {{ do commit; }}");
    assert!(message(&with("thread { s: set of cars; }")).contains("`variables` or `threads`"));
    assert!(message(&with("require s(t) = 1;")).contains("no field `s`"));
    assert!(message(&with("thread { s: { a, b }; } require s(t) = c;")).contains("one of a, b"));
    assert!(message(&with("thread { s: 0..2; } require v in s(t);")).contains("`v` is unknown"));
    assert!(message(&with("expect glory holds;")).contains("no such property"));
    let deep = format!("require {}true{};", "(".repeat(5000), ")".repeat(5000));
    assert!(message(&with(&deep)).contains("nested"));
    let wide = format!("require true{};", " and true".repeat(5000));
    assert!(message(&with(&wide)).contains("in a row"));
}

#[test]
fn mistakes_met_while_running_are_errors_and_not_verdicts() {
    let run = |text: &str| {
        let program = parse(text).unwrap();
        let property = Property::Safety(Safety::Opacity);
        match check(&program, property, &Options::default()) {
            Err(mover_tm::check::Failure::Input(error)) => error.message,
            other => panic!("{other:?}"),
        }
    };
    let counter = "algorithm a; thread { n: 0..1; }
        on read(v) { do read { n(t) += 1; } } on write(v) { do write; }
        on commit { do commit; } on abort { }";
    assert!(run(counter).contains("outside of its range"));
    let partial = "algorithm a; global { first: thread or none; }
        on read(v) { do read { for thread u where first = none { first := u; } } }
        on write(v) { do write; } on commit { do commit; } on abort { }";
    assert!(run(partial).contains("depends on the order"));
    let twice = "algorithm a; thread { b: bool; }
        on read(v) { do read; do read { b(t) := true; } }
        on write(v) { do write; } on commit { do commit; } on abort { }";
    assert!(run(twice).contains("rule 7"));
    let unearned = "algorithm a;
        on read(v) { do peek done; } on write(v) { do write; }
        on commit { do commit; } on abort { }";
    assert!(run(unearned).contains("was not executed"));
}

/// A commit may take effect before it is answered.
#[test]
fn a_statement_can_take_effect_before_its_answer() {
    let text = "algorithm early;
        global { lock: thread or none; }
        require lock = none or lock = t;
        on read(v) { do read { lock := t; } }
        on write(v) { do write { lock := t; } }
        on commit {
          do commit pending when lock != t { lock := t; }
          do commit pending when lock = t;
          do unlock done when lock = t { lock := none; }
        }
        on abort { }";
    // `commit` and `unlock` are both enabled: executed twice is an error.
    let program = parse(text).unwrap();
    let property = Property::Safety(Safety::Opacity);
    assert!(check(&program, property, &Options::default()).is_err());
    let text = text
        .replace("global {", "thread { gone: bool; } global {")
        .replace(
            "pending when lock != t { lock := t; }",
            "pending when lock != t { lock := t; gone(t) := true; }",
        )
        .replace(
            "pending when lock = t;",
            "pending when lock = t and not gone(t) { gone(t) := true; }",
        )
        .replace(
            "done when lock = t { lock := none; }",
            "done when gone(t) { lock := none; gone(t) := false; }",
        );
    let program = parse(&text).unwrap();
    let report = check(&program, property, &Options::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{}", report.explanation);
}

#[test]
fn own_contention_managers_keep_state() {
    let text = text("dstm.tm");
    let once = "manager patient {
          thread { lost: bool; }
          on abort when not lost(t) { lost(t) := true; }
          on own(v) when lost(t) { lost(t) := false; }
          on validate when lost(t) { lost(t) := false; }
        }";
    let program = parse(&format!("{text}\n{once}")).unwrap();
    let manager = Manager::find(&program, "patient").unwrap();
    let options = Options {
        manager,
        ..Options::default()
    };
    let property = Property::Safety(Safety::Opacity);
    let report = check(&program, property, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    let live = Property::Liveness(Liveness::ObstructionFreedom);
    let asked = Options {
        widen_scope: false,
        ..options.clone()
    };
    let report = check(&program, live, &asked).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{}", report.explanation);
    // An ownership that nobody contends makes it patient again, which a second variable shows.
    let report = check(&program, live, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!((report.threads, report.variables), (2, 2));
    let blocking = "manager never { on step when false; on abort when false; }";
    let program = parse(&format!("{text}\n{blocking}")).unwrap();
    let options = Options {
        manager: Manager::find(&program, "never").unwrap(),
        ..Options::default()
    };
    let report = check(&program, live, &options).unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert!(report.explanation.contains("no step at all"));
}

/// Damaged files are refused or read, and never more than that.
#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random::new(7);
    let names = examples();
    let pieces = [
        "{", "}", "(", ";", "when", "on", "do", "t", "\u{e4}", "\"", "0", "set of",
    ];
    for _ in 0..6000 {
        let mut bytes = text(&names[random.below(names.len())]).into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => {
                    let end = (at + random.below(30)).min(bytes.len());
                    bytes.drain(at..end);
                }
                1 => {
                    let piece = pieces[random.below(pieces.len())];
                    bytes.splice(at..at, piece.bytes());
                }
                _ => bytes[at] = 32 + random.below(95) as u8,
            }
        }
        let _outcome = parse(&String::from_utf8_lossy(&bytes));
    }
}

/// Guards against a header that promises what nobody checks.
#[test]
fn direct_update_has_no_snapshot_isolation() {
    let program = program("mcrt.tm");
    assert_eq!(program.update, Update::Direct);
    let property = Property::Safety(Safety::SnapshotIsolation);
    assert!(check(&program, property, &Options::default()).is_err());
}
