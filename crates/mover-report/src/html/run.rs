//! A run as the page shows it: lanes, steps, arrows and boxes around transactions.

use std::fmt::Write;

use mover_check::story::{Arrow, WaitFor};
use mover_check::trace::{Change, Trace};
use serde_json::{Value, json};

use super::escape;
use super::timeline::Timeline;

/// One run of the program, or one word of a transactional memory.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub title: String,
    /// What is said of it: paragraphs.
    pub words: Vec<String>,
    pub lanes: Vec<Lane>,
    pub steps: Vec<RunStep>,
    pub arrows: Vec<Arrow>,
    pub boxes: Vec<RunBox>,
    /// The same over time, if times are known.
    pub timeline: Option<Timeline>,
    /// The steps from here on are repeated for ever.
    pub loop_start: Option<usize>,
    /// Who waits for whom in the end.
    pub waits: Vec<WaitFor>,
}

#[derive(Clone, Debug, Default)]
pub struct Lane {
    pub name: String,
    /// Whether it is started in the run.
    pub starts: bool,
    /// Where it is in the end.
    pub stands: Option<Spot>,
}

/// A file by its position, and a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    pub file: usize,
    pub line: usize,
}

#[derive(Clone, Debug, Default)]
pub struct RunStep {
    pub lane: usize,
    pub partner: Option<usize>,
    pub text: String,
    pub spot: Option<Spot>,
    pub changes: Vec<Change>,
    /// What it reads of what threads share.
    pub reads: Vec<String>,
    pub output: String,
    pub note: Option<String>,
    pub fails: bool,
}

/// More threads than this are not drawn in a circle.
const MOST_WAITING: usize = 9;

/// Steps that belong together, from `first` on.
#[derive(Clone, Debug)]
pub struct RunBox {
    pub first: usize,
    /// `before`, `commit`, `after` or `plain` for each step.
    pub phases: Vec<&'static str>,
}

impl Run {
    pub(super) fn of_trace(trace: &Trace, file_of: impl Fn(&str) -> Option<usize>) -> Run {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut lane_of = |name: &str| -> usize {
            if let Some(at) = lanes.iter().position(|lane| lane.name == name) {
                return at;
            }
            lanes.push(Lane {
                name: name.to_string(),
                ..Lane::default()
            });
            lanes.len() - 1
        };
        // Threads in the order of their numbers, whoever moves first.
        let mut names: Vec<(usize, &str)> = Vec::new();
        for step in &trace.steps {
            names.push((step.step.by.thread, &step.thread));
            if let (Some(with), Some(partner)) = (step.step.with, &step.partner) {
                names.push((with.thread, partner));
            }
        }
        names.sort_unstable();
        for (_, name) in names {
            lane_of(name);
        }
        for standing in &trace.standings {
            lane_of(&standing.thread);
        }
        let spot = |file: &Option<String>, line: Option<usize>| -> Option<Spot> {
            let file = file_of(file.as_deref()?)?;
            Some(Spot { file, line: line? })
        };
        let count = trace.steps.len();
        let is_deadlock = trace.property == mover_ir::program::Property::NoDeadlock;
        let steps = trace
            .steps
            .iter()
            .enumerate()
            .map(|(position, step)| RunStep {
                lane: lane_of(&step.thread),
                partner: step.partner.as_ref().map(|partner| lane_of(partner)),
                text: step.text.clone(),
                spot: spot(&step.file, step.line),
                changes: step.changes.clone(),
                reads: step.reads.clone(),
                output: step.output.clone(),
                note: trace
                    .story
                    .marks
                    .iter()
                    .find(|mark| mark.step == position)
                    .map(|mark| mark.note.clone()),
                fails: !is_deadlock && position + 1 == count,
            })
            .collect();
        for lane in &mut lanes {
            lane.starts = trace.steps.iter().any(|step| {
                let mut changes = step.changes.iter();
                changes.any(|change| change.name == lane.name && change.to == "started")
            });
            lane.stands = trace
                .standings
                .iter()
                .find(|standing| standing.thread == lane.name)
                .and_then(|standing| spot(&standing.file, standing.line));
        }
        let boxes = if trace.transactions.is_empty() {
            Run::contexts(trace)
        } else {
            let boxes = trace.transactions.iter();
            boxes
                .map(|transaction| RunBox {
                    first: transaction.first,
                    phases: transaction.parts.iter().map(|p| p.name()).collect(),
                })
                .collect()
        };
        let mut words: Vec<String> = Vec::new();
        if is_deadlock {
            let stuck = trace.standings.iter().filter(|s| !s.at_proper_end);
            words.extend(stuck.map(|standing| {
                let place = standing
                    .line
                    .map_or(String::new(), |line| format!(" at line {line}"));
                format!(
                    "{} waits{place} for {}",
                    standing.thread,
                    standing.waits_for.join(" or ")
                )
            }));
        }
        Run {
            title: "The run".into(),
            words,
            lanes,
            steps,
            arrows: trace.story.arrows.clone(),
            boxes,
            timeline: None,
            loop_start: trace.loop_start.filter(|&start| start < count),
            waits: trace.story.waits.clone(),
        }
    }

