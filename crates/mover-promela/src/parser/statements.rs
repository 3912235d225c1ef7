//! Bodies, sequences and statements.

use mover_source::diagnostic::Diagnostic;

use super::{Parsed, Parser};
use crate::ast::{ChannelEnd, Expr, ExprKind, Sequence, Statement, StatementKind};
use crate::token::{Keyword, Punctuation, TokenKind};

impl Parser<'_> {
    /// `{ statements }`.
    pub(super) fn body(&mut self) -> Parsed<Sequence> {
        let start = self.span();
        self.expect(Punctuation::OpenBrace, "before the statements")?;
        let statements = self.statements()?;
        if !self.at(Punctuation::CloseBrace) {
            let found = self.token().describe();
            let diagnostic = Diagnostic::coded(
                "P020",
                format!("expected `}}` after the statements, found {found}"),
            )
            .at(self.span(), "")
            .related(start, "to match this `{`");
            return Err(self.report(diagnostic));
        }
        self.advance();
        Ok(Sequence {
            statements,
            span: start.to(self.span_before()),
        })
    }

    fn at_separator(&self) -> bool {
        self.at(Punctuation::Semicolon) || self.at(Punctuation::Arrow)
    }

    fn at_sequence_end(&self) -> bool {
        self.at(Punctuation::CloseBrace)
            || self.at(Punctuation::DoubleColon)
            || self.at_keyword(Keyword::Fi)
            || self.at_keyword(Keyword::Od)
            || self.at_end()
    }

    /// One or more statements; an error in one does not hide the next.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        if self.at_sequence_end() {
            // What follows can be read all the same.
            self.expected("at least one statement");
            return Ok(statements);
        }
        loop {
            while self.at_separator() {
                self.advance();
            }
            if self.at_sequence_end() {
                break;
            }
            if self.at_unit_start() {
                return Err(self.expected("a statement or `}`"));
            }
            let start = self.span();
            let calls_inline = self.at_inline_call();
            let step = self.nested(Self::step);
            let complete = step.is_ok();
            statements.push(step.unwrap_or(Statement {
                labels: Vec::new(),
                kind: StatementKind::Invalid,
                span: start,
            }));
            // The body of an inline ends in `}`, which separates.
            if complete && (self.at_separator() || self.at_sequence_end() || calls_inline) {
                continue;
            }
            if complete {
                self.expected("`;`, `->` or the end of the line after the statement");
            }
            self.skip_statement();
        }
        Ok(statements)
    }

    /// Tokens that cannot stand in a body: its closing brace is missing.
    fn at_unit_start(&self) -> bool {
        use Keyword::{Active, DProctype, Init, Inline, Ltl, Never, Proctype, Typedef};
        matches!(
            self.token().kind,
            TokenKind::Keyword(
                Active | DProctype | Init | Inline | Ltl | Never | Proctype | Typedef
            )
        )
    }

    /// After an error: to the end of the statement, over what is nested in it.
    fn skip_statement(&mut self) {
        let mut open = 0usize;
        while !self.at_end() && !self.at_unit_start() {
            match self.token().kind {
                TokenKind::Punctuation(Punctuation::OpenBrace)
                | TokenKind::Keyword(Keyword::If | Keyword::Do) => {
                    open += 1;
                }
                _ if open == 0 && (self.at_separator() || self.at_sequence_end()) => return,
                TokenKind::Punctuation(Punctuation::CloseBrace)
                | TokenKind::Keyword(Keyword::Fi | Keyword::Od) => {
                    open -= 1;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn step(&mut self) -> Parsed<Statement> {
        let start = self.span();
        if self.at_mtype_set() {
            return Err(self.error(
                start,
                "an mtype set must be declared outside of all proctypes",
            ));
        }
        if self.at_declaration() {
            let declaration = self.declaration()?;
            return Ok(Statement {
                labels: Vec::new(),
                span: declaration.span,
                kind: StatementKind::Declaration(declaration),
            });
        }
        let ends = [
            (Keyword::Xr, ChannelEnd::Receive),
            (Keyword::Xs, ChannelEnd::Send),
        ];
        let exclusive = ends.into_iter().find(|&(word, _)| self.eat_keyword(word));
        if let Some((_, end)) = exclusive {
            let mut channels = vec![self.path()?];
            while self.eat(Punctuation::Comma) {
                channels.push(self.path()?);
            }
            return Ok(Statement {
                labels: Vec::new(),
                kind: StatementKind::ExclusiveAccess(end, channels),
                span: start.to(self.span_before()),
            });
        }
        let normal = self.statement()?;
        if !self.eat_keyword(Keyword::Unless) {
            return Ok(normal);
        }
        let escape = self.statement()?;
        Ok(Statement {
            labels: Vec::new(),
            span: normal.span.to(escape.span),
            kind: StatementKind::Unless {
                normal: Box::new(normal),
                escape: Box::new(escape),
            },
        })
    }

    fn at_label(&self) -> bool {
        match &self.token().kind {
            TokenKind::Word(word) => {
                self.token_after(1).is(Punctuation::Colon) && !self.proctypes.contains(word)
            }
            _ => false,
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let mut labels = Vec::new();
        while self.at_label() {
            labels.push(self.expect_name("a label")?);
            self.advance();
        }
        if !labels.is_empty()
            && (self.at_declaration()
                || self.at_keyword(Keyword::Xr)
                || self.at_keyword(Keyword::Xs))
        {
            return Err(self.error(start, "a label cannot stand before a declaration"));
        }
        if !labels.is_empty() && (self.at_separator() || self.at_sequence_end()) {
            // A label with nothing after it marks a `skip`.
            let skip = Expr {
                kind: ExprKind::Number(1),
                span: start,
                height: 1,
            };
            return Ok(Statement {
                labels,
                kind: StatementKind::Expression(skip),
                span: start,
            });
        }
        let start = self.place();
        let kind = self.statement_kind()?;
        let span = start.to(self.place_before());
        Ok(Statement { labels, kind, span })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let TokenKind::Keyword(keyword) = self.token().kind else {
            return self.unkeyed_statement();
        };
        match keyword {
            Keyword::If => {
                self.advance();
                Ok(StatementKind::If(self.options(Keyword::Fi)?))
            }
            Keyword::Do => {
                self.advance();
                Ok(StatementKind::Do(self.options(Keyword::Od)?))
            }
            Keyword::For => self.for_loop(),
            Keyword::Select => self.select(),
            Keyword::Atomic => {
                self.advance();
                Ok(StatementKind::Atomic(self.body()?))
            }
            Keyword::DStep => {
                self.advance();
                Ok(StatementKind::DStep(self.body()?))
            }
            Keyword::Break => {
                self.advance();
                Ok(StatementKind::Break)
            }
            Keyword::Else => {
                self.advance();
                Ok(StatementKind::Else)
            }
            Keyword::Goto => {
                self.advance();
                Ok(StatementKind::Goto(self.expect_name("a label")?))
            }
            Keyword::Assert => {
                self.advance();
                Ok(StatementKind::Assert(self.full_expression()?))
            }
            Keyword::Printf => self.print(),
            Keyword::Printm => {
                self.advance();
                self.expect(Punctuation::OpenParen, "after `printm`")?;
                let value = self.expression()?;
                self.expect(Punctuation::CloseParen, "after the value")?;
                Ok(StatementKind::PrintMtype(value))
            }
            Keyword::SetPriority => {
                self.advance();
                self.expect(Punctuation::OpenParen, "after `set_priority`")?;
                let process = self.expression()?;
                self.expect(Punctuation::Comma, "after the process number")?;
                let priority = self.expression()?;
                self.expect(Punctuation::CloseParen, "after the priority")?;
                Ok(StatementKind::SetPriority { process, priority })
            }
            Keyword::Return => self.return_from_inline(),
            Keyword::Unless => {
                let diagnostic = Diagnostic::coded("P020", "expected a statement, found `unless`")
                    .at(self.span(), "")
                    .help("after anything but `}` the `unless` must be on the same line");
                Err(self.report(diagnostic))
            }
            _ => Ok(StatementKind::Expression(self.full_expression()?)),
        }
    }

    fn unkeyed_statement(&mut self) -> Parsed<StatementKind> {
        if self.at(Punctuation::OpenBrace) {
            return Ok(StatementKind::Block(self.body()?));
        }
        if self.at_inline_call() {
            return Ok(StatementKind::Block(self.inline_call(None)?));
        }
        if matches!(self.token().kind, TokenKind::EmbeddedC(_)) {
            self.embedded_c();
            return Ok(StatementKind::Invalid);
        }
        if let TokenKind::Word(word) = &self.token().kind
            && self.token_after(1).is(Punctuation::OpenParen)
        {
            let message = format!("there is no inline `{word}`");
            let mut diagnostic = Diagnostic::coded("P020", message).at(self.span(), "");
            if self.proctypes.contains(word) {
                diagnostic =
                    diagnostic.help(format!("`{word}` is a proctype; start it with `run`"));
            } else {
                diagnostic = diagnostic.help("an inline must be defined before it is called");
            }
            return Err(self.report(diagnostic));
        }
        if matches!(self.token().kind, TokenKind::Word(_))
            && let Some(kind) = self.statement_on_variable()?
        {
            return Ok(kind);
        }
        Ok(StatementKind::Expression(self.full_expression()?))
    }

    /// Statements that begin with a variable; `None` (and nothing read) if it
    /// begins an expression.
    fn statement_on_variable(&mut self) -> Parsed<Option<StatementKind>> {
        let start = self.position;
        let path = self.path()?;
        let TokenKind::Punctuation(sign) = self.token().kind else {
            self.position = start;
            return Ok(None);
        };
        let polls = self.token_after(1).is(Punctuation::OpenBracket);
        let kind = match sign {
            Punctuation::Assign => {
                self.advance();
                if self.at_inline_call() {
                    StatementKind::Block(self.inline_call(Some(path))?)
                } else {
                    StatementKind::Assign {
                        target: path,
                        value: self.full_expression()?,
                    }
                }
            }
            Punctuation::Increment | Punctuation::Decrement => {
                self.advance();
                StatementKind::Step {
                    target: path,
                    by: if sign == Punctuation::Increment {
                        1
                    } else {
                        -1
                    },
                }
            }
            Punctuation::Bang | Punctuation::SortedSend => {
                self.advance();
                StatementKind::Send {
                    channel: path,
                    sorted: sign == Punctuation::SortedSend,
                    arguments: self.send_arguments()?,
                }
            }
            Punctuation::Question | Punctuation::RandomReceive if !polls => {
                self.advance();
                let peek = self.eat(Punctuation::Less);
                let arguments = self.receive_arguments()?;
                if peek {
                    self.expect(Punctuation::Greater, "after the message")?;
                }
                StatementKind::Receive {
                    channel: path,
                    random: sign == Punctuation::RandomReceive,
                    peek,
                    arguments,
                }
            }
            _ => {
                self.position = start;
                return Ok(None);
            }
        };
        Ok(Some(kind))
    }

    /// `a, b` or `a(b, c)`.
    fn send_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = vec![self.expression()?];
        if self.eat(Punctuation::OpenParen) {
            arguments.push(self.expression()?);
            while self.eat(Punctuation::Comma) {
                arguments.push(self.expression()?);
            }
            self.expect(Punctuation::CloseParen, "after the message")?;
            return Ok(arguments);
        }
        while self.eat(Punctuation::Comma) {
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }

    fn options(&mut self, end: Keyword) -> Parsed<Vec<Sequence>> {
        let mut options = Vec::new();
        while self.at(Punctuation::DoubleColon) {
            let start = self.span();
            self.advance();
            let statements = self.statements()?;
            options.push(Sequence {
                statements,
                span: start.to(self.span_before()),
            });
        }
        if !self.eat_keyword(end) {
            let what = if options.is_empty() {
                "`::` and an option".to_string()
            } else {
                format!("`::` or `{}`", end.text())
            };
            return Err(self.expected(&what));
        }
        if options.is_empty() {
            let span = self.span_before();
            return Err(self.error(span, "a selection needs at least one option"));
        }
        Ok(options)
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect(Punctuation::OpenParen, "after `for`")?;
        let variable = self.path()?;
        if self.token().is_word("in") {
            self.advance();
            let container = self.path()?;
            self.expect(Punctuation::CloseParen, "after the array or channel")?;
            self.eat(Punctuation::Semicolon);
            let body = self.body()?;
            return Ok(StatementKind::ForIn {
                variable,
                container,
                body,
            });
        }
        self.expect(Punctuation::Colon, "or `in` after the variable")?;
        let from = self.expression()?;
        self.expect(Punctuation::DotDot, "between the bounds")?;
        let to = self.expression()?;
        self.expect(Punctuation::CloseParen, "after the bounds")?;
        self.eat(Punctuation::Semicolon);
        let body = self.body()?;
        Ok(StatementKind::ForRange {
            variable,
            from,
            to,
            body,
        })
    }

    fn select(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect(Punctuation::OpenParen, "after `select`")?;
        let literal = self.at_literal_select();
        let variable = self.path()?;
        self.expect(Punctuation::Colon, "after the variable")?;
        let from = self.expression()?;
        self.expect(Punctuation::DotDot, "between the bounds")?;
        let to = self.expression()?;
        self.expect(Punctuation::CloseParen, "after the bounds")?;
        Ok(StatementKind::Select {
            variable,
            from,
            to,
            literal,
        })
    }

    /// At `name : 1 .. 9)`. SPIN's scanner for this takes letters and digits
    /// for a name, but no underscore.
    fn at_literal_select(&self) -> bool {
        let is_number = |count| matches!(self.token_after(count).kind, TokenKind::Number(_));
        let is_plain_name =
            matches!(&self.token().kind, TokenKind::Word(word) if !word.contains('_'));
        self.expansions.is_empty()
            && is_plain_name
            && self.token_after(1).is(Punctuation::Colon)
            && is_number(2)
            && self.token_after(3).is(Punctuation::DotDot)
            && is_number(4)
            && self.token_after(5).is(Punctuation::CloseParen)
    }

    fn print(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.expect(Punctuation::OpenParen, "after `printf`")?;
        let TokenKind::Text(format) = self.token().kind.clone() else {
            return Err(self.expected("a format string"));
        };
        self.advance();
        let mut arguments = Vec::new();
        while self.eat(Punctuation::Comma) {
            arguments.push(self.expression()?);
        }
        self.expect(Punctuation::CloseParen, "after the arguments")?;
        Ok(StatementKind::Print { format, arguments })
    }

    fn return_from_inline(&mut self) -> Parsed<StatementKind> {
        let start = self.span();
        self.advance();
        let value = self.full_expression()?;
        let span = start.to(value.span);
        match self.expansions.last() {
            Some(expansion) => match expansion.result.clone() {
                Some(target) => Ok(StatementKind::Assign { target, value }),
                None => Err(self.error(
                    span,
                    "this inline returns a value, but its call stores none",
                )),
            },
            None => Err(self.error(span, "`return` outside of an inline")),
        }
    }
}
