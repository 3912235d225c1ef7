//! Reads of one cell among many.
//!
//! An event that reads `a[i]` takes one value, from one write of the array, whatever `i` is. So
//! there is one literal for each write of any element, which says that the element that is
//! read is one that was written and that the values agree. The clauses grow with the elements
//! only where they compare indices, not where they compare values.

use std::collections::BTreeMap;

use super::{OfCell, ReadsFrom, Select, Write, equal};
use crate::blast::Blaster;
use crate::order::Point;
use crate::sat::Lit;
use crate::term::{Term, Terms};

/// What an event writes of the cells of a selection.
struct Writer<'w> {
    point: Point,
    /// By number of the case.
    writes: BTreeMap<usize, &'w Write>,
    /// That it writes the cell that is read.
    hits: Lit,
}

impl ReadsFrom<'_, '_> {
    /// The clauses of one selection.
    pub(super) fn select(
        &mut self,
        terms: &Terms,
        blaster: &mut Blaster,
        select: &Select,
        cells: &[OfCell],
        initial: &[Term],
    ) {
        let reached = blaster.lit(terms, select.guard);
        if blaster.solver.is_never(reached) {
            return;
        }
        let value = blaster.bits(terms, select.value).to_vec();
        let cases: Vec<Lit> = select
            .cases
            .iter()
            .map(|(condition, _)| blaster.lit(terms, *condition))
            .collect();
        let none = blaster.lit(terms, select.none);
        self.agree(terms, blaster, &[reached, none], &value, select.default);
        let writers = self.writers(terms, blaster, select, cells, &cases);
        let mut some = vec![!reached, none];
        for writer in &writers {
            if self.ordering.comes_first(select.point, writer.point) {
                continue;
            }
            let from = self.choice(blaster, &mut some);
            for (number, &case) in cases.iter().enumerate() {
                let mut clause = vec![!from, !case];
                if let Some(write) = writer.writes.get(&number) {
                    clause.push(blaster.lit(terms, write.guard));
                }
                blaster.solver.add(&clause);
            }
            let values: Vec<(usize, Term)> = writer
                .writes
                .iter()
                .map(|(&number, write)| (number, write.value))
                .collect();
            self.agree_by_case(terms, blaster, from, &cases, &value, &values);
            self.demand(blaster, &[!from], &[(writer.point, select.point)]);
            for other in &writers {
                if other.point == writer.point || self.ordering.excludes(writer.point, other.point)
                {
                    continue;
                }
                let orders = [(other.point, writer.point), (select.point, other.point)];
                self.demand(blaster, &[!from, !other.hits], &orders);
            }
        }
        let from = self.choice(blaster, &mut some);
        let values: Vec<(usize, Term)> = select
            .cases
            .iter()
            .enumerate()
            .map(|(number, &(_, position))| (number, initial[position]))
            .collect();
        self.agree_by_case(terms, blaster, from, &cases, &value, &values);
        for other in &writers {
            let order = [(select.point, other.point)];
            self.demand(blaster, &[!from, !other.hits], &order);
        }
        blaster.solver.add(&some);
    }

    fn choice(&mut self, blaster: &mut Blaster, some: &mut Vec<Lit>) -> Lit {
        let from = blaster.solver.new_lit();
        some.push(from);
        self.choices += 1;
        from
    }

    /// The events that may write a cell of the selection in a run that has it.
    fn writers<'w>(
        &self,
        terms: &Terms,
        blaster: &mut Blaster,
        select: &Select,
        cells: &'w [OfCell],
        cases: &[Lit],
    ) -> Vec<Writer<'w>> {
        let mut by_point: BTreeMap<Point, BTreeMap<usize, &Write>> = BTreeMap::new();
        for (number, &(_, position)) in select.cases.iter().enumerate() {
            for write in &cells[position].writes {
                let takes_place = blaster.lit(terms, write.guard);
                let is_apart = self.ordering.excludes(write.point, select.point)
                    || blaster.solver.is_never(takes_place);
                if write.point != select.point && !is_apart {
                    by_point
                        .entry(write.point)
                        .or_default()
                        .insert(number, write);
                }
            }
        }
        by_point
            .into_iter()
            .map(|(point, writes)| {
                let hits = blaster.solver.new_lit();
                for (&number, write) in &writes {
                    let takes_place = blaster.lit(terms, write.guard);
                    blaster.solver.add(&[!cases[number], !takes_place, hits]);
                }
                Writer {
                    point,
                    writes,
                    hits,
                }
            })
            .collect()
    }

    /// The value is that of each case where it applies.
    fn agree_by_case(
        &self,
        terms: &Terms,
        blaster: &mut Blaster,
        from: Lit,
        cases: &[Lit],
        value: &[Lit],
        values: &[(usize, Term)],
    ) {
        let Some(&(_, first)) = values.first() else {
            return;
        };
        if values.iter().all(|&(_, other)| other == first) {
            self.agree(terms, blaster, &[from], value, first);
            return;
        }
        for &(number, other) in values {
            self.agree(terms, blaster, &[from, cases[number]], value, other);
        }
    }

    /// The value is that of a term, if all conditions hold.
    fn agree(
        &self,
        terms: &Terms,
        blaster: &mut Blaster,
        conditions: &[Lit],
        value: &[Lit],
        term: Term,
    ) {
        let bits = blaster.bits(terms, term).to_vec();
        for (&one, other) in value.iter().zip(bits) {
            equal(blaster, conditions, one, other);
        }
    }
}
