#include "options/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "options/credentials.hpp"
#include "text/readable.hpp"
#include "text/utf8.hpp"

namespace strata::options {

namespace {

constexpr std::size_t longest_text = 4096;

struct unit {
  std::string_view suffix;
  double factor;
};

constexpr unit size_units[] = {
    {"", 1},          {"B", 1},           {"K", 1024.0},       {"KiB", 1024.0},
    {"M", 1048576.0}, {"MiB", 1048576.0}, {"G", 1073741824.0}, {"GiB", 1073741824.0},
};
constexpr unit time_units[] = {{"", 1},  {"us", 1e-6}, {"ms", 0.001},
                               {"s", 1}, {"m", 60},    {"h", 3600}};

result<double> parse_with_unit(std::string_view text, std::span<const unit> units,
                               std::string_view what, std::string_view example) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (code == std::errc{} && std::isfinite(number) && number >= 0) {
    for (const auto& candidate : units) {
      if (candidate.suffix == suffix) return number * candidate.factor;
    }
  }
  return failure(errc::invalid_argument, fmt::format("read '{}' as {}", text, what),
                 "it is not a number with a known unit", fmt::format("write, say, {}", example));
}

std::string what_it_takes(const option_row& row, option_form form) {
  const bool is_flag = form == option_form::flag;
  switch (row.kind) {
    case option_kind::flag: return "true or false";
    case option_kind::count:
    case option_kind::port:
    case option_kind::bytes: {
      const bool bounded = row.max != UINT64_MAX || row.min != 0;
      if (row.kind == option_kind::port) {
        return is_flag ? "a port from 0 to 65535" : "a port from 0 to 65535, as a number";
      }
      if (!bounded) return "a whole number from 0";
      if (row.max == UINT64_MAX) return fmt::format("a whole number from {}", row.min);
      return fmt::format("a whole number from {} to {}", row.min, row.max);
    }
    case option_kind::seconds:
      return is_flag ? "a duration, such as 1.5, 500ms or 2m" : "a number of seconds, such as 1.5";
    case option_kind::choice: return fmt::format("one of {}", row.choices);
    case option_kind::list: return "an array of strings";
    case option_kind::text:
    case option_kind::secret: return fmt::format("text of at most {} bytes", longest_text);
  }
  return "another value";
}

std::unexpected<error> refuse(const option_row& row, const std::string& value, option_form form) {
  const auto name = form == option_form::flag ? long_flag(row) : fmt::format("'{}'", row.key);
  return failure(errc::invalid_argument, fmt::format("set {} to {}", name, value),
                 fmt::format("it takes {}", what_it_takes(row, form)));
}

// JSON, which carries options to the daemon, has no other bytes: they would arrive altered.
std::unexpected<error> not_utf8(const option_row& row, std::string_view value) {
  const auto shown = row.kind == option_kind::secret ? std::string("the value given")
                                                     : fmt::format("'{}'", text::printable(value));
  return failure(errc::invalid_argument, fmt::format("set {} to {}", long_flag(row), shown),
                 "it is not UTF-8", "use only UTF-8 in values and file names");
}

bool is_choice(std::string_view choices, std::string_view value) {
  const auto words = split_choices(choices);
  return std::ranges::find(words, value) != words.end();
}

bool in_range(const option_row& row, std::uint64_t value) {
  const auto max = row.kind == option_kind::port ? 65535 : row.max;
  return value >= row.min && value <= max;
}

// A longer duration is a typing error, and would overflow the clock's nanoseconds.
constexpr double longest_duration_s = 366.0 * 24 * 3600;

}  // namespace

std::string long_flag(const option_row& row) {
  std::string flag = "--" + std::string(row.key);
  for (auto& letter : flag) {
    if (letter == '_') letter = '-';
  }
  return flag;
}

result<std::uint64_t> parse_size(std::string_view text) {
  auto bytes = parse_with_unit(text, size_units, "a size", "4096, 64K or 1MiB");
  if (!bytes) return std::unexpected(bytes.error());
  if (*bytes > 9e15) {
    return failure(errc::invalid_argument, fmt::format("read '{}' as a size", text),
                   "it is larger than any memory");
  }
  return static_cast<std::uint64_t>(*bytes);
}

