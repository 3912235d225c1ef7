//! What expressions come to where something is known of the cells they read.
//!
//! A cell has one of a few values, or any. [`Env`] evaluates with such sets, and puts what is known
//! into expressions and effects.

use std::collections::BTreeSet;

use mover_ir::expr::{BinaryOp, Expr, Place, ReceiveArg, UnaryOp, VariableRef};
use mover_ir::program::{Effect, TemplateId, VariableId};

use super::{Knowledge, Unfolding};

/// More values than these of one cell are any.
const MOST_VALUES: usize = 4;

/// What is known of a cell: one of these values, or nothing.
pub(super) type Values = Option<Vec<u64>>;

pub(super) fn join(mine: &mut Values, theirs: &Values) {
    let Some(theirs) = theirs else {
        *mine = None;
        return;
    };
    if let Some(values) = mine {
        for value in theirs {
            if let Err(position) = values.binary_search(value) {
                values.insert(position, *value);
            }
        }
        if values.len() > MOST_VALUES {
            *mine = None;
        }
    }
}

/// Expressions where something is known.
#[derive(Clone, Copy)]
pub(super) struct Env<'e, 'p> {
    pub(super) unfolding: &'e Unfolding<'p>,
    pub(super) template: TemplateId,
    pub(super) first: &'e [usize],
    pub(super) known: &'e Knowledge,
}

impl Env<'_, '_> {
    /// The value, if there is one only.
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
        match expr {
            Expr::Const { value, .. } => Some(vec![*value]),
            Expr::Read(place) => self.read(place),
            Expr::Unary(op, arg) => {
                let width = arg.width();
                let values = self.values(arg)?;
                collected(values.into_iter().map(|value| op.apply(value, width)))
            }
            Expr::Binary(op, a, b) => {
                let width = a.width();
                let (known_a, known_b) = (self.values(a), self.values(b));
                if width == 1 || !op.is_comparison() {
                    let zero = Some(vec![0]);
                    let absorbs = match op {
                        BinaryOp::And => known_a == zero || known_b == zero,
                        _ => false,
                    };
                    if absorbs {
                        return zero;
                    }
                    let one = Some(vec![1]);
                    if width == 1 && *op == BinaryOp::Or && (known_a == one || known_b == one) {
                        return one;
                    }
                }
                let (known_a, known_b) = (known_a?, known_b?);
                collected(
                    known_a
                        .iter()
                        .flat_map(|&x| known_b.iter().map(move |&y| op.apply(x, y, width))),
                )
            }
            Expr::If(condition, then, otherwise) => match self.values(condition)?[..] {
                [0] => self.values(otherwise),
                [_] => self.values(then),
                _ => {
                    let mut all = self.values(then)?;
                    all.extend(self.values(otherwise)?);
                    collected(all.into_iter())
                }
            },
            Expr::Resize { arg, width, signed } => {
                let from = arg.width();
                let values = self.values(arg)?;
                collected(
                    values
                        .into_iter()
                        .map(|value| mover_ir::expr::resize(value, from, *width, *signed)),
                )
            }
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
        }
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

    /// What a store may change: variables, indices and values; an index that is no constant stands
    /// for any cell.
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

    /// The truth of a condition that looks at one cell of several values, if it is the
    /// same for all of them.
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

    /// The expression with what is known put in.
    pub(super) fn fold(&self, expr: &Expr) -> Expr {
        if let Some(truth) = self.decided(expr) {
            return Expr::constant(truth as i64, 1);
        }
        // Addresses and marks stay readable to the analyses.
        if !matches!(expr, Expr::Address { .. })
            && let Some(values) = self.single(expr)
            && !mentions_address(expr)
        {
            return Expr::Const {
                value: values[0],
                width: expr.width(),
            };
        }
        let again = |expr: &Expr| Box::new(self.fold(expr));
        match expr {
            Expr::Read(place) => Expr::Read(self.fold_place(place)),
            Expr::Unary(UnaryOp::Not, arg) if arg.width() == 1 => self.fold(arg).negate(),
            Expr::Unary(op, arg) => Expr::Unary(*op, again(arg)),
            Expr::Binary(BinaryOp::And, a, b) if a.width() == 1 => self.fold(a).and(self.fold(b)),
            Expr::Binary(BinaryOp::Or, a, b) if a.width() == 1 => self.fold(a).or(self.fold(b)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, again(a), again(b)),
            Expr::If(condition, then, otherwise) => match self.fold(condition).as_const() {
                Some(0) => self.fold(otherwise),
                Some(_) => self.fold(then),
                None => Expr::If(again(condition), again(then), again(otherwise)),
            },
            Expr::Resize { arg, width, signed } => self.fold(arg).resize(*width, *signed),
            Expr::Load { address, ty } => Expr::load(self.fold(address), *ty),
            Expr::ObjectSize(arg) => Expr::ObjectSize(again(arg)),
            Expr::ObjectSite { address, sites } => Expr::ObjectSite {
                address: again(address),
                sites: sites.clone(),
            },
            Expr::ChannelExists(arg) => Expr::ChannelExists(again(arg)),
            Expr::ChannelLen(arg) => Expr::ChannelLen(again(arg)),
            Expr::ChannelCapacity(arg) => Expr::ChannelCapacity(again(arg)),
            other => other.clone(),
        }
    }

    fn fold_place(&self, place: &Place) -> Place {
        Place {
            index: Box::new(self.fold(&place.index)),
            ..place.clone()
        }
    }

    pub(super) fn fold_effect(&self, effect: &Effect) -> Effect {
        match effect {
            Effect::Assign { place, value } => Effect::Assign {
                place: self.fold_place(place),
                value: self.fold(value),
            },
            Effect::Store { address, value } => Effect::Store {
                address: self.fold(address),
                value: self.fold(value),
            },
            Effect::Havoc { place, values } => Effect::Havoc {
                place: self.fold_place(place),
                values: *values,
            },
            Effect::Allocate { site, size, result } => Effect::Allocate {
                site: *site,
                size: self.fold(size),
                result: self.fold_place(result),
            },
            Effect::Free { address } => Effect::Free {
                address: self.fold(address),
            },
            Effect::Spawn {
                template,
                args,
                priority,
                result,
            } => Effect::Spawn {
                template: *template,
                args: args.iter().map(|arg| self.fold(arg)).collect(),
                priority: *priority,
                result: result.as_ref().map(|place| self.fold_place(place)),
            },
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => Effect::Receive {
                channel: channel.clone(),
                args: args
                    .iter()
                    .map(|arg| match arg {
                        ReceiveArg::Store(place) => ReceiveArg::Store(self.fold_place(place)),
                        other => other.clone(),
                    })
                    .collect(),
                random: *random,
                peek: *peek,
            },
            other => other.clone(),
        }
    }
}

fn mentions_address(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| found |= matches!(expr, Expr::Address { .. }));
    found && expr.width() > 1
}

fn collected(values: impl Iterator<Item = u64>) -> Values {
    let set: BTreeSet<u64> = values.collect();
    (set.len() <= MOST_VALUES).then(|| set.into_iter().collect())
}
