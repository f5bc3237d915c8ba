//! An ELF file: its exported symbols, its functions and its bytes, by their addresses as linked.
//!
//! The file is mapped and little is copied: inside a server, large blocks that are allocated and freed
//! before `main` would change how malloc(3) treats large blocks from then on (`M_MMAP_THRESHOLD`).

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, ProgramHeader as _, Sym as _};
use object::{Object as _, ObjectSection as _};

/// Why a file cannot be read as a program.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file cannot be opened or read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is a script, another machine's program, or damaged.
    #[error("{path} is no 64-bit x86 ELF program: {reason}")]
    NotElf {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// An exported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address as linked.
    pub address: u64,
    /// Its size in bytes, as the linker wrote it.
    pub size: u64,
    /// Whether it is a function.
    pub is_function: bool,
}

/// A part of the file that is mapped.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    offset: u64,
    file_bytes: u64,
    executable: bool,
}

/// An opened ELF file.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    map: Mmap,
    segments: Vec<Segment>,
    headers_address: Option<u64>,
    symbols: HashMap<Box<str>, Symbol>,
    functions: Option<Functions>,
    build_id: Option<String>,
    /// .rodata's bytes in the file.
    read_only: Range<usize>,
    /// .rela.dyn's.
    relocations: Range<usize>,
}

type Elf<'data> = ElfFile<'data, FileHeader64<LittleEndian>, &'data [u8]>;

impl Image {
    /// Maps the file, and reads its symbols, functions and build-id.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        let unreadable = |error| ImageError::Unreadable {
            path: path.to_owned(),
            error,
        };
        let not_elf = |reason: String| ImageError::NotElf {
            path: path.to_owned(),
            reason,
        };
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: nobody may shorten the file while it is mapped. The kernel refuses that for a program
        // that runs (ETXTBSY); one that is about to be run is not written to at that moment either.
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        if !map.starts_with(&elf::ELFMAG) {
            return Err(not_elf("it does not begin like one".into()));
        }
        let elf = Elf::parse(&*map).map_err(|error| not_elf(error.to_string()))?;
        if elf.architecture() != object::Architecture::X86_64 {
            return Err(not_elf(format!("it is for {:?}", elf.architecture())));
        }
        let headers = elf.elf_program_headers();
        let segments = headers
            .iter()
            .filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD)
            .map(|header| Segment {
                address: header.p_vaddr(LittleEndian),
                offset: header.p_offset(LittleEndian),
                file_bytes: header.p_filesz(LittleEndian),
                executable: header.p_flags(LittleEndian) & elf::PF_X != 0,
            })
            .collect();
        let headers_address = headers
            .iter()
            .find(|header| header.p_type(LittleEndian) == elf::PT_PHDR)
            .map(|header| header.p_vaddr(LittleEndian));
        let build_id = elf.build_id().ok().flatten();
        Ok(Self {
            segments,
            headers_address,
            symbols: symbols(&elf),
            functions: Functions::of(&elf, &map),
            build_id: build_id.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()),
            relocations: section(&elf, &map, ".rela.dyn").map_or(0..0, |(_, bytes)| bytes),
            read_only: section(&elf, &map, ".rodata").map_or(0..0, |(_, bytes)| bytes),
            path: path.to_owned(),
            map,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// GNU build-id in hexadecimal.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// The address of the program headers as linked. The process knows their address in memory.
    pub fn headers_address(&self) -> Option<u64> {
        self.headers_address
    }

    /// The lowest loaded address as linked, rounded down to a page.
    pub fn first_address(&self) -> Option<u64> {
        let lowest = self.segments.iter().map(|part| part.address).min()?;
        Some(lowest & !0xfff)
    }

    /// An exported symbol of the interface; others are not stored.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    /// Every exported symbol of the interface.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, Symbol)> {
        self.symbols.iter().map(|(name, &symbol)| (&**name, symbol))
    }

    /// The bytes from the beginning of a function to the next one; `None` if no function begins there.
    pub fn function_bytes(&self, function: u64) -> Option<u64> {
        let code = self.segments.iter().find(|part| part.holds(function))?;
        if !code.executable {
            return None;
        }
        let functions = self.functions.as_ref()?;
        let next = functions.after(&self.map, function)?;
        let end = code.address + code.file_bytes;
        Some(next.unwrap_or(end).min(end) - function)
    }

    /// The file's bytes at these addresses.
    pub fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        let part = self.segments.iter().find(|part| part.holds(address))?;
        let within = address - part.address;
        if within.checked_add(length as u64)? > part.file_bytes {
            return None;
        }
        let start = usize::try_from(part.offset.checked_add(within)?).ok()?;
        self.map.get(start..start.checked_add(length)?)
    }

    /// The pointers that the loader writes: the address of each, and its value, in the order of the file.
    /// Linkers sort them by address.
    pub fn relocations(&self) -> impl Iterator<Item = (u64, u64)> {
        let word = |bytes: &[u8]| {
            bytes
                .first_chunk()
                .map_or(0, |eight| u64::from_le_bytes(*eight))
        };
        let entries =
            self.map[self.relocations.clone()].chunks_exact(size_of::<elf::Rela64<LittleEndian>>());
        entries
            .map(move |entry| (word(entry), word(&entry[8..]), word(&entry[16..])))
            .filter(|&(_, kind, _)| kind == u64::from(elf::R_X86_64_RELATIVE))
            .map(|(place, _, value)| (place, value))
    }

    /// The program's constant C strings that begin with `prefix`.
    pub fn constants<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let bytes = &self.map[self.read_only.clone()];
        let first = prefix.as_bytes()[0];
        let starts = (0..bytes.len()).filter(move |&at| {
            bytes[at] == first
                && (at == 0 || bytes[at - 1] == 0)
                && bytes[at..].starts_with(prefix.as_bytes())
        });
        starts.filter_map(|at| {
            let length = bytes[at..].iter().position(|&byte| byte == 0)?;
            std::str::from_utf8(&bytes[at..at + length]).ok()
        })
    }
}

