//! From paths to a template: slots are assigned to variables, edges get their effects.

use std::collections::{BTreeMap, HashMap, HashSet};

use mover_ir::expr::{Expr, Place, Ty, VariableRef};
use mover_ir::program::{
    AccessedMemory, CellNames, Edge, Effect, Init, Location, LocationId, MemoryAccess, Template,
    Variable, VariableId,
};
use mover_ir::sync::SyncOp;
use mover_source::Span;

use super::{Builder, LocalKind, Pending, Touch, failed_try};
use crate::expr_builder::constant;
use crate::objects::Object;
use crate::ssa::{Kind, Loc, Operand, Pure, ValueId};

/// Where a value was loaded from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// A variable, at an offset.
    Variable(Object, i64),
    /// This far from where a pointer points.
    Field(i64),
}

/// A template with what else is known of it.
pub struct Finished {
    pub template: Template,
    /// For each edge of each location where its shared access stands.
    pub accesses: Vec<Vec<Option<Loc>>>,
}

impl Builder<'_, '_> {
    /// Slots become local variables, edges their effects.
    pub(super) fn finish_template(mut self) -> Finished {
        let merged = self.merge_slots();
        // Parameters come first, then whatever is used.
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        let mut variables: Vec<usize> = Vec::new();
        let parameters =
            (0..self.locals.len()).filter(|&local| self.locals[local].kind == LocalKind::Parameter);
        for local in parameters {
            numbers.insert(local, variables.len() as u32);
            variables.push(local);
        }
        let params = variables.len() as u32;
        for (local, &owner) in merged.iter().enumerate() {
            if owner == local && !numbers.contains_key(&local) {
                numbers.insert(local, variables.len() as u32);
                variables.push(local);
            }
        }
        let place_of = |local: usize| VariableId(numbers[&merged[local]]);
        let mut spares = Spares {
            first: variables.len() as u32,
            types: Vec::new(),
        };
        let silent = self.silent_stands();
        let mut locations: Vec<Location> = self
            .stands
            .iter()
            .enumerate()
            .map(|(number, stand)| Location {
                labels: stand.labels.clone(),
                atomic: stand.atomic || silent.contains(&number),
                valid_end: stand.valid_end,
                error: stand.error.clone(),
                bound: stand.bound.clone(),
                edges: Vec::new(),
                accesses: Vec::new(),
                span: self.world.span(stand.loc),
            })
            .collect();
        let mut accesses: Vec<Vec<Option<Loc>>> = vec![Vec::new(); locations.len()];
        for pending in std::mem::take(&mut self.pending) {
            accesses[pending.from].push(pending.access);
            let edge = self.edge(&pending, &place_of, &merged, &mut spares);
            locations[pending.from].edges.push(edge);
        }
        let mut locals: Vec<Variable> = variables
            .iter()
            .map(|&local| {
                let local = &self.locals[local];
                Variable {
                    name: local.name.clone(),
                    ty: local.ty,
                    len: local.len,
                    is_array: local.is_array,
                    init: local.init.clone(),
                    symbols: local.symbols,
                    span: local.span,
                    addressable: false,
                    names: local.names.clone(),
                }
            })
            .collect();
        locals.extend(spares.types.iter().map(|&ty| Variable {
            name: "%spare".into(),
            ty,
            len: 1,
            is_array: false,
            init: Init::All(0),
            symbols: None,
            span: None,
            addressable: false,
            names: CellNames::default(),
        }));
        let entry = skip_entry(&mut locals, &locations, params);
        let (mut locations, entry, renumbered) = drop_unreachable(locations, entry);
        make_names_unique(&mut locals);
        for (stand, touch) in &self.touches {
            if let Some(location) = renumbered[*stand] {
                let access = touch.renamed(&place_of, self.world.span(touch.loc));
                locations[location.index()].accesses.push(access);
            }
        }
        let tries = self.tries.iter().filter_map(|&stand| renumbered[stand]);
        failed_try::lift(&mut locations, tries);
        let template = Template {
            name: self.code.name.clone(),
            params,
            locals,
            channels: Vec::new(),
            locations,
            entry,
            span: self.world.span(self.code.loc),
        };
        let mut kept = vec![Vec::new(); template.locations.len()];
        for (old, edges) in accesses.into_iter().enumerate() {
            if let Some(new) = renumbered[old] {
                kept[new.index()] = edges;
            }
        }
        Finished {
            template,
            accesses: kept,
        }
    }

