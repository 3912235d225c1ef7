//! Everything that is known about a model while it is being lowered.
//!
//! Lowering goes over the units twice: first all declarations and the heads of
//! all processes (so that `run` may name a proctype that stands further down),
//! then all bodies. [`Context`] is what the two passes share; what belongs to
//! one process is in its [`Process`].

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mover_ir::expr::Expr;
use mover_ir::program::{ChannelDecl, SymbolSet, SymbolSetId, Variable, VariableId};
use mover_source::diagnostic::Diagnostic;
use mover_source::{SourceMap, Span};

use crate::ast::Name;
use crate::exclusive_channels::ExclusiveChannels;
use crate::flow::LabelPlaces;
use crate::scopes::{Scopes, VariableInfo, nearest};
use crate::types::Types;

/// SPIN's own limit.
pub const PROCESS_LIMIT: u32 = 255;
/// Cells of all variables of the model, or of one process.
pub const CELL_LIMIT: u64 = 1 << 20;

pub struct Context<'a> {
    pub sources: &'a SourceMap,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    pub types: Types,
    pub type_names: HashMap<Rc<str>, usize>,
    pub symbols: Vec<SymbolSet>,
    pub mtype_sets: HashMap<Option<Rc<str>>, SymbolSetId>,
    pub mtypes: HashMap<Rc<str>, MtypeConstant>,
    pub globals: Vec<Variable>,
    pub global_cells: u64,
    pub channels: Vec<ChannelDecl>,
    pub global_names: HashMap<Rc<str>, Global>,
    pub processes: Vec<Process>,
    pub process_names: HashMap<Rc<str>, usize>,
    /// Names of variables that some statement may change.
    pub changed_names: HashSet<Rc<str>>,
    /// The number of each process of which there is one from the start and
    /// never another.
    pub lone_processes: HashMap<usize, u32>,
    /// The unit that is being read: what stands after it is not yet known.
    pub unit: usize,
    /// The process that is being read.
    pub process: Option<usize>,
    /// `never`, `trace` and `ltl` may ask for things that processes may not.
    pub in_monitor: bool,
    /// What is not translated in the claim that is being read.
    pub claim_problem: Option<String>,
    pub uses_priorities: bool,
    /// `xr` and `xs`.
    pub exclusive_channels: ExclusiveChannels,
}

pub struct MtypeConstant {
    pub value: i32,
    pub set: SymbolSetId,
    pub unit: usize,
    pub span: Span,
}

pub struct Global {
    pub info: VariableInfo,
    pub unit: usize,
}

/// A proctype or `init`.
pub struct Process {
    pub name: Rc<str>,
    pub span: Span,
    pub unit: usize,
    /// How many IR variables take the arguments of a `run`.
    pub parameters: usize,
    pub locals: Vec<Variable>,
    pub cells: u64,
    pub channels: Vec<ChannelDecl>,
    pub scopes: Scopes,
    /// Initial values that depend on the state at creation, in order. Their
    /// variables follow the parameters, as hidden parameters.
    pub computed: Vec<(VariableId, Expr)>,
    /// Variables of the outermost scope, which other processes may look at.
    pub visible: HashMap<Rc<str>, VariableInfo>,
    /// Where the labels are, once the body is lowered.
    pub labels: LabelPlaces,
}

impl Context<'_> {
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::coded("P030", message).at(span, ""));
    }

    /// Something that is Promela and that mover does not translate.
    pub fn unsupported(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::coded("P034", message).at(span, ""));
    }

    pub fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(message).at(span, ""));
    }

    /// An inline that is expanded ten times has its mistakes only once.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < 100 && !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The variable that a name means here.
    pub fn find(&self, name: &str) -> Option<&VariableInfo> {
        let local = self
            .process
            .and_then(|process| self.processes[process].scopes.find(name));
        local.or_else(|| {
            let global = self.global_names.get(name)?;
            (global.unit <= self.unit).then_some(&global.info)
        })
    }

    pub fn mtype(&self, name: &str) -> Option<&MtypeConstant> {
        self.mtypes
            .get(name)
            .filter(|constant| constant.unit <= self.unit)
    }

    pub fn report_unknown(&mut self, name: &Name) {
        let text = &name.text;
        if let Some(global) = self.global_names.get(text) {
            let diagnostic =
                Diagnostic::coded("P031", format!("`{text}` is used before its declaration"))
                    .at(name.span, "")
                    .related(global.info.span, "declared here");
            self.report(diagnostic);
            return;
        }
        let mut diagnostic =
            Diagnostic::coded("P031", format!("there is no variable `{text}`")).at(name.span, "");
        let locals = self
            .process
            .into_iter()
            .flat_map(|process| self.processes[process].scopes.names());
        let globals = self.global_names.keys().map(|name| &**name);
        let constants = self.mtypes.keys().map(|name| &**name);
        if let Some(near) = nearest(text, locals.chain(globals).chain(constants)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
    }

    /// Reports a name that is taken; true if it is free.
    pub fn check_free(&mut self, name: &Name) -> bool {
        let text = &name.text;
        let taken = if let Some(constant) = self.mtype(text) {
            Some((constant.span, "an mtype constant"))
        } else if let Some(info) = self.find(text) {
            Some((info.span, "a variable"))
        } else if self.process.is_none()
            && let Some(&process) = self.process_names.get(text)
        {
            Some((self.processes[process].span, "a proctype"))
        } else {
            self.type_names
                .get(text)
                .map(|&index| (self.types.structs[index].span, "a type"))
        };
        let Some((span, what)) = taken else {
            return true;
        };
        let diagnostic =
            Diagnostic::coded("P032", format!("`{text}` is already the name of {what}"))
                .at(name.span, "declared again")
                .related(span, "first declared here");
        self.report(diagnostic);
        false
    }

    /// The words of the source, on one line.
    pub fn text(&self, span: Span) -> String {
        const LONGEST: usize = 120;
        let mut text = String::new();
        for word in self.sources.text(span).split_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            if text.chars().count() > LONGEST {
                let kept: String = text.chars().take(LONGEST).collect();
                return kept + " ..";
            }
        }
        text
    }
}
