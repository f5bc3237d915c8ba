//! The version that `tare --version` prints, with the commit that it was built from: of a checkout, of
//! the tarball of `git archive`, of cargo's package, or of TARE_COMMIT.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The digits of an abbreviated commit.
const DIGITS: usize = 10;

fn main() {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TARE_COMMIT");
    let commit = variable("TARE_COMMIT")
        .or_else(|| checkout_commit(&own.join("../..")))
        .or_else(|| package_commit(&own))
        .or_else(|| archive_commit(&own));
    let version = variable("CARGO_PKG_VERSION").expect("cargo sets it");
    match commit {
        Some(commit) => println!("cargo:rustc-env=TARE_VERSION={version} ({commit})"),
        None => println!("cargo:rustc-env=TARE_VERSION={version}"),
    }
    // Packages are built for size. Packed relocations take 0.1 MB instead of 1.4, and need glibc 2.36.
    if variable("OPT_LEVEL").as_deref() == Some("s") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Commit and date of a checkout. A tarball inside another project's checkout has no `.git` of its own.
fn checkout_commit(root: &Path) -> Option<String> {
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // Run again when HEAD moves. Cargo would run this each time for a file that does not exist.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--path-format=absolute", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&[
        "log",
        "-1",
        &format!("--abbrev={DIGITS}"),
        "--format=%h %cs",
    ])
}

/// The commit that `cargo package` stored next to Cargo.toml.
fn package_commit(own: &Path) -> Option<String> {
    let text = std::fs::read_to_string(own.join(".cargo_vcs_info.json")).ok()?;
    let after = text.split_once("\"sha1\"")?.1;
    digits(after.split('"').nth(1)?)
}

/// The commit that `git archive` wrote into the file `commit`, which is a placeholder in a checkout.
fn archive_commit(own: &Path) -> Option<String> {
    let text = std::fs::read_to_string(own.join("commit")).ok()?;
    let (commit, date) = text.trim().split_once(' ')?;
    Some(format!("{} {date}", digits(commit)?))
}

fn digits(commit: &str) -> Option<String> {
    let hexadecimal = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hexadecimal && commit.len() >= DIGITS).then(|| commit[..DIGITS].to_owned())
}
