#!/usr/bin/env python3
"""Writes the typed C++ commands of a generic netlink family: ynl_to_cpp.py SPEC > HEADER.

SPEC is a YNL specification (genetlink, genetlink-c or genetlink-legacy, as the kernel's
Documentation/netlink has them). HEADER stands on strata's library alone, in a namespace of the
family's name. It is formatted where there is a clang-format.
"""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

import yaml

STYLE = ("{BasedOnStyle: Google, Standard: Latest, ColumnLimit: 100, PointerAlignment: Left, "
         "DerivePointerAlignment: false}")
PROTOCOLS = ("genetlink", "genetlink-c", "genetlink-legacy")
NUMBERS = {f"{sign}{bits}": f"std::{'u' if sign == 'u' else ''}int{bits}_t"
           for sign in "us" for bits in (8, 16, 32, 64)}
ANY_NUMBERS = {"uint": ("std::uint32_t", "std::uint64_t"),
               "sint": ("std::int32_t", "std::int64_t")}
PADDING = ("pad", "unused")
ARRAYS = ("indexed-array", "array-nest", "nest-type-value")
BYTES = ("binary", "sub-message", "struct")
KEYWORDS = set("""alignas alignof and asm auto bitand bitor bool break case catch char class compl
concept const consteval constexpr constinit continue decltype default delete do double else enum
explicit export extern false float for friend goto if inline int long mutable namespace new
noexcept not nullptr operator or private protected public register requires return short signed
sizeof static struct switch template this throw true try typedef typeid typename union unsigned
using virtual void volatile while xor""".split())
OF_VIEWS = {"attributes", "has", "first", "all", "elements", "parse", "command", "view"}
OF_WRITERS = {"to", "bytes", "ask", "ask_for", "ask_for_ack", "dump", "for_each", "request",
              "writer"}
OF_CLIENT = {"open", "open_as", "on", "over", "family_id", "join", "client"}
OF_NAMESPACE = {"typed", "client", "family_name", "family_version", "groups", "std", "strata"}


def refuse(what):
    sys.exit(f"ynl_to_cpp: {what}")


def snake(name, taken=frozenset()):
    word = re.sub(r"\W", "_", str(name), flags=re.ASCII).lower()
    word = "_" + word if word[:1].isdigit() else word
    return word + "_" if word in KEYWORDS or word in taken else word


def comment(text):
    """Lines of a documenting comment; none when there is nothing to say."""
    words = " ".join(str(text or "").split()).replace("\\", "/")
    return [f"/// {line}" for line in textwrap.wrap(words, 90)]


@dataclass
class Message:
    number: int
    attributes: list


@dataclass
class Operation:
    name: str
    doc: str
    set: str
    do: tuple = None     # of a request, and a reply or None
    dump: tuple = None
    event: Message = None


@dataclass
class Spec:
    """A specification with its numbers worked out."""
    name: str
    doc: str
    version: int
    constants: list
    enums: dict
    sets: dict = field(default_factory=dict)
    operations: list = field(default_factory=list)
    groups: list = field(default_factory=list)


def numbered_entries(definition):
    """(name, value, doc) of each; of flags the value is a bit."""
    is_flags = definition["type"] == "flags"
    value = definition.get("value-start", 0)
    for entry in definition.get("entries", []):
        entry = entry if isinstance(entry, dict) else {"name": entry}
        value = entry.get("value", value)
        if not isinstance(value, int) or not 0 <= value < (64 if is_flags else 1 << 63):
            refuse(f"the value of '{entry['name']}' in '{definition['name']}' cannot be {value}")
        yield entry["name"], 1 << value if is_flags else value, entry.get("doc")
        value += 1


def numbered_set(node, done):
    """By name; each attribute has its number as 'value'."""
    above = done.get(node.get("subset-of"))
    if "subset-of" in node and above is None:
        refuse(f"'{node['subset-of']}', of which '{node['name']}' is a subset, is to stand "
               "before it")
    found, value = {}, 1
    for each in node.get("attributes", []):
        if above is not None:
            if each["name"] not in above:
                refuse(f"'{each['name']}' is not in '{node['subset-of']}'")
            found[each["name"]] = {**above[each["name"]], **each}
            continue
        value = each.get("value", value)
        if not isinstance(value, int) or not 0 <= value <= 0x3FFF:
            refuse(f"the number of '{each['name']}' cannot be {value}")
        found[each["name"]] = {**each, "value": value}
        value += 1
    return found


