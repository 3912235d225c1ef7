//! Random Promela models of features that are difficult for reductions.
//!
//! Rendezvous offered and withdrawn, buffers with one or several users at each end, locks of
//! several kinds (also in arrays, re-entrant, reader-writer, misused), an owner cell that other
//! processes read and a predicate on it, arrays of locks that name their owners, data with and
//! without locks, atomic sequences that may block, compare-and-swap, `else`, `unless`, loops
//! that never end, dead ends, processes that are started and exit, references to other
//! processes and their variables, arrays of a process's own.
//!
//! A model is kept as a tree, so that [`Model::smaller`] can offer every model with one element
//! removed.

use crate::random::Random;

const DECLARATIONS: &str = "\
byte x, y, z; bool m, n; byte owner; byte s1 = 1; bool forks[2]; byte seat[2];
byte again, deep; byte named; short rw; byte readers; bool writing;
chan r = [0] of { byte }; chan s = [0] of { byte };
chan b = [1] of { byte }; chan c = [2] of { byte }; chan d = [2] of { byte };
";

/// A breach of it is a violation, so most models are without it.
const CLAIM: &str = "/*@ exclusive(z, named == _pid + 1) */\n";

/// Statements that need nothing around them, by what they are about. A model consists of a few
/// of these: if every model had all of them, what belongs together would seldom meet.
const TOPICS: &[&[&str]] = &[
    &["skip", "l = 1", "l = 1 - l", "k = 1 - l", "assert(l == 0)"],
    &[
        "x = 1",
        "x = 1 - x",
        "l = x",
        "(x == 1)",
        "(x == 0)",
        "assert(x == 0)",
        "d_step { l = (x == 0); x = (x == 0 -> 1 : x) }",
        "d_step { l = 0; x = 0 }",
    ],
    &[
        "y = 1",
        "y = 0",
        "y = y + 1",
        "l = y",
        "(y == 1)",
        "(y == 0)",
        "assert(y == 0)",
    ],
    &["z = 1", "z = 1 - z", "l = z", "(z == 1)", "assert(z == 0)"],
    &["r!1", "r!0", "r?l", "r?1"],
    &["s!l", "s?l"],
    &["b!1", "b?l", "(len(b) == 0)"],
    &[
        "c!l",
        "c!1",
        "c?l",
        "c?1",
        "c?<l>",
        "c??1",
        "c!!l",
        "(nempty(c))",
        "c?[1]",
    ],
    &["d!l", "d!1", "d?l", "d?0", "d??1", "(full(d))"],
    &["atomic { !m -> m = true }", "m = false"],
    &[
        "atomic { !n -> n = true; y = 1 - y }",
        "atomic { y = 0; n = false }",
    ],
    &[
        "atomic { owner == 0 -> owner = _pid + 1 }",
        "atomic { owner == _pid + 1 -> owner = 0 }",
    ],
    &["d_step { s1 > 0 -> s1-- }", "s1++"],
    &[
        "atomic { !forks[l] -> forks[l] = true }",
        "forks[l] = false",
        "atomic { !forks[k] -> forks[k] = true }",
        "forks[k] = false",
    ],
    &[
        "atomic { again == 0 || again == _pid + 1 -> again = _pid + 1; deep++ }",
        "atomic { again == _pid + 1 -> deep--; if :: deep == 0 -> again = 0 :: else fi }",
        "(again == _pid + 1)",
    ],
    &[
        "atomic { named == 0 -> named = _pid + 1 }",
        "atomic { named == _pid + 1 -> named = 0 }",
        "named = 0",
        "l = (named == 0)",
        "(named != 0)",
    ],
    &[
        "atomic { rw >= 0 -> rw++ }",
        "rw--",
        "atomic { rw == 0 -> rw = -1 }",
        "rw = 0",
        "(rw == 0)",
    ],
    &["(_nr_pr < 3)", "atomic { (_nr_pr < 4) -> run Q(1) }"],
    &["false"],
    &[
        "atomic { seat[l] == 0 -> seat[l] = _pid + 1 }",
        "atomic { seat[l] == _pid + 1 -> seat[l] = 0 }",
        "atomic { seat[k] == _pid + 1 -> seat[k] = 0 }",
        "seat[k] = 0",
        "(seat[k] != _pid + 1)",
        "l = (seat[l] == _pid + 1)",
        "l = (seat[k] == 0)",
        "k = 1 - k",
    ],
    &[
        "row[l] = 1",
        "row[k] = 1 - row[k]",
        "row[0] = 1",
        "row[1] = 1",
        "l = row[k]",
        "k = 1 - k",
        "(row[l] == 0)",
        "assert(row[0] == 0)",
    ],
    &[
        "l = P0[0]:k",
        "(P0[0]:l == 1)",
        "assert(P0[0]:l == 0)",
        "k = P0[0]:l",
        "(P0[0]:k == 0)",
        "l = 1",
        "k = 1 - k",
    ],
];

