//! Paths: which cell of memory `s[i].f` is.

use std::rc::Rc;

use mover_ir::expr::{BinaryOp, ChannelRef, Expr, Place};
use mover_ir::program::SymbolSetId;
use mover_ir::simplify::fold_binary;

use crate::ast::{Path, PathElement};
use crate::constants::fold;
use crate::context::Context;
use crate::scopes::VariableInfo;
use crate::types::{ChannelShape, Shape, Type};
use crate::values::Check;

/// A variable of whatever type, found by a path.
pub enum Found {
    Cell(Cell),
    /// All scalars of a structure, in order.
    Structure(Vec<Cell>),
}

pub struct Cell {
    pub place: Place,
    pub symbols: Option<SymbolSetId>,
    pub is_channel: bool,
    /// The channel that is always in this cell.
    pub fixed: Option<ChannelRef>,
    pub channel: Option<Rc<ChannelShape>>,
    pub checks: Vec<Check>,
}

/// A channel in a statement.
pub struct ChannelUse {
    /// Width of [`mover_ir::expr::Ty::CHANNEL`].
    pub expr: Expr,
    /// What is known of it for certain.
    pub shape: Option<Rc<ChannelShape>>,
    pub checks: Vec<Check>,
}

/// Whether an index is below a length whatever its value.
fn always_below(index: &Expr, length: u32) -> bool {
    match index {
        Expr::Const { value, .. } => *value < u64::from(length),
        Expr::Resize {
            arg, signed: false, ..
        } => arg.width() < 32 && (1u64 << arg.width()) <= u64::from(length),
        _ => false,
    }
}

