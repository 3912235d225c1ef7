//! The set of seen states, shared by all cores and compressed to trees.
//!
//! A state is a row of lanes. Two neighbours are a node, two neighbouring nodes are a node, and so on up to the
//! root: Blom et al. (2009) call this recursive indexing; Laarman, van de Pol and Weber
//! (2011) made it a tree in one lock-free table. Equal nodes are stored once, each as a word of 64 bits: a leaf is
//! a lane, any other node the numbers of its two children. Steps change few lanes, and states are combinations of
//! few parts, so there are far fewer nodes below the roots than states. A stored state costs the word of its root,
//! a number of its parent and its slots in the index: 8, 4 and 5 to 8 bytes.
//!
//! Ours differs in three ways. Leaves are lanes of 64 bits. States have dense numbers that never change, so other
//! data about states are rows, and the index can grow. A row of lanes has any length: the number 0 stands for
//! zeros, however many, and the height of the tree is a part of its root (lanes at the end that are zero are
//! threads that do not exist, and do not count).
//!
//! Each core has a [`View`]: the tree of the state that it expands. A successor is added by walking from the
//! changed lanes to the root, through a small private cache of nodes, and a state is loaded by walking from its root
//! down to what differs from the state before. Successors are gathered and their slots fetched together, so that
//! memory latencies overlap. (Fetching ahead the words that the slots lead to, or the nodes below the roots, took more
//! time than it saved.)

mod chunks;
mod slots;
mod words;

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use self::chunks::Chunks;
use self::words::{Adding, Supply, Words};
use crate::store::{NO_PARENT, StoreFull};

/// Numbers of nodes have this many bits, so that two of them and the height fit a word.
const NODE_BITS: u32 = 30;

/// Trees up to this height have at most 64 nodes.
const SMALL_HEIGHT: u32 = 5;

/// States gathered before they are looked up.
const MAX_PENDING: usize = 64;

/// Nodes in the private cache of a core.
const CACHE_LOG2: u32 = 12;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// All states that were seen, by all cores.
pub struct SharedStore {
    nodes: Words,
    /// The roots.
    states: Words,
    parents: Chunks<AtomicU32>,
    /// A bit for each state that is closed, if that is of interest.
    closed: Chunks<AtomicU64>,
    /// How many lanes the longest state has, with those that are zero.
    longest: AtomicUsize,
}

impl SharedStore {
    /// For so many cores, and states of at least so many lanes.
    pub fn new(cores: usize, lanes: usize) -> Self {
        SharedStore {
            nodes: Words::new(cores, (1 << NODE_BITS) - 1),
            states: Words::new(cores, NO_PARENT),
            parents: Chunks::new(),
            closed: Chunks::new(),
            longest: AtomicUsize::new(lanes),
        }
    }

    pub fn parent(&self, number: u32) -> Option<u32> {
        let parent = self.parents.get(number)?.load(Ordering::Relaxed);
        Some(parent).filter(|&parent| parent != NO_PARENT)
    }

    /// Closes a state: it is of the present level or an earlier one.
    pub fn close(&self, number: u32) {
        let bits = self.closed.ensure(number / 64);
        bits.fetch_or(1 << (number % 64), Ordering::Relaxed);
    }

    pub fn is_closed(&self, number: u32) -> bool {
        let bits = self.closed.get(number / 64);
        bits.is_some_and(|bits| bits.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }

    /// Memory taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes() + self.states.bytes() + self.parents.bytes() + self.closed.bytes()
    }

    /// Memory that adding states may take soon, at once.
    pub fn next_growth(&self) -> usize {
        self.nodes.next_growth() + self.states.next_growth()
    }
}

/// A state that waits to be looked up.
struct Pending {
    root: u64,
    parent: u32,
}

