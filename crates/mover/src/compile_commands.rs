//! `--compile-commands`: the files of a program and their options from a compilation database.
//!
//! `compile_commands.json` is written by build systems (CMake, Meson, Bear) and is a list of
//! commands: a directory, a file, and the command that compiles it, as one string or as a list. The
//! database is as foreign as the program: the commands are not run. Known options are taken from
//! them ([`crate::compiler_flags`]), with paths relative to the directory; whatever would have clang
//! run other code is refused.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::compiler_flags::{Flag, flag, runs_code};

/// The largest database that is read.
const MOST_BYTES: u64 = 256 << 20;

/// The files of a program, and the options of each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Database {
    pub files: Vec<PathBuf>,
    pub flags: HashMap<PathBuf, Vec<String>>,
    pub is_32_bit: bool,
}

/// Why there is no program in a database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf),
    #[error("{} is not JSON: {source}", file.display())]
    NotJson {
        file: PathBuf,
        source: serde_json::Error,
    },
    #[error("{} is not a list of commands", .0.display())]
    NotAList(PathBuf),
    #[error("{}: {source}", file.display())]
    Command { file: PathBuf, source: CommandError },
    #[error("{} has no command for {}", file.display(), chosen.display())]
    NoCommand { file: PathBuf, chosen: PathBuf },
    #[error("{} has no command for a C file", .0.display())]
    NoCFile(PathBuf),
}

/// What is wrong with one command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("a command has no `file`")]
    NoFile,
    #[error("a command has neither `command` nor `arguments`")]
    NoWords,
    #[error("the command for {name} loads code into the compiler: {flag}")]
    RunsCode { name: String, flag: String },
}

