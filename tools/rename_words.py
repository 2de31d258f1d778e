#!/usr/bin/env python3
"""Renames parameters that are function words (`of`, `on`, `what`) to the nouns of their types: in
declarations, definitions, bodies and the comments before them. `rename_words.py [--dry] FOLDER ...`

It reads only the text, and renames nothing if the function already uses the noun; such cases, and
types without a clear noun, are left for a person. Compile afterwards."""

import re
import sys
from collections import defaultdict
from pathlib import Path

from check.function_words import is_function_word, parameter_matches
from check.source import CPP_SUFFIXES, blanked_code, files

ROOT = Path(__file__).resolve().parent.parent
# Types whose last word is not a noun, or not the one that a reader expects; "": a person decides.
NOUNS = {
    "lua_State": "state", "string": "text", "string_view": "text", "json": "value",
    "byte_span": "bytes", "mutable_byte_span": "room", "finished": "outcome", "sockaddr_storage":
    "address", "stat": "status", "msghdr": "header", "timespec": "time", "path": "path",
    "coroutine_handle": "handle", "entry_ref": "entry", "backend_ref": "backend",
    "socket_address": "address", "descriptor": "descriptor", "unique_fd": "fd", "ipc_time": "now",
    "heard": "", "taken": "",
    "strata_nl": "connection", "strata_xdp_socket": "socket", "strata_ring": "ring",
    "strata_channel": "channel", "strata_raw_socket": "socket", "strata_umem": "umem",
    "time_point": "time", "kind": "kind", "FILE": "file", "ostream": "output", "fd_set": "set",
    "keyspace_limits": "limits", "strata_hybrid": "endpoint", "sockaddr_ll": "address",
    "DIR": "folder", "EditLine": "editor", "wchar_t": "room", "X509": "certificate",
    "X509_NAME": "name", "BIO": "bio", "ASN1_TIME": "time", "X509_STORE_CTX": "store", "tm": "time",
    "lua_CFunction": "function", "bound_function": "function", "peer_info": "peer", "id": "id",
    "backend_leg": "leg",
}
# Types that hold one value, and types that hold several.
HOLDERS = {"unique_ptr", "shared_ptr", "weak_ptr", "optional", "expected", "result",
           "reference_wrapper", "task"}
SERIES = {"vector", "span", "deque", "list", "set", "unordered_set", "unordered_flat_set"}
VAGUE = {"ref", "base", "impl", "info", "data", "function", "pair", "tuple", "variant", "any",
         "type", "fn", "ptr"}
# For plain types, the word and the type determine the noun together.
COUNTS = ("size_t", "uint64_t", "uint32_t", "int64_t", "offset", "ptrdiff_t")
SPELLED = {
    **{(kind, "at"): "offset" for kind in COUNTS},
    **{(kind, word): noun for kind in (*COUNTS, "double")
       for word, noun in (("from", "start"), ("to", "end"), ("wanted", "expected"))},
    **{(kind, word): "index" for kind in ("size_t", "int") for word in ("which", "who")},
    ("size_t", "in"): "position", ("uint64_t", "which"): "id", ("double", "given"): "value",
    ("double", "by"): "difference", ("bool", "is"): "enabled", ("unsigned long", "what"): "request",
    **{("int", word): "fd" for word in ("on", "into", "to", "from", "in")},
    **{("char", word): "character" for word in ("of", "at", "which")},
    **{(f"{kind}*", word): "bytes" for kind in ("byte", "char", "unsigned char", "uint8_t", "void")
       for word in ("at", "to", "from", "into", "of")},
    **{(f"{kind}*", word): "text" for kind in ("char",) for word in ("what", "how", "which", "of")},
}
# The same for texts.
TEXTS = {"who": "name", "where": "place"}
# The noun for the second of two parameters, if the first has taken the type's noun.
ROLES = {"from": "source", "to": "destination", "into": "destination", "over": "carrier"}
PLAIN = {"int", "bool", "char", "double", "float", "long", "short", "unsigned", "void", "auto",
         "size_t", "ssize_t", "byte", "socklen_t", "off_t", "pid_t", "uid_t", "gid_t", "mode_t",
         *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))}
RESERVED = {"new", "class", "union", "switch", "case", "default", "operator", "register", "this",
            "struct", "enum", "static", "template", "export", "signal", "stat"}


