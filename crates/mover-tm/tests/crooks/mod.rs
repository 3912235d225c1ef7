//! Isolation levels by their definitions over states, by trying everything.
//!
//! Crooks et al. (2017): a history is at a level if its transactions can be put in an order such
//! that, with the states that they produce one after the other, every transaction passes the level's
//! test. Read committed: each read returns the value of some state before the transaction.
//! Snapshot isolation: all reads are from one such state, and since then nobody wrote what the
//! transaction writes. Serializability: that state is the last before the transaction. Sessions and time
//! restrict the order. Which transactions of unknown outcome took effect is tried as well.
//! None of this speaks of versions, dependencies or cycles.

use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Ok,
    Fail,
    Info,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Write(usize, u32),
    /// A register's value; none for the initial one.
    Read(usize, Option<u32>),
    Append(usize, u32),
    ReadList(usize, Vec<u32>),
}

#[derive(Clone, Debug)]
pub struct Txn {
    pub process: usize,
    pub start: usize,
    pub end: usize,
    pub ending: Ending,
    pub ops: Vec<Op>,
}

/// All at once, each by a process of its own.
pub fn concurrent(transactions: &[&[Op]]) -> Vec<Txn> {
    transactions
        .iter()
        .enumerate()
        .map(|(x, ops)| Txn {
            process: x,
            start: x,
            end: 100 + x,
            ending: Ending::Ok,
            ops: ops.to_vec(),
        })
        .collect()
}

pub const KEYS: [&str; 4] = ["x", "y", "z", "u"];

fn list_text(list: &[u32]) -> String {
    let texts: Vec<String> = list.iter().map(u32::to_string).collect();
    format!("[{}]", texts.join(" "))
}

