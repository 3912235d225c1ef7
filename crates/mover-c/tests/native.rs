//! The translation of C agrees with the machine.
//!
//! Random sequential programs without undefined behaviour and without input are
//! compiled and run natively, and translated and run on the concrete semantics.
//! Each leaves a checksum of everything it has computed; the two must be equal.
//! Twenty programs share a file, to spare starts of the compiler.
//!
//! `MOVER_C_PROGRAMS` sets how many programs are tried, `MOVER_C_SEED` where the
//! random numbers begin.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use mover_ir::program::{Effect, Program};
use mover_ir::semantics::Machine;
use mover_ir::validate::validate;

/// Programs in one file.
const BATCH: usize = 20;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const TYPES: [&str; 9] = [
    "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
    "_Bool",
];

/// Writes one random program: data, helper functions and `program_N`.
struct Generator<'r> {
    random: &'r mut Random,
    number: usize,
    out: String,
    /// What can be assigned to, in the present scope.
    places: Vec<String>,
    /// What can only be read: loop counters, parameters.
    values: Vec<String>,
    loops: usize,
    helpers: usize,
}

impl Generator<'_> {
    fn program(&mut self) {
        let n = self.number;
        self.data();
        self.helpers = 1 + self.random.below(3);
        for helper in 0..self.helpers {
            self.helper(helper);
        }
        let _ = writeln!(self.out, "static uint64_t program_{n}(void) {{");
        self.places = self.global_places();
        self.values.clear();
        for local in 0..3 {
            let ty = self.random.pick(&TYPES);
            let init = self.expression(1);
            let _ = writeln!(self.out, "  {ty} l{local} = {init};");
            self.places.push(format!("l{local}"));
        }
        let _ = writeln!(self.out, "  struct s_{n} own = glob_{n};");
        let _ = writeln!(self.out, "  int32_t row[4] = {{1, -2, 3}};");
        let _ = writeln!(
            self.out,
            "  struct s_{n} *p = &items_{n}[{}];",
            self.random.below(3)
        );
        let _ = writeln!(self.out, "  uint16_t *heap = malloc(4 * sizeof *heap);");
        let _ = writeln!(
            self.out,
            "  memset(heap, {}, 4 * sizeof *heap);",
            self.random.below(256)
        );
        for place in [
            "own.a",
            "own.in.d",
            "own.row[1]",
            "row[2]",
            "p->b",
            "p->in.c",
            "heap[3]",
        ] {
            self.places.push(place.into());
        }
        let statements = 6 + self.random.below(8);
        for _ in 0..statements {
            self.statement(2);
        }
        let _ = writeln!(self.out, "  uint64_t sum = 0;");
        for place in self.places.clone() {
            let _ = writeln!(self.out, "  sum = sum * 31 + (uint64_t){place};");
        }
        let _ = writeln!(
            self.out,
            "  for (int i = 0; i < 3; i++) sum = sum * 31 + items_{n}[i].a + items_{n}[i].row[i];"
        );
        let _ = writeln!(
            self.out,
            "  for (int i = 0; i < 4; i++) sum = sum * 7 + row[i] + heap[i];"
        );
        let _ = writeln!(self.out, "  free(heap);\n  return sum;\n}}\n");
    }

    fn data(&mut self) {
        let n = self.number;
        let field = |random: &mut Random| random.pick(&TYPES[..8]);
        let (a, b, c, d, row) = (
            field(self.random),
            field(self.random),
            field(self.random),
            field(self.random),
            field(self.random),
        );
        let _ = writeln!(
            self.out,
            "struct s_{n} {{ {a} a; {b} b; struct {{ {c} c; {d} d; }} in; {row} row[3]; \
             unsigned f1 : {}; int f2 : {}; }};",
            1 + self.random.below(9),
            2 + self.random.below(9)
        );
        let _ = writeln!(
            self.out,
            "static struct s_{n} glob_{n} = {{{}, {}, {{{}, {}}}, {{1, 2, 3}}, 1, -1}};",
            self.random.below(100),
            self.random.below(100),
            self.random.below(100),
            self.random.below(100)
        );
        let _ = writeln!(self.out, "static struct s_{n} items_{n}[3];");
        let _ = writeln!(
            self.out,
            "static union {{ uint32_t w; uint8_t b[4]; int16_t h[2]; }} both_{n} = {{{}u}};",
            self.random.below(1 << 30)
        );
        let _ = writeln!(self.out, "static int64_t grid_{n}[2][3];");
        self.small_structure();
    }

    /// A structure of one to four fields, which calling conventions put into one register, two
    /// or none, and functions that take and give it and the large one by value.
    fn small_structure(&mut self) {
        let n = self.number;
        let count = 1 + self.random.below(4);
        let fields: String = (0..count)
            .map(|field| format!("{} t{field}; ", self.random.pick(&TYPES[..8])))
            .collect();
        let last = count - 1;
        let _ = writeln!(self.out, "struct t_{n} {{ {fields}}};");
        let _ = writeln!(self.out, "static struct t_{n} small_{n}[2];");
        let _ = writeln!(
            self.out,
            "static struct t_{n} turn_{n}(struct t_{n} x, struct s_{n} y, int z) {{\n  \
             x.t0 ^= y.a + z; x.t{last} -= y.row[1]; y.in.c += x.t0; y.b = z;\n  \
             return y.in.c & 1 ? small_{n}[1] : x;\n}}"
        );
        let _ = writeln!(
            self.out,
            "static struct s_{n} grow_{n}(struct s_{n} x, const struct t_{n} *y) {{\n  \
             struct t_{n} z = turn_{n}(*y, x, x.f2);\n  \
             x.a += z.t{last}; x.row[2] ^= z.t0; x.f1++;\n  return x;\n}}"
        );
    }

    fn global_places(&self) -> Vec<String> {
        let n = self.number;
        [
            "glob_N.a",
            "glob_N.b",
            "glob_N.in.c",
            "glob_N.row[2]",
            "glob_N.f1",
            "glob_N.f2",
            "items_N[1].a",
            "items_N[2].in.d",
            "both_N.w",
            "both_N.b[1]",
            "both_N.h[1]",
            "grid_N[1][2]",
            "grid_N[0][1]",
            "small_N[0].t0",
            "small_N[1].t0",
        ]
        .iter()
        .map(|place| place.replace("_N", &format!("_{n}")))
        .collect()
    }

    /// A function of two parameters, some of them recursive.
    fn helper(&mut self, helper: usize) {
        let n = self.number;
        let (result, x, y) = (
            self.random.pick(&TYPES[..8]),
            self.random.pick(&TYPES[..8]),
            self.random.pick(&TYPES[..8]),
        );
        let _ = writeln!(
            self.out,
            "static {result} help_{n}_{helper}({x} x, {y} y, int depth) {{"
        );
        self.places = self.global_places();
        self.values = vec!["x".into(), "y".into()];
        let known = std::mem::replace(&mut self.helpers, helper);
        let value = self.expression(2);
        if self.random.below(2) == 0 {
            let _ = writeln!(
                self.out,
                "  if (depth > 0) return ({result})(help_{n}_{helper}(({x})(y + 1), ({y})x, depth - 1) + {value});"
            );
        }
        self.statement(1);
        let value = self.expression(2);
        let _ = writeln!(self.out, "  return ({result})({value});\n}}");
        self.helpers = known;
    }

    fn place(&mut self) -> String {
        let index = self.random.below(self.places.len());
        self.places[index].clone()
    }

    fn expression(&mut self, depth: usize) -> String {
        let n = self.number;
        if depth == 0 || self.random.below(5) == 0 {
            return match self.random.below(4) {
                0 => format!("({})", self.random.below(300) as i64 - 100),
                1 => {
                    let ty = self.random.pick(&TYPES[..8]);
                    format!("({ty}){:#x}u", self.random.below(1 << 31))
                }
                2 if !self.values.is_empty() => {
                    let index = self.random.below(self.values.len());
                    self.values[index].clone()
                }
                _ => self.place(),
            };
        }
        let a = self.expression(depth - 1);
        let b = self.expression(depth - 1);
        match self.random.below(16) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} | {b})"),
            5 => format!("({a} ^ {b})"),
            6 => format!("((uint32_t){a} << ({} & 31))", self.random.below(40)),
            7 => format!("((int32_t){a} >> ((uint8_t){b} & 31))"),
            8 => format!("((uint64_t){a} / ((uint32_t){b} | 1u))"),
            9 => format!("((int16_t){a} % ((int32_t)((uint8_t){b}) + 1))"),
            10 => format!(
                "({a} {} {b})",
                self.random.pick(&["<", "<=", "==", "!=", ">"])
            ),
            11 => format!("({a} ? {b} : {})", self.expression(depth - 1)),
            12 => format!("(({}){a})", self.random.pick(&TYPES)),
            13 => format!("(~{a} + !{b})"),
            14 => format!("({a} {} {b})", self.random.pick(&["&&", "||"])),
            _ if self.helpers > 0 => {
                let helper = self.random.below(self.helpers);
                let depth = self.random.below(3);
                format!("help_{n}_{helper}({a}, {b}, {depth})")
            }
            _ => format!("(- {a})"),
        }
    }

    fn statement(&mut self, depth: usize) {
        let n = self.number;
        match self.random.below(16) {
            14 => {
                let (from, to) = (self.random.below(2), self.random.below(2));
                let (item, value) = (self.random.below(3), self.expression(1));
                let _ = writeln!(
                    self.out,
                    "  small_{n}[{to}] = turn_{n}(small_{n}[{from}], items_{n}[{item}], {value});"
                );
            }
            15 => {
                let (from, to, small) = (
                    self.random.below(3),
                    self.random.below(3),
                    self.random.below(2),
                );
                let _ = writeln!(
                    self.out,
                    "  items_{n}[{to}] = grow_{n}(items_{n}[{from}], &small_{n}[{small}]);"
                );
            }
            0..=3 => {
                let (place, value) = (self.place(), self.expression(2));
                let _ = writeln!(self.out, "  {place} = {value};");
            }
            4 | 5 => {
                let operator = self.random.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
                let (place, value) = (self.place(), self.expression(1));
                let _ = writeln!(self.out, "  {place} {operator} {value};");
            }
            6 => {
                let place = self.place();
                let operator = self.random.pick(&["++", "--"]);
                let _ = writeln!(self.out, "  {place}{operator};");
            }
            7 | 8 if depth > 0 => {
                let condition = self.expression(2);
                let _ = writeln!(self.out, "  if ({condition}) {{");
                self.statement(depth - 1);
                let _ = writeln!(self.out, "  }} else {{");
                self.statement(depth - 1);
                let _ = writeln!(self.out, "  }}");
            }
            9 | 10 if depth > 0 => {
                let counter = format!("i{}", self.loops);
                self.loops += 1;
                let rounds = 1 + self.random.below(4);
                let _ = writeln!(
                    self.out,
                    "  for (int {counter} = 0; {counter} < {rounds}; {counter}++) {{"
                );
                self.values.push(counter.clone());
                self.statement(depth - 1);
                let _ = writeln!(
                    self.out,
                    "    items_{n}[{counter} % 3].row[{counter} % 2] += {counter};"
                );
                if self.random.below(3) == 0 {
                    let stop = self.expression(1);
                    let _ = writeln!(self.out, "    if ({stop}) break;");
                }
                self.statement(depth - 1);
                self.values.pop();
                let _ = writeln!(self.out, "  }}");
            }
            11 if depth > 0 => {
                let value = self.expression(1);
                let _ = writeln!(self.out, "  switch ((uint8_t)({value}) % 4) {{ case 0:");
                self.statement(depth - 1);
                let _ = writeln!(self.out, "  case 1:");
                self.statement(depth - 1);
                let _ = writeln!(self.out, "  break; case 2:");
                self.statement(depth - 1);
                let _ = writeln!(self.out, "  break; default:;");
                let _ = writeln!(self.out, "  }}");
            }
            12 => {
                let index = self.expression(1);
                let value = self.expression(1);
                let _ = writeln!(
                    self.out,
                    "  {{ int64_t *q = &grid_{n}[(uint8_t)({index}) & 1][0]; q += 2; *q = {value}; q[-1] ^= 5; }}"
                );
            }
            _ => {
                let (from, to) = (self.random.below(3), self.random.below(3));
                let _ = writeln!(
                    self.out,
                    "  items_{n}[{to}] = items_{n}[{from}]; items_{n}[{from}].in.c++;"
                );
            }
        }
    }
}

