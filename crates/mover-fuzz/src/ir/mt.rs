//! The little language of the reference explorer, translated to the IR.
//!
//! One line is one atomic step of a thread: `acq m`, `rel m`, `x := e`,
//! `assume e`, `assert e`, `if e goto A else B`, `choose A [g] B`, `goto A`,
//! `skip`, `end`, `cas l x old new`, `atomic [g] x := e , y := f`. Variables
//! have a domain 0..d-1; arithmetic on assignment is modulo d.

use std::collections::HashMap;

use mover_ir::expr::{BinaryOp, Expr, Place, Ty, VariableRef};
use mover_ir::program::*;

use super::pieces::{assign, empty, equal, own_mark, variable};
use crate::random::Random;

const BYTE: Ty = Ty::BYTE;

struct Name {
    variable: VariableRef,
    domain: i64,
}

struct Line {
    labels: Vec<String>,
    text: String,
}

#[derive(Default)]
struct Thread {
    name: String,
    locals: Vec<Variable>,
    names: HashMap<String, Name>,
    lines: Vec<Line>,
}

pub fn parse(name: &str, text: &str) -> Program {
    let mut program = Program {
        max_threads: 8,
        ..empty(name.into())
    };
    let mut globals: HashMap<String, Name> = HashMap::new();
    let mut threads: Vec<Thread> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["var", name, domain, "=", init, ..] => {
                let variable = VariableRef::Global(VariableId(program.globals.len() as u32));
                program.globals.push(cell(name, number(init) as u64));
                let domain = number(domain);
                globals.insert(name.into(), Name { variable, domain });
            }
            ["mutex", ref names @ ..] => {
                for name in names {
                    let variable = VariableRef::Global(VariableId(program.globals.len() as u32));
                    program.globals.push(cell(name, 0));
                    let domain = 255;
                    globals.insert(name.to_string(), Name { variable, domain });
                }
            }
            ["thread", name] => {
                let name = name.into();
                threads.push(Thread {
                    name,
                    ..Thread::default()
                });
            }
            ["local", name, domain, "=", init] => {
                let Thread { locals, names, .. } =
                    threads.last_mut().expect("a local is in a thread");
                let variable = VariableRef::Local(VariableId(locals.len() as u32));
                locals.push(cell(name, number(init) as u64));
                let domain = number(domain);
                names.insert(name.into(), Name { variable, domain });
            }
            _ => {
                let Thread { lines, .. } = threads.last_mut().expect("a statement is in a thread");
                let mut labels = Vec::new();
                let mut rest = line;
                while let Some((label, after)) = rest.split_once(": ") {
                    if label.contains(|c: char| !c.is_alphanumeric()) {
                        break;
                    }
                    labels.push(label.to_string());
                    rest = after.trim();
                }
                let text = rest.to_string();
                lines.push(Line { labels, text });
            }
        }
    }
    for (number, thread) in threads.into_iter().enumerate() {
        let Thread {
            name,
            locals,
            names,
            lines,
        } = thread;
        let body = Body {
            globals: &globals,
            locals: &names,
            lines: &lines,
        };
        let locations = body.locations();
        program
            .templates
            .push(Template::new(name, locals, locations));
        program
            .initial
            .push(Instance::new(number as u32, Vec::new()));
    }
    program
}

fn number(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|_| panic!("`{text}` is a number"))
}

fn cell(name: &str, init: u64) -> Variable {
    variable(name.into(), BYTE, 1, Init::All(init))
}

struct Body<'a> {
    globals: &'a HashMap<String, Name>,
    locals: &'a HashMap<String, Name>,
    lines: &'a [Line],
}

