//! From values to places along a horizontal axis, in per cent of its length.
//!
//! Places are per cent because a figure is as wide as the screen that shows
//! it: the browser does the last step, text keeps its size, and no script runs.

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value there.
    pub value: f64,
    /// Per cent of the axis.
    pub place: f64,
}

impl Scale {
    /// An axis whose length is proportional to the values' difference. Both
    /// ends always differ.
    pub fn linear(low: f64, high: f64) -> Scale {
        let low = finite_or(low, 0.0);
        let high = finite_or(high, low);
        let high = if high - low > f64::EPSILON * low.abs() {
            high
        } else {
            low + low.abs().max(1.0)
        };
        Scale {
            low,
            high,
            is_log: false,
        }
    }

    /// An axis whose length is proportional to the values' ratio. Values at or
    /// below 0 sit at the low end.
    pub fn log(low: f64, high: f64) -> Scale {
        let low = finite_or(low, 1.0).max(f64::MIN_POSITIVE);
        let high = finite_or(high, low);
        let high = if high / low > 1.0 + 1e-9 {
            high
        } else {
            low * 2.0
        };
        Scale {
            low,
            high,
            is_log: true,
        }
    }

    /// Where a value is, in per cent, held within 0 and 100.
    pub fn place(&self, value: f64) -> f64 {
        let part = if self.is_log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0) * 100.0
        }
    }

    /// Whether a value lies beyond the high end.
    pub fn is_beyond(&self, value: f64) -> bool {
        value > self.high * (1.0 + 1e-9)
    }

    /// About `wanted` round values within the axis.
    pub fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let values = if self.is_log && self.high / self.low > 8.0 {
            self.log_values(wanted)
        } else {
            self.linear_values(wanted)
        };
        values
            .into_iter()
            .map(|value| Tick {
                value,
                place: self.place(value),
            })
            .collect()
    }

    fn linear_values(&self, wanted: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(power * 10.0);
        let first = (self.low / step - 1e-9).ceil();
        (0..=4 * wanted)
            .map(|index| (first + index as f64) * step)
            .take_while(|value| *value <= self.high + step * 1e-9)
            .collect()
    }

    fn log_values(&self, wanted: usize) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = match decades * 3.0 {
            marks if marks <= wanted as f64 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let skip = (decades / wanted.max(1) as f64).ceil().max(1.0) as i32;
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .filter(|decade| decade.rem_euclid(skip) == 0)
            .flat_map(|decade| {
                factors
                    .iter()
                    .map(move |factor| factor * 10f64.powi(decade))
            })
            .filter(|value| *value >= self.low * 0.999 && *value <= self.high * 1.001)
            .collect()
    }
}

fn finite_or(value: f64, other: f64) -> f64 {
    if value.is_finite() { value } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(ticks: &[Tick]) -> Vec<f64> {
        ticks
            .iter()
            .map(|tick| (tick.value * 1e6).round() / 1e6)
            .collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            values(&Scale::linear(0.97, 1.62).ticks(4)),
            [1.0, 1.2, 1.4, 1.6]
        );
        assert_eq!(
            values(&Scale::linear(0.0, 37.0).ticks(4)),
            [0.0, 10.0, 20.0, 30.0]
        );
        assert_eq!(values(&Scale::log(0.5, 800.0).ticks(4)), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn nothing_is_out_of_the_picture() {
        for scale in [
            Scale::linear(1.0, 1.0),
            Scale::linear(f64::NAN, f64::INFINITY),
            Scale::log(0.0, 0.0),
            Scale::log(1.0, f64::NAN),
        ] {
            for value in [-1.0, 0.0, 1.0, 1e300, f64::NAN, f64::INFINITY] {
                let place = scale.place(value);
                assert!((0.0..=100.0).contains(&place), "{scale:?} {value} {place}");
            }
            assert!(scale.ticks(4).len() < 20);
        }
        assert_eq!(Scale::linear(1.0, 2.0).place(1.25), 25.0);
        assert_eq!(Scale::log(1.0, 100.0).place(10.0), 50.0);
    }
}
