//! The models that SPIN itself ships.

use std::path::{Path, PathBuf};

use mover_promela::{Options, parse};

const DIRECTORY: &str = "/usr/share/doc/spin/examples";

fn models(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pml") {
            found.push(path);
        }
    }
}

#[test]
fn all_are_read_or_have_embedded_c() {
    let mut found = Vec::new();
    models(Path::new(DIRECTORY), &mut found);
    found.sort();
    assert!(
        !found.is_empty(),
        "SPIN's examples are not in {DIRECTORY}; `make test` installs them with Debian's spin"
    );
    let mut refused = Vec::new();
    for path in &found {
        if let Err(failure) = parse(path, &Options::default()) {
            let mut errors = failure
                .diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.is_error());
            if !errors.all(|error| error.message.contains("embedded C")) {
                let messages: Vec<_> = failure
                    .diagnostics
                    .iter()
                    .map(|diagnostic| &diagnostic.message)
                    .collect();
                refused.push(format!("{}: {messages:?}", path.display()));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
