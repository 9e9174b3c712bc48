//! Has the wrong check compiled: see `crates/engine/src/bounds/thesis.rs`.

fn main() {
    println!("cargo:rustc-cfg=thesis_formula");
    println!("cargo:rerun-if-changed=build.rs");
}