    /// Where it is not known what moves, what a thread does in a row.
    fn contexts(trace: &Trace) -> Vec<RunBox> {
        let steps: Vec<_> = trace.steps.iter().map(|step| step.step).collect();
        let contexts = mover_check::shorten::contexts(&steps).into_iter();
        contexts
            .map(|context| RunBox {
                first: context.start,
                phases: vec!["plain"; context.len()],
            })
            .collect()
    }

    pub(super) fn legend(&self, out: &mut String) {
        *out += "<ul class=\"legend\" aria-label=\"Legend\">\n";
        for (number, lane) in self.lanes.iter().enumerate() {
            let _ = writeln!(
                out,
                "<li style=\"--lane: var(--t{})\"><span class=\"dot\"></span><span class=\"name\">{}</span></li>",
                number % 8,
                escape(&lane.name)
            );
        }
        let has = |phase: &str| self.boxes.iter().any(|b| b.phases.contains(&phase));
        for (phase, words) in [
            ("before", "before the commit point"),
            ("commit", "commit point"),
            ("after", "after it"),
        ] {
            if has(phase) {
                let _ = writeln!(
                    out,
                    "<li><span class=\"swatch\" style=\"background: var(--{phase})\"></span>{words}</li>"
                );
            }
        }
        for (kind, words) in [
            ("reads-from", "value read from"),
            ("lock", "lock handed over"),
            ("message", "message"),
            ("start", "thread started"),
            ("order", "must come before"),
        ] {
            let has = self.arrows.iter().any(|arrow| arrow.kind.name() == kind)
                || (kind == "message" && self.steps.iter().any(|step| step.partner.is_some()));
            if has {
                let _ = writeln!(
                    out,
                    "<li><svg width=\"26\" height=\"10\" aria-hidden=\"true\"><path class=\"arrow on {kind}\" \
                     d=\"M1 5 H25\"/></svg>{words}</li>"
                );
            }
        }
        if let Some(start) = self.loop_start {
            let count = self.steps.len();
            let _ = writeln!(
                out,
                "<li><span class=\"swatch loop\"></span>steps {} to {count} repeat for ever</li>",
                start + 1
            );
        }
        *out += "</ul>\n";
    }

