//! Variables, channels, types and the heads of processes.

use super::{Parsed, Parser};
use crate::ast::{
    ActiveCount, ChannelInitial, Declaration, Init, Initial, MtypeDeclaration, Name, Proctype,
    TypeName, Typedef, VariableDeclaration, Visibility,
};
use crate::token::{Keyword, Punctuation, TokenKind};
use mover_source::Span;

impl Parser<'_> {
    pub(super) fn at_declaration(&self) -> bool {
        use Keyword::{
            Bit, Bool, Byte, Chan, Hidden, Int, Local, Mtype, Pid, Short, Show, Unsigned,
        };
        match &self.token().kind {
            TokenKind::Keyword(
                Bit | Bool | Byte | Chan | Hidden | Int | Local | Mtype | Pid | Short | Show
                | Unsigned,
            ) => true,
            TokenKind::Word(word) => self.types.contains(word),
            _ => false,
        }
    }

    /// At `mtype = {`, `mtype {` or `mtype : set = {`.
    pub(super) fn at_mtype_set(&self) -> bool {
        if !self.at_keyword(Keyword::Mtype) {
            return false;
        }
        let mut next = 1;
        if self.token_after(1).is(Punctuation::Colon) {
            next = 3;
        }
        self.token_after(next).is(Punctuation::OpenBrace)
            || self.token_after(next).is(Punctuation::Assign)
                && self.token_after(next + 1).is(Punctuation::OpenBrace)
    }

    pub(super) fn mtype_declaration(&mut self) -> Parsed<MtypeDeclaration> {
        self.advance();
        let set = if self.eat(Punctuation::Colon) {
            Some(self.expect_name("the name of the mtype set")?)
        } else {
            None
        };
        self.eat(Punctuation::Assign);
        self.expect(Punctuation::OpenBrace, "before the names")?;
        let mut names = vec![self.expect_name("a name")?];
        while !self.at(Punctuation::CloseBrace) {
            if !self.eat(Punctuation::Comma) {
                names.push(self.expect_name("a name or `}`")?);
            }
        }
        self.advance();
        Ok(MtypeDeclaration { set, names })
    }

    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let start = self.span();
        let visibility = match self.token().kind {
            TokenKind::Keyword(Keyword::Hidden) => Visibility::Hidden,
            TokenKind::Keyword(Keyword::Local) => Visibility::Local,
            TokenKind::Keyword(Keyword::Show) => Visibility::Show,
            _ => Visibility::Plain,
        };
        if visibility != Visibility::Plain {
            self.advance();
        }
        let type_name = self.type_name()?;
        let mut variables = vec![self.variable_declaration()?];
        while self.eat(Punctuation::Comma) {
            variables.push(self.variable_declaration()?);
        }
        Ok(Declaration {
            visibility,
            type_name,
            variables,
            span: start.to(self.span_before()),
        })
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let type_name = match &self.token().kind {
            TokenKind::Keyword(Keyword::Bit) => TypeName::Bit,
            TokenKind::Keyword(Keyword::Bool) => TypeName::Bool,
            TokenKind::Keyword(Keyword::Byte) => TypeName::Byte,
            TokenKind::Keyword(Keyword::Short) => TypeName::Short,
            TokenKind::Keyword(Keyword::Int) => TypeName::Int,
            TokenKind::Keyword(Keyword::Unsigned) => TypeName::Unsigned,
            TokenKind::Keyword(Keyword::Pid) => TypeName::Pid,
            TokenKind::Keyword(Keyword::Chan) => TypeName::Chan,
            TokenKind::Keyword(Keyword::Mtype) => {
                self.advance();
                let set = if self.eat(Punctuation::Colon) {
                    Some(self.expect_name("the name of an mtype set")?)
                } else {
                    None
                };
                return Ok(TypeName::Mtype(set));
            }
            TokenKind::Word(word) if self.types.contains(word) => TypeName::Struct(Name {
                text: word.clone(),
                span: self.span(),
            }),
            _ => return Err(self.expected("a type")),
        };
        self.advance();
        Ok(type_name)
    }

    fn variable_declaration(&mut self) -> Parsed<VariableDeclaration> {
        let name = self.expect_name("the name of a variable")?;
        let mut width = None;
        let mut length = None;
        if self.eat(Punctuation::Colon) {
            width = Some(self.number("the number of bits")?);
        } else if self.eat(Punctuation::OpenBracket) {
            length = Some(self.expression()?);
            self.expect(Punctuation::CloseBracket, "after the length of the array")?;
        }
        let initial = if self.eat(Punctuation::Assign) {
            self.initial()?
        } else {
            Initial::None
        };
        Ok(VariableDeclaration {
            name,
            width,
            length,
            initial,
        })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        let start = self.span();
        if self.eat(Punctuation::OpenBrace) {
            let mut values = vec![self.expression()?];
            while self.eat(Punctuation::Comma) {
                values.push(self.expression()?);
            }
            self.expect(Punctuation::CloseBrace, "after the initial values")?;
            return Ok(Initial::List(values));
        }
        if !self.eat(Punctuation::OpenBracket) {
            return Ok(Initial::Value(self.expression()?));
        }
        let capacity = self.expression()?;
        self.expect(
            Punctuation::CloseBracket,
            "after the capacity of the channel",
        )?;
        if !self.eat_keyword(Keyword::Of) {
            return Err(self.expected("`of` and the types of the message fields"));
        }
        self.expect(
            Punctuation::OpenBrace,
            "before the types of the message fields",
        )?;
        let mut fields = Vec::new();
        loop {
            let span = self.span();
            if self.at_keyword(Keyword::Unsigned) {
                return Err(self.error(span, "`unsigned` cannot be the type of a message field"));
            }
            fields.push((self.type_name()?, span.to(self.span_before())));
            if !self.eat(Punctuation::Comma) {
                break;
            }
        }
        self.expect(
            Punctuation::CloseBrace,
            "after the types of the message fields",
        )?;
        Ok(Initial::Channel(ChannelInitial {
            capacity,
            fields,
            span: start.to(self.span_before()),
        }))
    }

    pub(super) fn number(&mut self, what: &str) -> Parsed<(i32, Span)> {
        let span = self.span();
        match self.token().kind {
            TokenKind::Number(number) => {
                self.advance();
                Ok((number, span))
            }
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn typedef(&mut self) -> Parsed<Typedef> {
        self.advance();
        let name = self.expect_name("the name of the type")?;
        self.types.insert(name.text.clone());
        self.expect(Punctuation::OpenBrace, "before the fields")?;
        let fields = self.declaration_list(Punctuation::CloseBrace)?;
        self.expect(Punctuation::CloseBrace, "after the fields")?;
        Ok(Typedef { name, fields })
    }

    /// Declarations with semicolons between them, up to a closing sign.
    fn declaration_list(&mut self, end: Punctuation) -> Parsed<Vec<Declaration>> {
        let mut declarations = Vec::new();
        while !self.at(end) {
            if !self.at_declaration() {
                return Err(self.expected("a type"));
            }
            declarations.push(self.declaration()?);
            if !self.at(Punctuation::Semicolon) && !self.at(Punctuation::Arrow) {
                break;
            }
            while self.eat(Punctuation::Semicolon) || self.eat(Punctuation::Arrow) {}
        }
        Ok(declarations)
    }

    pub(super) fn proctype(&mut self) -> Parsed<Proctype> {
        let mut active = None;
        if self.eat_keyword(Keyword::Active) {
            active = Some(ActiveCount::One);
            if self.eat(Punctuation::OpenBracket) {
                active = Some(ActiveCount::Expr(self.expression()?));
                self.expect(Punctuation::CloseBracket, "after the number of processes")?;
            }
        }
        let deterministic = self.at_keyword(Keyword::DProctype);
        if !deterministic && !self.at_keyword(Keyword::Proctype) {
            return Err(self.expected("`proctype`"));
        }
        self.advance();
        let name = self.expect_name("the name of the proctype")?;
        self.proctypes.insert(name.text.clone());
        self.expect(Punctuation::OpenParen, "before the parameters")?;
        let parameters = self.declaration_list(Punctuation::CloseParen)?;
        self.expect(Punctuation::CloseParen, "after the parameters")?;
        let priority = self.priority()?;
        let provided = if self.eat_keyword(Keyword::Provided) {
            self.expect(Punctuation::OpenParen, "before the condition")?;
            let condition = self.full_expression()?;
            self.expect(Punctuation::CloseParen, "after the condition")?;
            Some(condition)
        } else {
            None
        };
        let body = self.body()?;
        Ok(Proctype {
            name,
            deterministic,
            active,
            parameters,
            priority,
            provided,
            body,
        })
    }

    pub(super) fn init(&mut self) -> Parsed<Init> {
        let span = self.span();
        self.advance();
        let priority = self.priority()?;
        let body = self.body()?;
        Ok(Init {
            span,
            priority,
            body,
        })
    }

    pub(super) fn priority(&mut self) -> Parsed<Option<(i32, Span)>> {
        if self.eat_keyword(Keyword::Priority) {
            Ok(Some(self.number("a priority")?))
        } else {
            Ok(None)
        }
    }
}
