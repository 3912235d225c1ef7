//! `--checkpoint` and `--resume`: searches that survive being killed.
//!
//! A checkpoint is written to a temporary file and then renamed, so at any moment there is a
//! complete one or none. It names what it belongs to: this build of mover, the program as it
//! was translated, and every option that determines which states are stored in which order.
//! Limits of time and memory are not among them: continuing with a larger limit is the purpose
//! of checkpoints.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use mover_check::CheckpointOptions;
use mover_explicit::Save;
use mover_explicit::checkpoint::{Identity, Snapshot, open, sum_of};
use mover_ir::program::Program;

use super::processes::number_of;
use mover_cli::CliError;
use mover_cli::output::{OutputError, remove_left_overs, write_file_by};
use mover_cli::quantities::parse_seconds;

#[derive(Args)]
pub struct CheckpointArgs {
    /// Explicit search: periodically save the search to a file, to continue it with `--resume`
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Minimum seconds between two checkpoints; writing them takes at most a tenth of the time
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        requires = "checkpoint",
        value_parser = parse_seconds
    )]
    checkpoint_every: Duration,

    /// Explicit search: continue from a checkpoint of the same program with the same options
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

impl CheckpointArgs {
    /// The option that was given, if one was.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            (&self.checkpoint, "--checkpoint"),
            (&self.resume, "--resume"),
        ];
        let mut given = options.into_iter().filter(|(path, _)| path.is_some());
        given.next().map(|(_, name)| name)
    }

    /// The file that is written, by option.
    pub fn output(&self) -> Option<(&'static str, &Path)> {
        Some(("--checkpoint", self.checkpoint.as_deref()?))
    }

    /// The file that is read.
    pub fn input(&self) -> Option<&Path> {
        self.resume.as_deref()
    }

    /// The checkpoint options of the search; `None` if no option was given. `options_asked` are the
    /// options that determine the search.
    pub fn options(
        &self,
        program: &Program,
        options_asked: &[(&str, String)],
    ) -> Result<Option<Arc<CheckpointOptions>>, CliError> {
        if self.given().is_none() {
            return Ok(None);
        }
        let identity = identity(program, options_asked);
        let resume = match &self.resume {
            Some(path) => Some(opened(path, &identity)?),
            None => None,
        };
        if let Some(path) = &self.checkpoint {
            remove_left_overs(path);
        }
        let has_failed = Arc::new(AtomicBool::new(false));
        let failed = Arc::clone(&has_failed);
        let save = self.checkpoint.clone().map(|path| {
            let save = move |snapshot: &Snapshot| {
                // The search continues; the checkpoint before this one is still there.
                if let Err(reason) = write(&path, snapshot)
                    && !failed.swap(true, Ordering::Relaxed)
                {
                    CliError::output("U003", reason).print();
                }
            };
            Mutex::new(Box::new(save) as Save)
        });
        let path = self.checkpoint.clone();
        let advice = move || {
            let path = path
                .as_ref()
                .filter(|_| !has_failed.load(Ordering::Relaxed))?;
            Some(format!("continuing with `--resume {}`", path.display()))
        };
        Ok(Some(Arc::new(CheckpointOptions {
            identity,
            every: self.checkpoint_every,
            save,
            resume: Mutex::new(resume),
            advice: Box::new(advice),
        })))
    }
}

fn write(path: &Path, snapshot: &Snapshot) -> Result<(), OutputError> {
    write_file_by(path, &|file: &mut File| {
        snapshot.write_to(file)?;
        file.flush()?;
        // The name must not come to the disk before what it names.
        file.sync_all()
    })
}

fn opened(path: &Path, identity: &Identity) -> Result<Box<dyn Read + Send>, CliError> {
    let refuse = |reason: String| {
        CliError::input(
            "U011",
            format!("cannot resume from {}: {reason}", path.display()),
        )
    };
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let length = file
        .metadata()
        .map_err(|error| refuse(error.to_string()))?
        .len();
    let mut file = BufReader::with_capacity(1 << 16, file);
    open(&mut file, length, identity).map_err(|error| refuse(error.to_string()))?;
    Ok(Box::new(file))
}

/// What a checkpoint of this search belongs to.
fn identity(program: &Program, options_asked: &[(&str, String)]) -> Identity {
    let mut identity: Identity = vec![
        ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ("build".into(), build()),
    ];
    for (name, value) in options_asked {
        identity.push(((*name).into(), value.clone()));
    }
    // What differs first is told, and options change the program: without `unreach-call` runs go
    // on after assertions.
    identity.push((
        "program".into(),
        format!("{} ({:016x})", program.info.name, fingerprint(program)),
    ));
    identity
}

/// What has to be the same in all processes of a search.
pub fn process_identity(
    program: &Program,
    options_asked: &[(&str, String)],
) -> [(&'static str, u64); 3] {
    let identity = identity(program, options_asked);
    let pairs = |range: std::ops::Range<usize>| {
        let entries = identity[range].iter();
        number_of(entries.map(|(name, value)| (name.as_str(), value.as_str())))
    };
    let last = identity.len() - 1;
    [
        ("build of mover", pairs(0..2)),
        ("set of options", pairs(2..last)),
        ("program", pairs(last..last + 1)),
    ]
}

/// A number for this executable: what two builds store need not be the same.
fn build() -> String {
    let executable = std::env::current_exe().and_then(File::open);
    match executable.and_then(|mut file| sum_of(&mut file)) {
        Ok(sum) => format!("{sum:016x}"),
        Err(_) => "unknown".into(),
    }
}

/// A number for everything that mover knows of a program.
fn fingerprint(program: &Program) -> u64 {
    struct Hashed(DefaultHasher);
    impl std::fmt::Write for Hashed {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hashed = Hashed(DefaultHasher::new());
    let written = std::fmt::write(&mut hashed, format_args!("{program:?}"));
    debug_assert!(written.is_ok());
    hashed.0.finish()
}
