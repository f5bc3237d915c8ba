//! OTLP in JSON: bytes of ids are hexadecimal, and 64-bit integers are texts.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tare_history::HolderState;

use super::spans::{Span, WaitEvent};

/// OTLP's SPAN_KIND_SERVER.
const SERVER: u32 = 2;

/// The attributes of the observed server.
pub fn resource(server: &str, host: &str) -> Value {
    let attributes = attributes([
        ("service.name", Some(json!(server))),
        ("host.name", Some(json!(host))),
    ]);
    json!({ "attributes": attributes })
}

/// A request with these spans.
pub fn request(resource: &Value, spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    let scope = json!({ "name": "tare", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{
        "resource": resource,
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] })
}

fn span(span: &Span) -> Value {
    let sample = &span.sample;
    let name = sample.statement.as_deref().unwrap_or("statement");
    let holder = span.blocker.as_ref();
    let party = holder.map(|holder| &holder.party);
    let text = |value: Option<&str>| value.map(|text| json!(text));
    let number = |value: Option<u64>| value.map(|number| json!(number));
    let within = span.within.map(|within| within.as_nanos() as u64);
    let attributes = attributes([
        ("db.namespace", text(sample.schema.as_deref())),
        ("db.query.text", text(span.text.as_deref())),
        ("client.address", text(sample.client.as_deref())),
        ("tare.user", text(sample.user.as_deref())),
        ("tare.digest", text(sample.digest.as_deref())),
        ("tare.connection_id", number(sample.connection_id)),
        ("tare.thread_id", number(Some(sample.thread_id))),
        ("tare.end_uncertainty_ns", number(within)),
        (
            "tare.blocker.thread_id",
            number(party.map(|party| party.thread_id)),
        ),
        (
            "tare.blocker.connection_id",
            number(party.and_then(|party| party.connection_id)),
        ),
        (
            "tare.blocker.user",
            text(party.and_then(|party| party.user.as_deref())),
        ),
        (
            "tare.blocker.state",
            text(holder.and_then(|holder| holder.state.map(HolderState::name))),
        ),
        (
            "tare.blocker.digest",
            text(party.and_then(|party| party.digest.as_deref())),
        ),
        (
            "tare.blocker.query.text",
            text(party.and_then(|party| party.text.as_deref())),
        ),
    ]);
    let links = party.and_then(|party| party.trace).map(|trace| {
        json!({
            "traceId": trace.trace_id_text(),
            "spanId": trace.span_id_text(),
            "attributes": self::attributes([("tare.link", Some(json!("blocker")))]),
        })
    });
    let mut encoded = json!({
        "traceId": format!("{:032x}", span.trace_id),
        "spanId": format!("{:016x}", span.span_id),
        "name": name.rsplit('/').next().unwrap_or(name),
        "kind": SERVER,
        "startTimeUnixNano": nanoseconds(span.began),
        "endTimeUnixNano": nanoseconds(span.ended),
        "attributes": attributes,
        "events": span.waits.iter().map(event).collect::<Vec<_>>(),
        "droppedEventsCount": span.dropped_waits,
        "links": links.into_iter().collect::<Vec<_>>(),
    });
    if span.parent_id != 0 {
        encoded["parentSpanId"] = json!(format!("{:016x}", span.parent_id));
    }
    encoded
}

fn event(wait: &WaitEvent) -> Value {
    let text = |value: &Option<_>| value.as_deref().map(|text: &str| json!(text));
    let duration = wait.duration.as_nanos() as u64;
    json!({
        "name": &*wait.wait,
        "timeUnixNano": nanoseconds(wait.began),
        "attributes": attributes([
            ("tare.duration_ns", Some(json!(duration))),
            ("tare.operation", text(&wait.operation)),
            ("tare.object_schema", text(&wait.object_schema)),
            ("tare.object", text(&wait.object)),
            ("tare.blocker.thread_id", wait.blocker.map(|id| json!(id))),
        ]),
    })
}

/// Attributes; those without a value are left out.
fn attributes<const N: usize>(values: [(&str, Option<Value>); N]) -> Value {
    let present = values
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    let encoded = present.map(|(key, value)| {
        let value = match value {
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            text => json!({ "stringValue": text }),
        };
        json!({ "key": key, "value": value })
    });
    encoded.collect()
}

fn nanoseconds(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().to_string()
}
