//! Options of searches that remember states only approximately.

use clap::Args;
use mover_cli::quantities::parse_megabytes;
use mover_explicit::{Approximate, Remembered};

use super::choices::{Engine, Reduction};
use super::option_error::OptionError;
use super::options::CheckArgs;

/// The field of bits of each search of a swarm, unless another size is given.
const MEGABYTES: u64 = 64;

#[derive(Args)]
pub struct ApproximateArgs {
    /// Remember each state by three bits in a field of this size (default: 64 MB). Violations that are
    /// found are real; without one, the answer is `unknown` with an estimate of the states covered
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_megabytes,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "64"
    )]
    bitstate: Option<u64>,

    /// Remember each state by a hash value of 64 bits; otherwise as `--bitstate`
    #[arg(long, conflicts_with = "bitstate")]
    hash_compact: bool,

    /// Search approximately this many times, each time with other hash values and in another order
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    swarm: Option<u32>,
}

impl ApproximateArgs {
    pub(super) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.bitstate.is_some(), "--bitstate"),
            (self.hash_compact, "--hash-compact"),
            (self.swarm.is_some(), "--swarm"),
        ];
        let mut options = options.into_iter();
        options.find_map(|(is_given, option)| is_given.then_some(option))
    }

    pub(super) fn search(&self) -> Option<Approximate> {
        self.given()?;
        let megabytes = self.bitstate.unwrap_or(MEGABYTES).clamp(1, 1 << 20);
        let remembered = match self.hash_compact {
            true => Remembered::Hashes,
            false => Remembered::Bits {
                bytes: (megabytes << 20) as usize,
            },
        };
        Some(Approximate {
            remembered,
            searches: self.swarm.unwrap_or(1),
        })
    }

    /// What a search that stores no states cannot do.
    pub(super) fn check(&self, args: &CheckArgs) -> Result<(), OptionError> {
        let Some(option) = self.given() else {
            return Ok(());
        };
        let is_stored = !matches!(args.reduce, Reduction::Auto | Reduction::None)
            || args.ignoring.is_some()
            || args.keep_going
            || args.keep_dead_values
            || args.check_movers
            || args.order.is_some()
            || args.jobs > 1
            || args.symbolic.certify
            || args.checkpoints.given().is_some();
        if is_stored || !matches!(args.engine, Engine::Auto | Engine::Explicit) {
            let what = "a search on one core without reduction that stores no states; remove the \
                        options about other searches";
            return Err(OptionError::is_for(option, what));
        }
        Ok(())
    }
}
