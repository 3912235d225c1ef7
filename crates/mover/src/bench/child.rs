//! One child process, run to its end and measured.

use std::process::{Command, Stdio};
use std::time::Instant;

/// What a child printed and what it took.
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
    pub wall_s: f64,
    /// User and system time, to a hundredth of a second; absent where the system does not tell.
    pub cpu_s: Option<f64>,
}

/// Runs a command to its end. Measures right only if no other child ends meanwhile.
pub fn run(command: &mut Command) -> Result<Finished, String> {
    let cpu_before = cpu_time_of_ended_children();
    let started = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    let wall_s = started.elapsed().as_secs_f64();
    let cpu_s = cpu_time_of_ended_children()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    Ok(Finished {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        wall_s,
        cpu_s,
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
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("/no/such/program")).err();
        assert!(error.is_some_and(|error| error.contains("/no/such/program")));
    }
}
