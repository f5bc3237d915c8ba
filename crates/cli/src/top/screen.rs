//! The live screen: handles keys, the mouse, signals and answers, and draws the view.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::raise;

use super::changes::{Changes, ChangesReader, ComparedHistory};
use super::keys::{Effect, press};
use super::mouse;
use super::source::{Place, Request, Source, Update};
use super::terminal::{Screen, restore};
use super::theme::Theme;
use super::view::View;
use super::window_key::WindowKey;
use super::{draw, poller, sheet::Sheet};
use crate::exit::{FAILED, Failure};
use crate::sql::Target;

/// How often the screen is drawn without an input. Only cells that changed are sent to the terminal.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

/// An input of the screen.
#[derive(Debug)]
enum Message {
    /// A key, the mouse, or another size.
    Input(Event),
    /// The terminal is gone.
    NoInput,
    /// A signal.
    Signal(i32),
    /// An update from a server's thread.
    Update(usize, Update),
    /// A message about the recording of a server.
    Recording(usize, String),
    /// What changed of a statement of a server.
    Changes(usize, Changes),
}

/// Why the screen ends.
enum End {
    Quit,
    Signal(i32),
}

/// Receives messages about a recording.
pub type Reporter = Box<dyn Fn(String) + Send>;

/// A server to watch.
pub struct Server {
    /// The text of its tab.
    pub name: String,
    /// What is watched; `None` for a history.
    pub target: Option<Target>,
    /// Connects to it.
    pub open: Box<dyn Fn() -> Result<Source, String> + Send>,
    /// The connection, if there is one already.
    pub sampler: Option<Source>,
    /// Starts the recording.
    pub record: Option<Box<dyn FnOnce(Reporter)>>,
    /// A history of it.
    pub history: Option<ComparedHistory>,
}

/// A server's view, and the channel to its thread.
struct Tab {
    view: View,
    requests: Sender<Request>,
    window: WindowKey,
    changes: ChangesReader,
}

/// All servers, one of them on the screen.
struct Tabs {
    all: Vec<Tab>,
    current: usize,
    has_mouse: bool,
    /// Messages to the screen.
    sender: Sender<Message>,
}

/// Runs the screen until the user quits, or until a signal, which is returned.
pub fn run(
    servers: Vec<Server>,
    page: &'static Sheet,
    every: Duration,
    theme: Theme,
) -> Result<Option<i32>, Failure> {
    let broken = |error: io::Error| {
        Failure::new(
            FAILED,
            format!("cannot use the terminal: {error}; --batch N prints without one"),
        )
    };
    let (sender, messages) = channel();
    listen_to_signals(sender.clone()).map_err(broken)?;
    let mut screen = Screen::enter().map_err(broken)?;
    listen_to_keys(sender.clone());
    let names: Vec<(String, bool)> = (servers.iter())
        .map(|server| (server.name.clone(), true))
        .collect();
    let mut all = Vec::new();
    for (number, server) in servers.into_iter().enumerate() {
        let headline = match &server.sampler {
            Some(sampler) => sampler.headline(),
            None => server.name.clone(),
        };
        let mut view = View::new(headline, page, every, theme);
        view.servers.clone_from(&names);
        view.server = number;
        let (request_sender, requests) = channel();
        let update = sender.clone();
        let start = (Place::page(page), every, number == 0);
        thread::spawn(move || {
            poller::run(server.open, server.sampler, start, &requests, |what| {
                update.send(Message::Update(number, what)).is_ok()
            });
        });
        if let Some(record) = server.record {
            let update = sender.clone();
            record(Box::new(move |text| {
                // The screen may be gone.
                let _ = update.send(Message::Recording(number, text));
            }));
        }
        all.push(Tab {
            view,
            requests: request_sender,
            window: WindowKey::new(server.target),
            changes: ChangesReader::new(server.history),
        });
    }
    let tabs = Tabs {
        all,
        current: 0,
        has_mouse: true,
        sender,
    };
    let end = run_loop(&mut screen, tabs, &messages).map_err(broken);
    drop(screen);
    match end? {
        End::Quit => Ok(None),
        End::Signal(signal) => Ok(Some(signal)),
    }
}

