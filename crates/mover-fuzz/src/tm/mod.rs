//! Random transactional-memory algorithms.
//!
//! Half of them are algorithms of the library with a few tokens changed, half are composed of
//! guards and effects that are typical of such algorithms. Most of the results are wrong in
//! some way, which is intended: every procedure that can decide whether a memory is safe is
//! applied ([`judges`]), and they must agree on all of them.
//!
//! An algorithm is a list of tokens of its language. So any token can be removed to minimise
//! it, and results that are no longer valid algorithms are not checked.

mod judges;

pub use judges::{JUDGES, Judge, Judged, judge};

use mover_source::SourceMap;
use mover_tm::language::{self, program::Program};

use crate::random::Random;

const LIBRARY: &[&str] = &[
    include_str!("../../../../examples/tm/2pl.tm"),
    include_str!("../../../../examples/tm/dstm.tm"),
    include_str!("../../../../examples/tm/lsa.tm"),
    include_str!("../../../../examples/tm/mcrt.tm"),
    include_str!("../../../../examples/tm/norec.tm"),
    include_str!("../../../../examples/tm/occ.tm"),
    include_str!("../../../../examples/tm/seq.tm"),
    include_str!("../../../../examples/tm/snapshot-isolation.tm"),
    include_str!("../../../../examples/tm/swisstm.tm"),
    include_str!("../../../../examples/tm/tinystm-wb.tm"),
    include_str!("../../../../examples/tm/tinystm-wt.tm"),
    include_str!("../../../../examples/tm/tl2.tm"),
];

/// Guards of a step of thread `t` with variable `v`.
const GUARDS: &[&str] = &[
    "v in ws(t)",
    "v not in ws(t)",
    "v in ls(t)",
    "forall u != t: v not in ls(u)",
    "forall u != t: v not in ws(u) | rs(u)",
    "exists u != t: v in ls(u)",
    "lock = none",
    "lock = t",
    "lock != t",
    "status(t) = idle",
    "status(t) = ready",
    "not stale(t)",
    "stale(t)",
    "v not in ms(t)",
    "owner(v) = none or owner(v) = t",
    "owner(v) = t",
];

/// Guards of a step that has no variable.
const GUARDS_AT_COMMIT: &[&str] = &[
    "ws(t) = ls(t)",
    "ws(t) = {}",
    "not rs(t) meets ms(t)",
    "forall u != t: not rs(t) meets ls(u)",
    "forall u != t: not ws(t) meets rs(u)",
    "lock = none",
    "lock = t",
    "status(t) = ready",
    "status(t) != ready",
    "not stale(t)",
];

const EFFECTS: &[&str] = &[
    "rs(t) += {v};",
    "ws(t) += {v};",
    "ls(t) += {v};",
    "rs(t) += {v};",
    "lock := t;",
    "status(t) := ready;",
    "owner(v) := t;",
    "for u != t where v in rs(u) { stale(u) := true; }",
    "for u != t where v in ls(u) { status(u) := dead; }",
];

const EFFECTS_AT_COMMIT: &[&str] = &[
    "for u != t where rs(u) meets ws(t) { stale(u) := true; }",
    "for u != t where rs(u) | ws(u) != {} { ms(u) += ws(t); }",
    "for u != t where rs(u) meets ls(t) { status(u) := dead; }",
    "if lock = t { lock := none; }",
    "status(t) := idle;",
    "rs(t) := {};",
    "ws(t) := {};",
];

const RESETS: &[&str] = &[
    "rs(t) := {};",
    "ws(t) := {};",
    "ls(t) := {};",
    "ms(t) := {};",
    "status(t) := idle;",
    "stale(t) := false;",
    "if lock = t { lock := none; }",
    "for variable x { if owner(x) = t { owner(x) := none; } }",
];

const STATE: &str = "\
thread { status: { idle, ready, dead }; rs, ws, ls, ms: set of variables; stale: bool; }
variable { owner: thread or none; }
global { lock: thread or none; }
";

/// The text of an algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text(pub String);

/// How often a change is tried until there is an algorithm again.
const TRIES: u64 = 40;

impl Text {
    pub fn random(seed: u64) -> Text {
        let mut random = Random(seed ^ 0x7A11_0C8D);
        let mut text = if random.one_in(2) {
            compose(&mut random)
        } else {
            random.pick(LIBRARY).to_string()
        };
        for _ in 0..random.below(4) {
            let words = words(&text);
            for _ in 0..TRIES {
                let changed = printed(&change(&mut random, &words));
                if load(&changed).is_some() {
                    text = changed;
                    break;
                }
            }
        }
        Text(printed(&words(&text)))
    }

    pub fn text(&self) -> String {
        self.0.clone()
    }

    /// The text without some of its words, long stretches first.
    pub fn smaller(&self) -> Vec<Text> {
        let words = words(&self.0);
        let mut all = Vec::new();
        let mut length = words.len() / 2;
        while length > 0 {
            for from in 0..words.len().saturating_sub(length) {
                // Long stretches are not tried everywhere.
                if from % length.div_ceil(8) == 0 {
                    let text = printed(&[&words[..from], &words[from + length..]].concat());
                    if load(&text).is_some() {
                        all.push(Text(text));
                    }
                }
            }
            length = if length > 24 { length / 2 } else { length - 1 };
        }
        all
    }
}

/// The algorithm, if it is one.
fn load(text: &str) -> Option<Program> {
    let mut sources = SourceMap::default();
    let file = sources.add("random.tm", text);
    language::load(&sources, file).ok()
}

