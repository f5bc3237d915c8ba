//! Functions that a program imports from its libraries.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, ObjectSymbolTable as _};
use object::{RelocationFlags, RelocationTarget};

/// A page of x86-64.
const PAGE_BYTES: u64 = 4096;

/// Where the dynamic linker writes the addresses of functions that a program imports.
#[derive(Debug)]
pub struct Imports {
    /// The address of the program headers as linked.
    headers_address: u64,
    entries: Vec<Entry>,
}

/// Where the dynamic linker writes the address of a function.
#[derive(Debug)]
pub struct Entry {
    /// The function's name.
    pub name: String,
    /// The version of the function, if the program names one.
    pub version: Option<String>,
    /// The entry's address.
    pub address: u64,
    /// Whether the dynamic linker makes the entry read-only when it has written the address, which it then
    /// does before the program starts.
    pub is_read_only: bool,
}

impl Imports {
    /// Reads those of a program's file whose names `is_wanted` accepts. `None`: it is no program that a
    /// dynamic linker starts, or it has no program headers in memory.
    pub fn of(program: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let file = File::open(program).ok()?;
        // SAFETY: as in `Image::open`.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let elf = ElfFile::<FileHeader64<LittleEndian>, _>::parse(&*map).ok()?;
        if elf.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let header = |kind| {
            let mut headers = elf.elf_program_headers().iter();
            headers.find(|header| header.p_type(LittleEndian) == kind)
        };
        // The dynamic linker rounds the end down to a page.
        let read_only = header(elf::PT_GNU_RELRO).map_or(0..0, |part| {
            let start = part.p_vaddr(LittleEndian);
            start..start.saturating_add(part.p_memsz(LittleEndian)) & !(PAGE_BYTES - 1)
        });
        let symbols = elf.dynamic_symbol_table()?;
        let sections = elf.elf_section_table();
        let versions = sections.versions(LittleEndian, elf.data()).ok().flatten();
        let version = |index| {
            let versions = versions.as_ref()?;
            let index = versions.version_index(LittleEndian, index);
            let name = versions.version(index).ok()??.name();
            std::str::from_utf8(name).ok().map(str::to_owned)
        };
        let name = |target| match target {
            RelocationTarget::Symbol(index) => {
                let name = symbols.symbol_by_index(index).ok()?.name().ok()?;
                Some((name, index))
            }
            _ => None,
        };
        let entries = elf
            .dynamic_relocations()?
            .filter_map(|(address, relocation)| {
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return None;
                };
                if ![elf::R_X86_64_JUMP_SLOT, elf::R_X86_64_GLOB_DAT].contains(&r_type) {
                    return None;
                }
                let (name, index) =
                    name(relocation.target()).filter(|(name, _)| is_wanted(name))?;
                Some(Entry {
                    name: name.to_owned(),
                    version: version(index),
                    address,
                    is_read_only: read_only.contains(&address),
                })
            });
        Some(Self {
            headers_address: header(elf::PT_PHDR)?.p_vaddr(LittleEndian),
            entries: entries.collect(),
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Those of a process that has its program headers at `headers`.
    pub fn in_memory(self, headers: u64) -> impl Iterator<Item = Entry> {
        let base = headers.wrapping_sub(self.headers_address);
        self.entries.into_iter().map(move |entry| Entry {
            address: base.wrapping_add(entry.address),
            ..entry
        })
    }
}

/// Whether a program's own code calls the TLS library, and not a copy of it within the program.
pub fn imports_tls(program: &Path) -> bool {
    let imports = Imports::of(program, |name| matches!(name, "SSL_read" | "SSL_read_ex"));
    imports.is_some_and(|imports| !imports.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_this_process_have_the_addresses_of_its_functions() {
        let imports = Imports::of(Path::new("/proc/self/exe"), |name| name == "write");
        let imports = imports.expect("a program");
        assert!(!imports.is_empty());
        // SAFETY: reads the auxiliary vector.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
        for entry in imports.in_memory(headers) {
            // SAFETY: the dynamic linker has written the address of a function there.
            let address = unsafe { *(entry.address as *const usize) };
            assert_eq!(entry.name, "write");
            assert_eq!(entry.version.as_deref(), Some("GLIBC_2.2.5"));
            assert!(entry.is_read_only, "Rust links with -z now");
            assert_eq!(address, libc::write as *const () as usize);
        }
    }

    #[test]
    fn what_a_program_does_not_import_is_not_there() {
        assert!(!imports_tls(Path::new("/bin/true")));
        assert!(!imports_tls(Path::new("/etc/passwd")));
    }
}
