//! Every claim of the examples in examples/liveness has the verdict that the header promises, and the
//! run that violates it can be replayed.

use std::path::{Path, PathBuf};

use crate::common::{mover, repository, run};
use mover_fuzz::on_all_cores;

/// A line `expect OPTIONS: CLAIM VERDICT`, where the claim is a name or a formula.
struct Expectation {
    options: Vec<String>,
    claim: String,
    verdict: String,
}

fn expectations(model: &Path) -> Vec<Expectation> {
    let text = std::fs::read_to_string(model).expect("a readable model");
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("* expect"));
    let found: Vec<Expectation> = lines
        .map(|line| {
            let (options, rest) = line.split_once(':').expect("a colon after the options");
            let Some((claim, verdict)) = rest.trim().rsplit_once(' ') else {
                panic!("{}: `{line}` is not CLAIM VERDICT", model.display());
            };
            Expectation {
                options: options.split_whitespace().map(str::to_string).collect(),
                claim: claim.into(),
                verdict: verdict.into(),
            }
        })
        .collect();
    assert!(!found.is_empty(), "{} expects nothing", model.display());
    found
}

fn check(model: &Path, expected: &Expectation, trace: &Path) -> Result<(), String> {
    let mut command = mover();
    command.args(["check", "--json"]).args(&expected.options);
    if expected.claim != "termination" {
        command.args(["--ltl", &expected.claim]);
    }
    let checked = run(command.arg("--trace").arg(trace).arg(model));
    let answer = checked.json();
    let claims = answer["claims"].as_array();
    let [claim] = &claims.ok_or("no claims in the answer")?[..] else {
        return Err(format!("not one claim: {claims:?}"));
    };
    if claim["verdict"] != expected.verdict.as_str() || answer["verdict"] != claim["verdict"] {
        return Err(format!(
            "{} instead of {}",
            answer["verdict"], expected.verdict
        ));
    }
    let exit = if expected.verdict == "safe" { 0 } else { 10 };
    if checked.code != Some(exit) {
        return Err(format!("exit code {:?} instead of {exit}", checked.code));
    }
    if expected.verdict == "unsafe" {
        let defines = expected
            .options
            .iter()
            .filter(|option| option.starts_with("-D"));
        let replayed = run(mover().arg("replay").args(defines).arg(model).arg(trace));
        if replayed.code != Some(10) {
            return Err(format!("the trace does not replay: {}", replayed.stderr));
        }
    }
    Ok(())
}

#[test]
fn every_claim_has_the_verdict_of_its_header() {
    let directory = repository().join("examples/liveness");
    let entries = std::fs::read_dir(directory).expect("the examples are there");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let is_read = |file: &PathBuf| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        extension == Some("pml") || cfg!(feature = "c") && extension == Some("c")
    };
    let examples: Vec<PathBuf> = files.filter(is_read).collect();
    assert!(examples.len() >= 10, "{examples:?}");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("liveness");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let failures = on_all_cores(&examples, |model| {
        let mut failures = Vec::new();
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        for (number, expected) in expectations(model).into_iter().enumerate() {
            let trace = scratch.join(format!("{name}-{number}.json"));
            if let Err(reason) = check(model, &expected, &trace) {
                let Expectation { options, claim, .. } = &expected;
                let options = options.join(" ");
                failures.push(format!("{} {options} {claim}: {reason}", model.display()));
            }
        }
        failures
    });
    let failures = failures.concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
