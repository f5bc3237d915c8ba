//! How a request ends: errors, by status.

use std::fmt::Display;

use http::{Response, StatusCode};
use tare::task::statement::Statement;

/// MySQL's ER_UNKNOWN_ERROR: of errors that have no status.
const UNKNOWN_ERROR: u32 = 1105;

/// SQLSTATE of errors without one of their own.
const GENERAL: &str = "HY000";

/// Names the errors that statements end with. MySQL's numbers begin at 1000, so that a status can be one.
pub fn define_errors() {
    tare::error::define(UNKNOWN_ERROR, "ER_UNKNOWN_ERROR", GENERAL);
    for status in (500..600).filter_map(|code| StatusCode::from_u16(code).ok()) {
        if let Some(reason) = status.canonical_reason() {
            let name = reason.to_uppercase().replace([' ', '-'], "_");
            tare::error::define(status.as_u16().into(), &format!("HTTP_{name}"), GENERAL);
        }
    }
}

/// Sets the error of a statement, if its request has failed.
pub fn record<R, E: Display>(statement: &Statement, result: &Result<Response<R>, E>) {
    match result {
        Err(error) => statement.error(UNKNOWN_ERROR, GENERAL, &error.to_string()),
        Ok(response) if response.status().is_server_error() => {
            let status = response.status();
            statement.error(status.as_u16().into(), GENERAL, &status.to_string());
        }
        Ok(response) => {
            if let Some(message) = grpc_error(response) {
                statement.error(UNKNOWN_ERROR, GENERAL, &message);
            }
        }
    }
}

/// The message of a gRPC response that has failed through the server, as far as its header says so.
fn grpc_error<R>(response: &Response<R>) -> Option<String> {
    let header = |name| response.headers().get(name)?.to_str().ok();
    let status = header("grpc-status")?;
    // Unknown, deadline exceeded, unimplemented, internal, unavailable, data loss: the other statuses are the
    // client's.
    if !matches!(status, "2" | "4" | "12" | "13" | "14" | "15") {
        return None;
    }
    let message = header("grpc-message").unwrap_or_default();
    Some(format!("grpc-status {status} {message}").trim_end().into())
}
