//! Checks names and types of a syntax tree and resolves it to a program.
//!
//! Predicates and procedures are expanded where they are used; each may use
//! only those declared before it, so there is no recursion. All errors of a
//! file are reported together.

use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use super::program::*;
use super::resolve_expr::Ty;
use super::syntax::*;
use crate::property::{Property, Update};

/// Expansion stops here, lest predicates that use each other twice explode.
const MAX_NODES: usize = 200_000;

pub fn resolve(file: &File) -> Result<Program, Vec<Diagnostic>> {
    let mut resolver = Resolver::default();
    let program = resolver.file(file);
    match program {
        Some(program) if resolver.errors.is_empty() => Ok(program),
        _ => Err(resolver.errors),
    }
}

/// The names bound at a place: name, slot, kind.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) bound: Vec<(String, usize, IndexKind)>,
    pub(super) next_slot: usize,
}

impl Scope {
    fn acting_thread() -> Scope {
        let bound = vec![("t".to_string(), ACTING_THREAD, IndexKind::Thread)];
        Scope {
            bound,
            // The slot of the command's variable stays reserved.
            next_slot: COMMAND_VARIABLE + 1,
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, IndexKind)> {
        let found = self.bound.iter().rev().find(|(n, _, _)| n == name)?;
        Some((found.1, found.2))
    }
}

#[derive(Default)]
pub(super) struct Resolver {
    errors: Vec<Diagnostic>,
    pub(super) fields: Vec<Field>,
    pub(super) predicates: Vec<Predicate>,
    procedures: Vec<Procedure>,
    step_names: Vec<String>,
    /// Whether a time plus 1 is compared.
    pub(super) asks_distance: bool,
    /// Whether there is `on begin`, which makes `snapshot` and `old_read` steps
    /// with a meaning.
    takes_snapshots: bool,
    /// While a manager is resolved, its index: it may only change its state.
    manager: Option<usize>,
    nodes: usize,
}

/// `None` after an error, which is then in `errors`.
pub(super) type Resolved<T> = Option<T>;

impl Resolver {
    pub(super) fn error<T>(&mut self, message: impl Into<String>, span: Span) -> Resolved<T> {
        self.errors
            .push(Diagnostic::coded("T010", message).at(span, ""));
        None
    }

    /// Not if there are errors: a body that names itself, which is one of them, has no end.
    pub(super) fn may_expand(&self) -> Resolved<()> {
        self.errors.is_empty().then_some(())
    }

    pub(super) fn count_node(&mut self, span: Span) -> Resolved<()> {
        self.nodes += 1;
        if self.nodes == MAX_NODES {
            return self.error(
                "the algorithm is too large once predicates are expanded",
                span,
            );
        }
        (self.nodes < MAX_NODES).then_some(())
    }

