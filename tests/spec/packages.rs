//! Where packages are that are fetched from a registry: `sources/Cargo.toml` names them,
//! and cargo has them in its cache.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a package, downloaded if need be; else why there is none, in a line.
pub fn folder(package: &str) -> Result<PathBuf, String> {
    let manifest = crate::root().join("tests/spec/sources/Cargo.toml");
    let done = Command::new("cargo")
        .args(["metadata", "--locked", "--format-version", "1"])
        .arg("--manifest-path")
        .arg(&manifest)
        .output()
        .map_err(|error| format!("cargo is needed to fetch `{package}`: {error}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let line = said.lines().find(|line| line.starts_with("error"));
        let line = line.unwrap_or("no message").to_owned();
        return Err(format!("cargo could not fetch `{package}`: {line}"));
    }
    let said = String::from_utf8_lossy(&done.stdout);
    manifests(&said)
        .filter_map(Path::parent)
        .find(|folder| is_of(folder, package))
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("{} does not name `{package}`", manifest.display()))
}

/// The paths in what `cargo metadata` says.
fn manifests(said: &str) -> impl Iterator<Item = &Path> {
    let fields = said.split("\"manifest_path\":\"").skip(1);
    fields.filter_map(|rest| Some(Path::new(rest.split_once('"')?.0)))
}

/// Whether a folder of the cache is a version of the package's.
fn is_of(folder: &Path, package: &str) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    let version = name.and_then(|name| name.strip_prefix(package)?.strip_prefix('-'));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}
