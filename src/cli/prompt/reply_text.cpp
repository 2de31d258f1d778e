#include "cli/prompt/reply_text.hpp"

#include <fmt/format.h>

#include "text/readable.hpp"
#include "text/word.hpp"

namespace strata::cli {

namespace {

using proto::resp_value;
using kind = resp_value::kind;

// Keeps line ends, except the last: INFO has many lines.
std::string printable_lines(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    safe += text::printable(line);
    if (end != std::string_view::npos && !text.empty()) safe += '\n';
  }
  return safe;
}

std::string_view name_of_empty(kind kind) {
  switch (kind) {
    case kind::map: return "(empty hash)";
    case kind::set: return "(empty set)";
    case kind::push: return "(empty push)";
    default: return "(empty array)";
  }
}

char mark_of(kind kind) { return kind == kind::map ? '#' : kind == kind::set ? '~' : ')'; }

std::string pretty_scalar(const resp_value& value) {
  switch (value.what) {
    case kind::null: return "(nil)";
    case kind::status: return text::printable(value.text);
    case kind::error: return "(error) " + text::printable(value.text);
    case kind::verbatim: return printable_lines(value.text);
    case kind::integer: return fmt::format("(integer) {}", value.integer);
    case kind::real: return "(double) " + value.text;
    case kind::big_number: return "(big number) " + value.text;
    case kind::boolean: return value.integer != 0 ? "(true)" : "(false)";
    default: return text::quoted(value.text);
  }
}

std::size_t count_of(const resp_value& value) {
  return value.elements.size() / (value.what == kind::map ? 2 : 1);
}

// `margin` precedes each line except the first. The RESP reader limits the depth of values.
// NOLINTNEXTLINE(misc-no-recursion)
void add_pretty(std::string& text, const resp_value& value, const std::string& margin) {
  if (!value.is_aggregate()) {
    text += pretty_scalar(value);
    return;
  }
  if (value.elements.empty()) {
    text += name_of_empty(value.what);
    return;
  }
  const std::size_t step = value.what == kind::map ? 2 : 1;
  const auto count = count_of(value);
  const auto width = fmt::formatted_size("{}", count);
  const auto inner = margin + std::string(width + 2, ' ');
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += '\n' + margin;
    text += fmt::format("{:>{}}{} ", i + 1, width, mark_of(value.what));
    add_pretty(text, value.elements[i * step], inner);
    if (step == 1) continue;
    const auto& belongs = value.elements[i * step + 1];
    text += " => ";
    if (count_of(belongs) > 1) text += '\n' + inner;
    add_pretty(text, belongs, inner);
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
void add_raw(std::string& text, const resp_value& value) {
  if (value.what == kind::integer) {
    text += fmt::format("{}", value.integer);
  } else if (value.what == kind::boolean) {
    text += value.integer != 0 ? "(true)" : "(false)";
  } else {
    text += value.text;
  }
  for (std::size_t i = 0; i < value.elements.size(); ++i) {
    const bool is_value = value.what == kind::map && i % 2 == 1;
    if (i != 0) text += is_value ? ' ' : '\n';
    add_raw(text, value.elements[i]);
  }
}

}  // namespace

std::string pretty_reply(const resp_value& reply) {
  std::string text;
  add_pretty(text, reply, {});
  return text;
}

std::string raw_reply(const resp_value& reply) {
  std::string text;
  add_raw(text, reply);
  return text;
}

}  // namespace strata::cli
