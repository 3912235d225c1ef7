//! What a process of a distributed search tells the others, and what it learns from them.
//!
//! A worker that is the only one of its process sends each successor to its owner (see `distributed`). A *round*
//! ends like this:
//!
//! 1. When a process has expanded its states of the level, it sends what is left in its batches, and then that it is at the
//!    end, with its beliefs if they have changed. With this message of each other process it has all states of the next level.
//! 2. It hears the beliefs, finds out which of its blocks have to be run again, and sends its tally.
//! 3. With the tallies of all it decides, as all others do: the search is over, the blocks are run again within the
//!    same level, or the next level begins.
//!
//! A fast process may begin the next round while another still waits for tallies. So states can come then, but no second
//! end of a round: that would need the tally of the slow one. States that come early belong to the next level but one, or to the next
//! one if blocks are run again, and that is where they are put: the next level was taken before the tally was sent.
//!
//! A parent may be in another process. So what is noted as the parent of a state is its number times the number of
//! processes, plus its owner.

use std::time::Duration;

use mover_engine::Stop;
use mover_ir::program::Property;

use super::{Worker, lock};
use crate::blocks::Blocks;
use crate::classify::Beliefs;
use crate::distributed::Peers;
use crate::distributed::mesh::{Event, Kind};
use crate::distributed::wire::{Corrupt, Decoder, Encoder};
use crate::search::Wanted;
use crate::store::{NO_PARENT, StoreFull};

/// Bytes of a batch of states that are sent at once.
const BATCH: usize = 1 << 16;

/// Between two looks at the clock while nothing comes.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// What the processes do after a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Over,
    /// The search ends some time after a violation.
    Enough,
    /// Blocks are to be run again in the same level.
    Again,
    NextLevel,
}

/// What a process has seen so far, at the end of a round.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Tally {
    states: u64,
    transitions: u64,
    persistent: u64,
    bytes: u64,
    /// Blocks to be run again, and states of the next level.
    again: u64,
    next: u64,
    /// A bit for each property of which a violation was found.
    found: u64,
    /// Why it has stopped, if it has. Its word to stop may come later than this.
    stopped: Option<Stop>,
}

/// The part of a process in a distributed search.
pub struct Exchange {
    pub(super) peers: Peers,
    batches: Vec<Encoder>,
    round: u64,
    /// For each process, what came at the end of the round.
    ends: Vec<Option<Option<Beliefs>>>,
    tallies: Vec<Option<Tally>>,
    pub(super) decision: Decision,
    /// States of all processes when a violation that was asked for was known first.
    states_at_first: Option<u64>,
    has_told_to_stop: bool,
    /// Reports of processes that knew earlier that the search is over.
    pub(super) early: Vec<(usize, Vec<u8>)>,
    /// Which process is lost, and why.
    pub lost: Option<String>,
}

fn bit(property: Property) -> u64 {
    let place = Property::ALL.iter().position(|&other| other == property);
    place.map_or(0, |place| 1 << place)
}

impl Exchange {
    pub fn new(peers: Peers) -> Exchange {
        let count = peers.count();
        Exchange {
            batches: (0..count).map(|_| Encoder::default()).collect(),
            round: 0,
            ends: (0..count).map(|_| None).collect(),
            tallies: vec![None; count],
            decision: Decision::NextLevel,
            states_at_first: None,
            has_told_to_stop: false,
            early: Vec::new(),
            lost: None,
            peers,
        }
    }

    /// How a state of this process is known to all.
    fn code(&self, number: u32) -> Option<u32> {
        code(number, self.peers.index, self.peers.count())
    }

    fn owner(&self, hash: u64) -> usize {
        owner(hash, self.peers.count())
    }

    fn lose(&mut self, process: usize, reason: &str) {
        if self.lost.is_some() {
            return;
        }
        self.lost = Some(format!("{} {reason}", self.peers.name(process)));
        // Otherwise the others could take this process for the one that is lost.
        let mut payload = Encoder::default();
        payload.number(process as u64);
        payload.text(reason);
        for other in (0..self.peers.count()).filter(|&other| other != process) {
            let _ = self.peers.try_send(other, (Kind::Gone, payload.0.clone()));
        }
    }

    /// Whether all others have told what is asked for.
    fn has_all(&self, has_told: impl Fn(&Exchange, usize) -> bool) -> bool {
        let own = self.peers.index;
        let mut others = (0..self.peers.count()).filter(|&other| other != own);
        others.all(|other| has_told(self, other))
    }
}

/// The process that stores a state.
pub fn owner(hash: u64, processes: usize) -> usize {
    (((hash >> 32) * processes as u64) >> 32) as usize
}

