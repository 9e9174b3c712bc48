//! Memory that batches were in stays with the process.
//!
//! glibc returns the end of its heap to the kernel as soon as 128 KiB of it are free, which the
//! columns of one batch are: then each batch faults in every page again, at several times the
//! cost of the copy. It stops doing so once it has seen a large piece freed that was mapped by
//! itself: from then on twice as much as that may stay (mallopt(3), `M_MMAP_THRESHOLD`).

/// The largest for which glibc does so is 32 MiB.
const PIECE_BYTES: usize = 31 << 20;

/// Lets freed memory stay: for a program that runs queries, at its start. Other allocators
/// than glibc's do not mind.
pub fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(PIECE_BYTES)));
}
