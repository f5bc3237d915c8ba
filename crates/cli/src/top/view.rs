//! The state of the screen: page, order, filter, the chosen row.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::drills::EXECUTIONS;
use super::kill::Kill;
use super::load::LoadHistory;
use super::mouse::ClickAreas;
use super::pages::pages_with;
use super::plan::{Statement, StatementPlan};
use super::sheet::{Drill, Measure, Sheet};
use super::snapshot::{Figure, Key, Row};
use super::source::{Answer, Place, Update};
use super::theme::Theme;

/// The order of a page's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The column.
    pub column: usize,
    /// The largest first.
    pub descending: bool,
}

/// The state of the screen.
pub struct View {
    /// The server, for the headline.
    pub headline: String,
    /// The interval.
    pub every: Duration,
    /// Whether queries are paused.
    pub paused: bool,
    /// The page and its drill-downs.
    path: Vec<Place>,
    /// The order of each page.
    orders: HashMap<*const Sheet, Order>,
    /// Only rows with this text are displayed.
    pub filter: String,
    /// The filter is being typed.
    pub typing: bool,
    /// Whether sessions that run nothing, and the server's own threads, are hidden.
    pub hides_idle: bool,
    /// The keys are explained.
    pub help: bool,
    /// The plan of a statement, in place of the rows.
    pub plan: Option<StatementPlan>,
    /// What changed of the statement that was drilled down from.
    pub changes: Vec<String>,
    /// The last answer.
    answer: Option<Answer>,
    /// Why there is no answer.
    pub error_text: Option<String>,
    /// The key of the chosen row, so that it stays chosen when the order changes.
    chosen: Option<Key>,
    /// Its number when it was chosen, in case it disappears.
    at: usize,
    /// The first row on the screen.
    pub top: usize,
    /// The load of the last minutes.
    pub load: LoadHistory,
    /// Whether the load is displayed, if the screen is high enough.
    pub has_sparks: bool,
    /// The processors of the server's machine, if they are known.
    pub processors: Option<f64>,
    /// Colours and thresholds.
    pub theme: Theme,
    /// The areas that can be clicked.
    pub click_areas: ClickAreas,
    /// The KILL that the user has to confirm.
    pub confirming: Option<Kill>,
    /// The outcome of the last action, until the next key.
    pub notice: Option<String>,
    /// The state of the recording.
    pub recording: Option<String>,
    /// All watched servers: their names, and whether they are connected.
    pub servers: Vec<(String, bool)>,
    /// The number of this server.
    pub server: usize,
    /// When the server answered last.
    answered: Instant,
}

impl View {
    /// A view of this page.
    pub fn new(headline: String, page: &'static Sheet, every: Duration, theme: Theme) -> Self {
        Self {
            headline,
            every,
            paused: false,
            path: vec![Place::page(page)],
            orders: HashMap::new(),
            filter: String::new(),
            typing: false,
            hides_idle: false,
            help: false,
            plan: None,
            changes: Vec::new(),
            answered: Instant::now(),
            answer: None,
            error_text: None,
            chosen: None,
            at: 0,
            top: 0,
            load: LoadHistory::default(),
            has_sparks: true,
            processors: None,
            theme,
            click_areas: ClickAreas::default(),
            confirming: None,
            notice: None,
            recording: None,
            servers: Vec::new(),
            server: 0,
        }
    }

    /// The current page or drill-down.
    pub fn place(&self) -> &Place {
        self.path.last().expect("a path never empties")
    }

    /// Whether this is a history.
    pub fn is_past(&self) -> bool {
        (self.answer.as_ref()).is_some_and(|answer| answer.until_ms.is_some())
    }

    /// The number of drill-downs.
    pub fn depth(&self) -> usize {
        self.path.len() - 1
    }

    /// The number of the page among the tabs.
    pub fn tab(&self) -> usize {
        let name = self.path[0].sheet.name;
        let pages = self.pages().iter();
        pages
            .map(|page| page.name)
            .position(|page| page == name)
            .unwrap_or(0)
    }

