//! Connections between the processes of a search.
//!
//! Each process listens at its own address and connects to those before it in the list. Whoever connects begins
//! with a fixed number of bytes: the version of this protocol, a token that all processes of the search share,
//! its place in the list, and what it is about to search. A connection that does not begin so is closed without
//! an answer, and waited for no longer than a few seconds. The token keeps strangers and other searches apart; it is sent
//! as it is, so it protects only on networks that nobody else can read.
//!
//! Then there are *frames*: a kind, a length, a checksum of all, and the payload. Each connection has a thread that reads
//! and one that writes, so that a process that computes for long still shows every second that it is there. Who has shown
//! nothing for [`SILENCE`] is lost, as is who closes a connection or sends what has no meaning.
//! Both queues of a connection are bounded. Whoever waits for room in one must take from the other, or two processes could
//! wait for each other for ever.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use crate::store::scramble;

/// The number is that of the protocol.
const MAGIC: &[u8; 16] = b"mover peers 001\n";

pub const TOKEN_BYTES: usize = 64;

/// How long the processes wait for each other at the beginning.
const PATIENCE: Duration = Duration::from_secs(120);

/// For how long the first bytes of a connection are waited for.
const FIRST_BYTES: Duration = Duration::from_secs(3);

/// Who has sent nothing for so long is lost.
const SILENCE: Duration = Duration::from_secs(30);

/// How long the end of all connections is waited for.
const FAREWELL: Duration = Duration::from_secs(2);

const PING_EVERY: Duration = Duration::from_secs(1);

/// Bytes of the largest payload that is accepted; a state takes half a mebibyte and its objects at most.
const MAX_PAYLOAD: usize = 1 << 26;

/// Frames that wait to be sent over a connection, and to be taken from all of them.
const OUTBOX: usize = 64;
const INBOX: usize = 256;

/// What a frame is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The sender is still there.
    Ping,
    /// States that belong to the receiver.
    States,
    /// The sender has sent all states of the level.
    LevelEnd,
    /// What the sender has seen so far.
    Tally,
    /// The search is to stop.
    Halt,
    /// Another process is lost.
    Gone,
    /// What the sender has found in the end.
    Report,
    /// A request for a state, and the state.
    Fetch,
    Fetched,
    /// The search is over.
    Done,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Ping,
        Kind::States,
        Kind::LevelEnd,
        Kind::Tally,
        Kind::Halt,
        Kind::Gone,
        Kind::Report,
        Kind::Fetch,
        Kind::Fetched,
        Kind::Done,
    ];
}

/// Why the processes of a search did not come together.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("cannot listen at {address}: {error}")]
    Listen { address: String, error: io::Error },
    #[error("process {process} ({address}) {reason}")]
    Peer {
        process: usize,
        address: String,
        reason: String,
    },
    #[error("the search was interrupted")]
    Interrupted,
}

