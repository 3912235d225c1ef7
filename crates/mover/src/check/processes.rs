//! Searches by several processes: who takes part, and how they find each other.
//!
//! `--processes N` starts the other processes on this machine. Each listens at a port of the loopback device that the
//! system chooses, writes its number to its standard output, and reads from its standard input the token of the search and where
//! all others listen. The token is a random number that is made for this search.
//!
//! With `--hosts FILE --process I` somebody else starts them, each with its number, and the file says where each
//! listens and what their token is.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use clap::Args;
use mover_cli::output::print;
use mover_cli::{CliError, stderr_line};
use mover_engine::Cancel;
use mover_explicit::distributed::{Joining, Peers, TOKEN_BYTES, listen};
use mover_tools::child::Kept;

use super::option_error::OptionError;

const LOOPBACK: &str = "127.0.0.1";

/// More would gain nothing on one machine, and each is connected with each other.
const MOST_PROCESSES: usize = 256;

/// Digits of a token, each a byte.
const LEAST_TOKEN: usize = 16;

#[derive(Args)]
pub struct ProcessArgs {
    /// Explicit search by N processes on this machine, each with a part of the states
    #[arg(long, value_name = "N", conflicts_with_all = ["hosts", "process"])]
    processes: Option<usize>,

    /// Explicit search by processes on several machines: a file with a line `token WORD` and a line
    /// `HOST:PORT` for each process
    #[arg(long, value_name = "FILE", requires = "process")]
    hosts: Option<PathBuf>,

    /// Which process of `--hosts` this is, from 0; process 0 prints the answer
    #[arg(long, value_name = "I", requires = "hosts")]
    process: Option<usize>,

    /// Which process of `--processes` this is
    #[arg(long, value_name = "I", hide = true, requires = "processes")]
    part: Option<usize>,
}

/// The processes of a search, as this one sees them.
pub struct Joined {
    pub peers: Arc<Mutex<Option<Peers>>>,
    /// Processes that were started here; they end with this one.
    _started: Vec<Kept>,
}

/// Where everybody is.
struct Meeting {
    listener: TcpListener,
    addresses: Vec<String>,
    token: [u8; TOKEN_BYTES],
    started: Vec<Kept>,
}

impl ProcessArgs {
    /// The option that was given, if one was.
    pub fn given(&self) -> Option<&'static str> {
        match (&self.processes, &self.hosts) {
            (Some(_), _) => Some("--processes"),
            (_, Some(_)) => Some("--hosts"),
            (None, None) => None,
        }
    }

    /// How many processes share the memory of this machine.
    pub fn on_this_machine(&self) -> usize {
        self.processes.unwrap_or(1).max(1)
    }

    /// Whether another process prints the answer.
    pub fn is_other(&self) -> bool {
        self.part.or(self.process).is_some_and(|index| index > 0)
    }

    pub fn check(&self) -> Result<(), OptionError> {
        if let Some(count) = self.processes
            && !(2..=MOST_PROCESSES).contains(&count)
        {
            return Err(OptionError::needs("--processes", "a number from 2 to 256"));
        }
        if let (Some(part), Some(count)) = (self.part, self.processes)
            && !(1..count).contains(&part)
        {
            return Err(OptionError::needs(
                "--part",
                "the number of another process",
            ));
        }
        Ok(())
    }

    /// Connects with the other processes, which have to search the same; `None` if there are none.
    pub fn join(
        &self,
        identity: [(&'static str, u64); 3],
        cancel: &Cancel,
    ) -> Result<Option<Joined>, CliError> {
        let meeting = match (&self.hosts, self.processes) {
            (Some(hosts), _) => self.listed(hosts)?,
            (None, Some(count)) => match self.part {
                Some(_) => told(count).map_err(refused)?,
                None => start(count)?,
            },
            (None, None) => return Ok(None),
        };
        let joining = Joining {
            addresses: meeting.addresses,
            index: self.part.or(self.process).unwrap_or(0),
            token: meeting.token,
            identity,
            is_cancelled: &|| cancel.reason().is_some(),
        };
        let peers = joining.join(&meeting.listener);
        let peers = peers.map_err(|error| refused(error.to_string()))?;
        if peers.strangers > 0 {
            let count = peers.strangers;
            stderr_line!("mover: {count} connections of others were turned away");
        }
        Ok(Some(Joined {
            peers: Arc::new(Mutex::new(Some(peers))),
            _started: meeting.started,
        }))
    }

    fn listed(&self, path: &Path) -> Result<Meeting, CliError> {
        let index = self.process.unwrap_or(0);
        let wrong = |reason: &str| CliError::input("U015", format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        let (token, addresses) = hosts(&text).map_err(wrong)?;
        let own = addresses
            .get(index)
            .ok_or_else(|| wrong("it has no line for this process; numbers begin with 0"))?;
        let listener = listen(own).map_err(|error| refused(error.to_string()))?;
        Ok(Meeting {
            listener,
            addresses,
            token,
            started: Vec::new(),
        })
    }
}

fn refused(reason: impl Into<String>) -> CliError {
    CliError::input("U015", reason.into())
}

/// The token and the addresses of a file of hosts.
fn hosts(text: &str) -> Result<([u8; TOKEN_BYTES], Vec<String>), &'static str> {
    let (mut token, mut addresses) = (None, Vec::new());
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        match line.split_once(char::is_whitespace) {
            _ if line.is_empty() => {}
            Some(("token", word)) if token.is_none() => token = Some(token_of(word.trim())?),
            None if line.contains(':') => addresses.push(line.to_string()),
            _ => return Err("a line is `token WORD` (once), `HOST:PORT`, or a comment after `#`"),
        }
    }
    let token = token.ok_or("it needs a line `token WORD`, the same on all machines")?;
    match addresses.len() {
        2..=MOST_PROCESSES => Ok((token, addresses)),
        _ => Err("it needs a line `HOST:PORT` for each of 2 to 256 processes"),
    }
}

