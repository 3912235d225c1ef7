//! The control flow of a body, as SPIN sees it.
//!
//! Which statements are steps of their own, which are passed over and where a
//! process may be seen to stand is not a matter of taste: it decides which
//! states a model has. So the structure here is the one SPIN builds before it
//! writes a verifier, and `automaton` reads the states off it by SPIN's rules.
//!
//! A body is a chain of *elements*. Most are one basic statement. The others:
//!
//! - a **choice** (`if`, `do`) with a sequence for each option. All options of
//!   an `if` end in a *join*, which stands after the choice. The options of a
//!   `do` end in a join that stands *before* it; after it stands the *exit*,
//!   the place that `break` goes to.
//! - a **block** (`atomic`, `d_step`, plain braces) with a sequence.
//! - an **unless** with two sequences, which end in a join after it. Every
//!   element of the first gets the second as an escape.
//! - a **goto**, also for `break`, and the **end** of the body.
//!
//! Rules that are easy to miss:
//!
//! - `else` is moved to the end of its options.
//! - In an option, of several `skip`s (or prints) in a row without labels only
//!   the first `skip` stays, unless it is the last statement.
//! - A goto that bears a label which begins with `end`, `accept` or `progress`,
//!   or one that another process asks for, gets a `skip` before it to be seen at.
//! - `for` is an assignment before a `do` with `else -> break`; a label before
//!   it marks the `do`. `select` between two literal numbers at most 32 apart
//!   is an `if`, otherwise a `do` whose first option is a `break`.
//! - `atomic` within `atomic` or `d_step`, and `d_step` within `d_step`, are
//!   plain blocks.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mover_ir::program::{Location, LocationId};
use mover_source::Span;

use crate::actions::Action;

pub type ElementId = usize;
pub type SequenceId = usize;

#[derive(Debug)]
pub struct Element {
    pub kind: ElementKind,
    pub next: Option<ElementId>,
    pub status: Status,
    /// The escapes in force here, innermost last.
    pub escapes: Vec<SequenceId>,
    pub labels: Vec<Rc<str>>,
    pub span: Span,
}

#[derive(Debug)]
pub enum ElementKind {
    Action(Action),
    Else,
    Goto(Target),
    /// Where the options of a choice or the two parts of an unless meet.
    Join,
    /// After a `do`.
    Exit,
    Choice(Vec<SequenceId>),
    Unless(SequenceId, SequenceId),
    Block(BlockKind, SequenceId),
    /// The closing brace of the body.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    Plain,
    Atomic,
    DStep,
}

#[derive(Clone, Debug)]
pub enum Target {
    /// A label and the scopes the goto stands in.
    Label {
        name: Rc<str>,
        scopes: Vec<u32>,
        span: Span,
    },
    /// The n-th loop.
    Loop(usize),
    /// Resolved.
    Element(ElementId),
}

/// Whether a process that has taken the step of an element continues alone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Status {
    /// Inside an atomic sequence, and not its last step.
    pub atomic: bool,
    /// The last step of an atomic sequence.
    pub last_atomic: bool,
    /// Inside a d_step.
    pub in_dstep: bool,
}

#[derive(Clone, Copy, Default, Debug)]
pub struct Sequence {
    pub first: Option<ElementId>,
    pub last: Option<ElementId>,
    /// The last element before joins were added.
    pub extent: Option<ElementId>,
}

struct Label {
    name: Rc<str>,
    scopes: Vec<u32>,
    element: ElementId,
}

/// Which locations bear a label; filled in when the automaton is made.
#[derive(Default)]
pub struct LabelPlaces {
    places: HashMap<Rc<str>, Vec<LocationId>>,
    /// Each label by itself: blocks of one body may have labels of the same name.
    all: Vec<(Rc<str>, Vec<LocationId>)>,
}

/// A process can pass the label unseen.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the label `{0}` is within a step or an atomic sequence")]
pub struct HiddenLabel(Rc<str>);

impl LabelPlaces {
    pub fn insert(&mut self, label: Rc<str>, locations: Vec<LocationId>) {
        self.all.push((label.clone(), locations.clone()));
        self.places.insert(label, locations);
    }

