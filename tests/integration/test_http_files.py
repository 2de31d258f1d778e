"""Static files over HTTP: curl and raw sockets against a server with --http."""

import gzip
import json
import os
import re
import socket
import subprocess

import pytest

from strata_daemon import BINARY, PATIENCE, Refused, eventually
from talker import address_of

DIGITS = b"0123456789" * 1000
PAGE = b"<html><head><title>x</title></head><body>hello</body></html>\n"


@pytest.fixture
def site(tmp_path):
    """A folder to serve, and beside it what must not be served."""
    folder = tmp_path / "site"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".well-known").mkdir()
    (folder / "index.html").write_bytes(PAGE)
    (folder / "digits.bin").write_bytes(DIGITS)
    (folder / "sub" / "index.html").write_bytes(b"sub")
    (folder / "sub" / "page.txt").write_bytes(b"page")
    (folder / "style.css").write_bytes(b"a { color: red }\n" * 1000)
    (folder / "empty").write_bytes(b"")
    (folder / ".secret").write_bytes(b"secret")
    (folder / ".well-known" / "security.txt").write_bytes(b"contact")
    (tmp_path / "outside.txt").write_bytes(b"outside")
    return folder


def http_url(url):
    return url.replace("tcp://", "http://").replace("0.0.0.0", "127.0.0.1")


def serve(daemon, site, **options):
    [url] = daemon.server("web", http=str(site), **options)
    return url


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            self.fields[name.lower()] = value
        self.lines = lines


def ask(url, target, *fields, method="GET"):
    """One request, byte for byte as given, and all that comes until the connection ends."""
    return Answer(talk(url, request(target, *fields, "Connection: close", method=method)))


def request(target, *fields, method="GET"):
    target = target if isinstance(target, bytes) else target.encode("latin-1")
    lines = "".join(f"{field}\r\n" for field in fields).encode("latin-1")
    return method.encode() + b" " + target + b" HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n"


def open_socket(url):
    family, kind, address = address_of(url)
    raw = socket.socket(family, kind)
    raw.settimeout(PATIENCE)
    raw.connect(address)
    return raw


def talk(url, bytes_):
    with open_socket(url) as raw:
        raw.sendall(bytes_)
        answer = b""
        try:
            while more := raw.recv(1 << 20):
                answer += more
        except ConnectionResetError:
            pass
        return answer


