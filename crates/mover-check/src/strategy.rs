//! Which engines run, in which order, with what budget.
//!
//! A strategy is data: a list of stages. A stage has one or more runs, which race if there are
//! several: the first final answer stops the others. If none has an answer, the result of the
//! first run of the stage is reported. A later stage begins only under its condition.
//!
//! `auto` on one core is explicit search; programs that it refuses (for instance with a value
//! that can be any of 2³²) go to `bmc` and `ic3` in parallel. If there is a time limit, explicit
//! search leaves the others a part of it: a *hunt* depth first, which finds errors that are deep,
//! then the event engine `token`, then `bmc` and `ic3`. On more cores the last two run in parallel
//! with explicit search from the start, on one core each.
//!
//! A program that creates threads in a loop has runs with more threads than can be searched. There
//! explicit search gets a short turn. Then come hunts in which at most two, three and four created
//! threads are alive at a time: most errors need no more. A hunt leaves runs out, so it counts only
//! if it finds a violation. Then `modular` tries a proof for any number of threads, `bmc` looks for
//! violations with a few, and at last `ic3` and `bmc` run together with a second try of the proof.
//! Where deadlocks or data races are asked for, too, such proofs are rarer: there a short look and a
//! short try come before the usual stages, unless the program joins its threads.

use std::fmt;
use std::time::Duration;

use mover_engine::Task;
use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{BoundKind, Edge, Location, Program};

use crate::options::{EngineChoice, Options, ReductionChoice};

/// One engine with its share of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub engine: EngineChoice,
    pub reduction: ReductionChoice,
    pub jobs: usize,
    /// For a hunt: how it leaves runs out.
    pub hunt: Option<Hunt>,
}

/// A search for violations that proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hunt {
    /// All runs, the deep ones first.
    DepthFirst,
    /// Runs in which at most so many created threads are alive at a time.
    FewThreads(u32),
}

/// When a stage begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Always,
    /// If the stage before met something that its engines do not take.
    AfterRefusal,
    /// If no stage before has seen all runs up to the bounds of the translation.
    Unfinished,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    pub runs: Vec<Run>,
    pub when: When,
    /// Time for the stage; none: all that is left.
    pub budget: Option<Duration>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strategy {
    pub stages: Vec<Stage>,
}

impl Stage {
    /// Whether it may prove something for any number of threads.
    pub fn may_prove(&self) -> bool {
        let mut runs = self.runs.iter();
        runs.any(|run| run.engine == EngineChoice::Modular)
    }

    /// Whether all it does is to try a proof for any number of threads.
    pub fn is_proof(&self) -> bool {
        matches!(&self.runs[..], [only] if only.engine == EngineChoice::Modular)
    }

    /// Its engines in words: `the engines bmc and ic3`.
    pub fn engines(&self) -> String {
        let mut names: Vec<&str> = self.runs.iter().map(|run| run.engine.name()).collect();
        names.sort_unstable();
        match &names[..] {
            [only] => format!("the engine {only}"),
            [others @ .., last] => format!("the engines {} and {last}", others.join(", ")),
            [] => "no engine".into(),
        }
    }
}

/// What of a program the choice of engines depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Whether it may need more threads than the translation allows, and all that is asked can be
    /// proved for any number of them.
    pub any_number: bool,
    /// Whether proofs for any number of threads are asked for.
    pub asks_for_any: bool,
    /// Whether it creates threads in loops and waits for none of them.
    pub leaves_threads: bool,
}

impl Run {
    fn new(engine: EngineChoice, reduction: ReductionChoice, jobs: usize) -> Run {
        Run {
            engine,
            reduction,
            jobs,
            hunt: None,
        }
    }

    fn hunting(self, hunt: Hunt) -> Run {
        Run {
            hunt: Some(hunt),
            jobs: 1,
            ..self
        }
    }
}