    /// Where labels are that begin like this. An error if a process can pass one unseen: in the
    /// middle of an atomic sequence, or where the label is no place of its own.
    pub fn beginning_with(
        &self,
        prefix: &str,
        locations: &[Location],
    ) -> Result<Vec<LocationId>, HiddenLabel> {
        let mut found = Vec::new();
        for (label, places) in &self.all {
            if !label.starts_with(prefix) {
                continue;
            }
            let is_atomic = |place: &LocationId| locations[place.index()].atomic;
            if places.is_empty() || places.iter().any(is_atomic) {
                return Err(HiddenLabel(label.clone()));
            }
            found.extend_from_slice(places);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    pub fn locations(&self, label: &str) -> Option<Vec<LocationId>> {
        self.places.get(label).cloned()
    }
}

/// Builds the elements of one body.
pub struct Flow {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    open: Vec<SequenceId>,
    labels: Vec<Label>,
    /// The labels of each name, by their place in `labels`.
    labels_by_name: HashMap<Rc<str>, Vec<usize>>,
    /// Labels and the scopes they stand in, to find repetitions.
    label_scopes: HashSet<(Rc<str>, Vec<u32>)>,
    /// The exits of loops; filled in when the loop is complete.
    exits: Vec<Option<ElementId>>,
    open_loops: Vec<usize>,
    /// The elements in the order in which SPIN's parser makes them, which is how
    /// SPIN numbers statements in its trails.
    order: Vec<ElementId>,
}

/// What went wrong with a structure.
pub struct Misplaced {
    pub span: Span,
    pub message: String,
}

impl Misplaced {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Misplaced {
            span,
            message: message.into(),
        }
    }
}

pub fn is_special(label: &str) -> bool {
    ["end", "accept", "progress"]
        .iter()
        .any(|prefix| label.starts_with(prefix))
}

impl Flow {
    pub fn new() -> Self {
        let mut flow = Flow {
            elements: Vec::new(),
            sequences: Vec::new(),
            open: Vec::new(),
            labels: Vec::new(),
            labels_by_name: HashMap::new(),
            label_scopes: HashSet::new(),
            exits: Vec::new(),
            open_loops: Vec::new(),
            order: Vec::new(),
        };
        flow.open_sequence();
        flow
    }

    pub fn open_sequence(&mut self) {
        self.sequences.push(Sequence::default());
        self.open.push(self.sequences.len() - 1);
    }

    /// The sequence that is being filled.
    fn current(&self) -> SequenceId {
        self.open.last().copied().unwrap_or(0)
    }

    /// Ends the innermost sequence; it must have an element.
    pub fn close_sequence(&mut self, span: Span) -> Result<SequenceId, Misplaced> {
        let id = self.current();
        self.open.pop();
        let sequence = &mut self.sequences[id];
        sequence.extent = sequence.last;
        if sequence.first.is_none() {
            return Err(Misplaced::new(span, "there must be at least one statement"));
        }
        Ok(id)
    }

    pub fn first_labels(&self, sequence: SequenceId) -> &[Rc<str>] {
        match self.sequences[sequence].first {
            Some(first) => &self.elements[first].labels,
            None => &[],
        }
    }

    fn new_element(&mut self, kind: ElementKind, span: Span) -> ElementId {
        self.elements.push(Element {
            kind,
            next: None,
            status: Status::default(),
            escapes: Vec::new(),
            labels: Vec::new(),
            span,
        });
        self.order.push(self.elements.len() - 1);
        self.elements.len() - 1
    }

    /// How many elements there are so far.
    pub fn made(&self) -> usize {
        self.order.len()
    }

    /// Of the elements made since `from`, the first `count` come last: SPIN makes
    /// the element of a statement before `unless` after those of the escape.
    pub fn number_later(&mut self, from: usize, count: usize) {
        if let Some(part) = self.order.get_mut(from..)
            && count <= part.len()
        {
            part.rotate_left(count);
        }
    }

    /// The place of each element in the order in which SPIN makes them.
    pub fn numbers(&self) -> HashMap<ElementId, u32> {
        let numbered = self.order.iter().zip(0..);
        numbered
            .map(|(&element, number)| (element, number))
            .collect()
    }

