//! The page `/diff`: two windows of a history compared. It needs no script.

use std::fmt::Write as _;

/// The heads of the columns of figures.
pub const HEADS: [&str; 4] = ["", "before", "after", "change"];

/// Figures with a heading, such as those of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// What the figures describe.
    pub heading: String,
    /// A name, the value before, the value after, and the change.
    pub rows: Vec<[String; 4]>,
    /// What follows them, such as a plan.
    pub lines: Vec<String>,
}

/// The result of a comparison for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffReport {
    /// The windows in the form of [`DiffRequest`], with absolute times.
    pub windows: [String; 2],
    /// What is compared with what.
    pub lines: Vec<String>,
    /// What changed.
    pub sections: Vec<Section>,
    /// What is left out.
    pub notes: Vec<String>,
}

/// Two windows of time, as `TIME/LENGTH`, and a server of the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffRequest {
    /// The earlier window.
    pub before: String,
    /// The later one.
    pub after: String,
    /// Only this host.
    pub host: Option<String>,
    /// Only this server.
    pub server: Option<String>,
    /// How many statements, and how many locks.
    pub rows: Option<usize>,
}

/// Compares windows of the history, or says why it cannot.
pub type Compare = Box<dyn FnMut(&DiffRequest) -> Result<DiffReport, String> + Send>;

/// The windows of a request that names none: the hour before the last one, and the last one.
const DEFAULT_WINDOWS: [&str; 2] = ["2h/1h", "1h/1h"];

/// The page for the parameters of a request. `compare` is called if they name both windows.
pub fn page(parameters: &[(String, String)], compare: &mut Compare) -> String {
    let value = |name: &str| {
        let parameter = parameters.iter().find(|(key, _)| key == name);
        parameter
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    };
    let request = |before: &str, after: &str| DiffRequest {
        before: before.to_owned(),
        after: after.to_owned(),
        host: value("host").map(str::to_owned),
        server: value("server").map(str::to_owned),
        rows: value("rows").and_then(|rows| rows.parse().ok()),
    };
    let mut body = String::new();
    let request = match (value("before"), value("after")) {
        (Some(before), Some(after)) => {
            let mut request = request(before, after);
            match compare(&request) {
                Ok(report) => {
                    let [before, after] = &report.windows;
                    request.before.clone_from(before);
                    request.after.clone_from(after);
                    write_report(&mut body, &request, &report);
                }
                Err(why) => body = format!("<p id=\"error\" role=\"alert\">{}</p>", escape(&why)),
            }
            request
        }
        (before, after) => {
            let [default_before, default_after] = DEFAULT_WINDOWS;
            request(
                before.unwrap_or(default_before),
                after.unwrap_or(default_after),
            )
        }
    };
    let mut form = String::new();
    for (name, title, size) in [
        ("before", "Before", 26),
        ("after", "After", 26),
        ("host", "Host", 12),
        ("server", "Server", 12),
        ("rows", "Rows", 4),
    ] {
        let mut fields = fields(&request).into_iter();
        let value = fields.find_map(|(field, value)| (field == name).then_some(value));
        let value = escape(&value.unwrap_or_default());
        let _ = write!(
            form,
            "<label>{title} <input size=\"{size}\" name=\"{name}\" value=\"{value}\"></label>"
        );
    }
    include_str!("../../assets/diff.html")
        .replace("<!-- form -->", &form)
        .replace("<!-- report -->", &body)
}

/// The result: lines, a link to it, and a table for each section.
fn write_report(body: &mut String, request: &DiffRequest, report: &DiffReport) {
    let _ = write!(body, "<pre>{}</pre>", escape(&report.lines.join("\n")));
    let link = escape(&address(request));
    let _ = write!(
        body,
        "<p><a id=\"link\" href=\"{link}\">Link to this comparison</a></p>"
    );
    for section in &report.sections {
        let heading = escape(&section.heading);
        let _ = write!(
            body,
            "<section><h2>{heading}</h2><div class=\"wide\"><table class=\"figures\"><tr>"
        );
        for (number, head) in HEADS.iter().enumerate() {
            let _ = write!(body, "<th{} scope=\"col\">{head}</th>", class(number));
        }
        body.push_str("</tr>");
        for [name, cells @ ..] in &section.rows {
            let _ = write!(body, "<tr><th scope=\"row\">{}</th>", escape(name));
            for (number, cell) in cells.iter().enumerate() {
                let _ = write!(body, "<td{}>{}</td>", class(number + 1), escape(cell));
            }
            body.push_str("</tr>");
        }
        body.push_str("</table></div>");
        if !section.lines.is_empty() {
            let lines = escape(&section.lines.join("\n"));
            let _ = write!(body, "<pre>{lines}</pre>");
        }
        body.push_str("</section>");
    }
    for note in &report.notes {
        let _ = write!(body, "<p>{}</p>", escape(note));
    }
}

/// The class of a column: before and after are numbers.
fn class(column: usize) -> &'static str {
    match column {
        1 | 2 => " class=\"number\"",
        _ => "",
    }
}

/// The parameters of a comparison.
fn fields(request: &DiffRequest) -> Vec<(&'static str, String)> {
    let optional = [
        ("host", request.host.clone()),
        ("server", request.server.clone()),
        ("rows", request.rows.map(|rows| rows.to_string())),
    ];
    let windows = [
        ("before", request.before.clone()),
        ("after", request.after.clone()),
    ];
    let optional = optional
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    windows.into_iter().chain(optional).collect()
}

/// The address of a comparison.
fn address(request: &DiffRequest) -> String {
    let mut words = form_urlencoded::Serializer::new(String::new());
    words.extend_pairs(fields(request));
    format!("/diff?{}", words.finish())
}

/// A text as HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
