// strata cert show URL|FILE
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/cert/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "net/tls/inspection.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr auto longest = std::chrono::seconds(10);

struct place {
  std::string host;
  std::uint16_t port = 443;
};

// Parses `tls://HOST:PORT` or another scheme; the default port is 443.
outcome<place> place_of(std::string_view url) {
  auto rest = url.substr(url.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?"));
  place found;
  std::string_view port;
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    found.host = rest.substr(1, close == std::string_view::npos ? close : close - 1);
    if (close != std::string_view::npos) port = rest.substr(close + 1);
  } else {
    const auto colon = rest.rfind(':');
    found.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon);
  }
  bool is_good = !found.host.empty();
  if (!port.empty()) {
    const auto* const end = port.data() + port.size();
    const auto [last, code] = std::from_chars(port.data() + 1, end, found.port);
    is_good = is_good && port.size() > 1 && code == std::errc{} && last == end && found.port != 0;
  }
  if (is_good) return found;
  return refuse(exit_misused,
                fmt::format("'{}' is not the URL of a server; write tls://HOST:PORT", url));
}

json json_of(const net::inspection& inspection) {
  auto chain = json::array();
  for (const auto& each : inspection.chain) {
    chain.push_back({{"subject", each.subject},
                     {"issuer", each.issuer},
                     {"names", each.names},
                     {"not_before", net::format_date(each.not_before)},
                     {"not_after", net::format_date(each.not_after)},
                     {"is_authority", each.is_authority}});
  }
  json made = {{"is_trusted", inspection.trouble.empty()},
               {"trouble", inspection.trouble},
               {"chain", chain}};
  if (!inspection.protocol.empty()) {
    made["protocol"] = inspection.protocol;
    made["cipher"] = inspection.cipher;
  }
  return made;
}

// The names in a certificate are chosen by its maker, so they are not trusted.
std::string text_of(const net::inspection& inspection) {
  using text::printable;
  std::string shown = inspection.trouble.empty()
                          ? "trusted    yes\n"
                          : fmt::format("trusted    no: {}\n", inspection.trouble);
  if (!inspection.protocol.empty()) {
    shown += fmt::format("protocol   {}, {}\n", inspection.protocol, inspection.cipher);
  }
  for (const auto& each : inspection.chain) {
    shown += fmt::format("\nsubject    {}\nissuer     {}\n", printable(each.subject),
                         printable(each.issuer));
    if (!each.names.empty()) {
      shown +=
          fmt::format("names      {}\n", printable(fmt::format("{}", fmt::join(each.names, ", "))));
    }
    shown += fmt::format("valid      {} to {}\n", net::format_date(each.not_before),
                         net::format_date(each.not_after));
  }
  return shown;
}

}  // namespace

// Exits with 1 if the certificate is not trusted.
outcome<int> run_cert_show(const invocation& call) {
  // A server that closes early is reported as an error, and must not end the program.
  (void)std::signal(SIGPIPE, SIG_IGN);
  const auto& what = call.words[0];
  const net::inspection_order order{call.text("ca"), call.text("servername")};
  result<net::inspection> found;
  if (what.contains("://")) {
    const auto where = place_of(what);
    if (!where) return std::unexpected(where.error());
    found = net::inspect_server(where->host, where->port, order, longest);
  } else {
    found = net::inspect_file(what, order);
  }
  if (!found) return refuse(exit_failed, found.error());
  if (call.as_json) {
    print_json(json_of(*found));
  } else if (call.quiet) {
    print(text::printable(found->chain.front().subject) + "\n");
  } else {
    print(text_of(*found));
  }
  return found->trouble.empty() ? exit_done : exit_failed;
}

}  // namespace strata::cli
