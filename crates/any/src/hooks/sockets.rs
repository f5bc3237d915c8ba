//! Making connections.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr};

use engine::{Operation, periods, socket};
use libc::{sockaddr, sockaddr_storage, socklen_t};

use super::open::{open_other, open_unseen};
use super::{Running, hooks};
use crate::calls::observe;
use crate::client::Client;
use crate::descriptors::{self, Access, Object, State};
use crate::names::classes;
use crate::session::Address;
use crate::start;

/// Reads an address by a function such as getsockname.
fn read_address(
    descriptor: c_int,
    function: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
) -> Address {
    let mut storage = MaybeUninit::<sockaddr_storage>::zeroed();
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    // SAFETY: the storage is as large as `length` says, and zeroes are an address of no family.
    let storage = unsafe {
        if function(descriptor, storage.as_mut_ptr().cast(), &mut length) != 0 {
            return Address::Other;
        }
        storage.assume_init()
    };
    let address = (&raw const storage).cast::<u8>();
    match c_int::from(storage.ss_family) {
        libc::AF_UNIX => Address::Unix,
        libc::AF_INET => {
            // SAFETY: the storage is larger and its family is this one.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Address::Ip(ip.into(), u16::from_be(v4.sin_port))
        }
        libc::AF_INET6 => {
            // SAFETY: the storage is larger and its family is this one.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Address::Ip(ip.to_canonical(), u16::from_be(v6.sin6_port))
        }
        _ => Address::Other,
    }
}

/// Records a socket that listens.
pub(super) fn record_listener(descriptor: c_int) {
    let Some(classes) = classes() else { return };
    let address = read_address(descriptor, libc::getsockname);
    let class = match address {
        Address::Unix => classes.unix_listener,
        _ => classes.tcp_listener,
    };
    put(descriptor, class, &address, None);
}

fn put(
    descriptor: c_int,
    class: &'static engine::Class,
    address: &Address,
    mut client: Option<Box<Client>>,
) {
    let mut instance = socket::Instance::new(class, descriptor);
    if let Address::Ip(ip, port) = address {
        instance.peer(&ip.to_string(), *port);
    }
    if let Some(client) = &mut client {
        client.in_session(|_| instance.own());
    }
    drop(descriptors::put(
        descriptor,
        Object::Socket(instance, client),
    ));
}

/// Records a connection that was accepted.
pub(super) fn record_client(descriptor: c_int) {
    let Some(classes) = classes() else { return };
    let address = read_address(descriptor, libc::getpeername);
    let client = start::protocol().and_then(|protocol| Client::new(descriptor, &address, protocol));
    put(descriptor, classes.client, &address, client.map(Box::new));
}

/// Records a connection to another program.
pub(super) fn record_outgoing(descriptor: c_int) {
    if let Some(classes) = classes() {
        put(descriptor, classes.outgoing, &Address::Other, None);
    }
}

/// Runs a call that accepts a connection.
#[inline(always)]
fn accept_with(listener: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let running = Running::begin(listener, Access::Other(Operation::Accept));
    let descriptor = call();
    running.end(None, |_| {});
    if descriptor >= 0 {
        match periods::active_kinds().is_none() && start::may_accept_unseen() {
            true => open_unseen(descriptor, State::UNSEEN_CLIENT),
            false => _ = observe(|| record_client(descriptor)),
        }
    }
    descriptor
}

/// Runs a call that opens a connection to another program.
#[inline(always)]
fn connect_with(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    match periods::active_kinds().is_none() {
        true => open_unseen(descriptor, State::UNSEEN_OUTGOING),
        false => _ = observe(|| record_outgoing(descriptor)),
    }
    let running = Running::begin(descriptor, Access::Other(Operation::Connect));
    let result = call();
    running.end(None, |_| {});
    result
}

hooks! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int { |call| open_other(call) }
    fn listen(fd: c_int, backlog: c_int) -> c_int {
        |call| {
            let result = call();
            if result == 0 {
                match periods::active_kinds().is_none() {
                    true => open_unseen(fd, State::UNSEEN_LISTENER),
                    false => _ = observe(|| record_listener(fd)),
                }
            }
            result
        }
    }
    fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
        |call| accept_with(fd, call)
    }
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
        |call| accept_with(fd, call)
    }
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
        |call| connect_with(fd, call)
    }
}
