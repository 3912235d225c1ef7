//! Anomalies by name, and cycles in words.
//!
//! The names are those of Adya (1999) with the additions of Elle: G-single for a cycle with one
//! anti-dependency, G-nonadjacent for one in which no two are adjacent, `-process` and
//! `-realtime` for cycles that need the order of a process or of time. A cycle is told as Elle tells
//! it: "T1 before T2, because …; but T2 before T1, because …".

use super::cycles::Dependency;
use super::dependencies::Kind;
use super::levels::Level;
use super::versions::{ExternalRead, Flaw, View};
use super::{Model, Recorded};

/// Why one transaction of a cycle comes before the next.
#[derive(Clone, Debug)]
pub struct Step {
    pub from: usize,
    pub to: usize,
    /// ww, wr, rw, process or realtime.
    pub kind: &'static str,
    pub key: Option<String>,
    pub because: String,
}

#[derive(Clone, Debug)]
pub struct Anomaly {
    pub name: String,
    /// What the literature calls a cycle of this shape.
    pub also: Option<&'static str>,
    /// The weakest level that it refutes.
    pub level: Level,
    pub transactions: Vec<usize>,
    pub steps: Vec<Step>,
    pub words: String,
}

fn is_read_write(kind: Kind) -> bool {
    matches!(kind, Kind::ReadWrite | Kind::OrderedRead)
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::WriteWrite | Kind::Ordered => "ww",
        Kind::WriteRead => "wr",
        Kind::ReadWrite | Kind::OrderedRead => "rw",
        Kind::Process => "process",
        Kind::Time => "realtime",
        Kind::Own | Kind::Onwards => "",
    }
}

/// The name of a cycle, and what it is also called.
fn names(cycle: &[Dependency]) -> (String, Option<&'static str>) {
    let count = |wanted: &str| {
        let kinds = cycle.iter().map(|d| kind_name(d.kind));
        kinds.filter(|kind| *kind == wanted).count()
    };
    let (ww, wr, rw) = (count("ww"), count("wr"), count("rw"));
    let (process, time) = (count("process"), count("realtime"));
    let adjacent = (0..cycle.len()).any(|at| {
        is_read_write(cycle[at].kind) && is_read_write(cycle[(at + 1) % cycle.len()].kind)
    });
    let base = match (rw, wr) {
        (0, 0) => "G0",
        (0, _) => "G1c",
        (1, _) => "G-single",
        _ if adjacent => "G2-item",
        _ => "G-nonadjacent",
    };
    let suffix = match (process, time) {
        (_, 1..) => "-realtime",
        (1.., _) => "-process",
        _ => "",
    };
    let same_key = cycle.iter().all(|d| d.key == cycle[0].key);
    let also = match (cycle.len(), ww, wr, rw, process + time) {
        (2, 0, 0, 2, 0) if !same_key => Some("write skew"),
        (2, 0, 0, 2, 0) => Some("lost update"),
        (2, 1, 0, 1, 0) if same_key => Some("lost update"),
        (2, 2, 0, 0, 0) => Some("dirty write"),
        (2, 0, 1, 1, 0) => Some("read skew"),
        (2, 0, 2, 0, 0) => Some("circular information flow"),
        (4, 0, 2, 2, 0) if !adjacent => Some("long fork"),
        (2, 0, 0, 1, 1) => Some("stale read"),
        _ => None,
    };
    (format!("{base}{suffix}"), also)
}

/// Tells anomalies of one view.
pub struct Teller<'v> {
    pub recorded: &'v Recorded,
    pub view: &'v View,
}

