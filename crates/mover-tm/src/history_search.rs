//! Looks for a serial order of a history.
//!
//! The search places transactions one after the other, as Wing and Gong do for
//! linearizability: next may come a transaction all of whose predecessors in
//! time have been placed and whose reads agree with the memory. At each point
//! there is at most one candidate per thread. Three things keep it nearly
//! linear on what real systems produce:
//!
//! * a candidate that writes nothing is placed at once: nothing is lost by it;
//! * a value that is still to be read, and that will not be written again,
//!   is not overwritten; where each written value is unique this leaves few
//!   choices;
//! * a point at which every choice has failed is remembered.
//!
//! If the search fails, the explanation looks for a cycle: the order in time,
//! who read from whom, and what follows (if y wrote what x read and z wrote the
//! same variable, then z comes before y or after x).

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::check::Verdict;
use crate::history::{End, History, HistoryReport, ValueId, Variable};
use crate::history_cycle;
use crate::property::Safety;

/// What becomes of a transaction in the order searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Its writes take effect.
    Writer,
    /// Only its reads count.
    Reader,
    /// Its commit was not answered: a writer, or left out (or a reader).
    Either,
}

/// The transactions that count for a property, by thread and in order.
pub struct Counted {
    pub rows: Vec<Vec<usize>>,
    pub roles: Vec<Option<Role>>,
}

impl Counted {
    fn of(history: &History, property: Safety) -> Counted {
        let opacity = property == Safety::Opacity;
        let mut rows = vec![Vec::new(); history.thread_names.len()];
        let mut roles = vec![None; history.transactions.len()];
        for (x, transaction) in history.transactions.iter().enumerate() {
            let role = match transaction.end {
                End::Committed => Some(Role::Writer),
                End::CommitPending => Some(Role::Either),
                End::Aborted | End::Unfinished => opacity.then_some(Role::Reader),
            };
            if role.is_some() {
                rows[transaction.thread].push(x);
                roles[x] = role;
            }
        }
        Counted { rows, roles }
    }
}

pub fn check(history: &History, property: Safety, max_steps: usize) -> HistoryReport {
    let counted = Counted::of(history, property);
    for (x, transaction) in history.transactions.iter().enumerate() {
        // What a transaction without an answer to its commit read may be left
        // out together with it, unless opacity is asked for.
        let counts = match counted.roles[x] {
            Some(Role::Either) => property == Safety::Opacity,
            other => other.is_some(),
        };
        if let Some(broken) = transaction.broken.as_ref().filter(|_| counts) {
            return HistoryReport {
                verdict: Verdict::Violated,
                explanation: format!("{} {broken}.", history.name(x)),
            };
        }
    }
    let mut search = HistorySearch::new(history, &counted, property);
    match search.run(max_steps) {
        Some(true) => HistoryReport {
            verdict: Verdict::Holds,
            explanation: order_text(history, &search.order()),
        },
        Some(false) => HistoryReport {
            verdict: Verdict::Violated,
            explanation: history_cycle::explain(history, &counted, &search.deepest)
                .unwrap_or_else(|| search.stuck_text()),
        },
        None => HistoryReport {
            verdict: Verdict::Unknown,
            explanation: format!(
                "Gave up after {max_steps} steps; raise --max-steps. Histories in which each written value is unique are decided much faster."
            ),
        },
    }
}

fn order_text(history: &History, order: &[usize]) -> String {
    const SHOWN: usize = 20;
    let names: Vec<String> = order.iter().take(SHOWN).map(|&x| history.name(x)).collect();
    let rest = order.len().saturating_sub(SHOWN);
    match (names.is_empty(), rest) {
        (true, _) => "No transaction counts.".to_string(),
        (false, 0) => format!("A serial order: {}.", names.join(", ")),
        (false, rest) => format!(
            "A serial order begins: {}, and {rest} more.",
            names.join(", ")
        ),
    }
}

/// A placed transaction and what it changed.
struct Placed {
    x: usize,
    row: usize,
    wrote: bool,
    overwritten: Vec<(Variable, ValueId)>,
}

/// A point with several ways to continue.
struct Choice {
    placed: usize,
    ways: Vec<(usize, bool)>,
    next: usize,
    key: (Vec<usize>, u64),
}

