//! From the command line to the exit code: what the `main` of each program does.
//!
//! [`parse`] reads the arguments, [`on_large_stack`] runs the command, [`exit_code`] ends the
//! process. The programs differ only in their arguments and commands.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Parser;

use crate::output::{print, stderr_is_terminal, stdout_color};
use crate::{Cause, CliError, Exit};

/// The arguments of this process; none if they ask for help, which has been printed then.
pub fn parse<T: Parser>() -> Result<Option<T>, CliError> {
    parse_from(std::env::args_os())
}

/// The same for given arguments, the first of which is the name of the program.
pub fn parse_from<T: Parser>(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Option<T>, CliError> {
    let error = match T::try_parse_from(arguments) {
        Ok(arguments) => return Ok(Some(arguments)),
        Err(error) => error,
    };
    if error.use_stderr() {
        let message = error.render();
        if stderr_is_terminal() {
            crate::stderr!("{}", message.ansi());
        } else {
            crate::stderr!("{message}");
        }
        return Err(CliError::usage(
            "U001",
            "this command line is not understood",
        ));
    }
    let help = error.render();
    let help = if stdout_color() {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    print(&help)?;
    Ok(None)
}

/// Expressions are as deep as their authors like, and recursion over them needs stack. The system
/// gives only what is used; where the first size is refused, the next is tried.
const STACKS_BYTES: [usize; 3] = [1 << 30, 1 << 27, 1 << 24];

/// Runs a command in a thread with a large stack. A command that panics is an internal error.
pub fn on_large_stack(
    work: impl FnOnce() -> Result<Exit, CliError> + Send,
) -> Result<Exit, CliError> {
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().ok().and_then(|mut work| work.take());
        work.map(|work| work())
    };
    let ended = std::thread::scope(|scope| {
        let mut workers = STACKS_BYTES.into_iter().filter_map(|bytes| {
            let thread = std::thread::Builder::new().name("main".into());
            thread.stack_size(bytes).spawn_scoped(scope, run).ok()
        });
        workers.next().and_then(|worker| worker.join().ok())
    });
    ended.flatten().unwrap_or_else(|| {
        let message = "internal error; please report it with the input that led to it";
        Err(CliError::uncoded(Cause::Internal, message))
    })
}

/// Prints the error, if it is one, and gives the exit code of the process.
pub fn exit_code(ended: Result<Exit, CliError>) -> ExitCode {
    ExitCode::from(match ended {
        Ok(exit) => exit.code(),
        Err(error) => {
            error.print();
            error.code()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_room_for_deep_recursion() {
        fn depth(left: u64) -> u64 {
            // Some bytes of stack that are not optimised away.
            let room = std::hint::black_box([left; 64]);
            if left == 0 { 0 } else { 1 + depth(room[1] - 1) }
        }
        // More than 100 MB.
        let ended = on_large_stack(|| {
            assert_eq!(depth(200_000), 200_000);
            Ok(Exit::Unknown)
        });
        assert!(matches!(ended, Ok(Exit::Unknown)));
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let ended = on_large_stack(|| panic!("on purpose"));
        assert_eq!(ended.map_err(|error| error.code()), Err(6));
    }
}
