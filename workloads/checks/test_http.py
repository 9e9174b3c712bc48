"""The HTTP server, built natively: what it answers, in pieces and in rows, and how it ends. In WebAssembly
it is the same source; where `fathom` is built, its modules are asked too."""

from __future__ import annotations

import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fibers
import jobs
import runs
import toolchain
import wasm_opt

FATHOM = toolchain.ROOT / "target" / "debug" / "fathom"
PATIENCE_S = 20.0
GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """A running server; `ask` sends bytes on a connection of its own and reads until its end."""

    def __init__(self, variant: str, program: pathlib.Path) -> None:
        self.port = free_port()
        words = [str(program), str(self.port)]
        if program.suffix == ".wasm":
            words = [str(FATHOM), "run", "--tcplisten", f"127.0.0.1:{self.port}", str(program)]
        self.variant = variant
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.connect().close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.process.kill()
                    raise AssertionError(f"{variant}: {self.process.communicate()[1]}") from None
                time.sleep(0.02)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def ask(self, *pieces: bytes) -> bytes:
        with self.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.01 if len(pieces) > 1 else 0)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def quit(self) -> str:
        answer = self.ask(b"GET /quit HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert (self.process.returncode, err) == (0, ""), (self.process.returncode, err)
        return out


def statuses(answer: bytes) -> list[int]:
    """Of answers in a row, each as long as it says."""
    found = []
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        found.append(int(head.split(b" ")[1]))
        answer = rest[length:]
    return found


def variants() -> list[str]:
    """The builds that can be run here."""
    there = ["native"] if fibers.lacks("native") is None else []
    if FATHOM.is_file() and runs.node_path() is not None:
        there += ["wasm-asyncify", "wasm-switch"]
    return there


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        try:
            toolchain.zig_path()
        except toolchain.ToolError as error:
            raise unittest.SkipTest(str(error)) from None
        wasm_opt.install()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.programs = {}
        for job in fibers.servers(variants()):
            there = pathlib.Path(scratch.name) / job.variant / job.output.name
            jobs.make(fibers.Job(job.label, job.sources, job.headers, job.variant, there))
            cls.programs[job.variant] = there

    def each(self, check) -> None:
        for variant, program in self.programs.items():
            with self.subTest(variant):
                server = Server(variant, program)
                try:
                    check(server)
                    self.said = server.quit()
                finally:
                    server.process.kill()
                    server.process.communicate()

    def test_requests_in_a_row_and_in_pieces(self) -> None:
        def check(server: Server) -> None:
            self.assertTrue(server.ask(GET).endswith(b"Hello, fibers"))
            self.assertEqual(statuses(server.ask(GET * 300)), [200] * 300)
            self.assertEqual(statuses(server.ask(*(GET[at:at + 7] for at in range(0, len(GET), 7)))), [200])
            self.assertEqual(statuses(server.ask(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" + GET)), [405, 200])
            self.assertEqual(statuses(server.ask(b"GET /x HTTP/1.1\r\n\r\n" + GET)), [404, 200])
            head = server.ask(b"HEAD / HTTP/1.1\r\n\r\n")
            self.assertTrue(head.endswith(b"\r\n\r\n") and b"Content-Length: 52" in head, head)
        self.each(check)

    def test_connections_end_where_they_are_told_to(self) -> None:
        def check(server: Server) -> None:
            self.assertEqual(statuses(server.ask(b"GET / HTTP/1.0\r\n\r\n" + GET)), [200])
            self.assertEqual(statuses(server.ask(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n" + GET)), [200])
            self.assertEqual(statuses(server.ask(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + GET)), [200, 200])
        self.each(check)

    def test_what_is_no_request_is_refused(self) -> None:
        def check(server: Server) -> None:
            for bad, status in ((b"GET\r\n\r\n", 400), (b"GET / HTTP/2.0\r\n\r\n", 505), (b"G@T / HTTP/1.1\r\n\r\n", 400),
                                (b"GET / HTTP/1.1\n\n", 400), (b"GET / HTTP/1.1\r\nA b: c\r\n\r\n", 400),
                                (b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
                                (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nab", 400),
                                (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
                                (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", 431)):
                self.assertEqual(statuses(server.ask(bad))[:1], [status], bad[:40])
            self.assertEqual(statuses(server.ask(GET)), [200])
        self.each(check)

    def test_many_connections_at_once_and_some_that_break(self) -> None:
        def check(server: Server) -> None:
            connections = [server.connect() for _ in range(300)]
            for connection in connections:
                connection.sendall(GET[:10])
            for number, connection in enumerate(connections):
                if number % 3 == 0:
                    connection.close()
                else:
                    connection.sendall(GET[10:])
            for number, connection in enumerate(connections):
                if number % 3 != 0:
                    self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200"))
                    connection.close()
        self.each(check)
        self.assertRegex(self.said, r"^fathom: served=201 refused=0 broken=\d+\n$")

    @unittest.skipUnless(FATHOM.is_file(), "fathom is not built")
    def test_without_a_listener_it_says_so(self) -> None:
        for variant in ("wasm-asyncify", "wasm-switch"):
            if variant in self.programs:
                done = subprocess.run([FATHOM, "run", self.programs[variant]], capture_output=True, text=True, timeout=60,
                                      stdin=subprocess.DEVNULL, check=False)
                self.assertEqual((done.returncode, "no listener" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
