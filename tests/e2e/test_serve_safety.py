# SPDX-License-Identifier: Apache-2.0
"""Who gets an answer from `taskglass serve`, and what the others can do to it: nothing."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import socket
import subprocess

import pytest

from conftest import BUILD, TIMEOUT, Runner, one_line
from inert import HOSTILE, check_inert
from platforms import SANITIZED
from serving import FETCH, SERVER, Server, is_alive, needs_server, until
from test_serve import first_tensor
from test_top import ENDLESS, Job

pytestmark = [needs_server, pytest.mark.every_case]
ROOT = pathlib.Path(__file__).parents[2]

SAFE = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"}
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data: blob:",
          "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A directory with a recording, for tests that only read it."""
    tg = Runner(tmp_path_factory.mktemp("served"))
    tg.good("run", "matmul_chain", "--dump-tensor", "--deps", "--output", "outputs/one")
    (tg.directory / "secret").write_text("secret words")
    return tg


@pytest.fixture(scope="module")
def server(runs):
    with Server(runs) as server:
        yield server
        assert server.get("").status == 200  # whatever the tests did to it
        assert is_alive(server.pid)


def raw(server, data, end=True):
    """Sends bytes; returns the status of the first answer (0: none) and everything that came."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        with contextlib.suppress(OSError):  # a server that has hung up: ECONNRESET, EPIPE or ENOTCONN
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                got += piece
    return int(got.split()[1]) if got.startswith(b"HTTP/") else 0, got


def head(server, path, *lines, method="GET", host="127.0.0.1", version="HTTP/1.1"):
    words = [f"{method} {path} {version}", *([f"Host: {host}"] if host is not None else []), *lines,
             "Connection: close"]
    return "\r\n".join([*words, "", ""]).encode()


# --- the token -----------------------------------------------------------------------------------

def test_each_server_has_another_token_of_128_bits(runs, server):
    with Server(runs) as other:
        tokens = {client.base.strip("/") for client in (server, other)}
    assert len(tokens) == 2 and all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)


def test_without_the_token_every_address_gets_the_same_answer(server):
    token = server.base.strip("/")
    wrong = ["/", "/api/runs", "/index.html", "/favicon.ico", f"/{token[:-1]}/", f"/{token}0/", f"/{token.upper()}A/",
             f"/{'0' * 32}/api/runs", f"//{token}/", f"/%{ord(token[0]):02x}{token[1:]}/", f"/x/{token}/",
             f"/?{token}", f"/.{token}/"]
    answers = {(answer.status, answer.body, tuple(name for name in answer.headers if name != "Date"))
               for answer in (server.get(path, base="") for path in wrong)}
    assert len(answers) == 1 and next(iter(answers))[:2] == (404, b"not found\n")


def test_a_token_is_compared_in_the_same_time_wherever_it_differs():
    """By the text of the function: it has no way out of its loop."""
    source = (ROOT / "src/serve/judge.c").read_text()
    body = re.search(r"^bool serve_is_equal\(.*?^}", source, re.M | re.S)[0]
    assert body.count("return") == 1 and not re.search(r"\b(if|break|goto|memcmp|strcmp)\b", body)
    assert "serve_is_equal(address + 1, rules->token, SERVE_TOKEN_CHARACTERS)" in source
    assert source.count("rules->token") == 1


def test_the_token_is_on_no_command_line_and_in_no_variable(runs, server):
    token = server.base.strip("/").encode()
    server.job(verb="verify", run="one")
    for pid in (server.pid, server.process.pid):
        for file in ("cmdline", "environ"):
            assert token not in pathlib.Path(f"/proc/{pid}/{file}").read_bytes()


# --- where it listens ----------------------------------------------------------------------------

def listening(port):
    """The addresses on which somebody listens on this port, as the kernel writes them."""
    found = set()
    for file in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/net/{file}").read_text().splitlines()[1:]:
                local, state = line.split()[1], line.split()[3]
                if state == "0A" and int(local.split(":")[1], 16) == port:
                    found.add(local.split(":")[0])
    return found


def test_it_listens_on_loopback_alone(server):
    assert listening(server.port) <= {"0100007F", "00000000000000000000000001000000"}
    assert "0100007F" in listening(server.port)


def test_another_address_is_listened_on_only_with_a_warning(runs):
    server = Server(runs, "--host", "0.0.0.0")
    assert listening(server.port) == {"00000000"}
    assert server.get("", host="127.0.0.1").status == server.get("", host="10.1.2.3:80").status == 200
    assert server.get("", host="evil.example").status == 403
    code, stderr = server.end()
    assert code == 0 and one_line(stderr) and "warning: --host 0.0.0.0" in stderr


def test_all_addresses_of_ipv6_are_those_of_ipv4_too(runs):
    if not pathlib.Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    server = Server(runs, "--host", "::")
    assert server.get("", host="127.0.0.1").status == 200
    server.end()


# --- the host and other sites --------------------------------------------------------------------

@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:9999", "[::1]:80", "LOCALHOST:1"])
def test_a_name_of_loopback_is_answered_with_any_port(server, host):
    assert server.get("api/runs", host=host).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "0.0.0.0", "",
                                  "127.0.0.1:80:80", "user@127.0.0.1", "[::ffff:127.0.0.1]", "2130706433"])
def test_a_name_that_was_made_to_lead_here_is_refused(server, host):
    """DNS rebinding: the stranger's page has the stranger's name, also in the header Host."""
    answer = server.get("api/runs", host=host)
    assert answer.status == 403 and one_line(answer.text)


def test_a_request_has_one_host(server):
    path = server.base + "api/runs"
    assert raw(server, head(server, path, host=None))[0] in (400, 403)
    assert raw(server, head(server, path, host=None, version="HTTP/1.0"))[0] in (400, 403)
    assert raw(server, head(server, path, "Host: evil.example"))[0] in (400, 403)
    assert raw(server, head(server, path))[0] == 200


@pytest.mark.parametrize("headers", [
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"},
    {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}])
@pytest.mark.parametrize("path", ["", "app.js", "api/runs", "api/ask?verb=verify&run=one", "events?run=one"])
def test_pages_of_other_sites_are_refused(server, path, headers):
    answer = server.get(path, headers=headers)
    assert answer.status == 403 and one_line(answer.text)


def test_a_link_of_another_site_leads_to_the_page_alone(server):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert server.get("", headers=link).status == 200
    assert server.get("api/runs", headers=link).status == 403


def test_the_page_itself_and_programs_are_answered(server):
    for headers in (FETCH, {}, {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
                    {"Origin": f"http://127.0.0.1:{server.port}"}):
        assert server.get("api/runs", headers=headers).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "BREW"])
def test_only_get_and_head_are_answered(server, method):
    answer = server.get("api/runs", method=method)
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
    assert server.get("api/runs", method=method, base="/x/").status == 404


@pytest.mark.parametrize("lines, body", [(["Content-Length: 5"], b"hello"), (["Content-Length: 99999999999"], b""),
                                         (["Transfer-Encoding: chunked"], b"5\r\nhello\r\n0\r\n\r\n")])
def test_a_body_is_refused(server, lines, body):
    assert raw(server, head(server, server.base + "api/runs", *lines) + body)[0] in (400, 413)


# --- headers of answers --------------------------------------------------------------------------

def test_every_answer_has_the_headers_that_keep_it_inert(server):
    for path, base, method in (("", None, "GET"), ("app.js", None, "GET"), ("api/runs", None, "GET"),
                               ("api/timeline?run=one", None, "GET"), ("api/npy?run=one&record=6", None, "GET"),
                               ("api/nonsense", None, "GET"), ("api/questions", None, "GET"),
                               ("api/job?job=9", None, "GET"), ("events?run=one", None, "GET"), ("", "/x", "GET"),
                               ("", None, "POST"), ("nothing", None, "GET")):
        answer = server.get(path, base=base, method=method)
        assert {name: answer.headers[name] for name in SAFE} == SAFE, path
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
        assert policy == POLICY, path
        assert "Access-Control-Allow-Origin" not in answer.headers and "Set-Cookie" not in answer.headers
        assert "Server" not in answer.headers


# --- paths ---------------------------------------------------------------------------------------

TRAVERSALS = ["../secret", "..%2fsecret", "%2e%2e/secret", "%2e%2e%2fsecret", "..%5csecret", "%252e%252e%252fsecret",
              "..%c0%afsecret", "....//secret", ".%00./secret", "//etc/passwd", "/etc/passwd", "%2fetc%2fpasswd",
              "file:///etc/passwd", "one/../../secret", "one%2f..%2f..%2fsecret", "outputs/one", "."]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_recordings(server, path):
    for place in ("", "api/"):
        status, got = raw(server, head(server, server.base + place + path))
        assert status in (400, 404) and b"secret words" not in got and b"root:" not in got
    for name in ("run", "timeline", "explain", "ask?verb=verify&run"):
        separator = "=" if "?" in name else "?run="
        answer = server.get(f"api/{name}{separator}{path}")
        assert answer.status in (400, 404) and "secret words" not in answer.text and "root:" not in answer.text
    assert server.get(f"events?run={path}").status in (400, 404)


# --- limits --------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [8192, 9000, 40000, 1000000])
def test_a_giant_address_is_refused(server, size):
    assert raw(server, head(server, server.base + "api/runs?x=" + "a" * size))[0] in (400, 413, 414, 431, 0)
    assert server.get("api/runs").status == 200


def test_giant_headers_are_refused(server):
    for lines in (["X: " + "a" * 100000], [f"X{i}: {'b' * 100}" for i in range(2000)]):
        assert raw(server, head(server, server.base + "api/runs", *lines))[0] in (400, 413, 431, 0)
    assert server.get("api/runs").status == 200


GARBAGE = [b"", b"\r\n\r\n", b"\0" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /\x80\xff HTTP/1.1\r\n\r\n",
           b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", os.urandom(5000), b"GET " + b"/" * 60000,
           b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n: x\r\n\r\n",
           b"GET / HTTP/1.1\r\n" + b" folded: x\r\n" * 10 + b"\r\n"]


@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_what_is_not_http_harms_nothing(server, number):
    status, got = raw(server, GARBAGE[number])
    assert status in (0, 400, 403, 404, 413, 414, 431, 505) and b"Traceback" not in got
    assert server.get("api/runs").status == 200


@pytest.mark.parametrize("request_text", [
    "run", "run?", "run?run", "run?run=one&run=one", "run?run=%zz", "run?run=%00", "run?x=1", "nothing", "",
    "tensor?run=one", "tensor?run=one&record=-1", "tensor?run=one&record=99999999999999999999",
    "tensor?run=one&record=1e5", "records?run=one&first=0&count=100000000",
    "heatmap?run=one&record=6&rows=9&cols=0&at=0&level=0&row=0&col=0", "values?run=one&record=6&row=-1",
    "heatmap?run=one&record=6&rows=0&cols=1&at=0,0&level=4000000000&row=0&col=0",
    "histogram?run=one&record=6&bins=1000000000", "run?" + "&".join(f"p{i}=1" for i in range(100))])
def test_nonsense_is_refused_in_one_sentence(server, request_text):
    answer = server.get("api/" + request_text)
    assert answer.status in (400, 404, 409, 413), answer.text
    error = answer.json()["error"]
    assert error["status"] and error["text"] and "\n" not in error["text"]


def test_whoever_holds_connections_without_the_token_keeps_nobody_out(runs):
    with Server(runs) as server, contextlib.ExitStack() as stack:
        for number in range(400):
            connection = stack.enter_context(contextlib.closing(socket.socket()))
            connection.settimeout(TIMEOUT)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(b"GET /" if number % 2 else b"")
        assert until(lambda: answers(server))


def test_strangers_leave_room_for_new_connections(runs):
    with Server(runs) as server, contextlib.ExitStack() as stack:
        alone = threads(server)
        strangers = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT))
                     for _ in range(300)]
        until(lambda: sum(map(is_open, strangers)) <= 112 and threads(server) <= alone + 112)
        assert sum(map(is_open, strangers)) > 90  # they had to go for others, not because their time was over
        assert [server.get("api/runs").status for _ in range(16)] == [200] * 16


def threads(server):
    return len(os.listdir(f"/proc/{server.pid}/task"))


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def answers(server):
    """One attempt may be among those that are closed for others."""
    with contextlib.suppress(OSError, ValueError):
        return server.get("api/runs").status == 200
    return False


def test_clients_that_do_not_read_hold_up_nobody(runs):
    tensor = next(record for record in json.loads(runs.good("view", "outputs/one", "--json").stdout)["records"]
                  if record["kind"] == "tensor")
    with Server(runs) as server, contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            for _ in range(50):
                connection.sendall(head(server, f"{server.base}api/npy?run=one&record={tensor['index']}")
                                   .replace(b"Connection: close\r\n", b""))
        assert server.get("api/runs").status == 200


def test_streams_of_events_are_counted(runs):
    with Job(runs, *ENDLESS, output="live") as job:
        job.until(lambda answer: answer["phase"] == "running")
        with Server(runs, "live") as server, contextlib.ExitStack() as stack:
            key = server.ask("runs")["only"]
            for _ in range(16):
                next(stack.enter_context(server.events(key)))
            refused = server.get(f"events?run={key}")
            assert refused.status == 503 and refused.json()["error"]["status"] == "BUSY"
            assert server.get("api/runs").status == 200


@pytest.mark.skipif(SANITIZED, reason="a sanitizer takes memory of its own")
def test_answers_that_nobody_takes_fill_no_memory(runs):
    """Every connection asks for the timeline again and again, and reads nothing."""
    with Server(runs) as server, contextlib.ExitStack() as stack:
        for _ in range(60):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            for _ in range(100):
                connection.sendall(head(server, f"{server.base}api/timeline?run=one")
                                   .replace(b"Connection: close\r\n", b""))
        assert server.get("api/runs").status == 200
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        assert int(re.search(r"VmRSS:\s+(\d+)", status)[1]) < 300 * 1024


def test_without_descriptors_it_goes_on(runs):
    """Connections that find none are closed or wait; the others are answered again when there are some."""
    with Server(runs) as server:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (24, 24))
        with contextlib.ExitStack() as stack:
            for _ in range(40):
                connection = stack.enter_context(contextlib.closing(socket.socket()))
                connection.connect(("127.0.0.1", server.port))
        assert until(lambda: answers(server))


# --- hostile recordings --------------------------------------------------------------------------

MARKUP = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def test_names_of_a_hostile_recording_stay_text(tg):
    """In answers of JSON, which no browser takes for a page, and clean."""
    tg.good("run", "matmul_chain", "--dump-tensor", "--deps", "--output", "outputs/one")
    report = tg.directory / "outputs/one/run.json"
    document = json.loads(report.read_text())
    for key in ("workload", "case"):
        document[key] = MARKUP + HOSTILE
    report.write_text(json.dumps(document))
    os.rename(tg.directory / "outputs/one", tg.directory / "outputs" / (MARKUP.replace("/", "") + "é\x1b[31m"))
    with Server(tg) as server:
        runs = server.api("runs")
        assert runs.headers["Content-Type"] == "application/json" and runs.headers["X-Content-Type-Options"] == "nosniff"
        check_inert(runs.body)
        key = runs.json()["runs"][0]["key"]
        for name in ("run", "explain"):
            answer = server.api(name, run=key)
            assert answer.headers["Content-Type"] == "application/json"
            check_inert(answer.body)
        job = server.job(verb="verify", run=key)
        assert job["exit"] == 0 and job["command"].isprintable()


def test_a_download_has_a_plain_name(tg):
    tg.good("run", "vector_add", "--dump-tensor", "--output", 'outputs/a"b\r\nX-Evil: 1')
    with Server(tg) as server:
        key = server.ask("runs")["runs"][0]["key"]
        answer = server.api("npy", run=key, record=first_tensor(server, key)["index"])
        assert answer.status == 200 and answer.headers["X-Evil"] is None
        assert re.fullmatch(r'attachment; filename="[\w.+-]+"', answer.headers["Content-Disposition"])


@pytest.mark.parametrize("damage", ["cut", "zeros", "noise"])
def test_a_damaged_recording_is_an_answer_and_no_crash(tg, damage):
    tg.good("run", "matmul_chain", "--dump-tensor", "--deps", "--output", "outputs/one")
    for path in (tg.directory / "outputs/one").rglob("*"):
        if path.is_file() and path.stat().st_size > 100:
            data = path.read_bytes()
            half = len(data) // 2
            path.write_bytes({"cut": data[:half], "zeros": data[:half] + b"\0" * half,
                              "noise": data[:half] + os.urandom(half)}[damage])
    with Server(tg) as server:
        for run in server.ask("runs")["runs"]:
            for name in ("run", "timeline", "edges", "records", "rings", "explain"):
                assert server.api(name, run=run["key"]).status in (200, 400, 409, 500)
            for record in range(8):
                for name in ("tensor", "stats", "npy"):
                    server.api(name, run=run["key"], record=record)
        assert server.get("").status == 200


def test_a_file_that_shrinks_while_it_is_sent_ends_the_answer(tg):
    """Its length was promised before, so that the client sees that something is missing."""
    tg.good("run", "matmul_chain", "--case", "large", "--dump-tensor", "--output", "outputs/one")
    with Server(tg) as server:
        record = max((record for record in server.ask("records", run="one", count=500)["records"]
                      if record["kind"] == "tensor"), key=lambda record: record["bytes"])
        connection = server.connect()
        connection.request("GET", f"{server.base}api/npy?run=one&record={record['index']}")
        os.truncate(tg.directory / "outputs/one/tensor_dump/tensor_dump.bin", 0)
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection.getresponse().read()
        connection.close()
        assert server.get("").status == 200


# --- modules -------------------------------------------------------------------------------------

def test_the_page_loads_no_module_that_the_user_has_not_run(tg, tmp_path):
    """A recording names a module that leaves a mark when it is loaded; no question loads it."""
    module = tmp_path / "mine.so"
    module.write_bytes((BUILD / "lib/taskglass/workloads/matmul_chain.so").read_bytes() +
                       os.urandom(16))
    tg.good("run", "./mine.so", "--dump-tensor", "--deps", "--output", "outputs/one")
    with Server(tg, env={"XDG_STATE_HOME": "/proc/nowhere/state"}) as server:
        for verb, what in (("check", ""), ("find", "unwritten"), ("find", "stomp")):
            job = server.job(verb=verb, run="one", **({"what": what} if what else {}))
            if verb == "check":
                assert job["exit"] == 2 and "NOT_TRUSTED" in job["text"], job
                assert job["answer"]["result"] == "not known"
        for name in ("module", "device-program", "against", "platform"):
            assert server.api("ask", verb="check", run="one", **{name: str(module)}).status == 400


def test_no_message_of_the_library_goes_to_the_users_terminal(runs):
    server = Server(runs)
    for data in GARBAGE:
        raw(server, data)
    assert server.end() == (0, "")


def test_the_program_says_who_starts_it():
    done = subprocess.run([SERVER], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 2 and one_line(done.stderr) and "taskglass serve" in done.stderr
