//! The page's requests: files that are part of the program, and answers in JSON. All need the token,
//! which is in the address of the first request and in a cookie later.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::SystemTime;

use super::answers;
use super::changes::{self, ChangesRequest, CompareStatement, StatementChanges};
use super::class::CLASSES;
use super::diff::{self, Compare};
use super::servers::{self, PageServer};
use super::timeline::{DIMENSIONS, Filter, millis};
use super::watch::{WatchRequest, lock};
use crate::web::{Request, Response, Site};

/// Allows only the program's own files, no inline scripts or styles, and no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The same for the page that compares, whose form names the windows.
const FORM_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; \
                           frame-ancestors 'none'";

/// The page's files.
const FILES: [(&str, &str, &str); 9] = [
    (
        "/icon.svg",
        "image/svg+xml",
        include_str!("../../assets/icon.svg"),
    ),
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("../../assets/index.html"),
    ),
    (
        "/page.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/page.css"),
    ),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/page.js"),
    ),
    (
        "/drawings.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/drawings.js"),
    ),
    (
        "/changes.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/changes.js"),
    ),
    (
        "/servers.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/servers.js"),
    ),
    (
        "/uplot.css",
        "text/css; charset=utf-8",
        include_str!("../../assets/uplot/uPlot.min.css"),
    ),
    (
        "/uplot.js",
        "text/javascript; charset=utf-8",
        include_str!("../../assets/uplot/uPlot.iife.min.js"),
    ),
];

const NO_HISTORY: &str = "a comparison needs a history: tare live --history DIR";

const NO_TOKEN: &str = "Open the address that tare live has printed: it has the token.";

/// The live page.
pub struct Page {
    /// At least one. A request that names none is for the first.
    servers: Vec<PageServer>,
    token: String,
    /// Compares windows of the history, and of a statement, if there is one. One comparison runs at a time.
    comparisons: Option<Mutex<(Compare, CompareStatement)>>,
    cookie: String,
}

impl Page {
    /// A page that needs this token.
    pub fn new(
        servers: Vec<PageServer>,
        token: String,
        comparisons: Option<(Compare, CompareStatement)>,
    ) -> Self {
        Self {
            servers,
            // Two pages on one host have different cookies.
            cookie: format!("tare-{}", &token[..8]),
            token,
            comparisons: comparisons.map(Mutex::new),
        }
    }

    fn has_token(&self, request: &Request) -> bool {
        let mut cookies = request
            .cookie
            .split(';')
            .filter_map(|one| one.trim().split_once('='));
        cookies.any(|(name, value)| name == self.cookie && is_same(value, &self.token))
    }

    /// The server that a request names; `Err`: there is none of this name.
    fn server(&self, parameters: &[(String, String)]) -> Result<&PageServer, Response> {
        let Some(id) = value(parameters, "target") else {
            return Ok(&self.servers[0]);
        };
        let server = self.servers.iter().find(|server| server.id() == id);
        server.ok_or_else(|| Response::refused(404, &format!("there is no server {id} here")))
    }

    /// The state of the overview of a server, and all servers at a glance if there are several.
    fn state(&self, server: &PageServer, parameters: &[(String, String)]) -> serde_json::Value {
        let data = lock(&server.shared);
        let mut state = answers::state(&data, &filter(parameters, data.timeline.span()));
        drop(data);
        state["has_comparisons"] = self.comparisons.is_some().into();
        state["history"] = match server.origin() {
            Some(origin) => serde_json::json!({ "host": origin.host, "server": origin.server }),
            None => serde_json::Value::Null,
        };
        if self.servers.len() > 1 {
            let mut range = filter(parameters, servers::span(&self.servers));
            (range.class, range.keys) = (None, Vec::new());
            let is_now = value(parameters, "to").is_none();
            state["server"] = server.id().into();
            state["servers"] = servers::overview(&self.servers, &range, is_now);
        }
        state
    }
}

impl Site for Page {
    fn answer(&self, request: &Request) -> Response {
        protect(self.respond(request))
    }

    fn change(&self, request: &Request) -> Option<Response> {
        let may_change = self.servers.iter().any(|server| server.may_change);
        may_change.then(|| protect(self.change_window(request)))
    }
}

const CONTENT_POLICY: &str = "content-security-policy";

/// Adds the headers that each answer has.
fn protect(mut response: Response) -> Response {
    let has_policy = (response.headers.iter()).any(|(name, _)| *name == CONTENT_POLICY);
    if !has_policy {
        response.headers.push((CONTENT_POLICY, POLICY.to_owned()));
    }
    response.headers.extend([
        ("referrer-policy", "no-referrer".to_owned()),
        ("x-frame-options", "DENY".to_owned()),
        ("cross-origin-resource-policy", "same-origin".to_owned()),
    ]);
    response
}

/// Whether the page that sends a request is this one. The token's cookie does not show it: browsers send it
/// also for pages of other ports of this host.
fn is_same_origin(request: &Request) -> bool {
    let scheme = ["http://", "https://"];
    let host = scheme.iter().find_map(|it| request.origin.strip_prefix(it));
    host.is_some_and(|host| !host.is_empty() && host == request.host)
}

