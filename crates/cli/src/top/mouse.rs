//! Mouse clicks and the wheel.

use std::ops::Range;

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::keys::Effect;
use super::source::Request;
use super::view::View;

/// Rows per notch of the wheel.
const WHEEL_ROWS: isize = 3;

/// An area that can be clicked: its line, its columns, and the number of what is there.
pub type ClickArea = (u16, Range<u16>, usize);

/// All areas that can be clicked, as they were drawn last.
#[derive(Debug, Clone, Default)]
pub struct ClickAreas {
    /// Servers.
    pub servers: Vec<ClickArea>,
    /// Pages.
    pub pages: Vec<ClickArea>,
    /// Heads of columns, with the columns' numbers in the sheet.
    pub heads: Vec<ClickArea>,
    /// Lines of rows.
    pub rows: Range<u16>,
}

/// The number of the area that was clicked.
fn hit(click_areas: &[ClickArea], mouse: MouseEvent) -> Option<usize> {
    let mut click_areas = click_areas.iter();
    let area = click_areas
        .find(|(line, columns, _)| *line == mouse.row && columns.contains(&mouse.column));
    area.map(|(_, _, number)| *number)
}

/// Handles a mouse event.
pub fn handle(view: &mut View, mouse: MouseEvent) -> Effect {
    // Only keys can confirm.
    if view.confirming.is_some() {
        return Effect::None;
    }
    match mouse.kind {
        MouseEventKind::ScrollDown => view.step(WHEEL_ROWS),
        MouseEventKind::ScrollUp => view.step(-WHEEL_ROWS),
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
    if let Some(server) = hit(&view.click_areas.servers, mouse) {
        return Effect::Server(server);
    }
    if let Some(page) = hit(&view.click_areas.pages, mouse) {
        return Effect::Request(Request::Open(view.turn(page)));
    }
    if let Some(column) = hit(&view.click_areas.heads, mouse) {
        view.sort(column);
    } else if view.click_areas.rows.contains(&mouse.row) {
        view.choose(view.top + usize::from(mouse.row - view.click_areas.rows.start));
    }
    Effect::None
}
