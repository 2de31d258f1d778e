"""Static files over HTTP: compressed, long, kept in memory, and with the additions of the
options."""

import gzip
import json
import os
import re

import pytest

from strata_daemon import eventually
from web_site import DIGITS, PAGE, Answer, ask, curl, open_socket, request, serve, status_of, talk


# --- compression ---------------------------------------------------------------------------------


def test_text_is_compressed_for_those_who_take_it(daemon, site):
    url = serve(daemon, site)
    plain = (site / "style.css").read_bytes()
    tags = set()
    for accepted, is_compressed in [
            ("gzip", True), ("gzip, deflate, br", True), ("*", True), ("GZIP;q=0.5", True),
            ("", False), ("gzip;q=0", False), ("gzip;q=0.5, identity;q=0.6", False),
            ("identity;q=0, gzip", True), ("br", False), ("*;q=0", False), ("gzip;q=2", False)]:
        answer = ask(url, "/style.css", f"Accept-Encoding: {accepted}")
        assert (answer.fields.get("content-encoding") == "gzip") == is_compressed, accepted
        assert answer.fields["vary"] == "Accept-Encoding"
        body = gzip.decompress(answer.body) if is_compressed else answer.body
        assert body == plain
        tags.add((is_compressed, answer.fields["etag"]))
    assert len({tag for _, tag in tags}) == 2 == len(tags)
    assert curl(url, "/style.css", "--compressed") == plain
    ranged = ask(url, "/style.css", "Accept-Encoding: gzip", "Range: bytes=0-4")
    assert (ranged.status, ranged.body) == (206, plain[:5])
    binary = ask(url, "/digits.bin", "Accept-Encoding: gzip")
    assert "content-encoding" not in binary.fields and "vary" not in binary.fields


def test_long_text_is_compressed_as_it_goes(daemon, site):
    long = b"".join(b"line %d\n" % i for i in range(200_000))
    (site / "long.txt").write_bytes(long)
    url = serve(daemon, site)
    for _ in range(2):  # the second may be served from memory
        assert curl(url, "/long.txt", "--compressed") == long
    assert curl(url, "/long.txt") == long
    (site / "long.txt").write_bytes(long[:100_000])
    assert curl(url, "/long.txt", "--compressed") == long[:100_000]


def test_files_compressed_beforehand_are_taken(daemon, site):
    (site / "style.css.gz").write_bytes(gzip.compress(b"by gzip"))
    (site / "style.css.br").write_bytes(b"by brotli")
    url = serve(daemon, site)
    for accepted, coding in [("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0.5, gzip", "gzip"),
                             ("gzip;q=0.3, br;q=0.4", "br"), ("br", "br")]:
        answer = ask(url, "/style.css", f"Accept-Encoding: {accepted}")
        assert answer.fields["content-encoding"] == coding, accepted
        assert answer.fields["content-type"] == "text/css; charset=utf-8"
    os.utime(site / "style.css.br", (1, 1))  # older than its source
    assert ask(url, "/style.css", "Accept-Encoding: br").body == (site / "style.css").read_bytes()


# --- long files ----------------------------------------------------------------------------------


def test_a_long_file_reaches_slow_readers_and_takes_no_memory(daemon, site):
    with open(site / "long", "wb") as file:
        for i in range(64):
            file.write(bytes([i]) * (1 << 20))
    url = serve(daemon, site)
    assert curl(url, "/long") == (site / "long").read_bytes()
    before = daemon.resident_mib()
    slow = [open_socket(url) for _ in range(10)]
    for each in slow:
        each.sendall(request("/long"))
    assert curl(url, "/long", "-r", "1048576-1048580") == b"\x01" * 5
    assert daemon.resident_mib() - before < 64
    for each in slow:
        each.close()


def test_a_file_that_shrinks_while_it_is_sent_ends_the_connection(daemon, site):
    size = 64 << 20
    with open(site / "long", "wb") as file:
        file.truncate(size)
    url = serve(daemon, site)
    with open_socket(url) as raw:
        raw.sendall(request("/long"))
        got = len(raw.recv(1000))
        os.truncate(site / "long", 1000)
        try:
            while more := raw.recv(1 << 20):
                got += len(more)
        except ConnectionResetError:
            pass
    assert got < size
    assert len(curl(url, "/long")) == 1000


