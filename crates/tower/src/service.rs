//! The layer and its service.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Extensions, Method, Request, Response, Uri};
use tower_layer::Layer;
use tower_service::Service;

use crate::future::ResponseFuture;
use crate::outcome;
use crate::request::{self, Route};

/// A layer that records requests as statements: see the [crate](crate).
#[derive(Clone, Default)]
pub struct TareLayer {
    route: Option<Arc<Route>>,
}

/// A layer with the default settings: the route is axum's (with the feature `axum`), or the path of a gRPC
/// request.
pub fn layer() -> TareLayer {
    outcome::define_errors();
    TareLayer::default()
}

impl TareLayer {
    /// Sets how the route of a request is found, such as `/users/{id}`. Requests without one have their
    /// method only as digest. A route must not contain what differs between requests.
    pub fn route<F>(mut self, route: F) -> Self
    where
        F: Fn(&Method, &Uri, &Extensions) -> Option<String> + Send + Sync + 'static,
    {
        self.route = Some(Arc::new(route));
        self
    }
}

impl fmt::Debug for TareLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TareLayer")
            .field("has_route", &self.route.is_some())
            .finish()
    }
}

impl<S> Layer<S> for TareLayer {
    type Service = TareService<S>;

    fn layer(&self, inner: S) -> TareService<S> {
        TareService {
            inner,
            layer: self.clone(),
        }
    }
}

/// A service whose requests are statements: see [`TareLayer`].
#[derive(Clone, Debug)]
pub struct TareService<S> {
    inner: S,
    layer: TareLayer,
}

impl<S, B, R> Service<Request<B>> for TareService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: fmt::Display,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<S::Future> {
        if !tare::is_running() {
            return ResponseFuture::unrecorded(self.inner.call(request));
        }
        let lease = request::session(&request);
        let (future, statement) = lease.run(|| {
            let statement = request::start(&request, self.layer.route.as_deref());
            // What the service does before its future is polled is a part of it.
            let future = self.inner.call(request);
            statement.suspend();
            (future, statement)
        });
        ResponseFuture::recorded(future, statement, lease)
    }
}
