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
//!
//! What is asked is whether *all* states at a location know that the cells are 0. One state that does not
//! answers for its location, and what joins of states make of it does not know more. So states are followed
//! only while they lead to a location that is still open. A loop whose number of iterations is unknown, as it is
//! where it comes from the command line, has many states, but soon one that comes to the end of the program with
//! a thread that nobody has joined. A first search, with one state for each location, answers for straight code,
//! and finds out which locations are reached at all: nobody has to wait for the others.

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

/// What does not change during the search.
struct Walk<'p> {
    program: &'p Program,
    template: &'p Template,
    row: VariableId,
    /// What other threads write to the row.
    others: Values,
    /// Variables whose constants are kept.
    kept: BTreeSet<VariableRef>,
}

/// The abstract states found so far.
struct Search<'w> {
    walk: &'w Walk<'w>,
    /// States at one location before all of them become one.
    most_at_one: usize,
    /// By location.
    known: Vec<BTreeSet<Known>>,
    /// How many there are.
    states: usize,
    /// Locations at which all states become one.
    is_one: Vec<bool>,
    /// Locations from which nothing is started, and at which all states so far know that there is no other
    /// thread.
    open: Vec<usize>,
    /// The row at the start.
    initially: &'w [Values],
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
    let reach = reaches(&control_flow(template));
    let starts: Vec<usize> = (0..template.locations.len())
        .filter(|&location| template.locations[location].edges.iter().any(spawns))
        .collect();
    let is_candidate = |location: &usize| !starts.iter().any(|&to| reach[*location].contains(to));
    let mut open: Vec<usize> = (0..template.locations.len())
        .filter(|&location| !template.locations[location].edges.is_empty())
        .filter(is_candidate)
        .collect();
    for most_at_one in [1, MOST_AT_ONE] {
        let mut search = Search::new(&walk, &initially, open.clone(), most_at_one);
        search.run(first.args.len(), |from, to| reach[from].contains(to));
        for &location in &search.open {
            found[main][location] = search.is_reached(location);
        }
        open.retain(|location| !search.open.contains(location));
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

    /// What is known at the start.
    fn start(&self, params: usize) -> Known {
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
        Known {
            constants,
            row: Some(self.initial_row()),
        }
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

impl<'w> Search<'w> {
    fn new(
        walk: &'w Walk<'w>,
        initially: &'w [Values],
        open: Vec<usize>,
        most_at_one: usize,
    ) -> Self {
        let locations = walk.template.locations.len();
        Search {
            walk,
            most_at_one,
            known: vec![BTreeSet::new(); locations],
            states: 0,
            is_one: vec![false; locations],
            open,
            initially,
        }
    }

    fn is_reached(&self, location: usize) -> bool {
        !self.known[location].is_empty()
    }

    /// Follows all states that lead to an open location.
    fn run(&mut self, params: usize, reaches: impl Fn(usize, usize) -> bool) {
        let start = self.walk.start(params);
        let entry = self.walk.template.entry.index();
        let mut work = Vec::new();
        self.add(entry, start, &mut work);
        while let Some((location, before)) = work.pop() {
            let leads_on = |&to: &usize| reaches(location, to);
            // Of a state that is not there any more, another one has become a part.
            if !self.open.iter().any(leads_on) || !self.known[location].contains(&before) {
                continue;
            }
            for edge in &self.walk.template.locations[location].edges {
                if self.walk.value(&before, &edge.guard) == Some(0) {
                    continue;
                }
                let mut after = before.clone();
                for effect in &edge.effects {
                    self.walk.follow(&mut after, effect);
                }
                self.add(edge.target.index(), after, &mut work);
            }
        }
    }

    fn add(&mut self, location: usize, mut state: Known, work: &mut Vec<(usize, Known)>) {
        let there = &mut self.known[location];
        self.is_one[location] |= there.len() >= self.most_at_one || self.states >= MOST_STATES;
        if self.is_one[location] {
            state = there.iter().fold(state, |all, other| all.joined(other));
            if there.len() == 1 && there.contains(&state) {
                return;
            }
            self.states -= there.len();
            there.clear();
        }
        if there.insert(state.clone()) {
            self.states += 1;
            if !self.is_alone(&state) {
                self.open.retain(|&open| open != location);
            }
            work.push((location, state));
        }
    }

    /// Whether a state knows that the first thread is the only one.
    fn is_alone(&self, state: &Known) -> bool {
        let Some(row) = &state.row else { return false };
        let mut cells = row.iter().zip(self.initially);
        cells.all(|(now, at_first)| is_zero(now) || !is_zero(at_first))
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