struct HistorySearch<'h> {
    history: &'h History,
    counted: &'h Counted,
    opacity: bool,
    memory: Vec<ValueId>,
    position: Vec<usize>,
    placed: Vec<Placed>,
    /// How many transactions not yet placed read and write each value.
    readers: HashMap<(Variable, ValueId), usize>,
    writers: HashMap<(Variable, ValueId), usize>,
    failed: HashSet<(Vec<usize>, u64)>,
    /// The largest set of transactions placed, by thread.
    deepest: Vec<usize>,
    deepest_count: usize,
    deepest_memory: Vec<ValueId>,
}

impl<'h> HistorySearch<'h> {
    fn new(history: &'h History, counted: &'h Counted, property: Safety) -> Self {
        let mut readers = HashMap::new();
        let mut writers = HashMap::new();
        for (x, role) in counted.roles.iter().enumerate() {
            let Some(role) = role else { continue };
            let transaction = &history.transactions[x];
            // One that may be left out need not be waited for.
            if *role != Role::Either || property == Safety::Opacity {
                for &read in &transaction.reads {
                    *readers.entry(read).or_default() += 1;
                }
            }
            if *role != Role::Reader {
                for &write in &transaction.writes {
                    *writers.entry(write).or_default() += 1;
                }
            }
        }
        HistorySearch {
            history,
            counted,
            opacity: property == Safety::Opacity,
            memory: history.initial.clone(),
            position: vec![0; counted.rows.len()],
            placed: Vec::new(),
            readers,
            writers,
            failed: HashSet::new(),
            deepest: vec![0; counted.rows.len()],
            deepest_count: 0,
            deepest_memory: history.initial.clone(),
        }
    }

    fn next(&self, row: usize) -> Option<usize> {
        self.counted.rows[row].get(self.position[row]).copied()
    }

    /// The next transaction of each thread that may come next in time.
    fn ready(&self) -> Vec<(usize, usize)> {
        let earliest_end = (0..self.position.len())
            .filter_map(|row| self.next(row))
            .map(|x| &self.history.transactions[x])
            .filter(|transaction| transaction.is_finished())
            .map(|transaction| transaction.last)
            .min()
            .unwrap_or(usize::MAX);
        (0..self.position.len())
            .filter_map(|row| Some((row, self.next(row)?)))
            .filter(|&(_, x)| self.history.transactions[x].first <= earliest_end)
            .collect()
    }

    fn reads_agree(&self, x: usize) -> bool {
        let transaction = &self.history.transactions[x];
        let agrees =
            |&(variable, value): &(Variable, ValueId)| self.memory[variable as usize] == value;
        transaction.broken.is_none() && transaction.reads.iter().all(agrees)
    }

    /// Whether its writes would destroy a value that is still needed.
    fn overwrites_needed(&self, x: usize) -> bool {
        let transaction = &self.history.transactions[x];
        transaction.writes.iter().any(|&(variable, new)| {
            let current = self.memory[variable as usize];
            let access = (variable, current);
            let own = usize::from(transaction.reads.contains(&access) && self.waited_for(x));
            let needed = self.readers.get(&access).copied().unwrap_or(0) > own;
            let comes_again = self.writers.get(&access).copied().unwrap_or(0) > 0;
            new != current && needed && !comes_again
        })
    }

    fn waited_for(&self, x: usize) -> bool {
        self.counted.roles[x] != Some(Role::Either) || self.opacity
    }

    fn place(&mut self, row: usize, x: usize, wrote: bool) {
        let history = self.history;
        let transaction = &history.transactions[x];
        if self.waited_for(x) {
            for read in &transaction.reads {
                if let Some(count) = self.readers.get_mut(read) {
                    *count -= 1;
                }
            }
        }
        let mut overwritten = Vec::new();
        if self.counted.roles[x] != Some(Role::Reader) {
            for write in &transaction.writes {
                if let Some(count) = self.writers.get_mut(write) {
                    *count -= 1;
                }
            }
        }
        if wrote {
            for &(variable, value) in &transaction.writes {
                let cell = &mut self.memory[variable as usize];
                overwritten.push((variable, *cell));
                *cell = value;
            }
        }
        self.position[row] += 1;
        self.placed.push(Placed {
            x,
            row,
            wrote,
            overwritten,
        });
    }

    fn undo(&mut self) {
        let Some(placed) = self.placed.pop() else {
            return;
        };
        let history = self.history;
        let transaction = &history.transactions[placed.x];
        self.position[placed.row] -= 1;
        for (variable, value) in placed.overwritten {
            self.memory[variable as usize] = value;
        }
        if self.waited_for(placed.x) {
            for read in &transaction.reads {
                *self.readers.entry(*read).or_default() += 1;
            }
        }
        if self.counted.roles[placed.x] != Some(Role::Reader) {
            for write in &transaction.writes {
                *self.writers.entry(*write).or_default() += 1;
            }
        }
    }

