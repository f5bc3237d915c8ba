//! Connections: a session for each, which the requests that come through it find in their extensions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http::Request;
use pin_project_lite::pin_project;
use tare::task::{SessionPool, SharedSession};
use tower_service::Service;

tare::classes! {
    /// A client's connection.
    static CONNECTION: Thread = "thread/http/connection", user;
}

/// The session of a connection.
#[derive(Clone, Debug)]
pub struct Peer(Arc<PeerState>);

#[derive(Debug)]
struct PeerState {
    session: Arc<SharedSession>,
    has_host: AtomicBool,
}

impl Peer {
    fn new() -> Self {
        Self(Arc::new(PeerState {
            session: SharedSession::of_client(&CONNECTION),
            has_host: AtomicBool::new(false),
        }))
    }

    /// Sets the account's host at the first request.
    pub fn set_host(&self, host: impl FnOnce() -> Option<String>) {
        if self.0.has_host.load(Ordering::Relaxed) {
            return;
        }
        let Some(host) = host() else { return };
        self.0.session.run(|is_inside| {
            if is_inside {
                tare::thread::set_account("", &host);
                self.0.has_host.store(true, Ordering::Relaxed);
            }
        });
    }
}

/// A session for the time of a request.
pub struct Lease {
    session: Option<Arc<SharedSession>>,
    pool: Option<&'static SessionPool>,
}

impl Lease {
    pub fn none() -> Self {
        Self {
            session: None,
            pool: None,
        }
    }

    pub fn of_connection(peer: &Peer) -> Self {
        Self {
            session: Some(Arc::clone(&peer.0.session)),
            pool: None,
        }
    }

    pub fn of_pool(pool: &'static SessionPool) -> Self {
        Self {
            session: pool.take(),
            pool: Some(pool),
        }
    }

    pub fn session(&self) -> Option<Arc<SharedSession>> {
        self.session.clone()
    }

    /// Calls `work` in the session, if there is one that no other thread has entered.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.session {
            Some(session) => session.run(|_| work()),
            None => work(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(pool), Some(session)) = (self.pool, self.session.take()) {
            pool.give(session);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.session).finish()
    }
}

/// The service of a connection: its requests run in the connection's session. Clones belong to the same
/// connection.
#[derive(Clone, Debug)]
pub struct Connection<S> {
    inner: S,
    peer: Option<Peer>,
}

/// Gives a connection a session, which lasts as long as the service and its clones: for servers that have a
/// service for each connection, as hyper does.
pub fn connection<S>(service: S) -> Connection<S> {
    Connection {
        inner: service,
        peer: tare::is_running().then(Peer::new),
    }
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Connection<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        if let Some(peer) = &self.peer {
            request.extensions_mut().insert(peer.clone());
        }
        self.inner.call(request)
    }
}

/// What creates a service for each connection, which becomes a [`Connection`].
#[derive(Clone, Debug)]
pub struct Connections<M>(M);

/// Gives each connection a session. `factory`: what creates a service for each connection, such as axum's
/// `into_make_service_with_connect_info`.
pub fn connections<M>(factory: M) -> Connections<M> {
    Connections(factory)
}

impl<M: Service<T>, T> Service<T> for Connections<M> {
    type Response = Connection<M::Response>;
    type Error = M::Error;
    type Future = NewConnection<M::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), M::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: T) -> NewConnection<M::Future> {
        NewConnection {
            future: self.0.call(target),
        }
    }
}

pin_project! {
    /// The future of a [`Connection`].
    #[derive(Debug)]
    pub struct NewConnection<F> {
        #[pin]
        future: F,
    }
}

impl<F, S, E> Future for NewConnection<F>
where
    F: Future<Output = Result<S, E>>,
{
    type Output = Result<Connection<S>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.project()
            .future
            .poll(context)
            .map(|result| result.map(connection))
    }
}
