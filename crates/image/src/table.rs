//! Finds a MariaDB's table of functions, which no symbol names, by its contents.
//!
//! `PSI_server` is exported. As linked, it points to a table of functions that do nothing; once
//! `performance_schema=ON` was read, it points to the table that this module finds. The loader
//! relocates both, so the file lists every pointer in them (R_X86_64_RELATIVE in .rela.dyn).

use std::collections::VecDeque;

use crate::elf::Image;

/// A function that checks a version number and returns a table's address is shorter.
const MAX_GETTER_BYTES: u64 = 64;

const POINTER: u64 = size_of::<u64>() as u64;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No `PSI_server`, or it points nowhere.
    #[error("PSI_server points to no table: this server was built in another way")]
    NoPointer,
    /// There is none, or there are several.
    #[error("there are {tables} tables of {slots} functions besides PSI_server's, not one")]
    NotOne {
        /// The number of tables.
        tables: usize,
        /// The number of functions in each.
        slots: usize,
    },
    /// No function returns its address, so it may be any table.
    #[error("no function returns the table of {0} functions: this server was built in another way")]
    NoGetter(usize),
}

/// A table of functions; addresses as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its address.
    pub address: u64,
    /// The functions in its slots, in order.
    pub functions: Vec<u64>,
}

impl Image {
    /// The table of exactly `slots` functions that `PSI_server` will point to.
    pub fn interface_table(&self, slots: usize) -> Result<Table, TableError> {
        let pointer = self.symbol("PSI_server").ok_or(TableError::NoPointer)?;
        let mut unset = None;
        let mut tables = Vec::new();
        // The last `slots` functions of the run of pointers that ends at `next`.
        let (mut run, mut length, mut next) = (VecDeque::with_capacity(slots), 0, 0);
        for (place, value) in self.relocations().chain([(u64::MAX, 0)]) {
            if place == pointer.address {
                unset = Some(value);
            }
            let is_function = self.function_bytes(value).is_some();
            if length > 0 && !(is_function && place == next) {
                if length == slots {
                    tables.push(Table {
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
        tables.retain(|table| table.address != unset);
        let count = tables.len();
        let [table] = <[Table; 1]>::try_from(tables).map_err(|_| TableError::NotOne {
            tables: count,
            slots,
        })?;
        match self.has_getter(table.address) {
            true => Ok(table),
            false => Err(TableError::NoGetter(slots)),
        }
    }

    /// Whether the server has a pointer to a short function that loads this address.
    fn has_getter(&self, address: u64) -> bool {
        self.relocations().any(|(_, function)| {
            let function_bytes = self
                .function_bytes(function)
                .filter(|function_bytes| *function_bytes <= MAX_GETTER_BYTES);
            let code = function_bytes
                .and_then(|function_bytes| self.bytes(function, function_bytes as usize));
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
    fn an_instruction_that_takes_an_address_is_recognised() {
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
