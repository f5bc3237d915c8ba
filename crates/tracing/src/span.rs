//! What the layer stores for a span.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tare::task::stage::Stage;
use tare::task::statement::Statement;
use tare::task::{SessionPool, SharedSession};

use crate::fields::Attributes;

/// A span that is recorded.
#[derive(Debug)]
pub enum Span {
    Session(Arc<SharedSession>),
    Statement(Arc<Request>),
    /// Its statement, and the stage.
    Stage(Arc<Request>, Stage),
}

/// A statement, and the session in which it runs. It is large, so that it begins and ends in its place.
#[derive(Debug)]
pub struct Request {
    session: Option<Arc<SharedSession>>,
    /// `None`: it has ended.
    statement: Option<Statement>,
    /// The name of its span.
    name: &'static str,
    has_digest: AtomicBool,
    /// The session belongs to a pool.
    is_pooled: bool,
    /// The session has got the statement's account.
    has_account: AtomicBool,
}

/// Calls `work` in the session, if there is one. Passes whether it is in it.
#[inline]
pub fn run_in<T>(session: Option<&Arc<SharedSession>>, work: impl FnOnce(bool) -> T) -> T {
    match session {
        Some(session) => session.run(work),
        None => work(false),
    }
}

impl Request {
    /// A request whose statement `begin` begins in the session. Its span is entered later.
    pub fn begin(
        session: Option<Arc<SharedSession>>,
        name: &'static str,
        is_pooled: bool,
        begin: impl FnOnce() -> Statement,
    ) -> Arc<Self> {
        let mut request = Arc::new(Self {
            session,
            statement: None,
            name,
            has_digest: AtomicBool::new(false),
            is_pooled,
            has_account: AtomicBool::new(false),
        });
        if let Some(Self {
            session, statement, ..
        }) = Arc::get_mut(&mut request)
        {
            run_in(session.as_ref(), |_| statement.insert(begin()).suspend());
        }
        request
    }

    /// What begins next in the session is nested in it.
    pub fn resume(&self) {
        self.statement
            .as_ref()
            .inspect(|statement| statement.resume());
    }

    pub fn session(&self) -> Option<&Arc<SharedSession>> {
        self.session.as_ref()
    }

    /// It failed.
    pub fn fail(&self, errno: u32, message: &str) {
        let Some(statement) = &self.statement else {
            return;
        };
        run_in(self.session(), |_| statement.error(errno, "HY000", message));
    }

    /// Sets what the fields of its span say.
    pub fn apply(&self, attributes: &Attributes) {
        if !attributes.is_empty() {
            run_in(self.session(), |is_inside| self.set(attributes, is_inside));
        }
    }

    fn set(&self, attributes: &Attributes, is_inside: bool) {
        let Some(statement) = &self.statement else {
            return;
        };
        if let Some(database) = &attributes.database {
            statement.schema(database);
        }
        // A session of a connection has the connection's account.
        if let Some((user, client)) = attributes.account()
            && self.is_pooled
            && is_inside
        {
            tare::thread::set_account(user, client);
            self.has_account.store(true, Ordering::Relaxed);
        }
        let has_digest = self.has_digest.load(Ordering::Relaxed);
        match (attributes.shape.as_deref(), attributes.text.as_deref()) {
            (None, None) => return,
            (None, Some(text)) if !has_digest => statement.text(text),
            (shape, text) => {
                if let Some(shape) = shape {
                    statement.digest_by_shape(shape, text.unwrap_or(shape));
                }
                if let Some(text) = text {
                    statement.text_only(text);
                }
            }
        }
        self.has_digest.store(true, Ordering::Relaxed);
    }

    /// Ends it, unless a stage still refers to it. Of two that end at the same time, one gets it.
    fn end(mut self: Arc<Self>, pool: &SessionPool) {
        if Arc::strong_count(&self) == 1
            && let Some(request) = Arc::get_mut(&mut self)
        {
            request.end_last(pool);
        } else if let Some(mut request) = Arc::into_inner(self) {
            request.end_last(pool);
        }
    }

    /// Ends it, which nobody else refers to.
    fn end_last(&mut self, pool: &SessionPool) {
        let (name, statement) = (self.name, &mut self.statement);
        let (has_digest, has_account) = (self.has_digest.get_mut(), self.has_account.get_mut());
        run_in(self.session.as_ref(), |is_inside| {
            if !*has_digest && let Some(statement) = statement {
                statement.digest_by_shape(name, name);
            }
            *statement = None;
            if *has_account && is_inside {
                tare::thread::set_account("", "");
            }
        });
        if self.is_pooled
            && let Some(session) = self.session.take()
        {
            pool.give(session);
        }
    }
}

impl Span {
    /// The session, if there is one.
    pub fn session(&self) -> Option<&Arc<SharedSession>> {
        match self {
            Self::Session(session) => Some(session),
            Self::Statement(request) | Self::Stage(request, _) => request.session.as_ref(),
        }
    }

    /// The statement of which it is a part.
    pub fn request(&self) -> Option<&Arc<Request>> {
        match self {
            Self::Session(_) => None,
            Self::Statement(request) | Self::Stage(request, _) => Some(request),
        }
    }

    /// Work on it continues on the calling thread. True: the thread has entered the session.
    pub fn enter(&self) -> bool {
        let is_entered = self.session().is_some_and(SharedSession::enter);
        if let Some(request) = self.request() {
            request.resume();
        }
        is_entered
    }

    /// Work on it pauses. True: the calling thread has left the session once.
    pub fn leave(&self) -> bool {
        if let Self::Statement(request) = self
            && let Some(statement) = &request.statement
        {
            statement.suspend();
        }
        self.session().is_some_and(|session| session.leave())
    }

    /// Ends what it has begun.
    pub fn end(self, pool: &SessionPool) {
        match self {
            Self::Session(_) => {}
            Self::Statement(request) => request.end(pool),
            Self::Stage(request, stage) => {
                run_in(request.session(), |_| drop(stage));
                request.end(pool);
            }
        }
    }
}
