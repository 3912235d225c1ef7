//! Thread creation, exit and join, and thread-specific data.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{BoundKind, Effect, Property};
use mover_ir::sync::SyncAction;

use super::{Way, both, is, is_zero, negated};
use crate::expr_builder::{binary, choose, constant, equal, not, resize};
use crate::flatten::{CANCELLED, Problem};
use crate::lower::{Builder, Cell, Check, Lowered, Part, Path};
use crate::ssa::*;

/// The status of a handle.
pub const RUNNING: u64 = 1;
pub(super) const DETACHED: u64 = 2;
pub(super) const FINISHED: u64 = 3;

/// Error numbers.
pub(super) const ESRCH: u64 = 3;
const EINVAL: u64 = 22;
const EDEADLK: u64 = 35;

/// Most keys for thread-specific data.
pub const MOST_KEYS: u32 = 8;

impl Builder<'_, '_> {
    /// Finds a handle for a new thread.
    pub(super) fn thread_reserve(
        &mut self,
        mut path: Path,
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let width = self.world.module.pointer_width();
        let Some(id) = result else {
            return Ok(vec![path]);
        };
        if let Some(&fixed) = self.world.threads.fixed.get(&(self.body, id)) {
            self.define(&mut path, id, vec![Part::same(constant(fixed, width))]);
            return Ok(vec![path]);
        }
        let Some(mut path) = self.begin_access(path) else {
            return Ok(Vec::new());
        };
        let Some(row) = self.world.threads.status else {
            return Err(Problem::new("a thread without a status", path.loc).code("C099"));
        };
        let threads = &self.world.threads;
        let handles: Vec<u64> = (threads.first_free..threads.handles()).collect();
        let most = threads.dynamic;
        let mut found = constant(0, width);
        for &handle in handles.iter().rev() {
            let cell = self.global_cell(row, Part::same(Expr::int(handle as i64)));
            let status = self.read(&path, &cell).now;
            let is_free = equal(status, constant(0, 8));
            found = choose(is_free, constant(handle, width), found);
        }
        let found = Part::same(found);
        let is_none = is_zero(&found);
        let Some(paths) = self.split(path.clone(), &[is_none.clone(), negated(&is_none)]) else {
            return Ok(Vec::new());
        };
        let mut paths = paths.into_iter();
        if let Some(full) = paths.next() {
            let message = format!("more than {most} threads created by loops are alive at a time");
            self.bound(full, BoundKind::Threads, &message);
        }
        if let Some(going_on) = paths.next() {
            path = going_on;
        }
        let temp = self.temp(&mut path, width);
        path.effects.push(Effect::Assign {
            place: self.temp_place(temp),
            value: found.now,
        });
        let handle = Part::lost(self.local_read(temp));
        let index = handle.map(|handle| resize(handle, 32, false));
        let cell = self.global_cell(row, index);
        self.write(&mut path, &cell, constant(RUNNING, 8));
        self.define(&mut path, id, vec![handle]);
        Ok(vec![path])
    }

