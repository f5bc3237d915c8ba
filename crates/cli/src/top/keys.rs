//! The keys.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::kill::{Kill, KillScope};
use super::pages::KEYS;
use super::source::Request;
use super::view::View;

/// The intervals of + and -, in seconds.
const INTERVALS: [u64; 8] = [1, 2, 3, 5, 10, 20, 30, 60];

/// The help of `?`.
pub const HELP: [(&str, &str); 22] = [
    (
        "1 - 9, S, R, T, C, Tab",
        "page: S status of the server, R replication, T transactions, C connections",
    ),
    ("Up, Down, PgUp, PgDn, Home", "choose a row"),
    (
        "Enter",
        "drill down: statement to its stages and waits, thread to its events, table to its indexes, ...",
    ),
    (
        "P",
        "the plan of the chosen statement: EXPLAIN of an example; of a history: the last plan that was recorded",
    ),
    ("Esc, Backspace", "back"),
    (
        "t, c",
        "sort by time (memory: by bytes), by count; again: reverse",
    ),
    ("< >", "sort by the column to the left, to the right"),
    ("r", "reverse the order"),
    (
        "/",
        "show only rows that contain a text; Enter keeps it, Esc drops it",
    ),
    (
        "i",
        "threads: hide sessions that run nothing and have no transaction, and the server's own threads, or show them; of a program without Tare: those that got no CPU",
    ),
    (
        "p, Space",
        "pause: send no queries, except one when you open another page",
    ),
    ("+ -", "longer, shorter interval"),
    ("[ ]", "the server before, the next one"),
    ("{ }", "of a history: an interval back, forward"),
    (
        "K",
        "kill the statement of the chosen session (KILL QUERY), after y",
    ),
    ("X", "kill the chosen session (KILL), after y"),
    (
        "e",
        "at the level active: count every event for 10 s (an exact window); again: end that",
    ),
    ("g", "show the last minutes as bars, or hide them"),
    (
        "Mouse, m",
        "click a head to sort, a row to choose, a page; the wheel scrolls; m gives the mouse to the terminal and back",
    ),
    ("^L", "redraw"),
    ("^Z", "suspend"),
    ("q, ^C", "quit"),
];

/// An effect of a key beyond a change of the view.
#[derive(Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// A request to the server's thread.
    Request(Request),
    /// Redraw everything.
    Redraw,
    /// Open or end an exact window.
    ExactWindow,
    /// Switch to the server of this number.
    Server(usize),
    /// Switch mouse reports on or off.
    Mouse,
    /// Restore the terminal and stop.
    Suspend,
    /// Quit.
    Quit,
}

