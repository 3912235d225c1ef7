//! Pointer-sized variables that never hold the address of a dynamic object.
//!
//! The number of a new object depends on the numbers that cells mention, and in a language
//! whose pointers are as wide as long integers every such integer may mention one. Most
//! integers never do: they hold flags, sizes, results of comparisons and zero-extended narrower
//! values. A variable is *small* if every value assigned to it is below the address of the
//! first dynamic object, assuming that the other small variables are small. Counters that are
//! bounded only by a comparison are not recognised.

use std::collections::BTreeSet;

use mover_ir::eval::{Range, Ranges, eval};
use mover_ir::expr::{Expr, VariableRef};
use mover_ir::program::{Effect, Init, Program, Variable};

pub struct SmallVariables {
    /// The address of the first dynamic object; `u64::MAX` if there is none.
    limit: u64,
    /// Variables that are not small; locals with their template.
    large: BTreeSet<(Option<usize>, VariableRef)>,
}

impl SmallVariables {
    pub fn new(program: &Program) -> Self {
        let layout = program.pointers;
        let mut found = SmallVariables {
            limit: layout.address(program.addressable_globals() + 1),
            large: BTreeSet::new(),
        };
        let id = |number: usize| mover_ir::program::VariableId(number as u32);
        for (number, variable) in program.globals.iter().enumerate() {
            // Addressable variables are also written through pointers.
            if variable.addressable || !found.starts_small(variable) {
                found.large.insert((None, VariableRef::Global(id(number))));
            }
        }
        for (template, body) in program.templates.iter().enumerate() {
            for (number, variable) in body.locals.iter().enumerate() {
                if !found.starts_small(variable) {
                    found
                        .large
                        .insert((Some(template), VariableRef::Local(id(number))));
                }
            }
        }
        for instance in &program.initial {
            for (param, &arg) in instance.args.iter().enumerate() {
                if arg >= found.limit {
                    found.large.insert((
                        Some(instance.template.index()),
                        VariableRef::Local(id(param)),
                    ));
                }
            }
        }
        while found.pass(program) {}
        found
    }

    pub fn contains(&self, template: usize, variable: VariableRef) -> bool {
        !self.large.contains(&key(template, variable))
    }

    fn starts_small(&self, variable: &Variable) -> bool {
        match &variable.init {
            Init::All(value) => *value < self.limit,
            Init::Cells(values) => values.iter().all(|value| *value < self.limit),
            Init::Channels(_) => true,
        }
    }

    /// One iteration over all edges; returns whether another variable turned out to be large.
    fn pass(&mut self, program: &Program) -> bool {
        let before = self.large.len();
        for (template, body) in program.templates.iter().enumerate() {
            let edges = body.locations.iter().flat_map(|location| &location.edges);
            for effect in edges.flat_map(|edge| &edge.effects) {
                if let Effect::Spawn {
                    template: started,
                    args,
                    ..
                } = effect
                {
                    for (param, arg) in args.iter().enumerate() {
                        if self.most(program, template, arg) >= self.limit {
                            let param = mover_ir::program::VariableId(param as u32);
                            self.large
                                .insert((Some(started.index()), VariableRef::Local(param)));
                        }
                    }
                }
                let most = match effect {
                    Effect::Assign { value, .. } => self.most(program, template, value),
                    Effect::Havoc { values, .. } => values.wrapping_sub(1),
                    Effect::Spawn { .. } => program.max_threads.into(),
                    _ => u64::MAX,
                };
                for place in effect.written_places() {
                    if most >= self.limit {
                        self.large.insert(key(template, place.variable));
                    }
                }
            }
        }
        self.large.len() > before
    }

    /// An upper bound on the expression.
    fn most(&self, program: &Program, template: usize, expr: &Expr) -> u64 {
        let range = eval(&mut Ranges, expr, &mut |_, read| {
            let most = match read {
                Expr::Read(place) if self.contains(template, place.variable) => self.limit - 1,
                Expr::ObjectSize(_) => program.pointers.max_object_size(),
                Expr::ThreadId | Expr::ThreadCount => program.max_threads.into(),
                _ => u64::MAX,
            };
            Range::up_to(most, read.width())
        });
        range.most
    }
}

fn key(template: usize, variable: VariableRef) -> (Option<usize>, VariableRef) {
    match variable {
        VariableRef::Global(_) => (None, variable),
        VariableRef::Local(_) => (Some(template), variable),
    }
}
