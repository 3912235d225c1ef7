//! Evaluation of expressions over partially known cells.
//!
//! A cell has one of a few values, or any value. [`Env`] evaluates expressions over such sets,
//! and substitutes known values into expressions and effects.

use mover_ir::eval::{ValueSet, ValueSets};
use mover_ir::expr::{Expr, Place, ReceiveArg, VariableRef};
use mover_ir::program::{Effect, TemplateId, VariableId};
use mover_ir::simplify::fold_parts;

use super::{Knowledge, Unfolding};

/// Cells with more values count as unknown.
const DOMAIN: ValueSets = ValueSets { most: 4 };

/// What is known about a cell: one of these values, or nothing.
pub(super) type Values = ValueSet;

pub(super) fn join(mine: &mut Values, theirs: &Values) {
    *mine = DOMAIN.join(mine, theirs);
}

/// An environment of known values.
#[derive(Clone, Copy)]
pub(super) struct Env<'e, 'p> {
    pub(super) unfolding: &'e Unfolding<'p>,
    pub(super) template: TemplateId,
    pub(super) first: &'e [usize],
    pub(super) known: &'e Knowledge,
}

impl Env<'_, '_> {
    /// The value, if it is unique.
    pub(super) fn single(&self, expr: &Expr) -> Values {
        self.values(expr).filter(|values| values.len() == 1)
    }

    fn read(&self, place: &Place) -> Values {
        let index = self.single(&place.index)?[0] as usize;
        let (cells, range) = match place.variable {
            VariableRef::Local(id) => (
                &self.known.locals,
                self.first[id.index()]..self.first[id.index() + 1],
            ),
            VariableRef::Global(id) => (self.known.globals.as_ref()?, self.unfolding.cells_of(id)),
        };
        if index >= range.len() {
            return Some(vec![0]);
        }
        cells[range.start + index].clone()
    }

    /// The values that an expression may have.
    pub(super) fn values(&self, expr: &Expr) -> Values {
        DOMAIN.eval(expr, |read| match read {
            Expr::Read(place) => self.read(place),
            Expr::Address { variable, .. } => {
                let program = self.unfolding.original;
                Some(vec![program.pointers.address(program.object_of(*variable))])
            }
            Expr::Load { address, ty } => {
                let address = self.single(address)?[0];
                let (variable, index, width) = self.cell_at(address)?;
                if width != ty.width {
                    return None;
                }
                let cells = self.unfolding.cells_of(variable);
                self.known.globals.as_ref()?[cells.start + index].clone()
            }
            _ => None,
        })
    }

    /// The cell of a global that begins at an address.
    fn cell_at(&self, address: u64) -> Option<(VariableId, usize, u8)> {
        let program = self.unfolding.original;
        let object = program.pointers.object(address);
        let offset = program.pointers.offset(address);
        let mut addressable = program
            .globals
            .iter()
            .enumerate()
            .filter(|(_, v)| v.addressable);
        let (number, variable) = addressable.nth(usize::try_from(object).ok()?.checked_sub(1)?)?;
        let bytes = u64::from(variable.ty.width / 8);
        let index = offset / bytes;
        let is_cell = offset.is_multiple_of(bytes) && index < u64::from(variable.len);
        is_cell.then_some((VariableId(number as u32), index as usize, variable.ty.width))
    }

    /// What a store may change: variables, indices and values; an index that is not constant stands for
    /// any cell.
    pub(super) fn stored(
        &self,
        address: &Expr,
        width: u8,
        values: Values,
    ) -> Vec<(VariableId, Expr, Values)> {
        if let Some(known) = self.single(address)
            && let Some((variable, index, cell_width)) = self.cell_at(known[0])
            && width == cell_width
        {
            return vec![(variable, Expr::int(index as i64), values)];
        }
        let anywhere = Expr::ThreadId;
        let variables = self.unfolding.pointed_at(self.template, address);
        variables
            .into_iter()
            .map(|variable| (variable, anywhere.clone(), None))
            .collect()
    }

    /// The value of a condition over one cell with several values, if it is the same for all of them.
    fn decided(&self, expr: &Expr) -> Option<u64> {
        if expr.width() != 1 {
            return None;
        }
        let mut cell: Option<Place> = None;
        let mut is_one = true;
        expr.walk(&mut |expr| {
            if let Expr::Read(place) = expr
                && self.values(expr).is_none_or(|values| values.len() > 1)
            {
                is_one &= cell.as_ref().is_none_or(|known| known == place);
                cell = Some(place.clone());
            }
        });
        let place = cell.filter(|_| is_one)?;
        let VariableRef::Global(id) = place.variable else {
            return None;
        };
        let index = self.single(&place.index)?[0] as usize;
        let number = self.unfolding.cells_of(id).start + index;
        let mut decided = None;
        for value in self.read(&place)? {
            let mut known = self.known.clone();
            known.globals.as_mut()?[number] = Some(vec![value]);
            let case = Env {
                known: &known,
                ..*self
            };
            let truth = case.single(expr)?[0];
            if decided.is_some_and(|other| other != truth) {
                return None;
            }
            decided = Some(truth);
        }
        decided
    }

    /// The expression with known values substituted.
    pub(super) fn fold(&self, expr: &Expr) -> Expr {
        if let Some(truth) = self.decided(expr) {
            return Expr::constant(truth as i64, 1);
        }
        // Addresses and marks stay recognisable for the analyses.
        if !matches!(expr, Expr::Address { .. })
            && let Some(values) = self.single(expr)
            && !mentions_address(expr)
        {
            return Expr::Const {
                value: values[0],
                width: expr.width(),
            };
        }
        match expr {
            // Expressions that read other threads or channels are left unchanged.
            Expr::ThreadAt { .. }
            | Expr::RemoteRead { .. }
            | Expr::ThreadPriority(_)
            | Expr::CanReceive { .. } => expr.clone(),
            _ => fold_parts(expr, &mut |part| self.fold(part)),
        }
    }

    pub(super) fn fold_effect(&self, effect: &Effect) -> Effect {
        let mut folded = effect.clone();
        match &mut folded {
            Effect::Receive { args, .. } => {
                for arg in args {
                    if let ReceiveArg::Store(place) = arg {
                        *place.index = self.fold(&place.index);
                    }
                }
            }
            // What other threads observe is left unchanged.
            Effect::Send { .. } | Effect::SetPriority { .. } | Effect::Print { .. } => {}
            other => other.parts_mut(&mut |part| *part = self.fold(part)),
        }
        folded
    }
}

fn mentions_address(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| found |= matches!(expr, Expr::Address { .. }));
    found && expr.width() > 1
}
