//! The synchronisation objects that a run uses, recognised by how it uses them.
//!
//! A front end represents a mutex, a condition variable or a barrier by cells with numbers: the
//! owner of a mutex is the number of a thread plus 1, and the threads that wait for a condition
//! are the bits of a word. The reader of a trace should see `held by stop[2]` and not `0 → 3`.
//!
//! No source program can compute the number of the executing thread. So a cell into which a step
//! writes that number plus 1, after it has found the cell free, is a lock; and a word in which a
//! step sets or tests the thread's own bit is a set of waiting threads. It belongs to a condition
//! variable if the same step releases or takes a lock, and to a barrier if not. The remaining
//! cells of an object are found beside these: the readers of a reader-writer lock, the count of a
//! recursive mutex, the size of a barrier. The recognition affects only what is shown.

use std::collections::{BTreeMap, HashMap};

use mover_ir::expr::{BinaryOp, Expr, VariableRef};
use mover_ir::program::{Edge, Effect, Program};
use mover_ir::semantics::{Access, Accesses, Machine, State, Step, Thing};

use crate::memory::access_text;
use crate::trace::Change;

/// What a cell of a synchronisation object holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The thread that holds the lock, plus 1.
    Owner,
    /// How many times more than once a recursive mutex is locked.
    Again,
    /// How many threads hold the lock for reading.
    Readers,
    /// A bit for each thread that waits for a condition variable.
    Sleepers,
    /// How many threads a barrier waits for.
    BarrierSize,
    /// How many threads have arrived at a barrier.
    Arrived,
    /// A bit for each thread that waits at a barrier.
    BarrierWaiters,
    /// Something that the source has no word for.
    Internal,
}

/// What a step does with a synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Waits for a condition; whether the wait ends without a signal.
    Sleep {
        spurious: bool,
    },
    /// Ends a wait for a condition and has the mutex again.
    Wake,
    Other,
}

/// A cell of something shared.
pub type CellAt = (Thing, u64);

/// The cells of all synchronisation objects of a run.
#[derive(Default)]
pub struct SyncObjects {
    roles: HashMap<CellAt, Role>,
    names: HashMap<String, Role>,
    /// The names of threads in the run, by their numbers.
    threads: HashMap<u64, String>,
    /// What the owner of each lock is at the end, and what the lock is called.
    owners: BTreeMap<CellAt, (u64, String)>,
}

fn at(access: &Access) -> CellAt {
    (access.thing, access.first_bit)
}

fn is_shared(access: &Access) -> bool {
    matches!(access.thing, Thing::Global(_) | Thing::Object(_))
}

fn is_thread_number(expr: &Expr) -> bool {
    match expr {
        Expr::ThreadId => true,
        Expr::Resize { arg, .. } => is_thread_number(arg),
        _ => false,
    }
}

/// `self + 1`
fn is_me(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(BinaryOp::Add, a, b) => {
            is_thread_number(a) && b.as_const() == Some(1)
                || is_thread_number(b) && a.as_const() == Some(1)
        }
        Expr::Resize { arg, .. } => is_me(arg),
        _ => false,
    }
}

/// `1 << self`
fn is_own_bit(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Shl, one, by)
        if one.as_const() == Some(1) && is_thread_number(by))
}

fn mentions(expr: &Expr, is_it: fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= is_it(part));
    found
}

fn written(effect: &Effect) -> Option<&Expr> {
    match effect {
        Effect::Assign { value, .. } | Effect::Store { value, .. } => Some(value),
        _ => None,
    }
}

fn writes(edge: &Edge, is_it: fn(&Expr) -> bool) -> bool {
    let mut values = edge.effects.iter().filter_map(written);
    values.any(|value| mentions(value, is_it))
}

/// The global variables to which an edge assigns only values of some kind.
fn variables_assigned(edge: &Edge, is_kind: impl Fn(&Expr) -> bool) -> Vec<Thing> {
    let assigned = |wanted: bool| {
        let assigned = edge.effects.iter().filter_map(|effect| match effect {
            Effect::Assign { place, value } => Some((place.variable, value)),
            _ => None,
        });
        let of_kind = assigned.filter(|(_, value)| is_kind(value) == wanted);
        let things = of_kind.filter_map(|(variable, _)| match variable {
            VariableRef::Global(id) => Some(Thing::Global(id.index())),
            VariableRef::Local(_) => None,
        });
        things.collect::<Vec<Thing>>()
    };
    let mixed = assigned(false);
    let only = assigned(true).into_iter();
    only.filter(|thing| !mixed.contains(thing)).collect()
}

