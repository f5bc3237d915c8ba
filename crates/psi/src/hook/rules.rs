//! Rules of the calls that rest: while nothing that a call records is active or observed, its jump leads to a
//! return.
//!
//! A call that finds nothing to do is cheap in itself. Its cost is the library's code, its flags and the
//! thread's slot, each on a page that server and client have evicted from the caches since the last call
//! (docs/overhead.md). So the addresses that the jumps read are exchanged when settings change. The return is
//! behind the jump, in the same 16 bytes, and a call that rests reads only the page of addresses.
//!
//! A call that ends an event is only made with the result of its start, so it can arrive at any time.

use engine::Kind;
use engine::settings::Active;

use crate::door::{active, metadata, stage, table};

/// When a call rests, and what happens then.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The call rests while none of this is active; [`Active::ALL`]: it never does.
    pub needs: Active,
    /// The call begins an event, and also rests outside of the windows of sampling.
    pub begins: bool,
    /// The call never rests again once `needs` was active, because there may be objects that it ends.
    pub for_good: bool,
    /// The result of the call while it rests.
    pub returns: Returns,
    /// Replaces the function after a rest, if missed events have to be forgotten.
    pub resumed: Option<*const ()>,
    /// Forgets events whose end will be missed. Called when the call begins to rest, and when it arrives
    /// again.
    pub forgets: Option<fn()>,
    /// Replaces the function outside of the windows of sampling; the events that it begins are not observed
    /// there.
    pub unobserved: Option<(Active, *const ())>,
    /// What its calls lead to at the level `active`.
    pub at_active: AtActive,
}

/// What calls lead to at the level `active`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtActive {
    /// As at other levels, by `needs`: to the function, or to the one that
    /// [replaces](crate::door::active::replacement) it then.
    ByNeeds,
    /// The call rests: it is about a statement, and only its class, text and end matter.
    Rests,
    /// Another function.
    Function(*const ()),
}

/// The result of a call while it rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// 0: no locker, no object.
    Zero,
    /// Its third argument.
    Third,
}

impl Returns {
    /// `xor eax, eax` or `mov rax, rdx`; `ret`.
    pub fn code(self) -> &'static [u8] {
        match self {
            Self::Zero => &[0x31, 0xc0, 0xc3],
            Self::Third => &[0x48, 0x89, 0xd0, 0xc3],
        }
    }
}

/// All kinds that need a statement: their events are nested in it.
const STATEMENT: Active = Active::THREADS
    .or(Active::MOMENTS)
    .or(Active::of(Kind::Mutex))
    .or(Active::of(Kind::RwLock))
    .or(Active::of(Kind::SxLock))
    .or(Active::of(Kind::Cond))
    .or(Active::of(Kind::File))
    .or(Active::of(Kind::Socket))
    .or(Active::of(Kind::TableIo))
    .or(Active::of(Kind::TableLock))
    .or(Active::of(Kind::MetadataLock))
    .or(Active::of(Kind::Idle))
    .or(Active::of(Kind::Stage))
    .or(Active::of(Kind::Statement))
    .or(Active::of(Kind::Transaction))
    .or(Active::of(Kind::Memory))
    .or(Active::of(Kind::Error));

const STAGE: Active = Active::of(Kind::Stage)
    .or(Active::THREADS)
    .or(Active::MOMENTS);
const TABLE: Active = Active::of(Kind::TableIo).or(Active::of(Kind::TableLock));

/// Calls about a statement that matter only if its figures are counted.
const ABOUT_STATEMENT: [&str; 19] = [
    "start_statement",
    "set_statement_lock_time",
    "set_statement_rows_sent",
    "set_statement_rows_examined",
    "inc_statement_created_tmp_disk_tables",
    "inc_statement_created_tmp_tables",
    "inc_statement_select_full_join",
    "inc_statement_select_full_range_join",
    "inc_statement_select_range",
    "inc_statement_select_range_check",
    "inc_statement_select_scan",
    "inc_statement_sort_merge_passes",
    "inc_statement_sort_range",
    "inc_statement_sort_rows",
    "inc_statement_sort_scan",
    "set_statement_no_index_used",
    "set_statement_no_good_index_used",
    "digest_start",
    "digest_end",
];