    fn file(&mut self, file: &File) -> Resolved<Program> {
        let mut update = None;
        let mut expectations = Vec::new();
        let mut require = Code::TRUE;
        let mut commands: [Option<CommandCode>; COMMANDS.len()] = Default::default();
        let mut conflicts = [Code::FALSE; COMMANDS.len()];
        self.takes_snapshots = (file.items.iter())
            .any(|item| matches!(item, Item::Command(rules) if rules.command.name.text == "begin"));
        let mut abort = None;
        self.declare(file);
        for item in &file.items {
            match item {
                Item::Update(name) => update = self.update(name).or(update),
                Item::Expect(expectation) => {
                    expectations.extend(self.expectation(expectation, file));
                }
                Item::State(_) | Item::Manager(_) => {}
                Item::Predicate(predicate) => self.predicate(predicate),
                Item::Procedure(procedure) => self.procedure(procedure),
                Item::Require(guard) => {
                    let guard = self.condition(guard, &mut Scope::acting_thread());
                    require = require.and(guard.unwrap_or(Code::TRUE));
                }
                Item::Conflict(conflict) => {
                    if let Some((command, code)) = self.conflict(conflict) {
                        let known = std::mem::replace(&mut conflicts[command], Code::FALSE);
                        conflicts[command] = Code::Or(Box::new(known), Box::new(code));
                    }
                }
                Item::Command(rules) => {
                    if let Some((command, code)) = self.command(rules) {
                        if let Some(known) = &commands[command] {
                            let error = Diagnostic::coded(
                                "T010",
                                format!("`on {}` is given twice", rules.command.name.text),
                            )
                            .at(rules.command.name.span, "")
                            .related(known.span, "first given here");
                            self.errors.push(error);
                        }
                        commands[command] = Some(code);
                    }
                }
                Item::Abort { keyword, body } => {
                    if abort.is_some() {
                        self.error::<()>("`on abort` is given twice", *keyword);
                    }
                    let mut scope = Scope::acting_thread();
                    abort = Some(self.block(body, &mut scope).unwrap_or_default());
                }
            }
        }
        let managers = self.managers(file);
        for (command, given) in COMMANDS.iter().zip(&commands).take(3) {
            if given.is_none() && self.errors.is_empty() {
                self.error::<()>(
                    format!(
                        "`on {command}` is missing: an algorithm says how each of read, write and commit is executed (rule 5 of Section 3)"
                    ),
                    file.name.span,
                );
            }
        }
        let Some(abort) = abort else {
            if self.errors.is_empty() {
                self.error::<()>(
                    "`on abort` is missing: say what an abort resets, or write `on abort { }`",
                    file.name.span,
                );
            }
            return None;
        };
        self.refuse_odd_commands(&commands, update.unwrap_or_default());
        let mut commands = commands.into_iter();
        let mut next = || commands.next().flatten();
        let (read, write, commit) = (next(), next(), next());
        let extra = std::array::from_fn(|_| next());
        let mut program = Program {
            name: file.name.text.clone(),
            update: update.unwrap_or_default(),
            fields: std::mem::take(&mut self.fields),
            step_names: std::mem::take(&mut self.step_names),
            read: read?,
            write: write?,
            commit: commit?,
            extra,
            abort,
            managers,
            asks_distance: self.asks_distance,
            expectations,
        };
        let paper = [&mut program.read, &mut program.write, &mut program.commit].map(Some);
        let parts = paper
            .into_iter()
            .chain(program.extra.iter_mut().map(Option::as_mut));
        for (command, conflict) in parts.zip(conflicts) {
            let Some(command) = command else { continue };
            command.conflict = conflict;
            for step in &mut command.steps {
                let guard = std::mem::replace(&mut step.guard, Code::TRUE);
                step.guard = require.clone().and(guard);
            }
        }
        Some(program)
    }

    /// Commands that need each other, and what only deferred update has.
    fn refuse_odd_commands(&mut self, commands: &[Option<CommandCode>], update: Update) {
        let given = |name: &str| {
            let at = COMMANDS.iter().position(|command| *command == name)?;
            commands[at].as_ref().map(|code| code.span)
        };
        for (one, other) in [
            ("begin_read_only", "begin"),
            ("nest", "merge"),
            ("nest", "undo"),
            ("merge", "nest"),
            ("undo", "nest"),
        ] {
            if let (Some(span), None) = (given(one), given(other)) {
                self.error::<()>(format!("`on {one}` needs `on {other}`"), span);
            }
        }
        let extra = COMMANDS[3..].iter().find_map(|name| {
            given(name)
                .filter(|_| *name != ExtraCommand::Retry.name())
                .map(|span| (name, span))
        });
        if let (Some((name, span)), Update::Direct) = (extra, update) {
            self.error::<()>(
                format!("`on {name}` is defined for deferred update only"),
                span,
            );
        }
    }

    /// Declares all fields first: an item may use a field declared below it.
    fn declare(&mut self, file: &File) {
        let mut manager = 0;
        for item in &file.items {
            match item {
                Item::State(block) => self.state_block(block, None),
                Item::Manager(declared) => {
                    for block in &declared.state {
                        self.state_block(block, Some(manager));
                    }
                    manager += 1;
                }
                _ => {}
            }
        }
    }

