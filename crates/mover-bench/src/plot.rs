//! Line plots as SVG.
//!
//! Small multiples that share their axes: whole numbers to the right, seconds or states on
//! a logarithmic scale upwards, one line for each series. Written by hand, for a plot of this
//! kind is a page of text and no library was small enough to be worth its build time.

use std::fmt::Write;

/// How a series looks in every panel.
pub struct Style {
    pub name: String,
    /// Which of the colours.
    pub colour: usize,
    pub is_dashed: bool,
}

pub struct Series {
    pub points: Vec<(f64, f64)>,
}

pub struct Panel {
    pub title: String,
    /// In the order of the styles.
    pub series: Vec<Series>,
}

/// Told apart by colour-blind readers, too.
const COLOURS: [&str; 6] = [
    "#999999", "#56b4e9", "#e69f00", "#009e73", "#d55e00", "#cc79a7",
];
const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 48.0;
const TOP: f64 = 30.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 40.0;
/// At most so many numbers along the lower edge.
const LABELS: u32 = 12;

/// The scale of a plot of seconds up to a limit.
pub fn seconds_up_to(most: f64) -> (f64, f64) {
    (0.01, most.max(0.1))
}

/// Draws panels, three in a row, with a legend below; `least` and `most` are the ends of the
/// logarithmic scale, the first a power of ten.
pub fn plot(
    panels: &[Panel],
    styles: &[Style],
    (from, to): (u32, u32),
    (least, most): (f64, f64),
    (across, upwards): (&str, &str),
) -> String {
    let columns = panels.len().clamp(1, 3);
    let rows = panels.len().div_ceil(columns);
    let legend = 24.0 * styles.len().div_ceil(4) as f64 + 16.0;
    let (width, height) = (columns as f64 * WIDTH, rows as f64 * HEIGHT + legend);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let decades = (most / least).log10();
    let span = f64::from(to.max(from + 1) - from);
    for (number, panel) in panels.iter().enumerate() {
        let origin_x = (number % columns) as f64 * WIDTH + LEFT;
        let origin_y = (number / columns) as f64 * HEIGHT + TOP;
        let (inner_x, inner_y) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let x = |value: f64| origin_x + (value - f64::from(from)) / span * inner_x;
        let y = |value: f64| {
            let share = (value.max(least) / least).log10() / decades;
            origin_y + inner_y * (1.0 - share.min(1.0))
        };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\" font-weight=\"bold\">{}</text>",
            origin_x,
            origin_y - 10.0,
            escaped(&panel.title)
        );
        let _ = writeln!(
            out,
            "<rect x=\"{origin_x:.1}\" y=\"{origin_y:.1}\" width=\"{inner_x:.1}\" \
             height=\"{inner_y:.1}\" fill=\"none\" stroke=\"#444\"/>"
        );
        let step = (to.saturating_sub(from) / LABELS + 1) as usize;
        for value in (from..=to).step_by(step) {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
                x(f64::from(value)),
                origin_y + inner_y + 14.0
            );
        }
        let mut tick = least;
        while tick <= most {
            let _ = writeln!(
                out,
                "<line x1=\"{origin_x:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                origin_x + inner_x,
                y(tick),
                y(tick),
                origin_x - 5.0,
                y(tick) + 4.0,
                short(tick)
            );
            tick = (tick * 1_000.0).round() / 100.0;
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            origin_x + inner_x / 2.0,
            origin_y + inner_y + 30.0,
            escaped(across)
        );
        let (middle_x, middle_y) = (origin_x - 36.0, origin_y + inner_y / 2.0);
        let _ = writeln!(
            out,
            "<text x=\"{middle_x:.1}\" y=\"{middle_y:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {middle_x:.1} {middle_y:.1})\">{}</text>",
            escaped(upwards)
        );
        for (series, style) in panel.series.iter().zip(styles) {
            let points: Vec<String> = series
                .points
                .iter()
                .map(|&(px, py)| format!("{:.1},{:.1}", x(px), y(py)))
                .collect();
            if points.is_empty() {
                continue;
            }
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" {}/>",
                points.join(" "),
                style.stroke()
            );
            for &(px, py) in &series.points {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{}\"/>",
                    x(px),
                    y(py),
                    style.colour()
                );
            }
        }
    }
    for (number, style) in styles.iter().enumerate() {
        let x = LEFT + (number % 4) as f64 * (width - LEFT) / 4.0;
        let y = rows as f64 * HEIGHT + 20.0 + (number / 4) as f64 * 24.0;
        let _ = writeln!(
            out,
            "<polyline points=\"{x:.1},{:.1} {:.1},{:.1}\" {}/>\
             <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            y - 4.0,
            x + 26.0,
            y - 4.0,
            style.stroke(),
            x + 32.0,
            escaped(&style.name)
        );
    }
    out += "</svg>\n";
    out
}

impl Style {
    fn colour(&self) -> &'static str {
        COLOURS[self.colour % COLOURS.len()]
    }

    fn stroke(&self) -> String {
        let dashes = if self.is_dashed {
            " stroke-dasharray=\"5 3\""
        } else {
            ""
        };
        format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{dashes}",
            self.colour()
        )
    }
}

/// Powers of ten, with `k` and `M` for thousands and millions.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{}M", n / 1e6),
        n if n >= 1e3 => format!("{}k", n / 1e3),
        n => n.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_values_are_drawn_higher_and_every_series_is_named() {
        let panel = Panel {
            title: "a < b".into(),
            series: vec![Series {
                points: vec![(2.0, 0.1), (3.0, 10.0)],
            }],
        };
        let style = Style {
            name: "bmc dynamic".into(),
            colour: 1,
            is_dashed: true,
        };
        let drawn = plot(
            &[panel],
            &[style],
            (2, 4),
            seconds_up_to(60.0),
            ("threads", "seconds"),
        );
        assert!(drawn.contains("a &lt; b") && drawn.contains("bmc dynamic"));
        let line = drawn
            .lines()
            .find(|l| l.starts_with("<polyline"))
            .expect("a line");
        let points = line.split('"').nth(1).expect("its points");
        let heights: Vec<f64> = points
            .split(' ')
            .map(|point| {
                point
                    .split(',')
                    .nth(1)
                    .expect("a height")
                    .parse()
                    .expect("a number")
            })
            .collect();
        assert!(heights[1] < heights[0], "{line}");
        assert_eq!(
            drawn.matches("<svg").count(),
            drawn.matches("</svg>").count()
        );
    }
}
