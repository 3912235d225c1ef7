//! Levels of recorded histories against their definitions over states.

use mover_tm::check::Verdict;
use mover_tm::recorded::levels::Level;
use mover_tm::recorded::reader::{Wanted, read};
use mover_tm::recorded::verdict::{Judgement, Limits, judge};
use mover_tm::recorded::{Model, Recorded};

mod crooks;
mod random;
use crooks::{Ending, Op, Test, Txn, concurrent, edn, holds};
use random::Random;

fn parse(text: &str, model: Option<Model>) -> Recorded {
    let wanted = Wanted {
        format: None,
        model,
    };
    read(text.as_bytes(), wanted).unwrap().0
}

fn judged(text: &str, model: Option<Model>) -> Judgement {
    judge(
        &parse(text, model),
        &[Level::StrictSerializable],
        Limits::default(),
    )
}

const TESTS: [(Level, Test); 7] = [
    (Level::ReadUncommitted, Test::Uncommitted),
    (Level::ReadCommitted, Test::Committed),
    (Level::SnapshotIsolation, Test::Snapshot),
    (Level::StrongSessionSnapshotIsolation, Test::SessionSnapshot),
    (Level::Serializable, Test::Serial),
    (Level::StrongSessionSerializable, Test::SessionSerial),
    (Level::StrictSerializable, Test::StrictSerial),
];

/// Compares all levels; counts how often each holds.
fn compare(history: &[Txn], model: Model, counts: &mut [[usize; 2]; 7]) {
    let text = edn(history);
    let judgement = judged(&text, Some(model));
    for (at, (level, test)) in TESTS.into_iter().enumerate() {
        let expected = holds(history, test);
        let found = judgement.verdict(level);
        let wanted = if expected {
            Verdict::Holds
        } else {
            Verdict::Violated
        };
        assert_eq!(found, wanted, "{level} of\n{text}{judgement:#?}");
        counts[at][usize::from(expected)] += 1;
    }
    let anomalies = judgement.anomalies.len();
    let violated = judgement.verdict(Level::StrictSerializable) == Verdict::Violated;
    assert_eq!(anomalies > 0, violated, "{text}");
}

/// Every sequence of up to this many of the operations.
fn sequences(operations: &[Op], length: usize) -> Vec<Vec<Op>> {
    let mut all: Vec<Vec<Op>> = vec![Vec::new()];
    let mut last = 0;
    for _ in 0..length {
        let end = all.len();
        for at in last..end {
            for op in operations {
                let mut longer = all[at].clone();
                longer.push(op.clone());
                all.push(longer);
            }
        }
        last = end;
    }
    all
}

/// Gives each write a value of its own: that of the transaction, and more for its second write.
fn numbered(transactions: &[&Vec<Op>]) -> Vec<Txn> {
    let rows: Vec<Vec<Op>> = transactions
        .iter()
        .enumerate()
        .map(|(x, ops)| {
            let mut next = x as u32 + 1;
            ops.iter()
                .map(|op| {
                    let mut op = op.clone();
                    if let Op::Write(_, v) | Op::Append(_, v) = &mut op {
                        *v = next;
                        next += 10;
                    }
                    op
                })
                .collect()
        })
        .collect();
    let slices: Vec<&[Op]> = rows.iter().map(Vec::as_slice).collect();
    concurrent(&slices)
}

fn register_operations(keys: usize, values: u32) -> Vec<Op> {
    (0..keys)
        .flat_map(|k| {
            let reads = (1..=values).map(move |v| Op::Read(k, Some(v)));
            reads.chain([Op::Read(k, None), Op::Write(k, 0)])
        })
        .collect()
}

fn list_operations(keys: usize) -> Vec<Op> {
    let lists: [&[u32]; 6] = [&[], &[1], &[2], &[1, 2], &[2, 1], &[1, 11]];
    (0..keys)
        .flat_map(|k| {
            let reads = lists.iter().map(move |list| Op::ReadList(k, list.to_vec()));
            reads.chain([Op::Append(k, 0)])
        })
        .collect()
}

#[test]
fn all_pairs_of_register_transactions() {
    let mut counts = [[0; 2]; 7];
    let all = sequences(&register_operations(2, 2), 2);
    for (at, a) in all.iter().enumerate() {
        for b in &all[at..] {
            compare(&numbered(&[a, b]), Model::RwRegister, &mut counts);
        }
    }
    let long = sequences(&register_operations(1, 2), 3);
    for a in &long {
        for b in &long {
            compare(&numbered(&[a, b]), Model::RwRegister, &mut counts);
        }
    }
    assert!(counts[4].iter().all(|&count| count > 500), "{counts:?}");
}

#[test]
fn all_triples_of_short_register_transactions() {
    let mut counts = [[0; 2]; 7];
    let operations = register_operations(2, 2);
    let pairs: Vec<Vec<Op>> = sequences(&operations, 2)
        .into_iter()
        // One of each key, in the order of keys: what other orders add is shown by pairs.
        .filter(|ops| ops.len() < 2 || key_of(&ops[0]) < key_of(&ops[1]))
        .collect();
    for (i, a) in pairs.iter().enumerate() {
        for (j, b) in pairs.iter().enumerate().skip(i) {
            for c in &pairs[j..] {
                compare(&numbered(&[a, b, c]), Model::RwRegister, &mut counts);
            }
        }
    }
    assert!(counts[2].iter().all(|&count| count > 200), "{counts:?}");
}