fn run_loop(screen: &mut Screen, mut tabs: Tabs, messages: &Receiver<Message>) -> io::Result<End> {
    loop {
        for tab in &mut tabs.all {
            tab.window.end_overdue();
        }
        tabs.follow_changes();
        let view = &mut tabs.all[tabs.current].view;
        screen.terminal().draw(|frame| draw::draw(view, frame))?;
        let first = match messages.recv_timeout(CLOCK_INTERVAL) {
            Ok(first) => first,
            // The clock of a server that does not answer.
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(End::Quit),
        };
        // Handle all messages that have arrived, and then draw once, so that keys do not queue up on a
        // slow line.
        for message in std::iter::once(first).chain(messages.try_iter().take(100)) {
            let effect = match message {
                Message::NoInput => return Ok(End::Quit),
                Message::Signal(SIGCONT) => {
                    screen.resume(tabs.has_mouse)?;
                    Effect::None
                }
                Message::Signal(SIGTSTP) => Effect::Suspend,
                Message::Signal(signal) => return Ok(End::Signal(signal)),
                other => tabs.handle(other),
            };
            match effect {
                Effect::None => {}
                Effect::Request(what) => tabs.send(what),
                Effect::ExactWindow => tabs.toggle_window(),
                Effect::Server(number) => tabs.turn(number),
                Effect::Mouse => {
                    tabs.has_mouse = !tabs.has_mouse;
                    screen.set_mouse(tabs.has_mouse)?;
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
    fn handle(&mut self, message: Message) -> Effect {
        let view = &mut self.all[self.current].view;
        match message {
            Message::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                return press(view, key);
            }
            Message::Input(Event::Mouse(mouse)) => return mouse::handle(view, mouse),
            Message::Input(Event::Resize(..)) => return Effect::Redraw,
            Message::Update(number, update) => {
                let is_there = !matches!(update, Update::Lost(_));
                // The outcome of a KILL does not depend on the connection.
                if !matches!(update, Update::Done(_)) {
                    for tab in &mut self.all {
                        tab.view.servers[number].1 = is_there;
                    }
                }
                self.all[number].view.apply(update);
            }
            Message::Changes(number, changes) => self.all[number].changes.apply(changes),
            Message::Recording(number, text) => self.all[number].view.recording = Some(text),
            Message::Input(_) | Message::NoInput | Message::Signal(_) => {}
        }
        Effect::None
    }

    /// Reads what changed of the statement on the screen.
    fn follow_changes(&mut self) {
        let (number, sender) = (self.current, self.sender.clone());
        let tab = &mut self.all[number];
        tab.changes.follow(&mut tab.view, move |changes| {
            // The screen may be gone.
            let _ = sender.send(Message::Changes(number, changes));
        });
    }

    fn send(&self, what: Request) {
        // The thread may have ended.
        let _ = self.all[self.current].requests.send(what);
    }

    /// Opens an exact window of the current server, or ends it.
    fn toggle_window(&mut self) {
        let tab = &mut self.all[self.current];
        tab.view.notice = Some(tab.window.toggle());
    }

    /// Switches to another server. Of the others only the load is polled.
    fn turn(&mut self, number: usize) {
        if number != self.current {
            self.send(Request::Visible(false));
            self.current = number;
            self.all[number].view.reset_clock();
            self.send(Request::Visible(true));
        }
    }
}

fn listen_to_signals(sender: Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Message::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn listen_to_keys(sender: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let (what, end) = match event::read() {
                Ok(event) => (Message::Input(event), false),
                Err(_) => (Message::NoInput, true),
            };
            if sender.send(what).is_err() || end {
                return;
            }
        }
    });
}
