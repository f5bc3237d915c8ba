//! Addresses of hosts.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("inet6_aton", 1, 1, Bytes, |ctx| {
        opt(text(ctx, 0).and_then(|s| {
            s.parse::<std::net::IpAddr>().ok().map(|ip| match ip {
                std::net::IpAddr::V4(ip) => ip.octets().to_vec(),
                std::net::IpAddr::V6(ip) => ip.octets().to_vec(),
            })
        }))
    }),
    own("inet6_ntoa", 1, 1, Text, |ctx| {
        // A text is no address, whatever its length.
        opt(match ctx.get_raw(0) {
            ValueRef::Blob(b) => address(b).map(|ip| ip.to_string()),
            _ => None,
        })
    }),
    own("inet_aton", 1, 1, Unsigned, |ctx| {
        opt(text(ctx, 0).and_then(|s| number_of_address(&s)))
    }),
    own("inet_ntoa", 1, 1, Text, |ctx| {
        opt(int(ctx, 0)
            .and_then(|n| u32::try_from(n).ok())
            .map(|n| std::net::Ipv4Addr::from(n).to_string()))
    }),
    own("is_ipv4", 1, 1, Int, |ctx| is_address(ctx, true)),
    own("is_ipv4_compat", 1, 1, Int, |ctx| embeds(ctx, false)),
    own("is_ipv4_mapped", 1, 1, Int, |ctx| embeds(ctx, true)),
    own("is_ipv6", 1, 1, Int, |ctx| is_address(ctx, false)),
];

/// The number of an IPv4 address. Of fewer than four parts, the last one is the address's last byte.
fn number_of_address(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() > 4 || parts.last().is_some_and(|last| last.is_empty()) {
        return None;
    }
    let mut bytes = [0u8; 4];
    for (i, part) in parts.iter().enumerate() {
        let at = if i + 1 == parts.len() { 3 } else { i };
        let is_number = part.bytes().all(|b| b.is_ascii_digit());
        bytes[at] = match part.is_empty() {
            true => 0,
            false => part.parse().ok().filter(|_| is_number)?,
        };
    }
    Some(u32::from_be_bytes(bytes).into())
}

fn address(bytes: &[u8]) -> Option<std::net::IpAddr> {
    Some(match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok()?.into(),
        16 => <[u8; 16]>::try_from(bytes).ok()?.into(),
        _ => return None,
    })
}

/// Whether a text is an address of IPv4, or of IPv6.
fn is_address(ctx: &Call<'_>, four: bool) -> Answer {
    let is_address = |s: &str| {
        let ip = s.parse::<std::net::IpAddr>();
        ip.is_ok_and(|ip| ip.is_ipv4() == four)
    };
    opt(text(ctx, 0).map(|s| i64::from(is_address(&s))))
}

/// Whether an IPv6 address embeds an IPv4 address.
fn embeds(ctx: &Call<'_>, mapped: bool) -> Answer {
    let embeds = |b: &[u8]| {
        b.len() == 16
            && b[..10].iter().all(|x| *x == 0)
            && b[10..12] == if mapped { [255, 255] } else { [0, 0] }
    };
    opt(bytes(ctx, 0).map(|b| i64::from(embeds(&b))))
}