impl Context<'_> {
    /// Finds the cells that a path names, and what must hold for it to name them.
    pub fn lookup(&mut self, path: &Path) -> Option<Found> {
        let first = path.elements.first()?;
        let Some(info) = self.find(&first.name.text).cloned() else {
            self.report_unknown(&first.name);
            return None;
        };
        let mut checks = Vec::new();
        let mut index = Expr::int(0);
        let mut leaf = 0;
        let mut shape = info.shape;
        for (position, element) in path.elements.iter().enumerate() {
            if position > 0 {
                let Type::Struct(outer) = shape.kind else {
                    self.error(element.name.span, "only a structure has fields");
                    return None;
                };
                let Some((field, found)) = self.types.field(outer, &element.name.text) else {
                    let message = format!(
                        "`{}` has no field `{}`",
                        self.types.structs[outer].name, element.name.text
                    );
                    self.error(element.name.span, message);
                    return None;
                };
                shape = found.shape;
                leaf += self.types.leaves_before(outer, field);
            }
            index = self.step_into(element, shape, index, &mut checks)?;
        }
        if let Type::Struct(_) = shape.kind {
            if self.types.message_fields(shape.kind).is_none() {
                self.error(
                    path.span,
                    "this structure is too large to be used as a whole",
                );
                return None;
            }
            let cells = self.cells_of_structure(&info, shape, leaf, &index, &checks);
            return Some(Found::Structure(cells));
        }
        let leaves = self.types.leaves(info.shape);
        let found = leaves.get(leaf)?;
        let fixed = match (&info.fixed_channels, index.as_const()) {
            (Some(channels), Some(cell)) if found.is_channel => {
                channels.get(cell as usize).copied()
            }
            _ => None,
        };
        Some(Found::Cell(Cell {
            place: Place::element(info.leaf(leaf), index, found.ty),
            symbols: found.symbols,
            is_channel: found.is_channel,
            fixed,
            channel: info
                .channel
                .clone()
                .filter(|_| info.fixed_channels.is_some()),
            checks,
        }))
    }

    /// The cell number so far, one element of a path further.
    pub fn step_into(
        &mut self,
        element: &PathElement,
        shape: Shape,
        outer: Expr,
        checks: &mut Vec<Check>,
    ) -> Option<Expr> {
        let name = &element.name;
        match (shape.length, &element.index) {
            (None, None) => Some(outer),
            (None, Some(syntax)) if fold(syntax, &|_| None) == Some(0) => Some(outer),
            (None, Some(_)) => {
                self.error(name.span, format!("`{}` is not an array", name.text));
                None
            }
            (Some(_), None) => {
                self.error(
                    name.span,
                    format!("`{}` is an array and needs an index", name.text),
                );
                None
            }
            (Some(length), Some(syntax)) => {
                let value = self.value(syntax);
                checks.extend(value.checks.clone());
                let mut index = value.into_number();
                if !always_below(&index, length) {
                    let message = format!(
                        "index out of bounds: `{}` has {length} elements, numbered from 0",
                        name.text
                    );
                    let bound = Expr::int(i64::from(length));
                    let holds = match index.as_const() {
                        Some(_) => {
                            self.warning(syntax.span, message.clone());
                            index = Expr::int(0);
                            Expr::FALSE
                        }
                        None => Expr::binary(BinaryOp::ULt, index.clone(), bound),
                    };
                    checks.push(Check {
                        holds,
                        message,
                        span: syntax.span,
                    });
                }
                let scaled = fold_binary(BinaryOp::Mul, outer, Expr::int(i64::from(length)));
                Some(fold_binary(BinaryOp::Add, scaled, index))
            }
        }
    }

    fn cells_of_structure(
        &self,
        info: &VariableInfo,
        shape: Shape,
        first_leaf: usize,
        index: &Expr,
        checks: &[Check],
    ) -> Vec<Cell> {
        let mut cells = Vec::new();
        let single = Shape {
            kind: shape.kind,
            length: None,
        };
        for (offset, leaf) in self.types.leaves(single).into_iter().enumerate() {
            for cell in 0..leaf.cells {
                let scaled =
                    fold_binary(BinaryOp::Mul, index.clone(), Expr::int(leaf.cells as i64));
                let number = fold_binary(BinaryOp::Add, scaled, Expr::int(cell as i64));
                cells.push(Cell {
                    place: Place::element(info.leaf(first_leaf + offset), number, leaf.ty),
                    symbols: leaf.symbols,
                    is_channel: leaf.is_channel,
                    fixed: None,
                    channel: None,
                    checks: checks.to_vec(),
                });
            }
        }
        cells
    }

    /// The one cell that a path names.
    pub fn cell(&mut self, path: &Path) -> Option<Cell> {
        match self.lookup(path)? {
            Found::Cell(cell) => Some(cell),
            Found::Structure(_) => {
                self.error(path.span, "a structure cannot be used as a whole here");
                None
            }
        }
    }

    pub fn channel(&mut self, path: &Path) -> Option<ChannelUse> {
        let cell = self.cell(path)?;
        if !cell.is_channel {
            self.error(
                path.span,
                format!("`{}` is not a channel", self.text(path.span)),
            );
            return None;
        }
        let mut checks = cell.checks.clone();
        if let Some(channel) = cell.fixed {
            return Some(ChannelUse {
                expr: Expr::Channel(channel),
                shape: cell.channel,
                checks,
            });
        }
        let expr = Expr::Read(cell.place);
        // Each element of an array whose channels are fixed exists.
        if cell.channel.is_none() {
            checks.push(Check {
                holds: Expr::ChannelExists(Box::new(expr.clone())),
                message: format!("`{}` refers to no channel", self.text(path.span)),
                span: path.span,
            });
        }
        Some(ChannelUse {
            expr,
            shape: cell.channel,
            checks,
        })
    }

    /// Reports a write to what SPIN provides; true if it is one.
    pub fn is_read_only(&mut self, path: &Path) -> bool {
        let name = &path.elements[0].name;
        let read_only =
            matches!(&*name.text, "_pid" | "_nr_pr" | "_last") || self.mtype(&name.text).is_some();
        if read_only {
            self.error(name.span, format!("`{}` cannot be changed", name.text));
        }
        read_only
    }
}
