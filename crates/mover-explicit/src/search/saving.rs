//! Saving a search to a file and resuming it.
//!
//! The file may come from any source: everything on which the search relies is validated.

use std::io;

use mover_ir::program::{BoundMet, LocationId, Property, TemplateId};

use super::{Cursor, Expanded, Found, Order, Search};
use crate::blocks::Blocks;
use crate::checkpoint::{CheckpointError, Checkpoints, Sink, Snapshot, Source, nonsense};
use crate::classify::{restore_blocks, save_blocks};
use crate::machine::{Machine, RunEnd, Workspace};
use crate::store::Store;

/// Kinds of violations in a checkpoint.
const AN_ERROR: u32 = 0;
const A_DEADLOCK: u32 = 1;
const A_RACE: u32 = 2;

impl Search<'_, '_> {
    /// Has a checkpoint written, between two expansions.
    pub(super) fn save(&mut self, checkpoints: &mut Checkpoints, blocks: Option<&Blocks>) {
        self.flush();
        let is_ending = self.is_done();
        let Some(save) = checkpoints.save.as_mut().filter(|_| !is_ending) else {
            return;
        };
        save(&Snapshot {
            identity: &checkpoints.identity,
            states: self.seen.store.len().into(),
            write: &|sink| self.write(sink, blocks),
        });
    }

    fn write(&self, sink: &mut Sink, blocks: Option<&Blocks>) -> io::Result<()> {
        self.seen.store.save(sink)?;
        self.machine.objects().save(sink)?;
        let statistics = &self.limits.statistics;
        sink.number(statistics.transitions)?;
        sink.number(statistics.depth)?;
        sink.number(statistics.violations)?;
        let Cursor {
            next,
            level_end,
            depth,
        } = self.cursor;
        sink.smalls(&[next, level_end, depth])?;
        sink.number(self.stack.len() as u64)?;
        for &(number, depth) in &self.stack {
            sink.small(number)?;
            sink.small(depth)?;
        }
        match &self.expanded {
            Expanded::Below(_) => sink.numbers(&[])?,
            Expanded::Marked(bits) => sink.numbers(bits)?,
        }
        save_blocks(&self.again, sink)?;
        sink.number(self.states_at_first.unwrap_or(0))?;
        sink.number(self.found.len() as u64)?;
        for found in &self.found {
            sink.small(found.state)?;
            sink.small(found.depth)?;
            sink.small(match (found.property, found.error) {
                (_, Some(_)) => AN_ERROR,
                (Property::NoDataRace, None) => A_RACE,
                (_, None) => A_DEADLOCK,
            })?;
            sink.number(found.steps.len() as u64)?;
            for &step in &found.steps {
                sink.smalls(&Machine::numbers_of(step))?;
            }
        }
        sink.number(self.bounds.len() as u64)?;
        for met in &self.bounds {
            sink.smalls(&[met.template.0, met.location.0])?;
        }
        if let Some(classifier) = blocks.and_then(|blocks| blocks.stepper.classifier.as_ref()) {
            classifier.ledger.save(sink)?;
        }
        self.tables.map_or(Ok(()), |tables| tables.save(sink))
    }

    /// Puts the search where the checkpoint was written.
    pub(super) fn restore(
        &mut self,
        source: &mut Source,
        blocks: Option<&mut Blocks>,
    ) -> Result<(), CheckpointError> {
        let store = Store::restore(source)?;
        let states = store.len();
        self.machine.objects().restore(source)?;
        self.seen.resume(store);
        let statistics = &mut self.limits.statistics;
        statistics.transitions = source.number()?;
        statistics.depth = source.number()?;
        statistics.violations = source.number()?;
        let [next, level_end, depth] = source.smalls()?[..] else {
            return Err(nonsense("it does not say where the search was"));
        };
        if next > level_end || level_end > states {
            return Err(nonsense("the search was at no state"));
        }
        self.cursor = Cursor {
            next,
            level_end,
            depth,
        };
        self.stack.clear();
        for _ in 0..source.number()? {
            let (number, depth) = (source.small()?, source.small()?);
            if number >= states {
                return Err(nonsense("a state that does not exist is waiting"));
            }
            self.stack.push((number, depth));
        }
        let bits = source.numbers()?;
        self.expanded = match self.limits.options.order {
            Order::BreadthFirst => Expanded::Below(next),
            Order::DepthFirst => Expanded::Marked(bits),
        };
        self.again = restore_blocks(source, states)?;
        self.states_at_first = match source.number()? {
            0 => None,
            states => Some(states),
        };
        self.found.clear();
        for _ in 0..source.number()? {
            let found = self.restore_found(source)?;
            self.watches_races &= found.property != Property::NoDataRace;
            self.found.push(found);
        }
        self.bounds.clear();
        for _ in 0..source.number()? {
            let [template, location] = source.smalls()?[..] else {
                return Err(nonsense("it does not say which bound was met"));
            };
            let met = BoundMet {
                template: TemplateId(template),
                location: LocationId(location),
            };
            if !self.machine.is_bound(met) {
                return Err(nonsense("a bound that does not exist was met"));
            }
            self.bounds.insert(met);
        }
        if let Some(classifier) = blocks.and_then(|blocks| blocks.stepper.classifier.as_mut()) {
            classifier.ledger.restore(source, states)?;
        }
        self.tables.map_or(Ok(()), |tables| tables.restore(source))
    }

    /// Reads a violation and takes its steps once more, which says what it is.
    fn restore_found(&self, source: &mut Source) -> Result<Found, CheckpointError> {
        let (state, depth, kind) = (source.small()?, source.small()?, source.small()?);
        if state >= self.seen.store.len() {
            return Err(nonsense("a violation begins nowhere"));
        }
        let mut work = Workspace::default();
        let (mut numbers, mut key) = (Vec::new(), Vec::new());
        self.seen
            .store
            .load(state, &mut numbers, &mut work.lanes, &mut key);
        let mut steps = Vec::new();
        let (mut last, mut end) = (0, None);
        for _ in 0..source.number()? {
            let no_step = || nonsense("a step of a violation is not possible");
            let numbers = <[u32; 4]>::try_from(source.smalls()?).map_err(|_| no_step())?;
            // A violation may lie after another that was passed.
            let passed: Option<RunEnd> = end.take();
            if let Some(pc) = passed.and_then(|end| end.resume_pc) {
                self.machine.resume(&mut work, last, pc);
            }
            let step = self.machine.step_with(&work.lanes, numbers);
            let step = step.ok_or_else(no_step)?;
            last = self.machine.apply(&mut work, step);
            end = self.machine.run_end(&work.lanes, last);
            steps.push(step);
        }
        match end.map(|end| (end, end.violates)) {
            None if kind == A_DEADLOCK => Ok(Found {
                property: Property::NoDeadlock,
                error: None,
                state,
                steps,
                depth,
            }),
            None if kind == A_RACE && self.machine.has_race(&work.lanes) => Ok(Found {
                property: Property::NoDataRace,
                error: None,
                state,
                steps,
                depth,
            }),
            Some((end, Some(property))) if kind == AN_ERROR => Ok(Found {
                property,
                error: Some((end.template, end.location)),
                state,
                steps,
                depth,
            }),
            _ => Err(nonsense("a violation violates nothing")),
        }
    }
}
