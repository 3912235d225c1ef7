//! The dynamic objects that an unrolling makes.
//!
//! A layout has to say in advance which objects there are, but only the unrolling tells which
//! allocations there are. So there is a pool with objects of each site. An unrolling that finds it
//! empty, or leaves objects over, is repeated with another pool ([`Pool::next`]).

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::program::{Edge, Effect, Program, SiteId};

use crate::layout::{Layout, ObjectHome};

/// Maximum number of dynamic objects.
const MOST_OBJECTS: usize = 256;

pub struct Pool {
    /// By object of the pool: its site.
    sites: Vec<SiteId>,
    /// By site: the objects that are left, the next one last.
    left: BTreeMap<SiteId, Vec<usize>>,
    /// Objects that are not dynamic come before those of the pool.
    first: usize,
    used: BTreeSet<usize>,
    lacking: BTreeSet<SiteId>,
}

impl Pool {
    pub fn new(layout: &Layout) -> Self {
        let mut sites = Vec::new();
        let mut left: BTreeMap<SiteId, Vec<usize>> = BTreeMap::new();
        let mut first = layout.objects.len();
        for (number, object) in layout.objects.iter().enumerate().rev() {
            if let ObjectHome::Made(site) = object.home {
                sites.push(site);
                left.entry(site).or_default().push(number);
                first = number;
            }
        }
        sites.reverse();
        Pool {
            sites,
            left,
            first,
            used: BTreeSet::new(),
            lacking: BTreeSet::new(),
        }
    }

    /// The sites of the pool to begin with.
    pub fn initial(program: &Program) -> Vec<SiteId> {
        let sites = program.effects().filter_map(|effect| match effect {
            Effect::Allocate { site, .. } => Some(*site),
            _ => None,
        });
        sites.collect()
    }

    /// Objects for the allocations of an edge, the last first.
    pub fn take(&mut self, edge: &Edge) -> Vec<Option<usize>> {
        let mut taken = Vec::new();
        for effect in &edge.effects {
            let Effect::Allocate { site, .. } = effect else {
                continue;
            };
            let left = self.left.entry(*site).or_default();
            let object = left.pop();
            match object {
                Some(object) => {
                    self.used.insert(object);
                }
                None => {
                    self.lacking.insert(*site);
                }
            }
            taken.push(object);
        }
        taken.reverse();
        taken
    }

    /// The pool with which to unroll again, if this one does not fit: twice as many objects of
    /// sites of which there were not enough, or, if `exactly`, only those that were used.
    pub fn next(&self, exactly: bool) -> Option<Vec<SiteId>> {
        if self.lacking.is_empty() {
            let is_used = |(number, _): &(usize, &SiteId)| self.used.contains(number);
            let numbered = (self.first..).zip(&self.sites);
            let used: Vec<SiteId> = numbered.filter(is_used).map(|(_, site)| *site).collect();
            return (exactly && used.len() < self.sites.len()).then_some(used);
        }
        let mut sites = self.sites.clone();
        for &site in &self.lacking {
            let count = self.sites.iter().filter(|other| **other == site).count();
            sites.extend(vec![site; count.max(1)]);
        }
        (sites.len() <= MOST_OBJECTS).then_some(sites)
    }
}
