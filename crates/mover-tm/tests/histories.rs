//! Recorded histories against trying every order.

use std::collections::HashMap;
use std::fmt::Write;

use mover_tm::check::Verdict;
use mover_tm::history::{End, History};
use mover_tm::property::Safety;
use mover_tm::recorded::Recorded;
use mover_tm::recorded::levels::Level;
use mover_tm::recorded::reader::{Wanted, read};
use mover_tm::recorded::verdict::{Limits, history_of, judge};

mod random;
use random::Random;

fn load(text: &str) -> Result<Recorded, String> {
    let found = read(text.as_bytes(), Wanted::default());
    found
        .map(|(recorded, _)| recorded)
        .map_err(|error| error.message)
}

fn parse(text: &str) -> Result<History, String> {
    load(text).map(|recorded| history_of(&recorded, true))
}

/// Tries every order of the transactions that count.
fn brute_force(history: &History, property: Safety) -> bool {
    let opacity = property == Safety::Opacity;
    // A commit without an answer happened or did not.
    let pending: Vec<usize> = (0..history.transactions.len())
        .filter(|&x| history.transactions[x].end == End::CommitPending)
        .collect();
    (0..1usize << pending.len()).any(|happened| {
        let effective = |x: usize| match history.transactions[x].end {
            End::Committed => true,
            End::CommitPending => {
                let index = pending.iter().position(|&p| p == x);
                index.is_some_and(|index| happened >> index & 1 == 1)
            }
            End::Aborted | End::Unfinished => false,
        };
        let counted: Vec<usize> = (0..history.transactions.len())
            .filter(|&x| opacity || effective(x))
            .collect();
        if counted
            .iter()
            .any(|&x| history.transactions[x].broken.is_some())
        {
            return false;
        }
        let mut memory: HashMap<u32, u32> = HashMap::new();
        place(history, &counted, &effective, &mut Vec::new(), &mut memory)
    })
}

fn place(
    history: &History,
    counted: &[usize],
    effective: &dyn Fn(usize) -> bool,
    placed: &mut Vec<usize>,
    memory: &mut HashMap<u32, u32>,
) -> bool {
    if placed.len() == counted.len() {
        return true;
    }
    for &x in counted
        .iter()
        .filter(|x| !placed.contains(x))
        .collect::<Vec<_>>()
    {
        let transaction = &history.transactions[x];
        let too_early = counted.iter().any(|&y| {
            let other = &history.transactions[y];
            !placed.contains(&y) && y != x && other.is_finished() && other.last < transaction.first
        });
        let agrees = transaction.reads.iter().all(|(variable, value)| {
            let initial = history.initial[*variable as usize];
            memory.get(variable).copied().unwrap_or(initial) == *value
        });
        if too_early || !agrees {
            continue;
        }
        let before = memory.clone();
        if effective(x) {
            memory.extend(transaction.writes.iter().copied());
        }
        placed.push(x);
        if place(history, counted, effective, placed, memory) {
            return true;
        }
        placed.pop();
        *memory = before;
    }
    false
}

