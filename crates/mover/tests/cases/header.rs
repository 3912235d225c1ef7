//! The header of a case: the comment lines at its top, and the questions they ask.
//!
//! | key | meaning |
//! |---|---|
//! | `expect:` | `safe`, `safe up to`, `unsafe PROPERTY`, `unknown` or `error CODE`; begins a question |
//! | `options:` | options of `mover check` that this question is asked with |
//! | `engines:` | ways to search, see below; without it `auto` is asked |
//! | `message:` | text that the answer contains, in one line |
//! | `without:` | text that the answer does not contain |
//! | `object:` | `NAME KIND`: what `mover explain` says of a shared object |
//! | `reduces:` | `N`: every reduced search stores less than an Nth of the states of `none` |
//!
//! The first line is an `expect:` line. Each further `expect:` line asks another question about the
//! same program; the keys below it belong to it. Lines without a key explain the case.
//!
//! A way to search is `ENGINE/REDUCTION/IGNORING`, where the last parts may be left out; the second
//! part of `token` is its set of pairs. Alternatives are separated by commas, so that
//! `explicit/none,static bmc` are three ways. All of them must have the answer. `engines: all` stands
//! for `auto`, which must have the answer, and for all engines, which have it or answer `unknown`.

use mover_check::{EngineChoice, ReductionChoice};
use mover_explicit::{Ignoring, Order};
use mover_ir::program::{Property, UnknownProperty};
use mover_symbolic::{ContextBound, Pairs};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    Safe,
    SafeUpTo,
    Unsafe(Property),
    Unknown,
    /// The program is refused with this code.
    Error(String),
}

/// A way to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Way {
    pub engine: EngineChoice,
    pub reduction: Option<ReductionChoice>,
    pub ignoring: Option<Ignoring>,
    pub pairs: Option<Pairs>,
    /// Whether `unknown` is good enough.
    pub may_be_unknown: bool,
}

/// The options of `mover check` that cases use.
#[derive(Clone, Debug, Default)]
pub struct CaseOptions {
    pub properties: Vec<Property>,
    pub defines: Vec<String>,
    pub is_32_bit: bool,
    pub havoc_externals: bool,
    pub no_spurious_wakeups: bool,
    pub malloc_may_fail: bool,
    pub zero_init: bool,
    pub volatile_atomic: bool,
    pub recursion: Option<usize>,
    pub threads: Option<usize>,
    pub any_number: bool,
    pub depth: Option<u64>,
    pub context_bound: Option<u64>,
    pub order: Option<Order>,
    pub no_unfold: bool,
    pub certify: bool,
    pub check_movers: bool,
}

/// One `expect:` line with what belongs to it.
#[derive(Debug)]
pub struct Question {
    pub line: usize,
    pub expectation: Expectation,
    pub options: CaseOptions,
    pub ways: Vec<Way>,
    pub messages: Vec<String>,
    pub absent: Vec<String>,
    pub objects: Vec<(String, String)>,
    pub reduces: Option<u64>,
}

/// Reads the header of a case.
pub fn questions(text: &str) -> Result<Vec<Question>, String> {
    let comments = text.lines().map_while(comment);
    let mut questions: Vec<Question> = Vec::new();
    for (number, comment) in comments.enumerate() {
        let line = number + 1;
        let wrong = |reason: String| format!("line {line}: {reason}");
        match (key(comment), questions.last_mut()) {
            (Some(("expect", value)), _) => {
                questions.push(question(line, value).map_err(wrong)?);
            }
            (_, None) => break,
            (Some((key, value)), Some(question)) => {
                question.set(key, value).map_err(wrong)?;
            }
            (None, Some(_)) => {}
        }
    }
    if questions.is_empty() {
        return Err("the first line is no `// expect: …`".into());
    }
    for question in &mut questions {
        if question.ways.is_empty() {
            question.ways.push(Way::default());
        }
    }
    Ok(questions)
}

