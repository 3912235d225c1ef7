//! Child processes with limits.
//!
//! A child has a process group of its own, so that it ends with everything that it started. All
//! children that run are known: [`kill_all`] ends them before the process itself ends. Where the
//! process is killed without a chance to do so, the system ends the child (Linux).

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a child may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of each of the two streams; what is beyond is lost.
    pub output_bytes: usize,
    /// Of its address space.
    pub memory_bytes: u64,
    pub time: Duration,
}

impl Limits {
    /// Enough for any compiler on any program that can be checked.
    pub const COMPILER: Limits = Limits {
        output_bytes: 1 << 20,
        memory_bytes: 8 << 30,
        time: Duration::from_secs(300),
    };
}

/// How a child ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether it was killed because its time was over.
    pub is_late: bool,
}

/// Process groups that run; none can be added once they are killed.
struct Running {
    groups: BTreeSet<u32>,
    is_over: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running {
    groups: BTreeSet::new(),
    is_over: false,
});

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that is killed, with its whole group, when this is dropped or the process ends.
pub struct Kept {
    child: Option<Child>,
    group: u32,
}

impl Kept {
    /// Starts a child in a process group of its own.
    pub fn spawn(command: &mut Command) -> io::Result<Kept> {
        command.process_group(0);
        // While the child is not known it cannot be missed.
        let mut running = running();
        if running.is_over {
            return Err(io::Error::other("this process is ending"));
        }
        let child = command.spawn()?;
        let group = child.id();
        running.groups.insert(group);
        Ok(Kept {
            child: Some(child),
            group,
        })
    }

    pub fn id(&self) -> u32 {
        self.group
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        // A number is used again once it was waited for: nobody may kill in between.
        let mut running = running();
        let Some(child) = &mut self.child else {
            return Ok(None);
        };
        let status = child.try_wait()?;
        if status.is_some() {
            running.groups.remove(&self.group);
            self.child = None;
        }
        Ok(status)
    }

    /// Lets it run beyond the end of this process.
    pub fn release(mut self) {
        running().groups.remove(&self.group);
        self.child = None;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut running = running();
        if let Some(child) = &mut self.child {
            kill_group(self.group);
            let _ = child.wait();
            running.groups.remove(&self.group);
        }
    }
}

fn kill_group(group: u32) {
    if let Ok(group) = i32::try_from(group) {
        // SAFETY: `kill` has no preconditions; the group was started here and was not waited for.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// Kills all children. No more can be started: the process is about to end.
pub fn kill_all() {
    let mut running = running();
    running.is_over = true;
    for &group in &running.groups {
        kill_group(group);
    }
}

/// Runs a command to its end, without input and within limits.
pub fn output(command: &mut Command, limits: Limits) -> io::Result<Ended> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let memory = limits.memory_bytes;
    // SAFETY: between `fork` and `exec` only system calls are made.
    unsafe { command.pre_exec(move || restrict(memory)) };
    let mut kept = Kept::spawn(command)?;
    let child = kept.child.as_mut();
    let (stdout, stderr) = child.map_or((None, None), |child| {
        (child.stdout.take(), child.stderr.take())
    });
    let stdout = read_bounded(stdout, limits.output_bytes);
    let stderr = read_bounded(stderr, limits.output_bytes);
    let end = Instant::now() + limits.time;
    let mut pause = Duration::from_millis(1);
    let (status, is_late) = loop {
        if let Some(status) = kept.try_wait()? {
            break (status, false);
        }
        if Instant::now() >= end {
            kill_group(kept.group);
            break (wait(&mut kept)?, true);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Ok(Ended {
        status,
        stdout: stdout.recv().unwrap_or_default(),
        stderr: stderr.recv().unwrap_or_default(),
        is_late,
    })
}

fn wait(kept: &mut Kept) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = kept.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Limits for the process that calls this.
fn restrict(memory_bytes: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: memory_bytes,
        rlim_max: memory_bytes,
    };
    // SAFETY: the limit is valid memory; a limit that cannot be set is one that is lower already.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    #[cfg(target_os = "linux")]
    // SAFETY: with this request `prctl` takes one number.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    Ok(())
}

/// Reads a pipe on a thread of its own: no more than the limit, but to its end, so that the writer
/// does not block.
fn read_bounded(pipe: Option<impl Read + Send + 'static>, limit: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let read = pipe.by_ref().take(limit as u64).read_to_end(&mut bytes);
            if read.is_ok() {
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        }
        // The receiver may have given up.
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const SMALL: Limits = Limits {
        output_bytes: 10,
        memory_bytes: 1 << 30,
        time: Duration::from_secs(60),
    };

    #[test]
    fn both_streams_and_the_status_are_told() {
        let ended = output(&mut shell("echo out; echo err >&2; exit 3"), SMALL).expect("a shell");
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.stdout, b"out\n");
        assert_eq!(ended.stderr, b"err\n");
        assert!(!ended.is_late);
    }

    #[test]
    fn output_is_bounded() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done";
        let ended = output(&mut shell(script), SMALL).expect("a shell");
        assert!(ended.status.success());
        assert_eq!(ended.stdout.len(), 10);
    }

    #[test]
    fn a_child_that_takes_too_long_ends_with_its_own_children() {
        let limits = Limits {
            time: Duration::from_millis(100),
            ..SMALL
        };
        // The inner one holds the pipe: it has to end for this to return.
        let ended = output(&mut shell("sleep 1000 & sleep 1000"), limits).expect("a shell");
        assert!(ended.is_late);
        assert!(!ended.status.success());
    }

    #[test]
    fn memory_is_bounded() {
        let ended = output(&mut shell("ulimit -v"), SMALL).expect("a shell");
        assert_eq!(ended.stdout, b"1048576\n");
    }
}
