//! The folder of a page as a site: what the browser is told when it asks for a file.
//!
//! What must stay true: only regular files of the folder and those below are read, and none
//! whose name, or a folder's on the way, begins with a dot. Links lead nowhere else.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use fathom_sys::regular;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What a page has its files from.
pub const ORIGIN: &str = "http://page.localhost/";

/// A page's address, and where its files are, if they are here.
#[derive(Debug)]
pub struct Site {
    pub address: String,
    pub folder: Option<PathBuf>,
}

impl Site {
    /// That of a page: a file, or an address of somebody's server.
    ///
    /// # Errors
    /// No page is there.
    pub fn of(page: &Path) -> anyhow::Result<Site> {
        let shown = page.display();
        let text = page.to_string_lossy();
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Site {
                address: text.into_owned(),
                folder: None,
            });
        }
        let file = page.canonicalize().with_context(|| shown.to_string())?;
        let extension = file.extension().unwrap_or_default();
        if !["html", "htm", "xhtml"].iter().any(|one| extension == *one) {
            bail!(
                "{shown}: not a page (.html); a program is recorded by: fathom record -- node {shown}"
            );
        }
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.context("the page's name is not UTF-8")?;
        Ok(Site {
            address: format!("{ORIGIN}{}", utf8_percent_encode(name, NON_ALPHANUMERIC)),
            folder: file.parent().map(Path::to_owned),
        })
    }

    /// The bytes that an address means, and their type.
    pub fn read(&self, address: &str) -> Option<(Vec<u8>, &'static str)> {
        let file = file_of(self.folder.as_deref()?, address)?;
        Some((regular::read(&file).ok()?, kind_of(&file)))
    }
}

/// The file that an address means; nothing for what is hidden or elsewhere.
fn file_of(folder: &Path, address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix(ORIGIN)?;
    let path = path.split(['?', '#']).next()?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let mut file = folder.join(&*path);
    if file.is_dir() {
        file.push("index.html");
    }
    let is_shown = |part: Component| match part {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    let is_below = |path: &Path| {
        let below = path.strip_prefix(folder);
        below.is_ok_and(|path| path.components().all(is_shown))
    };
    // Where links lead, too.
    let real = file.canonicalize().ok()?;
    (is_below(&file) && is_below(&real)).then_some(real)
}

/// The type of a file's contents, by its name: browsers refuse scripts and modules of others.
fn kind_of(file: &Path) -> &'static str {
    match file
        .extension()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
    {
        "html" | "htm" | "xhtml" => "text/html; charset=utf-8",
        "js" | "mjs" | "cjs" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
