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
        let goes_back = tag == "ROLLBACK" && commands::has_word(source.tokens(), "to");
        match (tag, &self.open) {
            ("SAVEPOINT", Some(transaction)) => transaction.savepoint(),
            ("RELEASE", Some(transaction)) => transaction.release_savepoint(),
            ("ROLLBACK", Some(transaction)) if goes_back => transaction.rollback_to_savepoint(),
            // The tag says how it ends: COMMIT of one that has failed has the tag ROLLBACK.
            ("COMMIT" | "PREPARE TRANSACTION", _) => self.end(false),
            ("ROLLBACK", _) if !goes_back => self.end(true),
            _ => {}
        }
    }

    /// A statement has failed.
    pub fn fail(&mut self) {
        self.has_failed = true;
    }

    /// The server waits for a request, in this state.
    pub fn settle(&mut self, commands: &Commands, state: u8) {
        match state {
            b'I' => self.end(self.has_failed),
            _ => {
                // COMMIT AND CHAIN has begun another one.
                self.open(commands, false);
                // ROLLBACK TO a savepoint undoes the failure.
                self.has_failed = state == b'E';
            }
        }
    }

    fn end(&mut self, is_undone: bool) {
        self.has_failed = false;
        match self.open.take() {
            Some(transaction) if is_undone => transaction.rollback(),
            Some(transaction) => transaction.commit(),
            None => {}
        }
    }
}