/// Well-behaved pieces: critical sections, so that something is protected.
const SECTIONS: &[(&str, &str)] = &[
    ("atomic { !m -> m = true }", "m = false"),
    ("atomic { owner == 0 -> owner = _pid + 1 }", "owner = 0"),
    ("d_step { s1 > 0 -> s1-- }", "s1++"),
    (
        "atomic { !forks[l] -> forks[l] = true }",
        "forks[l] = false",
    ),
    (
        "atomic { !forks[k] -> forks[k] = true }",
        "forks[k] = false",
    ),
    (
        "atomic { again == 0 || again == _pid + 1 -> again = _pid + 1; deep++ }",
        "atomic { again == _pid + 1 -> deep--; if :: deep == 0 -> again = 0 :: else fi }",
    ),
    ("atomic { named == 0 -> named = _pid + 1 }", "named = 0"),
    ("atomic { rw >= 0 -> rw++ }", "rw--"),
    ("atomic { rw == 0 -> rw = -1 }", "rw = 0"),
    ("atomic { !writing -> readers++ }", "readers--"),
    (
        "atomic { !writing && readers == 0 -> writing = true }",
        "writing = false",
    ),
    (
        "atomic { seat[l] == 0 -> seat[l] = _pid + 1 }",
        "atomic { seat[l] == _pid + 1 -> seat[l] = 0 }",
    ),
    (
        "atomic { seat[k] == 0 -> seat[k] = _pid + 1 }",
        "atomic { seat[k] == _pid + 1 -> seat[k] = 0 }",
    ),
];

/// What one process does in answer to another, and what may wait for an answer but need not: a
/// transaction that does not wait misses what happens after one.
const ANSWERS: &[&str] = &[
    "x = 1",
    "y = 1",
    "(x == 1); y = 1",
    "(y == 1); x = 1 - x",
    "if :: (y == 1) -> assert(false) :: skip fi",
    "if :: (y == 1) -> assert(l == 0) :: l = 1 fi",
    "if :: (x == 1) -> y = 1 :: (x == 0) -> k = 1 fi",
];

/// The numbers of sections that belong together, and of the topic by which they are misused.
const KINDS: &[(&[usize], usize)] = &[
    (&[0], 9),
    (&[1], 11),
    (&[2], 12),
    (&[3, 4], 13),
    (&[5], 14),
    (&[6], 15),
    (&[7, 8], 16),
    (&[9, 10], 16),
    (&[11, 12], 19),
];

/// The kind that the predicate on `z` is about.
const NAMED: usize = 5;

/// Sections that others may be in at the same time.
const SHARED: &[usize] = &[7, 9];

/// Steps that are taken only where no other is possible.
const TIMEOUTS: &[&str] = &[
    "timeout",
    "timeout -> x = 1 - x",
    "timeout -> y = 1",
    "timeout -> l = x",
    "timeout -> m = false",
    "timeout -> assert(x == 0)",
    "timeout -> assert(y == 0)",
    "(timeout || x == 1)",
    "atomic { timeout -> x = 1; (y == 0) }",
];

/// What is read and written in sections only, where a model keeps to that.
const GUARDED: &[(&[&str], &[&str])] = &[
    (
        &["l = x", "(x == 1)", "(x == 0)", "assert(x == 0)"],
        &["x = 1", "x = 1 - x"],
    ),
    (
        &["l = z", "(z == 1)", "(z == 0)", "assert(z == 0)"],
        &["z = 1", "z = 1 - z"],
    ),
];

