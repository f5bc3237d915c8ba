//! COMPRESS and its kin: the length of a text in four bytes, and its bytes as zlib compresses them.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::prelude::*;
use crate::text_builder::MAX_TEXT_BYTES;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("compress", 1, 1, Bytes, |ctx| {
        let Some(bytes) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        if bytes.is_empty() {
            return Ok(Value::Blob(Vec::new()));
        }
        let mut out = (bytes.len() as u32).to_le_bytes().to_vec();
        let mut encoder = ZlibEncoder::new(&mut out, Compression::default());
        let written = encoder
            .write_all(&bytes)
            .and_then(|()| encoder.finish().map(drop));
        if written.is_err() {
            return Ok(Value::Null);
        }
        // A column of type CHAR would lose a space at the end.
        if out.last() == Some(&b' ') {
            out.push(b'.');
        }
        Ok(Value::Blob(out))
    }),
    own("uncompress", 1, 1, Bytes, |ctx| {
        let Some(bytes) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        if bytes.is_empty() {
            return Ok(Value::Blob(Vec::new()));
        }
        let Some((length, compressed)) = split(&bytes) else {
            return Ok(corrupted(ctx));
        };
        if length > MAX_TEXT_BYTES {
            let message = format!(
                "Uncompressed data size too large; the maximum size is {MAX_TEXT_BYTES} (probably, length of uncompressed data was corrupted)"
            );
            ctx.session.warn(1256, &message);
            return Ok(Value::Null);
        }
        let mut out = Vec::new();
        // No more than the promised length, whatever the data say.
        let read = ZlibDecoder::new(compressed)
            .take(length as u64 + 1)
            .read_to_end(&mut out);
        match read {
            Ok(n) if n <= length => Ok(Value::Blob(out)),
            _ => Ok(corrupted(ctx)),
        }
    }),
    own("uncompressed_length", 1, 1, Int, |ctx| {
        let Some(bytes) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        if bytes.is_empty() {
            return Ok(Value::Integer(0));
        }
        match split(&bytes) {
            Some((length, _)) => Ok(Value::Integer(length as i64)),
            None => {
                corrupted(ctx);
                Ok(Value::Integer(0))
            }
        }
    }),
];

/// The promised length, of which two bits are left out, and the compressed bytes.
fn split(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) & 0x3fff_ffff;
    (!rest.is_empty()).then_some((length as usize, rest))
}

fn corrupted(ctx: &Call<'_>) -> Value {
    ctx.session.warn(1259, "ZLIB: Input data corrupted");
    Value::Null
}
