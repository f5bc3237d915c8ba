//! The live screen: keys, signals and answers come in, the view changes, and what changed is drawn.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, raise};

use super::keys::{Effect, press};
use super::source::{self, News, Place, Sampler, Wish};
use super::terminal::{Screen, restore};
use super::view::View;
use super::{draw, sheet::Sheet};
use crate::exit::{FAILED, Failure};

/// What can happen.
#[derive(Debug)]
pub enum Happening {
    /// A key, or another size.
    Input(Event),
    /// The terminal is gone.
    NoInput,
    /// A signal.
    Signal(i32),
    /// The server said something, or nothing more.
    News(News),
}

/// How it ended.
enum End {
    Quit,
    Signal(i32),
}

/// Shows the page until the user has enough.
pub fn run(sampler: Sampler, page: &'static Sheet, every: Duration) -> Result<(), Failure> {
    let broken = |error: io::Error| {
        Failure::new(
            FAILED,
            format!("cannot use the terminal: {error}; --batch N prints without one"),
        )
    };
    let mut view = View::new(sampler.headline(), page, every);
    let (happen, happenings) = channel();
    let (wish, wishes) = channel();
    listen_to_signals(happen.clone()).map_err(broken)?;
    let mut screen = Screen::take().map_err(broken)?;
    listen_to_keys(happen.clone());
    source::start(sampler, Place::page(page), every, wishes, happen);
    let end = obey(&mut screen, &mut view, &happenings, &wish).map_err(broken);
    drop(screen);
    match end? {
        End::Quit => Ok(()),
        // As if we had never caught it: who waits for us sees what ended us.
        End::Signal(signal) => emulate_default_handler(signal).map_err(broken),
    }
}

fn obey(
    screen: &mut Screen,
    view: &mut View,
    happenings: &Receiver<Happening>,
    wish: &Sender<Wish>,
) -> io::Result<End> {
    loop {
        screen.terminal().draw(|frame| draw::draw(view, frame))?;
        let Ok(first) = happenings.recv() else {
            return Ok(End::Quit);
        };
        // All that has come meanwhile, and then one drawing: keys held down do not queue up on a slow line.
        for happening in std::iter::once(first).chain(happenings.try_iter().take(100)) {
            let effect = match happening {
                Happening::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    press(view, key)
                }
                Happening::Input(Event::Resize(..)) => Effect::Redraw,
                Happening::Input(_) => Effect::None,
                Happening::NoInput => return Ok(End::Quit),
                Happening::News(news) => {
                    view.learn(news);
                    Effect::None
                }
                Happening::Signal(SIGTSTP) => Effect::Suspend,
                Happening::Signal(SIGCONT) => {
                    screen.resume()?;
                    Effect::None
                }
                Happening::Signal(signal) => return Ok(End::Signal(signal)),
            };
            match effect {
                Effect::None => {}
                Effect::Wish(what) => {
                    // When who asks is gone it has told us why.
                    let _ = wish.send(what);
                }
                Effect::Redraw => screen.renew()?,
                Effect::Suspend => {
                    restore();
                    raise(signal_hook::consts::SIGSTOP)?;
                }
                Effect::Quit => return Ok(End::Quit),
            }
        }
    }
}

fn listen_to_signals(happen: Sender<Happening>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if happen.send(Happening::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn listen_to_keys(happen: Sender<Happening>) {
    thread::spawn(move || {
        loop {
            let (what, end) = match event::read() {
                Ok(event) => (Happening::Input(event), false),
                Err(_) => (Happening::NoInput, true),
            };
            if happen.send(what).is_err() || end {
                return;
            }
        }
    });
}
