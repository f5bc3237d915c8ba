//! The stages of a request.

use std::sync::OnceLock;

use engine::{Class, Kind, idle, stage};

use crate::names::create_class;
use crate::turn;

/// The classes of stages.
struct Stages {
    reading: &'static Class,
    processing: &'static Class,
    upstream: &'static Class,
    sending: &'static Class,
}

static STAGES: OnceLock<Stages> = OnceLock::new();

/// Creates and registers the stages of a program's requests.
pub fn create(program: &str) {
    let class = |name: &str, documentation| {
        create_class(
            Kind::Stage,
            format!("stage/{program}/{name}"),
            documentation,
        )
    };
    let stages = STAGES.get_or_init(|| Stages {
        reading: class("reading", "A request's headers are read."),
        processing: class("processing", "A request is processed."),
        upstream: class("upstream", "A request is passed on to an upstream server."),
        sending: class("sending", "A response is sent."),
    });
    for class in [
        stages.reading,
        stages.processing,
        stages.upstream,
        stages.sending,
    ] {
        class.register();
    }
    turn::set_stage(stages.reading);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// None is recorded.
    #[default]
    None,
    Reading,
    Processing,
    Upstream,
    Sending,
}

/// The stage in which a connection's first request is. All functions are called in the client's session.
#[derive(Debug, Default)]
pub struct Progress {
    stage: Stage,
    /// When the call began that writes to the client now, 0 = unknown.
    writing: u64,
}

impl Progress {
    /// A request's statement has begun. It arrived at `since`.
    pub fn begin(&mut self, since: u64) {
        *self = Self::default();
        if turn::has_stages()
            && let Some(stages) = STAGES.get()
            && stage::is_timed(stages.reading)
        {
            stage::set_at(stages.reading, since);
            self.stage = Stage::Reading;
        }
    }

    /// Its headers were read.
    pub fn end_reading(&mut self) {
        if self.stage == Stage::Reading {
            self.enter(Stage::Processing, idle::now());
        }
    }

    /// The server passes it on.
    pub fn begin_upstream(&mut self) {
        if self.stage == Stage::Processing {
            self.enter(Stage::Upstream, idle::now());
        }
    }

    /// Whether the server may pass it on, so that the stage changes.
    pub fn may_pass_on(&self) -> bool {
        matches!(self.stage, Stage::Processing | Stage::Upstream)
    }

    /// The server is about to write to the client. Reads the clock only if stages are recorded.
    pub fn begin_write(&mut self) {
        if !matches!(self.stage, Stage::None | Stage::Sending) {
            self.writing = idle::now();
        }
    }

    /// The headers of the response were written.
    pub fn begin_sending(&mut self) {
        if !matches!(self.stage, Stage::None | Stage::Sending) {
            let since = match self.writing {
                0 => idle::now(),
                since => since,
            };
            self.enter(Stage::Sending, since);
        }
    }

    fn enter(&mut self, next: Stage, since: u64) {
        self.stage = next;
        let Some(stages) = STAGES.get() else { return };
        let class = match next {
            Stage::None => return,
            Stage::Reading => stages.reading,
            Stage::Processing => stages.processing,
            Stage::Upstream => stages.upstream,
            Stage::Sending => stages.sending,
        };
        stage::set_at(class, since);
    }
}
