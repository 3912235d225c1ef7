//! Rows of locks whose cells name their owner: what is taken for one, what is not, and that the
//! movers which follow from it commute.

use std::path::{Path, PathBuf};

use crate::all_reductions_agree;
use crate::common::{mover, run};

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("signed_locks");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(format!("{name}.pml"));
    std::fs::write(&path, text).expect("a file");
    path
}

/// Three processes that take two seats, and lose the index of the first on the way.
fn program(give: &str, besides: &str) -> String {
    format!(
        "byte seat[3]; byte meals[3];\n\
         active [3] proctype P() {{ byte l = _pid % 3, k = (_pid + 1) % 3, t;\n\
         if :: l > k -> t = l; l = k; k = t :: else fi; t = 0;\n\
         atomic {{ seat[l] == 0 -> seat[l] = _pid + 1 }};\n\
         atomic {{ seat[k] == 0 -> seat[k] = _pid + 1 }};\n\
         t = l; l = k; k = t;\n\
         meals[k]++; {besides};\n\
         {give} }}\n"
    )
}

const GIVE: &str = "atomic { seat[l] == _pid + 1 -> seat[l] = 0 };\n\
     atomic { seat[k] == _pid + 1 -> seat[k] = 0 }";

/// What `seat` is, as `mover explain` tells it.
fn kind(path: &Path) -> String {
    let told = run(mover().args(["explain", "--json"]).arg(path)).json();
    let objects = told["objects"].as_array().expect("objects").clone();
    let seat = objects.iter().find(|object| object["name"] == "seat");
    let seat = seat.expect("seat is shared");
    seat["kind"].as_str().expect("a kind").to_string()
}

fn states(path: &Path, reduction: &str) -> u64 {
    let ended = run(mover()
        .args(["check", "--check-movers", "--json", "--reduce", reduction])
        .arg(path));
    assert_eq!(ended.code, Some(0), "{reduction}: {}", ended.stderr);
    ended.json()["states"].as_u64().expect("states")
}

#[test]
fn a_row_that_names_its_owners_is_a_row_of_locks() {
    for (name, text) in [
        ("plain", program(GIVE, "skip")),
        ("asks", program(GIVE, "assert(seat[l] == _pid + 1)")),
        (
            "asks_in_vain",
            program(GIVE, "t = (seat[(l + 1) % 3] != _pid + 1)"),
        ),
    ] {
        let path = file(name, &text);
        assert_eq!(kind(&path), "lock", "{name}");
        let all = states(&path, "none");
        for reduction in ["phase", "dynamic"] {
            let reduced = states(&path, reduction);
            assert!(reduced * 3 < all, "{name} {reduction}: {reduced} of {all}");
        }
    }
}

#[test]
fn what_does_not_quite_name_its_owners_is_none() {
    let unasked = "seat[l] = 0; seat[k] = 0";
    for (name, text) in [
        // Gives back without a look at whose it is.
        ("unasked", program(unasked, "skip")),
        // Looks at what others do.
        ("looks", program(GIVE, "t = (seat[(l + 1) % 3] == 0)")),
        // Takes a seat for somebody else.
        (
            "for_others",
            program(GIVE, "skip").replace("seat[k] = _pid + 1", "seat[k] = 2 - _pid"),
        ),
        // A constant is nobody's name.
        (
            "constant",
            program(GIVE, "skip").replace("seat[k] = _pid + 1", "seat[k] = 1"),
        ),
        // Two marks, of which one can be that of a neighbour.
        (
            "two_marks",
            program(GIVE, "skip")
                .replace("seat[k] = _pid + 1", "seat[k] = _pid + 2")
                .replace("seat[l] == _pid + 1", "seat[l] == _pid + 2"),
        ),
    ] {
        let path = file(name, &text);
        assert_ne!(kind(&path), "lock", "{name}");
        all_reductions_agree(name, &path);
    }
}

/// The index of what is given back looks different from that of what was taken, but it is the
/// same cell: afterwards nothing is protected any more.
#[test]
fn a_lock_can_be_given_back_by_another_name() {
    let text = "byte seat[2]; byte x;\n\
        active [2] proctype P() { byte l, k, t;\n\
        atomic { seat[l] == 0 -> seat[l] = _pid + 1 };\n\
        k = l;\n\
        atomic { seat[k] == _pid + 1 -> seat[k] = 0 };\n\
        t = x; x = t + 1; assert(x == t + 1) }\n";
    let path = file("aliased", text);
    assert_eq!(kind(&path), "lock");
    for reduction in ["none", "static", "phase", "dynamic"] {
        let ended = run(mover().args(["check", "--reduce", reduction]).arg(&path));
        assert_eq!(ended.code, Some(10), "{reduction}");
    }
}
