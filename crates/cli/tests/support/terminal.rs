//! A terminal of our own, what is drawn on it, and what is typed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::{Directory, Running, wait_for};

/// A terminal that somebody looks at.
pub struct Terminal {
    pub running: Running,
    keyboard: File,
    pub seen: Arc<Mutex<String>>,
    settings: Box<dyn Fn() -> bool>,
}

/// Into the alternate screen, and back.
pub const TAKEN: &str = "\x1b[?1049h";
pub const GIVEN_BACK: &str = "\x1b[?1049l";

impl Terminal {
    /// `tare top` on a terminal of its own, of 100 by 30.
    pub fn start(socket: &Path) -> Self {
        let directory = Directory::new("pty");
        let dsn = socket.to_str().expect("UTF-8");
        Self::of(&mut directory.tare(["top", "-i", "0.2", "--dsn", dsn]))
    }

    /// A command on such a terminal.
    pub fn of(command: &mut Command) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("granted");
        unlockpt(&ours).expect("unlocked");
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size).expect("a size");
        let name = ptsname(&ours, Vec::new())
            .expect("a name")
            .into_string()
            .expect("UTF-8");
        let theirs: OwnedFd = File::options()
            .read(true)
            .write(true)
            .open(name)
            .expect("opened")
            .into();
        let kept = theirs.try_clone().expect("cloned");
        command
            .stdin(Stdio::from(theirs.try_clone().expect("cloned")))
            .stderr(Stdio::from(theirs.try_clone().expect("cloned")));
        let running = Running::start_on(command, Stdio::from(theirs));
        let seen = Arc::new(Mutex::new(String::new()));
        let mut screen = File::from(ours.try_clone().expect("cloned"));
        let text = seen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut bytes) {
                text.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..length]));
            }
        });
        let settings = Box::new(move || {
            tcgetattr(&kept)
                .expect("settings")
                .local_modes
                .contains(LocalModes::ICANON | LocalModes::ECHO)
        });
        Self {
            running,
            keyboard: File::from(ours),
            seen,
            settings,
        }
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        let size = rustix::termios::Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.keyboard, size).expect("a size");
        self.running.signal("WINCH");
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Waits for a text, and forgets what came before its end.
    pub fn sees(&self, text: &str) {
        wait_for(text, || {
            let mut seen = self.seen.lock().unwrap();
            let end = seen.find(text)? + text.len();
            seen.drain(..end);
            Some(())
        });
    }

    pub fn is_as_before(&self) -> bool {
        (self.settings)()
    }
}
