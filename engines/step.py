"""What a recipe may use: progress, commands, and packages of each registry.

Every package is named, pinned and checked; the registries' own clients fetch it,
with the settings and the cache that they have on this machine, so an installation
that was interrupted fetches nothing twice. Whatever goes wrong is one `Failed`.
"""

import base64
import contextlib
import ctypes
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

# How long a command may be silent before a line says that it still runs.
PROGRESS_S = 20.0
# How long a command may take to end when it is told to.
ENDING_S = 5.0
PR_SET_PDEATHSIG = 1
INTERRUPTING = {signal.SIGINT, signal.SIGTERM}
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"

# What colours a terminal's text; some send it into a pipe.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# How package managers say that nobody answers; they go on to complain that there
# is no such package, which misleads.
UNREACHABLE = (
    "connection", "could not connect", "resolve host", "resolving", "timed out", "unreachable", "ssl", "econnrefused",
    "enotfound", "eai_again", "transfer failed", "could not transfer", "failed to fetch", "spurious network",
)


class Failed(Exception):
    """Why an engine could not be installed, in one line."""


def complaint_of(stderr: str) -> str:
    """One line of what a command complained about."""
    lines = [line.strip() for line in COLOUR.sub("", stderr).splitlines() if line.strip()]
    for line in lines:
        if any(word in line.lower() for word in UNREACHABLE):
            return f"the package registry cannot be reached: {line[:300]}"
    errors = [line for line in lines if line.lower().startswith(("error", "[error]", "e:", "npm err")) or ": error: " in line]
    return (errors or lines[-1:] or ["failed without a word"])[0][:300]