/// The text of a comment line.
fn comment(line: &str) -> Option<&str> {
    let text = line.strip_prefix("//").or_else(|| line.strip_prefix(';'));
    text.map(str::trim)
}

/// A lower-case word with a colon at the beginning of a comment is a key.
fn key(comment: &str) -> Option<(&str, &str)> {
    let (key, value) = comment.split_once(": ")?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase());
    is_key.then(|| (key, value.trim()))
}

fn question(line: usize, value: &str) -> Result<Question, String> {
    let words: Vec<&str> = value.split_whitespace().collect();
    let expectation = match words[..] {
        ["safe"] => Expectation::Safe,
        ["safe", "up", "to"] => Expectation::SafeUpTo,
        ["unknown"] => Expectation::Unknown,
        ["unsafe", property] => Expectation::Unsafe(property_named(property)?),
        ["error", code] => Expectation::Error(code.into()),
        _ => return Err(format!("`{value}` is no verdict")),
    };
    Ok(Question {
        line,
        expectation,
        options: CaseOptions::default(),
        ways: Vec::new(),
        messages: Vec::new(),
        absent: Vec::new(),
        objects: Vec::new(),
        reduces: None,
    })
}

impl Question {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "options" => self.options = CaseOptions::parse(value)?,
            "engines" => self.ways.extend(ways(value)?),
            "message" => self.messages.push(value.into()),
            "without" => self.absent.push(value.into()),
            "object" => {
                let (name, kind) = value.split_once(' ').ok_or("no `NAME KIND`")?;
                self.objects.push((name.into(), kind.into()));
            }
            "reduces" => self.reduces = Some(number(Some(value))?),
            _ => return Err(format!("unknown key `{key}:`")),
        }
        Ok(())
    }
}

fn number<N: std::str::FromStr>(word: Option<&str>) -> Result<N, String> {
    let number = word.and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("`{}` is no number", word.unwrap_or_default()))
}

fn property_named(name: &str) -> Result<Property, String> {
    name.parse()
        .map_err(|error: UnknownProperty| error.to_string())
}

impl CaseOptions {
    fn parse(text: &str) -> Result<CaseOptions, String> {
        let mut options = CaseOptions::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "--property" => {
                    let name = words.next().unwrap_or_default();
                    options.properties.push(property_named(name)?);
                }
                "--32" => options.is_32_bit = true,
                "--havoc-externals" => options.havoc_externals = true,
                "--no-spurious-wakeups" => options.no_spurious_wakeups = true,
                "--zero-init" => options.zero_init = true,
                "--volatile-atomic" => options.volatile_atomic = true,
                "--malloc-may-fail" => options.malloc_may_fail = true,
                "--recursion" => options.recursion = Some(number(words.next())?),
                "--threads" => match words.next() {
                    Some("any") => options.any_number = true,
                    other => options.threads = Some(number(other)?),
                },
                "--depth" => options.depth = Some(number(words.next())?),
                "--context-bound" => options.context_bound = Some(number(words.next())?),
                "--order" => {
                    options.order = Some(match words.next() {
                        Some("bfs") => Order::BreadthFirst,
                        Some("dfs") => Order::DepthFirst,
                        _ => return Err("no order of a search".into()),
                    });
                }
                "--no-unfold" => options.no_unfold = true,
                "--certify" => options.certify = true,
                "--check-movers" => options.check_movers = true,
                _ => match word.strip_prefix("-D") {
                    Some(define) => options.defines.push(define.into()),
                    None => return Err(format!("unknown option `{word}`")),
                },
            }
        }
        Ok(options)
    }

    pub fn context_bounds(&self) -> Option<Vec<ContextBound>> {
        let most = self.context_bound?;
        Some(vec![ContextBound { least: 0, most }])
    }
}

/// What `engines: all` asks besides `auto`.
const ALL: &str = "explicit/none,static,left,phase,dynamic bmc/none,dynamic ic3/none,dynamic token";

