// The memories that a module imports, read from its bytes: for engines that do not tell.

package fathom;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

final class Imports {
    private static final int IMPORT_SECTION = 2;
    private static final int MEMORY = 2;
    private static final int WIDE = 4;
    private final byte[] bytes;
    private int at = 8;

    private Imports(byte[] bytes) {
        this.bytes = bytes;
    }

    /** An imported memory; whether its addresses are 64-bit. */
    record Memory(String module, String name, boolean isWide) {}

    /** Reads a module that has been validated; a Failure where it imports anything else. */
    static List<Memory> memories(byte[] bytes) {
        return new Imports(bytes).read();
    }

    private int number() {
        int value = 0;
        for (int shift = 0;; shift += 7) {
            byte part = bytes[at++];
            value |= (part & 0x7f) << shift;
            if (part >= 0) return value;
        }
    }

    private String text() {
        int length = number();
        at += length;
        return new String(bytes, at - length, length, StandardCharsets.UTF_8);
    }

    private List<Memory> read() {
        List<Memory> memories = new ArrayList<>();
        while (at < bytes.length) {
            int section = bytes[at++];
            int end = number() + at;
            if (section == IMPORT_SECTION) {
                for (int left = number(); left > 0; left--) memories.add(one());
            }
            at = end;
        }
        return memories;
    }

    private Memory one() {
        String module = text();
        String name = text();
        if (bytes[at++] != MEMORY) throw new Failure("link", "nothing to import as " + module + " " + name);
        int flags = bytes[at++];
        number();
        if ((flags & 1) != 0) number();
        return new Memory(module, name, (flags & WIDE) != 0);
    }

    /** A module that makes one memory and exports it as "memory". */
    static byte[] maker(int initial, int maximum, boolean isWide) {
        if (initial > 127 || maximum > 127) throw new Failure("unsupported", "a memory of that many pages cannot be asked for");
        byte flags = (byte) (isWide ? 1 | WIDE : 1);
        return new byte[] {
            0, 'a', 's', 'm', 1, 0, 0, 0, 5, 4, 1, flags, (byte) initial, (byte) maximum,
            7, 10, 1, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0,
        };
    }
}
