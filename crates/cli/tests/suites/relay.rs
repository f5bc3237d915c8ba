//! Between mysqltest and a server. What a test says to the harness itself is answered here. Where Tare's tables
//! are beside the server, statements about them go there ([`crate::route`]), and the rest passes.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{Program, Programs, Step, with_values};
use crate::route::{Made, Talk, To, of_connection};
use crate::wire::{self, Answer, Greeting, packet};

/// A client's or a server's end, whichever kind of socket it is.
pub trait Stream: Read + Write + Send + Sync + Sized + 'static {
    fn again(&self) -> io::Result<Self>;
    fn end(&self);
}

impl Stream for UnixStream {
    fn again(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for TcpStream {
    fn again(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// Where statements go.
#[derive(Debug)]
pub struct Ends {
    /// Socket of the server.
    pub server: PathBuf,
    /// Socket of Tare's tables, if they are beside it.
    pub tables: Option<PathBuf>,
    made: Made,
    programs: Programs,
    /// Connections whose last statement the server may not have ended yet, though it has answered.
    answered: Mutex<BTreeSet<u32>>,
}

impl Ends {
    pub fn new(server: PathBuf, tables: Option<PathBuf>) -> Self {
        Self {
            server,
            tables,
            made: Made::default(),
            programs: Programs::default(),
            answered: Mutex::default(),
        }
    }
}

/// Listens until the process ends, on a socket and on a port of its own.
pub struct Relay {
    pub socket: PathBuf,
    pub port: u16,
}

impl Relay {
    /// Begins to pass on what comes to `socket`.
    pub fn start(socket: &Path, ends: Ends) -> Self {
        let ends = Arc::new(ends);
        let local = UnixListener::bind(socket).expect("a socket to listen on");
        let to = ends.clone();
        thread::spawn(move || {
            for client in local.incoming().map_while(Result::ok) {
                serve(client, &to);
            }
        });
        let remote = TcpListener::bind("127.0.0.1:0").expect("a port to listen on");
        let port = remote.local_addr().expect("a port").port();
        thread::spawn(move || {
            for client in remote.incoming().map_while(Result::ok) {
                let _ = client.set_nodelay(true);
                serve(client, &ends);
            }
        });
        Self {
            socket: socket.to_owned(),
            port,
        }
    }
}

/// What the server says goes to the client, unless we have asked.
#[derive(Default)]
struct Turn {
    is_ours: AtomicBool,
}

/// Two threads pass on what both sides say.
fn serve<C: Stream>(client: C, ends: &Arc<Ends>) {
    let Ok(server) = UnixStream::connect(&ends.server) else {
        client.end();
        return;
    };
    let (Ok(to), Ok(mut from)) = (client.again(), server.try_clone()) else {
        return;
    };
    let turn = Arc::new(Turn::default());
    let (told, hears) = channel();
    let (ends, ours) = (ends.clone(), turn.clone());
    thread::spawn(move || {
        let _ = answers(&mut from, to.again(), &ours, &told);
        to.end();
        Stream::end(&from);
    });
    thread::spawn(move || {
        let mut session = Session {
            client,
            server,
            ends,
            turn,
            hears,
            tables: None,
            flags: 0,
            connection: 0,
            talk: Talk::default(),
        };
        let _ = session.pass();
        session.client.end();
        Stream::end(&session.server);
    });
}

/// What a server says, packet by packet.
fn answers<C: Stream>(
    from: &mut UnixStream,
    to: io::Result<C>,
    turn: &Turn,
    told: &Sender<Vec<u8>>,
) -> io::Result<()> {
    let mut to = to?;
    // The greeting is the session's: it may offer the client less.
    let _ = told.send(packet(from)?);
    loop {
        let said = packet(from)?;
        match turn.is_ours.load(Ordering::Acquire) {
            true => drop(told.send(said)),
            false => to.write_all(&said)?,
        }
    }
}

/// One client's connection.
struct Session<C> {
    client: C,
    server: UnixStream,
    ends: Arc<Ends>,
    turn: Arc<Turn>,
    /// What the server said to us.
    hears: Receiver<Vec<u8>>,
    /// Its connection to Tare's tables, once it has asked for one.
    tables: Option<UnixStream>,
    flags: u32,
    connection: u32,
    talk: Talk,
}

/// How long an answer may take that we wait for.
const HANG_TIMEOUT: Duration = Duration::from_secs(80);
/// What Tare's protocol does not have: who is served by two is offered what both have.
const LESS: u32 = wire::CLIENT_SSL
    | wire::CLIENT_COMPRESS
    | wire::CLIENT_ZSTD
    | wire::CLIENT_SESSION_TRACK
    | wire::CLIENT_OPTIONAL_METADATA
    | wire::CLIENT_QUERY_ATTRIBUTES;

impl<C: Stream> Session<C> {
    /// What a client says, packet by packet.
    fn pass(&mut self) -> io::Result<()> {
        let mut from = self.client.again()?;
        let mut greeting = self.heard()?;
        let mut greeted = Greeting(&mut greeting);
        self.connection = greeted.connection().unwrap_or_default();
        if self.ends.tables.is_some() {
            greeted.without(LESS);
        }
        self.client.write_all(&greeting)?;
        let mut login = packet(&mut from)?;
        if self.ends.tables.is_some() {
            // A client may ask for what it was not offered.
            wire::ask_less(&mut login, LESS);
        }
        self.flags = wire::flags(&login);
        self.server.write_all(&login)?;
        if login.len() == wire::HEADER + SSL_REQUEST && self.flags & wire::CLIENT_SSL != 0 {
            // What follows cannot be read.
            return io::copy(&mut from, &mut self.server).map(|_| ());
        }
        loop {
            let said = packet(&mut from)?;
            self.said(&said)?;
        }
    }

    fn said(&mut self, said: &[u8]) -> io::Result<()> {
        if wire::text(said).is_some_and(is_the_harness) {
            return self.client.write_all(&wire::OK);
        }
        if self.ends.tables.is_none() {
            return self.server.write_all(said);
        }
        let text = wire::text(said).map(|text| String::from_utf8_lossy(text).into_owned());
        let database = match (&text, wire::command(said)) {
            (Some(sql), _) => Talk::used(sql),
            (None, Some((wire::COM_INIT_DB, name))) => {
                Some(String::from_utf8_lossy(name).to_lowercase())
            }
            _ => None,
        };
        if let Some(database) = database {
            self.talk.uses(database.clone());
            // In the test's own databases Tare may have to keep a copy of one of its tables.
            self.ask_tables(&format!("CREATE DATABASE IF NOT EXISTS {database}"))?;
            self.ask_tables(&format!("USE {database}"))?;
            return self.give_server(said);
        }
        let Some(sql) = text else {
            return self.give_server(said);
        };
        let ends = self.ends.clone();
        ends.programs.create(&sql);
        if let Some((program, arguments)) = ends.programs.called(&sql) {
            let begun = self.begin_load(said)?;
            let mut answers = Vec::new();
            self.call(&program, arguments, &mut answers)?;
            self.end_load(begun)?;
            return self.tell(Answer::of_a_call(self.flags, answers));
        }
        let mut talk = std::mem::take(&mut self.talk);
        let to = talk.route(&sql, &ends.made, |variable| {
            let value = self.ask(&format!("SELECT {variable}")).ok()?;
            value.literals(self.flags)?.pop()
        });
        let variables = talk.variables(&sql);
        self.talk = talk;
        match to {
            To::Server => self.give_server(said),
            To::Tare | To::Both => {
                self.wait_for_ends()?;
                if !variables.is_empty() {
                    let values = self.ask(&format!("SELECT {}", variables.join(", ")))?;
                    let set = assignments(&variables, &values, self.flags);
                    self.ask_tables(&set)?;
                }
                let begun = match to {
                    To::Both => Some(self.begin_load(said)?),
                    _ => None,
                };
                let answer = self.ask_tables(&self.for_tables(&sql))?;
                if let Some(begun) = begun {
                    self.end_load(begun)?;
                }
                if !variables.is_empty() {
                    self.carry_back(&variables)?;
                }
                self.tell(answer)
            }
        }
    }

    fn give_server(&mut self, said: &[u8]) -> io::Result<()> {
        let answered = &self.ends.answered;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.insert(self.connection);
        drop(answered);
        self.server.write_all(said)
    }

    /// A server answers before its statement has ended. Whoever asks it next is answered after that end; who asks Tare
    /// may be answered before it. (Without events of statements there is nothing to see, and nothing to wait for.)
    fn wait_for_ends(&mut self) -> io::Result<()> {
        let answered = &self.ends.answered;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        let waited_for: Vec<String> = std::mem::take(&mut *answered)
            .iter()
            .map(u32::to_string)
            .collect();
        drop(answered);
        if waited_for.is_empty() {
            return Ok(());
        }
        let running = format!(
            "(SELECT COUNT(*) FROM performance_schema.events_statements_current AS s \
             JOIN performance_schema.threads AS t ON t.THREAD_ID = s.THREAD_ID \
             WHERE s.END_EVENT_ID IS NULL AND t.PROCESSLIST_ID IN ({}))",
            waited_for.join(", ")
        );
        // One that waits for a lock goes on running.
        let mut looks = 0;
        while looks < 20 && self.value(&running)? != "0" {
            thread::sleep(Duration::from_millis(1));
            looks += 1;
        }
        Ok(())
    }

    fn tell(&mut self, answer: Answer) -> io::Result<()> {
        answer
            .0
            .iter()
            .try_for_each(|packet| self.client.write_all(packet))
    }

    /// Executes a procedure that only reads Tare's tables.
    fn call(
        &mut self,
        program: &Program,
        arguments: Vec<String>,
        answers: &mut Vec<Answer>,
    ) -> io::Result<()> {
        let names = program.parameters.iter().map(|name| name.to_lowercase());
        let mut values = names.zip(arguments).collect();
        self.steps(&program.body, &mut values, answers)
    }

    fn steps(
        &mut self,
        steps: &[Step],
        values: &mut HashMap<String, String>,
        answers: &mut Vec<Answer>,
    ) -> io::Result<()> {
        for step in steps {
            match step {
                Step::Declare(names) => {
                    values.extend(
                        names
                            .iter()
                            .map(|name| (name.to_lowercase(), "NULL".into())),
                    );
                }
                Step::Set(name, value) => {
                    let value = self.value(&with_values(value, values))?;
                    values.insert(name.to_lowercase(), value);
                }
                Step::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let holds = self.value(&with_values(condition, values))?;
                    let branch = match holds.as_str() {
                        "0" | "NULL" => otherwise,
                        _ => then,
                    };
                    self.steps(branch, values, answers)?;
                }
                Step::Statement(sql) => {
                    let sql = with_values(sql, values);
                    let ends = self.ends.clone();
                    match ends.programs.called(&sql) {
                        Some((inner, arguments)) => self.call(&inner, arguments, answers)?,
                        None => {
                            let sql = self.for_tables(&sql);
                            answers.push(self.ask_tables(&sql)?);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What an expression is, as SQL has it.
    fn value(&mut self, expression: &str) -> io::Result<String> {
        let answer = self.ask_tables(&format!("SELECT {expression}"))?;
        let value = answer.literals(self.flags).and_then(|mut row| row.pop());
        Ok(value.unwrap_or_else(|| "NULL".to_owned()))
    }

    fn carry_back(&mut self, variables: &[String]) -> io::Result<()> {
        let values = self.ask_tables(&format!("SELECT {}", variables.join(", ")))?;
        let set = assignments(variables, &values, self.flags);
        self.ask(&set).map(|_| ())
    }

    /// A statement as Tare's tables are asked it.
    fn for_tables(&self, sql: &str) -> String {
        of_connection(sql, self.connection)
    }

    fn ask_tables(&mut self, sql: &str) -> io::Result<Answer> {
        if self.tables.is_none() {
            self.tables = Some(self.log_in()?);
            // Where every test begins.
            self.ask_tables("USE test")?;
        }
        let tables = self.tables.as_mut().expect("it was made");
        tables.write_all(&wire::query(sql))?;
        Answer::read(self.flags, || packet(tables))
    }

    fn log_in(&self) -> io::Result<UnixStream> {
        let socket = self.ends.tables.as_ref().expect("it was looked");
        let mut tables = UnixStream::connect(socket)?;
        tables.set_read_timeout(Some(HANG_TIMEOUT))?;
        packet(&mut tables)?;
        tables.write_all(&wire::login(self.flags))?;
        let answer = packet(&mut tables)?;
        match answer.get(wire::HEADER) {
            Some(0) => Ok(tables),
            _ => Err(io::Error::other(
                String::from_utf8_lossy(&answer).into_owned(),
            )),
        }
    }

    /// Asks the server something of our own.
    fn ask(&mut self, sql: &str) -> io::Result<Answer> {
        let begun = self.begin_load(&wire::query(sql))?;
        self.end_load(begun)
    }

    /// Has the server begin to execute what the client does not see. Once it has a packet's header, its session is
    /// no longer idle, as it would not be while it answers itself, and has ended the statement before, of which it
    /// counts some after the answer. The rest is for [`Session::end_load`].
    fn begin_load(&mut self, said: &[u8]) -> io::Result<Vec<u8>> {
        self.turn.is_ours.store(true, Ordering::Release);
        self.server.write_all(&said[..wire::HEADER])?;
        let since = Instant::now();
        while unread(&self.server) > 0 && since.elapsed() < HANG_TIMEOUT {
            thread::sleep(Duration::from_micros(100));
        }
        Ok(said[wire::HEADER..].to_vec())
    }

    fn end_load(&mut self, begun: Vec<u8>) -> io::Result<Answer> {
        self.server.write_all(&begun)?;
        let answer = Answer::read(self.flags, || self.heard());
        self.turn.is_ours.store(false, Ordering::Release);
        answer
    }

    fn heard(&self) -> io::Result<Vec<u8>> {
        self.hears
            .recv_timeout(HANG_TIMEOUT)
            .map_err(|error| io::Error::other(error.to_string()))
    }
}

/// What the other end has not yet read of what was written, in bytes of the kernel's.
fn unread(stream: &UnixStream) -> i32 {
    const SIOCOUTQ: rustix::ioctl::Opcode = 0x5411;
    // SAFETY: linux/sockios.h has it as a getter of an int.
    let left =
        unsafe { rustix::ioctl::ioctl(stream, rustix::ioctl::Getter::<SIOCOUTQ, i32>::new()) };
    left.unwrap_or(0)
}

/// Gives variables the values that were asked for.
fn assignments(variables: &[String], values: &Answer, flags: u32) -> String {
    let values = values.literals(flags).unwrap_or_default();
    let pairs: Vec<String> = variables
        .iter()
        .zip(values)
        .map(|(variable, value)| format!("{variable} = {value}"))
        .collect();
    match pairs.is_empty() {
        true => "DO 0".to_owned(),
        false => format!("SET {}", pairs.join(", ")),
    }
}

/// A client's first packet asks for TLS with this length.
const SSL_REQUEST: usize = 32;

/// A call of the harness's own database, where tests leave what its log may say.
fn is_the_harness(sql: &[u8]) -> bool {
    let start = sql.trim_ascii_start();
    start.len() > 9 && start[..9].eq_ignore_ascii_case(b"call mtr.")
}