impl Features {
    pub fn of(task: &Task) -> Features {
        let program = task.program();
        let in_loops = places(program).any(is_thread_bound);
        let asks_for_any = task.any_number().is_some();
        let of_errors = !task.asks_for_deadlocks() && !task.asks_for_races();
        Features {
            any_number: asks_for_any || in_loops && of_errors,
            asks_for_any,
            leaves_threads: in_loops && !waits_for_threads(program),
        }
    }
}

fn places(program: &Program) -> impl Iterator<Item = &Location> {
    program.templates.iter().flat_map(|t| &t.locations)
}

fn is_thread_bound(place: &Location) -> bool {
    let mark = place.bound.as_ref();
    mark.is_some_and(|mark| mark.kind == BoundKind::Threads)
}

/// Whether a thread may wait for what is known of others by their handles, as a join does. A creation
/// looks there, too, for a handle that is free.
fn waits_for_threads(program: &Program) -> bool {
    let Some(presence) = program.presence else {
        return false;
    };
    let looks = |edge: &Edge| {
        let mut found = false;
        edge.guard.walk(&mut |part| {
            found |= matches!(part, Expr::Read(place)
                if place.variable == VariableRef::Global(presence));
        });
        found
    };
    program.templates.iter().any(|body| {
        let creates = |edge: &Edge| is_thread_bound(body.location(edge.target));
        let waits = |place: &Location| {
            !place.edges.is_empty()
                && place.edges.iter().all(looks)
                && !place.edges.iter().any(creates)
        };
        body.locations.iter().any(waits)
    })
}

/// The parts of the time limit that explicit search, the hunt and the event engine have before
/// `bmc` and `ic3` get their turn.
const EXPLICIT_SHARE: f64 = 0.4;
const HUNT_SHARE: f64 = 0.08;
const EVENTS_SHARE: f64 = 0.17;
/// With threads in loops: the parts of explicit search, of each hunt with this many created threads,
/// of the first try of a proof, and of `bmc` with a few threads.
const FIRST_LOOK: f64 = 0.1;
const FEW_THREADS: [(u32, f64); 3] = [(2, 0.03), (3, 0.04), (4, 0.05)];
const FIRST_PROOF: f64 = 0.4;
const FEW_IN_FORMULA: (u32, f64) = (3, 0.15);
/// Where deadlocks or races are asked, too: the time of a first look, and of a proof.
const EARLY_LOOK: Duration = Duration::from_secs(1);
const EARLY_PROOF: Duration = Duration::from_secs(4);
const EARLY_PROOF_SHARE: f64 = 0.15;
/// The time that counts where there is no limit.
const WITHOUT_LIMIT: Duration = Duration::from_secs(60);

impl Strategy {
    pub fn new(options: &Options, features: Features) -> Strategy {
        let mut strategy = Strategy::without_early_proof(options, features);
        let is_alone = options.engine != EngineChoice::Auto || options.needs_explicit_search();
        if features.leaves_threads && !features.any_number && !is_alone {
            strategy.begin_with_proof(options);
        }
        strategy
    }

    /// Few threads are often enough for a violation, and a proof for any number is quick or there is
    /// none; a search with as many as fit takes long and proves nothing.
    fn begin_with_proof(&mut self, options: &Options) {
        let budget = |most: Duration, share: f64| {
            let part = options.timeout.map(|time| time.mul_f64(share));
            Some(part.map_or(most, |part| part.min(most)))
        };
        let explicit = EngineChoice::Explicit;
        let look = Run::new(explicit, options.explicit_reduction(), options.jobs);
        let proof = Run::new(EngineChoice::Modular, options.modular_reduction(), 1);
        let stage = |run, budget| Stage {
            runs: vec![run],
            when: When::Always,
            budget,
        };
        let early = [
            stage(look, budget(EARLY_LOOK, FIRST_LOOK)),
            stage(proof, budget(EARLY_PROOF, EARLY_PROOF_SHARE)),
        ];
        self.stages.splice(0..0, early);
    }

