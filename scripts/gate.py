"""The stages of the gate behind scripts/test: builds once, runs the test programs, sums up.

Test programs of two kinds run beside each other. Those that mostly wait, for the leases and timers
of real processes, come one after another, each with more threads than there are cores. Those that
compute take what is left of the processor: at the lowest priority, so that no lease runs out
because a simulation was in the way. Beside both, one after another and as humbly, go the stages
that need no more than what is built: by themselves they would leave cores idle.

A test that cannot run here passes, and prints a line `skipped: REASON`. The summary counts it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from results import JSON_FLAGS, REPORTING, Result, count, read_json, read_text, reports_times

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORES = os.cpu_count() or 2
SLOWEST = 10
PATIENCE = 1_800  # Seconds; no test program takes nearly as long.
WHOLE = "(the whole program)"  # Instead of the name of a test.

# Test programs that mostly wait, as package and target.
WAITING = [
    ("conclave", "browser"),
    ("conclave", "cluster"),
    ("conclave", "hosts"),
    ("conclave", "mc714"),
    ("conclave-client", "client"),
    ("conclave-net", "network"),
    ("conclave-service", "http"),
]
# Twice as many such tests as cores. With four times as many, and all programs at once, sessions with
# a time to live of a second were lost on a busy machine.
WAITING_PER_CORE = 2

# Crates whose own tests take far longer to build than to run: these are built without optimising.
# What is generic in them is optimised where it is used, in the lab.
PLAIN = ["conclave-algorithms", "conclave-check", "conclave-core", "conclave-sim"]
# Named with them for its dependencies: so these have the same features, and are not built anew.
PRODUCT = "conclave"


class Program:
    """One test program, and how cargo would run it."""

    def __init__(self, artifact):
        target = artifact["target"]
        self.path = artifact["executable"]
        self.folder = os.path.dirname(artifact["manifest_path"])
        self.package = package_name(artifact["package_id"], self.folder)
        self.name = target["name"]
        self.kind = target["kind"][0]

    def selector(self):
        flag = {"test": f"--test {self.name}", "bin": f"--bin {self.name}"}.get(self.kind, "--lib")
        return f"-p {self.package} {flag}"

    def threads(self):
        return CORES * WAITING_PER_CORE if self.waits() else CORES

    def waits(self):
        return self.kind == "test" and (self.package, self.name) in WAITING


def package_name(identifier, folder):
    """`path+file:///x/crates/core#conclave-core@0.1.0`, or without the name where it is the
    folder's."""
    name, at, _ = identifier.rpartition("#")[2].partition("@")
    return name if at else os.path.basename(folder)


class Failed(Exception):
    """A stage failed; what is wrong has been printed."""


def run(*command, **environment):
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment})
    if done.returncode != 0:
        raise Failed(f"'{' '.join(command)}' ended with code {done.returncode}")


