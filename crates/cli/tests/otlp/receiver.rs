//! A receiver of OTLP over HTTP, in JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use flate2::read::GzDecoder;
use serde_json::Value;

/// A request that arrived.
pub struct Request {
    pub path: String,
    /// Names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Decompressed.
    pub body: Value,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(other, value)| (other == name).then_some(value.as_str()))
    }
}

/// A receiver that answers each request with this status and body. Ends with the test program.
pub fn receive(status: &'static str, answer: &'static str) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (send, requests) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let request = serve(stream.expect("a connection"), status, answer);
            let _ = send.send(request.expect("a request"));
        }
    });
    (url, requests)
}

/// A receiver that answers requests with these statuses, with headers if any, and all others with the last one. An empty
/// status is a broken connection.
pub fn receive_in_turn(statuses: &'static [&'static str]) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (send, requests) = mpsc::channel();
    thread::spawn(move || {
        let last = std::iter::repeat(statuses.last().expect("one"));
        for (stream, status) in listener.incoming().zip(statuses.iter().chain(last)) {
            let stream = stream.expect("a connection");
            if status.is_empty() {
                continue;
            }
            let request = serve(stream, status, "{}");
            let _ = send.send(request.expect("a request"));
        }
    });
    (url, requests)
}

/// Reads a request and answers it. `None` if the client has gone.
pub fn serve(stream: impl Read + Write, status: &str, answer: &str) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.strip_prefix("POST ")?.strip_suffix(" HTTP/1.1\r\n")?;
    let path = path.to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        path,
        headers,
        body: Value::Null,
    };
    assert_eq!(request.header("content-type"), Some("application/json"));
    let mut body = match request.header("content-length") {
        Some(length) => {
            let mut body = vec![0; length.parse().expect("a number")];
            reader.read_exact(&mut body).ok()?;
            body
        }
        None => read_chunks(&mut reader)?,
    };
    if request.header("content-encoding") == Some("gzip") {
        let mut plain = Vec::new();
        GzDecoder::new(&body[..])
            .read_to_end(&mut plain)
            .expect("gzip");
        body = plain;
    }
    let length = answer.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{answer}");
    reader.get_mut().write_all(answer.as_bytes()).ok()?;
    reader.get_mut().flush().ok()?;
    request.body = serde_json::from_slice(&body).expect("JSON");
    Some(request)
}

/// A body in chunks, as a collector sends it.
fn read_chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let begin = body.len();
        body.resize(begin + length, 0);
        reader.read_exact(&mut body[begin..]).ok()?;
        reader.read_line(&mut line).ok()?;
        if length == 0 {
            return Some(body);
        }
    }
}
