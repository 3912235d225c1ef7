//! No input makes the front end panic, overflow its stack or run away.
//!
//! Two sources of inputs: texts from a grammar that is mostly right, and the
//! models of `corpus`, `spin-rules` and `diagnostics` with bytes and lines
//! changed, dropped, repeated and crossed. A short run is part of every test;
//! `MOVER_FUZZ_SECONDS=600` makes it long.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

/// Reads a text; nothing may happen but an answer, soon.
fn feed(text: &str) {
    let start = Instant::now();
    let accepted = mover_promela::parse_text("fuzz.pml", text);
    let time = start.elapsed();
    assert!(
        time < Duration::from_secs(20),
        "{} bytes took {time:?}:\n{text}",
        text.len()
    );
    if let Err(failure) = accepted {
        assert!(
            failure
                .diagnostics
                .iter()
                .any(|diagnostic| diagnostic.is_error()),
            "no reason given:\n{text}"
        );
    }
}

fn seconds() -> Option<u64> {
    std::env::var("MOVER_FUZZ_SECONDS").ok()?.parse().ok()
}

/// Small numbers that are hard to foresee, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut texts = Vec::new();
    for directory in ["corpus", "spin-rules", "diagnostics"] {
        for entry in std::fs::read_dir(tests.join(directory)).expect("the corpus is there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "pml") {
                texts.push(std::fs::read(path).expect("a readable model"));
            }
        }
    }
    texts.sort();
    texts
}

const SNIPPETS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "->",
    "::",
    ":",
    ",",
    "if",
    "fi",
    "do",
    "od",
    "else",
    "break",
    "goto x",
    "atomic {",
    "d_step {",
    "unless",
    "run p(",
    "x",
    "q",
    "!",
    "?",
    "??",
    "!!",
    "<",
    ">",
    "=",
    "==",
    "byte ",
    "chan ",
    "2147483648",
    "-1",
    "eval(",
    "_pid",
    "inline f(a) {",
    "/*",
];

fn mutate(dice: &mut Dice, texts: &[Vec<u8>]) -> Vec<u8> {
    let mut text = texts[dice.roll(texts.len())].clone();
    for _ in 0..=dice.roll(6) {
        let length = text.len();
        let at = dice.roll(length + 1);
        let to = (at + dice.roll(30)).min(length);
        match dice.roll(7) {
            0 if at < length => text[at] = dice.roll(256) as u8,
            1 if at < length => text[at] ^= 1 << dice.roll(8),
            2 => drop(text.drain(at..to)),
            3 => {
                let part = text[at..to].to_vec();
                let times = if dice.roll(20) == 0 { 400 } else { 1 };
                let again = part.repeat(times);
                text.splice(to..to, again);
            }
            4 => {
                let other = &texts[dice.roll(texts.len())];
                let start = dice.roll(other.len() + 1);
                let end = (start + dice.roll(80)).min(other.len());
                text.splice(at..at, other[start..end].to_vec());
            }
            _ => {
                let snippet = SNIPPETS[dice.roll(SNIPPETS.len())];
                text.splice(at..at, format!(" {snippet} ").into_bytes());
            }
        }
    }
    text
}

#[test]
fn changed_models_do_no_harm() {
    let texts = corpus();
    let mut dice = Dice(seconds().map_or(0x5eed, |seconds| 0x5eed ^ (seconds << 20)));
    let start = Instant::now();
    let mut count = 0u64;
    while match seconds() {
        Some(seconds) => start.elapsed() < Duration::from_secs(seconds),
        None => count < 3000,
    } {
        let text = mutate(&mut dice, &texts);
        feed(&String::from_utf8_lossy(&text));
        count += 1;
    }
    eprintln!("{count} changed models in {:?}", start.elapsed());
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x", "y", "a", "q", "r", "s", "p", "f", "_pid", "go", "here", "_", "n",
    ])
    .prop_map(str::to_string)
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        name(),
        (0..300i64).prop_map(|number| number.to_string()),
        Just("timeout".to_string()),
        Just("_nr_pr".to_string()),
        Just("len(q)".to_string()),
        Just("nempty(q)".to_string()),
        Just("q?[1,_]".to_string()),
        Just("run p(1)".to_string()),
        Just("p[0]@here".to_string()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "&&", "||", "==", "<", "<<", "&", "^",
        ]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            inner.clone().prop_map(|a| format!("!{a}")),
            inner.clone().prop_map(|a| format!("a[{a}]")),
            inner.clone().prop_map(|a| format!("s.n[{a}]")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("({a} -> {b} : {c})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        expression(),
        (name(), expression()).prop_map(|(a, b)| format!("{a} = {b}")),
        (expression(), expression()).prop_map(|(a, b)| format!("a[{a}] = {b}")),
        (name(), expression()).prop_map(|(a, b)| format!("{a}!{b}")),
        (name(), expression()).prop_map(|(a, b)| format!("{a}?eval({b}),x")),
        (name(), expression()).prop_map(|(a, b)| format!("byte {a} = {b}")),
        expression().prop_map(|a| format!("assert({a})")),
        expression().prop_map(|a| format!("f({a})")),
        Just("break".to_string()),
        Just("skip".to_string()),
        Just("else".to_string()),
        Just("goto here".to_string()),
        Just("printf(\"%d\\n\", x)".to_string()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let sequence = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.join("; "));
        let options = prop::collection::vec(sequence.clone(), 1..4).prop_map(|options| {
            options
                .iter()
                .map(|option| format!(" :: {option}"))
                .collect::<String>()
        });
        prop_oneof![
            options
                .clone()
                .prop_map(|options| format!("if{options} fi")),
            options.prop_map(|options| format!("do{options} od")),
            sequence
                .clone()
                .prop_map(|inner| format!("atomic {{ {inner} }}")),
            sequence
                .clone()
                .prop_map(|inner| format!("d_step {{ {inner} }}")),
            sequence
                .clone()
                .prop_map(|inner| format!("here: {{ {inner} }}")),
            sequence
                .clone()
                .prop_map(|inner| format!("for (x : 1 .. n) {{ {inner} }}")),
            (sequence.clone(), sequence).prop_map(|(a, b)| format!("{{ {a} }} unless {{ {b} }}")),
        ]
    })
}

fn model() -> impl Strategy<Value = String> {
    let body =
        || prop::collection::vec(statement(), 1..5).prop_map(|statements| statements.join(";\n"));
    (body(), body(), body()).prop_map(|(inline, first, second)| {
        format!(
            "mtype = {{ go }}; typedef S {{ byte n[2] }}; S s; byte x, y, a[3]; chan q = [2] of {{ byte, byte }};\n\
             inline f(n) {{ {inline} }}\n\
             active [2] proctype p(byte n) {{ byte r = n;\n{first} }}\n\
             init {{ chan r = [0] of {{ byte }};\n{second} }}\n"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: seconds().map_or(400, |seconds| (seconds * 100) as u32),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn texts_of_the_grammar_do_no_harm(text in model()) {
        feed(&text);
    }

    #[test]
    fn rows_of_words_do_no_harm(words in prop::collection::vec(prop::sample::select(SNIPPETS.to_vec()), 0..200)) {
        feed(&words.join(" "));
    }
}
