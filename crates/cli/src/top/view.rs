//! What is on the screen, apart from how it is drawn: page, order, filter, the chosen row.

use std::collections::HashMap;
use std::time::Duration;

use super::kill::Kill;
use super::looks::Looks;
use super::mouse::Spots;
use super::pages::PAGES;
use super::pulse::Pulse;
use super::sheet::{Drill, Measure, Sheet};
use super::snapshot::{Key, Row};
use super::source::{Answer, News, Place};

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
    /// How often it is asked.
    pub every: Duration,
    /// Nothing is asked.
    pub paused: bool,
    /// The page, and what was drilled down to.
    path: Vec<Place>,
    /// Pages keep their order while one looks elsewhere.
    orders: HashMap<*const Sheet, Order>,
    /// Rows without this text are left out.
    pub filter: String,
    /// The filter is being typed.
    pub typing: bool,
    /// The keys are explained.
    pub help: bool,
    /// What came last.
    answer: Option<Answer>,
    /// Why nothing came.
    pub trouble: Option<String>,
    /// The row that is chosen, so that it stays so when others overtake it.
    chosen: Option<Key>,
    /// Its number when it was chosen, for when it goes.
    at: usize,
    /// The first row on the screen.
    pub top: usize,
    /// The last minutes.
    pub pulse: Pulse,
    /// They are shown, where there is room.
    pub has_sparks: bool,
    /// The processors of the server's machine, if they are known.
    pub processors: Option<f64>,
    /// What is marked, and how.
    pub looks: Looks,
    /// Where on the screen what is.
    pub spots: Spots,
    /// What the user is asked to confirm.
    pub asking: Option<Kill>,
    /// How the last deed went; the next key takes it away.
    pub notice: Option<String>,
    /// What is said of a recording.
    pub recording: Option<String>,
    /// All servers that are watched: their names, and whether they are there.
    pub servers: Vec<(String, bool)>,
    /// Which of them this one is.
    pub server: usize,
}

impl View {
    /// On this page.
    pub fn new(headline: String, page: &'static Sheet, every: Duration, looks: Looks) -> Self {
        Self {
            headline,
            every,
            paused: false,
            path: vec![Place::page(page)],
            orders: HashMap::new(),
            filter: String::new(),
            typing: false,
            help: false,
            answer: None,
            trouble: None,
            chosen: None,
            at: 0,
            top: 0,
            pulse: Pulse::default(),
            has_sparks: true,
            processors: None,
            looks,
            spots: Spots::default(),
            asking: None,
            notice: None,
            recording: None,
            servers: Vec::new(),
            server: 0,
        }
    }

    /// What is looked at.
    pub fn place(&self) -> &Place {
        self.path.last().expect("a path never empties")
    }

    /// Whether it is a history that is looked at.
    pub fn is_past(&self) -> bool {
        (self.answer.as_ref()).is_some_and(|answer| answer.until_ms.is_some())
    }

    /// How deep one has drilled down.
    pub fn depth(&self) -> usize {
        self.path.len() - 1
    }

    /// The number of the page among the tabs.
    pub fn tab(&self) -> usize {
        PAGES
            .iter()
            .position(|page| page.name == self.path[0].sheet.name)
            .unwrap_or(0)
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

    /// Sorts by a column; by the same once more, the other way round.
    pub fn sort(&mut self, column: usize) {
        let sheet = self.place().sheet;
        let order = self.order();
        let descending = order.column != column || !order.descending;
        self.orders
            .insert(std::ptr::from_ref(sheet), Order { column, descending });
    }

    /// Sorts by the shown column before or after.
    pub fn sort_beside(&mut self, step: isize) {
        let sheet = self.place().sheet;
        let is_estimated = self.answer().is_some_and(Answer::is_estimated);
        let has_blocked = self
            .answer()
            .is_some_and(|answer| answer.has_blocked(sheet));
        let shown = sheet.shown(is_estimated, has_blocked);
        let shown: Vec<usize> = shown.map(|(at, _)| at).collect();
        let at = shown
            .iter()
            .position(|at| *at == self.order().column)
            .unwrap_or(0);
        let next = (at as isize + step).rem_euclid(shown.len() as isize) as usize;
        self.sort(shown[next]);
    }

    /// The interval of what is shown, or nothing before there is any.
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// The rows in their order, without those that the filter leaves out.
    pub fn rows(&self) -> Vec<&Row> {
        let Some(answer) = &self.answer else {
            return Vec::new();
        };
        arranged(self.place().sheet, &answer.rows, self.order(), &self.filter)
    }

    /// The number of the chosen row, in these rows.
    pub fn chosen(&self, rows: &[&Row]) -> usize {
        let own = self
            .chosen
            .as_ref()
            .and_then(|key| rows.iter().position(|row| row.key == *key));
        own.unwrap_or(self.at).min(rows.len().saturating_sub(1))
    }

    /// Chooses the row so many further down.
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
        // The first row stays the first, whoever that is.
        self.chosen = key.filter(|_| at > 0);
    }

