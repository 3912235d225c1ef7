//! From tokens to a [`Model`].
//!
//! A recursive-descent parser that continues after an error: inside a body it
//! skips to the next statement, outside to the next unit, so that one run
//! reports several errors. It keeps the three kinds of names that decide how
//! Promela reads on: types (a name that begins a declaration), proctypes
//! (`p:x` is a remote variable, not a label) and inlines, whose calls are
//! expanded here (see `inlines`). All other names are left to the resolver.
//!
//! Formulas of `ltl` are read after everything else, wherever they stand:
//! SPIN does so too, and thus they may speak of proctypes declared later.

mod declarations;
mod expressions;
mod inlines;
mod statements;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use crate::ast::{DEPTH_LIMIT, Exclusive, Ltl, Model, Monitor, MonitorKind, Name, Path, Unit};
use crate::semicolons;
use crate::token::{Keyword, Punctuation, Token, TokenKind};
use inlines::Inline;

/// Maximum number of errors reported.
const ERROR_LIMIT: usize = 20;

pub fn parse(tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> Model {
    let mut parser = Parser {
        tokens: Rc::from(semicolons::complete_file(tokens)),
        position: 0,
        depth: 0,
        in_formula: false,
        types: HashSet::new(),
        proctypes: HashSet::new(),
        inlines: HashMap::new(),
        expansions: Vec::new(),
        expanded_tokens: 0,
        errors: 0,
        diagnostics,
    };
    parser.model()
}

/// An error that has been reported; the caller has only to recover.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'d> {
    tokens: Rc<[Token]>,
    position: usize,
    /// How deep the parser is in nested statements and parentheses.
    depth: usize,
    /// Within `ltl`, where `->` and `[]` have other meanings.
    in_formula: bool,
    types: HashSet<Rc<str>>,
    proctypes: HashSet<Rc<str>>,
    inlines: HashMap<Rc<str>, Rc<Inline>>,
    /// The inline calls that we are inside of, outermost first.
    expansions: Vec<Expansion>,
    expanded_tokens: usize,
    errors: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

struct Expansion {
    name: Rc<str>,
    call: Span,
    /// Where `return` stores: `x = f(..)`.
    result: Option<Path>,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.position]
    }

    fn token_after(&self, count: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.position + count).min(last)]
    }

    fn at(&self, punctuation: Punctuation) -> bool {
        self.token().is(punctuation)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.token().is_keyword(keyword)
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before this one.
    fn span_before(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }

    /// Where the statement that begins here stands.
    fn place(&self) -> Span {
        self.token().place
    }

    /// Where the statement that has just been read ends.
    fn place_before(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].place
    }

    /// The last token, `End`, is never passed.
    fn advance(&mut self) {
        if !self.at_end() {
            self.position += 1;
        }
    }

    fn eat(&mut self, punctuation: Punctuation) -> bool {
        let found = self.at(punctuation);
        if found {
            self.advance();
        }
        found
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punctuation: Punctuation, after: &str) -> Parsed<()> {
        if self.eat(punctuation) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}` {after}", punctuation.text())))
        }
    }

    fn expect_name(&mut self, what: &str) -> Parsed<Name> {
        if let TokenKind::Word(text) = &self.token().kind {
            let name = Name {
                text: text.clone(),
                span: self.span(),
            };
            self.advance();
            Ok(name)
        } else {
            Err(self.expected(what))
        }
    }

    fn expected(&mut self, what: &str) -> Reported {
        let found = self.token().describe();
        let span = self.span();
        self.error(span, format!("expected {what}, found {found}"))
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::coded("P020", message).at(span, ""))
    }

    fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        for expansion in self.expansions.iter().rev() {
            diagnostic = diagnostic.related(
                expansion.call,
                format!("in this call of the inline `{}`", expansion.name),
            );
        }
        let repeated = self.diagnostics.last().is_some_and(|last| {
            last.label == diagnostic.label && last.message == diagnostic.message
        });
        if self.errors < ERROR_LIMIT && !repeated {
            self.errors += 1;
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Runs a part of the grammar that may contain itself.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_LIMIT {
            let span = self.span();
            return Err(self.error(span, format!("nested more than {DEPTH_LIMIT} levels deep")));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn model(&mut self) -> Model {
        let mut model = Model::default();
        let mut formulas = Vec::new();
        while !self.at_end() {
            let start = self.position;
            if self.unit(&mut model, &mut formulas).is_err() {
                self.skip_to_unit(start);
            }
        }
        for (position, ltl_span, name) in formulas {
            self.position = position;
            self.in_formula = true;
            if let Ok(formula) = self.full_expression()
                && self.at_formula_end()
            {
                model.units.push(Unit::Ltl(Ltl {
                    span: ltl_span,
                    name,
                    formula,
                }));
            }
            self.in_formula = false;
        }
        model
    }

    fn at_formula_end(&mut self) -> bool {
        self.eat(Punctuation::Semicolon);
        self.expect(Punctuation::CloseBrace, "at the end of the formula")
            .is_ok()
    }

    fn unit(
        &mut self,
        model: &mut Model,
        formulas: &mut Vec<(usize, Span, Option<Name>)>,
    ) -> Parsed<()> {
        let span = self.span();
        match self.token().kind {
            TokenKind::Punctuation(Punctuation::Semicolon | Punctuation::Arrow) => self.advance(),
            TokenKind::Keyword(Keyword::Active | Keyword::Proctype | Keyword::DProctype) => {
                let proctype = self.proctype()?;
                model.units.push(Unit::Proctype(proctype));
            }
            TokenKind::Keyword(Keyword::Init) => {
                let init = self.init()?;
                model.units.push(Unit::Init(init));
            }
            TokenKind::Keyword(Keyword::Typedef) => {
                let typedef = self.typedef()?;
                model.units.push(Unit::Typedef(typedef));
            }
            TokenKind::Keyword(Keyword::Inline) => self.inline_definition()?,
            TokenKind::Exclusive => {
                let exclusive = self.exclusive(span)?;
                model.units.push(Unit::Exclusive(exclusive));
            }
            TokenKind::Keyword(Keyword::Ltl) => {
                self.advance();
                let name = self.optional_name();
                self.expect(Punctuation::OpenBrace, "before the formula")?;
                formulas.push((self.position, span, name));
                self.skip_braces();
            }
            TokenKind::Keyword(Keyword::Never) => self.monitor(MonitorKind::Never, model)?,
            TokenKind::Keyword(Keyword::Trace) => self.monitor(MonitorKind::Trace, model)?,
            TokenKind::Keyword(Keyword::Notrace) => self.monitor(MonitorKind::Notrace, model)?,
            _ if self.at_mtype_set() => {
                let mtype = self.mtype_declaration()?;
                model.units.push(Unit::Mtype(mtype));
            }
            _ if self.at_declaration() => {
                let declaration = self.declaration()?;
                model.units.push(Unit::Variables(declaration));
            }
            TokenKind::EmbeddedC(_) | TokenKind::Keyword(Keyword::CState | Keyword::CTrack) => {
                self.embedded_c();
            }
            _ => return Err(self.unexpected_unit()),
        }
        Ok(())
    }

    fn exclusive(&mut self, span: Span) -> Parsed<Exclusive> {
        self.advance();
        self.expect(Punctuation::OpenParen, "after `exclusive`")?;
        let variable = self.expect_name("a variable")?;
        self.expect(Punctuation::Comma, "before the predicate")?;
        let predicate = self.full_expression()?;
        self.expect(Punctuation::CloseParen, "after the predicate")?;
        let end = self.span_before();
        Ok(Exclusive {
            span: span.to(end),
            variable,
            predicate,
        })
    }

    fn unexpected_unit(&mut self) -> Reported {
        let token = self.token().clone();
        if token.is(Punctuation::CloseBrace) {
            return self.error(token.span, "this `}` closes nothing");
        }
        if let TokenKind::Word(word) = &token.kind {
            let mut diagnostic = Diagnostic::coded(
                "P020",
                format!("expected a declaration or a proctype, found `{word}`"),
            )
            .at(token.span, "");
            if matches!(self.token_after(1).kind, TokenKind::Word(_)) {
                diagnostic = diagnostic.help(format!(
                    "is `{word}` a type? its typedef must come before its use"
                ));
            }
            return self.report(diagnostic);
        }
        self.expected("a declaration or a proctype")
    }

    /// Embedded C: an error, but the rest of the model is still worth reading.
    fn embedded_c(&mut self) {
        let word = self.token().describe();
        let diagnostic = Diagnostic::coded("P003", format!("embedded C ({word}) is not supported"))
            .at(self.span(), "C code starts here")
            .help(
                "express the computation in Promela; mover has to know the meaning of every step",
            );
        self.report(diagnostic);
        self.advance();
        while matches!(self.token().kind, TokenKind::Text(_)) {
            self.advance();
        }
    }

    fn optional_name(&mut self) -> Option<Name> {
        if matches!(self.token().kind, TokenKind::Word(_)) {
            self.expect_name("a name").ok()
        } else {
            None
        }
    }

    fn monitor(&mut self, kind: MonitorKind, model: &mut Model) -> Parsed<()> {
        let span = self.span();
        self.advance();
        let name = self.optional_name();
        let body = self.body()?;
        model.units.push(Unit::Monitor(Monitor {
            kind,
            span,
            name,
            body,
        }));
        Ok(())
    }

    /// Goes after the brace that closes the one just read.
    fn skip_braces(&mut self) {
        let mut open = 1usize;
        while !self.at_end() {
            if self.at(Punctuation::OpenBrace) {
                open += 1;
            } else if self.at(Punctuation::CloseBrace) {
                open -= 1;
            }
            self.advance();
            if open == 0 {
                break;
            }
        }
    }

    /// After an error: on to the next token that can only begin a unit, or to
    /// a declaration outside of all braces.
    fn skip_to_unit(&mut self, start: usize) {
        let mut open = 0usize;
        for token in &self.tokens[start..self.position] {
            if token.is(Punctuation::OpenBrace) {
                open += 1;
            } else if token.is(Punctuation::CloseBrace) {
                open = open.saturating_sub(1);
            }
        }
        if self.position == start {
            self.advance();
        }
        while !self.at_end() {
            use Keyword::{
                Active, DProctype, Init, Inline, Ltl, Never, Notrace, Proctype, Trace, Typedef,
            };
            match self.token().kind {
                TokenKind::Keyword(
                    Active | DProctype | Init | Inline | Ltl | Never | Notrace | Proctype | Trace
                    | Typedef,
                ) => return,
                TokenKind::Punctuation(Punctuation::OpenBrace) => open += 1,
                TokenKind::Punctuation(Punctuation::CloseBrace) => open = open.saturating_sub(1),
                _ if open == 0
                    && self.token().opens_line
                    && (self.at_declaration() || self.at_mtype_set()) =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }
}
