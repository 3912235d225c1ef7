//! Inlines: procedures by substitution of text.
//!
//! SPIN replaces each formal parameter in the body by the text of its actual
//! parameter and reads the result as a block. Text means tokens here: no
//! parentheses are added around an actual, so `f(a + b)` with `x * 2` in the
//! body yields `a + b * 2`, exactly as in SPIN. All parameters are replaced
//! at once; names in an actual are not replaced again. The arguments of a
//! nested call have gone through the outer substitution before they are taken.
//!
//! Calls may nest, but an inline may not reach itself, and since two calls in
//! each of some dozen inlines already make a body of thousands of statements,
//! the number of tokens from expansions is bounded as well.

use std::rc::Rc;

use mover_source::Span;
use mover_source::diagnostic::Diagnostic;

use super::{Expansion, Parsed, Parser};
use crate::ast::{Name, Path, Sequence};
use crate::semicolons;
use crate::token::{Punctuation, Token, TokenKind};

/// SPIN's own limit.
const NESTING_LIMIT: usize = 16;
const TOKEN_LIMIT: usize = 2_000_000;

pub(super) struct Inline {
    name: Name,
    parameters: Vec<Name>,
    /// From the opening to the closing brace.
    body: Vec<Token>,
}

impl Parser<'_> {
    pub(super) fn at_inline_call(&self) -> bool {
        self.inline_named_here().is_some() && self.token_after(1).is(Punctuation::OpenParen)
    }

    fn inline_named_here(&self) -> Option<Rc<Inline>> {
        match &self.token().kind {
            TokenKind::Word(word) => self.inlines.get(word).cloned(),
            _ => None,
        }
    }

    pub(super) fn inline_definition(&mut self) -> Parsed<()> {
        self.advance();
        let name = self.expect_name("the name of the inline")?;
        self.expect(Punctuation::OpenParen, "before the parameters")?;
        let mut parameters = Vec::new();
        while !self.eat(Punctuation::CloseParen) {
            parameters.push(self.expect_name("a parameter")?);
            if !self.at(Punctuation::CloseParen) {
                self.expect(Punctuation::Comma, "between parameters")?;
            }
        }
        let start = self.position;
        self.expect(Punctuation::OpenBrace, "before the body of the inline")?;
        self.skip_braces();
        let body = self.tokens[start..self.position].to_vec();
        if !body
            .last()
            .is_some_and(|token| token.is(Punctuation::CloseBrace))
        {
            return Err(self.error(
                name.span,
                format!("the body of inline `{}` has no closing `}}`", name.text),
            ));
        }
        let inline = Rc::new(Inline {
            name: name.clone(),
            parameters,
            body,
        });
        if let Some(first) = self.inlines.insert(name.text.clone(), inline) {
            let diagnostic =
                Diagnostic::coded("P021", format!("inline `{}` is defined twice", name.text))
                    .at(name.span, "defined again")
                    .related(first.name.span, "first defined here");
            self.report(diagnostic);
        }
        Ok(())
    }

    /// Reads a call and then the body it stands for.
    pub(super) fn inline_call(&mut self, result: Option<Path>) -> Parsed<Sequence> {
        let start = self.span();
        let Some(inline) = self.inline_named_here() else {
            return Err(self.expected("the name of an inline"));
        };
        self.advance();
        self.expect(Punctuation::OpenParen, "before the arguments")?;
        let arguments = self.inline_arguments()?;
        let call = start.to(self.span_before());
        let name = &inline.name.text;
        if arguments.len() != inline.parameters.len() {
            let diagnostic = Diagnostic::coded(
                "P021",
                format!(
                    "inline `{name}` takes {} arguments, but {} are given",
                    inline.parameters.len(),
                    arguments.len()
                ),
            )
            .at(call, "")
            .related(inline.name.span, "defined here");
            return Err(self.report(diagnostic));
        }
        if self.expansions.iter().any(|outer| outer.name == *name) {
            return Err(self.error(call, format!("inline `{name}` calls itself")));
        }
        if self.expansions.len() >= NESTING_LIMIT {
            return Err(self.error(
                call,
                format!("inlines are nested more than {NESTING_LIMIT} deep"),
            ));
        }
        let tokens = self.substitute(&inline, &arguments, call)?;
        self.parse_expansion(
            tokens,
            Expansion {
                name: name.clone(),
                call,
                result,
            },
        )
    }

    /// The arguments as tokens, after the opening parenthesis.
    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut open = 0usize;
        loop {
            let token = self.token().clone();
            match token.kind {
                TokenKind::End => return Err(self.expected("`)` after the arguments")),
                TokenKind::Punctuation(Punctuation::OpenParen | Punctuation::OpenBracket) => {
                    open += 1
                }
                TokenKind::Punctuation(Punctuation::CloseParen) if open == 0 => {
                    self.advance();
                    break;
                }
                TokenKind::Punctuation(Punctuation::CloseParen | Punctuation::CloseBracket) => {
                    open = open.saturating_sub(1);
                }
                TokenKind::Punctuation(Punctuation::Comma) if open == 0 => {
                    self.advance();
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
            self.advance();
        }
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.iter().any(Vec::is_empty) {
            return Err(self.expected("an argument before this"));
        }
        Ok(arguments)
    }

    fn substitute(
        &mut self,
        inline: &Inline,
        arguments: &[Vec<Token>],
        call: Span,
    ) -> Parsed<Vec<Token>> {
        let mut tokens = Vec::with_capacity(inline.body.len());
        for token in &inline.body {
            let argument = match &token.kind {
                TokenKind::Word(word) => inline
                    .parameters
                    .iter()
                    .position(|parameter| parameter.text == *word)
                    .map(|index| &arguments[index]),
                _ => None,
            };
            match argument {
                Some(argument) => {
                    let first = tokens.len();
                    tokens.extend(argument.iter().map(|part| Token {
                        place: token.place,
                        opens_line: false,
                        ..part.clone()
                    }));
                    tokens[first].opens_line = token.opens_line;
                }
                None => tokens.push(token.clone()),
            }
            if self.expanded_tokens + tokens.len() > TOKEN_LIMIT {
                return Err(self.error(
                    call,
                    format!("the calls of inlines expand to more than {TOKEN_LIMIT} tokens"),
                ));
            }
        }
        self.expanded_tokens += tokens.len();
        Ok(tokens)
    }

    fn parse_expansion(&mut self, tokens: Vec<Token>, expansion: Expansion) -> Parsed<Sequence> {
        let mut tokens = semicolons::complete_body(tokens);
        let end = tokens.last().map_or(expansion.call, |token| token.span);
        tokens.push(Token {
            kind: TokenKind::End,
            span: end,
            place: end,
            opens_line: true,
        });
        let outer_tokens = std::mem::replace(&mut self.tokens, Rc::from(tokens));
        let outer_position = std::mem::replace(&mut self.position, 0);
        self.expansions.push(expansion);
        let body = self.nested(Self::body);
        if body.is_ok() && !self.at_end() {
            self.expected("the end of the inline");
        }
        self.expansions.pop();
        self.tokens = outer_tokens;
        self.position = outer_position;
        body
    }
}
