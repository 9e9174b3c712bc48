// JSON in, as maps, lists, strings, numbers (Long, Double), booleans and null; and texts out.

package fathom;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Json {
    private static final int DEPTH_MAX = 64;
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value; IllegalArgumentException where there is none or more. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at != text.length()) throw json.wrong();
        return value;
    }

    /** A text as JSON writes it. */
    static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            if (one == '"' || one == '\\') out.append('\\').append(one);
            else if (one < ' ') out.append(String.format("\\u%04x", (int) one));
            else out.append(one);
        }
        return out.append('"').toString();
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char next() {
        space();
        if (at >= text.length()) throw wrong();
        return text.charAt(at);
    }

    private void expect(char wanted) {
        if (next() != wanted) throw wrong();
        at++;
    }

    private Object value(int depth) {
        if (depth > DEPTH_MAX) throw wrong();
        return switch (next()) {
            case '{' -> object(depth);
            case '[' -> list(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> map = new LinkedHashMap<>();
        expect('{');
        if (next() == '}') {
            at++;
            return map;
        }
        while (true) {
            space();
            String key = string();
            expect(':');
            map.put(key, value(depth + 1));
            if (next() == '}') break;
            expect(',');
        }
        at++;
        return map;
    }

    private List<Object> list(int depth) {
        List<Object> list = new ArrayList<>();
        expect('[');
        if (next() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value(depth + 1));
            if (next() == ']') break;
            expect(',');
        }
        at++;
        return list;
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char one = text.charAt(at++);
            if (one == '"') return out.toString();
            out.append(one == '\\' ? escaped() : one);
        }
        throw wrong();
    }

    private char escaped() {
        if (at >= text.length()) throw wrong();
        char one = text.charAt(at++);
        int known = "nrtbf".indexOf(one);
        if (known >= 0) return "\n\r\t\b\f".charAt(known);
        if (one != 'u') return one;
        if (at + 4 > text.length()) throw wrong();
        at += 4;
        try {
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String digits = text.substring(start, at);
        try {
            // A seed may use all 64 bits without a sign; nobody here asks for it.
            return digits.matches("-?\\d{1,18}") ? (Object) Long.parseLong(digits) : (Object) Double.parseDouble(digits);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }
}
