#include "proto/websocket/websocket_extensions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/token.hpp"

namespace strata::proto {

namespace {

constexpr std::string_view deflate_name = "permessage-deflate";

std::unexpected<error> bad_extensions(std::string reason) {
  return failure(errc::malformed, "read Sec-WebSocket-Extensions", std::move(reason));
}

/// Scans the header's grammar: extension-list of RFC 6455 section 9.1.
class extension_scanner {
 public:
  explicit extension_scanner(std::string_view text) : text_(text) {}

  /// Skips `mark` and returns true if it comes next.
  bool pass(char mark) {
    skip_blanks();
    if (!text_.starts_with(mark)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool is_at_end() {
    skip_blanks();
    return text_.empty();
  }

  /// Returns a token; empty if there is none.
  std::string_view token() {
    skip_blanks();
    const auto size = std::ranges::find_if_not(text_, is_token_char) - text_.begin();
    const auto found = text_.substr(0, static_cast<std::size_t>(size));
    text_.remove_prefix(found.size());
    return found;
  }

  /// Returns a token, quoted or not: the quoted text must be a token too. Nullopt if there is none.
  std::optional<std::string> value() {
    if (!pass('"')) {
      auto found = token();
      return found.empty() ? std::nullopt : std::optional(std::string(found));
    }
    std::string found;
    for (; !text_.empty() && text_.front() != '"'; text_.remove_prefix(1)) {
      if (text_.front() == '\\') text_.remove_prefix(1);
      if (text_.empty() || !is_token_char(text_.front())) return std::nullopt;
      found += text_.front();
    }
    if (text_.empty() || found.empty()) return std::nullopt;
    text_.remove_prefix(1);
    return found;
  }

 private:
  void skip_blanks() {
    while (text_.starts_with(' ') || text_.starts_with('\t')) text_.remove_prefix(1);
  }

  std::string_view text_;
};

result<websocket_extension> read_extension(extension_scanner& scanner) {
  websocket_extension made{.name = std::string(scanner.token()), .parameters = {}};
  if (made.name.empty()) return bad_extensions("an extension has no name");
  while (scanner.pass(';')) {
    websocket_extension::parameter parameter{.name = std::string(scanner.token()), .value = {}};
    if (parameter.name.empty()) return bad_extensions("a parameter has no name");
    if (scanner.pass('=')) {
      parameter.value = scanner.value();
      if (!parameter.value) return bad_extensions("a parameter's value is not a token");
    }
    made.parameters.push_back(std::move(parameter));
  }
  return made;
}

/// The four parameters of permessage-deflate as one side sent them (RFC 7692 section 7.1).
struct sent_parameters {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::optional<std::uint8_t> server_max_window_bits;
  /// 0 means present without a value.
  std::optional<std::uint8_t> client_max_window_bits;
};

bool set_flag(bool& flag, const std::optional<std::string>& value) {
  return !value && !std::exchange(flag, true);
}

/// Parses a decimal number from 8 to 15 without leading zeros.
std::optional<std::uint8_t> window_bits_in(std::string_view text) {
  constexpr std::array<std::string_view, 8> numbers = {"8",  "9",  "10", "11",
                                                       "12", "13", "14", "15"};
  const auto* const found = std::ranges::find(numbers, text);
  if (found == numbers.end()) return std::nullopt;
  return static_cast<std::uint8_t>(min_window_bits + (found - numbers.begin()));
}

bool set_bits(std::optional<std::uint8_t>& bits, const std::optional<std::string>& value) {
  if (!value || bits) return false;
  bits = window_bits_in(*value);
  return bits.has_value();
}

/// Returns nullopt for parameters that section 7.1 does not define: an unknown name, a name that
/// comes twice, or an invalid value.
std::optional<sent_parameters> parameters_of(const websocket_extension& extension, bool is_offer) {
  sent_parameters sent;
  const auto set = [&](const std::string& name, const std::optional<std::string>& value) {
    if (name == "server_no_context_takeover")
      return set_flag(sent.server_no_context_takeover, value);
    if (name == "client_no_context_takeover")
      return set_flag(sent.client_no_context_takeover, value);
    if (name == "server_max_window_bits") return set_bits(sent.server_max_window_bits, value);
    if (name != "client_max_window_bits") return false;
    if (value || !is_offer) return set_bits(sent.client_max_window_bits, value);
    return !std::exchange(sent.client_max_window_bits, std::uint8_t{0});
  };
  for (const auto& [name, value] : extension.parameters) {
    if (!set(name, value)) return std::nullopt;
  }
  return sent;
}

std::string window_parameter(std::string_view name, int bits) {
  return "; " + std::string(name) + "=" + std::to_string(bits);
}

std::string flags_of(const websocket_deflate& agreed) {
  std::string flags;
  if (agreed.server_no_context_takeover) flags += "; server_no_context_takeover";
  if (agreed.client_no_context_takeover) flags += "; client_no_context_takeover";
  return flags;
}

/// Returns the answer to one offer; nullopt declines it.
std::optional<websocket_deflate_answer> answer_to(const sent_parameters& offer,
                                                  const websocket_deflate& deflate) {
  websocket_deflate_answer answer;
  auto& agreed = answer.agreed;
  agreed.server_no_context_takeover =
      offer.server_no_context_takeover || deflate.server_no_context_takeover;
  agreed.client_no_context_takeover =
      offer.client_no_context_takeover || deflate.client_no_context_takeover;
  agreed.server_max_window_bits = std::min(offer.server_max_window_bits.value_or(max_window_bits),
                                           deflate.server_max_window_bits);
  if (!agreed.can_compress(websocket_role::server)) return std::nullopt;
  answer.header = std::string(deflate_name) + flags_of(agreed);
  if (offer.server_max_window_bits || agreed.server_max_window_bits < max_window_bits) {
    answer.header += window_parameter("server_max_window_bits", agreed.server_max_window_bits);
  }
  // A smaller window cannot be requested from a client that does not name the parameter (section
  // 7.1.2.2).
  if (offer.client_max_window_bits) {
    const auto most = *offer.client_max_window_bits;
    agreed.client_max_window_bits =
        std::min(most == 0 ? std::uint8_t{max_window_bits} : most, deflate.client_max_window_bits);
    if (agreed.client_max_window_bits < max_window_bits) {
      answer.header += window_parameter("client_max_window_bits", agreed.client_max_window_bits);
    }
  }
  return answer;
}

}  // namespace

result<std::vector<websocket_extension>> read_websocket_extensions(std::string_view header) {
  std::vector<websocket_extension> extensions;
  extension_scanner scanner(header);
  if (scanner.is_at_end()) return extensions;
  do {
    // The RFC's lists may have empty elements (RFC 2616 section 2.1).
    while (scanner.pass(',')) {
    }
    if (scanner.is_at_end()) break;
    auto extension = read_extension(scanner);
    if (!extension) return std::unexpected(extension.error());
    extensions.push_back(std::move(*extension));
  } while (scanner.pass(','));
  if (!scanner.is_at_end()) return bad_extensions("extra characters follow an extension");
  if (extensions.empty()) return bad_extensions("it has only commas");
  return extensions;
}

result<std::optional<websocket_deflate_answer>> accept_deflate(std::string_view header,
                                                               const websocket_deflate& deflate) {
  const auto offers = read_websocket_extensions(header);
  if (!offers) return std::unexpected(offers.error());
  for (const auto& each : *offers) {
    if (each.name != deflate_name) continue;
    const auto offer = parameters_of(each, true);
    if (!offer) continue;
    if (auto answer = answer_to(*offer, deflate)) return answer;
  }
  return std::nullopt;
}

std::string deflate_offer(const websocket_deflate& deflate) {
  auto offer = std::string(deflate_name) + flags_of(deflate);
  if (deflate.server_max_window_bits < max_window_bits) {
    offer += window_parameter("server_max_window_bits", deflate.server_max_window_bits);
  }
  if (deflate.client_max_window_bits == max_window_bits) return offer + "; client_max_window_bits";
  return offer + window_parameter("client_max_window_bits", deflate.client_max_window_bits);
}

result<std::optional<websocket_deflate>> agree_on_deflate(std::string_view header,
                                                          const websocket_deflate& offered) {
  const auto answers = read_websocket_extensions(header);
  if (!answers) return std::unexpected(answers.error());
  if (answers->empty()) return std::nullopt;
  // Section 9.1 of RFC 6455: rejects extensions that were not offered. Section 5 of RFC 7692: each
  // once.
  if (answers->size() > 1) return bad_extensions("the server accepted more than was offered");
  if (answers->front().name != deflate_name) {
    return bad_extensions("the server accepted an extension that was not offered");
  }
  const auto sent = parameters_of(answers->front(), false);
  if (!sent) return bad_extensions("the server's answer has an invalid parameter");
  const websocket_deflate agreed{
      .server_no_context_takeover = sent->server_no_context_takeover,
      .client_no_context_takeover =
          sent->client_no_context_takeover || offered.client_no_context_takeover,
      .server_max_window_bits = sent->server_max_window_bits.value_or(max_window_bits),
      // A client may always keep to the window that it offered.
      .client_max_window_bits =
          sent->client_max_window_bits.value_or(offered.client_max_window_bits)};
  if (offered.server_no_context_takeover && !agreed.server_no_context_takeover) {
    return bad_extensions("the server did not accept server_no_context_takeover");
  }
  if (agreed.server_max_window_bits > offered.server_max_window_bits ||
      agreed.client_max_window_bits > offered.client_max_window_bits) {
    return bad_extensions("the server accepted a larger window than was offered");
  }
  return agreed;
}

}  // namespace strata::proto
