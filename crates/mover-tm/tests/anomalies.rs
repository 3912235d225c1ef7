//! Anomalies of the literature, each as a small history with its name and the strongest level that holds.
//!
//! Sources: Adya (1999, "A"), Berenson et al. (1995, "B"), Cerone and Gotsman (2018, "C"),
//! Crooks et al. (2017, "K"), Kingsbury and Alvaro (2020, "E"), Terry et al. (1994, "T"). A transaction is
//! `process:ops`, concurrent with its neighbours if they stand in one word list separated by `|`, and
//! after those of earlier lists, separated by `;`. `wx1` writes, `rx1` reads, `rx_` reads the initial state,
//! `ax1` appends, `rx[12]` reads a list; `!` at the end means aborted, `?` unknown.

use std::fmt::Write;

use mover_tm::check::Verdict;
use mover_tm::recorded::levels::Level;
use mover_tm::recorded::reader::{Wanted, read};
use mover_tm::recorded::sessions::Guarantee;
use mover_tm::recorded::verdict::{Judgement, Limits, judge};

fn operations(text: &str, asked: bool) -> String {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(kind) = chars.next() {
        let key = chars.next().unwrap();
        let mut value = String::new();
        while chars.peek().is_some_and(|c| !"wra!?".contains(*c)) {
            value.push(chars.next().unwrap());
        }
        out.push(match kind {
            'w' => format!("[:w :{key} {value}]"),
            'a' => format!("[:append :{key} {value}]"),
            'r' if asked || value == "_" => format!("[:r :{key} nil]"),
            'r' if value.starts_with('[') => {
                let elements: Vec<String> = value
                    .trim_matches(['[', ']'])
                    .chars()
                    .map(|c| c.to_string())
                    .collect();
                format!("[:r :{key} [{}]]", elements.join(" "))
            }
            'r' => format!("[:r :{key} {value}]"),
            _ => continue,
        });
    }
    format!("[{}]", out.join(" "))
}

fn edn(text: &str) -> String {
    let mut out = String::new();
    for group in text.split(';') {
        let transactions: Vec<(&str, &str)> = group
            .split('|')
            .map(|t| t.trim().split_once(':').unwrap())
            .collect();
        for (process, ops) in &transactions {
            let ops = ops.trim_end_matches(['!', '?']);
            let value = operations(ops, true);
            writeln!(out, "{{:type :invoke :process {process} :value {value}}}").unwrap();
        }
        for (process, ops) in &transactions {
            let (kind, asked) = match ops.chars().last() {
                Some('!') => ("fail", true),
                Some('?') => ("info", true),
                _ => ("ok", false),
            };
            let value = operations(ops.trim_end_matches(['!', '?']), asked);
            writeln!(out, "{{:type :{kind} :process {process} :value {value}}}").unwrap();
        }
    }
    out
}

fn judged(text: &str) -> Judgement {
    let text = edn(text);
    let (recorded, _) =
        read(text.as_bytes(), Wanted::default()).unwrap_or_else(|e| panic!("{text}{e:?}"));
    judge(&recorded, &[Level::StrictSerializable], Limits::default())
}

use Level::{
    ReadCommitted as Rc, ReadUncommitted as Ru, Serializable as Ser, SnapshotIsolation as Si,
    StrictSerializable as Strict,
};