@contextlib.contextmanager
def unhurried():
    """Puts off the signals that interrupt, for a moment that must not be cut in two."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_child() -> None:
    """In a child before it runs: it ends when this program is killed, and can be
    interrupted."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end(child: subprocess.Popen) -> None:
    """Ends a command and all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            continue
    child.wait()


def _last_line(text: bytes | str | None) -> str:
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return f": {lines[-1][:80]}" if lines else ""


def check_file(file: Path, algorithm: str, wanted: str, what: str) -> None:
    """Refuses a file whose checksum is another; `wanted` is hexadecimal."""
    with open(file, "rb") as opened:
        found = hashlib.file_digest(opened, algorithm).hexdigest()
    if found != wanted.lower():
        raise Failed(f"{what}: the {algorithm} of what came is {found}, not {wanted.lower()}: cut short or changed")


def unpack(archive: Path, into: Path, what: str, strip: int = 1) -> None:
    """Unpacks the files of a tar archive without its `strip` outermost folders."""
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                parts = Path(member.name).parts[strip:]
                if not member.isfile() or not parts:
                    continue
                if ".." in parts:
                    raise Failed(f"{what}: {archive.name} holds a file outside itself: {member.name}")
                file = into.joinpath(*parts)
                file.parent.mkdir(parents=True, exist_ok=True)
                with opened.extractfile(member) as packed, open(file, "wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
                file.chmod(0o755 if member.mode & 0o100 else 0o644)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise Failed(f"{what}: cannot unpack {archive.name}: {error}") from error


class Step:
    """The way of one engine's recipe to the world."""

    Failed = Failed

    def __init__(self, name: str, kept: Path | None = None, version: str | None = None):
        self.name = name
        self._kept = kept
        # The release that is installed, where it is not the recipe's own.
        self.version = version

    def say(self, what: str) -> None:
        print(f"{self.name}: {what}", flush=True)

    def kept(self) -> Path:
        """A folder that outlives an interruption, for what is long in the making:
        pass it to cargo as its target folder. It is gone once the engine is
        installed, or when the recipe has changed."""
        self._kept.mkdir(parents=True, exist_ok=True)
        return self._kept

    def run(
        self, command: list, what: str, cwd: Path | None = None, env: dict | None = None, limit: float = math.inf,
    ) -> str:
        """Runs a command, returns what it printed; its most telling complaint is the
        error. `env` comes on top of the environment; after `limit` seconds nobody waits
        any longer."""
        words = [str(word) for word in command]
        child = None
        started = time.monotonic()
        try:
            # The command runs before Popen returns: an interruption in between would
            # leave it running, known to nobody.
            with unhurried():
                child = self._start(words, what, cwd, env)
            while True:
                try:
                    out, err = child.communicate(timeout=min(PROGRESS_S, limit))
                    break
                except subprocess.TimeoutExpired as late:
                    seconds = time.monotonic() - started
                    if seconds >= limit:
                        raise Failed(f"{what}: the package registry cannot be reached: no answer in {limit:.0f} s") from late
                    self.say(f"{what}, {seconds:.0f} s so far{_last_line(late.stderr or late.output)}")
        except BaseException:
            if child is not None:
                _end(child)
            raise
        if child.returncode != 0:
            # Some write their complaints to standard output.
            raise Failed(f"{what}: {complaint_of(err if COLOUR.sub('', err).strip() else out)}")
        return out

    def _start(self, words: list[str], what: str, cwd: Path | None, env: dict | None) -> subprocess.Popen:
        try:
            return subprocess.Popen(
                words, cwd=cwd, env=None if env is None else os.environ | {k: str(v) for k, v in env.items()},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                start_new_session=True, preexec_fn=_in_child,
            )
        except OSError as error:
            raise Failed(f"{what}: {words[0]}: {error.strerror}") from error

    def c_runner(self, here: Path, sources: list[str], to: Path, options: list, wasi: bool = False) -> None:
        """Compiles a runner from `sources` in `here` and what all runners in C share,
        with our WASI for an engine that brings none."""
        common = here.parent / "common"
        shared = sorted(common.glob("wasi*.c")) if wasi else []
        names = ("main", "crew", "probe", "clock", "evidence", "events", "json", "module", "program")
        shared += [common / f"{name}.c" for name in names]
        self.run(
            ["cc", "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{common}", *shared]
            + [here / source for source in sources] + ["-o", to, *options, "-lpthread"],
            "cc",
        )

    # PyPI ------------------------------------------------------------------

    def pip_download(self, requirements: Path, into: Path) -> None:
        """Downloads the wheels that `requirements` pins, with their checksums, and
        unpacks nothing."""
        self._pip(requirements, into, "--only-binary=:all:")

    def pip_release(self, name: str, version: str, into: Path) -> None:
        """Downloads the wheel of any release, with the checksum that its registry says."""
        self._pip_into(into, "--only-binary=:all:", [f"{name}=={version}"])

    def pip_source(self, requirements: Path, into: Path) -> None:
        """Unpacks the one source archive that `requirements` pins, without its
        outermost folder."""
        archives = into.with_name(into.name + ".sdist")
        self._pip(requirements, archives, "--no-binary=:all:")
        (archive,) = archives.iterdir()
        unpack(archive, into, "pip download")
        shutil.rmtree(archives)

    def _pip(self, requirements: Path, into: Path, kind: str) -> None:
        self._pip_into(into, kind, ["--require-hashes", "-r", requirements])

    def _pip_into(self, into: Path, kind: str, what: list) -> None:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
            raise Failed("pip is missing for this Python (Debian: apt-get install python3-pip)")
        into.mkdir(parents=True)
        options = ["--quiet", "--retries=2", "--no-deps", kind]
        self.run([*pip, "download", *options, "-d", into, *what], "pip download")

    # npm -------------------------------------------------------------------

    def npm_package(self, name: str, version: str, integrity: str | None, into: Path) -> None:
        """Unpacks an npm package; `integrity` is npm's own `sha512-…`, for a release that
        is not pinned none: npm checks what its registry says. Nothing of it runs, and what
        it depends on does not come."""
        self._needs("npm", "npm")
        what, archives = f"npm pack {name}@{version}", into.with_name(into.name + ".npm")
        archives.mkdir(parents=True)
        self.run(
            ["npm", "pack", f"{name}@{version}", "--ignore-scripts", "--loglevel=error", "--pack-destination", archives],
            what, cwd=archives,
        )
        (archive,) = archives.glob("*.tgz")
        if integrity is not None:
            algorithm, _, digest = integrity.partition("-")
            check_file(archive, algorithm, base64.b64decode(digest).hex(), what)
        unpack(archive, into, what)
        shutil.rmtree(archives)

    # crates ----------------------------------------------------------------

    def crate_source(self, name: str, version: str, sha256: str | None, into: Path) -> None:
        """Copies a crate's source; `sha256` is the checksum in cargo's lock files, for a
        release that is not pinned none: cargo checks what its registry says."""
        self._needs("cargo", "rustup or cargo")
        asking = into.with_name(into.name + ".crate")
        (asking / "src").mkdir(parents=True)
        (asking / "src" / "lib.rs").write_text("")
        (asking / "Cargo.toml").write_text(
            '[package]\nname = "asking"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
            f'[dependencies]\n"{name}" = {{ version = "={version}", default-features = false }}\n'
        )
        self.run(["cargo", "fetch", "--quiet"], f"cargo fetch {name}", cwd=asking)
        lock = (asking / "Cargo.lock").read_text()
        entry = next(e for e in lock.split("[[package]]") if f'name = "{name}"' in e and f'version = "{version}"' in e)
        if sha256 is not None and f'checksum = "{sha256}"' not in entry:
            raise Failed(f"cargo fetch {name}: its checksum is another than the pinned one")
        told = self.run(["cargo", "metadata", "--offline", "--format-version", "1"], "cargo metadata", cwd=asking)
        (crate,) = [p for p in json.loads(told)["packages"] if (p["name"], p["version"]) == (name, version)]
        shutil.copytree(Path(crate["manifest_path"]).parent, into)
        shutil.rmtree(asking)

    def cargo_build(self, here: Path, binary: str, into: Path, features: list[str] = (), env: dict | None = None) -> None:
        """Builds the program `binary` of the crate in `here`, as its lock file pins it,
        and copies it to `into`; `env` comes on top of the environment. What was compiled
        before an interruption is kept."""
        self._needs("cargo", "rustup or cargo")
        manifest, target = here / "Cargo.toml", self.kept() / "target"
        self.run(["cargo", "fetch", "--quiet", "--locked", "--manifest-path", manifest], "cargo fetch")
        chosen = ["--features", ",".join(features)] if features else []
        self.run(
            ["cargo", "build", "--release", "--offline", "--locked", "--manifest-path", manifest, "--bin", binary,
             *chosen, "--target-dir", target],
            "cargo build", env=env,
        )
        shutil.copy(target / "release" / binary, into / binary)

    # Maven Central ---------------------------------------------------------

    def maven_artifacts(self, artifacts: dict[str, str], into: Path) -> None:
        """Copies artifacts, and nothing that they depend on. The keys are
        "group:artifact:version", optionally ":type" and ":classifier" behind, the
        values their sha256."""
        self._needs("mvn", "maven")
        asking = into.with_name(into.name + ".maven")
        asking.mkdir(parents=True)
        (asking / "pom.xml").write_text(_pom(artifacts))
        self.run(
            ["mvn", "--batch-mode", "--quiet", "--update-snapshots", MAVEN_COPY,
             "-DexcludeTransitive=true", f"-DoutputDirectory={into}"],
            "mvn", cwd=asking,
        )
        for coordinate, sha256 in artifacts.items():
            check_file(into / _maven_file(coordinate), "sha256", sha256, coordinate)
        shutil.rmtree(asking)

    # Debian ----------------------------------------------------------------

    def has_debian(self) -> bool:
        """Whether packages of Debian can be had at all, for what is left out without."""
        return all(shutil.which(program) is not None for program in ("apt-get", "dpkg-deb"))

    def debian_packages(self, packages: dict[str, str], into: Path, suite: str | None = None) -> None:
        """Unpacks Debian packages into a folder of their own: names and versions, from
        `suite` or the one this machine has. Signatures are checked as apt does it.
        Nothing is installed on the machine."""
        self._debian(packages, into, suite, whole=False)

    def debian_prefix(self, packages: dict[str, str], into: Path, suite: str) -> list[str]:
        """The same with all that they need, down to the C library, so that programs of
        a later suite run here. Returns the words to start one with: its own loader."""
        self._debian(packages, into, suite, whole=True)
        libraries = f"{into}/usr/lib/{os.uname().machine}-linux-gnu"
        (loader,) = (into / "usr" / "lib64").glob("ld-linux-*.so.*")
        return [str(loader), "--library-path", libraries]

    def _debian(self, packages: dict[str, str], into: Path, suite: str | None, whole: bool) -> None:
        import debian

        self._needs("apt-get", "apt")
        self._needs("dpkg-deb", "dpkg")
        debian.fetch(self, packages, into, suite, whole)

    def _needs(self, program: str, package: str) -> None:
        if shutil.which(program) is None:
            raise Failed(f"needs the program {program}, which is not on PATH (Debian: apt-get install {package})")


def _maven_parts(coordinate: str) -> tuple[str, str, str, str, str]:
    group, artifact, version, kind, classifier = (coordinate.split(":") + ["", ""])[:5]
    return group, artifact, version, kind or "jar", classifier


def _maven_file(coordinate: str) -> str:
    _, artifact, version, kind, classifier = _maven_parts(coordinate)
    return f"{artifact}-{version}{'-' + classifier if classifier else ''}.{kind}"


def _pom(artifacts: dict[str, str]) -> str:
    wanted = ""
    for coordinate in artifacts:
        group, artifact, version, kind, classifier = _maven_parts(coordinate)
        wanted += f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        wanted += f"<type>{kind}</type>" + (f"<classifier>{classifier}</classifier>" if classifier else "")
        wanted += "</dependency>\n"
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
        "<groupId>asking</groupId><artifactId>asking</artifactId><version>0</version>\n"
        f"<dependencies>\n{wanted}</dependencies></project>\n"
    )
