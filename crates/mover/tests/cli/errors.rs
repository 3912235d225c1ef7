//! Every error has a code, every code a page, and every page an error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::{mover, repository, run};

/// The files below a directory that end like this.
fn files(directory: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|found| found == extension) {
            out.push(path);
        }
    }
}

/// The string literals of a text that are error codes.
fn codes(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('"').skip(1).filter_map(|part| {
        let is_code = part.len() == 4
            && part.starts_with(['P', 'C', 'T', 'U'])
            && part[1..].bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| part.to_string())
    })
}

#[test]
fn codes_in_the_sources_and_pages_of_the_guide_are_the_same() {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(repository().join("crates")).expect("the crates") {
        files(
            &entry.expect("a crate").path().join("src"),
            "rs",
            &mut sources,
        );
    }
    // The list of pages is no use of a code.
    sources.retain(|path| !path.ends_with("mover/src/errors.rs"));
    let raised: BTreeSet<String> = sources
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a source"))
        .flat_map(|text| codes(&text).collect::<Vec<_>>())
        .collect();
    let mut pages = Vec::new();
    files(&repository().join("docs/guide/errors"), "md", &mut pages);
    let pages: BTreeSet<String> = pages
        .iter()
        .map(|path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name != "README")
        .collect();
    assert!(raised.len() >= 30, "{raised:?}");
    assert_eq!(raised, pages);
    for code in &pages {
        let told = run(mover().args(["--explain-error", code]));
        assert_eq!(told.code, Some(0), "{code}: {}", told.stderr);
        assert!(
            told.stdout.starts_with(&format!("# {code}: ")),
            "{}",
            told.stdout
        );
    }
    let unknown = run(mover().args(["--explain-error", "X123"]));
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("[U001]"), "{}", unknown.stderr);
}

/// No error of a front end is without a code.
#[test]
fn no_front_end_reports_an_error_without_a_code() {
    let mut sources = Vec::new();
    for name in ["mover-promela", "mover-c", "mover-tm", "mover"] {
        files(
            &repository().join("crates").join(name).join("src"),
            "rs",
            &mut sources,
        );
    }
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source");
        let before_tests = text.split("#[cfg(test)]").next().unwrap_or("");
        assert!(
            !before_tests.contains("Diagnostic::error("),
            "{}",
            path.display()
        );
    }
}

/// The example on an error's page leads to that error.
#[test]
fn the_examples_of_the_pages_have_their_errors() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("errors");
    std::fs::create_dir_all(&folder).expect("a scratch directory");
    let mut pages = Vec::new();
    files(&repository().join("docs/guide/errors"), "md", &mut pages);
    let mut tried = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        let code = page
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(example) = text.split("```\n").nth(1) else {
            continue;
        };
        let extension = if code.starts_with('P') { "pml" } else { "c" };
        let file = folder.join(format!("{code}.{extension}"));
        std::fs::write(&file, example).expect("a file");
        let refused = run(mover().arg("check").arg(&file));
        assert_eq!(
            refused.code,
            Some(2),
            "{code}: {}{}",
            refused.stdout,
            refused.stderr
        );
        assert!(
            refused.stderr.contains(&format!("[{code}]")),
            "{code}: {}",
            refused.stderr
        );
        tried += 1;
    }
    assert!(tried >= 12, "only {tried} examples");
}

/// An option that would be ignored is refused, and accepted where it has an effect.
#[test]
fn options_without_effect_are_refused() {
    let model = repository().join("examples/promela/peterson2.pml");
    let ended = |options: &str| {
        run(mover()
            .arg("check")
            .arg(&model)
            .arg("--quiet")
            .args(options.split(' ')))
    };
    for (idle, option) in [
        ("--engine explicit --heuristics pointers", "--heuristics"),
        (
            "--engine ic3 --reduce static --heuristics pointers",
            "--heuristics",
        ),
        ("--engine token --heuristics pointers", "--heuristics"),
        ("--engine explicit --no-unfold", "--no-unfold"),
        ("--order dfs --no-unfold", "--no-unfold"),
        ("--engine explicit --thread-slots 3", "--thread-slots"),
        ("--engine explicit --object-slots 3", "--object-slots"),
        ("--engine explicit --object-bytes 3", "--object-bytes"),
        ("--engine bmc --show-invariant", "--show-invariant"),
        ("--check-movers --reduce none", "--check-movers"),
        ("--recursion 3", "--recursion"),
        ("--no-spurious-wakeups", "--no-spurious-wakeups"),
        ("--threads 3", "--threads"),
    ] {
        let ended = ended(idle);
        assert_eq!(ended.code, Some(1), "{idle}: {}", ended.stdout);
        let told = format!("{option} has no effect here");
        assert!(ended.stderr.contains(&told), "{idle}: {}", ended.stderr);
    }
    for useful in [
        "--engine ic3 --reduce dynamic --heuristics pointers",
        "--no-unfold",
        "--engine bmc --depth 5 --thread-slots 3",
        "--engine ic3 --show-invariant",
        "--check-movers",
    ] {
        let ended = ended(useful);
        assert!(
            matches!(ended.code, Some(0 | 5)),
            "{useful}: {}",
            ended.stderr
        );
    }
}
