//! A whole model: its declarations, then its bodies, then what runs at the
//! start.
//!
//! Processes that are `active` start in the order of the text, `init` among
//! them; their number is their `_pid`. Formulas, `never` and `trace`, and labels
//! that begin with `accept` or `progress` are the claims of the program.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use mover_ir::claim::{Check, Claim, ClaimKind};
use mover_ir::expr::Expr;
use mover_ir::program::{
    CellNames, Exclusive, Init, Instance, Location, LocationId, Program, ProgramInfo,
    SourceStatement, Template, TemplateId, Variable, VariableId,
};
use mover_ir::validate::validate;
use mover_source::diagnostic::Diagnostic;
use mover_source::{SourceMap, Span};

use crate::ast::{
    ActiveCount, Declaration, Init as InitUnit, Model, Monitor, MonitorKind, Name, Proctype,
    Sequence, StatementKind, Unit,
};
use crate::automaton::{self, Automaton};
use crate::body;
use crate::channel_flow::bound_unclear_messages;
use crate::claims;
use crate::constants::{InitialState, evaluate};
use crate::context::{Context, PROCESS_LIMIT, Process};
use crate::declare::Moment;
use crate::event_trace::{self, EventTrace};
use crate::exclusive_channels::ExclusiveChannels;
use crate::flow::LabelPlaces;
use crate::scopes::Scopes;
use crate::substitute::at_creation;
use crate::survey::survey;
use crate::types::{Type, Types};

/// For each edge of each location of each template: the number of its statement in
/// SPIN's trails, none for steps that are part of another one there.
pub type StatementNumbers = Vec<Vec<Vec<Option<u32>>>>;

/// Lowers a model; `None` if there are errors among the diagnostics.
pub fn lower(
    model: &Model,
    name: String,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Program, Option<StatementNumbers>)> {
    let facts = survey(model);
    let mut lowering = Lowering {
        context: Context {
            sources,
            diagnostics,
            types: Types {
                structs: Vec::new(),
            },
            type_names: HashMap::new(),
            symbols: Vec::new(),
            mtype_sets: HashMap::new(),
            mtypes: HashMap::new(),
            globals: Vec::new(),
            global_cells: 0,
            channels: Vec::new(),
            global_names: HashMap::new(),
            processes: Vec::new(),
            process_names: HashMap::new(),
            changed_names: facts.changed_names,
            lone_processes: HashMap::new(),
            unit: 0,
            process: None,
            in_monitor: false,
            claim_problem: None,
            uses_priorities: false,
            exclusive_channels: ExclusiveChannels::default(),
        },
        remote_labels: facts.remote_labels,
        run_names: facts.run_names,
        starts: Vec::new(),
        templates: Vec::new(),
        exclusive: Vec::new(),
        claims: Vec::new(),
        event_traces: Vec::new(),
        caveats: Vec::new(),
        statements: Vec::new(),
        statements_before: 0,
        statement_numbers: Vec::new(),
    };
    lowering.declare(model);
    lowering.find_lone_processes();
    lowering.exclusive_channels(model);
    lowering.bodies(model);
    lowering.exclusive(model);
    lowering.monitors(model, &facts.labels);
    let (program, numbers) = lowering.finish(name)?;
    // A claim is a process of its own in SPIN's trails.
    let is_claim = |unit: &Unit| matches!(unit, Unit::Ltl(_) | Unit::Monitor(_));
    let has_claim = model.units.iter().any(is_claim);
    Some((program, (!has_claim).then_some(numbers)))
}

struct Lowering<'a> {
    context: Context<'a>,
    remote_labels: HashSet<(Rc<str>, Rc<str>)>,
    run_names: HashSet<Rc<str>>,
    /// The processes that exist at the start, and their priorities.
    starts: Vec<(usize, u8)>,
    templates: Vec<Template>,
    exclusive: Vec<Exclusive>,
    claims: Vec<Claim>,
    event_traces: Vec<EventTrace>,
    caveats: Vec<String>,
    statements: Vec<SourceStatement>,
    /// How many statements the bodies so far have, in SPIN's count.
    statements_before: u32,
    statement_numbers: StatementNumbers,
}