/// The rule of a function of the interface; `None` for one that always arrives.
pub fn rule(name: &str) -> Option<Rule> {
    let rests = |needs| Rule {
        needs,
        begins: false,
        for_good: false,
        returns: Returns::Zero,
        resumed: None,
        unobserved: None,
        forgets: None,
        at_active: AtActive::ByNeeds,
    };
    let begins = |needs| Rule {
        begins: true,
        ..rests(needs)
    };
    // A wait, which threads keep at the level `active`.
    let waits = |kind| begins(Active::of(kind).or(Active::MOMENTS));
    // The same by another function there.
    let waits_by = |kind, function| Rule {
        at_active: AtActive::Function(function),
        ..begins(Active::of(kind))
    };
    let until = |needs| Rule {
        for_good: true,
        ..rests(needs)
    };
    let of_tables = || Rule {
        forgets: Some(table::forget_owners),
        ..rests(TABLE)
    };
    let resumes = |function| Rule {
        resumed: Some(function),
        ..rests(STAGE)
    };
    Some(match name {
        "start_mutex_wait" => waits(Kind::Mutex),
        "start_rwlock_wait" | "start_rwlock_rdwait" | "start_rwlock_wrwait" => begins(
            Active::of(Kind::RwLock)
                .or(Active::of(Kind::SxLock))
                .or(Active::MOMENTS),
        ),
        "start_cond_wait" => waits(Kind::Cond),
        // Not by windows, because opening and closing files must always arrive.
        "get_thread_file_name_locker"
        | "get_thread_file_stream_locker"
        | "get_thread_file_descriptor_locker" => rests(Active::of(Kind::File).or(Active::MOMENTS)),
        "start_socket_wait" => waits_by(Kind::Socket, active::start_socket_wait as *const ()),
        "set_socket_state" | "set_socket_thread_owner" => rests(Active::of(Kind::Socket)),
        "start_table_io_wait" => waits_by(Kind::TableIo, active::start_table_io_wait as *const ()),
        "start_table_lock_wait" => {
            waits_by(Kind::TableLock, active::start_table_lock_wait as *const ())
        }
        "unlock_table" | "unbind_table" => of_tables(),
        "rebind_table" => Rule {
            returns: Returns::Third,
            ..of_tables()
        },
        "create_metadata_lock" => Rule {
            at_active: AtActive::Function(metadata::create_unnamed_lock as *const ()),
            ..rests(Active::of(Kind::MetadataLock))
        },
        "start_metadata_wait" => waits(Kind::MetadataLock),
        "start_idle_wait" => begins(Active::of(Kind::Idle)),
        "start_stage" => Rule {
            unobserved: Some((
                Active::of(Kind::Stage),
                stage::start_stage_unobserved as *const (),
            )),
            at_active: AtActive::Function(active::start_stage as *const ()),
            ..resumes(stage::start_stage_resumed as *const ())
        },
        "end_stage" => resumes(stage::end_stage_resumed as *const ()),
        "get_current_stage_progress" => rests(STAGE),
        "get_thread_statement_locker" => Rule {
            at_active: AtActive::Function(active::get_thread_statement_locker as *const ()),
            ..rests(STATEMENT)
        },
        "get_thread_transaction_locker" => begins(Active::of(Kind::Transaction)),
        "memory_alloc" => rests(Active::of(Kind::Memory)),
        // As long as no memory was counted, every key is 0.
        "memory_realloc" | "memory_claim" | "memory_free" => until(Active::of(Kind::Memory)),
        "set_thread_info" | "set_thread_command" | "set_thread_connect_attrs" => {
            rests(Active::THREADS)
        }
        name if ABOUT_STATEMENT.contains(&name) => Rule {
            at_active: AtActive::Rests,
            ..rests(Active::ALL)
        },
        "log_error" => rests(Active::of(Kind::Error)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::releases;

    #[test]
    fn every_rule_is_of_a_function_of_a_newer_release() {
        let names: std::collections::BTreeSet<&str> = tare_image::Release::ALL
            .iter()
            .flat_map(|&each| releases::hooks(each).entries)
            .map(|entry| entry.name)
            .collect();
        let with_rules = names.iter().filter(|name| rule(name).is_some()).count();
        assert_eq!(
            with_rules, 51,
            "a name in a rule is one that no release has"
        );
    }

    #[test]
    fn calls_that_end_an_event_never_rest() {
        for name in [
            "end_mutex_wait",
            "end_statement",
            "destroy_metadata_lock",
            "close_table",
        ] {
            assert!(rule(name).is_none(), "{name}");
        }
    }
}
