//! From the statements of a body to its flow.

use std::rc::Rc;

use mover_ir::expr::{BinaryOp, Expr, Place, ReceiveArg, Ty};
use mover_ir::program::{CellNames, Effect, Init, Variable};
use mover_ir::simplify::fold_binary;
use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use crate::actions::Action;
use crate::ast::{
    ChannelEnd, Expr as Syntax, ExprKind, Name, Path, Sequence, Statement, StatementKind,
};
use crate::context::Context;
use crate::flow::{BlockKind, ElementId, ElementKind, Flow, Misplaced, SequenceId, Target};
use crate::paths::{Cell, Found};
use crate::scopes::VariableInfo;
use crate::types::{Shape, Type};
use crate::values::{Value, cell_value};

/// SPIN spells out selections up to this distance of the bounds.
const LITERAL_SELECT_LIMIT: i32 = 32;

pub struct Body<'b, 'c> {
    context: &'b mut Context<'c>,
    pub flow: Flow,
    in_dstep: bool,
}

/// Lowers a body, whose declarations at the start are declared already.
pub fn lower(context: &mut Context<'_>, sequence: &Sequence, leading: usize) -> Flow {
    let mut body = Body {
        context,
        flow: Flow::new(),
        in_dstep: false,
    };
    for statement in &sequence.statements[leading..] {
        body.statement(statement);
    }
    body.flow.add_end(last_byte(sequence.span));
    if let Err(problem) = body.flow.close_sequence(sequence.span) {
        body.report(problem);
    }
    body.flow
}

/// How many elements SPIN makes for a statement itself, besides those within it,
/// when it is before `unless`.
fn own_elements(statement: &Statement) -> usize {
    match &statement.kind {
        StatementKind::Block(_) if statement.labels.is_empty() => 0,
        StatementKind::If(_) => 2,
        StatementKind::Select { literal: true, .. } => 2,
        StatementKind::Do(_)
        | StatementKind::ForRange { .. }
        | StatementKind::ForIn { .. }
        | StatementKind::Select { .. } => 3,
        _ => 1,
    }
}

/// The closing brace.
fn last_byte(span: Span) -> Span {
    Span {
        start: span.end.saturating_sub(1).max(span.start),
        ..span
    }
}

/// How many statements at the start of a body are declarations that belong to
/// the creation of the process.
pub fn leading_declarations(sequence: &Sequence) -> usize {
    sequence
        .statements
        .iter()
        .take_while(|statement| {
            matches!(
                statement.kind,
                StatementKind::Declaration(_) | StatementKind::ExclusiveAccess(..)
            )
        })
        .count()
}

impl Body<'_, '_> {
    fn report(&mut self, problem: Misplaced) {
        self.context.error(problem.span, problem.message);
    }

    fn scopes(&self) -> Vec<u32> {
        match self.context.process {
            Some(process) => self.context.processes[process].scopes.path(),
            None => Vec::new(),
        }
    }

    fn in_scope(&mut self, part: impl FnOnce(&mut Self)) {
        if let Some(process) = self.context.process {
            self.context.processes[process].scopes.enter();
        }
        part(self);
        if let Some(process) = self.context.process {
            self.context.processes[process].scopes.leave();
        }
    }

    fn label(&mut self, labels: &[Name], element: ElementId) {
        // The label next to the statement is set first.
        for label in labels.iter().rev() {
            let scopes = self.scopes();
            if self.context.mtype(&label.text).is_some() {
                self.context.error(
                    label.span,
                    format!(
                        "`{}` is an mtype constant and cannot be a label",
                        label.text
                    ),
                );
            }
            if let Err(problem) =
                self.flow
                    .add_label(label.text.clone(), scopes, element, label.span)
            {
                self.report(problem);
            }
        }
    }

    fn place(&mut self, kind: ElementKind, labels: &[Name], span: Span) {
        let element = self.flow.make(kind, span);
        self.label(labels, element);
        self.flow.place(element);
    }

    /// The statements between braces, in a sequence and a scope of their own.
    fn block(&mut self, sequence: &Sequence) -> Option<SequenceId> {
        self.flow.open_sequence();
        self.in_scope(|body| {
            for statement in &sequence.statements {
                body.statement(statement);
            }
        });
        self.close(sequence.span, true)
    }

