//! Plots: small SVGs whose colours are the page's variables, so that they are right in light, dark and on paper. Every
//! point has its data as attributes, and as a title that browsers show.

use std::fmt::Write;

use super::html::escape;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;
const HEIGHT: f64 = 300.0;
/// A row of a chart of bars or dots.
const ROW: f64 = 20.0;
/// Where those charts begin: their labels stand before it.
const LABELS: f64 = 260.0;
/// The page has colours `--c0` to this one, without.
pub const COLOURS: usize = 10;

/// A point with its interval.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Drawn hollow.
    pub unstable: bool,
}

/// A line of points.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// From values to a stretch of pixels.
struct Scale {
    from: f64,
    to: f64,
    low: f64,
    high: f64,
    log: bool,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let (low, high, value) = match self.log {
            true => (self.low.ln(), self.high.ln(), value.max(self.low).ln()),
            false => (self.low, self.high, value),
        };
        let span = if high > low { high - low } else { 1.0 };
        self.from + (self.to - self.from) * (value - low) / span
    }
}

/// Round numbers across a range: 1, 2 or 5 times a power of ten apart.
fn ticks(low: f64, high: f64) -> Vec<f64> {
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

fn number(value: f64) -> String {
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

fn open(svg: &mut String, height: f64, title: &str) {
    let title = escape(title);
    let _ = write!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = escape(words);
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn rule(svg: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = write!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

/// Lines over a number: throughput by connections, latency by milliseconds. `labels` are the x values to name.
pub fn lines(
    title: &str,
    x_label: &str,
    y_label: &str,
    series: &[Series],
    labels: &[f64],
) -> String {
    let points = || series.iter().flat_map(|each| &each.points);
    let ends = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high, 0.0]
    });
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    let (first, last) = points().fold((f64::MAX, f64::MIN), |(a, b), point| {
        (a.min(point.x), b.max(point.x))
    });
    let x = Scale {
        from: LEFT + 8.0,
        to: WIDTH - RIGHT - 8.0,
        low: first,
        high: last,
        log: true,
    };
    let y = Scale {
        from: HEIGHT - BOTTOM,
        to: TOP,
        low,
        high: high + (high - low) * 0.05,
        log: false,
    };
    let mut svg = String::new();
    open(&mut svg, HEIGHT, title);
    for tick in ticks(y.low, y.high) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        rule(
            &mut svg,
            class,
            (LEFT, y.at(tick)),
            (WIDTH - RIGHT, y.at(tick)),
        );
        text(&mut svg, LEFT - 6.0, y.at(tick) + 4.0, "end", &number(tick));
    }
    for &label in labels {
        rule(
            &mut svg,
            "axis",
            (x.at(label), HEIGHT - BOTTOM),
            (x.at(label), HEIGHT - BOTTOM + 4.0),
        );
        text(
            &mut svg,
            x.at(label),
            HEIGHT - BOTTOM + 17.0,
            "middle",
            &number(label),
        );
    }
    text(&mut svg, WIDTH - RIGHT, HEIGHT - 6.0, "end", x_label);
    text(&mut svg, LEFT, HEIGHT - 6.0, "start", y_label);
    for (at, each) in series.iter().enumerate() {
        let colour = at % COLOURS;
        let dash = ["", " dashed", " dotted"][at / COLOURS % 3];
        let path: Vec<String> = each
            .points
            .iter()
            .map(|point| format!("{:.1},{:.1}", x.at(point.x), y.at(point.y)))
            .collect();
        let _ = write!(
            svg,
            "<polyline class=\"s{colour}{dash}\" points=\"{}\"/>",
            path.join(" ")
        );
        // Dots of hundreds of points would only hide them.
        if each.points.len() > 60 {
            continue;
        }
        for point in &each.points {
            // Side by side where several have the same x.
            let shift = (at as f64 - series.len() as f64 / 2.0) * 2.5;
            mark(
                &mut svg,
                (x.at(point.x) + shift, y.at(point.y)),
                colour,
                &each.name,
                point,
                |value| y.at(value),
                false,
            );
        }
    }
    svg.push_str("</svg>");
    svg + &legend(series.iter().map(|each| each.name.as_str()))
}

