//! The end of a distributed search.
//!
//! Every process tells process 0 what it has found. Process 0 chooses a violation of each property, as a search on one
//! machine would, asks the owners for the states on its path, one by one from its end, and finds the steps between them again.
//! Until it says that all is over, the others answer.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

use mover_engine::{Stop, Violation};
use mover_ir::program::{BoundMet, LocationId, Property, TemplateId};
use mover_reduce::Movers;

use super::exchange::{Decision, Exchange, PAUSE};
use super::{Found, Shared, lock};
use crate::distributed::mesh::{Event, Kind};
use crate::distributed::wire::{Corrupt, Decoder, Encoder};
use crate::machine::{Machine, Step, Workspace};
use crate::path_reconstruction::steps_through;
use crate::search::{Searched, Trial, rank};
use crate::shared_store::View;
use crate::store::StoreFull;

/// What a distributed search came to. Only process 0 knows; the others are done with their part.
pub(super) fn conclude(
    shared: &Shared,
    exchange: Exchange,
    movers: Option<&Movers>,
    bounds: BTreeSet<BoundMet>,
    started: Instant,
) -> Searched {
    let gave_up = exchange.decision == Decision::Enough;
    let gathered = match (exchange.lost.clone(), exchange.peers.index) {
        (Some(lost), _) => {
            // What was lost is told before the connections are closed.
            exchange.peers.close();
            Err(lost)
        }
        (None, 0) => gather(shared, exchange, movers, bounds),
        (None, _) => serve(shared, exchange, &bounds).map(|()| {
            shared.stop(Stop::Answered);
            Gathered::default()
        }),
    };
    let (gathered, lost) = match gathered {
        Ok(gathered) => (gathered, None),
        Err(lost) => (Gathered::default(), Some(lost)),
    };
    if gathered.is_cut {
        shared.stop(Stop::StoreFull);
    }
    if lost.is_some() {
        shared.stop(Stop::Refused);
    }
    let mut statistics = shared.statistics(started);
    statistics.violations = match shared.keep_going {
        true => gathered.count + shared.violations.load(Ordering::Relaxed),
        false => gathered.violations.len() as u64,
    };
    let stopped = *lock(&shared.stopped);
    Searched {
        violations: gathered.violations,
        gave_up,
        dropped: None,
        trial: Trial::First,
        bounds: gathered.bounds.into_iter().collect(),
        stopped,
        refusal: gathered.refusal,
        lost,
        broken_claims: Vec::new(),
        statistics,
    }
}

/// What all processes have found.
#[derive(Default)]
struct Gathered {
    violations: Vec<Violation>,
    bounds: BTreeSet<BoundMet>,
    refusal: Option<String>,
    count: u64,
    /// Whether a run was too long to be found again.
    is_cut: bool,
}

/// A violation that another process has found; its steps cannot be read before its state is known.
struct Report {
    process: usize,
    property: Property,
    error: Option<(TemplateId, LocationId)>,
    state: u32,
    depth: u32,
    steps: Vec<[u32; 4]>,
}

/// After the search, in process 0: gathers what was found, and ends the others.
fn gather(
    shared: &Shared,
    mut exchange: Exchange,
    movers: Option<&Movers>,
    bounds: BTreeSet<BoundMet>,
) -> Result<Gathered, String> {
    let own = std::mem::take(&mut *lock(&shared.found));
    let mut reports: Vec<Report> = own.into_iter().map(|found| Report::own(&found)).collect();
    let mut gathered = Gathered {
        bounds,
        refusal: shared.machine.refusal().map(str::to_string),
        ..Gathered::default()
    };
    let mut is_missing: Vec<bool> = vec![true; exchange.peers.count()];
    is_missing[0] = false;
    while is_missing.contains(&true) {
        let (from, payload) = match exchange.early.pop() {
            Some(report) => report,
            None => expect(shared, &exchange, Kind::Report)?,
        };
        let read = read_report(shared.machine, from, &payload, &mut gathered, &mut reports);
        match read {
            Ok(()) if std::mem::replace(&mut is_missing[from], false) => {}
            _ => {
                let name = exchange.peers.name(from);
                return Err(format!("{name} has sent a message without meaning"));
            }
        }
    }
    reports.sort_by_key(|report| {
        let rank = rank(report.property, report.depth);
        (rank, report.process, report.state)
    });
    let mut known: BTreeSet<Property> = BTreeSet::new();
    for report in reports {
        if !known.insert(report.property) {
            continue;
        }
        match rebuild(shared, &exchange, movers, &report)? {
            Some(violation) => gathered.violations.push(violation),
            None => gathered.is_cut = true,
        }
    }
    for other in 1..exchange.peers.count() {
        let _ = exchange.peers.try_send(other, (Kind::Done, Vec::new()));
    }
    exchange.peers.close();
    Ok(gathered)
}

