//! The frame of a message, the same in both directions: its type, its length, and its body.

/// Bytes that are not understood.
#[derive(Debug)]
pub struct NotUnderstood;

/// A message that is complete.
pub struct Message<'b> {
    pub kind: u8,
    /// Its first bytes, as many as are stored of its type.
    pub body: &'b [u8],
    /// Whether it has more.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// A message's type and length follow.
    #[default]
    Header,
    /// The rest of a message of this type: how many bytes follow, and how many of them are stored.
    Body(u8, usize, usize),
}

/// Reads messages, in parts of any size.
#[derive(Debug, Default)]
pub struct Messages {
    state: State,
    /// The first bytes of a header or body whose rest has to come.
    buffer: Vec<u8>,
    /// The body of the last message, if it came in parts.
    body: Vec<u8>,
}

impl Messages {
    /// The next message. `None`: more bytes have to come. `limit`: how many bytes are stored of a message of
    /// this type; `None`: there is no such type.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        bytes: &mut &'b [u8],
        limit: impl Fn(u8) -> Option<usize>,
    ) -> Result<Option<Message<'a>>, NotUnderstood> {
        self.body = Vec::new();
        if let State::Header = self.state {
            let header = match (self.buffer.is_empty(), bytes.split_first_chunk::<5>()) {
                (true, Some((header, rest))) => {
                    *bytes = rest;
                    *header
                }
                _ if !fill(&mut self.buffer, 5, bytes) => return Ok(None),
                _ => {
                    let header = [0, 1, 2, 3, 4].map(|at| self.buffer[at]);
                    self.buffer.clear();
                    header
                }
            };
            self.begin_body(header, limit)?;
        }
        let State::Body(kind, left, stored) = self.state else {
            return Ok(None);
        };
        let (part, rest) = bytes.split_at(left.min(bytes.len()));
        *bytes = rest;
        let new = part.len().min(stored);
        if part.len() < left {
            self.buffer.extend_from_slice(&part[..new]);
            self.state = State::Body(kind, left - part.len(), stored - new);
            return Ok(None);
        }
        self.state = State::Header;
        let mut body = &part[..new];
        if !self.buffer.is_empty() {
            self.buffer.extend_from_slice(body);
            self.body = std::mem::take(&mut self.buffer);
            body = &self.body;
        }
        Ok(Some(Message {
            kind,
            body,
            // What is not stored is at the end.
            is_cut: new < part.len(),
        }))
    }

    /// Whether the next byte begins a message.
    pub fn is_at_start(&self) -> bool {
        matches!(self.state, State::Header) && self.buffer.is_empty()
    }

    /// Bytes that are stored.
    #[cfg(test)]
    pub fn stored(&self) -> usize {
        self.buffer.len() + self.body.len()
    }

    fn begin_body(
        &mut self,
        [kind, length @ ..]: [u8; 5],
        limit: impl Fn(u8) -> Option<usize>,
    ) -> Result<(), NotUnderstood> {
        let length = u32::from_be_bytes(length);
        let stored = limit(kind).ok_or(NotUnderstood)?;
        // A length counts its own four bytes.
        let left = (length as usize)
            .checked_sub(4)
            .filter(|_| length <= i32::MAX as u32)
            .ok_or(NotUnderstood)?;
        self.state = State::Body(kind, left, stored.min(left));
        Ok(())
    }
}

/// Fills a buffer up to this size. False: more bytes have to come.
pub fn fill(buffer: &mut Vec<u8>, size: usize, bytes: &mut &[u8]) -> bool {
    let missing = size.saturating_sub(buffer.len());
    let (part, rest) = bytes.split_at(missing.min(bytes.len()));
    buffer.extend_from_slice(part);
    *bytes = rest;
    buffer.len() >= size
}

/// A message of this type and body.
#[cfg(test)]
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}