class Gate:
    def __init__(self, set_up):
        self.times = [("set-up", set_up)]
        self.programs = []
        self.results = []
        self.skips = []  # Checks other than tests, each as a reason.
        self.lock = threading.Lock()
        self.finished = 0  # How many test programs have been run.
        self.running = set()  # Those under way.
        self.stopping = False
        self.failures = []  # Of stages, as people are told.
        self.begun = time.monotonic() - set_up

    def stop(self):
        """Ends whatever is under way beside this thread, with all that it started."""
        self.stopping = True
        for running in list(self.running):
            end_group(running)

    def stage(self, title, work, told=""):
        """Whether it passed; if not, that is among the failures."""
        print(f"== {title}{told}", flush=True)
        begun = time.monotonic()
        try:
            work()
        except Failed as error:
            self.failures.append(f"== {title}: failed: {error}")
        except Exception as error:  # Of this script: it must not pass for a success.
            self.failures.append(f"== {title}: failed: {error!r}")
        else:
            print(f"== {title}: passed in {time.monotonic() - begun:.0f} s", flush=True)
            return True
        finally:
            self.times.append((f"{title}{told}", time.monotonic() - begun))
        return False

    def quietly(self, *command, **environment):
        """Runs it at the lowest priority; its code, and what it said."""
        running = subprocess.Popen(
            ["nice", "-n", "19", *command],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # So that it can be ended with all that it started.
        )
        self.running.add(running)
        patience = threading.Timer(PATIENCE, end_group, [running])
        patience.start()
        said, _ = running.communicate()
        patience.cancel()
        self.running.discard(running)
        return running.returncode, said

    def lint(self):
        # With what is not in the product, since it is compiled nowhere else.
        more = ["--features", "conclave/stateright,conclave-lab/stateright"]
        run("cargo", "clippy", "--workspace", "--all-targets", *more, "--", "-D", "warnings")

    # Building.

    def build(self):
        expected = test_programs()
        self.compile("--workspace", *[f"--exclude={package}" for package in PLAIN])
        plain = [f"--config=profile.dev.package.{package}.opt-level=0" for package in PLAIN]
        tests = [f"--test={name}" for package, name, kind in expected
                 if package in PLAIN and kind == "test"]
        packages = [f"--package={package}" for package in [*PLAIN, PRODUCT]]
        self.compile(*packages, "--lib", *tests, *plain)
        built = {(program.package, program.name) for program in self.programs}
        wanted = WAITING + [(package, name) for package, name, _ in expected]
        missing = sorted({" ".join(one) for one in wanted if one not in built})
        if missing or not built:
            raise Failed(f"these test programs were not built: {', '.join(missing) or 'all'}")

    def compile(self, *which):
        command = ["cargo", "test", "--no-run", *which]
        command += ["--message-format=json-render-diagnostics"]
        building = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for line in building.stdout:
            message = json.loads(line)
            if message.get("executable") and message["profile"]["test"]:
                self.programs.append(Program(message))
        if building.wait() != 0:
            raise Failed("the tests do not build")

    # Running.

    def test(self):
        self.fetching_axe.wait()  # The tests in a browser want it.
        waiting = [program for program in self.programs if program.waits()]
        computing = [program for program in self.programs if not program.waits()]
        lanes = [waiting, computing]
        threads = [threading.Thread(target=self.run_all, args=(lane,)) for lane in lanes]
        threads.append(threading.Thread(target=self.run_beside))
        for thread in threads:
            thread.daemon = True  # An interrupt must not wait for them.
            thread.start()
        for thread in threads:
            thread.join()
        self.show_failures()
        if self.finished != len(self.programs):
            raise Failed(f"only {self.finished} of {len(self.programs)} test programs were run")

    def run_beside(self):
        stages = [
            ("mermaid", self.mermaid),
            ("mistakes", self.mistakes),
            ("docs", self.document),
            ("doc tests", self.doc_tests),
        ]
        for title, work in stages:
            if not self.stopping:
                self.stage(title, work, ", beside the tests")

    def run_all(self, programs):
        for program in programs:
            if self.stopping:
                return
            begun = time.monotonic()
            try:
                results = self.run_one(program)
            except Exception as error:  # Of this script: it must not pass for a success.
                results = [Result(program, WHOLE, "failed", None, repr(error))]
            took = time.monotonic() - begun
            with self.lock:
                self.results += results
                self.finished += 1
                told = count(results)
                print(f"   {program.package} {program.name}: {told} in {took:.1f} s", flush=True)

    def run_one(self, program):
        report = reports_times(program)
        command = [program.path, "--show-output", "--test-threads", str(program.threads())]
        environment = {**os.environ, "CARGO_MANIFEST_DIR": program.folder}
        if report:
            command += JSON_FLAGS
            environment.update(REPORTING)
        if not program.waits():
            command = ["nice", "-n", "19"] + command
        running = subprocess.Popen(
            command,
            cwd=program.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # So that it can be ended with all that it started.
        )
        self.running.add(running)
        patience = threading.Timer(PATIENCE, end_group, [running])
        patience.start()
        read = read_json if report else read_text
        results, unfinished, other, complete = read(program, running.stdout)
        code = running.wait()
        patience.cancel()
        self.running.discard(running)
        explained = any(result.outcome == "failed" for result in results)
        if code != 0 and (unfinished or not explained) or code == 0 and not complete:
            names = unfinished or [WHOLE]
            said = "".join(other) + f"the test program ended with code {code}, before its time\n"
            results += [Result(program, name, "failed", None, said) for name in names]
        return results

    def show_failures(self):
        failures = [result for result in self.results if result.outcome == "failed"]
        for result in failures:
            print(f"\n---- {result.program.package} {result.program.name}: {result.name}")
            print(result.output.rstrip())
            print(f"\nto run it again: {again(result)}")
        if failures:
            raise Failed(f"{len(failures)} tests failed")

    def doc_tests(self):
        code, said = self.quietly("cargo", "test", "--workspace", "--doc")
        told = re.findall(r"^test (.+) \.\.\. (ok|FAILED)", said, re.MULTILINE)
        with self.lock:
            for name, how in told:
                self.results.append(Result(None, name, "passed" if how == "ok" else "failed"))
        if code != 0:
            print(said)
            raise Failed("to run them again: cargo test --workspace --doc")

    def fetch(self):
        """Takes a while, and hardly any of the processor's time."""
        self.fetching_axe = subprocess.Popen(["scripts/install-axe"], cwd=ROOT)
        self.fetching_mermaid = subprocess.Popen(["scripts/check-mermaid", "--install"], cwd=ROOT)

    def mermaid(self):
        self.fetching_mermaid.wait()
        code, said = self.quietly("scripts/check-mermaid")
        print(said, end="")
        self.skips += re.findall(r"^skipped: (.*)$", said, re.MULTILINE)
        if code != 0:
            raise Failed("to run it again: scripts/check-mermaid")

    def mistakes(self):
        code, said = self.quietly("scripts/mistakes", "--check")
        print(said, end="")
        if code != 0:
            raise Failed("to run it again: scripts/mistakes --check")

    def document(self):
        command = ["cargo", "doc", "--workspace", "--no-deps"]
        code, said = self.quietly(*command, RUSTDOCFLAGS="-D warnings")
        if code != 0:
            print(said)
            raise Failed(f"to run it again: RUSTDOCFLAGS='-D warnings' {' '.join(command)}")

    # Summing up.

    def summary(self):
        print("\n== time of each stage")
        for title, seconds in self.times:
            print(f"   {seconds:7.1f} s  {title}")
        print(f"   {time.monotonic() - self.begun:7.1f} s  in all")
        timed = [result for result in self.results if result.seconds is not None]
        if timed:
            print(f"== the slowest {SLOWEST} tests")
        for result in sorted(timed, key=lambda one: -one.seconds)[:SLOWEST]:
            print(f"   {result.seconds:7.1f} s  {result.program.name} {result.name}")
        ignored = sum(result.outcome == "ignored" for result in self.results)
        if ignored:
            print(f"== {ignored} left to scripts/soak")
        self.summary_of_skips()

    def summary_of_skips(self):
        skipped = [result for result in self.results if result.outcome == "skipped"]
        reasons = [result.reason for result in skipped] + self.skips
        if reasons:
            print("== skipped")
        for reason in sorted(set(reasons)):
            print(f"   {reasons.count(reason):4}  {reason}")


