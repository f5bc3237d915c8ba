//! Writes a segment without a path to a file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Copies `segment` to `tare-PID.segment` in `directory`, mode 0600. A file of that name is
/// never overwritten: `tare-PID.1.segment` and so on are tried after it.
pub fn save(segment: &File, pid: u32, directory: &Path) -> io::Result<PathBuf> {
    let (path, file) = create(pid, directory)?;
    match copy_sparsely(segment, &file) {
        Ok(()) => Ok(path),
        Err(error) => {
            // An incomplete segment could be mistaken for a complete one.
            let _ = std::fs::remove_file(&path);
            Err(error)
        }
    }
}

fn create(pid: u32, directory: &Path) -> io::Result<(PathBuf, File)> {
    let mut attempt = 0;
    loop {
        let name = match attempt {
            0 => format!("tare-{pid}.segment"),
            n => format!("tare-{pid}.{n}.segment"),
        };
        let path = directory.join(name);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
        {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Copies the parts that hold data; holes stay holes. A segment reserves far more memory than it uses.
fn copy_sparsely(from: &File, to: &File) -> io::Result<()> {
    let length = from.metadata()?.len();
    to.set_len(length)?;
    let mut buffer = vec![0; 1 << 16];
    let mut position = 0;
    while let Some(start) = next_data(from, position)? {
        let end = seek(from, SeekFrom::Hole(start))?.min(length);
        position = start;
        while position < end {
            let want = buffer
                .len()
                .min(usize::try_from(end - position).unwrap_or(usize::MAX));
            let got = from.read_at(&mut buffer[..want], position)?;
            if got == 0 {
                return Ok(());
            }
            to.write_all_at(&buffer[..got], position)?;
            position += got as u64;
        }
    }
    Ok(())
}

fn next_data(file: &File, position: u64) -> io::Result<Option<u64>> {
    match seek(file, SeekFrom::Data(position)) {
        Ok(start) => Ok(Some(start)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn data_is_copied_holes_stay_holes_and_nothing_is_overwritten() {
        let directory = std::env::temp_dir().join(format!("tare-save-test-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let source = directory.join("source");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&source)
            .expect("a file");
        file.set_len(64 << 20).expect("grows");
        file.write_all_at(b"head", 0).expect("written");
        file.write_all_at(b"middle", (20 << 20) + 5)
            .expect("written");

        let first = save(&file, 42, &directory).expect("saved");
        let second = save(&file, 42, &directory).expect("saved");
        assert_eq!(first, directory.join("tare-42.segment"));
        assert_eq!(second, directory.join("tare-42.1.segment"));
        assert_eq!(
            std::fs::read(&first).expect("read"),
            std::fs::read(&source).expect("read")
        );
        let metadata = std::fs::metadata(&first).expect("metadata");
        assert_eq!(metadata.mode() & 0o777, 0o600);
        // 512-byte blocks: far fewer than 64 MiB.
        assert!(
            metadata.blocks() * 512 < 4 << 20,
            "{} blocks",
            metadata.blocks()
        );
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