def curl(url, path, *flags):
    done = subprocess.run(["curl", "-sS", "--path-as-is", *map(str, flags), http_url(url) + path],
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done
    return done.stdout


def status_of(url, path, *flags):
    return int(curl(url, path, "-o", "/dev/null", "-w", "%{http_code}", *flags))


# --- what is served ------------------------------------------------------------------------------


def test_files_are_served_with_their_types(daemon, site):
    url = serve(daemon, site)
    assert curl(url, "/") == PAGE
    assert curl(url, "/digits.bin") == DIGITS
    assert curl(url, "/sub/") == b"sub"
    assert curl(url, "/sub/p%61ge.txt?query=1") == b"page"
    assert curl(url, "/.well-known/security.txt") == b"contact"
    types = {"/": "text/html; charset=utf-8", "/style.css": "text/css; charset=utf-8",
             "/digits.bin": "application/octet-stream", "/sub/page.txt": "text/plain; charset=utf-8"}
    for path, kind in types.items():
        answer = ask(url, path)
        assert answer.status == 200
        assert answer.fields["content-type"] == kind
        assert answer.fields["x-content-type-options"] == "nosniff"
        assert answer.fields["content-length"] == str(len(answer.body))
        assert "etag" in answer.fields and "last-modified" in answer.fields


def test_an_empty_file_is_an_empty_answer(daemon, site):
    url = serve(daemon, site)
    answer = ask(url, "/empty")
    assert (answer.status, answer.fields["content-length"], answer.body) == (200, "0", b"")
    assert ask(url, "/empty", "Range: bytes=0-").status == 416


def test_head_says_what_get_would(daemon, site):
    url = serve(daemon, site)
    for path in ["/", "/digits.bin", "/empty", "/nothing", "/sub"]:
        got, head = ask(url, path), ask(url, path, method="HEAD")
        got.fields.pop("date"), head.fields.pop("date")
        assert (head.status, head.fields, head.body) == (got.status, got.fields, b"")


def test_other_methods_are_refused(daemon, site):
    url = serve(daemon, site)
    for method in ["POST", "PUT", "DELETE", "PATCH"]:
        answer = ask(url, "/digits.bin", "Content-Length: 0", method=method)
        assert (answer.status, answer.fields["allow"]) == (405, "GET, HEAD, OPTIONS")
    for target in ["/digits.bin", "*"]:
        answer = ask(url, target, method="OPTIONS")
        assert (answer.status, answer.fields["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert (site / "digits.bin").read_bytes() == DIGITS


def test_a_folder_without_its_slash_leads_to_itself_alone(daemon, site):
    url = serve(daemon, site)
    (site / "evil.example").mkdir()
    (site / "a b").mkdir()
    for target, location in [("/sub", "/sub/"), ("/sub?x=1", "/sub/?x=1"),
                             ("/sub/deep", "/sub/deep/"), ("/a%20b", "/a%20b/"),
                             ("/evil.example", "/evil.example/")]:
        answer = ask(url, target)
        assert (answer.status, answer.fields["location"]) == (301, location)
    for target in ["//evil.example", "///evil.example", "//evil.example/%2e%2e", "/\\evil.example",
                   "/%5cevil.example", "/%2fevil.example"]:
        answer = ask(url, target)
        assert answer.status in (400, 404) and "location" not in answer.fields, target


# --- what is not ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [
    "/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/%2e%2e%2foutside.txt",
    "/sub/../../outside.txt", "/sub/..", "/./index.html", "/sub/./page.txt", "//index.html",
    "/sub//page.txt", "/index.html/", "/index.html/x", "/%00", "/index.html%00", "/.secret",
    "/%2esecret", "/sub\\page.txt", "/sub%5cpage.txt", "/%c0%ae%c0%ae/outside.txt", "/%",
    "/%zz", "/" + "a" * 300, "/" + "a/" * 3000, "/..;/outside.txt", "/...", "/%0d%0aX: y",
    "/outside.txt", "/digits.bin%20", "/proc/self/root/etc/passwd"])
def test_a_hostile_path_gets_nothing(daemon, site, target):
    url = serve(daemon, site)
    answer = ask(url, target)
    assert answer.status in (400, 404, 414, 431), answer.lines
    assert b"outside" not in answer.body.replace(b"there is nothing", b"")
    assert curl(url, "/") == PAGE


def test_links_lead_to_what_is_inside_alone(daemon, site):
    (site / "inside").symlink_to("sub/page.txt")
    (site / "folder").symlink_to("sub")
    (site / "out").symlink_to("../outside.txt")
    (site / "out_folder").symlink_to("..")
    (site / "absolute").symlink_to(site / "index.html")
    (site / "loop").symlink_to("loop")
    (site / "magic").symlink_to("/proc/self/root")
    url = serve(daemon, site)
    assert curl(url, "/inside") == b"page"
    assert curl(url, "/folder/page.txt") == b"page"
    for path in ["/out", "/out_folder/outside.txt", "/absolute", "/loop", "/magic/etc/passwd"]:
        assert ask(url, path).status == 404, path


def test_what_is_no_file_is_not_served_and_not_waited_for(daemon, site):
    os.mkfifo(site / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(site / "socket"))
        if os.geteuid() == 0:
            os.mknod(site / "device", 0o666 | 0o020000, os.makedev(1, 5))
        url = serve(daemon, site)
        for path in ["/fifo", "/socket", "/device"]:
            assert ask(url, path).status == 404, path
        assert curl(url, "/") == PAGE


def test_a_folder_that_is_none_is_named(daemon, site):
    for folder in [site / "nothing", site / "index.html"]:
        with pytest.raises(Refused, match=re.escape(str(folder))):
            daemon.server("web", http=str(folder))
        daemon.remove("web")


def test_options_that_make_no_sense_are_refused(daemon, site):
    for wrong in [{"http_listing": True}, {"http_fallback": "index.html"}, {"http_inject": True},
                  {"http_cache": True}, {"http_header": ["no colon"]},
                  {"http_header": ["A: b\r\nC: d"]}, {"http_header": ["Content-Length: 5"]},
                  {"cors": ["example.com"]}, {"cors": ["https://a b"]},
                  {"http": str(site), "http_fallback": "../outside.txt"},
                  {"http": str(site), "http_fallback": ".secret"}]:
        with pytest.raises(Refused) as refused:
            daemon.server("web", **wrong)
        assert refused.value.code == "invalid_argument", wrong
    for missing in ["nothing.html", "sub"]:
        with pytest.raises(Refused, match=missing):
            daemon.server("web", http=str(site), http_fallback=missing)
        daemon.remove("web")


def test_a_relative_folder_is_the_callers(daemon, site):
    done = subprocess.run([os.path.abspath(BINARY), "create", "server", "web", "-l",
                           "tcp://127.0.0.1:0", "--http", "./site", "-s"], cwd=site.parent,
                          env=daemon.environment, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done
    [url] = daemon.show("web")["endpoints"]
    assert curl(url, "/digits.bin") == DIGITS
    assert daemon.show("web")["options"]["http"] == str(site)


# --- ranges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked, first, last", [
    ("0-0", 0, 0), ("5-9", 5, 9), ("9990-", 9990, 9999), ("-5", 9995, 9999),
    ("-20000", 0, 9999), ("5-20000", 5, 9999), ("0-9,10-19", 0, 19), ("10-19,0-10", 0, 19),
    ("9999-", 9999, 9999), ("5-99999999999999999999999", 5, 9999)])
