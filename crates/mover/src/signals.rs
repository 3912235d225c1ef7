//! Signals from the user, such as Ctrl-C.

use mover_cli::stderr_line;
use mover_engine::{Cancel, CancelReason};

/// The first signal ends the search with what is known, the second ends the process.
pub fn stop_on_signal(cancel: &Cancel) {
    let cancel = cancel.clone();
    let installed = ctrlc::set_handler(move || {
        if !cancel.request(CancelReason::User) {
            std::process::exit(130);
        }
    });
    if let Err(error) = installed {
        stderr_line!("mover: signals are not handled: {error}");
    }
}
