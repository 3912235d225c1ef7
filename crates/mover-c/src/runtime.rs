//! The runtime library: models of C library functions, written in C.
//!
//! `mover-runtime.c` has memory, errors and keys; further parts have what fewer programs need. A
//! program gets the parts that define what it calls, and what these parts call in turn. The parts
//! are compiled as one file, so that all of it is known as the runtime ([`crate::RUNTIME_NAME`]).

const MEMORY: &str = include_str!("mover-runtime.c");
const PROLOGUE: &str = include_str!("runtime/prologue.c");
const PARTS: [&str; 9] = [
    include_str!("runtime/stdio.c"),
    include_str!("runtime/stdlib.c"),
    include_str!("runtime/string.c"),
    include_str!("runtime/ctype.c"),
    include_str!("runtime/time.c"),
    include_str!("runtime/threads.c"),
    include_str!("runtime/waiting.c"),
    include_str!("runtime/decimal.c"),
    include_str!("runtime/float.c"),
];

/// Whether some part defines the function or variable.
pub fn has(name: &str) -> bool {
    defines(MEMORY, name) || PARTS.iter().any(|part| defines(part, name))
}

/// The source for a program that lacks these functions and variables.
pub fn source(missing: &[String]) -> String {
    let mut needed = [false; PARTS.len()];
    let mut wanted: Vec<String> = missing.to_vec();
    while let Some(name) = wanted.pop() {
        let found = PARTS.iter().position(|part| defines(part, &name));
        if let Some(number) = found.filter(|&number| !needed[number]) {
            needed[number] = true;
            wanted.extend(called(PARTS[number]));
        }
    }
    let mut text = format!("{MEMORY}\n{PROLOGUE}");
    for (part, _) in PARTS.iter().zip(needed).filter(|(_, needed)| *needed) {
        text.push_str(part);
    }
    text
}

/// A definition begins at the start of a line, a declaration ends with that line.
fn defines(part: &str, name: &str) -> bool {
    let function = format!("__mover_{name}(");
    let variable = format!("__mover_variable({name})");
    part.lines().any(|line| {
        let is_outer = !line.starts_with([' ', '#', '/', '}']) && !line.is_empty();
        let is_function = !line.ends_with(';')
            && line
                .find(&function)
                .is_some_and(|at| !line[..at].contains('{'));
        is_outer && (is_function || line.starts_with(&variable))
    })
}

/// The names of the runtime's functions that a part mentions.
fn called(part: &str) -> Vec<String> {
    let mut names: Vec<String> = part
        .split("__mover_")
        .skip(1)
        .filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            rest[end..]
                .starts_with('(')
                .then(|| rest[..end].to_string())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_what_it_needs_and_what_that_needs() {
        let string = source(&["strtok".into()]);
        assert!(string.contains("char *__mover_strtok_r("));
        assert!(!string.contains("__mover_vsnprintf("));
        assert!(has("stderr") && has("memcpy") && has("fgets") && !has("stdlib"));
        assert!(!has("choice"), "only declared");
    }
}
