//! `tare manual`: manual pages and completions, generated from the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::exit::{FAILED, Failure};

/// Write manual pages, and completions for bash, zsh and fish
///
/// The directory gets what /usr/share has: man/man1, bash-completion/completions,
/// zsh/vendor-completions and fish/vendor_completions.d. Packages of Tare have these already.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory, usually ~/.local/share; it is created if it does not exist
    directory: PathBuf,
}

const HELP: &str = "\
Examples:
  tare manual ~/.local/share
  tare manual /tmp/tare && man /tmp/tare/man/man1/tare-top.1";

/// Writes a page for `tare` and for each subcommand that is not hidden.
pub fn main(args: &Args, tare: Command) -> Result<ExitCode, Failure> {
    write(&args.directory, tare)
        .map_err(|error| Failure::new(FAILED, format!("{}: {error}", args.directory.display())))?;
    Ok(ExitCode::SUCCESS)
}

fn write(share: &Path, mut tare: Command) -> io::Result<()> {
    tare.build();
    let pages = create_directory(share, "man/man1")?;
    write_page(&pages, &tare)?;
    for (shell, place, name) in [
        (Shell::Bash, "bash-completion/completions", "tare"),
        (Shell::Zsh, "zsh/vendor-completions", "_tare"),
        (Shell::Fish, "fish/vendor_completions.d", "tare.fish"),
    ] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut tare, "tare", &mut text);
        write_file(&create_directory(share, place)?.join(name), &text)?;
    }
    Ok(())
}

/// Writes the page of a command, then those of its subcommands.
fn write_page(pages: &Path, command: &Command) -> io::Result<()> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let man = clap_mangen::Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("Tare ", env!("CARGO_PKG_VERSION")))
        .manual("Tare");
    let mut text = Vec::new();
    man.render(&mut text)?;
    write_file(&pages.join(format!("{name}.1")), &text)?;
    let mut below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    below.try_for_each(|below| write_page(pages, below))
}

fn create_directory(share: &Path, place: &str) -> io::Result<PathBuf> {
    let path = share.join(place);
    fs::create_dir_all(&path)?;
    Ok(path)
}

fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::write(path, text)?;
    writeln!(io::stdout(), "{}", path.display())
}