fn compose(random: &mut Random) -> String {
    let mut text = format!("algorithm made; {STATE}");
    if random.one_in(4) {
        text += "update direct; ";
    }
    if random.one_in(3) {
        text += "require status(t) != dead; ";
    }
    if random.one_in(4) {
        text += "conflict write(v) when exists u != t: v in ls(u); ";
    }
    let some = |random: &mut Random, from: &[&str], most: u64, between: &str| {
        let parts: Vec<String> = (0..random.below(most + 1))
            .map(|_| random.pick(from).to_string())
            .collect();
        parts.join(between)
    };
    let rule = |random: &mut Random, step: &str, guards: &[&str], effects: &[&str]| {
        let guard = some(random, guards, 2, ") and (");
        let when = match guard.is_empty() {
            true => String::new(),
            false => format!("when ({guard})"),
        };
        format!("do {step} {when} {{ {} }} ", some(random, effects, 2, " "))
    };
    let commit_effects = [EFFECTS_AT_COMMIT, RESETS].concat();
    let reset = RESETS.join(" ");
    for command in ["read", "write"] {
        text += &format!("on {command}(v) {{ ");
        text += &rule(random, command, GUARDS, EFFECTS);
        if random.one_in(2) {
            text += &rule(random, command, GUARDS, EFFECTS);
        }
        if random.one_in(2) {
            text += &rule(random, "take(v) pending", GUARDS, EFFECTS);
        }
        text += "} ";
    }
    text += "on commit { ";
    if random.one_in(2) {
        let locks =
            "do lock(x) pending when x in ws(t) \\ ls(t) and (forall u != t: x not in ls(u))";
        text += &format!("{locks} {{ ls(t) += {{x}}; }} ");
    }
    if random.one_in(2) {
        let effects = &["status(t) := ready;"];
        text += &rule(random, "check pending", GUARDS_AT_COMMIT, effects);
    }
    let guard = random.pick(GUARDS_AT_COMMIT);
    let effects = some(random, &commit_effects, 3, " ");
    text += &format!("do commit when {guard} {{ {effects} {reset} }} }} ");
    let undone = match random.one_in(3) {
        true => some(random, RESETS, 6, " "),
        false => reset,
    };
    text + &format!("on abort {{ {undone} }}")
}

const SYMBOLS: [&str; 7] = [":=", "+=", "-=", "!=", "<=", ">=", ".."];

/// The words of a text; comments and what the library expects of it are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let kept = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    for line in kept.filter(|line| !line.trim_start().starts_with("expect")) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                symbol.map_or(first.len_utf8(), |symbol| symbol.len())
            };
            words.push(rest[..length].to_string());
            rest = rest[length..].trim_start();
        }
    }
    words
}

fn printed(words: &[String]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(String::as_str);
        text += word;
        let is_tight = matches!(next, Some(";" | "," | ")" | "(")) || word == "(";
        let ends_line = word == ";" || (word == "}" && !matches!(next, Some(";" | ")")));
        if ends_line {
            text.push('\n');
        } else if !is_tight {
            text.push(' ');
        }
    }
    text
}

/// Words of which one may stand for the other.
const ALIKE: &[&[&str]] = &[
    &["and", "or"],
    &["in", "not in"],
    &["=", "!="],
    &[":=", "+="],
    &["meets", "within"],
    &["exists", "forall"],
    &["true", "false"],
    &["|", "&", "\\"],
    &["t", "u"],
    &["rs", "ws", "ls", "ms", "os"],
];

/// The words with one change, which need not be an algorithm.
fn change(random: &mut Random, words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let at = random.below(words.len() as u64) as usize;
    let ends: Vec<usize> = (0..words.len()).filter(|&at| words[at] == ";").collect();
    let statement = |end: usize| {
        let is_begin = |word: &String| [";", "{", "}"].contains(&word.as_str());
        words[..end]
            .iter()
            .rposition(is_begin)
            .map_or(0, |at| at + 1)
    };
    match random.below(8) {
        // A word that may stand there as well.
        0..=2 => {
            if let Some(alike) = ALIKE
                .iter()
                .find(|alike| alike.contains(&words[at].as_str()))
            {
                words[at] = random.pick(alike).to_string();
            }
        }
        // Any word of the text.
        3 => words[at] = random.pick(&words),
        // A statement less, once more, or somewhere else.
        4 | 5 if !ends.is_empty() => {
            let end = random.pick(&ends);
            let from = statement(end);
            let to = random.pick(&ends) + 1;
            let moved: Vec<String> = words[from..=end].to_vec();
            match random.below(3) {
                0 => drop(words.drain(from..=end)),
                1 => drop(words.splice(to..to, moved)),
                _ if to <= from => {
                    words.drain(from..=end);
                    words.splice(to..to, moved);
                }
                _ => {}
            }
        }
        // A condition less.
        6 => {
            let length = 1 + random.below(8) as usize;
            words.drain(at..(at + length).min(words.len()));
        }
        _ => words.insert(at, "not".into()),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_survives_being_taken_apart() {
        for text in LIBRARY {
            let printed = printed(&words(text));
            assert!(
                load(text).is_some() && load(&printed).is_some(),
                "{printed}"
            );
        }
    }

    #[test]
    fn most_texts_are_algorithms_and_differ() {
        let texts: Vec<Text> = (0..200).map(Text::random).collect();
        let valid = texts.iter().filter(|text| load(&text.0).is_some()).count();
        assert!(valid > 150, "{valid}");
        let mut distinct: Vec<&String> = texts.iter().map(|text| &text.0).collect();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 120, "{}", distinct.len());
    }

    #[test]
    fn smaller_texts_are_smaller() {
        let text = Text::random(3);
        for less in text.smaller() {
            assert!(words(&less.0).len() < words(&text.0).len());
        }
    }
}