fn code(number: u32, process: usize, processes: usize) -> Option<u32> {
    let code = u32::try_from(u64::from(number) * processes as u64 + process as u64);
    code.ok().filter(|&code| code != NO_PARENT)
}

/// What follows from the tallies of all processes.
fn decide(tallies: &[Tally], wanted: &Wanted, keep_going: bool, at_first: Option<u64>) -> Decision {
    let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
    let found = tallies.iter().fold(0, |all, tally| all | tally.found);
    let is_done = !keep_going && wanted.is_found(|property| found & bit(property) != 0);
    let is_stopped = tallies.iter().any(|tally| tally.stopped.is_some());
    let is_enough = |before| Wanted::is_enough(before, sum(|tally| tally.states));
    match () {
        () if is_stopped => Decision::Over,
        () if sum(|tally| tally.again) > 0 => Decision::Again,
        () if is_done => Decision::Over,
        () if !keep_going && at_first.is_some_and(is_enough) => Decision::Enough,
        () if sum(|tally| tally.next) == 0 => Decision::Over,
        () => Decision::NextLevel,
    }
}

impl Tally {
    fn write(&self, out: &mut Encoder) {
        let counts = [
            self.states,
            self.transitions,
            self.persistent,
            self.bytes,
            self.again,
            self.next,
            self.found,
            self.stopped
                .map_or(0, |stop| number_of_stop(stop) as u64 + 1),
        ];
        counts.into_iter().for_each(|count| out.number(count));
    }

    fn read(source: &mut Decoder) -> Result<Tally, Corrupt> {
        // Sums of the counts of all processes must fit.
        let mut count = || source.number().map(|count| count & u64::MAX >> 8);
        Ok(Tally {
            states: count()?,
            transitions: count()?,
            persistent: count()?,
            bytes: count()?,
            again: count()?,
            next: count()?,
            found: count()?,
            stopped: match source.number()? {
                0 => None,
                number => Some(stop_of_number(number - 1).ok_or(Corrupt)?),
            },
        })
    }
}

impl<'a> Worker<'a> {
    /// Sends a successor to its owner, if that is another process.
    pub(super) fn send_elsewhere(&mut self, lanes: &[u64]) -> bool {
        let machine = self.shared.machine;
        let Some(exchange) = &mut self.exchange else {
            return false;
        };
        let owner = exchange.owner(machine.portable_hash(lanes));
        if owner == exchange.peers.index {
            return false;
        }
        let batch = &mut exchange.batches[owner];
        batch.number(self.view.number.into());
        machine.write_portable(lanes, batch);
        if batch.0.len() >= BATCH {
            let batch = std::mem::take(&mut batch.0);
            self.send(owner, Kind::States, batch);
        }
        true
    }

    /// Whether a state is to be expanded here; always if there are no other processes.
    pub(super) fn is_own(&self, lanes: &[u64]) -> bool {
        let hash = self.shared.machine.portable_hash(lanes);
        let exchange = self.exchange.as_ref();
        exchange.is_none_or(|exchange| exchange.owner(hash) == exchange.peers.index)
    }

    /// Makes the started state the parent of what is added, as all processes know it.
    pub(super) fn name_parent(&mut self) -> Result<(), StoreFull> {
        if let Some(exchange) = &self.exchange {
            self.view.parent = exchange.code(self.view.number).ok_or(StoreFull)?;
        }
        Ok(())
    }

    /// Sends a frame, and takes what comes while there is no room.
    fn send(&mut self, to: usize, kind: Kind, payload: Vec<u8>) {
        let mut frame = (kind, payload);
        while let Some(exchange) = &mut self.exchange {
            match exchange.peers.try_send(to, frame) {
                Err(back) if exchange.lost.is_none() => frame = back,
                _ => return,
            }
            self.wait();
        }
    }

    fn send_to_all(&mut self, kind: Kind, payload: &[u8]) {
        let Some(exchange) = &self.exchange else {
            return;
        };
        let own = exchange.peers.index;
        for other in (0..exchange.peers.count()).filter(|&other| other != own) {
            self.send(other, kind, payload.to_vec());
        }
    }

    /// Takes what has come, and tells the others if the search is to stop.
    pub(super) fn poll(&mut self) {
        while let Some(exchange) = &self.exchange
            && let Some(event) = exchange.peers.try_receive()
        {
            self.take(event);
        }
        self.tell_to_stop();
    }

    /// Waits for something to come, for a while.
    fn wait(&mut self) {
        let Some(exchange) = &self.exchange else {
            return;
        };
        match exchange.peers.receive(PAUSE) {
            Some(event) => self.take(event),
            None => self.look(0),
        }
        self.tell_to_stop();
    }

