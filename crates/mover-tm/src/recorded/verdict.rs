//! A verdict for each level, with the anomalies that refute it.
//!
//! The strongest level is asked first: what holds there holds below. Otherwise each level is
//! decided by itself, and a level is refuted as well by what refutes a weaker one.
//!
//! Where a value was written more than once, a read may have several sources. Each way to choose them
//! is tried, up to a limit; a level holds if it does so for one of them. Beyond the limit, and
//! where the order of versions could not be found ([`super::resolve`]), a serial order is searched for
//! directly ([`crate::history_search`]); it decides the serializable levels. What is not decided is
//! unknown, with the reason.

use crate::check::Verdict;
use crate::history::{End, History, RecordedTransaction};
use crate::history_search;
use crate::property::Safety;

use super::dependencies::Graph;
use super::levels::Level;
use super::resolve::{Resolution, resolve};
use super::sessions::{self, Broken, Guarantee};
use super::versions::{Choice, Scope, View};
use super::words::{Anomaly, Teller};
use super::{Effect, Model, Recorded, Status};

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_steps: usize,
    /// How many ways to choose the sources of ambiguous reads are tried.
    pub max_choices: usize,
    /// Whether session guarantees are decided as well.
    pub sessions: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_steps: 20_000_000,
            max_choices: 2_000,
            sessions: true,
        }
    }
}

/// Without the order in time, more transactions are not searched for a serial order.
const MAX_UNTIMED: usize = 2_000;

/// What was found about one level.
#[derive(Clone, Debug)]
pub struct LevelVerdict {
    pub level: Level,
    pub verdict: Verdict,
    /// Why it is refuted: an anomaly of the judgement.
    pub anomaly: Option<usize>,
    /// Why it is unknown.
    pub reason: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Judgement {
    pub levels: Vec<LevelVerdict>,
    pub anomalies: Vec<Anomaly>,
    pub sessions: Vec<(Guarantee, Verdict, Option<Broken>)>,
}

impl Judgement {
    pub fn verdict(&self, level: Level) -> Verdict {
        let found = self.levels.iter().find(|verdict| verdict.level == level);
        found.map_or(Verdict::Unknown, |verdict| verdict.verdict)
    }

    /// The strongest level of the ladder that holds.
    pub fn strongest(&self) -> Option<Level> {
        let mut ladder = Level::LADDER.into_iter().rev();
        ladder.find(|&level| self.verdict(level) == Verdict::Holds)
    }
}

/// What was found about one level by itself.
#[derive(Clone, Debug)]
enum Found {
    Holds,
    Violated(Option<Anomaly>),
    Unknown(String),
}

/// Judges a history for these levels and what they imply.
pub fn judge(recorded: &Recorded, wanted: &[Level], limits: Limits) -> Judgement {
    let mut judge = Judge {
        recorded,
        limits,
        choices_left: limits.max_choices,
    };
    let mut found: Vec<(Level, Found)> = Vec::new();
    // Reads are of items only, so that repeatable read is serializability.
    let wanted: Vec<Level> = wanted
        .iter()
        .map(|&level| match level {
            Level::RepeatableRead => Level::Serializable,
            level => level,
        })
        .collect();
    let is_wanted = |level: Level| wanted.iter().any(|wanted| wanted.implies(level));
    // From the strongest, until one holds.
    for level in Level::ALL
        .into_iter()
        .rev()
        .filter(|&level| is_wanted(level))
    {
        if level == Level::RepeatableRead || level == Level::Opacity && !wanted.contains(&level) {
            continue;
        }
        let implied = found
            .iter()
            .any(|(above, f)| matches!(f, Found::Holds) && above.implies(level));
        let what = if implied {
            Found::Holds
        } else {
            match judge.level(level) {
                // The order in time leaves fewer orders to try: it may help to ask for more.
                Found::Unknown(reason)
                    if !is_wanted(Level::StrictSerializable)
                        && Level::StrictSerializable.implies(level) =>
                {
                    match judge.level(Level::StrictSerializable) {
                        Found::Holds => Found::Holds,
                        _ => Found::Unknown(reason),
                    }
                }
                what => what,
            }
        };
        found.push((level, what));
    }
    let mut judgement = Judgement {
        levels: Vec::new(),
        anomalies: Vec::new(),
        sessions: Vec::new(),
    };
    judge.assemble(&mut judgement, found, &is_wanted);
    if limits.sessions {
        judgement.sessions = judge.sessions();
    }
    judgement
}

struct Judge<'r> {
    recorded: &'r Recorded,
    limits: Limits,
    choices_left: usize,
}