#[derive(Clone, PartialEq, Eq, Debug)]
enum Statement {
    Simple(&'static str),
    /// A lock around statements.
    Section(usize, Vec<Statement>),
    If(Vec<Vec<Statement>>),
    IfElse(Vec<Statement>, Vec<Statement>),
    Do(Vec<Vec<Statement>>),
    Atomic(Vec<Statement>),
    Unless(Vec<Statement>, Vec<Statement>),
}

use Statement::{Atomic, Do, If, IfElse, Section, Simple, Unless};

#[derive(Clone, PartialEq, Eq, Debug)]
struct Process {
    instances: u32,
    body: Vec<Statement>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    processes: Vec<Process>,
    /// What a process started by `run` does.
    started: Vec<Statement>,
    claims: bool,
}

/// What the statements of a model are chosen from.
struct Palette {
    simple: Vec<&'static str>,
    /// Numbers of [`SECTIONS`].
    sections: Vec<usize>,
    /// A number of [`GUARDED`].
    guarded: Option<usize>,
    /// Whether every other statement is a section.
    likes_sections: bool,
}

/// Source location of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    SharedSection,
    Section,
}

impl Palette {
    /// Everything, or what belongs to a few topics.
    fn random(random: &mut Random) -> Palette {
        let mut palette = Palette {
            simple: TOPICS[0].to_vec(),
            sections: Vec::new(),
            guarded: None,
            likes_sections: false,
        };
        let (mut kinds, mut data, mut channels) = (1, 0, 0);
        let mut misuses = true;
        match random.below(7) {
            0 => {
                palette.simple = TOPICS.concat();
                kinds = KINDS.len();
            }
            1 => {
                palette.guarded = Some(random.below(GUARDED.len() as u64) as usize);
                palette.simple.extend(TOPICS[2]);
                kinds += random.below(2) as usize;
            }
            // Locks and little else: no other deadlock hides that of two of them.
            2 => {
                kinds = 2;
                misuses = false;
                palette.likes_sections = true;
            }
            3 => {
                palette.simple = ANSWERS.to_vec();
                palette.likes_sections = random.below(2) == 0;
            }
            // What processes remember, and little else that could stop them.
            4 => {
                palette.simple.extend(random.pick(&TOPICS[20..22]));
                data = random.below(2);
            }
            5 => {
                data = 1 + random.below(2);
                channels = 1 + random.below(2);
            }
            _ => {
                data = 1 + random.below(3);
                kinds += random.below(2) as usize;
                let topic = 1 + random.below(TOPICS.len() as u64 - 1);
                palette.simple.extend(TOPICS[topic as usize]);
            }
        }
        let mut chosen: Vec<(&[usize], usize)> = if kinds == KINDS.len() {
            KINDS.to_vec()
        } else {
            (0..kinds).map(|_| random.pick(KINDS)).collect()
        };
        // Data with a predicate is seldom guarded by what the predicate is about.
        if palette.guarded == Some(1) && random.below(2) == 0 {
            chosen[0] = KINDS[NAMED];
        }
        for (kind, misused_by) in chosen {
            palette.sections.extend(kind);
            if misuses && random.below(2) == 0 {
                palette.simple.extend(TOPICS[misused_by]);
            }
        }
        for _ in 0..data {
            palette.simple.extend(random.pick(&TOPICS[1..4]));
        }
        for _ in 0..channels {
            palette.simple.extend(random.pick(&TOPICS[4..9]));
        }
        palette
    }
}

impl Model {
    pub fn random(seed: u64) -> Model {
        let mut random = Random(seed);
        let palette = Palette::random(&mut random);
        Model::of(&mut random, &palette)
    }

    /// A model in which processes wait for `timeout`.
    pub fn with_timeouts(seed: u64) -> Model {
        let mut random = Random(seed);
        let mut palette = Palette::random(&mut random);
        let usual = palette.simple.len().div_ceil(2 * TIMEOUTS.len());
        for _ in 0..usual {
            palette.simple.extend(TIMEOUTS);
        }
        Model::of(&mut random, &palette)
    }

