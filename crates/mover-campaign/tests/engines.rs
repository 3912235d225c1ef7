//! Random programs of every generator, searched in every way by every engine.
//!
//! `MOVER_PROGRAMS` sets how many programs of each kind are tried, `MOVER_SEED` where to start.

use std::path::Path;
use std::time::Duration;

use mover_fuzz::subject::{Asked, Generator, Subject};
use mover_fuzz::{WAYS, programs, setting};

/// Examines so many programs; gives how many there were to compare, and how many answers the
/// engines had besides explicit search.
fn examine(generator: Generator, count: u64, asked: Asked) -> (u64, u64) {
    let first = setting("MOVER_SEED", 1);
    let mut compared = 0;
    let mut answers = 0;
    for seed in first..first + programs(count) {
        let subject: Subject = generator.subject(seed);
        match subject.examine(asked) {
            Ok(Err(_)) => {}
            Ok(Ok(examined)) => {
                compared += 1;
                let others = examined.tallies.iter().skip(WAYS.len() + 1);
                answers += others.map(|tally| tally.answered).sum::<u64>();
            }
            Err(mismatch) => {
                let (subject, mismatch) = subject.smallest(mismatch, asked);
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
    let (compared, _) = examine(Generator::C, 80, Asked::Explicit);
    assert!(compared * 2 >= programs(80), "only {compared}");
}

#[cfg(feature = "c")]
#[test]
fn all_engines_agree_on_random_c() {
    let (compared, answers) = examine(Generator::C, 12, Asked::All(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[cfg(feature = "c")]
#[test]
fn explicit_search_agrees_with_itself_on_random_protection() {
    let (compared, _) = examine(Generator::Protection, 60, Asked::Explicit);
    assert!(compared * 2 >= programs(60), "only {compared}");
}

#[cfg(feature = "c")]
#[test]
fn all_engines_agree_on_random_protection() {
    let (compared, answers) = examine(Generator::Protection, 12, Asked::All(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[cfg(feature = "c")]
#[test]
fn movers_commute_on_random_protection() {
    let (compared, answers) = examine(Generator::Protection, 40, Asked::Movers(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[test]
fn all_engines_agree_on_random_models() {
    let (compared, answers) = examine(Generator::Promela, 40, Asked::All(PATIENCE));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[test]
fn all_engines_agree_on_random_programs_of_the_intermediate_language() {
    let (compared, answers) = examine(Generator::Ir, 12, Asked::All(PATIENCE / 2));
    assert!(
        answers > compared,
        "{answers} answers for {compared} programs"
    );
}

#[test]
fn explicit_search_is_what_the_semantics_says_on_random_programs() {
    let (compared, _) = examine(Generator::Ir, 400, Asked::Explicit);
    let tried = programs(400);
    assert!(compared * 3 >= tried, "only {compared} of {tried}");
}

#[test]
fn all_judges_agree_on_random_transactional_memories() {
    let (compared, answers) = examine(Generator::Tm, 30, Asked::Explicit);
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
        match subject.examine(Asked::All(10 * PATIENCE)) {
            Ok(Ok(_)) => tried += 1,
            Ok(Err(reason)) => panic!("{}: {}", file.display(), reason.name()),
            Err(mismatch) => panic!("{}: {mismatch}", file.display()),
        }
    }
    assert!(tried > 0, "there are some");
}

/// Whether the definition of the semantics has a reachable data race; none if there are too many
/// states.
#[cfg(feature = "c")]
fn has_race(program: &mover_ir::program::Program) -> Option<bool> {
    use std::collections::HashSet;

    let machine = mover_ir::semantics::Machine::new(program);
    let mut waiting = vec![machine.initial()];
    let mut seen: HashSet<_> = waiting.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        if machine.race(&state).is_some() {
            return Some(true);
        }
        for (_, next) in machine.successors(&state) {
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
        if seen.len() > 20_000 {
            return None;
        }
    }
    Some(false)
}

/// Every search finds a data race if and only if the definition has one, also where accesses that
/// cannot race were left out before; and what it finds replays.
#[cfg(feature = "c")]
#[test]
fn races_are_found_where_the_definition_has_them() {
    use mover_engine::{Conclusion, Control, Engine, Task};
    use mover_explicit::{Explicit, Order};
    use mover_ir::program::Property;
    use mover_reduce::Reduction;
    use mover_symbolic::{Bmc, Ic3};

    let mut ways: Vec<Box<dyn Engine>> = Vec::new();
    for reduction in [
        Reduction::None,
        Reduction::Static,
        Reduction::Phase,
        Reduction::Dynamic,
    ] {
        for (order, jobs) in [
            (Order::BreadthFirst, 1),
            (Order::DepthFirst, 1),
            (Order::BreadthFirst, 2),
        ] {
            ways.push(Box::new(Explicit {
                reduction,
                order,
                jobs,
                narrow: 0,
                ..Explicit::default()
            }));
        }
    }
    ways.push(Box::new(Bmc::default()));
    ways.push(Box::new(Ic3::default()));
    let options = mover_c::Options {
        properties: [Property::NoDataRace, Property::NoDeadlock].into(),
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
        let Some(expected) = has_race(&read.program) else {
            continue;
        };
        let mut fewer = read.program.clone();
        ruled_out += mover_reduce::facts::races::rule_out(&mut fewer);
        compared += 1;
        with_races += u32::from(expected);
        for deadlocks in [false, true] {
            let mut asked = vec![Property::NoDataRace];
            asked.extend(deadlocks.then_some(Property::NoDeadlock));
            let task = Task::unchanged(fewer.clone(), asked);
            for way in &ways {
                let told = format!("seed {seed}, {} {}", way.name(), way.reduction());
                let control = Control::unlimited().within(Duration::from_secs(5));
                let Ok(outcome) = way.run(&task, &control, &mut |_| {}) else {
                    continue;
                };
                let mut races = outcome.violations();
                let race = races.find(|found| found.property == Property::NoDataRace);
                if let Some(race) = race {
                    assert!(expected, "{told}: there is no race");
                    race.replay(&read.program).expect("a race that replays");
                }
                let rest = outcome.others.as_ref().unwrap_or(&outcome.conclusion);
                let is_whole = matches!(rest, Conclusion::Safe { up_to } if up_to.is_empty());
                assert!(
                    race.is_some() || !is_whole || !expected,
                    "{told}: misses the race"
                );
            }
        }
    }
    assert!(ruled_out > 0, "nothing was ruled out");
    assert!(
        compared > 10 && with_races > 0 && with_races < compared,
        "{with_races} of {compared} with races"
    );
}