impl Judge<'_> {
    /// From the weakest level on, what refutes a level refutes those above.
    fn assemble(
        &self,
        judgement: &mut Judgement,
        mut found: Vec<(Level, Found)>,
        is_wanted: &dyn Fn(Level) -> bool,
    ) {
        found.reverse();
        for (level, what) in found {
            let weaker = judgement
                .levels
                .iter()
                .find(|w| w.verdict == Verdict::Violated && level.implies(w.level))
                .cloned();
            let mut verdict = LevelVerdict {
                level,
                verdict: Verdict::Holds,
                anomaly: None,
                reason: None,
            };
            match what {
                Found::Violated(anomaly) => {
                    verdict.verdict = Verdict::Violated;
                    let added = anomaly.and_then(|anomaly| add(&mut judgement.anomalies, anomaly));
                    verdict.anomaly = weaker.and_then(|w| w.anomaly).or(added);
                }
                _ if weaker.is_some() => {
                    verdict.verdict = Verdict::Violated;
                    verdict.anomaly = weaker.and_then(|w| w.anomaly);
                }
                Found::Holds => {}
                Found::Unknown(reason) => {
                    verdict.verdict = Verdict::Unknown;
                    verdict.reason = Some(reason);
                }
            }
            // Reads of items only: the same level.
            if level == Level::Serializable && is_wanted(Level::RepeatableRead) {
                judgement.levels.push(LevelVerdict {
                    level: Level::RepeatableRead,
                    ..verdict.clone()
                });
            }
            judgement.levels.push(verdict);
        }
    }

    fn scope(level: Level) -> Scope {
        match level {
            Level::ReadUncommitted => Scope::CommittedOnly,
            Level::Opacity => Scope::All,
            _ => Scope::Effective,
        }
    }

    fn level(&mut self, level: Level) -> Found {
        self.choices_left = self.limits.max_choices;
        let found = self.under(level, &mut Choice::default());
        if let Found::Unknown(reason) = found {
            return self.search(level).unwrap_or(Found::Unknown(reason));
        }
        if level == Level::Opacity && matches!(found, Found::Holds) {
            let silent = self
                .recorded
                .transactions
                .iter()
                .enumerate()
                .filter(|(x, t)| {
                    t.status != Status::Committed
                        && self
                            .recorded
                            .operations_of(*x)
                            .iter()
                            .any(|o| o.effect == Effect::ReadUnknown)
                });
            let silent = silent.count();
            if silent > 0 {
                return Found::Unknown(format!(
                    "what {silent} transactions that did not commit had read is not recorded"
                ));
            }
        }
        found
    }

    /// Decides a level for a choice of sources, trying all for reads that are still ambiguous.
    fn under(&mut self, level: Level, choice: &mut Choice) -> Found {
        let view = View::of(self.recorded, Judge::scope(level), choice);
        if let Some((key, value, a, b)) = view.duplicate_append {
            return Found::Unknown(format!(
                "{} and {} both append {} to {}, so reads do not tell whose it is",
                self.recorded.name(a),
                self.recorded.name(b),
                self.recorded.value_names[value as usize],
                self.recorded.key_names[key as usize]
            ));
        }
        let teller = Teller {
            recorded: self.recorded,
            view: &view,
        };
        if let Some(flaw) = view.flaw_at(level) {
            return Found::Violated(Some(teller.flaw(flaw)));
        }
        if level == Level::ReadUncommitted && self.recorded.model() == Model::RwRegister {
            // Any order of the versions that agrees for all keys has no cycle.
            return Found::Holds;
        }
        if let Some(ambiguity) = view.ambiguities.first() {
            return self.try_sources(level, choice, ambiguity);
        }
        let graph = Graph::of(self.recorded, &view, level);
        match resolve(self.recorded, &view, level, &graph, self.limits.max_steps) {
            Resolution::Acyclic => Found::Holds,
            Resolution::Cycle(cycle) => Found::Violated(Some(teller.cycle(&cycle, level))),
            Resolution::Impossible {
                transactions,
                key,
                pair,
                cycles,
            } => Found::Violated(Some(teller.dilemma(
                level,
                key,
                pair,
                &transactions,
                cycles.as_ref(),
            ))),
            Resolution::Unknown(reason) => Found::Unknown(reason),
        }
    }

    fn try_sources(
        &mut self,
        level: Level,
        choice: &mut Choice,
        ambiguity: &super::versions::Ambiguity,
    ) -> Found {
        let at = (ambiguity.transaction, ambiguity.key, ambiguity.value);
        let mut refuted = None;
        let mut unknown = None;
        for &writer in &ambiguity.writers {
            if self.choices_left == 0 {
                unknown = Some(format!(
                    "values were written more than once, so it is not known who wrote what was read \
                     (such as {} = {} by {}); unique values make it known",
                    self.recorded.key_names[ambiguity.key as usize],
                    self.recorded.value_names[ambiguity.value as usize],
                    self.recorded.name(ambiguity.transaction as usize)
                ));
                break;
            }
            self.choices_left -= 1;
            choice.insert(at, writer);
            let found = self.under(level, choice);
            choice.remove(&at);
            match found {
                Found::Holds => return Found::Holds,
                Found::Violated(anomaly) => refuted = anomaly,
                Found::Unknown(reason) => unknown = Some(reason),
            }
        }
        match unknown {
            Some(reason) => Found::Unknown(reason),
            None => Found::Violated(refuted.map(|mut anomaly| {
                anomaly.words = format!(
                    "Values were written more than once; whoever wrote what was read, something is wrong. For one choice: {}",
                    anomaly.words
                );
                anomaly
            })),
        }
    }

    /// Looks for a serial order directly.
    fn search(&self, level: Level) -> Option<Found> {
        let timed = match level {
            Level::StrictSerializable | Level::Opacity => true,
            Level::Serializable => false,
            _ => return None,
        };
        let too_many = !timed && self.recorded.transactions.len() > MAX_UNTIMED;
        if self.recorded.model() == Model::ListAppend || too_many {
            return None;
        }
        let property = match level {
            Level::Opacity => Safety::Opacity,
            _ => Safety::StrictSerializability,
        };
        let history = history_of(self.recorded, timed);
        let report = history_search::check(&history, property, self.limits.max_steps);
        match report.verdict {
            Verdict::Holds => Some(Found::Holds),
            Verdict::Violated => Some(Found::Violated(Some(Anomaly {
                name: "no-serial-order".to_string(),
                also: None,
                level,
                transactions: Vec::new(),
                steps: Vec::new(),
                words: report.explanation,
            }))),
            Verdict::Unknown => None,
        }
    }

    fn sessions(&self) -> Vec<(Guarantee, Verdict, Option<Broken>)> {
        let view = View::of(self.recorded, Scope::Effective, &Choice::default());
        let clear = view.duplicate_append.is_none() && view.ambiguities.is_empty();
        Guarantee::ALL
            .into_iter()
            .map(|guarantee| {
                if !clear {
                    return (guarantee, Verdict::Unknown, None);
                }
                match sessions::check(self.recorded, &view, guarantee) {
                    Some(broken) => (guarantee, Verdict::Violated, Some(broken)),
                    None => (guarantee, Verdict::Holds, None),
                }
            })
            .collect()
    }
}

