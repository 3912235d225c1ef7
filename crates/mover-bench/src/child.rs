//! One child process, run to its end and measured.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a child printed and what it took.
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
    pub wall_s: f64,
    /// User and system time, to a hundredth of a second; absent where the system does not tell.
    pub cpu_s: Option<f64>,
}

/// Why a child did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("cannot run {program}: {source}")]
    NotRun {
        program: String,
        source: std::io::Error,
    },
    #[error("{0} was ended")]
    Ended(String),
}

/// Runs a command to its end. Measures right only if no other child ends meanwhile.
pub fn run(command: &mut Command) -> Result<Finished, ChildError> {
    let ended = run_until(command, None)?;
    ended.ok_or_else(|| ChildError::Ended(program(command)))
}

/// Runs a command to its end, or ends it when the time is up; then there is nothing to tell.
pub fn run_for(command: &mut Command, limit: Duration) -> Result<Option<Finished>, ChildError> {
    run_until(command, Some(limit))
}

fn run_until(
    command: &mut Command,
    limit: Option<Duration>,
) -> Result<Option<Finished>, ChildError> {
    let name = program(command);
    let describe = |source: std::io::Error| ChildError::NotRun {
        program: name.clone(),
        source,
    };
    let cpu_before = cpu_time_of_ended_children();
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(describe)?;
    let (sender, receiver) = mpsc::channel();
    let stdout = read_aside(child.stdout.take(), sender.clone());
    let stderr = read_aside(child.stderr.take(), sender);
    // A child that has closed both streams has ended, or is about to.
    let is_over = (0..2).all(|_| match limit {
        Some(limit) => {
            let left = limit.saturating_sub(started.elapsed());
            receiver.recv_timeout(left).is_ok()
        }
        None => receiver.recv().is_ok(),
    });
    if !is_over {
        // Fails if it has ended meanwhile.
        let _ = child.kill();
    }
    let status = child.wait().map_err(describe)?;
    let wall_s = started.elapsed().as_secs_f64();
    let cpu_s = cpu_time_of_ended_children()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    let (stdout, stderr) = (
        stdout.join().unwrap_or_default(),
        stderr.join().unwrap_or_default(),
    );
    Ok(is_over.then_some(Finished {
        stdout,
        stderr,
        code: status.code(),
        wall_s,
        cpu_s,
    }))
}

fn program(command: &Command) -> String {
    command.get_program().display().to_string()
}

/// Reads a stream to its end in a thread of its own, and tells when it is there.
fn read_aside(
    stream: Option<impl Read + Send + 'static>,
    is_over: mpsc::Sender<()>,
) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stream) = stream {
            // What came before an error is kept; the exit code tells of the error.
            let _ = stream.read_to_end(&mut text);
        }
        // The receiver is gone if the time limit was reached.
        let _ = is_over.send(());
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Linux counts the time of all children that were waited for, in hundredths of a second.
fn cpu_time_of_ended_children() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let after_name = &stat[stat.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_measured_with_its_exit_code_and_both_streams() {
        let child = run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]))
            .expect("there is a shell");
        assert_eq!(child.stdout, "out\n");
        assert_eq!(child.stderr, "err\n");
        assert_eq!(child.code, Some(3));
        assert!(child.wall_s > 0.0);
    }

    #[test]
    fn a_child_that_takes_too_long_is_ended() {
        let limit = Duration::from_millis(200);
        let slow = run_for(Command::new("sleep").arg("60"), limit).expect("there is a sleep");
        assert!(slow.is_none());
        let quick = run_for(Command::new("echo").arg("x"), Duration::from_secs(60));
        let quick = quick.expect("there is an echo").expect("it ends in time");
        assert_eq!((quick.stdout.as_str(), quick.code), ("x\n", Some(0)));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("/no/such/program")).err();
        assert!(error.is_some_and(|error| error.to_string().contains("/no/such/program")));
    }
}
