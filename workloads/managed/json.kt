// JSON parsed into objects and printed again: maps, lists, boxed numbers, strings.

class Parser(private val text: String) {
    private var at = 0

    fun value(): Any? {
        blanks()
        return when (text[at]) {
            '{' -> members()
            '[' -> elements()
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> number()
        }
    }

    private fun blanks() {
        while (at < text.length && text[at] <= ' ') at++
    }

    private fun word(word: String, value: Any?): Any? {
        check(text.startsWith(word, at))
        at += word.length
        return value
    }

    private fun ends(last: Char): Boolean {
        blanks()
        val here = text[at++]
        check(here == last || here == ',')
        return here == last
    }

    private fun isEmpty(last: Char): Boolean {
        at++
        blanks()
        if (text[at] != last) return false
        at++
        return true
    }

    private fun members(): Map<String, Any?> {
        val all = LinkedHashMap<String, Any?>()
        if (isEmpty('}')) return all
        do {
            blanks()
            val name = string()
            blanks()
            check(text[at++] == ':')
            all[name] = value()
        } while (!ends('}'))
        return all
    }

    private fun elements(): List<Any?> {
        val all = ArrayList<Any?>()
        if (isEmpty(']')) return all
        do all.add(value()) while (!ends(']'))
        return all
    }

    private fun string(): String {
        val found = StringBuilder()
        at++
        while (text[at] != '"') {
            if (text[at] == '\\') at++
            found.append(text[at++])
        }
        at++
        return found.toString()
    }

    private fun number(): Int {
        val isNegative = text[at] == '-'
        if (isNegative) at++
        var found = 0
        while (at < text.length && text[at] in '0'..'9') found = found * 10 + (text[at++] - '0')
        return if (isNegative) -found else found
    }
}

fun print(value: Any?, to: StringBuilder) {
    when (value) {
        is Map<*, *> -> {
            to.append('{')
            var isFirst = true
            for ((name, member) in value) {
                if (!isFirst) to.append(',')
                isFirst = false
                print(name, to)
                to.append(':')
                print(member, to)
            }
            to.append('}')
        }
        is List<*> -> {
            to.append('[')
            for ((index, element) in value.withIndex()) {
                if (index > 0) to.append(',')
                print(element, to)
            }
            to.append(']')
        }
        is String -> {
            to.append('"')
            for (letter in value) {
                if (letter == '"' || letter == '\\') to.append('\\')
                to.append(letter)
            }
            to.append('"')
        }
        else -> to.append(value.toString())
    }
}

fun record(number: Int): Map<String, Any?> = mapOf(
    "id" to number,
    "name" to "record \"$number\"",
    "parent" to if (number % 3 == 0) null else number / 2,
    "even" to (number % 2 == 0),
    "values" to List(8) { number * it - 100 },
    "tags" to mapOf("a" to "b\\$number", "c" to listOf<Int>()),
)

fun main() {
    val first = StringBuilder()
    print(List(1000) { record(it) }, first)
    var text = first.toString()
    repeat(10) {
        val again = StringBuilder()
        print(Parser(text).value(), again)
        check(again.length == text.length)
        text = again.toString()
    }
    println("json: ${text.length} characters, hash ${text.hashCode()}, the same: ${text == first.toString()}")
}
