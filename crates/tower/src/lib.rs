//! A [`tower_layer::Layer`] that records requests as Tare's statements (docs/tower.md): for axum, hyper,
//! tonic, and others that are built on tower.
//!
//! ```
//! use axum::{Router, routing::get};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! tare::start(tare::Config::default())?;
//! let app = Router::new()
//!     .route("/users/{id}", get(async || "a user"))
//!     .layer(tare_tower::layer());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! let connections = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
//! axum::serve(listener, tare_tower::connections(connections)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A request for `/users/42` is a statement of class `statement/http/get`, with the digest `GET /users/{id}`
//! and the text `GET /users/42`. It lasts from the call of the service until the response is ready; its body
//! may follow. A request whose future is dropped before is counted, too. A status of 500 and above, an error
//! of the service, and gRPC's statuses of servers' failures are errors.
#![forbid(unsafe_code)]

mod connection;
mod future;
mod outcome;
mod request;
mod service;

pub use connection::{Connection, Connections, NewConnection, connection, connections};
pub use future::ResponseFuture;
pub use service::{TareLayer, TareService, layer};

/// The examples of the document compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tower.md")]
struct Document;