    /// Turns to a page.
    pub fn turn(&mut self, page: usize) -> Place {
        self.path = vec![Place::page(&PAGES[page % PAGES.len()])];
        self.arrive()
    }

    /// Drills down from the chosen row.
    pub fn enter(&mut self) -> Option<Place> {
        let rows = self.rows();
        let row = rows.get(self.chosen(&rows))?;
        let place = self.place();
        let title = match place.sheet.drill {
            // The statement itself; of others the keys say who they are.
            Drill::Executions => place
                .sheet
                .columns
                .iter()
                .zip(&row.figures)
                .next_back()
                .map(|(column, figure)| figure.shown(column.kind)),
            _ => Some(
                row.key
                    .iter()
                    .flatten()
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("."),
            ),
        };
        let below = place.below(row, title.unwrap_or_default())?;
        self.path.push(below);
        Some(self.arrive())
    }

    /// Back to where one came from; `None` at the top.
    pub fn leave(&mut self) -> Option<Place> {
        (self.path.len() > 1).then(|| {
            self.path.pop();
            self.arrive()
        })
    }

    fn arrive(&mut self) -> Place {
        self.answer = None;
        self.trouble = None;
        self.chosen = None;
        self.at = 0;
        self.top = 0;
        self.filter.clear();
        self.place().clone()
    }

    /// Takes in what the server said. What was asked of another place is dropped.
    pub fn learn(&mut self, news: News) {
        let here = |place: &Place| {
            std::ptr::eq(place.sheet, self.place().sheet) && place.keys == self.place().keys
        };
        match news {
            News::Answer(place, answer) if here(&place) => {
                self.answer = Some(answer);
                self.trouble = None;
            }
            News::Refused(place, why) if here(&place) => {
                self.answer = None;
                self.trouble = Some(why);
            }
            News::Answer(..) | News::Refused(..) => {}
            News::Lost(why) => self.trouble = Some(format!("waiting for the server: {why}")),
            News::Beat(beat) => self.pulse.push(beat),
            News::Done(what) => self.notice = Some(what),
            News::Back(headline, processors) => {
                self.headline = headline;
                self.processors = processors;
                self.answer = None;
                self.trouble = None;
            }
        }
    }
}

/// Rows in an order, without those that do not have a text. Who waits comes first, and then who is waited for.
pub fn arranged<'a>(sheet: &Sheet, rows: &'a [Row], order: Order, filter: &str) -> Vec<&'a Row> {
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
                .any(|(column, figure)| figure.shown(column.kind).to_lowercase().contains(&wanted))
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
        // Equal ones stay where they are from one interval to the next.
        let by_figure = (waits(b).cmp(&waits(a)))
            .then_with(|| blocks(b).cmp(&blocks(a)))
            .then(by_figure);
        by_figure.then_with(|| a.key.cmp(&b.key))
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::snapshot::Figure;

    #[test]
    fn where_somebody_waits_comes_first_in_every_order() {
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
            let found = arranged(sheet, &rows, order, "");
            let names: Vec<_> = found
                .iter()
                .filter_map(|row| row.key[0].as_deref())
                .collect();
            assert_eq!(names, expected);
        }
    }
}