    /// For each local the one that stands for it: slots of one C variable that
    /// are never needed at the same time are one. Values without a name that may be
    /// pointers are one only if they come from the same place: analyses of pointers do not tell
    /// the values of a variable apart.
    fn merge_slots(&self) -> Vec<usize> {
        let mut merged: Vec<usize> = (0..self.locals.len()).collect();
        let mut together: HashSet<(usize, usize)> = HashSet::new();
        for stand in &self.stands {
            let live: Vec<usize> = stand
                .live
                .iter()
                .flat_map(|&value| {
                    let count = self.code.values[value].shape.len();
                    (0..count).filter_map(move |part| self.slots.get(&(value, part)).copied())
                })
                .collect();
            for (number, &a) in live.iter().enumerate() {
                for &b in &live[number + 1..] {
                    together.insert((a.min(b), a.max(b)));
                }
            }
        }
        let pointer_width = self.world.module.pointer_width();
        let definitions = self.definitions();
        type Key = (String, u8, bool, Option<Origin>);
        let mut groups: BTreeMap<Key, Vec<Vec<usize>>> = BTreeMap::new();
        for (number, local) in self.locals.iter().enumerate() {
            let LocalKind::Slot(value) = local.kind else {
                continue;
            };
            let may_point = local.ty.width == pointer_width && !self.code.values[value].is_variable;
            let origin = match may_point {
                true => self.origin(&definitions, value),
                false => None,
            };
            let key = (local.name.clone(), local.ty.width, local.ty.signed, origin);
            let classes = groups.entry(key).or_default();
            let conflicts = |class: &Vec<usize>| {
                class
                    .iter()
                    .any(|&other| together.contains(&(other.min(number), other.max(number))))
            };
            match classes.iter_mut().find(|class| !conflicts(class)) {
                Some(class) => {
                    merged[number] = class[0];
                    class.push(number);
                }
                None => classes.push(vec![number]),
            }
        }
        merged
    }

    /// The instructions that compute values.
    fn definitions(&self) -> HashMap<ValueId, &Kind> {
        let all = self.code.blocks.iter().flat_map(|block| &block.insts);
        all.filter_map(|inst| Some((inst.result?, &inst.kind)))
            .collect()
    }

    /// Where a value has been loaded from.
    fn origin(&self, definitions: &HashMap<ValueId, &Kind>, value: ValueId) -> Option<Origin> {
        let Kind::Load { pointer, .. } = definitions.get(&value)? else {
            return None;
        };
        if let Some(form) = self.world.objects.form(self.body, pointer) {
            return Some(Origin::Variable(form.object, form.offset));
        }
        let offset = match pointer {
            Operand::Value(id) => match definitions.get(id) {
                Some(Kind::Pure(Pure::Gep { offset, .. })) => *offset,
                _ => 0,
            },
            _ => 0,
        };
        Some(Origin::Field(offset))
    }

    /// Locations from which only local steps lead, and not round in a circle.
    fn silent_stands(&self) -> HashSet<usize> {
        let count = self.stands.len();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut is_silent = vec![true; count];
        for pending in &self.pending {
            // Who meets a bound ends the run, so the others must be able to move before.
            let meets_bound = self.stands[pending.to].bound.is_some();
            is_silent[pending.from] &= !pending.shared && !meets_bound;
            edges[pending.from].push(pending.to);
        }
        for (number, stand) in self.stands.iter().enumerate() {
            is_silent[number] &= !stand.ends_run() && !edges[number].is_empty();
        }
        let mut ends: HashSet<usize> = HashSet::new();
        loop {
            let before = ends.len();
            for number in 0..count {
                if is_silent[number]
                    && edges[number]
                        .iter()
                        .all(|to| !is_silent[*to] || ends.contains(to))
                {
                    ends.insert(number);
                }
            }
            if ends.len() == before {
                return ends;
            }
        }
    }

