//! IC3 over views.
//!
//! Frames are sets of clauses over the observables of a view. A clause holds in a state of the
//! formula if it holds in every view of it, so each clause is given to the solver once for every
//! seating. A cube is excluded from a frame if no state of the frame before, all of whose views
//! are outside of the cube as well, has a step into a state with a view in the cube.
//!
//! The predecessor of a cube is a state with several views, and it is enough to exclude one of
//! them. So an obligation is met if one of the views of each predecessor can be excluded; the
//! search tries them in turn. If none can be, the cube is reached *by views*: that is an alarm and
//! not a run, because different views need not come from one run. Then there is no proof with
//! views of this width.
//!
//! **Abstraction.** A search may be confined to places, owners, changers, comparisons of the program
//! and narrow numbers, without the bits of wide ones (predicate abstraction, as in Cimatti et al.
//! (2014), *IC3 Modulo Theories via Implicit Predicate Abstraction*). Then it ends soon, with an
//! invariant or with an alarm. If comparisons are not enough, bits may be.
//!
//! What comes out is only a candidate; [`super::certificate`] checks it.

use mover_engine::{Control, SolverEffort, Statistics};
use rustc_hash::FxHashSet;

use super::houdini;
use super::samples::samples;
use super::views::{Seats, Views};
use crate::blast::Blaster;
use crate::sat::{Answer, Decisions, Lit, Solver};
use crate::term::{Evaluation, Term};

/// Observables with values, by ascending number.
pub type Cube = Vec<(usize, bool)>;

pub enum Found {
    /// Cubes that no view is in.
    Invariant(Vec<Cube>),
    /// There is no proof with views of this width.
    Alarm,
    Stopped,
}

struct Stop;

/// The views of a state: as few literals as matter, and all.
type Lifted = (Vec<Cube>, Vec<Cube>);

enum Step {
    /// There is no predecessor; which literals are needed for that.
    None(Cube),
    /// The views of a predecessor: as few literals as lead into the cube, and all.
    From { needed: Vec<Cube>, all: Vec<Cube> },
}

/// A solver that knows the relation, with its literals for the observables: for each seating now,
/// and for each seating next.
pub struct Relation {
    pub blaster: Blaster,
    pub now: Vec<Vec<Lit>>,
    pub next: Vec<Vec<Lit>>,
    pub possible: Lit,
    pub bad: Lit,
    inputs: Vec<Lit>,
}

/// The observables of a view, as terms with a bit each.
type Observed = Vec<(Term, u8)>;

impl Relation {
    fn new(views: &Views, now: &[Observed], next: &[Observed], limit: &Control) -> Relation {
        let terms = &views.terms;
        let mut blaster = Blaster::new(Solver::deciding(Decisions::Inputs, limit.clone()));
        blaster.assert(terms, views.domain);
        let mut lits = |all: &[Observed]| -> Vec<Vec<Lit>> {
            let mut lit = |&(term, bit): &(Term, u8)| blaster.bits(terms, term)[usize::from(bit)];
            all.iter()
                .map(|of_view| of_view.iter().map(&mut lit).collect())
                .collect()
        };
        let (now, next) = (lits(now), lits(next));
        let mut inputs = Vec::new();
        for &input in &views.inputs {
            inputs.extend_from_slice(blaster.bits(terms, input));
        }
        Relation {
            now,
            next,
            possible: blaster.lit(terms, views.possible),
            bad: blaster.lit(terms, views.bad),
            inputs,
            blaster,
        }
    }

    fn solver(&mut self) -> &mut Solver {
        &mut self.blaster.solver
    }
}

