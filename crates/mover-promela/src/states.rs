//! The states of a process and the steps between them, read off the flow.
//!
//! SPIN's rules, which decide how many states a model has:
//!
//! - A process is at an element. Where a step leads is found by passing
//!   over joins, exits, gotos and into the first part of an unless; inside an
//!   atomic sequence, though, the element before one that is no longer atomic
//!   is not passed over. So leaving an atomic choice can be a step of its own.
//! - At a choice or a block the steps are those of the first statements. A
//!   choice or block that comes first in an option melts into the outer one.
//! - An option that begins with the constant `false` does not exist.
//! - A first statement that is a goto or a `break` is a step.
//! - Where an escape is in force, its first steps stand before all others and
//!   exclude them if one of them is possible; the outermost escape comes first.
//! - A label that begins with `end` makes its element a proper end. If the
//!   element is the first of an option, it makes the place after it one too.

use std::cell::RefCell;

use mover_source::Span;

use crate::flow::{BlockKind, ElementId, ElementKind, Flow, Misplaced, SequenceId, Status, Target};

/// A step that is possible at some element: the step of element `via`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    pub via: ElementId,
    /// 0 for ordinary steps, more for escapes: the highest that is possible
    /// excludes the others.
    pub level: i32,
}

pub struct States<'f> {
    pub flow: &'f Flow,
    /// The d_step that an element belongs to.
    dstep_of: Vec<Option<ElementId>>,
    ends: Vec<bool>,
    /// Where hunts from outside of atomic sequences have ended, by their start.
    hunted: RefCell<Vec<Option<ElementId>>>,
}

/// Where the run through a d_step continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interior {
    /// At an action, an `else` or a choice within it.
    Inside(ElementId),
    Outside,
}

pub fn analyse(flow: &mut Flow) -> Result<States<'_>, Vec<Misplaced>> {
    patch_gotos(flow);
    let mut states = States {
        dstep_of: vec![None; flow.elements.len()],
        hunted: RefCell::new(vec![None; flow.elements.len()]),
        ends: flow
            .elements
            .iter()
            .map(|element| {
                matches!(element.kind, ElementKind::End)
                    || element.labels.iter().any(|label| label.starts_with("end"))
            })
            .collect(),
        flow,
    };
    let mut problems = states.find_dsteps();
    problems.extend(states.find_escapes_in_options());
    if !problems.is_empty() {
        return Err(problems);
    }
    states.spread_ends()?;
    Ok(states)
}

/// A goto that leaves all atomic sequences ends atomicity; one that leads from
/// the end of one into another continues without a gap.
fn patch_gotos(flow: &mut Flow) {
    for element in 0..flow.elements.len() {
        if let ElementKind::Block(_, sequence) = flow.elements[element].kind {
            patch_sequence(flow, sequence);
        }
    }
}

fn patch_sequence(flow: &mut Flow, sequence: SequenceId) {
    let extent = flow.sequences[sequence].extent;
    let mut here = flow.sequences[sequence].first;
    while let Some(element) = here {
        let inner: Vec<SequenceId> = match &flow.elements[element].kind {
            ElementKind::Goto(Target::Element(target)) => {
                let Status {
                    atomic,
                    last_atomic,
                    ..
                } = flow.elements[*target].status;
                let enters_atomic = atomic || last_atomic;
                let status = &mut flow.elements[element].status;
                if (status.atomic || status.last_atomic) && !enters_atomic {
                    status.atomic = false;
                    status.last_atomic = true;
                }
                if status.last_atomic && enters_atomic {
                    status.last_atomic = false;
                    status.atomic = true;
                }
                Vec::new()
            }
            ElementKind::Choice(options) => options.clone(),
            ElementKind::Unless(normal, escape) => vec![*normal, *escape],
            _ => Vec::new(),
        };
        for sequence in inner {
            patch_sequence(flow, sequence);
        }
        if Some(element) == extent {
            break;
        }
        here = flow.elements[element].next;
    }
}

