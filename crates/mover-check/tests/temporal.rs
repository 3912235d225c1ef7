//! Temporal claims on random small models, judged by the definition: all lassos of the program up
//! to a length, on each of which the formula is evaluated from the meaning of its operators.
//!
//! `safe` is wrong if one of them violates the formula. `unsafe` comes with a run, which is replayed
//! on the concrete semantics.

use std::collections::BTreeSet;
use std::fmt;

use mover_check::Fairness;
use mover_check::forbidden::{ForbiddenRun, replay};
use mover_check::invariant::instrument;
use mover_engine::{Control, Engine, Task};
use mover_explicit::Explicit;
use mover_explicit::liveness::{Found, find_forbidden_run};
use mover_ir::claim::Check;
use mover_ir::program::{Program, Property};
use mover_ir::semantics::{Machine, State, Step};
use mover_reduce::Reduction;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

fn statement(random: &mut Random, depth: usize) -> String {
    let simple = [
        "x = 0",
        "x = 1",
        "x = 2",
        "y = 0",
        "y = 1",
        "x = (x + 1) % 3",
        "y = 1 - y",
        "x == 1",
        "x != 2",
        "y == 1",
        "y == 0",
        "skip",
        "c!1",
        "c?y",
        "r!x",
        "r?x",
        "z = 1 - z",
        "z = 1",
        "z == 0",
        "z = y",
        // A channel that, by chance, only one process uses.
        "d!y; d?z",
        // Data under a lock, and a variable of one process.
        "atomic { m == 0 -> m = 1 }; w = 1 - w; w = 1 - w; m = 0",
        "atomic { m == 0 -> m = 1 }; w = 1; z = w; m = 0",
        "atomic { m == 0 -> m = 1 }; if :: w == 0 -> w = 1 :: w == 1 -> w = 0 fi; m = 0",
    ];
    if depth == 0 {
        return random.pick(&simple).into();
    }
    let parts = |count: usize, random: &mut Random| -> Vec<String> {
        (0..count).map(|_| statement(random, depth - 1)).collect()
    };
    match random.below(9) {
        0 => {
            let parts = parts(3, random);
            format!(
                "if :: {} -> {} :: {} fi",
                random.pick(&["x == 1", "y == 0", "z == 1"]),
                parts[0],
                parts[1]
            )
        }
        1 => {
            let parts = parts(2, random);
            format!("if :: y == 1 -> {} :: else -> {} fi", parts[0], parts[1])
        }
        2 => {
            let parts = parts(2, random);
            format!("do :: {} :: {} :: x == 2 -> break od", parts[0], parts[1])
        }
        3 => {
            let parts = parts(2, random);
            format!("atomic {{ {}; {} }}", parts[0], parts[1])
        }
        4 => "d_step { x = 2; y = 1; x = 0 }".into(),
        _ => random.pick(&simple).into(),
    }
}

fn model(random: &mut Random) -> String {
    let mut text = String::from(
        "byte x, y;\nbit m, w;\nchan c = [1] of { byte };\nchan r = [0] of { byte };\nchan d = [2] of { byte };\n",
    );
    for name in ["P", "Q"] {
        let mut body = Vec::new();
        for _ in 0..1 + random.below(2) {
            body.push(statement(random, 1));
        }
        if random.below(3) > 0 {
            let first = statement(random, 0);
            let then = statement(random, 1);
            let other = statement(random, 0);
            body.push(format!("do :: {first}; {then} :: {other} od"));
        }
        text += &format!(
            "active proctype {name}() {{ bit z; {} }}\n",
            body.join("; ")
        );
    }
    text
}