    fn of(random: &mut Random, palette: &Palette) -> Model {
        let processes = (0..2 + random.below(2))
            .map(|_| {
                let mut body = palette.sequence(random, 2, Inside::Nothing);
                // What one process does to guarded data before it takes a lock is easily overlooked.
                if palette.guarded.is_some() && random.below(4) == 0 {
                    body.insert(0, Simple(palette.simple(random, Inside::Section)));
                }
                if random.below(3) == 0 {
                    body = vec![Do(vec![body])];
                }
                Process {
                    instances: if random.below(6) == 0 { 2 } else { 1 },
                    body,
                }
            })
            .collect();
        let started = palette.sequence(random, 1, Inside::Nothing);
        Model {
            processes,
            started,
            claims: random.below(4) == 0,
        }
    }

    /// The same for tools that take a claim of exclusive access for a comment.
    pub fn without_claims(self) -> Model {
        Model {
            claims: false,
            ..self
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::from(DECLARATIONS);
        if self.claims {
            text += CLAIM;
        }
        for (number, process) in self.processes.iter().enumerate() {
            let body = told(&process.body);
            text += &format!(
                "active [{}] proctype P{number}() {{ byte l, k; {}{body} }}\n",
                process.instances,
                row_of(&body),
            );
        }
        if text.contains("run Q") {
            let body = told(&self.started);
            text += &format!("proctype Q(byte l) {{ byte k; {}{body} }}\n", row_of(&body));
        }
        text
    }

    /// All models with one thing less.
    pub fn smaller(&self) -> Vec<Model> {
        let mut found = Vec::new();
        for number in 0..self.processes.len() {
            let mut model = self.clone();
            model.processes.remove(number);
            if !model.processes.is_empty() {
                found.push(model);
            }
            if self.processes[number].instances > 1 {
                let mut model = self.clone();
                model.processes[number].instances = 1;
                found.push(model);
            }
            for body in smaller_sequences(&self.processes[number].body) {
                let mut model = self.clone();
                model.processes[number].body = body;
                found.push(model);
            }
        }
        for started in smaller_sequences(&self.started) {
            let mut model = self.clone();
            model.started = started;
            found.push(model);
        }
        if self.claims {
            found.push(self.clone().without_claims());
        }
        found
    }
}

impl Palette {
    fn simple(&self, random: &mut Random, inside: Inside) -> &'static str {
        if let Some(guarded) = self.guarded
            && inside != Inside::Nothing
            && random.below(3) > 0
        {
            let (reads, writes) = GUARDED[guarded];
            return if inside == Inside::Section && random.below(2) == 0 {
                random.pick(writes)
            } else {
                random.pick(reads)
            };
        }
        random.pick(&self.simple)
    }

    fn statement(&self, random: &mut Random, depth: u32, inside: Inside) -> Statement {
        // A lock inside of another one is where deadlocks come from.
        let is_likely = self.likes_sections && random.below(2) == 0;
        let nests = depth > 0 && (is_likely || inside != Inside::Nothing && random.below(4) == 0);
        if depth == 0 || !nests && random.below(3) > 0 {
            return Simple(self.simple(random, inside));
        }
        let depth = depth - 1;
        match if nests { 8 } else { random.below(9) } {
            0 => If(vec![
                self.sequence(random, depth, inside),
                self.sequence(random, depth, inside),
            ]),
            1 => IfElse(
                self.sequence(random, depth, inside),
                self.sequence(random, depth, inside),
            ),
            2 => Do(vec![
                self.sequence(random, depth, inside),
                vec![Simple("break")],
            ]),
            3 => Do(vec![
                self.sequence(random, depth, inside),
                self.sequence(random, depth, inside),
            ]),
            4 => Atomic(self.sequence(random, depth, inside)),
            5 => Unless(
                self.sequence(random, depth, inside),
                self.sequence(random, depth, inside),
            ),
            6 => If(vec![
                self.sequence(random, depth, inside),
                self.sequence(random, depth, inside),
                vec![Simple(self.simple(random, inside))],
            ]),
            _ => {
                let section = random.pick(&self.sections);
                let inside = if SHARED.contains(&section) {
                    Inside::SharedSection
                } else {
                    Inside::Section
                };
                Section(section, self.sequence(random, depth, inside))
            }
        }
    }

