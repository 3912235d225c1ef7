use super::*;

fn tally() -> Tally {
    Tally {
        states: 10,
        next: 1,
        ..Tally::default()
    }
}

fn decision(tallies: &[Tally]) -> Decision {
    let properties = [Property::UnreachCall, Property::NoDeadlock];
    let wanted = Wanted {
        properties: &properties,
        first: false,
    };
    decide(tallies, &wanted, false, None)
}

#[test]
fn a_search_is_over_when_nobody_has_anything_left() {
    let done = Tally { next: 0, ..tally() };
    assert_eq!(decision(&[done, tally()]), Decision::NextLevel);
    assert_eq!(decision(&[done, done]), Decision::Over);
    let again = Tally { again: 1, ..done };
    assert_eq!(decision(&[done, again]), Decision::Again);
    let stopped = Tally {
        is_stopped: true,
        ..tally()
    };
    assert_eq!(decision(&[again, stopped]), Decision::Over);
}

#[test]
fn violations_of_different_processes_count_together() {
    let error = Tally {
        found: bit(Property::UnreachCall),
        ..tally()
    };
    let deadlock = Tally {
        found: bit(Property::NoDeadlock),
        ..tally()
    };
    assert_eq!(decision(&[error, error]), Decision::NextLevel);
    assert_eq!(decision(&[error, deadlock]), Decision::Over);
}

#[test]
fn codes_name_the_process_and_the_number() {
    for number in [0, 1, 77, u32::MAX / 3 - 1] {
        for process in 0..3 {
            let code = code(number, process, 3).expect("it fits");
            assert_eq!((code % 3, code / 3), (process as u32, number));
        }
    }
    assert_eq!(code(u32::MAX / 2, 1, 2), None);
    assert_eq!(code(u32::MAX, 0, 2), None);
}

#[test]
fn every_process_owns_a_part() {
    let mut states = [0; 7];
    for number in 0..70_000_u64 {
        states[owner(crate::store::scramble(number), 7)] += 1;
    }
    assert!(states.iter().all(|&count| (9_000..11_000).contains(&count)));
}