/// The next frame, which has to be of a kind.
fn expect(shared: &Shared, exchange: &Exchange, kind: Kind) -> Result<(usize, Vec<u8>), String> {
    loop {
        match exchange.peers.receive(PAUSE) {
            None if shared.control.cancelled().is_some() => {
                return Err("the search was interrupted while results were gathered".into());
            }
            None => {}
            Some(Event::Lost { from, reason }) => {
                return Err(format!("{} {reason}", exchange.peers.name(from)));
            }
            Some(Event::Frame {
                from,
                kind: other,
                payload,
            }) if other == kind => return Ok((from, payload)),
            // One that had not heard yet that the search stops.
            Some(Event::Frame {
                kind: Kind::Halt, ..
            }) => {}
            Some(Event::Frame {
                from,
                kind: Kind::Gone,
                payload,
            }) => {
                let mut source = Decoder(&payload);
                let named = source.number().unwrap_or(from as u64) as usize;
                let reason = source.text().unwrap_or_default();
                return Err(format!("{} {reason}", exchange.peers.name(named)));
            }
            Some(Event::Frame { from, .. }) => {
                let name = exchange.peers.name(from);
                return Err(format!("{name} has sent a message without meaning"));
            }
        }
    }
}

impl Report {
    fn own(found: &Found) -> Report {
        Report {
            process: 0,
            property: found.property,
            error: found.error,
            state: found.state,
            depth: found.depth,
            steps: found
                .steps
                .iter()
                .copied()
                .map(Machine::numbers_of)
                .collect(),
        }
    }

    fn write(&self, out: &mut Encoder) {
        let place = Property::ALL.iter().position(|&p| p == self.property);
        out.number(place.unwrap_or(0) as u64);
        out.optional(self.error.map(|(template, _)| template.0));
        out.number(self.error.map_or(0, |(_, location)| location.0).into());
        out.number(self.state.into());
        out.number(self.depth.into());
        out.number(self.steps.len() as u64);
        for number in self.steps.iter().flatten() {
            out.number((*number).into());
        }
    }

    fn read(machine: &Machine, process: usize, source: &mut Decoder) -> Result<Report, Corrupt> {
        let property = Property::ALL.get(source.count_below(Property::ALL.len())?);
        let template = source.optional()?.map(TemplateId);
        let location = LocationId(source.small()?);
        let error = template.map(|template| (template, location));
        if error.is_some_and(|(template, location)| !machine.ends_at(template, location)) {
            return Err(Corrupt);
        }
        let (state, depth) = (source.small()?, source.small()?);
        let steps = (0..source.count()?).map(|_| {
            let mut numbers = [0; 4];
            for number in &mut numbers {
                *number = source.small()?;
            }
            Ok(numbers)
        });
        Ok(Report {
            process,
            property: *property.ok_or(Corrupt)?,
            error,
            state,
            depth,
            steps: steps.collect::<Result<_, Corrupt>>()?,
        })
    }
}

fn read_report(
    machine: &Machine,
    from: usize,
    payload: &[u8],
    gathered: &mut Gathered,
    reports: &mut Vec<Report>,
) -> Result<(), Corrupt> {
    let mut source = Decoder(payload);
    gathered.count += source.number()? & u64::MAX >> 8;
    if source.flag()? {
        let refusal = source.text()?;
        gathered.refusal.get_or_insert(refusal);
    }
    for _ in 0..source.count()? {
        let met = BoundMet {
            template: TemplateId(source.small()?),
            location: LocationId(source.small()?),
        };
        if !machine.is_bound(met) {
            return Err(Corrupt);
        }
        gathered.bounds.insert(met);
    }
    for _ in 0..source.count()? {
        reports.push(Report::read(machine, from, &mut source)?);
    }
    source.end()
}

