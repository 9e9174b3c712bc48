//! The edge to the operating system: reservations, protection, userfaultfd, faults, counters, pinning.
