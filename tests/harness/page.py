"""Follows a page of docs/ as its reader does. The page's blocks are fenced, and the text after the
fence says what a block is:

    ```console            what a terminal shows: a prompt, a command, its output. One prompt
                          is one terminal, unless the test says that two are the same.
    ```console there#     what the terminal with the prompt `there# ` has printed meanwhile
    ```c hello.c          a part of a file; all its parts on the page make up the file

In the output, `<anything>` stands for text that differs between runs, and for the same text within
one block; a line `…` stands for any lines. Runs of spaces count as one space.
"""

import re
import time

BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^((?:\w+)?[#$]) (.*)$")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE = 120  # seconds; a guest is emulated


class Step:
    """A command (or None) at a prompt, and the lines that it prints."""

    def __init__(self, prompt, command):
        self.prompt, self.command, self.printed = prompt, command, []


def steps(text):
    for kind, rest, body in BLOCK.findall(text):
        if kind != "console":
            continue
        step = Step(rest, None) if rest else None
        for line in body.splitlines():
            found = COMMAND.match(line)
            if found:
                if step:
                    yield step
                step = Step(*found.groups())
            else:
                step.printed.append(line)
        yield step


def files(text):
    """Returns the content of each file on the page: its parts, with a blank line between them."""
    parts = {}
    for kind, name, body in BLOCK.findall(text):
        if kind != "console" and name:
            parts.setdefault(name, []).append(body)
    return {name: "\n".join(each) for name, each in parts.items()}


def pattern(lines):
    """Returns a regular expression for the text that these lines of a page describe."""
    named = {}

    def placeholder(found):
        known = named.setdefault(found[0], f"n{len(named)}")
        return f"(?P={known})" if f"(?P<{known}>" in seen else f"(?P<{known}>.+?)"

    seen = ""
    for line in lines:
        if line == "…":
            seen += r"(?:[^\n]*\n)*?"
            continue
        for piece in re.split(r"(<[^<>]+>)", " ".join(line.split())):
            match = re.fullmatch(r"<[^<>]+>", piece)
            seen += placeholder(match) if match else re.escape(piece)
        seen += "\n"
    return seen


def shown(terminal):
    terminal.read()
    text = CONTROL.sub("", re.sub(r"\r+\n", "\n", terminal.screen.decode(errors="replace")))
    return text.replace("\r", "")


def plain(text):
    """Returns the text with each run of spaces as one space, and none at a line's ends."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


class Reader:
    """Types the page's commands into `terminals`, by prompt; a terminal may have two prompts."""

    def __init__(self, terminals, patience=PATIENCE):
        self.terminals, self.patience = terminals, patience
        self.read_to = {id(each): 0 for each in terminals.values()}  # position in its text
        self.awaited = {id(each): [] for each in terminals.values()}

    def follow(self, text):
        for step in steps(text):
            terminal = self.terminals[step.prompt]
            if step.command is not None:
                self.await_prompt(terminal, [step.prompt])
                terminal.type(f"{step.command}\n".encode())
                self.awaited[id(terminal)] = [step.command]
            self.awaited[id(terminal)] += step.printed
            # Waits for the output before the next terminal continues.
            self.await_text(terminal, pattern(self.awaited[id(terminal)]))
        for terminal in {id(each): each for each in self.terminals.values()}.values():
            self.await_prompt(terminal, self.prompts_of(terminal))

    def prompts_of(self, terminal):
        return [prompt for prompt, each in self.terminals.items() if each is terminal]

    def await_prompt(self, terminal, prompts):
        """Waits until the command has ended. It must have printed only what the page says."""
        awaited = pattern(self.awaited[id(terminal)])
        self.await_text(terminal, f"{awaited}(?:{'|'.join(map(re.escape, prompts))})$")
        self.read_to[id(terminal)] = len(shown(terminal))
        self.awaited[id(terminal)] = []

    def await_text(self, terminal, wanted):
        deadline = time.monotonic() + self.patience
        while True:
            said = plain(shown(terminal)[self.read_to[id(terminal)]:])
            if re.match(wanted, said):
                return
            ended = said.rpartition("\n")[2] in self.prompts_of(terminal) and "\n" in said
            assert not ended and time.monotonic() < deadline, (
                f"the page says\n{self.awaited[id(terminal)]}\nand the terminal shows\n{said}")
            time.sleep(0.02)
