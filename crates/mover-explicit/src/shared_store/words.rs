//! A set of words that several threads add to; each word has a number of 32 bits.
//!
//! The words lie in a row, by number. An index of slots leads from hashes to numbers; see [`super::slots`] for the
//! protocol. The bits of an entry that the number does not need are a tag, taken from the hash, so that most words
//! that are met on a walk and are not the right one are told apart without looking at the row.
//!
//! A thread takes numbers from the common supply in batches, and has those that it did not use for the next word.
//! So adding a word writes to no memory that all threads write to, except to its slot.
//!
//! When the index is three quarters full, it is made anew with twice as many slots as there are numbers. Each
//! thread has a lock of its own on the index, for which nobody else asks except to replace it. A thread that
//! replaces the index takes all the locks.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::chunks::Chunks;
use super::slots::{Walk, after, find_or_claim};
use crate::store::{StoreFull, scramble};

/// Numbers that a thread takes from the supply at once.
const BATCH: u32 = 1 << 9;

/// Slots of an index at first.
const FIRST_SLOTS: usize = 1 << 11;

/// Words after which the index is made anew by all threads together.
const MANY: u32 = 1 << 17;

/// Words whose slots are fetched at once when the index is made anew.
const REHASH_BATCH: usize = 32;

/// From hashes to numbers.
pub struct Index {
    slots: Box<[AtomicU32]>,
    /// The bits of an entry that are the number plus one.
    number: u32,
}

impl Index {
    fn new(slots: usize) -> Self {
        // Numbers are below the number of slots.
        let bits = usize::BITS - slots.leading_zeros();
        Index {
            slots: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            number: u32::MAX >> u32::BITS.saturating_sub(bits),
        }
    }

    #[inline]
    fn start(&self, scrambled: u64) -> usize {
        ((u128::from(scrambled) * self.slots.len() as u128) >> 64) as usize
    }

    #[inline]
    fn tag(&self, scrambled: u64) -> u32 {
        scrambled as u32 & !self.number
    }

    /// Tells the processor that the slots of this word will be needed.
    #[inline]
    pub fn prefetch(&self, word: u64) {
        prefetch(&self.slots[self.start(scramble(word))]);
    }

    /// Adds a word that is not there, while nobody looks for any.
    fn put(&self, scrambled: u64, number: u32) {
        let entry = self.tag(scrambled) | (number + 1);
        let mut place = self.start(scrambled);
        loop {
            let slot = &self.slots[place];
            let claimed = slot.compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed);
            if claimed.is_ok() {
                return;
            }
            place = after(place, self.slots.len());
        }
    }
}

#[inline]
fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is that of a live reference, and a prefetch changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

/// The numbers that a thread may use.
#[derive(Default)]
pub struct Supply {
    ranges: Vec<Range<u32>>,
}

impl Supply {
    fn left(&self) -> usize {
        self.ranges.iter().map(|range| range.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn first(&self) -> Option<u32> {
        self.ranges.first().map(|range| range.start)
    }

    fn use_first(&mut self) {
        if let Some(range) = self.ranges.first_mut() {
            range.start += 1;
            if range.start == range.end {
                self.ranges.remove(0);
            }
        }
    }
}

pub struct Words {
    /// By number; 0 where a number has not been used.
    words: Chunks<AtomicU64>,
    /// The first number that no thread has taken.
    next: AtomicU32,
    most: u32,
    /// The same index for each thread.
    indices: Vec<RwLock<Arc<Index>>>,
    slots: AtomicUsize,
    growing: Mutex<()>,
}

/// What became of a word that was to be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Added {
    pub number: u32,
    pub is_new: bool,
}

impl Words {
    /// For so many threads, with numbers below `most`.
    pub fn new(threads: usize, most: u32) -> Self {
        let index = Arc::new(Index::new(FIRST_SLOTS));
        Words {
            words: Chunks::new(),
            next: AtomicU32::new(0),
            most,
            indices: (0..threads).map(|_| RwLock::new(index.clone())).collect(),
            slots: AtomicUsize::new(FIRST_SLOTS),
            growing: Mutex::new(()),
        }
    }