/// Handles a key.
pub fn press(view: &mut View, key: KeyEvent) -> Effect {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Effect::Quit,
            KeyCode::Char('z') => Effect::Suspend,
            KeyCode::Char('l') => Effect::Redraw,
            _ => Effect::None,
        };
    }
    if view.typing {
        return type_filter(view, key.code);
    }
    view.notice = None;
    if let Some(kill) = view.confirming.take() {
        if let KeyCode::Char('y' | 'Y') = key.code {
            return Effect::Request(Request::Kill(kill));
        }
        view.notice = Some("nothing was killed".into());
        return Effect::None;
    }
    if view.help || view.plan.is_some() {
        return press_over_rows(view, key.code);
    }
    let open = |place: Option<super::source::Place>| {
        place.map_or(Effect::None, |place| Effect::Request(Request::Open(place)))
    };
    match key.code {
        KeyCode::Char('q') => return Effect::Quit,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => view.help = true,
        KeyCode::Char(key) if find_page(view, key).is_some() => {
            return open(find_page(view, key).map(|page| view.turn(page)));
        }
        KeyCode::Tab | KeyCode::Right => return open(Some(view.turn(view.tab() + 1))),
        KeyCode::BackTab | KeyCode::Left => {
            return open(Some(view.turn(view.tab() + view.pages().len() - 1)));
        }
        KeyCode::Up | KeyCode::Char('k') => view.step(-1),
        KeyCode::Down | KeyCode::Char('j') => view.step(1),
        KeyCode::PageUp => view.step(-20),
        KeyCode::PageDown => view.step(20),
        KeyCode::Home => view.step(isize::MIN),
        KeyCode::End => view.step(isize::MAX),
        KeyCode::Enter => return open(view.enter()),
        KeyCode::Esc if !view.filter.is_empty() => view.filter.clear(),
        KeyCode::Esc | KeyCode::Backspace => return open(view.leave()),
        KeyCode::Char('t') => view.sort(view.place().sheet.by_time()),
        KeyCode::Char('c') => view.sort(view.place().sheet.by_count()),
        KeyCode::Char('r') => view.sort(view.order().column),
        KeyCode::Char('<') => view.sort_by_neighbour(-1),
        KeyCode::Char('>') => view.sort_by_neighbour(1),
        KeyCode::Char('/') => view.typing = true,
        KeyCode::Char('K') => request_confirmation(view, KillScope::Statement),
        KeyCode::Char('X') => request_confirmation(view, KillScope::Connection),
        KeyCode::Char('P') => return request_plan(view),
        KeyCode::Char('g') => view.has_sparks = !view.has_sparks,
        KeyCode::Char('i') => view.hides_idle = !view.hides_idle,
        KeyCode::Char('e') => return Effect::ExactWindow,
        KeyCode::Char('m') => return Effect::Mouse,
        KeyCode::Char(bracket @ ('[' | ']')) if view.servers.len() > 1 => {
            let count = view.servers.len();
            let step = if bracket == ']' { 1 } else { count - 1 };
            return Effect::Server((view.server + step) % count);
        }
        KeyCode::Char(brace @ ('{' | '}')) if view.is_past() => {
            return Effect::Request(Request::Step(if brace == '}' { 1 } else { -1 }));
        }
        KeyCode::Char('p' | ' ') => {
            view.paused = !view.paused;
            view.reset_clock();
            return Effect::Request(Request::Pause(view.paused));
        }
        KeyCode::Char('+' | '-') => {
            let now = view.every.as_secs();
            let next = match key.code {
                KeyCode::Char('+') => INTERVALS.into_iter().find(|s| *s > now),
                _ => INTERVALS.into_iter().rev().find(|s| *s < now),
            };
            view.every = next.map_or(view.every, Duration::from_secs);
            return Effect::Request(Request::Every(view.every));
        }
        _ => {}
    }
    Effect::None
}

/// Handles a key while the help or a plan is in place of the rows.
fn press_over_rows(view: &mut View, code: KeyCode) -> Effect {
    match (code, &mut view.plan) {
        (KeyCode::Char('q'), _) => return Effect::Quit,
        _ if view.help => view.help = false,
        (KeyCode::Up | KeyCode::Char('k'), Some(plan)) => plan.scroll(-1),
        (KeyCode::Down | KeyCode::Char('j'), Some(plan)) => plan.scroll(1),
        (KeyCode::PageUp, Some(plan)) => plan.scroll(-20),
        (KeyCode::PageDown, Some(plan)) => plan.scroll(20),
        _ => view.plan = None,
    }
    Effect::None
}

fn request_plan(view: &mut View) -> Effect {
    match view.chosen_statement() {
        Ok(statement) => {
            view.notice = Some("the plan is being read".to_owned());
            Effect::Request(Request::Plan(statement))
        }
        Err(why) => {
            view.notice = Some(why);
            Effect::None
        }
    }
}

/// The page of a key.
fn find_page(view: &View, key: char) -> Option<usize> {
    let pages = &KEYS[..view.pages().len().min(KEYS.len())];
    pages.iter().position(|page| *page == key)
}

/// Asks the user to confirm that the chosen session's statement or connection is killed.
fn request_confirmation(view: &mut View, what: KillScope) {
    match Kill::of_chosen_row(view, what) {
        Ok(kill) => view.confirming = Some(kill),
        Err(why) => view.notice = Some(why),
    }
}

fn type_filter(view: &mut View, code: KeyCode) -> Effect {
    match code {
        KeyCode::Enter => view.typing = false,
        KeyCode::Esc => {
            view.typing = false;
            view.filter.clear();
        }
        KeyCode::Backspace => {
            view.filter.pop();
        }
        KeyCode::Char(c) => view.filter.push(c),
        _ => {}
    }
    Effect::None
}
