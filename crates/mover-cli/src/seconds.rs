//! Spans of time on the command line.

use std::time::{Duration, Instant};

/// A number of seconds, as `--timeout` and its like take it.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    if number.is_nan() || number < 0.0 {
        return Err("not a number of seconds".into());
    }
    let span = Duration::try_from_secs_f64(number).ok();
    // A search that begins later must be able to name its end, too.
    span.filter(|span| {
        let twice = span.checked_mul(2);
        twice.is_some_and(|twice| Instant::now().checked_add(twice).is_some())
    })
    .ok_or_else(|| "this is too long".into())
}
