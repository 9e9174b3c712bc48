//! The vocabulary of a measurement and its wire formats.
