"""A copy of the sources with mutants in it, for scripts/mutants: which, and how it is built."""

import json
import os
import re
import shutil
import subprocess
import sys

from mutation import source

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "target", "mutants")
TREE = os.path.join(WORK, "tree")
# Which part of the sample is of which crate.
CRATES = {"core": 0.2, "algorithms": 0.4, "sim": 0.2, "check": 0.2}
PACKAGES = [f"conclave-{crate}" for crate in [*CRATES, "lab"]]
# Test programs that look at sources, or at memory.
LEFT_OUT = ["tidy", "allocation"]
# What decides nothing: tests, texts, drawings, and files read and written. The encoding is what the
# pinned hashes are of: no other rule says what it must be.
EXCLUDED = re.compile(
    r"(^|/)(tests?|testkit|toys|error|lib)(\.rs|/)"
    r"|^crates/core/src/(encode|story)\.rs"
    r"|^crates/algorithms/src/catalog"
    r"|^crates/sim/src/(flags|parse|scenario|story|floor|timeout_advice|event)(\.rs|/)"
    r"|^crates/sim/src/(trace|follow/telling)(\.rs|/)"
    r"|^crates/check/src/(counterexample|vocabulary|report|poison)\.rs"
)
MUTANT = '''
/// Whether this mutant is the one that is awake.
#[inline]
pub fn mutant(number: u16) -> bool {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    static AWAKE: AtomicU32 = AtomicU32::new(u32::MAX);
    static REACHED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
    if !REACHED[usize::from(number)].load(Relaxed) {
        REACHED[usize::from(number)].store(true, Relaxed);
        if let Ok(file) = std::env::var("CONCLAVE_REACHED") {
            let mut options = std::fs::OpenOptions::new();
            let mut file = options.append(true).create(true).open(file).unwrap();
            std::io::Write::write_all(&mut file, format!("{number}\\n").as_bytes()).unwrap();
        }
        let named = std::env::var("CONCLAVE_MUTANT").unwrap_or_default();
        AWAKE.store(named.parse().unwrap_or(0), Relaxed);
    }
    AWAKE.load(Relaxed) == u32::from(number)
}
'''


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )
    return [file for file in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, file))]


def read(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as opened:
        return opened.read()


def crate_of(file):
    return file.split("/")[1]


def candidates(files):
    """For each crate its mutants in the order in which they are taken."""
    pool = {crate: [] for crate in CRATES}
    for file in files:
        crate = crate_of(file) if file.startswith("crates/") else None
        if crate in CRATES and f"crates/{crate}/src/" in file and file.endswith(".rs"):
            if not EXCLUDED.search(file):
                pool[crate] += source.of_file(file, read(file))
    for crate, mutants in pool.items():
        pool[crate] = list(source.apart(sorted(mutants, key=lambda mutant: mutant.id)))
    return pool


def choose(pool, options, rejected, spare=1.0):
    """The sample: of each crate the first that compile. With spare ones, if some may not."""
    chosen = []
    for crate, mutants in pool.items():
        fit = [mutant for mutant in mutants if mutant.id not in rejected]
        if options.file:
            fit = [mutant for mutant in fit if mutant.file == options.file]
        share = 1 if options.file else CRATES[crate] * spare
        chosen += fit[: round(options.sample * share)]
    return chosen


def put(file, text):
    """Writes a file of the copy, if it changes: what did not change stays built."""
    path = os.path.join(TREE, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.isfile(path) or open(path, encoding="utf-8").read() != text:
        with open(path, "w", encoding="utf-8") as opened:
            opened.write(text)


def plant(files, mutants):
    """Makes the copy, with these mutants. Gives for each file the lines of each."""
    by_file, places = {}, {}
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
        by_file.setdefault(mutant.file, []).append(mutant)
    for file in files:
        if file in by_file:
            path = "crate" if crate_of(file) == "core" else "conclave_core"
            text, places[file] = source.rewrite(read(file), by_file[file], path)
            put(file, text)
        elif file == "crates/core/src/lib.rs":
            put(file, read(file) + MUTANT)
        elif not file.startswith("mistakes/"):
            whole, copy = os.path.join(ROOT, file), os.path.join(TREE, file)
            if not os.path.isfile(copy) or open(whole, "rb").read() != open(copy, "rb").read():
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy(whole, copy)
    for folder, _, names in os.walk(TREE):
        for name in names:
            file = os.path.relpath(os.path.join(folder, name), TREE)
            if not os.path.isfile(os.path.join(ROOT, file)):
                os.remove(os.path.join(TREE, file))
    return places


def cargo(*words):
    """Runs cargo on the copy. Gives its messages and whether all was well."""
    packages = [word for package in PACKAGES for word in ("-p", package)]
    environment = {**os.environ, "CARGO_TARGET_DIR": os.path.join(WORK, "build")}
    environment["RUSTFLAGS"] = "--cap-lints=allow"
    done = subprocess.run(
        ["cargo", *words, "--message-format=json", *packages],
        cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return messages, done.returncode == 0, done.stderr


def spans(message):
    for span in message.get("spans", []):
        yield span["file_name"], span["line_start"], span["line_end"]
    for child in message.get("children", []):
        yield from spans(child)


def misfits(messages, places):
    """The mutants that do not compile; if an error is near none, all of its file."""
    bad, near = set(), set()
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        hit = set()
        for file, first, last in spans(message["message"]):
            for mutant, (begin, end) in places.get(file, {}).items():
                near.add(mutant)
                if first <= end and begin <= last:
                    hit.add(mutant)
        bad |= hit
    return bad or near


def build(options):
    """Plants as many as compile. Gives them, and the test programs with their folders."""
    files = sources()
    pool = candidates(files)
    known = os.path.join(WORK, "misfits.json")
    rejected = set(json.load(open(known, encoding="utf-8"))) if os.path.isfile(known) else set()
    while True:
        chosen = choose(pool, options, rejected, spare=1.3)
        places = plant(files, chosen)
        messages, passed, errors = cargo("check")
        if passed:
            break
        bad = misfits(messages, places)
        print(f"   {len(bad)} of {len(chosen)} do not compile", flush=True)
        if not bad:
            sys.exit(errors)
        rejected |= bad
    with open(known, "w", encoding="utf-8") as opened:
        json.dump(sorted(rejected), opened)
    chosen = choose(pool, options, rejected)
    plant(files, chosen)
    messages, passed, errors = cargo("test", "--no-run")
    if not passed:
        sys.exit(errors)
    programs = []
    for message in messages:
        if message.get("executable") and message.get("profile", {}).get("test"):
            if message["target"]["name"] not in LEFT_OUT:
                programs.append((message["executable"], os.path.dirname(message["manifest_path"])))
    return chosen, programs
