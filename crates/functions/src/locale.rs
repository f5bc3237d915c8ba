//! Locales: how they separate the digits of numbers.

/// The separators of a locale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separators {
    /// Before the fraction.
    pub(crate) point: &'static str,
    /// Between groups of digits.
    pub(crate) group: &'static str,
    /// Digits of the group before the point, and of the groups before it; 0: one group has the rest.
    sizes: (usize, usize),
}

impl Default for Separators {
    fn default() -> Self {
        Self {
            point: ".",
            group: ",",
            sizes: (3, 3),
        }
    }
}

impl Separators {
    /// Whether a group begins before so many digits.
    pub(crate) fn is_before_group(&self, digits: usize) -> bool {
        let (first, others) = self.sizes;
        if self.group.is_empty() || first == 0 {
            return false;
        }
        digits == first || digits > first && others > 0 && (digits - first).is_multiple_of(others)
    }
}

/// Point, separator, sizes of groups, and the locales that have them. All locales of MySQL are here.
const LOCALES: &[(&str, &str, (usize, usize), &str)] = &[
    (
        ".",
        ",",
        (3, 3),
        "ar_AE ar_BH ar_DZ ar_EG ar_IN ar_IQ ar_JO ar_KW ar_LB ar_LY ar_MA ar_OM ar_QA ar_SD ar_SY ar_TN ar_YE \
         en_AU en_CA en_GB en_NZ en_PH en_US en_ZA en_ZW es_DO es_GT es_HN es_MX es_NI es_PA es_PE es_PR es_SV \
         es_US gu_IN he_IL hi_IN ja_JP ko_KR ms_MY th_TH ur_PK zh_CN zh_HK zh_TW",
    ),
    (".", "", (0, 0), "ar_SA sr_RS"),
    (
        ",",
        ".",
        (3, 3),
        "be_BY da_DK de_BE de_DE de_LU es_AR es_BO es_CL es_CO es_EC es_ES es_PY es_UY es_VE fo_FO hu_HU id_ID \
         is_IS lt_LT mn_MN nb_NO no_NO ro_RO ru_UA sq_AL tr_TR uk_UA vi_VN",
    ),
    (",", "\0", (3, 3), "bg_BG"),
    (
        ",",
        "",
        (0, 0),
        "ca_ES de_AT el_GR eu_ES fr_BE fr_CA fr_CH fr_FR fr_LU gl_ES hr_HR it_IT nl_BE nl_NL pl_PL pt_BR pt_PT \
         sl_SI",
    ),
    (
        ",",
        " ",
        (3, 3),
        "cs_CZ es_CR et_EE fi_FI lv_LV mk_MK ru_RU sk_SK sv_FI sv_SE",
    ),
    (".", "'", (3, 3), "de_CH"),
    (".", ",", (3, 2), "en_IN ta_IN te_IN"),
    (",", "'", (3, 3), "it_CH rm_CH"),
];

impl Separators {
    /// The separators of a locale, by its name without regard to case.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let is_one_of = |names: &str| names.split(' ').any(|n| n.eq_ignore_ascii_case(name));
        let (point, group, sizes, _) = LOCALES.iter().find(|(.., names)| is_one_of(names))?;
        Some(Self {
            point,
            group,
            sizes: *sizes,
        })
    }
}
