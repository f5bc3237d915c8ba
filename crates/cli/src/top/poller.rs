//! The thread that polls one server: each interval its load, and its page while that is on the screen.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::source::{Place, Request, Source, Update};
use crate::observe::QueryError;

/// The shortest pause between attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The state of the thread.
struct Poller<T> {
    place: Place,
    every: Duration,
    paused: bool,
    is_visible: bool,
    send: T,
}

/// Polls until the screen is gone.
pub fn run(
    open: impl Fn() -> Result<Source, String>,
    first: Option<Source>,
    (place, every, is_visible): (Place, Duration, bool),
    requests: &Receiver<Request>,
    send: impl Fn(Update) -> bool,
) {
    let mut poller = Poller {
        place,
        every,
        paused: false,
        is_visible,
        send,
    };
    let sampler = match first {
        Some(sampler) => sampler,
        None => loop {
            match open() {
                Ok(sampler) => break sampler,
                Err(why) => {
                    if !(poller.send)(Update::Lost(why)) || !poller.wait(requests) {
                        return;
                    }
                }
            }
        },
    };
    poller.run(sampler, requests);
}

impl<T: Fn(Update) -> bool> Poller<T> {
    fn run(&mut self, mut sampler: Source, requests: &Receiver<Request>) {
        if !(self.send)(Update::Back(sampler.headline(), sampler.processors())) {
            return;
        }
        let mut due = Instant::now();
        loop {
            let wait = if self.paused {
                Duration::from_secs(3600)
            } else {
                due.saturating_duration_since(Instant::now())
            };
            match requests.recv_timeout(wait) {
                Ok(Request::Kill(kill)) => {
                    if !(self.send)(Update::Done(sampler.kill(&kill))) {
                        return;
                    }
                    // Its effect becomes visible at once.
                    due = Instant::now();
                    continue;
                }
                Ok(Request::Plan(statement)) => {
                    if !(self.send)(Update::Plan(sampler.plan(&statement))) {
                        return;
                    }
                    continue;
                }
                Ok(request) => {
                    if let Request::Step(intervals) = request {
                        sampler.step(intervals);
                    }
                    let polls_now = matches!(
                        request,
                        Request::Open(_) | Request::Visible(true) | Request::Step(_)
                    );
                    due = match request {
                        _ if polls_now => Instant::now(),
                        Request::Every(every) => due.min(Instant::now() + every),
                        _ => due,
                    };
                    self.handle(request);
                    // Even while paused a newly opened page is polled once; otherwise it would stay empty.
                    if !(polls_now && self.paused) {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.paused => continue,
                Err(RecvTimeoutError::Timeout) => sampler.advance(self.every),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let is_open = match self.poll(&mut sampler) {
                Ok(is_open) => is_open,
                Err(why) => self.wait_for_server(&mut sampler, why, requests),
            };
            if !is_open {
                return;
            }
            // A slow answer delays the next query, so that there is always a pause between two.
            due = Instant::now() + sampler.pace(self.every);
        }
    }

    /// Polls once. False if the screen is gone; an error if the server is gone.
    fn poll(&self, sampler: &mut Source) -> Result<bool, String> {
        if self.is_visible {
            let update = match sampler.sample(&self.place) {
                Ok(answer) => Update::Answer(self.place.clone(), answer),
                Err(QueryError::Refused(why)) => Update::Refused(self.place.clone(), why),
                Err(QueryError::Lost(why)) => return Err(why),
            };
            if !(self.send)(update) {
                return Ok(false);
            }
        }
        match sampler.load() {
            Ok(Some(load)) => Ok((self.send)(Update::Load(load))),
            Ok(None) | Err(QueryError::Refused(_)) => Ok(true),
            Err(QueryError::Lost(why)) => Err(why),
        }
    }

    /// Waits for a lost server, and polls it once it is back. False if the screen is gone.
    fn wait_for_server(
        &mut self,
        sampler: &mut Source,
        why: String,
        requests: &Receiver<Request>,
    ) -> bool {
        let mut is_open = (self.send)(Update::Lost(why));
        while is_open && self.wait(requests) {
            match sampler.reopen() {
                Ok(()) => {
                    let back = Update::Back(sampler.headline(), sampler.processors());
                    return (self.send)(back) && self.poll(sampler).unwrap_or(true);
                }
                Err(why) => is_open = (self.send)(Update::Lost(why)),
            }
        }
        false
    }

    /// Waits for the retry pause and handles requests during it. False if the screen is gone.
    fn wait(&mut self, requests: &Receiver<Request>) -> bool {
        let until = Instant::now() + self.every.max(RETRY_PAUSE);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match requests.recv_timeout(left) {
                Ok(Request::Kill(kill)) => {
                    let text = format!("{}: the server is not there", kill.statement());
                    if !(self.send)(Update::Done(text)) {
                        return false;
                    }
                }
                Ok(Request::Plan(statement)) => {
                    let plan = statement.without_plan("the server is not there");
                    if !(self.send)(Update::Plan(plan)) {
                        return false;
                    }
                }
                Ok(request) => self.handle(request),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn handle(&mut self, request: Request) {
        match request {
            Request::Open(place) => self.place = place,
            Request::Every(every) => self.every = every,
            Request::Pause(paused) => self.paused = paused,
            Request::Visible(is_visible) => self.is_visible = is_visible,
            Request::Kill(_) | Request::Plan(_) | Request::Step(_) => {}
        }
    }
}
