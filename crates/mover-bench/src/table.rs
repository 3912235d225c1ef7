//! Numbers for tables, and tables of them.

use std::fmt::Write;

/// The middle one; of an even number the mean of the middle two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// The mean for ratios: twice as fast and half as fast cancel out.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = values.into_iter().map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

/// A first column of names and columns of numbers, aligned.
#[derive(Clone)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(titles: &[&str]) -> Self {
        Table {
            rows: vec![titles.iter().map(ToString::to_string).collect()],
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// As Markdown has tables, with numbers to the right.
    pub fn markdown(&self) -> String {
        let is_number = |cell: &String| !cell.starts_with(|c: char| c.is_alphabetic() || c == '[');
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
            if number == 0 {
                out.push('|');
                for column in 0..row.len() {
                    let mut cells = self.rows.iter().skip(1).filter_map(|row| row.get(column));
                    let is_right = column > 0 && cells.all(is_number);
                    out += if is_right { "---:|" } else { "---|" };
                }
                out.push('\n');
            }
        }
        out
    }

    pub fn render(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let _ = match column {
                    0 => write!(line, "{cell:<width$}"),
                    _ => write!(line, "  {cell:>width$}"),
                };
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn opposite_ratios_cancel_out() {
        assert!((geometric_mean([2.0, 0.5]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn names_go_left_and_numbers_right() {
        let mut table = Table::new(&["model", "states"]);
        table.row(vec!["a".into(), "1,234,567".into()]);
        assert_eq!(table.render(), "model     states\na      1,234,567\n");
        assert_eq!(
            table.markdown(),
            "| model | states |\n|---|---:|\n| a | 1,234,567 |\n"
        );
    }
}
