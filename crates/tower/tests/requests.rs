//! Requests to servers, with exact counts.

mod support;

use std::convert::Infallible;
use std::future::{pending, ready};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use axum::Router;
use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, Response, StatusCode};
use axum::routing::{get, post};
use support::{Running, current, scale, wait_until};
use tare::Counter;
use tare_reader::events::{Events, Table};
use tare_reader::{Names, threads};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tower_layer::Layer;
use tower_service::Service;

tare::classes! {
    static LOCK: Mutex = "wait/synch/mutex/requests/LOCK";
    static PART: Stage = "stage/requests/part";
}

/// A service that is a function.
#[derive(Clone)]
struct Handler<F>(F);

impl<F, W, B> Service<Request<B>> for Handler<F>
where
    F: FnMut(Request<B>) -> W,
    W: Future<Output = Result<Response<()>, String>>,
{
    type Response = Response<()>;
    type Error = String;
    type Future = W;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> W {
        self.0(request)
    }
}

fn request(method: &str, path: &str) -> Request<()> {
    let request = Request::builder().method(method).uri(path);
    request.body(()).expect("a request")
}

/// Polls once.
fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn with_status(status: u16) -> Response<()> {
    let response = Response::builder().status(status);
    response.body(()).expect("a response")
}

#[test]
fn errors_are_those_of_servers() {
    let running = Running::new();
    let grpc = |status: &str| {
        let response = Response::builder().header("grpc-status", status);
        response
            .header("grpc-message", "down")
            .body(())
            .expect("a response")
    };
    let answers = [
        Ok(with_status(200)),
        Ok(with_status(404)),
        Ok(with_status(503)),
        Err("no route to host".to_string()),
        Ok(grpc("0")),
        Ok(grpc("5")),
        Ok(grpc("14")),
    ];
    for answer in answers {
        let mut answer = Some(answer);
        let mut service = tare_tower::layer().layer(Handler(move |_: Request<()>| {
            ready(answer.take().expect("one request"))
        }));
        assert!(poll(service.call(request("PUT", "/a?secret"))).is_ready());
    }
    let all = threads(running.view());
    let events = Events::new(running.view(), &all);
    let statements = events.statements(Table::History);
    let texts = statements.iter().map(|one| one.text.as_deref());
    assert!(texts.eq([Some("PUT /a"); 7]));
    let errors: Vec<_> = statements
        .iter()
        .filter(|one| one.errno != 0)
        .map(|one| (one.errno, one.message.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        errors,
        [
            (503, "503 Service Unavailable"),
            (1105, "no route to host"),
            (1105, "grpc-status 14 down")
        ]
    );
    assert_eq!(running.counter("statement/http/put", Counter::Errors), 3);
    // One session is enough for requests that follow one another.
    assert_eq!(running.live("thread/http/request"), 1);
    assert_eq!(running.digests(), [("PUT".into(), 7)]);
    assert_eq!(running.losses(), []);
}

#[test]
fn a_digest_is_the_method_and_the_route() {
    let running = Running::new();
    let service = |_: Request<()>| ready(Ok(with_status(200)));
    let layer = tare_tower::layer().route(|_, uri, _| {
        uri.path()
            .starts_with("/users/")
            .then(|| "/users/{id}".into())
    });
    let mut service = layer.layer(Handler(service));
    for path in ["/users/1", "/users/2", "/other/1", "/other/2"] {
        assert!(poll(service.call(request("GET", path))).is_ready());
    }
    for method in ["HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
        assert!(poll(service.call(request(method, "/"))).is_ready());
    }
    let mut call = request("POST", "/shop.Cart/Add");
    let grpc = "application/grpc+proto".parse().expect("a value");
    call.headers_mut().insert(CONTENT_TYPE, grpc);
    assert!(poll(service.call(call)).is_ready());
    let expected = [
        ("DELETE", 1),
        ("GET", 2),
        ("GET /users/{id}", 2),
        ("HEAD", 1),
        ("OPTIONS", 1),
        ("PATCH", 1),
        ("POST", 1),
        ("POST /shop.Cart/Add", 1),
        ("PROPFIND", 1),
    ];
    let expected = expected.map(|(text, count)| (text.to_string(), count));
    assert_eq!(running.digests(), expected);
    for name in ["http/get", "http/post", "http/other", "grpc/call"] {
        let count = if name == "http/get" { 4 } else { 1 };
        assert_eq!(running.count(&format!("statement/{name}")), count, "{name}");
    }
}

#[test]
fn what_a_request_does_is_nested_in_it() {
    let running = Running::new();
    let mut layered = tare_tower::layer().layer(Handler(async |_: Request<()>| {
        let _part = tare::task::stage::start(&PART);
        tare::wait::future(&LOCK, tare::Operation::Lock, pending::<()>()).await;
        Ok(with_status(200))
    }));
    let mut service = tare_tower::connection(layered.clone());
    // Two requests of one connection take turns, and are dropped.
    let mut one = Box::pin(service.call(request("GET", "/one")));
    let mut two = Box::pin(service.call(request("GET", "/two")));
    assert!(poll(one.as_mut()).is_pending() && poll(two.as_mut()).is_pending());
    drop((one, two));
    let all = threads(running.view());
    let events = Events::new(running.view(), &all);
    let statements = events.statements(Table::History);
    let parents = |heads: Vec<tare_reader::events::Head>| -> Vec<_> {
        heads
            .iter()
            .map(|head| head.nesting.map(|(id, _)| id))
            .collect()
    };
    let ids: Vec<_> = statements.iter().map(|one| Some(one.head.id)).collect();
    let stages = events.stages(Table::History);
    assert_eq!(parents(stages.iter().map(|one| one.head).collect()), ids);
    let waits = events.waits(Table::History);
    assert_eq!(parents(waits.iter().map(|one| one.head).collect()), ids);
    assert_eq!(
        parents(statements.iter().map(|one| one.head).collect()),
        [None, None]
    );
    assert_eq!(running.live("thread/http/connection"), 1);
    drop(service);
    assert_eq!(running.live("thread/http/connection"), 0);
    tare::stop();
    // Nothing is recorded, and nothing fails.
    assert!(poll(layered.call(request("GET", "/"))).is_pending());
}

/// An axum server.
struct Server {
    address: SocketAddr,
    runtime: Runtime,
}

impl Server {
    fn start(app: Router) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_io()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("bound");
        let connections = app.into_make_service_with_connect_info::<SocketAddr>();
        let connections = tare_tower::connections(connections);
        runtime.spawn(async { axum::serve(listener, connections).await });
        Self { address, runtime }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("it listens")
    }
}

