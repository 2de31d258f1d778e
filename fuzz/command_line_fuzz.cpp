// Any tokens, one a line: a refusal with a sentence, or values that the rows allow.
#include <cstdlib>
#include <sstream>

#include "cli/line/command_line.hpp"
#include "options/daemon_options.hpp"
#include "runtime/server/options.hpp"
#include "strata/base/bytes.hpp"

namespace {

using namespace strata;

cli::outcome<const runtime::type_row*> find_type(const std::string& type,
                                                 const cli::daemon_address& /*daemon*/) {
  static const runtime::type_row server{
      .name = "server", .summary = {}, .rows = runtime::server::option_rows, .make = nullptr};
  if (type == server.name) return &server;
  return cli::refuse(cli::exit_misused, "there is no such type");
}

void check(const cli::parsed_line& line, std::span<const options::option_row> rows) {
  for (const auto& row : rows) {
    const auto found = line.flags.find(row.key);
    if (found == line.flags.end() || row.kind == options::option_kind::list) continue;
    if (!options::check_option(row, *found)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<cli::verb_row> verbs = {
      {.name = "create", .synopsis = "TYPE NAME", .find_type = find_type},
      {.name = "l2 send", .synopsis = "IFACE", .flags = options::daemon_rows()}};
  static const cli::option_rows common = {
      {.key = "quiet", .short_flag = 'q', .kind = options::option_kind::flag},
      {.key = "reconnect", .kind = options::option_kind::count, .implicit_text = "0"},
      {.key = "socket", .kind = options::option_kind::text},
      {.key = "help", .short_flag = 'h', .kind = options::option_kind::flag}};
  std::istringstream input{std::string(as_text(std::as_bytes(std::span(data, size))))};
  std::vector<std::string> tokens;
  for (std::string token; std::getline(input, token);) tokens.push_back(token);
  const auto line =
      cli::parse_line(tokens, {.verbs = verbs, .flags = common, .usual_daemon = {.socket = "/s"}});
  if (!line && line.error().message.empty()) std::abort();
  if (!line) return 0;
  if (line->verb == nullptr && !line->wants_help) std::abort();
  check(*line, common);
  if (line->verb != nullptr) check(*line, line->verb->flags);
  if (line->type != nullptr) check(*line, line->type->rows());
  return 0;
}