impl Body<'_> {
    fn locations(&self) -> Vec<Location> {
        let end = self.lines.len() as u32;
        let error = end + 1;
        let mut locations: Vec<Location> = (0..self.lines.len())
            .map(|at| {
                let text = &self.lines[at].text;
                let edges = self.statement(text, at as u32 + 1, error);
                Location {
                    valid_end: text == "end",
                    edges,
                    ..Location::default()
                }
            })
            .collect();
        locations.push(Location {
            valid_end: true,
            ..Location::default()
        });
        locations.push(Location::failure("wrong", None));
        locations
    }

    fn label(&self, name: &str) -> u32 {
        let has = |line: &Line| line.labels.iter().any(|label| label == name);
        let at = self.lines.iter().position(has);
        at.unwrap_or_else(|| panic!("label `{name}` exists")) as u32
    }

    fn name(&self, name: &str) -> &Name {
        let found = self.locals.get(name).or_else(|| self.globals.get(name));
        found.unwrap_or_else(|| panic!("variable `{name}` exists"))
    }

    fn place(&self, name: &str) -> Place {
        Place::scalar(self.name(name).variable, BYTE)
    }

    fn value(&self, name: &str) -> Expr {
        Expr::Read(self.place(name)).resize(32, false)
    }

    /// An assignment modulo the domain of the target.
    fn assign(&self, name: &str, value: Expr) -> Effect {
        let domain = Expr::int(self.name(name).domain);
        let once = Expr::binary(BinaryOp::SRem, value, domain.clone());
        let positive = Expr::binary(BinaryOp::Add, once, domain.clone());
        let value = Expr::binary(BinaryOp::SRem, positive, domain).resize(8, false);
        assign(self.place(name), value)
    }

    fn statement(&self, text: &str, next: u32, error: u32) -> Vec<Edge> {
        let edge = |guard, effects, target| Edge::new(guard, effects, target, text);
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let own = own_mark();
        match word {
            "end" => Vec::new(),
            "skip" => vec![edge(Expr::TRUE, vec![], next)],
            "goto" => vec![edge(Expr::TRUE, vec![], self.label(rest))],
            "acq" => {
                let free = equal(self.value(rest), Expr::int(0));
                let take = assign(self.place(rest), own.resize(8, false));
                vec![edge(free, vec![take], next)]
            }
            "rel" => {
                let mine = equal(self.value(rest), own);
                let give = assign(self.place(rest), Expr::constant(0, 8));
                vec![edge(mine, vec![give], next)]
            }
            "assume" => vec![edge(self.truth(rest), vec![], next)],
            "assert" => {
                let holds = self.truth(rest);
                vec![
                    edge(holds.clone(), vec![], next),
                    edge(holds.negate(), vec![], error),
                ]
            }
            "if" => {
                let (condition, targets) = rest.split_once(" goto ").expect("if has goto");
                let (then, otherwise) = targets.split_once(" else ").expect("if has else");
                let holds = self.truth(condition);
                vec![
                    edge(holds.clone(), vec![], self.label(then.trim())),
                    edge(holds.negate(), vec![], self.label(otherwise.trim())),
                ]
            }
            "choose" => {
                let mut edges = Vec::new();
                let mut rest = rest;
                while !rest.is_empty() {
                    let mut guard = Expr::TRUE;
                    if let Some(after) = rest.strip_prefix('[') {
                        let (condition, after) = after.split_once(']').expect("guard ends");
                        guard = self.truth(condition);
                        rest = after.trim();
                    }
                    let (label, after) = rest.split_once(' ').unwrap_or((rest, ""));
                    edges.push(edge(guard, vec![], self.label(label)));
                    rest = after.trim();
                }
                edges
            }
            "cas" => {
                let [result, cell, old, new] = rest.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("cas has four operands");
                };
                let equal = equal(self.value(cell), Expr::int(number(old)));
                let done = vec![
                    self.assign(cell, Expr::int(number(new))),
                    self.assign(result, Expr::int(1)),
                ];
                vec![
                    edge(equal.clone(), done, next),
                    edge(
                        equal.negate(),
                        vec![self.assign(result, Expr::int(0))],
                        next,
                    ),
                ]
            }
            _ => {
                let mut rest = text.strip_prefix("atomic").unwrap_or(text).trim();
                let mut guard = Expr::TRUE;
                if let Some(after) = rest.strip_prefix('[') {
                    let (condition, after) = after.split_once(']').expect("guard ends");
                    guard = self.truth(condition);
                    rest = after.trim();
                }
                let effects = rest
                    .split(',')
                    .map(|assignment| {
                        let (target, value) = assignment.split_once(":=").expect("assignment");
                        self.assign(target.trim(), self.number_of(value))
                    })
                    .collect();
                vec![edge(guard, effects, next)]
            }
        }
    }

    fn truth(&self, text: &str) -> Expr {
        let value = self.number_of(text);
        Expr::binary(BinaryOp::Ne, value, Expr::int(0))
    }

    /// Everything is a number of 32 bits; truth is 0 or 1.
    fn number_of(&self, text: &str) -> Expr {
        let mut parser = Operators {
            body: self,
            tokens: tokens(text),
            at: 0,
        };
        let value = parser.level(0);
        assert_eq!(parser.at, parser.tokens.len(), "all of `{text}` is read");
        value
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut token = c.to_string();
        let word = c.is_alphanumeric();
        while let Some(&next) = chars.peek() {
            let joins = if word {
                next.is_alphanumeric() || next == '_'
            } else {
                matches!(
                    (c, next),
                    ('=' | '!' | '<' | '>', '=') | ('&', '&') | ('|', '|')
                )
            };
            if !joins {
                break;
            }
            token.push(next);
            chars.next();
        }
        tokens.push(token);
    }
    tokens
}

struct Operators<'a> {
    body: &'a Body<'a>,
    tokens: Vec<String>,
    at: usize,
}

