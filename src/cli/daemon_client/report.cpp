#include "cli/daemon_client/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/daemon_client/names.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

// Whether a certificate is combined with an endpoint that serves clients with and without TLS.
bool takes_both(const json& detail, const json& endpoints) {
  if (!detail.contains("options") || detail["options"].value("cert", json::array()).empty()) {
    return false;
  }
  return std::ranges::any_of(endpoints, [](const json& each) {
    return each.is_string() && each.get_ref<const std::string&>().starts_with("tcp://");
  });
}

}  // namespace

void report_state(const invocation& call, const json& detail) {
  if (call.as_json) return;
  const auto name = text::printable(text_at(detail, "name"));
  if (call.quiet) return print(name + "\n");
  const bool listed = detail.is_object() && detail.contains("endpoints");
  const auto endpoints = listed ? detail["endpoints"] : json::array();
  const auto where = endpoints.empty() ? "" : " at " + format_cell(endpoints, unit::none);
  const auto reach = text_at(detail, "reach");
  const bool is_up = text_at(detail, "state") == "running" && !endpoints.empty();
  const auto* const open_to = is_up && reach == "network"   ? ", open to other machines"
                              : is_up && reach == "machine" ? ", for this machine alone"
                                                            : "";
  const auto* const clear = listed && takes_both(detail, endpoints)
                                ? "; tcp:// also accepts clear text, tls:// and https:// do not"
                                : "";
  print(fmt::format("{}: {}{}{}{}\n", name, text::printable(text_at(detail, "state")), where,
                    open_to, clear));
}

bool names_one(const invocation& call) {
  return call.words.size() == 1 && !names_several(call.words.front());
}

}  // namespace strata::cli