def test_one_range(daemon, site, asked, first, last):
    url = serve(daemon, site)
    answer = ask(url, "/digits.bin", f"Range: bytes={asked}")
    assert answer.status == 206
    assert answer.fields["content-range"] == f"bytes {first}-{last}/10000"
    assert answer.fields["content-length"] == str(last - first + 1)
    assert answer.body == DIGITS[first:last + 1]


@pytest.mark.parametrize("asked", [
    "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "lines=0-5", "bytes 0-5", "bytes=0-5;1-2",
    "bytes=1", "bytes=--5", "bytes=+1-5", "bytes=" + ",".join(f"{i * 2}-{i * 2}" for i in range(17)),
    "bytes=" + "0-0," * 1000, "bytes=,,,"])
def test_a_range_that_is_not_understood_is_ignored(daemon, site, asked):
    url = serve(daemon, site)
    answer = ask(url, "/digits.bin", f"Range: {asked}")
    assert (answer.status, answer.body) == (200, DIGITS)


@pytest.mark.parametrize("asked", ["10000-", "20000-30000", "-0", "10000-,-0"])
def test_a_range_behind_the_end_cannot_be_had(daemon, site, asked):
    url = serve(daemon, site)
    answer = ask(url, "/digits.bin", f"Range: bytes={asked}")
    assert (answer.status, answer.fields["content-range"]) == (416, "bytes */10000")


def test_many_ranges_are_parts(daemon, site):
    url = serve(daemon, site)
    answer = ask(url, "/digits.bin", "Range: bytes=0-4, 100-102,-2")
    assert answer.status == 206
    assert answer.fields["content-length"] == str(len(answer.body))
    kind, _, boundary = answer.fields["content-type"].partition("; boundary=")
    assert kind == "multipart/byteranges"
    parts = answer.body.split(b"\r\n--" + boundary.encode())
    assert parts[0] == b"" and parts[-1] == b"--\r\n"
    wanted = [(0, 4), (100, 102), (9998, 9999)]
    for part, (first, last) in zip(parts[1:-1], wanted, strict=True):
        head, _, body = part.partition(b"\r\n\r\n")
        assert b"Content-Range: bytes %d-%d/10000" % (first, last) in head
        assert body == DIGITS[first:last + 1]