class Numbering:
    """Numbers of messages: all count together, or requests on their own."""

    def __init__(self, is_directional):
        self.is_directional = is_directional
        self.next = {"request": 1, "reply": 1}

    def take(self, side, said):
        number = self.next[side] if said is None else said
        if not isinstance(number, int) or not 0 <= number <= 255:
            refuse(f"the number of an operation cannot be {number}")
        self.next[side] = number + 1
        return number

    def read(self, node):
        made = Operation(node["name"], node.get("doc"), node.get("attribute-set"))
        own = node.get("value")
        last = {}
        if not self.is_directional:
            last = dict.fromkeys(("request", "reply"), self.take("request", own))

        def number(side, message):
            if self.is_directional and (side not in last or "value" in message):
                last[side] = self.take(side, message.get("value"))
            return last[side]

        if "event" in node or "notify" in node:
            event = node.get("event") or {}
            if own is not None and self.is_directional:
                event = {**event, "value": own}
            made.event = Message(number("reply", event), event.get("attributes", []))
        for how in ("do", "dump"):
            if how in node:
                request, reply = node[how].get("request") or {}, node[how].get("reply")
                asked = Message(number("request", request), request.get("attributes", []))
                told = reply if reply is None else Message(number("reply", reply),
                                                           reply.get("attributes", []))
                setattr(made, how, (asked, told))
        return made


def read_spec(tree):
    """Of what YAML gives."""
    if tree.get("protocol", PROTOCOLS[0]) not in PROTOCOLS:
        refuse(f"its protocol is '{tree['protocol']}', and should be one of {PROTOCOLS}")
    definitions = tree.get("definitions", [])
    made = Spec(tree["name"], tree.get("doc"), tree.get("version", 1),
                [each for each in definitions if each["type"] == "const"],
                {each["name"]: each for each in definitions if each["type"] in ("enum", "flags")})
    for node in tree.get("attribute-sets", []):
        made.sets[node["name"]] = numbered_set(node, made.sets)
    operations = tree["operations"]
    if "fixed-header" in operations:
        refuse("its messages begin with a fixed header, which typed commands do not know")
    numbering = Numbering(operations.get("enum-model", "unified") == "directional")
    by_name = {}
    for node in operations["list"]:
        by_name[node["name"]] = numbering.read(node)
    for node in operations["list"]:
        if "notify" in node:
            one, told = by_name[node["name"]], by_name[node["notify"]]
            one.set = one.set or told.set
            one.event.attributes = told.do[1].attributes if told.do and told.do[1] else []
    made.operations = list(by_name.values())
    made.groups = [each["name"] for each in (tree.get("mcast-groups") or {}).get("list", [])]
    return made