fn ways(text: &str) -> Result<Vec<Way>, String> {
    if text == "all" {
        let mut all = vec![Way::default()];
        let may_be_unknown = true;
        all.extend(ways(ALL)?.into_iter().map(|way| Way {
            may_be_unknown,
            ..way
        }));
        return Ok(all);
    }
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let parts: Vec<&str> = word.split('/').collect();
        let alternatives = |number: usize| -> Vec<Option<&str>> {
            match parts.get(number) {
                Some(part) => part.split(',').map(Some).collect(),
                None => vec![None],
            }
        };
        for engine in alternatives(0) {
            for second in alternatives(1) {
                for ignoring in alternatives(2) {
                    found.push(way(engine.unwrap_or_default(), second, ignoring)?);
                }
            }
        }
    }
    Ok(found)
}

fn way(engine: &str, second: Option<&str>, third: Option<&str>) -> Result<Way, String> {
    let unknown = |what: &str, name: &str| format!("unknown {what} `{name}`");
    let mut way = Way {
        engine: match engine {
            "auto" => EngineChoice::Auto,
            "explicit" => EngineChoice::Explicit,
            "bmc" => EngineChoice::Bmc,
            "ic3" => EngineChoice::Ic3,
            "modular" => EngineChoice::Modular,
            "token" => EngineChoice::Token,
            _ => return Err(unknown("engine", engine)),
        },
        ..Way::default()
    };
    match second {
        None => {}
        Some(name) if way.engine == EngineChoice::Token => {
            way.pairs = Some(match name {
                "all" => Pairs::All,
                "mat" => Pairs::Mat,
                "mat-printed" => Pairs::MatPrinted,
                "lex" => Pairs::Lex,
                _ => return Err(unknown("set of pairs", name)),
            });
        }
        Some(name) => {
            way.reduction = Some(match name {
                "none" => ReductionChoice::None,
                "static" => ReductionChoice::Static,
                "left" => ReductionChoice::Left,
                "phase" => ReductionChoice::Phase,
                "dynamic" => ReductionChoice::Dynamic,
                "peephole" => ReductionChoice::Peephole,
                _ => return Err(unknown("reduction", name)),
            });
        }
    }
    way.ignoring = match third {
        None | Some("blocks") => None,
        Some("cpc") => Some(Ignoring::Cpc),
        Some("cpc-no-l19") => Some(Ignoring::CpcNoL19),
        Some("cycle") => Some(Ignoring::Cycle),
        Some("lfs") => Some(Ignoring::Lfs),
        Some("unsound") => Some(Ignoring::Unsound),
        Some(name) => return Err(unknown("solution of the ignoring problem", name)),
    };
    Ok(way)
}

#[test]
fn a_header_has_questions_with_their_keys() {
    let text = "// expect: unsafe no-deadlock\n// options: -DN=2 --recursion 3\n// Why.\n\
                // engines: explicit/none,static/cpc token/mat\n// expect: safe\nint x;\n// expect: no\n";
    let read = questions(text).expect("a header");
    assert_eq!(read.len(), 2);
    assert_eq!(
        read[0].expectation,
        Expectation::Unsafe(Property::NoDeadlock)
    );
    assert_eq!(read[0].options.recursion, Some(3));
    assert_eq!(read[0].ways.len(), 3);
    assert_eq!(read[1].ways, [Way::default()]);
}

#[test]
fn a_wrong_header_is_refused() {
    for text in [
        "",
        "int main(void) {}\n",
        "// Why.\n// expect: safe\n",
        "// expect: sound\n",
        "// expect: unsafe\n",
        "// expect: unsafe nothing\n",
        "// expect: error\n",
        "// expect: safe\n// mesage: typing error\n",
        "// expect: safe\n// options: --nonsense\n",
        "// expect: safe\n// options: --recursion deep\n",
        "// expect: safe\n// engines: steam\n",
        "// expect: safe\n// engines: explicit/none/luck\n",
    ] {
        assert!(questions(text).is_err(), "{text}");
    }
}
