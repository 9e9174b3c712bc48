// Richards: an operating system's scheduler simulated, with devices, handlers and a worker that
// pass packets. Written from what is known of the benchmark; its counts are the published ones.

const val IDLE = 0
const val WORKER = 1
const val HANDLER_A = 2
const val HANDLER_B = 3
const val DEVICE_A = 4
const val DEVICE_B = 5

const val RUNNABLE = 1
const val SUSPENDED = 2
const val HELD = 4

class Packet(var link: Packet?, var to: Int, val isWork: Boolean) {
    var first = 0
    val data = IntArray(4)
}

fun appended(queue: Packet?, packet: Packet): Packet {
    packet.link = null
    var last = queue ?: return packet
    while (true) last = last.link ?: break
    last.link = packet
    return queue
}

abstract class Task(val system: Scheduler, val id: Int, val priority: Int, var queue: Packet?, var state: Int) {
    val next: Task? = system.tasks

    abstract fun run(packet: Packet?): Task?

    fun step(): Task? {
        if (state != SUSPENDED or RUNNABLE) return run(null)
        val packet = queue!!
        queue = packet.link
        state = if (queue == null) 0 else RUNNABLE
        return run(packet)
    }

    fun offered(packet: Packet, by: Task): Task {
        if (queue == null) {
            queue = packet
            state = state or RUNNABLE
            if (priority > by.priority) return this
        } else {
            queue = appended(queue, packet)
        }
        return by
    }
}

class Scheduler {
    var tasks: Task? = null
    private val byId = arrayOfNulls<Task>(6)
    private lateinit var current: Task
    var queued = 0
    var held = 0

    fun add(task: Task) {
        tasks = task
        byId[task.id] = task
    }

    fun run() {
        var task = tasks
        while (task != null) {
            current = task
            task = if (task.state and HELD != 0 || task.state == SUSPENDED) task.next else task.step()
        }
    }

    fun release(id: Int): Task {
        val task = byId[id]!!
        task.state = task.state and HELD.inv()
        return if (task.priority > current.priority) task else current
    }

    fun hold(): Task? {
        held++
        current.state = current.state or HELD
        return current.next
    }

    fun suspend_(): Task {
        current.state = current.state or SUSPENDED
        return current
    }

    fun send(packet: Packet): Task {
        queued++
        packet.link = null
        val task = byId[packet.to]!!
        packet.to = current.id
        return task.offered(packet, current)
    }
}

class Idle(system: Scheduler, private var left: Int) : Task(system, IDLE, 0, null, 0) {
    private var bits = 1

    override fun run(packet: Packet?): Task? {
        if (--left == 0) return system.hold()
        val even = bits and 1 == 0
        bits = if (even) bits shr 1 else (bits shr 1) xor 0xD008
        return system.release(if (even) DEVICE_A else DEVICE_B)
    }
}

class Device(system: Scheduler, id: Int) : Task(system, id, id * 1000, null, SUSPENDED) {
    private var waiting: Packet? = null

    override fun run(packet: Packet?): Task? {
        if (packet != null) {
            waiting = packet
            return system.hold()
        }
        val ready = waiting ?: return system.suspend_()
        waiting = null
        return system.send(ready)
    }
}

class Worker(system: Scheduler, queue: Packet) : Task(system, WORKER, 1000, queue, SUSPENDED or RUNNABLE) {
    private var handler = HANDLER_A
    private var letter = 0

    override fun run(packet: Packet?): Task? {
        if (packet == null) return system.suspend_()
        handler = HANDLER_A + HANDLER_B - handler
        packet.to = handler
        packet.first = 0
        for (at in packet.data.indices) {
            letter = letter % 26 + 1
            packet.data[at] = letter
        }
        return system.send(packet)
    }
}

class Handler(system: Scheduler, id: Int, queue: Packet) : Task(system, id, id * 1000, queue, SUSPENDED or RUNNABLE) {
    private var work: Packet? = null
    private var devices: Packet? = null

    override fun run(packet: Packet?): Task? {
        if (packet != null) {
            if (packet.isWork) work = appended(work, packet) else devices = appended(devices, packet)
        }
        val first = work ?: return system.suspend_()
        if (first.first == first.data.size) {
            work = first.link
            return system.send(first)
        }
        val device = devices ?: return system.suspend_()
        devices = device.link
        device.first = first.data[first.first++]
        return system.send(device)
    }
}

fun packets(count: Int, to: Int, isWork: Boolean): Packet {
    var queue: Packet? = null
    repeat(count) { queue = Packet(queue, to, isWork) }
    return queue!!
}

fun main() {
    var queued = 0
    var held = 0
    val passes = 600
    repeat(passes) {
        val system = Scheduler()
        system.add(Idle(system, 1000))
        system.add(Worker(system, packets(2, WORKER, true)))
        system.add(Handler(system, HANDLER_A, packets(3, DEVICE_A, false)))
        system.add(Handler(system, HANDLER_B, packets(3, DEVICE_B, false)))
        system.add(Device(system, DEVICE_A))
        system.add(Device(system, DEVICE_B))
        system.run()
        queued += system.queued
        held += system.held
    }
    println("richards: $passes passes, each ${queued / passes} packets queued and ${held / passes} tasks held")
}
