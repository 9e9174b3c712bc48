//! How an error is told on the command line.

/// The error and its causes in one line, whatever they contain. A cause that
/// the line above it already quotes is not said twice.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::from("fathom");
    let mut last = String::new();
    for cause in error.chain() {
        let text = cause.to_string().replace('\n', " ");
        if !last.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        last = text;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_says_nothing_twice() {
        let cause = anyhow::anyhow!("line one\nline two");
        let error = cause.context("a.wasm");
        assert_eq!(one_line(&error), "fathom: a.wasm: line one line two");
        let repeated = anyhow::anyhow!("gone").context("open: gone");
        assert_eq!(one_line(&repeated), "fathom: open: gone");
    }
}
