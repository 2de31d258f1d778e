#include "cli/secret_flags.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/terminal/secret.hpp"
#include "text/utf8.hpp"

namespace strata::cli {

using options::option_kind;
using options::option_row;

namespace {

/// JSON cannot carry bytes that are not UTF-8.
result<std::string> read_value(const option_row& row, const std::string& value) {
  auto secret = named_secret(value, options::long_flag(row));
  if (!secret) return secret;
  if (!text::is_utf8(*secret)) {
    return failure(errc::invalid_argument, "use this secret", "it is not UTF-8",
                   "choose a secret that is UTF-8 text");
  }
  if (auto fits = options::check_option(row, *secret, options::option_form::flag); !fits)
    return std::unexpected(fits.error());
  return secret;
}

}  // namespace

outcome<> read_secrets(nlohmann::json& flags, std::span<const option_row> rows) {
  std::string first_line_of_input;  // the flag that uses it
  for (const auto& row : rows) {
    const auto given = flags.find(row.key);
    if (row.kind != option_kind::secret || given == flags.end()) continue;
    const auto flag = options::long_flag(row);
    if (*given == "-" && !first_line_of_input.empty()) {
      return refuse(exit_misused, fmt::format("{0} and {1} both read the first line of standard "
                                              "input; put one secret into a file: {1} @FILE",
                                              first_line_of_input, flag));
    }
    if (*given == "-") first_line_of_input = flag;
    auto secret = read_value(row, given->get_ref<const std::string&>());
    if (!secret) {
      return refuse(exit_failed, fmt::format("{}: {}", flag, describe(secret.error())));
    }
    *given = std::move(*secret);
  }
  return {};
}

}  // namespace strata::cli
