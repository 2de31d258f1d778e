"""Common programs for web servers: wrk, Go's client, and nginx as a proxy in front."""

import asyncio
import re
import shutil
import subprocess

import pytest
import websockets

from certificates import Authority
from strata_daemon import PATIENCE
from talker import port_of
from web_peers import Peer

GO_CLIENT = """
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	pem, _ := os.ReadFile(os.Args[1])
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: os.Args[3] == "2",
	}}
	answer, err := client.Get(os.Args[2] + "/page.txt")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Proto, answer.StatusCode, len(body))
	answer, err = client.Post(os.Args[2]+"/", "text/plain", strings.NewReader("from Go"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(answer.StatusCode)
}
"""

PROXY = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
  upstream strata {{ server 127.0.0.1:{behind}; keepalive 8; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://strata; proxy_http_version 1.1; proxy_buffering off;
      proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }}
  }}
}}
"""


class ProxyInFront(Peer):
    """nginx, which forwards all requests to a server."""

    def __init__(self, behind, folder):
        self.behind = behind
        super().__init__("proxy", folder)

    def command(self, folder):
        config = folder / "config"
        config.write_text(PROXY.format(folder=folder, port=self.port, behind=self.behind))
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        return [nginx, "-c", str(config), "-p", str(folder)]


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "page.txt").write_text("x" * 3000)
    return folder


def test_wrk_gets_no_error(daemon, site):
    [url] = daemon.server("web", http=str(site))
    said = subprocess.check_output(
        ["wrk", "-t1", "-c16", "-d1s", f"http://127.0.0.1:{port_of(url)}/page.txt"], text=True,
        timeout=PATIENCE)
    assert int(re.search(r"(\d+) requests in", said)[1]) > 0
    assert "Non-2xx" not in said and "Socket errors" not in said, said


@pytest.mark.once
@pytest.mark.parametrize("version", ["1", "2"])
def test_gos_client(daemon, site, tmp_path, version):
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.issue("localhost")
    [url] = daemon.server("web", listen=["https://127.0.0.1:0"], cert=[certificate], key=[key],
                          http=str(site), http_messages=True)
    program = tmp_path / "main.go"
    program.write_text(GO_CLIENT)
    said = subprocess.run(
        ["go", "run", program, authority.ca, f"https://localhost:{port_of(url)}", version],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GO111MODULE": "off"}, text=True,
        capture_output=True, timeout=4 * PATIENCE)
    proto = {"1": "HTTP/1.1", "2": "HTTP/2.0"}[version]
    assert said.stdout.splitlines() == [f"{proto} 200 3000", "204"], said


def test_nginx_in_front(daemon, site, tmp_path):
    [url] = daemon.server("web", http=str(site), http_messages=True)
    proxy = ProxyInFront(port_of(url), tmp_path / "proxy")

    async def converse():
        where = f"127.0.0.1:{proxy.port}"
        async with websockets.connect(f"ws://{where}/") as one, websockets.connect(
            f"ws://{where}/") as other:
            await one.send("through the proxy")
            assert await other.recv() == "through the proxy"
            post = ["curl", "-sf", "-d", "posted", f"http://{where}/"]
            await asyncio.to_thread(subprocess.check_call, post, timeout=PATIENCE)
            assert await one.recv() == "posted"

    try:
        for _ in range(20):
            got = subprocess.check_output(
                ["curl", "-sf", f"http://127.0.0.1:{proxy.port}/page.txt"], timeout=PATIENCE)
            assert len(got) == 3000
        asyncio.run(asyncio.wait_for(converse(), PATIENCE))
    finally:
        proxy.close()