/// A statement of a process that shares little but the channels it was given.
fn talk(random: &mut Random, depth: usize) -> String {
    let simple = [
        "out!1",
        "out!z",
        "out!2",
        "in?z",
        "in?z",
        "in?1",
        "in?<z>",
        "z = 1 - z",
        "z = 2",
        "x = 1 - x",
        "x = 1",
        "y = z",
        "x == 1",
        // What makes the order of a send and a receive matter.
        "out!!z",
        "in??2",
        "nempty(in)",
        "nfull(out)",
        "len(out) > 0; y = 1",
        "extra!z",
        "extra?z",
        "meet!1",
        "meet?z",
    ];
    let one = |random: &mut Random| random.pick(&simple).to_string();
    if depth == 0 {
        return one(random);
    }
    match random.below(10) {
        0 => format!("atomic {{ {}; {} }}", one(random), one(random)),
        1 => format!("atomic {{ x = 1; {}; x = 0 }}", one(random)),
        2 => format!(
            "if :: in?1 -> {} :: in?2 -> {} fi",
            one(random),
            one(random)
        ),
        // A choice that another process may open.
        3 => format!(
            "{}if :: {} :: z = 1 fi",
            random.pick(&["", "out!1; "]),
            random.pick(&["out!1; y = 1", "in?z; y = 1"])
        ),
        4 => format!(
            "if :: nempty(in) -> {} :: else -> {} fi",
            one(random),
            one(random)
        ),
        5 => format!("do :: in?z -> {} :: z == 2 -> break od", one(random)),
        _ => one(random),
    }
}

/// Processes that get their channels as parameters.
fn talking_model(random: &mut Random) -> String {
    let sizes = [1 + random.below(2), 1 + random.below(2), random.below(2)];
    let mut text = String::from("byte x, y;\nchan meet = [0] of { byte };\n");
    for (name, size) in ["a", "b", "extra"].into_iter().zip(sizes) {
        text += &format!("chan {name} = [{size}] of {{ byte }};\n");
    }
    for name in ["P", "Q"] {
        let count = 1 + random.below(3);
        let mut body: Vec<String> = (0..count).map(|_| talk(random, 1)).collect();
        if random.below(2) == 0 {
            let (first, other) = (talk(random, 0), talk(random, 1));
            body.push(format!("do :: {first} :: {other} od"));
        }
        let body = body.join("; ");
        text += &format!("proctype {name}(chan in, out) {{ byte z; {body} }}\n");
    }
    let runs = random.pick(&[
        "run P(a, b); run Q(b, a)",
        "run P(a, b); run Q(b, b)",
        "run P(a, a); run Q(a, b)",
        "run P(a, b); x = 1; run Q(b, a)",
        "run P(a, b); a!2; a!1; run Q(b, a)",
    ]);
    let init = random
        .pick(&["atomic { BODY }", "BODY"])
        .replace("BODY", runs);
    text + &format!("init {{ {init} }}\n")
}

enum Formula {
    Proposition(usize),
    Unary(&'static str, Box<Formula>),
    Binary(&'static str, Box<Formula>, Box<Formula>),
}

const PROPOSITIONS: [&str; 4] = ["x == 1", "y == 1", "x == 2", "c?[1]"];

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Proposition(number) => write!(f, "({})", PROPOSITIONS[*number]),
            Formula::Unary(operator, a) => write!(f, "({operator} {a})"),
            Formula::Binary(operator, a, b) => write!(f, "({a} {operator} {b})"),
        }
    }
}

fn formula(random: &mut Random, depth: usize) -> Formula {
    formula_of(random, depth, PROPOSITIONS.len())
}

/// A formula with the first of the propositions.
fn formula_of(random: &mut Random, depth: usize, names: usize) -> Formula {
    if depth == 0 || random.below(5) == 0 {
        return Formula::Proposition(random.below(names));
    }
    let mut part = || Box::new(formula_of(random, depth - 1, names));
    let (a, b) = (part(), part());
    match random.below(14) {
        0 => Formula::Unary("!", a),
        1 => Formula::Unary("X", a),
        2..=4 => Formula::Unary("[]", a),
        5..=7 => Formula::Unary("<>", a),
        8 => Formula::Binary("&&", a, b),
        9 => Formula::Binary("||", a, b),
        10 => Formula::Binary("->", a, b),
        11 => Formula::Binary("U", a, b),
        12 => Formula::Binary("V", a, b),
        _ => Formula::Binary(if random.below(2) == 0 { "W" } else { "<->" }, a, b),
    }
}

