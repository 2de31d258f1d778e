"""vocabulary: the pages use the field's terms, and sentences name who acts.

It checks the prose of README, ARCHITECTURE, CONTRIBUTING and docs/, without code and generated
text. Linters from registries report only noise here: codespell takes HTTP's TE and Redis's SMOVE
for mistakes, proselint wants curly quotes, write-good no passive voice at all.
"""

import re

from check.docs import FENCE
from check.source import Breach, files, read

# Generated pages, and quotations.
NOT_OURS = ("docs/lua-reference.md", "docs/smuggling.md", "docs/proxy-semantics.md",
            "docs/measurements/")
# A phrase, and what to write instead.
ROWS = (
    (r"\b(?:a|the|each|every|another|its|this) back\b|\bbacks\b", "'backend'"),
    (r"\bhouses?\b", "'stack'; 'strata' or 'the project' for our rules"),
    (r"\b(?:over)?hear(?:s|d)?\b|\bhearing\b", "'receive', 'get', 'listen'"),
    (r"\b(?:is|are|was|were|be|been) told\b|\btells? of\b", "'get', 'report', or who reports"),
    (r"\b(?:is|are|was) said\b", "who says it"),
    (r"\b[Ww]hoever\b", "'a client that', 'anyone who'"),
    (r"\bbut for\b", "'except'"),
    (r"\bfrom afar\b|\bfar away\b", "'remote', 'from another machine'"),
    (r"(?<!there )(?<!There )\b(?:is|are) no (?!longer\b|more\b)[a-z]+", "'is not a'"),
    (r"(?:^|[.:;] )Of (?!course\b)\w+", "the subject first: 'For …', 'A … has'"),
    (r"\bthe same of\b", "'the same for'"),
    (r"\b(?:goes|go|going|went) on\b", "'continues'"),
    (r"\bunder way\b", "'in progress'"),
    (r"\bat the (?:longest|most)\b", "'at most'"),
    (r"\bagrees? on TLS\b|\bagreed on TLS\b", "'complete the TLS handshake'"),
    (r"\blikewise\b|\bfor ever\b|\bafresh\b|\bmend(?:s|ed)?\b", "'in the same way', 'fix', …"),
    (r"\b(?:is|are|was) looked at\b", "'check', 'read'"),
    (r"\b(?:each|bit) by itself\b", "'separately'"),
)
# A phrase may span two lines.
PHRASES = [(re.compile(phrase.replace(" ", r"\s"), re.MULTILINE), remedy)
           for phrase, remedy in ROWS]


def breaches(root):
    for path in files(root, (".md",)):
        if str(path).startswith(NOT_OURS) or not is_page(path):
            continue
        text = prose_of(read(root, path))
        for phrase, remedy in PHRASES:
            for found in phrase.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                yield Breach(str(path), line, f"'{' '.join(found[0].split())}': write {remedy}")


def is_page(path):
    return path.parts[0] == "docs" or len(path.parts) == 1


def prose_of(text):
    """Returns the text's lines, without fenced blocks, rows of functions, code spans, and
    links' targets."""
    lines, fenced = [], False
    for line in text.splitlines():
        is_fence = FENCE.match(line)
        fenced ^= bool(is_fence)
        is_left_out = is_fence or fenced or line.startswith("| `strata.")
        lines.append("" if is_left_out else line)
    return re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", "``", "\n".join(lines))
