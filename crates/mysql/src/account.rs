//! The rights of an account, and their names in MySQL's GRANT.

use crate::error::{Result, SqlError};
use crate::schema::{SYSTEM_SCHEMAS, is_system_schema};

/// An account that may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// User name.
    pub user: String,
    /// Host part.
    pub host: String,
    /// How it authenticates: `caching_sha2_password`, `auth_socket`.
    pub plugin: String,
    /// What it may do.
    pub rights: Rights,
    /// Whether it has to encrypt.
    pub ssl: bool,
    /// Whether it is locked.
    pub locked: bool,
}

/// What an account may do. There are three levels: read, change settings, everything. An account may read
/// only the system schemas, or the users' databases as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights {
    /// Reads the system schemas: SELECT on one of them.
    pub read: bool,
    /// Reads all databases: SELECT on `*.*`.
    pub data: bool,
    /// Sees what other sessions do: PROCESS.
    pub process: bool,
    /// Changes settings: setup tables, TRUNCATE of summaries, SET GLOBAL.
    pub settings: bool,
    /// Everything, accounts included.
    pub all: bool,
}

/// Privileges on `*.*` without a meaning here. GRANT accepts them with a warning.
const MEANINGLESS: [&str; 5] = [
    "REPLICATION CLIENT",
    "REPLICATION SLAVE",
    "SHOW DATABASES",
    "SHOW VIEW",
    "EXECUTE",
];

const CHANGES: [&str; 5] = ["UPDATE", "INSERT", "DELETE", "DROP", "EXECUTE"];

impl Rights {
    /// All there are.
    pub const ALL: Self = Self {
        all: true,
        ..Self::NONE
    };

    /// The right to connect.
    pub const NONE: Self = Self {
        read: false,
        data: false,
        process: false,
        settings: false,
        all: false,
    };

    /// What user monitor has.
    pub const MONITOR: Self = Self {
        read: true,
        process: true,
        ..Self::NONE
    };

