//! Facts at places, in the words of the source.

use mover_ir::print::print_expr;
use mover_ir::program::Program;

use super::check::Claims;
use super::control::{Context, Spot};
use super::predicates::{Operand, Pool, Predicate, Who, people};

/// Facts of one context that are told, at most.
const MOST: usize = 40;

pub fn describe(program: &Program, pool: &Pool, claims: &Claims) -> Vec<String> {
    let words = Words { program, pool };
    let mut contexts: Vec<_> = claims.iter().collect();
    contexts.sort_unstable_by_key(|(context, _)| *context);
    let mut all = Vec::new();
    for (context, claim) in contexts {
        let mut facts = claim.facts.iter().map(|fact| {
            let parts = fact.iter();
            let parts =
                parts.map(|&(number, value)| words.literal(claim.predicates[number], value));
            parts.collect::<Vec<String>>().join(" || ")
        });
        let told: Vec<String> = facts.by_ref().take(MOST).collect();
        let left = facts.count();
        let more = match left {
            0 => String::new(),
            _ => format!(", and {left} more"),
        };
        let place = words.place(context);
        all.push(format!("where {place}: {}{more}", told.join(", ")));
    }
    all
}

struct Words<'a> {
    program: &'a Program,
    pool: &'a Pool,
}

impl Words<'_> {
    fn person(&self, who: Who) -> String {
        match who {
            Who::Fixed(number) => {
                let template = self.program.initial[number].template;
                self.program.template(template).name.clone()
            }
            Who::Seat(0) => "one thread".into(),
            Who::Seat(_) => "another thread".into(),
        }
    }

    fn place(&self, context: &Context) -> String {
        let people = people(context);
        let one = |&(who, spot): &(Who, Spot)| {
            let (template, location) = spot.unwrap_or((0, 0));
            let body = &self.program.templates[template];
            let line = body.locations[location].span.map(|span| {
                let line = self.program.info.sources.locate(span).line;
                format!(" (line {line})")
            });
            let (person, name) = (self.person(who), &body.name);
            let line = line.unwrap_or_default();
            format!("{person} is at {name}:{location}{line}")
        };
        let all: Vec<String> = people.iter().map(one).collect();
        if all.is_empty() {
            return "the first threads are gone".into();
        }
        all.join(" and ")
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Shared(number) => self.program.globals[number].name.clone(),
            Operand::Own {
                who,
                template,
                variable,
            } => {
                let local = &self.program.templates[template].locals[variable];
                format!("{} of {}", local.name, self.person(who))
            }
        }
    }

    fn signed(&self, operand: Operand, value: u64, signed: bool) -> String {
        let width = match operand {
            Operand::Shared(number) => self.program.globals[number].ty.width,
            Operand::Own {
                template, variable, ..
            } => self.program.templates[template].locals[variable].ty.width,
        };
        if signed && width < 64 && value >> (width - 1) & 1 == 1 {
            (value as i64 - (1i64 << width)).to_string()
        } else {
            value.to_string()
        }
    }

    fn literal(&self, predicate: Predicate, value: bool) -> String {
        let text = match predicate {
            Predicate::Bit(operand, bit) => {
                let set = u8::from(value);
                return format!("bit {bit} of {} == {set}", self.operand(operand));
            }
            Predicate::Equals(operand, constant) => {
                let op = if value { "==" } else { "!=" };
                return format!("{} {op} {constant}", self.operand(operand));
            }
            Predicate::Below {
                number,
                bound,
                signed,
            } => {
                let op = if value { "<" } else { ">=" };
                let bound = self.signed(number, bound, signed);
                return format!("{} {op} {bound}", self.operand(number));
            }
            Predicate::Same(a, b) => {
                let op = if value { "==" } else { "!=" };
                return format!("{} {op} {}", self.operand(a), self.operand(b));
            }
            Predicate::Less { less, than, .. } => {
                let op = if value { "<" } else { ">=" };
                return format!("{} {op} {}", self.operand(less), self.operand(than));
            }
            Predicate::Mine { variable, who } => {
                let name = &self.program.globals[variable].name;
                format!("{name} names {}", self.person(who))
            }
            Predicate::Changed { number, who } => {
                let name = &self.program.globals[self.pool.changed[number]].name;
                format!("{name} was last changed by {}", self.person(who))
            }
            Predicate::Compared { who, number } => {
                let (template, expr) = &self.pool.comparisons[number];
                let body = &self.program.templates[*template];
                let text = print_expr(self.program, Some(body), expr);
                format!("{text} of {}", self.person(who))
            }
        };
        if value { text } else { format!("not {text}") }
    }
}