def test_a_file_that_grows_while_it_is_sent_is_sent_as_it_was(daemon, site):
    size = 32 << 20
    (site / "long").write_bytes(b"a" * size)
    url = serve(daemon, site)
    with open_socket(url) as raw:
        raw.sendall(request("/long", "Connection: close"))
        got = raw.recv(1000)
        with open(site / "long", "ab") as file:
            file.write(b"b" * 1000)
        while more := raw.recv(1 << 20):
            got += more
    body = got.partition(b"\r\n\r\n")[2]
    assert len(body) == size and body.count(b"a") == size


def test_hundreds_of_pipelined_requests_are_answered_in_order(daemon, site):
    for i in range(20):
        (site / f"{i}.txt").write_bytes(b"<%d>" % i * (i * 100 + 1))
    url = serve(daemon, site)
    requests = b"".join(request(f"/{i % 20}.txt") for i in range(500))
    answers = talk(url, requests + request("/empty", "Connection: close"))
    for i in range(500):
        head, _, answers = answers.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])
        assert answers[:length] == b"<%d>" % (i % 20) * (i % 20 * 100 + 1)
        answers = answers[length:]
    assert answers.startswith(b"HTTP/1.1 200 ") and answers.endswith(b"\r\n\r\n")


# --- what the options add ------------------------------------------------------------------------


def test_listing(daemon, site):
    name = "<b>&\"'.txt"
    (site / "sub" / name).write_bytes(b"12345")
    (site / "sub" / "deep" / "x").write_bytes(b"x")
    (site / "sub" / ".hidden").write_bytes(b"x")
    (site / "sub" / "out").symlink_to("/etc/passwd")
    url = serve(daemon, site, http_listing=True)
    assert curl(url, "/sub/") == b"sub"
    (site / "sub" / "index.html").unlink()
    page = curl(url, "/sub/").decode()
    assert "<b>&" not in page and "&lt;b&gt;&amp;&quot;&#39;.txt" in page
    assert "hidden" not in page and ">out<" not in page
    assert page.index("deep/") < page.index("&lt;b&gt;") < page.index("page.txt")
    [link] = re.findall(r'href="\./(%3Cb[^"]*)"', page)
    assert curl(url, "/sub/" + link) == b"12345"
    listed = json.loads(curl(url, "/sub/", "-H", "Accept: application/json"))
    assert [(item["name"], item["type"], item.get("size")) for item in listed["items"]] == [
        ("deep", "folder", None), (name, "file", 5), ("page.txt", "file", 4)]


@pytest.mark.parametrize("name", ["line\nfeed", "backend\\slash", "carriage\rreturn", "tab\t",
                                  "a%20b?c#d", "quote\"'<", "\x7f", "\\\\evil.example"])
def test_names_of_any_bytes_are_listed_and_fetched(daemon, site, name):
    (site / "odd").mkdir()
    (site / "odd" / name).write_text("content")
    url = serve(daemon, site, http_listing=True)
    [listed] = json.loads(ask(url, "/odd/", "Accept: application/json").body)["items"]
    assert listed["name"] == name
    [link] = re.findall(r'href="\./([^"]*)"', ask(url, "/odd/").body.decode())
    assert ask(url, f"/odd/{link}").body == b"content"


def test_without_listing_a_folder_is_not_shown(daemon, site):
    url = serve(daemon, site)
    assert ask(url, "/sub/deep/").status == 404


def test_fallback(daemon, site):
    url = serve(daemon, site, http_fallback="index.html")
    answer = ask(url, "/app/route/5", "Accept: text/html,application/xhtml+xml")
    assert (answer.status, answer.body) == (200, PAGE)
    for accept in ["Accept: */*", "Accept: image/png", "Accept: text/html;q=0", "X: y"]:
        assert ask(url, "/app/route/5", accept).status == 404, accept
    assert ask(url, "/../x", "Accept: text/html").status == 400


