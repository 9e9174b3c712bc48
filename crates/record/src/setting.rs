//! The settings of our engine that are measured side by side: one list, and what a
//! sandbox, a request and a name make of it.
//!
//! ```text
//!  a row below ─┬─▶ --NAME of every command that measures
//!               ├─▶ Settings of a Sandbox ─▶ its id, its fields in cells and requests
//!               ├─▶ what tables call the row (`naming`)
//!               └─▶ fathom_engine::Config (fathom-bench, worker/settings.rs)
//! ```
//!
//! What must stay true: a setting that nobody named is not recorded, and then an id is as
//! it was before there was such a setting; names and fields never change their meaning.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::vocabulary::{Opt, UnknownName, closed_set};

/// One of the values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
}

/// What becomes of the rows when values of a setting are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each row is measured once with each of them, and with no other.
    Multiply,
    /// Each row is measured as it is, and once more with each of them that is another.
    Beside,
}

/// Declares the settings: their enum, and their values.
macro_rules! settings {
    ($($(#[$doc:meta])* $setting:ident = $name:literal, $help:literal, $rule:ident, default $default:literal {
        $($value:literal, $value_help:literal;)+
    })+) => {
        closed_set! {
            /// A setting of our engine.
            Setting, "setting" {
                $($(#[$doc])* $setting = $name, $help;)+
            }
        }

        impl Setting {
            /// Its values.
            pub fn choices(self) -> &'static [Choice] {
                match self {
                    $(Setting::$setting => &[$(Choice { name: $value, help: $value_help }),+],)+
                }
            }

            /// The value that users get who name none.
            pub fn default(self) -> &'static str {
                match self { $(Setting::$setting => $default,)+ }
            }

            /// What becomes of the rows when values of it are named.
            pub fn rule(self) -> Rule {
                match self { $(Setting::$setting => Rule::$rule,)+ }
            }
        }
    };
}

settings! {
    /// How hard the code generator tries.
    Opt = "opt", "how hard our engine compiles", Multiply, default "speed" {
        "speed", "optimise for fast code";
        "none", "compile as fast as possible";
    }
    /// What makes machine code. Other engines have generators of their own.
    Codegen = "codegen", "what makes our engine's machine code", Multiply, default "cranelift" {
        "cranelift", "compiles fast, needs nothing";
        "llvm", "compiles slowly, needs clang 20 or zig 0.15 (see docs/CODEGEN.md)";
        "direct", "compiles in one pass; code is slower (see docs/CODEGEN.md)";
        "tiered", "in one pass when first called, by cranelift what runs for long";
        "tiered:llvm", "the same, then by llvm what was optimised and runs on";
    }
    /// When functions are compiled.
    Compilation = "compilation", "when our engine compiles functions", Beside, default "eager" {
        "eager", "every function before the program starts";
        "lazy", "each function when it is first called";
    }
    /// Which checks of accesses are left out.
    Elide = "elide", "which redundant checks our engine leaves out", Beside, default "loops" {
        "off", "every access has its check";
        "dominated", "none where an earlier access or the index's range suffices";
        "loops", "nor where a loop moves an index by steps that guard pages absorb";
    }
    /// Whether there are guards against speculation.
    Spectre = "spectre", "whether our engine guards checked accesses against speculation", Beside, default "on" {
        "on", "what checks let through is guarded against speculation";
        "off", "checks alone";
    }
}

impl Setting {
    /// The value of this name.
    ///
    /// # Errors
    /// [`UnknownName`] with the values there are.
    pub fn choice(self, name: &str) -> Result<&'static str, UnknownName> {
        let choice = self.choices().iter().find(|choice| choice.name == name);
        choice.map(|choice| choice.name).ok_or_else(|| UnknownName {
            what: self.name(),
            name: name.to_owned(),
            known: self
                .choices()
                .iter()
                .map(|choice| choice.name)
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// The field that has it in cells and requests. What other engines have too has the
    /// name that it has there.
    pub fn field(self) -> &'static str {
        match self {
            Setting::Codegen => "backend",
            other => other.name(),
        }
    }

    /// Whether other engines have it, with values of their own.
    fn is_open(self) -> bool {
        self == Setting::Codegen
    }

    /// Whether it is written though nobody named it: so it was from the first.
    pub fn is_always_said(self) -> bool {
        self == Setting::Opt
    }

    /// What stands in front of its value in an id.
    fn mark(self) -> String {
        match self {
            // An id has it always.
            Setting::Opt => String::new(),
            Setting::Codegen => ":".to_owned(),
            Setting::Elide => "~".to_owned(),
            other => format!("~{}-", other.name()),
        }
    }

    /// A value in words that tell a row from others.
    fn said(self, value: &str) -> String {
        match self {
            // Every generator has a name that nothing else has.
            Setting::Codegen => value.to_owned(),
            other => format!("--{} {value}", other.name()),
        }
    }
}

/// What was named of the settings, for one sandbox. Other engines have a code generator
/// by this name where they offer several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Settings(BTreeMap<Setting, String>);

impl Settings {
    /// Nothing named: everything as users get it.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// With a value, which need not be in the list: other engines' are not.
    #[must_use]
    pub fn with(mut self, setting: Setting, value: &str) -> Settings {
        if setting.is_always_said() && value == setting.default() {
            // Written always, so it makes no difference who says it.
            self.0.remove(&setting);
        } else {
            self.0.insert(setting, value.to_owned());
        }
        self
    }

