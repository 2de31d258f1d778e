// strata bench remote
#include <fmt/format.h>

#include <charconv>

#include "cli/bench/paths.hpp"
#include "cli/bench/rows.hpp"
#include "cli/terminal/progress_bar.hpp"
#include "cli/terminal/secret.hpp"
#include "measure/node/running_part.hpp"
#include "measure/remote/remote_node.hpp"
#include "strata/l2/interface.hpp"

namespace strata::cli {

namespace {

// Parses [USER@]HOST[:PORT]. An IPv6 address with a port is in brackets.
outcome<> read_host(const std::string& text, measure::remote_shell_options& options) {
  const auto at = text.rfind('@');
  const auto place = at == std::string::npos ? text : text.substr(at + 1);
  const bool in_brackets = place.starts_with('[');
  const auto end = in_brackets ? place.find(']') : place.find(':');
  const bool is_bare_ipv6 = !in_brackets && place.find(':') != place.rfind(':');
  if (at != std::string::npos) options.user = text.substr(0, at);
  options.host =
      is_bare_ipv6 ? place : place.substr(in_brackets ? 1 : 0, in_brackets ? end - 1 : end);
  auto digits = std::string();
  if (!is_bare_ipv6 && end != std::string::npos) digits = place.substr(end + (in_brackets ? 1 : 0));
  const auto* const last = digits.data() + digits.size();
  const bool has_port = digits.starts_with(':');
  const auto [stopped, wrong] =
      std::from_chars(digits.data() + (has_port ? 1 : 0), last, options.port);
  const bool good_port = digits.empty() || (has_port && wrong == std::errc() && stopped == last);
  if (good_port && at != 0 && !options.host.empty() && !options.host.starts_with('-')) return {};
  return refuse(exit_misused, fmt::format("'{}' is not [USER@]HOST[:PORT]", text));
}

outcome<> check(const invocation& call) {
  for (const auto* const flag : {"host", "iface", "remote_iface"}) {
    if (!call.text(flag).empty()) continue;
    return refuse(exit_misused,
                  "name the machine and the interface at either end: strata bench remote --host "
                  "[USER@]HOST[:PORT] --iface IFACE --remote-iface IFACE");
  }
  // Report local mistakes before asking for a password.
  const auto link = l2::interface::query(call.text("iface"));
  if (!link) return refuse(exit_failed, link.error());
  const bool has_plain = !measure::plain_program().empty();
  if (auto plan = measure::make_plan(request_of(call), link->mtu, has_plain); !plan) {
    return refuse(exit_misused, plan.error());
  }
  return {};
}

result<std::string> sudo_password(const invocation& call, const std::string& host) {
  secret_source from{.prompt = "sudo password on " + host, .variable = "STRATA_SUDO_PASSWORD"};
  if (call.flags.contains("sudo_password_fd")) {
    from.descriptor = call.flags["sudo_password_fd"].get<int>();
  }
  return read_secret(from);
}

result<measure::remote_node> start(const invocation& call, measure::remote_node_options options) {
  progress_bar bar;
  options.report = [&](const std::string& text) { bar.show(text); };
  options.shell.ask_passphrase = [&](const std::string& prompt) {
    bar.clear();
    auto read = read_secret({.prompt = prompt, .variable = "STRATA_KEY_PASSPHRASE"});
    return read ? std::optional(std::move(*read)) : std::nullopt;
  };
  options.sudo_password = [&] {
    bar.clear();
    return sudo_password(call, options.shell.host);
  };
  return measure::remote_node::start(options);
}

}  // namespace

outcome<int> run_bench_remote(const invocation& call) {
  if (auto good = check(call); !good) return std::unexpected(good.error());
  measure::remote_node_options options{.interface = call.text("remote_iface"),
                                       .folder = call.text("remote_dir")};
  if (auto read = read_host(call.text("host"), options.shell); !read) {
    return std::unexpected(read.error());
  }
  options.shell.key_file = call.text("ssh_key");
  options.shell.known_hosts = call.text("known_hosts");
  options.shell.accept_new_host_key = call.is_set("accept_new_host_key");
  auto remote = start(call, std::move(options));
  if (!remote) return refuse(exit_failed, remote.error());
  auto testbed = measure::testbed::on_interface(call.text("iface"), remote->take_node());
  if (!testbed) return refuse(exit_failed, testbed.error());
  return measure(call, *testbed, remote->has_plain());
}

}  // namespace strata::cli
