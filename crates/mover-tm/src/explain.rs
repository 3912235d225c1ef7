//! Why a word has a property or has not, in words.
//!
//! A violation is a cycle of the conflict graph. The explanation names the
//! transactions on it, gives a sentence for every edge, and shows the word as
//! a table with a row for each thread. If there is no cycle, the explanation is
//! a serial order that the word is equivalent to.

use crate::conflict_graph::{Access, ConflictGraph, Node, Point, Reason};
use crate::property::{Safety, Update};
use crate::word::{Action, Extra, Outcome, Statement, print_word};

/// The argument for one word and one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    pub holds: bool,
    /// Who takes part: "T1 is the transaction of thread 1 at statements 1, 4".
    pub actors: Vec<String>,
    /// One sentence for each edge of the cycle; empty if there is none.
    pub steps: Vec<String>,
    /// What follows.
    pub conclusion: String,
}

impl Explanation {
    /// All of it in one paragraph.
    pub fn text(&self) -> String {
        let mut sentences = self.actors.clone();
        if !self.steps.is_empty() {
            sentences.push(self.steps.join("; "));
        }
        sentences.push(self.conclusion.clone());
        sentences.join(". ") + "."
    }
}

/// Explains a word; the word should be short (the graph is built in full).
pub fn explain(word: &[Statement], property: Safety, update: Update) -> Explanation {
    let graph = ConflictGraph::of(word, property, update);
    let Some(cycle) = graph.shortest_cycle() else {
        return explain_order(word, &graph, property);
    };
    let mut on_cycle: Vec<usize> = Vec::new();
    for &edge in &cycle {
        let transaction = graph.nodes[graph.edges[edge].from].transaction;
        if !on_cycle.contains(&transaction) {
            on_cycle.push(transaction);
        }
    }
    let names = transaction_names(word);
    let name = |transaction: usize| {
        let first = graph.transactions[transaction].first();
        names.get(first).cloned().unwrap_or_default()
    };
    let actors = on_cycle
        .iter()
        .map(|&x| {
            let transaction = &graph.transactions[x];
            let outcome = match transaction.outcome {
                Outcome::Committing => "commits",
                Outcome::Aborting => "aborts",
                Outcome::Unfinished => "is unfinished",
            };
            let places: Vec<String> = transaction
                .statements
                .iter()
                .map(|at| (at + 1).to_string())
                .collect();
            format!(
                "{} is the transaction of thread {} at statement{} {}, which {outcome}",
                name(x),
                transaction.thread + 1,
                if places.len() == 1 { "" } else { "s" },
                places.join(", ")
            )
        })
        .collect();
    let steps = cycle
        .iter()
        .map(|&edge| {
            let edge = &graph.edges[edge];
            let (from, to) = (graph.nodes[edge.from], graph.nodes[edge.to]);
            let (x, y) = (name(from.transaction), name(to.transaction));
            format!(
                "{} before {}, because {}",
                node_name(from, &x),
                node_name(to, &y),
                because(&edge.reason, &x, &y, word)
            )
        })
        .collect();
    let conclusion = match property {
        Safety::SnapshotIsolation => "So no choice of snapshots exists".to_string(),
        _ => "So no serial order exists".to_string(),
    };
    Explanation {
        holds: false,
        actors,
        steps,
        conclusion,
    }
}

fn explain_order(word: &[Statement], graph: &ConflictGraph, property: Safety) -> Explanation {
    let order = graph.serial_order().unwrap_or_default();
    let sequential = print_word(&crate::conflict_graph::laid_out(word, graph, &order));
    let conclusion = match (property, order.is_empty()) {
        (Safety::Opacity, true) => "No transaction begins".to_string(),
        (_, true) => "No transaction commits".to_string(),
        (Safety::SnapshotIsolation, false) => {
            format!("The transactions can commit in this order: {sequential}")
        }
        (_, false) => format!("The transactions can be put in this serial order: {sequential}"),
    };
    Explanation {
        holds: true,
        actors: Vec::new(),
        steps: Vec::new(),
        conclusion,
    }
}

/// The name of each statement's transaction: that of its thread, as `T1`, with
/// a letter if the thread has several, as `T2b`. The table and the lanes of a
/// page show the same names.
pub fn transaction_names(word: &[Statement]) -> Vec<String> {
    let mut count = [0usize; 256];
    let mut open = [false; 256];
    let mut places = Vec::with_capacity(word.len());
    for statement in word {
        let thread = statement.thread as usize;
        if !open[thread] {
            count[thread] += 1;
        }
        let alone = matches!(
            statement.action,
            Action::Extra(Extra::PlainRead(_) | Extra::PlainWrite(_))
        );
        open[thread] = !statement.action.is_finishing() && !alone;
        places.push((thread, count[thread]));
    }
    let name = |(thread, which): (usize, usize)| match (count[thread], which) {
        (1, _) => format!("T{}", thread + 1),
        (_, 1..=26) => format!("T{}{}", thread + 1, (b'a' + which as u8 - 1) as char),
        _ => format!("T{}.{which}", thread + 1),
    };
    places.into_iter().map(name).collect()
}

fn node_name(node: Node, transaction: &str) -> String {
    match node.point {
        Point::Whole => transaction.to_string(),
        Point::Snapshot => format!("the snapshot of {transaction}"),
        Point::Commit => format!("the commit of {transaction}"),
    }
}