/// One core's view of the store: the state that it expands, and the successors that it found.
pub struct View<'s> {
    store: &'s SharedStore,
    core: usize,
    node_supply: Supply,
    /// The right to add nodes. It is given back when the pending states are looked up, so that it is never kept
    /// while this core waits for another.
    adding_nodes: Option<Adding<'s>>,
    state_supply: Supply,
    /// Words of nodes and their numbers.
    cache: Box<[(u64, u32)]>,
    /// The height of the tree below: it has 2^height leaves.
    height: u32,
    /// The numbers of nodes; the children of node n are 2n and 2n+1, leaf l is node 2^height + l. The root is no
    /// node, so the first two are free.
    tree: Vec<u32>,
    /// The nodes of the state itself that are others in the present successor.
    saved: Vec<u32>,
    /// In a large tree, for each node the last successor that changed it.
    changed_by: Vec<u64>,
    successor: u64,
    undo: Vec<(u32, u32)>,
    level: Vec<u32>,
    /// The lanes of the tree.
    lanes: Vec<u64>,
    /// As many lanes as a state has at most, as far as this core knows.
    longest: usize,
    /// The state that is being expanded.
    pub number: u32,
    /// What is noted as the parent of the states that are added.
    pub parent: u32,
    pending: Vec<Pending>,
    /// States that were new.
    pub found: Vec<u32>,
    /// The numbers of the states looked up, if they are requested.
    pub met: Option<Vec<u32>>,
    /// How many states this core has added.
    pub added: u64,
}

impl<'s> View<'s> {
    pub fn new(store: &'s SharedStore, core: usize) -> Self {
        let longest = store.longest.load(Ordering::Relaxed);
        let height = longest.max(2).next_power_of_two().ilog2();
        let nodes = 2 << height;
        View {
            store,
            core,
            node_supply: Supply::default(),
            adding_nodes: None,
            state_supply: Supply::default(),
            cache: vec![(0, 0); 1 << CACHE_LOG2].into(),
            height,
            tree: vec![0; nodes],
            saved: vec![0; nodes],
            changed_by: vec![0; nodes],
            successor: 0,
            undo: Vec::new(),
            level: Vec::new(),
            lanes: vec![0; 1 << height],
            longest,
            number: NO_PARENT,
            parent: NO_PARENT,
            pending: Vec::new(),
            found: Vec::new(),
            met: None,
            added: 0,
        }
    }

    /// The number of a node.
    #[inline]
    fn node(&mut self, word: u64) -> Result<u32, StoreFull> {
        if word == 0 {
            return Ok(0);
        }
        let place = (word.wrapping_mul(GOLDEN) >> (64 - CACHE_LOG2)) as usize;
        let (cached, number) = self.cache[place];
        if cached == word {
            return Ok(number);
        }
        let number = self.shared_node(word)?;
        self.cache[place] = (word, number);
        Ok(number)
    }

    /// The number of a node that is not in the cache.
    fn shared_node(&mut self, word: u64) -> Result<u32, StoreFull> {
        let nodes = &self.store.nodes;
        if self.node_supply.is_empty() {
            // Whoever holds the right must not ask for the index to grow.
            self.adding_nodes = None;
            nodes.prepare(&mut self.node_supply, 1)?;
        }
        let core = self.core;
        let adding = self.adding_nodes.get_or_insert_with(|| nodes.adding(core));
        let added = adding.add(word, &mut self.node_supply, |_| ())?;
        // Number 0 stands for zeros, so those of the words begin with 1.
        Ok(added.number + 1)
    }

    /// The word of a node.
    #[inline]
    fn word(&self, number: u32) -> u64 {
        match number {
            0 => 0,
            number => self.store.nodes.word(number - 1),
        }
    }

    /// Makes room for so many lanes; the state stays the same.
    fn ensure_lanes(&mut self, lanes: usize) -> Result<(), StoreFull> {
        while self.lanes.len() < lanes {
            // The tree becomes the left half of a higher one.
            let mut tree = vec![0; self.tree.len() * 2];
            for (node, &number) in self.tree.iter().enumerate().skip(2) {
                tree[node + (1 << node.ilog2())] = number;
            }
            tree[2] = self.node(self.pair(1))?;
            self.changed_by = vec![0; tree.len()];
            self.saved = vec![0; tree.len()];
            self.tree = tree;
            self.height += 1;
            self.lanes.resize(1 << self.height, 0);
        }
        Ok(())
    }