impl States<'_> {
    pub fn is_end(&self, element: ElementId) -> bool {
        self.ends[element]
    }

    /// Where a process starts.
    pub fn start(&self) -> Result<ElementId, Misplaced> {
        let first = self.flow.sequences[0].first.unwrap_or(0);
        self.hunt(first, self.flow.elements[first].status)
    }

    /// Where the step of an element leads; `None` after the end of the body.
    pub fn target(&self, via: ElementId) -> Result<Option<ElementId>, Misplaced> {
        let element = &self.flow.elements[via];
        let next = match &element.kind {
            ElementKind::Goto(Target::Element(target)) => Some(*target),
            _ => element.next,
        };
        next.map(|next| self.hunt(next, element.status)).transpose()
    }

    /// The element that a process is seen at when it goes to `element`.
    fn hunt(&self, element: ElementId, from: Status) -> Result<ElementId, Misplaced> {
        let mut here = element;
        let mut passed = Vec::new();
        for _ in 0..=self.flow.elements.len() {
            let known = self.hunted.borrow()[here].filter(|_| !from.atomic);
            if let Some(found) = known.or_else(|| self.stops_at(here, from).then_some(here)) {
                if !from.atomic {
                    let mut hunted = self.hunted.borrow_mut();
                    passed
                        .into_iter()
                        .for_each(|element: ElementId| hunted[element] = Some(found));
                }
                return Ok(found);
            }
            passed.push(here);
            here = self.onward(here).unwrap_or(here);
        }
        Err(self.endless(element))
    }

    /// Where a process that goes to an element continues at once, if it does.
    fn onward(&self, element: ElementId) -> Option<ElementId> {
        let at = &self.flow.elements[element];
        match &at.kind {
            ElementKind::Goto(Target::Element(target)) => Some(*target),
            ElementKind::Join | ElementKind::Exit => at.next,
            ElementKind::Unless(normal, _) => self.flow.sequences[*normal].first,
            _ => None,
        }
    }

    fn stops_at(&self, element: ElementId, from: Status) -> bool {
        match self.onward(element) {
            None => true,
            Some(onward) => from.atomic && !self.flow.elements[onward].status.atomic,
        }
    }

    fn endless(&self, element: ElementId) -> Misplaced {
        Misplaced {
            span: self.flow.elements[element].span,
            message: "these jumps form a loop without a statement".to_string(),
        }
    }

    /// The first element of an option or block.
    fn hunt_start(&self, element: ElementId) -> ElementId {
        let mut here = element;
        for _ in 0..=self.flow.elements.len() {
            let at = &self.flow.elements[here];
            here = match (&at.kind, at.next) {
                (ElementKind::Join, Some(next)) => next,
                (ElementKind::Unless(normal, _), _) => match self.flow.sequences[*normal].first {
                    Some(first) => first,
                    None => return here,
                },
                _ => return here,
            };
        }
        here
    }

    /// The first elements of a choice or block, inner ones melted in. `None`
    /// for an element that is a step itself.
    fn openings(
        &self,
        element: ElementId,
        melted: &mut impl FnMut(ElementId, ElementId),
    ) -> Option<Vec<ElementId>> {
        let sequences: Vec<SequenceId> = match &self.flow.elements[element].kind {
            ElementKind::Choice(options) => options.clone(),
            ElementKind::Block(BlockKind::Plain | BlockKind::Atomic, sequence) => vec![*sequence],
            _ => return None,
        };
        let mut openings = Vec::new();
        for sequence in sequences {
            let Some(first) = self.flow.sequences[sequence].first else {
                continue;
            };
            let start = self.hunt_start(first);
            let at = &self.flow.elements[start];
            if let ElementKind::Action(action) = &at.kind
                && action.is_never()
                && at.escapes.is_empty()
                && matches!(self.flow.elements[element].kind, ElementKind::Choice(_))
            {
                continue;
            }
            match self.openings(start, melted) {
                None => openings.push(start),
                Some(inner) => {
                    for &opening in &inner {
                        melted(start, opening);
                    }
                    openings.extend(inner);
                }
            }
        }
        Some(openings)
    }

    /// The ordinary steps at an element, in SPIN's order.
    pub fn steps(&self, element: ElementId) -> Vec<ElementId> {
        if matches!(self.flow.elements[element].kind, ElementKind::Unless(..)) {
            // A hunt from an atomic element can end here; SPIN knows no step then.
            return Vec::new();
        }
        self.openings(element, &mut |_, _| {})
            .unwrap_or_else(|| vec![element])
    }

    /// All steps at an element: escapes first.
    pub fn transitions(&self, element: ElementId) -> Result<Vec<Transition>, Misplaced> {
        let steps = self.steps(element);
        // (step, the escape it belongs to)
        let mut listed: Vec<(ElementId, Option<ElementId>)> =
            steps.iter().map(|&step| (step, None)).collect();
        for &step in &steps {
            let at = &self.flow.elements[step];
            if matches!(at.kind, ElementKind::Join) {
                continue;
            }
            for &escape in at.escapes.iter().rev() {
                let Some(first) = self.flow.sequences[escape].first else {
                    continue;
                };
                let start = self.hunt(first, at.status)?;
                for via in self.steps(start) {
                    if !listed.iter().any(|(other, _)| *other == via) {
                        listed.insert(0, (via, Some(start)));
                    }
                }
            }
        }
        let mut level = 0;
        let mut group = None;
        let mut transitions: Vec<Transition> = Vec::new();
        for &(via, escape) in listed.iter().rev() {
            if escape != group {
                group = escape;
                level += 1;
            }
            transitions.push(Transition { via, level });
        }
        transitions.reverse();
        Ok(transitions)
    }

    /// A proper end at the first statement of an option moves on with it.
    fn spread_ends(&mut self) -> Result<(), Vec<Misplaced>> {
        for element in 0..self.flow.elements.len() {
            let mut melted = Vec::new();
            let Some(openings) =
                self.openings(element, &mut |outer, inner| melted.push((outer, inner)))
            else {
                continue;
            };
            for (outer, inner) in melted {
                self.ends[inner] |= self.ends[outer];
            }
            for opening in openings {
                if self.ends[opening]
                    && let Some(target) = self.target(opening).map_err(|problem| vec![problem])?
                {
                    self.ends[target] = true;
                }
            }
        }
        Ok(())
    }

    /// An escape from the first statement of an option would be one from the
    /// whole choice. SPIN calls that an error, and so do we.
    fn find_escapes_in_options(&self) -> Vec<Misplaced> {
        let mut problems = Vec::new();
        for element in &self.flow.elements {
            let ElementKind::Choice(options) = &element.kind else {
                continue;
            };
            if options.len() < 2 {
                continue;
            }
            let firsts = options
                .iter()
                .filter_map(|&option| self.flow.sequences[option].first);
            for first in firsts.map(|first| self.hunt_start(first)) {
                let at = &self.flow.elements[first];
                let differs = !at.escapes.is_empty() && at.escapes != element.escapes;
                if differs && !matches!(at.kind, ElementKind::Goto(_) | ElementKind::Join) {
                    problems.push(Misplaced {
                        span: at.span,
                        message: "an `unless` cannot begin an option, since the choice has not been made yet".to_string(),
                    });
                }
            }
        }
        problems
    }

    fn find_dsteps(&mut self) -> Vec<Misplaced> {
        for element in 0..self.flow.elements.len() {
            if let ElementKind::Block(BlockKind::DStep, sequence) = self.flow.elements[element].kind
            {
                self.claim(sequence, element);
            }
        }
        let mut problems = Vec::new();
        for (number, element) in self.flow.elements.iter().enumerate() {
            if let ElementKind::Goto(Target::Element(target)) = element.kind {
                let (from, to) = (self.dstep_of[number], self.dstep_of[target]);
                if from != to {
                    let message = if from.is_some() {
                        "a jump out of a d_step is not possible"
                    } else {
                        "a jump into a d_step is not possible"
                    };
                    problems.push(Misplaced {
                        span: element.span,
                        message: message.to_string(),
                    });
                }
            }
        }
        problems
    }

    fn claim(&mut self, sequence: SequenceId, dstep: ElementId) {
        let last = self.flow.sequences[sequence].last;
        let mut here = self.flow.sequences[sequence].first;
        while let Some(element) = here {
            self.dstep_of[element] = Some(dstep);
            let inner: Vec<SequenceId> = match &self.flow.elements[element].kind {
                ElementKind::Block(_, sequence) => vec![*sequence],
                ElementKind::Choice(options) => options.clone(),
                ElementKind::Unless(normal, escape) => vec![*normal, *escape],
                _ => Vec::new(),
            };
            for sequence in inner {
                self.claim(sequence, dstep);
            }
            if Some(element) == last {
                break;
            }
            here = self.flow.elements[element].next;
        }
    }

    /// Where a d_step begins.
    pub fn dstep_start(&self, dstep: ElementId) -> Result<Interior, Misplaced> {
        let ElementKind::Block(_, sequence) = self.flow.elements[dstep].kind else {
            return Ok(Interior::Outside);
        };
        self.interior(dstep, self.flow.sequences[sequence].first)
    }

    /// Where a d_step continues after one of its elements.
    pub fn dstep_next(&self, dstep: ElementId, element: ElementId) -> Result<Interior, Misplaced> {
        self.interior(dstep, self.flow.elements[element].next)
    }

    /// The first element of an option within a d_step.
    pub fn dstep_option(
        &self,
        dstep: ElementId,
        option: SequenceId,
    ) -> Result<Interior, Misplaced> {
        self.interior(dstep, self.flow.sequences[option].first)
    }

    fn interior(&self, dstep: ElementId, from: Option<ElementId>) -> Result<Interior, Misplaced> {
        let mut here = from;
        for _ in 0..=self.flow.elements.len() {
            let Some(element) = here else {
                return Ok(Interior::Outside);
            };
            if self.dstep_of[element] != Some(dstep) {
                return Ok(Interior::Outside);
            }
            let at = &self.flow.elements[element];
            here = match &at.kind {
                ElementKind::Join | ElementKind::Exit => at.next,
                ElementKind::Goto(Target::Element(target)) => Some(*target),
                ElementKind::Unless(normal, _) => self.flow.sequences[*normal].first,
                ElementKind::Block(_, sequence) => self.flow.sequences[*sequence].first,
                ElementKind::Goto(_) | ElementKind::End => return Ok(Interior::Outside),
                ElementKind::Action(_) | ElementKind::Else | ElementKind::Choice(_) => {
                    return Ok(Interior::Inside(element));
                }
            };
        }
        Err(self.endless(dstep))
    }

    pub fn span(&self, element: ElementId) -> Span {
        self.flow.elements[element].span
    }
}