def noun_of(type_text):
    """Returns the noun of a type as it is spelled; empty if it has none."""
    name = re.sub(r"\b(const|volatile|struct|class|enum|typename|unsigned)\b ?", "", type_text)
    name = name.strip(" &*\n")
    if (nested := re.fullmatch(r"(.*>)::(\w+)", name, re.DOTALL)):
        return noun_of(nested[2])
    head, _, rest = name.partition("<")
    word = head.split("::")[-1].strip()
    if word in HOLDERS:
        inner = _first_argument(rest)
        return "outcome" if inner == "void" else noun_of(inner)
    if word in SERIES:
        inner = _first_argument(rest)
        if re.search(r"\b(byte|char)$", inner.split(",")[0]):
            return "bytes"
        return _plural(noun_of(inner)) if noun_of(inner) else ""
    if word in NOUNS:
        return NOUNS[word]
    if re.fullmatch(r"[A-Z][a-z]+", word):  # a template parameter
        return word.lower() if len(word) > 3 else ""
    if word == "span" or word == "result" and not rest:
        return ""
    if word in PLAIN or not re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", word):
        return ""
    last = word.split("_")[-1]
    return "" if last in VAGUE or len(last) < 3 else last


def _first_argument(text):
    depth = 0
    for place, sign in enumerate(text):
        if depth == 0 and sign in ",>":
            return text[:place]
        depth += (sign == "<") - (sign == ">")
    return text


def _plural(noun):
    if noun == "text":
        return "texts"
    if noun.endswith("s"):
        return noun
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("x", "ch", "sh")) else "s")


class Parameter:
    """One parameter in one list of one file."""

    def __init__(self, bare, found):
        self.bare = bare
        self.word, self.type = found["name"], found["type"]
        self.start, self.end = found.span("name")
        self.list_start = _list_start(bare, found.start())
        is_list = bare[self.list_start] == "("
        self.list_end = _matching(bare, self.list_start) if is_list else self.end
        self.body_end = _body_end(bare, self.list_end)
        self.function = re.search(r"(\w+)?\s*$", bare[:self.list_start])[1] or ""

    @property
    def candidates(self):
        plain = re.sub(r"\bconst\b|\bstd::", "", self.type).strip().split("::")[-1]
        if (plain, self.word) in SPELLED:
            return [SPELLED[plain, self.word]]
        noun = noun_of(self.type)
        if noun == "text" and self.word in TEXTS:
            noun = TEXTS[self.word]
        if not noun:
            return []
        return [noun, *([ROLES[self.word]] if self.word in ROLES else [])]

    def uses(self):
        """Yields where the name stands for this parameter: not for a member, and not inside a
        function that declares another parameter of that name."""
        yield self.start
        end = self.body_end or self.list_end
        hidden = [(inner.start, inner.body_end or inner.list_end)
                  for inner in self._inner(end) if inner.word == self.word]
        for found in re.finditer(rf"(?<![\w.]){self.word}\b(?!\s*::)", self.bare[self.end:end]):
            at = self.end + found.start()
            before = self.bare[:at].rstrip()
            if before.endswith(("->", "::")) or before.endswith(".") and not before.endswith("..."):
                continue
            if not any(start <= at < stop for start, stop in hidden):
                yield at

    def _inner(self, end):
        for found in parameter_matches(self.bare, self.end, end):
            yield Parameter(self.bare, found)

    def is_free(self, name):
        """Reports whether nothing else that the function's text uses has that name."""
        if name in RESERVED:
            return False
        end = self.body_end or self.list_end
        before = self.bare[self.list_start:self.start]
        after = self.bare[self.end:end]
        if re.search(rf"(?<![\w.:]){name}\s*[,)=]", before):
            return False
        for found in re.finditer(rf"(?<![\w.]){name}\b(?!\s*::)", after):
            ahead = after[:found.start()].rstrip()
            if not ahead.endswith(("->", "::", ".")):
                return False
        # A capture, or a variable of the function around a lambda.
        around = self.bare[_function_start(self.bare, self.list_start):self.list_start]
        return not re.search(rf"[\w>&*]\s+[&*]*{name}\s*[,)=;{{(:\]]", around)


def _list_start(bare, place):
    """Returns the parenthesis that contains the match: at the match itself, or before it."""
    if bare[place] == "(":
        return place
    depth = 0
    for at in range(place, -1, -1):
        depth += (bare[at] == ")") - (bare[at] == "(")
        if depth < 0:
            return at
    return 0


