// Values of probes as text: "i32:5", "i64:-1", and the bits of floats in hexadecimal.

package fathom;

final class Wire {
    private Wire() {}

    /** The type before the colon. */
    static String type(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) throw new Failure("unsupported", "\"" + text + "\" is no value");
        return text.substring(0, colon);
    }

    /** The bits of a value of 32 or 64 bits. */
    static long bits(String text) {
        String digits = text.substring(text.indexOf(':') + 1);
        boolean isNegative = digits.startsWith("-");
        String plain = isNegative ? digits.substring(1) : digits;
        try {
            long value = plain.startsWith("0x") ? Long.parseUnsignedLong(plain.substring(2), 16) : Long.parseUnsignedLong(plain);
            return isNegative ? -value : value;
        } catch (NumberFormatException error) {
            throw new Failure("unsupported", "\"" + text + "\" is no value");
        }
    }

    /** The limits that a memory's name tells, "1-2". */
    static int[] limits(String module, String name) {
        if (!name.matches("\\d+-\\d+")) throw new Failure("link", "nothing to import as " + module + " " + name);
        String[] parts = name.split("-");
        return new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
    }
}
