// strata edit NAME
#include <fmt/format.h>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/nearest.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// An option by its key, or by its flag with or without the dashes.
outcome<std::string> key_of(const runtime::type_row& type, std::string_view option) {
  std::vector<std::string> known;
  for (const auto& row : type.rows()) {
    const auto flag = options::long_flag(row);
    if (option == row.key || option == flag || option == flag.substr(2)) {
      return std::string(row.key);
    }
    known.push_back(flag.substr(2));
  }
  return refuse(exit_misused, fmt::format("a {} has no option '{}'{}", type.name, option,
                                          did_you_mean(option, known)));
}

outcome<json> changes_of(const invocation& call) {
  auto changes = call.type_options;
  const auto resets = call.flags.value("reset", json::array());
  for (const auto& option : resets) {
    const auto key = key_of(*call.type, option.get_ref<const std::string&>());
    if (!key) return std::unexpected(key.error());
    if (changes.contains(*key)) {
      return refuse(exit_misused, fmt::format("'{}' is set and reset; do one of them", *key));
    }
    changes[*key] = nullptr;
  }
  if (changes.empty()) {
    return refuse(
        exit_misused,
        fmt::format("nothing to change; 'strata edit {} --help' shows the options", call.words[0]));
  }
  return changes;
}

}  // namespace

outcome<const runtime::type_row*> type_of_runtime(const std::string& name,
                                                  const std::string& socket) {
  const auto detail = control_client(socket).get(runtime_target(name));
  if (!detail) return std::unexpected(detail.error());
  const auto type = text_at(*detail, "type");
  if (const auto* found = runtime::find_type(type)) return found;
  return refuse(exit_failed, fmt::format("'{}' is of type '{}', which this strata does not know; "
                                         "use the one that the daemon is of",
                                         name, type));
}

outcome<int> run_edit(const invocation& call) {
  const auto changes = changes_of(call);
  if (!changes) return std::unexpected(changes.error());
  const auto& name = call.words[0];
  const auto done =
      control_client(call.socket).patch(runtime_target(name), {{"options", *changes}});
  if (!done) return std::unexpected(done.error());
  if (call.as_json) {
    print_json(*done);
  } else if (call.quiet) {
    print(text::printable(name) + "\n");
  } else {
    const auto now = done->value("applied", json::array());
    const auto later = done->value("needs_restart", json::array());
    if (!now.empty()) print(fmt::format("in force now: {}\n", format_cell(now, unit::none)));
    if (!later.empty()) {
      print(fmt::format("saved, in force from the next start ('strata restart {}'): {}\n",
                        text::printable(name), format_cell(later, unit::none)));
    }
  }
  return exit_done;
}

}  // namespace strata::cli