    fn update(&mut self, name: &Name) -> Resolved<Update> {
        match name.text.as_str() {
            "deferred" => Some(Update::Deferred),
            "direct" => Some(Update::Direct),
            _ => self.error("expected `deferred` or `direct`", name.span),
        }
    }

    fn expectation(&mut self, expectation: &Expectation, file: &File) -> Resolved<Expected> {
        let Some(property) = Property::from_name(&expectation.property.text) else {
            let names = Property::ALL.map(Property::name).join(", ");
            return self.error(
                format!("no such property; there are {names}"),
                expectation.property.span,
            );
        };
        let holds = match expectation.verdict.text.as_str() {
            "holds" => true,
            "violated" => false,
            _ => return self.error("expected `holds` or `violated`", expectation.verdict.span),
        };
        if let Some(manager) = &expectation.manager {
            let own = file.items.iter().any(
                |item| matches!(item, Item::Manager(known) if known.name.text == manager.text),
            );
            if !own && !BUILT_IN_MANAGERS.contains(&manager.text.as_str()) {
                return self.error(
                    format!("there is no contention manager `{}`", manager.text),
                    manager.span,
                );
            }
        }
        Some(Expected {
            weak: expectation.weak,
            property,
            manager: expectation.manager.as_ref().map(|name| name.text.clone()),
            holds,
        })
    }

    fn state_block(&mut self, block: &StateBlock, manager: Option<usize>) {
        for field in &block.fields {
            if let Some(known) = self.fields.iter().find(|f| f.name == field.name.text) {
                let error =
                    Diagnostic::coded("T010", format!("`{}` is declared twice", field.name.text))
                        .at(field.name.span, "")
                        .related(known.span, "first declared here");
                self.errors.push(error);
                continue;
            }
            let ty = self.type_of(&field.ty);
            let initial = match &field.initial {
                None => match ty {
                    Type::Range { low, .. } => Initial::Constant(low),
                    _ => Initial::Constant(0),
                },
                Some(value) => self.initial(&ty, value).unwrap_or(Initial::Constant(0)),
            };
            self.fields.push(Field {
                name: field.name.text.clone(),
                place: block.place,
                ty,
                initial,
                manager,
                span: field.name.span,
            });
        }
    }

    fn type_of(&mut self, syntax: &TypeSyntax) -> Type {
        match syntax {
            TypeSyntax::Enumeration(names) => {
                for (at, name) in names.iter().enumerate() {
                    if names[..at].iter().any(|known| known.text == name.text) {
                        self.error::<()>(format!("`{}` is listed twice", name.text), name.span);
                    }
                }
                if names.len() > 256 {
                    self.error::<()>("an enumeration has at most 256 values", names[256].span);
                }
                Type::Enumeration(names.iter().map(|name| name.text.clone()).collect())
            }
            TypeSyntax::VariableSet => Type::VariableSet,
            TypeSyntax::ThreadSet => Type::ThreadSet,
            TypeSyntax::Bool => Type::Bool,
            TypeSyntax::Range { low, high } => Type::Range {
                low: *low,
                high: *high,
            },
            TypeSyntax::ThreadOrNone => Type::ThreadOrNone,
            TypeSyntax::Time => Type::Time,
        }
    }

    fn initial(&mut self, ty: &Type, value: &Expr) -> Resolved<Initial> {
        let code = self.typed(value, &Ty::of(ty), &mut Scope::default())?;
        match (code, ty) {
            (Code::Constant(number), Type::Range { low, high }) => {
                if (i32::from(*low)..=i32::from(*high)).contains(&number) {
                    Some(Initial::Constant(number as u8))
                } else {
                    self.error(format!("must lie in {low}..{high}"), value.span)
                }
            }
            (Code::Constant(number), _) => Some(Initial::Constant(number as u8)),
            (Code::Everything(_), _) => Some(Initial::Everything),
            _ => self.error("an initial value must be a constant", value.span),
        }
    }

