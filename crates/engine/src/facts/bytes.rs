//! Counts of bytes, in words.

use std::fmt;

/// A count of bytes in words.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut unit = 0;
        let mut size = self.0 as f64;
        while size >= 1024.0 && unit + 1 < UNITS.len() {
            size /= 1024.0;
            unit += 1;
        }
        let digits = usize::from(size.fract() >= 0.05 && size < 100.0);
        write!(f, "{size:.digits$} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_the_largest_unit() {
        assert_eq!(Bytes(65_536).to_string(), "64 KiB");
        assert_eq!(Bytes((8 << 30) + 65_536).to_string(), "8 GiB");
        assert_eq!(Bytes(3 << 29).to_string(), "1.5 GiB");
    }
}
