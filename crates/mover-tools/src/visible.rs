//! Control characters made visible.
//!
//! A terminal obeys escape sequences in what it shows: a source or a file name could move the
//! cursor, hide lines, or write a verdict of its own. Characters that change the direction of text
//! show code in another order than it is compiled in (Boucher and Anderson 2023). None of them goes
//! to the user as it stands.

use std::borrow::Cow;

/// Whether a terminal does something else with it than showing it at the next place.
pub fn is_control(c: char) -> bool {
    // Marks, embeddings, overrides and isolates of directions; separators of lines and paragraphs.
    c.is_control()
        || matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}'
        )
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name in one line: control characters are escaped, as in `\u{1b}`.
pub fn name(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        if is_control(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text of a source, of the same length, so that all places in it stay where they are. Lines
/// and tabulators stay, too.
pub fn source(text: String) -> String {
    let is_odd = |c: char| is_control(c) && !matches!(c, '\n' | '\r' | '\t' | '\u{c}');
    if !text.contains(is_odd) {
        return text;
    }
    let same_length = |c: char| match c.len_utf8() {
        1 => "?",
        2 => "\u{bf}",
        _ => "\u{fffd}",
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_odd(c) {
            out.push_str(same_length(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// What goes to a terminal: lines, tabulators and, if colours are on, the sequences that set them.
pub fn output(text: &str, has_colors: bool) -> Cow<'_, str> {
    let is_odd = |c: char| is_control(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if has_colors { color_length(rest) } else { 0 };
        if length > 0 {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '\r' && rest.starts_with('\n') {
            continue;
        }
        out.push(if is_odd(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        });
    }
    Cow::Owned(out)
}

/// The length of a sequence that sets colours, at the start of a text; 0 if there is none.
fn color_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';');
    match end {
        Some(end) if parameters[end..].starts_with('m') => end + 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line() {
        assert_eq!(name("x.c"), "x.c");
        assert_eq!(name("ä b"), "ä b");
        assert_eq!(name("x\nsafe"), "x\\u{a}safe");
        assert_eq!(name("\u{1b}[2J"), "\\u{1b}[2J");
        assert_eq!(name("\u{202e}c.x"), "\\u{202e}c.x");
    }

    #[test]
    fn sources_keep_their_places() {
        for text in [
            "int x;\n\tx++;\r\n",
            "a\u{1b}[31mb",
            "a\u{9b}b",
            "a\u{202e}b\u{2066}c",
        ] {
            let shown = source(text.into());
            assert_eq!(shown.len(), text.len());
            assert_eq!(shown.lines().count(), text.lines().count());
            assert!(!shown.contains(|c| is_control(c) && !"\n\r\t".contains(c)));
            for (at, c) in text.char_indices().filter(|(_, c)| !is_control(*c)) {
                assert!(shown[at..].starts_with(c));
            }
        }
    }

    #[test]
    fn only_colours_reach_a_terminal() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{7}\u{9b}1m\n";
        assert_eq!(
            output(text, true),
            "\u{1b}[1;31mred\u{1b}[0m \u{fffd}[2J\u{fffd}\u{fffd}1m\n"
        );
        assert!(!output(text, false).contains('\u{1b}'));
        assert_eq!(output("a\r\nb\rc", false), "a\nb\u{fffd}c");
    }
}