    pub(super) fn fresh_slot(&mut self, scope: &mut Scope, span: Span) -> Resolved<usize> {
        let slot = scope.next_slot;
        if slot == MAX_SLOTS {
            return self.error("too many names are bound here at once", span);
        }
        scope.next_slot += 1;
        Some(slot)
    }

    /// Resolves a declaration's body once where it stands, for its errors.
    fn predicate(&mut self, predicate: &Predicate) {
        if let Some(mut scope) = self.param_scope(&predicate.params) {
            let _checked = self.condition(&predicate.body, &mut scope);
        }
        self.refuse_duplicate(&predicate.name);
        self.predicates.push(predicate.clone());
    }

    fn procedure(&mut self, procedure: &Procedure) {
        if let Some(mut scope) = self.param_scope(&procedure.params) {
            let _checked = self.block(&procedure.body, &mut scope);
        }
        self.refuse_duplicate(&procedure.name);
        self.procedures.push(procedure.clone());
    }

    fn refuse_duplicate(&mut self, name: &Name) {
        let known = (self.predicates.iter().map(|p| &p.name))
            .chain(self.procedures.iter().map(|p| &p.name))
            .find(|known| known.text == name.text)
            .map(|known| known.span)
            .or_else(|| {
                let field = self.fields.iter().find(|f| f.name == name.text);
                field.map(|field| field.span)
            });
        if let Some(first) = known {
            let error = Diagnostic::coded("T010", format!("`{}` is declared twice", name.text))
                .at(name.span, "")
                .related(first, "first declared here");
            self.errors.push(error);
        }
    }

    fn param_scope(&mut self, params: &[Param]) -> Resolved<Scope> {
        let mut scope = Scope {
            bound: Vec::new(),
            next_slot: COMMAND_VARIABLE + 1,
        };
        for param in params {
            let slot = self.fresh_slot(&mut scope, param.name.span)?;
            scope
                .bound
                .push((param.name.text.clone(), slot, param.kind));
        }
        Some(scope)
    }

    /// The command of a pattern and the scope of what is said about it.
    fn command_pattern(&mut self, pattern: &Pattern) -> Resolved<(usize, Scope)> {
        let name = pattern.name.text.as_str();
        let Some(command) = COMMANDS.iter().position(|c| *c == name) else {
            return self.error(
                format!(
                    "expected `read(v)`, `write(v)`, `commit`, `{}` or `abort`",
                    COMMANDS[3..].join("`, `")
                ),
                pattern.name.span,
            );
        };
        let names_variable = NAMES_VARIABLE.contains(&name);
        let mut scope = Scope::acting_thread();
        match (&pattern.param, name) {
            (Some(param), _) if !names_variable => {
                return self.error(format!("{name} names no variable"), param.span);
            }
            (None, _) if names_variable => {
                return self.error(
                    format!("`{name}` names its variable: write `{name}(v)`"),
                    pattern.name.span,
                );
            }
            (Some(param), _) => {
                self.refuse_acting_thread(param)?;
                scope
                    .bound
                    .push((param.text.clone(), COMMAND_VARIABLE, IndexKind::Variable));
            }
            (None, _) => {}
        }
        Some((command, scope))
    }

    pub(super) fn refuse_acting_thread(&mut self, name: &Name) -> Resolved<()> {
        if name.text == "t" {
            return self.error("`t` is the acting thread", name.span);
        }
        Some(())
    }

    fn conflict(&mut self, conflict: &Conflict) -> Resolved<(usize, Code)> {
        let (command, mut scope) = self.command_pattern(&conflict.command)?;
        let code = match &conflict.when {
            Some(when) => self.condition(when, &mut scope)?,
            None => Code::TRUE,
        };
        Some((command, code))
    }

    fn step_name(&mut self, name: &str) -> usize {
        match self.step_names.iter().position(|known| known == name) {
            Some(index) => index,
            None => {
                self.step_names.push(name.to_string());
                self.step_names.len() - 1
            }
        }
    }

