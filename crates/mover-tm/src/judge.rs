//! The judge: Section 2.3 taken literally.
//!
//! Whether a word has a property is decided by writing down every sequential
//! word with the same thread projections and comparing it with the word,
//! statement by statement, as conditions (ii) and (iii) of strict equivalence
//! ask. That is exponential and only good for short words, but there is
//! nothing in it to get wrong: every other decision procedure of this crate is
//! tested against it. Where a printed specification of the paper and this
//! definition disagree, the definition is right.
//!
//! A word with extra statements is judged by its translation
//! ([`crate::extended`]).
//!
//! For direct update the print only says that "the definition of a conflict"
//! changes. Ours: see [`Update`]; and since a write of an aborting transaction
//! is visible for a while, strict serializability does not drop aborting and
//! unfinished transactions as `com` does: only their reads do not conflict.

use crate::extended::translate;
use crate::property::{Safety, Update};
use crate::word::{Action, Outcome, Statement, Transaction, Word, transactions};

/// Decides a property of a word by the definition; exponential.
pub fn satisfies(word: &[Statement], property: Safety, update: Update) -> bool {
    let translation = translate(word);
    let ends = transactions(&translation.word);
    let counts = |at: &usize| {
        let own = ends.iter().find(|x| x.statements.contains(at));
        property == Safety::Opacity || own.is_some_and(|x| x.outcome == Outcome::Committing)
    };
    if translation.wrong_reads.iter().any(counts) {
        return false;
    }
    let judged = relevant_part(&translation.word, property, update);
    let found = transactions(&judged);
    match property {
        Safety::SnapshotIsolation => has_snapshot_points(&judged, &found),
        _ => has_equivalent_sequential_word(&judged, &found, property, update),
    }
}

/// The part of a word that a property speaks of: `com(w)`, but all of the word
/// for opacity and wherever writes are visible before the commit.
pub fn relevant_part(word: &[Statement], property: Safety, update: Update) -> Word {
    if property == Safety::Opacity || update == Update::Direct {
        return word.to_vec();
    }
    let mut keep = vec![false; word.len()];
    for transaction in transactions(word) {
        for &at in &transaction.statements {
            keep[at] = transaction.outcome == Outcome::Committing;
        }
    }
    let kept = word.iter().zip(&keep).filter(|(_, keep)| **keep);
    kept.map(|(statement, _)| *statement).collect()
}

/// The variables to which a statement gives a new value in memory.
fn stores(word: &[Statement], of: &Transaction, at: usize, update: Update) -> Vec<u8> {
    let written = || {
        of.statements
            .iter()
            .filter_map(|&i| match word[i].action {
                Action::Write(v) => Some(v),
                _ => None,
            })
            .collect()
    };
    match (update, word[at].action) {
        (Update::Deferred, Action::Commit) => written(),
        (Update::Direct, Action::Write(v)) => vec![v],
        (Update::Direct, Action::Abort) => written(),
        _ => Vec::new(),
    }
}

/// Whether statements `i` of `x` and `j` of `y` conflict.
fn conflict(
    word: &[Statement],
    (x, i): (&Transaction, usize),
    (y, j): (&Transaction, usize),
    property: Safety,
    update: Update,
) -> bool {
    let stored_by_x = stores(word, x, i, update);
    let stored_by_y = stores(word, y, j, update);
    let read_by = |transaction: &Transaction, at: usize, stored: &[u8]| {
        (property == Safety::Opacity || transaction.outcome == Outcome::Committing)
            && transaction
                .global_read_at(word, at)
                .is_some_and(|v| stored.contains(&v))
    };
    read_by(x, i, &stored_by_y)
        || read_by(y, j, &stored_by_x)
        || stored_by_x.iter().any(|v| stored_by_y.contains(v))
}

fn has_equivalent_sequential_word(
    word: &[Statement],
    found: &[Transaction],
    property: Safety,
    update: Update,
) -> bool {
    let mut ordered_pairs = Vec::new();
    for x in found {
        for y in found.iter().filter(|y| y.first() != x.first()) {
            for &i in &x.statements {
                for &j in &y.statements {
                    if i < j && conflict(word, (x, i), (y, j), property, update) {
                        ordered_pairs.push((i, j));
                    }
                }
            }
        }
    }
    let keeps_time = property != Safety::Serializability;
    each_interleaving(found.len(), &by_thread(found), &mut |order| {
        let mut position = vec![0; word.len()];
        let laid_out = order.iter().flat_map(|&x| &found[x].statements);
        for (place, &at) in laid_out.enumerate() {
            position[at] = place;
        }
        let conflicts_kept = ordered_pairs
            .iter()
            .all(|&(i, j)| position[i] < position[j]);
        conflicts_kept
            && (!keeps_time
                || found.iter().all(|x| {
                    found.iter().all(|y| {
                        x.outcome == Outcome::Unfinished
                            || x.last() >= y.first()
                            || position[y.last()] >= position[x.first()]
                    })
                }))
    })
}