/// Whether an edge tests the thread's own bit, as who has been waiting does.
fn tests_own_bit(edge: &Edge) -> bool {
    mentions(&edge.guard, is_own_bit)
}

/// The edges that a thread could take.
fn edges<'p>(program: &'p Program, state: &State, thread: usize) -> &'p [Edge] {
    match state.threads.get(thread) {
        Some(Some(alive)) => {
            let template = program.template(alive.template);
            &template.location(alive.location).edges
        }
        _ => &[],
    }
}

/// What a step is for a condition variable.
pub fn operation(program: &Program, state: &State, step: Step) -> Operation {
    let edges = edges(program, state, step.by.thread);
    let Some(edge) = edges.get(step.by.edge) else {
        return Operation::Other;
    };
    let sleeps = |edge: &Edge| writes(edge, is_own_bit) && mentions(&edge.guard, is_me);
    if sleeps(edge) {
        return Operation::Sleep { spurious: false };
    }
    if tests_own_bit(edge) && writes(edge, is_me) {
        return Operation::Wake;
    }
    // A wait that ends without a signal releases the mutex and sets no bit.
    let releases = mentions(&edge.guard, is_me)
        && (edge.effects.iter().filter_map(written)).any(|value| value.as_const() == Some(0));
    if releases && edges.iter().any(sleeps) {
        return Operation::Sleep { spurious: true };
    }
    Operation::Other
}

impl SyncObjects {
    /// Looks at all steps of a run, and at what threads wait for at its end.
    pub fn find(
        program: &Program,
        machine: &Machine,
        states: &[State],
        steps: &[Step],
        accesses: &[Accesses],
    ) -> SyncObjects {
        let mut found = SyncObjects::default();
        for state in states {
            for (number, alive) in state.threads.iter().enumerate() {
                if let Some(alive) = alive {
                    let name = &program.template(alive.template).name;
                    let number = number as u64;
                    found
                        .threads
                        .entry(number)
                        .or_insert_with(|| format!("{name}[{number}]"));
                }
            }
        }
        for ((state, step), accesses) in states.iter().zip(steps).zip(accesses) {
            let thread = step.by.thread;
            if let Some(edge) = edges(program, state, thread).get(step.by.edge) {
                found.classify(program, edge, accesses);
            }
        }
        if let Some(state) = states.last() {
            for thread in machine.stuck_threads(state) {
                // What a guard reads is enough to know whose readers a writer waits for.
                let guards = machine.waits_on(state, thread);
                for edge in edges(program, state, thread) {
                    found.classify_wait(program, edge, &guards);
                }
            }
        }
        found.name_cells(program, states, accesses);
        found
    }

    fn classify(&mut self, program: &Program, edge: &Edge, accesses: &Accesses) {
        let own_bit = writes(edge, is_own_bit) || tests_own_bit(edge);
        let takes = writes(edge, is_me);
        let guards = accesses.guards.iter().filter(|access| is_shared(access));
        let written = accesses.effects.iter();
        let written: Vec<&Access> = written
            .filter(|access| access.is_write && is_shared(access))
            .collect();
        if own_bit {
            let is_condition = takes || mentions(&edge.guard, is_me);
            let role = match is_condition {
                true => Role::Sleepers,
                false => Role::BarrierWaiters,
            };
            let words = guards.clone().chain(written.iter().copied());
            for access in words.filter(|access| access.bits == 64) {
                self.roles.entry(at(access)).or_insert(role);
            }
            if !is_condition && writes(edge, is_own_bit) {
                for access in written.iter().filter(|access| access.bits == 32) {
                    self.roles.entry(at(access)).or_insert(Role::Arrived);
                }
                for access in guards.clone().filter(|access| access.bits == 32) {
                    self.roles.entry(at(access)).or_insert(Role::BarrierSize);
                }
            }
        }
        if takes {
            let mark = |access: &&&Access| access.value == access.by as u64 + 1;
            // Other variables that the step writes may have the same value by chance.
            let others = variables_assigned(edge, |value| !mentions(value, is_me));
            let owners = written.iter().filter(|access| access.bits == 32);
            let owners = owners.filter(|owner| !others.contains(&owner.thing));
            for owner in owners.filter(mark) {
                let is_tested = guards.clone().any(|read| at(read) == at(owner));
                if is_tested && self.roles.insert(at(owner), Role::Owner).is_none() && !own_bit {
                    self.classify_beside(program, owner, guards.clone());
                }
            }
        }
        if let (false, [readers, ..]) = (own_bit || takes, &written[..])
            && edge.text.contains("rdlock")
            && let Some(owner) = (guards.clone())
                .find(|owner| is_beside(program, owner, readers) && at(owner) != at(readers))
        {
            self.roles.insert(at(readers), Role::Readers);
            self.roles.insert(at(owner), Role::Owner);
        }
    }

