//! The edge to the operating system (Linux).
//!
//! ```text
//!  space    address space in units of 1 GiB: who owns which
//!   └ map     reservations: mapped ranges with one owner, opened page by page
//!      ├ appended  machine code that grows while it runs
//!      ├ frozen   bytes that many of them share until one is written
//!      ├ written  which of their pages may have been written
//!      └ region   where pages are supplied on demand, by address
//!         └ uffd     how they are
//!  forked   what a process makes and its children have to make again
//!  fault    the process's handler of synchronous faults, chained to the one before
//!   ├ registers  of the interrupted thread, by instruction set
//!   └ witness    notes faults that others handle, and machine code that others make
//!  pkeys    what a thread may touch, by a register of its own
//!   └ cells    what machine code reads and writes, on pages it may touch
//!  icache   instruction fetch made to see what was written
//!  fence    pages that tell whether anything was written just beyond a mapping
//!  stack    where the thread's stack ends; its alternate signal stack
//!  program  which build of a program runs
//!  bpf      programs and maps in the kernel, by the system call alone
//!  sampling  where programs are, many times a second
//!   └ records  what the kernel says of it, read from bytes
//!  handed   signals that a process hands on to the program that it runs
//!   └ marked  what comes of a command, wherever it went
//!  caps perf pin proc spawn usage watch   what is allowed, counters, affinity, /proc, children,
//!                                         resource use, others' resource use
//!  modes    others' processor time in user mode and in the kernel
//! ```
//!
//! What must stay true: this is the only crate that may be full of `unsafe`;
//! every function reachable from a signal handler takes no lock and allocates
//! nothing.
//!
//! ```
//! use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};
//!
//! // 4 GiB of addresses that nobody can access, and then one page of them that can be used.
//! let bytes = PageBytes::round_up(4 << 30).expect("fits in an address");
//! let reservation = Reservation::new(bytes, Access::None)?;
//! reservation.open(0..page_bytes())?;
//! assert_eq!(reservation.addresses().len(), 4 << 30);
//! # Ok::<(), std::io::Error>(())
//! ```

#![allow(unsafe_code)]

pub mod appended;
pub mod bpf;
pub mod caps;
pub mod cells;
pub mod fault;
pub mod fence;
pub mod forked;
pub mod frozen;
pub mod handed;
pub mod icache;
pub mod low;
pub mod map;
pub mod marked;
pub mod modes;
pub mod perf;
pub mod pin;
pub mod pkeys;
pub mod poke;
pub mod proc;
pub mod program;
pub mod region;
mod registers;
pub mod regular;
pub mod sampling;
pub mod signals;
#[cfg(any(target_arch = "x86_64", test))]
mod skip;
mod space;
pub mod spawn;
pub mod stack;
pub mod uffd;
pub mod usage;
pub mod watch;
pub mod witness;
pub mod written;
