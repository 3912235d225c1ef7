//! Options of C compilers on mover's command line.
//!
//! People check a program with the options that they compile it with. Those that say what the
//! program is (`-std=`, `-D`, `-I`, `-include`, `-f…`, `-m…`, warnings) are passed on to clang; those
//! that say what to make of it (`-O2`, `-g`, `-c`, `-o`, libraries, dependencies) mean nothing here
//! and are left out. Optimisation must be left out: compilers optimise programs without data races,
//! and mover checks whether a program has some.

use std::ffi::OsString;
use std::path::Path;

/// What becomes of an option of a compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flag {
    /// Passed on, as one argument.
    Passed(String),
    /// Left out.
    Ignored,
}

/// Options that say nothing about the program, alone or with what follows in the same word.
const IGNORED: [&str; 6] = ["-c", "-S", "-E", "-s", "-pipe", "-rdynamic"];
const IGNORED_STARTS: [&str; 19] = [
    "-O",
    "-g",
    "-l",
    "-L",
    "-M",
    "-Wl,",
    "-Wa,",
    "-Wp,",
    "-Werror",
    "-flto",
    "-fno-lto",
    "-fsanitize",
    "-fprofile",
    "-ftest-coverage",
    "-fcoverage",
    "-fuse-ld",
    "-static",
    "-shared",
    "-dump",
];
/// Options whose value may be a word of its own, and which are left out with it.
const IGNORED_PAIRS: [&str; 9] = ["-o", "-MF", "-MT", "-MQ", "-MJ", "-L", "-l", "-x", "-mllvm"];
/// Options whose value may be a word of its own; clang takes all of them in one word.
const JOINED_PAIRS: [&str; 8] = [
    "-D",
    "-U",
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
];
const PASSED: [&str; 3] = ["-pthread", "-ansi", "-w"];
const PASSED_STARTS: [&str; 5] = ["-std=", "-W", "-f", "-pedantic", "-m"];

/// Options that have the compiler load code of others.
const FOREIGN_CODE: [&str; 4] = ["-fplugin", "-fpass-plugin", "-fplugin-arg", "-fcrash"];

/// Whether an option has the compiler run code that is not its own.
pub fn runs_code(flag: &str) -> bool {
    FOREIGN_CODE.iter().any(|start| flag.starts_with(start))
}

/// What becomes of the option at the start of a list, and how many words it has; none if it is not
/// one of a compiler.
pub fn flag(words: &[String]) -> Option<(Flag, usize)> {
    let (first, rest) = words.split_first()?;
    let value = rest.first();
    if IGNORED_PAIRS.contains(&first.as_str()) {
        return Some((Flag::Ignored, 1 + usize::from(value.is_some())));
    }
    if let Some(value) = value.filter(|_| JOINED_PAIRS.contains(&first.as_str())) {
        return Some((Flag::Passed(format!("{first}{value}")), 2));
    }
    let starts = |list: &[&str]| list.iter().any(|start| first.starts_with(start));
    if IGNORED.contains(&first.as_str()) || starts(&IGNORED_STARTS) {
        return Some((Flag::Ignored, 1));
    }
    if PASSED.contains(&first.as_str()) || starts(&PASSED_STARTS) || starts(&JOINED_PAIRS) {
        return Some((Flag::Passed(first.clone()), 1));
    }
    None
}

/// The commands that read programs.
const COMMANDS: [&str; 3] = ["check", "explain", "replay"];

