//! The protocol by which several threads share an index without locks.
//!
//! An index is a row of *slots*. A slot is empty (0) or has an *entry*, and an entry stays for ever. A thread
//! that looks for something walks from a place that a hash gives, slot by slot, until it finds it or comes to an
//! empty slot. There it claims the slot by a compare-and-swap. If another thread was faster, the slot has an entry
//! now, and the walk continues *at the same slot*: the entry may be what the thread was looking for.
//!
//! Laarman, van de Pol and Weber (2010) reserve a bucket first and write the data afterwards, so readers have to
//! wait for writers. Here what an entry stands for is written before the entry is published, into memory that only
//! the writer knows, so nobody waits for anybody.
//!
//! **Why nothing is there twice.** Two threads with the same thing walk the same slots. Neither passes an empty
//! slot. The last slots that they try to claim are therefore the same one, and one of them fails and meets the
//! other's entry. **Why nothing is read before it was written.** The claim is a release, and whoever reads an
//! entry acquires it.
//!
//! The protocol is generic over the slots, so that loom (Norris and Demsky 2013) can run it under the memory model
//! of C11; `examples/c/shared_index.c` is the same protocol, checked by mover itself.

use std::sync::atomic::{AtomicU32, Ordering};

/// A slot of the index.
pub trait Slot {
    /// The entry, and with it all that was written before it was published; 0 if the slot is empty.
    fn acquire(&self) -> u32;

    /// Publishes an entry in an empty slot; otherwise the entry that is there, acquired.
    fn claim(&self, entry: u32) -> Result<(), u32>;
}

impl Slot for AtomicU32 {
    #[inline]
    fn acquire(&self) -> u32 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn claim(&self, entry: u32) -> Result<(), u32> {
        // Success publishes what was written before; failure acquires what the other thread wrote.
        let claimed = self.compare_exchange(0, entry, Ordering::Release, Ordering::Acquire);
        claimed.map(|_| ())
    }
}

/// What a walk came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk {
    /// This entry is what was looked for.
    Known(u32),
    /// It was not there, and is now.
    Claimed,
}

/// Looks for an entry that `is_it`, from a slot on; if there is none, publishes one. `entry` writes what it stands
/// for and is asked at most once. There must be an empty slot.
#[inline]
pub fn find_or_claim<S: Slot>(
    slots: &[S],
    start: usize,
    is_it: impl Fn(u32) -> bool,
    entry: impl FnOnce() -> u32,
) -> Walk {
    let mut place = start;
    let mut found = slots[place].acquire();
    while found != 0 {
        if is_it(found) {
            return Walk::Known(found);
        }
        place = after(place, slots.len());
        found = slots[place].acquire();
    }
    let entry = entry();
    loop {
        let Err(other) = slots[place].claim(entry) else {
            return Walk::Claimed;
        };
        let mut found = other;
        while found != 0 {
            if is_it(found) {
                return Walk::Known(found);
            }
            place = after(place, slots.len());
            found = slots[place].acquire();
        }
    }
}

#[inline]
pub fn after(place: usize, slots: usize) -> usize {
    if place + 1 == slots { 0 } else { place + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32 as LoomU32, Ordering::Relaxed};
    use loom::thread;

    impl Slot for LoomU32 {
        fn acquire(&self) -> u32 {
            self.load(Ordering::Acquire)
        }

        fn claim(&self, entry: u32) -> Result<(), u32> {
            let claimed = self.compare_exchange(0, entry, Ordering::Release, Ordering::Acquire);
            claimed.map(|_| ())
        }
    }

    /// An index of words; the word of entry n is word n - 1, written without any order of its own.
    struct Table {
        slots: Vec<LoomU32>,
        words: Vec<LoomU32>,
    }

    impl Table {
        fn new(slots: usize, words: usize) -> Self {
            let row = |len: usize| (0..len).map(|_| LoomU32::new(0)).collect();
            Table {
                slots: row(slots),
                words: row(words),
            }
        }

        /// Adds a word as that of a number; its number and whether it is new.
        fn add(&self, start: usize, word: u32, number: u32) -> (u32, bool) {
            let is_it = |entry: u32| {
                let there = self.words[entry as usize - 1].load(Relaxed);
                assert_ne!(there, 0, "an entry was read before its word was written");
                there == word
            };
            let walk = find_or_claim(&self.slots, start, is_it, || {
                self.words[number as usize].store(word, Relaxed);
                number + 1
            });
            match walk {
                Walk::Known(entry) => (entry - 1, false),
                Walk::Claimed => (number, true),
            }
        }
    }

    #[test]
    fn two_threads_agree_on_the_number_of_a_word() {
        loom::model(|| {
            let table = Arc::new(Table::new(3, 2));
            let other = table.clone();
            let thread = thread::spawn(move || other.add(1, 7, 0));
            let mine = table.add(1, 7, 1);
            let theirs = thread.join().expect("no assertion fails");
            assert_eq!(mine.0, theirs.0);
            assert!(mine.1 != theirs.1, "one of them is the first");
        });
    }

    #[test]
    fn words_with_the_same_hash_are_kept_apart() {
        loom::model(|| {
            let table = Arc::new(Table::new(4, 4));
            let other = table.clone();
            // The same two words in opposite orders, from the same slot.
            let thread = thread::spawn(move || [other.add(3, 7, 0), other.add(3, 8, 1)]);
            let eight = table.add(3, 8, 2);
            let seven = table.add(3, 7, 3);
            let theirs = thread.join().expect("no assertion fails");
            assert_eq!(seven.0, theirs[0].0);
            assert_eq!(eight.0, theirs[1].0);
            assert!(seven.1 != theirs[0].1 && eight.1 != theirs[1].1);
            assert_ne!(seven.0, eight.0);
        });
    }
}
