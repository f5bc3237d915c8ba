//! The stored form of a password, and how a client's answer is compared with it.

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use crate::random::random;

/// mysql_native_password.
pub const NATIVE: &str = "mysql_native_password";
/// caching_sha2_password.
pub const SHA2: &str = "caching_sha2_password";

/// Rounds of SHA-256 crypt in MySQL's caching_sha2_password.
const CRYPT_ROUNDS: u32 = 5000;

/// The stored form of a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// The password itself: root's and monitor's, from their files.
    Plain(String),
    /// No password: only an empty one is right.
    Empty,
    /// SHA-1 of its SHA-1.
    Native([u8; 20]),
    /// SHA-256 crypt, with its salt.
    Sha2([u8; 16], [u8; 32]),
}

/// The SHA-256 of the password's SHA-256, by which a client proves a password that it has sent before.
/// It is never written to disk.
pub type CachedDigest = [u8; 32];

impl Secret {
    /// The form that a plugin stores a password in.
    pub fn of(plugin: &str, password: &str) -> Self {
        match plugin {
            _ if password.is_empty() => Self::Empty,
            NATIVE => Self::Native(Sha1::digest(Sha1::digest(password)).into()),
            _ => {
                // Letters are valid in every implementation of crypt.
                let mut salt = [0; 16];
                random(&mut salt);
                let salt = salt.map(|byte| b'a' + byte % 26);
                Self::Sha2(salt, crypt(password.as_bytes(), &salt))
            }
        }
    }

    /// The plugin that it is for; `None` for both.
    pub fn plugin(&self) -> Option<&'static str> {
        match self {
            Self::Native(_) => Some(NATIVE),
            Self::Sha2(..) => Some(SHA2),
            Self::Plain(_) | Self::Empty => None,
        }
    }

    /// Whether an answer of mysql_native_password is right.
    pub fn admits_native(&self, answer: &[u8], nonce: &[u8; 20]) -> bool {
        let stored: [u8; 20] = match self {
            Self::Native(stored) => *stored,
            Self::Plain(password) if !password.is_empty() => {
                Sha1::digest(Sha1::digest(password)).into()
            }
            Self::Empty => return answer.is_empty(),
            _ => return false,
        };
        let mut hash = Sha1::new();
        hash.update(nonce);
        hash.update(stored);
        let mask: [u8; 20] = hash.finalize().into();
        let Ok(answer) = <[u8; 20]>::try_from(answer) else {
            return false;
        };
        let mut inner = answer;
        inner
            .iter_mut()
            .zip(mask)
            .for_each(|(byte, mask)| *byte ^= mask);
        equal_in_constant_time(&Sha1::digest(inner), &stored)
    }

    /// The digest of [`CachedDigest`], if the stored form determines it.
    pub fn cached_digest(&self) -> Option<CachedDigest> {
        match self {
            Self::Plain(password) if !password.is_empty() => {
                Some(cached_digest(password.as_bytes()))
            }
            _ => None,
        }
    }
}

/// See [`CachedDigest`].
pub fn cached_digest(password: &[u8]) -> CachedDigest {
    Sha256::digest(Sha256::digest(password)).into()
}

/// Whether an answer of caching_sha2_password proves the password of a cached digest.
pub fn admits_cached(cached_digest: &CachedDigest, answer: &[u8], nonce: &[u8; 20]) -> bool {
    let mut hash = Sha256::new();
    hash.update(cached_digest);
    hash.update(nonce);
    let mask: [u8; 32] = hash.finalize().into();
    let Ok(mut inner) = <[u8; 32]>::try_from(answer) else {
        return false;
    };
    inner
        .iter_mut()
        .zip(mask)
        .for_each(|(byte, mask)| *byte ^= mask);
    equal_in_constant_time(&Sha256::digest(inner), cached_digest)
}

/// Whether a password that a client has sent is right; `None` is an unknown user. The time does not
/// depend on what is stored, so that it does not reveal which users exist.
pub fn admits(secret: Option<&Secret>, password: &[u8]) -> bool {
    let salt = match secret {
        Some(Secret::Sha2(salt, _)) => *salt,
        _ => [b'x'; 16],
    };
    let computed = crypt(password, &salt);
    match secret {
        Some(Secret::Plain(own)) => {
            !own.is_empty() && equal_in_constant_time(own.as_bytes(), password)
        }
        Some(Secret::Empty) => password.is_empty(),
        Some(Secret::Sha2(_, hash)) => equal_in_constant_time(&computed, hash),
        Some(Secret::Native(_)) | None => false,
    }
}

fn crypt(password: &[u8], salt: &[u8; 16]) -> [u8; 32] {
    #[cfg(test)]
    tests::CRYPTS.set(tests::CRYPTS.get() + 1);
    let rounds = sha_crypt::Params::new(CRYPT_ROUNDS).unwrap_or_default();
    sha_crypt::sha256_crypt(password, salt, rounds)
}

/// Compares in a time that does not depend on the position of the first difference.
fn equal_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use mysql_common::scramble::{scramble_native, scramble_sha256};

    use super::*;

    thread_local! {
        /// Calls of crypt, which dominate the time of a comparison.
        pub static CRYPTS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn an_unknown_user_costs_what_a_wrong_password_costs() {
        let secrets = [
            None,
            Some(Secret::of(SHA2, "right")),
            Some(Secret::of(SHA2, "")),
            Some(Secret::of(NATIVE, "right")),
            Some(Secret::Plain("right".into())),
        ];
        for secret in &secrets {
            let before = CRYPTS.get();
            assert!(!admits(secret.as_ref(), b"wrong"));
            assert_eq!(CRYPTS.get() - before, 1);
        }
    }

    #[test]
    fn answers_are_compared_with_the_stored_secret() {
        let nonce = [7; 20];
        let native = |password: &str| scramble_native(&nonce, password.as_bytes()).expect("one");
        let sha2 = |password: &str| scramble_sha256(&nonce, password.as_bytes()).expect("one");
        for secret in [Secret::of(NATIVE, "right"), Secret::Plain("right".into())] {
            assert!(secret.admits_native(&native("right"), &nonce));
            assert!(!secret.admits_native(&native("wrong"), &nonce));
            assert!(!secret.admits_native(b"", &nonce));
            assert!(!secret.admits_native(&native("right"), &[8; 20]));
        }
        let secret = Secret::of(SHA2, "right");
        let admits = |secret: &Secret, password: &[u8]| admits(Some(secret), password);
        assert!(admits(&secret, b"right") && !admits(&secret, b"wrong") && !admits(&secret, b""));
        assert!(!secret.admits_native(&native("right"), &nonce));
        let again = cached_digest(b"right");
        assert_eq!(Secret::Plain("right".into()).cached_digest(), Some(again));
        assert!(admits_cached(&again, &sha2("right"), &nonce));
        assert!(!admits_cached(&again, &sha2("wrong"), &nonce));
        assert!(
            !admits_cached(&again, &again, &nonce),
            "the digest itself is no answer"
        );
        let none = Secret::of(SHA2, "");
        assert!(admits(&none, b"") && !admits(&none, b"x"));
        let empty = Secret::Plain(String::new());
        assert!(!admits(&empty, b""), "an empty file is no password");
    }
}