    fn append(&mut self, sequence: SequenceId, element: ElementId) {
        let last = self.sequences[sequence].last;
        match last {
            None => self.sequences[sequence].first = Some(element),
            Some(last) => self.elements[last].next = Some(element),
        }
        self.sequences[sequence].last = Some(element);
    }

    pub fn add_label(
        &mut self,
        name: Rc<str>,
        scopes: Vec<u32>,
        element: ElementId,
        span: Span,
    ) -> Result<(), Misplaced> {
        let repeated = !self.label_scopes.insert((name.clone(), scopes.clone()));
        let numbers = self.labels_by_name.entry(name.clone()).or_default();
        numbers.push(self.labels.len());
        self.elements[element].labels.push(name.clone());
        self.labels.push(Label {
            name: name.clone(),
            scopes,
            element,
        });
        if repeated {
            return Err(Misplaced::new(
                span,
                format!("the label `{name}` is defined twice in this scope"),
            ));
        }
        Ok(())
    }

    pub fn label_names(&self) -> impl Iterator<Item = (&Rc<str>, ElementId)> {
        self.labels.iter().map(|label| (&label.name, label.element))
    }

    /// A basic statement, a goto or an `else`; labels are to be added before
    /// [`Flow::place`] puts it into the sequence.
    pub fn make(&mut self, kind: ElementKind, span: Span) -> ElementId {
        self.new_element(kind, span)
    }

    pub fn place(&mut self, element: ElementId) {
        let is_goto = matches!(self.elements[element].kind, ElementKind::Goto(_));
        let sequence = self.current();
        if is_goto
            && self.elements[element]
                .labels
                .iter()
                .any(|label| is_special(label))
        {
            let span = self.elements[element].span;
            let skip = self.new_element(ElementKind::Action(Action::skip("skip", span)), span);
            // Only the label that was read last moves.
            if let Some(label) = self
                .labels
                .iter_mut()
                .rev()
                .find(|label| label.element == element)
            {
                label.element = skip;
                let name = label.name.clone();
                self.elements[element].labels.retain(|other| *other != name);
                self.elements[skip].labels.push(name);
            }
            self.append(sequence, skip);
        }
        self.append(sequence, element);
    }

    /// A step without labels.
    pub fn add_action(&mut self, action: Action) {
        let span = action.span;
        let element = self.new_element(ElementKind::Action(action), span);
        self.place(element);
    }

    pub fn add_end(&mut self, span: Span) {
        let element = self.new_element(ElementKind::End, span);
        self.place(element);
    }

    pub fn enter_loop(&mut self) {
        self.exits.push(None);
        self.open_loops.push(self.exits.len() - 1);
    }

    pub fn leave_loop(&mut self) -> Option<usize> {
        self.open_loops.pop()
    }

    /// The target of a `break` here.
    pub fn innermost_loop(&self) -> Option<Target> {
        self.open_loops.last().map(|&number| Target::Loop(number))
    }

    /// Drops all but the first of several `skip`s in a row in an option.
    pub fn prune_skips(&mut self, sequence: SequenceId) {
        let Sequence { first, last, .. } = self.sequences[sequence];
        let mut previous = None;
        let mut run = 0;
        let mut here = first;
        while let Some(element) = here {
            let next = self.elements[element].next;
            let (is_skip, is_print) = match &self.elements[element].kind {
                ElementKind::Action(action) => (action.is_skip, action.is_print),
                _ => (false, false),
            };
            let mut dropped = false;
            if (is_skip || is_print) && self.elements[element].labels.is_empty() {
                run += 1;
                if run > 1 && is_skip && Some(element) != first && Some(element) != last {
                    if let Some(previous) = previous {
                        let previous: &mut Element = &mut self.elements[previous];
                        previous.next = next;
                    }
                    dropped = true;
                }
            } else {
                run = 0;
            }
            if !dropped {
                previous = Some(element);
            }
            if Some(element) == last {
                break;
            }
            here = next;
        }
    }

