//! `mover bench spin --reduced`: what each tool's own reduction leaves.
//!
//! SPIN's partial-order reduction (a verifier made without `-DNOREDUCE`) beside
//! `mover check --reduce phase` and `dynamic`, on safe models, so that every search
//! is complete. Stored states are the measure; seconds are those of one run, and
//! include of SPIN not the time to make the verifier.

use std::path::{Path, PathBuf};
use std::process::Command;

use mover_report::text::grouped;
use serde_json::Value;

use super::child;
use super::pan::Pan;
use super::table::Table;

/// Where a model lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Examples,
    Spin,
    /// Beside the examples, with the programs of `bench cpc`.
    Cpc,
}

/// A model, the options that give it its size, and what it is made of.
struct Subject(Home, &'static str, &'static [&'static str], &'static str);

const SUBJECTS: &[Subject] = &[
    Subject(Home::Cpc, "philosophers", &["-DN=5"], "locks"),
    Subject(Home::Cpc, "philosophers", &["-DN=6"], "locks"),
    Subject(Home::Cpc, "transaction_manager", &["-DCLIENTS=1"], "locks"),
    Subject(Home::Cpc, "bluetooth", &[], "locks"),
    Subject(Home::Examples, "bank_transfer_ordered", &[], "locks"),
    Subject(Home::Examples, "lost_update_locked", &[], "locks"),
    Subject(Home::Spin, "leader0", &[], "channels"),
    Subject(Home::Spin, "LTL/leader", &[], "channels"),
    Subject(Home::Spin, "sort", &[], "channels"),
    Subject(
        Home::Examples,
        "leader_chang_roberts",
        &["-DN=5"],
        "channels",
    ),
    Subject(Home::Examples, "sort_pipeline", &[], "channels"),
    Subject(Home::Examples, "two_phase_commit", &[], "channels"),
    Subject(Home::Examples, "prodcons_buffered", &[], "channels"),
    Subject(Home::Examples, "sliding_window", &[], "channels"),
];

/// `pan` with its reduction.
const GCC_OPTIONS: [&str; 3] = ["-O2", "-DSAFETY", "-DNOCLAIM"];

struct Found {
    states: u64,
    seconds: f64,
    megabytes: f64,
}

pub fn report(
    examples: &Path,
    spin_examples: &Path,
    words: &[String],
    scratch: &Path,
) -> Result<String, String> {
    let mut table = Table::new(&[
        "model",
        "made of",
        "states",
        "pan reduced",
        "phase",
        "dynamic",
        "seconds pan",
        "phase",
        "dynamic",
        "MB pan",
        "phase",
    ]);
    let mut behind = Vec::new();
    for Subject(home, name, defines, made_of) in SUBJECTS {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let directory: PathBuf = match home {
            Home::Examples => examples.to_path_buf(),
            Home::Spin => spin_examples.to_path_buf(),
            Home::Cpc => examples.join("../../bench/cpc"),
        };
        let model = directory.join(format!("{name}.pml"));
        let defines: Vec<String> = defines.iter().map(|define| (*define).to_string()).collect();
        let shown = format!("{name} {}", defines.join(" "))
            .trim_end()
            .to_string();
        eprintln!("{shown}");
        let place = scratch.join(format!("reduced-{}", shown.replace(['/', ' '], "-")));
        let with_model = |reason: String| format!("{shown}: {reason}");
        let pan = Pan::make(&model, &defines, place, &GCC_OPTIONS).map_err(with_model)?;
        let (theirs, _) = pan.run().map_err(with_model)?;
        let ours = |reduction: &str| check(&model, &defines, reduction).map_err(with_model);
        let (all, phase, dynamic) = (ours("none")?, ours("phase")?, ours("dynamic")?);
        if theirs.errors > 0 {
            return Err(format!(
                "{shown}: SPIN finds an error where mover finds none"
            ));
        }
        if phase.states.min(dynamic.states) > theirs.states {
            behind.push(shown.clone());
        }
        table.row(vec![
            shown,
            (*made_of).to_string(),
            grouped(all.states),
            grouped(theirs.states),
            grouped(phase.states),
            grouped(dynamic.states),
            format!("{:.2}", theirs.elapsed_s),
            format!("{:.2}", phase.seconds),
            format!("{:.2}", dynamic.seconds),
            format!("{:.1}", theirs.table_mb),
            format!("{:.1}", phase.megabytes),
        ]);
    }
    let mut out = format!(
        "SPIN: spin -a -o3; gcc {}; pan -c0 with partial-order reduction\n\
         mover: mover check --reduce phase and --reduce dynamic; one core, one run each\n\n",
        GCC_OPTIONS.join(" ")
    );
    out += &table.render();
    out += &match &behind[..] {
        [] => "\nmover stores no more states than SPIN on any of these models\n".to_string(),
        some => format!(
            "\nmover stores more states than SPIN on {}\n",
            some.join(", ")
        ),
    };
    Ok(out)
}

fn check(model: &Path, defines: &[String], reduction: &str) -> Result<Found, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let finished = child::run(
        Command::new(program)
            .args(["check", "--reduce", reduction, "--json", "--quiet"])
            .args(defines)
            .arg(model),
    )?;
    if finished.code != Some(0) {
        return Err(format!(
            "mover does not find it safe: {}{}",
            finished.stdout, finished.stderr
        ));
    }
    let answer: Value = serde_json::from_str(&finished.stdout).map_err(|e| e.to_string())?;
    let number = |field: &str| {
        let value = answer[field].as_f64();
        value.ok_or_else(|| format!("mover's answer has no number `{field}`"))
    };
    Ok(Found {
        states: number("states")? as u64,
        seconds: number("time_s")?,
        megabytes: number("peak_mb")?,
    })
}
