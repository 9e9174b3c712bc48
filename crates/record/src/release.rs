//! Releases of an engine: which is newer, and which one a part of a version names.

/// The newest release that `asked` names, which may be the first numbers of it. What is not
/// final is only meant where it is named in full.
pub fn newest<'a>(asked: &str, versions: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let exact = versions.clone().find(|version| *version == asked);
    let is_one = |version: &&str| {
        let rest = version.strip_prefix(asked);
        rest.is_some_and(|rest| rest.starts_with('.')) && is_final(version)
    };
    exact.or_else(|| versions.filter(is_one).max_by_key(|version| order(version)))
}

/// Whether a release is a final one: numbers alone.
pub fn is_final(version: &str) -> bool {
    version.split('.').all(|part| part.parse::<u64>().is_ok())
}

/// What releases are sorted by: numbers as numbers, and what is not final before what is.
pub fn order(version: &str) -> (Vec<u64>, bool, String) {
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit());
    let (numbers, rest) = version.split_at(end.unwrap_or(version.len()));
    let numbers = numbers.split('.').map_while(|part| part.parse().ok());
    (numbers.collect(), rest.is_empty(), rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_name_the_newest_and_what_is_not_final_is_named_in_full() {
        let there = [
            "4.9.1",
            "48.0.0",
            "48.0.10",
            "48.0.9",
            "48.1.0-rc.1",
            "50.0.1",
        ];
        for (asked, found) in [
            ("48", Some("48.0.10")),
            ("48.0", Some("48.0.10")),
            ("48.0.9", Some("48.0.9")),
            ("48.1.0-rc.1", Some("48.1.0-rc.1")),
            ("48.1", None),
            ("4", Some("4.9.1")),
            ("5", None),
            ("", None),
        ] {
            assert_eq!(newest(asked, there.into_iter()), found, "{asked}");
        }
    }
}
