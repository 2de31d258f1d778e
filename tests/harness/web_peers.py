"""Other HTTP servers, each with the same two resources: `/canary`, and an
endpoint that accepts posts."""

import shutil
import subprocess
import time

from talker import free_port
from strata_daemon import PATIENCE

NODE = """
require('http').createServer((request, response) => {
  let length = 0;
  request.on('data', (piece) => { length += piece.length; });
  request.on('end', () => { response.end('' + length); });
}).listen(+process.argv[1], '127.0.0.1');
"""

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port}; root {folder}/www;
    location = /canary {{ return 200 "canary"; }}
    location / {{ return 200 "ok"; }}
  }}
}}
"""

H2O = """
hosts:
  default:
    listen: {{host: 127.0.0.1, port: {port}}}
    paths:
      /: {{file.dir: {folder}/www}}
user: root
pid-file: {folder}/h2o.pid
error-log: {folder}/error.log
"""


class Peer:
    """A server process on a port of 127.0.0.1."""

    def __init__(self, name, folder):
        self.name = name
        self.port = free_port()
        folder.mkdir()
        (folder / "www").mkdir()
        (folder / "www" / "canary").write_text("canary")
        self.log = open(folder / "output", "wb")
        self.process = subprocess.Popen(self.command(folder), stdout=self.log, stderr=self.log)
        self.wait_listening()

    def command(self, folder):
        if self.name == "node":
            return ["node", "-e", NODE, str(self.port)]
        text = NGINX if self.name == "nginx" else H2O
        config = folder / "config"
        config.write_text(text.format(folder=folder, port=self.port))
        if self.name == "nginx":
            nginx = shutil.which("nginx") or "/usr/sbin/nginx"
            return [nginx, "-c", str(config), "-p", str(folder)]
        return ["h2o", "-c", str(config)]

    def wait_listening(self):
        wanted = f":{self.port:04X} "
        deadline = time.monotonic() + PATIENCE
        while True:
            with open("/proc/net/tcp") as table:
                if any(wanted in line and line.split()[3] == "0A" for line in table):
                    return
            assert self.process.poll() is None and time.monotonic() < deadline, self.name
            time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