def test_header_fields_are_on_all_answers(daemon, site):
    url = serve(daemon, site, http_header=["Cache-Control: max-age=60", "X-Frame-Options:DENY"])
    for target in ["/", "/nothing", "/../x", "/sub"]:
        answer = ask(url, target)
        assert answer.fields["cache-control"] == "max-age=60"
        assert answer.fields["x-frame-options"] == "DENY"


def test_cors(daemon, site):
    url = serve(daemon, site, cors=["https://one.example", "https://two.example"])
    allowed = ask(url, "/", "Origin: https://two.example")
    assert allowed.fields["access-control-allow-origin"] == "https://two.example"
    assert allowed.fields["access-control-allow-credentials"] == "true"
    assert allowed.fields["vary"] == "Origin"  # the last of two
    for origin in ["https://three.example", "https://one.example.evil", "null", "*"]:
        refused = ask(url, "/", f"Origin: {origin}")
        assert not any(name.startswith("access-control") for name in refused.fields), origin
    asked = ask(url, "/", "Origin: https://one.example", "Access-Control-Request-Method: GET",
                "Access-Control-Request-Headers: x-a, x-b", method="OPTIONS")
    assert asked.status == 204
    assert asked.fields["access-control-allow-headers"] == "x-a, x-b"
    assert asked.fields["access-control-allow-methods"] == "GET, HEAD"
    assert asked.fields["access-control-allow-origin"] == "https://one.example"