pub struct ModularSearch<'s, 'a, 'p> {
    views: &'s Views<'a, 'p>,
    limit: Control,
    relation: Relation,
    /// Without frames, to find out what of a predecessor matters.
    lifter: Relation,
    observed_now: Vec<Observed>,
    observed_next: Vec<Observed>,
    /// The values of the observables at the start, where no thread has been created.
    initial: Vec<bool>,
    /// Cubes excluded from frames 1 to k, for each k.
    frames: Vec<Vec<Cube>>,
    /// Cubes that are excluded from all frames.
    known: Vec<Cube>,
    /// The literal that switches on each frame; the first is for the start.
    active: Vec<Lit>,
    /// Cubes that could not be excluded from a frame.
    reached: FxHashSet<(usize, Cube)>,
    costs: Vec<u32>,
    /// What cubes may contain.
    allowed: Vec<bool>,
    temporary: usize,
    retired: SolverEffort,
    pub obligations: u64,
}

/// A solver is built anew after this many clauses that were needed only once.
const MOST_TEMPORARY: usize = 3_000;
/// The part of the time that the simple part of an invariant may take.
const SIMPLE_PART: f64 = 0.5;
/// A literal that costs this much is one of a wide number.
const WIDE: u32 = 12;

impl<'s, 'a, 'p> ModularSearch<'s, 'a, 'p> {
    /// `bits`: whether lemmas may contain bits of wide numbers.
    pub fn new(views: &'s mut Views<'a, 'p>, bits: bool, limit: &Control) -> Self {
        let created = views.created();
        let seats_now: Vec<Seats> = views.seatings(created.clone());
        // By symmetry the last slot need not be in the view after a step.
        let seats_next: Vec<Seats> = views.seatings(created.start..created.end - 1);
        let mut observe = |is_next, all: &[Seats]| -> Vec<Observed> {
            all.iter().map(|s| views.observe(is_next, s)).collect()
        };
        let observed_now = observe(false, &seats_now);
        let observed_next = observe(true, &seats_next);
        let values = views.initial();
        let at = |var| values.get(&var).copied().unwrap_or(0);
        let mut evaluation = Evaluation::new(&views.terms, &at);
        // The last seating seats nobody.
        let nobody = observed_now.last().map_or(&[][..], |of_view| &of_view[..]);
        let initial: Vec<bool> = nobody
            .iter()
            .map(|&(term, bit)| evaluation.eval(term) >> bit & 1 == 1)
            .collect();
        let costs = (0..views.observables.len())
            .map(|n| views.cost(n))
            .collect();
        let samples = samples(views, limit);
        let allowed = (0..views.observables.len())
            .map(|n| bits || !views.is_wide(n))
            .collect();
        let views: &'s Views<'a, 'p> = views;
        let relation = || Relation::new(views, &observed_now, &observed_next, limit);
        let share = limit.time_left().map(|left| left.mul_f64(SIMPLE_PART));
        let hurry = share.map_or(limit.clone(), |share| limit.within(share));
        let fresh = Relation::new(views, &observed_now, &observed_next, &hurry);
        let known = houdini::simple_invariant(views, fresh, &initial, &samples, &hurry);
        let mut search = ModularSearch {
            relation: relation(),
            lifter: relation(),
            views,
            limit: limit.clone(),
            observed_now,
            observed_next,
            initial,
            frames: vec![Vec::new()],
            known,
            active: Vec::new(),
            reached: FxHashSet::default(),
            costs,
            allowed,
            temporary: 0,
            retired: SolverEffort::default(),
            obligations: 0,
        };
        search.activate_frames();
        search
    }

    /// Gives the frames to the solver.
    fn activate_frames(&mut self) {
        let solver = &mut self.relation.blaster.solver;
        self.active = self.frames.iter().map(|_| solver.new_lit()).collect();
        for lits in &self.relation.now {
            for (&lit, &value) in lits.iter().zip(&self.initial) {
                solver.add(&[!self.active[0], if value { lit } else { !lit }]);
            }
        }
        for cube in &self.known {
            for lits in &self.relation.now {
                let clause: Vec<Lit> = cube.iter().map(|&l| !Self::literal(lits, l)).collect();
                self.relation.blaster.solver.add(&clause);
            }
        }
        for level in 1..self.frames.len() {
            for cube in self.frames[level].clone() {
                self.add_clause(&cube, level);
            }
        }
    }

