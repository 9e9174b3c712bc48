//! What a server is asked for, and its name as a workload: how many requests a second, and over
//! how many connections.
//!
//! ```text
//!  peak         as many requests as are answered, over 1000 connections
//!  20000        20,000 requests a second, over 1000 connections
//!  20000@10000  the same over 10,000 connections
//! ```
//!
//! What must stay true: one demand has one name, so that the workloads of two campaigns are the
//! same if their names are; names from before there was a choice of connections keep their
//! meaning.

use std::{fmt, str::FromStr};

/// As many requests as are answered.
const PEAK: &str = "peak";

/// Requests over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Demand {
    /// In a second; as many as are answered if absent.
    pub rate: Option<u32>,
    /// Connections at once.
    pub connections: u32,
}

impl Demand {
    /// Connections where a name says nothing of them.
    pub const CONNECTIONS: u32 = 1000;
    /// The most: loopback has 28,000 ports for them unless it is told otherwise.
    pub const CONNECTIONS_MAX: u32 = 20_000;
    /// The highest rate over as many connections as are usual.
    pub const PEAK: Demand = Demand {
        rate: None,
        connections: Demand::CONNECTIONS,
    };
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            None => f.write_str(PEAK)?,
            Some(rate) => write!(f, "{rate}")?,
        }
        match self.connections {
            Demand::CONNECTIONS => Ok(()),
            connections => write!(f, "@{connections}"),
        }
    }
}

/// Why a name says of no demand what it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDemand {
    /// It is none.
    #[error(
        "it is {PEAK}, or how many requests a second, such as 20000, and behind @ over how many \
         connections unless they are {}: 20000@10000",
        Demand::CONNECTIONS
    )]
    Unknown,
    /// There are not so many connections.
    #[error("connections are 1 to {}", Demand::CONNECTIONS_MAX)]
    Connections,
    /// It has another name.
    #[error("it is called `{0}`")]
    Called(Demand),
}

impl FromStr for Demand {
    type Err = BadDemand;

    fn from_str(name: &str) -> Result<Demand, BadDemand> {
        let (rate, connections) = match name.split_once('@') {
            None => (name, None),
            Some((rate, connections)) => (rate, Some(connections)),
        };
        let rate = match rate {
            PEAK => None,
            rate => Some(number(rate).ok_or(BadDemand::Unknown)?),
        };
        let connections = match connections {
            None => Demand::CONNECTIONS,
            Some(text) if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Err(BadDemand::Unknown);
            }
            Some(text) => number(text)
                .filter(|count| *count <= Demand::CONNECTIONS_MAX)
                .ok_or(BadDemand::Connections)?,
        };
        let demand = Demand { rate, connections };
        match demand.to_string() == name {
            true => Ok(demand),
            false => Err(BadDemand::Called(demand)),
        }
    }
}

/// A number above zero as numbers are written: no sign, no zeros before it.
fn number(text: &str) -> Option<u32> {
    let number = text.parse().ok().filter(|number| *number > 0)?;
    (format!("{number}") == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_has_one_name() {
        let of = |rate, connections| Ok(Demand { rate, connections });
        assert_eq!("peak".parse(), Ok(Demand::PEAK));
        assert_eq!("20000".parse(), of(Some(20_000), 1000));
        assert_eq!("20000@10000".parse(), of(Some(20_000), 10_000));
        assert_eq!("peak@1".parse(), of(None, 1));
        assert_eq!("7@20000".parse(), of(Some(7), 20_000));
        for name in ["peak", "20000", "20000@10000", "peak@1"] {
            assert_eq!(name.parse::<Demand>().unwrap().to_string(), name);
        }
        let refused = |name: &str| name.parse::<Demand>().unwrap_err();
        for name in [
            "",
            "0",
            "+5",
            "05",
            "1e4",
            "-1",
            "9999999999",
            "Peak",
            "@5",
            "5@",
            "5@many",
            "5@+2",
            "5@2@2",
        ] {
            assert_eq!(refused(name), BadDemand::Unknown, "{name}");
        }
        for name in ["5@0", "5@20001", "5@010", "peak@99999999999"] {
            assert_eq!(refused(name), BadDemand::Connections, "{name}");
        }
        assert_eq!(refused("20000@1000").to_string(), "it is called `20000`");
    }
}