    /// Who waits for whom, as a picture that needs no script: threads on a circle, and an arrow from
    /// each to the threads that it waits for.
    pub(super) fn waits_html(&self, out: &mut String) {
        let mut names: Vec<&str> = Vec::new();
        for wait in &self.waits {
            for name in std::iter::once(&wait.thread).chain(&wait.on) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        // With nobody who is waited for there is nothing to draw; a crowd would not be readable.
        let has_arrows = self.waits.iter().any(|wait| !wait.on.is_empty());
        if !has_arrows || names.len() < 2 || names.len() > MOST_WAITING {
            return;
        }
        const WIDTH: f64 = 440.0;
        let height = if names.len() == 2 { 120.0 } else { 300.0 };
        let (across, down) = (WIDTH / 2.0 - 80.0, height / 2.0 - 28.0);
        let place = |number: usize| {
            let turn = number as f64 / names.len() as f64 * std::f64::consts::TAU;
            let (x, y) = match names.len() {
                2 => (-turn.cos(), 0.0),
                _ => (turn.sin(), -turn.cos()),
            };
            (WIDTH / 2.0 + across * x, height / 2.0 + down * y)
        };
        let described: Vec<String> = (self.waits.iter().filter(|wait| !wait.on.is_empty()))
            .map(|wait| format!("{} waits for {}", wait.thread, wait.on.join(" and ")))
            .collect();
        let _ = write!(
            out,
            "<figure class=\"waits\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\
             <defs><marker id=\"wait-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" \
             markerHeight=\"9\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">\
             <path d=\"M0 0 L8 4 L0 8 z\" class=\"head key\"/></marker></defs>",
            escape(&described.join("; "))
        );
        for wait in &self.waits {
            let Some(from) = names.iter().position(|name| *name == wait.thread) else {
                continue;
            };
            for on in &wait.on {
                let Some(to) = names
                    .iter()
                    .position(|name| name == on)
                    .filter(|&to| to != from)
                else {
                    continue;
                };
                let ((x1, y1), (x2, y2)) = (place(from), place(to));
                let length = (x2 - x1).hypot(y2 - y1).max(1.0);
                let (along_x, along_y) = ((x2 - x1) / length, (y2 - y1) / length);
                // To one side, so that two that wait for each other have two arrows.
                let (mid_x, mid_y) = (
                    (x1 + x2) / 2.0 + 34.0 * along_y,
                    (y1 + y2) / 2.0 - 34.0 * along_x,
                );
                let edge = |x: f64, y: f64| {
                    let (dx, dy) = (mid_x - x, mid_y - y);
                    let scale = (56.0 / dx.abs().max(0.01)).min(17.0 / dy.abs().max(0.01));
                    (x + dx * scale.min(0.9), y + dy * scale.min(0.9))
                };
                let ((x1, y1), (x2, y2)) = (edge(x1, y1), edge(x2, y2));
                let what = match wait.what.as_str() {
                    "" => "to end",
                    what => what,
                };
                let _ = write!(
                    out,
                    "<path class=\"arrow key\" marker-end=\"url(#wait-head)\" \
                     d=\"M{x1:.0} {y1:.0} Q{mid_x:.0} {mid_y:.0} {x2:.0} {y2:.0}\"/>\
                     <text class=\"what\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                    (x1 + x2) / 4.0 + mid_x / 2.0 + 8.0 * along_y,
                    (y1 + y2) / 4.0 + mid_y / 2.0 - 8.0 * along_x + 4.0,
                    escape(what)
                );
            }
        }
        for (number, name) in names.iter().enumerate() {
            let (x, y) = place(number);
            let lane = self.lanes.iter().position(|lane| lane.name == *name);
            let _ = write!(
                out,
                "<g style=\"--lane: var(--t{})\"><rect x=\"{:.0}\" y=\"{:.0}\" width=\"112\" \
                 height=\"30\" rx=\"15\"/><text x=\"{x:.0}\" y=\"{:.0}\">{}</text></g>",
                lane.unwrap_or(number) % 8,
                x - 56.0,
                y - 15.0,
                y + 4.0,
                escape(name)
            );
        }
        *out += "</svg><figcaption>Who waits for whom</figcaption></figure>\n";
    }

    /// What the script needs.
    pub(super) fn data(&self, number: usize) -> Value {
        let spot = |spot: Option<Spot>| spot.map(|s| json!({"file": s.file, "line": s.line}));
        let lanes: Vec<Value> = self
            .lanes
            .iter()
            .map(|lane| {
                json!({"name": lane.name, "starts": lane.starts, "stands": spot(lane.stands)})
            })
            .collect();
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                let changes = step.changes.iter();
                let changes: Vec<Value> = changes
                    .map(|change| json!([change.name, change.from, change.to]))
                    .collect();
                json!({
                    "lane": step.lane,
                    "partner": step.partner,
                    "name": self.lanes[step.lane].name,
                    "text": step.text,
                    "file": step.spot.map(|spot| spot.file),
                    "line": step.spot.map(|spot| spot.line),
                    "changes": changes,
                    "reads": step.reads,
                    "note": step.note,
                    "fails": step.fails,
                })
            })
            .collect();
        let arrows: Vec<Value> = self
            .arrows
            .iter()
            .map(|arrow| {
                json!({
                    "from": arrow.from,
                    "to": arrow.to,
                    "kind": arrow.kind.name(),
                    "what": arrow.what,
                })
            })
            .collect();
        let boxes: Vec<Value> = self
            .boxes
            .iter()
            .map(|b| json!({"first": b.first, "phases": b.phases}))
            .collect();
        let timeline = self.timeline.as_ref().map(Timeline::data);
        json!({
            "run": number,
            "lanes": lanes,
            "steps": steps,
            "arrows": arrows,
            "boxes": boxes,
            "timeline": timeline,
            "loop": self.loop_start,
        })
    }
}
