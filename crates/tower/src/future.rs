//! The future of a response.

use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use pin_project_lite::pin_project;
use tare::task::SharedScope;
use tare::task::statement::Statement;

use crate::connection::Lease;
use crate::outcome;

pin_project! {
    /// The future of a response. If it is dropped before the response is ready, its request is cancelled,
    /// and counted.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        place: Place<Request<F>>,
        // Given back after the request has ended.
        lease: Lease,
    }
}

pin_project! {
    /// Where a request runs.
    #[project = ProjectedPlace]
    #[derive(Debug)]
    enum Place<F> {
        Session { #[pin] future: SharedScope<F> },
        Thread { #[pin] future: F },
    }
}

pin_project! {
    /// A request that runs, and its statement.
    #[derive(Debug)]
    struct Request<F> {
        #[pin]
        future: F,
        statement: Option<Statement>,
    }
}

impl<F: Future> ResponseFuture<F> {
    pub(crate) fn unrecorded(future: F) -> Self {
        Self {
            place: Place::Thread {
                future: Request {
                    future,
                    statement: None,
                },
            },
            lease: Lease::none(),
        }
    }
}

impl<F, R, E> ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Display,
{
    pub(crate) fn recorded(future: F, statement: Statement, lease: Lease) -> Self {
        let future = Request {
            future,
            statement: Some(statement),
        };
        let place = match lease.session() {
            Some(session) => Place::Session {
                future: session.scope(future),
            },
            None => Place::Thread { future },
        };
        Self { place, lease }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Display,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match self.project().place.project() {
            ProjectedPlace::Session { future } => future.poll(context),
            ProjectedPlace::Thread { future } => future.poll(context),
        }
    }
}

impl<F, R, E> Future for Request<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Display,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some(statement) = &this.statement {
            statement.resume();
        }
        let poll = this.future.poll(context);
        match &poll {
            Poll::Ready(result) => {
                if let Some(statement) = this.statement.take() {
                    outcome::record(&statement, result);
                }
            }
            Poll::Pending => {
                if let Some(statement) = &this.statement {
                    statement.suspend();
                }
            }
        }
        poll
    }
}
