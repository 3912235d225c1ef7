//! The results of a campaign: counted while it runs, printed as text or JSON.
//!
//! Figures are kept by generator and by engine. A program can be *passed over*, because it is
//! not valid or too large to compare; an engine can have *no answer*, because it does not
//! support the program or because its time was up. Both are counted, so that a campaign that
//! compares nothing does not look like one that finds nothing.

use std::fmt::Write;
use std::time::Instant;

use mover_fuzz::compare::{Mismatch, PassedOver, Tally};
use mover_fuzz::subject::{Examined, Generator};
use serde_json::{Value, json};

/// What the searches have come to so far, by number of generator.
pub struct Totals {
    pub of_generator: Vec<OfGenerator>,
    pub mismatches: Vec<Told>,
}

#[derive(Clone, Default)]
pub struct OfGenerator {
    pub programs: u64,
    pub compared: u64,
    /// By number in [`PassedOver::ALL`].
    pub passed_over: [u64; PassedOver::ALL.len()],
    pub mismatches: u64,
    pub wrong: u64,
    pub deadlocks: u64,
    /// By number of engine: what it made of its questions, and in how many it was wrong.
    pub engines: Vec<(Tally, u64)>,
}

/// A mismatch, with the smallest program that shows it.
pub struct Told {
    pub generator: &'static str,
    pub seed: u64,
    pub mismatch: Mismatch,
    pub text: String,
    /// Where it has been written, or why not.
    pub written: Option<String>,
}

impl Totals {
    pub fn new(engines: usize) -> Totals {
        let none = OfGenerator {
            engines: vec![(Tally::default(), 0); engines],
            ..OfGenerator::default()
        };
        Totals {
            of_generator: vec![none; Generator::ALL.len()],
            mismatches: Vec::new(),
        }
    }
}

impl OfGenerator {
    pub fn add(&mut self, examined: Result<Examined, PassedOver>) {
        match examined {
            Ok(examined) => {
                self.compared += 1;
                self.wrong += u64::from(examined.is_wrong);
                self.deadlocks += u64::from(examined.has_deadlock);
                for ((total, _), tally) in self.engines.iter_mut().zip(examined.tallies) {
                    *total += tally;
                }
            }
            Err(reason) => {
                let number = PassedOver::ALL.iter().position(|&other| other == reason);
                self.passed_over[number.unwrap_or(0)] += 1;
            }
        }
    }
}

pub fn told_so_far(totals: &Totals, started: Instant) -> String {
    let all = Generator::ALL.iter().zip(&totals.of_generator);
    let made: Vec<String> = all
        .filter(|(_, of)| of.programs > 0)
        .map(|(generator, of)| {
            let name = generator.name();
            format!("{} {name} ({} compared)", of.programs, of.compared)
        })
        .collect();
    let sum = |what: fn(&OfGenerator) -> u64| totals.of_generator.iter().map(what).sum::<u64>();
    let mismatches = match totals.mismatches.len() {
        0 => String::new(),
        1 => ", 1 mismatch".into(),
        many => format!(", {many} mismatches"),
    };
    format!(
        "{} programs: {}; {} with errors, {} with deadlocks{mismatches}, {:.0} s",
        sum(|of| of.programs),
        made.join(", "),
        sum(|of| of.wrong),
        sum(|of| of.deadlocks),
        started.elapsed().as_secs_f64()
    )
}

/// Everything in tables: the programs by generator, the answers by engine.
pub fn as_text(totals: &Totals, names: &[String], started: Instant) -> String {
    let mut text = String::new();
    for told in &totals.mismatches {
        let Told {
            generator,
            seed,
            mismatch,
            text: program,
            written,
        } = told;
        let _ = writeln!(text, "{generator} seed {seed}: {mismatch}\n{program}");
        if let Some(written) = written {
            let _ = writeln!(text, "{written}");
        }
    }
    let _ = writeln!(
        text,
        "generator   programs   compared  not valid  too large     errors  deadlocks  mismatches"
    );
    let used = || {
        let all = Generator::ALL.iter().zip(&totals.of_generator);
        all.filter(|(_, of)| of.programs > 0)
    };
    for (generator, of) in used() {
        let [invalid, large] = of.passed_over;
        let _ = writeln!(
            text,
            "{:9} {:10} {:10} {invalid:10} {large:10} {:10} {:10} {:11}",
            generator.name(),
            of.programs,
            of.compared,
            of.wrong,
            of.deadlocks,
            of.mismatches
        );
    }
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let _ = write!(text, "\n{:longest$}", "answers compared");
    for (generator, _) in used() {
        let _ = write!(text, " {:>8}", generator.name());
    }
    let _ = writeln!(text, "  not taken       open  states  mismatches");
    let all_states = |engine: usize| -> u64 {
        let all = totals.of_generator.iter();
        all.map(|of| of.engines[engine].0.states).sum()
    };
    for (number, name) in names.iter().enumerate() {
        let mut sum = Tally::default();
        let mut mismatches = 0;
        for (_, of) in used() {
            sum += of.engines[number].0;
            mismatches += of.engines[number].1;
        }
        if sum == Tally::default() && mismatches == 0 {
            continue;
        }
        let _ = write!(text, "{name:longest$}");
        for (_, of) in used() {
            let _ = write!(text, " {:8}", of.engines[number].0.answered);
        }
        let share = match sum.states {
            // Of those of the first way to search, if it was asked.
            states if states > 0 && all_states(0) > 0 => {
                format!("{:.1} %", states as f64 * 100.0 / all_states(0) as f64)
            }
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            " {:10} {:10} {share:>7} {mismatches:11}",
            sum.unsupported, sum.unfinished
        );
    }
    let found = match totals.mismatches.len() {
        0 => "no mismatch in",
        _ => "mismatch after",
    };
    let _ = writeln!(text, "\n{found} {}", told_so_far(totals, started));
    text
}

pub fn as_json(totals: &Totals, names: &[String], started: Instant) -> Value {
    let mut generators = Vec::new();
    let mut answers = Vec::new();
    for (generator, of) in Generator::ALL.iter().zip(&totals.of_generator) {
        if of.programs == 0 {
            continue;
        }
        let [invalid, large] = of.passed_over;
        generators.push(json!({
            "generator": generator.name(),
            "programs": of.programs,
            "compared": of.compared,
            "passed_over": { "not_valid": invalid, "too_large": large },
            "with_errors": of.wrong,
            "with_deadlocks": of.deadlocks,
            "mismatches": of.mismatches,
        }));
        for (name, (tally, mismatches)) in names.iter().zip(&of.engines) {
            if *tally == Tally::default() && *mismatches == 0 {
                continue;
            }
            answers.push(json!({
                "generator": generator.name(),
                "engine": name,
                "compared": tally.answered,
                "passed_over": {
                    "not_supported": tally.unsupported,
                    "not_finished": tally.unfinished,
                },
                "states": tally.states,
                "mismatches": mismatches,
            }));
        }
    }
    let mismatches: Vec<Value> = totals
        .mismatches
        .iter()
        .map(|told| {
            json!({
                "generator": told.generator,
                "seed": told.seed,
                "property": told.mismatch.property,
                "engine": told.mismatch.way,
                "what": told.mismatch.what,
                "program": told.text,
                "written": told.written,
            })
        })
        .collect();
    json!({
        "seconds": started.elapsed().as_secs_f64(),
        "generators": generators,
        "engines": answers,
        "mismatches": mismatches,
    })
}