    /// Ends a sequence. SPIN cannot jump to the first statement of a block,
    /// since that is not a place of its own.
    fn close(&mut self, span: Span, is_block: bool) -> Option<SequenceId> {
        match self.flow.close_sequence(span) {
            Ok(sequence) => {
                if is_block && let Some(label) = self.flow.first_labels(sequence).first().cloned() {
                    let diagnostic = Diagnostic::coded("P036", format!(
                        "the label `{label}` marks the first statement of a block, which is not a place of its own"
                    ))
                    .at(span, "")
                    .help("put the label before the block");
                    self.context.report(diagnostic);
                }
                Some(sequence)
            }
            Err(problem) => {
                self.report(problem);
                None
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let labels = &statement.labels;
        let span = statement.span;
        match &statement.kind {
            StatementKind::Declaration(declaration) => {
                for step in self.context.declaration_steps(declaration) {
                    self.flow.add_action(step);
                }
            }
            StatementKind::ExclusiveAccess(_, paths) => self.exclusive_access(paths),
            StatementKind::If(options) => {
                let options = self.options(options);
                self.choice(options, None, labels, span);
            }
            StatementKind::Do(options) => {
                self.flow.enter_loop();
                let options = self.options(options);
                let number = self.flow.leave_loop();
                self.choice(options, number, labels, span);
            }
            StatementKind::ForRange {
                variable,
                from,
                to,
                body,
            } => self.for_range(variable, from, to, body, labels, span),
            StatementKind::ForIn {
                variable,
                container,
                body,
            } => self.for_in(variable, container, body, labels, span),
            StatementKind::Select {
                variable,
                from,
                to,
                literal,
            } => self.select(variable, from, to, *literal, labels, span),
            StatementKind::Atomic(sequence) => {
                if let Some(inner) = self.block(sequence) {
                    self.flow.make_atomic(inner, false);
                    self.place(ElementKind::Block(BlockKind::Atomic, inner), labels, span);
                }
            }
            StatementKind::DStep(sequence) => {
                let outer = std::mem::replace(&mut self.in_dstep, true);
                let inner = self.block(sequence);
                self.in_dstep = outer;
                if let Some(inner) = inner {
                    self.flow.make_atomic(inner, true);
                    self.place(ElementKind::Block(BlockKind::DStep, inner), labels, span);
                }
            }
            StatementKind::Block(sequence) => {
                if let Some(inner) = self.block(sequence) {
                    self.place(ElementKind::Block(BlockKind::Plain, inner), labels, span);
                }
            }
            StatementKind::Unless { normal, escape } => self.unless(normal, escape, span),
            StatementKind::Else => self.place(ElementKind::Else, labels, span),
            StatementKind::Break => match self.flow.innermost_loop() {
                Some(target) => self.place(ElementKind::Goto(target), labels, span),
                None => self.context.error(span, "there is no loop to break out of"),
            },
            StatementKind::Goto(name) => {
                let target = Target::Label {
                    name: name.text.clone(),
                    scopes: self.scopes(),
                    span: name.span,
                };
                self.place(ElementKind::Goto(target), labels, span);
            }
            basic => {
                let action = self.context.action(basic, span);
                if self.in_dstep
                    && action
                        .effects
                        .iter()
                        .any(|effect| matches!(effect, Effect::Spawn { .. }))
                {
                    self.context
                        .unsupported(span, "`run` is not possible in a d_step; use atomic");
                }
                self.place(ElementKind::Action(action), labels, span);
            }
        }
    }

    fn exclusive_access(&mut self, paths: &[Path]) {
        for path in paths {
            let Some(first) = path.elements.first() else {
                continue;
            };
            match self.context.find(&first.name.text) {
                None => self.context.report_unknown(&first.name),
                Some(info) if path.elements.len() == 1 && info.shape.kind != Type::Channel => {
                    let message = format!("`{}` is not a channel", first.name.text);
                    self.context.error(path.span, message);
                }
                Some(_) => {}
            }
        }
    }

    fn options(&mut self, options: &[Sequence]) -> Vec<SequenceId> {
        let mut sequences = Vec::new();
        for option in options {
            self.flow.open_sequence();
            for statement in &option.statements {
                self.statement(statement);
            }
            if let Some(sequence) = self.close(option.span, false) {
                self.flow.prune_skips(sequence);
                sequences.push(sequence);
            }
        }
        sequences
    }

    fn choice(
        &mut self,
        options: Vec<SequenceId>,
        exit_of: Option<usize>,
        labels: &[Name],
        span: Span,
    ) {
        match self.flow.add_choice(options, exit_of, span) {
            Ok(choice) => self.label(labels, choice),
            Err(problem) => self.report(problem),
        }
    }

    fn unless(&mut self, normal: &Statement, escape: &Statement, span: Span) {
        if self.in_dstep {
            self.context
                .unsupported(span, "`unless` is not possible in a d_step");
            return;
        }
        let lifted = matches!(
            normal.kind,
            StatementKind::Block(_) | StatementKind::Atomic(_) | StatementKind::DStep(_)
        ) && normal.labels.len() == 1;
        let normal_sequence = match &normal.kind {
            StatementKind::Block(sequence) if normal.labels.is_empty() || lifted => {
                self.block(sequence)
            }
            StatementKind::Atomic(sequence) if lifted => {
                let inner = self.block(sequence);
                if let Some(inner) = inner {
                    self.flow.make_atomic(inner, false);
                }
                inner
            }
            StatementKind::DStep(_) if lifted => {
                self.context.unsupported(
                    span,
                    "a label before `d_step { .. } unless` is not supported; put both into braces after the label",
                );
                return;
            }
            _ => self.sequence_of(normal),
        };
        let before_escape = self.flow.made();
        let escape_sequence = match &escape.kind {
            StatementKind::Block(sequence) if escape.labels.is_empty() => self.block(sequence),
            _ => self.sequence_of(escape),
        };
        let (Some(normal_sequence), Some(escape_sequence)) = (normal_sequence, escape_sequence)
        else {
            return;
        };
        if !lifted {
            let own = own_elements(normal);
            self.flow
                .number_later(before_escape.saturating_sub(own), own);
            self.flow.add_unless(normal_sequence, escape_sequence, span);
            return;
        }
        // The label moves to a block around both parts.
        self.flow.open_sequence();
        self.flow.add_unless(normal_sequence, escape_sequence, span);
        if let Some(inner) = self.close(span, false) {
            let kind = match normal.kind {
                StatementKind::Atomic(_) => BlockKind::Atomic,
                _ => BlockKind::Plain,
            };
            self.place(ElementKind::Block(kind, inner), &normal.labels, span);
        }
    }

    fn sequence_of(&mut self, statement: &Statement) -> Option<SequenceId> {
        self.flow.open_sequence();
        self.statement(statement);
        self.close(statement.span, true)
    }

    /// A counter must be a plain variable.
    fn counter(&mut self, path: &Path) -> bool {
        let single = path.elements.len() == 1 && path.elements[0].index.is_none();
        match self.context.lookup(path) {
            Some(Found::Cell(cell)) if single && !cell.is_channel => true,
            Some(_) => {
                self.context
                    .error(path.span, "the counter must be a plain variable");
                false
            }
            None => false,
        }
    }

    fn store_action(&mut self, target: &Path, value: &Syntax) -> Action {
        let span = target.span.to(value.span);
        let text = format!(
            "{} = {}",
            self.context.text(target.span),
            self.context.text(value.span)
        );
        let value = self.context.value(value);
        match self.context.cell(target) {
            Some(cell) => self
                .context
                .store(cell.place, cell.checks, value, text, span),
            None => Action::skip(text, span),
        }
    }

    fn increment_action(&mut self, target: &Path) -> Action {
        let text = format!("{}++", self.context.text(target.span));
        self.context.increment(target, 1, text, target.span)
    }

    fn compare_action(&mut self, target: &Path, operator: BinaryOp, bound: &Syntax) -> Action {
        let sign = if operator == BinaryOp::SLt { "<" } else { "<=" };
        let text = format!(
            "{} {sign} {}",
            self.context.text(target.span),
            self.context.text(bound.span)
        );
        let bound_value = self.context.value(bound);
        let span = target.span.to(bound.span);
        let Some(cell) = self.context.cell(target) else {
            return Action::skip(text, span);
        };
        let counter = cell_value(cell);
        let mut checks = counter.checks.clone();
        checks.extend(bound_value.checks.clone());
        let mut value = Value::number(fold_binary(
            operator,
            counter.into_number(),
            bound_value.into_number(),
        ));
        value.checks = checks;
        Action::condition(value, text, span)
    }

    /// `do :: condition -> .. :: else -> break od`, or without the `else`.
    fn counting_loop(&mut self, main: SequenceId, with_else: bool, labels: &[Name], span: Span) {
        self.flow.open_sequence();
        if with_else {
            self.place(ElementKind::Else, &[], span);
        }
        if let Some(target) = self.flow.innermost_loop() {
            self.place(ElementKind::Goto(target), &[], span);
        }
        let exit = self.close(span, false);
        let number = self.flow.leave_loop();
        if let Some(exit) = exit {
            self.choice(vec![exit, main], number, labels, span);
        }
    }

    fn for_range(
        &mut self,
        variable: &Path,
        from: &Syntax,
        to: &Syntax,
        body: &Sequence,
        labels: &[Name],
        span: Span,
    ) {
        if !self.counter(variable) {
            return;
        }
        self.flow.enter_loop();
        let start = self.store_action(variable, from);
        self.flow.add_action(start);
        self.flow.open_sequence();
        let condition = self.compare_action(variable, BinaryOp::SLe, to);
        self.flow.add_action(condition);
        self.in_scope(|inner| {
            for statement in &body.statements {
                inner.statement(statement);
            }
        });
        let increment = self.increment_action(variable);
        self.flow.add_action(increment);
        if let Some(main) = self.close(span, false) {
            self.counting_loop(main, true, labels, span);
        }
    }

    fn for_in(
        &mut self,
        variable: &Path,
        container: &Path,
        body: &Sequence,
        labels: &[Name],
        span: Span,
    ) {
        let [element] = container.elements.as_slice() else {
            self.context.error(
                container.span,
                "`for .. in` takes the plain name of an array or a channel",
            );
            return;
        };
        let Some(info) = self.context.find(&element.name.text).cloned() else {
            self.context.report_unknown(&element.name);
            return;
        };
        if element.index.is_none()
            && let Some(length) = info.shape.length
        {
            let number = |value: u32| Syntax {
                kind: ExprKind::Number(value as i32),
                span: container.span,
                height: 1,
            };
            self.for_range(
                variable,
                &number(0),
                &number(length - 1),
                body,
                labels,
                span,
            );
            return;
        }
        self.for_messages(variable, container, &info, body, labels, span);
    }

    /// `for (m in q)`: takes each message out and puts it back at the end.
    fn for_messages(
        &mut self,
        variable: &Path,
        container: &Path,
        info: &VariableInfo,
        body: &Sequence,
        labels: &[Name],
        span: Span,
    ) {
        let cells = match self.context.lookup(variable) {
            Some(Found::Structure(cells)) => cells,
            Some(Found::Cell(_)) => {
                self.context.error(
                    variable.span,
                    format!(
                        "`{}` is not an array, and only structures can be taken from a channel",
                        info.name
                    ),
                );
                return;
            }
            None => return,
        };
        let Some(shape) = info.channel.clone() else {
            self.context.error(
                container.span,
                "the channel must be declared with its messages",
            );
            return;
        };
        let types: Vec<Ty> = shape.fields.iter().map(|field| field.ty).collect();
        let wanted: Vec<Ty> = cells.iter().map(|cell| cell.place.ty).collect();
        if types != wanted || shape.capacity == 0 {
            self.context.error(
                span,
                "the messages of the channel must be structures of the type of the variable",
            );
            return;
        }
        let counter = self.message_counter(
            if shape.capacity > 255 {
                Ty::SHORT
            } else {
                Ty::BYTE
            },
            span,
        );
        let Some(channel) = self.context.channel(container) else {
            return;
        };
        self.flow.enter_loop();
        let read = |value: Expr| value.resize(32, counter.ty.signed);
        let start = Value::constant(0);
        let action = self.context.store(
            counter.clone(),
            Vec::new(),
            start,
            "counter = 0".to_string(),
            span,
        );
        self.flow.add_action(action);
        self.flow.open_sequence();
        let length = Expr::ChannelLen(Box::new(channel.expr.clone()));
        let below = fold_binary(BinaryOp::SLt, read(Expr::Read(counter.clone())), length);
        let text = self.context.text(container.span);
        self.flow.add_action(Action::condition(
            Value::number(below),
            format!("counter < len({text})"),
            span,
        ));
        let (receive, send) = self.rotate(&cells, container, &text, span);
        self.flow.add_action(receive);
        self.flow.add_action(send);
        self.in_scope(|inner| {
            for statement in &body.statements {
                inner.statement(statement);
            }
        });
        let next = fold_binary(
            BinaryOp::Add,
            read(Expr::Read(counter.clone())),
            Expr::int(1),
        );
        let action = self.context.store(
            counter,
            Vec::new(),
            Value::number(next),
            "counter++".to_string(),
            span,
        );
        self.flow.add_action(action);
        if let Some(main) = self.close(span, false) {
            self.counting_loop(main, true, labels, span);
        }
    }

    fn rotate(
        &mut self,
        cells: &[Cell],
        container: &Path,
        name: &str,
        span: Span,
    ) -> (Action, Action) {
        let checks: Vec<_> = cells.iter().flat_map(|cell| cell.checks.clone()).collect();
        let values = cells
            .iter()
            .map(|cell| Expr::Read(cell.place.clone()).resize(32, cell.place.ty.signed))
            .collect();
        let args: Vec<ReceiveArg> = cells
            .iter()
            .map(|cell| ReceiveArg::Store(cell.place.clone()))
            .collect();
        let skip = || Action::skip("", span);
        let Some(channel) = self.context.channel(container) else {
            return (skip(), skip());
        };
        let mut receive = Action {
            is_skip: false,
            text: format!("{name}?"),
            executable: Expr::CanReceive {
                channel: Box::new(channel.expr.clone()),
                args: args.clone(),
                random: false,
            },
            effects: vec![Effect::Receive {
                channel: channel.expr.clone(),
                args,
                random: false,
                peek: false,
            }],
            ..skip()
        };
        receive.checks = channel.checks.clone();
        let receiver = (self.context).exclusive_checks(&channel.expr, &[ChannelEnd::Receive], span);
        receive.checks.extend(receiver);
        receive.checks.extend(checks.clone());
        let send =
            self.context
                .send_action(channel, values, false, checks, format!("{name}!"), span);
        (receive, send)
    }

    /// The hidden counter of a loop over messages, one for each scope.
    fn message_counter(&mut self, ty: Ty, span: Span) -> Place {
        let numbers: Vec<String> = self.scopes().iter().map(u32::to_string).collect();
        let name: Rc<str> = Rc::from(format!("counter of messages {}", numbers.join(".")));
        let info = match self.context.find(&name).cloned() {
            Some(info) => info,
            None => {
                let first = match self.context.process {
                    Some(process) => {
                        let locals = &mut self.context.processes[process].locals;
                        locals.push(Variable {
                            name: name.to_string(),
                            ty,
                            len: 1,
                            is_array: false,
                            init: Init::All(0),
                            symbols: None,
                            addressable: false,
                            names: CellNames::default(),
                            span: Some(span),
                        });
                        locals.len() as u32 - 1
                    }
                    None => 0,
                };
                let info = VariableInfo {
                    name,
                    span,
                    shape: Shape {
                        kind: Type::Scalar(ty),
                        length: None,
                    },
                    is_global: false,
                    first,
                    fixed_channels: None,
                    channel: None,
                    constant: None,
                };
                self.context.make_visible(info.clone());
                info
            }
        };
        let ty = match info.shape.kind {
            Type::Scalar(ty) => ty,
            _ => ty,
        };
        Place::scalar(info.leaf(0), ty)
    }

    fn select(
        &mut self,
        variable: &Path,
        from: &Syntax,
        to: &Syntax,
        literal: bool,
        labels: &[Name],
        span: Span,
    ) {
        if !self.counter(variable) {
            return;
        }
        if literal && let (ExprKind::Number(low), ExprKind::Number(high)) = (&from.kind, &to.kind) {
            if low > high {
                self.context
                    .error(span, "the first bound is above the second");
                return;
            }
            if i64::from(*high) - i64::from(*low) <= i64::from(LITERAL_SELECT_LIMIT) {
                self.select_by_options(variable, *low..=*high, labels, span);
                return;
            }
            // The label marks the assignment here, not the loop.
            let start = self.store_action(variable, from);
            self.place(ElementKind::Action(start), labels, span);
            self.flow.enter_loop();
            let main = self.selecting_option(variable, to, span);
            self.flow.open_sequence();
            if let Some(target) = self.flow.innermost_loop() {
                self.place(ElementKind::Goto(target), &[], span);
            }
            let exit = self.close(span, false);
            let number = self.flow.leave_loop();
            if let (Some(main), Some(exit)) = (main, exit) {
                self.choice(vec![main, exit], number, &[], span);
            }
            return;
        }
        let start = self.store_action(variable, from);
        self.flow.add_action(start);
        self.flow.enter_loop();
        if let Some(main) = self.selecting_option(variable, to, span) {
            self.counting_loop(main, false, labels, span);
        }
    }

    /// `:: variable < to -> variable++`.
    fn selecting_option(&mut self, variable: &Path, to: &Syntax, span: Span) -> Option<SequenceId> {
        self.flow.open_sequence();
        let condition = self.compare_action(variable, BinaryOp::SLt, to);
        self.flow.add_action(condition);
        let increment = self.increment_action(variable);
        self.flow.add_action(increment);
        self.close(span, false)
    }

    fn select_by_options(
        &mut self,
        variable: &Path,
        values: std::ops::RangeInclusive<i32>,
        labels: &[Name],
        span: Span,
    ) {
        let mut options = Vec::new();
        for value in values {
            self.flow.open_sequence();
            let number = Syntax {
                kind: ExprKind::Number(value),
                span,
                height: 1,
            };
            let mut action = self.store_action(variable, &number);
            action.text = format!("{} = {value}", self.context.text(variable.span));
            self.flow.add_action(action);
            options.extend(self.close(span, false));
        }
        self.choice(options, None, labels, span);
    }
}