/// Sends a request and reads the response. Returns its status.
fn send(stream: &mut TcpStream, method: &str, path: &str) -> u16 {
    begin(stream, method, path);
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a response");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("ASCII").to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("the body");
    head[9..12].parse().expect("a status")
}

fn begin(stream: &mut TcpStream, method: &str, path: &str) {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it reads");
}

#[test]
fn an_axum_server_has_exact_counts_by_route() {
    const CLIENTS: u64 = 8;
    let running = Running::new();
    let release = Arc::new(Notify::new());
    let released = release.clone();
    let users = Router::new().route("/{id}", get(async |Path(id): Path<u64>| id.to_string()));
    let app = Router::new()
        .nest("/users", users)
        .route("/orders", post(async || StatusCode::CREATED))
        .route("/fail", get(async || StatusCode::INTERNAL_SERVER_ERROR))
        .route("/wait", get(async move || released.notified().await))
        .route("/never", get(pending::<Result<(), Infallible>>))
        .fallback(async || StatusCode::NOT_FOUND)
        .layer(tare_tower::layer());
    let server = Server::start(app);
    let requests = scale(200, 20_000) as u64;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let mut stream = server.connect();
            scope.spawn(move || {
                for i in 0..requests {
                    let id = client * requests + i;
                    let path = format!("/users/{id}?secret={id}");
                    assert_eq!(send(&mut stream, "GET", &path), 200);
                    if i % 2 == 0 {
                        assert_eq!(send(&mut stream, "POST", "/orders"), 201);
                    }
                    if i % 4 == 0 {
                        assert_eq!(send(&mut stream, "GET", "/fail"), 500);
                    }
                    if i % 8 == 0 {
                        assert_eq!(send(&mut stream, "GET", &format!("/none/{id}")), 404);
                    }
                }
            });
        }
    });
    // Requests that run: their clients wait, or leave.
    let open = |path: &str| {
        let mut stream = server.connect();
        begin(&mut stream, "GET", path);
        stream
    };
    let mut waiting: Vec<_> = (0..5).map(|_| open("/wait")).collect();
    let cancelled: Vec<_> = (0..3).map(|_| open("/never")).collect();
    wait_until("all run", || current(&running).len() == 8);
    let all = threads(running.view());
    let names = Names::read(running.view());
    let class = running.class("thread/http/connection");
    let connections = all.iter().filter(|thread| thread.class == class);
    let hosts: Vec<_> = connections
        .filter_map(|thread| names.account(thread.account)?.host.clone())
        .collect();
    assert!(hosts.len() >= 8, "{hosts:?}");
    assert!(hosts.iter().all(|host| &**host == "127.0.0.1"));
    let mut texts = current(&running);
    texts.sort();
    let (never, wait) = (vec!["GET /never"; 3], vec!["GET /wait"; 5]);
    assert_eq!(texts, [never, wait].concat());
    drop(cancelled);
    wait_until("they are cancelled", || current(&running).len() == 5);
    release.notify_waiters();
    for stream in &mut waiting {
        let mut answer = [0; 15];
        stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
    }
    drop(waiting);
    let is_none_left = || running.live("thread/http/connection") == 0;
    wait_until("the connections have ended", is_none_left);
    drop(server.runtime);

    let sent = CLIENTS * requests;
    let expected = [
        ("GET", sent / 8),
        ("GET /fail", sent / 4),
        ("GET /never", 3),
        ("GET /users/{id}", sent),
        ("GET /wait", 5),
        ("POST /orders", sent / 2),
    ];
    let expected = expected.map(|(text, count)| (text.to_string(), count));
    assert_eq!(running.digests(), expected);
    let gets = sent + sent / 4 + sent / 8 + 8;
    assert_eq!(running.count("statement/http/get"), gets);
    assert_eq!(running.count("statement/http/post"), sent / 2);
    assert_eq!(
        running.counter("statement/http/get", Counter::Errors),
        sent / 4
    );
    assert_eq!(running.counter("statement/http/post", Counter::Errors), 0);
    assert_eq!(running.losses(), []);
}