/// History, name of the anomaly, what it is also called, the strongest level that holds.
const TABLE: &[(&str, &str, &str, Option<Level>)] = &[
    // A: G0, dirty write.
    (
        "1:ax1ay1 | 2:ax2ay2 | 3:rx[12]ry[21]",
        "G0",
        "dirty write",
        None,
    ),
    // A: G1a, B: P1 dirty read.
    ("1:wx1! | 2:rx1", "G1a", "dirty read", Some(Ru)),
    ("1:ax1! | 2:rx[1]", "G1a", "dirty read", Some(Ru)),
    // A: G1b.
    ("1:wx1wx2 | 2:rx1", "G1b", "intermediate read", Some(Ru)),
    ("1:ax1ax2 | 2:rx[1]", "G1b", "intermediate read", Some(Ru)),
    // A: G1c.
    (
        "1:wx1ry2 | 2:wy2rx1",
        "G1c",
        "circular information flow",
        Some(Ru),
    ),
    ("1:ax1ry[1] | 2:ax2ay1 | 3:rx[12]", "G1c", "", Some(Ru)),
    // E: dirty update: committed on top of aborted.
    ("1:ax1! | 2:ax2 | 3:rx[12]", "G1a", "dirty read", Some(Ru)),
    // B: P4 lost update.
    ("1:rx_wx1 | 2:rx_wx2", "lost-update", "G-single", Some(Rc)),
    (
        "1:rx_ax1 | 2:rx_ax2 | 3:rx[12]",
        "G-single",
        "lost update",
        Some(Rc),
    ),
    // B: A5A read skew; A: G-single.
    ("1:wx1wy1 | 2:rx1ry_", "G-single", "read skew", Some(Rc)),
    ("1:ax1ay1 | 2:rx[1]ry_", "G-single", "read skew", Some(Rc)),
    // B: P2 fuzzy read.
    (
        "1:wx1 | 2:rx_rx1",
        "non-repeatable-read",
        "fuzzy read",
        Some(Rc),
    ),
    // C: long fork.
    (
        "1:wx1 | 2:wy2 | 3:rx1ry_ | 4:rx_ry2",
        "G-nonadjacent",
        "long fork",
        Some(Rc),
    ),
    (
        "1:ax1 | 2:ay2 | 3:rx[1]ry_ | 4:rx_ry[2]",
        "G-nonadjacent",
        "long fork",
        Some(Rc),
    ),
    // B: A5B write skew; A: G2-item.
    (
        "1:rx_ry_wx1 | 2:rx_ry_wy2",
        "G2-item",
        "write skew",
        Some(Si),
    ),
    (
        "1:rx_ax1ry_ | 2:rx_ry_ay2",
        "G2-item",
        "write skew",
        Some(Si),
    ),
    // Fekete et al. (2004): the anomaly of a read-only transaction.
    ("1:rx_ry_wx1 | 2:ry_wy2 | 3:rx_ry2", "G2-item", "", Some(Si)),
    // C: a cycle of anti-dependencies through three.
    ("1:rx_wy1 | 2:ry_wz2 | 3:rz_wx3", "G2-item", "", Some(Si)),
    // Not an anomaly of serializability, but in time: a stale read.
    (
        "1:wx1 ; 2:rx_",
        "G-single-realtime",
        "stale read",
        Some(Ser),
    ),
    (
        "1:ax1 ; 2:rx_ ; 3:rx[1]",
        "G-single-realtime",
        "stale read",
        Some(Ser),
    ),
    // E: own writes must be read back.
    ("1:wx1rx_", "internal", "", None),
    ("1:ax1rx_", "internal", "", None),
    ("1:rx2 | 2:wx1", "garbage-read", "", Some(Ru)),
    ("1:rx1wx1", "future-read", "", Some(Ru)),
    (
        "1:rx[12] | 2:rx[21] | 3:ax1 | 4:ax2",
        "incompatible-order",
        "",
        None,
    ),
    // K: what is right at every level.
    ("1:wx1 ; 2:rx1wy2 ; 3:rx1ry2", "", "", Some(Strict)),
    ("1:ax1 | 2:rx[1]ax2 ; 3:rx[12]", "", "", Some(Strict)),
    // Unknown outcomes take effect if somebody saw them, and need not otherwise.
    ("1:wx1? ; 2:rx1", "", "", Some(Strict)),
    ("1:wx1? ; 2:rx_", "", "", Some(Strict)),
    ("1:wx1? ; 2:rx1 ; 3:rx_", "G-single-realtime", "", Some(Ser)),
];

