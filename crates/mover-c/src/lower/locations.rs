//! The locations of a template: the positions of threads between accesses, and the ends of
//! runs.
//!
//! A point of the code has one location, whichever path leads there. Errors and bounds have one
//! location for each message; at the end of the process one edge loops for ever, so that no
//! other thread runs any more.

use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{BoundKind, BoundMark, Effect, ErrorMark, Property};

use super::{Builder, Mode, Path, Pending, Point, Stand};
use crate::ssa::{Loc, ValueId};

impl<'w, 'a> Builder<'w, 'a> {
    pub(super) fn stand(&mut self, point: Point) -> usize {
        if let Some(&known) = self.points.get(&point) {
            return known;
        }
        let live: Vec<ValueId> = self
            .live_before(point.block, point.index)
            .iter()
            .copied()
            .collect();
        let block = &self.code.blocks[point.block];
        let loc = block
            .insts
            .get(point.index..)
            .unwrap_or_default()
            .iter()
            .find_map(|inst| inst.loc)
            .or(block.end_loc);
        self.stands.push(Stand {
            live,
            atomic: matches!(point.mode, Mode::Inside(_)),
            valid_end: false,
            error: None,
            bound: None,
            labels: Vec::new(),
            loc,
        });
        let number = self.stands.len() - 1;
        self.points.insert(point, number);
        self.work.push((number, point));
        number
    }

    fn sink(&mut self, stand: Stand) -> usize {
        self.stands.push(stand);
        self.stands.len() - 1
    }

    pub(super) fn error(&mut self, property: Property, message: &str, loc: Option<Loc>) -> usize {
        let key = (property, message.to_string(), loc);
        if let Some(&known) = self.errors.get(&key) {
            return known;
        }
        let number = self.sink(Stand {
            live: Vec::new(),
            atomic: false,
            valid_end: false,
            error: Some(ErrorMark {
                property,
                message: message.to_string(),
                resume: None,
            }),
            bound: None,
            labels: Vec::new(),
            loc,
        });
        self.errors.insert(key, number);
        number
    }

    /// Where a thread ends the whole process: no thread runs any more.
    pub(super) fn process_end(&mut self) -> usize {
        if let Some(end) = self.end {
            return end;
        }
        let end = self.endless("end of the process", "the process has ended");
        self.end = Some(end);
        end
    }

    /// Where an assumption has failed. No thread runs any more, and claims never see the state: it is the
    /// middle of an atomic sequence.
    pub(super) fn failed_assumption(&mut self) -> usize {
        if let Some(end) = self.failed_assumption {
            return end;
        }
        let end = self.endless("a failed assumption", "an assumption has failed");
        self.failed_assumption = Some(end);
        end
    }

    /// A location where the thread takes empty steps for ever and keeps all others from running.
    fn endless(&mut self, label: &str, text: &str) -> usize {
        let end = self.sink(Stand {
            live: Vec::new(),
            atomic: true,
            valid_end: true,
            error: None,
            bound: None,
            labels: vec![label.into()],
            loc: None,
        });
        self.pending.push(Pending {
            from: end,
            to: end,
            guard: Expr::TRUE,
            effects: Vec::new(),
            sync: Vec::new(),
            finals: Vec::new(),
            temps: Vec::new(),
            loc: None,
            shared: true,
            access: None,
            exits: false,
            text: Some(text.into()),
        });
        end
    }

    /// Where the translation stops short of what the program does. What the path has written is
    /// for others to see before the run ends.
    pub fn bound(&mut self, path: Path, kind: BoundKind, message: &str) {
        let key = (kind, message.to_string(), path.loc);
        let stand = match self.bounds.get(&key) {
            Some(&known) => known,
            None => {
                let new = self.sink(Stand {
                    live: Vec::new(),
                    atomic: false,
                    valid_end: false,
                    error: None,
                    bound: Some(BoundMark {
                        kind,
                        message: message.to_string(),
                    }),
                    labels: Vec::new(),
                    loc: path.loc,
                });
                self.bounds.insert(key, new);
                new
            }
        };
        let is_local = |effect: &Effect| match effect {
            Effect::Assign { place, .. } => matches!(place.variable, VariableRef::Local(_)),
            _ => false,
        };
        if path.effects.iter().all(is_local) {
            self.emit(path, stand, false);
            return;
        }
        let before = self.sink(Stand {
            live: Vec::new(),
            atomic: false,
            valid_end: false,
            error: None,
            bound: None,
            labels: Vec::new(),
            loc: path.loc,
        });
        self.pending.push(Pending {
            from: before,
            to: stand,
            guard: Expr::TRUE,
            effects: Vec::new(),
            sync: Vec::new(),
            finals: Vec::new(),
            temps: Vec::new(),
            loc: path.loc,
            shared: false,
            access: None,
            exits: false,
            text: Some(message.to_string()),
        });
        self.emit(path, before, false);
    }
}
