//! Arguments and environment.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;

/// `args_get`.
pub(crate) fn args_get(ctx: &WasiCtx, mem: &mut GuestMemory, argv: u32, buf: u32) -> Call {
    strings_get(mem, &ctx.args, argv, buf)
}

/// `args_sizes_get`.
pub(crate) fn args_sizes_get(ctx: &WasiCtx, mem: &mut GuestMemory, argc: u32, size: u32) -> Call {
    strings_sizes_get(mem, &ctx.args, argc, size)
}

/// `environ_get`.
pub(crate) fn environ_get(ctx: &WasiCtx, mem: &mut GuestMemory, environ: u32, buf: u32) -> Call {
    strings_get(mem, &ctx.env, environ, buf)
}

/// `environ_sizes_get`.
pub(crate) fn environ_sizes_get(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    count: u32,
    size: u32,
) -> Call {
    strings_sizes_get(mem, &ctx.env, count, size)
}

/// Writes the strings one after the other to `buf`, and a pointer to each to
/// `pointers`.
fn strings_get(mem: &mut GuestMemory, strings: &[Vec<u8>], pointers: u32, buf: u32) -> Call {
    // In 64 bits: what begins near the end of the address space goes beyond it, where
    // 32 bits would begin again at 0.
    let (mut pointer, mut at) = (u64::from(pointers), u64::from(buf));
    for string in strings {
        let narrow = |value: u64| u32::try_from(value).map_err(|_| Errno::Fault);
        mem.write_u32(narrow(pointer)?, narrow(at)?)?;
        mem.write(narrow(at)?, string)?;
        pointer += 4;
        at += string.len() as u64;
    }
    Ok(())
}

fn strings_sizes_get(mem: &mut GuestMemory, strings: &[Vec<u8>], count: u32, size: u32) -> Call {
    let bytes: usize = strings.iter().map(Vec::len).sum();
    let narrow = |value: usize| u32::try_from(value).map_err(|_| Errno::Overflow);
    mem.write_u32(count, narrow(strings.len())?)?;
    mem.write_u32(size, narrow(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WasiCtxBuilder;

    #[test]
    fn strings_and_their_pointers() {
        let ctx = WasiCtxBuilder::new()
            .args(["a", "", "bc"])
            .and_then(|builder| builder.env("K", "v=w"))
            .and_then(WasiCtxBuilder::build)
            .unwrap();
        let mut bytes = [0xff; 64];
        let mut mem = GuestMemory::new(&mut bytes);
        args_sizes_get(&ctx, &mut mem, 0, 4).unwrap();
        args_get(&ctx, &mut mem, 8, 32).unwrap();
        environ_sizes_get(&ctx, &mut mem, 40, 44).unwrap();
        environ_get(&ctx, &mut mem, 48, 52).unwrap();
        assert_eq!(bytes[..8], [3, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(bytes[8..20], [32, 0, 0, 0, 34, 0, 0, 0, 35, 0, 0, 0]);
        assert_eq!(&bytes[32..38], b"a\0\0bc\0");
        assert_eq!(bytes[40..48], [1, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(&bytes[52..58], b"K=v=w\0");
        let mut mem = GuestMemory::new(&mut bytes);
        assert_eq!(args_get(&ctx, &mut mem, 60, 0), Err(Errno::Fault));
        assert_eq!(args_get(&ctx, &mut mem, 0, u32::MAX), Err(Errno::Fault));
    }
}
