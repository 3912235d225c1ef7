//! What must be known of the whole model before any part of it is lowered:
//! which variables may change, and which labels other processes ask for.

use std::collections::HashSet;
use std::rc::Rc;

use crate::ast::{
    Declaration, Expr, ExprKind, Initial, Model, Name, Path, ReceiveArgument, Sequence, Statement,
    StatementKind, Unit,
};

#[derive(Default)]
pub struct Survey {
    /// First names of all paths that some statement stores to.
    pub changed_names: HashSet<Rc<str>>,
    /// Proctypes that some statement creates.
    pub run_names: HashSet<Rc<str>>,
    /// Proctypes and labels of remote references.
    pub remote_labels: HashSet<(Rc<str>, Rc<str>)>,
    /// All labels in processes.
    pub labels: Vec<Name>,
}

pub fn survey(model: &Model) -> Survey {
    let mut survey = Survey::default();
    for unit in &model.units {
        match unit {
            Unit::Mtype(_) | Unit::Typedef(_) | Unit::Exclusive(_) => {}
            Unit::Variables(declaration) => survey.declaration(declaration),
            Unit::Proctype(proctype) => {
                if let Some(provided) = &proctype.provided {
                    survey.expr(provided);
                }
                survey.sequence(&proctype.body);
            }
            Unit::Init(init) => survey.sequence(&init.body),
            Unit::Ltl(ltl) => survey.expr(&ltl.formula),
            Unit::Monitor(monitor) => {
                let of_processes = survey.labels.len();
                survey.sequence(&monitor.body);
                survey.labels.truncate(of_processes);
            }
        }
    }
    survey
}

impl Survey {
    fn sequence(&mut self, sequence: &Sequence) {
        for statement in &sequence.statements {
            self.statement(statement);
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        for variable in &declaration.variables {
            if let Initial::Value(value) = &variable.initial {
                self.expr(value);
            }
        }
    }

    fn changed(&mut self, path: &Path) {
        self.changed_names
            .insert(path.elements[0].name.text.clone());
        self.path(path);
    }

    fn path(&mut self, path: &Path) {
        for element in &path.elements {
            if let Some(index) = &element.index {
                self.expr(index);
            }
        }
    }

    fn receive_arguments(&mut self, arguments: &[ReceiveArgument]) {
        for argument in arguments {
            match argument {
                ReceiveArgument::Path(path) => self.changed(path),
                ReceiveArgument::Eval(value) => self.expr(value),
                ReceiveArgument::Number(..) => {}
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.labels.extend_from_slice(&statement.labels);
        match &statement.kind {
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            StatementKind::ExclusiveAccess(_, paths) => {
                paths.iter().for_each(|path| self.path(path))
            }
            StatementKind::Assign { target, value } => {
                self.changed(target);
                self.expr(value);
            }
            StatementKind::Step { target, .. } => self.changed(target),
            StatementKind::Send {
                channel, arguments, ..
            } => {
                self.path(channel);
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            StatementKind::Receive {
                channel, arguments, ..
            } => {
                self.path(channel);
                self.receive_arguments(arguments);
            }
            StatementKind::Expression(value)
            | StatementKind::Assert(value)
            | StatementKind::PrintMtype(value) => {
                self.expr(value);
            }
            StatementKind::Print { arguments, .. } => {
                arguments.iter().for_each(|argument| self.expr(argument))
            }
            StatementKind::SetPriority { process, priority } => {
                self.expr(process);
                self.expr(priority);
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                options.iter().for_each(|option| self.sequence(option));
            }
            StatementKind::ForRange {
                variable,
                from,
                to,
                body,
            } => {
                self.changed(variable);
                self.expr(from);
                self.expr(to);
                self.sequence(body);
            }
            StatementKind::ForIn {
                variable,
                container,
                body,
            } => {
                self.changed(variable);
                self.path(container);
                self.sequence(body);
            }
            StatementKind::Select {
                variable, from, to, ..
            } => {
                self.changed(variable);
                self.expr(from);
                self.expr(to);
            }
            StatementKind::Atomic(sequence)
            | StatementKind::DStep(sequence)
            | StatementKind::Block(sequence) => {
                self.sequence(sequence);
            }
            StatementKind::Unless { normal, escape } => {
                self.statement(normal);
                self.statement(escape);
            }
            StatementKind::Else
            | StatementKind::Break
            | StatementKind::Goto(_)
            | StatementKind::Invalid => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Timeout | ExprKind::NonProgress | ExprKind::Invalid => {
            }
            ExprKind::Variable(path) | ExprKind::Length(path) | ExprKind::Probe(_, path) => {
                self.path(path)
            }
            ExprKind::Unary(_, operand)
            | ExprKind::Enabled(operand)
            | ExprKind::PcValue(operand)
            | ExprKind::GetPriority(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Run {
                proctype,
                arguments,
                ..
            } => {
                self.run_names.insert(proctype.text.clone());
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Temporal(_, arguments) => {
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Poll {
                channel, arguments, ..
            } => {
                self.path(channel);
                for argument in arguments {
                    if let ReceiveArgument::Eval(value) = argument {
                        self.expr(value);
                    }
                }
            }
            ExprKind::RemoteLabel {
                proctype,
                process,
                label,
            } => {
                self.remote_labels
                    .insert((proctype.text.clone(), label.text.clone()));
                if let Some(process) = process {
                    self.expr(process);
                }
            }
            ExprKind::RemoteVariable {
                process, variable, ..
            } => {
                for expr in process
                    .iter()
                    .map(|process| &**process)
                    .chain(&variable.index)
                {
                    self.expr(expr);
                }
            }
        }
    }
}
