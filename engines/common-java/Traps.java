// Traps in the words of the official test suite.

package fathom;

import java.util.List;

final class Traps {
    private static final List<String> WORDS = List.of(
        "out of bounds memory access", "out of bounds table access", "undefined element", "uninitialized element",
        "indirect call type mismatch", "integer divide by zero", "integer overflow", "invalid conversion to integer",
        "call stack exhausted", "unaligned atomic", "unreachable");

    private Traps() {}

    /** The specification's words in what an engine said, or null. */
    static String known(String said) {
        if (said == null) return null;
        // GraalWasm: "4-byte memory access at address … is out-of-bounds", "… of negative length …",
        // "4-byte atomic memory access at address … is unaligned".
        String lower = said.toLowerCase().replaceAll("memory access (at .* is out-of-bounds|of negative length)", WORDS.get(0))
            .replaceAll("atomic memory access at .* is unaligned", "unaligned atomic");
        return WORDS.stream().filter(lower::contains).findFirst().orElse(null);
    }
}
