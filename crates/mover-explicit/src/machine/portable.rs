//! States as other processes understand them.
//!
//! The lanes of a state are the same in every process, except those of dynamic objects: they contain numbers that
//! each process gives as it meets contents. Another process gets the contents instead. Lanes that are 0 are left out, so
//! equal states are equal whatever room they have for threads.

use mover_ir::program::{LocationId, TemplateId};

use super::{MAX_LANES, Machine};
use crate::distributed::wire::{Corrupt, Decoder, Encoder};
use crate::store::scramble;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Machine {
    /// A hash of a state that is the same in every process.
    pub fn portable_hash(&self, lanes: &[u64]) -> u64 {
        let used = lanes.iter().enumerate().filter(|&(_, &value)| value != 0);
        used.fold(0, |hash, (lane, &value)| {
            let content = match self.content(lane, value) {
                Some(words) => words.iter().fold(0, |sum, &word| scramble(sum ^ word)),
                None => value,
            };
            let place = (1 + lane as u64).wrapping_mul(GOLDEN);
            scramble(hash ^ scramble(content ^ place))
        })
    }

    /// The words of the dynamic object in a lane, if it is the lane of one.
    fn content(&self, lane: usize, value: u64) -> Option<&[u64]> {
        if !self.layout.is_heap_lane(lane) {
            return None;
        }
        self.memory.objects.get(value).map(|object| object.words())
    }

    pub fn write_portable(&self, lanes: &[u64], out: &mut Encoder) {
        let count = lanes.iter().filter(|&&value| value != 0).count();
        out.number(lanes.len() as u64);
        out.number(count as u64);
        let mut next = 0;
        for (lane, &value) in lanes.iter().enumerate().filter(|&(_, &value)| value != 0) {
            out.number((lane - next) as u64);
            next = lane + 1;
            match self.content(lane, value) {
                Some(words) => {
                    out.number(words.len() as u64);
                    words.iter().for_each(|&word| out.number(word));
                }
                None => out.number(value),
            }
        }
    }

    /// Reads a state; what cannot be one of this program is refused.
    pub fn read_portable(&self, source: &mut Decoder, lanes: &mut Vec<u64>) -> Result<(), Corrupt> {
        let length = usize::try_from(source.number()?).map_err(|_| Corrupt)?;
        if length > MAX_LANES || !self.layout.is_whole(length) {
            return Err(Corrupt);
        }
        lanes.clear();
        lanes.resize(length, 0);
        let mut next = 0;
        for _ in 0..source.count()? {
            let gap = usize::try_from(source.number()?).map_err(|_| Corrupt)?;
            let lane = gap.checked_add(next).filter(|&lane| lane < length);
            let lane = lane.ok_or(Corrupt)?;
            next = lane + 1;
            lanes[lane] = match self.layout.is_heap_lane(lane) {
                true => {
                    let words = (0..source.count()?).map(|_| source.number());
                    let words = words.collect::<Result<Vec<u64>, Corrupt>>()?;
                    let size = words.first().map(|head| head & u64::from(u32::MAX));
                    if size.is_none_or(|size| words.len() as u64 != 1 + size.div_ceil(8)) {
                        return Err(Corrupt);
                    }
                    self.memory.objects.intern(&words).ok_or(Corrupt)?
                }
                false => source.number()?,
            };
        }
        let counters = (0..self.threads(lanes)).map(|thread| self.pc(lanes, thread));
        match counters.into_iter().all(|pc| pc < self.locations.len()) {
            true => Ok(()),
            false => Err(Corrupt),
        }
    }

    /// Whether a run can end at a place, in an error or at a bound.
    pub fn ends_at(&self, template: TemplateId, location: LocationId) -> bool {
        let mut ends = self.locations.iter().filter_map(|place| place.run_end);
        ends.any(|end| (end.template, end.location) == (template, location))
    }
}
