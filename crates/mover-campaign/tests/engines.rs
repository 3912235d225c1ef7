//! Random programs of every generator, searched in every way by every engine.
//!
//! `MOVER_PROGRAMS` sets how many programs of each kind are tried, `MOVER_SEED` where to start.

use std::path::Path;
use std::time::Duration;

use mover_fuzz::subject::{Generator, Subject};
use mover_fuzz::{WAYS, programs, setting};

/// Examines so many programs; gives how many there were to compare, and how many answers the
/// engines had besides explicit search.
fn examine(generator: Generator, count: u64, patience: Option<Duration>) -> (u64, u64) {
    let first = setting("MOVER_SEED", 1);
    let mut compared = 0;
    let mut answers = 0;
    for seed in first..first + programs(count) {
        let subject: Subject = generator.subject(seed);
        match subject.examine(patience) {
            Ok(Err(_)) => {}
            Ok(Ok(examined)) => {
                compared += 1;
                let others = examined.tallies.iter().skip(WAYS.len() + 1);
                answers += others.map(|tally| tally.answered).sum::<u64>();
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
    assert!(compared * 2 >= programs(80), "only {compared}");
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

#[test]
fn all_engines_agree_on_random_programs_of_the_intermediate_language() {
    let (compared, answers) = examine(Generator::Ir, 12, Some(PATIENCE / 2));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[test]
fn explicit_search_is_what_the_semantics_says_on_random_programs() {
    let (compared, _) = examine(Generator::Ir, 400, None);
    let tried = programs(400);
    assert!(compared * 3 >= tried, "only {compared} of {tried}");
}

#[test]
fn all_judges_agree_on_random_transactional_memories() {
    let (compared, answers) = examine(Generator::Tm, 30, None);
    let tried = programs(30);
    assert!(compared * 3 >= tried, "only {compared} of {tried}");
    assert!(answers > 10 * compared, "{answers} answers");
}

/// What once went wrong, and must not again.
#[test]
fn no_mismatch_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mover-fuzz/regressions");
    let mut tried = 0;
    for entry in std::fs::read_dir(folder).expect("the regressions are there") {
        let file = entry.expect("readable").path();
        if file.extension().is_some_and(|extension| extension == "md") {
            continue;
        }
        let subject = Subject::read(&file).unwrap_or_else(|reason| panic!("{reason}"));
        match subject.examine(Some(10 * PATIENCE)) {
            Ok(Ok(_)) => tried += 1,
            Ok(Err(reason)) => panic!("{}: {}", file.display(), reason.name()),
            Err(mismatch) => panic!("{}: {mismatch}", file.display()),
        }
    }
    assert!(tried > 0, "there are some");
}

/// Races that locks rule out are none: the search of everything finds as many with them left out.
#[cfg(feature = "c")]
#[test]
fn races_that_are_ruled_out_do_not_happen() {
    use mover_engine::{Conclusion, Control, Engine, Task};
    use mover_explicit::Explicit;
    use mover_ir::program::{Program, Property};

    let races = |program: &Program| {
        let task = Task::new(program.clone(), vec![Property::UnreachCall]);
        let control = Control::unlimited()
            .within(Duration::from_secs(5))
            .with_memory(Some(1 << 28));
        let search = Explicit {
            keep_going: true,
            ..Explicit::default()
        };
        let outcome = search.run(&task, &control, &mut |_| {}).ok()?;
        let is_whole = !matches!(
            outcome.conclusion,
            Conclusion::Stopped { .. } | Conclusion::Refused { .. }
        );
        is_whole.then_some(outcome.statistics.violations)
    };
    let options = mover_c::Options {
        properties: [Property::NoDataRace].into(),
        ..mover_c::Options::default()
    };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("races");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let first = setting("MOVER_SEED", 1);
    let (mut ruled_out, mut compared, mut with_races) = (0, 0, 0);
    for seed in first..first + programs(60) {
        let file = directory.join(format!("{seed}.c"));
        let text = mover_fuzz::c::Source::random(seed).text();
        std::fs::write(&file, text).expect("a file");
        let Ok(read) = mover_c::read(&[file], &options) else {
            continue;
        };
        let mut fewer = read.program.clone();
        ruled_out += mover_reduce::facts::races::rule_out(&mut fewer);
        if let (Some(all), Some(found)) = (races(&read.program), races(&fewer)) {
            assert_eq!(all, found, "seed {seed}");
            compared += 1;
            with_races += u32::from(all > 0);
        }
    }
    assert!(ruled_out > 0, "nothing was ruled out");
    assert!(
        compared > 10 && with_races > 0 && with_races < compared,
        "{with_races} of {compared} with races"
    );
}