result<double> parse_seconds(std::string_view text) {
  return parse_with_unit(text, time_units, "a duration", "1.5, 500ms, 30s or 2m");
}

result<std::string> filled_in(const option_row& row, const std::string& value) {
  auto secret = secret_of(value);
  if (secret) {
    if (!text::is_utf8(*secret)) return not_utf8(row, *secret);
    if (auto good = check_option(row, *secret, option_form::flag); !good)
      return std::unexpected(good.error());
    return secret;
  }
  auto why = secret.error();
  why.operation = fmt::format("set {}: cannot {}", long_flag(row), why.operation);
  return std::unexpected(why);
}

bool is_reference(const std::string& secret) { return credential_name(secret).has_value(); }

bool is_plain_secret(const option_row& row, const nlohmann::json& value) {
  if (row.kind != option_kind::secret || !value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && !is_reference(text);
}

std::vector<std::string_view> split_choices(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    words.push_back(choices.substr(0, bar));
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return words;
}

// A Unix socket's path may contain a separator.
std::vector<std::string> list_elements(const option_row& row, std::string_view text) {
  std::vector<std::string> elements;
  const bool is_one = row.separators.empty() || text.contains("unix:");
  for (;;) {
    const auto end = is_one ? std::string_view::npos : text.find_first_of(row.separators);
    elements.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return elements;
    text.remove_prefix(end + 1);
  }
}

result<nlohmann::json> parse_option(const option_row& row, std::string_view text) {
  nlohmann::json value;
  switch (row.kind) {
    case option_kind::flag:
      if (text == "true" || text == "false") {
        value = text == "true";
      } else {
        return refuse(row, fmt::format("'{}'", text), option_form::flag);
      }
      break;
    case option_kind::count:
    case option_kind::port: {
      std::uint64_t number = 0;
      const char* end = text.data() + text.size();
      const auto [rest, code] = std::from_chars(text.data(), end, number);
      if (code != std::errc{} || rest != end) {
        return refuse(row, fmt::format("'{}'", text), option_form::flag);
      }
      value = number;
      break;
    }
    case option_kind::bytes: {
      auto size = parse_size(text);
      if (!size) return std::unexpected(size.error());
      value = *size;
      break;
    }
    case option_kind::seconds: {
      auto duration = parse_seconds(text);
      if (!duration) return std::unexpected(duration.error());
      value = *duration;
      break;
    }
    case option_kind::list:
    case option_kind::text:
    case option_kind::secret:
    case option_kind::choice:
      if (!text::is_utf8(text)) return not_utf8(row, text);
      if (row.kind == option_kind::list) return nlohmann::json(text);
      value = text;
      break;
  }
  if (auto checked = check_option(row, value, option_form::flag); !checked) {
    return std::unexpected(checked.error());
  }
  return value;
}

result<void> check_option(const option_row& row, const nlohmann::json& value, option_form form) {
  if (value.is_null()) return {};  // null resets the option to its default
  if (row.kind == option_kind::secret && value.is_string()) {
    const auto name = credential_name(value.get_ref<const std::string&>());
    if (name) return check_credential_name(*name);
  }
  bool good = false;
  switch (row.kind) {
    case option_kind::flag: good = value.is_boolean(); break;
    case option_kind::count:
    case option_kind::port:
    case option_kind::bytes:
      good = value.is_number_integer() &&
             (value.is_number_unsigned() || value.get<std::int64_t>() >= 0) &&
             in_range(row, value.get<std::uint64_t>());
      break;
    case option_kind::seconds:
      good = value.is_number() && value.get<double>() >= 0 &&
             value.get<double>() <= longest_duration_s;
      break;
    case option_kind::text:
    case option_kind::secret:
      good = value.is_string() && value.get_ref<const std::string&>().size() <= longest_text;
      break;
    case option_kind::choice:
      good = value.is_string() && is_choice(row.choices, value.get_ref<const std::string&>());
      break;
    case option_kind::list:
      good = value.is_array() && value.size() <= 64;
      if (good) {
        for (const auto& element : value) good = good && element.is_string();
      }
      break;
  }
  if (good) return {};
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  const auto shown = row.kind == option_kind::secret ? std::string("the value given")
                                                     : value.dump(-1, ' ', false, replace);
  return refuse(row, shown, form);
}

}  // namespace strata::options