    fn tell_to_stop(&mut self) {
        if let Some(exchange) = &mut self.exchange
            && self.shared.has_stopped()
            && !std::mem::replace(&mut exchange.has_told_to_stop, true)
        {
            let stop = *lock(&self.shared.stopped);
            let number = stop.map_or(0, number_of_stop);
            self.send_to_all(Kind::Halt, &[number as u8]);
        }
    }

    fn take(&mut self, event: Event) {
        let (process, reason) = match event {
            Event::Frame {
                from,
                kind,
                payload,
            } => match self.take_frame(from, kind, &payload) {
                Ok(()) => return,
                Err(Corrupt) => (from, "has sent a message without meaning".to_string()),
            },
            Event::Lost { from, reason } => (from, reason),
        };
        if let Some(exchange) = &mut self.exchange {
            exchange.lose(process, &reason);
        }
        self.shared.stop(Stop::Refused);
    }

    fn take_frame(&mut self, from: usize, kind: Kind, payload: &[u8]) -> Result<(), Corrupt> {
        let shared = self.shared;
        let mut source = Decoder(payload);
        if kind == Kind::States {
            return self.take_states(from, source);
        }
        let exchange = self.exchange.as_mut().ok_or(Corrupt)?;
        match kind {
            Kind::LevelEnd => {
                let is_expected = source.number()? == exchange.round;
                let beliefs = match source.flag()? {
                    true => Some(Beliefs::read(&mut source)?),
                    false => None,
                };
                if !is_expected || exchange.ends[from].replace(beliefs).is_some() {
                    return Err(Corrupt);
                }
            }
            Kind::Tally => {
                let tally = Tally::read(&mut source)?;
                if exchange.tallies[from].replace(tally).is_some() {
                    return Err(Corrupt);
                }
            }
            Kind::Halt => {
                // There is no need to tell the others: whoever sent it does.
                exchange.has_told_to_stop = true;
                shared.stop(stop_of_number(source.number()?).ok_or(Corrupt)?);
            }
            Kind::Gone => {
                let process = usize::try_from(source.number()?).map_err(|_| Corrupt)?;
                let reason = source.text()?;
                exchange.lose(process, &reason);
                shared.stop(Stop::Refused);
            }
            // Its tally is here, but not that of another one.
            Kind::Report if exchange.tallies[from].is_some() => {
                exchange.early.push((from, payload.to_vec()));
                return Ok(());
            }
            // These belong to the time after the search.
            Kind::Ping | Kind::States | Kind::Report | Kind::Fetch | Kind::Fetched | Kind::Done => {
                return Err(Corrupt);
            }
        }
        source.end()
    }

    /// Adds states that others have found. They can come in the middle of an expansion.
    fn take_states(&mut self, from: usize, mut source: Decoder) -> Result<(), Corrupt> {
        let machine = self.shared.machine;
        let own_parent = self.view.parent;
        let mut lanes = Vec::new();
        while !source.is_empty() {
            let number = source.small()?;
            machine.read_portable(&mut source, &mut lanes)?;
            let count = self.exchange.as_ref().map_or(1, |e| e.peers.count());
            self.view.parent = code(number, from, count).ok_or(Corrupt)?;
            if !self.is_own(&lanes) {
                return Err(Corrupt);
            }
            let added = self.view.add_other(&mut lanes);
            if !self.check(added) {
                break;
            }
        }
        self.view.parent = own_parent;
        Ok(())
    }

    /// The end of a round: see the module.
    pub(super) fn end_round(&mut self, blocks: &mut Option<Blocks<'a>>) {
        let shared = self.shared;
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        let batches: Vec<Vec<u8>> = (exchange.batches.iter_mut())
            .map(|batch| std::mem::take(&mut batch.0))
            .collect();
        let mut end = Encoder::default();
        end.number(exchange.round);
        for (owner, batch) in batches.into_iter().enumerate() {
            if !batch.is_empty() {
                self.send(owner, Kind::States, batch);
            }
        }
        let beliefs = lock(&shared.news[self.number]).beliefs.take();
        end.number(beliefs.is_some().into());
        if let Some(beliefs) = beliefs {
            beliefs.write(&mut end);
        }
        self.send_to_all(Kind::LevelEnd, &end.0);
        self.wait_for_all(|exchange, other| exchange.ends[other].is_some());
        let flushed = self.view.flush();
        self.check(flushed);
        lock(&shared.next[self.number]).append(&mut self.view.found);
        self.hear_others(blocks);
        self.count(blocks);
        let tally = self.tally();
        let mut payload = Encoder::default();
        tally.write(&mut payload);
        self.send_to_all(Kind::Tally, &payload.0);
        self.wait_for_all(|exchange, other| exchange.tallies[other].is_some());
        self.close_round(tally);
    }

