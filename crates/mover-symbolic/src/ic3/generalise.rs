//! Generalisation of lemmas.
//!
//! A cube that is unreachable from the previous frame is shrunk as long as it stays
//! unreachable: literals are dropped one after the other, predicates last. A counterexample to
//! a smaller cube may be unreachable itself; then a lemma against it, one frame earlier, is
//! worth more than the literal (Hassan, Bradley and Somenzi 2013, *Better Generalization in
//! IC3*).
//!
//! Where the result still contains single bits of a number, a comparison that is true in the
//! counterexample is tried in their place (`system::refine`); a comparison that works is a
//! predicate from then on.

use super::{Cube, Ic3Search, Stop};
use crate::system::Source;

/// Lemmas on the side that may be learnt to make another one shorter by a literal.
const MOST_ASIDE: u32 = 2;

/// How many lemmas must speak about bits of a cell before a comparison is searched for.
const FEW_LEMMAS: u64 = 3;

/// Most comparisons that a proof may add to the predicates.
const MOST_REFINEMENTS: usize = 64;

/// How often a cube that cannot do without a literal is made larger to see whether it can then.
const MOST_JOINS: u32 = 2;

impl Ic3Search<'_, '_, '_> {
    /// Drops literals for as long as the cube stays unreachable.
    pub(super) fn generalise(&mut self, cube: Cube, level: usize) -> Result<Cube, Stop> {
        self.generalise_by(cube, level, MOST_ASIDE)
    }

    /// The same, with so many lemmas on the side for each literal.
    fn generalise_by(&mut self, mut cube: Cube, level: usize, aside: u32) -> Result<Cube, Stop> {
        // Numbers go first, then places, then predicates; what was seldom useful before the rest.
        let kind = |observable: usize| match self.system.observables[observable].source {
            Source::Bit { cell, .. } => u8::from(self.system.holds_place(cell)),
            Source::Predicate(_) => 2,
        };
        let mut candidates: Cube = cube.clone();
        candidates.sort_by(|&(a, _), &(b, _)| {
            let activity = || self.activity[a].total_cmp(&self.activity[b]);
            kind(a).cmp(&kind(b)).then_with(activity)
        });
        for candidate in candidates {
            if cube.len() == 1 {
                break;
            }
            if !cube.contains(&candidate) {
                continue;
            }
            let without: Cube = cube
                .iter()
                .copied()
                .filter(|&lit| lit != candidate)
                .collect();
            if let Some(smaller) = self.down(without, level, aside)? {
                cube = smaller;
            }
        }
        Ok(cube)
    }

    /// Says with comparisons what a cube says with bits of numbers, where that works.
    pub(super) fn refine(
        &mut self,
        mut cube: Cube,
        number: usize,
        level: usize,
    ) -> Result<Cube, Stop> {
        for cell in self.cells_in_bits(&cube) {
            let (lemmas, needed) = self.unrefined.entry(cell).or_insert((0, FEW_LEMMAS));
            *lemmas += 1;
            if lemmas < needed || self.system.refinements.len() >= MOST_REFINEMENTS {
                continue;
            }
            *lemmas = 0;
            match self.compare_instead(&cube, cell, number, level)? {
                Some(better) => cube = self.generalise(better, level)?,
                None => {
                    let (_, needed) = self.unrefined.entry(cell).or_default();
                    *needed *= 2;
                }
            }
        }
        Ok(cube)
    }

    /// The cells that hold numbers of which a cube has several bits.
    fn cells_in_bits(&self, cube: &Cube) -> Vec<usize> {
        let source = |&(observable, _): &(usize, bool)| self.system.observables[observable].source;
        let mut cells: Vec<usize> = cube.iter().filter_map(|lit| source(lit).cell()).collect();
        let all = cells.clone();
        cells.dedup();
        cells.retain(|cell| {
            let width = self.system.blocks.layout.widths[*cell];
            width > 2
                && !self.system.holds_place(*cell)
                && all.iter().filter(|other| *other == cell).count() > 1
        });
        cells
    }

    /// The cube with a new predicate in place of the bits of a cell, if there is one that serves.
    fn compare_instead(
        &mut self,
        cube: &Cube,
        cell: usize,
        number: usize,
        level: usize,
    ) -> Result<Option<Cube>, Stop> {
        let state = &self.obligations[number].state;
        let cell_of = |observable: usize| self.system.observables[observable].source.cell();
        let near: Vec<usize> = cube.iter().filter_map(|lit| cell_of(lit.0)).collect();
        let rest = cube.iter().copied();
        let rest: Cube = rest.filter(|lit| cell_of(lit.0) != Some(cell)).collect();
        let candidates = self
            .system
            .comparisons_of(cell, &near, |other| self.system.value_in(state, other));
        for comparison in candidates {
            if !self.system.add_comparison(comparison) {
                continue;
            }
            let observable = self.system.observables.len() - 1;
            self.relation.observe(self.system);
            self.reached.observe(self.system);
            self.activity.push(0.0);
            let mut instead = rest.clone();
            instead.push((observable, true));
            if !self.is_reached(&instead) && self.predecessor(&instead, level)?.is_none() {
                let core = self.core(&instead);
                if core.contains(&(observable, true)) {
                    self.lifter.observe(self.system);
                    return Ok(Some(core));
                }
            }
            self.system.drop_comparison();
            self.relation.forget();
            self.activity.pop();
            self.reached.forget();
        }
        Ok(None)
    }

    /// Whether a cube is unreachable from the frame before, relative to itself; if
    /// so, the part of it that is enough. A state that speaks against it may be
    /// unreachable itself: then a lemma on the side takes care of it. Otherwise it is
    /// taken into account by dropping what it does not agree with.
    fn down(&mut self, mut cube: Cube, level: usize, aside: u32) -> Result<Option<Cube>, Stop> {
        for _ in 0..=MOST_JOINS {
            let mut lemmas_left = aside;
            let against = loop {
                if self.is_reached(&cube) {
                    return Ok(None);
                }
                let Some((state, choices)) = self.predecessor(&cube, level)? else {
                    return Ok(Some(self.core(&cube)));
                };
                if lemmas_left == 0 || level == 1 {
                    break state;
                }
                let lifted = self.lift_predecessor(&state, &choices, &cube)?;
                if self.is_reached(&lifted) || self.predecessor(&lifted, level - 1)?.is_some() {
                    break state;
                }
                lemmas_left -= 1;
                let core = self.core(&lifted);
                let clause = self.generalise_by(core, level - 1, 0)?;
                let highest = self.highest(&clause, level - 1)?;
                self.learn(clause, highest);
            };
            cube.retain(|&(observable, value)| against[observable].1 == value);
            if cube.is_empty() {
                return Ok(None);
            }
        }
        Ok(None)
    }
}
