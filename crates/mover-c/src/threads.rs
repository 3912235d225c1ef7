//! Which threads there can be, and which code runs at most once.
//!
//! A creation site that is executed at most once has one thread, and that thread's handle is a
//! constant. Sites in loops, or in code that several threads run, take handles from a common
//! pool of bounded size. So do all sites if each creation stands for any number of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mover_ir::graph::{FixedBitSet, from_successors, on_cycles};
use mover_ir::program::TemplateId;

use crate::flatten::Body;
use crate::ssa::*;
use crate::world::Threads;

/// A place that starts threads.
struct Start {
    body: usize,
    block: BlockId,
    /// Where the handle comes from.
    reserve: Option<ValueId>,
    routines: Vec<FunctionId>,
}

pub fn find(
    bodies: &[Body],
    roots: &[FunctionId],
    routines: Vec<FunctionId>,
    most: usize,
    repeated: bool,
) -> Threads {
    let mut starts = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        for (block, code) in body.blocks.iter().enumerate() {
            for inst in &code.insts {
                let Kind::Library { name, args, .. } = &inst.kind else {
                    continue;
                };
                if name != "thread_start" {
                    continue;
                }
                starts.push(Start {
                    body: number,
                    block,
                    reserve: match args.first() {
                        Some(Operand::Value(id)) => Some(*id),
                        _ => None,
                    },
                    routines: match args.get(2) {
                        Some(Operand::Function(id)) => vec![*id],
                        _ => routines.clone(),
                    },
                });
            }
        }
    }
    let cyclic: Vec<FixedBitSet> = bodies.iter().map(in_cycles).collect();
    let is_passed_once = |start: &Start| !repeated && !cyclic[start.body].contains(start.block);
    // Bodies that run once: main, and what is started from one place that is
    // passed once.
    let mut once: BTreeSet<usize> = BTreeSet::from([0]);
    loop {
        let before = once.len();
        for (number, root) in roots.iter().enumerate().skip(1) {
            let from: Vec<&Start> = starts
                .iter()
                .filter(|start| start.routines.contains(root))
                .collect();
            if let [only] = from[..]
                && once.contains(&only.body)
                && is_passed_once(only)
            {
                once.insert(number);
            }
        }
        if once.len() == before {
            break;
        }
    }
    let mut fixed = HashMap::new();
    // Handle 0 is none, 1 the main thread's.
    let mut next = 2;
    let mut dynamic = 0;
    for start in &starts {
        let is_once = once.contains(&start.body) && is_passed_once(start);
        match start.reserve {
            Some(id) if is_once => {
                fixed.insert((start.body, id), next);
                next += 1;
            }
            _ => dynamic = most as u64,
        }
    }
    Threads {
        templates: roots
            .iter()
            .enumerate()
            .skip(1)
            .map(|(number, root)| (*root, TemplateId(number as u32)))
            .collect::<BTreeMap<_, _>>(),
        routines,
        fixed,
        once,
        first_free: next,
        dynamic,
        status: None,
        results: None,
        cancel_requests: None,
        keys: None,
        deleted_keys: None,
        has_detach: false,
    }
}

/// The blocks that a run can come back to.
fn in_cycles(body: &Body) -> FixedBitSet {
    on_cycles(&from_successors(body.blocks.len(), |block| {
        body.blocks[block].end.successors()
    }))
}
