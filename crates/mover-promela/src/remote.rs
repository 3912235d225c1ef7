//! References to other processes: `p[i]@label` and `p[i]:variable`.

use mover_ir::expr::Expr;
use mover_ir::program::{TemplateId, VariableId};
use mover_source::Span;

use crate::ast::{Expr as Syntax, Name, PathElement};
use crate::context::Context;
use crate::values::{Value, widened};

impl Context<'_> {
    /// The number of the process that is meant: the one given, or that of the
    /// only one there is.
    fn process_number(
        &mut self,
        process: usize,
        number: Option<&Syntax>,
        span: Span,
    ) -> Option<Value> {
        if let Some(syntax) = number {
            return Some(self.value(syntax));
        }
        if let Some(&lone) = self.lone_processes.get(&process) {
            return Some(Value::constant(lone as i32));
        }
        let name = self.processes[process].name.clone();
        if self.in_monitor {
            self.note_claim_problem(span, &format!("one `{name}` of several without its number"));
            return None;
        }
        self.error(
            span,
            format!("it is not clear which `{name}` is meant; write `{name}[n]` with its number"),
        );
        None
    }

    fn remote_process(&mut self, name: &Name) -> Option<usize> {
        let found = self.process_names.get(&name.text).copied();
        let known = found.filter(|&process| self.processes[process].unit <= self.unit);
        if known.is_none() {
            self.error(
                name.span,
                format!("there is no proctype `{}` before this", name.text),
            );
        }
        known
    }

    pub fn remote_label(
        &mut self,
        proctype: &Name,
        number: Option<&Syntax>,
        label: &Name,
        span: Span,
    ) -> Value {
        let Some(process) = self.remote_process(proctype) else {
            return Value::constant(0);
        };
        if Some(process) == self.process {
            self.error(span, "a proctype cannot refer to its own labels");
            return Value::constant(0);
        }
        let Some(number) = self.process_number(process, number, span) else {
            return Value::constant(0);
        };
        let Some(locations) = self.processes[process].labels.locations(&label.text) else {
            self.error(
                label.span,
                format!("`{}` has no label `{}`", proctype.text, label.text),
            );
            return Value::constant(0);
        };
        if self.in_monitor && locations.is_empty() {
            let what = format!("the label `{}`, which is no place of its own", label.text);
            self.note_claim_problem(label.span, &what);
        }
        let checks = number.checks.clone();
        Value::number(Expr::ThreadAt {
            thread: Box::new(number.into_number()),
            template: TemplateId(process as u32),
            locations,
        })
        .with(checks)
    }

    pub fn remote_variable(
        &mut self,
        proctype: &Name,
        number: Option<&Syntax>,
        variable: &PathElement,
        span: Span,
    ) -> Value {
        let Some(process) = self.remote_process(proctype) else {
            return Value::constant(0);
        };
        let name = &variable.name;
        let Some(info) = self.processes[process].visible.get(&name.text).cloned() else {
            self.error(
                name.span,
                format!("`{}` has no variable `{}`", proctype.text, name.text),
            );
            return Value::constant(0);
        };
        let Some(number) = self.process_number(process, number, span) else {
            return Value::constant(0);
        };
        let mut checks = number.checks.clone();
        let Some(index) = self.step_into(variable, info.shape, Expr::int(0), &mut checks) else {
            return Value::constant(0);
        };
        let leaves = self.types.leaves(info.shape);
        let [leaf] = leaves.as_slice() else {
            let what = "a field of another process's structure";
            if self.in_monitor {
                self.note_claim_problem(name.span, what);
            } else {
                self.unsupported(name.span, format!("{what} is not supported"));
            }
            return Value::constant(0);
        };
        let read = Expr::RemoteRead {
            thread: Box::new(number.into_number()),
            template: TemplateId(process as u32),
            variable: VariableId(info.first),
            index: Box::new(index),
            ty: leaf.ty,
        };
        let mut value = widened(read, leaf.ty).with(checks);
        value.symbols = leaf.symbols;
        value
    }
}
