"""The outside engines' runners, through the protocol that fathom speaks with them.

    python3 -m unittest discover engines/tests
"""

import json
import os
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

import modules
from modules import ROOT

CPUS = sorted(os.sched_getaffinity(0))


class Answer:
    """What a runner said: its events, its exit status and its noise."""

    def __init__(self, events: list[dict], status: int, noise: str):
        self.events, self.status, self.noise = events, status, noise

    def of(self, kind: str) -> list[dict]:
        return [event for event in self.events if event["event"] == kind]

    def only(self, kind: str) -> dict:
        (event,) = self.of(kind)
        return event


def facts_of(name: str) -> dict:
    """An engine's description, with the places in its commands filled in."""
    folder = ROOT / "engines" / name
    facts = tomllib.loads((folder / "engine.toml").read_text())
    places = {"{dir}": folder, "{tools}": ROOT / ".tools", "{engine}": ROOT / ".tools" / "engines" / name}
    for key in ("command", "check"):
        for word, place in places.items():
            facts[key] = [w.replace(word, str(place)) for w in facts[key]]
    return facts


def usable(name: str) -> str | None:
    """Why the engine `name` cannot be tested here, or None."""
    facts = facts_of(name)
    if not modules.LIBRARY.exists():
        return "wasmtime is not installed: python3 engines/install.py wasmtime"
    try:
        done = subprocess.run(facts["check"], cwd=ROOT, capture_output=True, text=True)
    except OSError as error:
        return f"{name}: {error} ({facts['absent']})"
    return None if done.returncode == 0 else f"{name}: {done.stderr.strip()} ({facts['absent']})"


def signed(value: str) -> str:
    """An integer of the protocol as a signed one: it may be written either way."""
    kind, _, number = value.partition(":")
    if kind not in ("i32", "i64"):
        return value
    width = int(kind[1:])
    wrapped = int(number, 0) & ((1 << width) - 1)
    return f"{kind}:{wrapped - (1 << width) if wrapped >> (width - 1) else wrapped}"