/// A file of several programs and a `main` that runs them all.
fn file(random: &mut Random) -> String {
    let mut out = String::from(
        "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#ifdef NATIVE\n\
         #include <stdio.h>\n#endif\n",
    );
    let _ = writeln!(out, "static uint64_t sums[{BATCH}];");
    for number in 0..BATCH {
        let mut generator = Generator {
            random,
            number,
            out: String::new(),
            places: Vec::new(),
            values: Vec::new(),
            loops: 0,
            helpers: 0,
        };
        generator.program();
        out += &generator.out;
    }
    out += "int main(void) {\n";
    for number in 0..BATCH {
        let _ = writeln!(out, "  sums[{number}] = program_{number}();");
    }
    let _ = writeln!(
        out,
        "#ifdef NATIVE\n  for (int i = 0; i < {BATCH}; i++) printf(\"%llu\\n\", (unsigned long long)sums[i]);\n#endif\n  return 0;\n}}"
    );
    out
}

/// The checksums of the program as the machine computes them.
fn native(source: &Path, target: &Path) -> Vec<u64> {
    let compiled = Command::new("clang-19")
        .args(["-O0", "-w", "-fwrapv", "-DNATIVE", "-o"])
        .arg(target)
        .arg(source)
        .status()
        .expect("clang-19 can be started");
    assert!(compiled.success(), "{} does not compile", source.display());
    let output = Command::new(target).output().expect("the program runs");
    assert!(output.status.success(), "{} failed", source.display());
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect()
}

