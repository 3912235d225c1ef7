//! Threads of C++ that start with a function known by name.
//!
//! `std::thread` copies the function that it is to run to the heap, from where the new thread reads it:
//! a thread could then run any function of that type. Our own `std::thread`
//! (`include/cpp/bits/std_thread.h`) also passes the function where the thread is created. Where it is a
//! constant there, the thread gets a start routine of its own, which hands the function on as a constant.

use crate::ssa::*;

/// Rewrites all calls that create such threads to calls of `pthread_create`.
pub fn bind(module: &mut Module) {
    let Some(starts) = module.find("__mover_start_bound") else {
        return;
    };
    let width = module.pointer_width();
    let create = module.find("pthread_create").unwrap_or_else(|| {
        module
            .functions
            .push(library_function("pthread_create", width));
        module.functions.len() - 1
    });
    let mut routines: Vec<(FunctionId, FunctionId, FunctionId)> = Vec::new();
    let mut functions = std::mem::take(&mut module.functions);
    let mut next = functions.len();
    let insts = functions
        .iter_mut()
        .flat_map(|function| &mut function.blocks)
        .flat_map(|block| &mut block.insts);
    for inst in insts {
        let Kind::Call {
            callee,
            args,
            by_value,
            arg_shapes,
            ..
        } = &mut inst.kind
        else {
            continue;
        };
        if *callee != Callee::Function(starts) {
            continue;
        }
        let [handle, run, state, bound, function] = &args[..] else {
            continue;
        };
        let routine = match (bound, function) {
            (Operand::Function(bound), Operand::Function(function)) => {
                let known = routines
                    .iter()
                    .find(|(b, f, _)| (b, f) == (bound, function));
                Operand::Function(match known {
                    Some((_, _, routine)) => *routine,
                    None => {
                        routines.push((*bound, *function, next));
                        next += 1;
                        next - 1
                    }
                })
            }
            _ => run.clone(),
        };
        let none = Operand::Int { value: 0, width };
        *args = vec![handle.clone(), none, routine, state.clone()];
        *by_value = vec![None; 4];
        *arg_shapes = vec![vec![width]; 4];
        *callee = Callee::Function(create);
    }
    for (bound, function, _) in routines {
        let routine = routine(&functions, bound, function, width);
        functions.push(routine);
    }
    module.functions = functions;
}

/// A function that calls `bound` with its parameter and the function.
fn routine(functions: &[Function], bound: FunctionId, function: FunctionId, width: u8) -> Function {
    let value = || ValueInfo {
        shape: vec![width],
        ..ValueInfo::default()
    };
    let call = Inst {
        result: Some(1),
        kind: Kind::Call {
            callee: Callee::Function(bound),
            args: vec![Operand::Value(0), Operand::Function(function)],
            by_value: vec![None; 2],
            shape: vec![width],
            arg_shapes: vec![vec![width]; 2],
            unwind: None,
        },
        loc: functions[function].loc,
    };
    Function {
        name: functions[function].name.clone(),
        params: 1,
        values: vec![value(), value()],
        blocks: vec![Block {
            insts: vec![call],
            end: Terminator::Return(Some(Operand::Value(1))),
            end_loc: None,
        }],
        return_shape: vec![width],
        by_value: vec![None],
        loc: functions[function].loc,
        is_variadic: false,
        is_runtime: false,
        is_system: true,
        callback: Callback::default(),
    }
}

fn library_function(name: &str, width: u8) -> Function {
    let value = ValueInfo {
        shape: vec![width],
        ..ValueInfo::default()
    };
    Function {
        name: name.into(),
        params: 4,
        values: vec![value; 4],
        blocks: Vec::new(),
        return_shape: vec![32],
        is_variadic: false,
        by_value: vec![None; 4],
        is_runtime: false,
        is_system: false,
        callback: Callback::default(),
        loc: None,
    }
}
