//! From tokens to the syntax tree, by recursive descent.
//!
//! An item that cannot be read is reported and skipped, so that one run
//! reports an error of every item.

use mover_source::diagnostic::Diagnostic;
use mover_source::{FileId, Span};

use super::lexer::{Token, tokens};
use super::syntax::*;

/// Deeper nesting is refused, lest a hostile file exhaust the stack.
const MAX_DEPTH: usize = 64;
/// More operands in a row are refused for the same reason: `a and b and …`
/// nests to the left.
const MAX_OPERANDS: usize = 200;

/// The words that begin an item, at which reading resumes after an error.
const ITEM_WORDS: [&str; 11] = [
    "update",
    "expect",
    "thread",
    "variable",
    "global",
    "predicate",
    "procedure",
    "require",
    "conflict",
    "on",
    "manager",
];

pub fn parse(text: &str, file: FileId) -> Result<File, Vec<Diagnostic>> {
    let tokens = tokens(text, file).map_err(|error| vec![error])?;
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
    };
    let name = parser.header().map_err(|error| vec![error])?;
    let mut items = Vec::new();
    let mut errors = Vec::new();
    while *parser.peek() != Token::End {
        let start = parser.at;
        match parser.item() {
            Ok(item) => items.push(item),
            Err(error) => {
                errors.push(error);
                parser.depth = 0;
                parser.skip_item(start);
            }
        }
    }
    if errors.is_empty() {
        Ok(File { name, items })
    } else {
        Err(errors)
    }
}

