//! A readable text of a program, for `--dump ir` and for debugging a front end.
//!
//! The text is not meant to be parsed. Expressions are explicit about signedness where it
//! matters (`<s`, `/u`), and every edge is printed with its source line, so that a reader can
//! check the translation statement by statement.

use std::fmt::Write;

use crate::expr::{BinaryOp, ChannelRef, Expr, Place, ReceiveArg, Ty, UnaryOp, VariableRef};
use crate::program::{
    ChannelDecl, Edge, Effect, Init, Program, SiteId, SiteKind, SymbolSetId, Template, Variable,
};
use crate::semantics::{Move, State, Step};

/// The whole program as text.
pub fn print_program(program: &Program) -> String {
    Printer {
        program,
        template: None,
    }
    .program()
}

/// An expression as text, with the names of the template's variables.
pub fn print_expr(program: &Program, template: Option<&Template>, expr: &Expr) -> String {
    Printer { program, template }.expr(expr)
}

/// A value as the user would write it: by name, or as a number of its type.
pub fn print_value(program: &Program, ty: Ty, symbols: Option<SymbolSetId>, value: u64) -> String {
    let number = ty.number(value);
    match program.symbol(symbols, number) {
        Some(name) => name.to_string(),
        None => number.to_string(),
    }
}

/// A step as one line: who does what, and where it is in the source. For small programs that
/// print runs themselves; the reports of mover tell more.
pub fn print_step(program: &Program, state: &State, step: Step) -> String {
    let sides = [Some(step.by), step.with].into_iter().flatten();
    let sides = sides.filter_map(|Move { thread, edge }| {
        let at = state.threads.get(thread)?.as_ref()?;
        let template = program.template(at.template);
        let edge = template.location(at.location).edges.get(edge)?;
        let text = format!("thread {thread} ({}): {}", template.name, edge.text);
        Some(match edge.span {
            Some(span) => format!("{text}  [{}]", program.info.sources.locate(span)),
            None => text,
        })
    });
    sides.collect::<Vec<_>>().join(" with ")
}

/// C's `printf` for traces: an unknown directive is printed as it stands.
pub fn format_output(
    program: &Program,
    format: &str,
    args: &[(u64, Ty, Option<SymbolSetId>)],
) -> String {
    let mut output = String::new();
    let mut args = args.iter();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            output.push(c);
            continue;
        }
        let directive = chars
            .by_ref()
            .find(|c| c.is_ascii_alphabetic() || *c == '%');
        let Some(directive) = directive else {
            output.push('%');
            break;
        };
        if directive == '%' {
            output.push('%');
            continue;
        }
        let Some(&(value, ty, symbols)) = args.next() else {
            output.push('%');
            output.push(directive);
            continue;
        };
        let written = match directive {
            'x' => write!(output, "{value:x}"),
            'o' => write!(output, "{value:o}"),
            'u' => write!(output, "{value}"),
            'c' => write!(output, "{}", char::from(value as u8)),
            'e' => write!(output, "{}", print_value(program, ty, symbols, value)),
            _ => write!(output, "{}", ty.number(value)),
        };
        written.expect("writing to a string succeeds");
    }
    output
}

struct Printer<'a> {
    program: &'a Program,
    template: Option<&'a Template>,
}