    fn wait_for_all(&mut self, has_told: impl Fn(&Exchange, usize) -> bool + Copy) {
        while let Some(exchange) = &self.exchange
            && exchange.lost.is_none()
            && !exchange.has_all(has_told)
        {
            self.wait();
        }
    }

    fn hear_others(&mut self, blocks: &mut Option<Blocks<'a>>) {
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        // From here on the end of the next round can come.
        exchange.round += 1;
        let ends: Vec<Beliefs> = (exchange.ends.iter_mut())
            .filter_map(|end| end.take().flatten())
            .collect();
        let classifier = blocks
            .as_mut()
            .and_then(|blocks| blocks.stepper.classifier.as_mut());
        let Some(classifier) = classifier else {
            return;
        };
        for beliefs in &ends {
            if !beliefs.fit(&classifier.ledger) {
                exchange.lost = Some("another process believes in other cells".into());
                return;
            }
            classifier.ledger.hear(beliefs);
        }
        self.again.extend(classifier.ledger.take_invalid());
    }

    fn tally(&self) -> Tally {
        let shared = self.shared;
        let own = shared.own();
        let found = lock(&shared.found);
        Tally {
            states: own.states,
            transitions: own.transitions,
            persistent: own.persistent,
            bytes: shared.bytes() as u64,
            again: self.again.len() as u64,
            next: lock(&shared.next[self.number]).len() as u64,
            found: found.iter().fold(0, |all, found| all | bit(found.property)),
            stopped: *lock(&shared.stopped),
        }
    }

    fn close_round(&mut self, own: Tally) {
        let shared = self.shared;
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        let mut tallies: Vec<Tally> = (exchange.tallies.iter_mut())
            .filter_map(Option::take)
            .collect();
        *lock(&shared.elsewhere) = Elsewhere::sum(&tallies);
        tallies.push(own);
        if exchange.lost.is_some() {
            exchange.decision = Decision::Over;
            return;
        }
        // The search is not complete if one of them has stopped.
        if let Some(stop) = tallies.iter().find_map(|tally| tally.stopped) {
            shared.stop(stop);
        }
        let states = tallies.iter().map(|tally| tally.states).sum();
        let found = tallies.iter().fold(0, |all, tally| all | tally.found);
        let mut wanted = shared.wanted.properties.iter();
        if wanted.any(|&property| found & bit(property) != 0) {
            exchange.states_at_first.get_or_insert(states);
        }
        let at_first = exchange.states_at_first;
        exchange.decision = decide(&tallies, &shared.wanted, shared.keep_going, at_first);
    }
}

/// What the other processes have told of their part.
#[derive(Clone, Copy, Default)]
pub(super) struct Elsewhere {
    pub states: u64,
    pub transitions: u64,
    pub persistent: u64,
    pub bytes: u64,
}

impl Elsewhere {
    fn sum(tallies: &[Tally]) -> Elsewhere {
        let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
        Elsewhere {
            states: sum(|tally| tally.states),
            transitions: sum(|tally| tally.transitions),
            persistent: sum(|tally| tally.persistent),
            bytes: sum(|tally| tally.bytes),
        }
    }
}

const STOPS: [Stop; 6] = [
    Stop::User,
    Stop::Answered,
    Stop::Time,
    Stop::Memory,
    Stop::StoreFull,
    Stop::Refused,
];

fn number_of_stop(stop: Stop) -> usize {
    STOPS.iter().position(|&other| other == stop).unwrap_or(0)
}

fn stop_of_number(number: u64) -> Option<Stop> {
    STOPS.get(usize::try_from(number).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search in which a process has stopped is over, and every process learns why.
    #[test]
    fn a_tally_says_why_a_process_has_stopped() {
        for stopped in STOPS.into_iter().map(Some).chain([None]) {
            let tally = Tally {
                states: 3,
                stopped,
                ..Tally::default()
            };
            let mut sent = Encoder::default();
            tally.write(&mut sent);
            assert_eq!(Tally::read(&mut Decoder(&sent.0)).ok(), Some(tally));
        }
        let mut unknown = Encoder::default();
        (0..7).for_each(|_| unknown.number(0));
        unknown.number(STOPS.len() as u64 + 1);
        assert!(Tally::read(&mut Decoder(&unknown.0)).is_err());
    }
}