    /// Adds a choice over options that are complete. For a loop, `exit_of` is
    /// its number. Returns the choice, which labels are to mark.
    pub fn add_choice(
        &mut self,
        mut options: Vec<SequenceId>,
        exit_of: Option<usize>,
        span: Span,
    ) -> Result<ElementId, Misplaced> {
        let is_else = |flow: &Flow, option: SequenceId| {
            let first = flow.sequences[option].first;
            first.is_some_and(|first| matches!(flow.elements[first].kind, ElementKind::Else))
        };
        let elses = options
            .iter()
            .filter(|&&option| is_else(self, option))
            .count();
        if elses > 1 {
            return Err(Misplaced::new(
                span,
                "there is more than one `else` among the options",
            ));
        }
        options.sort_by_key(|&option| is_else(self, option));
        let choice = self.new_element(ElementKind::Choice(options.clone()), span);
        let join = self.new_element(ElementKind::Join, span);
        for &option in &options {
            self.append(option, join);
        }
        let current = self.current();
        match exit_of {
            Some(number) => {
                let exit = self.new_element(ElementKind::Exit, span);
                self.exits[number] = Some(exit);
                self.append(current, join);
                self.append(current, choice);
                self.append(current, exit);
            }
            None => {
                self.append(current, choice);
                self.append(current, join);
            }
        }
        Ok(choice)
    }

    /// Adds `normal unless escape`.
    pub fn add_unless(&mut self, normal: SequenceId, escape: SequenceId, span: Span) -> ElementId {
        let unless = self.new_element(ElementKind::Unless(normal, escape), span);
        let join = self.new_element(ElementKind::Join, span);
        self.append(normal, join);
        self.append(escape, join);
        self.attach_escape(normal, escape);
        let current = self.current();
        self.append(current, unless);
        self.append(current, join);
        unless
    }

    fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let Sequence { first, extent, .. } = self.sequences[sequence];
        let mut here = first;
        while let Some(element) = here {
            self.attach_to(element, escape);
            if Some(element) == extent {
                break;
            }
            here = self.elements[element].next;
        }
    }