    fn command(&mut self, rules: &CommandRules) -> Resolved<(usize, CommandCode)> {
        let (command, scope) = self.command_pattern(&rules.command)?;
        let mut steps = Vec::new();
        for rule in &rules.rules {
            steps.extend(self.rule(rule, command, scope.clone()));
        }
        Some((
            command,
            CommandCode {
                steps,
                conflict: Code::FALSE,
                span: rules.command.name.span,
            },
        ))
    }

    fn rule(&mut self, rule: &Rule, command: usize, mut scope: Scope) -> Resolved<Step> {
        let name = rule.step.name.text.as_str();
        let emits = match (COMMANDS[command], name) {
            (command, name) if command == name => Emits::Command,
            ("read", "old_read") if self.takes_snapshots => Emits::OldRead,
            ("read" | "write" | "commit", "snapshot") if self.takes_snapshots => Emits::Snapshot,
            _ => Emits::Nothing,
        };
        let is_command = matches!(emits, Emits::Command | Emits::OldRead);
        if name == "abort" || name == "step" || (!is_command && COMMANDS[..3].contains(&name)) {
            return self.error(
                format!("`{name}` cannot be a step of `{}`", COMMANDS[command]),
                rule.step.name.span,
            );
        }
        let command_variable = scope
            .bound
            .iter()
            .find(|(_, slot, _)| *slot == COMMAND_VARIABLE)
            .map(|(name, _, _)| name.clone());
        let mut chooses_variable = false;
        let param = match &rule.step.param {
            None if is_command => command_variable.is_some().then_some(COMMAND_VARIABLE),
            None => None,
            Some(param) if command_variable.as_deref() == Some(param.text.as_str()) => {
                Some(COMMAND_VARIABLE)
            }
            Some(param) if is_command => {
                return self.error("the command is executed on its own variable", param.span);
            }
            Some(param) => {
                self.refuse_acting_thread(param)?;
                chooses_variable = true;
                let slot = self.fresh_slot(&mut scope, param.span)?;
                scope
                    .bound
                    .push((param.text.clone(), slot, IndexKind::Variable));
                Some(slot)
            }
        };
        let response = match &rule.response {
            Some(response) if response.text == "pending" => Response::Pending,
            Some(_) => Response::Done,
            None if is_command => Response::Done,
            None => Response::Pending,
        };
        let guard = match &rule.when {
            Some(when) => self.condition(when, &mut scope),
            None => Some(Code::TRUE),
        };
        let effects = self.block(&rule.body, &mut scope);
        Some(Step {
            name: self.step_name(name),
            param,
            chooses_variable,
            emits,
            response,
            guard: guard?,
            effects: effects?,
            span: rule.span,
        })
    }

    fn managers(&mut self, file: &File) -> Vec<ManagerCode> {
        let mut managers: Vec<ManagerCode> = Vec::new();
        for item in &file.items {
            let Item::Manager(manager) = item else {
                continue;
            };
            let name = &manager.name;
            if BUILT_IN_MANAGERS.contains(&name.text.as_str())
                || managers.iter().any(|known| known.name == name.text)
            {
                self.error::<()>(
                    format!("there already is a contention manager `{}`", name.text),
                    name.span,
                );
            }
            self.manager = Some(managers.len());
            let mut reactions = Vec::new();
            for reaction in &manager.reactions {
                reactions.extend(self.reaction(reaction));
            }
            self.manager = None;
            managers.push(ManagerCode {
                name: name.text.clone(),
                reactions,
            });
        }
        managers
    }

    fn reaction(&mut self, reaction: &Reaction) -> Resolved<ManagerReaction> {
        let name = &reaction.step.name;
        let pattern = match name.text.as_str() {
            "abort" => StepPattern::Abort,
            "step" => StepPattern::AnyButAbort,
            text => match self.step_names.iter().position(|known| known == text) {
                Some(index) => StepPattern::Named(index),
                None => {
                    let known = self.step_names.join(", ");
                    return self.error(
                        format!("no such extended command; there are {known}, step and abort"),
                        name.span,
                    );
                }
            },
        };
        let mut scope = Scope::acting_thread();
        let param = match &reaction.step.param {
            Some(param) if matches!(pattern, StepPattern::Named(_)) => {
                self.refuse_acting_thread(param)?;
                let slot = self.fresh_slot(&mut scope, param.span)?;
                scope
                    .bound
                    .push((param.text.clone(), slot, IndexKind::Variable));
                Some(slot)
            }
            Some(param) => {
                return self.error("only a named command has a variable", param.span);
            }
            None => None,
        };
        let guard = match &reaction.when {
            Some(when) => self.condition(when, &mut scope)?,
            None => Code::TRUE,
        };
        let effects = self.block(&reaction.body, &mut scope)?;
        Some(ManagerReaction {
            pattern,
            param,
            guard,
            effects,
        })
    }

