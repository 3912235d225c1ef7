//! Checkpoints: searches that are saved to disk and resumed later.
//!
//! A search of several hours can be killed at any moment. Between two expansions its state
//! consists of a few tables: the store, the contents of dynamic objects, the queue or stack,
//! the beliefs about exclusive access (see `classify`), the counters. These are written as they
//! are, and a search that resumes from them continues as the first one would have: the same
//! states get the same numbers, so verdict and counts are the same.
//!
//! A state that is being expanded (an atomic sequence can be long) cannot be saved: a limit
//! waits for the end of the expansion, up to [`PATIENCE`]; after that the search stops without
//! a new checkpoint, and the previous one stays valid.
//!
//! Indices are not written but rebuilt. A checkpoint identifies what it belongs to (the
//! program, the options, the build) by a list of names and values; resuming anything else is
//! refused, with the name of the difference. A checksum over all bytes at the end detects files
//! that were truncated or changed before they are used.

use std::io::{self, Read, Write};
use std::time::Duration;

use mover_engine::EngineError;

use crate::store::scramble;

/// The first bytes of every checkpoint; the number is that of the format.
const MAGIC: &[u8; 16] = b"mover checkpt 3\n";

/// Bytes that are summed up and written at a time; a multiple of eight.
const PORTION: usize = 1 << 16;

/// Checks of the clock during one expansion after which a limit no longer waits for its end: one
/// check is some thousand steps.
pub(crate) const PATIENCE: u32 = 512;

/// Least ratio of time between checkpoints to the time that writing one takes.
const SHARE: u32 = 10;

/// Names and values that say what a checkpoint belongs to.
pub type Identity = Vec<(String, String)>;

/// Why a search cannot go on from a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(String);

impl From<CheckpointError> for EngineError {
    fn from(error: CheckpointError) -> Self {
        EngineError::Unsupported(error.0)
    }
}

/// When to write checkpoints, and what to begin with.
pub struct Checkpoints<'a> {
    pub identity: Identity,
    pub every: Duration,
    /// Writes one; absent if none are wanted. A failure is the callback's business.
    pub save: Option<&'a mut dyn FnMut(&Snapshot)>,
    /// One to continue from, as [`open`] leaves it.
    pub resume: Option<Box<dyn Read>>,
}

/// A search between two expansions.
pub struct Snapshot<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) write: &'a dyn Fn(&mut Sink) -> io::Result<()>,
    pub states: u64,
}

impl Snapshot<'_> {
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut sink = Sink {
            out,
            buffer: Vec::with_capacity(PORTION),
            sum: 0,
        };
        sink.bytes(MAGIC)?;
        sink.number(self.identity.len() as u64)?;
        for (name, value) in self.identity {
            sink.text(name)?;
            sink.text(value)?;
        }
        (self.write)(&mut sink)?;
        sink.finish()
    }
}

/// When the next checkpoint is due.
pub(crate) struct Schedule {
    every: Duration,
    next: Duration,
}

impl Schedule {
    pub fn new(every: Duration) -> Schedule {
        Schedule { every, next: every }
    }

    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed >= self.next
    }

    /// One was written between these times.
    pub fn written(&mut self, began: Duration, ended: Duration) {
        let pause = (ended.saturating_sub(began) * SHARE).max(self.every);
        self.next = ended + pause;
    }
}

/// Checks a checkpoint's sum and what it belongs to, and leaves the reader after its head.
/// `length` is the number of its bytes.
pub fn open<R: Read + io::Seek>(
    file: &mut R,
    length: u64,
    expected: &Identity,
) -> Result<(), CheckpointError> {
    let failed = |error: io::Error| CheckpointError(format!("it cannot be read: {error}"));
    let mut start = [0; MAGIC.len()];
    if length < (MAGIC.len() + 8) as u64 || file.read_exact(&mut start).is_err() {
        return Err(CheckpointError("it is not a checkpoint".into()));
    }
    if &start != MAGIC {
        let is_other = start[..14] == MAGIC[..14];
        return Err(CheckpointError(if is_other {
            "it was written in another format, by another version of mover".into()
        } else {
            "it is not a checkpoint".into()
        }));
    }
    file.seek(io::SeekFrom::Start(0)).map_err(failed)?;
    let mut portion = vec![0; PORTION];
    let mut left = length - 8;
    let mut sum = 0;
    while left > 0 {
        let count = usize::try_from(left).map_or(PORTION, |left| left.min(PORTION));
        file.read_exact(&mut portion[..count]).map_err(failed)?;
        sum = add(sum, &portion[..count]);
        left -= count as u64;
    }
    let mut stored = [0; 8];
    file.read_exact(&mut stored).map_err(failed)?;
    if u64::from_le_bytes(stored) != sum {
        return Err(CheckpointError(
            "it is damaged: its checksum does not match, so it was truncated or changed".into(),
        ));
    }
    file.seek(io::SeekFrom::Start(MAGIC.len() as u64))
        .map_err(failed)?;
    let mut source = Source { input: file };
    let count = source.number()?;
    let mut found = Identity::new();
    for _ in 0..count {
        found.push((source.text()?, source.text()?));
    }
    compare(&found, expected)
}

/// Names the first thing that differs.
fn compare(found: &Identity, expected: &Identity) -> Result<(), CheckpointError> {
    for (name, value) in expected {
        match found.iter().find(|(other, _)| other == name) {
            Some((_, other)) if other == value => {}
            Some((_, other)) => {
                return Err(CheckpointError(format!(
                    "it belongs to another search: its {name} is {other}, here it is {value}"
                )));
            }
            None => {
                return Err(CheckpointError(format!(
                    "it belongs to another search: it has no {name}"
                )));
            }
        }
    }
    if found.len() != expected.len() {
        return Err(CheckpointError("it belongs to another search".into()));
    }
    Ok(())
}