    /// The rights with their names, for storage.
    pub fn named(&mut self) -> [(&'static str, &mut bool); 5] {
        [
            ("read", &mut self.read),
            ("data", &mut self.data),
            ("process", &mut self.process),
            ("settings", &mut self.settings),
            ("all", &mut self.all),
        ]
    }

    /// Whether it may read the system schemas.
    pub fn may_read(self) -> bool {
        self.read || self.data || self.all
    }

    /// Whether it may read the users' databases.
    pub fn may_read_data(self) -> bool {
        self.data || self.all
    }

    /// Whether it may see other sessions.
    pub fn may_see_others(self) -> bool {
        self.process || self.all
    }

    /// Whether it may change settings.
    pub fn may_set(self) -> bool {
        self.settings || self.all
    }

    /// 1227 if the account may not change settings.
    ///
    /// # Errors
    /// 1227, which names the privilege.
    pub fn require_settings(self, privilege: &str) -> Result<()> {
        match self.settings {
            true => Ok(()),
            false => self.require_all(privilege),
        }
    }

    /// 1227 if the account may not do everything.
    ///
    /// # Errors
    /// 1227, which names the privilege.
    pub fn require_all(self, privilege: &str) -> Result<()> {
        if self.all {
            return Ok(());
        }
        Err(SqlError::new(
            1227,
            format!(
                "Access denied; you need (at least one of) the {privilege} privilege(s) for this operation"
            ),
        ))
    }

    /// Both.
    #[must_use]
    pub fn with(mut self, mut other: Self) -> Self {
        for ((_, own), (_, more)) in self.named().into_iter().zip(other.named()) {
            *own |= *more;
        }
        self
    }

    /// These without the other ones.
    #[must_use]
    pub fn without(mut self, mut other: Self) -> Self {
        for ((_, own), (_, less)) in self.named().into_iter().zip(other.named()) {
            *own &= !*less;
        }
        self
    }

    /// What GRANT or REVOKE names: a privilege in capitals, on a schema or on `*.*`. The second of the
    /// pair: whether the privilege has a meaning here.
    ///
    /// # Errors
    /// 1235: nothing here is as fine as that.
    pub fn of(privilege: &str, schema: Option<&str>) -> Result<(Self, bool)> {
        let mut rights = Self::NONE;
        match (privilege, schema) {
            ("USAGE", _) => {}
            ("ALL", None) => rights.all = true,
            ("SELECT", None) => rights.data = true,
            ("PROCESS", None) => rights.process = true,
            ("SUPER" | "SYSTEM_VARIABLES_ADMIN", None) => rights.settings = true,
            (other, None) if MEANINGLESS.contains(&other) => return Ok((rights, false)),
            ("SELECT", Some(schema)) if is_system_schema(schema) => rights.read = true,
            ("ALL", Some(schema)) if is_system_schema(schema) => {
                (rights.read, rights.settings) = (true, true);
            }
            (change, Some(schema)) if CHANGES.contains(&change) && is_system_schema(schema) => {
                rights.settings = true;
            }
            (privilege, schema) => {
                let on = schema.map_or("*.*".to_owned(), |schema| format!("`{schema}`.*"));
                return Err(SqlError::new(
                    1235,
                    format!(
                        "This version of Tare doesn't yet support '{privilege} ON {on}': there are SELECT, \
                         PROCESS, SYSTEM_VARIABLES_ADMIN and ALL on *.*, and SELECT and UPDATE on \
                         performance_schema.*"
                    ),
                ));
            }
        }
        Ok((rights, true))
    }

    /// The global privileges, by MySQL's names.
    pub fn global(self) -> Vec<&'static str> {
        if self.all {
            return vec![
                "SELECT", "PROCESS", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "SUPER",
            ];
        }
        let named = [
            (self.data, "SELECT"),
            (self.process, "PROCESS"),
            (self.settings, "SYSTEM_VARIABLES_ADMIN"),
        ];
        let held: Vec<_> = named.into_iter().filter(|(has, _)| *has).collect();
        match held.is_empty() {
            true => vec!["USAGE"],
            false => held.into_iter().map(|(_, name)| name).collect(),
        }
    }

    /// The statements that give an account these rights.
    pub fn grants(self, user: &str, host: &str) -> Vec<String> {
        let to = format!("TO `{user}`@`{host}`");
        if self.all {
            return vec![format!(
                "GRANT ALL PRIVILEGES ON *.* {to} WITH GRANT OPTION"
            )];
        }
        let mut lines = vec![format!("GRANT {} ON *.* {to}", self.global().join(", "))];
        for schema in SYSTEM_SCHEMAS {
            let changed = self.settings && schema == "performance_schema";
            let held = match (self.read, changed) {
                (true, true) => "SELECT, UPDATE, DROP",
                (true, false) => "SELECT",
                (false, true) => "UPDATE, DROP",
                (false, false) => continue,
            };
            lines.push(format!("GRANT {held} ON `{schema}`.* {to}"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grant_and_revoke_change_rights() {
        let of = |privilege: &str, schema| Rights::of(privilege, schema).map(|(rights, _)| rights);
        let read = of("SELECT", Some("performance_schema")).expect("known");
        assert!(read.may_read() && !read.may_read_data() && !read.may_set());
        let both = read.with(of("UPDATE", Some("performance_schema")).expect("known"));
        assert!(both.may_read() && both.may_set());
        assert_eq!(both.without(read).grants("u", "%").len(), 2);
        assert_eq!(
            both.without(read).grants("u", "%")[0],
            "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO `u`@`%`"
        );
        assert_eq!(
            Rights::NONE.grants("u", "%"),
            ["GRANT USAGE ON *.* TO `u`@`%`"]
        );
        for (privilege, schema) in [
            ("INSERT", None),
            ("SELECT", Some("shop")),
            ("ALL", Some("shop")),
        ] {
            assert_eq!(of(privilege, schema).map_err(|e| e.code), Err(1235));
        }
    }
}
