//! Checks that an untested version of a server still has its fields at our offsets, by the server's own
//! functions that read these fields.
//!
//! An instruction has a field's offset as a number of four bytes, if it is 128 or more. All such offsets of a
//! structure must occur in the function that gets the structure, or in the functions that it calls. Smaller
//! offsets are not searched for, because one byte occurs anywhere.

use std::collections::BTreeSet;

use super::host::Host;
use super::targets::Target;
use crate::releases::entry::ServerHooks;

/// A field that is not at its expected offset.
#[derive(Debug, thiserror::Error)]
#[error("{structure} has nothing at {offset:#x} that {function} reads: its fields have moved")]
pub struct MovedField {
    structure: &'static str,
    offset: usize,
    function: &'static str,
}

/// The depth to which calls are followed.
const MAX_DEPTH: usize = 3;
/// The number of functions that are searched: those that get a table's share call a few dozen.
const MAX_FUNCTIONS: usize = 4096;
/// Smaller offsets take one byte.
const MIN_OFFSET: usize = 128;
/// `call` and `jmp` by a distance of four bytes.
const CALLS: [u8; 2] = [0xe8, 0xe9];

/// Searches for all offsets of a release.
pub fn check_fields(
    host: &Host,
    release: &ServerHooks,
    targets: &[Target],
) -> Result<(), MovedField> {
    let share = &release.fields.share;
    let mut of_share = vec![share.keys, share.key_bytes, share.key_count];
    of_share.extend([share.schema.0, share.name.0]);
    of_share.extend([share.schema.1, share.name.1]);
    of_share.extend(share.excluded_if);
    let area = &release.fields.area;
    let of_area = vec![
        area.status,
        area.message,
        area.sqlstate,
        area.number,
        area.rows,
        area.warnings,
    ];
    for (structure, function, expected) in [
        ("TABLE_SHARE", "get_table_share", of_share),
        ("Diagnostics_area", "end_statement", of_area),
    ] {
        let target = targets.iter().find(|target| target.name == function);
        let Some(target) = target else { continue };
        let code = code_of(host, host.as_linked(target.address));
        let numbers: BTreeSet<u32> = code
            .iter()
            .flat_map(|body| four_byte_numbers(body))
            .collect();
        for offset in expected.into_iter().filter(|offset| *offset >= MIN_OFFSET) {
            if !numbers.contains(&(offset as u32)) {
                return Err(MovedField {
                    structure,
                    offset,
                    function,
                });
            }
        }
    }
    Ok(())
}

/// All numbers of four bytes in some code, wherever one may begin.
fn four_byte_numbers(code: &[u8]) -> impl Iterator<Item = u32> {
    code.windows(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The code of a function and of those that it calls, from the program's file.
fn code_of(host: &Host, function: u64) -> Vec<&[u8]> {
    let mut visited = BTreeSet::from([function]);
    let mut next = vec![function];
    let mut code = Vec::new();
    for _ in 0..=MAX_DEPTH {
        for function in std::mem::take(&mut next) {
            let Some(bytes) = body(host, function) else {
                continue;
            };
            code.push(bytes);
            for callee in callees(function, bytes) {
                // Bytes that are a call by accident seldom lead to the beginning of a function.
                let is_new = host.image.function_bytes(callee).is_some() && visited.insert(callee);
                if is_new && visited.len() < MAX_FUNCTIONS {
                    next.push(callee);
                }
            }
        }
    }
    code
}

fn body(host: &Host, function: u64) -> Option<&[u8]> {
    let length = host.image.function_bytes(function)?;
    host.image.bytes(function, usize::try_from(length).ok()?)
}

fn callees(function: u64, code: &[u8]) -> impl Iterator<Item = u64> {
    code.windows(5).enumerate().filter_map(move |(at, five)| {
        let distance = i32::from_le_bytes([five[1], five[2], five[3], five[4]]);
        let behind = function + at as u64 + 5;
        CALLS
            .contains(&five[0])
            .then(|| behind.wrapping_add_signed(distance.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_searched_for_calls_and_numbers() {
        // mov eax, [rdi+0x270]; call 0x1000 behind the call; ret
        let code = [0x8b, 0x87, 0x70, 0x02, 0, 0, 0xe8, 0, 0x10, 0, 0, 0xc3];
        assert!(four_byte_numbers(&code).any(|number| number == 0x270));
        assert_eq!(callees(0x4000, &code).next(), Some(0x4000 + 11 + 0x1000));
    }
}
