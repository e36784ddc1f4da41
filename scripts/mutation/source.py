"""Small syntactic changes of Rust sources, for scripts/mutants.

A mutant replaces one unit (a condition, the value of a `let`, the end of a block, an arm, a
statement) by `if mutant(17) { changed } else { original }`, so that all of them live in one build.
There is no parser: a unit that does not compile when it is changed is found by the compiler, and
left out. The id of a mutant is a hash of its file, its text and its change, so that it stays the
same while other lines come and go.
"""

import hashlib
import re

# In the order in which they are tried at a place. Formatted sources have spaces around these.
SWAPS = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + 1", ""),
    (" - 1", ""),
    (" + ", " - "),
    (" - ", " + "),
    (" += ", " -= "),
    (".min(", ".max("),
    (".max(", ".min("),
    (".any(", ".all("),
    (".all(", ".any("),
    (".first()", ".last()"),
    (".last()", ".first()"),
    (".is_some()", ".is_none()"),
    (".is_none()", ".is_some()"),
    (".is_some_and(", ".is_none_or("),
    (".is_none_or(", ".is_some_and("),
    ("true", "false"),
    ("false", "true"),
    ("!", ""),
]
# What these do is print, or save and load.
UNTOUCHED_IMPL = re.compile(
    r"^impl\b[^{;]*\b(Display|Debug|Named|Serialize|Deserialize|From|Error)\b[^{;]*\{", re.MULTILINE
)
FOR_TESTS = re.compile(r"#\[cfg\(test\)\][^{;]*[{;]")
NO_STATEMENT = re.compile(
    r"(debug_)?assert\w*!|panic!|unreachable!"
    r"|(let|return|use|pub|type|const|static|fn|mod|break|continue|impl|struct|enum|where|for|while"
    r"|loop|if|match)\b"
)
LINES_MAX = 6


class Mutant:
    """One change of one unit: `start..end` of the file's text becomes `changed`."""

    def __init__(self, file, line, kind, start, end, original, changed, what):
        self.file, self.line, self.kind = file, line, kind
        self.start, self.end, self.original, self.changed = start, end, original, changed
        self.what = what
        self.id, self.number = 0, 0

    def name(self):
        return f"{self.id:06x}"

    def text(self):
        """The unit on one line, as it is known in the list of survivors."""
        return " ".join(self.original.split())

    def replacement(self, path):
        test = f"{path}::mutant({self.number})"
        if self.kind == "statement":
            changed = f" {self.changed} " if self.changed else " "
            return f"if {test} {{{changed}}} else {{ {self.original} }}"
        either = f"if {test} {{ {self.changed} }} else {{ {self.original} }}"
        return f"({either})" if self.kind == "condition" else either