#[test]
fn the_anomalies_of_the_literature_are_named() {
    for (text, name, also, strongest) in TABLE {
        let judgement = judged(text);
        let first = judgement.anomalies.first();
        let found = first.map_or("", |a| a.name.as_str());
        assert_eq!(found, *name, "{text}\n{judgement:#?}");
        if !also.is_empty() {
            assert_eq!(first.and_then(|a| a.also), Some(*also), "{text}");
        }
        assert_eq!(judgement.strongest(), *strongest, "{text}\n{judgement:#?}");
    }
    assert!(TABLE.len() >= 20);
}

#[test]
fn a_cycle_is_told_in_words() {
    // The example of Elle's documentation.
    let judgement = judged("0:ax1ry[1] | 1:ax2ay1 | 2:rx[12]");
    assert_eq!(
        judgement.anomalies[0].words,
        "T1 before T2, because T2 appended 2 to x after T1 appended 1; but T2 before T1, because \
         T1 read y with the element 1, which T2 appended."
    );
}

/// The cases of Elle's tests, in its notation, with the weakest model that Elle says is violated.
#[test]
fn the_examples_of_elle_are_judged_as_there() {
    for (text, refuted) in [
        ("0:ax1ay1 | 1:ax2ay2 | 2:rx[12]ry[21]", Some(Ru)),
        ("0:ax1! | 1:rx[1]", Some(Rc)),
        ("0:ax1ax2 ; 1:rx[1]", Some(Rc)),
        ("0:ax1ry[1] | 1:ax2ay1 | 2:rx[12]ry[1]", Some(Rc)),
        ("0:ax1ay1 | 1:ax2ry_ | 2:rx[12]", Some(Si)),
        ("0:ax1ry_ | 1:ay1rx_", Some(Ser)),
        ("0:ax1 ; 1:ax2 ; 2:rx[1] ; 3:rx[12]", Some(Strict)),
        (
            "0:ax1 ; 1:ax2 ; 1:rx[1] ; 2:rx[12]",
            Some(Level::StrongSessionSnapshotIsolation),
        ),
        ("0:rx1wx2 | 1:rx2wx1", Some(Rc)),
        ("0:wx1 | 1:rx1", None),
    ] {
        let judgement = judged(text);
        let weakest = judgement
            .levels
            .iter()
            .find(|level| level.verdict == Verdict::Violated)
            .map(|level| level.level);
        // Repeatable read is serializability here.
        let weakest = match weakest {
            Some(Level::RepeatableRead) => Some(Ser),
            other => other,
        };
        assert_eq!(weakest, refuted, "{text}\n{judgement:#?}");
    }
}

#[test]
fn session_guarantees_by_their_examples() {
    let broken = |text: &str| -> Vec<Guarantee> {
        let judgement = judged(text);
        let sessions = judgement.sessions.into_iter();
        sessions
            .filter(|(_, verdict, _)| *verdict == Verdict::Violated)
            .map(|(guarantee, _, _)| guarantee)
            .collect()
    };
    // T: a session that does not see its own write.
    assert_eq!(broken("1:wx1 ; 1:rx_"), [Guarantee::ReadYourWrites]);
    assert_eq!(
        broken("1:ax1 ; 1:rx_ ; 2:rx[1]"),
        [Guarantee::ReadYourWrites]
    );
    // T: what was read once disappears.
    assert_eq!(broken("2:wx1 | 1:rx1 ; 1:rx_"), [Guarantee::MonotonicReads]);
    // T: the writes of a session in the other order.
    assert_eq!(
        broken("1:ax1 ; 1:ax2 ; 2:rx[21]"),
        [Guarantee::MonotonicWrites]
    );
    // T: a write before what its session had read.
    assert_eq!(
        broken("2:ax1 ; 1:rx[1] ; 1:ax2 ; 3:rx[21]"),
        // What the session read is then no prefix: two lists that disagree.
        [] as [Guarantee; 0]
    );
    assert_eq!(broken("1:wx1 ; 1:rx1 ; 2:rx1"), []);
}
