//! What is measured: cells, and the sandboxes they run in.
//!
//! ```text
//!  sandbox   engine[@version] / strategy / opt[:backend][~elide][~SETTING-VALUE]…
//!  cell      sandbox / suite:workload / variant / size / tTHREADS [/control]
//! ```
//!
//! An id is made of its parts and nothing else, so the same cell has the same
//! id in every campaign and two campaigns can be compared by id. Parts are
//! percent-encoded outside `[A-Za-z0-9._+-]`, so two different cells never
//! share one.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::setting::{Setting, Settings};
use crate::vocabulary::Variant;

/// Declares a cheap-to-clone textual id.
macro_rules! text_id {
    ($(#[$meta:meta])* $id:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id(Arc<str>);

        impl $id {
            /// An id that was written before. Ids of new things come from
            /// their parts.
            pub fn from_text(text: &str) -> $id {
                $id(Arc::from(text))
            }

            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$id, D::Error> {
                String::deserialize(deserializer).map(|text| $id(Arc::from(text)))
            }
        }
    };
}

text_id! {
    /// The stable name of a [`Cell`].
    CellId
}

text_id! {
    /// The stable name of a [`Sandbox`].
    SandboxId
}

/// An engine in one configuration: the thing a probe finds sound or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sandbox {
    /// The engine's name: `fathom`, `native`, `wasmtime`, `node`…
    pub engine: String,
    /// Its version, only where a campaign holds several of one engine; the
    /// version that was in force is in the campaign's `in_force` records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The strategy's name as the engine's runner takes it; `none` for native.
    pub strategy: String,
    /// What was named of the settings.
    #[serde(flatten)]
    pub settings: Settings,
}

impl Sandbox {
    /// An engine under a strategy, everything else as users get it.
    pub fn new(engine: &str, strategy: &str) -> Sandbox {
        Sandbox {
            engine: engine.to_owned(),
            version: None,
            strategy: strategy.to_owned(),
            settings: Settings::new(),
        }
    }

    /// The same with a value of a setting.
    #[must_use]
    pub fn with(self, setting: Setting, value: &str) -> Sandbox {
        Sandbox {
            settings: self.settings.with(setting, value),
            ..self
        }
    }

    /// The sandbox's name in files; the same configuration has the same.
    pub fn id(&self) -> SandboxId {
        let mut text = encode(&self.engine);
        if let Some(version) = &self.version {
            text.push('@');
            text.push_str(&encode(version));
        }
        text.push('/');
        // Between slashes a colon is no separator, and forms of strategies have it.
        text.push_str(&encode(&self.strategy).replace("%3a", ":"));
        text.push('/');
        self.settings.write_id(&mut text, encode);
        SandboxId(Arc::from(text))
    }
}

/// One engine configuration on one workload: the unit of measuring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// The engine and its configuration.
    #[serde(flatten)]
    pub sandbox: Sandbox,
    /// The workload's suite; `module` for a user's own module.
    pub suite: String,
    /// The workload's name in its suite; the file's name for a user's own.
    pub workload: String,
    /// What its source was compiled to.
    pub variant: Variant,
    /// The problem size by the suite's name for it; empty where there is none.
    #[serde(default)]
    pub size: String,
    /// Pinned instances that run at once, 1 or more.
    pub threads: u32,
    /// For an A/A control: the cell this one repeats. It is measured like any
    /// other in every round, and differs from the original in nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_of: Option<CellId>,
}

impl Cell {
    /// The cell's name in files; a control's says so.
    pub fn id(&self) -> CellId {
        let control = if self.control_of.is_some() {
            "/control"
        } else {
            ""
        };
        CellId(Arc::from(format!(
            "{}/{}:{}/{}/{}/t{}{control}",
            self.sandbox.id(),
            encode(&self.suite),
            encode(&self.workload),
            self.variant,
            encode(&self.size),
            self.threads,
        )))
    }

    /// The A/A control of this cell.
    pub fn control(&self) -> Cell {
        Cell {
            control_of: Some(self.id()),
            ..self.clone()
        }
    }

    /// Whether it is an A/A control.
    pub fn is_control(&self) -> bool {
        self.control_of.is_some()
    }
}

fn encode(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"._+-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        Cell {
            sandbox: Sandbox::new("fathom", "guard"),
            suite: "polybench".to_owned(),
            workload: "gemm".to_owned(),
            variant: Variant::WasmSimd,
            size: "medium".to_owned(),
            threads: 4,
            control_of: None,
        }
    }

    #[test]
    fn ids_are_made_of_the_parts() {
        let mut cell = cell();
        assert_eq!(
            cell.id().as_str(),
            "fathom/guard/speed/polybench:gemm/wasm-simd/medium/t4"
        );
        assert_eq!(
            cell.control().id().as_str(),
            "fathom/guard/speed/polybench:gemm/wasm-simd/medium/t4/control"
        );
        cell.sandbox.version = Some("48.0/8".to_owned());
        cell.sandbox = cell.sandbox.with(Setting::Codegen, "single pass");
        cell.size = String::new();
        assert_eq!(
            cell.id().as_str(),
            "fathom@48.0%2f8/guard/speed:single%20pass/polybench:gemm/wasm-simd//t4"
        );
        cell.sandbox = cell.sandbox.with(Setting::Elide, "off");
        assert_eq!(
            cell.sandbox.id().as_str(),
            "fathom@48.0%2f8/guard/speed:single%20pass~off"
        );
        cell.sandbox = cell.sandbox.with(Setting::Spectre, "off");
        assert_eq!(
            cell.sandbox.id().as_str(),
            "fathom@48.0%2f8/guard/speed:single%20pass~off~spectre-off"
        );
    }

    #[test]
    fn a_cell_survives_json() {
        for cell in [cell(), cell().control()] {
            let json = serde_json::to_string(&cell).unwrap();
            assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), cell);
        }
    }
}
