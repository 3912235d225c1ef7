//! Explicit search by either tool: SPIN's verifier with and without its partial-order
//! reduction, mover with each of its own, on one model.
//!
//! All models here are safe, so that every search that is not cut off has seen everything;
//! an error found by one of the tools is an error of the measurement. Seconds are by each
//! tool's own clock and do not have the time in which SPIN's verifier is made.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ask;
use crate::error::MeasureError;
use crate::pan::{GCC_OPTIONS, GCC_OPTIONS_REDUCED, MEGABYTE, Pan, Ran};
use crate::records::rounded;

/// A way to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SearchMethod {
    #[serde(rename = "SPIN")]
    Spin,
    #[serde(rename = "SPIN reduced")]
    SpinReduced,
    #[serde(rename = "none")]
    None,
    #[serde(rename = "static")]
    Static,
    #[serde(rename = "phase")]
    Phase,
    #[serde(rename = "dynamic")]
    Dynamic,
}

impl SearchMethod {
    pub fn name(self) -> &'static str {
        match self {
            SearchMethod::Spin => "SPIN",
            SearchMethod::SpinReduced => "SPIN reduced",
            SearchMethod::None => "none",
            SearchMethod::Static => "static",
            SearchMethod::Phase => "phase",
            SearchMethod::Dynamic => "dynamic",
        }
    }

    pub fn is_spin(self) -> bool {
        matches!(self, SearchMethod::Spin | SearchMethod::SpinReduced)
    }
}

/// What a search came to.
pub struct Found {
    /// SPIN does not say how far it came when it is ended.
    pub states: Option<u64>,
    pub seconds: f64,
    pub cpu_s: Option<f64>,
    /// What the states take: of mover the whole store, of SPIN the states alone.
    pub store_bytes: Option<u64>,
    /// The same with SPIN's hash table.
    pub table_bytes: Option<u64>,
    pub is_complete: bool,
}

pub fn search(
    search: SearchMethod,
    model: &Path,
    defines: &[&str],
    jobs: u32,
    limit_s: u32,
    scratch: &Path,
) -> Result<Found, MeasureError> {
    if search.is_spin() {
        spin(search, model, defines, limit_s, scratch)
    } else {
        mover(search, model, defines, jobs, limit_s)
    }
}

fn spin(
    search: SearchMethod,
    model: &Path,
    defines: &[&str],
    limit_s: u32,
    scratch: &Path,
) -> Result<Found, MeasureError> {
    let options: &[&str] = match search {
        SearchMethod::SpinReduced => &GCC_OPTIONS_REDUCED,
        _ => &GCC_OPTIONS,
    };
    let name = format!("{} {} {defines:?}", search.name(), model.display());
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    let place = scratch.join(name.replace(|letter| !is_plain(letter), "-"));
    let mut pan = Pan::make(model, defines, place, options)?;
    let limit = Duration::from_secs(u64::from(limit_s));
    match pan.run_deep_enough(Some(limit))? {
        Some(Ran { report, child }) if report.errors == 0 => {
            let bytes = |megabytes: f64| Some((megabytes * MEGABYTE) as u64);
            Ok(Found {
                states: Some(report.states),
                seconds: report.elapsed_s,
                cpu_s: child.cpu_s.map(rounded),
                store_bytes: bytes(report.state_mb),
                table_bytes: bytes(report.table_mb),
                is_complete: true,
            })
        }
        Some(_) => Err(MeasureError::SpinFindsError),
        None => Ok(Found::cut_off(limit_s)),
    }
}

fn mover(
    search: SearchMethod,
    model: &Path,
    defines: &[&str],
    jobs: u32,
    limit_s: u32,
) -> Result<Found, MeasureError> {
    let jobs = jobs.to_string();
    let options = [
        "--engine",
        "explicit",
        "--reduce",
        search.name(),
        "--jobs",
        &jobs,
    ];
    let Some(answer) = ask::check(model, defines, &options, Some(limit_s))? else {
        return Ok(Found::cut_off(limit_s));
    };
    let is_complete = match answer.verdict() {
        "safe" => true,
        "unknown" => false,
        _ => return Err(MeasureError::MoverNotSafe(answer.reason().into())),
    };
    let bytes = Some(answer.number("store_bytes")? as u64);
    Ok(Found {
        states: Some(answer.number("states")? as u64),
        seconds: rounded(answer.number("time_s")?),
        cpu_s: answer.ran.cpu_s.map(rounded),
        store_bytes: bytes,
        table_bytes: bytes,
        is_complete,
    })
}

impl Found {
    fn cut_off(limit_s: u32) -> Self {
        Found {
            states: None,
            seconds: f64::from(limit_s),
            cpu_s: None,
            store_bytes: None,
            table_bytes: None,
            is_complete: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_written_as_it_is_called() {
        use SearchMethod::{Dynamic, None, Phase, Spin, SpinReduced, Static};
        for search in [Spin, SpinReduced, None, Static, Phase, Dynamic] {
            let written = serde_json::to_value(search).expect("a name");
            assert_eq!(written, search.name());
        }
    }
}
