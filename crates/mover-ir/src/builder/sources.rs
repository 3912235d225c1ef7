//! The lines of the Rust program that wrote a model.
//!
//! The compiler knows the file and line of each statement's call, but not its text. So the file is
//! read, if it is still there; a program that runs far from its sources has no places in its traces.

use std::collections::HashMap;
use std::path::Path;

use super::automaton::CallerRef;
use mover_source::{FileId, SourceMap, Span};

#[derive(Default)]
pub(super) struct Sources {
    pub map: SourceMap,
    files: HashMap<&'static str, Option<FileId>>,
}

impl Sources {
    /// The text of the line, without the blanks around it.
    pub fn span(&mut self, caller: CallerRef) -> Option<Span> {
        let (map, name) = (&mut self.map, caller.file());
        let known = self.files.entry(name);
        let id = (*known.or_insert_with(|| Some(map.add(name, read(name)?))))?;
        let file = self.map.file(id);
        let range = file.line_range(caller.line() as usize);
        let line = file.text.get(range.clone())?;
        let start = range.start + line.len() - line.trim_start().len();
        let end = range.start + line.trim_end().len();
        (start < end).then(|| Span::new(id, start, end))
    }
}

/// The compiler names files from the root of the workspace; tests run in one of its packages.
fn read(name: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let candidates = here
        .ancestors()
        .map(|directory| directory.join(Path::new(name)));
    candidates.map(std::fs::read_to_string).find_map(Result::ok)
}