    /// The cells beside the owner: of a reader-writer lock there is one, of a mutex of several
    /// kinds there are two.
    fn classify_beside<'a>(
        &mut self,
        program: &Program,
        owner: &Access,
        guards: impl Iterator<Item = &'a Access>,
    ) {
        let mut others: Vec<&Access> = guards
            .filter(|other| other.bits == 32 && at(other) != at(owner))
            .filter(|other| is_part(program, owner, other))
            .collect();
        others.sort();
        others.dedup_by_key(|other| at(other));
        match others[..] {
            [only] if is_beside(program, owner, only) => {
                self.roles.insert(at(only), Role::Readers);
            }
            _ => {
                for other in others {
                    let role = match is_beside(program, owner, other) {
                        true => Role::Again,
                        false => Role::Internal,
                    };
                    self.roles.insert(at(other), role);
                }
            }
        }
    }

    fn classify_wait(&mut self, program: &Program, edge: &Edge, guards: &[Access]) {
        if !writes(edge, is_me) || tests_own_bit(edge) {
            return;
        }
        let cells = || guards.iter().filter(|a| is_shared(a) && a.bits == 32);
        for owner in cells() {
            let parts = cells().filter(|other| is_part(program, owner, other));
            let is_first = parts.clone().all(|other| at(owner) <= at(other));
            if is_first && !self.roles.contains_key(&at(owner)) {
                self.roles.insert(at(owner), Role::Owner);
                self.classify_beside(program, owner, guards.iter());
            }
        }
    }

    fn name_cells(&mut self, program: &Program, states: &[State], accesses: &[Accesses]) {
        for (step, accesses) in accesses.iter().enumerate() {
            for access in accesses.iter() {
                let Some(&role) = self.roles.get(&at(access)) else {
                    continue;
                };
                let name = access_text(program, &states[step], access)
                    .or_else(|| access_text(program, &states[step + 1], access));
                if let Some((name, _)) = name {
                    if role == Role::Owner && access.is_write {
                        let owner = (access.value, object_name(&name));
                        self.owners.insert(at(access), owner);
                    }
                    self.names.insert(name, role);
                }
            }
        }
    }

    pub fn role(&self, access: &Access) -> Option<Role> {
        self.roles.get(&at(access)).copied()
    }

    /// What a thread is called in the run, also if it has ended.
    pub fn thread(&self, number: u64) -> String {
        match self.threads.get(&number) {
            Some(name) => name.clone(),
            None => format!("[{number}]"),
        }
    }

    /// The mutexes that a thread holds at the end, and the locks that it holds for writing.
    pub fn held_by(&self, thread: usize) -> impl Iterator<Item = &str> {
        let mine = thread as u64 + 1;
        let owners = self.owners.values();
        owners
            .filter(move |(owner, _)| *owner == mine)
            .map(|(_, name)| name.as_str())
    }

    /// Whether some lock is held for reading; nobody knows by whom.
    pub fn has_readers(&self) -> bool {
        self.roles.values().any(|&role| role == Role::Readers)
    }

    /// The threads whose bits are set.
    pub fn threads_of(&self, bits: u64) -> Vec<String> {
        let set = (0..64).filter(|bit| bits >> bit & 1 == 1);
        set.map(|bit| self.thread(bit)).collect()
    }

    /// Tells the changes of synchronisation objects in their own words.
    pub fn reword(&self, changes: &mut Vec<Change>) {
        changes.retain_mut(|change| {
            let Some(&role) = self.names.get(&change.name) else {
                return true;
            };
            let (Ok(from), Ok(to)) = (change.from.parse(), change.to.parse()) else {
                return true;
            };
            let Some((from, to)) = self.words(role, from).zip(self.words(role, to)) else {
                return false;
            };
            *change = Change {
                name: object_name(&change.name),
                from,
                to,
            };
            true
        });
    }

    /// What a value of a cell means; nothing if the source has no word for it.
    pub fn words(&self, role: Role, value: u64) -> Option<String> {
        let plural = |number: u64| if number == 1 { "" } else { "s" };
        Some(match role {
            Role::Owner if value == 0 => "free".into(),
            Role::Owner => format!("held by {}", self.thread(value - 1)),
            Role::Again => format!("locked {} time{}", value + 1, plural(value + 1)),
            Role::Readers => format!("{value} reader{}", plural(value)),
            Role::Sleepers => match &self.threads_of(value)[..] {
                [] => "nobody waits".into(),
                [only] => format!("{only} waits"),
                many => format!("{} wait", many.join(" and ")),
            },
            Role::BarrierSize => format!("for {value} thread{}", plural(value)),
            Role::Arrived => format!("{value} arrived"),
            Role::BarrierWaiters | Role::Internal => return None,
        })
    }
}

