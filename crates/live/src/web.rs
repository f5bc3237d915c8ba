//! HTTP: a few requests at a time, each answered by a [`Site`]. A site is read-only unless it says otherwise.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
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
use tokio::task::JoinHandle;

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
    /// The header Origin: the site of the page that sends a POST.
    pub origin: String,
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

    /// The answer to POST, which may change something. The body is not read. `None`: this site is read-only.
    fn change(&self, _request: &Request) -> Option<Response> {
        None
    }
}

/// The most connections at a time. Prometheus has one, a browser six. Each has one request. When there are
/// more, the oldest ends: its client is the slowest.
const MAX_CONNECTIONS: usize = 64;

/// The time that a client has to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The total time of a connection: of the request, of the answer, which a server may take ten seconds to give,
/// and of sending it to a client that reads slowly or not at all.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

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
        Self::start_with(address, site, CONNECTION_TIMEOUT)
    }

    fn start_with(address: SocketAddr, site: Arc<dyn Site>, timeout: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAX_CONNECTIONS)
            .thread_name("tare_web")
            .build()?;
        thread::Builder::new()
            .name("tare_web".into())
            .spawn(move || runtime.block_on(listen(listener, site, timeout)))?;
        Ok(Self { address })
    }

    /// The address with the port that was chosen, if port 0 was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn listen(listener: TcpListener, site: Arc<dyn Site>, timeout: Duration) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let hosts = Hosts::of(listener.local_addr().ok());
    // The oldest first.
    let mut open: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For instance, too many files are open; that may pass.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MAX_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let (site, hosts) = (Arc::clone(&site), hosts.clone());
        open.push_back(tokio::spawn(async move {
            let serve =
                service_fn(move |request| answer(Arc::clone(&site), hosts.clone(), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), serve);
            // An error of a connection concerns only its client.
            let _ = tokio::time::timeout(timeout, connection).await;
        }));
    }
}

/// The names by which clients reach this site. A page of another site whose name leads here (DNS rebinding)
/// sends its own name.
#[derive(Clone, Debug)]
struct Hosts {
    /// This machine's name without its domain, if the site listens to others than this machine.
    machine: Option<String>,
}

impl Hosts {
    fn of(address: Option<SocketAddr>) -> Self {
        let is_local = address.is_none_or(|address| address.ip().is_loopback());
        let name = rustix::system::uname();
        let name = name.nodename().to_string_lossy().to_lowercase();
        let label = name.split('.').next().unwrap_or_default().to_owned();
        Self {
            machine: (!is_local && !label.is_empty()).then_some(label),
        }
    }

    /// Whether a header Host names this site: by an address, as localhost, or by the machine's name.
    fn has(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        let unbracketed = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        if unbracketed.unwrap_or(name).parse::<IpAddr>().is_ok() {
            return true;
        }
        let name = name.trim_end_matches('.').to_lowercase();
        let label = name.split('.').next().unwrap_or_default();
        name == "localhost" || self.machine.as_deref() == Some(label)
    }
}

async fn answer(
    site: Arc<dyn Site>,
    hosts: Hosts,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    let is_change = *request.method() == Method::POST;
    if !is_change && !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(into_hyper(read_only()));
    }
    let named = request.headers().get_all(header::HOST).iter();
    let named = named.map(|host| host.to_str().unwrap_or_default());
    // Programs that are no browsers may leave it out.
    if !named
        .chain(request.uri().host())
        .all(|host| hosts.has(host))
    {
        let why =
            "the request names another host: use an address, localhost or this machine's name";
        return Ok(into_hyper(Response::refused(421, why)));
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
        origin: text(header::ORIGIN),
    };
    let answered = tokio::task::spawn_blocking(move || match is_change {
        true => site.change(&parsed).unwrap_or_else(read_only),
        false => site.answer(&parsed),
    })
    .await;
    Ok(into_hyper(answered.unwrap_or_else(|_| {
        Response::refused(500, "this failed inside Tare; please report it")
    })))
}