/// The whole path to a violation, over all owners; none if the store could not take its states.
fn rebuild(
    shared: &Shared,
    exchange: &Exchange,
    movers: Option<&Movers>,
    report: &Report,
) -> Result<Option<Violation>, String> {
    let count = exchange.peers.count();
    let mut view = View::new(&shared.store, 0);
    let mut states = Vec::new();
    let mut at = Some((report.process, report.state));
    while let Some((process, number)) = at {
        let mut lanes = Vec::new();
        let parent = if process == 0 {
            if view.start(number, &mut lanes).is_err() {
                return Ok(None);
            }
            shared.store.parent(number)
        } else {
            let mut request = Encoder::default();
            request.number(number.into());
            let _ = exchange.peers.try_send(process, (Kind::Fetch, request.0));
            let (_, payload) = expect(shared, exchange, Kind::Fetched)?;
            let mut source = Decoder(&payload);
            let fetched = source.optional().and_then(|parent| {
                shared.machine.read_portable(&mut source, &mut lanes)?;
                source.end().map(|()| parent)
            });
            fetched.map_err(|Corrupt| {
                let name = exchange.peers.name(process);
                format!("{name} has sent a message without meaning")
            })?
        };
        states.push(lanes);
        // A parent is of an earlier level.
        if states.len() > report.depth as usize + 1 {
            return Err("the parents of a state lead nowhere".into());
        }
        at = parent.map(|code| (code as usize % count, code / count as u32));
    }
    states.reverse();
    let last = states.last().map_or(&[][..], Vec::as_slice);
    let Some(last) = steps_from(shared.machine, last, &report.steps) else {
        return Err("a step to a violation is not possible".into());
    };
    let go_on = shared.keep_going;
    Ok(Some(Violation {
        property: report.property,
        error: report.error,
        steps: steps_through(shared.machine, movers, go_on, &states, &last),
    }))
}

/// The steps with these numbers, one after the other.
fn steps_from(machine: &Machine, lanes: &[u64], numbers: &[[u32; 4]]) -> Option<Vec<Step>> {
    let mut work = Workspace::default();
    work.lanes = lanes.to_vec();
    let steps = numbers.iter().map(|&numbers| {
        let step = machine.step_with(&work.lanes, numbers)?;
        machine.apply(&mut work, step);
        Some(step)
    });
    steps.collect()
}

/// After the search, in any other process: tells what was found, and states when asked for them, until all is over.
fn serve(shared: &Shared, exchange: Exchange, bounds: &BTreeSet<BoundMet>) -> Result<(), String> {
    let mut report = Encoder::default();
    report.number(shared.violations.load(Ordering::Relaxed));
    report.number(shared.machine.refusal().is_some().into());
    if let Some(refusal) = shared.machine.refusal() {
        report.text(refusal);
    }
    report.number(bounds.len() as u64);
    for met in bounds {
        report.number(met.template.0.into());
        report.number(met.location.0.into());
    }
    let found = std::mem::take(&mut *lock(&shared.found));
    report.number(found.len() as u64);
    for found in &found {
        Report::own(found).write(&mut report);
    }
    let mut frame = (Kind::Report, report.0);
    while let Err(back) = exchange.peers.try_send(0, frame) {
        frame = back;
        std::thread::sleep(PAUSE);
    }
    let mut view = View::new(&shared.store, 0);
    let mut lanes = Vec::new();
    loop {
        match exchange.peers.receive(PAUSE) {
            Some(Event::Frame {
                from: 0,
                kind: Kind::Fetch,
                payload,
            }) => {
                let mut source = Decoder(&payload);
                let number = source.small().ok();
                let number = number.filter(|&number| u64::from(number) < shared.own().states);
                let number = number.ok_or("process 0 asks for a state that is not here")?;
                view.start(number, &mut lanes)
                    .map_err(|StoreFull| "there is no room for a state")?;
                let mut answer = Encoder::default();
                answer.optional(shared.store.parent(number));
                shared.machine.write_portable(&lanes, &mut answer);
                let _ = exchange.peers.try_send(0, (Kind::Fetched, answer.0));
            }
            Some(Event::Frame {
                from: 0,
                kind: Kind::Done,
                ..
            }) => {
                exchange.peers.close();
                return Ok(());
            }
            Some(Event::Lost { from: 0, reason }) => {
                return Err(format!("{} {reason}", exchange.peers.name(0)));
            }
            None if shared.control.cancelled().is_some() => {
                return Err("the search was interrupted".into());
            }
            // The others may have ended already.
            _ => {}
        }
    }
}