impl Lowering<'_> {
    fn declare(&mut self, model: &Model) {
        for (number, unit) in model.units.iter().enumerate() {
            self.context.unit = number;
            match unit {
                Unit::Mtype(mtype) => self.context.declare_mtype(mtype),
                Unit::Typedef(typedef) => self.context.declare_typedef(typedef),
                Unit::Variables(declaration) => self.context.declare_globals(declaration),
                Unit::Proctype(proctype) => self.proctype(proctype),
                Unit::Init(init) => self.init(init),
                Unit::Ltl(_) | Unit::Monitor(_) | Unit::Exclusive(_) => {}
            }
        }
    }

    fn find_lone_processes(&mut self) {
        for (number, process) in self.context.processes.iter().enumerate() {
            let mut places = (0..self.starts.len()).filter(|&place| self.starts[place].0 == number);
            if let (Some(place), None) = (places.next(), places.next())
                && !self.run_names.contains(&process.name)
            {
                self.context.lone_processes.insert(number, place as u32);
            }
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        let name = &proctype.name;
        self.context.check_free(name);
        let process = self.process(
            name.text.clone(),
            name.span,
            &proctype.parameters,
            &proctype.body,
        );
        self.context
            .process_names
            .insert(name.text.clone(), process);
        let priority = self.priority(proctype.priority);
        if proctype.deterministic {
            self.caveats.push(format!(
                "that `{}` is deterministic (D_proctype) is not checked",
                name.text
            ));
        }
        let count = match &proctype.active {
            None => 0,
            Some(ActiveCount::One) => 1,
            Some(ActiveCount::Expr(syntax)) => self.context.size(syntax).unwrap_or(0),
        };
        self.start(process, count, priority, name.span);
    }

    fn init(&mut self, init: &InitUnit) {
        if let Some(&first) = self.context.process_names.get("init") {
            let first = self.context.processes[first].span;
            let diagnostic = Diagnostic::coded("P032", "there are two `init`")
                .at(init.span, "")
                .related(first, "the first is here");
            self.context.report(diagnostic);
        }
        let process = self.process(Rc::from("init"), init.span, &[], &init.body);
        self.context.process_names.insert(Rc::from("init"), process);
        let priority = self.priority(init.priority);
        self.start(process, 1, priority, init.span);
    }

    fn priority(&mut self, priority: Option<(i32, Span)>) -> u8 {
        let Some((number, span)) = priority else {
            return 1;
        };
        self.context.uses_priorities = true;
        u8::try_from(number)
            .ok()
            .filter(|&number| number > 0)
            .unwrap_or_else(|| {
                self.context.error(span, "a priority is between 1 and 255");
                1
            })
    }

    fn start(&mut self, process: usize, count: i32, priority: u8, span: Span) {
        let room = PROCESS_LIMIT as usize - self.starts.len();
        let wanted = usize::try_from(count).unwrap_or(0);
        if wanted > room {
            self.context.error(
                span,
                format!(
                    "at most {PROCESS_LIMIT} processes can be alive at a time; these make {}",
                    self.starts.len() + wanted
                ),
            );
        }
        self.starts
            .extend(std::iter::repeat_n((process, priority), wanted.min(room)));
    }

    /// The head of a process: its parameters and what is declared at the start
    /// of its body.
    fn process(
        &mut self,
        name: Rc<str>,
        span: Span,
        parameters: &[Declaration],
        sequence: &Sequence,
    ) -> usize {
        let context = &mut self.context;
        let number = context.processes.len();
        context.processes.push(Process {
            name,
            span,
            unit: context.unit,
            parameters: 0,
            locals: Vec::new(),
            cells: 0,
            channels: Vec::new(),
            scopes: Scopes::new(),
            computed: Vec::new(),
            visible: HashMap::new(),
            labels: LabelPlaces::default(),
        });
        context.process = Some(number);
        for declaration in parameters {
            context.declare_locals(declaration, Moment::Parameter, &mut std::iter::empty());
        }
        if let Some(array) = context.processes[number]
            .locals
            .iter()
            .find(|local| local.len > 1)
            && let Some(span) = array.span
        {
            context.error(
                span,
                "a parameter cannot be an array, nor a structure with one",
            );
        }
        let first = context.processes[number].locals.len() as u32;
        context.processes[number].parameters = first as usize;
        let leading: Vec<&Declaration> = sequence.statements
            [..body::leading_declarations(sequence)]
            .iter()
            .filter_map(|statement| match &statement.kind {
                StatementKind::Declaration(declaration) => Some(declaration),
                _ => None,
            })
            .collect();
        let computed: usize = (leading.iter())
            .map(|declaration| {
                let variables = declaration.variables.iter();
                variables
                    .filter(|variable| context.is_computed(declaration, variable))
                    .count()
            })
            .sum();
        let computed = computed as u32;
        for _ in 0..computed {
            context.processes[number].locals.push(placeholder());
        }
        let mut reserved = first..first + computed;
        for declaration in leading {
            context.declare_locals(declaration, Moment::Creation, &mut reserved);
        }
        context.process = None;
        number
    }

    fn exclusive_channels(&mut self, model: &Model) {
        let mut process = 0;
        for (number, unit) in model.units.iter().enumerate() {
            let body = match unit {
                Unit::Proctype(proctype) => &proctype.body,
                Unit::Init(init) => &init.body,
                _ => continue,
            };
            self.context.unit = number;
            self.context.declare_exclusive(process, body);
            process += 1;
        }
        self.context.make_exclusive_cells(&self.starts);
    }

    fn bodies(&mut self, model: &Model) {
        let mut process = 0;
        for (number, unit) in model.units.iter().enumerate() {
            self.context.unit = number;
            match unit {
                Unit::Proctype(proctype) => {
                    self.body(process, &proctype.body, proctype.provided.as_ref());
                    process += 1;
                }
                Unit::Init(init) => {
                    self.body(process, &init.body, None);
                    process += 1;
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, process: usize, sequence: &Sequence, provided: Option<&crate::ast::Expr>) {
        let context = &mut self.context;
        context.process = Some(process);
        let condition = provided.map(|syntax| {
            let value = context.value(syntax);
            if let Some(check) = value.checks.first() {
                let span = check.span;
                context.unsupported(
                    span,
                    "a `provided` clause that can fail at run time is not supported",
                );
            }
            value.into_truth()
        });
        let leading = body::leading_declarations(sequence);
        let mut flow = body::lower(context, sequence, leading);
        // What is added from here on, SPIN numbers after all bodies.
        let parsed = flow.made() as u32;
        let name = context.processes[process].name.clone();
        let remote_labels = &self.remote_labels;
        flow.expose_labels(&|label| remote_labels.contains(&(name.clone(), Rc::from(label))));
        let problems = flow.finish();
        let automaton = if problems.is_empty() {
            automaton::build(&mut flow, condition.unwrap_or(Expr::TRUE))
        } else {
            Err(problems)
        };
        let automaton = automaton.unwrap_or_else(|problems| {
            for problem in problems {
                context.error(problem.span, problem.message);
            }
            Automaton {
                locations: vec![Location::default()],
                entry: LocationId(0),
                labels: LabelPlaces::default(),
                elements: vec![Vec::new()],
            }
        });
        let template = TemplateId(process as u32);
        (self.statements).extend(automaton.statements(&flow, template));
        let numbers = flow.numbers();
        let first = self.statements_before;
        let number = |element: &Option<usize>| {
            let number = *numbers.get(&(*element)?)?;
            (number < parsed).then_some(first + number)
        };
        let of_location = |edges: &Vec<Option<usize>>| edges.iter().map(number).collect();
        self.statement_numbers
            .push(automaton.elements.iter().map(of_location).collect());
        self.statements_before += parsed;
        let info = &mut context.processes[process];
        info.labels = automaton.labels;
        self.templates.push(Template {
            name: info.name.to_string(),
            params: (info.parameters + info.computed.len()) as u32,
            locals: info.locals.clone(),
            channels: info.channels.clone(),
            locations: automaton.locations,
            entry: automaton.entry,
            span: Some(info.span),
        });
        context.process = None;
    }

    fn exclusive(&mut self, model: &Model) {
        self.context.unit = model.units.len();
        for unit in &model.units {
            let Unit::Exclusive(syntax) = unit else {
                continue;
            };
            let name = &syntax.variable;
            let Some(info) = self.context.find(&name.text) else {
                self.context.report_unknown(name);
                continue;
            };
            let (first, is_row) = (info.first, !matches!(info.shape.kind, Type::Struct(_)));
            if !is_row {
                self.context.error(
                    name.span,
                    "`exclusive` takes a variable or an array of a basic type, not a structure",
                );
                continue;
            }
            let predicate = self.context.value(&syntax.predicate).into_truth();
            self.exclusive.push(Exclusive {
                variable: VariableId(first),
                predicate,
                span: syntax.span,
            });
        }
    }

    fn monitors(&mut self, model: &Model, labels: &[Name]) {
        self.context.in_monitor = true;
        self.context.unit = model.units.len();
        let processes = self.context.processes.iter();
        let places: Vec<&LabelPlaces> = processes.map(|process| &process.labels).collect();
        let [accept, progress] =
            ["accept", "progress"].map(|kind| claims::places_of(&places, &self.templates, kind));
        for unit in &model.units {
            let (kind, name, span, check) = match unit {
                Unit::Ltl(ltl) => {
                    let check = self.context.ltl(&ltl.formula, &progress);
                    (ClaimKind::Ltl, &ltl.name, ltl.span, check)
                }
                Unit::Monitor(monitor) => {
                    let (kind, check) = self.monitor(monitor);
                    (kind, &monitor.name, monitor.span, check)
                }
                _ => continue,
            };
            let place = self.context.sources.locate(span);
            let (name, line) = if place.file == crate::COMMAND_LINE {
                let Unit::Ltl(ltl) = unit else { continue };
                (Some(self.context.text(ltl.formula.span)), None)
            } else {
                let name = name.as_ref().map(|name| name.text.to_string());
                (name, Some(place.line))
            };
            self.claims.push(Claim {
                kind,
                name,
                line,
                check,
            });
        }
        self.context.in_monitor = false;
        let kinds = [
            (ClaimKind::Accept, "accept", accept),
            (ClaimKind::Progress, "progress", progress),
        ];
        for (kind, prefix, places) in kinds {
            let first = labels.iter().find(|label| label.text.starts_with(prefix));
            if let Some(first) = first {
                let line = self.context.sources.locate(first.span).line;
                let name = first.text.to_string();
                self.claims
                    .push(claims::label_claim(kind, name, line, places));
            }
        }
    }

    /// A claim or a trace: its names are looked up as in a process that never runs.
    fn monitor(&mut self, monitor: &Monitor) -> (ClaimKind, Check) {
        let unit = self.context.unit;
        let process = self.process(Rc::from("a claim"), monitor.span, &[], &monitor.body);
        self.context.unit = unit;
        self.context.process = Some(process);
        self.context.claim_problem = None;
        // A body that is no trace is lowered as it is, so that its errors are reported.
        let events = match monitor.kind {
            MonitorKind::Never => None,
            MonitorKind::Trace | MonitorKind::Notrace => {
                Some(event_trace::as_receives(&monitor.body))
            }
        };
        let lowered = match &events {
            Some(Ok(events)) => events,
            _ => &monitor.body,
        };
        let leading = body::leading_declarations(lowered);
        let mut flow = body::lower(&mut self.context, lowered, leading);
        let problems = flow.finish();
        let automaton = if problems.is_empty() {
            automaton::build(&mut flow, Expr::TRUE)
        } else {
            Err(problems)
        };
        let has_variables = !self.context.processes[process].locals.is_empty();
        self.context.process = None;
        self.context.processes.pop();
        let problem = self.context.claim_problem.take();
        let kind = match monitor.kind {
            MonitorKind::Never => ClaimKind::Never,
            MonitorKind::Trace => ClaimKind::Trace,
            MonitorKind::Notrace => ClaimKind::Notrace,
        };
        let check = match automaton {
            Err(problems) => {
                for problem in problems {
                    self.context.error(problem.span, problem.message);
                }
                Check::Untranslated("it is not well-formed".into())
            }
            Ok(_) if matches!(events, Some(Err(_))) => {
                Check::Untranslated(event_trace::Problem::NoEvent.to_string())
            }
            Ok(_) if has_variables => Check::Untranslated("it has variables of its own".into()),
            Ok(automaton) => match problem {
                Some(problem) => Check::Untranslated(problem),
                None if kind == ClaimKind::Never => claims::never(&automaton),
                None => self.event_trace(kind, &automaton),
            },
        };
        (kind, check)
    }

    fn event_trace(&mut self, kind: ClaimKind, automaton: &Automaton) -> Check {
        let variable = VariableId(self.context.globals.len() as u32);
        let is_negated = kind == ClaimKind::Notrace;
        let channels = &self.context.channels;
        let claim = self.claims.len();
        match EventTrace::new(automaton, channels, variable, is_negated, claim) {
            Err(problem) => Check::Untranslated(problem.to_string()),
            Ok(trace) => {
                let check = trace.check(automaton);
                self.context.globals.push(trace.cell(automaton.entry));
                self.event_traces.push(trace);
                check
            }
        }
    }

    fn finish(mut self, name: String) -> Option<(Program, StatementNumbers)> {
        if self.starts.is_empty() && !self.context.diagnostics.iter().any(Diagnostic::is_error) {
            self.context.diagnostics.push(
                Diagnostic::coded("P033", "there is no process to run")
                    .help("write an `init` or put `active` before a proctype"),
            );
        }
        if self.context.uses_priorities {
            let mut channels = self.context.channels.iter().chain(
                self.context
                    .processes
                    .iter()
                    .flat_map(|process| &process.channels),
            );
            if let Some(span) = channels
                .find(|channel| channel.capacity == 0)
                .and_then(|channel| channel.span)
            {
                self.context.error(
                    span,
                    "priorities cannot be combined with a channel without buffer",
                );
            }
        }
        if self.context.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let starts = std::mem::take(&mut self.starts);
        let initial = starts
            .iter()
            .enumerate()
            .map(|(pid, &(process, priority))| self.instance(pid as u32, process, priority))
            .collect();
        if self.context.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let context = self.context;
        let mut program = Program {
            info: Arc::new(ProgramInfo {
                name,
                sources: context.sources.clone(),
                symbols: context.symbols,
                exclusive: self.exclusive,
                claims: self.claims,
                statements: self.statements,
                caveats: self.caveats,
            }),
            globals: context.globals,
            channels: context.channels,
            templates: self.templates,
            initial,
            max_threads: PROCESS_LIMIT,
            priority_scheduling: context.uses_priorities,
            ..Program::default()
        };
        let sources = context.sources;
        let numbers = &mut self.statement_numbers;
        (context.exclusive_channels)
            .finish(&mut program, numbers, |span| sources.locate(span).line);
        for trace in self.event_traces {
            if let Err(problem) = trace.build_in(&mut program, numbers) {
                let claim = &mut program.info_mut().claims[trace.claim];
                claim.check = Check::Untranslated(problem.to_string());
            }
        }
        bound_unclear_messages(&mut program, numbers);
        match validate(&program) {
            Ok(()) => Some((program, self.statement_numbers)),
            Err(reason) => {
                context.diagnostics.push(Diagnostic::coded(
                    "P034",
                    format!("this model is beyond what mover can represent: {reason}"),
                ));
                None
            }
        }
    }

    /// A process of the start: its parameters are 0.
    fn instance(&mut self, pid: u32, process: usize, priority: u8) -> Instance {
        let info = &self.context.processes[process];
        let mut args: Vec<Expr> = info.locals[..info.parameters]
            .iter()
            .map(|parameter| Expr::constant(0, parameter.ty.width))
            .collect();
        let state = InitialState {
            globals: &self.context.globals,
            locals: &[],
            thread: Some(pid),
        };
        let mut unknown = None;
        for (variable, initial) in &info.computed {
            let number = Expr::int(i64::from(pid));
            let value = evaluate(&at_creation(initial, &args, &info.locals, &number), &state);
            if value.is_none() {
                unknown = info.locals[variable.index()].span;
            }
            let width = info.locals[variable.index()].ty.width;
            args.push(Expr::constant(value.unwrap_or(0) as i64, width));
        }
        if let Some(span) = unknown {
            self.context.unsupported(
                span,
                "the initial value of this variable is not supported in an active proctype",
            );
        }
        Instance {
            template: TemplateId(process as u32),
            args: args.iter().map(|arg| arg.as_const().unwrap_or(0)).collect(),
            priority,
        }
    }
}

/// Holds the place of a variable that is declared a little later.
fn placeholder() -> Variable {
    Variable {
        name: String::new(),
        ty: mover_ir::expr::Ty::BYTE,
        len: 1,
        is_array: false,
        init: Init::All(0),
        symbols: None,
        addressable: false,
        names: CellNames::default(),
        span: None,
    }
}
