//! The terminal: taken whole, and given back as it was however we end.

use std::io::{self, Stdout, Write, stdout};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

/// A terminal that is ours until the value goes.
pub struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    /// Takes the terminal. A panic of any thread gives it back before it is told.
    pub fn take() -> io::Result<Self> {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            earlier(panic);
        }));
        enter()?;
        blank().map(Self).inspect_err(|_| restore())
    }

    /// The drawing side of it.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.0
    }

    /// Takes it again after it was given back for a while.
    pub fn resume(&mut self, has_mouse: bool) -> io::Result<()> {
        enter()?;
        self.mouse(has_mouse)?;
        self.renew()
    }

    /// Takes the mouse, or leaves it to the terminal, whose texts it then selects.
    pub fn mouse(&mut self, is_ours: bool) -> io::Result<()> {
        match is_ours {
            true => execute!(stdout(), EnableMouseCapture),
            false => execute!(stdout(), DisableMouseCapture),
        }
    }

    /// Forgets what is on it, and how large it was: all is drawn anew.
    pub fn renew(&mut self) -> io::Result<()> {
        self.0 = blank()?;
        Ok(())
    }
}

/// A terminal with nothing on it, of the size that it has now.
///
/// Of a fixed size, because ratatui's own ways to clear and to resize ask the terminal where its cursor is, whose
/// answer the thread that reads keys would get.
fn blank() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    execute!(stdout(), Clear(ClearType::All))?;
    let (width, height) = size()?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(
        CrosstermBackend::new(stdout()),
        TerminalOptions { viewport },
    )
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture).inspect_err(|_| {
        let _ = disable_raw_mode();
    })
}

/// Gives it back. Harmless when that was done already.
pub fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = stdout().flush();
}
