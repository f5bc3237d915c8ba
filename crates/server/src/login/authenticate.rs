//! Authentication of clients.

use std::sync::atomic::Ordering;

use mysql_common::packets::AuthSwitchRequest;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::schema::ROOT;

use super::handshake::{peer_uid, put, read, scramble};
use crate::accounts::Account;
use crate::accounts::secret::{NATIVE, SHA2, Secret, admits, admits_cached};
use crate::session::{Client, Session};
use crate::state::SessionState;

/// caching_sha2_password: the cached digest has proved the password.
const FAST_AUTH_SUCCESS: [u8; 2] = [1, 3];
/// caching_sha2_password: the client has to send its password.
const PERFORM_FULL_AUTHENTICATION: [u8; 2] = [1, 4];

/// Authenticates a client, and gives the session the account's rights.
pub fn authenticate(
    session: &mut Session,
    user: &str,
    plugin: Option<&[u8]>,
    answer: &[u8],
    nonce: &[u8; 20],
) -> Result<()> {
    let shared = session.shared.clone();
    let (_, host) = session.state.account();
    let address = session.client.stream.peer_address();
    let account = shared.accounts.find(user, &host, address.as_deref());
    if let Some(account) = &account
        && user == ROOT
        && peer_uid(&session.client.stream) == Some(shared.accounts.uid)
    {
        session.assume_account(account);
        return Ok(());
    }
    let client_plugin = plugin.and_then(|plugin| std::str::from_utf8(plugin).ok());
    // An unknown user goes through the same exchange as an existing one, so that a client cannot
    // distinguish it from a wrong password.
    let wanted = match &account {
        Some(account) => account.secret.plugin(),
        None => Some(shared.accounts.decoy_plugin(user)),
    };
    let wanted = wanted.unwrap_or(if client_plugin == Some(SHA2) {
        SHA2
    } else {
        NATIVE
    });
    let (mut nonce, mut answer) = (*nonce, answer.to_vec());
    if client_plugin != Some(wanted) || answer.is_empty() {
        nonce = scramble();
        let mut data = nonce.to_vec();
        data.push(0);
        put(
            &mut session.client,
            &AuthSwitchRequest::new(wanted.as_bytes(), data),
        )?;
        answer = read(&mut session.client)?;
    }
    let right = match wanted {
        NATIVE => account
            .as_ref()
            .is_some_and(|account| account.secret.admits_native(&answer, &nonce)),
        _ => authenticate_sha2(session, user, account.as_ref(), &answer, &nonce)?,
    };
    let used = !matches!(answer.as_slice(), [] | [0]);
    match account {
        Some(account) if right => {
            if account.locked {
                let locked = &session.shared.counters.locked_connects;
                locked.fetch_add(1, Ordering::Relaxed);
                return Err(SqlError::new(
                    3118,
                    format!("Access denied for user '{user}'@'{host}'. Account is locked."),
                ));
            }
            if account.ssl && session.client.stream.tls().is_none() {
                return Err(denied(
                    &session.state,
                    user,
                    used,
                    ": it has to connect with TLS",
                ));
            }
            session.assume_account(&account);
            Ok(())
        }
        _ => Err(denied(&session.state, user, used, "")),
    }
}

/// Error 1045.
fn denied(state: &SessionState, user: &str, used: bool, why: &str) -> SqlError {
    let (_, host) = state.account();
    let used = if used { "YES" } else { "NO" };
    SqlError::new(
        1045,
        format!("Access denied for user '{user}'@'{host}' (using password: {used}){why}"),
    )
}

/// caching_sha2_password. A short answer proves a password that some client has sent since the server
/// started. Otherwise the client has to send the password, over a connection that nobody can read.
fn authenticate_sha2(
    session: &mut Session,
    user: &str,
    account: Option<&Account>,
    answer: &[u8],
    nonce: &[u8; 20],
) -> Result<bool> {
    if matches!(answer, [] | [0]) {
        return Ok(admits(account.map(|account| &account.secret), b""));
    }
    let shared = session.shared.clone();
    let digest = account.and_then(|account| shared.accounts.cached_digest(account));
    if digest.is_some_and(|digest| admits_cached(&digest, answer, nonce)) {
        send_auth_data(&mut session.client, FAST_AUTH_SUCCESS);
        return Ok(true);
    }
    if account.is_some_and(|account| matches!(account.secret, Secret::Plain(_))) {
        return Ok(false);
    }
    if !session.client.stream.is_secure() {
        // Refused now, and not when the client asks for a key to encrypt the password with: some clients
        // would hide the message then.
        let why = ": caching_sha2_password takes a password by TLS or by the Unix socket, once after each \
                   start of the server. Connect with TLS, or create the user with mysql_native_password";
        return Err(denied(&session.state, user, true, why));
    }
    send_auth_data(&mut session.client, PERFORM_FULL_AUTHENTICATION);
    session
        .client
        .writer
        .flush()
        .map_err(|_| SqlError::interrupted())?;
    let password = read(&mut session.client)?;
    let password = password.strip_suffix(&[0]).unwrap_or(&password);
    let right = admits(account.map(|account| &account.secret), password);
    if let Some(account) = account.filter(|_| right) {
        shared.accounts.cache_password(account, password);
    }
    Ok(right)
}

fn send_auth_data(client: &mut Client, what: [u8; 2]) {
    client.writer.begin().extend_from_slice(&what);
    client.writer.end();
}
