# SPDX-License-Identifier: Apache-2.0
"""Does what a Dockerfile says, in folders that serve as roots, so that a machine without docker tests it too. It
knows the instructions that packaging/docker/Dockerfile uses and refuses others."""

import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

# proc and a tmpfs exist in a mount namespace of their own, and end with it.
ENTER = ('root=$1; where=$2; user=$3; shift 3; mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/dev/shm" '
         '&& exec chroot ${user:+"--userspec=$user:$user"} "$root" sh -c \'cd "$0" && exec "$@"\' "$where" "$@"')
VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def instructions_of(text):
    """(line, word, rest) of each instruction; a backslash continues a line, and comments are left out."""
    text = re.sub(r"^#.*\n", lambda found: "\n", text, flags=re.M)
    line = 1
    for found in re.finditer(r"((?:.*\\\n)*.*)\n", text):
        words = found[1].replace("\\\n", " ").strip()
        if words:
            word, _, rest = words.partition(" ")
            yield line, word, rest.strip()
        line += found[0].count("\n")


class Stage:
    """A root, and what USER, WORKDIR, ENTRYPOINT and CMD have said."""

    def __init__(self, root, like=None):
        self.root = root
        self.user = like.user if like else ""
        self.workdir = like.workdir if like else "/"
        self.entrypoint, self.cmd = (like.entrypoint, like.cmd) if like else ([], [])

    def run(self, command, user=None, offline=False):
        """Runs a command in the root; returns what it printed."""
        user = self.user if user is None else user
        kept = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive", "HOME": f"/home/{user}" if user else "/root", **kept}
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if offline else []),
                               "sh", "-c", ENTER, "enter", self.root, self.workdir, user, *command], env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        if done.returncode != 0:
            raise SystemExit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout[-4000:]}")
        return done.stdout

    def started(self, *arguments):
        """What `docker run IMAGE ARGUMENTS` prints."""
        return self.run([*self.entrypoint, *(arguments or self.cmd)])

    def inside(self, path):
        return self.root / path.lstrip("/")


class Builder:
    """Builds the stages of a Dockerfile one after the other; `images` are roots by the name of an image, and
    `source` is a folder with the files of the context."""

    def __init__(self, images, source, folder, say=print):
        self.images, self.source, self.folder, self.say = images, source, folder, say
        self.stages = {}

    def build(self, path):
        stage = None
        for line, word, rest in instructions_of(path.read_text()):
            self.say(f"{path.name}:{line}: {word} {rest[:80]}")
            if word == "FROM":
                image, _, name = re.fullmatch(r"(\S+)( AS (\S+))?", rest).groups()
                stage = self.stages[name] = self.begin(image, name)
            elif word == "RUN":
                stage.run(["sh", "-c", rest])
            elif word == "COPY":
                self.copy(stage, shlex.split(rest))
            elif word == "WORKDIR":
                stage.workdir = rest
                stage.inside(rest).mkdir(parents=True, exist_ok=True)
            elif word == "USER":
                stage.user = rest
            elif word in ("ENTRYPOINT", "CMD"):
                setattr(stage, word.lower(), json.loads(rest))
            else:
                raise SystemExit(f"{path}:{line}: unknown instruction {word}")
        return self.stages

    def begin(self, image, name):
        before = self.stages.get(image)
        if not before and image not in self.images:
            raise SystemExit(f"no image {image}; there are {', '.join(self.images)}")
        root = self.folder / name
        subprocess.run(["cp", "-a", "--reflink=auto", before.root if before else self.images[image], root], check=True)
        return Stage(root, before)

    def copy(self, stage, words):
        source = self.source
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0)[7:]].root
        *patterns, target = words
        folder = stage.inside(target)
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in patterns:
            found = sorted(glob.glob(str(pathlib.Path(source, pattern.lstrip("/")))))
            if not found:
                raise SystemExit(f"COPY: nothing is called {pattern}")
            for path in map(pathlib.Path, found):
                if path.is_dir():
                    shutil.copytree(path, folder, symlinks=True, dirs_exist_ok=True)
                else:
                    shutil.copy2(path, folder)
