//! Checks whether bytes are a segment, on a copy of the first page, before anything is mapped.
//!
//! | checked | how |
//! |---|---|
//! | magic, layout version, header's size | equal to this reader's |
//! | each limit | within its bounds |
//! | each region's offset, stride and count | equal to what follows from the limits |
//! | total bytes | equal to what follows from the limits, and no more than the file has |
//!
//! Readers use only the geometry that is computed here. Numbers inside the segment (of classes, banks, lines,
//! ...) are checked where they are used.

use std::mem::offset_of;

use tare_layout::geometry::{LIMIT_NAMES, LIMITS};
use tare_layout::header::{HEADER_BYTES, Header, Place};
use tare_layout::{Geometry, LAYOUT_VERSION, Limits, MAGIC};

use crate::error::Invalid;

/// A copy of a segment's first page.
pub type FirstPage = [u8; HEADER_BYTES];

/// Checks a segment that begins with `page` and is `bytes` long, and computes its geometry.
///
/// # Errors
/// [`Invalid`], with the first field that is wrong.
pub fn validate(page: &FirstPage, bytes: u64) -> Result<Geometry, Invalid> {
    if word(page, offset_of!(Header, magic)) != MAGIC {
        return Err(Invalid::Magic);
    }
    let version = half(page, offset_of!(Header, layout_version));
    if version != LAYOUT_VERSION {
        return Err(Invalid::Version { actual: version });
    }
    let header_bytes = half(page, offset_of!(Header, header_bytes));
    let expected = size_of::<Header>() as u32;
    if header_bytes != expected {
        return Err(Invalid::HeaderBytes {
            actual: header_bytes,
            expected,
        });
    }
    let values: [u64; LIMITS] =
        std::array::from_fn(|i| word(page, offset_of!(Header, limits) + 8 * i));
    let limits = Limits::from_array(values).map_err(|name| limit(name, &values))?;
    let geometry = Geometry::new(limits);
    for (region, extent) in geometry.regions.iter().enumerate() {
        let place = offset_of!(Header, regions) + region * size_of::<Place>();
        let actual = [0, 8, 16].map(|i| word(page, place + i));
        if actual != [extent.offset, extent.stride, extent.count].map(|n| n as u64) {
            return Err(Invalid::Region { region });
        }
    }
    let expected = geometry.total_bytes as u64;
    let actual = word(page, offset_of!(Header, total_bytes));
    if actual != expected {
        return Err(Invalid::TotalBytes { actual, expected });
    }
    if bytes < expected {
        return Err(Invalid::Truncated {
            actual: bytes,
            needed: expected,
        });
    }
    Ok(geometry)
}

fn limit(name: &'static str, values: &[u64; LIMITS]) -> Invalid {
    let i = LIMIT_NAMES.iter().position(|n| *n == name);
    let value = i.and_then(|i| values.get(i)).copied().unwrap_or_default();
    Invalid::Limit { name, value }
}

fn word(page: &FirstPage, at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| page[at + i]))
}

fn half(page: &FirstPage, at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| page[at + i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(limits: Limits) -> (FirstPage, Geometry) {
        let geometry = Geometry::new(limits.clamped());
        let mut page = [0; HEADER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(offset_of!(Header, magic), &MAGIC.to_le_bytes());
        put(
            offset_of!(Header, layout_version),
            &LAYOUT_VERSION.to_le_bytes(),
        );
        put(
            offset_of!(Header, header_bytes),
            &(size_of::<Header>() as u32).to_le_bytes(),
        );
        put(
            offset_of!(Header, total_bytes),
            &(geometry.total_bytes as u64).to_le_bytes(),
        );
        for (i, value) in geometry.limits.to_array().into_iter().enumerate() {
            put(offset_of!(Header, limits) + 8 * i, &value.to_le_bytes());
        }
        for (i, extent) in geometry.regions.iter().enumerate() {
            let at = offset_of!(Header, regions) + 24 * i;
            for (j, n) in [extent.offset, extent.stride, extent.count]
                .into_iter()
                .enumerate()
            {
                put(at + 8 * j, &(n as u64).to_le_bytes());
            }
        }
        (page, geometry)
    }

    #[test]
    fn a_writers_header_is_accepted() {
        let (page, geometry) = page_of(Limits::default());
        assert_eq!(validate(&page, geometry.total_bytes as u64), Ok(geometry));
    }

    #[test]
    fn each_damaged_field_is_named() {
        let (good, geometry) = page_of(Limits::default());
        let bytes = geometry.total_bytes as u64;
        let damaged = |at: usize, by: u8| {
            let mut page = good;
            page[at] = page[at].wrapping_add(by);
            validate(&page, bytes).expect_err("refused")
        };
        assert_eq!(damaged(0, 1), Invalid::Magic);
        let version = offset_of!(Header, layout_version);
        assert_eq!(
            damaged(version, 6),
            Invalid::Version {
                actual: LAYOUT_VERSION + 6
            }
        );
        assert!(matches!(
            damaged(offset_of!(Header, header_bytes), 8),
            Invalid::HeaderBytes { .. }
        ));
        assert!(matches!(
            damaged(offset_of!(Header, total_bytes) + 2, 1),
            Invalid::TotalBytes { .. }
        ));
        assert!(matches!(
            damaged(offset_of!(Header, limits) + 7, 1),
            Invalid::Limit {
                name: "classes",
                ..
            }
        ));
        // A limit within its bounds, which does not fit the regions.
        assert!(matches!(
            damaged(offset_of!(Header, limits), 1),
            Invalid::Region { .. }
        ));
        for region in 0..geometry.regions.len() {
            let at = offset_of!(Header, regions) + 24 * region;
            assert_eq!(damaged(at + 1, 1), Invalid::Region { region });
            assert_eq!(damaged(at + 23, 1), Invalid::Region { region });
        }
        assert_eq!(
            validate(&good, bytes - 1),
            Err(Invalid::Truncated {
                actual: bytes - 1,
                needed: bytes
            })
        );
        assert_eq!(validate(&[0; HEADER_BYTES], bytes), Err(Invalid::Magic));
    }
}