    fn sequence(&self, random: &mut Random, depth: u32, inside: Inside) -> Vec<Statement> {
        let count = 1 + random.below(3);
        (0..count)
            .map(|_| self.statement(random, depth, inside))
            .collect()
    }
}

/// The declaration of a row, for those who use it.
fn row_of(body: &str) -> &'static str {
    if body.contains("row[") {
        "byte row[2]; "
    } else {
        ""
    }
}

fn told(statements: &[Statement]) -> String {
    if statements.is_empty() {
        return "skip".into();
    }
    let parts: Vec<String> = statements.iter().map(Statement::text).collect();
    parts.join("; ")
}

impl Statement {
    fn text(&self) -> String {
        let options = |branches: &[Vec<Statement>]| {
            let told: Vec<String> = branches
                .iter()
                .map(|branch| format!(":: {}", told(branch)))
                .collect();
            told.join(" ")
        };
        match self {
            Simple(text) => (*text).to_string(),
            Section(lock, inner) => {
                let (take, give) = SECTIONS[*lock];
                format!("{take}; {}; {give}", told(inner))
            }
            If(branches) => format!("if {} fi", options(branches)),
            IfElse(then, otherwise) => {
                format!("if :: {} :: else -> {} fi", told(then), told(otherwise))
            }
            Do(branches) => format!("do {} od", options(branches)),
            Atomic(inner) => format!("atomic {{ {} }}", told(inner)),
            Unless(main, escape) => format!("{{ {} }} unless {{ {} }}", told(main), told(escape)),
        }
    }

    /// What the statement can be replaced by.
    fn smaller(&self) -> Vec<Vec<Statement>> {
        let one = |statement: Statement| vec![statement];
        let branches = |all: &[Vec<Statement>], build: fn(Vec<Vec<Statement>>) -> Statement| {
            let mut found = Vec::new();
            for number in 0..all.len() {
                found.push(all[number].clone());
                if all.len() > 1 {
                    let mut rest = all.to_vec();
                    rest.remove(number);
                    found.push(one(build(rest)));
                }
                for branch in smaller_sequences(&all[number]) {
                    let mut changed = all.to_vec();
                    changed[number] = branch;
                    found.push(one(build(changed)));
                }
            }
            found
        };
        match self {
            Simple(_) => Vec::new(),
            Section(lock, inner) => {
                let mut found = vec![inner.clone()];
                let less = smaller_sequences(inner).into_iter();
                found.extend(less.map(|inner| one(Section(*lock, inner))));
                found
            }
            If(all) => branches(all, If),
            Do(all) => branches(all, Do),
            IfElse(then, otherwise) => {
                let mut found = vec![then.clone(), otherwise.clone()];
                let less = smaller_sequences(then).into_iter();
                found.extend(less.map(|then| one(IfElse(then, otherwise.clone()))));
                let less = smaller_sequences(otherwise).into_iter();
                found.extend(less.map(|otherwise| one(IfElse(then.clone(), otherwise))));
                found
            }
            Atomic(inner) => {
                let mut found = vec![inner.clone()];
                found.extend(
                    smaller_sequences(inner)
                        .into_iter()
                        .map(|inner| one(Atomic(inner))),
                );
                found
            }
            Unless(main, escape) => {
                let mut found = vec![main.clone(), escape.clone()];
                let less = smaller_sequences(main).into_iter();
                found.extend(less.map(|main| one(Unless(main, escape.clone()))));
                let less = smaller_sequences(escape).into_iter();
                found.extend(less.map(|escape| one(Unless(main.clone(), escape))));
                found
            }
        }
    }
}

fn smaller_sequences(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    for number in 0..statements.len() {
        let with = |replacement: Vec<Statement>| {
            let mut changed = statements.to_vec();
            changed.splice(number..=number, replacement);
            changed
        };
        found.push(with(Vec::new()));
        found.extend(statements[number].smaller().into_iter().map(with));
    }
    found
}
