//! `trace` and `notrace` beside SPIN: random small models, and whether the assertion is violated.
//!
//! The assertion stands last: SPIN 6.5 numbers the bodies of a model, and takes the first process for the trace if
//! the trace has number 0.

use std::path::Path;
use std::process::Command;

use crate::common::{mover, run};

/// The next of a row of numbers below a bound (an xorshift generator, Marsaglia 2003).
fn below(state: &mut u64, bound: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 16) as usize % bound
}

fn one<'a>(random: &mut u64, of: &[&'a str]) -> &'a str {
    of[below(random, of.len())]
}

const EVENTS: &[&str] = &[
    "a!1", "a!2", "a!_", "a?1", "a?_", "b!1,_", "b!_,2", "b?_,_", "b?1,2", "c?1", "c?_",
];

fn model(random: &mut u64) -> String {
    let mut text = String::from(
        "chan a = [2] of { byte };\nchan b = [1] of { byte, byte };\nchan c = [0] of { byte };\n",
    );
    for (name, uses) in [
        ("P", ["a!1", "a!2", "b!1,2", "b!1,1", "c!1", "a?x"]),
        ("Q", ["a?x", "a?1", "b?x,y", "c?x", "c?1", "b!2,2"]),
    ] {
        text += &format!("active proctype {name}() {{\n\tbyte x, y;\n");
        for _ in 0..1 + below(random, 3) {
            let used = one(random, &uses);
            text += &match below(random, 4) {
                0 => format!("\tif :: {used} :: skip fi;\n"),
                1 => format!("\tatomic {{ {used}; x = 0 }};\n"),
                _ => format!("\t{used};\n"),
            };
        }
        text += match below(random, 3) {
            0 => "end:\tx == 9\n}\n",
            _ => "\tskip\n}\n",
        };
    }
    text += one(random, &["trace", "notrace"]);
    let [first, second, third] = [(); 3].map(|()| one(random, EVENTS));
    let label = one(random, &["", "end: "]);
    text += &match below(random, 4) {
        0 => format!(" {{ {first}; {label}{second} }}\n"),
        1 => format!(" {{ {label}do :: {first}; {second} :: {third} od }}\n"),
        2 => format!(" {{ {label}do :: {first} :: {second} -> break od }}\n"),
        _ => format!(" {{ if :: {first}; {second} :: {third} fi; {label}{first} }}\n"),
    };
    text
}

#[test]
fn event_traces_mean_what_they_mean_to_spin() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin-event-traces");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let models = std::env::var("MOVER_PROGRAMS").ok();
    let models: usize = models.and_then(|number| number.parse().ok()).unwrap_or(40);
    let mut random = 0x9e37_79b9_7f4a_7c15;
    let (mut kept, mut violated) = (0, 0);
    while kept + violated < models {
        let text = model(&mut random);
        std::fs::write(directory.join("model.pml"), &text).expect("a file");
        let checked = run(mover()
            .args(["check", "--property", "claims"])
            .arg(directory.join("model.pml")));
        if checked.stdout.contains("two of its events may be the same") {
            assert_eq!(checked.code, Some(5), "{text}{}", checked.stdout);
            continue;
        }
        let told = |command: &mut Command| run(command.current_dir(&directory)).stdout;
        told(Command::new("spin").args(["-a", "model.pml"]));
        told(Command::new("gcc").args(["-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]));
        // The search continues behind errors; deadlocks do not count.
        let said = told(Command::new("./pan").arg("-c0"));
        let by_spin =
            said.contains("event_trace error") || said.contains("event_trace not completed");
        let by_mover = checked.code == Some(10);
        assert!(
            checked.code == Some(0) || by_mover,
            "{text}{}{}",
            checked.stdout,
            checked.stderr
        );
        assert_eq!(by_spin, by_mover, "{text}{said}{}", checked.stdout);
        match by_mover {
            true => violated += 1,
            false => kept += 1,
        }
    }
    assert!(
        kept >= models / 8 && violated >= models / 8,
        "{kept} kept, {violated} violated"
    );
}

/// What is peculiar in SPIN's verifier is not answered.
#[test]
fn traces_that_are_not_checked_are_unknown() {
    let channels = "chan q = [2] of { byte };\nchan r = [0] of { byte };\nbyte x;\n";
    for (body, trace, reason) in [
        ("q!1; q??1", "q?1", "random receive"),
        ("q!!1", "q!1", "sorted send"),
        ("end: r!1", "r!1", "without a buffer"),
        ("q!1", "q!x", "constants"),
        ("q!1", "if :: q!1 :: q!_ fi", "may be the same"),
        ("q!1", "accept: q!1", "begins with `accept`"),
        ("q!1", "x == 0; q!1", "no event"),
    ] {
        let text = format!("{channels}active proctype P() {{ {body} }}\ntrace {{ {trace} }}\n");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unchecked-trace.pml");
        std::fs::write(&file, &text).expect("a file");
        let checked = run(mover().arg("check").arg(&file));
        assert_eq!(checked.code, Some(5), "{text}{}", checked.stdout);
        let verdict: String = (checked.stdout.split_whitespace().collect::<Vec<_>>()).join(" ");
        assert!(verdict.contains(reason), "{text}{}", checked.stdout);
    }
}
