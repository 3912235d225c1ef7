//! Formulas over a program whose language has no temporal logic of its own.
//!
//! [`claim`] reads a formula ([`mover_ltl::text`]) over the program's global variables and over
//! places. All arithmetic is on 64 bits, signed; a variable keeps its own sign. `function@line` holds
//! while some thread that began with the function is about to execute a statement of the line,
//! `function@label` the same for the first line with a statement from the label on. Calls are
//! inlined, so a line of a called function belongs to the thread's function.

use std::collections::HashSet;

use mover_ir::claim::{Check, Claim, ClaimKind, Monitor, Proposition};
use mover_ir::expr::{BinaryOp, Expr, Place, UnaryOp, VariableRef};
use mover_ir::program::{LocationId, Program, Template, TemplateId, Variable, VariableId};
use mover_ir::simplify::{fold_binary, fold_unary};
use mover_ltl::text::{Atom, Proposed, SyntaxError, Term, parse};
use mover_ltl::{Formula, Formulas, Label, Node, translate};
use mover_source::{FileId, Span};

const WIDTH: u8 = 64;

/// How many names a message lists.
const MOST_NAMES: usize = 12;

/// Why a text is no formula over a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormulaError {
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error("it has more than {} different conditions", Label::PROPOSITIONS)]
    TooManyConditions,
    #[error("its automaton is too large")]
    LargeAutomaton,
    #[error(
        "`{0}` is not an integer in memory; arrays need a constant index in bounds, structures a field"
    )]
    NoInteger(String),
    #[error(
        "the program has no global variable `{name}` that a thread uses; {}",
        variables_in_words(known)
    )]
    NoVariable {
        name: String,
        /// At most [`MOST_NAMES`].
        known: Vec<String>,
    },
    #[error(
        "no thread begins with `{function}`; threads begin with {}",
        known.join(", ")
    )]
    NoFunction {
        function: String,
        known: Vec<String>,
    },
    #[error("a thread of `{function}` does nothing that others can see in line {line}")]
    NoStep { function: String, line: usize },
    #[error("line {0} has such statements in several files; name a label instead")]
    SeveralFiles(usize),
    #[error("there is no label `{0}` at the beginning of a line")]
    NoLabel(String),
    #[error("there are several labels `{0}`; name the line instead")]
    SeveralLabels(String),
    #[error("no statement follows the label `{0}` in this function")]
    NothingBehindLabel(String),
    #[error("`[]`, `<>`, `X`, `U`, `V` and `W` speak of runs; this is about a state")]
    Temporal,
}

fn variables_in_words(names: &[String]) -> String {
    match names.len() {
        0 => "it has none that a thread uses".into(),
        MOST_NAMES => format!("some of its variables are {}", names.join(", ")),
        _ => format!("its variables are {}", names.join(", ")),
    }
}

/// The claim that all runs satisfy a formula.
pub fn claim(program: &Program, text: &str) -> Result<Claim, FormulaError> {
    let mut read = Read::of(program, text)?;
    let negation = read.formulas.negation(read.formula);
    let Read {
        propositions,
        formulas,
        ..
    } = read;
    let automaton = translate(&formulas, negation).map_err(|_| FormulaError::LargeAutomaton)?;
    Ok(Claim {
        kind: ClaimKind::Ltl,
        name: Some(text.to_string()),
        line: None,
        check: Check::Forbidden(Box::new(Monitor {
            propositions,
            automaton,
            formula: Some((formulas, negation)),
            checks: Vec::new(),
            extends_finite_runs: true,
            uses_last: false,
        })),
    })
}

/// A formula as it is read.
pub(crate) struct Read {
    pub propositions: Vec<Proposition>,
    pub formulas: Formulas,
    pub formula: Formula,
    /// The number whose truth is all that the formula says.
    pub number: Option<Expr>,
}

impl Read {
    pub(crate) fn of(program: &Program, text: &str) -> Result<Read, FormulaError> {
        let mut propositions: Vec<Proposition> = Vec::new();
        let mut formulas = Formulas::default();
        let mut atoms = 0;
        let mut number = None;
        let formula = parse(text, &mut formulas, &mut |atom| {
            atoms += 1;
            if let Atom::Truth(term) = atom {
                number = Some(self::number(program, term)?);
            }
            let proposition = proposition(program, atom)?;
            if let Proposition::Holds(expr) = &proposition
                && let Some(value) = expr.as_const()
            {
                return Ok(Proposed::Constant(value != 0));
            }
            let known = propositions.iter().position(|other| *other == proposition);
            let position = known.unwrap_or(propositions.len());
            if position >= Label::PROPOSITIONS {
                return Err(FormulaError::TooManyConditions);
            }
            if known.is_none() {
                propositions.push(proposition);
            }
            Ok(Proposed::Proposition(position as u32))
        })?;
        let is_atom = match formulas.node(formula) {
            Node::Literal { positive, .. } => positive,
            // The constant may have been negated; its truth is as good as its number.
            Node::True | Node::False => !text.contains('!'),
            _ => false,
        };
        Ok(Read {
            number: number.filter(|_| atoms == 1 && is_atom),
            propositions,
            formulas,
            formula,
        })
    }
}