def mask(text):
    """The text with what is in comments, strings and characters blanked out, as long as before."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\""
        r"|b?'(?:\\[^u]|\\u\{\w+\}|[^'\\\n])'",
        re.DOTALL,
    )
    blank = lambda found: re.sub(r"[^\n]", "_" if found[0][0] not in "/" else " ", found[0])
    return token.sub(blank, text)


def closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
            if depth == 0:
                return place
    return len(text) - 1


def until(text, start, stops):
    """The first place from `start` on, outside brackets opened since, where one of `stops` is; or
    none, if a bracket is closed before that was opened earlier."""
    depth, place = 0, start
    while place < len(text):
        if depth == 0 and any(text.startswith(stop, place) for stop in stops):
            return place
        if text[place] in "([{":
            depth += 1
        elif text[place] in ")]}":
            depth -= 1
            if depth < 0:
                return None
        place += 1
    return None


def untouched(text):
    """What is not changed: tests, and what prints, saves and loads."""
    ranges = []
    for pattern in (UNTOUCHED_IMPL, FOR_TESTS):
        for found in pattern.finditer(text):
            last = found.end() - 1
            ranges.append((found.start(), closing(text, last) if text[last] == "{" else last))
    return ranges


def conditions(text):
    for found in re.finditer(r"\b(if|while) ", text):
        end = until(text, found.end(), [" {", " =>"])
        if end is None:
            continue
        parts = [(found.end(), end)]
        if re.search(r"\blet ", text[found.end() : end]):
            parts = list(chained(text, found.end(), end))
        for start, stop in parts:
            yield ("condition" if found[1] == "if" else "loop", start, stop)


def chained(text, start, end):
    """The parts of `let .. && .. && ..` that are conditions."""
    while start < end:
        stop = until(text[:end], start, ["&& "]) or end
        part = text[start:stop]
        if not part.lstrip().startswith("let "):
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        start = stop + 3


def values(text):
    """What `let`, `return` and arms have on their right, and where a block ends in a value."""
    for found in re.finditer(r"^[ ]+(let [^=;{]*? =\s|return )", text, re.MULTILINE):
        end = until(text, found.end(), [";"])
        if end is not None and not re.search(r"\belse \{", text[found.end() : end]):
            yield ("value", found.end(), end)
    for found in re.finditer(r"=> (?!\{)", text):
        end = until(text, found.end(), [",\n", "\n"])
        if end is not None and text[end] == ",":
            yield ("value", found.end(), end)
    for found in re.finditer(r"[;{}]\n[ ]+(?=[^\s}#])", text):
        end = until(text, found.end(), [";", ",", "\n    }", "=> "])
        if end is None:
            line = re.compile(r"\n *\}").search(text, found.end())
            end = line.start() if line else None
        if end is not None and text[end] == "\n":
            yield ("value", found.end(), end)


def statements(text):
    for found in re.finditer(r"[;{},]\n[ ]+(?=[a-z*])", text):
        if NO_STATEMENT.match(text, found.end()):
            continue
        end = until(text, found.end(), [";", ",", "=> ", "{"])
        if end is not None and text[end] == ";":
            yield ("statement", found.end(), end + 1)


def units(text):
    """All units, each as (kind, start, end), the smallest first."""
    left_alone = untouched(text)
    found = set()
    for kind, start, end in [*conditions(text), *values(text), *statements(text)]:
        while start < end and text[start].isspace():
            start += 1
        outside = not any(first <= start <= last for first, last in left_alone)
        if start < end and outside and text.count("\n", start, end) < LINES_MAX:
            found.add((kind, start, end))
    return sorted(found, key=lambda unit: (unit[2] - unit[1], unit[1], unit[0]))


def swaps(text, start, end):
    """Each place within a unit where an operator can be exchanged."""
    for before, after in SWAPS:
        pattern = re.escape(before)
        if before.isalpha():
            pattern = rf"\b{pattern}\b"
        elif before == "!":
            pattern = r"(?<![\w!])!(?=[\w(])"
        elif before in (" + 1", " - 1"):
            pattern += r"(?![\w.])"
        elif before in (" + ", " - "):
            pattern += r"(?!1\b)"
        for found in re.finditer(pattern, text[start:end]):
            if before == " || " and text[start + found.start() - 1] in "(,=":
                continue
            yield start + found.start(), start + found.end(), before, after


def of_unit(original, text, kind, start, end, taken):
    """The changes of one unit, each as (what, changed)."""
    for first, last, before, after in swaps(text, start, end):
        if first in taken:
            continue
        taken.add(first)
        what = f"{before.strip()} -> {after.strip() or 'nothing'}"
        yield what, original[start:first] + after + original[last:end]
    unit = original[start:end]
    if kind == "condition":
        for value in ("true", "false"):
            if unit != value:
                yield value, f"{value} || ({unit})" if value == "true" else f"false && ({unit})"
    if kind == "statement":
        yield "left out", ""


def of_file(file, original):
    """All mutants of a source file."""
    text, taken, mutants, seen = mask(original), set(), [], {}
    for kind, start, end in units(text):
        for what, changed in of_unit(original, text, kind, start, end, taken):
            line = original.count("\n", 0, start) + 1
            mutant = Mutant(file, line, kind, start, end, original[start:end], changed, what)
            key = (mutant.text(), what)
            seen[key] = seen.get(key, 0) + 1
            words = "\0".join([file, *key, str(seen[key])])
            mutant.id = int(hashlib.sha256(words.encode()).hexdigest()[:6], 16) or 1
            mutants.append(mutant)
    return mutants


def apart(mutants):
    """Those, in order, that share no text with one before."""
    chosen = {}
    for mutant in mutants:
        others = chosen.setdefault(mutant.file, [])
        if all(mutant.end <= other.start or other.end <= mutant.start for other in others):
            others.append(mutant)
            yield mutant


def rewrite(original, mutants, path):
    """The file with these mutants in it, and the lines on which each of them is."""
    pieces, places, end, line = [], {}, 0, 1
    for mutant in sorted(mutants, key=lambda mutant: mutant.start):
        for piece in (original[end : mutant.start], mutant.replacement(path)):
            first = line
            pieces.append(piece)
            line += piece.count("\n")
        places[mutant.id] = (first, line)
        end = mutant.end
    return "".join([*pieces, original[end:]]), places