    fn without_early_proof(options: &Options, features: Features) -> Strategy {
        let explicit_reduction = options.explicit_reduction();
        let symbolic_reduction = options.symbolic_reduction();
        let one = |engine, reduction, jobs| Stage {
            runs: vec![Run::new(engine, reduction, jobs)],
            when: When::Always,
            budget: None,
        };
        let explicit = EngineChoice::Explicit;
        match options.engine {
            EngineChoice::Auto if !options.needs_explicit_search() => {}
            EngineChoice::Auto | EngineChoice::Explicit => {
                return Strategy {
                    stages: vec![one(explicit, explicit_reduction, options.jobs)],
                };
            }
            engine => {
                let reduction = match engine {
                    EngineChoice::Modular => options.modular_reduction(),
                    EngineChoice::Token => ReductionChoice::None,
                    _ => options.symbolic_reduction(),
                };
                return Strategy {
                    stages: vec![one(engine, reduction, 1)],
                };
            }
        }
        let symbolic = |reduction| {
            [EngineChoice::Ic3, EngineChoice::Bmc].map(|engine| Run::new(engine, reduction, 1))
        };
        if features.any_number {
            return Strategy::for_any_number(options, explicit_reduction);
        }
        let beside = options.jobs.saturating_sub(1).min(2);
        let mut first = one(explicit, explicit_reduction, options.jobs - beside);
        if beside > 0 {
            let others = symbolic(symbolic_reduction);
            first.runs.extend(&others[..beside]);
            return Strategy {
                stages: vec![first],
            };
        }
        // What explicit search refuses is large: there the best reduction is worth trying.
        let after = options
            .reduction
            .filter(|&asked| asked != ReductionChoice::None)
            .unwrap_or(ReductionChoice::Dynamic);
        let last = Stage {
            runs: symbolic(after).to_vec(),
            when: When::AfterRefusal,
            budget: None,
        };
        let Some(time) = options.timeout else {
            return Strategy {
                stages: vec![first, last],
            };
        };
        let within = |run: Run, share: f64| Stage {
            runs: vec![run],
            when: When::Always,
            budget: Some(time.mul_f64(share)),
        };
        first.budget = Some(time.mul_f64(EXPLICIT_SHARE));
        let hunt = Run::new(explicit, explicit_reduction, 1).hunting(Hunt::DepthFirst);
        let events = Run::new(EngineChoice::Token, ReductionChoice::None, 1);
        Strategy {
            stages: vec![
                first,
                within(hunt, HUNT_SHARE),
                within(events, EVENTS_SHARE),
                Stage {
                    when: When::Always,
                    ..last
                },
            ],
        }
    }