fn because(reason: &Reason, x: &str, y: &str, word: &[Statement]) -> String {
    let old = |at: usize| match word.get(at).map(|statement| statement.action) {
        Some(Action::Extra(Extra::OldRead(_))) => " as of its snapshot",
        _ => "",
    };
    match *reason {
        Reason::Conflict {
            variable,
            earlier: (first, i),
            later: (second, j),
        } => {
            let (old_i, old_j) = (old(i), old(j));
            let (v, i, j) = (variable + 1, i + 1, j + 1);
            match (first, second) {
                (Access::Read, Access::CommitWrite) => format!(
                    "{x} read variable {v}{old_i} (statement {i}) before {y} committed a write to it (statement {j})"
                ),
                (Access::CommitWrite, Access::Read) => format!(
                    "{y} read variable {v}{old_j} (statement {j}) after {x} had committed a write to it (statement {i})"
                ),
                (Access::Read, _) => format!(
                    "{x} read variable {v}{old_i} (statement {i}) before {y} {} it (statement {j})",
                    stored(second)
                ),
                (_, Access::Read) => format!(
                    "{y} read variable {v}{old_j} (statement {j}) after {x} {} it (statement {i})",
                    stored(first)
                ),
                (Access::CommitWrite, _) | (_, Access::CommitWrite) => format!(
                    "both write variable {v} and {x} committed first (statements {i} and {j})"
                ),
                _ => format!(
                    "{x} {} variable {v} (statement {i}) before {y} {} it (statement {j})",
                    stored(first),
                    stored(second)
                ),
            }
        }
        Reason::InTime { end, begin } => format!(
            "{x} had ended (statement {}) before {y} began (statement {})",
            end + 1,
            begin + 1
        ),
        Reason::InThread => format!("{x} and {y} are of the same thread, and {x} came first"),
        Reason::SnapshotFirst => "a transaction reads before it commits".to_string(),
        Reason::FirstCommitter {
            variable,
            first,
            second,
        } => format!(
            "both write variable {} and {x} committed first (statements {} and {}), so {y} must begin after that commit",
            variable + 1,
            first + 1,
            second + 1
        ),
        Reason::OwnWriteMissed { variable, read } => format!(
            "{x} read an old version of variable {} (statement {}) that it had itself overwritten",
            variable + 1,
            read + 1
        ),
    }
}

fn stored(access: Access) -> &'static str {
    match access {
        Access::Undo => "undid its write to",
        _ => "wrote",
    }
}

/// The word as a table: a column for each statement, a row for each thread.
pub fn table(word: &[Statement]) -> String {
    let cell = |statement: &Statement| match statement.action {
        Action::Read(v) => format!("r {}", v + 1),
        Action::Write(v) => format!("w {}", v + 1),
        Action::Commit => "commit".to_string(),
        Action::Abort => "abort".to_string(),
        Action::Extra(extra) => match extra {
            Extra::Begin => "begin".to_string(),
            Extra::BeginReadOnly => "begin read-only".to_string(),
            Extra::Snapshot => "snapshot".to_string(),
            Extra::OldRead(v) => format!("old r {}", v + 1),
            Extra::PlainRead(v) => format!("plain r {}", v + 1),
            Extra::PlainWrite(v) => format!("plain w {}", v + 1),
            Extra::Nest => "nest".to_string(),
            Extra::Merge => "merge".to_string(),
            Extra::Undo => "undo".to_string(),
            Extra::Retry => "retry".to_string(),
        },
    };
    let widths: Vec<usize> = word
        .iter()
        .enumerate()
        .map(|(at, statement)| cell(statement).len().max((at + 1).to_string().len()))
        .collect();
    let names = transaction_names(word);
    let label = |thread: u8| {
        let mut own: Vec<&str> = (word.iter().zip(&names))
            .filter(|(statement, _)| statement.thread == thread)
            .map(|(_, name)| name.as_str())
            .collect();
        own.dedup();
        format!("thread {} ({})", thread + 1, own.join(", "))
    };
    let labels = word.iter().map(|statement| label(statement.thread).len());
    let left = labels.max().unwrap_or(0).max("statement".len());
    let mut lines = vec![format!("{:<left$}", "statement")];
    for (at, width) in widths.iter().enumerate() {
        lines[0] += &format!("  {:<width$}", at + 1);
    }
    let mut threads: Vec<u8> = word.iter().map(|s| s.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    for thread in threads {
        let mut line = format!("{:<left$}", label(thread));
        for (statement, &width) in word.iter().zip(&widths) {
            let shown = if statement.thread == thread {
                cell(statement)
            } else {
                String::new()
            };
            line += &format!("  {shown:<width$}");
        }
        lines.push(line);
    }
    lines
        .iter()
        .map(|line| line.trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::parse_word;

    #[test]
    fn a_cycle_is_argued_edge_by_edge() {
        let word = parse_word("(r,1)_1 (w,2)_1 (w,1)_2 c_2 (r,2)_2 c_1").unwrap();
        let strict = explain(&word, Safety::StrictSerializability, Update::Deferred);
        assert!(strict.holds);
        let opaque = explain(&word, Safety::Opacity, Update::Deferred);
        assert!(!opaque.holds);
        assert_eq!(opaque.steps.len(), 3);
        assert!(opaque.text().contains(
            "T1 read variable 1 (statement 1) before T2a committed a write to it (statement 4)"
        ));
        assert!(opaque.text().ends_with("So no serial order exists."));
    }

    #[test]
    fn the_table_has_a_row_for_each_thread() {
        let word = parse_word("(r,1)_1 c_2 c_1").unwrap();
        let expected = "\
statement      1    2       3
thread 1 (T1)  r 1          commit
thread 2 (T2)       commit";
        assert_eq!(table(&word), expected);
    }
}
