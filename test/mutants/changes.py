"""Lists the mutants: every change that breaks one line of the C++ sources.

Works on text that clang-format has formatted. There, an operator with blanks on both sides is
binary. A template's brackets and a pointer's star do not have both blanks. Some changes do not
compile; they cost only the attempt. Comments, strings, preprocessor lines and assertions stay
unchanged.
"""

import glob
import re
from collections import namedtuple

Change = namedtuple("Change", "file line old new")  # old and new: the line's text

BINARY = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "<": "<= >=",
    "<=": "< >", ">": ">= <=", ">=": "> <", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "&": "| ^", "|": "& ^", "^": "| &", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "/=",
    "|=": "&= =", "&=": "|= =", "^=": "|=", "<<=": ">>=", ">>=": "<<=",
}

STATEMENT = re.compile(
    r"""(?: [\w:.>\-\[\]()*&]+ (?: [ ](?:[-+*/%|&^]|<<|>>)?=[ ].* | \(.*\) | \+\+ | -- )
          | \+\+.* | --.* | break | continue ) ;$""", re.X)

SKIPPED = re.compile(
    r"""//[^\n]* | /\*.*?\*/                           # comments
      | R"\((?:.*?)\)" | "(?:\\.|[^"\\\n])*"           # strings
      | '(?:\\.|[^'\\\n])'                             # characters
      | ^[ \t]*\#(?:\\\n|[^\n])*                       # preprocessor lines
      | \b(?:Assert|AssertMacro|static_assert|SQL_FUNCTION)
        \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)""",
    re.S | re.M | re.X)


def visible(text):
    """The text, with a NUL for each character that must not be changed."""
    return SKIPPED.sub(lambda part: re.sub(r"[^\n]", "\0", part.group()), text)


def replaced(line, match, new, group=0):
    return line[:match.start(group)] + new + line[match.end(group):]


def closing(line, opening):
    """The position of the parenthesis on this line that closes the one at `opening`, or -1."""
    depth = 0
    for at in range(opening, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 0:
            return at
    return -1


def changed_operators(line, seen):
    for match in re.finditer(r"(?<= )(\S+)(?= |$)", seen):
        for new in BINARY.get(match.group(), "").split():
            yield replaced(line, match, new)
    for match in re.finditer(r"\+\+|--", seen):
        yield replaced(line, match, "--" if match.group() == "++" else "++")
    for match in re.finditer(r"(?<![\w!)\]])[!~](?=[\w(])", seen):
        yield replaced(line, match, "")
    for match in re.finditer(r"(?:(?<=[(,=] )|(?<=\()|(?<=return ))-(?=[\w(])", seen):
        yield replaced(line, match, "")


def changed_constants(line, seen):
    for match in re.finditer(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])", seen):
        value, suffix = int(match.group(1), 0), match.group(2)
        for new in {value + 1, max(value - 1, 0), 0} - {value}:
            yield replaced(line, match, f"{new}{suffix}")
    for match in re.finditer(r"(?<![\w.])\d+\.\d*(?:e-?\d+)?(?![\w.])", seen):
        for new in {float(match.group()) + 1, 0.0} - {float(match.group())}:
            yield replaced(line, match, repr(new))
    for match in re.finditer(r"\b(?:true|false)\b", seen):
        yield replaced(line, match, "false" if match.group() == "true" else "true")


def changed_conditions(line, seen):
    for match in re.finditer(r"\b(?:if|while) (\()", seen):
        end = closing(seen, match.start(1))
        if end > 0:
            for value in ("true", "false"):
                yield line[:match.end(1)] + value + line[end:]
    for match in re.finditer(r"\bfor \([^;]*; ([^;]+);", seen):
        yield replaced(line, match, "false", 1)


def changed_statements(line, seen):
    """Deletes a statement, replaces it by a return, or makes it return another value."""
    statement = seen.strip()
    if STATEMENT.match(statement) and not re.match(r"(?:return|using|delete|else)\b", statement):
        yield line.replace(line.strip(), ";")
        if not statement.startswith(("break", "continue")):
            for early in ("return;", "return {};"):
                yield line.replace(line.strip(), early)
    match = re.match(r"\s*return (.+);$", seen)
    if match:
        for new in ("0", "1", "{}", "nullptr"):
            yield replaced(line, match, new, 1)


KINDS = (changed_operators, changed_constants, changed_conditions, changed_statements)


def changes_of(file):
    """For each line that can be broken: its changes, in a list for each kind of change."""
    with open(file, encoding="utf-8") as source:
        text = source.read()
    for number, (line, seen) in enumerate(zip(text.split("\n"), visible(text).split("\n")), 1):
        kinds = [[Change(file, number, line, new)
                  for new in dict.fromkeys(kind(line, seen)) if new != line] for kind in KINDS]
        if any(kinds):
            yield [changes for changes in kinds if changes]


def sources():
    """The library's sources. sizing_table/ has a table and its generator, and is left out."""
    return sorted(file for file in glob.glob("src/**/*", recursive=True)
                  if re.search(r"\.([ch]pp|inc)$", file) and "/sizing_table/" not in file)


def drawn(random):
    """All changes, each once: draws a line, then a kind of change, then one of that kind."""
    lines = [kinds for file in sources() for kinds in changes_of(file)]
    while lines:
        kinds = random.choice(lines)
        changes = random.choice(kinds)
        yield changes.pop(random.randrange(len(changes)))
        if not changes:
            kinds.remove(changes)
        if not kinds:
            lines.remove(kinds)
