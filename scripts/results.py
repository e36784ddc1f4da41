"""What test programs say of their tests, read for scripts/gate.py."""

import json
import os
import re
import subprocess

# libtest tells the time of each test only if this variable is there. Left empty it means nothing
# to a compiler that a test might start.
REPORTING = {"RUSTC_BOOTSTRAP": ""}
JSON_FLAGS = ["-Z", "unstable-options", "--format", "json", "--report-time"]


class Result:
    """What became of one test."""

    def __init__(self, program, name, outcome, seconds=None, output=""):
        self.program, self.name, self.seconds, self.output = program, name, seconds, output
        reason = re.search(r"^skipped: (.*)$", output, re.MULTILINE)
        self.outcome = "skipped" if outcome == "passed" and reason else outcome
        self.reason = reason.group(1) if reason else None


def reports_times(program):
    """Whether the program gives its results as JSON, with times."""
    probe = [program.path] + JSON_FLAGS + ["--list"]
    environment = {**os.environ, **REPORTING}
    done = subprocess.run(
        probe, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return done.returncode == 0


def read_json(program, lines):
    """The results, the tests that began and did not end, the lines of nobody, and whether the
    program came to its end."""
    outcomes = {"ok": "passed", "failed": "failed", "ignored": "ignored"}
    results, running, other, complete = [], {}, [], False
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or event.get("type") not in ("test", "suite"):
            other.append(line)
        elif event["type"] == "suite":
            complete = complete or event["event"] in ("ok", "failed")
        elif event["event"] == "started":
            running[event["name"]] = True
        elif event["event"] == "timeout":
            print(f"   still running: {program.name} {event['name']}", flush=True)
        else:
            running.pop(event["name"], None)
            output = event.get("stdout", "") + event.get("message", "")
            outcome = outcomes.get(event["event"], "failed")
            seconds = event.get("exec_time")
            results.append(Result(program, event["name"], outcome, seconds, output))
    return results, list(running), other, complete


def read_text(program, lines):
    """The same from what people read. Which tests are under way is not told there."""
    outcomes = {"ok": "passed", "FAILED": "failed", "ignored": "ignored"}
    found, outputs, other, section, complete = [], {}, [], None, False
    for line in lines:
        complete = complete or line.startswith("test result: ")
        told = re.match(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", line)
        begins = re.match(r"---- (.+) stdout ----$", line)
        if told:
            found.append((told.group(1), outcomes[told.group(2)]))
        elif begins:
            section = begins.group(1)
        elif re.match(r"(successes|failures|test result):", line):
            section = None
        elif section:
            outputs[section] = outputs.get(section, "") + line
        else:
            other.append(line)
    results = [Result(program, name, how, None, outputs.get(name, "")) for name, how in found]
    return results, [], other, complete


def count(results, more_skipped=0):
    outcomes = [result.outcome for result in results]
    passed, failed = outcomes.count("passed"), outcomes.count("failed")
    return f"{passed} passed, {failed} failed, {outcomes.count('skipped') + more_skipped} skipped"
