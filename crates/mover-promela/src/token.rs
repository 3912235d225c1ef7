//! The words of Promela.
//!
//! A [`Token`] carries its place in the text *as the user wrote it* and
//! whether it opens a line: SPIN makes most semicolons optional by reading a
//! line end after certain tokens as one (see `semicolons`), so line ends matter.
//!
//! `in` is not a keyword here: SPIN knows it only inside the head of a `for`.

use std::rc::Rc;

use mover_source::Span;

#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// Where the statement it is part of stands: for an argument of an inline,
    /// the parameter that it replaces.
    pub place: Span,
    /// A line end separates this token from the one before it.
    pub opens_line: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    Word(Rc<str>),
    Keyword(Keyword),
    Number(i32),
    Character(i32),
    Text(Rc<str>),
    /// `c_code { .. }` and its kin, swallowed whole; holds the word it began with.
    EmbeddedC(&'static str),
    Punctuation(Punctuation),
    /// The word `exclusive` in an annotation, `/*@ exclusive(x, m == _pid) */`.
    Exclusive,
    End,
}

macro_rules! words {
    ($type:ident { $($variant:ident = $text:literal,)+ }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $type { $($variant,)+ }

        impl $type {
            pub const ALL: &'static [$type] = &[$($type::$variant,)+];

            pub fn text(self) -> &'static str {
                match self { $($type::$variant => $text,)+ }
            }
        }
    };
}

words!(Keyword {
    Active = "active",
    Assert = "assert",
    Atomic = "atomic",
    Bit = "bit",
    Bool = "bool",
    Break = "break",
    Byte = "byte",
    Chan = "chan",
    CState = "c_state",
    CTrack = "c_track",
    DProctype = "D_proctype",
    DStep = "d_step",
    Do = "do",
    Else = "else",
    Empty = "empty",
    Enabled = "enabled",
    Eval = "eval",
    False = "false",
    Fi = "fi",
    For = "for",
    Full = "full",
    GetPriority = "get_priority",
    Goto = "goto",
    Hidden = "hidden",
    If = "if",
    Init = "init",
    Inline = "inline",
    Int = "int",
    Len = "len",
    Local = "local",
    Ltl = "ltl",
    Mtype = "mtype",
    Nempty = "nempty",
    Never = "never",
    Nfull = "nfull",
    Notrace = "notrace",
    NonProgress = "np_",
    Od = "od",
    Of = "of",
    PcValue = "pc_value",
    Pid = "pid",
    Printf = "printf",
    Printm = "printm",
    Priority = "priority",
    Proctype = "proctype",
    Provided = "provided",
    Return = "return",
    Run = "run",
    Select = "select",
    SetPriority = "set_priority",
    Short = "short",
    Show = "show",
    Skip = "skip",
    Timeout = "timeout",
    Trace = "trace",
    True = "true",
    Typedef = "typedef",
    Unless = "unless",
    Unsigned = "unsigned",
    Xr = "xr",
    Xs = "xs",
});

// The order matters to the lexer: a longer sign stands before its prefixes.
words!(Punctuation {
    DoubleColon = "::",
    LongArrow = "-->",
    Arrow = "->",
    Decrement = "--",
    Increment = "++",
    ShiftLeft = "<<",
    ShiftRight = ">>",
    LessEqual = "<=",
    GreaterEqual = ">=",
    Equal = "==",
    NotEqual = "!=",
    SortedSend = "!!",
    RandomReceive = "??",
    And = "&&",
    Or = "||",
    DotDot = "..",
    Colon = ":",
    Minus = "-",
    Plus = "+",
    Less = "<",
    Greater = ">",
    Assign = "=",
    Bang = "!",
    Question = "?",
    Ampersand = "&",
    Bar = "|",
    Dot = ".",
    Semicolon = ";",
    Comma = ",",
    OpenParen = "(",
    CloseParen = ")",
    OpenBracket = "[",
    CloseBracket = "]",
    OpenBrace = "{",
    CloseBrace = "}",
    Star = "*",
    Slash = "/",
    Percent = "%",
    Caret = "^",
    Tilde = "~",
    At = "@",
    Backslash = "\\",
});

impl Token {
    pub fn is(&self, punctuation: Punctuation) -> bool {
        self.kind == TokenKind::Punctuation(punctuation)
    }

    pub fn is_keyword(&self, keyword: Keyword) -> bool {
        self.kind == TokenKind::Keyword(keyword)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(text) if &**text == word)
    }

    /// How a diagnostic names the token.
    pub fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Word(word) => format!("`{word}`"),
            TokenKind::Keyword(keyword) => format!("`{}`", keyword.text()),
            TokenKind::Number(number) => format!("`{number}`"),
            TokenKind::Character(_) => "a character".to_string(),
            TokenKind::Text(_) => "a string".to_string(),
            TokenKind::EmbeddedC(word) => format!("`{word}`"),
            TokenKind::Punctuation(punctuation) => format!("`{}`", punctuation.text()),
            TokenKind::Exclusive => "the annotation `exclusive`".to_string(),
            TokenKind::End => "the end of the file".to_string(),
        }
    }
}
