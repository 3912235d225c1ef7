//! What the threads of a deadlock wait for.
//!
//! For a synchronisation object the story uses its own words: a mutex is held by a thread since
//! a line, a signal was sent before anybody waited, a barrier waits for more threads than come, a
//! reader-writer lock is held for reading by who wants to write. For everything else it says what
//! the guards of the stuck thread read, and who wrote that last. Threads that wait for each other
//! in a circle are the story; the others wait for them.

use std::collections::{BTreeMap, BTreeSet};

use mover_ir::semantics::{Access, ChannelHome, State, Thing};

use super::arrows::buffers;
use super::{Teller, WaitFor, key};
use crate::memory::access_text;
use crate::sync_objects::{Operation, Role, object_name, operation};
use crate::trace::{list, thread_name};

/// What a thread waits for when it is stuck.
pub(super) struct Wait {
    /// What follows the thread's name: `waits at line 9 for lock, which …`.
    pub(super) text: String,
    /// The threads that would have to do something.
    on: Vec<usize>,
    /// The lock, channel or variable; empty if it waits for a thread to end.
    what: String,
    /// Whether one thread holds what the other waits for.
    is_lock: bool,
    /// Whether it waits for another thread to end; that is seldom the cause.
    is_join: bool,
    marks: Vec<(usize, String)>,
}

/// The status of a thread that has been started and has not ended, as the C front end has it.
const RUNNING: u64 = 1;

