//! Clocks that never stop, with finitely many states.
//!
//! TL2 (Dice, Shalev, Shavit 2006), LSA (Riegel, Felber, Fetzer 2006) and
//! multi-version stores order transactions by readings of a global clock that
//! grows without bound. A field of type `time` holds such a reading. All that
//! an algorithm can do with times is:
//!
//! * copy one, or set one to 0, the reading before everything;
//! * compare two, either of them plus 1 (`wv(t) = rv(t) + 1` is TL2's test
//!   whether anybody else has committed since);
//! * advance the latest one: `clock += 1`.
//!
//! So nothing depends on how large a time is. Call two states *alike* if they
//! agree on everything but the times, order the times alike (0 included), and
//! agree for any two times on whether they differ by 0, by 1 or by more. Then:
//! a comparison has the same outcome in both, because it asks no more than
//! that. After a copy they are alike, because no new value appears. After the
//! latest time is advanced they are alike: the new value differs by 1 from the
//! latest and, from every other time, by more. (Advancing any other time could
//! meet its successor, or not, depending on a distance that the abstraction
//! does not keep; it is refused as an error of the algorithm.) If a value disappears they are alike, because a
//! distance of more than 1 stays so. So likeness is a bisimulation, and states
//! that are alike have the same words. If an algorithm never compares with a
//! time plus 1, distances do not matter at all, by the same argument: only the
//! order has to agree.
//!
//! [`settle`] replaces a state by the least one alike: times are renumbered from
//! 0 in their order, with steps of 1 and 2, or of 1 alone. With m times there
//! are at most 2m + 1 values. This is exact, not an approximation: a verdict holds for the
//! unbounded clock. The tests compare the words of algorithms with and without
//! it, for clocks as large as the words can make them.

/// Renumbers the times of a state; `far` is the largest distance that is kept:
/// 2 if distances are asked for, else 1.
pub fn settle(times: &[usize], state: &mut [u8], far: u8) {
    if times.is_empty() {
        return;
    }
    let mut known: Vec<u8> = times.iter().map(|&at| state[at]).collect();
    known.push(0);
    known.sort_unstable();
    known.dedup();
    let mut settled = vec![0u8; known.len()];
    for i in 1..known.len() {
        settled[i] = settled[i - 1] + (known[i] - known[i - 1]).min(far);
    }
    for &at in times {
        if let Ok(rank) = known.binary_search(&state[at]) {
            state[at] = settled[rank];
        }
    }
}

/// Why a time cannot be advanced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimeError {
    #[error("too many times are kept at once")]
    TooMany,
    #[error("a time is advanced that is not the latest")]
    NotLatest,
}

/// Refuses to advance a time that is not the latest; `value` is its successor.
pub fn refuse_gap(times: &[usize], state: &[u8], value: i32) -> Result<(), TimeError> {
    let latest = times.iter().map(|&at| i32::from(state[at])).max();
    if value > i32::from(u8::MAX) {
        return Err(TimeError::TooMany);
    }
    if Some(value) != latest.map(|latest| latest + 1) {
        return Err(TimeError::NotLatest);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_one_are_kept() {
        let mut state = [9, 42, 7, 8, 40];
        settle(&[0, 2, 3, 4], &mut state, 2);
        // 7, 8, 9, 40 after 0; the second byte is no time.
        assert_eq!(state, [4, 42, 2, 3, 6]);
        settle(&[0, 2, 3, 4], &mut state, 2);
        assert_eq!(state, [4, 42, 2, 3, 6]);
        settle(&[0, 2, 3, 4], &mut state, 1);
        assert_eq!(state, [3, 42, 1, 2, 4]);
    }

    #[test]
    fn only_the_latest_is_advanced() {
        let state = [3, 5, 6];
        for (value, fine) in [(7, true), (6, false), (4, false), (8, false)] {
            assert_eq!(
                refuse_gap(&[0, 1, 2], &state, value).is_ok(),
                fine,
                "{value}"
            );
        }
    }
}
