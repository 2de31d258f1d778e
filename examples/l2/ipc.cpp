// Messages between processes of this machine: ipc send CHANNEL TEXT, or ipc receive CHANNEL
#include <cstdio>
#include <strata/ipc/channel.hpp>
#include <string_view>

using namespace strata;

int main(int argc, char** argv) {
  const std::string_view verb = argc > 2 ? argv[1] : "";
  if (!(verb == "send" && argc == 4) && !(verb == "receive" && argc == 3)) {
    return std::puts("usage: ipc send CHANNEL TEXT | receive CHANNEL"), 2;
  }
  auto channel = ipc::channel::create({.channel = argv[2], .acknowledged = true});
  if (!channel) return std::puts(describe(channel.error()).c_str()), 1;
  if (verb == "send") {
    auto done = channel->send(as_bytes(argv[3]));
    if (done) done = channel->finish(std::chrono::seconds(10));
    return done ? 0 : (std::puts(describe(done.error()).c_str()), 1);
  }
  const auto message = channel->receive_with_timeout(std::chrono::seconds(10));
  if (!message) return std::puts(describe(message.error()).c_str()), 1;
  const auto text = as_text(*message);
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}