def _matching(bare, start):
    pairs = {"(": ")", "{": "}"}
    opening, closing = bare[start], pairs[bare[start]]
    depth = 0
    for at in range(start, len(bare)):
        depth += (bare[at] == opening) - (bare[at] == closing)
        if depth == 0:
            return at + 1
    return len(bare)


def _body_end(bare, at):
    """Returns the end of the body after a list of parameters; None for a declaration."""
    word = re.compile(r"\s*(const|noexcept|override|final|mutable|&&?|"
                      r"->\s*[\w:<>,\s&*]+?(?=\s*[{;])|requires\b[^{;]*)")
    while (found := word.match(bare, at)) is not None and found.end() > at:
        at = found.end()
    at += len(bare[at:]) - len(bare[at:].lstrip())
    if bare[at:at + 1] == ":" and bare[at:at + 2] != "::":
        at += 1
        item = re.compile(r"\s*[\w:]+(?:<[^{;()]*>)?\s*(?=[({])")
        while (found := item.match(bare, at)) is not None:
            at = _matching(bare, found.end())
            if (comma := re.compile(r"\s*,").match(bare, at)) is None:
                break
            at = comma.end()
        at += len(bare[at:]) - len(bare[at:].lstrip())
    return _matching(bare, at) if bare[at:at + 1] == "{" else None


def _function_start(bare, place):
    """Returns the last line start in column 0 or 2 before the place, where the enclosing
    function begins."""
    top = max(0, place - 6000)
    lines = list(re.finditer(r"^(?:  )?[\w\[~].*", bare[top:place], re.MULTILINE))
    return top + (lines[-1].start() if lines else 0)


def collect(folders):
    """Collects parameters that are function words, by their function and place."""
    texts, groups = {}, defaultdict(list)
    for path in files(ROOT, CPP_SUFFIXES, ("include", "lib", "src")):
        if not str(path.parent).startswith(tuple(folders)):
            continue
        texts[path] = (ROOT / path).read_text(encoding="utf-8")
        bare = blanked_code(texts[path])
        for found in parameter_matches(bare):
            if is_function_word(found["type"].strip(), found["name"]):
                one = Parameter(bare, found)
                key = (one.function or (path, one.list_start), one.word, noun_of(one.type))
                groups[key].append((path, one))
    return texts, groups


def choose(members, taken):
    for name in members[0][1].candidates:
        if all(one.is_free(name) and name not in taken[path, one.list_start]
               for path, one in members):
            return name
    return None


def mentions(text, one):
    """Yields where the comment before the function names the parameter, in backquotes."""
    start = text.rfind("\n", 0, one.list_start) + 1
    while start > 0 and not re.match(r"\s*(?:\[\[|[\w~])", text[start:]):
        start = text.rfind("\n", 0, start - 1) + 1
    top = start
    while top > 0:
        before = text.rfind("\n", 0, top - 1) + 1
        if not text[before:top].lstrip().startswith(("//", "template", "[[")):
            break
        top = before
    for found in re.finditer(rf"`{one.word}`", text[top:start]):
        yield top + found.start() + 1


def main():
    is_dry = "--dry" in sys.argv
    folders = [word for word in sys.argv[1:] if word != "--dry"]
    if not folders:
        sys.exit(__doc__)
    texts, groups = collect(folders)
    taken, edits, left = defaultdict(set), defaultdict(dict), 0
    for (function, word, _), members in groups.items():
        name = choose(members, taken)
        if name is None:
            left += len(members)
            path, one = members[0]
            line = one.bare.count("\n", 0, one.start) + 1
            print(f"{path}:{line}: {function}: {one.type.strip()} {word}"
                  f" ({'taken: ' + one.candidates[0] if one.candidates else 'no noun'})")
            continue
        for path, one in members:
            taken[path, one.list_start].add(name)
            for at in (*one.uses(), *mentions(texts[path], one)):
                edits[path][at] = (word, name)
    for path, changes in edits.items():
        text = texts[path]
        for at in sorted(changes, reverse=True):
            word, name = changes[at]
            assert text[at:at + len(word)] == word, (path, at, word)
            text = text[:at] + name + text[at + len(word):]
        if not is_dry:
            (ROOT / path).write_text(text, encoding="utf-8")
    print(f"{sum(map(len, edits.values()))} places in {len(edits)} files; {left} left")


if __name__ == "__main__":
    main()