    fn block(&mut self, statements: &[Stmt], scope: &mut Scope) -> Resolved<Vec<Effect>> {
        let mut effects = Vec::new();
        let mut complete = true;
        for statement in statements {
            match self.statement(statement, scope) {
                Some(more) => effects.extend(more),
                None => complete = false,
            }
        }
        complete.then_some(effects)
    }

    fn statement(&mut self, statement: &Stmt, scope: &mut Scope) -> Resolved<Vec<Effect>> {
        self.count_node(statement.span)?;
        match &statement.kind {
            StmtKind::Assign { target, op, value } => {
                let assigned = self.assignment(target, *op, value, statement.span, scope)?;
                Some(vec![assigned])
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.condition(condition, scope);
                let then = self.block(then, scope);
                let otherwise = self.block(otherwise, scope);
                Some(vec![Effect::If {
                    condition: condition?,
                    then: then?,
                    otherwise: otherwise?,
                }])
            }
            StmtKind::For {
                binder,
                condition,
                body,
            } => {
                let mut inner = scope.clone();
                let (slot, range) = self.binder(binder, &mut inner)?;
                let condition = match condition {
                    Some(condition) => self.condition(condition, &mut inner)?,
                    None => Code::TRUE,
                };
                let body = self.block(body, &mut inner)?;
                let order_free = super::order::visits_commute(slot, &body);
                Some(vec![Effect::For {
                    slot,
                    range,
                    condition,
                    body,
                    order_free,
                    span: statement.span,
                }])
            }
            StmtKind::Call { name, arguments } => {
                let found = self.procedures.iter().find(|p| p.name.text == name.text);
                let Some(procedure) = found.cloned() else {
                    return self.error(
                        format!("no procedure `{}` is declared above", name.text),
                        name.span,
                    );
                };
                let mut inner = self.bind(name, &procedure.params, arguments, scope)?;
                self.may_expand()?;
                self.block(&procedure.body, &mut inner)
            }
        }
    }

    /// The scope of an expanded body: its parameters stand for the arguments.
    pub(super) fn bind(
        &mut self,
        name: &Name,
        params: &[Param],
        arguments: &[Name],
        scope: &Scope,
    ) -> Resolved<Scope> {
        if params.len() != arguments.len() {
            return self.error(
                format!(
                    "`{}` takes {} arguments, but {} are given",
                    name.text,
                    params.len(),
                    arguments.len()
                ),
                name.span,
            );
        }
        let mut inner = Scope {
            bound: Vec::new(),
            next_slot: scope.next_slot,
        };
        for (param, argument) in params.iter().zip(arguments) {
            let slot = self.index(argument, param.kind, scope)?;
            inner
                .bound
                .push((param.name.text.clone(), slot, param.kind));
        }
        Some(inner)
    }

    pub(super) fn index(
        &mut self,
        name: &Name,
        wanted: IndexKind,
        scope: &Scope,
    ) -> Resolved<usize> {
        match scope.find(&name.text) {
            Some((slot, kind)) if kind == wanted => Some(slot),
            found => {
                let wanted = Ty::Index(wanted).describe();
                let message = match found {
                    Some((_, kind)) => format!(
                        "expected {wanted}, but `{}` is {}",
                        name.text,
                        Ty::Index(kind).describe()
                    ),
                    None => format!("expected {wanted}, but `{}` is not bound here", name.text),
                };
                self.error(message, name.span)
            }
        }
    }