type Parsed<T> = Result<T, Diagnostic>;

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        // The end is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if *s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        Err(Diagnostic::coded(
            "T001",
            format!("expected {expected}, but found {}", self.peek().describe()),
        )
        .at(self.span(), format!("expected {expected}")))
    }

    fn symbol(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.take_symbol(symbol) {
            Ok(())
        } else {
            self.unexpected(&format!("`{symbol}`"))
        }
    }

    fn word(&mut self, word: &'static str) -> Parsed<()> {
        if self.take_word(word) {
            Ok(())
        } else {
            self.unexpected(&format!("`{word}`"))
        }
    }

    fn name(&mut self, of: &str) -> Parsed<Name> {
        let span = self.span();
        match self.peek() {
            Token::Word(text) => {
                let text = text.clone();
                self.advance();
                Ok(Name { text, span })
            }
            _ => self.unexpected(of),
        }
    }

    fn number(&mut self) -> Parsed<u8> {
        let span = self.span();
        match *self.peek() {
            Token::Number(number) => {
                self.advance();
                u8::try_from(number)
                    .map_err(|_| Diagnostic::coded("T001", "numbers go up to 255").at(span, ""))
            }
            _ => self.unexpected("a number"),
        }
    }

    fn header(&mut self) -> Parsed<Name> {
        self.word("algorithm")?;
        let name = self.name("the name of the algorithm")?;
        self.symbol(";")?;
        Ok(name)
    }

    /// Skips to where the next item may begin: a word that begins items,
    /// outside of braces opened since `start`.
    fn skip_item(&mut self, start: usize) {
        let stopped = self.at.max(start + 1).min(self.tokens.len() - 1);
        let mut open = 0usize;
        self.at = start;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Symbol("{") => open += 1,
                Token::Symbol("}") => open = open.saturating_sub(1),
                Token::Word(word)
                    if self.at >= stopped && open == 0 && ITEM_WORDS.contains(&word.as_str()) =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let Token::Word(word) = self.peek().clone() else {
            return self.unexpected("an item such as `thread`, `conflict` or `on`");
        };
        match word.as_str() {
            "update" => {
                self.advance();
                let name = self.name("`deferred` or `direct`")?;
                self.symbol(";")?;
                Ok(Item::Update(name))
            }
            "expect" => {
                self.advance();
                let weak = self.take_word("weak");
                let property = self.name("the name of a property")?;
                let manager = if self.take_word("with") {
                    Some(self.name("the name of a contention manager")?)
                } else {
                    None
                };
                let verdict = self.name("`holds` or `violated`")?;
                self.symbol(";")?;
                Ok(Item::Expect(Expectation {
                    weak,
                    property,
                    manager,
                    verdict,
                }))
            }
            "thread" | "variable" | "global" => Ok(Item::State(self.state_block()?)),
            "predicate" => {
                self.advance();
                let name = self.name("the name of the predicate")?;
                let params = self.params()?;
                self.symbol("=")?;
                let body = self.expr()?;
                self.symbol(";")?;
                Ok(Item::Predicate(Predicate { name, params, body }))
            }
            "procedure" => {
                self.advance();
                let name = self.name("the name of the procedure")?;
                let params = self.params()?;
                let body = self.block()?;
                Ok(Item::Procedure(Procedure { name, params, body }))
            }
            "require" => {
                self.advance();
                let guard = self.expr()?;
                self.symbol(";")?;
                Ok(Item::Require(guard))
            }
            "conflict" => {
                self.advance();
                let command = self.pattern("`read(v)`, `write(v)` or `commit`")?;
                let when = self.when()?;
                self.symbol(";")?;
                Ok(Item::Conflict(Conflict { command, when }))
            }
            "on" => {
                self.advance();
                let keyword = self.span();
                if self.take_word("abort") {
                    let body = self.block()?;
                    return Ok(Item::Abort { keyword, body });
                }
                let command = self.pattern("`read(v)`, `write(v)`, `commit` or `abort`")?;
                self.symbol("{")?;
                let mut rules = Vec::new();
                while !self.take_symbol("}") {
                    rules.push(self.rule()?);
                }
                Ok(Item::Command(CommandRules { command, rules }))
            }
            "manager" => {
                self.advance();
                Ok(Item::Manager(self.manager()?))
            }
            _ => self.unexpected("an item such as `thread`, `conflict` or `on`"),
        }
    }

    fn state_block(&mut self) -> Parsed<StateBlock> {
        let place = match self.advance() {
            Token::Word(word) if word == "thread" => Place::Thread,
            Token::Word(word) if word == "variable" => Place::Variable,
            _ => Place::Global,
        };
        self.symbol("{")?;
        let mut fields = Vec::new();
        while !self.take_symbol("}") {
            let mut names = vec![self.name("the name of a field")?];
            while self.take_symbol(",") {
                names.push(self.name("the name of a field")?);
            }
            self.symbol(":")?;
            let ty = self.type_syntax()?;
            let initial = if self.take_symbol("=") {
                Some(self.expr()?)
            } else {
                None
            };
            self.symbol(";")?;
            fields.extend(names.into_iter().map(|name| FieldDecl {
                name,
                ty: ty.clone(),
                initial: initial.clone(),
            }));
        }
        Ok(StateBlock { place, fields })
    }

    fn type_syntax(&mut self) -> Parsed<TypeSyntax> {
        if self.take_symbol("{") {
            let mut names = vec![self.name("a value of the enumeration")?];
            while self.take_symbol(",") {
                names.push(self.name("a value of the enumeration")?);
            }
            self.symbol("}")?;
            return Ok(TypeSyntax::Enumeration(names));
        }
        if self.take_word("bool") {
            return Ok(TypeSyntax::Bool);
        }
        if self.take_word("time") {
            return Ok(TypeSyntax::Time);
        }
        if self.take_word("set") {
            self.word("of")?;
            if self.take_word("variables") {
                return Ok(TypeSyntax::VariableSet);
            }
            if self.take_word("threads") {
                return Ok(TypeSyntax::ThreadSet);
            }
            return self.unexpected("`variables` or `threads`");
        }
        if self.take_word("thread") {
            self.word("or")?;
            self.word("none")?;
            return Ok(TypeSyntax::ThreadOrNone);
        }
        if matches!(self.peek(), Token::Number(_)) {
            let start = self.span();
            let low = self.number()?;
            self.symbol("..")?;
            let high = self.number()?;
            if low > high {
                let span = start.to(self.previous_span());
                return Err(Diagnostic::coded("T001", "this range is empty").at(span, ""));
            }
            return Ok(TypeSyntax::Range { low, high });
        }
        self.unexpected(
            "a type: `{ a, b }`, `set of variables`, `set of threads`, `bool`, `0..3`, `thread or none` or `time`",
        )
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.symbol("(")?;
        let mut params = Vec::new();
        while !self.take_symbol(")") {
            if !params.is_empty() {
                self.symbol(",")?;
            }
            let kind = if self.take_word("thread") {
                IndexKind::Thread
            } else if self.take_word("variable") {
                IndexKind::Variable
            } else {
                return self.unexpected("`thread` or `variable`");
            };
            let name = self.name("the name of a parameter")?;
            params.push(Param { kind, name });
        }
        Ok(params)
    }

    fn pattern(&mut self, of: &str) -> Parsed<Pattern> {
        let name = self.name(of)?;
        let param = if self.take_symbol("(") {
            let param = self.name("the name of a variable")?;
            self.symbol(")")?;
            Some(param)
        } else {
            None
        };
        Ok(Pattern { name, param })
    }

    fn when(&mut self) -> Parsed<Option<Expr>> {
        if self.take_word("when") {
            Ok(Some(self.expr()?))
        } else {
            Ok(None)
        }
    }

    fn block_or_semicolon(&mut self) -> Parsed<Vec<Stmt>> {
        if self.take_symbol(";") {
            Ok(Vec::new())
        } else {
            self.block()
        }
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.span();
        self.word("do")?;
        let step = self.pattern("the name of an extended command")?;
        let response = if self.is_word("pending") || self.is_word("done") {
            Some(self.name("`pending` or `done`")?)
        } else {
            None
        };
        let when = self.when()?;
        let span = start.to(self.previous_span());
        let body = self.block_or_semicolon()?;
        Ok(Rule {
            step,
            response,
            when,
            body,
            span,
        })
    }

    fn manager(&mut self) -> Parsed<Manager> {
        let name = self.name("the name of the contention manager")?;
        self.symbol("{")?;
        let mut state = Vec::new();
        let mut reactions = Vec::new();
        while !self.take_symbol("}") {
            if self.is_word("thread") || self.is_word("variable") || self.is_word("global") {
                state.push(self.state_block()?);
            } else if self.take_word("on") {
                let step = self.pattern("an extended command, `step` or `abort`")?;
                let when = self.when()?;
                let body = self.block_or_semicolon()?;
                reactions.push(Reaction { step, when, body });
            } else {
                return self.unexpected("`thread`, `variable`, `global`, `on` or `}`");
            }
        }
        Ok(Manager {
            name,
            state,
            reactions,
        })
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(Diagnostic::coded(
                "T001",
                format!("this is nested more than {MAX_DEPTH} levels deep"),
            )
            .at(self.span(), ""));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.nested(|parser| {
            parser.symbol("{")?;
            let mut statements = Vec::new();
            while !parser.take_symbol("}") {
                statements.push(parser.stmt()?);
            }
            Ok(statements)
        })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = if self.take_word("if") {
            let condition = self.expr()?;
            let then = self.block()?;
            let otherwise = if self.take_word("else") {
                self.block()?
            } else {
                Vec::new()
            };
            StmtKind::If {
                condition,
                then,
                otherwise,
            }
        } else if self.take_word("for") {
            let binder = self.binder()?;
            let condition = if self.take_word("where") {
                Some(self.expr()?)
            } else {
                None
            };
            let body = self.block()?;
            StmtKind::For {
                binder,
                condition,
                body,
            }
        } else {
            let name = self.name("a statement: an assignment, `if`, `for` or a call")?;
            let arguments = self.arguments()?;
            let op = if self.take_symbol(":=") {
                AssignOp::Set
            } else if self.take_symbol("+=") {
                AssignOp::Add
            } else if self.take_symbol("-=") {
                AssignOp::Remove
            } else if let Some(arguments) = arguments {
                self.symbol(";")?;
                return Ok(Stmt {
                    kind: StmtKind::Call { name, arguments },
                    span: start.to(self.previous_span()),
                });
            } else {
                return self.unexpected("`:=`, `+=` or `-=`");
            };
            let mut arguments = arguments.unwrap_or_default().into_iter();
            let index = arguments.next();
            if let Some(extra) = arguments.next() {
                return Err(
                    Diagnostic::coded("T001", "a field has one index at most").at(extra.span, "")
                );
            }
            let value = self.expr()?;
            self.symbol(";")?;
            StmtKind::Assign {
                target: Target { field: name, index },
                op,
                value,
            }
        };
        Ok(Stmt {
            kind,
            span: start.to(self.previous_span()),
        })
    }

    fn arguments(&mut self) -> Parsed<Option<Vec<Name>>> {
        if !self.take_symbol("(") {
            return Ok(None);
        }
        let mut arguments = Vec::new();
        while !self.take_symbol(")") {
            if !arguments.is_empty() {
                self.symbol(",")?;
            }
            arguments.push(self.name("the name of a thread or variable")?);
        }
        Ok(Some(arguments))
    }

    fn binder(&mut self) -> Parsed<Binder> {
        if self.take_word("thread") {
            let name = self.name("the name of a thread")?;
            return Ok(Binder {
                name,
                domain: Domain::Threads,
            });
        }
        if self.take_word("variable") {
            let name = self.name("the name of a variable")?;
            return Ok(Binder {
                name,
                domain: Domain::Variables,
            });
        }
        let name = self.name("`thread u`, `variable x`, `u != t` or `x in …`")?;
        let domain = if self.take_symbol("!=") {
            Domain::OtherThan(self.name("the name of a thread")?)
        } else if self.take_word("in") {
            Domain::Members(Box::new(self.sum()?))
        } else {
            return self.unexpected("`!=` or `in`");
        };
        Ok(Binder { name, domain })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.disjunction())
    }

    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr {
            span: left.span.to(right.span),
            kind: ExprKind::Binary {
                op,
                left: Box::new(left),
                right: Box::new(right),
            },
        }
    }

    fn one_more_operand(&self, operands: &mut usize) -> Parsed<()> {
        *operands += 1;
        if *operands > MAX_OPERANDS {
            return Err(Diagnostic::coded(
                "T001",
                format!("more than {MAX_OPERANDS} operands in a row"),
            )
            .at(self.span(), ""));
        }
        Ok(())
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        let mut operands = 1;
        while self.take_word("or") {
            self.one_more_operand(&mut operands)?;
            let right = self.conjunction()?;
            left = Self::binary(BinaryOp::Or, left, right);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.negation()?;
        let mut operands = 1;
        while self.take_word("and") {
            self.one_more_operand(&mut operands)?;
            let right = self.negation()?;
            left = Self::binary(BinaryOp::And, left, right);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.take_word("not") {
            let operand = self.nested(|parser| parser.negation())?;
            return Ok(Expr {
                span: start.to(operand.span),
                kind: ExprKind::Not(Box::new(operand)),
            });
        }
        if self.is_word("exists") || self.is_word("forall") {
            let universal = self.is_word("forall");
            self.advance();
            let binder = self.binder()?;
            self.symbol(":")?;
            let body = self.expr()?;
            return Ok(Expr {
                span: start.to(body.span),
                kind: ExprKind::Quantified {
                    universal,
                    binder,
                    body: Box::new(body),
                },
            });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        let op = match self.peek() {
            Token::Symbol("=") => BinaryOp::Equal,
            Token::Symbol("!=") => BinaryOp::NotEqual,
            Token::Symbol("<") => BinaryOp::Less,
            Token::Symbol("<=") => BinaryOp::LessOrEqual,
            Token::Symbol(">") => BinaryOp::Greater,
            Token::Symbol(">=") => BinaryOp::GreaterOrEqual,
            Token::Word(word) => match word.as_str() {
                "in" => BinaryOp::In,
                "meets" => BinaryOp::Meets,
                "within" => BinaryOp::Within,
                "not" => BinaryOp::NotIn,
                _ => return Ok(left),
            },
            _ => return Ok(left),
        };
        self.advance();
        if op == BinaryOp::NotIn {
            self.word("in")?;
        }
        let right = self.sum()?;
        Ok(Self::binary(op, left, right))
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        let mut operands = 1;
        loop {
            let op = match self.peek() {
                Token::Symbol("+") => BinaryOp::Plus,
                Token::Symbol("-") => BinaryOp::Minus,
                Token::Symbol("|") => BinaryOp::Union,
                Token::Symbol("\\") => BinaryOp::Difference,
                _ => return Ok(left),
            };
            self.advance();
            self.one_more_operand(&mut operands)?;
            let right = self.product()?;
            left = Self::binary(op, left, right);
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.primary()?;
        let mut operands = 1;
        while self.take_symbol("&") {
            self.one_more_operand(&mut operands)?;
            let right = self.primary()?;
            left = Self::binary(BinaryOp::Intersection, left, right);
        }
        Ok(left)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Number(_) => ExprKind::Number(self.number()?),
            Token::Symbol("(") => {
                self.advance();
                let inner = self.expr()?;
                self.symbol(")")?;
                return Ok(inner);
            }
            Token::Symbol("{") => {
                self.advance();
                let mut members = Vec::new();
                while !self.take_symbol("}") {
                    if !members.is_empty() {
                        self.symbol(",")?;
                    }
                    members.push(self.expr()?);
                }
                ExprKind::SetOf(members)
            }
            Token::Word(word) => self.word_expr(&word)?,
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr {
            kind,
            span: start.to(self.previous_span()),
        })
    }

    fn word_expr(&mut self, word: &str) -> Parsed<ExprKind> {
        let name = self.name("an expression")?;
        Ok(match word {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "none" => ExprKind::Nobody,
            "all" => {
                if self.take_word("variables") {
                    ExprKind::Everything(IndexKind::Variable)
                } else if self.take_word("threads") {
                    ExprKind::Everything(IndexKind::Thread)
                } else {
                    return self.unexpected("`variables` or `threads`");
                }
            }
            "size" if self.is_symbol("(") => {
                self.symbol("(")?;
                let set = self.expr()?;
                self.symbol(")")?;
                ExprKind::Size(Box::new(set))
            }
            "min" | "max" if self.is_symbol("(") => {
                self.symbol("(")?;
                let left = self.expr()?;
                self.symbol(",")?;
                let right = self.expr()?;
                self.symbol(")")?;
                ExprKind::Least {
                    largest: word == "max",
                    left: Box::new(left),
                    right: Box::new(right),
                }
            }
            "and" | "or" | "in" | "when" | "where" | "meets" | "within" | "do" => {
                self.at -= 1;
                return self.unexpected("an expression");
            }
            _ => match self.arguments()? {
                Some(arguments) => ExprKind::Apply { name, arguments },
                None => ExprKind::Name(name.text),
            },
        })
    }
}
