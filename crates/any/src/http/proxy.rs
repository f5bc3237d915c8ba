//! The header of the PROXY protocol, with which a proxy names its client before the first request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest header of version 1, and what version 2 begins with.
const MAX_LINE_BYTES: usize = 107;
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// A header.
#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    /// The address of the proxy's client; `None`: the header has none.
    pub client: Option<IpAddr>,
}

/// The header with which these bytes begin, and its length. nginx refuses one that does not come at once.
pub fn read(bytes: &[u8]) -> Option<(Header, usize)> {
    match bytes.strip_prefix(SIGNATURE) {
        Some(rest) => read_binary(rest),
        None => read_line(bytes),
    }
}

fn read_line(bytes: &[u8]) -> Option<(Header, usize)> {
    let line = bytes.strip_prefix(b"PROXY ")?;
    let most = &bytes[..bytes.len().min(MAX_LINE_BYTES)];
    let end = most.iter().position(|&byte| byte == b'\n')? + 1;
    let line = bytes[..end]
        .strip_suffix(b"\r\n")?
        .get(bytes.len() - line.len()..)?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    let client = match words.next()? {
        "TCP4" | "TCP6" => Some(words.next()?.parse().ok()?),
        "UNKNOWN" => None,
        _ => return None,
    };
    Some((Header { client }, end))
}

fn read_binary(rest: &[u8]) -> Option<(Header, usize)> {
    let (&[version, family, high, low], rest) = rest.split_first_chunk::<4>()?;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let addresses = rest.get(..length).filter(|_| version >> 4 == 2)?;
    let client = match family >> 4 {
        1 => (addresses.first_chunk::<4>()).map(|ip| Ipv4Addr::from(*ip).into()),
        2 => (addresses.first_chunk::<16>()).map(|ip| Ipv6Addr::from(*ip).into()),
        _ => None,
    };
    // The command LOCAL: the proxy's own connection.
    let client = client.filter(|_| version & 15 == 1);
    Some((Header { client }, SIGNATURE.len() + 4 + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn any_bytes_have_a_header_or_none() {
        let pieces: &[&[u8]] = &[
            SIGNATURE,
            b"\x21\x11\0\x0c",
            b"\x21\x21\0\x24",
            b"\x20\0\0\0",
            b"\x21\x11\xff\xff",
            &[7; 12],
            b"PROXY ",
            b"TCP4 192.0.2.7 ",
            b"TCP6 ::1 ",
            b"UNKNOWN",
            b"\r\n",
        ];
        for seed in 0..20_000 {
            let bytes = Random::new(seed).bytes(pieces, 6);
            assert!(read(&bytes).is_none_or(|(_, length)| length <= bytes.len()));
        }
    }

    #[test]
    fn headers_name_the_client() {
        let client = |bytes: &[u8]| {
            let behind = [bytes, b"GET / HTTP/1.1\r\n"].concat();
            let (header, length) = read(&behind)?;
            assert_eq!(length, bytes.len());
            assert_eq!(read(bytes).as_ref(), Some(&(Header { ..header }, length)));
            Some(header.client)
        };
        let ip = |text: &str| Some(Some(text.parse().expect("an address")));
        assert_eq!(
            client(b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n"),
            ip("192.0.2.7")
        );
        assert_eq!(
            client(b"PROXY TCP6 2001:db8::7 ::1 1 2\r\n"),
            ip("2001:db8::7")
        );
        assert_eq!(client(b"PROXY UNKNOWN\r\n"), Some(None));
        let binary = |command: u8, family: u8, rest: &[u8]| {
            [
                SIGNATURE,
                &[0x20 | command, family, 0, rest.len() as u8],
                rest,
            ]
            .concat()
        };
        let addresses = [192, 0, 2, 9, 192, 0, 2, 1, 0, 1, 0, 2];
        assert_eq!(client(&binary(1, 0x11, &addresses)), ip("192.0.2.9"));
        assert_eq!(client(&binary(0, 0, &[])), Some(None));
        assert_eq!(client(&binary(1, 0x21, &addresses)), Some(None));
        for bytes in [
            &b"PROXY TCP4 x y 1 2\r\n"[..],
            b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2",
            b"PROXY /a HTTP/1.1\r\n",
            b"GET / HTTP/1.1\r\n",
            b"",
            &binary(1, 0x11, &addresses)[..20],
        ] {
            assert_eq!(read(bytes), None);
        }
    }
}