    fn assignment(
        &mut self,
        target: &Target,
        op: AssignOp,
        value: &Expr,
        span: Span,
        scope: &mut Scope,
    ) -> Resolved<Effect> {
        let (field, index) = self.field_at(&target.field, target.index.as_ref(), scope)?;
        if self.manager.is_some() && self.fields[field].manager != self.manager {
            return self.error(
                "a contention manager changes only its own state",
                target.field.span,
            );
        }
        let ty = Ty::of(&self.fields[field].ty);
        if ty == Ty::Time && op == AssignOp::Add {
            if !matches!(value.kind, ExprKind::Number(1)) {
                return self.error("a time advances by 1", value.span);
            }
            let value = Code::Plus(
                Box::new(Code::Load { field, index }),
                Box::new(Code::Constant(1)),
            );
            return Some(Effect::Assign {
                field,
                index,
                value,
                span,
            });
        }
        let given = self.typed(value, &ty, scope)?;
        let load = || Box::new(Code::Load { field, index });
        let value = match (op, &ty) {
            (AssignOp::Set, _) => given,
            (AssignOp::Add, Ty::Set(_)) => Code::BitOr(load(), Box::new(given)),
            (AssignOp::Remove, Ty::Set(_)) => Code::BitAndNot(load(), Box::new(given)),
            (AssignOp::Add, Ty::Int) => Code::Plus(load(), Box::new(given)),
            (AssignOp::Remove, Ty::Int) => Code::Minus(load(), Box::new(given)),
            _ => {
                return self.error("`+=` and `-=` are for sets and numbers", target.field.span);
            }
        };
        Some(Effect::Assign {
            field,
            index,
            value,
            span,
        })
    }

    pub(super) fn field_at(
        &mut self,
        name: &Name,
        index: Option<&Name>,
        scope: &Scope,
    ) -> Resolved<(usize, Option<usize>)> {
        let Some(field) = self.fields.iter().position(|f| f.name == name.text) else {
            let known: Vec<&str> = self.fields.iter().map(|f| f.name.as_str()).collect();
            let message = format!(
                "there is no field `{}`; declared are: {}",
                name.text,
                known.join(", ")
            );
            return self.error(message, name.span);
        };
        let owner = self.fields[field].manager;
        if owner.is_some() && owner != self.manager {
            return self.error(
                format!(
                    "`{}` belongs to a contention manager, which alone sees it",
                    name.text
                ),
                name.span,
            );
        }
        let wanted = match self.fields[field].place {
            Place::Global => None,
            Place::Thread => Some(IndexKind::Thread),
            Place::Variable => Some(IndexKind::Variable),
        };
        match (wanted, index) {
            (None, None) => Some((field, None)),
            (None, Some(index)) => self.error(
                format!("`{}` is global and has no index", name.text),
                index.span,
            ),
            (Some(kind), Some(index)) => Some((field, Some(self.index(index, kind, scope)?))),
            (Some(kind), None) => {
                let of = match kind {
                    IndexKind::Thread => "thread: write it as in `(t)`",
                    IndexKind::Variable => "variable: write it as in `(v)`",
                };
                self.error(format!("`{}` is kept for each {of}", name.text), name.span)
            }
        }
    }
}

/// The commands of a program, in the order of [`Program`]'s parts: the paper's,
/// then those of [`ExtraCommand::ALL`].
const COMMANDS: [&str; 11] = [
    "read",
    "write",
    "commit",
    ExtraCommand::Begin.name(),
    ExtraCommand::BeginReadOnly.name(),
    ExtraCommand::PlainRead.name(),
    ExtraCommand::PlainWrite.name(),
    ExtraCommand::Nest.name(),
    ExtraCommand::Merge.name(),
    ExtraCommand::Undo.name(),
    ExtraCommand::Retry.name(),
];
const NAMES_VARIABLE: [&str; 4] = ["read", "write", "plain_read", "plain_write"];

pub const BUILT_IN_MANAGERS: [&str; 2] = ["aggressive", "polite"];