/// Snapshot isolation: every committing transaction has a point at which it
/// reads and a later one at which it writes, such that reads and commits see
/// each other's points in the order of the word, no two transactions that
/// write the same variable overlap, and the order in time is kept.
fn has_snapshot_points(word: &[Statement], found: &[Transaction]) -> bool {
    let (snapshot, commit) = (|x: usize| 2 * x, |x: usize| 2 * x + 1);
    let mut before = Vec::new();
    for (i, x) in found.iter().enumerate() {
        for (j, y) in found.iter().enumerate().filter(|&(j, _)| j != i) {
            let written_by_y = stores(word, y, y.last(), Update::Deferred);
            for &at in &x.statements {
                if let Some(v) = x.global_read_at(word, at)
                    && written_by_y.contains(&v)
                {
                    before.push(if at < y.last() {
                        (snapshot(i), commit(j))
                    } else {
                        (commit(j), snapshot(i))
                    });
                }
            }
            let written_by_x = stores(word, x, x.last(), Update::Deferred);
            let both_write = written_by_x.iter().any(|v| written_by_y.contains(v));
            if (both_write && x.last() < y.last()) || x.last() < y.first() {
                before.push((commit(i), snapshot(j)));
            }
        }
    }
    let points_of_threads: Vec<Vec<usize>> = by_thread(found)
        .into_iter()
        .map(|row| row.iter().flat_map(|&x| [snapshot(x), commit(x)]).collect())
        .collect();
    each_interleaving(2 * found.len(), &points_of_threads, &mut |order| {
        let mut position = vec![0; order.len()];
        for (place, &point) in order.iter().enumerate() {
            position[point] = place;
        }
        before.iter().all(|&(a, b)| position[a] < position[b])
    })
}

fn by_thread(found: &[Transaction]) -> Vec<Vec<usize>> {
    let threads = found.iter().map(|x| x.thread as usize + 1).max();
    let mut rows = vec![Vec::new(); threads.unwrap_or(0)];
    for (index, transaction) in found.iter().enumerate() {
        rows[transaction.thread as usize].push(index);
    }
    rows
}

/// Whether some interleaving of the rows passes the test.
fn each_interleaving(
    total: usize,
    rows: &[Vec<usize>],
    test: &mut dyn FnMut(&[usize]) -> bool,
) -> bool {
    fn extend(
        total: usize,
        rows: &[Vec<usize>],
        taken: &mut [usize],
        order: &mut Vec<usize>,
        test: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        if order.len() == total {
            return test(order);
        }
        for row in 0..rows.len() {
            if let Some(&next) = rows[row].get(taken[row]) {
                taken[row] += 1;
                order.push(next);
                let passed = extend(total, rows, taken, order, test);
                order.pop();
                taken[row] -= 1;
                if passed {
                    return true;
                }
            }
        }
        false
    }
    extend(
        total,
        rows,
        &mut vec![0; rows.len()],
        &mut Vec::with_capacity(total),
        test,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::parse_word;

    fn judged(text: &str, property: Safety, update: Update) -> bool {
        satisfies(&parse_word(text).unwrap(), property, update)
    }

    #[test]
    fn the_examples_of_section_5_are_judged_as_printed() {
        let figure_1a = "(w,1)_2 (r,1)_1 (r,2)_3 c_2 (w,2)_1 (r,1)_3 c_1 c_3";
        let figure_1b = "(w,1)_2 (r,2)_2 (r,3)_3 (r,1)_1 c_2 (w,2)_3 (w,3)_1 c_1 c_3";
        let figure_2a = "(w,1)_2 (r,1)_1 (r,2)_3 c_2 (w,2)_1 (r,1)_3 c_1";
        let figure_2b = "(w,1)_2 (r,1)_1 c_2 (r,2)_3 a_3 (w,2)_1 c_1";
        let strict = |text| judged(text, Safety::StrictSerializability, Update::Deferred);
        let opaque = |text| judged(text, Safety::Opacity, Update::Deferred);
        assert!(!strict(figure_1a));
        assert!(!strict(figure_1b));
        assert!(strict(figure_2a));
        assert!(!opaque(figure_2a));
        assert!(strict(figure_2b));
        assert!(!opaque(figure_2b));
    }

    #[test]
    fn write_skew_is_snapshot_isolated_and_a_lost_update_is_not() {
        let skew = "(r,1)_1 (r,2)_2 (w,2)_1 (w,1)_2 c_1 c_2";
        let lost = "(r,1)_1 (r,1)_2 (w,1)_1 (w,1)_2 c_1 c_2";
        assert!(judged(skew, Safety::SnapshotIsolation, Update::Deferred));
        assert!(!judged(skew, Safety::Serializability, Update::Deferred));
        assert!(!judged(lost, Safety::SnapshotIsolation, Update::Deferred));
    }

    #[test]
    fn serializability_may_reorder_threads_but_not_one_thread() {
        let stale = "(r,1)_1 (w,1)_2 c_2 (w,2)_3 c_3 (r,2)_1 c_1";
        assert!(!judged(
            stale,
            Safety::StrictSerializability,
            Update::Deferred
        ));
        assert!(judged(stale, Safety::Serializability, Update::Deferred));
        let session = "(r,1)_1 (w,1)_2 c_2 (w,2)_2 c_2 (r,2)_1 c_1";
        assert!(!judged(session, Safety::Serializability, Update::Deferred));
    }

    #[test]
    fn with_direct_update_a_dirty_read_is_a_violation_once_undone() {
        let dirty = "(w,1)_1 (r,1)_2 c_2";
        assert!(judged(dirty, Safety::StrictSerializability, Update::Direct));
        let undone = "(w,1)_1 (r,1)_2 c_2 a_1";
        assert!(!judged(
            undone,
            Safety::StrictSerializability,
            Update::Direct
        ));
        assert!(judged(
            undone,
            Safety::StrictSerializability,
            Update::Deferred
        ));
        let aborted_reader = "(w,1)_1 (r,1)_2 a_1 a_2";
        assert!(judged(
            aborted_reader,
            Safety::StrictSerializability,
            Update::Direct
        ));
        assert!(!judged(aborted_reader, Safety::Opacity, Update::Direct));
    }
}
