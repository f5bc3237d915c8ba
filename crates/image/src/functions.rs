//! The names of a program's functions, by address.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile, ProgramHeader as _};
use object::{Object as _, SymbolKind};

/// Where distributions install the symbols of programs without them, by build-id.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug/.build-id";

use crate::demangle::demangle;

type Elf<'data> = ElfFile<'data, FileHeader64<LittleEndian>, &'data [u8]>;

/// The names of a program's functions, in memory of their own.
#[derive(Debug)]
pub struct Functions {
    /// The address of the program headers as linked.
    headers_address: u64,
    /// By address.
    functions: Vec<Function>,
    names: String,
}

#[derive(Debug)]
struct Function {
    address: u64,
    bytes: u64,
    /// Where its name is in `names`.
    name: (u32, u32),
    /// Whether another function has the same name.
    is_ambiguous: bool,
}

/// A place in a program's code.
#[derive(Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The place's address as linked.
    pub address: u64,
    /// The function's name, and the distance from its first byte. `None`: no symbol names the function.
    pub function: Option<(&'a str, u64)>,
    /// Whether another function has the same name.
    pub is_ambiguous: bool,
}

impl Functions {
    /// Reads the names from a program's symbol table, and demangles those of C++ and Rust. If it has been stripped, from the file with its symbols
    /// that is installed for debuggers, or else from the dynamic symbol table, which names the exported
    /// functions. `None`: it is no program that a dynamic linker starts, or it has no program headers in
    /// memory.
    pub fn of(program: &Path) -> Option<Self> {
        Self::read(program, Path::new(DEBUG_DIRECTORY))
    }

    fn read(program: &Path, debug_directory: &Path) -> Option<Self> {
        with_elf(program, |elf| {
            let mut headers = elf.elf_program_headers().iter();
            let header = headers.find(|header| header.p_type(LittleEndian) == elf::PT_PHDR)?;
            let mut functions = Self {
                headers_address: header.p_vaddr(LittleEndian),
                functions: Vec::new(),
                names: String::new(),
            };
            functions.add(elf.symbols());
            if functions.functions.is_empty()
                && let Some(path) = debug_file(elf, debug_directory)
            {
                with_elf(&path, |debug| {
                    // The file of another build would name wrong functions.
                    let is_same = debug.build_id().ok() == elf.build_id().ok();
                    is_same.then(|| functions.add(debug.symbols()))
                });
            }
            if functions.functions.is_empty() {
                functions.add(elf.dynamic_symbols());
            }
            functions.sort();
            Some(functions)
        })
    }

    fn add<'a>(&mut self, symbols: impl Iterator<Item = impl object::ObjectSymbol<'a>>) {
        for symbol in symbols {
            if symbol.kind() != SymbolKind::Text || symbol.is_undefined() || symbol.size() == 0 {
                continue;
            }
            let Some(name) = symbol.name().ok().filter(|name| !name.is_empty()) else {
                continue;
            };
            let name = demangle(name).map_or(Cow::Borrowed(name), Cow::Owned);
            let start = self.names.len();
            let (Ok(start), Ok(length)) = (u32::try_from(start), u32::try_from(name.len())) else {
                return;
            };
            self.names.push_str(&name);
            self.functions.push(Function {
                address: symbol.address(),
                bytes: symbol.size(),
                name: (start, length),
                is_ambiguous: false,
            });
        }
    }

    fn sort(&mut self) {
        let Self {
            functions, names, ..
        } = self;
        // Of several names of one function, the first one in alphabetical order.
        functions.sort_by_key(|function| (function.address, text(names, function.name)));
        functions.dedup_by_key(|function| function.address);
        let (mut once, mut again) = (HashSet::new(), HashSet::new());
        for function in functions.iter() {
            let name = text(names, function.name);
            if !once.insert(name) {
                again.insert(name);
            }
        }
        for function in functions.iter_mut() {
            function.is_ambiguous = again.contains(text(names, function.name));
        }
    }

    /// The place to which a call returns, in a process that has the program headers at `headers`. The call is
    /// the instruction before it.
    pub fn return_place(&self, headers: u64, address: u64) -> Place<'_> {
        let base = headers.wrapping_sub(self.headers_address);
        let address = address.wrapping_sub(base);
        let call = address.wrapping_sub(1);
        let after = self
            .functions
            .partition_point(|function| function.address <= call);
        let function = after.checked_sub(1).map(|at| &self.functions[at]);
        let function = function.filter(|function| call - function.address < function.bytes);
        Place {
            address,
            function: function.map(|function| {
                let name = text(&self.names, function.name);
                (name, address - function.address)
            }),
            is_ambiguous: function.is_some_and(|function| function.is_ambiguous),
        }
    }
}