def test_a_hundred_thousand_ranges_cost_nothing(daemon, site):
    url = serve(daemon, site)
    many = ",".join(f"{i}-{i}" for i in range(0, 200_000, 2))
    assert ask(url, "/digits.bin", f"Range: bytes={many}").status in (200, 431)
    assert curl(url, "/digits.bin") == DIGITS


def test_curl_resumes_a_download(daemon, site, tmp_path):
    url = serve(daemon, site)
    part = tmp_path / "part"
    part.write_bytes(DIGITS[:4321])
    curl(url, "/digits.bin", "-C", "-", "-o", part)
    assert part.read_bytes() == DIGITS


# --- conditions ----------------------------------------------------------------------------------


def test_conditions_by_tag(daemon, site):
    url = serve(daemon, site)
    tag = ask(url, "/digits.bin").fields["etag"]
    for condition, status in [
            (f"If-None-Match: {tag}", 304), (f"If-None-Match: W/{tag}", 304),
            (f'If-None-Match: "a,b", {tag}', 304), ("If-None-Match: *", 304),
            ('If-None-Match: "other"', 200), ("If-None-Match: nonsense", 200),
            (f"If-Match: {tag}", 200), ("If-Match: *", 200), (f"If-Match: W/{tag}", 412),
            ('If-Match: "other"', 412)]:
        answer = ask(url, "/digits.bin", condition)
        assert answer.status == status, condition
        if status == 304:
            assert answer.body == b"" and answer.fields["etag"] == tag
            assert "content-type" not in answer.fields
    (site / "digits.bin").write_bytes(b"changed")
    assert ask(url, "/digits.bin", f"If-None-Match: {tag}").body == b"changed"


def test_conditions_by_date(daemon, site, tmp_path):
    os.utime(site / "digits.bin", (1_000_000_000, 1_000_000_000))
    url = serve(daemon, site)
    date = ask(url, "/digits.bin").fields["last-modified"]
    assert date == "Sun, 09 Sep 2001 01:46:40 GMT"
    before = "Sun, 09 Sep 2001 01:46:39 GMT"
    for fields, status in [
            ([f"If-Modified-Since: {date}"], 304), ([f"If-Modified-Since: {before}"], 200),
            (["If-Modified-Since: nonsense"], 200),
            ([f"If-Unmodified-Since: {date}"], 200), ([f"If-Unmodified-Since: {before}"], 412),
            # a tag goes before a date
            ([f"If-Modified-Since: {date}", 'If-None-Match: "x"'], 200),
            ([f"If-Unmodified-Since: {before}", "If-Match: *"], 200),
            (["Range: bytes=0-4", f"If-Range: {date}"], 206),
            (["Range: bytes=0-4", f"If-Range: {before}"], 200),
            (["Range: bytes=0-4", 'If-Range: "x"'], 200),
            (["Range: bytes=0-4", "If-Range: nonsense"], 200)]:
        assert ask(url, "/digits.bin", *fields).status == status, fields
    tag = ask(url, "/digits.bin").fields["etag"]
    assert ask(url, "/digits.bin", "Range: bytes=0-4", f"If-Range: {tag}").status == 206
    assert ask(url, "/digits.bin", "Range: bytes=0-4", f"If-Range: W/{tag}").status == 200
    copy = tmp_path / "copy"
    copy.write_bytes(b"old")
    assert status_of(url, "/digits.bin", "-z", copy) == 304


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
    for _ in range(2):  # the second may come from memory
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
    os.utime(site / "style.css.br", (1, 1))  # older than what it was made of
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
        assert line["referer"] == "http://before/" and line["client"].startswith("127.0.0.1")
        assert json.loads(second)["status"] == 404
    else:
        assert re.fullmatch(
            r'127\.0\.0\.1\S* - - \[[^]]+ \+0000\] "GET /digits\.bin HTTP/1\.1" 200 10000 '
            r'"http://before/" "a\\x22b\\x5Cc"', first), first
        assert '"GET /nothing HTTP/1.1" 404 ' in second and second.endswith('"\\xFF"')


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
