"""One of the shop's two programs: it tells prices, or takes orders. Both use the shop's store."""

import argparse
import http.server
import socket


def ask_store(port, *words):
    """Returns the store's reply to one command of Redis: a text, a number, or None."""
    with socket.create_connection(("127.0.0.1", port)) as store, store.makefile("rb") as replies:
        store.sendall(" ".join(words).encode() + b"\r\n")
        head = replies.readline().strip().decode()
        if head == "$-1":
            return None
        return replies.read(int(head[1:])).decode() if head[0] == "$" else head[1:]


class Program(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text):
        body = (text + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, "ok")
        fruit = self.path[1:]
        price = ask_store(self.server.store, "GET", f"price:{fruit}") if fruit.isalpha() else None
        return self.answer(200, price) if price else self.answer(404, "no such fruit")

    def do_POST(self):
        if self.server.what != "orders" or not self.path[1:].isalpha():
            return self.answer(404, "no such fruit")
        number = ask_store(self.server.store, "INCR", f"orders:{self.path[1:]}")
        return self.answer(201, f"order {number}")

    def log_message(self, words, *values):
        print(words % values, flush=True)  # a line of `strata logs`


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["prices", "orders"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--store", type=int, required=True, help="port of the store")
    given = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", given.port), Program)
    server.what, server.store = given.what, given.store
    server.serve_forever()


if __name__ == "__main__":
    main()
