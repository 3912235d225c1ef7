//! EDN and JSON, read value by value from a stream.
//!
//! Both are one grammar here, up to how keys are written: JSON has a colon between a key and its
//! value, EDN has keywords that begin with one. Only what histories need is read; tags of EDN
//! (`#inst "…"`) are skipped. The file is never in memory: at any time there is one value, and the
//! beginning of the current line for messages.

use std::io::Read;

/// What is wrong with a file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    pub message: String,
    /// From 1.
    pub line: usize,
    /// In bytes, from 0.
    pub column: usize,
    /// The beginning of the line.
    pub excerpt: String,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    /// A number that is no 64-bit integer, as written.
    Number(String),
    Text(String),
    /// A keyword without its colon, or a symbol.
    Word(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// A name: a text, keyword or symbol.
    pub fn name(&self) -> Option<&str> {
        match self {
            Value::Text(name) | Value::Word(name) => Some(name),
            _ => None,
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        let Value::Map(fields) = self else {
            return None;
        };
        let found = fields.iter().find(|(key, _)| key.name() == Some(name));
        found.map(|(_, value)| value)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = |f: &mut std::fmt::Formatter<'_>, values: &[Value]| {
            for (at, value) in values.iter().enumerate() {
                let blank = if at > 0 { " " } else { "" };
                write!(f, "{blank}{value}")?;
            }
            Ok(())
        };
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Number(text) | Value::Word(text) => f.write_str(text),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::List(values) => {
                f.write_str("[")?;
                row(f, values)?;
                f.write_str("]")
            }
            Value::Map(fields) => {
                f.write_str("{")?;
                for (key, value) in fields {
                    write!(f, "{key} {value} ")?;
                }
                f.write_str("}")
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    Edn,
    Json,
}

/// Nothing real is nested deeper.
const MAX_DEPTH: usize = 64;
const EXCERPT: usize = 400;
const BUFFER: usize = 1 << 16;

pub struct Stream<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    pub line: usize,
    column: usize,
    excerpt: Vec<u8>,
    pub notation: Notation,
    /// Within a list that is the whole file.
    enclosed: bool,
    begun: bool,
    /// Where the last value began.
    pub value_line: usize,
    value_column: usize,
}

type Result<T> = std::result::Result<T, ReadError>;

impl<R: Read> Stream<R> {
    /// Opens a stream and finds out its notation.
    pub fn new(mut input: R) -> std::io::Result<Stream<R>> {
        let mut buffer = vec![0; BUFFER];
        let mut length = 0;
        // A short first read would hide what the notation is.
        while length < buffer.len() {
            match input.read(&mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        buffer.truncate(length);
        let notation = sniff(&buffer);
        Ok(Stream {
            input,
            buffer,
            at: 0,
            line: 1,
            column: 0,
            excerpt: Vec::new(),
            notation,
            enclosed: false,
            begun: false,
            value_line: 1,
            value_column: 0,
        })
    }

    fn fill(&mut self) -> Result<bool> {
        self.buffer.resize(BUFFER, 0);
        let length = self
            .input
            .read(&mut self.buffer)
            .map_err(|error| self.error(format!("cannot read on: {error}")))?;
        self.buffer.truncate(length);
        self.at = 0;
        Ok(length > 0)
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() && !self.fill()? {
            return Ok(None);
        }
        Ok(Some(self.buffer[self.at]))
    }

    fn next(&mut self) -> Result<Option<u8>> {
        let Some(byte) = self.peek()? else {
            return Ok(None);
        };
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
            self.excerpt.clear();
        } else {
            self.column += 1;
            if self.excerpt.len() < EXCERPT {
                self.excerpt.push(byte);
            }
        }
        Ok(Some(byte))
    }

    /// An error at the current place. The rest of the line is read for the message.
    pub fn error(&mut self, message: impl Into<String>) -> ReadError {
        let (line, column) = (self.line, self.column);
        let rest = self.buffer[self.at..].iter().copied();
        let rest = rest.take_while(|&byte| byte != b'\n');
        let mut excerpt = self.excerpt.clone();
        excerpt.extend(rest.take(EXCERPT.saturating_sub(excerpt.len())));
        ReadError {
            message: message.into(),
            line,
            column,
            excerpt: String::from_utf8_lossy(&excerpt).into_owned(),
        }
    }

    /// An error at the beginning of the value that was read last.
    pub fn error_at_value(&mut self, message: impl Into<String>) -> ReadError {
        let mut error = self.error(message);
        if self.value_line == self.line {
            error.column = self.value_column;
        } else {
            error.line = self.value_line;
            error.column = self.value_column;
            error.excerpt = String::new();
        }
        error
    }

    fn skip_blank(&mut self) -> Result<()> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b',') => {
                    self.next()?;
                }
                Some(b';') if self.notation == Notation::Edn => {
                    while self.peek()?.is_some_and(|byte| byte != b'\n') {
                        self.next()?;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next value of the file: the values may stand one after the other, or in one list.
    pub fn item(&mut self) -> Result<Option<Value>> {
        self.skip_blank()?;
        if !self.begun {
            self.begun = true;
            // A mark of the byte order is no content.
            if self.buffer.starts_with(&[0xef, 0xbb, 0xbf]) && self.at == 0 {
                self.at = 3;
                self.skip_blank()?;
            }
            if matches!(self.peek()?, Some(b'[' | b'(')) {
                self.next()?;
                self.enclosed = true;
                self.skip_blank()?;
            }
        }
        match self.peek()? {
            None if self.enclosed => Err(self.error("the list of operations has no end")),
            None => Ok(None),
            Some(b']' | b')') if self.enclosed => {
                self.next()?;
                self.skip_blank()?;
                self.enclosed = false;
                match self.peek()? {
                    None => Ok(None),
                    Some(_) => Err(self.error("something follows the list of operations")),
                }
            }
            Some(_) => {
                self.value_line = self.line;
                self.value_column = self.column;
                self.value(0).map(Some)
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(self.error("values are nested too deeply"));
        }
        self.skip_blank()?;
        match self.peek()? {
            None => Err(self.error("the file ends within a value")),
            Some(b'{') => {
                self.next()?;
                self.map(depth)
            }
            Some(open @ (b'[' | b'(')) => {
                self.next()?;
                self.list(if open == b'[' { b']' } else { b')' }, depth)
            }
            Some(b'"') => {
                self.next()?;
                Ok(Value::Text(self.text()?))
            }
            Some(b'#') if self.notation == Notation::Edn => {
                self.next()?;
                if self.peek()? == Some(b'{') {
                    self.next()?;
                    return self.list(b'}', depth);
                }
                // A tag: what it stands before is what counts.
                self.atom()?;
                self.value(depth + 1)
            }
            Some(b'-' | b'+' | b'0'..=b'9') => self.number(),
            Some(byte) if is_atom(byte) => {
                let (line, column) = (self.line, self.column);
                let atom = self.atom()?;
                match atom.as_str() {
                    "nil" if self.notation == Notation::Edn => Ok(Value::Nil),
                    "null" if self.notation == Notation::Json => Ok(Value::Nil),
                    "true" => Ok(Value::Bool(true)),
                    "false" => Ok(Value::Bool(false)),
                    _ if self.notation == Notation::Edn => {
                        Ok(Value::Word(atom.trim_start_matches(':').to_string()))
                    }
                    _ => {
                        let mut error =
                            self.error(format!("expected a JSON value, found `{atom}`"));
                        error.line = line;
                        error.column = column;
                        Err(error)
                    }
                }
            }
            Some(byte) => {
                let found = char::from(byte);
                Err(self.error(format!("expected a value, found `{found}`")))
            }
        }
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Value> {
        let mut values = Vec::new();
        loop {
            self.skip_blank()?;
            match self.peek()? {
                None => return Err(self.error("the file ends within a list")),
                Some(byte) if byte == close => {
                    self.next()?;
                    return Ok(Value::List(values));
                }
                Some(_) => values.push(self.value(depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value> {
        let mut fields: Vec<(Value, Value)> = Vec::new();
        loop {
            self.skip_blank()?;
            match self.peek()? {
                None => return Err(self.error("the file ends within a map")),
                Some(b'}') => {
                    self.next()?;
                    return Ok(Value::Map(fields));
                }
                Some(_) => {}
            }
            let (line, column) = (self.line, self.column);
            let key = self.value(depth + 1)?;
            if self.notation == Notation::Json {
                self.skip_blank()?;
                if !matches!(key, Value::Text(_)) {
                    return Err(self.error("the name of a field must be a string"));
                }
                if self.peek()? != Some(b':') {
                    return Err(self.error("expected `:` after the name of a field"));
                }
                self.next()?;
            }
            if fields.iter().any(|(known, _)| *known == key) {
                let mut error = self.error(format!("the field `{key}` occurs twice"));
                error.line = line;
                error.column = column;
                return Err(error);
            }
            let value = self.value(depth + 1)?;
            fields.push((key, value));
        }
    }

    fn text(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                None | Some(b'\n') => return Err(self.error("a string has no end")),
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut bytes)?,
                Some(byte) => bytes.push(byte),
            }
        }
        String::from_utf8(bytes).map_err(|_| self.error("a string is no UTF-8"))
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let mut put = |c: char| bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        match self.next()? {
            Some(b'n') => put('\n'),
            Some(b't') => put('\t'),
            Some(b'r') => put('\r'),
            Some(b'b') => put('\u{8}'),
            Some(b'f') => put('\u{c}'),
            Some(c @ (b'"' | b'\\' | b'/')) => put(char::from(c)),
            Some(b'u') => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code)
                    && self.next()? == Some(b'\\')
                    && self.next()? == Some(b'u')
                {
                    let low = self.hex()?;
                    code = 0x10000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                }
                let c = char::from_u32(code);
                put(c.ok_or_else(|| self.error("not a character"))?);
            }
            _ => return Err(self.error("unknown escape in a string")),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next()?.and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.error("expected four hex digits"))?;
        }
        Ok(code)
    }

    fn atom(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek()?.filter(|&byte| is_atom(byte)) {
            bytes.push(byte);
            self.next()?;
        }
        if bytes.is_empty() {
            return Err(self.error("expected a value"));
        }
        String::from_utf8(bytes).map_err(|_| self.error("not UTF-8"))
    }

    fn number(&mut self) -> Result<Value> {
        let (line, column) = (self.line, self.column);
        let text = self.atom()?;
        let plain = text.strip_suffix('N').unwrap_or(&text);
        if let Ok(number) = plain.parse::<i64>() {
            return Ok(Value::Int(number));
        }
        if plain.trim_end_matches('M').parse::<f64>().is_ok() {
            return Ok(Value::Number(text));
        }
        if self.notation == Notation::Edn && !plain.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Value::Word(text));
        }
        let mut error = self.error(format!("`{text}` is no number"));
        error.line = line;
        error.column = column;
        Err(error)
    }
}

fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b":-+._/*!?<>=$&%'#\\|".contains(&byte)
}

/// JSON has a string and a colon where EDN has a keyword.
fn sniff(beginning: &[u8]) -> Notation {
    let mut in_map = false;
    let mut comment = false;
    for &byte in beginning {
        match byte {
            b'\n' => comment = false,
            _ if comment => {}
            b';' => comment = true,
            b'{' => in_map = true,
            b'"' if in_map => return Notation::Json,
            b':' if in_map => return Notation::Edn,
            _ => {}
        }
    }
    Notation::Json
}
