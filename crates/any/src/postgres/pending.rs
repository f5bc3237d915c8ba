//! Messages that wait for their replies.

use std::rc::Rc;

use super::statements::{Change, Portal, Source, StoredText};

/// A message that was read and has had no reply.
pub struct Pending {
    pub step: Step,
    /// When it arrived.
    pub since: u64,
}

/// What a message asks for.
pub enum Step {
    /// A simple query: the statement that is next, and the text behind it.
    Query(Option<Rc<Source>>, Rest),
    Parse(Rc<Source>, Change<Source>),
    Bind(Rc<Source>, Change<Portal>),
    Describe(Rc<Source>),
    Execute(Rc<Portal>),
    CloseStatement(Change<Source>),
    ClosePortal(Change<Portal>),
    Sync,
    FunctionCall,
    /// The client has ended a COPY.
    CopyEnd,
}

/// The statements of a simple query that have not begun.
#[derive(Default)]
pub struct Rest {
    pub text: Option<StoredText>,
    /// Where the next one begins.
    pub at: usize,
}
