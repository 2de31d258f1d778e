#include "runtime/tap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/journal.hpp"
#include "text/base64.hpp"
#include "text/utf8.hpp"

namespace strata::runtime {

std::string_view name_of(tapped_form form) {
  switch (form) {
    case tapped_form::message: return "message";
    case tapped_form::request: return "request";
    case tapped_form::answer: return "answer";
    case tapped_form::command: return "command";
    case tapped_form::bytes: return "bytes";
  }
  return "message";
}

std::string client_text(std::uint64_t id) { return fmt::format("#{}", id); }

void tap::write(tapped_form form, bool is_outgoing, tapped_ends ends, byte_span bytes) {
  auto line = std::make_shared<tapped>();
  line->time = std::chrono::system_clock::now();
  line->is_outgoing = is_outgoing;
  line->form = form;
  line->ends = std::move(ends);
  line->bytes = as_text(bytes.first(std::min(bytes.size(), most_bytes)));
  line->size = bytes.size();
  const auto size = sizeof(tapped) + line->bytes.size();
  readers_.write(std::move(line), size);
}

bool tap_filter::takes(const tapped& tapped) const {
  if (!tapped.bytes.contains(match)) return false;
  if (!client) return true;
  const auto name = client_text(*client);
  return tapped.ends.sender == name || tapped.ends.receiver == name;
}

// clang-format off
const std::vector<options::bound_row<tap_filter>>& tap_filter_table() {
  using enum options::option_kind;
  static const std::vector<options::bound_row<tap_filter>> table = {
      {{.key = "client", .kind = count, .value_name = "ID",
        .help = "show only what this client sends and receives; 'strata clients' has the ids"},
       &tap_filter::client},
      {{.key = "match", .kind = text, .value_name = "TEXT",
        .help = "show only what contains this text"},
       &tap_filter::match},
      {{.key = "max_bytes", .kind = bytes, .value_name = "SIZE", .default_text = "64K",
        .help = "show at most this many bytes of each message", .max = tap::most_bytes},
       &tap_filter::max_bytes},
  };
  return table;
}
// clang-format on

std::string json_of(const tapped& tapped, std::uint64_t max_bytes) {
  const auto shown = std::string_view(tapped.bytes).substr(0, max_bytes);
  nlohmann::json json = {{"time", format_time(tapped.time)},
                         {"direction", tapped.is_outgoing ? "out" : "in"},
                         {"form", name_of(tapped.form)},
                         {"client", tapped.ends.client},
                         {"address", tapped.ends.address},
                         {"protocol", tapped.ends.protocol},
                         {"from", tapped.ends.sender},
                         {"to", tapped.ends.receiver},
                         {"size", tapped.size}};
  if (text::is_utf8(shown)) {
    json["text"] = shown;
  } else {
    json["base64"] = text::base64_encode(as_bytes(shown));
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace strata::runtime
