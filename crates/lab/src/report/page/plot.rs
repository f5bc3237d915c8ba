//! Plots whose text has the same size at every width: x is in percent of the plot, y in pixels. Colours
//! are the page's variables. Every point has its data as attributes and as a title.

use std::fmt::Write;

use super::escape;
use crate::stats::median;

/// Pixels of a plot of lines.
const HEIGHT: f64 = 240.0;
/// Pixels below the plot, for the labels of x.
const BELOW: f64 = 36.0;
/// Pixels above the plot, for the label of the first tick.
const ABOVE: f64 = 16.0;
/// The margin on either side in percent.
const SIDE: f64 = 1.5;
/// The margin on the left of a plot of lines in percent, for the labels of ticks.
const LEFT: f64 = 9.0;
/// The width of polylines in units, which cannot be in percent.
const UNITS: f64 = 1000.0;
/// The most points of a line that are drawn as dots, which would hide it.
const DOTS: usize = 60;
/// The number of colours: the page has `--c0` to `--c9`.
pub const COLOURS: usize = 10;

/// A point with its interval.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The position.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it is unstable and so drawn hollow.
    pub unstable: bool,
}

/// A line of points.
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// The points from left to right.
    pub points: Vec<Point>,
}

/// The title, the labels and the options of a plot of lines.
pub struct Frame<'a> {
    /// The title for screen readers.
    pub title: &'a str,
    /// The label of the x axis.
    pub x: &'a str,
    /// The label of the y axis.
    pub y: &'a str,
    /// The labelled x values.
    pub labels: &'a [f64],
    /// Whether the x axis is logarithmic.
    pub log: bool,
    /// Whether points are joined.
    pub joined: bool,
}

/// Maps values to percent of the width, or to pixels.
pub struct Scale {
    /// The position of `low`.
    pub from: f64,
    /// The position of `high`.
    pub to: f64,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// Whether it is logarithmic.
    pub log: bool,
}

impl Scale {
    /// Across a plot.
    pub fn across(low: f64, high: f64) -> Self {
        Self {
            from: SIDE,
            to: 100.0 - SIDE,
            low,
            high,
            log: false,
        }
    }

    /// The position of a value, clamped to the plot.
    pub fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high.max(self.low));
        let (low, high, value) = match self.log {
            true => (self.low.ln(), self.high.ln(), value.ln()),
            false => (self.low, self.high, value),
        };
        let span = if high > low { high - low } else { 1.0 };
        self.from + (self.to - self.from) * (value - low) / span
    }
}

/// Round numbers across a range: 1, 2 or 5 times a power of ten apart.
pub fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = (high - low).max(f64::MIN_POSITIVE);
    let rough = span / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * power)
        .into_iter()
        .find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    (first..)
        .map(|n| n as f64 * step)
        .take_while(|tick| *tick <= high + step * 1e-9)
        .take(20)
        .collect()
}

