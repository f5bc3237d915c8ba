//! What a click and the wheel do.

use std::ops::Range;

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::keys::Effect;
use super::source::Wish;
use super::view::View;

/// Rows that a notch of the wheel goes.
const NOTCH: isize = 3;

/// Something that can be clicked: a line, columns of it, and a number that says what it is.
pub type Spot = (u16, Range<u16>, usize);

/// Where on the screen what is, as it was drawn last.
#[derive(Debug, Clone, Default)]
pub struct Spots {
    /// Servers.
    pub servers: Vec<Spot>,
    /// Pages.
    pub pages: Vec<Spot>,
    /// Heads of columns, with the columns' numbers in the sheet.
    pub heads: Vec<Spot>,
    /// Lines of rows.
    pub rows: Range<u16>,
}

/// Which of these was hit.
fn hit(spots: &[Spot], mouse: MouseEvent) -> Option<usize> {
    let mut spots = spots.iter();
    let found =
        spots.find(|(line, columns, _)| *line == mouse.row && columns.contains(&mouse.column));
    found.map(|(_, _, what)| *what)
}

/// Takes what the mouse did.
pub fn point(view: &mut View, mouse: MouseEvent) -> Effect {
    // A question is answered by keys alone.
    if view.asking.is_some() {
        return Effect::None;
    }
    match mouse.kind {
        MouseEventKind::ScrollDown => view.step(NOTCH),
        MouseEventKind::ScrollUp => view.step(-NOTCH),
        MouseEventKind::Down(MouseButton::Left) => return click(view, mouse),
        _ => {}
    }
    Effect::None
}

fn click(view: &mut View, mouse: MouseEvent) -> Effect {
    view.notice = None;
    if view.help {
        view.help = false;
        return Effect::None;
    }
    if let Some(server) = hit(&view.spots.servers, mouse) {
        return Effect::Server(server);
    }
    if let Some(page) = hit(&view.spots.pages, mouse) {
        return Effect::Wish(Wish::Look(view.turn(page)));
    }
    if let Some(column) = hit(&view.spots.heads, mouse) {
        view.sort(column);
    } else if view.spots.rows.contains(&mouse.row) {
        view.choose(view.top + usize::from(mouse.row - view.spots.rows.start));
    }
    Effect::None
}