impl Printer<'_> {
    fn program(&self) -> String {
        let mut out = format!("program {}\n", self.program.info.name);
        for variable in &self.program.globals {
            let addressable = if variable.addressable {
                "addressable "
            } else {
                ""
            };
            out += &format!("  global {addressable}{}\n", self.variable(variable));
        }
        if !self.program.sites.is_empty() || self.program.addressable_globals() > 0 {
            let layout = self.program.pointers;
            let (width, offset) = (layout.width, layout.offset_bits);
            out += &format!("  pointers of {width} bits, {offset} of them for the offset\n");
        }
        for site in &self.program.sites {
            let kind = match site.kind {
                SiteKind::Heap => "heap",
                SiteKind::Stack => "stack",
            };
            out += &format!("  site {}: {kind} {}\n", site.name, type_text(site.cell));
        }
        for channel in &self.program.channels {
            out += &format!("  channel {}\n", channel_text(channel));
        }
        for instance in &self.program.initial {
            let name = &self.program.template(instance.template).name;
            out += &format!("  start {name}({})\n", join(&instance.args, u64::to_string));
        }
        for caveat in &self.program.info.caveats {
            out += &format!("  caveat: {caveat}\n");
        }
        for template in &self.program.templates {
            let printer = Printer {
                template: Some(template),
                ..*self
            };
            printer.template(template, &mut out);
        }
        out
    }

    fn template(&self, template: &Template, out: &mut String) {
        let (params, locals) = template.locals.split_at(template.params as usize);
        *out += &format!(
            "\nthread {}({})\n",
            template.name,
            join(params, |param| self.variable(param))
        );
        for local in locals {
            *out += &format!("  local {}\n", self.variable(local));
        }
        for channel in &template.channels {
            *out += &format!("  channel {}\n", channel_text(channel));
        }
        for (number, location) in template.locations.iter().enumerate() {
            *out += &format!("  l{number}:");
            if number == template.entry.index() {
                *out += " entry";
            }
            if location.atomic {
                *out += " atomic";
            }
            if location.valid_end {
                *out += " end";
            }
            if let Some(error) = &location.error {
                *out += &format!(" error {} \"{}\"", error.property, error.message);
            }
            if let Some(bound) = &location.bound {
                *out += &format!(" bound {} \"{}\"", bound.kind.name(), bound.message);
            }
            if !location.labels.is_empty() {
                *out += &format!(" ({})", location.labels.join(", "));
            }
            out.push('\n');
            for edge in &location.edges {
                *out += &format!("    {}\n", self.edge(edge));
            }
        }
    }

    fn variable(&self, variable: &Variable) -> String {
        let mut out = format!("{}: {}", variable.name, type_text(variable.ty));
        if variable.is_array {
            out += &format!("[{}]", variable.len);
        }
        let value = |value: &u64| print_value(self.program, variable.ty, variable.symbols, *value);
        match &variable.init {
            Init::All(first) => out += &format!(" = {}", value(first)),
            Init::Cells(values) => out += &format!(" = {{{}}}", join(values, value)),
            Init::Channels(channels) => {
                out += &format!(" = {}", join(channels, |c| self.channel_ref(*c)));
            }
        }
        out
    }

    fn channel_ref(&self, channel: ChannelRef) -> String {
        let decl = match channel {
            ChannelRef::Global(index) => self.program.channels.get(index as usize),
            ChannelRef::Local(index) => self
                .template
                .and_then(|template| template.channels.get(index as usize)),
        };
        match decl {
            Some(decl) => format!("&{}", decl.name),
            None => format!("&{channel:?}"),
        }
    }

    fn edge(&self, edge: &Edge) -> String {
        let mut parts = Vec::new();
        if edge.guard != Expr::TRUE {
            parts.push(format!("[{}]", self.expr(&edge.guard)));
        }
        parts.extend(edge.effects.iter().map(|effect| self.effect(effect)));
        if parts.is_empty() {
            parts.push("skip".to_string());
        }
        let priority = match edge.priority {
            0 => String::new(),
            priority => format!(" priority {priority}"),
        };
        let line = edge.span.map_or(String::new(), |span| {
            format!(
                "   // {} {}",
                self.program.info.sources.locate(span),
                edge.text
            )
        });
        format!("{} -> l{}{priority}{line}", parts.join("; "), edge.target.0)
    }

    fn effect(&self, effect: &Effect) -> String {
        match effect {
            Effect::Assign { place, value } => {
                format!("{} := {}", self.place(place), self.expr(value))
            }
            Effect::Store { address, value } => format!(
                "{}[{}] := {}",
                type_text(Ty::unsigned(value.width())),
                self.expr(address),
                self.expr(value)
            ),
            Effect::Havoc { place, values: 0 } => format!("{} := any", self.place(place)),
            Effect::Havoc { place, values } => {
                format!("{} := any below {values}", self.place(place))
            }
            Effect::Allocate {
                site,
                reuse,
                size,
                result,
            } => {
                let again = match reuse {
                    0 => String::new(),
                    nth => format!(" at freed address {nth}"),
                };
                format!(
                    "{} := allocate {} {}{again}",
                    self.place(result),
                    self.site(*site),
                    self.expr(size)
                )
            }
            Effect::Free { address } => format!("free {}", self.expr(address)),
            Effect::Send {
                channel,
                values,
                sorted,
            } => {
                let operator = if *sorted { "!!" } else { "!" };
                let values = join(values, |value| self.expr(value));
                format!("{}{operator}{values}", self.expr(channel))
            }
            Effect::Receive {
                channel,
                args,
                random,
                peek,
            } => {
                let operator = if *random { "??" } else { "?" };
                let args = self.receive_args(args);
                let args = if *peek { format!("<{args}>") } else { args };
                format!("{}{operator}{args}", self.expr(channel))
            }
            Effect::Spawn {
                template,
                args,
                result,
                ..
            } => {
                let result = result
                    .as_ref()
                    .map_or(String::new(), |place| format!("{} := ", self.place(place)));
                let name = &self.program.template(*template).name;
                format!("{result}spawn {name}({})", join(args, |arg| self.expr(arg)))
            }
            Effect::Exit => "exit".to_string(),
            Effect::SetPriority { thread, priority } => {
                format!("priority({}) := {}", self.expr(thread), self.expr(priority))
            }
            Effect::Print { format, args } => {
                let args = join(args, |arg| self.expr(&arg.value));
                format!("print {format:?} {args}")
            }
        }
    }

    fn site(&self, id: SiteId) -> &str {
        let site = self.program.sites.get(id.index());
        site.map_or("?", |site| &site.name)
    }

    fn receive_args(&self, args: &[ReceiveArg]) -> String {
        join(args, |arg| match arg {
            ReceiveArg::Match(value) => format!("={}", self.expr(value)),
            ReceiveArg::Store(place) => self.place(place),
            ReceiveArg::Ignore => "_".to_string(),
        })
    }

    fn place(&self, place: &Place) -> String {
        let variable = match place.variable {
            VariableRef::Global(id) => self.program.globals.get(id.index()),
            VariableRef::Local(id) => self.template.and_then(|t| t.locals.get(id.index())),
        };
        match variable {
            Some(variable) if variable.is_array => {
                format!("{}[{}]", variable.name, self.expr(&place.index))
            }
            Some(variable) => variable.name.clone(),
            None => format!("{:?}[{}]", place.variable, self.expr(&place.index)),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const { value, width } => Ty::signed((*width).max(2)).number(*value).to_string(),
            Expr::Read(place) => self.place(place),
            Expr::Unary(UnaryOp::Not, arg) if arg.width() == 1 => format!("!{}", self.expr(arg)),
            Expr::Unary(UnaryOp::Not, arg) => format!("~{}", self.expr(arg)),
            Expr::Unary(UnaryOp::Neg, arg) => format!("-{}", self.expr(arg)),
            Expr::Binary(op, lhs, rhs) => {
                format!("({} {} {})", self.expr(lhs), operator(*op), self.expr(rhs))
            }
            Expr::If(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                self.expr(condition),
                self.expr(then),
                self.expr(otherwise)
            ),
            Expr::Resize { arg, width, signed } => {
                format!(
                    "{}({})",
                    type_text(Ty {
                        width: *width,
                        signed: *signed
                    }),
                    self.expr(arg)
                )
            }
            Expr::ThreadId => "self".to_string(),
            Expr::ThreadCount => "threads".to_string(),
            Expr::ThreadAt {
                thread,
                template,
                locations,
            } => format!(
                "{}[{}]@{{{}}}",
                self.program.template(*template).name,
                self.expr(thread),
                join(locations, |location| format!("l{}", location.0))
            ),
            Expr::RemoteRead {
                thread,
                template,
                variable,
                index,
                ..
            } => {
                let template = self.program.template(*template);
                format!(
                    "{}[{}]:{}[{}]",
                    template.name,
                    self.expr(thread),
                    template
                        .locals
                        .get(variable.index())
                        .map_or("?", |local| &local.name),
                    self.expr(index)
                )
            }
            Expr::ThreadPriority(thread) => format!("priority({})", self.expr(thread)),
            Expr::Channel(channel) => self.channel_ref(*channel),
            Expr::ChannelExists(channel) => format!("exists({})", self.expr(channel)),
            Expr::ChannelLen(channel) => format!("len({})", self.expr(channel)),
            Expr::ChannelCapacity(channel) => format!("capacity({})", self.expr(channel)),
            Expr::CanReceive {
                channel,
                args,
                random,
            } => {
                let operator = if *random { "??" } else { "?" };
                format!(
                    "{}{operator}[{}]",
                    self.expr(channel),
                    self.receive_args(args)
                )
            }
            Expr::Timeout => "timeout".to_string(),
            Expr::Address { variable, .. } => {
                let variable = self.program.globals.get(variable.index());
                format!("&{}", variable.map_or("?", |variable| &variable.name))
            }
            Expr::Load { address, ty } => format!("{}[{}]", type_text(*ty), self.expr(address)),
            Expr::ObjectSize(address) => format!("size({})", self.expr(address)),
            Expr::ObjectSite { address, sites } => format!(
                "({} in {{{}}})",
                self.expr(address),
                join(sites, |site| self.site(*site).to_string())
            ),
        }
    }
}

fn join<T>(items: &[T], text: impl FnMut(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn type_text(ty: Ty) -> String {
    format!("{}{}", if ty.signed { "i" } else { "u" }, ty.width)
}

fn channel_text(channel: &ChannelDecl) -> String {
    format!(
        "{}: [{}] of {{{}}}",
        channel.name,
        channel.capacity,
        join(&channel.fields, |field| type_text(field.ty))
    )
}

fn operator(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        UDiv => "/u",
        SDiv => "/s",
        URem => "%u",
        SRem => "%s",
        And => "&",
        Or => "|",
        Xor => "^",
        Shl => "<<",
        LShr => ">>u",
        AShr => ">>s",
        Eq => "==",
        Ne => "!=",
        ULt => "<u",
        ULe => "<=u",
        SLt => "<s",
        SLe => "<=s",
    }
}
