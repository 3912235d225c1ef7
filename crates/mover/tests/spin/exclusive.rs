//! `xr` and `xs` beside SPIN: random small models, and whether a declaration is violated.
//!
//! SPIN's verifier checks the declarations only with its reduction on. It keeps the owners of channels outside of the
//! state, so all processes here exist from the start.

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

fn model(random: &mut u64) -> String {
    let mut text = String::from(
        "chan a = [1] of { byte };\nchan b = [2] of { byte };\nchan c = [1] of { byte };\n",
    );
    // Each process mostly keeps to one channel, so that many declarations are kept.
    for (name, own) in [("P", "a"), ("Q", "b"), ("R", "c")] {
        text += &format!("active proctype {name}() {{\n\tbyte x;\n");
        for channel in ["a", "b"] {
            match below(random, 6) {
                0 => text += &format!("\txr {channel};\n"),
                1 => text += &format!("\txs {channel};\n"),
                _ => {}
            }
        }
        for _ in 0..1 + below(random, 2) {
            let channel = ["a", "b", own, own, own, own, own][below(random, 7)];
            let uses = [
                "C!1",
                "C!2",
                "C?x",
                "C?1",
                "len(C) == 0",
                "nempty(C)",
                "nfull(C)",
            ];
            let used = uses[below(random, uses.len())].replace('C', channel);
            match below(random, 3) {
                0 => text += &format!("\tif :: {used} :: skip fi;\n"),
                _ => text += &format!("\t{used};\n"),
            }
        }
        text += "\tskip\n}\n";
    }
    text
}

#[test]
fn exclusive_channels_mean_what_they_mean_to_spin() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin-exclusive");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut random = 0x9e37_79b9_7f4a_7c15;
    let (mut kept, mut violated) = (0, 0);
    for number in 0..24 {
        let text = model(&mut random);
        std::fs::write(directory.join("model.pml"), &text).expect("a file");
        let told = |command: &mut Command| run(command.current_dir(&directory)).stdout;
        told(Command::new("spin").args(["-a", "model.pml"]));
        told(Command::new("gcc").args(["-w", "-DSAFETY", "-o", "pan", "pan.c"]));
        // Deadlocks do not count, and the search continues after errors.
        let said = told(Command::new("./pan").args(["-E", "-c0"]));
        let by_spin = said.contains("x[rs] claim") || said.contains("assertion violated: access");
        let checked = run(mover()
            .args(["check", "--property", "unreach-call"])
            .arg(directory.join("model.pml")));
        let by_mover = checked.code == Some(10);
        assert!(
            checked.code == Some(0) || by_mover,
            "{text}{}{}",
            checked.stdout,
            checked.stderr
        );
        assert_eq!(by_spin, by_mover, "model {number}:\n{text}{said}");
        match by_mover {
            true => violated += 1,
            false => kept += 1,
        }
    }
    assert!(
        kept >= 6 && violated >= 6,
        "{kept} kept, {violated} violated"
    );
    let _ = std::fs::remove_dir_all(&directory);
}