    /// The root of the tree as it is now. Right halves that are zero are cut off.
    #[inline]
    fn root(&self) -> u64 {
        let (mut left, mut height) = (2, self.height);
        while self.tree[left + 1] == 0 && height > 1 {
            left *= 2;
            height -= 1;
        }
        let (left, right) = (self.tree[left], self.tree[left + 1]);
        u64::from(height) << (2 * NODE_BITS) | u64::from(right) << NODE_BITS | u64::from(left)
    }

    /// Adds the first state.
    pub fn add_first(&mut self, lanes: &[u64]) -> Result<(), StoreFull> {
        self.number = NO_PARENT;
        self.parent = NO_PARENT;
        self.add(lanes, 0..lanes.len())?;
        self.flush()
    }

    /// Makes a stored state the one whose successors are added, and copies its lanes.
    pub fn start(&mut self, number: u32, lanes: &mut Vec<u64>) -> Result<(), StoreFull> {
        self.number = number;
        self.parent = number;
        let root = self.store.states.word(number);
        let height = (root >> (2 * NODE_BITS)) as u32;
        self.ensure_lanes(1 << height)?;
        let mask = (1 << NODE_BITS) - 1;
        let (left, right) = ((root & mask) as u32, (root >> NODE_BITS & mask) as u32);
        // The two children of the root, in a tree that may be higher.
        let first = 2usize << (self.height - height);
        self.descend(first, left);
        self.descend(first + 1, right);
        let mut node = first / 2;
        while node > 1 {
            self.tree[node] = self.node(self.pair(node))?;
            self.descend(node + 1, 0);
            node /= 2;
        }
        // Whoever added it has told its length before.
        if self.lanes[self.longest..].iter().any(|&lane| lane != 0) {
            self.longest = self.store.longest.load(Ordering::Relaxed);
            self.ensure_lanes(self.longest)?;
        }
        lanes.clear();
        lanes.extend_from_slice(&self.lanes[..self.longest]);
        Ok(())
    }

    /// Puts a node into the tree, with all that is below it.
    fn descend(&mut self, place: usize, number: u32) {
        if self.tree[place] == number {
            return;
        }
        self.tree[place] = number;
        let word = self.word(number);
        let leaves = 1 << self.height;
        if place >= leaves {
            self.lanes[place - leaves] = word;
        } else {
            self.descend(2 * place, word as u32);
            self.descend(2 * place + 1, (word >> 32) as u32);
        }
    }

