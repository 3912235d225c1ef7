//! The same states as SPIN, on one small model for each rule of the language.
//!
//! Each model under `spin-rules` is explored on the IR's semantics and by
//! SPIN's own verifier, and the two must agree on the number of stored states
//! and on whether there is an error. SPIN's optimisations that change the
//! number of states are off: `-o1` (dead variables), `-o2` (variables never
//! read), `-o3` (statement merging).
//!
//! `make test` installs `spin` and `gcc`. `MOVER_SPIN_RULES=name` picks
//! the models whose name contains `name`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use mover_ir::semantics::{Machine, State};
use mover_promela::{Options, parse};

/// The semantics is made to be read, not to be fast.
const STATE_LIMIT: usize = 300_000;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Outcome {
    stored_states: usize,
    has_error: bool,
}

/// Goes on past failed assertions, as `pan -c0` does.
fn resume(machine: &Machine<'_>, mut state: State) -> Option<State> {
    while let Some((thread, mark)) = machine.error(&state) {
        let location = mark.resume?;
        if let Some(thread) = &mut state.threads[thread] {
            thread.location = location;
        }
        state.exclusive = None;
        let template = state.threads[thread].as_ref()?.template;
        if machine
            .program()
            .template(template)
            .location(location)
            .atomic
        {
            state.exclusive = Some(thread);
            let steps = machine.steps(&state);
            if steps.is_empty() || steps.iter().any(|step| step.by.thread != thread) {
                state.exclusive = None;
            }
        }
    }
    Some(state)
}

fn explore(path: &Path) -> Result<Outcome, String> {
    let frontend = parse(path, &Options::default()).map_err(|failure| {
        let messages = failure
            .diagnostics
            .iter()
            .map(|diagnostic| diagnostic.message.as_str());
        format!(
            "mover rejects it: {}",
            messages.collect::<Vec<_>>().join("; ")
        )
    })?;
    let machine = Machine::new(&frontend.program);
    let mut seen = HashSet::new();
    let mut waiting = vec![machine.initial()];
    let mut outcome = Outcome {
        stored_states: 0,
        has_error: false,
    };
    while let Some(state) = waiting.pop() {
        outcome.has_error |= machine.error(&state).is_some();
        let Some(state) = resume(&machine, state) else {
            continue;
        };
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > STATE_LIMIT {
            return Err(format!("more than {STATE_LIMIT} states"));
        }
        if state.exclusive.is_none() {
            outcome.stored_states += 1;
        }
        outcome.has_error |= machine.is_deadlock(&state);
        waiting.extend(machine.successors(&state).into_iter().map(|(_, next)| next));
    }
    Ok(outcome)
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn ask_spin(path: &Path, directory: &Path) -> Result<Outcome, String> {
    std::fs::create_dir_all(directory).expect("a directory for SPIN");
    let pan = directory.join("pan");
    if pan.exists() {
        std::fs::remove_file(&pan).expect("an old verifier can be removed");
    }
    let said = output_of(
        Command::new("spin")
            .args(["-a", "-o1", "-o2", "-o3"])
            .arg(path)
            .current_dir(directory),
    );
    let mut complaints = said
        .lines()
        .filter(|line| line.contains("rror:") && !line.contains("dubious use of 'else'"));
    if let Some(complaint) = complaints.next_back() {
        return Err(format!("SPIN rejects it: {complaint}"));
    }
    let said = output_of(
        Command::new("gcc")
            .args([
                "-w",
                "-O0",
                "-DSAFETY",
                "-DNOREDUCE",
                "-DNOCLAIM",
                "-o",
                "pan",
                "pan.c",
            ])
            .current_dir(directory),
    );
    if !pan.exists() {
        return Err(format!("gcc fails: {said}"));
    }
    let said = output_of(
        Command::new("./pan")
            .args(["-c0", "-m100000"])
            .current_dir(directory),
    );
    let line = said.lines().find(|line| line.contains("states, stored"));
    let stored = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    match stored {
        Some(stored) => Ok(Outcome {
            stored_states: stored as usize,
            has_error: !said.contains("errors: 0"),
        }),
        None => Err(format!("pan says: {said}")),
    }
}

fn models(directory: &Path) -> Vec<PathBuf> {
    let wanted = std::env::var("MOVER_SPIN_RULES").unwrap_or_default();
    let mut models: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the models are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    models.sort();
    models
}

/// What differs between the two on some models, as lines.
fn differences(models: &[PathBuf]) -> Vec<String> {
    let available = |tool: &str| Command::new(tool).arg("-V").output().is_ok();
    assert!(
        available("spin") && available("gcc"),
        "spin and gcc are needed; `make test` installs them"
    );
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin");
    let differences = std::sync::Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) =
                    models.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let name = path
                        .file_stem()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    let ours = explore(path);
                    let theirs = ask_spin(path, &scratch.join(&name));
                    if ours != theirs || ours.is_err() {
                        let line = format!("{name}: mover {ours:?}, SPIN {theirs:?}");
                        differences.lock().expect("no panic").push(line);
                    }
                }
            });
        }
    });
    let mut differences = differences.into_inner().expect("no panic");
    differences.sort();
    differences
}

#[test]
fn every_rule_has_the_states_of_spin() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spin-rules");
    let differences = differences(&models(&directory));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
