//! Snapshots of the plan.
//!
//! Each `plan/NAME.pml` is a small model whose first line says what its plan should show, and
//! `NAME.plan` beside it is the plan as text ([`plan_text`]). The sentence is for whoever compares
//! the two: a changed snapshot that contradicts its sentence is a wrong plan, not a new snapshot.
//! `UPDATE_EXPECT=1 cargo test -p mover-reduce --test plan` writes the snapshots again.

mod common;

use std::collections::BTreeSet;
use std::fs;

use expect_test::expect_file;
use mover_reduce::present::plan_text::plan_text;

use common::{directory, models};

#[test]
fn plans_are_as_stored() {
    let models = models();
    assert!(models.len() >= 40, "{} models", models.len());
    for model in models {
        let first = model.text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("/* plan: ") && first.ends_with(" */"),
            "{}: the first line says what the plan should show",
            model.name
        );
        let path = directory().join(format!("{}.plan", model.name));
        expect_file![path].assert_eq(&plan_text(&model.program));
    }
}

#[test]
fn plans_are_the_same_each_time() {
    for model in models() {
        let again = common::read(&model.text);
        assert_eq!(
            plan_text(&model.program),
            plan_text(&again),
            "{}",
            model.name
        );
    }
}

#[test]
fn every_snapshot_has_its_model() {
    let names: BTreeSet<String> = models().into_iter().map(|model| model.name).collect();
    for entry in fs::read_dir(directory()).expect("the models are there") {
        let path = entry.expect("readable").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        assert!(names.contains(&*name), "{} has no model", path.display());
    }
}