    pub(super) fn thread_start(&mut self, mut path: Path, args: &[Operand]) -> Lowered<Vec<Path>> {
        let handle = self.scalar(&mut path, &args[0])?;
        let detached = self.scalar(&mut path, &args[1])?;
        let start_arg = self.scalar(&mut path, &args[3])?;
        if let Some(row) = self.world.threads.status {
            let index = handle.map(|handle| resize(handle, 32, false));
            let cell = self.global_cell(row, index);
            let status = choose(
                is_zero(&detached).now,
                constant(RUNNING, 8),
                constant(DETACHED, 8),
            );
            self.write(&mut path, &cell, status);
        }
        let routines: Vec<FunctionId> = match &args[2] {
            Operand::Function(id) => vec![*id],
            _ => self.world.threads.routines.clone(),
        };
        let target = self.scalar(&mut path, &args[2])?;
        let width = self.world.module.pointer_width();
        let mut next = Vec::new();
        let mut none = Part::same(Expr::TRUE);
        for id in routines {
            let Some(&template) = self.world.threads.templates.get(&id) else {
                continue;
            };
            let address = constant(self.world.function_address(id), width);
            let is_it = target.map(|target| equal(target, address.clone()));
            let Some(mut paths) = self.split(path.clone(), std::slice::from_ref(&is_it)) else {
                return Ok(Vec::new());
            };
            none = both(&none, &negated(&is_it));
            let Some(mut path) = paths.pop() else {
                continue;
            };
            if path.guard == Expr::FALSE {
                continue;
            }
            let mut spawn_args = self.spawn_args(&path, id, &start_arg.now)?;
            spawn_args.push(handle.now.clone());
            path.effects.push(Effect::Spawn {
                template,
                args: spawn_args,
                priority: 1,
                result: None,
            });
            next.push(path);
        }
        if none.now.as_const() != Some(0) {
            let check = Check {
                holds: negated(&none),
                property: Property::MemorySafety,
                message: "a thread is started with a pointer that does not point to a function"
                    .into(),
            };
            self.require(path, &check);
        }
        Ok(next)
    }

    /// What the function that a thread starts with gets for its parameters.
    fn spawn_args(&self, path: &Path, id: FunctionId, start_arg: &Expr) -> Lowered<Vec<Expr>> {
        let function = &self.world.module.functions[id];
        let mut args = Vec::new();
        for param in 0..function.params {
            let &[width] = &function.values[param].shape[..] else {
                let message = format!("a structure as parameter of the thread `{}`", function.name);
                return Err(Problem::new(message, path.loc).code("C012"));
            };
            if param > 0 && is_read(function, param) {
                let message = format!(
                    "threads start with `{}`, which reads a second parameter that has no value",
                    function.name
                );
                let help = "the function that a thread starts with has one parameter";
                return Err(Problem::new(message, path.loc).code("C012").help(help));
            }
            args.push(match param {
                0 => resize(start_arg.clone(), width, false),
                _ => constant(0, width),
            });
        }
        Ok(args)
    }

    /// Whether two handles are those of one thread. That of a thread which was joined, or has
    /// exited detached, may be given to another thread.
    pub(super) fn thread_equal(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let one = self.scalar(&mut path, &args[0])?;
        let other = self.scalar(&mut path, &args[1])?;
        let same = Part::combine(&[&one, &other], |args| {
            equal(args[0].clone(), args[1].clone())
        });
        if self.world.threads.status.is_none() || same.now.as_const() == Some(1) {
            if let Some(id) = result {
                let width = self.code.values[id].shape.first().copied().unwrap_or(32);
                let same = same.map(|same| resize(same, width, false));
                self.define(&mut path, id, vec![same]);
            }
            return Ok(vec![path]);
        }
        let mut alive = Part::same(Expr::TRUE);
        for handle in &args[..2] {
            let (cell, known, _) = self.status_cell(&mut path, handle)?;
            let is_free = is_zero(&self.read(&path, &cell));
            alive = both(&alive, &both(&known, &negated(&is_free)));
        }
        if args.len() > 2 {
            // Compared as numbers: 0, the initial value of a variable, is no thread's.
            alive = Part::combine(&[&alive, &is_zero(&one), &is_zero(&other)], |args| {
                args[0].clone().or(args[1].clone()).or(args[2].clone())
            });
        }
        let differ = negated(&same);
        let way = |condition: Part, result: u64| Way {
            condition,
            writes: Vec::new(),
            result,
            action: SyncAction::Other,
        };
        let reused = way(both(&differ, &negated(&alive)), 1);
        self.ways(
            path,
            &[],
            vec![way(same, 1), way(differ, 0), reused],
            result,
        )
    }

