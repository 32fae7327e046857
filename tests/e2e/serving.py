# SPDX-License-Identifier: Apache-2.0
"""Starts `taskglass serve` for a test, and asks it as a browser would."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import time
import urllib.parse

import pytest

from conftest import BUILD, PROGRAM, TIMEOUT, clean_environment

SERVER = BUILD / "lib" / "taskglass" / "taskglass-serve"
needs_server = pytest.mark.skipif(not SERVER.exists(), reason="built without libmicrohttpd")

#: What a browser sends with a request of the page itself.
FETCH = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}


def until(is_so):
    """Waits for what must become true; returns it."""
    end = time.monotonic() + TIMEOUT
    while not (seen := is_so()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return seen


def is_alive(pid):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


class Client:
    """Asks the server at an address."""

    def __init__(self, address, port):
        self.address, self.port = address, port
        self.base = urllib.parse.urlsplit(address).path

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)

    def get(self, path, headers=FETCH, method="GET", base=None, host=None):
        """Asks for a path below the token, or below `base`."""
        with contextlib.closing(self.connect()) as connection:
            connection.putrequest(method, (self.base if base is None else base) + path, skip_host=True,
                                  skip_accept_encoding=True)
            connection.putheader("Host", f"127.0.0.1:{self.port}" if host is None else host)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            return Answer(connection.getresponse())

    def api(self, request, **parameters):
        words = urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
        return self.get(f"api/{request}?{words}" if words else f"api/{request}")

    def ask(self, request, **parameters):
        """The JSON of a request that must succeed."""
        answer = self.api(request, **parameters)
        assert answer.status == 200, answer.text
        assert answer.headers["Content-Type"] == "application/json"
        return answer.json()

    def job(self, **parameters):
        """Asks a question and waits for its end."""
        job = self.ask("ask", **parameters)
        return until(lambda: (seen := self.ask("job", job=job["job"]))["state"] != "working" and seen)

    @contextlib.contextmanager
    def events(self, run):
        """Yields an iterator of (event, data)."""
        with contextlib.closing(self.connect()) as connection:
            connection.request("GET", f"{self.base}events?run={urllib.parse.quote(run)}", headers=FETCH)
            response = connection.getresponse()
            assert response.status == 200 and response.headers["Content-Type"] == "text/event-stream"
            yield read_events(response)


def read_events(stream):
    name = None
    for line in stream:
        word, _, value = line.decode().rstrip("\n").partition(": ")
        if word == "event":
            name = value
        elif word == "data":
            yield name, json.loads(value)


class Server(Client):
    """`taskglass serve` in the directory of `tg`; ends with the test."""

    def __init__(self, tg, *args, env=None):
        self.process = subprocess.Popen([PROGRAM, "serve", *map(str, args), "--json"], cwd=tg.directory,
                                        env=clean_environment(**(env or {})), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        document = "".join(iter(self.process.stdout.readline, "}\n")) + "}"
        self.said = json.loads(document)
        self.pid = self.said["pid"]
        super().__init__(self.said["address"], self.said["port"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGINT):
        """Ends the command, and returns its exit code and what it wrote on standard error."""
        self.process.send_signal(number)
        stderr = self.process.communicate(timeout=TIMEOUT)[1]
        return self.process.returncode, stderr


class Direct(Client):
    """The server's program itself, as the library starts it, with any program in the place of the command line."""

    def __init__(self, directory, program, path, env=None):
        life, self.life = os.pipe()
        self.process = subprocess.Popen([SERVER, str(os.getpid()), "0", "", str(program), str(path)],
                                        cwd=directory, env=clean_environment(**(env or {})), stdin=life,
                                        stdout=subprocess.PIPE, text=True)
        os.close(life)
        word, port, address = self.process.stdout.readline().split()
        assert word == "ready"
        super().__init__(address, int(port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.life)
        self.process.communicate(timeout=TIMEOUT)
        assert self.process.returncode == 0