    /// Adds a state that differs from the started one at most in the dirty lanes.
    #[inline]
    pub fn add(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize>,
    ) -> Result<(), StoreFull> {
        if lanes.len() > self.longest {
            self.longest = lanes.len();
            self.store.longest.fetch_max(lanes.len(), Ordering::Relaxed);
            self.ensure_lanes(lanes.len())?;
        }
        let root = match self.height <= SMALL_HEIGHT {
            true => self.small_root(lanes, dirty)?,
            false => self.large_root(lanes, dirty)?,
        };
        self.pending.push(Pending {
            root,
            parent: self.parent,
        });
        if self.pending.len() >= MAX_PENDING {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds a state that has nothing to do with the started one.
    pub fn add_other(&mut self, lanes: &mut Vec<u64>) -> Result<(), StoreFull> {
        // What is behind its end would be taken from the started one.
        lanes.resize(lanes.len().max(self.longest), 0);
        self.add(lanes, 0..lanes.len())
    }

    /// The root of a successor in a tree whose nodes are the bits of a word.
    #[inline]
    fn small_root(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize>,
    ) -> Result<u64, StoreFull> {
        let leaves = 1usize << self.height;
        // Nodes that were changed, and nodes that have a child that was.
        let (mut changed, mut open) = (0u64, 0u64);
        for lane in dirty {
            let place = leaves + lane;
            if changed >> place & 1 == 1 || self.lanes[lane] == lanes[lane] {
                continue;
            }
            let number = self.node(lanes[lane])?;
            self.saved[place] = std::mem::replace(&mut self.tree[place], number);
            changed |= 1 << place;
            open |= 1 << (place / 2);
        }
        // Children have higher numbers than their parents. The root, 1, is no node.
        while open > 3 {
            let place = open.ilog2() as usize;
            let number = self.node(self.pair(place))?;
            self.saved[place] = std::mem::replace(&mut self.tree[place], number);
            changed |= 1 << place;
            open = open & !(1 << place) | 1 << (place / 2);
        }
        let root = self.root();
        while changed != 0 {
            let place = changed.trailing_zeros() as usize;
            self.tree[place] = self.saved[place];
            changed &= changed - 1;
        }
        Ok(root)
    }

    /// The same in a tree of any height.
    fn large_root(
        &mut self,
        lanes: &[u64],
        dirty: impl Iterator<Item = usize>,
    ) -> Result<u64, StoreFull> {
        self.successor += 1;
        let leaves = 1usize << self.height;
        let mut level = std::mem::take(&mut self.level);
        level.clear();
        for lane in dirty {
            let place = leaves + lane;
            if self.changed_by[place] == self.successor || self.lanes[lane] == lanes[lane] {
                continue;
            }
            self.change(place, lanes[lane])?;
            level.push(place as u32);
        }
        // Level by level up to the children of the root, each changed node once.
        let mut begin = 0;
        while level.get(begin).is_some_and(|&place| place > 3) {
            let end = level.len();
            for at in begin..end {
                let place = level[at] as usize / 2;
                if self.changed_by[place] == self.successor {
                    continue;
                }
                self.change(place, self.pair(place))?;
                level.push(place as u32);
            }
            begin = end;
        }
        self.level = level;
        let root = self.root();
        while let Some((place, old)) = self.undo.pop() {
            self.tree[place as usize] = old;
        }
        Ok(root)
    }

    /// The word of a node that is no leaf.
    #[inline]
    fn pair(&self, place: usize) -> u64 {
        u64::from(self.tree[2 * place]) | u64::from(self.tree[2 * place + 1]) << 32
    }

    /// Makes a node another one until the present successor has been added.
    #[inline]
    fn change(&mut self, place: usize, word: u64) -> Result<(), StoreFull> {
        let number = self.node(word)?;
        self.changed_by[place] = self.successor;
        self.undo.push((place as u32, self.tree[place]));
        self.tree[place] = number;
        Ok(())
    }

    /// Looks up the pending successors and stores the new ones.
    pub fn flush(&mut self) -> Result<(), StoreFull> {
        self.adding_nodes = None;
        if self.pending.is_empty() {
            return Ok(());
        }
        let store = self.store;
        store
            .states
            .prepare(&mut self.state_supply, self.pending.len())?;
        let adding = store.states.adding(self.core);
        for pending in &self.pending {
            adding.prefetch(pending.root);
        }
        for pending in self.pending.drain(..) {
            let note_parent = |number: u32| {
                let parent = store.parents.ensure(number);
                parent.store(pending.parent, Ordering::Relaxed);
            };
            let added = adding.add(pending.root, &mut self.state_supply, note_parent)?;
            if added.is_new {
                self.found.push(added.number);
                self.added += 1;
            }
            if let Some(met) = &mut self.met {
                met.push(added.number);
            }
        }
        Ok(())
    }

    /// Memory taken by the view itself, in bytes.
    pub fn bytes(&self) -> usize {
        self.cache.len() * size_of::<(u64, u32)>()
            + self.tree.len() * 20
            + self.found.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::scramble;
    use std::collections::HashMap;

    fn trimmed(mut state: Vec<u64>) -> Vec<u64> {
        while state.last() == Some(&0) {
            state.pop();
        }
        state
    }

    /// A pseudo-random state; more lanes and more values as the rounds go on.
    fn state(round: u64, random: &mut u64) -> Vec<u64> {
        let lanes = 3 + round as usize / 3_000;
        let mut next = |bound: u64| {
            *random = scramble(random.wrapping_add(GOLDEN));
            *random % bound
        };
        (0..lanes).map(|_| next(3 + round / 6_000) << 40).collect()
    }

    #[test]
    fn agrees_with_a_hash_map() {
        let store = SharedStore::new(1, 1);
        let mut view = View::new(&store, 0);
        let mut judge: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut random = 1;
        view.add_first(&[1]).expect("there is room");
        judge.insert(vec![1], view.found[0]);
        view.met = Some(Vec::new());
        let mut lanes = Vec::new();
        for round in 0..60_000 {
            // From any state seen so far, to any state.
            random = scramble(random);
            let from = (random % judge.len() as u64) as u32;
            view.start(from, &mut lanes).expect("there is room");
            assert_eq!(judge.get(&trimmed(lanes.clone())), Some(&from));
            let mut to = state(round, &mut random);
            to.resize(to.len().max(lanes.len()), 0);
            let changed = |&lane: &usize| lanes.get(lane).copied().unwrap_or(0) != to[lane];
            let dirty: Vec<usize> = (0..to.len()).filter(changed).collect();
            view.add(&to, dirty.iter().copied().chain(dirty.iter().copied()))
                .expect("there is room");
            view.flush().expect("there is room");
            let met = view
                .met
                .as_mut()
                .and_then(Vec::pop)
                .expect("it was looked up");
            let next = judge.len() as u32;
            let expected = *judge.entry(trimmed(to)).or_insert(next);
            assert_eq!(met, expected);
        }
        assert!(judge.len() > 10_000);
        assert_eq!(view.added, judge.len() as u64);
    }

    /// A state of zeros has as many lanes as any other, on every core.
    #[test]
    fn zeros_keep_their_length() {
        let store = SharedStore::new(2, 5);
        let mut view = View::new(&store, 0);
        view.add_first(&[0; 5]).expect("there is room");
        view.add(&[0; 9], 0..9).expect("there is room");
        view.flush().expect("there is room");
        assert_eq!(view.added, 1);
        let mut lanes = Vec::new();
        let other = &mut View::new(&store, 1);
        other.start(0, &mut lanes).expect("there is room");
        assert_eq!(lanes, [0; 9]);
    }

    /// Three cores add overlapping sets of states; together they have the union, each state once.
    #[test]
    fn cores_share_states() {
        let store = SharedStore::new(3, 3);
        let sets: Vec<HashMap<Vec<u64>, u32>> = std::thread::scope(|scope| {
            let add = |core: usize| {
                let mut view = View::new(&store, core);
                view.met = Some(Vec::new());
                let (mut random, mut added) = (1 + core as u64 / 2, HashMap::new());
                let mut states = Vec::new();
                for round in 0..40_000 {
                    let to = state(round, &mut random);
                    view.add(&to, 0..to.len()).expect("there is room");
                    states.push(to);
                }
                view.flush().expect("there is room");
                let met = view.met.take().unwrap_or_default();
                for (state, number) in states.into_iter().zip(met) {
                    added.insert(trimmed(state), number);
                }
                (added, view.added)
            };
            let threads: Vec<_> = (0..3).map(|core| scope.spawn(move || add(core))).collect();
            let mut count = 0;
            let mut sets = Vec::new();
            for thread in threads {
                let (set, added) = thread.join().expect("no assertion fails");
                sets.push(set);
                count += added;
            }
            let union: HashMap<&Vec<u64>, u32> = sets
                .iter()
                .flatten()
                .map(|(state, &n)| (state, n))
                .collect();
            assert_eq!(count, union.len() as u64);
            sets
        });
        let mut numbers: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut view = View::new(&store, 0);
        let mut lanes = Vec::new();
        for (state, number) in sets.into_iter().flatten() {
            assert_eq!(*numbers.entry(state.clone()).or_insert(number), number);
            view.start(number, &mut lanes).expect("there is room");
            assert_eq!(trimmed(lanes.clone()), state);
        }
        assert!(numbers.len() > 10_000);
    }
}