impl Teller<'_> {
    pub(super) fn deadlock(
        &self,
        marks: &mut BTreeMap<usize, String>,
        told: &mut Vec<WaitFor>,
    ) -> String {
        let Some(state) = self.run.states.last() else {
            return String::new();
        };
        let stuck = self.run.machine.stuck_threads(state);
        let waits: BTreeMap<usize, Wait> = stuck
            .iter()
            .filter_map(|&thread| Some((thread, self.waits_for(state, thread)?)))
            .collect();
        let name = |thread: &usize| thread_name(self.run.program, state, *thread);
        told.extend(waits.iter().map(|(thread, wait)| WaitFor {
            thread: name(thread),
            on: wait.on.iter().map(name).collect(),
            what: wait.what.clone(),
        }));
        let next = |thread: usize| -> Option<usize> {
            let on = &waits.get(&thread)?.on;
            let other = on.iter().find(|&&other| other != thread);
            other.or(on.first()).copied()
        };
        // A thread that waits for itself is a story only if it has the lock.
        let is_told = |circle: &Vec<usize>| match circle[..] {
            [only] => waits.get(&only).is_some_and(|wait| wait.is_lock),
            _ => circle
                .iter()
                .any(|thread| waits.get(thread).is_some_and(|wait| wait.is_lock)),
        };
        let circle = circle(&stuck, next).filter(is_told);
        let mut shown = circle.clone().unwrap_or(stuck);
        if circle.is_none() {
            shown.sort_by_key(|thread| waits.get(thread).is_none_or(|wait| wait.is_join));
        }
        const MOST: usize = 4;
        // Threads that wait for the same are told together.
        let mut groups: Vec<(Vec<usize>, String)> = Vec::new();
        for &thread in shown.iter().take(MOST) {
            let text = match waits.get(&thread) {
                None => format!("is stuck{}", self.standing(state, thread)),
                Some(wait) => {
                    for (step, note) in &wait.marks {
                        marks.entry(*step).or_insert_with(|| note.clone());
                    }
                    wait.text.clone()
                }
            };
            match groups.iter_mut().find(|(_, known)| *known == text) {
                Some((threads, _)) => threads.push(thread),
                None => groups.push((vec![thread], text)),
            }
        }
        let mut parts = Vec::new();
        for (threads, text) in groups {
            let names: Vec<String> = threads.iter().map(name).collect();
            let who = list(&names);
            let text = match (names.len(), text.strip_prefix("waits")) {
                (2.., Some(rest)) => {
                    let all = if names.len() == 2 { "both" } else { "all" };
                    format!(
                        "wait{}",
                        rest.replace(&format!("which {who} "), &format!("which {all} "))
                    )
                }
                _ => text,
            };
            parts.push(format!("{who} {text}"));
        }
        if shown.len() > MOST {
            parts.push(format!("{} more wait", shown.len() - MOST));
        }
        let parts = parts.join("; ");
        match circle {
            Some(circle) if circle.len() > 1 => format!("circular wait: {parts}"),
            _ => parts,
        }
    }

    /// ` at line 9`
    fn standing(&self, state: &State, thread: usize) -> String {
        let line = || {
            let alive = state.threads.get(thread)?.as_ref()?;
            let template = self.run.program.template(alive.template);
            let location = template.location(alive.location);
            let mut spans = location.edges.iter().filter_map(|edge| edge.span);
            let span = spans.next().or(location.span)?;
            let place = self.run.program.info.sources.locate(span);
            Some(self.place_text(Some(&place.file.to_string()), place.line))
        };
        line().map_or(String::new(), |place| format!(" at {place}"))
    }

    pub(super) fn waits_for(&self, state: &State, thread: usize) -> Option<Wait> {
        let accesses = self.run.machine.waits_on(state, thread);
        self.waits_for_signal(state, thread, &accesses)
            .or_else(|| self.waits_at_barrier(state, thread, &accesses))
            .or_else(|| self.waits_for_lock(state, thread, &accesses))
            .or_else(|| self.waits_to_join(state, thread, &accesses))
            .or_else(|| self.waits_for_value(state, thread, &accesses))
    }

    fn object(&self, state: &State, access: &Access) -> String {
        let text = access_text(self.run.program, state, access);
        text.map_or_else(|| "it".into(), |(name, _)| object_name(&name))
    }

    fn with_role<'x>(&self, accesses: &'x [Access], role: Role) -> Option<&'x Access> {
        let mut accesses = accesses.iter();
        accesses.find(|access| self.objects.role(access) == Some(role))
    }

    /// The steps that signal a condition variable: they look at who waits, and do not wait.
    fn signals(&self, sleepers: &Access) -> Vec<usize> {
        let touches = |step: &usize| {
            let accesses = &self.accesses[*step];
            accesses.iter().any(|access| key(access) == key(sleepers))
        };
        (0..self.run.steps.len())
            .filter(touches)
            .filter(|&step| self.operation(step) == Operation::Other)
            // One that sets it up is no signal.
            .filter(|&step| !self.run.steps[step].text.contains("_init"))
            .collect()
    }

    pub(super) fn operation(&self, step: usize) -> Operation {
        let state = &self.run.states[step];
        operation(self.run.program, state, self.run.steps[step].step)
    }

    fn waits_for_signal(&self, state: &State, thread: usize, reads: &[Access]) -> Option<Wait> {
        let sleepers = self.with_role(reads, Role::Sleepers)?;
        if sleepers.value >> thread & 1 == 0 {
            return None;
        }
        let name = self.object(state, sleepers);
        let asleep = (0..self.run.steps.len()).rev().find(|&step| {
            let is_its = self.run.steps[step].step.by.thread == thread;
            is_its && matches!(self.operation(step), Operation::Sleep { .. })
        })?;
        let mut marks = vec![(asleep, format!("waits for {name} for ever"))];
        let signals = self.signals(sleepers);
        let is_it = |access: &&Access| key(access) == key(sleepers);
        let after = |step: usize| {
            let mut effects = self.accesses[step].effects.iter();
            let written = effects.rfind(|access| access.is_write && is_it(access));
            written.map(|write| write.value)
        };
        let value = |step: usize| {
            let mut reads = self.accesses[step].iter();
            let read = reads.find(|access| key(access) == key(sleepers) && !access.is_write);
            read.map(|read| read.value).or_else(|| {
                let writes = self.writes.get(&sleepers.thing)?;
                let before = writes.partition_point(|(at, _)| *at < step);
                let last = writes[..before]
                    .iter()
                    .rfind(|(_, write)| write.overlaps(sleepers));
                Some(last.map_or(0, |(_, write)| write.value))
            })
        };
        let missed = signals.iter().rev().find(|&&signal| signal < asleep);
        let later = signals.iter().rev().find(|&&signal| signal > asleep);
        let told = match (later, missed) {
            (Some(&signal), _) => {
                let before = value(signal).unwrap_or(0);
                let woken = before & !after(signal).unwrap_or(before);
                let woken = self.objects.threads_of(woken);
                if !woken.is_empty() {
                    marks.push((signal, format!("signals {name}: wakes {}", list(&woken))));
                }
                let (who, at) = (self.thread(signal), self.place(signal));
                match woken.is_empty() {
                    true => format!("; the last signal is that of {who} at {at}"),
                    false => format!("; the signal of {who} at {at} wakes {}", list(&woken)),
                }
            }
            (None, Some(&signal)) => {
                let before = value(signal).unwrap_or(0);
                let (who, at) = (self.thread(signal), self.place(signal));
                let woken = before & !after(signal).unwrap_or(before);
                if woken >> thread & 1 == 1 {
                    format!(" again; the signal of {who} at {at} woke it before")
                } else if before == 0 {
                    let note = format!("signals {name} before anybody waits: lost");
                    marks.push((signal, note));
                    format!(", but {who} signalled it at {at}, before anybody waited")
                } else {
                    let woken = list(&self.objects.threads_of(woken));
                    marks.push((signal, format!("signals {name}: wakes {woken}")));
                    format!(", but {who} signalled it at {at} before, which woke {woken}")
                }
            }
            (None, None) => ", and no thread signals it".to_string(),
        };
        let at = self.standing(state, thread);
        Some(Wait {
            text: format!("waits{at} for a signal of {name}{told}"),
            on: Vec::new(),
            what: name,
            is_lock: false,
            is_join: false,
            marks,
        })
    }

    fn waits_at_barrier(&self, state: &State, thread: usize, reads: &[Access]) -> Option<Wait> {
        let waiters = self.with_role(reads, Role::BarrierWaiters)?;
        if waiters.value >> thread & 1 == 0 {
            return None;
        }
        let name = self.object(state, waiters);
        let all = self.accesses.iter().flat_map(|accesses| accesses.iter());
        // Of several barriers, the cells that go by the same name.
        let size = all
            .filter(|access| self.objects.role(access) == Some(Role::BarrierSize))
            .filter(|access| self.object(state, access) == name)
            .map(|access| access.value)
            .last()?;
        let come = u64::from(waiters.value.count_ones());
        let at = self.standing(state, thread);
        Some(Wait {
            text: format!(
                "waits{at} at {name}, which waits for {size} threads, and only {come} {}",
                if come == 1 { "comes" } else { "come" }
            ),
            on: Vec::new(),
            what: name,
            is_lock: false,
            is_join: false,
            marks: Vec::new(),
        })
    }

    fn waits_for_lock(&self, state: &State, thread: usize, reads: &[Access]) -> Option<Wait> {
        let at = self.standing(state, thread);
        let me = thread_name(self.run.program, state, thread);
        let end = self.run.steps.len();
        let mut owners = reads.iter();
        let owner = owners
            .find(|access| self.objects.role(access) == Some(Role::Owner) && access.value != 0);
        if let Some(owner) = owner {
            let name = self.object(state, owner);
            let holder = usize::try_from(owner.value - 1).ok()?;
            let since = self.writer(end, owner);
            let place = since.map_or(String::new(), |step| format!(" since {}", self.place(step)));
            let is_gone = !matches!(state.threads.get(holder), Some(Some(_)));
            let place_of_taking =
                since.map_or(String::new(), |step| format!(" at {}", self.place(step)));
            let who = match holder == thread {
                true => "it".into(),
                false => self.objects.thread(owner.value - 1),
            };
            let had = match is_gone {
                true => format!("which {who} took{place_of_taking} and still had when it ended"),
                false => format!("which {who} has held{place}"),
            };
            let note = match holder == thread {
                true => format!("takes {name}, for which it will wait"),
                false => format!("takes {name}, for which {me} will wait"),
            };
            return Some(Wait {
                text: format!("waits{at} for {name}, {had}"),
                on: vec![holder],
                what: name,
                is_lock: true,
                is_join: false,
                marks: since.map(|step| (step, note)).into_iter().collect(),
            });
        }
        let readers = self.with_role(reads, Role::Readers)?;
        if readers.value == 0 {
            return None;
        }
        let name = self.object(state, readers);
        let holders = self.readers(readers);
        let marks = holders
            .values()
            .map(|&step| (step, format!("read-locks {name}")))
            .collect();
        let names: Vec<String> = holders
            .keys()
            .map(|&holder| self.objects.thread(holder as u64))
            .collect();
        let verb = if names.len() == 1 { "holds" } else { "hold" };
        Some(Wait {
            text: format!(
                "waits{at} to write-lock {name}, which {} {verb} for reading",
                list(&names)
            ),
            on: holders.into_keys().collect(),
            what: name,
            is_lock: true,
            is_join: false,
            marks,
        })
    }

    /// Who holds a lock for reading at the end, with the step that took it.
    fn readers(&self, readers: &Access) -> BTreeMap<usize, usize> {
        let mut holders: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut count = 0;
        let writes = self.writes.get(&readers.thing).into_iter().flatten();
        for (step, write) in writes.filter(|(_, write)| key(write) == key(readers)) {
            let taken = holders.entry(write.by).or_default();
            if write.value > count {
                taken.push(*step);
            } else {
                taken.pop();
            }
            count = write.value;
        }
        holders
            .into_iter()
            .filter_map(|(thread, steps)| Some((thread, *steps.last()?)))
            .collect()
    }

    fn waits_to_join(&self, state: &State, thread: usize, reads: &[Access]) -> Option<Wait> {
        let program = self.run.program;
        let status = reads.iter().find(|access| match access.thing {
            Thing::Global(global) => {
                program.globals[global].name == "%thread_status" && access.value == RUNNING
            }
            _ => false,
        })?;
        let Thing::Global(global) = status.thing else {
            return None;
        };
        let handle = status.first_bit / u64::from(program.globals[global].ty.width).max(1);
        // A thread knows its own handle.
        let joined = (0..state.threads.len()).find(|&other| {
            let Some(Some(alive)) = state.threads.get(other) else {
                return false;
            };
            let template = program.template(alive.template);
            let position = template
                .locals
                .iter()
                .position(|local| local.name == "%self");
            let cells = |end: usize| {
                template.locals[..end]
                    .iter()
                    .map(|local| local.len as usize)
            };
            position.is_some_and(|position| {
                alive.locals.get(cells(position).sum::<usize>()) == Some(&handle)
            })
        })?;
        let at = self.standing(state, thread);
        Some(Wait {
            text: format!(
                "waits{at} for {} to end",
                thread_name(program, state, joined)
            ),
            on: vec![joined],
            what: String::new(),
            is_lock: false,
            is_join: true,
            marks: Vec::new(),
        })
    }

    /// What the guards of a thread read, and who wrote it last.
    fn waits_for_value(&self, state: &State, thread: usize, reads: &[Access]) -> Option<Wait> {
        let end = self.run.steps.len();
        let name = thread_name(self.run.program, state, thread);
        let at = self.standing(state, thread);
        let mut best: Option<(u32, Wait)> = None;
        for access in reads {
            let Some((cell, value)) = access_text(self.run.program, state, access) else {
                continue;
            };
            let writer = match access.thing {
                Thing::Channel(_) => None,
                _ => self.writer(end, access),
            };
            let is_lock = writer.is_some_and(|writer| {
                let touches = self.touches.get(&key(access)).into_iter().flatten();
                let unit = self.unit[writer];
                touches
                    .clone()
                    .any(|touch| touch.unit == unit && touch.takes)
            });
            let what = match access.thing {
                Thing::Local { thread: whose, .. } if whose == thread => continue,
                // That an object is there says nothing.
                Thing::Life(_) if access.value != 0 => continue,
                Thing::Channel(handle) => self.channel_wait(state, handle, &cell),
                Thing::Thread(_) => cell.clone(),
                _ if is_lock => object_name(&cell),
                _ => format!("{}, which is {value}", object_name(&cell)),
            };
            // What another thread has done says more than what the thread itself has.
            let by = writer.map(|writer| self.run.steps[writer].step.by.thread);
            let rank = match (access.thing, by) {
                (Thing::Channel(_), _) => 3,
                (_, Some(by)) if by != thread => 3,
                (_, Some(_)) => 2,
                (Thing::Thread(_), None) => 1,
                _ => 0,
            };
            if best.as_ref().is_some_and(|(known, _)| *known >= rank) {
                continue;
            }
            let doing = writer.map_or(String::new(), |writer| {
                let place = self.place(writer);
                let is_semaphore = self.run.steps[writer].text.contains("sem_");
                match (is_lock, by == Some(thread)) {
                    (true, is_own) if is_semaphore => {
                        let who = if is_own { "it" } else { self.thread(writer) };
                        format!(", which is {value} since {who} took the last permit at {place}")
                    }
                    (true, true) => format!(", which it has held since {place}"),
                    (true, false) => {
                        format!(", which {} has held since {place}", self.thread(writer))
                    }
                    (false, true) => format!(", last changed by itself at {place}"),
                    (false, false) => {
                        format!(", last changed by {} at {place}", self.thread(writer))
                    }
                }
            });
            let note = match is_lock {
                true => format!("takes {what}, for which {name} will wait"),
                false => format!("{name} will wait for this to change"),
            };
            let wait = Wait {
                text: format!("waits{at} for {what}{doing}"),
                on: by.into_iter().collect(),
                what: match access.thing {
                    Thing::Thread(_) => String::new(),
                    _ => object_name(&cell),
                },
                is_lock,
                is_join: false,
                marks: writer.map(|writer| (writer, note)).into_iter().collect(),
            };
            best = Some((rank, wait));
        }
        best.map(|(_, wait)| wait)
    }

    fn channel_wait(&self, state: &State, handle: u64, name: &str) -> String {
        let program = self.run.program;
        let declaration = match program.resolve_channel(handle) {
            Some(ChannelHome::Global(index)) => program.channels.get(index),
            Some(ChannelHome::Thread { thread, index }) => state
                .threads
                .get(thread)
                .and_then(Option::as_ref)
                .and_then(|alive| program.template(alive.template).channels.get(index)),
            None => None,
        };
        let capacity = declaration.map_or(0, |declaration| declaration.capacity as usize);
        let buffers = buffers(program, state);
        let length = buffers
            .iter()
            .find(|(known, _)| *known == handle)
            .map_or(0, |(_, messages)| messages.len());
        if capacity == 0 {
            format!("a partner at {name}")
        } else if length == capacity {
            format!("room in {name}")
        } else {
            format!("a message in {name}")
        }
    }

    /// A wait for a condition before the failing step, after which what it waited for is not
    /// tested again: an `if` where a `while` should be.
    pub(super) fn untested_wait(
        &self,
        last: usize,
        sources: &[(usize, Access)],
        marks: &mut BTreeMap<usize, String>,
    ) -> Option<String> {
        let thread = self.run.steps[last].step.by.thread;
        let is_its = |step: &usize| self.run.steps[*step].step.by.thread == thread;
        let wake = (0..last)
            .rev()
            .filter(is_its)
            .find(|&step| self.operation(step) == Operation::Wake)?;
        let asleep = (0..wake)
            .rev()
            .filter(is_its)
            .find(|&step| matches!(self.operation(step), Operation::Sleep { .. }))?;
        let reads = |step: usize, key: super::Key| {
            let mut accesses = self.accesses[step].iter();
            accesses.any(|access| super::key(access) == key && !access.is_write)
        };
        let tested: BTreeSet<super::Key> = (sources.iter())
            .filter(|(step, read)| *step > wake && self.is_shared(read))
            .filter(|(_, read)| self.objects.role(read).is_none())
            .map(|(step, read)| (*step, key(read)))
            .filter(|&(step, key)| {
                let again = (wake + 1..step).filter(is_its).any(|at| reads(at, key));
                let before = (0..asleep).filter(is_its).any(|at| reads(at, key));
                before && !again
            })
            .map(|(_, key)| key)
            .collect();
        let key = *tested.first()?;
        let test = (0..asleep)
            .rev()
            .filter(is_its)
            .find(|&at| reads(at, key))?;
        let mut accesses = self.accesses[test].iter();
        let read = accesses.find(|access| super::key(access) == key)?;
        let (name, value) = self.name(test, read)?;
        let who = self.thread(last);
        let woken = match self.operation(asleep) {
            Operation::Sleep { spurious: true } => {
                marks.entry(asleep).or_insert("waits".into());
                let note = "wakes up without a signal (spurious wake-up)";
                marks.entry(wake).or_insert(note.into());
                "wakes up without a signal (a spurious wake-up)".to_string()
            }
            _ => {
                let mut sleepers = self.accesses[asleep].effects.iter();
                let sleepers = sleepers
                    .find(|access| self.objects.role(access) == Some(Role::Sleepers))
                    .copied()?;
                let mut signals = self.signals(&sleepers).into_iter();
                let signal = signals.rfind(|&step| step > asleep && step < wake)?;
                marks.entry(asleep).or_insert("waits".into());
                marks.entry(signal).or_insert(format!("wakes {who}"));
                marks.entry(wake).or_insert("has the mutex again".into());
                format!(
                    "is woken by {} at {}",
                    self.thread(signal),
                    self.place(signal)
                )
            }
        };
        marks
            .entry(test)
            .or_insert_with(|| format!("tests {name} = {value}"));
        Some(format!(
            "{who} finds {name} = {value} at {}, waits at {}, {woken}, and does not test {name} \
             again",
            self.place(test),
            self.place(asleep)
        ))
    }
}

/// Threads that wait for each other in a circle; a thread can wait for itself.
fn circle(stuck: &[usize], next: impl Fn(usize) -> Option<usize>) -> Option<Vec<usize>> {
    for &start in stuck {
        let mut way = vec![start];
        while let Some(to) = next(way[way.len() - 1]).filter(|to| stuck.contains(to)) {
            if let Some(at) = way.iter().position(|&known| known == to) {
                return Some(way[at..].to_vec());
            }
            way.push(to);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_waiting_threads_is_found() {
        let waits = |thread: usize| match thread {
            0 => Some(1),
            1 => Some(2),
            2 => Some(1),
            _ => None,
        };
        assert_eq!(circle(&[0, 1, 2, 3], waits), Some(vec![1, 2]));
        assert_eq!(circle(&[0, 3], waits), None);
        assert_eq!(circle(&[5], |_| Some(5)), Some(vec![5]));
    }
}
