"""words: parameters are nouns. Function words among them are counted per folder, and a count only
falls: function_words.txt has the current counts."""

import re
from collections import Counter

from check.source import CPP_SUFFIXES, Breach, blanked_code, files, read

LIST = "tools/check/function_words.txt"
# Words that say less than any noun about the value.
WORDS = frozenset(
    "about again against as asked at beside by done for found from given got heard home how in "
    "into is made now of on opened over said taken that this to told wanted what where which who "
    "with within".split())
# A type and a name, inside parentheses, before a comma, a default or the end. In an expression,
# such as `(flags & flag)`, the sign has spaces on both sides.
PARAMETER = re.compile(
    r"[(,]\s*(?P<type>(?:(?:const|struct|class|typename|unsigned)\s+)*[A-Za-z_][\w:]*"
    r"(?:<[^;{}()]*>)?(?:::\w+)?(?:\s+const)?(?:&&?|\*+(?:\s*const)?)?)\s+"
    r"(?P<name>[a-z_][a-z0-9_]*)\s*(?=[,)=](?!=))")
NO_TYPE = frozenset(
    "return co_return co_await co_yield throw delete new case goto else using sizeof".split())


STATEMENT = re.compile(r"\b(if|for|while|switch|catch)\s*(constexpr)?\s*$")


def is_in_a_statement(bare, place):
    """Reports whether the match declares the variable of an `if` or a loop."""
    return bare[place] == "(" and STATEMENT.search(bare, max(0, place - 20), place) is not None


def parameters(code):
    """Yields (type, name) of each parameter, as far as the text shows."""
    bare = blanked_code(code)
    yield from ((found["type"].strip(), found["name"]) for found in parameter_matches(bare))


def parameter_matches(bare, place=0, end=None):
    """Yields the matches of PARAMETER that declare a parameter, in blanked code."""
    while found := PARAMETER.search(bare, place, len(bare) if end is None else end):
        if found["type"].split()[0] not in NO_TYPE and not is_in_a_statement(bare, found.start()):
            yield found
        place = found.end("name")


def is_function_word(type_name, name):
    return name in WORDS and not (name == "now" and "time" in type_name)


def counts(root):
    """Returns for each folder the number of parameters, and of function words among them."""
    every, bad = Counter(), Counter()
    for path in files(root, CPP_SUFFIXES, ("include", "lib", "src")):
        for type_name, name in parameters(read(root, path)):
            every[str(path.parent)] += 1
            bad[str(path.parent)] += is_function_word(type_name, name)
    return every, bad


def breaches(root):
    if not (root / LIST).is_file():
        return
    every, bad = counts(root)
    listed = {}
    for number, line in enumerate(read(root, LIST).splitlines(), 1):
        if line and not line.startswith("#"):
            count, folder = line.split()
            listed[folder] = (int(count), number)
    for folder in sorted(set(every) | set(listed)):
        limit, number = listed.get(folder, (0, 1))
        if bad[folder] > limit:
            yield Breach(folder, 1, f"{bad[folder]} parameters are function words, over {limit}; "
                                    "name each by what it holds")
        elif bad[folder] < limit:
            yield Breach(LIST, number, f"{folder} has {bad[folder]} now, not {limit}; lower it by "
                                       "tools/function_words.py")