impl Teller<'_> {
    pub fn flaw(&self, flaw: &Flaw) -> Anomaly {
        let also = match flaw.name {
            "G1a" => Some("dirty read"),
            "G1b" => Some("intermediate read"),
            "lost-update" => Some("G-single"),
            "non-repeatable-read" => Some("fuzzy read"),
            _ => None,
        };
        Anomaly {
            name: flaw.name.to_string(),
            also,
            level: flaw.level,
            transactions: flaw.transactions.clone(),
            steps: Vec::new(),
            words: format!("{}.", flaw.words),
        }
    }

    pub fn cycle(&self, cycle: &[Dependency], level: Level) -> Anomaly {
        let (name, also) = names(cycle);
        let steps: Vec<Step> = cycle.iter().map(|d| self.step(d)).collect();
        Anomaly {
            name,
            also,
            level,
            transactions: cycle.iter().map(|d| d.from).collect(),
            words: self.sentence(&steps),
            steps,
        }
    }

    /// Both orders of two writes close a cycle.
    pub fn dilemma(
        &self,
        level: Level,
        key: u32,
        pair: (usize, usize),
        transactions: &[usize],
        cycles: Option<&[Vec<Dependency>; 2]>,
    ) -> Anomaly {
        let key = &self.recorded.key_names[key as usize];
        let Some([first, second]) = cycles else {
            let shown: Vec<String> = transactions
                .iter()
                .take(12)
                .map(|&x| self.recorded.name(x))
                .collect();
            let more = if transactions.len() > 12 { ", …" } else { "" };
            return Anomaly {
                name: "no-version-order".to_string(),
                also: None,
                level,
                transactions: transactions.to_vec(),
                steps: Vec::new(),
                words: format!(
                    "Every order of the versions that {}{more} wrote was tried; each of them has a cycle.",
                    shown.join(", ")
                ),
            };
        };
        let mut shown: Vec<usize> = first.iter().chain(second).map(|d| d.from).collect();
        shown.sort_unstable();
        shown.dedup();
        let steps: Vec<Step> = first.iter().map(|d| self.step(d)).collect();
        let others: Vec<Step> = second.iter().map(|d| self.step(d)).collect();
        let (a, b) = (self.recorded.name(pair.0), self.recorded.name(pair.1));
        let (name, also) = names(first);
        Anomaly {
            name,
            also,
            level,
            transactions: shown,
            words: format!(
                "{a} and {b} both wrote {key}. If {a} wrote first: {} If {b} wrote first: {}",
                self.sentence(&steps),
                self.sentence(&others)
            ),
            steps,
        }
    }

    fn sentence(&self, steps: &[Step]) -> String {
        let name = |x: usize| self.recorded.name(x);
        let last = steps.len().saturating_sub(1);
        let told: Vec<String> = steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let but = if at == last && at > 0 { "but " } else { "" };
                format!(
                    "{but}{} before {}, because {}",
                    name(step.from),
                    name(step.to),
                    step.because
                )
            })
            .collect();
        format!("{}.", told.join("; "))
    }

    fn step(&self, dependency: &Dependency) -> Step {
        let has_key = !matches!(dependency.kind, Kind::Process | Kind::Time);
        Step {
            from: dependency.from,
            to: dependency.to,
            kind: kind_name(dependency.kind),
            key: has_key.then(|| self.recorded.key_names[dependency.key as usize].clone()),
            because: self.because(dependency),
        }
    }

    fn because(&self, dependency: &Dependency) -> String {
        let recorded = self.recorded;
        let Dependency {
            from,
            to,
            kind,
            key,
        } = *dependency;
        let (a, b) = (recorded.name(from), recorded.name(to));
        let key_name = recorded
            .key_names
            .get(key as usize)
            .map_or("", String::as_str);
        let value = |v: u32| recorded.value_names[v as usize].as_str();
        let is_list = recorded.model() == Model::ListAppend;
        let wrote = if is_list { "appended" } else { "wrote" };
        match kind {
            Kind::WriteWrite => {
                let chains = &self.view.chains[key as usize];
                let pair = chains.iter().find_map(|chain| {
                    chain
                        .windows(2)
                        .find(|p| p[0].writer as usize == from && p[1].writer as usize == to)
                });
                match pair {
                    Some([x, y]) => format!(
                        "{b} {wrote} {} to {key_name} after {a} {wrote} {}",
                        value(y.value),
                        value(x.value)
                    ),
                    _ => format!("{b} {wrote} to {key_name} after {a}"),
                }
            }
            Kind::WriteRead => format!("{b} {}, which {a} {wrote}", self.read_text(to, key, from)),
            Kind::ReadWrite => {
                let next = self.reads_of(from, key).find_map(|read| {
                    let chain = &self.view.chains[key as usize][read.chain as usize];
                    let next = chain.get(read.place as usize)?;
                    (next.writer as usize == to).then(|| {
                        let seen = (read.place as usize)
                            .checked_sub(1)
                            .map(|before| chain[before].value);
                        (seen, next.value)
                    })
                });
                let seen = match next {
                    Some((Some(seen), _)) if is_list => {
                        format!("{key_name} up to {}", value(seen))
                    }
                    Some((Some(seen), _)) => format!("{key_name} = {}", value(seen)),
                    Some((None, _)) => format!("the initial state of {key_name}"),
                    None => key_name.to_string(),
                };
                match next {
                    Some((_, next)) => format!(
                        "{a} read {seen} and did not see {}, which {b} {wrote}",
                        value(next)
                    ),
                    None => format!("{a} read {seen} and did not see what {b} {wrote}"),
                }
            }
            Kind::Process => format!(
                "process {} ran {a} first",
                recorded.process_names[recorded.transactions[from].process as usize]
            ),
            Kind::Time => format!(
                "{a} had ended (line {}) before {b} began (line {})",
                recorded.transactions[from].lines.1, recorded.transactions[to].lines.0
            ),
            Kind::Ordered => format!("{b} {wrote} {key_name} after {a} in this order"),
            Kind::OrderedRead => {
                format!("{a} read {key_name} before {b} {wrote} it in this order")
            }
            Kind::Own | Kind::Onwards => String::new(),
        }
    }

    fn reads_of(&self, reader: usize, key: u32) -> impl Iterator<Item = &ExternalRead> {
        let reads = self.view.reads.iter();
        reads.filter(move |read| read.transaction as usize == reader && read.key == key)
    }

    /// What a transaction read of a key from a writer.
    fn read_text(&self, reader: usize, key: u32, writer: usize) -> String {
        let key_name = &self.recorded.key_names[key as usize];
        let found = self.reads_of(reader, key).find_map(|read| {
            let chain = &self.view.chains[key as usize][read.chain as usize];
            let before = (read.place as usize).checked_sub(1)?;
            (chain[before].writer as usize == writer).then_some(chain[before].value)
        });
        match found {
            Some(value) if self.recorded.model() == Model::ListAppend => {
                let value = &self.recorded.value_names[value as usize];
                format!("read {key_name} with the element {value}")
            }
            Some(value) => format!(
                "read {key_name} = {}",
                self.recorded.value_names[value as usize]
            ),
            None => format!("read {key_name}"),
        }
    }
}
