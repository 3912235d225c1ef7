//! A set of states of equal size, numbered in the order of their arrival.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

pub struct StateStore {
    size: usize,
    bytes: Vec<u8>,
    count: usize,
    index: HashTable<u32>,
}

fn hash(state: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(state);
    hasher.finish()
}

impl StateStore {
    pub fn new(size: usize) -> Self {
        StateStore {
            size,
            bytes: Vec::new(),
            count: 0,
            index: HashTable::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn get(&self, id: u32) -> &[u8] {
        let start = id as usize * self.size;
        &self.bytes[start..start + self.size]
    }

    /// The number of a state, and whether it is new.
    pub fn insert(&mut self, state: &[u8]) -> (u32, bool) {
        let StateStore {
            size,
            bytes,
            index,
            count,
        } = self;
        let at = |id: u32| {
            let start = id as usize * *size;
            &bytes[start..start + *size]
        };
        let hashed = hash(state);
        if let Some(&id) = index.find(hashed, |&id| at(id) == state) {
            return (id, false);
        }
        let id = *count as u32;
        index.insert_unique(hashed, id, |&id| hash(at(id)));
        bytes.extend_from_slice(state);
        *count += 1;
        (id, true)
    }

    pub fn find(&self, state: &[u8]) -> Option<u32> {
        self.index
            .find(hash(state), |&id| self.get(id) == state)
            .copied()
    }
}