/// A number with three to five significant digits.
pub fn number(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 10_000.0 || v == 0.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The start of a picture of full width.
pub fn open(svg: &mut String, class: &str, height: f64, title: &str) {
    let title = escape(title);
    let _ = write!(
        svg,
        "<svg class=\"{class}\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    );
}

/// Text; `x` is in percent. At either end it stays within the plot.
pub fn text(svg: &mut String, x: f64, y: f64, words: &str) {
    let anchor = match x {
        x if x < 4.0 => "start",
        x if x > 96.0 => "end",
        _ => "middle",
    };
    let words = escape(words);
    let _ = write!(
        svg,
        "<text x=\"{x:.2}%\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

/// A straight line; x in percent.
pub fn rule(svg: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = write!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.2}%\" y1=\"{y1:.1}\" x2=\"{x2:.2}%\" y2=\"{y2:.1}\"/>"
    );
}

/// A dot with its data; x in percent.
pub fn dot(
    svg: &mut String,
    class: &str,
    (x, y): (f64, f64),
    name: &str,
    (of, value): (f64, f64),
    words: &str,
) {
    let _ = write!(
        svg,
        "<circle class=\"{class}\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"3.4\" data-series=\"{}\" data-x=\"{of}\" data-y=\"{value}\">\
         <title>{}</title></circle>",
        escape(name),
        escape(words)
    );
}

/// Lines over a number, with their intervals as bands: throughput by connections, latency by
/// milliseconds.
pub fn lines(frame: &Frame, series: &[Curve]) -> String {
    let points = || series.iter().flat_map(|each| &each.points);
    let fold = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (low, high) = visible_values(points()).fold((f64::MAX, f64::MIN), fold);
    let (first, last) = points()
        .map(|point| point.x)
        .fold((f64::MAX, f64::MIN), fold);
    let x = Scale {
        from: LEFT,
        log: frame.log,
        ..Scale::across(first, last)
    };
    let y = Scale {
        from: ABOVE + HEIGHT,
        to: ABOVE,
        low,
        high: high + (high - low) * 0.04,
        log: false,
    };
    let mut svg = String::new();
    open(&mut svg, "plot", ABOVE + HEIGHT + BELOW, frame.title);
    for tick in ticks(y.low, y.high) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        rule(&mut svg, class, (0.0, y.at(tick)), (100.0, y.at(tick)));
        text(&mut svg, 0.0, y.at(tick) - 3.0, &number(tick));
    }
    names_below(&mut svg, frame, &x);
    areas(&mut svg, series, &x, &y, frame.joined);
    for (at, each) in series.iter().enumerate() {
        // Many dots would hide the line.
        if frame.joined && each.points.len() > DOTS {
            continue;
        }
        for point in &each.points {
            mark(
                &mut svg,
                at % COLOURS,
                &each.name,
                point,
                (x.at(point.x), y.at(point.y)),
            );
        }
    }
    svg.push_str("</svg>");
    match series.len() {
        1 => svg,
        _ => svg + &legend(series.iter().map(|each| each.name.as_str())),
    }
}

/// Zero, all values, and their intervals, cut off where they are far wider than others.
fn visible_values<'a>(
    points: impl Iterator<Item = &'a Point> + Clone,
) -> impl Iterator<Item = f64> {
    let halves: Vec<f64> = (points.clone())
        .filter_map(|point| point.interval)
        .map(|(low, high)| (high - low) / 2.0)
        .collect();
    let max_half_width = if halves.is_empty() {
        0.0
    } else {
        3.0 * median(&halves)
    };
    let ends = points.flat_map(move |point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [
            point.y,
            low.max(point.y - max_half_width),
            high.min(point.y + max_half_width),
        ]
    });
    ends.chain([0.0])
}

fn names_below(svg: &mut String, frame: &Frame, x: &Scale) {
    let bottom = ABOVE + HEIGHT;
    let mut free = f64::MIN;
    for &label in frame.labels {
        let at = x.at(label);
        rule(svg, "axis", (at, bottom), (at, bottom + 4.0));
        // Labels that would overlap are left out: 6 percent of 358 pixels are three digits.
        if at >= free {
            text(svg, at, bottom + 17.0, &number(label));
            free = at + 6.0;
        }
    }
    text(svg, 100.0, bottom + 33.0, frame.x);
    text(svg, 0.0, bottom + 33.0, frame.y);
}

/// Bands and lines, in a nested picture that is stretched, because polygons cannot be in percent.
fn areas(svg: &mut String, series: &[Curve], x: &Scale, y: &Scale, joined: bool) {
    if !joined {
        return;
    }
    let height = ABOVE + HEIGHT;
    let _ = write!(
        svg,
        "<svg viewBox=\"0 0 {UNITS} {height}\" width=\"100%\" height=\"{height}\" preserveAspectRatio=\"none\">"
    );
    let place = |px: f64, py: f64| format!("{:.1},{:.1}", x.at(px) * UNITS / 100.0, y.at(py));
    for (at, each) in series.iter().enumerate() {
        let banded: Vec<(&Point, (f64, f64))> = (each.points.iter())
            .filter_map(|point| Some((point, point.interval?)))
            .collect();
        if banded.len() > 1 {
            let over = banded
                .iter()
                .map(|(point, (_, high))| place(point.x, *high));
            let under = banded
                .iter()
                .rev()
                .map(|(point, (low, _))| place(point.x, *low));
            let around: Vec<String> = over.chain(under).collect();
            let _ = write!(
                svg,
                "<polygon class=\"band f{}\" points=\"{}\"/>",
                at % COLOURS,
                around.join(" ")
            );
        }
        let path: Vec<String> = each
            .points
            .iter()
            .map(|point| place(point.x, point.y))
            .collect();
        let dash = ["", " dashed", " dotted"][at / COLOURS % 3];
        let _ = write!(
            svg,
            "<polyline class=\"s{}{dash}\" points=\"{}\"/>",
            at % COLOURS,
            path.join(" ")
        );
    }
    svg.push_str("</svg>");
}

