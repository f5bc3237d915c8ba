//! HTTP: a few requests at a time, read-only, each answered by a [`Site`].

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime;

/// A request of a client.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The path, as sent.
    pub path: String,
    /// What follows `?`, as sent.
    pub query: String,
    /// The header Accept.
    pub accept: String,
    /// The header Cookie.
    pub cookie: String,
    /// The header Host.
    pub host: String,
}

/// The response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// A response with status 200.
    pub fn ok(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            kind,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// A response with an error status and its reason.
    pub fn refused(status: u16, why: &str) -> Self {
        Self {
            status,
            ..Self::ok("text/plain; charset=utf-8", format!("{why}\n"))
        }
    }
}

/// Answers requests. It may block, because each request has its own thread.
pub trait Site: Send + Sync + 'static {
    /// The answer to GET.
    fn answer(&self, request: &Request) -> Response;
}

/// The most connections at a time. Prometheus has one, a browser six.
const MAX_CONNECTIONS: usize = 64;

/// The time that a client has to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest duration of a connection, which ends those whose clients read nothing. Clients reconnect.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(600);

/// A listener and its thread, which last as long as the process.
#[derive(Debug)]
pub struct Web {
    address: SocketAddr,
}

impl Web {
    /// Starts to listen.
    ///
    /// # Errors
    /// The address cannot be bound, or the thread not started.
    pub fn start(address: SocketAddr, site: Arc<dyn Site>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(4)
            .thread_name("tare_web")
            .build()?;
        thread::Builder::new()
            .name("tare_web".into())
            .spawn(move || runtime.block_on(listen(listener, site)))?;
        Ok(Self { address })
    }

    /// The address with the port that was chosen, if port 0 was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn listen(listener: TcpListener, site: Arc<dyn Site>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For instance, too many files are open; that may pass.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (site, open) = (Arc::clone(&site), Arc::clone(&open));
        tokio::spawn(async move {
            let serve = service_fn(move |request| answer(Arc::clone(&site), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), serve);
            // An error of a connection concerns only its client.
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn answer(
    site: Arc<dyn Site>,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = into_hyper(Response::refused(405, "this is read-only: GET or HEAD"));
        (refused.headers_mut()).insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Ok(refused);
    }
    let text = |name: HeaderName| {
        let value = request.headers().get(name);
        let text = value.and_then(|value| value.to_str().ok());
        text.unwrap_or_default().to_owned()
    };
    let parsed = Request {
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        accept: text(header::ACCEPT),
        cookie: text(header::COOKIE),
        host: text(header::HOST),
    };
    let answered = tokio::task::spawn_blocking(move || site.answer(&parsed)).await;
    Ok(into_hyper(answered.unwrap_or_else(|_| {
        Response::refused(500, "this failed inside Tare; please report it")
    })))
}

fn into_hyper(response: Response) -> hyper::Response<Full<Bytes>> {
    let mut converted = hyper::Response::new(Full::new(response.body));
    *converted.status_mut() =
        StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = converted.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(response.kind),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    converted
}
