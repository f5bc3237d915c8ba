//! The statement and the session of a request.

use http::header::CONTENT_TYPE;
use http::{Extensions, Method, Request, Uri};
use tare::task::SessionPool;
use tare::task::statement::{self, Statement};

use crate::connection::{Lease, Peer};

tare::classes! {
    /// A request that belongs to no connection.
    static REQUEST: Thread = "thread/http/request";
    /// GET.
    static GET: Statement = "statement/http/get";
    /// HEAD.
    static HEAD: Statement = "statement/http/head";
    /// POST.
    static POST: Statement = "statement/http/post";
    /// PUT.
    static PUT: Statement = "statement/http/put";
    /// PATCH.
    static PATCH: Statement = "statement/http/patch";
    /// DELETE.
    static DELETE: Statement = "statement/http/delete";
    /// OPTIONS.
    static OPTIONS: Statement = "statement/http/options";
    /// Another method.
    static OTHER: Statement = "statement/http/other";
    /// A call of gRPC.
    static CALL: Statement = "statement/grpc/call";
}

/// The sessions of requests that belong to no connection.
static POOL: SessionPool = SessionPool::new(&REQUEST, 10_000);

/// The session of a request: its connection's, or one of the pool.
pub fn session<B>(request: &Request<B>) -> Lease {
    match request.extensions().get::<Peer>() {
        Some(peer) => {
            peer.set_host(|| client(request.extensions()));
            Lease::of_connection(peer)
        }
        None => Lease::of_pool(&POOL),
    }
}

/// The address of the client, without its port.
#[cfg(feature = "axum")]
fn client(extensions: &Extensions) -> Option<String> {
    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;

    let info = extensions.get::<ConnectInfo<SocketAddr>>();
    info.map(|info| info.0.ip().to_string())
}

#[cfg(not(feature = "axum"))]
fn client(_: &Extensions) -> Option<String> {
    None
}

/// The route by which axum found the handler.
#[cfg(feature = "axum")]
fn matched_route(extensions: &Extensions) -> Option<&str> {
    let path = extensions.get::<axum::extract::MatchedPath>();
    path.map(axum::extract::MatchedPath::as_str)
}

#[cfg(not(feature = "axum"))]
fn matched_route(_: &Extensions) -> Option<&str> {
    None
}

/// Finds a request's route: the part of its digest behind the method.
pub type Route = dyn Fn(&Method, &Uri, &Extensions) -> Option<String> + Send + Sync;

/// Begins the statement of a request.
pub fn start<B>(request: &Request<B>, route: Option<&Route>) -> Statement {
    let (method, uri) = (request.method(), request.uri());
    let content = request.headers().get(CONTENT_TYPE);
    let is_grpc =
        content.is_some_and(|content| content.as_bytes().starts_with(b"application/grpc"));
    let statement = statement::start(match is_grpc {
        true => &CALL,
        false => class(method),
    });
    if !statement.is_recorded() {
        return statement;
    }
    let path = uri.path();
    let own = route.and_then(|route| route(method, uri, request.extensions()));
    let route = match own.as_deref() {
        // The path of a gRPC call names its service and its method.
        None if is_grpc => Some(path),
        None => matched_route(request.extensions()),
        own => own,
    };
    let text = format!("{method} {path}");
    match route {
        Some(route) => statement.digest_by_shape(&format!("{method} {route}"), &text),
        None => statement.digest_by_shape(method.as_str(), &text),
    }
    statement.text_only(&text);
    statement
}

fn class(method: &Method) -> &'static tare::Class {
    match *method {
        Method::GET => &GET,
        Method::HEAD => &HEAD,
        Method::POST => &POST,
        Method::PUT => &PUT,
        Method::PATCH => &PATCH,
        Method::DELETE => &DELETE,
        Method::OPTIONS => &OPTIONS,
        _ => &OTHER,
    }
}
