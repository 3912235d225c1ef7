//! What the guide and the README show is what mover prints.
//!
//! Each command of mover in a `console` block of theirs is run again. Times, rates and
//! the memory of the process differ from run to run and are not compared. A block whose
//! fence names a file (```` ```text mine.tm ````) is that file for the commands that follow and
//! mention it; one whose first line is in the file already stands for what is there up to the
//! next closing brace.
//! `UPDATE_EXPECT` in the environment writes the pages anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{mover, repository, run};

#[test]
fn the_output_in_the_guide_is_real() {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(repository().join("docs/guide"))
        .expect("there is a guide")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.push(repository().join("README.md"));
    pages.sort();
    let mut commands = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a readable page");
        let name = page.file_stem().expect("a page has a name");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("guide")
            .join(name);
        prepare(&directory);
        let (fresh, count) = refreshed(&text, &directory);
        commands += count;
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            if without_measurements(&fresh) != without_measurements(&text) {
                std::fs::write(&page, fresh).expect("a writable page");
            }
            continue;
        }
        assert_same(&page, &text, &fresh);
    }
    assert!(
        commands >= 5,
        "only {commands} commands were found in the guide"
    );
}

#[track_caller]
fn assert_same(page: &Path, written: &str, fresh: &str) {
    let (written, fresh) = (without_measurements(written), without_measurements(fresh));
    let differing = written
        .lines()
        .zip(fresh.lines())
        .find(|(then, now)| then != now);
    assert!(
        written == fresh,
        "{} is out of date (UPDATE_EXPECT=1 writes it), first at {differing:?}",
        page.display()
    );
}

/// Makes a directory in which commands find what the repository has, and where they leave the
/// files that they write.
fn prepare(directory: &Path) {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).expect("a scratch directory");
    for name in ["bench", "docs", "examples"] {
        let link = std::os::unix::fs::symlink(repository().join(name), directory.join(name));
        link.expect("a link");
    }
}

/// The page with the output of its commands as it is now, and how many there are. They run in the
/// directory, which has the page's own files, too.
fn refreshed(text: &str, directory: &Path) -> (String, usize) {
    let mut out = String::new();
    let mut in_console = false;
    let mut is_output = false;
    let mut count = 0;
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut block: Option<(&str, String)> = None;
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        if is_fence {
            in_console = line == "```console";
            if let Some((name, text)) = block.take() {
                let old = files.remove(name).unwrap_or_default();
                files.insert(name, with_block(&old, text));
            }
            let named = line.strip_prefix("```text ");
            block = named.map(|name| (name, String::new()));
        } else if let Some((_, text)) = &mut block {
            *text += line;
            text.push('\n');
        }
        let command = line.strip_prefix("$ mover ").filter(|_| in_console);
        if is_fence || line.starts_with("$ ") {
            is_output = false;
        }
        if !is_output {
            out += line;
            out.push('\n');
        }
        is_output |= command.is_some();
        if let Some(arguments) = command {
            count += 1;
            let arguments = words(arguments);
            let own = arguments.iter().find_map(|name| files.get_key_value(name));
            if let Some((name, text)) = own {
                std::fs::write(directory.join(name), text).expect("a file");
            }
            let ended = run(mover().args(arguments).current_dir(directory));
            out += &(ended.stdout + &ended.stderr);
        }
    }
    (out, count)
}

/// The words of a command; one in single quotes may contain spaces.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// A file after a block that is all of it, or one part of it.
fn with_block(old: &str, block: String) -> String {
    let lines: Vec<&str> = old.lines().collect();
    let first = block.lines().next();
    let start = match lines.iter().position(|line| Some(*line) == first) {
        None | Some(0) => return block,
        Some(start) => start,
    };
    let length = lines[start..].iter().position(|line| *line == "}");
    let end = start + length.expect("a part ends with a brace") + 1;
    let parts = [
        &lines[..start],
        &block.lines().collect::<Vec<_>>(),
        &lines[end..],
    ];
    parts.concat().join("\n") + "\n"
}

/// The text without the lines' measured parts.
fn without_measurements(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let is_measured = |part: &&str| {
            part.ends_with(" s")
                || part.ends_with(" MB")
                || part.ends_with(" states/s")
                || part.starts_with("\"time_s\":")
                || part.starts_with("\"peak_mb\":")
        };
        let separator = if line.starts_with('{') { "," } else { ", " };
        let parts: Vec<&str> = line
            .split(separator)
            .filter(|part| !is_measured(part))
            .collect();
        out += parts.join(separator).trim_end();
        out.push('\n');
    }
    out
}

#[test]
fn measurements_are_left_out_and_nothing_else() {
    let line = "explicit engine, reduction none: 38 states, depth 9, 0.00 s, 4 MB\n";
    assert_eq!(
        without_measurements(line),
        "explicit engine, reduction none: 38 states, depth 9\n"
    );
    let line = "{\"states\":146,\"time_s\":0.1,\"peak_mb\":4.8,\"trace\":null}\n";
    assert_eq!(
        without_measurements(line),
        "{\"states\":146,\"trace\":null}\n"
    );
}
