//! The page's requests: files that are part of the program, and answers in JSON. All need the token,
//! which is in the address of the first request and in a cookie later.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, SystemTime};

use super::answers;
use super::class::CLASSES;
use super::diff::{self, Compare};
use super::latency::{Latencies, Reading};
use super::timeline::{DIMENSIONS, Filter, millis};
use super::watch::{Shared, WatchRequest, lock};
use crate::web::{Request, Response, Site};

/// Allows only the program's own files, no inline scripts or styles, and no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The same for the page that compares, whose form names the windows.
const FORM_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; \
                           frame-ancestors 'none'";

/// The page's files.
const FILES: [(&str, &str, &str); 6] = [
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

/// The longest time to wait for the server's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

const NO_TOKEN: &str = "Open the address that tare live has printed: it has the token.";

/// The live page.
pub struct Page {
    shared: Shared,
    token: String,
    /// The channel of requests to the thread that samples, if there is one.
    requests: Option<Mutex<Sender<WatchRequest>>>,
    /// Whether the page may open and end exact windows.
    may_change: bool,
    /// Compares windows of the history, if there is one. One comparison runs at a time.
    compare: Option<Mutex<Compare>>,
    /// Latencies of the statements whose pages are open.
    latencies: Mutex<Latencies>,
    cookie: String,
}

impl Page {
    /// A page that needs this token.
    pub fn new(
        shared: Shared,
        token: String,
        requests: Option<Sender<WatchRequest>>,
        may_change: bool,
        compare: Option<Compare>,
    ) -> Self {
        Self {
            shared,
            // Two pages on one host have different cookies.
            cookie: format!("tare-{}", &token[..8]),
            token,
            requests: requests.map(Mutex::new),
            may_change,
            compare: compare.map(Mutex::new),
            latencies: Mutex::default(),
        }
    }

    fn has_token(&self, request: &Request) -> bool {
        let mut cookies = request
            .cookie
            .split(';')
            .filter_map(|one| one.trim().split_once('='));
        cookies.any(|(name, value)| name == self.cookie && is_same(value, &self.token))
    }

    /// Sends a request to the thread that samples, and waits for its answer.
    fn request<T>(
        &self,
        new: impl FnOnce(Sender<Result<T, String>>) -> WatchRequest,
    ) -> Result<T, String> {
        let Some(requests) = &self.requests else {
            return Err("history has samples; the server itself is not queried".to_owned());
        };
        let (reply, replied) = channel();
        let gone = || "the thread that asks has ended".to_owned();
        let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.send(new(reply)).map_err(|_| gone())?;
        drop(requests);
        replied
            .recv_timeout(ANSWER_TIMEOUT)
            .map_err(|_| "the server has not answered for ten seconds".to_owned())?
    }

    /// What the server has counted of a digest: queried now, unless it was queried a moment ago.
    fn latencies(&self, digest: &str) -> serde_json::Value {
        if !answers::is_digest(digest) {
            return serde_json::json!({ "why": "this statement has no digest" });
        }
        let all = || {
            self.latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let now = millis(SystemTime::now());
        if all().recent(digest, now).is_none() {
            // Not locked: a server may take ten seconds to answer.
            let summary = self.query(answers::summary_sql(digest));
            let histogram = match &summary {
                Ok(_) => self.query(answers::histogram_sql(digest)),
                Err(why) => Err(why.clone()),
            };
            all().add(digest, Reading::new(now, &summary, &histogram));
        }
        all().state(digest)
    }

    fn query(&self, sql: String) -> Result<tare_history::Answer, String> {
        self.request(|reply| WatchRequest::Query(sql, reply))
    }
}

impl Site for Page {
    fn answer(&self, request: &Request) -> Response {
        protect(self.respond(request))
    }

    fn change(&self, request: &Request) -> Option<Response> {
        self.may_change
            .then(|| protect(self.change_window(request)))
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
        let changed = match &*request.path {
            "/api/window/open" => self.request(WatchRequest::OpenWindow),
            "/api/window/end" => self.request(WatchRequest::EndWindow),
            _ => return Response::refused(404, "there is no such page"),
        };
        match changed {
            Ok(()) => Response::ok("application/json", "{}"),
            Err(why) => Response::refused(409, &why),
        }
    }

    fn respond(&self, request: &Request) -> Response {
        let parameters: Vec<(String, String)> = form_urlencoded::parse(request.query.as_bytes())
            .into_owned()
            .collect();
        let value = |name: &str| {
            parameters
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| &**value)
        };
        if let (Some(token), "/") = (value("token"), &*request.path)
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
        match &*request.path {
            "/api/state" => {
                let data = lock(&self.shared);
                let filter = filter(&parameters, data.timeline.span());
                json(answers::state(&data, &filter))
            }
            "/api/status" => {
                let data = lock(&self.shared);
                let to = filter(&parameters, data.timeline.span()).to;
                json(data.status.latest(to))
            }
            "/api/statement" => {
                let sql = value("sql").unwrap_or_default();
                let latencies = self.latencies(sql);
                let data = lock(&self.shared);
                let mut filter = filter(&parameters, data.timeline.span());
                filter.keys.retain(|(at, _)| *at != 0);
                filter.keys.push((0, sql.to_owned()));
                json(answers::statement(&data, &filter, sql, latencies))
            }
            "/diff" => match &self.compare {
                Some(compare) => {
                    let mut compare = compare.lock().unwrap_or_else(PoisonError::into_inner);
                    let page = diff::page(&parameters, &mut compare);
                    let mut page = Response::ok("text/html; charset=utf-8", page);
                    page.headers.push((CONTENT_POLICY, FORM_POLICY.to_owned()));
                    page
                }
                None => {
                    Response::refused(404, "a comparison needs a history: tare live --history DIR")
                }
            },
            _ => Response::refused(404, "there is no such page"),
        }
    }
}

/// The default range: the last five minutes.
const DEFAULT_LENGTH_MS: i64 = 300_000;

/// The filter of a request.
fn filter(parameters: &[(String, String)], span: Option<(i64, i64)>) -> Filter {
    let now = millis(SystemTime::now());
    let (_, last) = span.unwrap_or((now, now));
    let number = |name: &str| {
        let parameter = parameters.iter().find(|(key, _)| key == name);
        parameter.and_then(|(_, value)| value.parse::<i64>().ok())
    };
    // A length means the last samples.
    let to = number("to").unwrap_or(last + 1);
    let length = number("last")
        .unwrap_or(DEFAULT_LENGTH_MS)
        .clamp(1000, 1 << 40);
    let from = number("from").unwrap_or(to - length).min(to);
    let class = parameters.iter().find(|(key, _)| key == "class");
    let class = class.and_then(|(_, name)| CLASSES.iter().position(|each| each == name));
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
