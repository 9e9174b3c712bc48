// Strings: built, cut, joined, compared and thrown away.

fun main() {
    var seed = 1
    val words = List(2000) {
        val word = StringBuilder()
        repeat(3 + it % 7) {
            seed = seed * 1103515245 + 12345
            word.append('a' + ((seed ushr 16) % 26))
        }
        word.toString()
    }
    var hash = 0
    var length = 0
    repeat(60) { pass ->
        val text = words.joinToString(" ") { if (it.length % 2 == pass % 2) it + pass else it }
        val sorted = text.split(' ').map { it.reversed() }.sorted()
        val longest = sorted.filter { it.length > 5 }.fold("") { so_far, word -> so_far.takeLast(20) + word }
        hash = hash * 31 + longest.hashCode() + sorted[pass].hashCode()
        length += text.length
    }
    println("strings: $length characters, hash $hash")
}
