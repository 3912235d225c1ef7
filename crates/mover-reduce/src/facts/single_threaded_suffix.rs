//! Locations at which the first thread has joined all others and starts none any more.
//!
//! A row of cells that the front end maintains ([`Program::presence`]) has a cell for each thread that is
//! not 0 from before the thread's start until after it has ended and been waited for. If only the first
//! thread starts others, no other thread makes a cell non-zero that was 0. Where all of these cells are 0 and
//! no path continues to a spawn, the first thread is the only one for good: what it does there (in most C
//! programs: checking and printing results) interferes with nobody.
//!
//! Programs start and join their threads in loops, over handles in an array, and the number of a thread is
//! that of the first free cell. So the first thread is run *abstractly*: an abstract state has the constants
//! in its variables and for each cell of the row the set of values that it may have, which are those that
//! the thread wrote itself and, unless it wrote 0, those that other threads ever write. An edge whose guard is false
//! for all of these values is not taken. States at one location are kept apart, so that a loop with a known
//! number of iterations is walked through. Only variables that decide which cells are written are kept:
//! others would make the states many.
//!
//! If there are too many states, all states at a location become one, which knows what they agree on. Loops
//! are not understood then, but straight code is.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::expr::{BinaryOp, Expr, Place, VariableRef};
use mover_ir::graph::{control_flow, reaches};
use mover_ir::program::{Effect, Init, Program, Template, Variable, VariableId};
use mover_ir::simplify::fold_parts;

use crate::facts::single_threaded_prefix::spawns;
use crate::plan::movers::runs_once;

/// Abstract states at one location before all of them become one, and states in all.
const MOST_AT_ONE: usize = 256;
const MOST_STATES: usize = 8192;

/// A cell of a variable.
type Cell = (VariableRef, u64);

/// Values that a cell of the row may have; none stands for any value.
type Values = Option<BTreeSet<u64>>;

/// What the first thread knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Known {
    /// Variables with a constant value.
    constants: BTreeMap<Cell, u64>,
    /// The cells of the row; none if one of them, it is not known which, may have been set.
    row: Option<Vec<Values>>,
}

/// What does not change during the run.
struct Walk<'p> {
    program: &'p Program,
    template: &'p Template,
    row: VariableId,
    /// What other threads write to the row.
    others: Values,
    /// Variables whose constants are kept.
    kept: BTreeSet<VariableRef>,
}

/// By template and location: where the first thread is the only one for good.
pub fn find(program: &Program) -> Vec<Vec<bool>> {
    let mut found: Vec<Vec<bool>> = program
        .templates
        .iter()
        .map(|template| vec![false; template.locations.len()])
        .collect();
    let (Some(row), [first]) = (program.presence, &program.initial[..]) else {
        return found;
    };
    let main = first.template.index();
    let others: Vec<&Template> = (program.templates.iter().enumerate())
        .filter(|(number, _)| *number != main)
        .map(|(_, other)| other)
        .collect();
    let effects_of_others = || {
        let locations = others.iter().flat_map(|other| &other.locations);
        let edges = locations.flat_map(|location| &location.edges);
        edges.flat_map(|edge| &edge.effects)
    };
    let others_spawn = effects_of_others().any(|effect| matches!(effect, Effect::Spawn { .. }));
    if others_spawn || !runs_once(program, main) {
        return found;
    }
    let template = &program.templates[main];
    let written_by_others: BTreeSet<VariableRef> = effects_of_others()
        .flat_map(Effect::written_places)
        .map(|place| place.variable)
        .collect();
    let is_own = |variable: &VariableRef| match variable {
        VariableRef::Local(_) => true,
        VariableRef::Global(id) => {
            !program.globals[id.index()].addressable && !written_by_others.contains(variable)
        }
    };
    let walk = Walk {
        program,
        template,
        row,
        others: written_values(effects_of_others(), row),
        kept: (deciding(template, row).into_iter())
            .filter(is_own)
            .collect(),
    };
    let initially = walk.initial_row();
    // The only cell that is non-zero from the start must be that of the first thread.
    if initially.iter().filter(|cell| !is_zero(cell)).count() > 1 {
        return found;
    }
    let known = walk.run(first.args.len());
    let reach = reaches(&control_flow(template));
    let starts: Vec<usize> = (0..template.locations.len())
        .filter(|&location| template.locations[location].edges.iter().any(spawns))
        .collect();
    for (location, states) in known.iter().enumerate() {
        let nobody_else = |state: &Known| {
            let cells = state.row.iter().flatten().zip(&initially);
            state.row.is_some()
                && cells
                    .into_iter()
                    .all(|(now, at_first)| is_zero(now) || !is_zero(at_first))
        };
        let ends = !starts.iter().any(|&to| reach[location].contains(to));
        found[main][location] = !states.is_empty() && ends && states.iter().all(nobody_else);
    }
    found
}

