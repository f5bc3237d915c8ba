//! The layer.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tare::Kind;
use tare::task::{SessionPool, SharedSession};
use tracing_core::span::{Attributes as NewSpan, Id, Record};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::classes::Classes;
use crate::fields::{Attribute, Attributes, EventFields, SpanFields};
use crate::site::{Role, Site, Sites};
use crate::span::{Request, Span, run_in};

/// The error number of an event that has none: MySQL's ER_UNKNOWN_ERROR.
const UNKNOWN_ERROR: u32 = 1105;

thread_local! {
    /// How often the thread has entered a session for a span.
    static ENTERED: Cell<u32> = const { Cell::new(0) };
    /// The thread reads fields, whose own code may begin spans and events.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// A layer that records spans as sessions, statements and stages: see the [crate](crate).
#[derive(Debug)]
pub struct TareLayer {
    options: Options,
    classes: Classes,
    sites: Sites,
    /// The sessions of statements that belong to no connection.
    pool: SessionPool,
    /// A span was recorded.
    has_recorded: AtomicBool,
}

/// What the user of a layer says.
#[derive(Clone, Debug)]
struct Options {
    sessions: Vec<String>,
    statements: Vec<String>,
    fields: Vec<(String, Attribute)>,
    level: Level,
    has_modules: bool,
    prefix: String,
    max_classes: usize,
    max_sessions: usize,
}

/// A layer with the default settings: spans of level INFO and above; each span that is inside of no other is
/// a statement.
pub fn layer() -> TareLayer {
    TareLayer::with(Options {
        sessions: Vec::new(),
        statements: Vec::new(),
        fields: Vec::new(),
        level: Level::INFO,
        has_modules: false,
        prefix: "tracing".into(),
        max_classes: 256,
        max_sessions: 10_000,
    })
}

impl TareLayer {
    fn with(options: Options) -> Self {
        tare::error::define(UNKNOWN_ERROR, "ER_UNKNOWN_ERROR", "HY000");
        let classes = Classes::new(&options.prefix, options.max_classes);
        let request = classes.find(Kind::Thread, "request");
        Self {
            sites: Sites::new(),
            pool: SessionPool::new(request, options.max_sessions),
            has_recorded: AtomicBool::new(false),
            classes,
            options,
        }
    }

    fn change(self, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = self.options;
        change(&mut options);
        Self::with(options)
    }

    /// Spans with this name are sessions: those of connections, or of workers. Call it again for another
    /// name.
    pub fn sessions(self, name: &str) -> Self {
        self.change(|options| options.sessions.push(name.into()))
    }

    /// Spans with this name are statements, also inside of others. Call it again for another name.
    pub fn statements(self, name: &str) -> Self {
        self.change(|options| options.statements.push(name.into()))
    }

    /// The field with this name says this. Call it again for another field.
    pub fn field(self, name: &str, attribute: Attribute) -> Self {
        self.change(|options| options.fields.push((name.into(), attribute)))
    }

    /// Ignores spans of lower levels than this. They remain enabled: a filter of tracing-subscriber
    /// (`layer().with_filter(LevelFilter::INFO)`) spares the program their cost, too.
    pub fn level(self, level: Level) -> Self {
        self.change(|options| options.level = level)
    }

    /// Puts the last part of a span's target in front of its name, as in `get::apply` for the target
    /// `server::cmd::get`: for programs whose `#[instrument]` gives spans of several modules the same name. The
    /// names of [`sessions`](Self::sessions) and [`statements`](Self::statements) remain those of spans.
    pub fn modules(self) -> Self {
        self.change(|options| options.has_modules = true)
    }

    /// The part of the names of classes behind their kind, instead of `tracing`: `statement/tracing/get` is
    /// the class of statements of spans with the name `get`.
    pub fn prefix(self, prefix: &str) -> Self {
        self.change(|options| options.prefix = prefix.into())
    }

    /// How many names of spans have classes of their own, instead of 256. Others count as
    /// `statement/tracing/other` and `stage/tracing/other`.
    pub fn max_classes(self, limit: usize) -> Self {
        self.change(|options| options.max_classes = limit)
    }

    /// How many statements without a connection have sessions at the same time, instead of 10,000. Others are
    /// counted, and are no events. [`Limits::threads`](tare::Limits) should be larger.
    pub fn max_sessions(self, limit: usize) -> Self {
        self.change(|options| options.max_sessions = limit)
    }

    #[inline]
    fn site(&self, metadata: &'static Metadata<'static>) -> &Site {
        self.sites.find(metadata, || {
            let has = |names: &[String]| names.iter().any(|name| name == metadata.name());
            let role = match metadata.name() {
                _ if has(&self.options.sessions) => Role::Session,
                _ if has(&self.options.statements) => Role::Statement,
                _ if *metadata.level() > self.options.level => Role::Ignored,
                _ => Role::Step,
            };
            let meaning = |field: tracing_core::Field| {
                let mut own = self.options.fields.iter().rev();
                own.find(|(name, _)| name == field.name())
                    .map(|(_, attribute)| *attribute)
                    .or_else(|| Attribute::of_name(field.name()))
            };
            let name = match metadata.target().rsplit("::").next() {
                // As long as the layer: there is one for each span in the source.
                Some(module) if self.options.has_modules => {
                    String::leak(format!("{module}::{}", metadata.name()))
                }
                _ => metadata.name(),
            };
            Site::new(role, name, metadata.fields().iter().map(meaning).collect())
        })
    }

    /// A session for a connection.
    fn connection(&self, site: &Site, attributes: Option<&Attributes>) -> Arc<SharedSession> {
        let session = SharedSession::of_client(site.session(&self.classes));
        if let Some(attributes) = attributes {
            set_session(&session, attributes);
        }
        session
    }

    /// Begins what a span becomes, inside of another recorded span or of none.
    fn begin(&self, site: &Site, outer: Option<Outer>, attributes: Option<&Attributes>) -> Span {
        if site.role == Role::Session {
            return Span::Session(self.connection(site, attributes));
        }
        let (session, outer) = match outer {
            Some(Outer::Request(request)) if site.role == Role::Step => {
                let stage = run_in(request.session(), |_| {
                    request.resume();
                    tare::task::stage::start(site.stage(&self.classes))
                });
                return Span::Stage(request, stage);
            }
            Some(Outer::Request(request)) => (request.session().cloned(), Some(request)),
            Some(Outer::Session(session)) => (Some(session), None),
            None => (None, None),
        };
        let is_pooled = session.is_none();
        let session = session.or_else(|| self.pool.take());
        let request = Request::begin(session, site.name, is_pooled, || {
            if let Some(outer) = &outer {
                outer.resume();
            }
            tare::task::statement::start(site.statement(&self.classes))
        });
        if let Some(attributes) = attributes {
            request.apply(attributes);
        }
        Span::Statement(request)
    }
}

/// The session, or the statement, inside of which a span begins.
enum Outer {
    Session(Arc<SharedSession>),
    Request(Arc<Request>),
}

/// What `read` returns for the nearest span that is recorded: this one, or one around it.
fn nearest<'a, S: LookupSpan<'a>, T>(
    mut next: Option<SpanRef<'a, S>>,
    read: impl FnOnce(&Span) -> T,
) -> Option<T> {
    while let Some(span) = next {
        if let Some(recorded) = span.extensions().get::<Span>() {
            return Some(read(recorded));
        }
        next = span.parent();
    }
    None
}

/// The nearest span around this one that is recorded.
fn outer<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<Outer> {
    nearest(span.parent(), |span| match span {
        Span::Session(session) => Outer::Session(Arc::clone(session)),
        Span::Statement(request) | Span::Stage(request, _) => Outer::Request(Arc::clone(request)),
    })
}

/// Gives a session what the fields of its span say.
fn set_session(session: &Arc<SharedSession>, attributes: &Attributes) {
    let has_none = attributes.account().is_none() && attributes.database.is_none();
    session.run(|is_inside| {
        if has_none || !is_inside {
            return;
        }
        if let Some((user, client)) = attributes.account() {
            tare::thread::set_account(user, client);
        }
        if let Some(database) = &attributes.database {
            tare::thread::set_db(database);
        }
    });
}

/// Whether the calling thread reads fields now: then what their code begins is not recorded.
fn is_reading() -> bool {
    IS_READING.try_with(Cell::get).unwrap_or(true)
}

/// Calls `read`, which calls code of the program's fields.
fn read<T>(read: impl FnOnce() -> T) -> T {
    struct Reading;
    impl Drop for Reading {
        fn drop(&mut self) {
            let _ = IS_READING.try_with(|is_reading| is_reading.set(false));
        }
    }
    let _ = IS_READING.try_with(|is_reading| is_reading.set(true));
    let _reading = Reading;
    read()
}

impl Site {
    /// The attributes that `record` passes to a visitor.
    fn attributes(&self, record: impl FnOnce(&mut SpanFields<'_>)) -> Attributes {
        let mut fields = SpanFields {
            meanings: &self.meanings,
            attributes: Attributes::default(),
        };
        read(|| record(&mut fields));
        fields.attributes
    }
}

impl<S> Layer<S> for TareLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, new: &NewSpan<'_>, id: &Id, context: Context<'_, S>) {
        if !tare::is_running() || is_reading() {
            return;
        }
        let site = self.site(new.metadata());
        if site.role == Role::Ignored {
            return;
        }
        let Some(span) = context.span(id) else { return };
        // No lock is held while the fields' own code runs.
        let has_meaning = !site.meanings.is_empty();
        let attributes = has_meaning.then(|| site.attributes(|fields| new.record(fields)));
        let mut extensions = span.extensions_mut();
        // A second layer of this crate does not record the span again.
        if extensions.get_mut::<Span>().is_some() {
            return;
        }
        extensions.insert(self.begin(site, outer(&span), attributes.as_ref()));
        drop(extensions);
        if !self.has_recorded.load(Ordering::Relaxed) {
            self.has_recorded.store(true, Ordering::Relaxed);
        }
        // The thread works on for the span that it is in.
        if new.parent().is_some() {
            nearest(context.lookup_current(), |span| {
                span.request().map(|request| request.resume())
            });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if !tare::is_running() || is_reading() {
            return;
        }
        let Some(span) = context.span(id) else { return };
        let site = self.site(span.metadata());
        if site.meanings.is_empty() {
            return;
        }
        let attributes = site.attributes(|fields| values.record(fields));
        match span.extensions().get::<Span>() {
            Some(Span::Session(session)) => set_session(session, &attributes),
            Some(Span::Statement(request)) => request.apply(&attributes),
            Some(Span::Stage(..)) | None => {}
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if *event.metadata().level() != Level::ERROR || !tare::is_running() || is_reading() {
            return;
        }
        if nearest(context.event_span(event), |_| ()).is_none() {
            return;
        }
        // No lock is held while the fields' own code runs.
        let mut fields = EventFields::default();
        read(|| event.record(&mut fields));
        let errno = fields.errno().unwrap_or(UNKNOWN_ERROR);
        nearest(context.event_span(event), |span| match span.request() {
            Some(request) => request.fail(errno, &fields.text()),
            // An error of a connection outside of its statements.
            None => tare::error::raised(errno),
        });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if !tare::is_running() {
            return;
        }
        if let Some(span) = context.span(id)
            && let Some(span) = span.extensions().get::<Span>()
            && span.enter()
        {
            let _ = ENTERED.try_with(|entered| entered.set(entered.get() + 1));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        // Also after Tare was stopped.
        if ENTERED.try_with(Cell::get).unwrap_or(0) == 0 {
            return;
        }
        if let Some(span) = context.span(id)
            && let Some(span) = span.extensions().get::<Span>()
            && span.leave()
        {
            let _ = ENTERED.try_with(|entered| entered.set(entered.get().saturating_sub(1)));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if !self.has_recorded.load(Ordering::Relaxed) {
            return;
        }
        let span = context.span(&id);
        let recorded = span.and_then(|span| span.extensions_mut().remove::<Span>());
        if let Some(recorded) = recorded {
            recorded.end(&self.pool);
        }
    }
}
