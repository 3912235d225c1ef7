//! Spans of time and amounts of memory on the command line.
//!
//! A number alone is in seconds, or in megabytes; a unit may follow it: `10s`, `2m`, `1h`, `500ms`;
//! `512M`, `2G`.

use std::time::{Duration, Instant};

/// Why a text is no quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum QuantityError {
    #[error("not a span of time, such as 10, 10s, 2m or 1h")]
    NoSpan,
    #[error("this is too long")]
    TooLong,
    #[error("not an amount of memory, such as 512M or 2G")]
    NoAmount,
}

/// A span of time, as `--timeout` and its like take it.
pub fn parse_seconds(text: &str) -> Result<Duration, QuantityError> {
    const UNITS: [(&str, f64); 5] = [
        ("ms", 0.001),
        ("s", 1.0),
        ("min", 60.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let number = with_unit(text, &UNITS).ok_or(QuantityError::NoSpan)?;
    let span = Duration::try_from_secs_f64(number).ok();
    // A search that begins later must be able to name its end, too.
    span.filter(|span| {
        let twice = span.checked_mul(2);
        twice.is_some_and(|twice| Instant::now().checked_add(twice).is_some())
    })
    .ok_or(QuantityError::TooLong)
}

/// An amount of memory in megabytes, as `--memory` takes it.
pub fn parse_megabytes(text: &str) -> Result<u64, QuantityError> {
    const UNITS: [(&str, f64); 9] = [
        ("KB", 1.0 / 1024.0),
        ("K", 1.0 / 1024.0),
        ("MB", 1.0),
        ("MiB", 1.0),
        ("M", 1.0),
        ("GB", 1024.0),
        ("GiB", 1024.0),
        ("G", 1024.0),
        ("T", 1024.0 * 1024.0),
    ];
    let number = with_unit(text, &UNITS).ok_or(QuantityError::NoAmount)?;
    // What is larger than any machine is no limit.
    Ok(number.ceil().min(u64::MAX as f64) as u64)
}

/// The number at the start of a text, times the unit at its end, in upper or lower case.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = match number.parse() {
        Ok(number) => number,
        // Such as `1e9`, `inf` and `-1`.
        Err(_) => return None,
    };
    let factor = match unit {
        "" => 1.0,
        unit if unit.starts_with(['e', 'E']) => return text.parse().ok(),
        unit => {
            let mut known = units.iter();
            known.find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1
        }
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_units() {
        let seconds = |text: &str| parse_seconds(text).map(|span| span.as_secs_f64()).ok();
        assert_eq!(seconds("10"), Some(10.0));
        assert_eq!(seconds("0.5"), Some(0.5));
        assert_eq!(seconds("10s"), Some(10.0));
        assert_eq!(seconds("2m"), Some(120.0));
        assert_eq!(seconds("2min"), Some(120.0));
        assert_eq!(seconds("1h"), Some(3600.0));
        assert_eq!(seconds("1e2"), Some(100.0));
        for wrong in ["", "s", "-1", "10x", "nan", "inf", "1e999", "10 s", "1.2.3"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn amounts_have_units() {
        let megabytes = |text: &str| parse_megabytes(text).ok();
        assert_eq!(megabytes("300"), Some(300));
        assert_eq!(megabytes("512M"), Some(512));
        assert_eq!(megabytes("2G"), Some(2048));
        assert_eq!(megabytes("1.5g"), Some(1536));
        assert_eq!(megabytes("4GiB"), Some(4096));
        assert_eq!(megabytes("2048K"), Some(2));
        for wrong in ["", "G", "-1", "2X", "2 G"] {
            assert_eq!(megabytes(wrong), None, "{wrong}");
        }
    }
}