    /// The word of a number; 0 if there is none.
    #[inline]
    pub fn word(&self, number: u32) -> u64 {
        let word = self.words.get(number);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Takes care that a thread has so many numbers. It may wait for the other threads to end what they are
    /// adding, so it must not be adding itself.
    #[inline]
    pub fn prepare(&self, supply: &mut Supply, count: usize) -> Result<(), StoreFull> {
        while supply.left() < count {
            self.refill(supply)?;
        }
        Ok(())
    }

    #[cold]
    fn refill(&self, supply: &mut Supply) -> Result<(), StoreFull> {
        let take = |next: u32| next.checked_add(BATCH).filter(|&end| end <= self.most);
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let start = taken.map_err(|_| StoreFull)?;
        supply.ranges.push(start..start + BATCH);
        // Before any of these numbers is used, there are slots for all that were taken so far.
        if is_crowded(start + BATCH, self.slots.load(Ordering::Acquire)) {
            self.grow();
        }
        Ok(())
    }

    fn grow(&self) {
        let _one_at_a_time = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.next.load(Ordering::Relaxed);
        if !is_crowded(count, self.slots.load(Ordering::Acquire)) {
            return;
        }
        let mut held: Vec<_> = self
            .indices
            .iter()
            .map(|index| index.write().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let index = Arc::new(Index::new(count as usize * 2));
        let threads = if count < MANY { 1 } else { self.indices.len() };
        std::thread::scope(|scope| {
            let share = count.div_ceil(threads as u32).max(1);
            for thread in 1..threads as u32 {
                let index = &index;
                scope.spawn(move || {
                    self.rehash(index, thread * share..count.min((thread + 1) * share))
                });
            }
            self.rehash(&index, 0..share.min(count));
        });
        self.slots.store(index.slots.len(), Ordering::Release);
        for held in &mut held {
            **held = index.clone();
        }
    }

    fn rehash(&self, index: &Index, numbers: Range<u32>) {
        let mut batch: Vec<(u64, u32)> = Vec::with_capacity(REHASH_BATCH);
        let mut numbers = numbers.peekable();
        while numbers.peek().is_some() {
            for number in numbers.by_ref().take(REHASH_BATCH) {
                let word = self.word(number);
                if word != 0 {
                    index.prefetch(word);
                    batch.push((scramble(word), number));
                }
            }
            for (scrambled, number) in batch.drain(..) {
                index.put(scrambled, number);
            }
        }
    }

    /// The index, as one thread knows it, until it is done with adding.
    #[inline]
    pub fn adding(&self, thread: usize) -> Adding<'_> {
        let index = self.indices[thread].read();
        Adding {
            words: self,
            index: index.unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Memory taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.slots.load(Ordering::Relaxed) * size_of::<AtomicU32>()
    }

    /// Memory that the next growth of the index may take soon.
    pub fn next_growth(&self) -> usize {
        let count = self.next.load(Ordering::Relaxed);
        let soon = count.saturating_add(count / 16).saturating_add(16 * BATCH);
        match is_crowded(soon, self.slots.load(Ordering::Relaxed)) {
            true => soon as usize * 2 * size_of::<AtomicU32>(),
            false => 0,
        }
    }
}

fn is_crowded(count: u32, slots: usize) -> bool {
    count as usize * 4 > slots * 3
}

/// A thread's right to add words, while which the index is not replaced.
pub struct Adding<'w> {
    words: &'w Words,
    index: std::sync::RwLockReadGuard<'w, Arc<Index>>,
}

impl Adding<'_> {
    #[inline]
    pub fn prefetch(&self, word: u64) {
        self.index.prefetch(word);
    }

    /// Adds a word other than 0 if it is new. The supply has been prepared. `announce` is told the number of a word
    /// that may be new before others can see it.
    #[inline]
    pub fn add(
        &self,
        word: u64,
        supply: &mut Supply,
        announce: impl FnOnce(u32),
    ) -> Result<Added, StoreFull> {
        debug_assert_ne!(word, 0);
        let spare = supply.first().ok_or(StoreFull)?;
        let index = &**self.index;
        let scrambled = scramble(word);
        let tag = index.tag(scrambled);
        let mut is_written = false;
        let walk = find_or_claim(
            &index.slots,
            index.start(scrambled),
            |entry| {
                entry & !index.number == tag && self.words.word((entry & index.number) - 1) == word
            },
            || {
                is_written = true;
                self.words
                    .words
                    .ensure(spare)
                    .store(word, Ordering::Relaxed);
                announce(spare);
                tag | (spare + 1)
            },
        );
        Ok(match walk {
            Walk::Known(entry) => {
                if is_written {
                    // Another thread was faster. Nobody has seen this number; it is for the next word.
                    self.words.words.ensure(spare).store(0, Ordering::Relaxed);
                }
                Added {
                    number: (entry & index.number) - 1,
                    is_new: false,
                }
            }
            Walk::Claimed => {
                supply.use_first();
                Added {
                    number: spare,
                    is_new: true,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Four threads add the same words in different orders while the index grows again and again.
    #[test]
    fn threads_agree_on_numbers() {
        const THREADS: usize = 4;
        const WORDS: u64 = 60_000;
        for round in 0..4 {
            let words = Words::new(THREADS, u32::MAX);
            let numbers: Vec<HashMap<u64, Added>> = std::thread::scope(|scope| {
                let add = |thread: usize| {
                    let mut supply = Supply::default();
                    let mut mine = HashMap::new();
                    for n in 0..WORDS {
                        // All go through the words at another pace, and meet.
                        let step = [1, 7, 11, 13][thread];
                        let word = scramble((n * step) % WORDS + round) | 1 << 63;
                        words.prepare(&mut supply, 1).expect("there is room");
                        let adding = words.adding(thread);
                        let added = adding.add(word, &mut supply, |_| ()).expect("prepared");
                        let before: Option<Added> = mine.insert(word, added);
                        if let Some(before) = before {
                            assert_eq!(before.number, added.number);
                            assert!(!added.is_new);
                            mine.insert(word, before);
                        }
                    }
                    mine
                };
                let threads: Vec<_> = (0..THREADS)
                    .map(|thread| scope.spawn(move || add(thread)))
                    .collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined
                    .map(|numbers| numbers.expect("no assertion fails"))
                    .collect()
            });
            let mut first: HashMap<u64, u32> = HashMap::new();
            let mut by_number: HashMap<u32, u64> = HashMap::new();
            let mut new = 0;
            for (&word, added) in numbers.iter().flatten() {
                assert_eq!(*first.entry(word).or_insert(added.number), added.number);
                assert_eq!(*by_number.entry(added.number).or_insert(word), word);
                assert_eq!(words.word(added.number), word);
                new += usize::from(added.is_new);
            }
            assert_eq!(first.len(), by_number.len());
            assert_eq!(new, first.len(), "each word was new once");
            assert!(first.len() as u64 > WORDS / 2);
        }
    }

    #[test]
    fn a_full_supply_is_an_error() {
        let words = Words::new(1, 2 * BATCH);
        let mut supply = Supply::default();
        assert_eq!(words.prepare(&mut supply, 2 * BATCH as usize), Ok(()));
        assert_eq!(
            words.prepare(&mut supply, 2 * BATCH as usize + 1),
            Err(StoreFull)
        );
    }
}
