//! The transactions of a session: those that BEGIN opens, and those of single messages and pipelines.

use engine::transaction::{self, Isolation, Mode, Transaction};

use super::commands::{self, Command, Commands};
use super::statements::Source;

/// The transaction of a session.
#[derive(Default)]
pub struct Transactions {
    open: Option<Transaction>,
    has_failed: bool,
}

impl Transactions {
    /// A statement begins.
    pub fn begin(&mut self, commands: &Commands, command: &Command) {
        let is_explicit = matches!(command.tag, "BEGIN" | "START TRANSACTION");
        self.open(commands, !is_explicit);
    }

    fn open(&mut self, commands: &Commands, autocommit: bool) {
        self.open.get_or_insert_with(|| {
            let mode = Mode {
                isolation: Isolation::ReadCommitted,
                read_only: false,
                autocommit,
            };
            transaction::start(commands.transaction, mode)
        });
    }

    /// A statement has ended with this tag.
    pub fn follow(&mut self, tag: &str, source: &Source) {
        let is_end = match tag {
            "COMMIT" | "PREPARE TRANSACTION" => true,
            // ROLLBACK TO a savepoint does not end it.
            "ROLLBACK" => !commands::has_word(source.tokens(), "to"),
            _ => false,
        };
        if is_end {
            self.has_failed |= tag == "ROLLBACK";
            self.end();
        }
    }

    /// A statement has failed.
    pub fn fail(&mut self) {
        self.has_failed = true;
    }

    /// The server waits for a request, in this state.
    pub fn settle(&mut self, commands: &Commands, state: u8) {
        match state {
            b'I' => self.end(),
            // COMMIT AND CHAIN has begun another one.
            _ => self.open(commands, false),
        }
    }

    fn end(&mut self) {
        let has_failed = std::mem::take(&mut self.has_failed);
        match self.open.take() {
            Some(transaction) if has_failed => transaction.rollback(),
            Some(transaction) => transaction.commit(),
            None => {}
        }
    }
}
