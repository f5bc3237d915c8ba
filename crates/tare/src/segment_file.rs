//! Which files a segment may replace.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tare_layout::MAGIC;

/// Checks that a new segment may replace what is at `path`: nothing, an empty file, or another segment.
/// A symbolic link is refused, so that another user cannot choose the file that is replaced.
///
/// # Errors
/// `AlreadyExists` for any other file; otherwise the error of reading it.
pub fn check_segment_path(path: &Path) -> io::Result<()> {
    let foreign = |what: &str| {
        let message = format!(
            "{} is {what}: Tare replaces only segments and empty files; remove it or give another path",
            path.display()
        );
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    };
    // Without O_NONBLOCK the opening of a FIFO would wait for its writer.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return foreign("a symbolic link");
        }
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return foreign("no regular file");
    }
    let mut start = Vec::new();
    file.take(8).read_to_end(&mut start)?;
    match start.is_empty() || start == MAGIC.to_le_bytes() {
        true => Ok(()),
        false => foreign("no segment"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_segments_and_empty_files_are_replaced() {
        let directory = std::env::temp_dir().join(format!("tare-segment-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let path = directory.join("x");
        assert!(check_segment_path(&path).is_ok(), "no file");
        for (bytes, may) in [
            (&b""[..], true),
            (b"TARE\x00SEG", true),
            (b"TARE\x00SEG and more", true),
            (b"TARE\x00SE", false),
            (b"precious", false),
            (&[0; 4096], false),
        ] {
            std::fs::write(&path, bytes).expect("written");
            assert_eq!(check_segment_path(&path).is_ok(), may, "{bytes:?}");
            assert_eq!(std::fs::read(&path).expect("still there"), bytes);
        }
        let link = directory.join("link");
        std::fs::write(&path, "").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        for path in [&link, &directory] {
            let error = check_segment_path(path).expect_err("refused");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(error.to_string().contains(&path.display().to_string()));
        }
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