impl Segment {
    fn holds(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.file_bytes
    }
}

/// A section's address, and its range in the file.
fn section(elf: &Elf, map: &[u8], name: &str) -> Option<(u64, Range<usize>)> {
    let section = elf.section_by_name(name)?;
    let (offset, size) = section.file_range()?;
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    (end <= map.len()).then_some((section.address(), start..end))
}

/// A function's name without the types of its arguments, if it is exported by its C++ name (`_Z`, length,
/// name).
pub fn unmangled(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("_Z") else {
        return name;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length = rest[..digits].parse::<usize>().ok();
    let end = length.and_then(|length| digits.checked_add(length));
    end.and_then(|end| rest.get(digits..end)).unwrap_or(name)
}

/// Whether a symbol identifies the server or belongs to the interface.
fn is_of_interest(name: &str) -> bool {
    const SINGLE: [&str; 8] = [
        "server_version",
        "using_custom_server_version",
        "safe_mutex_lock",
        "_db_enter_",
        "pfs_initialized",
        "error_names_array",
        "_Z17thd_mem_cnt_allocP3THDm",
        "_Z16thd_mem_cnt_freeP3THDm",
    ];
    unmangled(name).starts_with("pfs_")
        || name.starts_with("PFS_")
        || name.starts_with("PSI_")
        || name.starts_with("_Z29initialize_performance_schema")
        || SINGLE.contains(&name)
}

fn symbols(elf: &Elf) -> HashMap<Box<str>, Symbol> {
    let table = elf.elf_dynamic_symbol_table();
    let strings = table.strings();
    let mut interesting = HashMap::new();
    for symbol in table.iter() {
        if symbol.is_undefined(LittleEndian) {
            continue;
        }
        let Ok(name) = symbol.name(LittleEndian, strings) else {
            continue;
        };
        let Some(name) = std::str::from_utf8(name).ok().filter(|n| is_of_interest(n)) else {
            continue;
        };
        let symbol = Symbol {
            address: symbol.st_value(LittleEndian),
            size: symbol.st_size(LittleEndian),
            is_function: symbol.st_type() == elf::STT_FUNC,
        };
        interesting.insert(name.into(), symbol);
    }
    interesting
}

/// Where functions begin: the search table of .eh_frame_hdr has an entry for each. Its form is that
/// of the Linux Standard Base, chapter "Exception Frames": version 1, then how the pointer, the
/// count and the table are encoded. Linkers write a sorted table of pairs of 4-byte offsets from the
/// section's own address (0x3b).
#[derive(Debug)]
struct Functions {
    address: u64,
    /// The pairs, in the file.
    table: Range<usize>,
}

impl Functions {
    const PAIR: usize = 8;
    const TABLE: usize = 12;

    fn of(elf: &Elf, map: &[u8]) -> Option<Self> {
        let (address, range) = section(elf, map, ".eh_frame_hdr")?;
        let bytes = &map[range.clone()];
        let [1, 0x1b, 0x03, 0x3b] = *bytes.first_chunk::<4>()? else {
            return None;
        };
        let count = u32::from_le_bytes(*bytes.get(8..)?.first_chunk()?) as usize;
        let size = count.checked_mul(Self::PAIR)?;
        let start = range.start + Self::TABLE;
        (bytes.len() >= Self::TABLE + size).then_some(Self {
            address,
            table: start..start + size,
        })
    }

    /// The beginning of the function after the one that begins at `function`, if one begins there.
    fn after(&self, map: &[u8], function: u64) -> Option<Option<u64>> {
        let pairs = map[self.table.clone()].as_chunks::<{ Self::PAIR }>().0;
        let start = |pair: &[u8; Self::PAIR]| {
            let [a, b, c, d, ..] = *pair;
            let offset = i32::from_le_bytes([a, b, c, d]);
            self.address.wrapping_add_signed(offset.into())
        };
        let at = pairs
            .binary_search_by(|pair| start(pair).cmp(&function))
            .ok()?;
        let later = pairs[at + 1..].iter().map(start);
        Some(later.into_iter().find(|&next| next > function))
    }
}
