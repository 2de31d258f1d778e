// The plain C contender: a separate program, bench/plain_packet.c, which writes "ready" when its
// socket is open and one line of JSON at its end. It stops when its standard input is closed.
#include <unistd.h>

#include <cerrno>

#include "measure/node/contender.hpp"
#include "measure/node/running_part.hpp"
#include "process/pipe.hpp"
#include "process/program.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

class plain_part final : public running_part {
 public:
  plain_part(process::child program, unique_fd to_it, unique_fd from_it)
      : program_(std::move(program)), to_it_(std::move(to_it)), from_it_(std::move(from_it)) {}

  [[nodiscard]] std::uint16_t port() const override { return 0; }

  result<void> await_ready() {
    const auto line = read_line();
    if (line == "ready") return {};
    return failure(errc::system, "start the plain C program", line);
  }
  result<end_result> finish() override {
    to_it_.reset();
    const auto line = read_line();
    (void)program_.wait();
    return end_result_from(text::parse_json(line, "read the result").value_or(nullptr));
  }

 private:
  std::string read_line() {
    std::string line;
    for (char letter = 0;;) {
      const auto got = ::read(from_it_.get(), &letter, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0 || letter == '\n') return line;
      line += letter;
    }
  }

  process::child program_;
  unique_fd to_it_;
  unique_fd from_it_;
};

}  // namespace

std::string plain_program() { return contender_path("strata-plain-packet"); }

result<std::unique_ptr<running_part>> start_plain_part(const order& order) {
  const auto program = plain_program();
  if (program.empty()) {
    return failure(errc::not_found, "run the plain C program",
                   "it is neither next to this program nor in libexec/strata",
                   "build the target strata-plain-packet");
  }
  auto in = process::make_pipe();
  auto out = process::make_pipe();
  if (!in) return std::unexpected(in.error());
  if (!out) return std::unexpected(out.error());
  auto started =
      process::start({.words = {program, order.role, order.path == "plain_ring" ? "ring" : "socket",
                                order.busy ? "busy" : "wait", order.interface, order.peer_mac,
                                std::to_string(order.payload), std::to_string(order.seconds),
                                std::to_string(order.buffer), std::to_string(order.run)},
                      .input = in->read.get(),
                      .output = out->write.get()});
  if (!started) return std::unexpected(started.error());
  auto made =
      std::make_unique<plain_part>(std::move(*started), std::move(in->write), std::move(out->read));
  out->write.reset();
  if (auto ready = made->await_ready(); !ready) return std::unexpected(ready.error());
  return made;
}

}  // namespace strata::measure