/// A point with its whisker.
fn mark(
    svg: &mut String,
    (x, y): (f64, f64),
    colour: usize,
    name: &str,
    point: &Point,
    at: impl Fn(f64) -> f64,
    across: bool,
) {
    let mut words = format!("{name}: {}", number(point.y));
    if let Some((low, high)) = point.interval {
        let _ = write!(words, " [{}, {}]", number(low), number(high));
        let ends = match across {
            true => ((at(low), y), (at(high), y)),
            false => ((x, at(low)), (x, at(high))),
        };
        rule(svg, &format!("s{colour}"), ends.0, ends.1);
    }
    if point.unstable {
        words.push_str(" * unstable");
    }
    let class = if point.unstable { "hollow" } else { "dot" };
    let _ = write!(
        svg,
        "<circle class=\"{class} s{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" data-series=\"{}\" data-x=\"{}\" data-y=\"{}\">\
         <title>{}</title></circle>",
        escape(name),
        point.x,
        point.y,
        escape(&words)
    );
}

/// A dot with a whisker for each of a few configurations.
pub fn dots(title: &str, x_label: &str, items: &[(String, Point)]) -> String {
    let ends = items.iter().flat_map(|(_, point)| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high, 0.0]
    });
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let margin = (high - low) * 0.05;
    let low = if low < 0.0 { low - margin } else { low };
    let x = Scale {
        from: LABELS,
        to: WIDTH - RIGHT,
        low,
        high: high + margin,
        log: false,
    };
    let bottom = TOP + ROW * items.len() as f64;
    let mut svg = String::new();
    open(&mut svg, bottom + BOTTOM, title);
    across(&mut svg, &x, bottom, x_label);
    for (at, (name, point)) in items.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        text(&mut svg, LABELS - 8.0, y + 4.0, "end", name);
        mark(
            &mut svg,
            (x.at(point.y), y),
            at % COLOURS,
            name,
            point,
            |value| x.at(value),
            true,
        );
    }
    svg + "</svg>"
}

/// The horizontal axis below rows.
fn across(svg: &mut String, x: &Scale, bottom: f64, label: &str) {
    for tick in ticks(x.low, x.high) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        rule(svg, class, (x.at(tick), TOP), (x.at(tick), bottom));
        text(svg, x.at(tick), bottom + 17.0, "middle", &number(tick));
    }
    text(svg, WIDTH - RIGHT, bottom + 33.0, "end", label);
}

/// A bar of several parts for each item.
pub fn bars(title: &str, x_label: &str, parts: &[&str], items: &[(String, Vec<f64>)]) -> String {
    let high = items
        .iter()
        .map(|(_, values)| values.iter().sum::<f64>())
        .fold(0.0, f64::max);
    let x = Scale {
        from: LABELS,
        to: WIDTH - RIGHT,
        low: 0.0,
        high: high.max(f64::MIN_POSITIVE) * 1.02,
        log: false,
    };
    let bottom = TOP + ROW * items.len() as f64;
    let mut svg = String::new();
    open(&mut svg, bottom + BOTTOM, title);
    across(&mut svg, &x, bottom, x_label);
    for (at, (name, values)) in items.iter().enumerate() {
        let y = TOP + ROW * at as f64 + 3.0;
        text(&mut svg, LABELS - 8.0, y + 11.0, "end", name);
        let mut sum = 0.0;
        for (part, value) in values.iter().enumerate() {
            let (from, to) = (x.at(sum), x.at(sum + value));
            let words = format!("{name}, {}: {}", parts[part], number(*value));
            let _ = write!(
                svg,
                "<rect class=\"f{}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-series=\"{}\" data-x=\"{}\" \
                 data-y=\"{value}\"><title>{}</title></rect>",
                part % COLOURS,
                (to - from).max(0.0),
                ROW - 6.0,
                escape(parts[part]),
                escape(name),
                escape(&words)
            );
            sum += value;
        }
    }
    svg.push_str("</svg>");
    svg + &legend(parts.iter().copied())
}

fn legend<'a>(names: impl Iterator<Item = &'a str>) -> String {
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
        let series = [Series {
            name: "a < b".into(),
            points: vec![point(1.0, 5.0), point(8.0, 9.5)],
        }];
        let svg = lines("t", "x", "y", &series, &[1.0, 8.0]);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(
            svg.contains("data-x=\"8\" data-y=\"9.5\"")
                && svg.contains("a &lt; b: 9.5 [8.5, 10.5]")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn one_point_or_none_draws_no_nonsense() {
        let flat = Point {
            x: 4.0,
            y: 0.0,
            interval: None,
            unstable: true,
        };
        let one = [Series {
            name: "one".into(),
            points: vec![flat],
        }];
        for svg in [
            lines("t", "x", "y", &one, &[4.0]),
            dots("t", "x", &[("one".into(), flat)]),
            bars("t", "x", &["p"], &[("one".into(), vec![0.0])]),
        ] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