/// The truth of a formula at each position of a lasso whose loop begins at `back`.
fn truth(formula: &Formula, letters: &[u64], back: usize) -> Vec<bool> {
    let count = letters.len();
    let after = |position: usize| {
        if position + 1 < count {
            position + 1
        } else {
            back
        }
    };
    let from = |position: usize| {
        let mut all = vec![position];
        for _ in 0..2 * count {
            all.push(after(all[all.len() - 1]));
        }
        all
    };
    let of = |part: &Formula| truth(part, letters, back);
    let each = |test: &dyn Fn(usize) -> bool| (0..count).map(test).collect::<Vec<bool>>();
    match formula {
        Formula::Proposition(number) => each(&|i| letters[i] >> number & 1 == 1),
        Formula::Unary(operator, a) => {
            let a = of(a);
            match *operator {
                "!" => each(&|i| !a[i]),
                "X" => each(&|i| a[after(i)]),
                "[]" => each(&|i| from(i).iter().all(|&j| a[j])),
                _ => each(&|i| from(i).iter().any(|&j| a[j])),
            }
        }
        Formula::Binary(operator, a, b) => {
            let (a, b) = (of(a), of(b));
            let until = |i: usize, a: &dyn Fn(usize) -> bool, b: &dyn Fn(usize) -> bool| {
                let run = from(i);
                (0..run.len()).any(|k| b(run[k]) && run[..k].iter().all(|&j| a(j)))
            };
            let is_until = |i| until(i, &|j| a[j], &|j| b[j]);
            match *operator {
                "&&" => each(&|i| a[i] && b[i]),
                "||" => each(&|i| a[i] || b[i]),
                "->" => each(&|i| !a[i] || b[i]),
                "<->" => each(&|i| a[i] == b[i]),
                "U" => each(&is_until),
                "W" => each(&|i| is_until(i) || from(i).iter().all(|&j| a[j])),
                _ => each(&|i| !until(i, &|j| !a[j], &|j| !b[j])),
            }
        }
    }
}

/// What claims see of a program: its states between steps, with the threads that move.
struct Graph {
    letters: Vec<u64>,
    movers: Vec<BTreeSet<usize>>,
    edges: Vec<Vec<(usize, BTreeSet<usize>)>>,
}

fn threads_of(step: Step) -> BTreeSet<usize> {
    [Some(step.by), step.with]
        .into_iter()
        .flatten()
        .map(|by| by.thread)
        .collect()
}

/// The successors that claims see; nothing is seen in the middle of an atomic sequence.
fn seen_successors(
    machine: &Machine,
    state: &State,
    found: &mut Vec<(State, BTreeSet<usize>)>,
    depth: usize,
    threads: Option<&BTreeSet<usize>>,
) {
    for (step, next) in machine.successors(state) {
        let mut threads = threads.cloned().unwrap_or_default();
        threads.extend(threads_of(step));
        if next.exclusive.is_some() {
            // A sequence of the models here that is longer than this loops.
            if depth < 12 {
                seen_successors(machine, &next, found, depth + 1, Some(&threads))
            };
        } else if machine.error(&next).is_none() {
            found.push((next, threads));
        }
    }
}