/// A random history; values are few, so that reads are often right.
fn random_history(random: &mut Random, unique: bool) -> String {
    let mut text = String::new();
    let mut open = [false; 3];
    let mut next_value = 1;
    for _ in 0..8 + random.below(10) {
        let thread = random.below(3);
        let variable = ["x", "y"][random.below(2)];
        let line = match random.below(7) {
            0..=2 => {
                let value = random.below(if unique { next_value } else { 3 });
                format!(r#""op":"read","var":"{variable}","value":{value}"#)
            }
            3 | 4 => {
                let value = if unique { next_value } else { random.below(3) };
                next_value += 1;
                format!(r#""op":"write","var":"{variable}","value":{value}"#)
            }
            5 => r#""op":"commit""#.to_string(),
            _ if random.below(2) == 0 => r#""op":"abort""#.to_string(),
            _ => r#""op":"commit","event":"invoke""#.to_string(),
        };
        open[thread] = true;
        writeln!(text, r#"{{"thread":{thread},{line}}}"#).unwrap();
    }
    text
}

#[test]
fn small_histories_are_judged_as_by_trying_every_order() {
    let mut random = Random::new(3);
    let mut outcomes = [0; 2];
    for round in 0..20_000 {
        let text = random_history(&mut random, round % 2 == 0);
        let history = parse(&text).unwrap();
        if history.transactions.len() > 8 {
            continue;
        }
        let judgement = judge(&load(&text).unwrap(), &[Level::Opacity], Limits::default());
        for property in [Safety::StrictSerializability, Safety::Opacity] {
            let expected = brute_force(&history, property);
            let level = match property {
                Safety::Opacity => Level::Opacity,
                _ => Level::StrictSerializable,
            };
            // By dependencies, and by the search for an order.
            assert_eq!(
                judgement.verdict(level) == Verdict::Holds,
                expected,
                "{level}\n{text}{judgement:#?}"
            );
            let report = history.check(property, 1_000_000);
            let holds = report.verdict == Verdict::Holds;
            assert_ne!(report.verdict, Verdict::Unknown);
            assert_eq!(
                holds, expected,
                "{property:?}: {}\n{text}",
                report.explanation
            );
            outcomes[usize::from(expected)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&count| count > 1000), "{outcomes:?}");
}

/// Runs transactions against a memory, a few at a time, committing in turn.
fn recorded(operations: usize, threads: usize, damage: bool) -> String {
    let mut random = Random::new(11);
    let mut text = String::new();
    let mut memory = vec![0usize; 200];
    let mut next_value = 1;
    let mut count = 0;
    while count < operations {
        // The transactions of a round overlap but touch different variables.
        for thread in 0..threads {
            writeln!(text, r#"{{"thread":{thread},"op":"begin"}}"#).unwrap();
        }
        for thread in 0..threads {
            for _ in 0..3 {
                let v = thread + threads * random.below(memory.len() / threads);
                let value = memory[v];
                writeln!(
                    text,
                    r#"{{"thread":{thread},"op":"read","var":{v},"value":{value}}}"#
                )
                .unwrap();
                writeln!(
                    text,
                    r#"{{"thread":{thread},"op":"write","var":{v},"value":{next_value}}}"#
                )
                .unwrap();
                memory[v] = next_value;
                next_value += 1;
                count += 2;
            }
        }
        for thread in 0..threads {
            writeln!(text, r#"{{"thread":{thread},"op":"commit"}}"#).unwrap();
            count += 2;
        }
    }
    if damage {
        // A lost update: two transactions read the same value and replace it.
        for (thread, value) in [(0, next_value), (1, next_value + 1)] {
            let old = memory[0];
            writeln!(
                text,
                r#"{{"thread":{thread},"op":"read","var":0,"value":{old}}}"#
            )
            .unwrap();
            writeln!(
                text,
                r#"{{"thread":{thread},"op":"write","var":0,"value":{value}}}"#
            )
            .unwrap();
        }
        for thread in 0..2 {
            writeln!(text, r#"{{"thread":{thread},"op":"commit"}}"#).unwrap();
        }
    }
    text
}

#[test]
fn a_long_history_with_unique_values_is_decided() {
    let good = parse(&recorded(100_000, 8, false)).unwrap();
    assert!(good.operations >= 70_000);
    for property in [Safety::StrictSerializability, Safety::Opacity] {
        assert_eq!(good.check(property, 5_000_000).verdict, Verdict::Holds);
    }
    let bad = parse(&recorded(100_000, 8, true)).unwrap();
    let report = bad.check(Safety::StrictSerializability, 5_000_000);
    assert_eq!(report.verdict, Verdict::Violated);
    assert!(
        report.explanation.contains("no serial order"),
        "{}",
        report.explanation
    );
}

#[test]
fn a_violation_is_explained_by_a_cycle() {
    let skew = r#"
        {"thread":"a","op":"read","var":"x","value":0}
        {"thread":"b","op":"read","var":"y","value":0}
        {"thread":"a","op":"write","var":"y","value":1}
        {"thread":"b","op":"write","var":"x","value":2}
        {"thread":"a","op":"commit"}
        {"thread":"b","op":"commit"}"#;
    let report = parse(skew)
        .unwrap()
        .check(Safety::StrictSerializability, 1000);
    assert_eq!(report.verdict, Verdict::Violated);
    assert!(
        report.explanation.contains("read the initial value of x"),
        "{}",
        report.explanation
    );
    let thin_air = r#"{"thread":1,"op":"read","var":"x","value":9}
        {"thread":1,"op":"commit"}"#;
    let report = parse(thin_air)
        .unwrap()
        .check(Safety::StrictSerializability, 1000);
    assert!(
        report
            .explanation
            .contains("which no transaction that counts wrote")
    );
}

#[test]
fn an_unanswered_commit_may_have_happened() {
    let text = r#"{"thread":1,"op":"write","var":"x","value":1}
        {"thread":1,"op":"commit","event":"invoke"}
        {"thread":2,"op":"read","var":"x","value":1}
        {"thread":2,"op":"commit"}"#;
    let history = parse(text).unwrap();
    assert_eq!(history.check(Safety::Opacity, 1000).verdict, Verdict::Holds);
    let later = format!(
        "{text}\n{}",
        r#"{"thread":3,"op":"read","var":"x","value":0}
        {"thread":3,"op":"commit"}"#
    );
    let history = parse(&later).unwrap();
    assert_eq!(
        history.check(Safety::Opacity, 1000).verdict,
        Verdict::Violated
    );
}

#[test]
fn bad_lines_are_refused_with_a_reason() {
    for (text, reason) in [
        ("", "the file has no operation"),
        ("; nothing\n", "expected a value"),
        ("{", "the file ends within a map"),
        ("[]", "the file has no operation"),
        ("[1]", "expected an operation"),
        (r#"{"thread":1}"#, "`op` is missing"),
        (r#"{"op":"commit"}"#, "`thread` is missing"),
        (r#"{"thread":1,"op":"jump"}"#, "`op` is one of"),
        (r#"{"thread":1,"op":"read","var":"x"}"#, "`value`"),
        (
            r#"{"thread":1,"op":"read","op":"write","var":"x","value":1}"#,
            "occurs twice",
        ),
        (r#"{"thread":1,"op":"commit","colour":1}"#, "is unknown"),
        (
            r#"{"thread":1,"op":"begin"} {"thread":1,"op":"begin"}"#,
            "still running",
        ),
        ("{:type :ok, :process 1, :value 3}", "must be a list"),
        ("{:type :done, :process 1}", "none of invoke, ok"),
        (
            "{:type :invoke, :process 1, :value []} {:type :invoke, :process 1, :value []}",
            "is not answered",
        ),
        (
            "{:type :ok, :process 1, :value [[:w :x 1] [:append :x 1]]}",
            "an operation of list-append",
        ),
        (
            "{:type :ok, :process 1, :value [[:cas :x 1]]}",
            "`cas` is not supported",
        ),
        (
            "{:index 3, :type :ok, :value []} {:index 2, :type :ok, :value []}",
            "does not increase",
        ),
        (
            r#"{"Call": 5, "Return": 3, "Input": {"op": 0}}"#,
            "before it is called",
        ),
        (r#"{"a": 1}"#, "no operation of a known format"),
    ] {
        let error = load(text).expect_err(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
    let error = read(
        &b"{\"thread\":1,\"op\":\"commit\"}\n{\"thread\":2, oops}\n"[..],
        Wanted::default(),
    );
    let error = error.unwrap_err();
    assert_eq!((error.line, error.column), (2, 13), "{error:?}");
}

#[test]
fn operations_of_porcupine_are_transactions_of_their_own() {
    let judged = |text: &str| {
        let recorded = load(text).unwrap();
        judge(&recorded, &[Level::StrictSerializable], Limits::default())
    };
    let put = |client: usize, value: usize, call: usize, answer: usize| {
        format!(
            r#"{{"ClientId":{client},"Input":{{"op":"put","key":"x","value":"{value}"}},"Call":{call},"Output":{{}},"Return":{answer}}}"#
        )
    };
    let get = |client: usize, value: usize, call: usize, answer: usize| {
        format!(
            r#"{{"ClientId":{client},"Input":{{"op":"get","key":"x"}},"Call":{call},"Output":{{"value":"{value}"}},"Return":{answer}}}"#
        )
    };
    // Out of the order of time, in one list.
    let good = format!(
        "[{},{},{}]",
        get(2, 2, 20, 30),
        put(0, 1, 0, 10),
        put(1, 2, 5, 15)
    );
    assert_eq!(
        judged(&good).verdict(Level::StrictSerializable),
        Verdict::Holds
    );
    let stale = format!(
        "{}\n{}\n{}",
        put(0, 1, 0, 10),
        put(1, 2, 11, 15),
        get(2, 1, 20, 30)
    );
    let judgement = judged(&stale);
    assert_eq!(
        judgement.verdict(Level::StrictSerializable),
        Verdict::Violated
    );
    assert_eq!(judgement.verdict(Level::Serializable), Verdict::Holds);
}

/// One operation of a history of appends: client, call, return, and the text
/// appended or read.
#[derive(Clone)]
struct TextOperation {
    client: usize,
    call: usize,
    answer: usize,
    appends: bool,
    text: String,
}

fn porcupine_text(operations: &[TextOperation]) -> String {
    let line = |op: &TextOperation| {
        let (input, output) = match op.appends {
            true => (
                format!(r#"{{"op":2,"key":"k","value":"{}"}}"#, op.text),
                "{}".into(),
            ),
            false => (
                r#"{"op":0,"key":"k"}"#.to_string(),
                format!(r#"{{"value":"{}"}}"#, op.text),
            ),
        };
        format!(
            r#"{{"ClientId":{},"Input":{input},"Call":{},"Output":{output},"Return":{}}}"#,
            op.client, op.call, op.answer
        )
    };
    operations.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Linearizability as Herlihy and Wing define it: some order of all operations
/// that keeps the order in time explains every get.
fn is_linearizable(operations: &[TextOperation], done: &mut Vec<usize>, text: &str) -> bool {
    if done.len() == operations.len() {
        return true;
    }
    for next in (0..operations.len())
        .filter(|next| !done.contains(next))
        .collect::<Vec<_>>()
    {
        let op = &operations[next];
        let first = (0..operations.len())
            .filter(|other| !done.contains(other))
            .all(|other| operations[other].answer >= op.call);
        let after = match op.appends {
            true => format!("{text}{}", op.text),
            false if op.text == text => text.to_string(),
            false => continue,
        };
        if first {
            done.push(next);
            if is_linearizable(operations, done, &after) {
                return true;
            }
            done.pop();
        }
    }
    false
}

#[test]
fn appends_of_porcupine_are_judged_like_linearizability() {
    let mut random = random::Random::new(7);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..4_000 {
        let count = 2 + random.below(4);
        let mut operations: Vec<TextOperation> = Vec::new();
        let mut free = [0; 3];
        let mut appended = Vec::new();
        for number in 0..count {
            let client = random.below(3);
            let call = free[client] + 1 + random.below(4);
            let answer = call + random.below(6);
            free[client] = answer;
            let appends = random.below(2) == 0;
            let text = if appends {
                appended.push(format!("x{number}y"));
                format!("x{number}y")
            } else {
                let mut parts: Vec<String> = appended.clone();
                if random.below(2) == 0 {
                    parts.reverse();
                }
                parts.truncate(random.below(parts.len() + 1));
                parts.concat()
            };
            operations.push(TextOperation {
                client,
                call,
                answer,
                appends,
                text,
            });
        }
        let expected = is_linearizable(&operations, &mut Vec::new(), "");
        let recorded = load(&porcupine_text(&operations)).unwrap();
        let judgement = judge(&recorded, &[Level::StrictSerializable], Limits::default());
        let verdict = judgement.verdict(Level::StrictSerializable);
        let wanted = if expected {
            Verdict::Holds
        } else {
            Verdict::Violated
        };
        assert_eq!(verdict, wanted, "{}", porcupine_text(&operations));
        good += usize::from(expected);
        bad += usize::from(!expected);
    }
    assert!(good > 300 && bad > 300, "{good} {bad}");
}

#[test]
fn texts_that_cannot_be_taken_apart_are_refused() {
    let op = |appends, call, text: &str| TextOperation {
        client: 0,
        call,
        answer: call,
        appends,
        text: text.into(),
    };
    let ambiguous = [op(true, 1, "a"), op(true, 2, "aa"), op(false, 3, "aaa")];
    let error = load(&porcupine_text(&ambiguous)).unwrap_err();
    assert!(
        error.contains("more than one way") && error.contains("line 3"),
        "{error}"
    );
    let error = load(&porcupine_text(&[op(true, 1, "")])).unwrap_err();
    assert!(error.contains("empty text"), "{error}");
    let mixed = porcupine_text(&[op(true, 1, "a")])
        + "\n"
        + r#"{"ClientId":0,"Input":{"op":1,"key":"k","value":"b"},"Call":3,"Output":{},"Return":4}"#;
    assert!(load(&mixed).unwrap_err().contains("list-append"));
    // A part that nobody appended is seen.
    let garbage = load(&porcupine_text(&[op(true, 1, "a"), op(false, 3, "ab")])).unwrap();
    let judgement = judge(&garbage, &[Level::ReadCommitted], Limits::default());
    assert_eq!(judgement.verdict(Level::ReadCommitted), Verdict::Violated);
}