fn token_of(word: &str) -> Result<[u8; TOKEN_BYTES], &'static str> {
    if !(LEAST_TOKEN..=TOKEN_BYTES).contains(&word.len()) {
        return Err("a token has 16 to 64 characters");
    }
    let mut token = [0; TOKEN_BYTES];
    token[..word.len()].copy_from_slice(word.as_bytes());
    Ok(token)
}

/// Starts the other processes, and tells them where everybody is.
fn start(count: usize) -> Result<Meeting, CliError> {
    let failed = |reason: std::io::Error| refused(format!("cannot start processes: {reason}"));
    let mut random = [0; LEAST_TOKEN];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut random))
        .map_err(failed)?;
    let word: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let token = token_of(&word).map_err(refused)?;
    let (listener, own) = listen_here()?;
    let mut addresses = vec![own];
    let (mut started, mut inputs) = (Vec::new(), Vec::new());
    let mut outputs = Vec::new();
    for part in 1..count {
        let (its_input, input) = pipe().map_err(failed)?;
        let (output, its_output) = pipe().map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        let mut is_given = false;
        for argument in std::env::args_os().skip(1) {
            let is_command = argument == "check";
            command.arg(argument);
            if is_command && !std::mem::replace(&mut is_given, true) {
                command.arg("--part").arg(part.to_string());
            }
        }
        // What there is to say of the program is said by this process.
        command
            .stdin(its_input)
            .stdout(its_output)
            .stderr(Stdio::null());
        started.push(Kept::spawn(&mut command).map_err(failed)?);
        inputs.push(input);
        outputs.push(BufReader::new(output));
    }
    for (part, output) in (1..).zip(&mut outputs) {
        let mut line = String::new();
        let read = output.take(16).read_line(&mut line);
        let port = read.ok().and_then(|_| line.trim().parse::<u16>().ok());
        let port = port
            .ok_or_else(|| refused(format!("process {part} has ended before the search began")))?;
        addresses.push(format!("{LOOPBACK}:{port}"));
    }
    let message = format!("{word}\n{}\n", addresses.join("\n"));
    for input in &mut inputs {
        input.write_all(message.as_bytes()).map_err(failed)?;
    }
    Ok(Meeting {
        listener,
        addresses,
        token,
        started,
    })
}

fn listen_here() -> Result<(TcpListener, String), CliError> {
    let listener = listen(&format!("{LOOPBACK}:0")).map_err(|error| refused(error.to_string()))?;
    let address = listener.local_addr();
    let address = address.map_err(|error| refused(error.to_string()))?;
    Ok((listener, address.to_string()))
}

/// The part of a process that was started by another one.
fn told(count: usize) -> Result<Meeting, String> {
    let (listener, own) = listen_here().map_err(|_| "cannot listen")?;
    let port = own.rsplit(':').next().unwrap_or("");
    print(&format!("{port}\n")).map_err(|_| "nobody waits for this process")?;
    let input = std::io::stdin().lock().take(1 << 16);
    let mut lines = input.lines().map_while(Result::ok);
    let token = token_of(&lines.next().ok_or("there is no token")?)?;
    let addresses: Vec<String> = lines.take(count).collect();
    if addresses.len() < count {
        return Err("an address is missing".into());
    }
    Ok(Meeting {
        listener,
        addresses,
        token,
        started: Vec::new(),
    })
}

/// A number for names and values.
pub fn number_of<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.for_each(|value| value.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_hosts_has_a_token_and_addresses() {
        let text = "# two machines\ntoken 0123456789abcdef # secret\n\na:4000\nb:4000\n";
        let (token, addresses) = hosts(text).expect("it is one");
        assert_eq!(addresses, ["a:4000", "b:4000"]);
        assert_eq!(&token[..17], b"0123456789abcdef\0");
        for wrong in [
            "a:1\nb:2\n",
            "token short\na:1\nb:2\n",
            "token 0123456789abcdef\na:1\n",
            "token 0123456789abcdef\ntoken 0123456789abcdef\na:1\nb:2\n",
            "token 0123456789abcdef\na:1\nb\n",
        ] {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
    }
}
