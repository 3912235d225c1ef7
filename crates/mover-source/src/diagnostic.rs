//! What a front end has to say about its input.
//!
//! A [`Diagnostic`] is data: what is wrong, where, and what to do about it. A
//! front end collects as many as it can in one run and returns them together;
//! the report layer renders them with an excerpt and a caret. Nothing in here
//! prints.

use crate::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// The four characters of an error code. Kept small, for diagnostics are returned by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code([u8; 4]);

impl Code {
    pub fn new(text: &'static str) -> Self {
        let mut code = [b'0'; 4];
        for (place, byte) in code.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        Code(code)
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("")
    }
}

/// One remark about the user's input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Names the kind of error: `P020`; each has a page in the guide.
    pub code: Option<Code>,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// Where, with the words to put under the caret (may be empty).
    pub label: Option<(Span, String)>,
    /// Further places that matter ("first declared here").
    pub related: Vec<(Span, String)>,
    /// A way out.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// An error of a kind that the guide has a page for.
    pub fn coded(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            code: Some(Code::new(code)),
            ..Self::new(Severity::Error, message)
        }
    }

    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    pub fn note(message: impl Into<String>) -> Self {
        Self::new(Severity::Note, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            code: None,
            message: message.into(),
            label: None,
            related: Vec::new(),
            help: None,
        }
    }

    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.label = Some((span, label.into()));
        self
    }

    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