fn key_of(op: &Op) -> usize {
    match op {
        Op::Write(k, _) | Op::Append(k, _) | Op::Read(k, _) | Op::ReadList(k, _) => *k,
    }
}

#[test]
fn all_pairs_of_list_transactions() {
    let mut counts = [[0; 2]; 7];
    let all = sequences(&list_operations(2), 2);
    for a in &all {
        for b in &all {
            compare(&numbered(&[a, b]), Model::ListAppend, &mut counts);
        }
    }
    let long = sequences(&list_operations(1), 3);
    for a in &long {
        for b in &long {
            compare(&numbered(&[a, b]), Model::ListAppend, &mut counts);
        }
    }
    assert!(counts[0].iter().all(|&count| count > 500), "{counts:?}");
}

/// A random history: transactions that read from recent states, so that many are right.
fn random_history(random: &mut Random, model: Model, unique: bool) -> Vec<Txn> {
    let keys = 1 + random.below(3);
    let processes = 1 + random.below(4);
    let mut clock = 0;
    let mut next = 1u32;
    let mut free_at = vec![0usize; processes];
    let mut states: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); keys]];
    let mut history = Vec::new();
    for _ in 0..2 + random.below(4) {
        let process = random.below(processes);
        if free_at[process] > 1_000_000 {
            continue;
        }
        clock += 1 + random.below(3);
        let start = clock.max(free_at[process] + 1);
        let end = start + 1 + random.below(12);
        free_at[process] = end;
        let ending = match random.below(12) {
            0 => Ending::Fail,
            1 => Ending::Info,
            _ => Ending::Ok,
        };
        let stale = random.below(6) == 0;
        let mut state = match stale {
            true => states[random.below(states.len())].clone(),
            false => states.last().unwrap().clone(),
        };
        let mut ops = Vec::new();
        for _ in 0..1 + random.below(3) {
            let k = random.below(keys);
            let is_write = random.below(2) == 0;
            match (model, is_write) {
                (Model::RwRegister, true) => {
                    let v = if unique {
                        next
                    } else {
                        1 + random.below(3) as u32
                    };
                    next += 1;
                    state[k] = vec![v];
                    ops.push(Op::Write(k, v));
                }
                (Model::ListAppend, true) => {
                    state[k].push(next);
                    ops.push(Op::Append(k, next));
                    next += 1;
                }
                (_, false) => {
                    let from = match random.below(10) {
                        0 => &states[random.below(states.len())][k],
                        _ => &state[k],
                    };
                    ops.push(match model {
                        Model::RwRegister => Op::Read(k, from.first().copied()),
                        Model::ListAppend => Op::ReadList(k, from.clone()),
                    });
                }
            }
        }
        if ending != Ending::Fail || random.below(3) == 0 {
            // Sometimes writes go on top of a state that is not the one read.
            let mut after = states.last().unwrap().clone();
            for op in &ops {
                match op {
                    Op::Write(k, v) => after[*k] = vec![*v],
                    Op::Append(k, v) => after[*k].push(*v),
                    _ => {}
                }
            }
            states.push(after);
        }
        history.push(Txn {
            process,
            // Unknown endings crash their process: another takes its place.
            start: 2 * start,
            end: 2 * end + 1,
            ending,
            ops,
        });
        if ending == Ending::Info {
            free_at[process] = usize::MAX / 4;
        }
    }
    // Two events of one moment would have no order in the file.
    for (at, t) in history.iter_mut().enumerate() {
        t.start = t.start * 8 + at;
        t.end = t.end * 8 + at;
    }
    history
}

#[test]
fn fifty_thousand_random_histories() {
    let mut random = Random::new(7);
    let mut counts = [[0; 2]; 7];
    for round in 0..50_000 {
        let (model, unique) = match round % 3 {
            0 => (Model::ListAppend, true),
            1 => (Model::RwRegister, true),
            _ => (Model::RwRegister, false),
        };
        let history = random_history(&mut random, model, unique);
        if unique {
            compare(&history, model, &mut counts);
        } else {
            // Where values are not unique, a level may stay unknown but never be wrong.
            let text = edn(&history);
            let judgement = judged(&text, Some(model));
            for (level, test) in TESTS {
                let found = judgement.verdict(level);
                let wanted = if holds(&history, test) {
                    Verdict::Holds
                } else {
                    Verdict::Violated
                };
                assert!(
                    found == wanted || found == Verdict::Unknown,
                    "{level}: {found:?} and not {wanted:?}\n{text}{judgement:#?}"
                );
                assert_ne!(
                    found,
                    Verdict::Unknown,
                    "small enough to be decided\n{text}"
                );
            }
        }
    }
    for (at, count) in counts.iter().enumerate() {
        assert!(count.iter().all(|&n| n > 200), "{:?} {counts:?}", TESTS[at]);
    }
}
