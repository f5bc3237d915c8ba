//! What changed of one statement, for its page in `tare live` and its rows in `tare top`: its last hour compared with the
//! hour before and with the same time of the day before, and its mean time.

use std::collections::BTreeMap;
use std::path::Path;

use tare_history::Past;
use tare_live::{ChangedFigure, ChangesRequest, StatementChanges, StatementComparison, TrendPoint};

use super::comparison::Comparison;
use super::plans::{self, Plans};
use super::recording::{Origin, Place, Recording, find_servers, refuse};
use super::report::Report;
use super::rows::Rows;
use super::window::Window;
use super::{CONTROL_DAYS, recorded};
use crate::exit::Failure;

/// The longest windows.
const MAX_LENGTH_MS: i64 = 3_600_000;

/// Longer windows have whole minutes.
const MINUTE_MS: i64 = 60_000;

/// The most points of a trend.
const MAX_POINTS: i64 = 300;

/// Reads what changed of a statement, and its trend in the visible time.
///
/// # Errors
/// Why the history cannot be read.
pub fn compare_statement(
    directory: &Path,
    request: &ChangesRequest,
) -> Result<StatementChanges, String> {
    let place = Place {
        directory: directory.to_owned(),
        host: request.host.clone(),
        server: request.server.clone(),
    };
    let trend = read_trend(&place, request).map_err(|failure| failure.message)?;
    Ok(StatementChanges {
        trend,
        ..read_changes(&place, &request.digest, request.to)
    })
}

/// Reads what changed of a statement until a time in milliseconds since 1970.
pub fn read_changes(place: &Place, digest: &str, to: i64) -> StatementChanges {
    let read = || {
        let after = last_window(place, to)?;
        Ok((after, Recording::read(place, after)?))
    };
    let (after, comparisons, why) = match read() {
        Ok((after, recording)) => (
            Some([after.from, after.to]),
            compare_with_earlier(place, after, &recording, digest),
            None,
        ),
        Err::<_, Failure>(failure) => (None, Vec::new(), Some(failure.message)),
    };
    StatementChanges {
        after,
        comparisons,
        why,
        trend: Vec::new(),
    }
}

/// Selects the server of a history that was recorded shortly before a time: the only one, or the one of this name.
///
/// # Errors
/// None was recorded, or several were and not one of them has the name.
pub fn select_server(place: &Place, name: &str, to: i64) -> Result<Origin, Failure> {
    let near = shortly_before(to);
    let (_, servers) = find_servers(place, near, &mut Vec::new())?;
    let mut origins: Vec<Origin> = servers.into_keys().collect();
    if origins.len() > 1 && origins.iter().any(|(_, server)| server == name) {
        origins.retain(|(_, server)| server == name);
    }
    let option = |(host, server): &Origin| format!("--host-name {host} --server {server}");
    match &origins[..] {
        [origin] => Ok(origin.clone()),
        [] => Err(refuse(near, "nothing was recorded")),
        several => {
            let named: Vec<String> = several.iter().take(5).map(option).collect();
            let why = "the history has several servers: name one, such as";
            Err(refuse(near, &format!("{why} {}", named.join(", "))))
        }
    }
}

/// The time before the end of the later window in which something must have been recorded.
fn shortly_before(to: i64) -> Window {
    Window {
        from: to.saturating_sub(2 * MAX_LENGTH_MS),
        to,
    }
}

/// The last hour that was recorded until a time. If less than two hours were recorded, it is the second half of them.
fn last_window(place: &Place, to: i64) -> Result<Window, Failure> {
    let recorded = recorded(place, shortly_before(to))?;
    let half = (recorded.to - recorded.from) / 2;
    let full_minutes = half - half % MINUTE_MS;
    let length = if full_minutes > 0 { full_minutes } else { half };
    Ok(Window {
        from: recorded.to - length.min(MAX_LENGTH_MS),
        to: recorded.to,
    })
}

/// Compares a window with the time before it, and with the same time of the day before.
fn compare_with_earlier(
    place: &Place,
    after: Window,
    recording: &Recording,
    digest: &str,
) -> Vec<StatementComparison> {
    let length = after.to - after.from;
    let name = match length {
        MAX_LENGTH_MS => "hour".to_owned(),
        MINUTE_MS.. => format!("{} min", length / MINUTE_MS),
        _ => format!("{} s", length / 1000),
    };
    let previous = Window {
        from: after.from - length,
        to: after.from,
    };
    let earlier = [
        (format!("the {name} before"), previous),
        (
            format!("the same {name} of the day before"),
            after.days_earlier(1),
        ),
    ];
    let compare = |(title, before): (String, Window)| {
        let compared = compare(place, before, recording, digest);
        let (figures, compared) = match compared {
            Ok((figures, remarks)) => (Ok(figures), remarks),
            Err(failure) => (
                Err(without_window(&failure.message, before)),
                Remarks::default(),
            ),
        };
        StatementComparison {
            title,
            before: [before.from, before.to],
            figures,
            remark: compared.remark,
            control: compared.control,
        }
    };
    earlier.into_iter().map(compare).collect()
}