fn text(names: &str, (start, length): (u32, u32)) -> &str {
    let start = start as usize;
    &names[start..start + length as usize]
}

fn with_elf<T>(path: &Path, read: impl FnOnce(&Elf) -> Option<T>) -> Option<T> {
    let file = File::open(path).ok()?;
    // SAFETY: as in `Image::open`.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    let elf = Elf::parse(&map[..]).ok()?;
    if elf.architecture() != object::Architecture::X86_64 {
        return None;
    }
    read(&elf)
}

/// The file with a program's symbols.
fn debug_file(elf: &Elf, directory: &Path) -> Option<PathBuf> {
    let id = elf.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(directory.join(format!("{first:02x}/{rest}.debug")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    #[unsafe(no_mangle)]
    extern "C" fn tare_image_test_function() -> u64 {
        // SAFETY: reads the auxiliary vector.
        unsafe { libc::getauxval(libc::AT_PHDR) }
    }

    #[test]
    fn addresses_of_this_process_have_the_names_of_its_functions() {
        let functions = Functions::of(Path::new("/proc/self/exe")).expect("a program");
        let headers = tare_image_test_function();
        let start = tare_image_test_function as *const () as u64;
        let place = functions.return_place(headers, start + 3);
        assert_eq!(place.function, Some(("tare_image_test_function", 3)));
        assert!(!place.is_ambiguous);
        // A call that is the last instruction of a function returns behind it.
        let place = functions.return_place(headers, start);
        assert_ne!(
            place.function.map(|(name, _)| name),
            Some("tare_image_test_function")
        );
        assert_eq!(functions.return_place(headers, 0).function, None);
        assert_eq!(functions.return_place(0, u64::MAX).function, None);
    }

    #[test]
    fn a_stripped_program_has_the_names_of_its_debug_file() {
        let directory = std::env::temp_dir().join(format!("tare-functions-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("created");
        let run = |program: &str, arguments: &[&str]| {
            let status = std::process::Command::new(program)
                .args(arguments)
                .current_dir(&directory)
                .status();
            assert!(status.expect("started").success(), "{program}");
        };
        let source = "static int __attribute__((noinline)) inner(int x) { return x * 3; }\n\
                      int main(int count, char **all) { (void)all; return inner(count); }\n";
        std::fs::write(directory.join("program.c"), source).expect("written");
        run(
            "cc",
            &["-O1", "-Wl,--build-id", "-o", "program", "program.c"],
        );
        run("strip", &["-o", "stripped", "program"]);
        let program = directory.join("program");
        let stripped = directory.join("stripped");
        let named = Functions::read(&program, &directory).expect("a program");
        let inner = named
            .functions
            .iter()
            .find(|function| text(&named.names, function.name) == "inner")
            .expect("inner")
            .address;
        let headers = named.headers_address;
        let bare = Functions::read(&stripped, &directory).expect("a program");
        assert_eq!(bare.return_place(headers, inner + 1).function, None);
        assert_eq!(bare.return_place(headers, inner + 1).address, inner + 1);

        let debug =
            with_elf(&stripped, |elf| debug_file(elf, &directory)).expect("it has a build-id");
        std::fs::create_dir_all(debug.parent().expect("a folder")).expect("created");
        std::fs::copy(&program, &debug).expect("copied");
        let functions = Functions::read(&stripped, &directory).expect("a program");
        assert_eq!(
            functions.return_place(headers, inner + 1).function,
            Some(("inner", 1))
        );
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
