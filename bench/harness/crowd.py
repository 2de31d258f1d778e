"""Many connections that have been used once, and are then idle."""

import resource
import socket

from harness.process import Failure


class Crowd:
    """`count` connections to `port`; each has received an answer to `question`."""

    def __init__(self, port, count, question, is_answer):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.members = []
        for number in range(count):
            member = socket.create_connection(("127.0.0.1", port), timeout=10)
            self.members.append(member)
            member.sendall(question)
            answer = b""
            while not is_answer(answer):
                more = member.recv(4096)
                if not more:
                    raise Failure(f"connection {number + 1} of {count} was ended")
                answer += more

    def close(self):
        for member in self.members:
            member.close()