/// The checksums at the end of the only run of the translated program.
fn translated(program: &Program) -> Result<Vec<u64>, String> {
    validate(program).map_err(|error| error.to_string())?;
    let machine = Machine::new(program);
    let mut state = machine.initial();
    let has_reuse = program
        .effects()
        .any(|effect| matches!(effect, Effect::Allocate { reuse, .. } if *reuse > 0));
    loop {
        if let Some((_, mark)) = machine.error(&state) {
            return Err(format!("ends in the error: {}", mark.message));
        }
        let steps = machine.steps(&state);
        // Only an allocation has a choice: a new address, or one of three that were freed.
        let step = match steps[..] {
            [step] => step,
            [_, _, _, reuses] if has_reuse => reuses,
            _ => return Err(format!("{} steps where there should be one", steps.len())),
        };
        let next = machine.apply(&state, step);
        if next == state {
            break;
        }
        state = next;
    }
    let mut offset = 0;
    for variable in &program.globals {
        if variable.name == "sums" {
            return Ok(state.globals[offset..offset + BATCH].to_vec());
        }
        offset += variable.len as usize;
    }
    Err("there are no sums".into())
}

fn number_from(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn random_sequential_programs_compute_what_the_machine_computes() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let files = number_from("MOVER_C_PROGRAMS", 500).div_ceil(BATCH as u64);
    let seed = number_from("MOVER_C_SEED", 1);
    for batch in 0..files {
        let mut random = Random((seed + batch).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let text = file(&mut random);
        let source = scratch.join(format!("batch{batch}.c"));
        std::fs::write(&source, text).expect("a file");
        let expected = native(&source, &scratch.join(format!("batch{batch}")));
        let options = mover_c::Options {
            cflags: vec!["-w".into()],
            // Helpers call themselves twice at most.
            recursion: 3,
            ..mover_c::Options::default()
        };
        let read = match mover_c::read(std::slice::from_ref(&source), &options) {
            Ok(read) => read,
            Err(failure) => panic!(
                "{} is refused: {:?} {}",
                source.display(),
                failure.diagnostics,
                failure.compiler
            ),
        };
        match translated(&read.program) {
            Ok(sums) => assert_eq!(sums, expected, "{}", source.display()),
            Err(reason) => panic!("{}: {reason}", source.display()),
        }
    }
}