fn proposition(program: &Program, atom: &Atom) -> Result<Proposition, FormulaError> {
    Ok(match atom {
        Atom::Truth(term) => {
            let value = number(program, term)?;
            Proposition::Holds(fold_binary(BinaryOp::Ne, value, Expr::constant(0, WIDTH)))
        }
        Atom::Compare(operator, left, right) => {
            let (left, right) = (number(program, left)?, number(program, right)?);
            Proposition::Holds(compared(operator, left, right))
        }
        Atom::Place { function, at } => Proposition::SomeThreadAt(places(program, function, at)?),
    })
}

fn compared(operator: &str, left: Expr, right: Expr) -> Expr {
    let (op, left, right) = match operator {
        "==" => (BinaryOp::Eq, left, right),
        "!=" => (BinaryOp::Ne, left, right),
        "<" => (BinaryOp::SLt, left, right),
        ">" => (BinaryOp::SLt, right, left),
        // a <= b is b >= a is !(b < a).
        "<=" => return fold_binary(BinaryOp::SLt, right, left).negate(),
        _ => return fold_binary(BinaryOp::SLt, left, right).negate(),
    };
    fold_binary(op, left, right)
}

fn number(program: &Program, term: &Term) -> Result<Expr, FormulaError> {
    Ok(match term {
        Term::Number(value) => Expr::constant(*value, WIDTH),
        Term::Negative(term) => fold_unary(UnaryOp::Neg, number(program, term)?),
        Term::Arithmetic(operator, left, right) => {
            let op = match operator {
                '+' => BinaryOp::Add,
                '-' => BinaryOp::Sub,
                '*' => BinaryOp::Mul,
                '&' => BinaryOp::And,
                _ => BinaryOp::Or,
            };
            fold_binary(op, number(program, left)?, number(program, right)?)
        }
        Term::Name(name) => variable(program, name)?,
    })
}

