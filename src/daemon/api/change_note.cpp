#include "daemon/api/change_note.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "net/stream.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

std::string caller_text(const net::stream& connection) {
  if (const auto process = connection.process()) {
    return fmt::format("uid {}, pid {}", process->user, process->id);
  }
  const auto& peer = connection.peer();
  const auto* const subject = peer.tls_subject.empty() ? "" : ", ";
  return peer.address.text() + subject + peer.tls_subject;
}

namespace {

// The last word of a path, such as `stop`; of a method if the path is the runtime's own.
std::string_view last_word(const route_row& row) {
  if (row.method == "DELETE") return "remove";
  if (row.method == "PATCH") return "edit";
  if (row.path == "/v1/runtimes") return "create";
  return std::string_view(row.path).substr(row.path.rfind('/') + 1);
}

// A request that has no name is refused.
std::string created_name(const std::string& body) {
  const auto read = text::parse_json(body, "read the name");
  if (!read || !read->is_object()) return {};
  const auto found = read->find("name");
  return found != read->end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string change_note(const route_row& row, const std::string& name, const std::string& body,
                        std::string_view caller, bool is_done) {
  return fmt::format("{} '{}', requested by {}: {}", last_word(row),
                     name.empty() ? created_name(body) : name, caller,
                     is_done ? "done" : "refused");
}

}  // namespace strata::daemon