    /// The cell of a handle's status, and whether the handle is one at all.
    pub(super) fn status_cell(
        &mut self,
        path: &mut Path,
        handle: &Operand,
    ) -> Lowered<(Cell, Part, Part)> {
        let handle = self.scalar(path, handle)?;
        let Some(row) = self.world.threads.status else {
            return Err(Problem::new("a thread without a status", path.loc).code("C099"));
        };
        let count = self.world.threads.handles();
        let width = handle.now.width();
        let known = handle.map(|handle| binary(BinaryOp::ULt, handle, constant(count, width)));
        let index = handle.map(|handle| resize(handle, 32, false));
        // A handle that is not one must not become a constant index outside.
        let index = match index.now.as_const() {
            Some(value) if value >= count => Part::same(Expr::int(0)),
            _ => index,
        };
        Ok((self.global_cell(row, index.clone()), known, index))
    }

    pub(super) fn thread_join(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let (cell, known, index) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &cell);
        let joinable = Part::combine(&[&known, &status], |args| {
            let running = equal(args[1].clone(), constant(RUNNING, 8));
            let finished = equal(args[1].clone(), constant(FINISHED, 8));
            args[0].clone().and(running.or(finished))
        });
        let message = "a thread that is not joinable is joined";
        let Some(path) = self.rule(path, joinable.clone(), message) else {
            return Ok(Vec::new());
        };
        let results = self.world.threads.results;
        let is_finished = both(&known, &is(&status, FINISHED));
        let mut outcomes = vec![(is_finished, 0)];
        if !self.world.wants(Property::MutexMisuse) {
            let is_free = Part::combine(&[&known, &status], |args| {
                let is_free = equal(args[1].clone(), constant(0, 8));
                not(args[0].clone()).or(is_free)
            });
            outcomes.push((negated(&joinable), EINVAL));
            outcomes.push((is_free, ESRCH));
        }
        // POSIX lets a thread that joins itself block or be told; where nobody looks for deadlocks
        // it is told, as by glibc.
        if !self.world.wants(Property::NoDeadlock) {
            let own = self.own_handle();
            let handle = self.scalar(&mut path.clone(), &args[0])?;
            let is_self = handle.map(|handle| equal(handle, own.clone()));
            outcomes.push((both(&is_self, &is(&status, RUNNING)), EDEADLK));
        }
        if let Some(Operand::Int { value: busy, .. }) = args.get(1)
            && *busy != 0
        {
            outcomes.push((both(&known, &is(&status, RUNNING)), *busy));
        }
        let mut path = path;
        if let Some(is_cancelled) = self.is_cancelled(&mut path, args.get(2))? {
            outcomes.push((is_cancelled, CANCELLED));
        }
        let conditions: Vec<Part> = outcomes.iter().map(|(when, _)| when.clone()).collect();
        let Some(paths) = self.split(path, &conditions) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for (mut path, (_, error)) in paths.into_iter().zip(outcomes) {
            if path.guard == Expr::FALSE {
                continue;
            }
            let width = self.world.module.pointer_width();
            let error_number = Part::same(constant(error, 32));
            let mut value = Part::same(constant(0, width));
            if error == 0 {
                if let (Some(row), Some(id)) = (results, result) {
                    let cell = self.global_cell(row, index.clone());
                    value = self.read(&path, &cell);
                    self.define(&mut path, id, vec![value.clone(), error_number.clone()]);
                    self.write(&mut path, &cell, constant(0, width));
                    value = path.known(id).unwrap_or(value);
                }
                self.write(&mut path, &cell, constant(0, 8));
            }
            if let Some(id) = result {
                self.define(&mut path, id, vec![value, error_number]);
            }
            next.push(path);
        }
        Ok(next)
    }

    /// The handle of the executing thread.
    pub(super) fn own_handle(&self) -> Expr {
        match self.handle {
            Some(local) => self.local_read(local),
            None => constant(1, self.world.module.pointer_width()),
        }
    }

    pub(super) fn thread_detach(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let (cell, known, _) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &cell);
        let running = both(&known, &is(&status, RUNNING));
        let finished = both(&known, &is(&status, FINISHED));
        let neither = both(&negated(&running), &negated(&finished));
        let message = "a thread that is not joinable is detached";
        let Some(path) = self.rule(path, negated(&neither), message) else {
            return Ok(Vec::new());
        };
        let way = |condition: Part, status: Option<u64>, result: u64| Way {
            condition,
            writes: status
                .map(|status| (&cell, constant(status, 8)))
                .into_iter()
                .collect(),
            result,
            action: SyncAction::Other,
        };
        let mut ways = vec![
            way(running, Some(DETACHED), 0),
            way(finished, Some(0), 0),
            way(neither.clone(), None, EINVAL),
        ];
        if self.is_used(&path, result) {
            ways.push(way(neither, None, ESRCH));
        }
        self.ways(path, &[], ways, result)
    }

    /// What the end of a thread tells the others.
    pub fn thread_ends(&mut self, mut path: Path, value: Expr) -> Lowered<Vec<Path>> {
        let Some(row) = self.world.threads.status else {
            return Ok(vec![path]);
        };
        let own = match self.handle {
            Some(local) => Part::same(self.local_read(local)),
            None => Part::same(Expr::int(1)),
        };
        let index = own.map(|own| resize(own, 32, false));
        let cell = self.global_cell(row, index.clone());
        if let Some(requests) = self.world.threads.cancel_requests {
            let request = self.global_cell(requests, index.clone());
            self.write(&mut path, &request, constant(0, 8));
        }
        if !self.world.threads.has_detach {
            if let Some(results) = self.world.threads.results {
                let result = self.global_cell(results, index);
                self.write(&mut path, &result, value);
            }
            self.write(&mut path, &cell, constant(FINISHED, 8));
            return Ok(vec![path]);
        }
        let status = self.read(&path, &cell);
        let detached = is(&status, DETACHED);
        let Some(mut paths) = self.split(path, &[detached.clone(), negated(&detached)]) else {
            return Ok(Vec::new());
        };
        for (path, status) in paths.iter_mut().zip([0, FINISHED]) {
            if let (Some(results), FINISHED) = (self.world.threads.results, status) {
                let result = self.global_cell(results, index.clone());
                self.write(path, &result, value.clone());
            }
            self.write(path, &cell, constant(status, 8));
        }
        paths.retain(|path| path.guard != Expr::FALSE);
        Ok(paths)
    }

    // Keys.

    pub(super) fn key_create(
        &mut self,
        mut path: Path,
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let Some(counter) = self.world.threads.keys else {
            return Err(Problem::new("a key without a counter", path.loc).code("C099"));
        };
        let cell = self.global_cell(counter, Part::same(Expr::int(0)));
        let next_key = self.read(&path, &cell);
        let fits = next_key.map(|key| binary(BinaryOp::ULt, key, constant(MOST_KEYS.into(), 32)));
        let Some(paths) = self.split(path.clone(), &[negated(&fits), fits]) else {
            return Ok(Vec::new());
        };
        let mut paths = paths.into_iter();
        if let Some(full) = paths.next() {
            let message = format!("more than {MOST_KEYS} keys are created");
            self.bound(full, BoundKind::Keys, &message);
        }
        if let Some(going_on) = paths.next() {
            path = going_on;
        }
        if let Some(id) = result {
            self.define(&mut path, id, vec![next_key.clone()]);
        }
        let more = binary(BinaryOp::Add, next_key.now, constant(1, 32));
        self.write(&mut path, &cell, more);
        Ok(vec![path])
    }

    pub(super) fn key(
        &mut self,
        mut path: Path,
        name: &str,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let row = self.row_of_keys(MOST_KEYS);
        let key = self.scalar(&mut path, &args[0])?;
        let index = key.map(|key| resize(key, 32, false));
        let valid = index.map(|key| binary(BinaryOp::ULt, key, constant(MOST_KEYS.into(), 32)));
        let check = Check {
            holds: valid.clone(),
            property: Property::MemorySafety,
            message: "a key that does not exist".into(),
        };
        let Some(mut path) = self.require(path, &check) else {
            return Ok(Vec::new());
        };
        let cell = self.row_cell_at(row, index.clone(), valid);
        let sets = name == "key_set";
        if let Some(deleted) = self.world.threads.deleted_keys {
            let mark = self.global_cell(deleted, index);
            let is_there = is_zero(&self.read(&path, &mark));
            let ways = [negated(&is_there), is_there];
            let Some(paths) = self.split(path.clone(), &ways) else {
                return Ok(Vec::new());
            };
            let mut paths = paths.into_iter();
            let gone = paths.next().filter(|gone| gone.guard != Expr::FALSE);
            let mut next = Vec::new();
            if let Some(gone) = gone {
                next.extend(self.go_on(gone, result, if sets { EINVAL } else { 0 })?);
            }
            if let Some(there) = paths.next() {
                next.push(self.use_key(there, &cell, sets, args, result)?);
            }
            return Ok(next);
        }
        path = self.use_key(path, &cell, sets, args, result)?;
        Ok(vec![path])
    }

    fn use_key(
        &mut self,
        mut path: Path,
        cell: &Cell,
        sets: bool,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Path> {
        let told = if sets {
            let value = self.scalar(&mut path, &args[1])?;
            self.write(&mut path, cell, value.now);
            Part::same(constant(0, 32))
        } else {
            self.read(&path, cell)
        };
        if let Some(id) = result {
            self.define(&mut path, id, vec![told]);
        }
        Ok(path)
    }

    /// Deletes a key; one that does not exist cannot be deleted.
    pub(super) fn key_delete(
        &mut self,
        mut path: Path,
        args: &[Operand],
        result: Option<ValueId>,
    ) -> Lowered<Vec<Path>> {
        let (Some(deleted), Some(counter)) =
            (self.world.threads.deleted_keys, self.world.threads.keys)
        else {
            // No key was ever made.
            return self.go_on(path, result, EINVAL);
        };
        let key = self.scalar(&mut path, &args[0])?;
        let index = key.map(|key| resize(key, 32, false));
        let counter = self.global_cell(counter, Part::same(Expr::int(0)));
        let made = Part::combine(&[&index, &self.read(&path, &counter)], |args| {
            binary(BinaryOp::ULt, args[0].clone(), args[1].clone())
        });
        // A key that was never made must not become a constant index outside.
        let index = match index.now.as_const() {
            Some(value) if value >= u64::from(MOST_KEYS) => Part::same(Expr::int(0)),
            _ => index,
        };
        let mark = self.global_cell(deleted, index);
        let exists = both(&made, &is_zero(&self.read(&path, &mark)));
        let ways = vec![
            Way {
                condition: exists.clone(),
                writes: vec![(&mark, constant(1, 8))],
                result: 0,
                action: SyncAction::Other,
            },
            Way {
                condition: negated(&exists),
                writes: Vec::new(),
                result: EINVAL,
                action: SyncAction::Other,
            },
        ];
        self.ways(path, &[], ways, result)
    }
}

/// Whether a function does something with a parameter.
fn is_read(function: &Function, param: ValueId) -> bool {
    let mut found = false;
    let mut look = |operand: &Operand| operand.values(&mut |id| found |= id == param);
    for block in &function.blocks {
        for inst in &block.insts {
            inst.kind.operands().into_iter().for_each(&mut look);
        }
        match &block.end {
            Terminator::Return(Some(operand))
            | Terminator::Branch {
                condition: operand, ..
            }
            | Terminator::Switch { value: operand, .. } => look(operand),
            _ => {}
        }
    }
    found
}
