//! `hunt SECONDS`: compares random programs until two ways to search disagree.
//!
//! What `mover fuzz` does, without the rest of mover: `scripts/check-mutations` builds it once
//! for each way to break the reductions. Exit code 6 if something was found.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mover_fuzz::{Model, check_model, smallest};

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(limit) = seconds.map(Duration::from_secs) else {
        eprintln!("usage: hunt SECONDS");
        return ExitCode::from(1);
    };
    let started = Instant::now();
    let next = AtomicU64::new(1);
    let is_found = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while started.elapsed() < limit && !is_found.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let model = Model::random(seed);
                    if let Err(mismatch) = check_model(&model)
                        && !is_found.swap(true, Ordering::Relaxed)
                    {
                        println!("found after {:.1} s", started.elapsed().as_secs_f64());
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
