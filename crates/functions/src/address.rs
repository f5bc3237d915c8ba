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
        opt(bytes(ctx, 0).and_then(|b| address(&b).map(|ip| ip.to_string())))
    }),
    own("inet_aton", 1, 1, Unsigned, |ctx| {
        opt(text(ctx, 0)
            .and_then(|s| s.parse::<std::net::Ipv4Addr>().ok())
            .map(|ip| i64::from(u32::from(ip))))
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

fn address(bytes: &[u8]) -> Option<std::net::IpAddr> {
    Some(match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok()?.into(),
        16 => <[u8; 16]>::try_from(bytes).ok()?.into(),
        _ => return None,
    })
}

/// Whether a text is an address of IPv4, or of IPv6.
fn is_address(ctx: &Call<'_>, four: bool) -> Answer {
    let ip = text(ctx, 0).and_then(|s| s.parse::<std::net::IpAddr>().ok());
    Ok(Value::Integer(
        ip.is_some_and(|ip| ip.is_ipv4() == four).into(),
    ))
}

/// Whether an IPv6 address embeds an IPv4 address.
fn embeds(ctx: &Call<'_>, mapped: bool) -> Answer {
    let yes = bytes(ctx, 0).is_some_and(|b| {
        b.len() == 16
            && b[..10].iter().all(|x| *x == 0)
            && b[10..12] == if mapped { [255, 255] } else { [0, 0] }
    });
    Ok(Value::Integer(yes.into()))
}
