//! `hunt SECONDS [GENERATOR [QUESTION]]`: compares random programs until two ways to search disagree.
//!
//! The generators are `promela` (the default) and, with the features `c` and `symbolic`,
//! `protection`. Of C programs the question is whether `movers` commute (the default, which costs
//! least), whether all variants of `explicit` search agree, or whether `all` engines do.
//!
//! What `mover fuzz --jobs 2` does, without the rest of mover: `scripts/check-mutations` builds it
//! once for each way to break the reductions. Exit code 6 if something was found. The seconds
//! are those of two cores that it has to itself, by the time of the processor that it gets: how
//! much else the machine has to do does not matter.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Gives the smallest program with a mismatch, in words.
type Smallest = Box<dyn FnOnce() -> String>;

/// What comes of the program of a seed.
type Examine = Box<dyn Fn(u64) -> Option<Smallest> + Sync>;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let seconds = args.next().and_then(|text| text.parse().ok());
    let generator = args.next().unwrap_or_else(|| "promela".into());
    let (Some(limit), Some(examine)) = (
        seconds.map(|seconds: u32| f64::from(seconds)),
        judge(&generator, &args.next().unwrap_or_default()),
    ) else {
        eprintln!("usage: hunt SECONDS [promela|protection [movers|explicit|all]]");
        return ExitCode::from(1);
    };
    let next = AtomicU64::new(1);
    let is_found = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while elapsed() < limit && !is_found.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if let Some(smallest) = examine(seed)
                        && !is_found.swap(true, Ordering::Relaxed)
                    {
                        println!("found after {:.1} s, seed {seed}", elapsed());
                        println!("seed {seed}: {}", smallest());
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

fn judge(generator: &str, question: &str) -> Option<Examine> {
    match (generator, question) {
        ("promela", "") => Some(Box::new(examine_model)),
        #[cfg(feature = "symbolic")]
        ("protection", question) => {
            use mover_fuzz::subject::Asked;

            let moment = std::time::Duration::from_millis(200);
            let asked = match question {
                // Small programs need much less; the machine may be busy.
                "" | "movers" => Asked::Movers(10 * moment),
                "explicit" => Asked::Explicit,
                "all" => Asked::All(moment),
                _ => return None,
            };
            Some(Box::new(move |seed| examine_protection(seed, asked)))
        }
        _ => None,
    }
}

fn examine_model(seed: u64) -> Option<Smallest> {
    use mover_fuzz::{Model, check_model, smallest};

    let model = Model::random(seed);
    let mismatch = check_model(&model).err()?;
    Some(Box::new(move || {
        let (model, mismatch) = smallest(&model, mismatch);
        format!("{mismatch}\n{}", model.text())
    }))
}

#[cfg(feature = "symbolic")]
fn examine_protection(seed: u64, asked: mover_fuzz::subject::Asked) -> Option<Smallest> {
    use mover_fuzz::subject::Generator;

    let mut all = Generator::ALL.iter();
    let generator = all.find(|generator| generator.name() == "protection")?;
    let subject = generator.subject(seed);
    let mismatch = subject.examine(asked).err()?;
    Some(Box::new(move || {
        let (subject, mismatch) = subject.smallest(mismatch, asked);
        format!("{mismatch}\n{}", subject.text())
    }))
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
