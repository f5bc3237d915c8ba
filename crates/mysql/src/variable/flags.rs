//! Variables whose values are lists of flags.

use super::record::Variable;
use crate::error::Result;

impl Variable {
    /// Whether its value is a list of flags, `name=on,name=off`.
    pub fn has_flags(&self) -> bool {
        matches!(
            self.name,
            "optimizer_switch" | "optimizer_trace" | "optimizer_trace_features"
        )
    }

    /// The present list of flags with the changes of a new one: `name=off`, `name=default`, and `default` for
    /// all. A number has a bit for each flag.
    ///
    /// # Errors
    /// 1231: there is no such flag, or it is given twice.
    pub fn merge_flags(&self, present: &str, change: &str) -> Result<String> {
        let defaults: Vec<(&str, &str)> = flags(self.default).collect();
        let mut values: Vec<&str> = (defaults.iter())
            .map(|(name, default)| {
                let of_flag = flags(present).find(|(flag, _)| flag == name);
                of_flag.map_or(*default, |(_, value)| value)
            })
            .collect();
        if let Ok(bits) = change.parse::<u64>() {
            if bits >> defaults.len() != 0 {
                return Err(self.wrong(change));
            }
            for (i, value) in values.iter_mut().enumerate() {
                *value = if bits >> i & 1 == 1 { "on" } else { "off" };
            }
        } else {
            self.change_flags(&defaults, &mut values, change)?;
        }
        let names = defaults.iter().map(|(name, _)| name);
        let list = names
            .zip(values)
            .map(|(name, value)| format!("{name}={value}"));
        Ok(list.collect::<Vec<_>>().join(","))
    }

    fn change_flags<'t>(
        &self,
        defaults: &[(&str, &'t str)],
        values: &mut [&'t str],
        change: &str,
    ) -> Result<()> {
        let parts = change.split(',').filter(|part| !part.is_empty());
        let (all, single): (Vec<_>, Vec<_>) = parts.partition(|part| is(part, "default"));
        if !all.is_empty() {
            let of_default = defaults.iter().map(|(_, value)| *value);
            values
                .iter_mut()
                .zip(of_default)
                .for_each(|(value, default)| *value = default);
        }
        let mut changed = Vec::new();
        for part in single {
            let flag = part.split_once('=').and_then(|(name, value)| {
                let at = defaults.iter().position(|(flag, _)| is(flag, name))?;
                let value = match value {
                    _ if is(value, "on") => "on",
                    _ if is(value, "off") => "off",
                    _ if is(value, "default") => defaults[at].1,
                    _ => return None,
                };
                Some((at, value))
            });
            match flag {
                Some((at, value)) if !changed.contains(&at) => {
                    values[at] = value;
                    changed.push(at);
                }
                _ => return Err(self.wrong(part)),
            }
        }
        Ok(())
    }
}

fn is(text: &str, word: &str) -> bool {
    text.eq_ignore_ascii_case(word)
}

fn flags(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(',').filter_map(|flag| flag.split_once('='))
}

#[cfg(test)]
mod tests {
    use crate::variable::find;

    /// The expected values are MySQL 9.7.4's.
    #[test]
    fn flags_are_changed_one_by_one() {
        let trace = find("optimizer_trace").expect("9.7 has it");
        let set = |present: &str, change: &str| trace.merge_flags(present, change).ok();
        let value =
            |enabled: &str, one_line: &str| Some(format!("enabled={enabled},one_line={one_line}"));
        assert_eq!(set(trace.default, "enabled=on"), value("on", "off"));
        assert_eq!(
            set("enabled=on,one_line=off", "one_line=ON"),
            value("on", "on")
        );
        assert_eq!(
            set("enabled=on,one_line=on", "enabled=default"),
            value("off", "on")
        );
        assert_eq!(
            set("enabled=on,one_line=on", "ENABLED=on,default"),
            value("on", "off")
        );
        assert_eq!(set("enabled=on,one_line=on", ""), value("on", "on"));
        assert_eq!(set(trace.default, "3"), value("on", "on"));
        for wrong in [
            "end_marker=on",
            "enabled",
            "enabled=x",
            "enabled=on,enabled=off",
            "8",
        ] {
            assert_eq!(set(trace.default, wrong), None, "{wrong}");
        }
    }
}
