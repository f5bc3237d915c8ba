//! The page's first picture: every comparison as a dot with its interval, sorted, with zero and the A/A
//! floor.

use std::fmt::Write;

use super::escape;
use super::plot::{self, Scale};
use crate::report::picture::{Line, Picture, short};

/// The height of a comparison in pixels.
const ROW_PX: f64 = 20.0;
/// From more comparisons on, rows are smaller.
const MAX_LARGE_ROWS: usize = 60;

/// The complete picture.
pub fn draw(picture: &Picture, baseline: &str, confidence: u32) -> String {
    let measure = picture.measure.title();
    let title = format!(
        "Difference in {measure} from {baseline}, in percent, with {confidence} % intervals"
    );
    let close = if picture.lines.len() > MAX_LARGE_ROWS {
        " close"
    } else {
        ""
    };
    let height = if picture.lines.len() > MAX_LARGE_ROWS {
        ROW_PX * 0.7
    } else {
        ROW_PX
    };
    let x = Scale::across(picture.low, picture.high);
    let mut html = format!(
        "<figure id=\"picture\"><figcaption>{}</figcaption><div class=\"rows forest{close}\">",
        escape(&title)
    );
    axis(&mut html, &x);
    for line in &picture.lines {
        strip(&mut html, line, &x, height, &title);
    }
    axis(&mut html, &x);
    html.push_str("</div><p class=\"legend\">");
    let better = if picture.measure.more_is_better() {
        "more"
    } else {
        "less"
    };
    for (class, words) in [
        ("worse", "worse".to_owned()),
        ("better", format!("better ({better} {measure})")),
        ("same", "not distinguishable".into()),
        (
            "unquoted",
            "unstable, or too few repetitions: not to be quoted".into(),
        ),
        (
            "floor",
            "within the A/A floor: what two equal cells may differ by".into(),
        ),
    ] {
        let used = class == "floor" || picture.lines.iter().any(|line| line.tone.class() == class);
        if used {
            let _ = write!(
                html,
                "<span><i class=\"{class}\"></i>{}</span> ",
                escape(&words)
            );
        }
    }
    html + "</p></figure>\n"
}

fn axis(html: &mut String, x: &Scale) {
    html.push_str(
        "<div class=\"row\"><span class=\"name\"></span><svg width=\"100%\" height=\"16\" aria-hidden=\"true\">",
    );
    for tick in plot::ticks(x.low, x.high) {
        let words = if tick == 0.0 {
            "0".into()
        } else {
            format!(
                "{}{}",
                if tick > 0.0 { "+" } else { "" },
                plot::number(tick)
            )
        };
        plot::text(html, x.at(tick), 12.0, &words);
    }
    html.push_str("</svg><span class=\"value\"></span></div>");
}

fn strip(html: &mut String, line: &Line, x: &Scale, height: f64, title: &str) {
    let Line {
        label,
        comparison,
        tone,
        row,
    } = line;
    let (class, middle) = (tone.class(), height / 2.0);
    let _ = write!(
        html,
        "<div class=\"row\"><span class=\"name\">{}</span>",
        escape(label)
    );
    plot::open(html, "strip", height, title);
    if let Some(floor) = comparison.floor_percent {
        let (from, to) = (x.at(-floor), x.at(floor));
        let _ = write!(
            html,
            "<rect class=\"floor\" x=\"{from:.2}%\" y=\"0\" width=\"{:.2}%\" height=\"{height}\"/>",
            to - from
        );
    }
    for tick in plot::ticks(x.low, x.high) {
        let grid = if tick == 0.0 { "zero" } else { "grid" };
        plot::rule(html, grid, (x.at(tick), 0.0), (x.at(tick), height));
    }
    let percent = comparison.percent;
    if let Some((low, high)) = percent.low.zip(percent.high) {
        plot::rule(
            html,
            &format!("whisker {class}"),
            (x.at(low), middle),
            (x.at(high), middle),
        );
        for (end, beyond, arrow) in [
            (low, low < x.low, "\u{2039}"),
            (high, high > x.high, "\u{203a}"),
        ] {
            if beyond {
                plot::text(html, x.at(end), middle + 4.0, arrow);
            }
        }
    }
    let words = format!("{label}: {}", comparison.words());
    let of = f64::from(row.key.connections);
    plot::dot(
        html,
        &format!("mark {class}"),
        (x.at(percent.mean), middle),
        label,
        (of, percent.mean),
        &words,
    );
    let _ = write!(
        html,
        "</svg><span class=\"value {class}\">{}</span></div>",
        escape(&short(comparison))
    );
}
