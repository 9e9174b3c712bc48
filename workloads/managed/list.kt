// A long list that stays while it grows, beside objects that do not: each collection has more
// that is live than the one before it.

class Item(val value: Int, val next: Item?)

fun main() {
    var list: Item? = null
    var checked = 0L
    repeat(1_500_000) { step ->
        list = Item(step xor (step ushr 3), list)
        val brief = Item(step, Item(step + 1, null))
        checked += brief.value + brief.next!!.value
    }
    var length = 0
    var sum = 0L
    var at = list
    while (at != null) {
        length++
        sum = sum * 31 + at.value
        at = at.next
    }
    println("list: $length items, hash $sum, $checked of those that were dropped")
}