    fn edge(
        &mut self,
        pending: &Pending,
        place_of: &impl Fn(usize) -> VariableId,
        merged: &[usize],
        spares: &mut Spares,
    ) -> Edge {
        let rename_all = |expr: &Expr| rename(expr, place_of);
        let rename_place = |place: &Place| Place {
            variable: match place.variable {
                VariableRef::Local(id) => VariableRef::Local(place_of(id.index())),
                global => global,
            },
            index: Box::new(rename_all(&place.index)),
            ty: place.ty,
        };
        let mut effects: Vec<Effect> = pending
            .effects
            .iter()
            .map(|effect| map_effect(effect, &rename_all, &rename_place))
            .collect();
        let exit = pending.exits.then(|| effects.pop()).flatten();
        // All slots get their values at once; dead ones become 0.
        let mut moves: BTreeMap<usize, Expr> = BTreeMap::new();
        if !pending.exits && !self.stands[pending.to].ends_run() {
            for &value in &self.stands[pending.from].live {
                let count = self.code.values[value].shape.len();
                for part in 0..count {
                    if let Some(&slot) = self.slots.get(&(value, part)) {
                        let owner = merged[slot];
                        moves.insert(owner, constant(0, self.locals[owner].ty.width));
                    }
                }
            }
            for &temp in &pending.temps {
                moves.insert(temp, constant(0, self.locals[temp].ty.width));
            }
            if pending.from == 0 {
                // A parameter that is not needed at all is forgotten at once.
                for param in 0..self.code.params {
                    let local = self.slots[&(param, 0)];
                    moves.insert(local, constant(0, self.locals[local].ty.width));
                }
            }
            for (slot, value) in &pending.finals {
                moves.insert(merged[*slot], value.clone());
            }
        }
        let moves: Vec<(VariableId, Ty, Expr)> = moves
            .into_iter()
            .map(|(local, value)| (place_of(local), self.locals[local].ty, rename_all(&value)))
            .collect();
        effects.extend(in_order(moves, spares));
        effects.extend(exit);
        let span = self.world.span(pending.loc);
        let text = match &pending.text {
            Some(text) => text.clone(),
            None => span
                .map(|span| self.world.sources.text(span).to_string())
                .unwrap_or_default(),
        };
        let mut edge = Edge {
            priority: 0,
            guard: rename_all(&pending.guard),
            effects,
            target: LocationId(pending.to as u32),
            span,
            text,
            sync: Vec::new(),
        };
        let declared = pending.sync.iter().map(|op| SyncOp {
            cell: rename_all(&op.cell),
            count: op.count.as_ref().map(rename_all),
            ..op.clone()
        });
        // What else the edge does may hide it.
        edge.sync = declared.filter(|op| op.breach(&edge).is_none()).collect();
        edge
    }
}

impl Touch {
    /// The access in terms of the finished template.
    fn renamed(&self, place_of: &impl Fn(usize) -> VariableId, span: Option<Span>) -> MemoryAccess {
        MemoryAccess {
            guard: rename(&self.guard, place_of),
            memory: match &self.memory {
                AccessedMemory::Cell { variable, index } => AccessedMemory::Cell {
                    variable: *variable,
                    index: rename(index, place_of),
                },
                AccessedMemory::Bytes { address, count } => AccessedMemory::Bytes {
                    address: rename(address, place_of),
                    count: *count,
                },
            },
            writes: self.writes,
            atomic: self.atomic,
            ahead: false,
            span,
        }
    }
}

/// The expression with the locals that stand for those of the making.
fn rename(expr: &Expr, place_of: &impl Fn(usize) -> VariableId) -> Expr {
    expr.rewrite(&mut |expr| match expr {
        Expr::Read(place) => match place.variable {
            VariableRef::Local(id) => Some(Expr::Read(Place {
                variable: VariableRef::Local(place_of(id.index())),
                index: Box::new(rename(&place.index, place_of)),
                ty: place.ty,
            })),
            VariableRef::Global(_) => None,
        },
        _ => None,
    })
}

fn map_effect(
    effect: &Effect,
    expr: &impl Fn(&Expr) -> Expr,
    place: &impl Fn(&Place) -> Place,
) -> Effect {
    match effect {
        Effect::Assign {
            place: target,
            value,
        } => Effect::Assign {
            place: place(target),
            value: expr(value),
        },
        Effect::Store { address, value } => Effect::Store {
            address: expr(address),
            value: expr(value),
        },
        Effect::Havoc {
            place: target,
            values,
        } => Effect::Havoc {
            place: place(target),
            values: *values,
        },
        Effect::Allocate {
            site,
            reuse,
            size,
            result,
        } => Effect::Allocate {
            site: *site,
            reuse: *reuse,
            size: expr(size),
            result: place(result),
        },
        Effect::Free { address } => Effect::Free {
            address: expr(address),
        },
        Effect::Spawn {
            template,
            args,
            priority,
            result,
        } => Effect::Spawn {
            template: *template,
            args: args.iter().map(expr).collect(),
            priority: *priority,
            result: result.as_ref().map(place),
        },
        other => other.clone(),
    }
}

/// Local variables that edges use in passing, beyond those of the template.
struct Spares {
    first: u32,
    types: Vec<Ty>,
}

impl Spares {
    /// The first spare of a type that is not in use.
    fn take(&mut self, ty: Ty, in_use: &[VariableId]) -> VariableId {
        let id = |index: usize| VariableId(self.first + index as u32);
        let known = (0..self.types.len())
            .find(|&index| self.types[index] == ty && !in_use.contains(&id(index)));
        let index = known.unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        });
        VariableId(self.first + index as u32)
    }
}