    /// The pages: those of a server, or of processes.
    pub fn pages(&self) -> &'static [Sheet] {
        pages_with(self.path[0].sheet)
    }

    /// The order of the rows.
    pub fn order(&self) -> Order {
        let sheet = self.place().sheet;
        let own = self.orders.get(&std::ptr::from_ref(sheet)).copied();
        own.unwrap_or(Order {
            column: sheet.by_time(),
            descending: true,
        })
    }

    /// Sorts by a column, or reverses the order if it is sorted by that already.
    pub fn sort(&mut self, column: usize) {
        let sheet = self.place().sheet;
        let order = self.order();
        let descending = order.column != column || !order.descending;
        self.orders
            .insert(std::ptr::from_ref(sheet), Order { column, descending });
    }

    /// Sorts by the visible column to the left or to the right.
    pub fn sort_by_neighbour(&mut self, step: isize) {
        let sheet = self.place().sheet;
        let is_estimated = self.answer().is_some_and(Answer::is_estimated);
        let has_blocked = self
            .answer()
            .is_some_and(|answer| answer.has_blocked(sheet));
        let visible = sheet.visible_columns(is_estimated, has_blocked);
        let visible: Vec<usize> = visible.map(|(at, _)| at).collect();
        let at = visible
            .iter()
            .position(|at| *at == self.order().column)
            .unwrap_or(0);
        let next = (at as isize + step).rem_euclid(visible.len() as isize) as usize;
        self.sort(visible[next]);
    }

    /// The last answer, if there is one.
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// The filtered rows in their order.
    pub fn rows(&self) -> Vec<&Row> {
        let Some(answer) = &self.answer else {
            return Vec::new();
        };
        let sheet = self.place().sheet;
        let mut rows = arrange(sheet, &answer.rows, self.order(), &self.filter);
        rows.retain(|row| !self.hides_idle || !is_idle(sheet, row));
        rows
    }

    /// For how many seconds the server owes an answer; `None` while none is due.
    pub fn silence(&self) -> Option<u64> {
        let elapsed = self.answered.elapsed();
        let is_due = elapsed > self.every + ANSWER_DELAY && !self.paused && !self.is_past();
        is_due.then_some(elapsed.as_secs())
    }

    /// Begins to wait for an answer now.
    pub fn reset_clock(&mut self) {
        self.answered = Instant::now();
    }

    /// The number of the chosen row, in these rows.
    pub fn chosen(&self, rows: &[&Row]) -> usize {
        let own = self
            .chosen
            .as_ref()
            .and_then(|key| rows.iter().position(|row| row.key == *key));
        own.unwrap_or(self.at).min(rows.len().saturating_sub(1))
    }

    /// Moves the choice so many rows down.
    pub fn step(&mut self, step: isize) {
        let rows = self.rows();
        self.choose(self.chosen(&rows).saturating_add_signed(step));
    }

    /// Chooses the row of this number, or the last.
    pub fn choose(&mut self, at: usize) {
        let rows = self.rows();
        let at = at.min(rows.len().saturating_sub(1));
        let key = rows.get(at).map(|row| row.key.clone());
        self.at = at;
        // The first row has no key, so that the choice stays at the top.
        self.chosen = key.filter(|_| at > 0);
    }

    /// Turns to a page.
    pub fn turn(&mut self, page: usize) -> Place {
        let pages = self.pages();
        self.path = vec![Place::page(&pages[page % pages.len()])];
        self.reset_rows()
    }

    /// Drills down from the chosen row.
    pub fn enter(&mut self) -> Option<Place> {
        let rows = self.rows();
        let row = rows.get(self.chosen(&rows))?;
        let place = self.place();
        let title = match place.sheet.drill {
            // The statement's text; others are titled by their keys.
            Drill::Executions => row_text(place.sheet, row),
            _ => row
                .key
                .iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join("."),
        };
        let below = place.below(row, title)?;
        self.path.push(below);
        Some(self.reset_rows())
    }

    /// Leaves a drill-down; `None` on a page.
    pub fn leave(&mut self) -> Option<Place> {
        (self.path.len() > 1).then(|| {
            self.path.pop();
            self.reset_rows()
        })
    }

    /// The statement of the chosen row, or the one that was drilled down from. The error is a sentence.
    pub fn chosen_statement(&self) -> Result<Statement, String> {
        let place = self.place();
        if std::ptr::eq(place.sheet, &raw const EXECUTIONS) {
            return Statement::new(&place.keys, place.title.clone());
        }
        if !matches!(place.sheet.drill, Drill::Executions) {
            return Err("no statement is chosen: choose a row of page 1, statements".to_owned());
        }
        let rows = self.rows();
        let row = rows
            .get(self.chosen(&rows))
            .ok_or("no statement is chosen")?;
        Statement::new(&row.key, row_text(place.sheet, row))
    }

    fn reset_rows(&mut self) -> Place {
        self.answer = None;
        self.error_text = None;
        self.chosen = None;
        self.at = 0;
        self.top = 0;
        self.filter.clear();
        self.place().clone()
    }

    /// Applies an update. Answers about another place are dropped.
    pub fn apply(&mut self, update: Update) {
        if !matches!(update, Update::Lost(_) | Update::Done(_)) {
            self.answered = Instant::now();
        }
        let here = |place: &Place| {
            std::ptr::eq(place.sheet, self.place().sheet) && place.keys == self.place().keys
        };
        match update {
            Update::Answer(place, answer) if here(&place) => {
                self.answer = Some(answer);
                self.error_text = None;
            }
            Update::Refused(place, why) if here(&place) => {
                self.answer = None;
                self.error_text = Some(why);
            }
            Update::Answer(..) | Update::Refused(..) => {}
            Update::Lost(why) => self.error_text = Some(format!("waiting for the server: {why}")),
            Update::Load(load) => self.load.push(load),
            Update::Done(what) => self.notice = Some(what),
            Update::Plan(plan) => {
                self.notice = None;
                self.plan = Some(plan);
            }
            Update::Back(headline, processors) => {
                self.headline = headline;
                self.processors = processors;
                self.answer = None;
                self.error_text = None;
            }
        }
    }
}

