//! The live screen: keys, the mouse, signals and answers come in, a view changes, and what changed is drawn.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;

use super::keys::{Effect, press};
use super::looks::Looks;
use super::mouse::point;
use super::source::{News, Place, Source, Wish};
use super::terminal::{Screen, restore};
use super::view::View;
use super::{asker, draw, sheet::Sheet};
use crate::exit::{FAILED, Failure};

/// What can happen.
#[derive(Debug)]
enum Happening {
    /// A key, the mouse, or another size.
    Input(Event),
    /// The terminal is gone.
    NoInput,
    /// A signal.
    Signal(i32),
    /// A server said something, or nothing more.
    News(usize, News),
    /// Something about the recording of a server.
    Recording(usize, String),
}

/// How it ended.
enum End {
    Quit,
    Signal(i32),
}

/// Tells what a recording has to say.
pub type Teller = Box<dyn Fn(String) + Send>;

/// A server to watch.
pub struct Watched {
    /// What its tab says.
    pub name: String,
    /// Connects to it.
    pub open: Box<dyn Fn() -> Result<Source, String> + Send>,
    /// What was connected to already.
    pub sampler: Option<Source>,
    /// Is given whom to tell about the recording.
    pub record: Option<Box<dyn FnOnce(Teller)>>,
}

/// What is on the screen of a server, and who asks it.
struct Tab {
    view: View,
    wish: Sender<Wish>,
}

/// All servers, one of them on the screen.
struct Tabs {
    all: Vec<Tab>,
    shown: usize,
    has_mouse: bool,
}

/// Shows the page until the user has enough, or a signal ends it: that is given.
pub fn run(
    watched: Vec<Watched>,
    page: &'static Sheet,
    every: Duration,
    looks: Looks,
) -> Result<Option<i32>, Failure> {
    let broken = |error: io::Error| {
        Failure::new(
            FAILED,
            format!("cannot use the terminal: {error}; --batch N prints without one"),
        )
    };
    let (happen, happenings) = channel();
    listen_to_signals(happen.clone()).map_err(broken)?;
    let mut screen = Screen::take().map_err(broken)?;
    listen_to_keys(happen.clone());
    let names: Vec<(String, bool)> = (watched.iter())
        .map(|server| (server.name.clone(), true))
        .collect();
    let mut all = Vec::new();
    for (number, server) in watched.into_iter().enumerate() {
        let headline = match &server.sampler {
            Some(sampler) => sampler.headline(),
            None => server.name.clone(),
        };
        let mut view = View::new(headline, page, every, looks);
        view.servers.clone_from(&names);
        view.server = number;
        let (wish, wishes) = channel();
        let news = happen.clone();
        let start = (Place::page(page), every, number == 0);
        thread::spawn(move || {
            asker::run(server.open, server.sampler, start, &wishes, |what| {
                news.send(Happening::News(number, what)).is_ok()
            });
        });
        if let Some(record) = server.record {
            let news = happen.clone();
            record(Box::new(move |text| {
                // When nobody looks any more nobody is told.
                let _ = news.send(Happening::Recording(number, text));
            }));
        }
        all.push(Tab { view, wish });
    }
    let tabs = Tabs {
        all,
        shown: 0,
        has_mouse: true,
    };
    let end = obey(&mut screen, tabs, &happenings).map_err(broken);
    drop(screen);
    match end? {
        End::Quit => Ok(None),
        End::Signal(signal) => Ok(Some(signal)),
    }
}

fn obey(screen: &mut Screen, mut tabs: Tabs, happenings: &Receiver<Happening>) -> io::Result<End> {
    loop {
        let view = &mut tabs.all[tabs.shown].view;
        screen.terminal().draw(|frame| draw::draw(view, frame))?;
        let Ok(first) = happenings.recv() else {
            return Ok(End::Quit);
        };
        // All that has come meanwhile, and then one drawing: keys held down do not queue up on a slow line.
        for happening in std::iter::once(first).chain(happenings.try_iter().take(100)) {
            let effect = match happening {
                Happening::NoInput => return Ok(End::Quit),
                Happening::Signal(SIGCONT) => {
                    screen.resume(tabs.has_mouse)?;
                    Effect::None
                }
                Happening::Signal(SIGTSTP) => Effect::Suspend,
                Happening::Signal(signal) => return Ok(End::Signal(signal)),
                other => tabs.take(other),
            };
            match effect {
                Effect::None => {}
                Effect::Wish(what) => tabs.wish(what),
                Effect::Server(number) => tabs.turn(number),
                Effect::Mouse => {
                    tabs.has_mouse = !tabs.has_mouse;
                    screen.mouse(tabs.has_mouse)?;
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

impl Tabs {
    fn take(&mut self, happening: Happening) -> Effect {
        let view = &mut self.all[self.shown].view;
        match happening {
            Happening::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                return press(view, key);
            }
            Happening::Input(Event::Mouse(mouse)) => return point(view, mouse),
            Happening::Input(Event::Resize(..)) => return Effect::Redraw,
            Happening::News(number, news) => {
                let is_there = !matches!(news, News::Lost(_));
                // A deed says nothing about the server.
                if !matches!(news, News::Done(_)) {
                    for tab in &mut self.all {
                        tab.view.servers[number].1 = is_there;
                    }
                }
                self.all[number].view.learn(news);
            }
            Happening::Recording(number, text) => self.all[number].view.recording = Some(text),
            Happening::Input(_) | Happening::NoInput | Happening::Signal(_) => {}
        }
        Effect::None
    }

    fn wish(&self, what: Wish) {
        // When who asks is gone it has told us why.
        let _ = self.all[self.shown].wish.send(what);
    }

    /// Shows another server. The one that was shown is asked for its pulse alone.
    fn turn(&mut self, number: usize) {
        if number != self.shown {
            self.wish(Wish::Show(false));
            self.shown = number;
            self.wish(Wish::Show(true));
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
