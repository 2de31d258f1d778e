"""Certificates for tests, made by `strata cert make`, and TLS clients that use them."""

import json
import os
import socket
import ssl
import subprocess

from strata_daemon import BINARY, PATIENCE
from talker import Talker, address_of


class Authority:
    """A local certificate authority in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "STRATA_CONFIG_DIR": str(folder / "config"),
                            "STRATA_SOCKET": str(folder / "none")}
        self.ca = str(folder / "config" / "authority" / "ca.pem")

    def run(self, *words):
        return subprocess.run([BINARY, "cert", *map(str, words)], env=self.environment, text=True,
                              capture_output=True, timeout=PATIENCE)

    def issue(self, *names, into=None, flags=()):
        """Returns the paths of a certificate and its key."""
        folder = into or self.folder
        folder.mkdir(parents=True, exist_ok=True)
        done = self.run("make", *names, "-o", folder, "--format", "json", *flags)
        assert done.returncode == 0 and done.stderr == "", done
        made = json.loads(done.stdout)
        assert made["authority"] == self.ca
        return made["certificate"], made["key"]

    def expired(self, name):
        """Returns a certificate that expired the day before yesterday, and its key."""
        return self.sign("expired", f"/CN={name}", name, days=-1)

    def issue_rsa(self, name):
        """Returns a certificate for an RSA key, and the key."""
        return self.sign("rsa", f"/CN={name}", name, make_key=["genrsa", "-out"])

    def sign(self, folder, subject, name=None, days=30,
             make_key=("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out")):
        """Signs with openssl, which accepts any request. Returns the paths of the
        certificate and its key."""
        own = self.folder / folder
        own.mkdir()
        key, request, made = own / "key.pem", own / "request.pem", own / "certificate.pem"
        extra = own / "extensions"
        extra.write_text(f"subjectAltName=DNS:{name}\n" if name else "")
        self.issue("somebody")  # so that there is an authority
        for words in (
                [*make_key, key],
                ["req", "-new", "-utf8", "-key", key, "-subj", subject, "-out", request],
                ["x509", "-req", "-in", request, "-CA", self.ca, "-CAkey",
                 self.ca.replace("ca.pem", "ca-key.pem"), "-set_serial", "7", "-days", str(days),
                 "-extfile", extra, "-out", made]):
            subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True,
                           timeout=PATIENCE)
        key.chmod(0o600)
        return str(made), str(key)


def client_context(ca, own=None, **more):
    context = ssl.create_default_context(cafile=ca)
    if own:
        context.load_cert_chain(*own)
    for key, value in more.items():
        setattr(context, key, value)
    return context


def connect(url, context, name="localhost"):
    """Returns a talker that speaks TLS."""
    family, kind, address = address_of(url)
    plain = socket.socket(family, kind)
    plain.settimeout(PATIENCE)
    plain.connect(address)
    return Talker.__new__(Talker).over(context.wrap_socket(plain, server_hostname=name))


def client_hello(name="localhost"):
    """Returns the first bytes that a client sends."""
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()
