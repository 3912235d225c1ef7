//! Random programs of every generator, searched in every way by every engine.
//!
//! `MOVER_PROGRAMS` sets how many programs of each kind are tried, `MOVER_SEED` where to start.

use std::time::Duration;

use mover_fuzz::subject::{Generator, Subject};

fn setting(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => usual,
    }
}

/// Examines so many programs; gives how many there were to compare, and how many answers the
/// symbolic engines had.
fn examine(generator: Generator, count: u64, patience: Option<Duration>) -> (u64, u64) {
    let first = setting("MOVER_SEED", 1);
    let mut compared = 0;
    let mut answers = 0;
    for seed in first..first + setting("MOVER_PROGRAMS", count) {
        let subject: Subject = generator.subject(seed);
        match subject.examine(patience) {
            Ok(None) => {}
            Ok(Some(examined)) => {
                compared += 1;
                answers += examined.answers.iter().sum::<u64>();
            }
            Err(mismatch) => {
                let (subject, mismatch) = subject.smallest(mismatch, patience);
                panic!(
                    "{} seed {seed}: {mismatch}\n{}",
                    generator.name(),
                    subject.text()
                );
            }
        }
    }
    (compared, answers)
}

const PATIENCE: Duration = Duration::from_millis(200);

#[cfg(feature = "c")]
#[test]
fn explicit_search_agrees_with_itself_on_random_c() {
    let (compared, _) = examine(Generator::C, 80, None);
    assert!(
        compared * 2 >= setting("MOVER_PROGRAMS", 80),
        "only {compared}"
    );
}

#[cfg(feature = "c")]
#[test]
fn all_engines_agree_on_random_c() {
    let (compared, answers) = examine(Generator::C, 12, Some(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[test]
fn all_engines_agree_on_random_models() {
    let (compared, answers) = examine(Generator::Promela, 40, Some(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}