/// The answer to other methods than GET and HEAD.
fn read_only() -> Response {
    let mut refused = Response::refused(405, "this is read-only: GET or HEAD");
    refused.headers = vec![("allow", "GET, HEAD".to_owned())];
    refused
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    /// Larger than what the kernel buffers for a client that reads nothing.
    const LARGE_BYTES: usize = 64 << 20;

    /// Answers with its bytes, or with five of them. All answers share the bytes.
    struct Sizes(Bytes);

    impl Site for Sizes {
        fn answer(&self, request: &Request) -> Response {
            let all = if request.path == "/large" {
                LARGE_BYTES
            } else {
                5
            };
            Response::ok("text/plain", self.0.slice(..all))
        }
    }

    fn start(timeout: Duration) -> SocketAddr {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let site = Sizes(vec![b'x'; LARGE_BYTES].into());
        let web = Web::start_with(any, Arc::new(site), timeout);
        web.expect("it listens").address()
    }

    fn request(address: SocketAddr, path: &str, host: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\n{host}\r\n").expect("sent");
        stream
    }

    /// Sends a request and reads the first byte of its answer.
    fn begin(address: SocketAddr, path: &str, host: &str) -> TcpStream {
        let mut stream = request(address, path, host);
        let mut first = [0];
        stream.read_exact(&mut first).expect("an answer");
        stream
    }

    /// The bytes of the rest of an answer; the connection may be reset at the end.
    fn rest(mut stream: TcpStream) -> Vec<u8> {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        all
    }

    #[test]
    fn clients_that_read_nothing_are_closed_for_others() {
        let address = start(Duration::from_secs(3600));
        let slow = (0..3 * MAX_CONNECTIONS).map(|_| begin(address, "/large", ""));
        let slow: Vec<TcpStream> = slow.collect();
        for _ in 0..10 {
            assert!(rest(begin(address, "/small", "")).ends_with(b"xxxxx"));
        }
        let mut slow = slow.into_iter();
        let (oldest, newest) = (slow.next(), slow.next_back());
        assert!(
            rest(oldest.expect("one")).len() < LARGE_BYTES,
            "it was ended"
        );
        assert!(rest(newest.expect("one")).len() > LARGE_BYTES, "it was not");
    }

    #[test]
    fn a_connection_has_a_total_time() {
        let address = start(Duration::from_millis(50));
        let mut slow = request(address, "/large", "");
        // Sending fails once the server has closed the connection.
        while slow.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(rest(slow).len() < LARGE_BYTES);
    }

    #[test]
    fn a_request_that_names_another_host_is_refused() {
        let address = start(Duration::from_secs(3600));
        let status = |host: &str| {
            let answer = rest(begin(address, "/small", host));
            let answer = String::from_utf8_lossy(&answer).into_owned();
            answer.split(' ').nth(1).map(str::to_owned)
        };
        for host in [
            "",
            "Host: localhost\r\n",
            "Host: 127.0.0.1:9150\r\n",
            "Host: [::1]:9\r\n",
        ] {
            assert_eq!(status(host).as_deref(), Some("200"), "{host}");
        }
        for host in [
            "Host: evil.example\r\n",
            "Host: localhost.evil.example:9150\r\n",
            "Host: 127.0.0.1.evil.example\r\n",
            "Host: localhost\r\nHost: evil.example\r\n",
            "Host: \r\n",
        ] {
            assert_ne!(status(host).as_deref(), Some("200"), "{host}");
        }
    }

    #[test]
    fn a_site_for_others_has_the_machines_name() {
        let machine = Some("db1".to_owned());
        let (local, public) = (Hosts { machine: None }, Hosts { machine });
        for (host, is_local, is_public) in [
            ("db1", false, true),
            ("DB1.example.com:9150", false, true),
            ("localhost.", true, true),
            ("10.0.0.7:9150", true, true),
            ("evil.example", false, false),
            ("evil.db1", false, false),
        ] {
            assert_eq!(
                (local.has(host), public.has(host)),
                (is_local, is_public),
                "{host}"
            );
        }
        let any = SocketAddr::from(([0, 0, 0, 0], 0));
        assert!(Hosts::of(Some(any)).machine.is_some());
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        assert_eq!(Hosts::of(Some(loopback)).machine, None);
    }
}
