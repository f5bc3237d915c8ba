//! The thread that asks one server: an answer for each interval while its page is on the screen, and the pulse always.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::source::{News, Place, Source, Wish};
use crate::observe::QueryError;

/// How often at most a server that is not there is tried.
const RETRY: Duration = Duration::from_secs(1);

/// What is wanted of it.
struct Asker<T> {
    place: Place,
    every: Duration,
    paused: bool,
    shown: bool,
    tell: T,
}

/// Asks until nobody listens.
pub fn run(
    open: impl Fn() -> Result<Source, String>,
    first: Option<Source>,
    (place, every, shown): (Place, Duration, bool),
    wishes: &Receiver<Wish>,
    tell: impl Fn(News) -> bool,
) {
    let mut asker = Asker {
        place,
        every,
        paused: false,
        shown,
        tell,
    };
    let sampler = match first {
        Some(sampler) => sampler,
        None => loop {
            match open() {
                Ok(sampler) => break sampler,
                Err(why) => {
                    if !(asker.tell)(News::Lost(why)) || !asker.waits(wishes) {
                        return;
                    }
                }
            }
        },
    };
    asker.ask(sampler, wishes);
}

impl<T: Fn(News) -> bool> Asker<T> {
    fn ask(&mut self, mut sampler: Source, wishes: &Receiver<Wish>) {
        if !(self.tell)(News::Back(sampler.headline(), sampler.processors())) {
            return;
        }
        let mut due = Instant::now();
        loop {
            let wait = if self.paused {
                Duration::from_secs(3600)
            } else {
                due.saturating_duration_since(Instant::now())
            };
            match wishes.recv_timeout(wait) {
                Ok(Wish::Kill(kill)) => {
                    if !(self.tell)(News::Done(sampler.kill(&kill))) {
                        return;
                    }
                    // What came of it is seen at once.
                    due = Instant::now();
                    continue;
                }
                Ok(wish) => {
                    if let Wish::Step(intervals) = wish {
                        sampler.step(intervals);
                    }
                    let looks = matches!(wish, Wish::Look(_) | Wish::Show(true) | Wish::Step(_));
                    due = match wish {
                        _ if looks => Instant::now(),
                        Wish::Every(every) => due.min(Instant::now() + every),
                        _ => due,
                    };
                    self.obey(wish);
                    // One look even when paused: the page that was turned to would stay empty.
                    if !(looks && self.paused) {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.paused => continue,
                Err(RecvTimeoutError::Timeout) => sampler.advance(self.every),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let told = match self.look(&mut sampler) {
                Ok(told) => told,
                Err(why) => self.again(&mut sampler, why, wishes),
            };
            if !told {
                return;
            }
            // A slow answer delays the next question: never two at once, never one after the other without a pause.
            due = Instant::now() + sampler.pace(self.every);
        }
    }

    /// One look. False when nobody listens; an error when the server is gone.
    fn look(&self, sampler: &mut Source) -> Result<bool, String> {
        if self.shown {
            let news = match sampler.sample(&self.place) {
                Ok(answer) => News::Answer(self.place.clone(), answer),
                Err(QueryError::Refused(why)) => News::Refused(self.place.clone(), why),
                Err(QueryError::Lost(why)) => return Err(why),
            };
            if !(self.tell)(news) {
                return Ok(false);
            }
        }
        match sampler.pulse() {
            Ok(Some(beat)) => Ok((self.tell)(News::Beat(beat))),
            Ok(None) | Err(QueryError::Refused(_)) => Ok(true),
            Err(QueryError::Lost(why)) => Err(why),
        }
    }

    /// Waits for a server that is gone, and asks it once it is back. False when nobody listens.
    fn again(&mut self, sampler: &mut Source, why: String, wishes: &Receiver<Wish>) -> bool {
        let mut told = (self.tell)(News::Lost(why));
        while told && self.waits(wishes) {
            match sampler.reopen() {
                Ok(()) => {
                    let back = News::Back(sampler.headline(), sampler.processors());
                    return (self.tell)(back) && self.look(sampler).unwrap_or(true);
                }
                Err(why) => told = (self.tell)(News::Lost(why)),
            }
        }
        false
    }

    /// Lets some time go by, and takes in what is wished for meanwhile. False when nobody listens.
    fn waits(&mut self, wishes: &Receiver<Wish>) -> bool {
        let until = Instant::now() + self.every.max(RETRY);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match wishes.recv_timeout(left) {
                Ok(Wish::Kill(kill)) => {
                    let text = format!("{}: the server is not there", kill.statement());
                    if !(self.tell)(News::Done(text)) {
                        return false;
                    }
                }
                Ok(wish) => self.obey(wish),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn obey(&mut self, wish: Wish) {
        match wish {
            Wish::Look(place) => self.place = place,
            Wish::Every(every) => self.every = every,
            Wish::Pause(paused) => self.paused = paused,
            Wish::Show(shown) => self.shown = shown,
            Wish::Kill(_) | Wish::Step(_) => {}
        }
    }
}
