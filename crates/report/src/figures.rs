//! Numbers as a reader wants them: three significant digits and a unit that
//! fits, the same in every format.
//!
//! What must stay true: text made here has no markup and no control
//! characters, and a value that is not finite is shown as a dash, never as a
//! number.

use fathom_stats::{FigureUnit, Ratio};

/// What stands where there is no value.
pub const NONE: &str = "–";

/// A time given in nanoseconds: `3.20 µs`, `412 ms`, `1.25 s`.
pub fn time(ns: f64) -> String {
    scaled(
        ns,
        &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
        1e3,
    )
}

/// An amount of memory given in bytes: `512 B`, `38.1 MB`. Decimal prefixes.
pub fn bytes(bytes: f64) -> String {
    scaled(
        bytes,
        &[
            ("B", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("TB", 1e12),
        ],
        1e3,
    )
}

/// A count: thousands apart, `1,204`; small averages keep a digit, `2.5`.
pub fn count(count: f64) -> String {
    if !count.is_finite() {
        return NONE.to_owned();
    }
    let rounded = count.round();
    if count.abs() < 100.0 && (count - rounded).abs() > 0.05 {
        return format!("{count:.1}");
    }
    let digits = format!("{:.0}", rounded.abs());
    let mut text = String::new();
    if rounded < 0.0 {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A value in the unit of its figure.
pub fn quantity(value: f64, unit: FigureUnit) -> String {
    match unit {
        FigureUnit::Nanoseconds => time(value),
        FigureUnit::Bytes => bytes(value),
        FigureUnit::Count => count(value),
        FigureUnit::PerCpuSecond => format!("{} /s", count(value)),
        FigureUnit::Share => percent(value),
        FigureUnit::PerSecond => format!("{} /s", count(value)),
    }
}

/// A ratio without its sign: `1.08`, `0.953`, `12.4`.
pub fn ratio_bare(ratio: f64) -> String {
    if !ratio.is_finite() {
        NONE.to_owned()
    } else if ratio.abs() < 0.095 {
        format!("{ratio:.3}")
    } else if ratio.abs() < 9.995 {
        format!("{ratio:.2}")
    } else if ratio.abs() < 99.95 {
        format!("{ratio:.1}")
    } else {
        count(ratio)
    }
}

/// A ratio and the ends of its interval, where it has one: `1.02 (1.013–1.021)`.
pub fn ratio_between(ratio: &Ratio) -> String {
    match &ratio.interval {
        Ok(found) => {
            let value = ratio_among(ratio.value, found.low, found.high);
            format!("{value} ({})", ends(found.low, found.high))
        }
        // The page says above all else that a campaign has too few rounds for one.
        Err(_) => ratio_bare(ratio.value),
    }
}

/// A ratio beside its interval: with a digit more where it would be outside otherwise, as ratios of
/// counts are.
pub fn ratio_among(ratio: f64, low: f64, high: f64) -> String {
    let rounded = (ratio * 100.0).round() / 100.0;
    match ratio < 9.995 && !(low..=high).contains(&rounded) {
        true => format!("{ratio:.3}"),
        false => ratio_bare(ratio),
    }
}

/// A ratio: `1.08 ×`.
pub fn ratio(ratio: f64) -> String {
    if ratio.is_finite() {
        format!("{} ×", ratio_bare(ratio))
    } else {
        NONE.to_owned()
    }
}

/// The ends of a ratio's interval, with a digit more than the ratio:
/// `1.013–1.021`.
pub fn ends(low: f64, high: f64) -> String {
    let end = |ratio: f64| match ratio {
        ratio if !ratio.is_finite() => NONE.to_owned(),
        ratio if ratio < 9.995 => format!("{ratio:.3}"),
        ratio => ratio_bare(ratio),
    };
    format!("{}–{}", end(low), end(high))
}

/// A part of one as per cent: 0.008 is `0.8 %`.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if !percent.is_finite() {
        NONE.to_owned()
    } else if percent.abs() < 0.095 && percent != 0.0 {
        format!("{percent:.2} %")
    } else if percent.abs() < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Half the width of an interval as a part of its value: `± 0.6 %`. A tenth of
/// a per cent is as fine as anyone should read it.
pub fn noise(part: f64) -> String {
    match part {
        part if !part.is_finite() => NONE.to_owned(),
        part if part < 0.000_5 => "± <0.1 %".to_owned(),
        part if part < 0.099_5 => format!("± {:.1} %", part * 100.0),
        part => format!("± {:.0} %", part * 100.0),
    }
}

/// A difference as per cent with its sign: `+1.3 %`, `−0.4 %`, `0`.
pub fn signed_percent(part: f64) -> String {
    if part.abs() < 5e-5 {
        "0".to_owned()
    } else if part > 0.0 {
        format!("+{}", percent(part))
    } else {
        percent(part).replace('-', "−")
    }
}

/// Words as the beginning of a sentence.
pub fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// A difference that would have been found, relative. Beyond twice the time its size says nothing
/// more.
pub fn detectable(seen: f64) -> Option<String> {
    (seen < 1.0).then(|| percent(seen))
}

/// `1 round`, `3 rounds`.
pub fn plural(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(number as f64))
}

/// Three significant digits of a positive value in the first unit in which it
/// stays below `step`.
fn scaled(value: f64, units: &[(&str, f64)], step: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let mut text = String::new();
    for (name, size) in units {
        let (digits, shown) = three_digits(value / size);
        text = format!("{digits} {name}");
        if shown < step {
            break;
        }
    }
    text
}

/// A value at three significant digits, as text and as the number shown.
fn three_digits(value: f64) -> (String, f64) {
    let places = match value.abs() {
        size if size == 0.0 || size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    let shown = text.parse::<f64>().map_or(value, f64::abs);
    (text, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_beyond_twice_the_time_has_no_size() {
        assert_eq!(detectable(0.089).as_deref(), Some("8.9 %"));
        assert_eq!(detectable(1.0), None);
        assert_eq!(detectable(f64::INFINITY), None);
    }

    #[test]
    fn times_choose_their_unit_after_rounding() {
        let shown = [0.0, 1.0, 999.4, 999.6, 3_200.0, 412.4e6, 999.96e6, 61.0e9]
            .map(time)
            .join(" | ");
        assert_eq!(
            shown,
            "0 ns | 1.00 ns | 999 ns | 1.00 µs | 3.20 µs | 412 ms | 1.00 s | 61.0 s"
        );
        assert_eq!(time(f64::NAN), NONE);
    }

    #[test]
    fn counts_and_ratios() {
        assert_eq!(count(1_204_377.2), "1,204,377");
        assert_eq!(count(2.5), "2.5");
        assert_eq!(count(-1_000.0), "-1,000");
        assert_eq!(
            [0.05, 0.953, 9.999, 12.44, 1234.0]
                .map(ratio_bare)
                .join(" "),
            "0.050 0.95 10.0 12.4 1,234"
        );
        assert_eq!(ratio_among(1.017, 1.013, 1.021), "1.02");
        assert_eq!(ratio_among(1.0122, 1.012, 1.013), "1.012");
        assert_eq!(ratio_among(12.44, 12.43, 12.45), "12.4");
        assert_eq!(percent(0.008), "0.8 %");
        assert_eq!(percent(0.0004), "0.04 %");
        assert_eq!(percent(0.31), "31 %");
        assert_eq!(plural(1, "kernel"), "1 kernel");
        assert_eq!(plural(30, "kernel"), "30 kernels");
    }
}