/// Adds an anomaly unless one of the same name and transactions is there.
fn add(anomalies: &mut Vec<Anomaly>, anomaly: Anomaly) -> Option<usize> {
    let known = anomalies
        .iter()
        .position(|known| known.name == anomaly.name && known.transactions == anomaly.transactions);
    Some(known.unwrap_or_else(|| {
        anomalies.push(anomaly);
        anomalies.len() - 1
    }))
}

/// The history in the form of the search for serial orders; without time every transaction
/// overlaps every other.
pub fn history_of(recorded: &Recorded, timed: bool) -> History {
    let mut history = History {
        operations: recorded.operations.len(),
        variable_names: recorded.key_names.clone(),
        value_names: recorded.value_names.clone(),
        ..History::default()
    };
    let nil = history.value_names.len() as u32;
    history.value_names.push("initial".to_string());
    history.initial = recorded
        .initial
        .iter()
        .map(|initial| initial.unwrap_or(nil))
        .collect();
    for (x, transaction) in recorded.transactions.iter().enumerate() {
        let thread = if timed {
            transaction.process as usize
        } else {
            x
        };
        let mut converted = RecordedTransaction {
            thread,
            first: transaction.start.filter(|_| timed).unwrap_or(0) as usize,
            last: transaction.end.filter(|_| timed).unwrap_or(u32::MAX) as usize,
            end: match transaction.status {
                Status::Committed => End::Committed,
                Status::Aborted => End::Aborted,
                Status::Indeterminate => End::CommitPending,
                Status::Live => End::Unfinished,
            },
            reads: Vec::new(),
            writes: Vec::new(),
            broken: None,
        };
        for operation in recorded.operations_of(x) {
            let key = operation.key;
            let known = |accesses: &[(u32, u32)]| {
                let found = accesses.iter().find(|(k, _)| *k == key);
                found.map(|(_, value)| *value)
            };
            let value = match operation.effect {
                Effect::Write(value) => {
                    match converted.writes.iter_mut().find(|(k, _)| *k == key) {
                        Some(entry) => entry.1 = value,
                        None => converted.writes.push((key, value)),
                    }
                    continue;
                }
                Effect::Read(value) => value,
                Effect::ReadInitial => history.initial[key as usize],
                Effect::ReadUnknown | Effect::ReadList { .. } | Effect::ReadOther => continue,
            };
            match known(&converted.writes).or_else(|| known(&converted.reads)) {
                None => converted.reads.push((key, value)),
                Some(expected) if expected == value => {}
                Some(_) => {
                    let text = format!(
                        "{}, against its own reads and writes",
                        recorded.operation_text(operation)
                    );
                    converted.broken.get_or_insert(text);
                }
            }
        }
        history.transactions.push(converted);
    }
    history.thread_names = if timed {
        recorded.process_names.clone()
    } else {
        (1..=recorded.transactions.len())
            .map(|n| n.to_string())
            .collect()
    };
    history
}