/// The history as Jepsen writes it, in EDN.
pub fn edn(history: &[Txn]) -> String {
    let mut events: Vec<(usize, String)> = Vec::new();
    for t in history {
        let text = |asked: bool| {
            let ops: Vec<String> = t
                .ops
                .iter()
                .map(|op| match op {
                    Op::Write(k, v) => format!("[:w :{} {v}]", KEYS[*k]),
                    Op::Append(k, v) => format!("[:append :{} {v}]", KEYS[*k]),
                    Op::Read(k, Some(v)) if !asked => format!("[:r :{} {v}]", KEYS[*k]),
                    Op::ReadList(k, list) if !asked => {
                        format!("[:r :{} {}]", KEYS[*k], list_text(list))
                    }
                    Op::Read(k, _) | Op::ReadList(k, _) => format!("[:r :{} nil]", KEYS[*k]),
                })
                .collect();
            format!("[{}]", ops.join(" "))
        };
        let mut event = |at: usize, kind: &str, asked: bool| {
            let line = format!(
                "{{:type :{kind}, :f :txn, :process {}, :value {}}}",
                t.process,
                text(asked)
            );
            events.push((at, line));
        };
        event(t.start, "invoke", true);
        match t.ending {
            Ending::Ok => event(t.end, "ok", false),
            Ending::Fail => event(t.end, "fail", true),
            Ending::Info => event(t.end, "info", true),
        }
    }
    events.sort();
    let mut out = String::new();
    for (_, line) in events {
        writeln!(out, "{line}").unwrap();
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    Uncommitted,
    Committed,
    Snapshot,
    SessionSnapshot,
    Serial,
    SessionSerial,
    StrictSerial,
}

type State = BTreeMap<usize, Vec<u32>>;

/// Whether some choice and order passes.
pub fn holds(history: &[Txn], test: Test) -> bool {
    let unknown: Vec<usize> = (0..history.len())
        .filter(|&x| history[x].ending == Ending::Info)
        .collect();
    if test == Test::Uncommitted && !lists_agree(history) {
        return false;
    }
    (0..1usize << unknown.len()).any(|happened| {
        let counted: Vec<usize> = (0..history.len())
            .filter(|x| match history[*x].ending {
                Ending::Ok => true,
                Ending::Fail => false,
                Ending::Info => {
                    let at = unknown.iter().position(|u| u == x).unwrap();
                    happened >> at & 1 == 1
                }
            })
            .collect();
        if test == Test::Uncommitted && happened > 0 {
            return false;
        }
        orders(history, &counted, test, &mut Vec::new())
    })
}

/// All lists that committed transactions read of a key begin with each other, without duplicates.
fn lists_agree(history: &[Txn]) -> bool {
    let mut lists: Vec<(usize, &[u32])> = Vec::new();
    for t in history.iter().filter(|t| t.ending == Ending::Ok) {
        for (at, op) in t.ops.iter().enumerate() {
            if let Op::ReadList(k, list) = op {
                // Own appends stand at the end and are not part of what others wrote.
                let own = t.ops[..at]
                    .iter()
                    .filter(|op| matches!(op, Op::Append(l, _) if l == k));
                lists.push((*k, &list[..list.len().saturating_sub(own.count())]));
            }
        }
    }
    lists.iter().all(|(k, a)| {
        let unique = (0..a.len()).all(|i| !a[i + 1..].contains(&a[i]));
        let agree = lists
            .iter()
            .filter(|(l, _)| k == l)
            .all(|(_, b)| a.starts_with(b) || b.starts_with(a));
        unique && agree
    })
}

fn orders(history: &[Txn], counted: &[usize], test: Test, order: &mut Vec<usize>) -> bool {
    if order.len() == counted.len() {
        return passes(history, order, test);
    }
    for &x in counted {
        if order.contains(&x) {
            continue;
        }
        let later = |y: usize| y != x && !order.contains(&y);
        let in_session = matches!(
            test,
            Test::SessionSnapshot | Test::SessionSerial | Test::StrictSerial
        );
        let too_early = counted.iter().any(|&y| {
            later(y)
                && (in_session
                    && history[y].process == history[x].process
                    && history[y].start < history[x].start
                    || test == Test::StrictSerial
                        && history[y].ending == Ending::Ok
                        && history[y].end < history[x].start)
        });
        if too_early {
            continue;
        }
        order.push(x);
        if orders(history, counted, test, order) {
            return true;
        }
        order.pop();
    }
    false
}

fn passes(history: &[Txn], order: &[usize], test: Test) -> bool {
    let mut states: Vec<State> = vec![State::new()];
    for &x in order {
        let mut state = states.last().unwrap().clone();
        for op in &history[x].ops {
            match op {
                Op::Write(k, v) => {
                    state.insert(*k, vec![*v]);
                }
                Op::Append(k, v) => state.entry(*k).or_default().push(*v),
                _ => {}
            }
        }
        states.push(state);
    }
    order.iter().enumerate().all(|(at, &x)| {
        let t = &history[x];
        if t.ending == Ending::Info {
            return true;
        }
        match test {
            Test::Uncommitted => uncommitted(history, order, t, &states[order.len()]),
            Test::Committed => t
                .ops
                .iter()
                .enumerate()
                .all(|(i, _)| (0..=at).any(|s| reads_from(t, i, &states[s]))),
            Test::Snapshot | Test::SessionSnapshot => (0..=at).any(|s| {
                let all = (0..t.ops.len()).all(|i| reads_from(t, i, &states[s]));
                let alone = order[s..at].iter().all(|&y| !conflict(t, &history[y]));
                let own_session = order[s..at]
                    .iter()
                    .all(|&y| test == Test::Snapshot || history[y].process != t.process);
                all && alone && own_session
            }),
            Test::Serial | Test::SessionSerial | Test::StrictSerial => {
                (0..t.ops.len()).all(|i| reads_from(t, i, &states[at]))
            }
        }
    })
}

fn conflict(a: &Txn, b: &Txn) -> bool {
    let writes = |t: &Txn| -> Vec<usize> {
        t.ops
            .iter()
            .filter_map(|op| match op {
                Op::Write(k, _) | Op::Append(k, _) => Some(*k),
                _ => None,
            })
            .collect()
    };
    let ours = writes(a);
    writes(b).iter().any(|k| ours.contains(k))
}

/// Whether an operation, if it reads, returns what it should from a state.
fn reads_from(t: &Txn, at: usize, state: &State) -> bool {
    let (key, value) = match &t.ops[at] {
        Op::Read(k, v) => (*k, v.iter().copied().collect::<Vec<u32>>()),
        Op::ReadList(k, list) => (*k, list.clone()),
        _ => return true,
    };
    let mut expected = state.get(&key).cloned().unwrap_or_default();
    for op in &t.ops[..at] {
        match op {
            Op::Write(k, v) if *k == key => expected = vec![*v],
            Op::Append(k, v) if *k == key => expected.push(*v),
            _ => {}
        }
    }
    expected == value
}

/// Read uncommitted: own writes are read back, and lists agree with one order of the appends of
/// whole transactions.
fn uncommitted(history: &[Txn], order: &[usize], t: &Txn, last: &State) -> bool {
    t.ops.iter().enumerate().all(|(at, op)| match op {
        Op::Read(key, value) => {
            let own = t.ops[..at].iter().rev().find_map(|op| match op {
                Op::Write(k, v) if k == key => Some(*v),
                _ => None,
            });
            own.is_none_or(|own| *value == Some(own))
        }
        Op::ReadList(key, list) => {
            let own: Vec<u32> = t.ops[..at]
                .iter()
                .filter_map(|op| match op {
                    Op::Append(k, v) if k == key => Some(*v),
                    _ => None,
                })
                .collect();
            let committed = |v: &u32| {
                order
                    .iter()
                    .any(|&y| history[y].ops.contains(&Op::Append(*key, *v)))
            };
            let seen: Vec<u32> = list.iter().copied().filter(committed).collect();
            let all = last.get(key).cloned().unwrap_or_default();
            let outside = seen.len().saturating_sub(own.len());
            list.ends_with(&own) && all.starts_with(&seen[..outside])
        }
        _ => true,
    })
}