/// The value of a global variable, or of a part of one.
fn variable(program: &Program, name: &str) -> Result<Expr, FormulaError> {
    let globals = program.globals.iter().enumerate();
    for (at, global) in globals.filter(|(_, global)| is_of_source(global)) {
        let Some(rest) = name.strip_prefix(&*global.name) else {
            continue;
        };
        if !rest.is_empty() && !rest.starts_with(['.', '[']) {
            continue;
        }
        let id = VariableId(at as u32);
        let read = if global.addressable {
            in_object(program, id, global, rest)
        } else {
            in_row(id, global, rest)
        };
        if let Some(read) = read {
            return Ok(read);
        }
    }
    let base = name.split(['.', '[']).next().unwrap_or(name);
    let is_part = |global: &&Variable| {
        let rest = global.name.strip_prefix(base);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    if program.globals.iter().any(|global| is_part(&global)) {
        return Err(FormulaError::NoInteger(name.into()));
    }
    let known = program.globals.iter().filter(|global| is_of_source(global));
    Err(FormulaError::NoVariable {
        name: name.into(),
        known: known
            .map(|global| global.name.clone())
            .take(MOST_NAMES)
            .collect(),
    })
}

/// Whether a variable is the user's, not the front end's own.
fn is_of_source(variable: &Variable) -> bool {
    !variable.name.starts_with('%')
}

fn widened(read: Expr, signed: bool) -> Expr {
    read.resize(WIDTH, signed)
}

/// A cell of a variable that is reached by name alone.
fn in_row(id: VariableId, global: &Variable, rest: &str) -> Option<Expr> {
    let cell = match rest {
        "" if global.len == 1 && !global.is_array => 0,
        _ => index(rest)?,
    };
    if cell >= u64::from(global.len) {
        return None;
    }
    let place = Place::element(VariableRef::Global(id), Expr::int(cell as i64), global.ty);
    Some(widened(Expr::Read(place), global.ty.signed))
}

/// A part of an object: bytes with an address.
fn in_object(program: &Program, id: VariableId, global: &Variable, rest: &str) -> Option<Expr> {
    let size = global.bytes() - global.names.hidden_bytes.min(global.bytes());
    let names = &global.names;
    let (element, field) = match rest.strip_prefix('[') {
        Some(_) => {
            let close = rest.find(']')?;
            (index(&rest[..=close])?, &rest[close + 1..])
        }
        None => (0, rest),
    };
    let field = field.strip_prefix('.').unwrap_or(field);
    let (offset, ty) = if names.fields.is_empty() {
        if !field.is_empty() || (rest.is_empty() && global.len > 1) {
            return None;
        }
        (
            element.checked_mul(u64::from(global.ty.width / 8))?,
            global.ty,
        )
    } else {
        let mut found = names.fields.iter().filter(|known| known.name == field);
        let known = found.next()?;
        let is_one = found.next().is_none() && !known.is_pointer;
        let is_indexed = rest.starts_with('[') == (names.stride > 0 && names.stride < size);
        if !is_one || !is_indexed {
            return None;
        }
        (
            element
                .checked_mul(names.stride)?
                .checked_add(known.offset)?,
            known.ty,
        )
    };
    let bytes = u64::from(ty.width / 8);
    if !matches!(bytes, 1 | 2 | 4 | 8) || offset.checked_add(bytes)? > size {
        return None;
    }
    let width = program.pointers.width;
    let base = Expr::Address {
        variable: id,
        width,
    };
    let address = match offset {
        0 => base,
        _ => Expr::binary(BinaryOp::Add, base, Expr::constant(offset as i64, width)),
    };
    Some(widened(Expr::load(address, ty), ty.signed))
}

/// The number in `[3]`.
fn index(text: &str) -> Option<u64> {
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// Where threads of a function are at a line or a label.
fn places(
    program: &Program,
    function: &str,
    at: &str,
) -> Result<Vec<(TemplateId, LocationId)>, FormulaError> {
    let templates: Vec<(TemplateId, &Template)> = (0..)
        .map(TemplateId)
        .zip(&program.templates)
        .filter(|(_, template)| template.name == function)
        .collect();
    if templates.is_empty() {
        return Err(FormulaError::NoFunction {
            function: function.into(),
            known: program.templates.iter().map(|t| t.name.clone()).collect(),
        });
    }
    let (wanted, line) = match at.parse::<usize>() {
        Ok(line) => (None, line),
        Err(_) => {
            let (file, line) = line_of_label(program, &templates, at)?;
            (Some(file), line)
        }
    };
    let is_there = |span: &Span| {
        program.info.sources.locate(*span).line == line
            && wanted.is_none_or(|file| span.file == file)
    };
    let mut places = Vec::new();
    let mut files = HashSet::new();
    for (id, template) in templates {
        for (number, location) in (0..).map(LocationId).zip(&template.locations) {
            let spans = location.edges.iter().filter_map(|edge| edge.span);
            let here: Vec<Span> = spans.filter(is_there).collect();
            files.extend(here.iter().map(|span| span.file));
            if !here.is_empty() {
                places.push((id, number));
            }
        }
    }
    if files.len() > 1 {
        return Err(FormulaError::SeveralFiles(line));
    }
    if places.is_empty() {
        let function = function.into();
        return Err(FormulaError::NoStep { function, line });
    }
    Ok(places)
}

/// The first line from a label on in which the function does something.
fn line_of_label(
    program: &Program,
    templates: &[(TemplateId, &Template)],
    label: &str,
) -> Result<(FileId, usize), FormulaError> {
    let sources = &program.info.sources;
    let mut found = Vec::new();
    for (file, source) in sources.files() {
        for (number, text) in source.text.lines().enumerate() {
            let rest = text.trim_start().strip_prefix(label);
            let is_label = rest.is_some_and(|rest| {
                let rest = rest.trim_start();
                rest.starts_with(':') && !rest.starts_with("::")
            });
            if is_label {
                found.push((file, number + 1));
            }
        }
    }
    let (file, first) = match found[..] {
        [one] => one,
        [] => return Err(FormulaError::NoLabel(label.into())),
        _ => return Err(FormulaError::SeveralLabels(label.into())),
    };
    let edges = templates
        .iter()
        .flat_map(|(_, template)| &template.locations)
        .flat_map(|location| &location.edges);
    let lines = edges
        .filter_map(|edge| edge.span)
        .filter(|span| span.file == file)
        .map(|span| sources.locate(span).line);
    lines
        .filter(|&line| line >= first)
        .min()
        .map(|line| (file, line))
        .ok_or_else(|| FormulaError::NothingBehindLabel(label.into()))
}
