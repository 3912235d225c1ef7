//! `hunt SECONDS`: compares random programs until two ways to search disagree.
//!
//! What `mover fuzz --jobs 2` does, without the rest of mover: `scripts/check-mutations` builds it
//! once for each way to break the reductions. Exit code 6 if something was found. The seconds are
//! those of two cores that it has to itself, by the time of the processor that it gets: how much
//! else the machine has to do does not matter.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mover_fuzz::{Model, check_model, smallest};

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(limit) = seconds.map(|seconds: u32| f64::from(seconds)) else {
        eprintln!("usage: hunt SECONDS");
        return ExitCode::from(1);
    };
    let next = AtomicU64::new(1);
    let is_found = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while elapsed() < limit && !is_found.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let model = Model::random(seed);
                    if let Err(mismatch) = check_model(&model)
                        && !is_found.swap(true, Ordering::Relaxed)
                    {
                        println!("found after {:.1} s, seed {seed}", elapsed());
                        let (model, mismatch) = smallest(&model, mismatch);
                        println!("seed {seed}: {mismatch}\n{}", model.text());
                    }
                }
            });
        }
    });
    if is_found.into_inner() {
        return ExitCode::from(6);
    }
    let programs = next.into_inner() - 1;
    println!("nothing in {programs} programs");
    ExitCode::SUCCESS
}

/// Seconds of two cores that the process has had; the kernel counts in hundredths.
fn elapsed() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    // Behind the name, which may have spaces in it: user and system time are the 12th and 13th.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0 / 2.0
}
