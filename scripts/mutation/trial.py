"""The tests that mutants are tried with, for scripts/mutants."""

import math
import os
import queue
import re
import resource
import shutil
import subprocess
import threading
import time

from mutation.build import WORK

# Tests that a change of any kind breaks: pinned hashes, numbers of states, recordings.
GOLDEN = [
    "conformance::determinism::",
    "conformance::traces::",
    "claims::every_claim_has_as_many_states_as_it_says",
    "claims::a_claim_has_no_more_states_than_there_are_without_reductions",
    "claims::an_election_on_a_ring_has_as_many_states_as_it_had",
    "there_are_only_so_many_normal_states",
    "encode::tests::",
]
MEMORY = 4_000_000_000
# In seconds: tests that take longer are tried only where no quick one notices.
QUICK = 3
STAGES = [0, 1, 2]


class Test:
    """One test: its program, how long it takes, and the mutants whose places it comes to."""

    def __init__(self, name, program, folder):
        self.name, self.program, self.folder = name, program, folder
        self.golden = any(golden in name for golden in GOLDEN)
        self.seconds, self.reaches = 0.0, set()

    def stage(self):
        """When it is its turn: quick ones first, golden numbers last."""
        return 2 if self.golden else int(self.seconds > QUICK)

    def batch(self):
        """Those of one program that take about as long are run together."""
        return (math.ceil(math.log2(max(self.seconds, QUICK / 10))), self.program)

    def label(self):
        program = os.path.basename(self.program).rpartition("-")[0].removeprefix("conclave_")
        return f"{program}: {self.name}"


def list_tests(programs):
    tests = []
    for program, folder in programs:
        words = [program, "--list", "--format=terse"]
        listed = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True)
        ignored = subprocess.run([*words, "--ignored"], capture_output=True, text=True, cwd=folder)
        names = set(listed.stdout.splitlines()) - set(ignored.stdout.splitlines())
        tests += [Test(name[:-6], program, folder) for name in names if name.endswith(": test")]
    return sorted(tests, key=lambda test: test.label())


def run(tests, **environment):
    """Runs tests of one program, one by one. Gives the first that fails, or is late."""
    seeds = os.environ.get("CONCLAVE_SEEDS", "25")
    started = subprocess.Popen(
        [tests[0].program, "--test-threads=1", "--exact", *(test.name for test in tests)],
        cwd=tests[0].folder, env={**os.environ, "CONCLAVE_SEEDS": seeds, **environment},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    outcomes = queue.Queue()
    threading.Thread(target=pump, args=(started.stdout, outcomes), daemon=True).start()
    try:
        for test in sorted(tests, key=lambda test: test.name):
            # It may take several times as long as without a mutant: others work here, too.
            outcome = outcomes.get(timeout=15 + 5 * (test.seconds or 100))
            if outcome != "ok":
                return f"{test.label()}, {outcome}"
        return None
    except queue.Empty:
        return f"{test.label()}, without end"
    finally:
        started.kill()
        started.wait()


def pump(stream, outcomes):
    """Hands on what became of each test, as soon as it is known."""
    under_way = False
    for line in stream:
        under_way = under_way or re.match(r"test .* \.\.\. ", line)
        ended = re.search(r"(ok|FAILED)$", line)
        if under_way and ended:
            outcomes.put("ok" if ended[1] == "ok" else "failed")
            under_way = False
    outcomes.put("which ended its program")


def in_parallel(work, items, jobs):
    """Calls `work` with every item."""
    left = queue.Queue()
    for item in items:
        left.put(item)

    def worker():
        while True:
            try:
                item = left.get_nowait()
            except queue.Empty:
                return
            work(item)

    workers = [threading.Thread(target=worker) for _ in range(jobs)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()


def calm(tests, jobs):
    """Runs every test alone, without a mutant: how long it takes, and where it comes. Gives those
    that fail even so: they can notice nothing."""
    wrong = []

    def alone(test):
        reached = os.path.join(WORK, "reached", str(tests.index(test)))
        begun = time.monotonic()
        failed = run([test], CONCLAVE_REACHED=reached)
        test.seconds = time.monotonic() - begun
        if os.path.isfile(reached):
            test.reaches = {int(number) for number in open(reached, encoding="utf-8")}
        wrong.extend([test] if failed else [])

    shutil.rmtree(os.path.join(WORK, "reached"), ignore_errors=True)
    os.makedirs(os.path.join(WORK, "reached"))
    in_parallel(alone, sorted(tests, key=lambda test: "lab" not in test.program), jobs)
    return wrong


def noticed_by(mutant, tests, stage):
    """The first test of a stage that notices a mutant, of those that come to its place."""
    batches = {}
    for test in tests:
        if test.stage() == stage and mutant.number in test.reaches:
            batches.setdefault(test.batch(), []).append(test)
    for batch in sorted(batches):
        failed = run(batches[batch], CONCLAVE_MUTANT=str(mutant.number))
        if failed:
            return failed
    return None
