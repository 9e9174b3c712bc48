//! Programs that print a line and are done.

#![allow(dead_code, reason = "each test uses a part of it")]

/// One with a 32-bit memory.
pub fn prints(line: &str) -> String {
    prints_at(line, "i32")
}

/// One with a memory of this index type.
pub fn prints_at(line: &str, index: &str) -> String {
    let bytes = line.len() + 1;
    format!(
        "(module
          (import \"wasi_snapshot_preview1\" \"fd_write\"
            (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export \"memory\") {index} 1)
          (data ({index}.const 0) \"\\10\\00\\00\\00\\{bytes:02x}\\00\\00\\00\")
          (data ({index}.const 16) \"{line}\\n\")
          (func (export \"_start\")
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"
    )
}

/// What a suite's program prints by the contract (`docs/PROGRAMS.md`).
pub fn answers(answer: &str, index: &str) -> String {
    prints_at(&format!("fathom: answer={answer} kernel_ns=1000"), index)
}