/// The command line with options of compilers in the form that mover's own parser knows,
/// `--cflags=OPTION`. Words behind `--` are such options, too, except for names of files.
pub fn rewrite(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_known = |command: &OsString| COMMANDS.iter().any(|known| command == *known);
    if !arguments.get(1).is_some_and(is_known) {
        return arguments;
    }
    let Some(words) = arguments
        .iter()
        .map(|argument| argument.to_str().map(String::from))
        .collect::<Option<Vec<String>>>()
    else {
        // A name that is not Unicode: nothing is changed.
        return arguments;
    };
    let mut out: Vec<OsString> = arguments[..2].to_vec();
    // With a compilation database no file has to be named: its directory stands for all.
    let mut places = words
        .windows(2)
        .filter(|pair| pair[0] == "--compile-commands");
    let joined = words
        .iter()
        .find_map(|word| word.strip_prefix("--compile-commands="));
    let place = places.next().map(|pair| pair[1].as_str()).or(joined);
    out.extend(place.map(OsString::from));
    let mut at = 2;
    let mut is_behind = false;
    while at < words.len() {
        let word = words[at].as_str();
        at += 1;
        if word == "--" && !is_behind {
            is_behind = true;
        } else if word == "--cflags" && !is_behind {
            // Its value is for the compiler, whatever it looks like.
            out.push(word.into());
            out.extend(words.get(at).map(OsString::from));
            at += 1;
        } else if is_behind && !word.starts_with('-') {
            out.push(word.into());
        } else if is_behind && Path::new(word).is_file() {
            out.push(Path::new(".").join(word).into());
        } else if matches!(word, "-m32" | "-m64") {
            out.push(if word == "-m32" { "--32" } else { "--64" }.into());
        } else if is_own(word) && !is_behind {
            out.push(word.into());
        } else {
            match flag(&words[at - 1..]) {
                Some((Flag::Passed(flag), length)) => {
                    out.push(format!("--cflags={flag}").into());
                    at += length - 1;
                }
                Some((Flag::Ignored, length)) => at += length - 1,
                // Clang is asked for what is behind `--`, our parser for the rest.
                None if is_behind => out.push(format!("--cflags={word}").into()),
                None => out.push(word.into()),
            }
        }
    }
    out
}

/// Whether mover's own parser knows it, in this or a similar form.
fn is_own(word: &str) -> bool {
    let own = ["-D", "-U", "-I"];
    !word.starts_with('-') || word.starts_with("--") || own.iter().any(|own| word.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let out = rewrite(words);
        let shown: Vec<_> = out.iter().map(|word| word.to_string_lossy()).collect();
        shown.join(" ")
    }

    #[test]
    fn options_that_say_what_the_program_is_are_passed_on() {
        assert_eq!(
            rewritten("mover check -Wall -std=c11 x.c -pthread -fno-strict-aliasing"),
            "mover check --cflags=-Wall --cflags=-std=c11 x.c --cflags=-pthread \
             --cflags=-fno-strict-aliasing"
        );
        assert_eq!(
            rewritten("mover check -include a.h -isystem dir x.c -m32"),
            "mover check --cflags=-includea.h --cflags=-isystemdir x.c --32"
        );
    }

    #[test]
    fn options_that_say_what_to_make_of_it_are_left_out() {
        assert_eq!(
            rewritten("mover check -O2 -g3 -c x.c -o x.o -lpthread -Werror -MMD -MF x.d -flto"),
            "mover check x.c"
        );
    }

    #[test]
    fn own_options_stay() {
        for line in [
            "mover check x.c -DN=3 -I dir -UX --engine ic3 -v -q",
            "mover check --cflags -std=c99 x.c",
            "mover bench -O2",
            "mover tm check x.tm",
        ] {
            assert_eq!(rewritten(line), line);
        }
    }

    #[test]
    fn behind_two_dashes_are_options_of_the_compiler() {
        assert_eq!(
            rewritten("mover check x.c -- -O2 -Wall -DN=3 -I dir --sysroot=/x"),
            "mover check x.c --cflags=-Wall --cflags=-DN=3 --cflags=-Idir --cflags=--sysroot=/x"
        );
        assert_eq!(rewritten("mover check -- x.c"), "mover check x.c");
    }

    #[test]
    fn code_of_others_is_recognised() {
        assert!(runs_code("-fplugin=./x.so"));
        assert!(runs_code("-fpass-plugin=./x.so"));
        assert!(!runs_code("-fPIC"));
    }
}
