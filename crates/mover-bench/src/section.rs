//! What a measurement has to tell: text, tables, plots, and how mover compares.
//!
//! Every measurement turns its rows into one [`Section`], whether the rows were measured a
//! moment ago or read from a file. The command line prints it as text; the page shows it as
//! Markdown. Comparisons are ratios, in such a way that above 1 mover is ahead: bare seconds
//! are those of one machine on one day. All of them are kept ([`Ratio`]), so that the page can
//! list of cases where mover is behind without a manual selection.

use crate::table::Table;

#[derive(Default)]
pub struct Section {
    pub title: &'static str,
    pub blocks: Vec<Block>,
    pub ratios: Vec<Ratio>,
    /// The claims at the head of the page; the README repeats the first one of some measurements.
    pub headlines: Vec<Headline>,
}

pub enum Block {
    Heading(String),
    Text(String),
    Table(Table),
    Plot(Plot),
}

/// A drawing and the name of the file for it.
pub struct Plot {
    pub name: &'static str,
    pub svg: String,
    /// For those who do not see it.
    pub says: String,
}

/// mover beside a peer in one respect.
pub struct Ratio {
    pub subject: String,
    /// What is compared, with the unit.
    pub measure: String,
    /// SPIN, a paper, or another of mover's own searches.
    pub peer: &'static str,
    pub ours: String,
    pub theirs: String,
    /// Above 1: mover is ahead.
    pub value: f64,
    /// Whether `value` is only known not to be larger, because mover gave up.
    pub is_at_most: bool,
}

impl Ratio {
    /// Not by rounding alone.
    pub fn is_behind(&self) -> bool {
        self.value < 0.995
    }

    pub fn shown(&self) -> String {
        let digits = match self.value {
            0.0 => 0,
            value if value < 0.1 => 4,
            _ => 2,
        };
        let sign = if self.is_at_most { "≤ " } else { "" };
        format!("{sign}{:.digits$}", self.value)
    }
}

/// A claim with its figure.
pub struct Headline {
    pub claim: String,
    pub figure: String,
}

impl Section {
    pub fn new(title: &'static str) -> Self {
        Section {
            title,
            blocks: Vec::new(),
            ratios: Vec::new(),
            headlines: Vec::new(),
        }
    }

    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// A table without rows is left out.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    pub fn plot(&mut self, plot: Plot) {
        self.blocks.push(Block::Plot(plot));
    }

    pub fn headline(&mut self, claim: impl Into<String>, figure: impl Into<String>) {
        self.headlines.push(Headline {
            claim: claim.into(),
            figure: figure.into(),
        });
    }

    /// For a terminal; plots are left out.
    pub fn plain(&self) -> String {
        let parts = self.blocks.iter().filter_map(|block| match block {
            Block::Heading(text) => Some(format!("{text}\n")),
            Block::Text(text) => Some(wrapped(text, 100)),
            Block::Table(table) => Some(table.render()),
            Block::Plot(_) => None,
        });
        let title = format!("{}\n", self.title);
        let all: Vec<String> = std::iter::once(title).chain(parts).collect();
        all.join("\n")
    }

    /// For a page; plots are in `directory`.
    pub fn markdown(&self, directory: &str) -> String {
        let parts = self.blocks.iter().map(|block| match block {
            Block::Heading(text) => format!("### {text}\n"),
            Block::Text(text) => wrapped(text, 110),
            Block::Table(table) => table.markdown(),
            Block::Plot(plot) => format!("![{}]({directory}/{}.svg)\n", plot.says, plot.name),
        });
        parts.collect::<Vec<_>>().join("\n")
    }
}

/// Lines of at most so many characters, and a line break where there was one.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > width {
                out.push('\n');
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += length;
        }
        out.push('\n');
    }
    out
}

/// The geometric mean of ratios, and the least and greatest with their subjects, in words.
pub fn mean_and_range(ratios: &[(String, f64)]) -> Option<String> {
    let least = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = ratios.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = crate::table::geometric_mean(ratios.iter().map(|(_, ratio)| *ratio));
    Some(format!(
        "{mean:.2} ({:.2} on {} to {:.2} on {})",
        least.1, least.0, most.1, most.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_reads_in_a_terminal_and_on_a_page() {
        let mut section = Section::new("Sizes");
        section.heading("All");
        section.text("One two three.");
        let mut table = Table::new(&["model", "states"]);
        section.table(table.clone());
        table.row(vec!["a".into(), "7".into()]);
        section.table(table);
        section.plot(Plot {
            name: "sizes",
            svg: "<svg/>".into(),
            says: "a plot".into(),
        });
        assert_eq!(
            section.plain(),
            "Sizes\n\nAll\n\nOne two three.\n\nmodel  states\na           7\n"
        );
        assert_eq!(
            section.markdown("dir"),
            "### All\n\nOne two three.\n\n| model | states |\n|---|---:|\n| a | 7 |\n\n\
             ![a plot](dir/sizes.svg)\n"
        );
    }

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        assert_eq!(wrapped("a bb ccc\ndddddd e", 4), "a bb\nccc\ndddddd\ne\n");
    }

    #[test]
    fn a_ratio_is_behind_unless_rounding_makes_it_one() {
        let ratio = |value| Ratio {
            subject: "m".into(),
            measure: "states".into(),
            peer: "SPIN",
            ours: "2".into(),
            theirs: "1".into(),
            value,
            is_at_most: false,
        };
        assert!(!ratio(0.996).is_behind() && ratio(0.99).is_behind());
        assert_eq!(ratio(0.012_34).shown(), "0.0123");
    }

    #[test]
    fn ranges_name_their_ends() {
        let ratios = [("a".to_string(), 2.0), ("b".to_string(), 0.5)];
        let said = mean_and_range(&ratios);
        assert_eq!(said.as_deref(), Some("1.00 (0.50 on b to 2.00 on a)"));
        assert_eq!(mean_and_range(&[]), None);
    }
}