fn graph(program: &Program) -> Option<Graph> {
    let machine = Machine::new(program);
    let variable = |name: &str| {
        let globals = &program.globals;
        let position = globals.iter().position(|variable| variable.name == name);
        let position = position.expect("declared");
        globals[..position]
            .iter()
            .map(|variable| variable.len as usize)
            .sum::<usize>()
    };
    let (x, y) = (variable("x"), variable("y"));
    let letter = |state: &State| {
        let facts = [
            state.globals[x] == 1,
            state.globals[y] == 1,
            state.globals[x] == 2,
            state.channels[0].first() == Some(&vec![1]),
        ];
        facts
            .iter()
            .enumerate()
            .fold(0, |letter, (bit, &holds)| letter | u64::from(holds) << bit)
    };
    let mut states = vec![machine.initial()];
    let mut graph = Graph {
        letters: Vec::new(),
        movers: Vec::new(),
        edges: Vec::new(),
    };
    let mut next = 0;
    while next < states.len() {
        if states.len() > 400 {
            return None;
        }
        let state = states[next].clone();
        graph.letters.push(letter(&state));
        let steps = machine.steps(&state);
        graph
            .movers
            .push(steps.iter().flat_map(|&step| threads_of(step)).collect());
        let mut found = Vec::new();
        seen_successors(&machine, &state, &mut found, 0, None);
        if steps.is_empty() {
            found.push((state, BTreeSet::new()));
        }
        let mut edges = Vec::new();
        for (after, threads) in found {
            let number = states.iter().position(|known| *known == after);
            let number = number.unwrap_or_else(|| {
                states.push(after);
                states.len() - 1
            });
            edges.push((number, threads));
        }
        graph.edges.push(edges);
        next += 1;
    }
    Some(graph)
}

/// Looks for a lasso that violates the formula among those that are found within the budget.
struct Judge<'a> {
    graph: &'a Graph,
    formula: &'a Formula,
    fairness: Fairness,
    budget: usize,
    longest: usize,
    path: Vec<usize>,
    threads: Vec<BTreeSet<usize>>,
}

impl Judge<'_> {
    fn finds_violation(&mut self) -> bool {
        let here = self.path[self.path.len() - 1];
        for (next, threads) in &self.graph.edges[here] {
            self.threads.push(threads.clone());
            for back in 0..self.path.len() {
                if self.path[back] == *next && self.violates(back) {
                    return true;
                }
            }
            if self.path.len() < self.longest && self.budget > 0 {
                self.path.push(*next);
                if self.finds_violation() {
                    return true;
                }
                self.path.pop();
            }
            self.threads.pop();
        }
        false
    }

    fn violates(&mut self, back: usize) -> bool {
        self.budget = self.budget.saturating_sub(1);
        let moved: BTreeSet<usize> = self.threads[back..].iter().flatten().copied().collect();
        let is_treated_fairly = |thread: usize| {
            let mut states = self.path[back..].iter();
            let can_move = |&s: &usize| self.graph.movers[s].contains(&thread);
            moved.contains(&thread)
                || match self.fairness {
                    Fairness::None => true,
                    Fairness::Weak => states.any(|s| !can_move(s)),
                    Fairness::Strong => !states.any(can_move),
                }
        };
        if !(0..2).all(is_treated_fairly) {
            return false;
        }
        let letters: Vec<u64> = self.path.iter().map(|&s| self.graph.letters[s]).collect();
        !truth(self.formula, &letters, back)[0]
    }
}

