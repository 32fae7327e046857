# SPDX-License-Identifier: Apache-2.0
"""taskglass.serve, and the page of a recording in a cell of a notebook."""

import gc
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
import taskglass

from conftest import BUILD, TIMEOUT

SERVER = BUILD / "lib" / "taskglass" / "taskglass-serve"
needs_server = pytest.mark.skipif(not SERVER.exists(), reason="built without libmicrohttpd")


def until(is_so):
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(pid):
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def recorded(directory):
    taskglass.run("matmul_chain", dump_tensor="full", output="outputs/one")
    return directory / "outputs/one"


def ask(server, request):
    with urllib.request.urlopen(server.address + request, timeout=TIMEOUT) as answer:
        return answer.read()


@needs_server
def test_a_server_shows_the_runs_until_it_is_stopped(recorded):
    server = taskglass.serve()
    assert [run["name"] for run in json.loads(ask(server, "api/runs"))["runs"]] == ["one"]
    assert f":{server.port}/" in server.address and is_alive(server.pid) and not server.closed
    server.stop()
    server.stop()
    assert server.closed and not is_alive(server.pid) and repr(server) == "<Server, stopped>"
    with pytest.raises(urllib.error.URLError):
        ask(server, "api/runs")


@needs_server
def test_a_server_ends_with_its_block_and_with_its_last_reference(recorded):
    with taskglass.serve(recorded) as server:
        assert json.loads(ask(server, "api/runs"))["only"] == "one"
    assert not is_alive(server.pid)
    server = taskglass.serve(recorded)
    pid = server.pid
    del server
    gc.collect()
    assert not is_alive(pid)


@needs_server
def test_a_server_ends_with_the_program(recorded):
    text = "import os, taskglass; print(taskglass.serve().pid, flush=True); os._exit(0)"
    said = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(taskglass.__file__).parents[1])})
    until(lambda: not is_alive(int(said.stdout)))


@needs_server
def test_two_runs_are_compared(recorded):
    taskglass.run("matmul_chain", dump_tensor="full", output="outputs/two")
    with taskglass.serve(recorded, "outputs/two") as server:
        assert json.loads(ask(server, "api/runs"))["compare"]


@needs_server
def test_questions_find_the_program_beside_the_library(recorded):
    with taskglass.serve() as server:
        assert json.loads(ask(server, "api/questions"))


@needs_server
def test_a_notebook_shows_a_link_that_opens_elsewhere(recorded):
    with taskglass.serve() as server:
        shown = server._repr_html_()
        assert f'<a href="{server.address}" target="_blank" rel="noopener noreferrer">' in shown
    assert server.address not in server._repr_html_()


@needs_server
def test_open_starts_the_browser(recorded, directory, monkeypatch):
    browser = directory / "browser"
    browser.write_text('#!/bin/sh\ncp "$1" seen.new\nmv seen.new seen\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with taskglass.serve(open=True) as server:
        until((directory / "seen").exists)
        assert server.address in (directory / "seen").read_text()
    monkeypatch.setenv("BROWSER", "./no-such-browser")
    with pytest.raises(taskglass.NotFound, match="no-such-browser"):
        taskglass.serve(open=True)


@needs_server
def test_what_cannot_be_served_is_an_error(recorded):
    with pytest.raises(taskglass.NotFound):
        taskglass.serve("nowhere")
    with pytest.raises(taskglass.BadArgument):
        taskglass.serve(None, "outputs/one")
    for port in (-1, 65536, "80"):
        with pytest.raises((taskglass.BadArgument, taskglass.BadType)):
            taskglass.serve(port=port)
    with taskglass.serve() as server, pytest.raises(taskglass.Busy, match=f"port {server.port} is in use"):
        taskglass.serve(port=server.port)


@pytest.mark.skipif(SERVER.exists(), reason="this build has a server")
def test_a_build_without_a_server_says_what_to_install(recorded):
    with pytest.raises(taskglass.Unsupported, match="libmicrohttpd-dev"):
        taskglass.serve()


def test_a_recording_shows_its_page_in_a_frame_of_its_own(recorded):
    with taskglass.Recording(recorded) as recording:
        page = recording.show(height=500)
    shown = page._repr_html_()
    frame = re.fullmatch(r'<iframe sandbox="allow-scripts" title="[^"]*" style="[^"]*height: 500px[^"]*" '
                         r'srcdoc="([^"]*)"></iframe>', shown)
    assert html.unescape(frame[1]) == page.document
    assert page.document.lower().startswith("<!doctype html>")
    with pytest.raises(taskglass.BadArgument):
        taskglass.Recording(recorded).show(height=5)


def test_a_page_can_be_written(recorded, directory):
    seen = []
    with taskglass.Recording(recorded) as recording:
        written = recording.write_page("page.html", progress=lambda done, total: seen.append((done, total)))
        assert written.path == pathlib.Path("page.html") and written.bytes == (directory / "page.html").stat().st_size
        assert written.tensors > 0 and written.left_out == 0 and seen
        with pytest.raises(taskglass.BadArgument):
            recording.write_page("page.html")
        assert recording.write_page("page.html", overwrite=True).bytes == written.bytes
        with pytest.raises(ZeroDivisionError):
            recording.write_page("other.html", progress=lambda done, total: 1 // 0)
        assert not (directory / "other.html").exists()
