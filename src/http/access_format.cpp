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

log_value header_value(const access& access, std::string_view name) {
  return access.request.header(name).value_or("");
}

log_value time_text_of(const access& access) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(access.time_s)));
}

// Rounded to microseconds.
log_value duration_ms_of(const access& access) { return std::round(access.seconds * 1e6) / 1e3; }

struct log_field {
  std::string_view name;
  log_value (*is)(const access& access);
};

// One entry per row.
// clang-format off
constexpr log_field log_fields[] = {
    {"time", time_text_of},
    {"client", [](const access& access) { return log_value(host_of_client(access.client)); }},
    {"method", [](const access& access) { return log_value(access.request.method); }},
    {"target", [](const access& access) { return log_value(access.request.target); }},
    {"protocol", [](const access& access) {
       return log_value(access.request.method.empty() ? "" : version_text(access.request.version));
     }},
    {"status", [](const access& access) { return log_value(access.status); }},
    {"bytes", [](const access& access) { return log_value(access.bytes); }},
    {"duration_ms", duration_ms_of},
    {"backend", [](const access& access) { return log_value(access.backend); }},
    {"route", [](const access& access) { return log_value(access.route); }},
    {"referer", [](const access& access) { return header_value(access, "referer"); }},
    {"user_agent", [](const access& access) { return header_value(access, "user-agent"); }},
    {"retries", [](const access& access) { return log_value(access.retries); }},
    {"request_id", [](const access& access) { return log_value(access.request_id); }},
    {"tls_subject", [](const access& access) { return log_value(access.tls_subject); }},
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
  return failure(errc::invalid_argument, "write access lines as '" + text + "'", std::move(reason),
                 "write combined, json, or a pattern with %{NAME} in it; names are " + all_names());
}

std::string shown_value(const log_value& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  return text.empty() ? "-" : escaped_for_log(text);
}

std::string whole_json(const access& access) {
  auto line = log_value::object();
  for (const auto& each : log_fields) line[std::string(each.name)] = each.is(access);
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
    return refuse_format(text, "it has a control character");
  }
  std::size_t from = 0;
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, from)) {
    const auto begin = at + mark.size();
    const auto end = text.find('}', begin);
    if (end == std::string::npos) return refuse_format(text, "a '%{' lacks its '}'");
    const auto name = text.substr(begin, end - begin);
    const auto* const known = std::ranges::find(log_fields, name, &log_field::name);
    if (known == std::end(log_fields))
      return refuse_format(text, "there is no field named '" + name + "'");
    made.pieces_.push_back(
        {text.substr(from, at - from), static_cast<std::size_t>(known - std::begin(log_fields))});
    from = end + 1;
  }
  if (made.pieces_.empty()) return refuse_format(text, "it has no field of a request");
  made.rest_ = text.substr(from);
  return made;
}

std::string access_format::line(const access& access) const {
  if (form_ == form::combined) return combined_line(access);
  if (form_ == form::json) return whole_json(access);
  std::string made;
  for (const auto& each : pieces_)
    made += each.before + shown_value(log_fields[each.field].is(access));
  return made + rest_;
}

}  // namespace strata::http
