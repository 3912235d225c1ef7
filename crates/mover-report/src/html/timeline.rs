//! Transactions over time: a lane for each process, a bar for each transaction, arrows for a cycle.
//!
//! The steps of a run are in an order; a history has times, and what matters about a cycle is often
//! which transactions overlapped. The script draws the bars of a window of time, from the data that is
//! given here, and zooms: to the cycle, to all that is shown, in and out around the middle. Without the
//! script the steps tell the same.

use std::fmt::Write;

use serde_json::{Value, json};

use super::escape;

#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub lanes: Vec<String>,
    pub bars: Vec<Bar>,
    /// Between bars, with the reason.
    pub arrows: Vec<(usize, usize, String)>,
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub lane: usize,
    pub name: String,
    /// What the transaction did.
    pub text: String,
    pub from: u32,
    /// None if nobody saw it end.
    pub to: Option<u32>,
    /// Whether the argument is about it.
    pub matters: bool,
}

impl Timeline {
    /// The place that the script fills.
    pub(super) fn html(&self, out: &mut String) {
        let described = format!(
            "{} transactions of {} processes over time; {} of them are on the cycle",
            self.bars.len(),
            self.lanes.len(),
            self.bars.iter().filter(|bar| bar.matters).count()
        );
        let _ = write!(
            out,
            "<div class=\"timeline\" hidden>\n<div class=\"zoom\" role=\"group\" aria-label=\"Zoom\">\n\
             <button type=\"button\" data-zoom=\"cycle\">The cycle</button>\n\
             <button type=\"button\" data-zoom=\"all\">All</button>\n\
             <button type=\"button\" data-zoom=\"in\" aria-label=\"Closer\">+</button>\n\
             <button type=\"button\" data-zoom=\"out\" aria-label=\"Farther\">−</button>\n\
             <button type=\"button\" data-zoom=\"left\" aria-label=\"Earlier\">←</button>\n\
             <button type=\"button\" data-zoom=\"right\" aria-label=\"Later\">→</button>\n\
             <output class=\"window\"></output>\n</div>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"img\" aria-label=\"{}\"></div>\n</div>\n",
            escape(&described)
        );
    }

    pub(super) fn data(&self) -> Value {
        let bars: Vec<Value> = self
            .bars
            .iter()
            .map(|bar| {
                json!({
                    "lane": bar.lane,
                    "name": bar.name,
                    "text": bar.text,
                    "from": bar.from,
                    "to": bar.to,
                    "matters": bar.matters,
                })
            })
            .collect();
        let arrows: Vec<Value> = self
            .arrows
            .iter()
            .map(|(from, to, what)| json!({"from": from, "to": to, "what": what}))
            .collect();
        json!({"lanes": self.lanes, "bars": bars, "arrows": arrows})
    }
}
