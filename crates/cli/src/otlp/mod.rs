//! Spans of long statements for an OpenTelemetry collector: `tare record --otlp` (docs/traces.md).
//!
//! ```text
//! recorder -> spans.rs (statements by their samples) -> queue -> sender.rs (a thread) -> collector
//!                                      encoding.rs (OTLP in JSON) /
//!                                   settings.rs (address, headers) /
//!                             retry.rs (when a request is sent again) /
//! ```

mod encoding;
mod retry;
mod sender;
mod settings;
mod spans;

use std::time::Duration;

use tare_history::{Follower, LockReading, Moment, Text};

use crate::exit::Failure;
use crate::option_values::parse_duration;
use sender::Sender;
use settings::{Destination, Header, Settings};
use spans::Statements;

/// Options of `tare record` about spans.
#[derive(clap::Args, Clone, Debug)]
pub struct OtlpOptions {
    /// Send a span for each long statement to this OpenTelemetry collector, with OTLP over HTTP in JSON, such as
    /// http://127.0.0.1:4318 or https://HOST. Without a path it is /v1/traces. `env`: the address that
    /// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT has (docs/traces.md)
    #[arg(long, value_name = "URL", help_heading = "Traces")]
    otlp: Option<Destination>,

    /// Send this header, too; may be repeated. Other users see options: put a secret into the variable
    /// OTEL_EXPORTER_OTLP_HEADERS
    #[arg(
        long = "otlp-header",
        value_name = "NAME: VALUE",
        requires = "otlp",
        help_heading = "Traces"
    )]
    headers: Vec<Header>,

    /// The least time of a statement that becomes a span: 0.2s, 1s
    #[arg(
        long, value_name = "TIME", value_parser = parse_duration, default_value = "1s", help_heading = "Traces"
    )]
    otlp_threshold: Duration,
}

impl OtlpOptions {
    /// The exporter, if a collector is given. The error says which option or variable cannot be used.
    pub fn exporter(&self, server: &str, host: &str) -> Result<Option<SpanExporter>, Failure> {
        let Some(destination) = &self.otlp else {
            return Ok(None);
        };
        let variable = |name: &str| std::env::var(name).ok();
        let settings = Settings::new(destination, &self.headers, &variable)
            .map_err(|why| Failure::new(2, why))?;
        Ok(Some(SpanExporter {
            statements: Statements::new(self.otlp_threshold),
            sender: Sender::start(settings, encoding::resource(server, host)),
        }))
    }
}

/// Follows a recorder, and sends spans. The recorder never waits for the collector.
pub struct SpanExporter {
    statements: Statements,
    sender: Sender,
}

impl Follower for SpanExporter {
    fn follow(&mut self, moment: &Moment) -> Vec<String> {
        let sender = &self.sender;
        self.statements
            .follow(moment, &mut |span| sender.send(span));
        self.sender.take_problem().into_iter().collect()
    }

    fn follow_locks(&mut self, locks: &LockReading) {
        self.statements.follow_locks(&locks.blocks);
    }

    fn follow_texts(&mut self, texts: &[Text]) {
        self.statements.follow_texts(texts);
    }
}

impl SpanExporter {
    /// Ends the statements that run, because the recorder cannot follow them any longer.
    pub fn end_statements(&mut self) {
        let sender = &self.sender;
        self.statements.end_all(&mut |span| sender.send(span));
    }

    /// Sends the last spans, for two seconds at most. Returns a sentence if spans were lost.
    pub fn finish(mut self) -> Option<String> {
        self.end_statements();
        self.sender.finish()
    }
}
