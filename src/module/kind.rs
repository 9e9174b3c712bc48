//! Who made a module, and for whom: known by the names of what it imports.

use super::outline::{Import, Outline};

/// What a module is that imports what programs are not given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not linked yet.
    Object,
    /// A part of a program that Emscripten links when it runs.
    SideModule,
    /// Emscripten's, with its names.
    Emscripten,
    /// Emscripten's, with names of a letter or two.
    EmscriptenMinified,
    /// Rust's for JavaScript.
    WasmBindgen,
    /// The same, before wasm-bindgen has been over it.
    UnprocessedWasmBindgen,
    /// Go's or TinyGo's for JavaScript.
    Go,
    /// Kotlin's for JavaScript.
    Kotlin,
    /// Code of .NET, wrapped as a module.
    DotnetAssembly,
    /// An extension of Node.js.
    NodeApi,
    /// The module inside of a component.
    ComponentCore,
    /// AssemblyScript's for JavaScript.
    AssemblyScript,
    /// Wasmer's extension of WASI.
    Wasix,
    /// A function in a module of WASI's that is none of preview 1.
    BeyondWasi,
    /// Nothing but a memory is missing.
    ImportedMemory,
    /// None of those.
    OwnHost,
}

impl Kind {
    /// Every kind, the surest sign first.
    const ALL: [Kind; 16] = [
        Kind::Object,
        Kind::SideModule,
        Kind::NodeApi,
        Kind::UnprocessedWasmBindgen,
        Kind::WasmBindgen,
        Kind::Go,
        Kind::Kotlin,
        Kind::DotnetAssembly,
        Kind::Wasix,
        Kind::ComponentCore,
        Kind::AssemblyScript,
        Kind::EmscriptenMinified,
        Kind::Emscripten,
        Kind::BeyondWasi,
        Kind::ImportedMemory,
        Kind::OwnHost,
    ];

