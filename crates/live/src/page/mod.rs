//! The live page. `docs/live.md` describes it.

mod answers;
mod class;
mod site;
mod timeline;
mod watch;

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use tare_history::{Past, Record};

use crate::target::Open;
use crate::web::Web;
use site::Page;
use watch::{PageData, Shared, Watch, lock};

/// The live page.
pub struct Live {
    shared: Shared,
}

impl Live {
    /// A page without samples.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Mutex::new(PageData::default())),
        }
    }

    /// Adds the records of a history. Returns the number of samples.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn past(&self, past: &Past) -> Result<u64, tare_history::Error> {
        let mut rows = 0;
        past.read(&mut |record| {
            let mut all = lock(&self.shared);
            match record {
                Record::Moment { at, seconds } => all.timeline.add_moment(at, seconds),
                Record::Sample {
                    at,
                    seconds,
                    sample,
                } => {
                    rows += 1;
                    all.timeline.add_sample(at, seconds, &sample);
                }
                Record::Text { digest, text } => {
                    all.texts.insert(digest, text);
                }
            }
        })?;
        Ok(rows)
    }

    /// Starts to listen, and to sample the target at this rate per second, if there is one. Returns the
    /// address with the token.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn start(self, address: SocketAddr, target: Option<(Open, f64)>) -> io::Result<String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut requests = None;
        let mut watch = None;
        if let Some((open, rate)) = target {
            let (sender, receiver) = channel();
            requests = Some(sender);
            watch = Some((Arc::clone(&self.shared), open, rate, receiver));
        }
        let mark = token[..8].to_owned();
        let page = Page::new(self.shared, token.clone(), requests, &mark);
        let web = Web::start(address, Arc::new(page))?;
        if let Some((shared, open, rate, receiver)) = watch {
            thread::Builder::new()
                .name("tare_watch".into())
                .spawn(move || Watch::new(shared, open, rate).run(&receiver))?;
        }
        Ok(format!("http://{}/?token={token}", web.address()))
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new()
    }
}
