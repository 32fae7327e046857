# SPDX-License-Identifier: Apache-2.0
"""Reads the blocks of a page in Markdown. README.md says what each kind of block means."""

import dataclasses
import re

FENCE = re.compile(r"^(?P<indent> *)```(?P<word>[^\s`]*)\s*$")
NOT_RUN = re.compile(r"^\s*<!-- not run: (.+) -->\s*$")
SAME_AS = re.compile(r"^\s*<!-- same as (\S+) -->\s*$")
NAMED = re.compile(r"`([\w./-]+)`:\s*$")
ENDINGS = {"c": (".c", ".h"), "cpp": (".cpp", ".hpp"), "python": (".py",)}
# The only things that a reader may need and that this test does not have.
NOT_HERE = re.compile(r"\bmake\b|\bpip install\b|\bsudo\b|\bcuda\b|\bnvcc\b|\bCUDA\b|\bgit clone\b"
                      r"|\bdocker\b|\bssh\b|\bmpirun\b|\btaskglass serve\b")  # another machine; a server, which does not end

COMMANDS = ("sh", "console")
OUTPUTS = ("text", "json")
PROGRAMS = ("c", "cpp", "python")


class Bad(Exception):
    """What is wrong with a page, with the number of the line."""

    def __init__(self, line, text):
        super().__init__(f"{line}: {text}")


@dataclasses.dataclass
class Block:
    word: str  # after the fence; "" for a picture
    text: str
    line: int  # of its first line within the page
    name: str = ""  # the file that it is
    not_run: str = ""  # the reason
    same_as: str = ""  # the file of the tree that it shows


def finish(block, above):
    """Adds to a block what the lines between it and the block before it say."""
    last = ""
    for line in above:
        if found := NOT_RUN.match(line):
            block.not_run = found[1]
        elif found := SAME_AS.match(line):
            block.same_as = found[1]
        elif line.strip():
            last = line
    if (found := NAMED.search(last)) and block.word not in (*COMMANDS, *OUTPUTS, ""):
        # Prose before a program may end in a word that is no file: "and `.execution`:".
        block.name = found[1] if found[1].endswith(ENDINGS.get(block.word, "")) else ""
    if block.not_run and not NOT_HERE.search(block.text):
        raise Bad(block.line, "only blocks that need make, root, a GPU, an MPI or another machine, or do not end, "
                              "may be left out")
    if block.word == "" and re.search(r"^\s*\$ ", block.text, re.MULTILINE):
        raise Bad(block.line, "a block with commands needs a word after its fence: console or sh")
    if block.word not in (*COMMANDS, *OUTPUTS, *PROGRAMS, "") and not block.name:
        raise Bad(block.line, f"a block of {block.word} is a file; its name stands above it, as in `NAME`:")


def blocks_of(text):
    """The blocks of a page in order. Blocks that are indented and not fenced are refused, since nothing
    says what they are."""
    blocks, above, block, indent = [], [], None, ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence and fence["word"] == "":
                block.text = "".join(block.lines)
                finish(block, above)
                blocks.append(block)
                block, above = None, []
            else:
                block.lines.append(line.removeprefix(indent) + "\n")
        elif fence:
            indent = fence["indent"]
            block = Block(fence["word"], "", number + 1)
            block.lines = []
        elif line.startswith("```") or line.startswith("~~~"):
            raise Bad(number, f"a fence is ``` and one word, not {line}")
        elif line.startswith("    ") and above and not above[-1].strip():
            # The second paragraph of an entry of a list is indented less than this.
            raise Bad(number, "a block needs a fence, ```sh for example")
        else:
            above.append(line)
    if block is not None:
        raise Bad(block.line, "this block has no end")
    return blocks


@dataclasses.dataclass
class Command:
    text: str
    line: int
    shown: str = None  # the output that the page shows; None: none
    code: int = 0  # the exit code that the page names; None: the next command prints it


def is_whole(text, bash_accepts):
    """True if the lines are whole commands: no open quote, no open here-document, no \\ at the end."""
    if text.rstrip("\n").endswith("\\"):
        return False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for word in re.findall(r"<<-?\s*['\"]?(\w+)['\"]?", line):
            if word not in (later.strip() for later in lines[number + 1:]):
                return False
    return bash_accepts(text)


def expected_code(text):
    found = re.search(r"#.*\bexit code (\d+)", text)
    return int(found[1]) if found else 0


def commands_of(block, bash_accepts):
    """The commands of a block of the kind sh or console."""
    commands, open_command = [], None
    for number, line in enumerate(block.text.rstrip("\n").split("\n"), block.line):
        if open_command is not None:
            open_command.text += "\n" + line.removeprefix("> " if block.word == "console" else "")
        elif block.word == "console" and not line.startswith("$ "):
            if not commands:
                raise Bad(number, "a block of console begins with a command: $ taskglass …")
            commands[-1].shown = (commands[-1].shown or "") + line + "\n"
            continue
        elif block.word == "sh" and line.startswith("$ "):
            raise Bad(number, "commands of a block of sh have no $; ```console has them")
        elif line.strip() == "" or line.startswith("#"):
            continue
        else:
            open_command = Command(line.removeprefix("$ ") if block.word == "console" else line, number)
        if is_whole(open_command.text, bash_accepts):
            open_command.code = expected_code(open_command.text)
            commands.append(open_command)
            open_command = None
    if open_command is not None:
        raise Bad(open_command.line, "this command has no end")
    for command, after in zip(commands, commands[1:]):
        if after.text.split("#")[0].strip() == "echo $?":
            command.code = None
    return commands
