"""Static files over HTTP: which are served, to whom, and in which part."""

import os
import re
import socket
import subprocess

import pytest

from strata_daemon import BINARY, PATIENCE, Refused, eventually
from web_site import DIGITS, PAGE, ask, curl, serve, status_of


# --- what is served ------------------------------------------------------------------------------


def test_files_are_served_with_their_types(daemon, site):
    url = serve(daemon, site)
    assert curl(url, "/") == PAGE
    assert curl(url, "/digits.bin") == DIGITS
    assert curl(url, "/sub/") == b"sub"
    assert curl(url, "/sub/p%61ge.txt?query=1") == b"page"
    assert curl(url, "/.well-known/security.txt") == b"contact"
    types = {"/": "text/html; charset=utf-8", "/style.css": "text/css; charset=utf-8",
             "/digits.bin": "application/octet-stream",
             "/sub/page.txt": "text/plain; charset=utf-8"}
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
    "bytes=1", "bytes=--5", "bytes=+1-5",
    "bytes=" + ",".join(f"{i * 2}-{i * 2}" for i in range(17)),
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
            # A tag takes precedence over a date.
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


# --- what is kept in memory ----------------------------------------------------------------------


def rewrite_unseen(path, content):
    """Rewrites a file in place with the same length and time, so that a look at its
    status shows no change."""
    before = path.stat()
    assert before.st_size == len(content)
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_kept_file_is_read_again_when_the_kernel_tells_of_a_change(daemon, site, threads):
    url = serve(daemon, site, http_cache=True, threads=threads)
    page = site / "sub" / "page.txt"
    for content in [b"PAGE", b"Page", b"pAGE"]:
        curl(url, "/sub/page.txt")
        rewrite_unseen(page, content)
        eventually(lambda: curl(url, "/sub/page.txt") == content, "the change is heard")
    curl(url, "/sub/")
    rewrite_unseen(site / "sub" / "index.html", b"SUB")
    eventually(lambda: curl(url, "/sub/") == b"SUB", "the change is heard")


def test_a_kept_file_goes_with_its_folder(daemon, site):
    url = serve(daemon, site, http_cache=True)
    (site / "new").mkdir()
    (site / "new" / "page.txt").write_bytes(b"of the new folder")
    assert curl(url, "/sub/page.txt") == b"page"
    (site / "sub").rename(site / "old")
    eventually(lambda: status_of(url, "/sub/page.txt") == 404, "the folder is gone")
    (site / "new").rename(site / "sub")
    eventually(lambda: curl(url, "/sub/page.txt") == b"of the new folder", "the folder is there")


def test_a_kept_link_leads_where_it_says_now(daemon, site):
    (site / "link").symlink_to("sub/page.txt")
    (site / "folder").symlink_to("sub")
    url = serve(daemon, site, http_cache=True)
    assert curl(url, "/link") == curl(url, "/folder/page.txt") == b"page"
    (site / "sub" / "page.txt").write_bytes(b"behind the links")
    for path in ["/link", "/folder/page.txt"]:
        eventually(lambda: curl(url, path) == b"behind the links", "the change is seen")
    (site / "out").symlink_to("../outside.txt")
    (site / "out").rename(site / "link")
    eventually(lambda: status_of(url, "/link") == 404, "it leads out now")