    /// Of a module to which these imports are missing.
    pub fn of(outline: &Outline<'_>, missing: &[&Import<'_>]) -> Kind {
        let fits = |kind: &Kind| kind.fits(outline, missing);
        Kind::ALL.into_iter().find(fits).unwrap_or(Kind::OwnHost)
    }

    fn fits(self, outline: &Outline<'_>, missing: &[&Import<'_>]) -> bool {
        let any = |is: fn(&Import<'_>) -> bool| missing.iter().any(|import| is(import));
        let all = |is: fn(&Import<'_>) -> bool| missing.iter().all(|import| is(import));
        let has_custom = |name: &str| {
            outline
                .customs
                .iter()
                .any(|custom| custom.starts_with(name))
        };
        match self {
            Kind::Object => has_custom("linking") && any(|i| i.name == "__linear_memory"),
            // A main module has the section, too, and a memory and a stack of its own.
            Kind::SideModule => {
                has_custom("dylink") && any(|i| ["__memory_base", "__table_base"].contains(&i.name))
            }
            Kind::NodeApi => any(|i| i.name.starts_with("napi_")),
            // Processed for node it imports from the placeholder, too.
            Kind::UnprocessedWasmBindgen => {
                has_custom("__wasm_bindgen_unstable")
                    || any(|i| i.name.starts_with("__wbindgen_describe"))
            }
            Kind::WasmBindgen => any(|i| {
                i.module == "wbg"
                    || i.module.starts_with("__wbindgen")
                    || i.name.starts_with("__wbindgen")
                    || i.name.starts_with("__wbg_")
            }),
            Kind::Go => any(|i| {
                let is_js = i.name.starts_with("syscall/js.") || i.name.starts_with("runtime.");
                i.module == "gojs" || (i.module == "go" && is_js)
            }),
            Kind::Kotlin => any(|i| i.module == "js_code" && i.name.starts_with("kotlin.")),
            Kind::DotnetAssembly => any(|i| i.module == "webcil"),
            Kind::Wasix => any(|i| i.module.starts_with("wasix_")),
            Kind::ComponentCore => {
                has_custom("component-type")
                    || any(|i| {
                        let is_versioned = i.module.contains(':') && i.module.contains(['@', '/']);
                        i.module.starts_with("wasi:")
                            || i.module.starts_with("cm32p2")
                            || is_versioned
                    })
            }
            Kind::AssemblyScript => {
                let own = ["__new", "__pin", "__rtti_base"];
                let exports = outline.functions.iter().any(|name| own.contains(name));
                any(|i| (i.module, i.name) == ("env", "abort") && i.takes_i32(4))
                    || (exports && any(|i| i.module == "env"))
            }
            Kind::EmscriptenMinified => {
                let is_short = |i: &Import<'_>| i.module == "a" && i.name.len() <= 3;
                // A memory that threads share is given, and may be the first.
                let has_first = outline.imports.iter().any(|i| is_short(i) && i.name == "a");
                missing.len() > 1 && all(is_short) && has_first
            }
            Kind::Emscripten => any(is_emscriptens),
            Kind::BeyondWasi => any(|i| i.module.starts_with("wasi_")),
            Kind::ImportedMemory => all(|i| i.is_memory()),
            Kind::OwnHost => true,
        }
    }

    /// What it is, as people know it.
    pub fn what(self) -> &'static str {
        match self {
            Kind::Object => "an object file, not linked yet",
            Kind::SideModule => {
                "a side module of Emscripten, which a program loads when it runs (dynamic linking)"
            }
            Kind::Emscripten => "made by Emscripten for JavaScript",
            Kind::EmscriptenMinified => "made by Emscripten for JavaScript, names minified",
            Kind::UnprocessedWasmBindgen => "made for wasm-bindgen, which has not processed it yet",
            Kind::WasmBindgen => "made by wasm-bindgen for JavaScript",
            Kind::Kotlin => "made by Kotlin for JavaScript",
            Kind::DotnetAssembly => "an assembly of .NET, wrapped as a module (webcil)",
            Kind::Go => "made by Go for JavaScript (gojs)",
            Kind::NodeApi => "an extension of Node.js (Node-API)",
            Kind::ComponentCore => "the core module of a component (WASI 0.2 or later)",
            Kind::AssemblyScript => "made by AssemblyScript for JavaScript",
            Kind::Wasix => "made for WASIX, an extension of WASI that Wasmer has",
            Kind::BeyondWasi => "no part of WASI preview 1",
            Kind::ImportedMemory => "its memory is to come from its host",
            Kind::OwnHost => "made for a host of its own",
        }
    }

    /// What helps.
    pub fn remedy(self, outline: &Outline<'_>) -> String {
        let way = self.way();
        // The recorder knows neither (docs/REPLAY.md).
        let may_be_recorded = self.is_for_javascript() && !outline.has_gc;
        match (may_be_recorded, outline.has_shared_memory()) {
            (true, false) => format!("{way}; or record it in node (fathom record)"),
            (true, true) => format!("{way}; its memory is shared, so it cannot be recorded"),
            (false, _) => way.to_owned(),
        }
    }

    fn is_for_javascript(self) -> bool {
        matches!(
            self,
            Kind::Emscripten
                | Kind::EmscriptenMinified
                | Kind::WasmBindgen
                | Kind::Go
                | Kind::NodeApi
                | Kind::AssemblyScript
                | Kind::Kotlin
                | Kind::ImportedMemory
                | Kind::OwnHost
        )
    }

    fn way(self) -> &'static str {
        match self {
            Kind::Object => "link it: by clang --target=wasm32-wasip1 or wasm-ld",
            Kind::SideModule => "link the whole program into one module for WASI",
            Kind::Emscripten | Kind::EmscriptenMinified => {
                "build it for WASI: by clang --target=wasm32-wasip1, or emcc -sSTANDALONE_WASM"
            }
            Kind::UnprocessedWasmBindgen => {
                "run wasm-bindgen on it for JavaScript, or build it without that for wasm32-wasip1"
            }
            Kind::WasmBindgen => "build it as a program for wasm32-wasip1, without wasm-bindgen",
            Kind::Go => "build it by GOOS=wasip1 GOARCH=wasm go build (tinygo: -target=wasip1)",
            Kind::Kotlin => "build it for WASI (wasmWasi)",
            Kind::NodeApi => "run it in Node.js",
            Kind::DotnetAssembly => "there is no program in it: run dotnet.native.wasm",
            Kind::ComponentCore => "build it for wasm32-wasip1 (WASI preview 1)",
            Kind::AssemblyScript => "build it for WASI, with the package @assemblyscript/wasi-shim",
            Kind::Wasix => "build it for wasm32-wasip1, or run it by Wasmer",
            Kind::BeyondWasi => "build it for wasm32-wasip1 without the extension that has it",
            Kind::ImportedMemory => "link it without --import-memory",
            Kind::OwnHost => {
                "a program is given WASI preview 1; if it can do without the rest, run it with \
                 --stub-imports; from Rust, a host can give it more (docs/EMBEDDING.md)"
            }
        }
    }
}

/// Whether it is a name that only Emscripten's JavaScript gives.
fn is_emscriptens(import: &Import<'_>) -> bool {
    let starts = [
        "emscripten_",
        "_emscripten_",
        "__syscall_",
        "_embind_",
        "_emval_",
        "__cxa_",
        "invoke_",
        "_mmap_js",
        "_tzset_js",
        "_localtime_js",
        "_setitimer_js",
        "__assert_fail",
        "_abort_js",
        "__stack_pointer",
        "__memory_base",
    ];
    let is_named = starts.iter().any(|start| import.name.starts_with(start));
    import.module.starts_with("GOT.")
        || (import.module == "env" && (is_named || (import.name == "abort" && import.takes_i32(0))))
}