    fn attach_to(&mut self, element: ElementId, escape: SequenceId) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        // The outermost escape stands first.
        self.elements[element].escapes.insert(0, escape);
        match &self.elements[element].kind {
            ElementKind::Unless(normal, _) => {
                let normal = *normal;
                self.attach_escape(normal, escape);
            }
            ElementKind::Choice(options) => {
                for option in options.clone() {
                    self.attach_escape(option, escape);
                }
            }
            ElementKind::Block(BlockKind::DStep, sequence) => {
                if let Some(first) = self.sequences[*sequence].first {
                    self.attach_to(first, escape);
                }
            }
            ElementKind::Block(_, sequence) => {
                let sequence = *sequence;
                self.attach_escape(sequence, escape);
            }
            _ => {}
        }
    }

    /// Marks a sequence as atomic or as a d_step.
    pub fn make_atomic(&mut self, sequence: SequenceId, dstep: bool) {
        self.mark_atomic(sequence, dstep);
        let Some(last) = self.sequences[sequence].last else {
            return;
        };
        match self.elements[last].kind {
            ElementKind::Block(BlockKind::Plain | BlockKind::Atomic, inner) => {
                self.make_atomic(inner, dstep)
            }
            ElementKind::Unless(normal, _) => self.make_atomic(normal, dstep),
            _ => {
                let status = &mut self.elements[last].status;
                status.atomic = false;
                status.last_atomic = true;
            }
        }
    }

    fn mark_atomic(&mut self, sequence: SequenceId, dstep: bool) {
        let Sequence { first, last, .. } = self.sequences[sequence];
        let mut here = first;
        while let Some(element) = here {
            let status = &mut self.elements[element].status;
            status.atomic = true;
            status.in_dstep |= dstep;
            let inner: Vec<SequenceId> = match &mut self.elements[element].kind {
                ElementKind::Block(kind @ (BlockKind::Atomic | BlockKind::Plain), sequence) => {
                    *kind = BlockKind::Plain;
                    vec![*sequence]
                }
                ElementKind::Block(kind, sequence) if dstep => {
                    *kind = BlockKind::Plain;
                    vec![*sequence]
                }
                ElementKind::Choice(options) => options.clone(),
                ElementKind::Unless(normal, escape) => vec![*normal, *escape],
                _ => Vec::new(),
            };
            for sequence in inner {
                self.mark_atomic(sequence, dstep);
            }
            if Some(element) == last {
                break;
            }
            here = self.elements[element].next;
        }
    }

    /// Puts a `skip` before each goto whose label another process asks for.
    pub fn expose_labels(&mut self, wanted: &dyn Fn(&str) -> bool) {
        for number in 0..self.labels.len() {
            let element = self.labels[number].element;
            let is_goto = matches!(self.elements[element].kind, ElementKind::Goto(_));
            if !is_goto || !wanted(&self.labels[number].name) {
                continue;
            }
            let span = self.elements[element].span;
            let skip = ElementKind::Action(Action::skip("skip", span));
            let goto = std::mem::replace(&mut self.elements[element].kind, skip);
            let moved = self.new_element(goto, span);
            self.elements[moved].next = self.elements[element].next;
            self.elements[element].next = Some(moved);
            // The moved goto is in the same atomic sequence, if any.
            self.elements[moved].status = self.elements[element].status;
            for sequence in &mut self.sequences {
                if sequence.last == Some(element) {
                    sequence.last = Some(moved);
                }
            }
        }
    }

    /// Ends the body: resolves gotos and ties the ends of blocks to what follows.
    pub fn finish(&mut self) -> Vec<Misplaced> {
        let mut problems = Vec::new();
        for element in 0..self.elements.len() {
            let ElementKind::Goto(target) = &self.elements[element].kind else {
                continue;
            };
            let resolved = match target {
                Target::Element(_) => continue,
                Target::Loop(number) => self.exits[*number],
                Target::Label { name, scopes, span } => match self.resolve(name, scopes, *span) {
                    Ok(found) => Some(found),
                    Err(problem) => {
                        problems.push(problem);
                        None
                    }
                },
            };
            if let Some(found) = resolved {
                self.elements[element].kind = ElementKind::Goto(Target::Element(found));
            }
        }
        self.tie_blocks(0);
        problems
    }

    /// A label in the goto's own scope, else in one around it, else anywhere.
    fn resolve(&self, name: &str, scopes: &[u32], span: Span) -> Result<ElementId, Misplaced> {
        let numbers = self.labels_by_name.get(name).map_or(&[][..], Vec::as_slice);
        let candidates: Vec<&Label> = numbers.iter().map(|&number| &self.labels[number]).collect();
        if let Some(label) = candidates.iter().find(|label| label.scopes == scopes) {
            return Ok(label.element);
        }
        let around: Vec<&&Label> = candidates
            .iter()
            .filter(|label| scopes.starts_with(&label.scopes))
            .collect();
        match (around.as_slice(), candidates.as_slice()) {
            ([label], _) => Ok(label.element),
            ([], [label]) => Ok(label.element),
            ([], []) => Err(Misplaced::new(span, format!("there is no label `{name}`"))),
            _ => Err(Misplaced::new(
                span,
                format!(
                    "it is not clear which of {} labels `{name}` is meant; give them different names",
                    candidates.len()
                ),
            )),
        }
    }

    /// What follows the last element of a block is what follows the block.
    fn tie_blocks(&mut self, sequence: SequenceId) {
        let Sequence { first, last, .. } = self.sequences[sequence];
        let mut here = first;
        while let Some(element) = here {
            let next = self.elements[element].next;
            let inner: Vec<SequenceId> = match &self.elements[element].kind {
                ElementKind::Block(_, inner) => {
                    let inner = *inner;
                    if let Some(last) = self.sequences[inner].last {
                        self.elements[last].next = next;
                    }
                    vec![inner]
                }
                ElementKind::Choice(options) => options.clone(),
                ElementKind::Unless(normal, escape) => vec![*normal, *escape],
                _ => Vec::new(),
            };
            for sequence in inner {
                self.tie_blocks(sequence);
            }
            if Some(element) == last {
                break;
            }
            here = next;
        }
    }
}