impl Page {
    /// Opens or ends an exact window.
    fn change_window(&self, request: &Request) -> Response {
        if !self.has_token(request) {
            return Response::refused(403, NO_TOKEN);
        }
        if !is_same_origin(request) {
            return Response::refused(403, "only the live page itself may change something");
        }
        let server = match self.server(&parse(request)) {
            Ok(server) => server,
            Err(refused) => return refused,
        };
        if !server.may_change {
            return Response::refused(403, "tare live may open no exact windows of this server");
        }
        let changed = match &*request.path {
            "/api/window/open" => server.request(WatchRequest::OpenWindow),
            "/api/window/end" => server.request(WatchRequest::EndWindow),
            _ => return Response::refused(404, "there is no such page"),
        };
        match changed {
            Ok(()) => Response::ok("application/json", "{}"),
            Err(why) => Response::refused(409, &why),
        }
    }

    /// What changed of a statement, as the history has it.
    fn changes(
        &self,
        server: &PageServer,
        parameters: &[(String, String)],
    ) -> Result<StatementChanges, String> {
        let digest = value(parameters, "sql").filter(|sql| answers::is_digest(sql));
        let digest = digest.ok_or("only statements with a digest are compared")?;
        let range = filter(parameters, lock(&server.shared).timeline.span());
        let origin = server.origin();
        let request = ChangesRequest {
            digest: digest.to_owned(),
            from: range.from,
            to: range.to,
            host: origin.map(|origin| origin.host.clone()),
            server: origin.map(|origin| origin.server.clone()),
        };
        let comparisons = self.comparisons.as_ref().ok_or(NO_HISTORY)?;
        let mut comparisons = comparisons.lock().unwrap_or_else(PoisonError::into_inner);
        comparisons.1(&request)
    }

    fn respond(&self, request: &Request) -> Response {
        let parameters = parse(request);
        if let (Some(token), "/") = (value(&parameters, "token"), &*request.path)
            && is_same(token, &self.token)
        {
            // The redirect removes the token from the address and so from the browser's history.
            let cookie = format!(
                "{}={}; Path=/; HttpOnly; SameSite=Strict",
                self.cookie, self.token
            );
            let mut there = Response::refused(303, "see /");
            there.headers = vec![("location", "/".to_owned()), ("set-cookie", cookie)];
            return there;
        }
        if !self.has_token(request) {
            return Response::refused(403, NO_TOKEN);
        }
        if let Some((_, kind, text)) = FILES.iter().find(|(path, ..)| *path == request.path) {
            return Response::ok(kind, *text);
        }
        let json = |value: serde_json::Value| Response::ok("application/json", value.to_string());
        let server = match self.server(&parameters) {
            Ok(server) => server,
            Err(refused) => return refused,
        };
        match &*request.path {
            "/api/state" => json(self.state(server, &parameters)),
            "/api/status" => {
                let data = lock(&server.shared);
                let to = filter(&parameters, data.timeline.span()).to;
                json(data.status.latest(to))
            }
            "/api/statement" => {
                let sql = value(&parameters, "sql").unwrap_or_default();
                let latencies = server.latencies(sql);
                let data = lock(&server.shared);
                let mut filter = filter(&parameters, data.timeline.span());
                filter.keys.retain(|(at, _)| *at != 0);
                filter.keys.push((0, sql.to_owned()));
                json(answers::statement(&data, &filter, sql, latencies))
            }
            "/api/statement/changes" => match self.changes(server, &parameters) {
                Ok(changes) => json(changes::state(&changes)),
                Err(why) => Response::refused(409, &why),
            },
            "/diff" => match &self.comparisons {
                Some(comparisons) => {
                    let mut comparisons =
                        comparisons.lock().unwrap_or_else(PoisonError::into_inner);
                    let page = diff::page(&parameters, &mut comparisons.0);
                    let mut page = Response::ok("text/html; charset=utf-8", page);
                    page.headers.push((CONTENT_POLICY, FORM_POLICY.to_owned()));
                    page
                }
                None => Response::refused(404, NO_HISTORY),
            },
            _ => Response::refused(404, "there is no such page"),
        }
    }
}

/// The parameters of a request.
fn parse(request: &Request) -> Vec<(String, String)> {
    let parameters = form_urlencoded::parse(request.query.as_bytes());
    parameters.into_owned().collect()
}

/// The value of a parameter.
fn value<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let parameter = parameters.iter().find(|(key, _)| key == name);
    parameter.map(|(_, value)| &**value)
}

/// The default range: the last five minutes.
const DEFAULT_LENGTH_MS: i64 = 300_000;

/// The filter of a request.
fn filter(parameters: &[(String, String)], span: Option<(i64, i64)>) -> Filter {
    let now = millis(SystemTime::now());
    let (_, last) = span.unwrap_or((now, now));
    let number = |name: &str| value(parameters, name)?.parse::<i64>().ok();
    // A length means the last samples.
    let to = number("to").unwrap_or(last + 1);
    let length = number("last")
        .unwrap_or(DEFAULT_LENGTH_MS)
        .clamp(1000, 1 << 40);
    let from = number("from").unwrap_or(to - length).min(to);
    let class = value(parameters, "class");
    let class = class.and_then(|name| CLASSES.iter().position(|each| *each == name));
    let keys = parameters.iter().filter_map(|(key, value)| {
        let at = DIMENSIONS.iter().position(|each| each == key)?;
        Some((at, value.clone()))
    });
    Filter {
        // The bounds limit sums of times to the range of integers, for any request.
        from: from.clamp(0, 1 << 50),
        to: to.clamp(0, 1 << 50),
        class,
        keys: keys.collect(),
    }
}

/// Compares in constant time.
fn is_same(given: &str, token: &str) -> bool {
    let differ = given
        .bytes()
        .zip(token.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differ == 0
}
