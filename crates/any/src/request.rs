//! A request: the first bytes of its first arguments.

/// Bytes of an argument that are stored.
pub const MAX_ARGUMENT_BYTES: usize = 128;
/// Arguments that are stored.
pub const MAX_ARGUMENTS: usize = 64;

/// A request, cut.
#[derive(Debug, Default)]
pub struct Request {
    bytes: Vec<u8>,
    /// Where each stored argument ends in `bytes`, and whether it was longer.
    ends: Vec<(u32, bool)>,
    count: usize,
}

impl Request {
    /// The number of arguments, the command's name included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of arguments that are stored.
    pub fn stored(&self) -> usize {
        self.ends.len()
    }

    /// The first bytes of an argument; empty = it is not stored.
    pub fn argument(&self, number: usize) -> &[u8] {
        let Some(&(end, _)) = self.ends.get(number) else {
            return &[];
        };
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.ends[before].0);
        &self.bytes[start as usize..end as usize]
    }

    /// Removes the arguments, and keeps their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.count = 0;
    }

    /// Bytes of memory that its arguments take.
    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<(u32, bool)>()
    }

    /// Whether an argument is longer than what is stored of it.
    pub fn is_cut(&self, number: usize) -> bool {
        self.ends.get(number).is_none_or(|&(_, is_cut)| is_cut)
    }

    /// An argument that is stored in full, as text.
    pub fn text(&self, number: usize) -> Option<&str> {
        match self.is_cut(number) {
            true => None,
            false => std::str::from_utf8(self.argument(number)).ok(),
        }
    }

    /// Appends a part of the last argument, as far as there is space.
    pub fn append(&mut self, part: &[u8]) {
        if self.count > self.ends.len() {
            return;
        }
        let before = self.ends.iter().rev().nth(1).map_or(0, |&(end, _)| end);
        if let Some((end, is_cut)) = self.ends.last_mut() {
            let space = MAX_ARGUMENT_BYTES - (*end - before) as usize;
            let stored = part.len().min(space);
            self.bytes.extend_from_slice(&part[..stored]);
            *end += stored as u32;
            *is_cut |= stored < part.len();
        }
    }

    /// Begins the next argument.
    pub fn begin_argument(&mut self) {
        self.count += 1;
        if self.count <= MAX_ARGUMENTS {
            self.ends.push((self.bytes.len() as u32, false));
        }
    }

    /// Appends a whole argument.
    #[inline]
    pub fn push(&mut self, argument: &[u8]) {
        self.count += 1;
        if self.count <= MAX_ARGUMENTS {
            let stored = &argument[..argument.len().min(MAX_ARGUMENT_BYTES)];
            self.bytes.extend_from_slice(stored);
            let is_cut = stored.len() < argument.len();
            self.ends.push((self.bytes.len() as u32, is_cut));
        }
    }

    /// A request of these arguments.
    #[cfg(test)]
    pub fn of(arguments: &[&str]) -> Self {
        let mut request = Self::default();
        for argument in arguments {
            request.push(argument.as_bytes());
        }
        request
    }
}
