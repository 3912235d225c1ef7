//! The runtime library: models of C library functions, written in C.
//!
//! `mover-runtime.c` has memory, errors and keys; further parts have what fewer programs need. A
//! program gets the parts that define what it calls, and what these parts call in turn. The parts
//! are compiled as one file, so that all of it is known as the runtime ([`crate::RUNTIME_NAME`]).

const MEMORY: &str = include_str!("mover-runtime.c");
const PROLOGUE: &str = include_str!("runtime/prologue.c");
/// Parts of the C++ library, which define its functions and variables by the names that linkers know
/// them by.
const CPP_PARTS: [&str; 7] = [
    include_str!("runtime/cpp/exceptions.c"),
    include_str!("runtime/cpp/stdexcept.c"),
    include_str!("runtime/cpp/threads.c"),
    include_str!("runtime/cpp/memory.c"),
    include_str!("runtime/cpp/thread_exit.c"),
    include_str!("runtime/cpp/future.c"),
    include_str!("runtime/cpp/containers.c"),
];
const PARTS: [&str; 11] = [
    include_str!("runtime/stdio.c"),
    include_str!("runtime/stdlib.c"),
    include_str!("runtime/string.c"),
    include_str!("runtime/ctype.c"),
    include_str!("runtime/time.c"),
    include_str!("runtime/threads.c"),
    include_str!("runtime/waiting.c"),
    include_str!("runtime/decimal.c"),
    include_str!("runtime/float.c"),
    include_str!("runtime/wide.c"),
    include_str!("runtime/posix.c"),
];

/// Whether some part defines the function or variable.
pub fn has(name: &str) -> bool {
    defines(MEMORY, name) || PARTS.iter().any(|part| defines(part, name)) || is_of_cpp(name)
}

/// Whether a name is one of the C++ library that some part defines.
fn is_of_cpp(name: &str) -> bool {
    CPP_PARTS.iter().any(|part| defines_plainly(part, name))
}

/// Whether the source for these has functions through which exceptions pass.
pub fn has_exceptions(missing: &[String]) -> bool {
    missing.iter().any(|name| is_of_cpp(name))
}

/// The source for a program that lacks these functions and variables.
pub fn source(missing: &[String]) -> String {
    let mut needed = [false; PARTS.len()];
    let mut needed_of_cpp = [false; CPP_PARTS.len()];
    let mut wanted: Vec<String> = missing.to_vec();
    while let Some(name) = wanted.pop() {
        let found = PARTS.iter().position(|part| defines(part, &name));
        if let Some(number) = found.filter(|&number| !needed[number]) {
            needed[number] = true;
            wanted.extend(called(PARTS[number]));
        }
        let found = CPP_PARTS
            .iter()
            .position(|part| defines_plainly(part, &name));
        if let Some(number) = found.filter(|&number| !needed_of_cpp[number]) {
            needed_of_cpp[number] = true;
            wanted.extend(called(CPP_PARTS[number]));
            wanted.extend(mentioned(CPP_PARTS[number]));
        }
    }
    let mut text = format!("{MEMORY}\n{PROLOGUE}");
    for (part, _) in PARTS.iter().zip(needed).filter(|(_, needed)| *needed) {
        text.push_str(part);
    }
    let chosen = CPP_PARTS.iter().zip(needed_of_cpp);
    for (part, _) in chosen.filter(|(_, needed)| *needed) {
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

/// Whether a part defines this very name: at the begin of a line that is no declaration, followed by
/// parameters, a length or a value.
fn defines_plainly(part: &str, name: &str) -> bool {
    part.match_indices(name).any(|(at, _)| {
        let line = part[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = &part[line..at];
        let before = before
            .strip_prefix("__attribute__((weak)) ")
            .unwrap_or(before);
        let rest = &part[at + name.len()..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let is_outer = !before.is_empty()
            && !before.starts_with([' ', '#', '/', '}', '*', 'e'])
            && !before.contains(['{', '(', '=']);
        let is_whole = before.ends_with([' ', '*']);
        let follows = rest.starts_with(['(', '[', ';']) || rest.starts_with(" =");
        let is_declaration = rest.starts_with('(')
            && rest[..line_end].ends_with(';')
            && !rest[..line_end].contains('{');
        is_outer && is_whole && follows && !is_declaration
    })
}

/// The names of C++ and its support library that a part mentions.
fn mentioned(part: &str) -> Vec<String> {
    let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = part.split(|c: char| !is_part_of_name(c));
    let names = words.filter(|word| word.starts_with("_Z") || word.starts_with("__cxa_"));
    let mut names: Vec<String> = names.map(String::from).collect();
    names.sort();
    names.dedup();
    names
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
