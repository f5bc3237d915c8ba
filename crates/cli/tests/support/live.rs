//! A `tare live` that tests send requests to.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use super::support::{Directory, Process};

/// A `tare live`, and the address that it has printed.
pub struct Live {
    pub running: Process,
    /// With the token.
    pub url: String,
    pub host: String,
    pub token: String,
}

impl Live {
    pub fn start(directory: &Directory, target: &[&str]) -> Self {
        let words = ["live", "--listen", "127.0.0.1:0"];
        let mut command = directory.tare(words.iter().chain(target));
        let mut running = Process::start(command.stderr(Stdio::piped()));
        let line = running.line();
        let url = line.strip_prefix("Open ").expect("an address").to_owned();
        let (host, token) = url.split_once("/?token=").expect("a token");
        let host = host.strip_prefix("http://").expect("http").to_owned();
        Self {
            running,
            token: token.to_owned(),
            host,
            url,
        }
    }

    /// Sends a request and returns the response's head and body.
    pub fn request(&self, request: &str, cookie: &str) -> (String, String) {
        self.request_with(request, &format!("Cookie: {cookie}\r\n"))
    }

    /// The same with these headers.
    pub fn request_with(&self, request: &str, headers: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        write!(stream, "{request} HTTP/1.0\r\n{headers}\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), text.to_owned())
    }

    /// The cookie that the token gives.
    pub fn cookie(&self) -> String {
        let (head, _) = self.request(&format!("GET /?token={}", self.token), "");
        assert!(head.starts_with("HTTP/1.0 303"), "{head}");
        let line = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let line = line.expect("a cookie");
        assert!(
            line.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
            "{line}"
        );
        line.split(';').next().expect("a value").to_owned()
    }

    pub fn json(&self, path: &str) -> Value {
        let (head, text) = self.request(&format!("GET {path}"), &self.cookie());
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        serde_json::from_str(&text).expect("JSON")
    }
}
