// Loop recognition by P. Havlak's algorithm (Nesting of Reducible and Irreducible Loops, 1997) on
// a graph of nested loops: lists, sets and maps of small objects.

class Block(val id: Int) {
    val into = ArrayList<Block>()
    val out = ArrayList<Block>()
}

class Graph {
    val blocks = ArrayList<Block>()

    fun block(): Block = Block(blocks.size).also { blocks.add(it) }

    fun edge(from: Block, to: Block) {
        from.out.add(to)
        to.into.add(from)
    }

    fun after(from: Block): Block = block().also { edge(from, it) }

    fun diamond(from: Block): Block {
        val left = after(from)
        val right = after(from)
        val end = after(left)
        edge(right, end)
        return end
    }

    fun loop(from: Block, depth: Int): Block {
        val head = after(from)
        var body = diamond(head)
        if (depth > 0) repeat(3) { body = loop(body, depth - 1) }
        val end = after(body)
        edge(end, head)
        return after(end)
    }
}

class Loop(val head: Block?) {
    var parent: Loop? = null
    var isReducible = true
    val blocks = HashSet<Int>()
    fun depth(): Int = 1 + (parent?.depth() ?: 0)
}

class Node(val block: Block, val number: Int) {
    var union: Node = this
    var last = number
    var loop: Loop? = null
    val back = ArrayList<Node>()
    val other = LinkedHashSet<Int>()

    fun found(): Node {
        var root = this
        while (root.union !== root) root = root.union
        var at = this
        while (at !== root) at = at.union.also { _ -> at.union = root }
        return root
    }

    fun isAbove(node: Node) = number <= node.number && node.number <= last
}

class Finder(private val graph: Graph) {
    private val nodes = ArrayList<Node>()
    private val numbers = HashMap<Block, Node>()
    val loops = ArrayList<Loop>()

    private fun visit(block: Block) {
        val node = Node(block, nodes.size)
        nodes.add(node)
        numbers[block] = node
        for (next in block.out) if (next !in numbers) visit(next)
        node.last = nodes.size - 1
    }

    fun run(): Finder {
        visit(graph.blocks[0])
        for (node in nodes) {
            for (from in node.block.into) {
                val source = numbers[from] ?: continue
                if (node.isAbove(source)) node.back.add(source) else node.other.add(source.number)
            }
        }
        for (number in nodes.indices.reversed()) recognise(nodes[number])
        return this
    }

    private fun recognise(head: Node) {
        val pool = LinkedHashSet<Node>()
        var isSelf = false
        for (source in head.back) if (source !== head) pool.add(source.found()) else isSelf = true
        if (pool.isEmpty() && !isSelf) return
        val loop = Loop(head.block)
        val work = ArrayDeque(pool)
        while (work.isNotEmpty()) {
            for (number in work.removeFirst().other) {
                val source = nodes[number].found()
                if (!head.isAbove(source)) {
                    loop.isReducible = false
                    head.other.add(source.number)
                } else if (source !== head && pool.add(source)) {
                    work.add(source)
                }
            }
        }
        for (node in pool) {
            node.union = head
            val inner = node.loop
            if (inner != null) inner.parent = loop else loop.blocks.add(node.block.id)
        }
        head.loop = loop
        loop.blocks.add(head.block.id)
        loops.add(loop)
    }
}

fun main() {
    val graph = Graph()
    var end = graph.block()
    repeat(3) { end = graph.loop(end, 4) }
    var sum = 0
    var found = listOf<Loop>()
    repeat(48) {
        found = Finder(graph).run().loops
        sum += found.sumOf { it.blocks.size }
    }
    val irreducible = found.count { !it.isReducible }
    println("havlak: ${graph.blocks.size} blocks, ${found.size} loops, $irreducible irreducible, " +
        "depth ${found.maxOf { it.depth() }}, $sum blocks in them")
}
