// strata backends NAME [add|remove|drain|ready BACKEND]
#include <fmt/format.h>

#include <algorithm>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/runtimes/operation.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr std::string_view operation = "backends";
constexpr std::string_view drain_word = " drain";

std::string place_of(std::string_view text) { return std::string(text.substr(0, text.find(' '))); }

/// Several backends may have the same text: keeps the first.
json named_once(const json& backends) {
  auto first = json::array();
  for (const auto& each : backends) {
    const auto is_it = [&each](const json& one) {
      return text_at(one, "name") == text_at(each, "name");
    };
    if (std::ranges::none_of(first, is_it)) first.push_back(each);
  }
  return first;
}

outcome<int> show_backends(const invocation& call, control_client& client) {
  const auto shown = select_columns(columns_of(operation), call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  auto backends = client.ask(call.words[0], operation);
  if (!backends) return std::unexpected(backends.error());
  if (!backends->is_array())
    return refuse(exit_failed, "unexpected answer from the daemon: not a list of backends");
  for (auto& each : *backends) {
    if (each.is_object()) each["name"] = text_at(each, "text");
  }
  show_list(call, *shown, call.quiet ? named_once(*backends) : *backends);
  return exit_done;
}

/// The backends of `--backend`, as they are written.
outcome<std::vector<std::string>> written_backs(const invocation& call, control_client& client) {
  const auto detail = client.get(runtime_target(call.words[0]));
  if (!detail) return std::unexpected(detail.error());
  const auto options = detail->is_object() ? detail->value("options", json::object()) : json();
  if (text_at(*detail, "type") != "proxy" || !options.is_object()) {
    return refuse(exit_failed,
                  fmt::format("'{}' is a {} and has no backends; only a proxy has them",
                              call.words[0], text_at(*detail, "type")));
  }
  std::vector<std::string> backends;
  for (const auto& each : options.value("backend", json::array())) {
    if (each.is_string()) backends.push_back(each.get<std::string>());
  }
  return backends;
}

/// Applies `deed` to the backends.
outcome<> change(std::vector<std::string>& backends, const std::string& deed,
                 const std::string& text) {
  const auto place = place_of(text);
  const auto found = std::ranges::find(backends, place, place_of);
  const bool is_there = found != backends.end();
  if (deed == "add") {
    if (is_there) {
      return refuse(exit_failed, fmt::format("'{}' is already a backend: '{}'", place, *found));
    }
    backends.push_back(text);
    return {};
  }
  if (!is_there) {
    return refuse(exit_not_found,
                  fmt::format("there is no backend '{}' in --backend: {}; 'strata edit --route' "
                              "changes the backends of a route",
                              place,
                              backends.empty() ? "there are none"
                                               : fmt::format("{}", fmt::join(backends, ", "))));
  }
  const auto at = found->find(drain_word);
  if (deed == "remove") {
    backends.erase(found);
  } else if (deed == "drain" && at == std::string::npos) {
    found->append(drain_word);
  } else if (deed == "ready" && at != std::string::npos) {
    found->erase(at, drain_word.size());
  }
  return {};
}

}  // namespace

outcome<int> run_backends(const invocation& call) {
  control_client client(call.daemon);
  if (call.words.size() == 1) return show_backends(call, client);
  const auto& deed = call.words[1];
  const bool is_known = deed == "add" || deed == "remove" || deed == "drain" || deed == "ready";
  if (!is_known) {
    return refuse(exit_misused, fmt::format("there is no change '{}'; write add, remove, drain or "
                                            "ready, followed by a backend",
                                            deed));
  }
  if (call.words.size() < 3) {
    return refuse(exit_misused,
                  fmt::format("'{0}' needs a backend: strata backends {1} {0} BACKEND", deed,
                              call.words.front()));
  }
  auto backends = written_backs(call, client);
  if (!backends) return std::unexpected(backends.error());
  const auto wanted = fmt::format("{}", fmt::join(call.words.begin() + 2, call.words.end(), " "));
  if (auto changed = change(*backends, deed, wanted); !changed) {
    return std::unexpected(changed.error());
  }
  const auto done =
      client.patch(runtime_target(call.words[0]), {{"options", {{"backend", *backends}}}});
  if (!done) return std::unexpected(done.error());
  if (call.as_json) print_json(*backends);
  if (!call.as_json && !call.quiet) {
    print(fmt::format("backends of {}: {}\n", text::printable(call.words[0]),
                      text::printable(fmt::format("{}", fmt::join(*backends, ", ")))));
  }
  return exit_done;
}

}  // namespace strata::cli
