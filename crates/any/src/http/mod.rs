//! HTTP/1: what clients of nginx send is read as requests, and what they get as responses.
//!
//! | file | contents |
//! |---|---|
//! | body | finds the end of a body |
//! | line | reads lines from parts of any size |
//! | methods | the methods, and their classes |
//! | pipeline | the requests of a connection that run; its user and database |
//! | proxy | the header of the PROXY protocol |
//! | requests | reads requests |
//! | responses | reads responses |
//! | route | a request's path as text, and its shape |
//! | stages | the stages of a request |

mod body;
mod line;
pub mod methods;
pub mod pipeline;
mod proxy;
mod requests;
mod responses;
mod route;
pub mod stages;
