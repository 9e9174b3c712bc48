// A hash map with keys that are objects: counted up, looked up, removed.

data class Key(val left: Int, val right: Int)

fun main() {
    val map = HashMap<Key, Int>()
    var seed = 7
    var hits = 0
    repeat(1_000_000) { step ->
        seed = seed * 1103515245 + 12345
        val key = Key((seed ushr 16) % 300, (seed ushr 8) % 200)
        val before = map[key]
        if (before != null) hits++
        if (step % 5 == 4) map.remove(key) else map[key] = (before ?: 0) + step % 11
    }
    println("map: ${map.size} keys, $hits hits, sum ${map.values.sum()}")
}
