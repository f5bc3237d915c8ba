//! A client of Redis.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Nothing,
    Text(Vec<u8>),
    Error(String),
    Number(i64),
    List(Vec<Reply>),
}

impl Reply {
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{other:?} is no text"),
        }
    }
}

pub fn ok() -> Reply {
    Reply::Text(b"OK".to_vec())
}

/// A client of Redis.
pub struct Client {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

pub fn encode(arguments: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A command line, of words without spaces.
pub fn words(line: &str) -> Vec<u8> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    encode(&words)
}

impl Client {
    pub fn new(writer: UnixStream) -> Self {
        let reader = BufReader::new(writer.try_clone().expect("cloned"));
        Self { writer, reader }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).expect("written");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        assert!(line.ends_with("\r\n"), "the server closed the connection");
        line.truncate(line.len() - 2);
        line
    }

    pub fn read(&mut self) -> Reply {
        let line = self.line();
        let (kind, rest) = line.split_at(1);
        let number = || rest.parse::<i64>().expect("a number");
        match kind {
            "+" => Reply::Text(rest.into()),
            "-" => Reply::Error(rest.into()),
            ":" => Reply::Number(number()),
            "_" => Reply::Nothing,
            "$" if number() < 0 => Reply::Nothing,
            "$" => {
                let mut bytes = vec![0; number() as usize + 2];
                self.reader.read_exact(&mut bytes).expect("bytes");
                bytes.truncate(bytes.len() - 2);
                Reply::Text(bytes)
            }
            "*" if number() < 0 => Reply::Nothing,
            "*" | ">" => Reply::List((0..number()).map(|_| self.read()).collect()),
            "%" => Reply::List((0..2 * number()).map(|_| self.read()).collect()),
            _ => panic!("{line}"),
        }
    }

    /// The reply to a command line.
    pub fn call(&mut self, line: &str) -> Reply {
        self.send(&words(line));
        self.read()
    }

    /// Calls of each command, by the server itself: executed and rejected ones.
    pub fn command_statistics(&mut self) -> BTreeMap<String, u64> {
        let info = self.call("INFO commandstats").text();
        let lines = info
            .lines()
            .filter_map(|line| line.strip_prefix("cmdstat_"));
        let parse = |line: &str| {
            let (name, fields) = line.split_once(':').expect("a name");
            let field = |name: &str| {
                let mut fields = fields.split(',').filter_map(|field| field.split_once('='));
                let value = fields.find(|(field, _)| *field == name);
                value.map_or(0, |(_, value)| value.parse::<u64>().expect("a count"))
            };
            (name.to_owned(), field("calls") + field("rejected_calls"))
        };
        lines.map(parse).collect()
    }
}