/// Who joins which search.
pub struct Joining<'a> {
    /// The address of each process.
    pub addresses: Vec<String>,
    /// Which of them this process is.
    pub index: usize,
    pub token: [u8; TOKEN_BYTES],
    /// What has to be the same in all processes, by name.
    pub identity: [(&'static str, u64); 3],
    /// Asked from time to time.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

pub(crate) enum Event {
    Frame {
        from: usize,
        kind: Kind,
        payload: Vec<u8>,
    },
    Lost {
        from: usize,
        reason: String,
    },
}

type Frame = (Kind, Vec<u8>);

/// The connections of a process with all others.
pub struct Peers {
    pub(crate) index: usize,
    pub(crate) addresses: Vec<String>,
    /// By process; none for oneself.
    outboxes: Vec<Option<SyncSender<Frame>>>,
    streams: Vec<TcpStream>,
    inbox: Receiver<Event>,
    /// How many connections of strangers were closed.
    pub strangers: usize,
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers")
            .field("index", &self.index)
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

/// Listens at an address.
pub fn listen(address: &str) -> Result<TcpListener, PeerError> {
    TcpListener::bind(address).map_err(|error| PeerError::Listen {
        address: address.into(),
        error,
    })
}

const HELLO_BYTES: usize = MAGIC.len() + TOKEN_BYTES + 8 + 24;
const REPLY_BYTES: usize = MAGIC.len() + TOKEN_BYTES + 1;

/// The answers to a hello; larger numbers name the part of the identity that differs.
const WELCOME: u8 = 0;
const OTHER_LIST: u8 = 1;
const OTHER_IDENTITY: u8 = 2;

impl Joining<'_> {
    fn hello(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.token);
        bytes.extend_from_slice(&(self.index as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.addresses.len() as u32).to_le_bytes());
        for (_, value) in self.identity {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    fn failed(&self, process: usize, reason: impl fmt::Display) -> PeerError {
        PeerError::Peer {
            process,
            address: self.addresses[process].clone(),
            reason: reason.to_string(),
        }
    }

    /// What an answer other than a welcome means.
    fn difference(&self, answer: u8) -> String {
        let part = usize::from(answer).checked_sub(usize::from(OTHER_IDENTITY));
        match part.and_then(|part| self.identity.get(part)) {
            Some((name, _)) => format!("has another {name}"),
            None => "has another list of processes".into(),
        }
    }

    /// Whether the first bytes come from a process of the search; nothing is revealed of them.
    fn is_known(&self, bytes: &[u8]) -> bool {
        let own = MAGIC.iter().chain(&self.token);
        let differences = own
            .zip(bytes)
            .fold(0, |sum, (own, byte)| sum | (own ^ byte));
        bytes.len() >= MAGIC.len() + TOKEN_BYTES && differences == 0
    }

    /// Connects all processes. Returns when all are there.
    pub fn join(self, listener: &TcpListener) -> Result<Peers, PeerError> {
        let deadline = Instant::now() + PATIENCE;
        let mut streams: Vec<Option<TcpStream>> = self.addresses.iter().map(|_| None).collect();
        for (process, stream) in streams.iter_mut().enumerate().take(self.index) {
            *stream = Some(self.connect(process, deadline)?);
        }
        let mut strangers = 0;
        let no_listening = |error| PeerError::Listen {
            address: self.addresses[self.index].clone(),
            error,
        };
        listener.set_nonblocking(true).map_err(no_listening)?;
        while let Some(missing) = (self.index + 1..streams.len()).find(|&n| streams[n].is_none()) {
            self.wait_on(missing, deadline)?;
            match listener.accept() {
                Ok((stream, _)) => match self.accept(stream)? {
                    Some((process, stream)) if streams[process].is_none() => {
                        streams[process] = Some(stream);
                    }
                    _ => strangers += 1,
                },
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
        Peers::new(self, streams, strangers)
    }

    /// Fails if the process has been waited for long enough.
    fn wait_on(&self, process: usize, deadline: Instant) -> Result<(), PeerError> {
        if (self.is_cancelled)() {
            return Err(PeerError::Interrupted);
        }
        match Instant::now() < deadline {
            true => Ok(()),
            false => Err(self.failed(process, "did not come")),
        }
    }

    fn connect(&self, process: usize, deadline: Instant) -> Result<TcpStream, PeerError> {
        loop {
            self.wait_on(process, deadline)?;
            match TcpStream::connect(&self.addresses[process]) {
                Ok(stream) => {
                    let failed = |error: io::Error| self.failed(process, error);
                    let mut stream = prepared(stream).map_err(failed)?;
                    stream.write_all(&self.hello()).map_err(failed)?;
                    // It answers when it has come so far itself.
                    let left = deadline.saturating_duration_since(Instant::now());
                    let wait = Some(left.max(FIRST_BYTES));
                    stream.set_read_timeout(wait).map_err(failed)?;
                    let mut reply = [0; REPLY_BYTES];
                    let read = stream.read_exact(&mut reply);
                    if read.is_err() || !self.is_known(&reply) {
                        return Err(self.failed(process, "does not take part in this search"));
                    }
                    return match reply[REPLY_BYTES - 1] {
                        WELCOME => Ok(stream),
                        answer => Err(self.failed(process, self.difference(answer))),
                    };
                }
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// The process at the other end; none for a stranger.
    fn accept(&self, stream: TcpStream) -> Result<Option<(usize, TcpStream)>, PeerError> {
        let Ok(mut stream) = prepared(stream) else {
            return Ok(None);
        };
        let mut hello = [0; HELLO_BYTES];
        if read_within(&mut stream, &mut hello, FIRST_BYTES).is_err() || !self.is_known(&hello) {
            return Ok(None);
        }
        let mut rest = &hello[MAGIC.len() + TOKEN_BYTES..];
        let mut take = |count: usize| {
            let (bytes, others) = rest.split_at(count);
            rest = others;
            let bytes = bytes.iter().rev();
            bytes.fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let (index, count) = (take(4) as usize, take(4) as usize);
        let values: Vec<u64> = self.identity.iter().map(|_| take(8)).collect();
        let is_listed = count == self.addresses.len() && (self.index + 1..count).contains(&index);
        let same = |((_, own), value): (&(&str, u64), &u64)| own == value;
        let differs = self
            .identity
            .iter()
            .zip(&values)
            .position(|pair| !same(pair));
        let answer = match differs {
            _ if !is_listed => OTHER_LIST,
            Some(part) => OTHER_IDENTITY + part as u8,
            None => WELCOME,
        };
        let mut reply = MAGIC.to_vec();
        reply.extend_from_slice(&self.token);
        reply.push(answer);
        if stream.write_all(&reply).is_err() {
            return Ok(None);
        }
        match answer {
            WELCOME => Ok(Some((index, stream))),
            // It has the token, so it is one of us with something else in mind.
            answer => {
                let named = if is_listed { index } else { self.index };
                Err(self.failed(named, self.difference(answer)))
            }
        }
    }
}

fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Fills the buffer, or fails when the time is over, however slowly bytes come.
fn read_within(stream: &mut TcpStream, buffer: &mut [u8], time: Duration) -> io::Result<()> {
    let deadline = Instant::now() + time;
    let mut filled = 0;
    while filled < buffer.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}

const HEAD_BYTES: usize = 16;

/// Over the kind, the place in the connection and the payload.
fn checksum(kind: u8, place: u64, payload: &[u8]) -> u64 {
    let first = scramble(place << 8 | u64::from(kind)) ^ payload.len() as u64;
    payload.chunks(8).fold(first, |sum, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        scramble(sum ^ u64::from_le_bytes(word))
    })
}

fn write_frame(out: &mut impl Write, place: u64, (kind, payload): &Frame) -> io::Result<()> {
    let kind = *kind as u8;
    let mut head = [0; HEAD_BYTES];
    head[0] = kind;
    head[4..8].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    head[8..].copy_from_slice(&checksum(kind, place, payload).to_le_bytes());
    out.write_all(&head)?;
    out.write_all(payload)
}

/// The next frame, or why there is none.
fn read_frame(input: &mut impl Read, place: u64) -> Result<Frame, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            "has closed the connection".to_string()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("has been silent for {} s", SILENCE.as_secs())
        }
        _ => error.to_string(),
    };
    let corrupt = || "has sent a message without meaning".to_string();
    let mut head = [0; HEAD_BYTES];
    input.read_exact(&mut head).map_err(failed)?;
    let kind = *Kind::ALL.get(usize::from(head[0])).ok_or_else(corrupt)?;
    let word = |from: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&head[from..from + 4]);
        u32::from_le_bytes(bytes)
    };
    let length = word(4) as usize;
    if length > MAX_PAYLOAD {
        return Err(corrupt());
    }
    let sum = u64::from(word(12)) << 32 | u64::from(word(8));
    // What is not sent takes no memory.
    let mut payload = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut payload);
    read.map_err(failed)?;
    if payload.len() < length {
        return Err("has closed the connection".into());
    }
    if checksum(head[0], place, &payload) != sum {
        return Err(corrupt());
    }
    Ok((kind, payload))
}

fn read_all(mut stream: TcpStream, from: usize, inbox: &SyncSender<Event>) {
    for place in 0.. {
        let event = match read_frame(&mut stream, place) {
            Ok((Kind::Ping, _)) => continue,
            Ok((kind, payload)) => Event::Frame {
                from,
                kind,
                payload,
            },
            Err(reason) => Event::Lost { from, reason },
        };
        let is_last = matches!(event, Event::Lost { .. });
        if inbox.send(event).is_err() || is_last {
            return;
        }
    }
}

fn write_all(mut stream: TcpStream, outbox: &Receiver<Frame>) {
    for place in 0.. {
        let frame = match outbox.recv_timeout(PING_EVERY) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => (Kind::Ping, Vec::new()),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if write_frame(&mut stream, place, &frame).is_err() {
            // The reader tells; nobody may wait for room here.
            while outbox.recv().is_ok() {}
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
}

impl Peers {
    fn new(
        joining: Joining,
        connections: Vec<Option<TcpStream>>,
        strangers: usize,
    ) -> Result<Peers, PeerError> {
        let (to_inbox, inbox) = mpsc::sync_channel(INBOX);
        let mut peers = Peers {
            index: joining.index,
            addresses: joining.addresses.clone(),
            outboxes: Vec::new(),
            streams: Vec::new(),
            inbox,
            strangers,
        };
        for (process, stream) in connections.into_iter().enumerate() {
            let Some(stream) = stream else {
                peers.outboxes.push(None);
                continue;
            };
            let failed = |error: io::Error| joining.failed(process, error);
            stream.set_read_timeout(Some(SILENCE)).map_err(failed)?;
            let (to_outbox, outbox) = mpsc::sync_channel(OUTBOX);
            let reader = stream.try_clone().map_err(failed)?;
            let writer = stream.try_clone().map_err(failed)?;
            let to_inbox = to_inbox.clone();
            thread::spawn(move || read_all(reader, process, &to_inbox));
            thread::spawn(move || write_all(writer, &outbox));
            peers.streams.push(stream);
            peers.outboxes.push(Some(to_outbox));
        }
        Ok(peers)
    }

    /// How many processes there are, with this one.
    pub(crate) fn count(&self) -> usize {
        self.addresses.len()
    }

    /// Puts a frame into a queue; returns it if there is no room.
    pub(crate) fn try_send(&self, to: usize, frame: Frame) -> Result<(), Frame> {
        match &self.outboxes[to] {
            None => Ok(()),
            Some(outbox) => match outbox.try_send(frame) {
                Err(TrySendError::Full(frame)) => Err(frame),
                Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            },
        }
    }

    pub(crate) fn try_receive(&self) -> Option<Event> {
        self.inbox.try_recv().ok()
    }

    pub(crate) fn receive(&self, time: Duration) -> Option<Event> {
        self.inbox.recv_timeout(time).ok()
    }

    /// In words: which process, and where.
    pub(crate) fn name(&self, process: usize) -> String {
        let address = self.addresses.get(process).map_or("", String::as_str);
        format!("process {process} ({address})")
    }

    /// Sends what is still in the queues, and waits a while until the others have closed their ends: a connection that
    /// is closed before everything was read takes with it what the other end has not read.
    pub(crate) fn close(mut self) {
        self.outboxes.clear();
        let deadline = Instant::now() + FAREWELL;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        for stream in &self.streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
