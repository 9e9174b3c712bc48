// A failure with the protocol's kind: invalid, unsupported, link, trap, io or internal.

package fathom;

final class Failure extends RuntimeException {
    final String kind;

    Failure(String kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    /** One line for the user. */
    String line() {
        String text = getMessage() == null ? "no reason was given" : getMessage().lines().findFirst().orElse("");
        return text.length() > 1000 ? text.substring(0, 1000) : text;
    }

    /** Whatever was thrown, as a failure. */
    static Failure of(Throwable thrown) {
        return thrown instanceof Failure failure ? failure : new Failure("internal", thrown.toString());
    }
}