def converse(command: list[str], line: str) -> Answer:
    """Starts a runner, writes it one line, and collects its events."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"FATHOM_EVENTS_FD": str(writing)}, pass_fds=[writing], text=True,
    ) as child:
        os.close(writing)
        child.stdin.write(line)
        child.stdin.close()
        with os.fdopen(reading) as events:
            lines = [json.loads(event) for event in events]
        for call in lines:
            if "result" in call:
                call["result"] = [signed(value) for value in call["result"]]
        noise = child.stdout.read()
    return Answer(lines, child.returncode, noise)


class Runner:
    """A runner to be tested; a subclass names its engine."""

    engine: str

    @classmethod
    def setUpClass(cls):
        reason = usable(cls.engine)
        if reason is not None:
            raise unittest.SkipTest(reason)
        cls.facts = facts_of(cls.engine)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def ask(self, source: str | bytes, **changes) -> Answer:
        path = self.folder / "module.wasm"
        path.write_bytes(modules.assemble(source) if isinstance(source, str) else source)
        request = {
            "protocol": 1, "mode": "measure", "module": str(path), "args": [], "env": [], "dirs": [],
            "stdin": None, "strategy": self.facts["strategies"][0], "opt": "speed", "backend": None, "threads": 1,
            "cpus": CPUS[:1], "warmup": 1, "iterations": 2, "scratch": str(self.folder), "seed": 7,
            "cache": None, "unsafe_no_bounds": False,
        }
        return converse(self.facts["command"], json.dumps(request | changes) + "\n")

    def assert_fails(self, answer: Answer, kind: str, message: str = "") -> None:
        error = answer.only("error")
        self.assertEqual(error["kind"], kind, error)
        self.assertIn(message, error["message"])
        self.assertNotIn("\n", error["message"])
        self.assertEqual(answer.of("done"), [])
        self.assertNotEqual(answer.status, 0)


class RunnerCase(Runner):
    """The tests every runner must pass."""

    # What it calls itself, where that is not its folder's name.
    says: str | None = None
    # What to ask for so that code is not optimised, and the tier that this gives;
    # None where an engine has one tier alone.
    baseline: dict | None
    baseline_tier = "baseline"
    # Whether endless recursion ends in a trap.
    limits_recursion = True
    # The strategies under which it knows 64-bit memories (None: all); under the others
    # it refuses them in one line.
    wide: set[str] | None = None
    # The descriptor of the first folder that the guest is given.
    first_folder = 3
    # The tier of what it does when nothing is asked for.
    usual_tier = "optimising"
    # Whether it makes many instances in a row, of modules that import nothing.
    in_a_row = True

    def test_measures_each_phase_and_keeps_the_output(self):
        answer = self.ask(modules.ANSWER)
        self.assertEqual(answer.of("error"), [])
        self.assertEqual([event["phase"] for event in answer.of("phase")], ["load", "compile"])
        iterations = answer.of("iteration")
        self.assertEqual([i["counted"] for i in iterations], [False, True, True])
        self.assertEqual([i["index"] for i in iterations], [0, 1, 2])
        for one in iterations:
            self.assertEqual(set(one["phases"]), {"instantiate", "run", "teardown"})
            self.assertTrue(all(cost["wall_ns"] > 0 for cost in one["phases"].values()))
            self.assertEqual(one["exit"], 0)
            self.assertEqual(Path(one["stdout"]).read_text(), "fathom: answer=2a kernel_ns=12345\n")
        self.assertGreater(answer.only("process")["metrics"]["rss_peak_bytes"], 1 << 20)
        self.assertEqual((answer.events[-1]["event"], answer.status), ("done", 0))

    def test_makes_instances_in_a_row_where_it_is_asked_to(self):
        bare = '(module (memory 1) (func (export "_start") (i32.store (i32.const 0) (i32.const 1))))'
        for source, asked, told in [(bare, True, self.in_a_row), (bare, False, False), (modules.ANSWER, True, False)]:
            answer = self.ask(source, cycle=asked)
            self.assertEqual(answer.of("error"), [])
            self.assertEqual({"cycle" in one["phases"] for one in answer.of("iteration")}, {told})

    def test_takes_a_seed_of_64_bits(self):
        self.assertEqual(self.ask(modules.ANSWER, seed=(1 << 64) - 1).of("error"), [])

    def test_says_what_is_in_force(self):
        for strategy in self.facts["strategies"]:
            with self.subTest(strategy):
                hello = self.ask(modules.ANSWER, strategy=strategy).events[0]
                self.assertEqual(hello["event"], "hello")
                self.assertEqual((hello["engine"], hello["tier"]), (self.says or self.engine, self.usual_tier))
                self.assertEqual(hello["checks"], "explicit" if strategy.startswith("trap") else "guard pages")
                self.assertRegex(hello["version"], r"^\d+\.\d+\.\d+$")

    def test_says_when_code_is_not_optimised(self):
        if self.baseline is None:
            self.skipTest(f"{self.engine} has one tier alone")
        self.assertEqual(self.ask(modules.ANSWER, **self.baseline).only("hello")["tier"], self.baseline_tier)

    def test_gives_the_guest_its_arguments_variables_and_folders(self):
        answer = self.ask(
            modules.WORLD, args=["one", "two"], env=[["A", "1"], ["B", "2"]], dirs=[[str(self.folder), "/data"]]
        )
        self.assertEqual(Path(answer.of("iteration")[0]["stdout"]).read_text(), "321")

    def test_gives_the_guest_files_of_its_folder_and_no_others(self):
        folder = self.folder / "inner"
        folder.mkdir()
        (self.folder / "secret").write_text("not the guest's")
        source = modules.FILES.replace("$path_open (i32.const 3)", f"$path_open (i32.const {self.first_folder})")
        answer = self.ask(source, dirs=[[str(folder), "/"]])
        self.assertEqual(answer.of("error"), [])
        self.assertEqual(Path(answer.of("iteration")[0]["stdout"]).read_text(), "in a fileO11")
        self.assertEqual((folder / "note").read_text(), "kept in a file")

    def test_reports_exit_codes(self):
        self.assertEqual({i["exit"] for i in self.ask(modules.EXIT_7).of("iteration")}, {7})

    def test_reports_traps_in_the_specifications_words(self):
        for module, message in [
            (modules.OUT_OF_BOUNDS, "out of bounds memory access"),
            (modules.UNREACHABLE, "unreachable"),
            (modules.DIVIDE, "integer divide by zero"),
            (modules.DEEP, "call stack exhausted"),
        ]:
            with self.subTest(message):
                if module is modules.DEEP and not self.limits_recursion:
                    self.skipTest(f"{self.engine} does not end endless recursion")
                self.assert_fails(self.ask(module), "trap", message)

    def test_refuses_what_is_no_module(self):
        whole = modules.assemble(modules.ANSWER)
        for name, bad in [("empty", b""), ("text", b"not a module"), ("truncated", whole[:-3])]:
            with self.subTest(name):
                self.assert_fails(self.ask(bad), "invalid")

    def test_names_a_missing_import(self):
        self.assert_fails(self.ask(modules.STRANGE_IMPORT), "link", "sea")

    def test_names_a_missing_start(self):
        self.assert_fails(self.ask(modules.NO_START), "link", "_start")

    def test_refuses_a_missing_file(self):
        self.assert_fails(self.ask(modules.ANSWER, module="/nowhere/x.wasm"), "io", "/nowhere/x.wasm")

    def test_refuses_a_missing_folder(self):
        self.assert_fails(self.ask(modules.ANSWER, dirs=[["/nowhere", "/"]]), "io", "/nowhere")

    def test_refuses_what_it_does_not_know(self):
        for name, changes in [
            ("strategy", {"strategy": "hope"}), ("backend", {"backend": "abacus"}), ("mode", {"mode": "sing"}),
            ("protocol", {"protocol": 99}),
        ]:
            with self.subTest(name):
                self.assert_fails(self.ask(modules.ANSWER, **changes), "unsupported")

    def test_refuses_a_cpu_that_is_not_there(self):
        self.assert_fails(self.ask(modules.ANSWER, cpus=[1000]), "unsupported", "CPU 1000")

    def test_refuses_a_request_that_is_not_json(self):
        for line in ["", "{", '{"protocol":', "[" * 5000]:
            with self.subTest(line[:10]):
                self.assert_fails(converse(self.facts["command"], line), "internal")

    def test_refuses_a_request_that_lacks_something(self):
        for changes in [{"module": None}, {"threads": 0}, {"args": [None]}, {"env": [["K"]]}, {"dirs": [[1, 2]]}]:
            with self.subTest(changes):
                answer = self.ask(modules.ANSWER, **changes)
                self.assertEqual((answer.of("done"), len(answer.of("error"))), ([], 1))

    def test_keeps_threads_together(self):
        answer = self.ask(modules.ANSWER, threads=2, cpus=CPUS[:2], warmup=2, iterations=5)
        self.assertEqual(answer.of("error"), [])
        iterations = answer.of("iteration")
        for thread in (0, 1):
            counted = [i for i in iterations if i["thread"] == thread and i["counted"]]
            self.assertEqual(len(counted), 5)
        first_counted = next(n for n, i in enumerate(iterations) if i["counted"])
        warm = [i["thread"] for i in iterations[:first_counted]]
        self.assertEqual(sorted(warm), [0, 0, 1, 1])

    def test_guest_output_does_not_reach_the_runners_own(self):
        self.assertNotIn("answer=2a", self.ask(modules.ANSWER).noise)

    def test_says_who_starts_it_when_nobody_listens(self):
        environment = {k: v for k, v in os.environ.items() if k != "FATHOM_EVENTS_FD"}
        done = subprocess.run(
            self.facts["command"], cwd=ROOT, input="", capture_output=True, text=True, env=environment
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("FATHOM_EVENTS_FD", done.stderr)

    def test_probes_one_instance_in_order(self):
        calls = [
            {"export": "store", "args": ["i32:65528", "i64:-2"]},
            {"export": "load", "args": ["i32:65532"]},
            {"export": "load", "args": ["i32:65533"]},
            {"export": "load", "args": ["i32:4294967295"]},
            {"export": "load", "args": ["i32:0xfffc"]},
            {"export": "load64", "args": ["i32:0"]},
            {"export": "grow", "args": ["i32:1"]},
            {"export": "load64", "args": ["i32:0"]},
            {"export": "load64", "args": ["i32:-1"]},
        ]
        for strategy in self.facts["strategies"]:
            with self.subTest(strategy):
                answer = self.ask(modules.PROBED, mode="probe", calls=calls, strategy=strategy)
                trap = {"trap": "out of bounds memory access"}
                wanted = [
                    {"result": []}, {"result": ["i32:-1"]}, trap, trap, {"result": ["i32:-1"]}, trap, {"result": ["i32:1"]},
                    {"result": ["i64:0"]}, trap,
                ]
                told = [{k: v for k, v in c.items() if k in ("result", "trap")} for c in answer.of("call")]
                self.assertEqual(told, wanted)
                self.assertEqual([c["index"] for c in answer.of("call")], list(range(len(calls))))

    def test_runs_64_bit_memories(self):
        calls = [{"export": "store", "args": ["i64:65532", "i32:7"]}]
        calls += [{"export": "load", "args": [f"i64:{at}"]} for at in (65528, 65529, 1 << 32, -4, -8, 1 << 63)]
        for strategy in self.facts["strategies"]:
            with self.subTest(strategy):
                answer = self.ask(modules.PROBED_64, mode="probe", calls=calls, strategy=strategy)
                if self.wide is not None and strategy not in self.wide:
                    self.assert_fails(answer, "invalid")
                    continue
                told = [call.get("result") or call.get("trap") for call in answer.of("call")]
                self.assertEqual(told, [None, ["i32:7"]] + 5 * ["out of bounds memory access"])

    def test_gives_a_probe_the_memory_it_imports(self):
        calls = [{"export": "load", "args": [f"i32:{at}"]} for at in (65532, 65533)]
        calls += [{"export": "grow", "args": ["i32:2"]}, {"export": "grow", "args": ["i32:1"]}]
        answer = self.ask(modules.PROBED_IMPORT, mode="probe", calls=calls)
        told = [call.get("result") or call.get("trap") for call in answer.of("call")]
        self.assertEqual(told, [["i32:0"], "out of bounds memory access", ["i32:-1"], ["i32:1"]])

    def test_names_what_a_probe_does_not_give(self):
        self.assert_fails(self.ask(modules.STRANGE_IMPORT, mode="probe", calls=[]), "link", "depth")

    def test_names_a_call_to_nothing(self):
        answer = self.ask(modules.PROBED, mode="probe", calls=[{"export": "gone", "args": []}])
        self.assert_fails(answer, "link", "gone")


class NodeCase(RunnerCase):
    """What Node tells besides."""

    def test_tells_what_collecting_takes(self):
        for threads in (1, 2):
            metrics = self.ask(modules.ARRAYS, threads=threads).only("process")["metrics"]
            self.assertGreater(metrics["collections"], 5)
            self.assertLess(metrics["collections"], 500)
            self.assertGreaterEqual(metrics["paused_ns"], metrics["collections"] * 1000)
            self.assertGreater(metrics["pause_p99_ns"], 1000)
        # A module with such types that makes few of them is not collected, and one without is not watched.
        self.assertEqual(self.ask(modules.LATE_STRUCTURE).only("process")["metrics"]["collections"], 0)
        self.assertNotIn("collections", self.ask(modules.ANSWER).only("process")["metrics"])


class Node(NodeCase, unittest.TestCase):
    engine = "node"
    baseline = {"opt": "none"}


class Node26(NodeCase, unittest.TestCase):
    engine = "node26"
    says = "node"  # one runner for both
    baseline = {"opt": "none"}


class Bun(RunnerCase, unittest.TestCase):
    engine = "bun"
    baseline = {"opt": "none"}
    usual_tier = "tiering"

    def test_proves_each_backend(self):
        for backend, tier in [("omg", "optimising"), ("bbq", "baseline"), ("ipint", "interpreter")]:
            with self.subTest(backend):
                self.assertEqual(self.ask(modules.ANSWER, backend=backend).only("hello")["tier"], tier)


class SpiderMonkey(RunnerCase, unittest.TestCase):
    engine = "spidermonkey"
    baseline = {"opt": "none"}


class Deno(RunnerCase, unittest.TestCase):
    engine = "deno"
    baseline = {"opt": "none"}


class Wasmi(RunnerCase, unittest.TestCase):
    engine = "wasmi"
    baseline = None
    usual_tier = "interpreter"


class Wasmer(RunnerCase, unittest.TestCase):
    engine = "wasmer"
    baseline = {"backend": "singlepass"}
    # Its WASI keeps descriptor 3 for a root in which there are folders alone.
    first_folder = 4
    wide = set()

    def test_llvm_is_the_engines_compiler(self):
        for strategy in self.facts["strategies"]:
            answer = self.ask(modules.ANSWER, backend="llvm", strategy=strategy)
            if any("built without LLVM" in error["message"] for error in answer.of("error")):
                self.skipTest("wasmer is installed without LLVM")
            hello = answer.only("hello")
            self.assertEqual((hello["backend"], hello["tier"]), ("llvm", "optimising"))
            self.assertIn("compiler is llvm", hello["evidence"])
            self.assertEqual(hello["checks"], "explicit" if strategy == "trap" else "guard pages")
            self.assertEqual(answer.of("error"), [])

    def test_what_a_compiler_has_no_code_for_is_unsupported(self):
        vectors = modules.program("(drop (i8x16.extract_lane_u 0 (v128.load (i32.const 0))))")
        self.assert_fails(self.ask(vectors, backend="singlepass"), "unsupported")


class Wazero(RunnerCase, unittest.TestCase):
    engine = "wazero"
    baseline = {"backend": "interpreter"}
    baseline_tier = "interpreter"
    wide = set()

    def test_says_how_much_code_there_is(self):
        metrics = [self.ask(modules.ANSWER, backend=backend).only("process")["metrics"] for backend in self.facts["backends"]]
        self.assertGreater(metrics[0]["code_bytes"], 0)
        self.assertNotIn("code_bytes", metrics[1])


class Chicory(RunnerCase, unittest.TestCase):
    engine = "chicory"
    in_a_row = False
    baseline = {"opt": "none"}
    baseline_tier = "interpreter"
    usual_tier = "tiering"
    wide = set()


class GraalWasm(RunnerCase, unittest.TestCase):
    engine = "graalwasm"
    in_a_row = False
    baseline = {"opt": "none"}
    baseline_tier = "interpreter"
    usual_tier = "tiering"
    wide = set()


class Wasmtime(RunnerCase, unittest.TestCase):
    engine = "wasmtime"
    baseline = {"backend": "winch"}

    def test_pulley_is_an_interpreter(self):
        hello = self.ask(modules.ANSWER, backend="pulley").only("hello")
        self.assertEqual(hello["tier"], "interpreter")
        self.assertIn("Pulley", hello["evidence"])

    def test_says_how_much_code_there_is(self):
        self.assertGreater(self.ask(modules.ANSWER).only("process")["metrics"]["code_bytes"], 0)


class Wasmtime48(RunnerCase, unittest.TestCase):
    engine = "wasmtime48"
    baseline = {"opt": "none"}
    baseline_tier = "unoptimised"

    def test_switches_stacks(self):
        switching = """(module
            (type $p (func)) (type $c (cont $p)) (tag $t)
            (memory (export "memory") 1)
            (func $twice (suspend $t) (suspend $t))
            (elem declare func $twice)
            (func (export "_start") (local $rest (ref null $c))
                (local.set $rest (cont.new $c (ref.func $twice)))
                (block $end
                    (loop $more
                        (block $suspended (result (ref $c))
                            (resume $c (on $t $suspended) (local.get $rest))
                            (br $end))
                        (local.set $rest)
                        (br $more)))))"""
        answer = self.ask(switching)
        self.assertEqual(answer.of("error"), [])
        self.assertEqual({one["exit"] for one in answer.of("iteration")}, {0})


class Wasm3(RunnerCase, unittest.TestCase):
    engine = "wasm3"
    in_a_row = False
    baseline = None
    usual_tier = "interpreter"
    wide = set()


class Wamr(RunnerCase, unittest.TestCase):
    engine = "wamr"
    baseline = None
    usual_tier = "interpreter"
    wide = set()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The other strategy is compiled code's alone.
        cls.facts = cls.facts | {"strategies": ["trap"]}

    def test_both_interpreters_are_themselves(self):
        for backend, words in [("fast", "has the fast interpreter"), ("classic", "has not the fast interpreter")]:
            hello = self.ask(modules.ANSWER, backend=backend).only("hello")
            self.assertEqual((hello["backend"], hello["tier"]), (backend, "interpreter"))
            self.assertIn(words, hello["evidence"])


class WamrAhead(RunnerCase, unittest.TestCase):
    """The same with compiled code."""

    engine = "wamr"
    baseline = {"opt": "none"}
    baseline_tier = "unoptimised"
    wide = set()

    def setUp(self):
        super().setUp()
        if not (ROOT / ".tools" / "engines" / "wamr" / "wamrc").exists():
            self.skipTest("WAMR is installed without its compiler")

    def ask(self, source, **changes):
        changes["backend"] = changes.get("backend") or "aot"
        return super().ask(source, **changes)

    def test_interpreters_have_no_guard_pages(self):
        self.assert_fails(self.ask(modules.ANSWER, backend="fast", strategy="guard"), "unsupported", "interpreters compare")

    def test_says_how_much_code_there_is(self):
        self.assertGreater(self.ask(modules.ANSWER).only("process")["metrics"]["code_bytes"], 0)

    def test_traps_in_threads_of_their_own(self):
        # Not a load: with guard pages its LLVM leaves out one whose value nobody uses.
        store = modules.program("(i32.store (i32.const 65533) (i32.const 1))")
        for strategy in self.facts["strategies"]:
            for module, message in [(store, "out of bounds memory access"), (modules.DEEP, "call stack exhausted")]:
                with self.subTest(strategy=strategy, message=message):
                    self.assert_fails(self.ask(module, strategy=strategy, threads=2, cpus=CPUS[:2]), "trap", message)

    def test_leaves_nothing_in_the_temporary_folder(self):
        before = set(Path("/tmp").glob("fathom-wamr-*"))
        for source in (modules.ANSWER, modules.STRANGE_IMPORT, modules.UNREACHABLE, b"no module"):
            self.ask(source)
        self.assertEqual(set(Path("/tmp").glob("fathom-wamr-*")) - before, set())


class Wasmedge(RunnerCase, unittest.TestCase):
    engine = "wasmedge"
    in_a_row = False
    baseline = {"opt": "none"}
    baseline_tier = "unoptimised"
    # What each way to check goes with.
    BACKENDS = {"guard": ["aot", "jit"], "trap": ["interpreter"]}
    limits_recursion = False
    wide = {"trap"}

    def ask(self, source, **changes):
        strategy = changes.get("strategy", "guard")
        if changes.get("backend") is None and strategy in self.BACKENDS:
            changes["backend"] = self.BACKENDS[strategy][0]
        return super().ask(source, **changes)

    def test_says_what_is_in_force(self):
        for strategy, backends in self.BACKENDS.items():
            for backend in backends:
                with self.subTest(backend):
                    hello = self.ask(modules.ANSWER, strategy=strategy, backend=backend).only("hello")
                    interpreted = backend == "interpreter"
                    self.assertEqual(hello["tier"], "interpreter" if interpreted else "optimising")
                    self.assertEqual(hello["checks"], "explicit" if interpreted else "guard pages")
                    self.assertEqual("made 0 bytes of executable memory" in hello["evidence"], interpreted)
                    self.assertRegex(hello["version"], r"^\d+\.\d+\.\d+")

    def test_refuses_a_way_to_check_that_a_backend_has_not(self):
        answer = self.ask(modules.ANSWER, strategy="trap", backend="aot")
        self.assert_fails(answer, "unsupported", "interpreter")


class Wasm2c(RunnerCase, unittest.TestCase):
    engine = "wasm2c"
    in_a_row = False
    baseline = {"opt": "none"}
    baseline_tier = "unoptimised"
    wide = set()

    def test_clang_says_so_in_the_code(self):
        if not (ROOT / ".tools" / "zig" / "ziglang" / "zig").exists():
            self.skipTest("the pinned C compiler is not installed: python3 workloads/setup.py")
        for strategy in self.facts["strategies"]:
            hello = self.ask(modules.ANSWER, backend="clang", strategy=strategy).only("hello")
            self.assertEqual((hello["backend"], hello["tier"]), ("clang", "optimising"))
            self.assertIn("zig", hello["evidence"])

    def test_leaves_nothing_in_the_temporary_folder(self):
        before = set(Path("/tmp").glob("fathom-wasm2c-*"))
        for source in (modules.ANSWER, modules.STRANGE_IMPORT, modules.UNREACHABLE, b"no module"):
            self.ask(source)
        self.assertEqual(set(Path("/tmp").glob("fathom-wasm2c-*")) - before, set())


if __name__ == "__main__":
    unittest.main()
