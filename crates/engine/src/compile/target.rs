//! The machine that code is generated for: the host, with the features found.

use std::sync::Arc;

use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use super::choices::{Cpu, Opt};
use crate::facts::error::{ErrorKind, Result};
use crate::facts::features::Feature;

/// Whether code can switch stacks here.
pub(crate) const HAS_STACK_SWITCH: bool = cfg!(all(target_arch = "x86_64", target_os = "linux"));

/// A configured code generator.
#[derive(Clone)]
pub(crate) struct Target {
    isa: Arc<dyn TargetIsa>,
    /// The same code, without word of where its blocks begin.
    unplaced: Arc<dyn TargetIsa>,
}

/// Whether code can be made in one pass for this processor.
///
/// # Errors
/// `Config`.
pub(crate) fn require_one_pass() -> Result<()> {
    match cfg!(target_arch = "x86_64") {
        true => Ok(()),
        false => Err(config("code generator 'direct' is for x86-64".to_owned())),
    }
}

impl Target {
    /// For this host, or those of its instruction set, at optimisation level `opt`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when the host is not one code can be generated for.
    pub(crate) fn host(opt: Opt, cpu: Cpu) -> Result<Target> {
        require_rounding()?;
        let mut builder = cranelift_native::builder_with_options(cpu == Cpu::Native)
            .map_err(|e| config(format!("no code can be generated for this host: {e}")))?;
        if cpu == Cpu::Baseline {
            require_baseline()?;
            for feature in BASELINE {
                // Other instruction sets have none of these.
                let _ = builder.enable(feature);
            }
        }
        Target::finish(&builder, opt).map_err(|e| config(format!("code generator: {e}")))
    }

    /// What a builder of instructions makes at an optimisation level.
    fn finish(builder: &isa::Builder, opt: Opt) -> Result<Target, String> {
        let [isa, unplaced] = [true, false].map(|is_placed| -> Result<OwnedTargetIsa, String> {
            let mut flags = settings::builder();
            for (name, value) in shared_flags(opt, is_placed) {
                flags.set(name, value).map_err(|e| e.to_string())?;
            }
            let flags = settings::Flags::new(flags);
            builder.finish(flags).map_err(|e| e.to_string())
        });
        Ok(Target {
            isa: isa?,
            unplaced: unplaced?,
        })
    }

    /// For goldens: the same features on every host of one instruction set.
    #[cfg(test)]
    pub(crate) fn fixed() -> Target {
        let mut builder =
            cranelift_native::builder_with_options(false).expect("the host is supported");
        for feature in [
            "has_sse3",
            "has_ssse3",
            "has_sse41",
            "has_sse42",
            "has_popcnt",
            "has_avx",
        ] {
            // Other instruction sets have none of these.
            let _ = builder.enable(feature);
        }
        Target::finish(&builder, Opt::Speed).expect("the features are consistent")
    }

    /// The code generator.
    pub(crate) fn isa(&self) -> &dyn TargetIsa {
        &*self.isa
    }

    /// The same for functions with large tables of branches: where it keeps account of
    /// the blocks' beginnings, it looks at each of a table's edges for each of them.
    pub(crate) fn unplaced(&self) -> &dyn TargetIsa {
        &*self.unplaced
    }

    /// A feature that this processor has no instructions for, and which it
    /// would need.
    pub(crate) fn lacks(&self) -> Option<(Feature, &'static str)> {
        (!has_vectors(self.isa()))
            .then_some((Feature::Simd, "the V extension with vectors of 128 bits"))
    }

    /// Everything about the target that changes the code: for cache keys.
    pub(crate) fn fingerprint(&self) -> String {
        let mut text = format!(
            "cranelift {} {}",
            cranelift_codegen::VERSION,
            self.isa.triple()
        );
        for flag in self.isa.flags().iter().chain(self.isa.isa_flags()) {
            text.push_str(&format!(" {flag}"));
        }
        text
    }
}

/// Whether the processor has what Cranelift calls `feature`.
pub(crate) fn has(isa: &dyn TargetIsa, feature: &str) -> bool {
    let mut flags = isa.isa_flags().into_iter();
    flags.any(|flag| flag.name == feature && flag.as_bool() == Some(true))
}

/// Whether it has vectors of 128 bits: on riscv64, those come with an extension.
pub(crate) fn has_vectors(isa: &dyn TargetIsa) -> bool {
    isa.name() != "riscv64" || has(isa, "has_v")
}

/// Cranelift's settings that do not belong to one instruction set.
fn shared_flags(opt: Opt, is_placed: bool) -> Vec<(&'static str, &'static str)> {
    let mut flags = vec![
        // A verifier of Cranelift's input: ours to get right, not the user's.
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
        ("enable_alias_analysis", "true"),
        // Backtraces walk the chain of frame pointers.
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
        // How continuations are switched to; there is none elsewhere.
        (
            "stack_switch_model",
            if HAS_STACK_SWITCH { "basic" } else { "none" },
        ),
        // The prologue's comparison with the stack limit covers frames of any size.
        ("enable_probestack", "false"),
        ("is_pic", "false"),
        // More results than registers go through memory that the caller owns.
        ("enable_multi_ret_implicit_sret", "true"),
        // Where blocks begin, to place functions by their loops.
        (
            "machine_code_cfg_info",
            if is_placed { "true" } else { "false" },
        ),
        // The same code at different distances from a line of the cache differs
        // by a third in speed: start each function on one.
        ("log2_min_function_alignment", "6"),
    ];
    match opt {
        Opt::Speed => flags.push(("opt_level", "speed")),
        Opt::None => {
            flags.push(("opt_level", "none"));
            flags.push(("regalloc_algorithm", "single_pass"));
        }
    }
    flags
}

/// Below SSE4.1 rounding and parts of SIMD would need helper functions; every
/// x86-64 processor since 2008 has it.
fn require_rounding() -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("sse4.1") {
        return Err(config("this processor lacks SSE4.1".to_owned()));
    }
    Ok(())
}

/// What x86-64-v2 has, and riscv64 with its general extensions.
const BASELINE: [&str; 12] = [
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
    "has_cmpxchg16b",
    "has_m",
    "has_a",
    "has_f",
    "has_d",
    "has_zicsr",
    "has_zifencei",
];

/// Below it there are processors that could run what is made for themselves alone.
fn require_baseline() -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("sse4.2")
        || !std::is_x86_feature_detected!("popcnt")
        || !std::is_x86_feature_detected!("cmpxchg16b")
    {
        return Err(config("this processor lacks x86-64-v2".to_owned()));
    }
    Ok(())
}

fn config(message: String) -> crate::facts::error::Error {
    ErrorKind::Config(message).into()
}
