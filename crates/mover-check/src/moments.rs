//! A counterexample step by step, with the details that other tools need.
//!
//! A [`Trace`] is text. Other tools need more: the column of a statement, which thread a step
//! started, the value of an input. All of this follows from the program and the steps, so it is
//! computed by running them once more instead of being stored in every trace.

use mover_ir::program::{Edge, Effect, Program};
use mover_ir::semantics::{Machine, Step};

use crate::trace::{Trace, TraceStep};

/// A place in the user's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    pub file: String,
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The column after its end, if it ends in the same line.
    pub end_column: Option<usize>,
    /// Where the statement's line begins, blanks apart.
    pub line_start: usize,
    pub line_text: String,
}

/// One step of a run.
pub struct Moment<'a> {
    pub step: Step,
    pub told: &'a TraceStep,
    pub edge: &'a Edge,
    pub spot: Option<Spot>,
    /// Which of all threads that ever lived this is: numbers are used again, lives
    /// are not.
    pub life: usize,
    /// The life of the thread that the step starts.
    pub starts: Option<usize>,
    /// Whether the thread is gone afterwards.
    pub ends: bool,
    /// What the step's input took, with its width in bits.
    pub input: Option<(u64, u8)>,
}

/// The run of a trace; it is one of the program, since a trace is made by replay.
pub fn moments<'a>(program: &'a Program, trace: &'a Trace) -> Vec<Moment<'a>> {
    let machine = Machine::new(program);
    let mut state = machine.initial();
    let mut lives: Vec<usize> = (0..state.threads.len()).collect();
    let mut next_life = lives.len();
    let mut moments = Vec::new();
    for told in &trace.steps {
        let step = told.step;
        let Some(Some(thread)) = state.threads.get(step.by.thread) else {
            break;
        };
        let location = program.template(thread.template).location(thread.location);
        let Some(edge) = location.edges.get(step.by.edge) else {
            break;
        };
        let next = machine.apply(&state, step);
        let life = lives[step.by.thread];
        let mut starts = None;
        for number in 0..next.threads.len() {
            let is_there = next.threads[number].is_some();
            let was_there = state.threads.get(number).is_some_and(Option::is_some);
            if is_there && !was_there {
                lives.resize(lives.len().max(number + 1), 0);
                lives[number] = next_life;
                starts = Some(next_life);
                next_life += 1;
            }
        }
        let is_alive = next
            .threads
            .get(step.by.thread)
            .is_some_and(Option::is_some);
        moments.push(Moment {
            step,
            told,
            edge,
            spot: edge.span.and_then(|span| spot(program, span)),
            life,
            starts,
            ends: !is_alive,
            input: edge.effects.iter().find_map(|effect| match effect {
                Effect::Havoc { place, .. } => Some((step.choice, place.ty.width)),
                _ => None,
            }),
        });
        state = next;
    }
    moments
}

/// Where a span stands.
pub fn spot(program: &Program, span: mover_source::Span) -> Option<Spot> {
    let file = program.info.sources.file(span.file);
    let line = file.line_of(span.start);
    let range = file.line_range(line);
    let line_text = file.line_text(line).to_string();
    let blanks = line_text.chars().take_while(|c| c.is_whitespace()).count();
    let fits = (span.end as usize) <= range.end && span.end > span.start;
    Some(Spot {
        file: file.name.clone(),
        line,
        column: file.column_of(span.start),
        end_column: fits.then(|| file.column_of(span.end)),
        line_start: blanks + 1,
        line_text,
    })
}

/// A number of this many bits, with or without a sign.
pub fn number(value: u64, width: u8, is_signed: bool) -> i128 {
    if is_signed && width > 0 && width <= 64 && value >> (width - 1) & 1 == 1 {
        i128::from(value) - (1i128 << width)
    } else {
        i128::from(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_signs_where_they_should() {
        assert_eq!(number(0xffff_ffff, 32, true), -1);
        assert_eq!(number(0xffff_ffff, 32, false), 4_294_967_295);
        assert_eq!(number(5, 8, true), 5);
        assert_eq!(number(u64::MAX, 64, true), -1);
    }
}
