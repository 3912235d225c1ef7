//! The sentence above a counterexample, for each kind of bug.
//!
//! `stories/page.md` has the programs, the story of each, and what is true of the bug. The text
//! after `truth:` is what the program's source says, and where the story misses some of it. `UPDATE_EXPECT=1` writes the
//! stories again and leaves the rest; read the difference beside the truth.

use std::fs;

use crate::common::{mover, repository, run};

/// A program of the page, with its options.
struct Told {
    heading: String,
    truth: String,
    story: String,
}

fn read(page: &str) -> (String, Vec<Told>) {
    let mut parts = page.split("\n## ");
    let opening = parts.next().unwrap_or_default().to_string();
    let told = parts
        .map(|part| {
            let (heading, rest) = part.split_once('\n').expect("a heading");
            let (truth, story) = rest.split_once("```text\n").expect("a story");
            let (story, _) = story.split_once("\n```").expect("the end of a story");
            Told {
                heading: heading.to_string(),
                truth: truth.trim().to_string(),
                story: story.to_string(),
            }
        })
        .collect();
    (opening, told)
}

/// The lines before the table, without their breaks.
fn story_of(command: &str) -> String {
    let mut words = command.split_whitespace();
    let file = repository().join(words.next().expect("a program"));
    let ended = run(mover()
        .arg("check")
        .arg(&file)
        .args(words)
        .current_dir(repository()));
    assert_eq!(ended.code, Some(10), "{command}: {}", ended.stdout);
    let lines: Vec<&str> = ended.stdout.lines().take_while(|l| !l.is_empty()).collect();
    for line in ended
        .stdout
        .lines()
        .take_while(|line| !line.starts_with("unsafe"))
    {
        let is_text = !line.starts_with("explicit") && !line.starts_with("note");
        let length = line.chars().count();
        assert!(
            length <= 80 || !is_text,
            "{command}: {length} columns: {line}"
        );
        for internal in ["%thread", "%live", "%tmp", "%64", "heap@", "gone#", "'2"] {
            assert!(!line.contains(internal), "{command}: {line}");
        }
    }
    let prefix = format!("{}/", repository().display());
    lines.join("\n").replace(&prefix, "")
}

#[test]
fn stories_are_as_judged() {
    let file = repository().join("crates/mover/tests/stories/page.md");
    let page = fs::read_to_string(&file).expect("the page");
    let (opening, told) = read(&page);
    assert!(told.len() >= 25, "{} stories", told.len());
    let mut written = opening;
    for one in &told {
        let story = story_of(&one.heading);
        written += &format!(
            "\n## {}\n\n{}\n\n```text\n{story}\n```\n",
            one.heading, one.truth
        );
        if std::env::var_os("UPDATE_EXPECT").is_none() {
            assert_eq!(story, one.story, "{}", one.heading);
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, written).expect("the page can be written");
    }
}

/// What the table of a counterexample shows, and what it must not.
fn check_table(command: &str, shown: &[&str], hidden: &[&str]) {
    let ended = run(mover()
        .arg("check")
        .args(command.split_whitespace())
        .current_dir(repository().join("crates/mover/tests/stories")));
    for text in shown {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    for text in hidden {
        assert!(!ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
}

#[test]
fn tables_show_what_the_source_means() {
    // Two threads are started on one line: each handle is shown with its thread.
    check_table(
        "spin_for_ever.c --property termination",
        &[
            "a: 0 → worker[1], worker[1] started",
            "b: 0 → worker[2], worker[2] started",
        ],
        &["→ 3"],
    );
    // A number of 64 bits whose value would be an address.
    check_table(
        "number_of_64_bits.c",
        &[
            "old: 0 → 4294967297",
            "t[0]: 0 → add[1]",
            "t[1]: 0 → add[2]",
        ],
        &["argv", "→ &"],
    );
    // A variable that a step sets to 1 beside the lock is no lock.
    check_table(
        "set_up_late.c",
        &["m held by main[0]", "makes m free, whoever holds it"],
        &["x held by"],
    );
}