/// Reads the database in a directory, or a database itself. Without `chosen` all C files are the
/// program.
pub fn read(place: &Path, chosen: &[PathBuf]) -> Result<Database, DatabaseError> {
    let file = if place.is_dir() {
        place.join("compile_commands.json")
    } else {
        place.to_path_buf()
    };
    let bytes = mover_tools::own_files::read_regular(&file, MOST_BYTES)
        .ok_or_else(|| DatabaseError::Unreadable(file.clone()))?;
    let commands: Value =
        serde_json::from_slice(&bytes).map_err(|source| DatabaseError::NotJson {
            file: file.clone(),
            source,
        })?;
    let commands = commands
        .as_array()
        .ok_or_else(|| DatabaseError::NotAList(file.clone()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut database = Database::default();
    for command in commands {
        database
            .add(command, folder, chosen)
            .map_err(|source| DatabaseError::Command {
                file: file.clone(),
                source,
            })?;
    }
    for chosen in chosen {
        let is_known = database.files.iter().any(|file| is_same(file, chosen));
        if !is_known {
            let chosen = chosen.clone();
            return Err(DatabaseError::NoCommand { file, chosen });
        }
    }
    if database.files.is_empty() {
        return Err(DatabaseError::NoCFile(file));
    }
    Ok(database)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

impl Database {
    fn add(
        &mut self,
        command: &Value,
        folder: &Path,
        chosen: &[PathBuf],
    ) -> Result<(), CommandError> {
        let text = |key: &str| command.get(key).and_then(Value::as_str);
        let name = text("file").ok_or(CommandError::NoFile)?;
        let directory = folder.join(text("directory").unwrap_or("."));
        let file = directory.join(name);
        let is_c = matches!(
            file.extension().and_then(|e| e.to_str()),
            Some("c" | "i" | "cpp" | "cc" | "cxx" | "C" | "c++")
        );
        // One file can be compiled several times; the first counts.
        if !is_c || self.flags.contains_key(&file) {
            return Ok(());
        }
        if !chosen.is_empty() && !chosen.iter().any(|chosen| is_same(chosen, &file)) {
            return Ok(());
        }
        let words: Vec<String> = match command.get("arguments").and_then(Value::as_array) {
            Some(words) => words
                .iter()
                .filter_map(|word| word.as_str().map(String::from))
                .collect(),
            None => split(text("command").ok_or(CommandError::NoWords)?),
        };
        let mut flags = Vec::new();
        let mut at = 1;
        while at < words.len() {
            if words[at] == "-m32" {
                self.is_32_bit = true;
            }
            // The compiler, the file and what is not known.
            let Some((found, length)) = flag(&words[at..]) else {
                at += 1;
                continue;
            };
            at += length;
            let Flag::Passed(found) = found else {
                continue;
            };
            if runs_code(&found) {
                return Err(CommandError::RunsCode {
                    name: name.into(),
                    flag: found,
                });
            }
            // Some of these name files that clang would write.
            let has_value = found.starts_with("-f") && found.contains('=');
            if !has_value && !matches!(found.as_str(), "-m32" | "-m64") {
                flags.push(absolute(&found, &directory));
            }
        }
        self.files.push(file.clone());
        self.flags.insert(file, flags);
        Ok(())
    }
}

/// An option with its path made independent of the directory it is used in.
fn absolute(flag: &str, directory: &Path) -> String {
    for option in ["-I", "-isystem", "-iquote", "-idirafter"] {
        if let Some(path) = flag.strip_prefix(option) {
            return format!("{option}{}", directory.join(path).display());
        }
    }
    for option in ["-include", "-imacros"] {
        if let Some(path) = flag.strip_prefix(option) {
            // Otherwise it is one of those in the include directories.
            let beside = directory.join(path);
            let path = if beside.is_file() {
                beside
            } else {
                path.into()
            };
            return format!("{option}{}", path.display());
        }
    }
    flag.to_string()
}

/// The words of a command, by the rules of a shell for quotes and backslashes.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut has_word = false;
    let mut quote = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => {
                word.extend(rest.next());
                has_word = true;
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                has_word = true;
            }
            (None, c) if c.is_whitespace() => {
                if has_word {
                    words.push(std::mem::take(&mut word));
                    has_word = false;
                }
            }
            (_, c) => {
                word.push(c);
                has_word = true;
            }
        }
    }
    if has_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        assert_eq!(
            split(r#"cc -DA="\"x y\"" 'b c' -I\ d """#),
            ["cc", r#"-DA="x y""#, "b c", "-I d", ""]
        );
    }

    fn database(text: &str, chosen: &[&str]) -> Result<Database, DatabaseError> {
        let scratch = mover_tools::scratch::Scratch::new().expect("a directory");
        let file = scratch.path().join("compile_commands.json");
        std::fs::write(&file, text).expect("a file");
        let chosen: Vec<PathBuf> = chosen.iter().map(PathBuf::from).collect();
        read(scratch.path(), &chosen)
    }

    #[test]
    fn files_have_their_options_with_absolute_paths() {
        let text = r#"[
            {"directory": "/p", "file": "a.c", "command": "gcc -O2 -DN=1 -Iinc -c a.c -o a.o"},
            {"directory": "/p", "file": "b.c", "arguments": ["cc", "-isystem", "sys", "b.c"]},
            {"directory": "/p", "file": "c.cpp", "command": "g++ -std=c++17 c.cpp"},
            {"directory": "/p", "file": "d.s", "command": "as d.s"}
        ]"#;
        let found = database(text, &[]).expect("a database");
        let [a, b, c] = ["/p/a.c", "/p/b.c", "/p/c.cpp"].map(PathBuf::from);
        assert_eq!(found.files, [a.clone(), b.clone(), c.clone()]);
        assert_eq!(found.flags[&c], ["-std=c++17"]);
        assert_eq!(found.flags[&a], ["-DN=1", "-I/p/inc"]);
        assert_eq!(found.flags[&b], ["-isystem/p/sys"]);
        let chosen = database(text, &["/p/b.c"]).expect("a database");
        assert_eq!(chosen.files, [b]);
        assert!(database(text, &["/p/d.c"]).is_err());
    }

    #[test]
    fn code_for_the_compiler_is_refused_and_unknown_words_are_left_out() {
        let plugin = r#"[{"directory": "/p", "file": "a.c", "command": "cc -fplugin=./x.so a.c"}]"#;
        assert!(database(plugin, &[]).is_err_and(|error| error.to_string().contains("-fplugin")));
        let odd = r#"[{"directory": "/p", "file": "a.c",
            "command": "cc @response -Xclang -load -Xclang x.so -B. --config=x a.c"}]"#;
        let found = database(odd, &[]).expect("a database");
        assert_eq!(found.flags[&PathBuf::from("/p/a.c")], [""; 0]);
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for text in ["", "{}", "[{}]", "[]", r#"[{"file": "a.c"}]"#] {
            assert!(database(text, &[]).is_err(), "{text}");
        }
    }
}