const LEVELS: [&[&str]; 5] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<", "<=", ">", ">="],
    &["+", "-"],
    &["*", "%"],
];

impl Operators<'_> {
    fn level(&mut self, level: usize) -> Expr {
        if level == LEVELS.len() {
            return self.operand();
        }
        let mut lhs = self.level(level + 1);
        while let Some(op) = self.tokens.get(self.at).cloned() {
            if !LEVELS[level].contains(&op.as_str()) {
                break;
            }
            self.at += 1;
            let rhs = self.level(level + 1);
            let compare = |op, a, b| Expr::binary(op, a, b).resize(32, false);
            let arithmetic = |op, a, b| Expr::binary(op, a, b);
            lhs = match op.as_str() {
                "||" => arithmetic(BinaryOp::Or, lhs, rhs),
                "&&" => arithmetic(BinaryOp::And, lhs, rhs),
                "==" => compare(BinaryOp::Eq, lhs, rhs),
                "!=" => compare(BinaryOp::Ne, lhs, rhs),
                "<" => compare(BinaryOp::SLt, lhs, rhs),
                "<=" => compare(BinaryOp::SLe, lhs, rhs),
                ">" => compare(BinaryOp::SLt, rhs, lhs),
                ">=" => compare(BinaryOp::SLe, rhs, lhs),
                "+" => arithmetic(BinaryOp::Add, lhs, rhs),
                "-" => arithmetic(BinaryOp::Sub, lhs, rhs),
                "*" => arithmetic(BinaryOp::Mul, lhs, rhs),
                _ => {
                    // The remainder of mathematics: never negative.
                    let once = arithmetic(BinaryOp::SRem, lhs, rhs.clone());
                    let positive = arithmetic(BinaryOp::Add, once, rhs.clone());
                    arithmetic(BinaryOp::SRem, positive, rhs)
                }
            };
        }
        lhs
    }

    fn operand(&mut self) -> Expr {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        match token.as_str() {
            "(" => {
                let inner = self.level(0);
                assert_eq!(self.tokens[self.at], ")");
                self.at += 1;
                inner
            }
            "true" => Expr::int(1),
            "false" => Expr::int(0),
            name if name.starts_with(|c: char| c.is_ascii_digit()) => Expr::int(number(name)),
            name => self.body.value(name),
        }
    }
}

pub fn program(seed: u64) -> Program {
    let text = random_text(&mut Random(seed ^ 0x5EED));
    parse(&format!("threads {seed}"), &text)
}

/// A random program in the small language of the reference explorer: locks,
/// protected and unprotected variables, loops, choices, waiting, assertions.
pub fn random_text(random: &mut Random) -> String {
    let mut text = String::from("var x 3 = 0\nvar y 2 = 0\nvar z 2 = 0\nmutex m n\n");
    for thread in 0..2 + random.below(2) {
        text += &format!("thread T{thread}\n  local l 3 = 0\n  local k 2 = 0\n");
        let length = 3 + random.below(6);
        // Most threads keep to the discipline: x under m, y under n.
        let disciplined = !random.one_in(4);
        let mut held: Vec<&str> = Vec::new();
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..length {
            let lock = random.pick(&["m", "n"]);
            let statement = match random.below(14) {
                0..=2 if !held.contains(&lock) || !disciplined => {
                    held.push(lock);
                    format!("acq {lock}")
                }
                3 | 4 if !held.is_empty() => {
                    let lock = if disciplined || random.one_in(2) {
                        held.pop().unwrap_or("m")
                    } else {
                        lock
                    };
                    format!("rel {lock}")
                }
                5 if held.contains(&"m") || !disciplined => random.pick(&[
                    "x := x + 1".to_string(),
                    "l := x".to_string(),
                    "x := l".to_string(),
                    "assert x != 2".to_string(),
                ]),
                6 if held.contains(&"n") || !disciplined => random.pick(&[
                    "y := 1 - y".to_string(),
                    "k := y".to_string(),
                    "assume y == 1".to_string(),
                ]),
                7 => random.pick(&["z := 1".to_string(), "z := 1 - z".to_string()]),
                8 => random.pick(&["assume z == 1".to_string(), "assert z == 0".to_string()]),
                9 => "cas k z 0 1".to_string(),
                10 => format!("if l == 0 goto A{} else B", random.below(length)),
                11 => format!("choose A{} B", random.below(length)),
                12 => format!("goto A{}", random.below(length)),
                13 if random.one_in(3) => "assume k == 1".to_string(),
                _ => random.pick(&["l := l + 1".to_string(), "skip".to_string()]),
            };
            lines.push(statement);
        }
        for (number, line) in lines.iter().enumerate() {
            text += &format!("  A{number}: {line}\n");
        }
        text += "  B: skip\n";
    }
    text
}
