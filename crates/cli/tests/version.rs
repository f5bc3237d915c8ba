//! `tare --version` names the commit of its sources, wherever they come from.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Directory, finish};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn the_program_names_the_commit_that_it_was_built_from() {
    let directory = Directory::new("version");
    let finished = finish(&mut directory.tare(["--version"]));
    let printed = finished.stdout.trim_end();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(finished.code, Some(0), "{finished:?}");

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = printed
        .split(['(', ' ', ')'])
        .filter(|word| !word.is_empty())
        .nth(2);
    // Not HEAD, which may have moved since the build.
    let commit = Command::new("git")
        .arg("-C")
        .arg(&root)
        .args(["log", "-1", "--abbrev=10", "--format=%h %cs"])
        .args(named)
        .output();
    match commit {
        Ok(commit) if root.join(".git").exists() && commit.status.success() => {
            let commit = String::from_utf8(commit.stdout).expect("text");
            assert_eq!(printed, format!("tare {version} ({})", commit.trim()));
        }
        // From a tarball, the version may have a commit or none.
        _ => assert!(printed.starts_with(&format!("tare {version}")), "{printed}"),
    }
}

#[test]
fn a_package_a_tarball_and_a_packager_name_theirs() {
    let directory = Directory::new("commit");
    let script = directory.path().join("script");
    let built = Command::new(option_env!("RUSTC").unwrap_or("rustc"))
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs"))
        .status()
        .expect("rustc runs");
    assert!(built.success());
    // The version must not name the commit of another project whose checkout contains the sources.
    let git = |arguments: &[&str]| {
        let git = Command::new("git")
            .arg("-C")
            .arg(directory.path())
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
            .args(arguments)
            .output();
        git.is_ok_and(|output| output.status.success())
    };
    git(&["init", "--quiet"]);
    git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "another project",
    ]);
    let own = directory.path().join("tare/crates/cli");
    fs::create_dir_all(&own).expect("made");
    let version = |commit: &str| {
        let output = Command::new(&script)
            .env("CARGO_MANIFEST_DIR", &own)
            .env("CARGO_PKG_VERSION", "7.8.9")
            .env("TARE_COMMIT", commit)
            .output()
            .expect("it runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        let version = printed
            .lines()
            .find_map(|line| line.strip_prefix("cargo:rustc-env=TARE_VERSION="));
        version.expect("a version").to_owned()
    };
    assert_eq!(version(""), "7.8.9");
    fs::write(own.join("commit"), "$Format:%H %cs$\n").expect("written");
    assert_eq!(version(""), "7.8.9");
    fs::write(own.join("commit"), format!("{COMMIT} 2026-11-22\n")).expect("written");
    assert_eq!(version(""), "7.8.9 (0123456789 2026-11-22)");
    let facts = format!(
        "{{\n  \"git\": {{\n    \"sha1\": \"{COMMIT}\"\n  }},\n  \"path_in_vcs\": \"crates/cli\"\n}}"
    );
    fs::write(own.join(".cargo_vcs_info.json"), facts).expect("written");
    assert_eq!(version(""), "7.8.9 (0123456789)");
    assert_eq!(version("of a packager"), "7.8.9 (of a packager)");
}