    /// The ways to continue: thread and whether the writes take effect. If one of
    /// them cannot hurt, only that.
    fn ways(&self) -> Vec<(usize, bool)> {
        let mut ways = Vec::new();
        let mut skips = Vec::new();
        for (row, x) in self.ready() {
            let transaction = &self.history.transactions[x];
            let role = self.counted.roles[x];
            let agrees = self.reads_agree(x);
            let silent = transaction.writes.is_empty() || role == Some(Role::Reader);
            if silent && agrees {
                return vec![(row, false)];
            }
            if agrees && !silent && !self.overwrites_needed(x) {
                ways.push((transaction.last, row, true));
            }
            // Without an answer it need not have happened; but for opacity
            // what it read must still be right.
            if role == Some(Role::Either) && (agrees || !self.opacity) {
                skips.push((row, false));
            }
        }
        ways.sort_unstable();
        let writing = ways.into_iter().map(|(_, row, wrote)| (row, wrote));
        writing.chain(skips).collect()
    }

    fn key(&self) -> (Vec<usize>, u64) {
        let mut hasher = DefaultHasher::new();
        self.memory.hash(&mut hasher);
        (self.position.clone(), hasher.finish())
    }

    /// Whether an order exists; none if that took too long.
    fn run(&mut self, max_steps: usize) -> Option<bool> {
        let total: usize = self.counted.rows.iter().map(Vec::len).sum();
        let mut choices: Vec<Choice> = Vec::new();
        for _ in 0..max_steps {
            if self.placed.len() == total {
                return Some(true);
            }
            if self.placed.len() > self.deepest_count {
                self.deepest_count = self.placed.len();
                self.deepest.clone_from(&self.position);
                self.deepest_memory.clone_from(&self.memory);
            }
            let ways = self.ways();
            if let [(row, wrote)] = ways[..] {
                self.go(row, wrote);
                continue;
            }
            let key = self.key();
            if !ways.is_empty() && !self.failed.contains(&key) {
                let (row, wrote) = ways[0];
                choices.push(Choice {
                    placed: self.placed.len(),
                    ways,
                    next: 1,
                    key,
                });
                self.go(row, wrote);
                continue;
            }
            // Back to the last point with a way not yet tried.
            loop {
                let Some(choice) = choices.last_mut() else {
                    return Some(false);
                };
                let depth = choice.placed;
                let way = choice.ways.get(choice.next).copied();
                choice.next += 1;
                while self.placed.len() > depth {
                    self.undo();
                }
                match way {
                    Some((row, wrote)) => {
                        self.go(row, wrote);
                        break;
                    }
                    None => {
                        if let Some(exhausted) = choices.pop() {
                            self.failed.insert(exhausted.key);
                        }
                    }
                }
            }
        }
        None
    }

    fn go(&mut self, row: usize, wrote: bool) {
        if let Some(x) = self.next(row) {
            self.place(row, x, wrote);
        }
    }

    /// The transactions that count, in the order found.
    fn order(&self) -> Vec<usize> {
        self.placed
            .iter()
            .filter(|placed| placed.wrote || self.counted.roles[placed.x] != Some(Role::Either))
            .map(|placed| placed.x)
            .collect()
    }

    /// Why nothing could come next at the point that was reached furthest.
    fn stuck_text(&mut self) -> String {
        self.position.clone_from(&self.deepest);
        self.memory.clone_from(&self.deepest_memory);
        let names = &self.history.value_names;
        let mut reasons = Vec::new();
        for (_, x) in self.ready() {
            let reads = &self.history.transactions[x].reads;
            let wrong = reads
                .iter()
                .find(|(variable, value)| self.memory[*variable as usize] != *value);
            reasons.push(match wrong {
                Some((variable, value)) => format!(
                    "{} read {} = {}, but there it is {}",
                    self.history.name(x),
                    self.history.variable_names[*variable as usize],
                    names[*value as usize],
                    names[self.memory[*variable as usize] as usize]
                ),
                None => format!(
                    "{} would overwrite a value that another transaction has read",
                    self.history.name(x)
                ),
            });
        }
        format!(
            "In every order some transaction fails. After {} transactions nothing can come next: {}.",
            self.deepest_count,
            reasons.join("; ")
        )
    }
}
