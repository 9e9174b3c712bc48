// Binary trees: many short-lived ones while a large one lives.

class Tree(val left: Tree?, val right: Tree?) {
    fun nodes(): Int = 1 + (left?.nodes() ?: 0) + (right?.nodes() ?: 0)
}

fun grown(depth: Int): Tree = if (depth == 0) Tree(null, null) else Tree(grown(depth - 1), grown(depth - 1))

fun main() {
    val kept = grown(17)
    var sum = 0
    for (depth in 4..16 step 4) repeat(1 shl (18 - depth)) { sum += grown(depth).nodes() }
    println("trees: $sum nodes in short-lived ones, ${kept.nodes()} in the one that is kept")
}
