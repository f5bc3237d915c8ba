//! A proxy between mysqltest and a server. It answers statements for the harness itself. For a server
//! with Tare's engine it sends statements about Tare's tables to `tare serve` ([`crate::route`]), and
//! passes on all others.

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

use crate::program::{Program, Programs, Step, insert_values};
use crate::route::{Copies, RoutingState, To, with_connection_id};
use crate::wire::{self, Answer, Greeting, packet};

/// A Unix or TCP socket.
pub trait Stream: Read + Write + Send + Sync + Sized + 'static {
    fn duplicate(&self) -> io::Result<Self>;
    fn close(&self);
}

impl Stream for UnixStream {
    fn duplicate(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for TcpStream {
    fn duplicate(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// Destinations of statements, and the state that all connections share.
#[derive(Debug)]
pub struct Destinations {
    /// Socket of the server.
    pub server: PathBuf,
    /// Socket of Tare's tables, for a server with Tare's engine.
    pub tables: Option<PathBuf>,
    copies: Copies,
    programs: Programs,
    /// Connections whose last statement was answered but may not have ended yet.
    answered: Mutex<BTreeSet<u32>>,
}

impl Destinations {
    pub fn new(server: PathBuf, tables: Option<PathBuf>) -> Self {
        Self {
            server,
            tables,
            copies: Copies::default(),
            programs: Programs::default(),
            answered: Mutex::default(),
        }
    }
}

/// A listener on a socket and on a port, which runs until the process ends.
pub struct Relay {
    pub socket: PathBuf,
    pub port: u16,
}

impl Relay {
    /// Starts to relay connections.
    pub fn start(socket: &Path, ends: Destinations) -> Self {
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

/// Whether the relay itself receives the server's packets, instead of the client.
#[derive(Default)]
struct Redirect(AtomicBool);

/// Relays a connection with one thread for each direction.
fn serve<C: Stream>(client: C, ends: &Arc<Destinations>) {
    let Ok(server) = UnixStream::connect(&ends.server) else {
        client.close();
        return;
    };
    let (Ok(to), Ok(mut from)) = (client.duplicate(), server.try_clone()) else {
        return;
    };
    let redirect = Arc::new(Redirect::default());
    let (sender, receiver) = channel();
    let (ends, ours) = (ends.clone(), redirect.clone());
    thread::spawn(move || {
        let _ = relay_answers(&mut from, to.duplicate(), &ours, &sender);
        to.close();
        Stream::close(&from);
    });
    thread::spawn(move || {
        let mut session = RelayedSession {
            client,
            server,
            ends,
            redirect,
            receiver,
            tables: None,
            flags: 0,
            connection: 0,
            routing: RoutingState::default(),
        };
        let _ = session.relay();
        session.client.close();
        Stream::close(&session.server);
    });
}

/// Passes the server's packets to the client, or to the session while it redirects them.
fn relay_answers<C: Stream>(
    from: &mut UnixStream,
    to: io::Result<C>,
    redirect: &Redirect,
    session: &Sender<Vec<u8>>,
) -> io::Result<()> {
    let mut to = to?;
    // The session forwards the greeting, because it may remove capabilities.
    let _ = session.send(packet(from)?);
    loop {
        let message = packet(from)?;
        match redirect.0.load(Ordering::Acquire) {
            true => drop(session.send(message)),
            false => to.write_all(&message)?,
        }
    }
}

/// One client's connection.
struct RelayedSession<C> {
    client: C,
    server: UnixStream,
    ends: Arc<Destinations>,
    redirect: Arc<Redirect>,
    /// The server's redirected packets.
    receiver: Receiver<Vec<u8>>,
    /// Its connection to Tare's tables, from the first statement about them on.
    tables: Option<UnixStream>,
    flags: u32,
    connection: u32,
    routing: RoutingState,
}

/// Time limit for an answer to the relay.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(80);
/// Capabilities that `tare serve` lacks. A client of both servers is offered only those that both have.
const UNSUPPORTED: u32 = wire::CLIENT_SSL
    | wire::CLIENT_COMPRESS
    | wire::CLIENT_ZSTD
    | wire::CLIENT_SESSION_TRACK
    | wire::CLIENT_OPTIONAL_METADATA
    | wire::CLIENT_QUERY_ATTRIBUTES;

impl<C: Stream> RelayedSession<C> {
    /// Handles the client's packets.
    fn relay(&mut self) -> io::Result<()> {
        let mut from = self.client.duplicate()?;
        let mut greeting = self.receive()?;
        let mut parsed = Greeting(&mut greeting);
        self.connection = parsed.connection().unwrap_or_default();
        if self.ends.tables.is_some() {
            parsed.remove_capabilities(UNSUPPORTED);
        }
        self.client.write_all(&greeting)?;
        let mut login = packet(&mut from)?;
        if self.ends.tables.is_some() {
            // A client may request capabilities that it was not offered.
            wire::remove_requested(&mut login, UNSUPPORTED);
        }
        self.flags = wire::flags(&login);
        self.server.write_all(&login)?;
        if login.len() == wire::HEADER + SSL_REQUEST && self.flags & wire::CLIENT_SSL != 0 {
            // The rest is encrypted.
            return io::copy(&mut from, &mut self.server).map(|_| ());
        }
        loop {
            let message = packet(&mut from)?;
            self.handle(&message)?;
        }
    }

    fn handle(&mut self, message: &[u8]) -> io::Result<()> {
        if wire::text(message).is_some_and(is_for_harness) {
            return self.client.write_all(&wire::OK);
        }
        if self.ends.tables.is_none() {
            return self.server.write_all(message);
        }
        let text = wire::text(message).map(|text| String::from_utf8_lossy(text).into_owned());
        let database = match (&text, wire::command(message)) {
            (Some(sql), _) => RoutingState::used_database(sql),
            (None, Some((wire::COM_INIT_DB, name))) => {
                Some(String::from_utf8_lossy(name).to_lowercase())
            }
            _ => None,
        };
        if let Some(database) = database {
            self.routing.set_database(database.clone());
            // Copies of Tare's tables may be created in the test's own databases.
            self.query_tables(&format!("CREATE DATABASE IF NOT EXISTS {database}"))?;
            self.query_tables(&format!("USE {database}"))?;
            return self.send_to_server(message);
        }
        let Some(sql) = text else {
            return self.send_to_server(message);
        };
        let ends = self.ends.clone();
        ends.programs.create(&sql);
        if let Some((program, arguments)) = ends.programs.called(&sql) {
            let rest = self.begin_load(message)?;
            let mut answers = Vec::new();
            self.call(&program, arguments, &mut answers)?;
            self.end_load(rest)?;
            return self.send_to_client(Answer::combine(self.flags, answers));
        }
        let mut routing = std::mem::take(&mut self.routing);
        let to = routing.route(&sql, &ends.copies, |variable| {
            let value = self.query_server(&format!("SELECT {variable}")).ok()?;
            value.literals(self.flags)?.pop()
        });
        let variables = routing.variables(&sql);
        self.routing = routing;
        match to {
            To::Server => self.send_to_server(message),
            To::Tare | To::Both => {
                self.wait_for_ends()?;
                if !variables.is_empty() {
                    let values = self.query_server(&format!("SELECT {}", variables.join(", ")))?;
                    let set = assignments(&variables, &values, self.flags);
                    self.query_tables(&set)?;
                }
                let rest = match to {
                    To::Both => Some(self.begin_load(message)?),
                    _ => None,
                };
                let answer = self.query_tables(&self.for_tables(&sql))?;
                if let Some(rest) = rest {
                    self.end_load(rest)?;
                }
                if !variables.is_empty() {
                    self.copy_variables_to_server(&variables)?;
                }
                self.send_to_client(answer)
            }
        }
    }

    fn send_to_server(&mut self, message: &[u8]) -> io::Result<()> {
        let answered = &self.ends.answered;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.insert(self.connection);
        drop(answered);
        self.server.write_all(message)
    }

    /// Waits until statements that were answered have ended. The server itself ends a statement before
    /// it answers the next one, but Tare may answer sooner. Without instrumented statements there is
    /// nothing to wait for.
    fn wait_for_ends(&mut self) -> io::Result<()> {
        let answered = &self.ends.answered;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<String> = std::mem::take(&mut *answered)
            .iter()
            .map(u32::to_string)
            .collect();
        drop(answered);
        if ids.is_empty() {
            return Ok(());
        }
        let running = format!(
            "(SELECT COUNT(*) FROM performance_schema.events_statements_current AS s \
             JOIN performance_schema.threads AS t ON t.THREAD_ID = s.THREAD_ID \
             WHERE s.END_EVENT_ID IS NULL AND t.PROCESSLIST_ID IN ({}))",
            ids.join(", ")
        );
        // A statement that waits for a lock keeps running, so stop after 20 attempts.
        let mut attempts = 0;
        while attempts < 20 && self.value(&running)? != "0" {
            thread::sleep(Duration::from_millis(1));
            attempts += 1;
        }
        Ok(())
    }

    fn send_to_client(&mut self, answer: Answer) -> io::Result<()> {
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
        self.execute_steps(&program.body, &mut values, answers)
    }

    fn execute_steps(
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
                    let value = self.value(&insert_values(value, values))?;
                    values.insert(name.to_lowercase(), value);
                }
                Step::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let holds = self.value(&insert_values(condition, values))?;
                    let branch = match holds.as_str() {
                        "0" | "NULL" => otherwise,
                        _ => then,
                    };
                    self.execute_steps(branch, values, answers)?;
                }
                Step::Statement(sql) => {
                    let sql = insert_values(sql, values);
                    let ends = self.ends.clone();
                    match ends.programs.called(&sql) {
                        Some((inner, arguments)) => self.call(&inner, arguments, answers)?,
                        None => {
                            let sql = self.for_tables(&sql);
                            answers.push(self.query_tables(&sql)?);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of an expression as an SQL literal.
    fn value(&mut self, expression: &str) -> io::Result<String> {
        let answer = self.query_tables(&format!("SELECT {expression}"))?;
        let value = answer.literals(self.flags).and_then(|mut row| row.pop());
        Ok(value.unwrap_or_else(|| "NULL".to_owned()))
    }

    fn copy_variables_to_server(&mut self, variables: &[String]) -> io::Result<()> {
        let values = self.query_tables(&format!("SELECT {}", variables.join(", ")))?;
        let set = assignments(variables, &values, self.flags);
        self.query_server(&set).map(|_| ())
    }

    /// A statement for Tare's tables, with this connection's ids in it.
    fn for_tables(&self, sql: &str) -> String {
        with_connection_id(sql, self.connection)
    }

    fn query_tables(&mut self, sql: &str) -> io::Result<Answer> {
        if self.tables.is_none() {
            self.tables = Some(self.log_in()?);
            // The database in which every test begins.
            self.query_tables("USE test")?;
        }
        let tables = self.tables.as_mut().expect("connected");
        tables.write_all(&wire::query(sql))?;
        Answer::read(self.flags, || packet(tables))
    }

    fn log_in(&self) -> io::Result<UnixStream> {
        let socket = self.ends.tables.as_ref().expect("a socket of tables");
        let mut tables = UnixStream::connect(socket)?;
        tables.set_read_timeout(Some(ANSWER_TIMEOUT))?;
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

    /// Sends the server a statement of the relay's own.
    fn query_server(&mut self, sql: &str) -> io::Result<Answer> {
        let rest = self.begin_load(&wire::query(sql))?;
        self.end_load(rest)
    }

    /// Sends the header of a packet whose answer the client does not see, and returns the rest for
    /// [`Self::end_load`]. Once the server has read the header, its session is no longer idle, and its
    /// previous statement has ended.
    fn begin_load(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        self.redirect.0.store(true, Ordering::Release);
        self.server.write_all(&message[..wire::HEADER])?;
        let since = Instant::now();
        while unread(&self.server) > 0 && since.elapsed() < ANSWER_TIMEOUT {
            thread::sleep(Duration::from_micros(100));
        }
        Ok(message[wire::HEADER..].to_vec())
    }

    fn end_load(&mut self, rest: Vec<u8>) -> io::Result<Answer> {
        self.server.write_all(&rest)?;
        let answer = Answer::read(self.flags, || self.receive());
        self.redirect.0.store(false, Ordering::Release);
        answer
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        self.receiver
            .recv_timeout(ANSWER_TIMEOUT)
            .map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Bytes of kernel memory for sent data that the other end has not read.
fn unread(stream: &UnixStream) -> i32 {
    const SIOCOUTQ: rustix::ioctl::Opcode = 0x5411;
    // SAFETY: linux/sockios.h has it as a getter of an int.
    let unread =
        unsafe { rustix::ioctl::ioctl(stream, rustix::ioctl::Getter::<SIOCOUTQ, i32>::new()) };
    unread.unwrap_or(0)
}

/// A SET statement that assigns values to variables.
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

/// The length of a client's first packet that requests TLS.
const SSL_REQUEST: usize = 32;

/// Whether a statement calls a procedure of the harness's own database, which configures its log checks.
fn is_for_harness(sql: &[u8]) -> bool {
    let start = sql.trim_ascii_start();
    start.len() > 9 && start[..9].eq_ignore_ascii_case(b"call mtr.")
}