#[test]
fn claims_on_random_models_are_judged_by_their_meaning() {
    let models = models(250);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut counts = [0usize; 2];
    let mut with_loop = 0;
    let mut reduced = 0;
    let mut states = [0u64; 2];
    for _ in 0..models {
        let text = model(&mut random);
        let formulas: Vec<Formula> = (0..4).map(|_| formula(&mut random, 3)).collect();
        let claims: Vec<String> = (formulas.iter().enumerate())
            .map(|(number, formula)| format!("ltl f{number} {{ {formula} }}\n"))
            .collect();
        let text = text + &claims.concat();
        let read = mover_promela::parse_text("random.pml", &text);
        let program = read
            .unwrap_or_else(|failure| panic!("{text}\n{failure:?}"))
            .program;
        let Some(graph) = graph(&program) else {
            continue;
        };
        for (claim, formula) in program.info.claims.iter().zip(&formulas) {
            let Check::Forbidden(monitor) = &claim.check else {
                panic!("{text}\n{claim:?}");
            };
            let fairnesses = [Fairness::None, Fairness::Weak, Fairness::Strong];
            let ways = fairnesses.map(|fairness| (fairness, false));
            let ways = ways.into_iter().chain([(Fairness::None, true)]);
            for (fairness, reduce) in ways {
                let control = Control::unlimited();
                let searched =
                    find_forbidden_run(&program, monitor, fairness, reduce, &control, &mut |_| ());
                let searched = searched.expect("small");
                reduced += usize::from(searched.is_reduced);
                if searched.found == Found::Nothing && fairness == Fairness::None {
                    states[usize::from(reduce)] += searched.statistics.states;
                }
                let found = searched.found;
                let run = match &found {
                    Found::Nothing => None,
                    Found::Prefix(steps) => Some((steps, None)),
                    Found::Lasso { steps, loop_start } => Some((steps, Some(*loop_start))),
                    other => panic!("{other:?}\n{text}"),
                };
                counts[usize::from(run.is_some())] += 1;
                let mut judge = Judge {
                    graph: &graph,
                    formula,
                    fairness,
                    budget: 2_000,
                    longest: 9,
                    path: vec![0],
                    threads: Vec::new(),
                };
                match run {
                    None => assert!(
                        !judge.finds_violation(),
                        "{fairness:?}: {formula} is violated by {:?}\n{text}",
                        judge.path
                    ),
                    Some((steps, loop_start)) => {
                        with_loop += usize::from(loop_start.is_some_and(|at| at < steps.len()));
                        let run = ForbiddenRun {
                            steps,
                            loop_start,
                            fairness,
                        };
                        let replayed = replay(&program, claim, monitor, run);
                        assert!(
                            replayed.is_ok(),
                            "{fairness:?} {formula}: {replayed:?}\n{text}"
                        );
                    }
                }
            }
        }
    }
    eprintln!("formulas: {counts:?} hold and violated, {with_loop} with a loop");
    assert!(counts.iter().all(|&count| count > models), "{counts:?}");
    assert!(with_loop > models / 2, "{with_loop}");
    eprintln!("local steps: {reduced} searches reduced, states {states:?} without and with");
    assert!(
        reduced > models / 4 && states[1] < states[0],
        "{reduced} {states:?}"
    );
}

/// Channel operations that go first change no answer: as without the reduction, which is judged by lassos above.
#[test]
fn channel_operations_that_go_first_change_no_answer() {
    let models = models(3_000);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut counts = [0usize; 2];
    let mut states = [0u64; 2];
    for number in 0..models {
        let mut text = match number % 3 {
            0 => model(&mut random),
            _ => talking_model(&mut random),
        };
        let mut names = PROPOSITIONS.len();
        if number % 3 > 0 {
            // The last one looks at a channel.
            names -= 1;
        }
        for number in 0..4 {
            // Alternatives make it likelier that the formula is true of nearly all runs.
            let [a, b] = [0; 2].map(|_| Formula::Proposition(random.below(names)));
            let alternative = match random.below(4) {
                0 => String::new(),
                1 => format!("<> [] {a} || "),
                2 => format!("[] {a} || <> [] {b} || "),
                _ => format!("[] <> {a} || [] ! {b} || "),
            };
            let formula = formula_of(&mut random, 2, names);
            text += &format!("ltl f{number} {{ {alternative} {formula} }}\n");
        }
        let read = mover_promela::parse_text("random.pml", &text);
        let program = read
            .unwrap_or_else(|failure| panic!("{text}\n{failure:?}"))
            .program;
        for claim in &program.info.claims {
            let Check::Forbidden(monitor) = &claim.check else {
                panic!("{text}\n{claim:?}");
            };
            let [plain, reduced] = [false, true].map(|reduce| {
                let control = Control::unlimited();
                find_forbidden_run(
                    &program,
                    monitor,
                    Fairness::None,
                    reduce,
                    &control,
                    &mut |_| (),
                )
                .expect("small")
            });
            let holds = |searched: &mover_explicit::liveness::Searched| match searched.found {
                Found::Nothing => true,
                Found::Prefix(_) | Found::Lasso { .. } => false,
                ref other => panic!("{other:?}\n{text}"),
            };
            assert_eq!(holds(&plain), holds(&reduced), "{:?}\n{text}", claim.name);
            counts[usize::from(holds(&plain))] += 1;
            if holds(&plain) {
                states[0] += plain.statistics.states;
                states[1] += reduced.statistics.states;
            }
        }
    }
    eprintln!("{counts:?} violated and hold, states {states:?} without and with");
    assert!(counts.iter().all(|&count| count > models / 2), "{counts:?}");
    assert!(states[1] < states[0] * 19 / 20, "{states:?}");
}