    pub fn effort(&self) -> SolverEffort {
        let mut effort = self.retired;
        effort += self.relation.blaster.solver.effort();
        effort += self.lifter.blaster.solver.effort();
        effort
    }

    pub fn run(&mut self, progress: &mut dyn FnMut(&Statistics)) -> Found {
        match self.search(progress) {
            Ok(Found::Invariant(cubes)) => {
                let (now, next) = (&self.observed_now, &self.observed_next);
                let fresh = Relation::new(self.views, now, next, &self.limit);
                Found::Invariant(houdini::needed(fresh, cubes))
            }
            Ok(found) => found,
            Err(Stop) => Found::Stopped,
        }
    }

    pub fn depth(&self) -> u64 {
        self.frames.len() as u64 - 1
    }

    pub fn lemmas(&self) -> u64 {
        self.frames.iter().map(Vec::len).sum::<usize>() as u64
    }

    fn search(&mut self, progress: &mut dyn FnMut(&Statistics)) -> Result<Found, Stop> {
        // What is known may be enough.
        if !self.solve(&[self.relation.bad])? {
            return Ok(Found::Invariant(self.known.clone()));
        }
        loop {
            self.frames.push(Vec::new());
            let switch = self.relation.solver().new_lit();
            self.active.push(switch);
            let top = self.frames.len() - 1;
            while let Some((needed, all)) = self.find_bad(top)? {
                if !self.exclude_one(&needed, &all, top)? {
                    return Ok(Found::Alarm);
                }
            }
            progress(&Statistics {
                depth: self.depth(),
                obligations: self.obligations,
                lemmas: self.lemmas(),
                ..Statistics::default()
            });
            for level in 1..top {
                for cube in self.frames[level].clone() {
                    if let Step::None(_) = self.step(&cube, level + 1, false)? {
                        self.frames[level].retain(|other| *other != cube);
                        self.learn(cube, level + 1);
                    }
                }
                if self.frames[level].is_empty() {
                    let clauses = self.frames[level + 1..].iter().flatten();
                    let clauses = clauses.chain(&self.known);
                    return Ok(Found::Invariant(clauses.cloned().collect()));
                }
            }
        }
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, Stop> {
        if self.limit.stop().is_some() {
            return Err(Stop);
        }
        match self.relation.solver().solve(assumptions) {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Stopped => Err(Stop),
        }
    }

    /// Switches on a frame; frame 0 is the start.
    fn frame(&self, level: usize) -> Vec<Lit> {
        match level {
            0 => vec![self.active[0]],
            _ => self.active[level..].to_vec(),
        }
    }

    /// Views of a bad state of a frame.
    fn find_bad(&mut self, level: usize) -> Result<Option<Lifted>, Stop> {
        let mut assumptions = self.frame(level);
        assumptions.push(self.relation.bad);
        if !self.solve(&assumptions)? {
            return Ok(None);
        }
        let goal = !self.lifter.bad;
        self.lift(&[goal]).map(Some)
    }

    fn literal(lits: &[Lit], (observable, value): (usize, bool)) -> Lit {
        let lit = lits[observable];
        if value { lit } else { !lit }
    }

    /// The views of the state that the solver found, from which the clause is false.
    fn lift(&mut self, clause: &[Lit]) -> Result<Lifted, Stop> {
        let solver = &self.relation.blaster.solver;
        let all: Vec<Cube> = self
            .relation
            .now
            .iter()
            .map(|lits| {
                let values = lits.iter().map(|&lit| solver.value(lit));
                let all = values.enumerate();
                all.filter(|&(number, _)| self.allowed[number]).collect()
            })
            .collect();
        let switch = self.lifter.solver().new_lit();
        let mut assumptions = vec![switch];
        for (&mine, &theirs) in self.relation.inputs.iter().zip(&self.lifter.inputs) {
            assumptions.push(if solver.value(mine) { theirs } else { !theirs });
        }
        for (cube, lits) in all.iter().zip(&self.lifter.now) {
            assumptions.extend(cube.iter().map(|&lit| Self::literal(lits, lit)));
        }
        let mut not_there = clause.to_vec();
        not_there.push(!switch);
        self.lifter.solver().add(&not_there);
        let needed = match self.lifter.solver().solve(&assumptions) {
            Answer::Stopped => return Err(Stop),
            // Something mattered that no observable speaks of.
            Answer::Sat => all.clone(),
            Answer::Unsat => {
                let solver = &self.lifter.blaster.solver;
                all.iter()
                    .zip(&self.lifter.now)
                    .map(|(cube, lits)| {
                        let in_core =
                            |&&lit: &&(usize, bool)| solver.in_core(Self::literal(lits, lit));
                        cube.iter().filter(in_core).copied().collect()
                    })
                    .collect()
            }
        };
        self.lifter.solver().add(&[!switch]);
        Ok((needed, all))
    }

    /// Whether one of the views of a state can be excluded from a frame.
    fn exclude_one(&mut self, needed: &[Cube], all: &[Cube], level: usize) -> Result<bool, Stop> {
        let mut tried: Vec<&Cube> = Vec::new();
        let mut order: Vec<usize> = (0..needed.len()).collect();
        // What has few literals is general; but an empty view says nothing.
        order.sort_by_key(|&view| std::cmp::Reverse(needed[view].len()));
        for &view in &order {
            let cube = &needed[view];
            if !cube.is_empty() && !tried.contains(&cube) {
                tried.push(cube);
                if self.exclude(cube, level)? {
                    return Ok(true);
                }
            }
        }
        for &view in &order {
            if !needed[view].is_empty() && self.exclude(&all[view], level)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds_initially(&self, cube: &Cube) -> bool {
        cube.iter()
            .all(|&(observable, value)| self.initial[observable] == value)
    }

    /// Excludes a cube from a frame, if that can be done.
    fn exclude(&mut self, cube: &Cube, level: usize) -> Result<bool, Stop> {
        self.obligations += 1;
        if level == 0 || self.holds_initially(cube) {
            return Ok(false);
        }
        if self.reached.contains(&(level, cube.clone())) {
            return Ok(false);
        }
        let subsumes = |other: &Cube| other.iter().all(|lit| cube.binary_search(lit).is_ok());
        let mut excluded = self.frames[level..].iter().flatten().chain(&self.known);
        if excluded.any(subsumes) {
            return Ok(true);
        }
        loop {
            match self.step(cube, level, true)? {
                Step::None(core) => {
                    let cube = self.generalise(core, level)?;
                    let mut at = level;
                    while at + 1 < self.frames.len() {
                        match self.step(&cube, at + 1, false)? {
                            Step::None(_) => at += 1,
                            Step::From { .. } => break,
                        }
                    }
                    self.learn(cube, at);
                    return Ok(true);
                }
                Step::From { needed, all } => {
                    if !self.exclude_one(&needed, &all, level - 1)? {
                        self.reached.insert((level, cube.clone()));
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// A step into the cube from the frame before, from a state without a view in the cube.
    fn step(&mut self, cube: &Cube, level: usize, lift: bool) -> Result<Step, Stop> {
        let switch = self.relation.solver().new_lit();
        self.temporary += 1;
        for lits in &self.relation.now {
            let mut clause = vec![!switch];
            clause.extend(cube.iter().map(|&lit| !Self::literal(lits, lit)));
            self.relation.blaster.solver.add(&clause);
        }
        let mut base = vec![switch, self.relation.possible];
        base.extend(self.frame(level - 1));
        let mut core: FxHashSet<(usize, bool)> = FxHashSet::default();
        for view in 0..self.relation.next.len() {
            let next: Vec<Lit> = cube
                .iter()
                .map(|&lit| Self::literal(&self.relation.next[view], lit))
                .collect();
            let mut assumptions = base.clone();
            assumptions.extend(&next);
            if self.solve(&assumptions)? {
                let found = if lift {
                    let mut clause: Vec<Lit> = cube
                        .iter()
                        .map(|&lit| !Self::literal(&self.lifter.next[view], lit))
                        .collect();
                    clause.push(!self.lifter.possible);
                    let (needed, all) = self.lift(&clause)?;
                    Step::From { needed, all }
                } else {
                    Step::From {
                        needed: Vec::new(),
                        all: Vec::new(),
                    }
                };
                self.relation.solver().add(&[!switch]);
                return Ok(found);
            }
            for (&lit, &literal) in cube.iter().zip(&next) {
                if self.relation.blaster.solver.in_core(literal) {
                    core.insert(lit);
                }
            }
        }
        self.relation.solver().add(&[!switch]);
        let mut core: Cube = core.into_iter().collect();
        core.sort_unstable();
        self.keep_out_start(&mut core, cube);
        Ok(Step::None(core))
    }

    /// Adds a literal of the cube to the core so that the start is not in it.
    fn keep_out_start(&self, core: &mut Cube, cube: &Cube) {
        if !self.holds_initially(core) {
            return;
        }
        let differs = |&&(observable, value): &&(usize, bool)| self.initial[observable] != value;
        let cheapest = cube
            .iter()
            .filter(differs)
            .min_by_key(|lit| self.costs[lit.0]);
        if let Some(&lit) = cheapest {
            core.push(lit);
            core.sort_unstable();
        }
    }

    /// Fewer literals that can be excluded as well: without the bits of wide numbers if that can
    /// be, and then without one after the other.
    fn generalise(&mut self, cube: Cube, level: usize) -> Result<Cube, Stop> {
        let mut cube = cube;
        let is_wide = |lit: &(usize, bool)| self.costs[lit.0] > WIDE;
        if cube.iter().any(is_wide) {
            let narrow: Cube = cube.iter().filter(|lit| !is_wide(lit)).copied().collect();
            if let Some(core) = self.try_cube(&narrow, level)? {
                cube = core;
            }
        }
        let mut order = cube.clone();
        order.sort_by_key(|lit| std::cmp::Reverse(self.costs[lit.0]));
        for lit in order {
            if cube.len() > 1 && cube.contains(&lit) {
                let shorter: Cube = cube
                    .iter()
                    .filter(|&&other| other != lit)
                    .copied()
                    .collect();
                if let Some(core) = self.try_cube(&shorter, level)? {
                    cube = core;
                }
            }
        }
        Ok(cube)
    }

    fn try_cube(&mut self, cube: &Cube, level: usize) -> Result<Option<Cube>, Stop> {
        if cube.is_empty() || self.holds_initially(cube) {
            return Ok(None);
        }
        match self.step(cube, level, false)? {
            Step::None(core) => Ok(Some(core)),
            Step::From { .. } => Ok(None),
        }
    }

    fn learn(&mut self, cube: Cube, level: usize) {
        let subsumed = |other: &Cube| cube.iter().all(|lit| other.binary_search(lit).is_ok());
        for frame in &mut self.frames[1..=level] {
            frame.retain(|other| !subsumed(other));
        }
        self.add_clause(&cube, level);
        self.frames[level].push(cube);
        if self.temporary > MOST_TEMPORARY {
            self.rebuild();
        }
    }

    fn add_clause(&mut self, cube: &Cube, level: usize) {
        for lits in &self.relation.now {
            let mut clause = vec![!self.active[level]];
            clause.extend(cube.iter().map(|&lit| !Self::literal(lits, lit)));
            self.relation.blaster.solver.add(&clause);
        }
    }

    /// Begins with a new solver, without what was needed only once.
    fn rebuild(&mut self) {
        self.temporary = 0;
        self.retired += self.relation.blaster.solver.effort();
        let (now, next) = (&self.observed_now, &self.observed_next);
        self.relation = Relation::new(self.views, now, next, &self.limit);
        self.activate_frames();
    }
}