/// What is to be said about a comparison.
#[derive(Default)]
struct Remarks {
    /// About the statement's presence and its plan.
    remark: Option<String>,
    /// About the control days.
    control: Option<String>,
}

/// A message without the window that it names: the page has it, in the browser's time zone.
fn without_window(message: &str, window: Window) -> String {
    let refused = refuse(window, "").message;
    message.strip_prefix(&refused).unwrap_or(message).to_owned()
}

/// The figures of a statement, and remarks.
fn compare(
    place: &Place,
    before: Window,
    after: &Recording,
    digest: &str,
) -> Result<(Vec<ChangedFigure>, Remarks), Failure> {
    let mut comparison = Comparison {
        before: Recording::read(place, before)?,
        after: after.clone(),
        controls: Vec::new(),
    };
    comparison.check()?;
    let plans = plans::read(
        (place, &comparison.before),
        (place, &comparison.after),
        Some(digest),
    )?;
    let changes: Vec<bool> = (plans.values())
        .filter_map(|plans| plans.is_changed())
        .collect();
    let plan = (!changes.is_empty()).then(|| match changes.contains(&true) {
        true => "The plan changed.",
        false => "The plan is the same.",
    });
    let [had, has] =
        [&mut comparison.before, &mut comparison.after].map(|one| one.set_total(digest));
    let presence = match (had, has) {
        (true, true) => None,
        (false, true) => Some("The statement did not run in the earlier time."),
        (true, false) => Some("The statement did not run in the later time."),
        (false, false) => return Err(Failure::new(1, "the statement ran at neither time")),
    };
    comparison.controls = super::controls(place, before, after.window, CONTROL_DAYS);
    for (before, after) in &mut comparison.controls {
        before.set_total(digest);
        after.set_total(digest);
    }
    let control = describe_control(&comparison);
    let total = comparison.run_total();
    let report = Report {
        comparison,
        total,
        statements: Vec::new(),
        blocking: None,
        plans: Plans::new(),
        texts: BTreeMap::new(),
    };
    let remarks: Vec<&str> = [presence, plan].into_iter().flatten().collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join(" "));
    Ok((report.total_figures(), Remarks { remark, control }))
}

/// What is subtracted; `None` if the windows are at the same time of two days and need no control.
fn describe_control(comparison: &Comparison) -> Option<String> {
    let is_needed = super::needs_control(comparison.before.window, comparison.after.window);
    let times = match comparison.controls.len() {
        0 => {
            let why = "No control: these times of an earlier day were not recorded, so a change may be due to the hour.";
            return is_needed.then(|| why.to_owned());
        }
        1 => "1 day before, whose change is subtracted".to_owned(),
        days => format!("{days} days before, whose mean change is subtracted"),
    };
    Some(format!("Control: the same times of {times}."))
}

/// The mean time of a statement in steps of the visible time.
fn read_trend(place: &Place, request: &ChangesRequest) -> Result<Vec<TrendPoint>, Failure> {
    let past = Past {
        directory: place.directory.clone(),
        from: request.from,
        to: request.to,
        host: place.host.clone(),
        server: place.server.clone(),
    };
    past.check().map_err(|error| Failure::new(1, error))?;
    let step = ((request.to - request.from) / MAX_POINTS).max(1);
    // The last reading of each step, its calls and their nanoseconds.
    let mut steps: BTreeMap<i64, (i64, [f64; 2])> = BTreeMap::new();
    let mut rows = Rows::scan(&past, "growth", &["kind", "name", "count", "time_ns"])?;
    while rows.advance()? {
        let at = rows.at();
        let is_visible = (request.from..request.to).contains(&at);
        if !is_visible || rows.text(0) != Some("digest") || rows.text(1) != Some(&request.digest) {
            continue;
        }
        let (last, sums) = steps.entry(at.div_euclid(step)).or_default();
        *last = at.max(*last);
        sums[0] += rows.number(2);
        sums[1] += rows.number(3);
    }
    let steps = steps.into_values().filter(|(_, [calls, _])| *calls > 0.0);
    let point = |(at, [calls, ns]): (i64, [f64; 2])| TrendPoint {
        at,
        mean_ps: ns / calls * 1000.0,
    };
    Ok(steps.map(point).collect())
}