/// A condition over states.
fn condition(random: &mut Random) -> Formula {
    let mut part = || Formula::Proposition(random.below(PROPOSITIONS.len()));
    let (a, b) = (Box::new(part()), Box::new(part()));
    match random.below(4) {
        0 => Formula::Unary("!", a),
        1 => Formula::Binary("->", a, b),
        2 => Formula::Unary("!", Box::new(Formula::Binary("&&", a, b))),
        _ => Formula::Binary("||", a, b),
    }
}

/// `[] p` as an assertion, with each reduction, against the search through the product.
#[test]
fn invariants_are_found_with_reductions() {
    let models = models(300);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut counts = [0usize; 2];
    let mut saved = [0u64; 2];
    for _ in 0..models {
        let text = model(&mut random);
        let claims: Vec<String> = (0..4)
            .map(|number| format!("ltl f{number} {{ [] {} }}\n", condition(&mut random)))
            .collect();
        let text = text + &claims.concat();
        let read = mover_promela::parse_text("random.pml", &text);
        let program = read
            .unwrap_or_else(|failure| panic!("{text}\n{failure:?}"))
            .program;
        for claim in &program.info.claims {
            let Check::Forbidden(monitor) = &claim.check else {
                panic!("{text}\n{claim:?}");
            };
            let Some(instrumented) = instrument(&program, monitor) else {
                continue;
            };
            let control = Control::unlimited();
            let fairness = Fairness::None;
            let product =
                find_forbidden_run(&program, monitor, fairness, false, &control, &mut |_| ());
            let product = product.expect("small");
            let is_violated = match product.found {
                Found::Nothing => false,
                Found::Prefix(_) | Found::Lasso { .. } => true,
                other => panic!("{other:?}\n{text}"),
            };
            if instrumented.fails_at_once {
                assert!(is_violated, "{text}\n{claim:?}");
                continue;
            }
            for reduction in [Reduction::None, Reduction::Static, Reduction::Dynamic] {
                let asked = vec![Property::UnreachCall];
                let task = Task::unchanged(instrumented.program.clone(), asked);
                let engine = Explicit {
                    reduction,
                    first: true,
                    ..Explicit::default()
                };
                let outcome = engine.run(&task, &control, &mut |_| ()).expect("small");
                let found = outcome.violation().map(|violation| &violation.steps);
                let name = claim.words();
                assert_eq!(found.is_some(), is_violated, "{reduction:?} {name}\n{text}");
                counts[usize::from(is_violated)] += 1;
                if reduction == Reduction::Dynamic && !is_violated {
                    saved[0] += outcome.statistics.states;
                    saved[1] += product.statistics.states;
                }
                if let Some(steps) = found {
                    let steps = instrumented.original_steps(steps).expect("a run");
                    let run = ForbiddenRun {
                        steps: &steps,
                        loop_start: None,
                        fairness,
                    };
                    let replayed = replay(&program, claim, monitor, run);
                    assert!(replayed.is_ok(), "{name}: {replayed:?}\n{text}");
                }
            }
        }
    }
    eprintln!("invariants: {counts:?} hold and violated, states {saved:?} reduced and not");
    assert!(counts.iter().all(|&count| count > models / 2), "{counts:?}");
    assert!(saved[0] < saved[1], "{saved:?}");
}

/// How many models to try: `MOVER_PROGRAMS` if it says so.
fn models(usual: usize) -> usize {
    let asked = std::env::var("MOVER_PROGRAMS").ok();
    let long = std::env::var_os("MOVER_LONG").map(|_| 12 * usual);
    asked
        .and_then(|text| text.parse().ok())
        .or(long)
        .unwrap_or(usual)
}
