//! A row that only grows and whose elements never move.
//!
//! It consists of chunks that come into being when they are first needed, by whichever thread needs them. Each
//! power of two is divided into eight chunks of equal size, so at most an eighth of the row is unused.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const FIRST_LOG2: u32 = 10;
const PARTS_LOG2: u32 = 3;
const CHUNKS: usize = ((u32::BITS + 1 - FIRST_LOG2) as usize) << PARTS_LOG2;

pub struct Chunks<T> {
    chunks: Box<[OnceLock<Box<[T]>>]>,
    bytes: AtomicUsize,
}

impl<T: Default> Chunks<T> {
    pub fn new() -> Self {
        Chunks {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// The chunk of a number, its size and the position there.
    #[inline]
    fn place(number: u32) -> (usize, usize, usize) {
        let shifted = u64::from(number) + (1 << FIRST_LOG2);
        let log2 = shifted.ilog2();
        let size = 1usize << (log2 - PARTS_LOG2);
        let inside = shifted as usize - (1 << log2);
        let part = inside >> (log2 - PARTS_LOG2);
        let chunk = (((log2 - FIRST_LOG2) as usize) << PARTS_LOG2) + part;
        (chunk, size, inside & (size - 1))
    }

    /// An element that exists.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        let (chunk, _, position) = Self::place(number);
        self.chunks[chunk].get().map(|chunk| &chunk[position])
    }

    /// An element that may be the first of its chunk.
    #[inline]
    pub fn ensure(&self, number: u32) -> &T {
        let (chunk, size, position) = Self::place(number);
        let elements = self.chunks[chunk].get_or_init(|| {
            self.bytes
                .fetch_add(size * size_of::<T>(), Ordering::Relaxed);
            (0..size).map(|_| T::default()).collect()
        });
        &elements[position]
    }

    /// Memory taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + CHUNKS * size_of::<OnceLock<Box<[T]>>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn places_follow_one_another() {
        let mut next = (0, 0);
        for number in 0..200_000 {
            let (chunk, size, position) = Chunks::<AtomicU32>::place(number);
            assert_eq!((chunk, position), next, "{number}");
            next = match position + 1 == size {
                true => (chunk + 1, 0),
                false => (chunk, position + 1),
            };
        }
        let (last, _, _) = Chunks::<AtomicU32>::place(u32::MAX);
        assert!(last < CHUNKS);
    }
}
