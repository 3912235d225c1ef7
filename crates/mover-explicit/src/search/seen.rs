//! The states seen so far, and the successors that are to be looked up.

use crate::store::{NO_PARENT, Store, StoreFull};

/// Successors gathered before they are looked up.
const MAX_PENDING: usize = 64;

/// The store with what it takes to add successors of one state.
pub(super) struct Seen {
    pub(super) store: Store,
    /// Of the state being expanded.
    pub(super) number: u32,
    numbers: Vec<u32>,
    key: Vec<u32>,
    hash: u64,
    /// Successors not yet looked up.
    pending_keys: Vec<u32>,
    pending: Vec<Pending>,
    /// For each lane, the last successor that wrote it.
    last_writer: Vec<u64>,
    successor: u64,
    /// Whether to note the states that are new, and these.
    collect: bool,
    pub(super) found: Vec<u32>,
    /// The numbers of the states looked up, if they are requested.
    pub(super) met: Option<Vec<u32>>,
}

/// A successor whose key lies beside it in a list of keys.
struct Pending {
    hash: u64,
    parent: u32,
}

impl Seen {
    pub(super) fn new(initial: &[u64], collect: bool) -> Self {
        let mut store = Store::new(initial.len());
        let numbers: Vec<u32> = initial
            .iter()
            .enumerate()
            .map(|(lane, &value)| store.intern(lane, value).0)
            .collect();
        store.relayout();
        let mut key = Vec::new();
        let hash = store.encode(&numbers, &mut key);
        let inserted = store.insert(&key, hash, NO_PARENT);
        debug_assert!(inserted.is_ok_and(|inserted| inserted.is_new));
        Seen {
            last_writer: vec![0; numbers.len()],
            store,
            number: 0,
            numbers,
            key,
            hash,
            pending_keys: Vec::new(),
            pending: Vec::new(),
            successor: 0,
            collect,
            found: Vec::new(),
            met: None,
        }
    }

    /// Continues with another store, in which nothing is pending.
    pub(super) fn resume(&mut self, store: Store) {
        self.last_writer = vec![0; store.lanes()];
        self.store = store;
        self.pending_keys.clear();
        self.pending.clear();
    }

    /// Makes a stored state the one whose successors are added.
    pub(super) fn start(&mut self, number: u32, lanes: &mut Vec<u64>) {
        self.number = number;
        self.hash = self
            .store
            .load(number, &mut self.numbers, lanes, &mut self.key);
    }

    /// Adds a state that differs from the started one at most in the dirty lanes.
    #[inline]
    pub(super) fn add(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize> + Clone,
    ) -> Result<(), StoreFull> {
        if lanes.len() > self.store.lanes() {
            self.store.ensure_lanes(lanes.len());
            self.numbers.resize(lanes.len(), 0);
            self.last_writer.resize(lanes.len(), 0);
        }
        let words = self.store.words();
        let start = self.pending_keys.len();
        self.pending_keys.extend_from_slice(&self.key);
        let mut hash = self.hash;
        self.successor += 1;
        for lane in dirty.clone() {
            if self.last_writer[lane] == self.successor {
                continue;
            }
            self.last_writer[lane] = self.successor;
            let (number, has_room) = self.store.intern(lane, lanes[lane]);
            if !has_room {
                self.pending_keys.truncate(start);
                self.flush()?;
                self.store.relayout();
                self.hash = self.store.encode(&self.numbers, &mut self.key);
                return self.add(lanes, dirty);
            }
            let key = &mut self.pending_keys[start..start + words];
            self.store.patch(key, lane, number);
            let change = self.store.hash_change(lane, self.numbers[lane], number);
            hash = hash.wrapping_add(change);
        }
        self.store.prefetch(hash);
        self.pending.push(Pending {
            hash,
            parent: self.number,
        });
        if self.pending.len() >= MAX_PENDING {
            self.flush()?;
        }
        Ok(())
    }

    /// Looks up the pending successors and stores the new ones.
    pub(super) fn flush(&mut self) -> Result<(), StoreFull> {
        let words = self.store.words();
        for (position, pending) in self.pending.iter().enumerate() {
            let key = &self.pending_keys[position * words..(position + 1) * words];
            let inserted = self.store.insert(key, pending.hash, pending.parent)?;
            if inserted.is_new && self.collect {
                self.found.push(inserted.number);
            }
            if let Some(met) = &mut self.met {
                met.push(inserted.number);
            }
        }
        self.pending_keys.clear();
        self.pending.clear();
        Ok(())
    }
}
