//! Signals from the user, such as Ctrl-C, for commands that search without a [`crate::guard`].

use mover_cli::{CliError, stderr_line};
use mover_engine::{Cancel, CancelReason};

/// The first signal ends the search with what is known, the second ends the process.
pub fn stop_on_signal(cancel: &Cancel) {
    let cancel = cancel.clone();
    let installed = ctrlc::set_handler(move || {
        if !cancel.request(CancelReason::User) {
            mover_tools::end_process(CliError::Interrupted.code());
        }
    });
    if let Err(error) = installed {
        stderr_line!("mover: signals are not handled: {error}");
    }
}

/// A signal ends the process, with its children and temporary files.
pub fn end_on_signal() {
    let installed = ctrlc::set_handler(|| mover_tools::end_process(CliError::Interrupted.code()));
    if let Err(error) = installed {
        stderr_line!("mover: signals are not handled: {error}");
    }
}
