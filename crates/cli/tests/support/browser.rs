//! A headless Chromium, driven over its DevTools protocol on two pipes. It clicks, drags and presses keys,
//! and collects the page's errors.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::{Directory, HANG_TIMEOUT, Process, wait_for};

/// A browser with one page.
pub struct Browser {
    _running: Process,
    to: File,
    from: Receiver<Value>,
    session: String,
    next: u64,
    /// Errors and messages that the page has logged.
    pub complaints: Vec<String>,
    _directory: Directory,
}

impl Browser {
    /// Starts Debian's chromium, or another one by its usual names.
    pub fn start() -> Self {
        let directory = Directory::new("browser");
        let path = |name: &str| directory.path().join(name);
        let status = Command::new("mkfifo")
            .args([path("to"), path("from")])
            .status();
        assert!(status.expect("mkfifo(1) starts").success());
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.exists())
            .expect("a browser: run `make deps`");
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$@\" 3<to 4>from", "sh"])
            .arg(program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ]);
        command.args([
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", path("profile").display()));
        command.current_dir(directory.path());
        let log = File::create(path("log")).expect("a log");
        command.stdin(Stdio::null()).stderr(log);
        let running = Process::start(&mut command);
        // In the shell's order: open() of a pipe waits for its other end.
        let to = File::options()
            .write(true)
            .open(path("to"))
            .expect("a pipe");
        let from = File::open(path("from")).expect("a pipe");
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut message = Vec::new();
            while from
                .read_until(0, &mut message)
                .is_ok_and(|bytes| bytes > 0)
            {
                message.pop();
                let value = serde_json::from_slice(&message).expect("JSON");
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            _running: running,
            to,
            from: receiver,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            _directory: directory,
        };
        let target = browser.send("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.send("Target.attachToTarget", attach);
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.send(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command, and waits for its answer.
    fn send(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.try_send(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a command, and waits for its answer or the browser's error.
    fn try_send(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        write!(self.to, "{message}\0").expect("the browser listens");
        loop {
            let message = self
                .from
                .recv_timeout(HANG_TIMEOUT)
                .expect("the browser answers");
            if message["id"] == self.next {
                return match message["error"].is_null() {
                    true => Ok(message["result"].clone()),
                    false => Err(message["error"].clone()),
                };
            }
            let parameters = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => {
                    self.complaints
                        .push(parameters["exceptionDetails"].to_string());
                }
                Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
                Some("Runtime.consoleAPICalled") => {
                    self.complaints.push(parameters["args"].to_string())
                }
                _ => {}
            }
        }
    }

    /// Opens a page.
    pub fn open(&mut self, address: &str) {
        self.send("Page.navigate", json!({"url": address}));
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.send("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true. It may throw until the page is loaded and drawn, and the browser ends its
    /// evaluation when the page is replaced.
    pub fn wait_until(&mut self, expression: &str) {
        let parameters = json!({"expression": expression, "returnByValue": true});
        wait_for(expression, || {
            let answer = self.try_send("Runtime.evaluate", parameters.clone());
            let answer = answer.ok()?;
            (answer["result"]["value"] == true).then_some(())
        });
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let pressed = i32::from(kind != "mouseReleased");
        let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": pressed, "clickCount": 1});
        self.send("Input.dispatchMouseEvent", event);
    }

    /// Drags with the left button from the first point to the last, in pixels of the page.
    pub fn drag(&mut self, points: &[(f64, f64)]) {
        let (first, last) = (points[0], points[points.len() - 1]);
        self.mouse("mousePressed", first);
        for point in points {
            self.mouse("mouseMoved", *point);
        }
        self.mouse("mouseReleased", last);
    }

    /// Left, top, width and height of an element, which `element` is an expression for.
    pub fn rect(&mut self, element: &str) -> [f64; 4] {
        let rect = self.evaluate(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); \
             return [r.left, r.top, r.width, r.height]; }})()"
        ));
        std::array::from_fn(|at| rect[at].as_f64().expect("a number"))
    }

    /// Clicks an element once it exists. Not by the mouse, because lists are redrawn each second and may move.
    pub fn click(&mut self, element: &str) {
        self.wait_until(&format!("({element}).click() === undefined"));
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.send(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key, "code": key}),
            );
        }
    }

    /// Sets the size of the window, and whether colours are dark.
    pub fn set_window(&mut self, width: u32, height: u32, is_dark: bool) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.send("Emulation.setDeviceMetricsOverride", size);
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.send("Emulation.setEmulatedMedia", media);
    }

    /// Writes a screenshot as a PNG file.
    pub fn write_screenshot(&mut self, path: &Path) {
        let answer = self.send("Page.captureScreenshot", json!({"format": "png"}));
        let text = answer["data"].as_str().expect("a picture");
        let bytes = data_encoding::BASE64
            .decode(text.as_bytes())
            .expect("base64");
        std::fs::write(path, bytes).expect("written");
    }
}