/// The name of the whole object that a cell is a part of: `lock` of `lock+4`, `locks[1]` of
/// `locks+4[1]`. Within a dynamic object of unknown type the offset is all that is known.
pub fn object_name(name: &str) -> String {
    let is_named = |whole: &str| {
        whole
            .split_once('#')
            .is_none_or(|(_, part)| part.contains('.'))
    };
    let parts = name.rsplit_once('+').filter(|(whole, _)| is_named(whole));
    let Some((whole, rest)) = parts else {
        return name.to_string();
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit());
    let (offset, index) = rest.split_at(digits.unwrap_or(rest.len()));
    match offset.is_empty() {
        true => name.to_string(),
        false => format!("{whole}{index}"),
    }
}

/// Whether two cells can be parts of one object.
fn is_part(program: &Program, a: &Access, b: &Access) -> bool {
    match (a.thing, b.thing) {
        (Thing::Global(a), Thing::Global(b)) if a != b => {
            object_name(&program.globals[a].name) == object_name(&program.globals[b].name)
        }
        (a, b) => a == b,
    }
}

/// Whether a cell comes right after an owner: 4 bytes further, or in the row of all such cells.
fn is_beside(program: &Program, owner: &Access, other: &Access) -> bool {
    match (owner.thing, other.thing) {
        (Thing::Global(a), Thing::Global(b)) if a != b => {
            let whole = &program.globals[a].name;
            let is_next = program.globals[b].name.strip_prefix(whole.as_str()) == Some("+4");
            is_next && owner.first_bit == other.first_bit
        }
        (a, b) => a == b && other.first_bit == owner.first_bit + 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_object_go_by_its_name() {
        assert_eq!(object_name("lock+4"), "lock");
        assert_eq!(object_name("locks+4[1]"), "locks[1]");
        assert_eq!(object_name("block#1+8"), "block#1+8");
        assert_eq!(object_name("node#1.lock+4"), "node#1.lock");
        assert_eq!(object_name("a+b"), "a+b");
    }

    #[test]
    fn values_are_told_in_words() {
        let mut objects = SyncObjects::default();
        objects.threads.insert(2, "stop[2]".into());
        let words = |role, value| objects.words(role, value).unwrap_or_default();
        assert_eq!(words(Role::Owner, 0), "free");
        assert_eq!(words(Role::Owner, 3), "held by stop[2]");
        assert_eq!(words(Role::Readers, 1), "1 reader");
        assert_eq!(words(Role::Sleepers, 0b1100), "stop[2] and [3] wait");
        assert_eq!(objects.words(Role::Internal, 3), None);
    }
}
