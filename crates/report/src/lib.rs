//! Campaign files to terminal, HTML, Markdown and CSV.