def test_programs():
    """All that there should be, each as package, target and kind."""
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    told = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    return [
        (package["name"], target["name"], target["kind"][0])
        for package in told["packages"]
        for target in package["targets"]
        if target["test"]
    ]


def end_group(running):
    """Ends a test program that is under way, and whatever it started."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It has just ended by itself.


def again(result):
    seeds = f"CONCLAVE_SEEDS={os.environ['CONCLAVE_SEEDS']} "
    only = "" if result.name == WHOLE else f" -- --exact '{result.name}'"
    return f"{seeds}cargo test {result.program.selector()}{only}"


def main():
    gate = Gate(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return through(gate)
    finally:
        gate.stop()


def through(gate):
    if not os.path.exists(os.path.join(ROOT, "target", "debug", "incremental")):
        os.environ.setdefault("CARGO_INCREMENTAL", "0")  # A first build is quicker without.
    stages = [
        ("format", lambda: run("cargo", "fmt", "--all", "--check")),
        ("lints", gate.lint),
        ("build", gate.build),
        ("tests", gate.test),
    ]
    gate.fetch()
    for title, work in stages:
        if not gate.stage(title, work):
            break
    gate.summary()
    for failure in gate.failures:
        print(failure, flush=True)
    print(count(gate.results, len(gate.skips)), flush=True)
    return 1 if gate.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