    /// For programs that create threads in loops.
    fn for_any_number(options: &Options, explicit_reduction: ReductionChoice) -> Strategy {
        let time = options.timeout.unwrap_or(WITHOUT_LIMIT);
        let stage = |runs, share: Option<f64>| Stage {
            runs,
            when: When::Always,
            budget: share.map(|share| time.mul_f64(share)),
        };
        let modular = Run::new(EngineChoice::Modular, options.modular_reduction(), 1);
        let formulas = options
            .reduction
            .filter(|&asked| asked != ReductionChoice::None)
            .unwrap_or(ReductionChoice::Dynamic);
        let explicit = Run::new(EngineChoice::Explicit, explicit_reduction, options.jobs);
        let mut stages = vec![stage(vec![explicit], Some(FIRST_LOOK))];
        for (threads, share) in FEW_THREADS {
            let hunt = explicit.hunting(Hunt::FewThreads(threads));
            stages.push(stage(vec![hunt], Some(share)));
        }
        stages.push(stage(vec![modular], Some(FIRST_PROOF)));
        let unfinished = |runs, share| Stage {
            when: When::Unfinished,
            ..stage(runs, share)
        };
        let (threads, share) = FEW_IN_FORMULA;
        let symbolic = options.symbolic_reduction();
        let few = Run::new(EngineChoice::Bmc, symbolic, 1).hunting(Hunt::FewThreads(threads));
        stages.push(unfinished(vec![few], Some(share)));
        let rest = vec![
            Run::new(EngineChoice::Ic3, formulas, 1),
            Run::new(EngineChoice::Bmc, formulas, 1),
            modular,
        ];
        stages.push(unfinished(rest, None));
        Strategy { stages }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, stage) in self.stages.iter().enumerate() {
            if number > 0 {
                f.write_str("; ")?;
            }
            match stage.when {
                When::Always => {}
                When::AfterRefusal => f.write_str("if that is refused: ")?,
                When::Unfinished => f.write_str("if not all runs were seen: ")?,
            }
            for (number, run) in stage.runs.iter().enumerate() {
                if number > 0 {
                    f.write_str(" in parallel with ")?;
                }
                let engine = run.engine.name();
                write!(f, "{engine} with reduction {}", run.reduction.name())?;
                if run.jobs > 1 {
                    write!(f, " on {} cores", run.jobs)?;
                }
                match run.hunt {
                    None => {}
                    Some(Hunt::DepthFirst) => f.write_str(", hunting depth first")?,
                    Some(Hunt::FewThreads(count)) => {
                        write!(f, ", hunting with {count} created threads")?;
                    }
                }
            }
            if let Some(budget) = stage.budget {
                write!(f, " for {} s", budget.as_secs_f64())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(options: Options) -> String {
        Strategy::new(&options, Features::default()).to_string()
    }

    #[test]
    fn auto_on_one_core_leaves_to_formulas_what_explicit_search_refuses() {
        assert_eq!(
            told(Options::default()),
            "explicit with reduction dynamic; if that is refused: ic3 with reduction dynamic \
             in parallel with bmc with reduction dynamic"
        );
        let options = Options {
            reduction: Some(ReductionChoice::Static),
            ..Options::default()
        };
        assert_eq!(
            told(options),
            "explicit with reduction static; if that is refused: ic3 with reduction static \
             in parallel with bmc with reduction static"
        );
    }

    #[test]
    fn auto_on_several_cores_is_a_race() {
        let options = |jobs| Options {
            jobs,
            ..Options::default()
        };
        assert_eq!(
            told(options(2)),
            "explicit with reduction dynamic in parallel with ic3 with reduction static"
        );
        assert_eq!(
            told(options(5)),
            "explicit with reduction dynamic on 3 cores in parallel with ic3 with reduction static in \
             parallel with bmc with reduction static"
        );
    }

    #[test]
    fn auto_leaves_formulas_a_part_of_a_time_limit() {
        let options = Options {
            timeout: Some(Duration::from_secs(20)),
            ..Options::default()
        };
        assert_eq!(
            told(options),
            "explicit with reduction dynamic for 8 s; explicit with reduction dynamic, hunting depth \
             first for 1.6 s; token with reduction none for 3.4 s; ic3 with reduction dynamic in \
             parallel with bmc with reduction dynamic"
        );
    }

    #[test]
    fn threads_in_loops_get_a_proof_for_any_number() {
        let options = Options {
            timeout: Some(Duration::from_secs(20)),
            ..Options::default()
        };
        let features = Features {
            any_number: true,
            ..Features::default()
        };
        assert_eq!(
            Strategy::new(&options, features).to_string(),
            "explicit with reduction dynamic for 2 s; explicit with reduction dynamic, hunting with 2 \
             created threads for 0.6 s; explicit with reduction dynamic, hunting with 3 created threads \
             for 0.8 s; explicit with reduction dynamic, hunting with 4 created threads for 1 s; modular \
             with reduction none for 8 s; if not all runs were seen: bmc with reduction static, hunting \
             with 3 created threads for 3 s; if not all runs were seen: ic3 with reduction dynamic in \
             parallel with bmc with reduction dynamic in parallel with modular with reduction none"
        );
    }

    #[test]
    fn what_only_explicit_search_does_keeps_the_others_out() {
        let options = Options {
            keep_going: true,
            jobs: 4,
            ..Options::default()
        };
        assert_eq!(told(options), "explicit with reduction none on 4 cores");
    }

    #[test]
    fn a_named_engine_runs_alone() {
        let options = Options {
            engine: EngineChoice::Ic3,
            jobs: 4,
            ..Options::default()
        };
        assert_eq!(told(options), "ic3 with reduction static");
    }
}
