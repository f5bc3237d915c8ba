//! Whether a library can be preloaded into a program.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use object::LittleEndian;
use object::Object as _;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, ProgramHeader as _};

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// With the GNU C library, by its dynamic linker.
    Gnu,
    /// With the GNU C library, and it uses Tare itself.
    Tare,
    /// With another C library: musl.
    OtherLibrary,
    /// Statically, so that nothing is loaded.
    Static,
    /// It is a script, or another machine's program.
    Unknown,
}

/// The section that the functions of Tare's engine are in.
const ENGINE_SECTION: &str = "tare_hot";

impl Linkage {
    /// Reads how the program in this file is linked.
    pub fn of(program: &Path) -> Self {
        let Ok(file) = File::open(program) else {
            return Self::Unknown;
        };
        // SAFETY: as in `Image::open`.
        let Ok(map) = (unsafe { Mmap::map(&file) }) else {
            return Self::Unknown;
        };
        let Ok(elf) = ElfFile::<FileHeader64<LittleEndian>, _>::parse(&*map) else {
            return Self::Unknown;
        };
        if elf.architecture() != object::Architecture::X86_64 {
            return Self::Unknown;
        }
        let headers = elf.elf_program_headers();
        let interpreter = headers
            .iter()
            .find(|header| header.p_type(LittleEndian) == elf::PT_INTERP)
            .and_then(|header| header.data(LittleEndian, &*map).ok());
        let Some(interpreter) = interpreter else {
            return Self::Static;
        };
        let uses_tare = elf.section_by_name(ENGINE_SECTION).is_some()
            || elf.imports().is_ok_and(|imports| {
                let mut names = imports.iter().map(|import| import.name());
                names.any(|name| name.starts_with(b"tare_"))
            });
        // As "/lib64/ld-linux-x86-64.so.2".
        match interpreter.windows(8).any(|part| part == b"ld-linux") {
            true if uses_tare => Self::Tare,
            true => Self::Gnu,
            false => Self::OtherLibrary,
        }
    }
}