def test_cors_for_all_is_without_credentials(daemon, site):
    url = serve(daemon, site, cors=["*"])
    answer = ask(url, "/", "Origin: https://any.example")
    assert answer.fields["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.fields


@pytest.mark.parametrize("form", ["combined", "json"])
def test_access_log(daemon, site, tmp_path, form):
    log = tmp_path / "access.log"
    url = serve(daemon, site, http_log=str(log), http_log_format=form)
    curl(url, "/digits.bin", "-A", 'a"b\\c', "-e", "http://before/")
    ask(url, "/nothing", "User-Agent: \xff")
    eventually(lambda: log.exists() and log.read_bytes().count(b"\n") == 2, "two lines")
    first, second = log.read_bytes().decode("ascii").splitlines()
    if form == "json":
        line = json.loads(first)
        assert (line["method"], line["target"], line["status"], line["bytes"]) == (
            "GET", "/digits.bin", 200, 10000)
        assert line["referer"] == "http://before/" and line["client"] == "127.0.0.1"
        assert (line["protocol"], line["user_agent"]) == ("HTTP/1.1", 'a"b\\c')
        assert line["duration_ms"] >= 0, "the names are those of a proxy's log"
        assert json.loads(second)["status"] == 404
    else:
        assert re.fullmatch(
            r'127\.0\.0\.1 - - \[[^]]+ \+0000\] "GET /digits\.bin HTTP/1\.1" 200 10000 '
            r'"http://before/" "a\\x22b\\x5Cc"', first), first
        assert '"GET /nothing HTTP/1.1" 404 ' in second and second.endswith('"\\xFF"')


@pytest.mark.parametrize("form", ["combined", "json"])
def test_malformed_requests_are_logged_and_counted(daemon, site, tmp_path, form):
    log = tmp_path / "access.log"
    url = serve(daemon, site, http_log=str(log), http_log_format=form)
    hostile = {400: b"GET / HTTP/1.1\r\nno field \x1b[2J\r\n\r\n",
               414: b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
               431: b"GET / HTTP/1.1\r\nHost: x\r\nx: " + b"y" * 100_000 + b"\r\n\r\n"}
    statuses = []
    for each in hostile.values():
        answer = Answer(talk(url, each))
        statuses.append(answer.status)
        assert answer.status in (400, 414, 431)
    assert 400 in statuses and 431 in statuses
    curl(url, "/digits.bin")
    eventually(lambda: log.read_bytes().count(b"\n") == 4, "a line for each")
    *refused, good = log.read_bytes().decode("ascii").splitlines()
    assert "digits.bin" in good
    for status, line in zip(statuses, refused):
        if form == "json":
            shown = json.loads(line)
            assert (shown["status"], shown["method"], shown["target"]) == (status, "", "")
            assert shown["client"] == "127.0.0.1" and shown["bytes"] > 0
        else:
            shape = r'127\.0\.0\.1 - - \[[^]]+\] "-" %d \d+ "-" "-"' % status
            assert re.fullmatch(shape, line), line
    counted = daemon.stats("web")["http"]
    assert counted["requests"] == 4 and counted["answers"]["4xx"] == 3


def test_inject(daemon, site):
    (site / "bare.html").write_bytes(b"no head")
    plain = serve(daemon, site)
    tag = ask(plain, "/").fields["etag"]
    daemon.remove("web")
    url = serve(daemon, site, http_inject=True)
    answer = ask(url, "/", "Range: bytes=0-5")
    assert answer.status == 200 and answer.fields["etag"] != tag
    before, after = answer.body.split(b"</head>")
    assert b"window.strata" in before and after == PAGE.split(b"</head>")[1]
    assert answer.fields["content-length"] == str(len(answer.body))
    assert ask(url, "/bare.html").body.startswith(b"no head<script>")
    assert curl(url, "/digits.bin") == DIGITS
    (site / "long.html").write_bytes(PAGE * 100)
    compressed = ask(url, "/long.html", "Accept-Encoding: gzip")
    assert gzip.decompress(compressed.body).count(b"window.strata") == 1


@pytest.mark.parametrize("size", ["64K", 0])
def test_what_is_kept_in_memory_is_what_the_files_are(daemon, site, size):
    url = serve(daemon, site, http_cache=True, http_cache_size=65536 if size else 0)
    for _ in range(3):
        assert curl(url, "/") == PAGE
        assert curl(url, "/digits.bin") == DIGITS
        assert curl(url, "/style.css", "--compressed") == (site / "style.css").read_bytes()
        assert ask(url, "/digits.bin", "Range: bytes=5-9").body == b"56789"
        assert ask(url, "/digits.bin", "Range: bytes=0-1,5-9").status == 206
        for i in range(30):
            (site / f"{i}.txt").write_bytes(b"%d" % i * 3000)
            assert curl(url, f"/{i}.txt") == b"%d" % i * 3000
    (site / "digits.bin").write_bytes(b"changed")
    (site / "index.html").unlink()
    eventually(lambda: curl(url, "/digits.bin") == b"changed", "the change is seen")
    eventually(lambda: status_of(url, "/") == 404, "the file is gone")


def test_messages_and_files_share_a_port(daemon, site):
    url = serve(daemon, site, http_messages=True)
    assert curl(url, "/") == PAGE
    assert status_of(url, "/", "-d", "hello") == 204
    assert status_of(url, "/digits.bin", "-d", "hello") == 405


def test_answers_are_counted_by_class(daemon, site):
    url = serve(daemon, site)
    for path, count in [("/", 3), ("/sub", 2), ("/nothing", 1)]:
        for _ in range(count):
            status_of(url, path)
    counted = daemon.stats("web")["http"]
    assert counted["requests"] == 6
    assert counted["answers"] == {"1xx": 0, "2xx": 3, "3xx": 2, "4xx": 1, "5xx": 0}


def test_what_cannot_get_smaller_is_sent_compressed_and_not_kept(daemon, site):
    noise = os.urandom(3 << 20)
    (site / "noise.txt").write_bytes(noise)
    url = serve(daemon, site)
    for _ in range(2):
        assert curl(url, "/noise.txt", "--compressed") == noise


def test_a_text_that_shrinks_while_it_is_compressed_ends_the_connection(daemon, site):
    (site / "noise.txt").write_bytes(os.urandom(7 << 20))
    url = serve(daemon, site)
    with open_socket(url) as raw:
        raw.sendall(request("/noise.txt", "Accept-Encoding: gzip"))
        got = raw.recv(1000)
        os.truncate(site / "noise.txt", 1000)
        while True:
            try:
                more = raw.recv(1 << 20)
            except ConnectionResetError:
                break
            if not more:
                break
            got += more
    assert not got.endswith(b"0\r\n\r\n")
    assert len(curl(url, "/noise.txt", "--compressed")) == 1000