/// A number for everything that can be read.
pub fn sum_of(input: &mut dyn Read) -> io::Result<u64> {
    let mut portion = Vec::with_capacity(PORTION);
    let mut sum = 0;
    loop {
        portion.clear();
        input.take(PORTION as u64).read_to_end(&mut portion)?;
        if portion.is_empty() {
            return Ok(sum);
        }
        sum = add(sum, &portion);
    }
}

/// Continues with a sum by this many bytes; all portions but the last have full length.
fn add(sum: u64, bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut sum = sum ^ bytes.len() as u64;
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        sum = scramble(sum ^ u64::from_le_bytes(eight)).wrapping_add(1);
    }
    let rest = words.remainder().iter();
    rest.fold(sum, |sum, &byte| scramble(sum ^ u64::from(byte)))
}

/// Where a checkpoint is written to.
pub struct Sink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    sum: u64,
}

impl Sink<'_> {
    pub(crate) fn bytes(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = PORTION - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == PORTION {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sum = add(self.sum, &self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        self.out.write_all(&self.sum.to_le_bytes())?;
        self.out.flush()
    }

    pub(crate) fn number(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    pub(crate) fn small(&mut self, number: u32) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    pub(crate) fn flag(&mut self, flag: bool) -> io::Result<()> {
        self.bytes(&[u8::from(flag)])
    }

    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.bytes(text.as_bytes())
    }

    /// A row of numbers with its length.
    pub(crate) fn numbers(&mut self, numbers: &[u64]) -> io::Result<()> {
        self.number(numbers.len() as u64)?;
        numbers.iter().try_for_each(|&number| self.number(number))
    }

    /// A row of small numbers with its length.
    pub(crate) fn smalls(&mut self, numbers: &[u32]) -> io::Result<()> {
        self.number(numbers.len() as u64)?;
        numbers.iter().try_for_each(|&number| self.small(number))
    }
}

/// Where a checkpoint is read from. Lengths are never believed: what is read grows with what is
/// there.
pub(crate) struct Source<'a> {
    input: &'a mut dyn Read,
}

/// What is said of a checkpoint whose sum is right and whose contents are not.
pub(crate) fn nonsense(what: &str) -> CheckpointError {
    CheckpointError(format!("the checkpoint is damaged: {what}"))
}

impl<'a> Source<'a> {
    pub fn new(input: &'a mut dyn Read) -> Self {
        Source { input }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let mut bytes = [0; N];
        self.input
            .read_exact(&mut bytes)
            .map_err(|error| nonsense(&error.to_string()))?;
        Ok(bytes)
    }

    pub fn number(&mut self) -> Result<u64, CheckpointError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn small(&mut self) -> Result<u32, CheckpointError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn flag(&mut self) -> Result<bool, CheckpointError> {
        let [byte] = self.array()?;
        Ok(byte != 0)
    }

    fn text(&mut self) -> Result<String, CheckpointError> {
        let length = self.number()?;
        let mut bytes = Vec::new();
        let read = self.input.take(length).read_to_end(&mut bytes);
        read.map_err(|error| nonsense(&error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| nonsense("a text is none"))
    }

    pub fn numbers(&mut self) -> Result<Vec<u64>, CheckpointError> {
        (0..self.number()?).map(|_| self.number()).collect()
    }

    pub fn smalls(&mut self) -> Result<Vec<u32>, CheckpointError> {
        (0..self.number()?).map(|_| self.small()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn written(identity: &Identity, rows: &[Vec<u64>]) -> Vec<u8> {
        let write = |sink: &mut Sink| rows.iter().try_for_each(|row| sink.numbers(row));
        let snapshot = Snapshot {
            identity,
            write: &write,
            states: 0,
        };
        let mut bytes = Vec::new();
        snapshot
            .write_to(&mut bytes)
            .expect("memory can be written");
        bytes
    }

    fn identity(order: &str) -> Identity {
        vec![
            ("version".into(), "1".into()),
            ("--order".into(), order.into()),
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        let rows: Vec<Vec<u64>> = (0..40u64).map(|n| (0..n * n * n / 8).collect()).collect();
        let bytes = written(&identity("bfs"), &rows);
        assert!(bytes.len() > 3 * PORTION);
        let mut file = Cursor::new(&bytes);
        open(&mut file, bytes.len() as u64, &identity("bfs")).expect("it is whole");
        let mut source = Source::new(&mut file);
        for row in &rows {
            assert_eq!(source.numbers().as_ref(), Ok(row));
        }
    }

    #[test]
    fn what_differs_is_named() {
        let bytes = written(&identity("bfs"), &[]);
        let refused = open(
            &mut Cursor::new(&bytes),
            bytes.len() as u64,
            &identity("dfs"),
        );
        let reason = refused.expect_err("another order");
        assert!(
            reason
                .to_string()
                .contains("its --order is bfs, here it is dfs"),
            "{reason}"
        );
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let bytes = written(&identity("bfs"), &[(0..300).collect()]);
        let opens = |bytes: &[u8]| {
            let mut file = Cursor::new(bytes);
            open(&mut file, bytes.len() as u64, &identity("bfs"))
        };
        assert_eq!(opens(&bytes), Ok(()));
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << (position % 8);
            assert!(opens(&changed).is_err(), "byte {position}");
            assert!(opens(&bytes[..position]).is_err(), "cut at {position}");
        }
    }
}