fn mark(svg: &mut String, colour: usize, name: &str, point: &Point, place: (f64, f64)) {
    let mut words = format!("{name}: {}", number(point.y));
    if let Some((low, high)) = point.interval {
        let _ = write!(words, " [{}, {}]", number(low), number(high));
    }
    if point.unstable {
        words.push_str(" * unstable");
    }
    let class = if point.unstable { "hollow" } else { "dot" };
    dot(
        svg,
        &format!("{class} s{colour}"),
        place,
        name,
        (point.x, point.y),
        &words,
    );
}

/// A bar of several parts for each item, followed by its sum.
pub fn bars(title: &str, unit: &str, parts: &[&str], items: &[(String, Vec<f64>)]) -> String {
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let most = items
        .iter()
        .map(|(_, values)| sum(values))
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut html = format!(
        "<div class=\"rows\" role=\"img\" aria-label=\"{}\">",
        escape(title)
    );
    for (name, values) in items {
        let _ = write!(
            html,
            "<div class=\"row\"><span class=\"name\">{}</span><svg width=\"100%\" height=\"18\">",
            escape(name)
        );
        let mut from = 0.0;
        for (part, value) in values.iter().enumerate() {
            let wide = 100.0 * value / most;
            let words = format!("{name}, {}: {} {unit}", parts[part], number(*value));
            let _ = write!(
                html,
                "<rect class=\"f{}\" x=\"{from:.2}%\" y=\"3\" width=\"{wide:.2}%\" height=\"12\" data-series=\"{}\" data-x=\"{}\" \
                 data-y=\"{value}\"><title>{}</title></rect>",
                part % COLOURS,
                escape(parts[part]),
                escape(name),
                escape(&words)
            );
            from += wide;
        }
        let _ = write!(
            html,
            "</svg><span class=\"value\">{} {unit}</span></div>",
            number(sum(values))
        );
    }
    html.push_str("</div>");
    html + &legend(parts.iter().copied())
}

/// The legend.
pub fn legend<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut html = String::from("<p class=\"legend\">");
    for (at, name) in names.enumerate() {
        let dash = ["", " dashed", " dotted"][at / COLOURS % 3];
        let _ = write!(
            html,
            "<span><i class=\"k{}{dash}\"></i>{}</span> ",
            at % COLOURS,
            escape(name)
        );
    }
    html + "</p>"
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        title: "t",
        x: "x",
        y: "y",
        labels: &[1.0, 8.0],
        log: true,
        joined: true,
    };

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(-3.0, 8.0), [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0]);
        assert!(ticks(0.0, 0.0).len() <= 2);
    }

    #[test]
    fn a_plot_holds_its_data() {
        let point = |x, y| Point {
            x,
            y,
            interval: Some((y - 1.0, y + 1.0)),
            unstable: false,
        };
        let series = [Curve {
            name: "a < b".into(),
            points: vec![point(1.0, 5.0), point(8.0, 9.5)],
        }];
        let svg = lines(&FRAME, &series);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polygon").count(), 1, "its band");
        assert!(
            svg.contains("data-x=\"8\" data-y=\"9.5\"")
                && svg.contains("a &lt; b: 9.5 [8.5, 10.5]")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn plots_of_one_point_have_finite_coordinates() {
        let flat = Point {
            x: 4.0,
            y: 0.0,
            interval: None,
            unstable: true,
        };
        let one = [Curve {
            name: "one".into(),
            points: vec![flat],
        }];
        for svg in [
            lines(&FRAME, &one),
            bars("t", "x", &["p"], &[("one".into(), vec![0.0])]),
        ] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn a_scale_stays_within_its_plot() {
        let scale = Scale::across(-10.0, 30.0);
        assert_eq!((scale.at(-99.0), scale.at(99.0)), (SIDE, 100.0 - SIDE));
        assert!((scale.at(10.0) - 50.0).abs() < 1e-9);
    }
}