fn is_zero(values: &Values) -> bool {
    let values = values.as_ref();
    values.is_some_and(|values| values.len() == 1 && values.contains(&0))
}

/// What effects write to a row.
fn written_values<'e>(effects: impl Iterator<Item = &'e Effect>, row: VariableId) -> Values {
    let mut values = BTreeSet::new();
    for effect in effects {
        for place in effect.written_places() {
            if place.variable == VariableRef::Global(row) {
                let Effect::Assign { value, .. } = effect else {
                    return None;
                };
                values.insert(value.as_const()?);
            }
        }
    }
    Some(values)
}

/// The variables on which it depends which cells of the row a template writes, and when.
fn deciding(template: &Template, row: VariableId) -> BTreeSet<VariableRef> {
    let reach = reaches(&control_flow(template));
    let writes_row = |effect: &Effect| {
        let mut written = effect.written_places().into_iter();
        written.any(|place| place.variable == VariableRef::Global(row))
    };
    let mut needed: BTreeSet<VariableRef> = BTreeSet::new();
    fn add(needed: &mut BTreeSet<VariableRef>, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Expr::Read(place) = part {
                needed.insert(place.variable);
            }
        });
    }
    let edges = || {
        let locations = template.locations.iter().enumerate();
        locations.flat_map(|(at, location)| location.edges.iter().map(move |edge| (at, edge)))
    };
    let writers: Vec<usize> = edges()
        .filter(|(_, edge)| edge.effects.iter().any(writes_row))
        .map(|(at, _)| at)
        .collect();
    for (at, edge) in edges() {
        // Guards of a loop that contains such a write decide how often it happens.
        let is_in_loop =
            (writers.iter()).any(|&to| reach[at].contains(to) && reach[to].contains(at));
        if writers.contains(&at) || is_in_loop {
            add(&mut needed, &edge.guard);
        }
        for effect in edge.effects.iter().filter(|effect| writes_row(effect)) {
            effect.walk(&mut |expr| add(&mut needed, expr));
            for place in effect.written_places() {
                add(&mut needed, &place.index);
            }
        }
    }
    loop {
        let before = needed.len();
        for (_, edge) in edges() {
            for effect in &edge.effects {
                let written = effect.written_places();
                if (written.iter()).any(|place| needed.contains(&place.variable)) {
                    effect.walk(&mut |expr| add(&mut needed, expr));
                    for place in written {
                        add(&mut needed, &place.index);
                    }
                }
            }
        }
        if needed.len() == before {
            needed.remove(&VariableRef::Global(row));
            return needed;
        }
    }
}