/// Assignments that are meant to happen at once, one after the other.
fn in_order(moves: Vec<(VariableId, Ty, Expr)>, spares: &mut Spares) -> Vec<Effect> {
    let is_read = |expr: &Expr, variable: VariableId| {
        let mut found = false;
        expr.walk(&mut |expr| {
            found |= matches!(expr, Expr::Read(place)
                if place.variable == VariableRef::Local(variable));
        });
        found
    };
    let assign = |variable: VariableId, ty: Ty, value: Expr| Effect::Assign {
        place: Place::scalar(VariableRef::Local(variable), ty),
        value,
    };
    let mut rest: Vec<(VariableId, Ty, Expr)> = moves
        .into_iter()
        .filter(|(variable, ty, value)| {
            *value != Expr::Read(Place::scalar(VariableRef::Local(*variable), *ty))
        })
        .collect();
    let mut effects = Vec::new();
    let mut in_use: Vec<(VariableId, Ty)> = Vec::new();
    while !rest.is_empty() {
        let ready = (0..rest.len()).find(|&this| {
            let variable = rest[this].0;
            let mut others = rest.iter().enumerate().filter(|(other, _)| *other != this);
            others.all(|(_, (_, _, value))| !is_read(value, variable))
        });
        if let Some(this) = ready {
            let (variable, ty, value) = rest.remove(this);
            effects.push(assign(variable, ty, value));
            continue;
        }
        // Variables change places: one of them waits in a spare.
        let (variable, ty, _) = rest[0].clone();
        let taken: Vec<VariableId> = in_use.iter().map(|(id, _)| *id).collect();
        let spare = spares.take(ty, &taken);
        in_use.push((spare, ty));
        let old = Expr::Read(Place::scalar(VariableRef::Local(variable), ty));
        effects.push(assign(spare, ty, old));
        for (_, _, value) in &mut rest {
            *value = value.rewrite(&mut |expr| match expr {
                Expr::Read(place) if place.variable == VariableRef::Local(variable) => {
                    Some(Expr::Read(Place::scalar(VariableRef::Local(spare), ty)))
                }
                _ => None,
            });
        }
    }
    for (spare, ty) in in_use {
        effects.push(assign(spare, ty, constant(0, ty.width)));
    }
    effects
}

/// Entering the first location may do nothing but set constants: then the
/// template begins after it.
fn skip_entry(locals: &mut [Variable], locations: &[Location], params: u32) -> LocationId {
    let mut entry = LocationId(0);
    while let [edge] = &locations[entry.index()].edges[..] {
        if edge.guard != Expr::TRUE || edge.target == entry {
            return entry;
        }
        let target = &locations[edge.target.index()];
        if target.ends_run() || target.atomic && !target.valid_end && target.edges.is_empty() {
            return entry;
        }
        let mut known: Vec<(usize, u64)> = Vec::new();
        for effect in &edge.effects {
            let Effect::Assign { place, value } = effect else {
                return entry;
            };
            let (VariableRef::Local(id), Some(value), Some(0)) =
                (place.variable, value.as_const(), place.index.as_const())
            else {
                return entry;
            };
            if id.0 < params || locals[id.index()].len != 1 {
                return entry;
            }
            known.push((id.index(), value));
        }
        // A location that is come back to must not forget what is set before it.
        let comes_back = locations
            .iter()
            .flat_map(|location| &location.edges)
            .any(|edge| edge.target == entry);
        if comes_back || target.atomic {
            return entry;
        }
        for (local, value) in known {
            locals[local].init = Init::All(value);
        }
        entry = edge.target;
    }
    entry
}

type Renumbering = Vec<Option<LocationId>>;

fn drop_unreachable(
    locations: Vec<Location>,
    entry: LocationId,
) -> (Vec<Location>, LocationId, Renumbering) {
    let mut numbers: Renumbering = vec![None; locations.len()];
    let mut order = Vec::new();
    let mut work = vec![entry.index()];
    while let Some(location) = work.pop() {
        if numbers[location].is_some() {
            continue;
        }
        numbers[location] = Some(LocationId(order.len() as u32));
        order.push(location);
        let edges = &locations[location].edges;
        work.extend(edges.iter().rev().map(|edge| edge.target.index()));
    }
    let mut locations: Vec<Option<Location>> = locations.into_iter().map(Some).collect();
    let mut kept = Vec::new();
    for number in order {
        let Some(mut location) = locations[number].take() else {
            continue;
        };
        for edge in &mut location.edges {
            edge.target = numbers[edge.target.index()].unwrap_or(edge.target);
        }
        kept.push(location);
    }
    (kept, LocationId(0), numbers)
}

/// The second `i` of a function becomes `i'2`.
fn make_names_unique(locals: &mut [Variable]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for local in locals {
        let count = seen.entry(local.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            local.name = format!("{}'{count}", local.name);
        }
    }
}
