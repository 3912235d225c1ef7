//! Where things stand in the user's text.
//!
//! A front end registers each file it reads (the main file and whatever a
//! preprocessor pulled in) in a [`SourceMap`] and then speaks of places in it
//! by [`Span`]s: a file and a range of bytes of the text *as the user wrote
//! it*, never of preprocessed text. Engines carry spans along untouched; the
//! report layer turns them back into file, line, column and excerpt.

use std::fmt;

/// Names a file of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span {
            file,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both; `self` if they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One file as the user wrote it.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name as the user gave it or as the preprocessor reported it.
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|&(_, byte)| byte == b'\n')
                .map(|(offset, _)| offset as u32 + 1),
        );
        SourceFile {
            name,
            text,
            line_starts,
        }
    }

    /// The 1-based line that holds a byte.
    pub fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// The 1-based column, in characters, of a byte.
    pub fn column_of(&self, offset: u32) -> usize {
        let start = self.line_starts[self.line_of(offset) - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        self.text
            .get(start..end)
            .map_or(1, |before| before.chars().count() + 1)
    }

    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// The bytes of a 1-based line, without its line end; empty past the end.
    pub fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let Some(&start) = line.checked_sub(1).and_then(|i| self.line_starts.get(i)) else {
            return self.text.len()..self.text.len();
        };
        let start = start as usize;
        let end = self
            .line_starts
            .get(line)
            .map_or(self.text.len(), |&next| next as usize - 1);
        let end = if end > start && self.text.as_bytes().get(end - 1) == Some(&b'\r') {
            end - 1
        } else {
            end
        };
        start..end
    }

    pub fn line_text(&self, line: usize) -> &str {
        self.text.get(self.line_range(line)).unwrap_or("")
    }
}

/// All files that a program was read from.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Some editors begin a file with a byte order mark, which says nothing and is left away.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        self.files.push(SourceFile::new(name.into(), text));
        FileId(self.files.len() as u32 - 1)
    }

    pub fn find(&self, name: &str) -> Option<FileId> {
        self.files
            .iter()
            .position(|file| file.name == name)
            .map(|index| FileId(index as u32))
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(index, file)| (FileId(index as u32), file))
    }

    pub fn locate(&self, span: Span) -> SourceLine<'_> {
        let file = self.file(span.file);
        SourceLine {
            file: &file.name,
            line: file.line_of(span.start),
        }
    }

    pub fn text(&self, span: Span) -> &str {
        self.file(span.file)
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
}

/// A line of a file, printed the way editors and compilers understand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLine<'a> {
    pub file: &'a str,
    pub line: usize,
}

impl fmt::Display for SourceLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let mut map = SourceMap::default();
        let id = map.add("a", "ab\r\ncäd\n");
        let file = map.file(id);
        assert_eq!(file.line_of(0), 1);
        assert_eq!(file.line_of(3), 1);
        assert_eq!(file.line_of(4), 2);
        assert_eq!(file.column_of(7), 3);
        assert_eq!(file.line_text(1), "ab");
        assert_eq!(file.line_text(2), "cäd");
        assert_eq!(file.line_text(3), "");
        assert_eq!(file.line_text(99), "");
        assert_eq!(map.locate(Span::new(id, 5, 6)).to_string(), "a:2");
    }

    #[test]
    fn an_empty_file_has_one_empty_line() {
        let mut map = SourceMap::default();
        let id = map.add("a", "");
        assert_eq!(map.file(id).line_text(1), "");
        assert_eq!(map.file(id).line_of(0), 1);
    }
}
