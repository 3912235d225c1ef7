//! Temporal claims beside SPIN: each claim of our own examples and of the models that come with SPIN
//! has the same verdict.
//!
//! `pan -a` decides formulas, `never` claims and accept labels, `pan -l` progress labels. SPIN makes
//! an assertion of a claim that forbids states, so such a violation is an assertion with a negation
//! at its beginning; assertions of the model itself do not count.
//!
//! The result is docs/spin-claims.md; the test fails if that page is not what it would write, and
//! writes it when the environment has `UPDATE_EXPECT`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use crate::common::{mover, repository, run};

const SPIN_MODELS: &str = "/usr/share/doc/spin/examples/Examples";

/// The models with claims that come with SPIN and that both tools decide in seconds.
const MODELS: &[&str] = &[
    "Book_1991/p123",
    "Exercises/ex_3a",
    "Exercises/ex_5",
    "LTL/diskhead",
    "LTL/ltl_always_eventually",
    "LTL/mobile1",
    "LTL/mobile2",
    "LTL/salesman1",
    "LTL/salesman2",
    "LTL/train",
    "LTL/zune",
    "cambridge",
    "hajek",
    "loops",
    "werkplaats",
];

/// Models with claims that are not compared, and why.
const LEFT_OUT: &str = "\
Not compared: `LTL/bakery`, `LTL/leader`, `LTL/leader_pre`, `LTL/petersonN` and `Exercises/ex_6` take one of the \
tools longer than this test may; `LTL/ltl_example` asks for the length of a channel that does not exist yet, where SPIN stops and \
mover answers `unknown`; `LTL/patterns` and our `next_step` use `X`, which SPIN's usual builds refuse.
";

#[test]
fn claims_have_the_verdicts_of_spin() {
    let mut models: Vec<(String, PathBuf)> = (MODELS.iter())
        .map(|name| {
            let path = Path::new(SPIN_MODELS).join(name).with_extension("pml");
            (name.to_string(), path)
        })
        .collect();
    let own = std::fs::read_dir(repository().join("examples/liveness")).expect("examples");
    for entry in own {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        if path.extension().is_some_and(|found| found == "pml") && name != "next_step" {
            models.push((format!("examples/liveness/{name}"), path.clone()));
        }
    }
    models.sort();
    let work = Mutex::new(models.into_iter());
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = work.lock().expect("no panic").next();
                    let Some((name, path)) = next else { break };
                    let found = compare(&name, &path);
                    rows.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("no panic");
    rows.sort();
    let differing: Vec<&[String; 4]> = rows.iter().filter(|row| row[2] != row[3]).collect();
    assert!(differing.is_empty(), "{differing:#?}");
    let violated = rows.iter().filter(|row| row[3] == "violated").count();
    assert!(violated >= 15 && rows.len() - violated >= 15, "{rows:?}");
    let mut page = format!(
        "# Temporal claims beside SPIN\n\n\
         Every claim of these models has the same verdict in SPIN and in mover: {} claims, of which {violated} are violated. The page is \
         written by `crates/mover/tests/spin/claims.rs`.\n\n\
         | model | claim | SPIN | mover |\n|---|---|---|---|\n",
        rows.len()
    );
    for [model, claim, spin, mover] in &rows {
        page += &format!("| {model} | {claim} | {spin} | {mover} |\n");
    }
    page += "\n";
    page += LEFT_OUT;
    let file = repository().join("docs/spin-claims.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, &page).expect("a page");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(kept, page, "run with UPDATE_EXPECT=1");
}

/// Model, claim, and what both tools say.
fn compare(name: &str, path: &Path) -> Vec<[String; 4]> {
    let checked = run(mover()
        .args(["check", "--json", "--property", "claims"])
        .arg(path));
    let answer = checked.json();
    let claims = answer["claims"].as_array().cloned().unwrap_or_default();
    assert!(!claims.is_empty(), "{name}: {}", checked.stderr);
    let verdict = |claim: &Value| match claim["verdict"].as_str() {
        Some("safe") => "holds".to_string(),
        Some("unsafe") => "violated".to_string(),
        other => other.unwrap_or("none").to_string(),
    };
    let row = |claim: &Value| {
        let kind = claim["kind"].as_str().unwrap_or_default();
        let label = claim["name"].as_str().unwrap_or_default();
        let words = format!("{kind} {label}").trim().to_string();
        let spin = ask_spin(name, path, kind, label);
        [name.to_string(), words, spin, verdict(claim)]
    };
    claims.iter().map(row).collect()
}

fn ask_spin(name: &str, path: &Path, kind: &str, label: &str) -> String {
    let file = format!("{}-{kind}-{label}", name.replace('/', "-"));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("spin-claims")
        .join(file);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let told = |command: &mut Command| {
        let ended = run(command.current_dir(&directory));
        ended.stdout + &ended.stderr
    };
    let made = told(Command::new("spin").arg("-a").arg(path));
    // Claims of exclusive channel access (xr, xs) are about SPIN's reduction.
    let mut gcc = Command::new("gcc");
    gcc.args(["-w", "-DXUSAFE", "-DVECTORSZ=4096"]);
    let mut options = vec!["-a", "-E", "-m1000000"];
    match kind {
        "progress label" => {
            gcc.arg("-DNP");
            options[0] = "-l";
        }
        "accept label" => {
            gcc.arg("-DNOCLAIM");
        }
        _ if !label.is_empty() => options.extend(["-N", label]),
        _ => {}
    }
    let compiled = told(gcc.args(["-o", "pan", "pan.c"]));
    let pan = |further: &str| told(Command::new("./pan").args(&options).arg(further));
    let said = pan("-A");
    let verdict = if !said.contains("errors:") {
        format!("no answer: {made}{compiled}{said}")
    } else if !said.contains("errors: 0") || pan("-c0").contains("assertion violated  !(") {
        "violated".into()
    } else {
        "holds".into()
    };
    let _ = std::fs::remove_dir_all(&directory);
    verdict
}