    /// Without what was named of one.
    #[must_use]
    pub fn without(mut self, setting: Setting) -> Settings {
        self.0.remove(&setting);
        self
    }

    /// What was named.
    pub fn get(&self, setting: Setting) -> Option<&str> {
        self.0.get(&setting).map(String::as_str)
    }

    /// What holds for our engine.
    pub fn value(&self, setting: Setting) -> &str {
        self.get(setting).unwrap_or(setting.default())
    }

    /// Whether nothing was named but these.
    pub fn are_default_but(&self, these: &[Setting]) -> bool {
        self.0.keys().all(|setting| these.contains(setting))
    }

    /// What was named, in the order of the list.
    pub fn named(&self) -> impl Iterator<Item = (Setting, &str)> {
        self.0
            .iter()
            .map(|(setting, value)| (*setting, value.as_str()))
    }

    /// How hard an engine compiles: what every engine is asked for.
    pub fn opt(&self) -> Opt {
        let named = self.get(Setting::Opt).map(str::parse);
        named.and_then(Result::ok).unwrap_or_default()
    }

    /// The code generator, where an engine offers a choice and one was made.
    pub fn backend(&self) -> Option<&str> {
        self.get(Setting::Codegen)
    }

    /// What was named, in words that tell a row from others.
    pub fn said(&self) -> Vec<String> {
        // The generator first: it is a noun, the others are options.
        let (generator, others): (Vec<_>, Vec<_>) =
            self.named().partition(|(setting, _)| setting.is_open());
        let all = generator.into_iter().chain(others);
        all.map(|(setting, value)| setting.said(value)).collect()
    }

    /// What was named beside the code generator, as `SETTING=VALUE` with spaces between: for
    /// programs, which are given the generator by itself.
    pub fn for_programs(&self) -> String {
        let own = self.named().filter(|(setting, _)| !setting.is_open());
        let own: Vec<String> = own
            .map(|(setting, value)| format!("{setting}={value}"))
            .collect();
        own.join(" ")
    }

    /// The end of an id.
    pub(crate) fn write_id(&self, text: &mut String, encode: impl Fn(&str) -> String) {
        for setting in Setting::ALL.iter().copied() {
            let value = match setting.is_always_said() {
                true => self.value(setting),
                false => match self.get(setting) {
                    Some(value) => value,
                    None => continue,
                },
            };
            text.push_str(&setting.mark());
            text.push_str(&encode(value));
        }
    }

    fn fields<S: Serializer>(&self, to: S, says_none: bool) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for setting in Setting::ALL.iter().copied() {
            match self.get(setting) {
                Some(value) => map.serialize_entry(setting.field(), value)?,
                None if setting.is_always_said() => {
                    map.serialize_entry(setting.field(), setting.default())?;
                }
                None if says_none && setting.is_open() => {
                    map.serialize_entry(setting.field(), &None::<&str>)?;
                }
                None => {}
            }
        }
        map.end()
    }

    /// As fields of a request, which tell every engine that it may choose its generator.
    pub(crate) fn in_request<S: Serializer>(settings: &Settings, to: S) -> Result<S::Ok, S::Error> {
        settings.fields(to, true)
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.fields(to, false)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Settings, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Settings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::new();
                while let Some(field) = map.next_key::<String>()? {
                    let mut all = Setting::ALL.iter().copied();
                    let Some(setting) = all.find(|setting| setting.field() == field) else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    let Some(value) = map.next_value::<Option<String>>()? else {
                        continue;
                    };
                    if !setting.is_open() {
                        setting.choice(&value).map_err(A::Error::custom)?;
                    }
                    settings = settings.with(setting, &value);
                }
                Ok(settings)
            }
        }

        from.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_values_and_one_of_them_is_its_default() {
        for setting in Setting::ALL {
            assert!(setting.choices().len() >= 2, "{setting}");
            assert!(setting.choice(setting.default()).is_ok(), "{setting}");
            let unknown = setting.choice("x").unwrap_err().to_string();
            assert!(unknown.contains(setting.default()), "{unknown}");
        }
        let levels = Setting::Opt.choices().iter();
        let levels: Vec<_> = levels.map(|one| (one.name, one.help)).collect();
        let all: Vec<_> = Opt::ALL
            .iter()
            .map(|opt| (opt.name(), opt.help()))
            .collect();
        assert_eq!(levels, all);
    }

    #[test]
    fn no_two_settings_share_a_field_or_a_mark() {
        for one in Setting::ALL {
            for other in Setting::ALL.iter().filter(|other| *other != one) {
                assert_ne!(one.field(), other.field());
                assert_ne!(one.mark(), other.mark());
            }
        }
    }

    #[test]
    fn fields_are_read_as_they_are_written() {
        let every = Setting::ALL.iter().fold(Settings::new(), |all, setting| {
            all.with(*setting, setting.choices()[1].name)
        });
        for settings in [Settings::new(), every] {
            let json = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        }
        let old = r#"{"opt":"speed","backend":null,"elide":"off","of":"the future"}"#;
        let read: Settings = serde_json::from_str(old).unwrap();
        assert_eq!(read, Settings::new().with(Setting::Elide, "off"));
        let wrong = serde_json::from_str::<Settings>(r#"{"spectre":"perhaps"}"#);
        let wrong = wrong.unwrap_err().to_string();
        assert!(
            wrong.contains("unknown spectre 'perhaps' (one of: on, off)"),
            "{wrong}"
        );
        // Another engine's.
        assert!(serde_json::from_str::<Settings>(r#"{"backend":"liftoff"}"#).is_ok());
    }
}