/// How much later than expected an answer may come before the screen says so.
const ANSWER_DELAY: Duration = Duration::from_secs(3);

/// The text in the last column.
fn row_text(sheet: &Sheet, row: &Row) -> String {
    let mut columns = sheet.columns.iter().zip(&row.figures);
    let last = columns.next_back();
    last.map(|(column, figure)| figure.text(column.kind))
        .unwrap_or_default()
}

/// Whether a row is of a session that runs nothing, or of a thread of the server, blocks nobody, and has no open
/// transaction.
fn is_idle(sheet: &Sheet, row: &Row) -> bool {
    const IDLE: [&str; 6] = [
        "",
        "Sleep",
        "Daemon",
        "Connect",
        "Binlog Dump",
        "Binlog Dump GTID",
    ];
    // A thread or process that does not use Tare is idle if it got no CPU.
    if let Some(slices) = sheet.column("SLICES") {
        return row.figures[slices].number() == 0.0;
    }
    let (Some(command), Some(connection)) = (sheet.column("COMMAND"), sheet.column("CONN")) else {
        return false;
    };
    let is_involved = |kind: Measure| {
        matches!(
            kind,
            Measure::BlockedBy | Measure::Blocks | Measure::TransactionState
        )
    };
    let mut columns = sheet.columns.iter().zip(&row.figures);
    let command = row.figures[command].text(Measure::Text);
    (IDLE.contains(&command.as_str()) || row.figures[connection] == Figure::Empty)
        && !columns.any(|(column, figure)| is_involved(column.kind) && *figure != Figure::Empty)
}

/// Sorts rows and removes those without a text. Waiting sessions come first, and then those that block them.
pub fn arrange<'a>(sheet: &Sheet, rows: &'a [Row], order: Order, filter: &str) -> Vec<&'a Row> {
    let wanted = filter.to_lowercase();
    let matches = |row: &&Row| {
        let texts = sheet
            .columns
            .iter()
            .zip(&row.figures)
            .filter(|(column, _)| !column.hidden);
        wanted.is_empty()
            || texts
                .into_iter()
                .any(|(column, figure)| figure.text(column.kind).to_lowercase().contains(&wanted))
    };
    let mut rows: Vec<&Row> = rows.iter().filter(matches).collect();
    rows.sort_by(|a, b| {
        use super::snapshot::Figure::{Empty, Number, Text};
        let (x, y) = (&a.figures[order.column], &b.figures[order.column]);
        let by_figure = match (x, y) {
            (Text(x), Text(y)) => y.cmp(x),
            (Number(x), Number(y)) => x.total_cmp(y),
            (Empty, Empty) => std::cmp::Ordering::Equal,
            (Empty, _) => std::cmp::Ordering::Less,
            (_, Empty) => std::cmp::Ordering::Greater,
            (x, y) => x.number().total_cmp(&y.number()),
        };
        let by_figure = if order.descending {
            by_figure.reverse()
        } else {
            by_figure
        };
        let waits = |row: &Row| {
            sheet
                .waiting()
                .is_some_and(|at| row.figures[at].is_waiting())
        };
        let blocks = |row: &Row| {
            let at = sheet.find(|kind| kind == Measure::Blocks);
            at.is_some_and(|at| row.figures[at].is_waiting())
        };
        // Equal rows keep their order between intervals.
        let by_figure = (waits(b).cmp(&waits(a)))
            .then_with(|| blocks(b).cmp(&blocks(a)))
            .then(by_figure);
        by_figure.then_with(|| a.key.cmp(&b.key))
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::super::pages::PAGES;
    use super::*;

    #[test]
    fn waiting_rows_come_first_in_every_order() {
        let sheet = &PAGES[5];
        let waiting = sheet.waiting().expect("a column");
        let row = |name: &str, time: f64, waits: f64| {
            let mut figures = vec![Figure::Empty; sheet.columns.len()];
            figures[sheet.by_time()] = Figure::Number(time);
            figures[waiting] = Figure::Number(waits);
            Row {
                key: vec![Some(name.into())],
                figures,
            }
        };
        let rows = [
            row("busy", 9.0, 0.0),
            row("blocked", 1.0, 1.0),
            row("idle", 0.0, 0.0),
        ];
        for (descending, expected) in [
            (true, ["blocked", "busy", "idle"]),
            (false, ["blocked", "idle", "busy"]),
        ] {
            let order = Order {
                column: sheet.by_time(),
                descending,
            };
            let sorted = arrange(sheet, &rows, order, "");
            let names: Vec<_> = sorted
                .iter()
                .filter_map(|row| row.key[0].as_deref())
                .collect();
            assert_eq!(names, expected);
        }
    }
}