class Header:
    """The text of a header, in parts that each stand on those before it."""

    def __init__(self, spec):
        self.spec = spec
        self.space = snake(spec.name)
        self.names = set()

    def name(self, word, suffix=""):
        """A name of the namespace's."""
        made = snake(word, OF_NAMESPACE if not suffix else ()) + suffix
        if made in self.names:
            refuse(f"two things of '{self.spec.name}' would be called {made}")
        self.names.add(made)
        return made

    def scalar(self, attribute, kind):
        """The form, and the type of its value."""
        if kind in NUMBERS:
            order = ", std::endian::big" if attribute.get("byte-order") == "big-endian" else ""
            form, value = f"typed::number<{NUMBERS[kind]}{order}>", NUMBERS[kind]
        elif kind in ANY_NUMBERS:
            narrow, value = ANY_NUMBERS[kind]
            form = f"typed::any_number<{narrow}, {value}>"
        elif kind == "string":
            return "typed::text", "std::string_view"
        elif kind in BYTES:
            return "typed::bytes", "strata::byte_span"
        elif kind == "bitfield32":
            return "typed::bits", "typed::bitfield32"
        else:
            refuse(f"'{attribute['name']}' has the type '{kind}', which nothing is known of")
        definition = self.spec.enums.get(attribute.get("enum"))
        if "enum" in attribute and definition is None:
            refuse(f"there is no enum '{attribute['enum']}'")
        if not definition or definition["type"] == "flags" or attribute.get("enum-as-flags"):
            return form, value
        enum = f"{self.space}::{snake(definition['name'], OF_NAMESPACE)}"
        return f"typed::named<{enum}, {form}>", enum

    def set_class(self, name, suffix):
        if name not in self.spec.sets:
            refuse(f"there is no attribute set '{name}'")
        return snake(name) + suffix

    def form(self, attribute):
        """Of what is read: the form, and the type of its value."""
        kind = attribute["type"]
        if kind == "nest":
            view = self.set_class(attribute["nested-attributes"], "_view")
            return f"typed::nest<{view}>", view
        if kind not in ARRAYS:
            return self.scalar(attribute, kind)
        element = self.element(attribute)
        for _ in attribute.get("type-value", [])[1:]:
            element = f"typed::keyed<typed::array<{element}>>"
        return f"typed::array<{element}>", f"typed::range<{element}>"

    def element(self, attribute):
        kind = attribute.get("sub-type", "nest")
        if kind != "nest":
            return self.scalar(attribute, kind)[0]
        form = f"typed::nest<{self.set_class(attribute['nested-attributes'], '_view')}>"
        return f"typed::keyed<{form}>" if attribute["type"] == "nest-type-value" else form

    def attributes_of(self, set_name, names=None):
        found = self.spec.sets.get(set_name, {})
        for name in found if names is None else dict.fromkeys(names):
            if name not in found:
                refuse(f"'{name}' is no attribute of '{set_name}'")
            if found[name]["type"] not in PADDING:
                yield found[name]

    def accessors(self, owner, attributes):
        """Of a view: their declarations, and what is defined when all classes are known."""
        lines, later = [], []
        for each in attributes:
            name, number = snake(each["name"], OF_VIEWS), each["value"]
            lines += comment(each.get("doc"))
            if each["type"] == "flag":
                lines.append(f"[[nodiscard]] bool {name}() const {{ return has({number}); }}")
                continue
            form, value = self.form(each)
            if each.get("multi-attr"):
                lines.append(f"[[nodiscard]] typed::range<{form}> {name}() const "
                             f"{{ return all<{form}>({number}); }}")
            elif each["type"] in ARRAYS:
                element = form.removeprefix("typed::array<").removesuffix(">")
                lines.append(f"[[nodiscard]] {value} {name}() const "
                             f"{{ return elements<{element}>({number}); }}")
            elif each["type"] == "nest":
                lines.append(f"[[nodiscard]] std::optional<{value}> {name}() const;")
                later += [f"inline std::optional<{value}> {owner}::{name}() const {{",
                          f"return first<{form}>({number});", "}"]
            else:
                lines.append(f"[[nodiscard]] std::optional<{value}> {name}() const "
                             f"{{ return first<{form}>({number}); }}")
        return lines, later

    def setters(self, owner, attributes):
        """Of a request, or of what writes into a nest."""
        lines = []
        for each in attributes:
            name, number, kind = snake(each["name"], OF_WRITERS), each["value"], each["type"]
            if kind == "nest-type-value":
                continue
            more = "; may be there many times" if each.get("multi-attr") else ""
            lines += comment(f"{each.get('doc', '')}{more}".removeprefix("; "))
            if kind == "nest" or (kind in ARRAYS and each.get("sub-type", "nest") == "nest"):
                within = self.set_class(each["nested-attributes"], "_writer")
                within = within if kind == "nest" else f"typed::array_writer<{within}>"
                lines += [f"template <std::invocable<{within}&> Fill>",
                          f"{owner}& {name}(Fill&& fill) {{",
                          f"typed::write_nest<{within}>(to(), {number}, "
                          "std::forward<Fill>(fill));"]
            elif kind in ARRAYS:
                form, value = self.scalar(each, each["sub-type"])
                lines += [f"{owner}& {name}(std::span<const {value}> what) {{",
                          f"typed::write_elements<{form}>(to(), {number}, what);"]
            elif kind == "flag":
                lines += [f"{owner}& {name}() {{", f"to().put({number}, {{}});"]
            else:
                form, value = self.scalar(each, kind)
                lines += [f"{owner}& {name}({value} what) {{",
                          f"{form}::write(to(), {number}, what);"]
            lines += ["return *this;", "}"]
        return lines

    def view_class(self, name, doc, attributes, number=None):
        lines, later = self.accessors(name, attributes)
        head = [*comment(doc), f"class {name} : public typed::view {{", "public:"]
        if number is not None:
            head += [f"static constexpr std::uint8_t command = {number};"]
        head += ["using view::view;"]
        if number is not None:
            head += ["/// nullopt when it is another message.",
                     f"[[nodiscard]] static std::optional<{name}> parse(",
                     "const strata::wire::netlink_message& from) {",
                     f"return typed::parse<{name}>(from);", "}"]
        return [*head, *lines, "};", ""], later

    def request_class(self, operation, how):
        asked, told = getattr(operation, how)
        name = self.name(operation.name, "_request" if how == "do" else "_dump_request")
        flags = ("strata::wire::netlink_flag::dump" if how == "dump" else
                 "0" if told else "strata::wire::netlink_flag::ack")
        says = json.dumps(f"{'call' if how == 'do' else 'dump'} {operation.name} of "
                          f"{self.spec.name}")
        lines = [*comment(operation.doc), f"class {name} : public typed::request {{", "public:",
                 f"{name}(strata::nl::connection& over, std::uint16_t family)",
                 f": request(over, family, {flags}, {asked.number}, family_version) {{}}",
                 *self.setters(name, self.attributes_of(operation.set, asked.attributes))]
        reply = snake(operation.name) + "_reply"
        if how == "do" and told:
            lines += [f"[[nodiscard]] strata::result<{reply}> ask() {{",
                      f"return ask_for<{reply}>({says});", "}"]
        elif how == "do":
            lines += ["[[nodiscard]] strata::result<void> ask() {",
                      f"return ask_for_ack({says});", "}"]
        else:
            lines += ["/// Hands each message over, which is valid until the next.",
                      f"template <std::invocable<const {reply}&> Each>",
                      "[[nodiscard]] strata::result<void> for_each(Each&& each) {",
                      f"return dump<{reply}>({says}, std::forward<Each>(each));", "}"]
        return [*lines, "};", ""]

    def reply_class(self, operation):
        """One for both: what a message does not have is nullopt. Most families give both one
        number."""
        told = [each[1] for each in (operation.do, operation.dump) if each and each[1]]
        if not told and not operation.dump:
            return [], []
        numbers = {each.number for each in told} or {operation.dump[0].number}
        if len(numbers) > 1:
            refuse(f"the do and the dump of '{operation.name}' answer with different numbers")
        names = [name for each in told for name in each.attributes]
        return self.view_class(self.name(operation.name, "_reply"), operation.doc,
                               self.attributes_of(operation.set, names), numbers.pop())

    def definitions(self):
        lines = []
        for each in self.spec.constants:
            value = each["value"]
            kind = ("std::string_view" if isinstance(value, str) else
                    "std::int64_t" if value < 0 else "std::uint64_t")
            lines += comment(each.get("doc"))
            lines += [f"constexpr {kind} {self.name(each['name'])} = {json.dumps(value)};", ""]
        for each in self.spec.enums.values():
            entries = list(numbered_entries(each))
            width = 64 if any(value >= 1 << 32 for _, value, _ in entries) else 32
            kind = f"std::uint{width}_t"
            name = self.name(each["name"])
            lines += comment(each.get("doc"))
            # Flags are put together, as numbers.
            is_flags = each["type"] == "flags"
            lines.append(f"namespace {name} {{" if is_flags else f"enum class {name} : {kind} {{")
            for entry, value, doc in entries:
                lines += comment(doc)
                lines.append(f"constexpr {kind} {snake(entry)} = {value:#x};" if is_flags else
                             f"{snake(entry)} = {value},")
            lines += [f"}}  // namespace {name}" if is_flags else "};", ""]
        if self.spec.groups:
            lines += ["/// Multicast groups, to join.", "namespace groups {"]
            lines += [f"constexpr std::string_view {snake(each)} = {json.dumps(each)};"
                      for each in self.spec.groups]
            lines += ["}  // namespace groups", ""]
        return lines

    def nested_sets(self, messages):
        """Names of the sets that stand in nests of the messages, and of those in them."""
        found = {}
        waiting = [each for set_name, names in messages
                   for each in self.attributes_of(set_name, names)]
        while waiting:
            name = waiting.pop().get("nested-attributes")
            if name is not None and name not in found:
                found[name] = True
                waiting += self.attributes_of(name)
        return list(found)

    def views(self):
        messages = [(each.set, one.attributes) for each in self.spec.operations
                    for one in (each.do and each.do[1], each.dump and each.dump[1], each.event)
                    if one]
        nested = self.nested_sets(messages)
        parts = []
        for name in nested:
            parts.append(self.view_class(self.name(name, "_view"), f"The set '{name}'.",
                                         self.attributes_of(name)))
        for each in self.spec.operations:
            parts.append(self.reply_class(each))
            if each.event:
                parts.append(self.view_class(self.name(each.name, "_notification"), each.doc,
                                             self.attributes_of(each.set, each.event.attributes),
                                             each.event.number))
        lines = [f"class {self.set_class(name, '_view')};" for name in nested]
        return [*lines, "", *(line for part, _ in parts for line in part),
                *(line for _, later in parts for line in later), ""]

    def writers(self):
        nested = self.nested_sets([(each.set, one[0].attributes) for each in self.spec.operations
                                   for one in (each.do, each.dump) if one])
        lines = [f"class {self.set_class(name, '_writer')};" for name in nested]
        for each in nested:
            name = self.name(each, "_writer")
            lines += ["", f"class {name} : public typed::writer {{", "public:",
                      "using writer::writer;", *self.setters(name, self.attributes_of(each)), "};"]
        return [*lines, ""]

    def requests(self):
        return [line for each in self.spec.operations for how in ("do", "dump")
                if getattr(each, how) for line in self.request_class(each, how)]

    def client(self):
        lines = ["/// A connection to the family; each call begins a request, which is sent by its",
                 "/// `ask` or `for_each`.",
                 "class client : public typed::client {", "public:", "using typed::client::client;",
                 "/// Errors: not_found, when this kernel has no such family.",
                 "[[nodiscard]] static strata::result<client> open(",
                 "const strata::nl::connection_options& options = {},",
                 "std::string_view family = family_name) {",
                 "return open_as<client>(family, options);", "}"]
        for each in self.spec.operations:
            for how, prefix, suffix in (("do", "", "_request"), ("dump", "dump_", "_dump_request")):
                if getattr(each, how):
                    kind, name = snake(each.name) + suffix, snake(prefix + each.name, OF_CLIENT)
                    lines += [*comment(each.doc), f"[[nodiscard]] {kind} {name}() {{",
                              "return {over(), family_id()};", "}"]
        return [*lines, "};", ""]

    def text(self, source):
        lines = [f"// Made by ynl_to_cpp.py from {source}: change that, not this.", "#pragma once",
                 "", *(f"#include <{each}>" for each in
                       ("bit", "concepts", "cstdint", "optional", "span", "string_view",
                        "utility")),
                 "", '#include "strata/nl/typed.hpp"', "",
                 *comment(self.spec.doc), f"namespace {self.space} {{",
                 "", "namespace typed = strata::nl::typed;", "",
                 f"constexpr std::string_view family_name = {json.dumps(self.spec.name)};",
                 f"constexpr std::uint8_t family_version = {int(self.spec.version)};", "",
                 *self.definitions(), *self.views(), *self.writers(), *self.requests(),
                 *self.client(), f"}}  // namespace {self.space}", ""]
        return "\n".join(lines)


def formatted(text):
    program = shutil.which("clang-format-19") or shutil.which("clang-format")
    if program is None:
        return text
    done = subprocess.run([program, f"--style={STYLE}"], input=text, text=True, check=True,
                          stdout=subprocess.PIPE)
    return done.stdout


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    source = sys.argv[1]
    try:
        with open(source, encoding="utf-8") as file:
            tree = yaml.safe_load(file)
        text = Header(read_spec(tree)).text(source.rsplit("/", 1)[-1])
    except (OSError, yaml.YAMLError) as why:
        refuse(f"cannot read {source}: {why}")
    except (KeyError, TypeError, ValueError, AttributeError) as why:
        refuse(f"{source} is not in the form of a specification: {type(why).__name__}: {why}")
    sys.stdout.write(formatted(text))


if __name__ == "__main__":
    main()
