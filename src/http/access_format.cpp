#include "http/access_format.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

namespace strata::http {

namespace {

using log_value = nlohmann::ordered_json;

log_value header_value(const access& of, std::string_view name) {
  return of.request.header(name).value_or("");
}

log_value time_text_of(const access& of) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(of.time_s)));
}

// To the microsecond.
log_value duration_ms_of(const access& of) { return std::round(of.seconds * 1e6) / 1e3; }

struct log_field {
  std::string_view name;
  log_value (*is)(const access& of);
};

// A row is read as a row.
// clang-format off
constexpr log_field log_fields[] = {
    {"time", time_text_of},
    {"client", [](const access& of) { return log_value(host_of_client(of.client)); }},
    {"method", [](const access& of) { return log_value(of.request.method); }},
    {"target", [](const access& of) { return log_value(of.request.target); }},
    {"protocol", [](const access& of) {
       return log_value(of.request.method.empty() ? "" : version_text(of.request.version));
     }},
    {"status", [](const access& of) { return log_value(of.status); }},
    {"bytes", [](const access& of) { return log_value(of.bytes); }},
    {"duration_ms", duration_ms_of},
    {"backend", [](const access& of) { return log_value(of.backend); }},
    {"route", [](const access& of) { return log_value(of.route); }},
    {"referer", [](const access& of) { return header_value(of, "referer"); }},
    {"user_agent", [](const access& of) { return header_value(of, "user-agent"); }},
    {"retries", [](const access& of) { return log_value(of.retries); }},
    {"request_id", [](const access& of) { return log_value(of.request_id); }},
    {"tls_subject", [](const access& of) { return log_value(of.tls_subject); }},
};
// clang-format on

std::string all_names() {
  std::string names;
  for (const auto& each : log_fields) {
    names += names.empty() ? "" : ", ";
    names += each.name;
  }
  return names;
}

std::unexpected<error> refuse_format(const std::string& text, std::string reason) {
  return failure(
      errc::invalid_argument, "write access lines as '" + text + "'", std::move(reason),
      "write combined, json, or a line of your own with %{NAME} in it; names are " + all_names());
}

std::string shown_value(const log_value& of) {
  if (!of.is_string()) return of.dump();
  const auto& text = of.get_ref<const std::string&>();
  return text.empty() ? "-" : escaped_for_log(text);
}

std::string whole_json(const access& of) {
  auto line = log_value::object();
  for (const auto& each : log_fields) line[std::string(each.name)] = each.is(of);
  return line.dump(-1, ' ', true, log_value::error_handler_t::replace);
}

}  // namespace

result<access_format> access_format::parse(const std::string& text) {
  constexpr std::string_view mark = "%{";
  access_format made;
  if (text == "combined") return made;
  made.form_ = text == "json" ? form::json : form::own;
  if (made.form_ == form::json) return made;
  const auto is_control = [](char each) {
    return static_cast<unsigned char>(each) < ' ' && each != '\t';
  };
  if (std::ranges::any_of(text, is_control)) {
    return refuse_format(text, "it has a character that cannot be seen");
  }
  std::size_t from = 0;
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, from)) {
    const auto begin = at + mark.size();
    const auto end = text.find('}', begin);
    if (end == std::string::npos) return refuse_format(text, "a '%{' has no '}' behind it");
    const auto name = text.substr(begin, end - begin);
    const auto* const known = std::ranges::find(log_fields, name, &log_field::name);
    if (known == std::end(log_fields))
      return refuse_format(text, "nothing is named '" + name + "'");
    made.pieces_.push_back(
        {text.substr(from, at - from), static_cast<std::size_t>(known - std::begin(log_fields))});
    from = end + 1;
  }
  if (made.pieces_.empty()) return refuse_format(text, "it names nothing of a request");
  made.rest_ = text.substr(from);
  return made;
}

std::string access_format::line(const access& of) const {
  if (form_ == form::combined) return combined_line(of);
  if (form_ == form::json) return whole_json(of);
  std::string made;
  for (const auto& each : pieces_) made += each.before + shown_value(log_fields[each.field].is(of));
  return made + rest_;
}

}  // namespace strata::http