impl Walk<'_> {
    fn variable(&self, variable: VariableRef) -> &Variable {
        match variable {
            VariableRef::Local(id) => &self.template.locals[id.index()],
            VariableRef::Global(id) => &self.program.globals[id.index()],
        }
    }

    fn initial_row(&self) -> Vec<Values> {
        let row = self.variable(VariableRef::Global(self.row));
        (0..u64::from(row.len))
            .map(|cell| self.values(initial(row, cell)?))
            .collect()
    }

    /// The values of a cell of the row that was just set.
    fn values(&self, value: u64) -> Values {
        let mut values = BTreeSet::from([value]);
        if value != 0 {
            values.extend(self.others.as_ref()?);
        }
        Some(values)
    }

    /// The abstract states by location.
    fn run(&self, params: usize) -> Vec<BTreeSet<Known>> {
        let mut constants = BTreeMap::new();
        for &variable in &self.kept {
            let is_param = matches!(variable, VariableRef::Local(id) if id.index() < params);
            let declared = self.variable(variable);
            for cell in 0..u64::from(declared.len) {
                if let Some(value) = initial(declared, cell).filter(|_| !is_param) {
                    constants.insert((variable, cell), value);
                }
            }
        }
        let start = Known {
            constants,
            row: Some(self.initial_row()),
        };
        let mut known = vec![BTreeSet::new(); self.template.locations.len()];
        let entry = self.template.entry.index();
        known[entry].insert(start.clone());
        let mut work = vec![(entry, start)];
        let mut states = 1;
        let mut is_one = vec![false; known.len()];
        while let Some((location, before)) = work.pop() {
            if !known[location].contains(&before) {
                // It has become part of another one.
                continue;
            }
            for edge in &self.template.locations[location].edges {
                if self.value(&before, &edge.guard) == Some(0) {
                    continue;
                }
                let mut after = before.clone();
                for effect in &edge.effects {
                    self.follow(&mut after, effect);
                }
                let target = edge.target.index();
                let there = &mut known[target];
                is_one[target] |= there.len() >= MOST_AT_ONE || states >= MOST_STATES;
                if is_one[target] {
                    after = there.iter().fold(after, |all, state| all.joined(state));
                    if there.len() == 1 && there.contains(&after) {
                        continue;
                    }
                    states -= there.len();
                    there.clear();
                }
                if there.insert(after.clone()) {
                    states += 1;
                    work.push((target, after));
                }
            }
        }
        known
    }

    fn follow(&self, known: &mut Known, effect: &Effect) {
        let assigned = match effect {
            Effect::Assign { value, .. } => self.value(known, value),
            _ => None,
        };
        let places: Vec<(&Place, Option<u64>)> = (effect.written_places().into_iter())
            .map(|place| (place, self.value(known, &place.index)))
            .collect();
        for (place, index) in places {
            if place.variable == VariableRef::Global(self.row) {
                let values = assigned.and_then(|value| self.values(value));
                match (index, &mut known.row) {
                    (Some(index), Some(row)) => {
                        if let Some(cell) = row.get_mut(index as usize) {
                            *cell = values;
                        }
                    }
                    // Which cell is 0 now is not known: none is known to be.
                    (None, _) if assigned == Some(0) => self.forget_cleared(known),
                    (None, row) => *row = None,
                    (Some(_), None) => {}
                }
            } else if self.kept.contains(&place.variable) {
                let len = u64::from(self.variable(place.variable).len);
                let cells = index.map_or(0..len, |index| index..index + 1);
                for cell in cells {
                    match assigned.filter(|_| index.is_some()) {
                        Some(value) => known.constants.insert((place.variable, cell), value),
                        None => known.constants.remove(&(place.variable, cell)),
                    };
                }
            }
        }
    }

    /// Any cell may be 0 now, besides what it may have been.
    fn forget_cleared(&self, known: &mut Known) {
        for values in known.row.iter_mut().flatten().flatten() {
            values.insert(0);
        }
    }

    /// The value of an expression, if it has the same for all values of the row that are possible.
    fn value(&self, known: &Known, expr: &Expr) -> Option<u64> {
        let folded = self.folded(known, expr, None);
        if folded.as_const().is_some() {
            return folded.as_const();
        }
        let mut cells: BTreeSet<Option<u64>> = BTreeSet::new();
        folded.walk(&mut |part| {
            if let Expr::Read(place) = part
                && place.variable == VariableRef::Global(self.row)
            {
                cells.insert(place.index.as_const());
            }
        });
        let [Some(cell)] = cells.into_iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let values = known.row.as_ref()?.get(cell as usize)?.as_ref()?;
        let mut results = values
            .iter()
            .map(|&value| self.folded(known, &folded, Some((cell, value))).as_const());
        let first = results.next()??;
        results.all(|result| result == Some(first)).then_some(first)
    }

    /// The expression with what is known, and with a value for one cell of the row.
    fn folded(&self, known: &Known, expr: &Expr, assumed: Option<(u64, u64)>) -> Expr {
        let constant = |value: u64, place: &Place| Expr::Const {
            value,
            width: place.ty.width,
        };
        let part = fold_parts(expr, &mut |part| self.folded(known, part, assumed));
        match &part {
            Expr::Read(place) => {
                let Some(index) = place.index.as_const() else {
                    return part;
                };
                if place.variable != VariableRef::Global(self.row) {
                    let value = known.constants.get(&(place.variable, index));
                    return value.map_or(part.clone(), |&value| constant(value, place));
                }
                let only = self
                    .possible(known, index, assumed)
                    .filter(|values| values.len() == 1);
                match only.and_then(|values| values.first().copied()) {
                    Some(value) => constant(value, place),
                    None => part,
                }
            }
            // A cell with several values differs from all others.
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let (Expr::Read(place), Some(value)) = (&**a, b.as_const()) else {
                    return part;
                };
                let values = (place.index.as_const())
                    .filter(|_| place.variable == VariableRef::Global(self.row))
                    .and_then(|index| self.possible(known, index, assumed));
                match values {
                    Some(values) if !values.contains(&value) => Expr::Const {
                        value: u64::from(*op == BinaryOp::Ne),
                        width: 1,
                    },
                    _ => part,
                }
            }
            _ => part,
        }
    }

    fn possible(&self, known: &Known, cell: u64, assumed: Option<(u64, u64)>) -> Values {
        match assumed {
            Some((other, value)) if other == cell => Some(BTreeSet::from([value])),
            _ => known.row.as_ref()?.get(cell as usize)?.clone(),
        }
    }
}

fn initial(variable: &Variable, cell: u64) -> Option<u64> {
    match &variable.init {
        Init::All(value) => Some(*value),
        Init::Cells(values) => values.get(cell as usize).copied(),
        Init::Channels(_) => None,
    }
}

impl Known {
    fn joined(mut self, other: &Known) -> Known {
        self.constants
            .retain(|cell, value| other.constants.get(cell) == Some(value));
        self.row = match (self.row, &other.row) {
            (Some(mine), Some(theirs)) => {
                let cells = mine.into_iter().zip(theirs);
                let both = cells.map(|(mine, theirs)| Some(&mine? | theirs.as_ref()?));
                Some(both.collect())
            }
            _ => None,
        };
        self
    }
}
