//! Puts the terminal into raw mode on the alternate screen, and restores it however the program ends.

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

/// The terminal in raw mode; dropping it restores the terminal.
pub struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    /// Sets up the terminal. A panic of any thread restores it before the message.
    pub fn enter() -> io::Result<Self> {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            earlier(panic);
        }));
        enter()?;
        blank().map(Self).inspect_err(|_| restore())
    }

    /// The terminal to draw on.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.0
    }

    /// Sets it up again after it was suspended.
    pub fn resume(&mut self, has_mouse: bool) -> io::Result<()> {
        enter()?;
        self.set_mouse(has_mouse)?;
        self.renew()
    }

    /// Switches mouse reports on or off. Without them the mouse selects text.
    pub fn set_mouse(&mut self, is_on: bool) -> io::Result<()> {
        match is_on {
            true => execute!(stdout(), EnableMouseCapture),
            false => execute!(stdout(), DisableMouseCapture),
        }
    }

    /// Forgets its contents and size, so that all is drawn again.
    pub fn renew(&mut self) -> io::Result<()> {
        self.0 = blank()?;
        Ok(())
    }
}

/// A blank terminal of the current size.
///
/// The size is fixed, because ratatui's own clear and resize query the position of the cursor, and the
/// thread that reads keys would get the answer.
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

/// Restores the terminal. May be called repeatedly.
pub fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = stdout().flush();
}
