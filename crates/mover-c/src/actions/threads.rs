//! Thread creation, exit and join, and thread-specific data.

use mover_ir::expr::{BinaryOp, Expr};
use mover_ir::program::{BoundKind, Effect, Property};

use super::{Way, both, is, is_zero, negated};
use crate::expr_builder::{binary, choose, constant, equal, resize};
use crate::flatten::Problem;
use crate::lower::{Builder, Cell, Check, Lowered, Part, Path};
use crate::ssa::*;

/// The status of a handle.
pub const RUNNING: u64 = 1;
const DETACHED: u64 = 2;
const FINISHED: u64 = 3;

/// Most keys for thread-specific data.
const MOST_KEYS: u32 = 8;

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
            let params = self.world.module.functions[id].params;
            let mut spawn_args = Vec::new();
            if params > 0 {
                spawn_args.push(start_arg.now.clone());
            }
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
        let mut conditions = vec![is_finished];
        if !self.world.wants(Property::MutexMisuse) {
            conditions.push(negated(&joinable));
        }
        let Some(paths) = self.split(path, &conditions) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for (number, mut path) in paths.into_iter().enumerate() {
            if path.guard == Expr::FALSE {
                continue;
            }
            let width = self.world.module.pointer_width();
            let mut value = Part::same(constant(0, width));
            if number == 0 {
                if let (Some(row), Some(id)) = (results, result) {
                    let cell = self.global_cell(row, index.clone());
                    value = self.read(&path, &cell);
                    self.define(&mut path, id, vec![value.clone()]);
                    self.write(&mut path, &cell, constant(0, width));
                    value = path.known(id).unwrap_or(value);
                }
                self.write(&mut path, &cell, constant(0, 8));
            }
            if let Some(id) = result {
                self.define(&mut path, id, vec![value]);
            }
            next.push(path);
        }
        Ok(next)
    }

    pub(super) fn thread_detach(&mut self, mut path: Path, args: &[Operand]) -> Lowered<Vec<Path>> {
        let (cell, known, _) = self.status_cell(&mut path, &args[0])?;
        let status = self.read(&path, &cell);
        let running = both(&known, &is(&status, RUNNING));
        let finished = both(&known, &is(&status, FINISHED));
        let neither = both(&negated(&running), &negated(&finished));
        let message = "a thread that is not joinable is detached";
        let Some(path) = self.rule(path, negated(&neither), message) else {
            return Ok(Vec::new());
        };
        let ways = vec![
            Way {
                condition: running,
                writes: vec![(&cell, constant(DETACHED, 8))],
                result: 0,
            },
            Way {
                condition: finished,
                writes: vec![(&cell, constant(0, 8))],
                result: 0,
            },
            Way {
                condition: neither,
                writes: Vec::new(),
                result: 0,
            },
        ];
        self.ways(path, ways, None)
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
        let cell = self.row_cell_at(row, index, valid);
        if name == "key_get" {
            let value = self.read(&path, &cell);
            if let Some(id) = result {
                self.define(&mut path, id, vec![value]);
            }
        } else {
            let value = self.scalar(&mut path, &args[1])?;
            self.write(&mut path, &cell, value.now);
        }
        Ok(vec![path])
    }

    // Memory and choice.
}
