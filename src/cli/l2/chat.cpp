// strata l2 chat: lines between two machines, set up over TCP and sent as Ethernet frames.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/l2/frame_flags.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/output.hpp"
#include "strata/ipc/hybrid.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

outcome<ipc::hybrid_config> config_of(const invocation& call) {
  ipc::hybrid_config config;
  const auto type = ethertype_flag(call, config.ethertype);
  if (!type) return std::unexpected(type.error());
  config.ethertype = type->value_or(config.ethertype);
  config.tcp_port = call.flags.value("port", config.tcp_port);
  config.vlan_id = call.flags.value("vlan", *config.vlan_id);
  config.priority = call.flags.value("prio", config.priority);
  if (call.flags.contains("timeout")) {
    config.timeout = std::chrono::milliseconds(
        static_cast<std::int64_t>(call.flags.value("timeout", 0.0) * 1000));
  }
  return config;
}

class conversation {
 public:
  /// The caller's end closes when its input ends; the other end stays until then.
  conversation(ipc::hybrid_endpoint& endpoint, bool ends_with_input)
      : with_(endpoint), ends_with_input_(ends_with_input) {}

  outcome<int> run() {
    while (!is_interrupted()) {
      std::array<pollfd, 3> asked{pollfd{with_.data_fd(), POLLIN, 0},
                                  pollfd{with_.control_fd(), POLLIN, 0},
                                  pollfd{input_ended_ ? -1 : STDIN_FILENO, POLLIN, 0}};
      if (::poll(asked.data(), asked.size(), -1) < 0 && errno != EINTR) {
        return refuse(exit_failed, system_error(errno, "wait for messages"));
      }
      const auto received = receive();
      if (!received) return std::unexpected(received.error());
      if (!*received) return exit_done;
      if (asked[2].revents != 0) {
        if (auto said = send_lines(); !said) return std::unexpected(said.error());
        if (input_ended_ && ends_with_input_) return exit_done;
      }
    }
    return exit_done;
  }

 private:
  /// Returns false if the other end has gone.
  outcome<bool> receive() {
    for (;;) {
      const auto message = with_.try_receive_data();
      if (!message && message.error().code == errc::connection_closed) {
        auto why = message.error();
        why.remedy.clear();  // it addresses programs
        // An orderly close by the other end is no error.
        complain(why.sys_errno == 0 ? "the other end has left" : describe(why));
        return false;
      }
      if (!message) return refuse(exit_failed, message.error());
      if (!*message) return true;
      print(text::printable(as_text((*message)->payload)) + "\n");
    }
  }

  outcome<> send_lines() {
    std::array<char, 65536> block;
    const auto count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) return {};
    if (count < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
    input_ended_ = count == 0;
    const auto piece = std::string_view(block.data(), static_cast<std::size_t>(count));
    for (const auto& line : count == 0 ? lines_.finish() : lines_.feed(piece)) {
      if (auto sent = with_.send_data(as_bytes(line)); !sent) {
        return refuse(exit_failed, sent.error());
      }
    }
    return {};
  }

  ipc::hybrid_endpoint& with_;
  bool ends_with_input_;
  text::line_splitter lines_;
  bool input_ended_ = false;
};

}  // namespace

outcome<int> run_l2_chat(const invocation& call) {
  const auto config = config_of(call);
  if (!config) return std::unexpected(config.error());
  const bool is_server = call.words[1] == "server";
  if (!is_server && (call.words[1] != "client" || call.words.size() != 3)) {
    return refuse(exit_misused,
                  "write 'strata l2 chat IFACE server' or 'strata l2 chat IFACE client HOST'");
  }
  if (!call.quiet) {
    complain(is_server
                 ? fmt::format("waiting for a client on TCP port {}", config->tcp_port)
                 : fmt::format("connecting to {}, TCP port {}", call.words[2], config->tcp_port));
  }
  auto made = is_server
                  ? ipc::hybrid_endpoint::create_server(call.words[0], *config)
                  : ipc::hybrid_endpoint::create_client(call.words[0], call.words[2], *config);
  if (!made) {
    const bool missing = made.error().code == errc::not_found;
    return refuse(missing ? exit_not_found : exit_failed, made.error());
  }
  if (!call.quiet) complain(fmt::format("talking to {}", made->peer().text()));
  watch_for_interrupt();
  return conversation(*made, !is_server).run();
}

}  // namespace strata::cli
