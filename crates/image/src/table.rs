//! A MariaDB's table of functions, which no symbol names: it is found by what it is.
//!
//! `PSI_server` is exported. As linked, it points to a table of functions that do nothing; once
//! `performance_schema=ON` was read, it points to the table that is looked for here. Both lie in data
//! that the loader relocates, so the file has every pointer in them (R_X86_64_RELATIVE in .rela.dyn).

use std::collections::VecDeque;

use crate::elf::Image;

/// A function that returns a table's address, with the check of a version number before, is shorter.
const LONGEST_GETTER: u64 = 64;

const POINTER: u64 = size_of::<u64>() as u64;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No `PSI_server`, or it points nowhere.
    #[error("PSI_server points to no table: this server was built in another way")]
    NoPointer,
    /// None or several.
    #[error("there are {found} tables of {slots} functions besides PSI_server's, not one")]
    NotOne {
        /// How many there are.
        found: usize,
        /// How many functions each has.
        slots: usize,
    },
    /// It may be any table.
    #[error("no function returns the table of {0} functions: this server was built in another way")]
    NotGiven(usize),
}

/// A table of functions; addresses as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Where it is.
    pub address: u64,
    /// The functions in its slots, in order.
    pub functions: Vec<u64>,
}

impl Image {
    /// The table of exactly `slots` functions that `PSI_server` will point to.
    pub fn interface_table(&self, slots: usize) -> Result<Table, TableError> {
        let pointer = self.symbol("PSI_server").ok_or(TableError::NoPointer)?;
        let mut unset = None;
        let mut found = Vec::new();
        // The functions of the run of pointers that ends at `next`; what is before the last `slots` is forgotten.
        let (mut run, mut length, mut next) = (VecDeque::with_capacity(slots), 0, 0);
        for (place, value) in self.relocated().chain([(u64::MAX, 0)]) {
            if place == pointer.address {
                unset = Some(value);
            }
            let is_function = self.room(value).is_some();
            if length > 0 && !(is_function && place == next) {
                if length == slots {
                    found.push(Table {
                        address: next - POINTER * slots as u64,
                        functions: run.iter().copied().collect(),
                    });
                }
                run.clear();
                length = 0;
            }
            if is_function {
                length += 1;
                if run.len() == slots {
                    run.pop_front();
                }
                run.push_back(value);
                next = place.wrapping_add(POINTER);
            }
        }
        let unset = unset.ok_or(TableError::NoPointer)?;
        found.retain(|table| table.address != unset);
        let count = found.len();
        let [table] = <[Table; 1]>::try_from(found).map_err(|_| TableError::NotOne {
            found: count,
            slots,
        })?;
        match self.is_given_out(table.address) {
            true => Ok(table),
            false => Err(TableError::NotGiven(slots)),
        }
    }

    /// Whether the server has a pointer to a short function that takes this address.
    fn is_given_out(&self, address: u64) -> bool {
        self.relocated().any(|(_, function)| {
            let room = self.room(function).filter(|room| *room <= LONGEST_GETTER);
            let code = room.and_then(|room| self.bytes(function, room as usize));
            code.is_some_and(|code| takes_address(code, function, address))
        })
    }
}

/// Whether there is a `lea address(%rip), %r64` in this code.
fn takes_address(code: &[u8], at: u64, address: u64) -> bool {
    code.windows(7).enumerate().any(|(i, bytes)| {
        let &[prefix, opcode, register, a, b, c, d] = bytes else {
            return false;
        };
        let distance = i64::from(i32::from_le_bytes([a, b, c, d]));
        let behind = at + i as u64 + 7;
        prefix & 0xfb == 0x48
            && opcode == 0x8d
            && register & 0xc7 == 0x05
            && behind.wrapping_add_signed(distance) == address
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_taken_is_seen() {
        // push %rbp; lea 0x10(%rip), %rax; pop %rbp; ret
        let code = [0x55, 0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0x5d, 0xc3];
        assert!(takes_address(&code, 0x1000, 0x1018));
        assert!(!takes_address(&code, 0x1000, 0x1019));
        // mov 0x10(%rip), %rax reads it.
        let reads = [0x55, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x5d, 0xc3];
        assert!(!takes_address(&reads, 0x1000, 0x1018));
    }

    #[test]
    fn a_program_without_the_interface_has_no_table() {
        let own = std::env::current_exe().expect("a test is a program");
        let image = Image::open(&own).expect("an ELF program");
        assert!(matches!(
            image.interface_table(135),
            Err(TableError::NoPointer)
        ));
    }
}
