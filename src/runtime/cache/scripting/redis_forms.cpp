#include "runtime/cache/scripting/redis_forms.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "text/number.hpp"

namespace strata::runtime::cache {

namespace {

using script::value_view;

constexpr std::size_t format_size = 3;  // of a verbatim string: "txt", in front of ':' and the text
constexpr std::size_t deepest = 1000;   // nested tables of a result, as Redis's stack allows

void write_named(script::value_writer& writer, std::string_view name, std::string_view text) {
  writer.begin_table(1);
  writer.text(text);
  writer.field(name);
}

// Reads a reply that the cache itself has written: it is well-formed.
class reply_reader {
 public:
  reply_reader(script::value_writer& writer, std::string_view reply)
      : writer_(writer), rest_(reply) {}

  void value();

 private:
  std::string_view line();
  std::size_t count() { return text::number_in<std::size_t>(line()).value_or(0); }
  std::string_view bulk(std::string_view size);
  void list(std::string_view size);
  void map();
  void set();
  void verbatim(std::string_view bytes);

  script::value_writer& writer_;
  std::string_view rest_;
};

std::string_view reply_reader::line() {
  const auto end = rest_.find('\r');
  const auto found = rest_.substr(0, end);
  rest_.remove_prefix(end + 2);
  return found;
}

std::string_view reply_reader::bulk(std::string_view size) {
  const auto length = text::number_in<std::size_t>(size).value_or(0);
  const auto found = rest_.substr(0, length);
  rest_.remove_prefix(length + 2);
  return found;
}

void reply_reader::list(std::string_view size) {
  const auto elements = text::number_in<std::size_t>(size).value_or(0);
  writer_.begin_list(elements);
  for (std::size_t place = 1; place <= elements; ++place) {
    value();
    writer_.element(place);
  }
}

void reply_reader::map() {
  const auto fields = count();
  writer_.begin_table(1);
  writer_.begin_table(fields);
  for (std::size_t left = fields; left > 0; --left) {
    value();
    value();
    writer_.pair();
  }
  writer_.field("map");
}

void reply_reader::set() {
  const auto elements = count();
  writer_.begin_table(1);
  writer_.begin_table(elements);
  for (std::size_t left = elements; left > 0; --left) {
    value();
    writer_.boolean(true);
    writer_.pair();
  }
  writer_.field("set");
}

void reply_reader::verbatim(std::string_view bytes) {
  writer_.begin_table(1);
  writer_.begin_table(2);
  writer_.text(bytes.substr(0, format_size));
  writer_.field("format");
  writer_.text(bytes.substr(format_size + 1));
  writer_.field("string");
  writer_.field("verbatim_string");
}

void reply_reader::value() {
  const char kind = rest_.front();
  rest_.remove_prefix(1);
  if (kind == '%') return map();
  if (kind == '~') return set();
  const auto head = line();
  if (kind == '_') return writer_.nil();
  const bool is_null = (kind == '$' || kind == '*') && head.starts_with('-');
  if (is_null) return writer_.boolean(false);
  switch (kind) {
    case '+': write_named(writer_, "ok", head); break;
    case '-': write_named(writer_, "err", head); break;
    case ':':
      writer_.number(static_cast<double>(text::number_in<std::int64_t>(head).value_or(0)));
      break;
    case '$': writer_.text(bulk(head)); break;
    case '=': verbatim(bulk(head)); break;
    case '#': writer_.boolean(head == "t"); break;
    case '(': write_named(writer_, "big_number", head); break;
    case ',':
      writer_.begin_table(1);
      writer_.number(std::strtod(std::string(head).c_str(), nullptr));
      writer_.field("double");
      break;
    default: list(head); break;
  }
}

// As a cast in C on x86-64, which Redis uses: what does not fit is the least number.
std::int64_t whole(double number) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  const bool fits = number >= -limit && number < limit;
  return fits ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
}

// The text in one line, as a status and a big number must be.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (auto& letter : line) {
    if (letter == '\r' || letter == '\n') letter = ' ';
  }
  return line;
}

class result_writer {
 public:
  result_writer(proto::reply_writer& reply, bool chose_resp3)
      : reply_(reply), chose_resp3_(chose_resp3) {}

  void value(value_view value, std::size_t depth);

 private:
  bool named(value_view table);
  bool verbatim(value_view parts);
  bool fields(value_view table, bool is_map, std::size_t depth);
  void table(value_view table, std::size_t depth);
  void boolean(bool value);

  proto::reply_writer& reply_;
  bool chose_resp3_;
};

// Reports whether the table has a text of a name that stands for a reply, which was written.
bool result_writer::named(value_view table) {
  if (table.with_field("err", [&](value_view text) {
        if (text.what() != value_view::kind::text) return false;
        reply_.error(error_text(table));
        return true;
      })) {
    return true;
  }
  if (table.with_field("ok", [&](value_view text) {
        if (text.what() != value_view::kind::text) return false;
        reply_.status(one_line(text.text()));
        return true;
      })) {
    return true;
  }
  if (table.with_field("double", [&](value_view number) {
        if (number.what() != value_view::kind::number) return false;
        reply_.real(number.number());
        return true;
      })) {
    return true;
  }
  if (table.with_field("big_number", [&](value_view digits) {
        if (digits.what() != value_view::kind::text) return false;
        reply_.big_number(one_line(digits.text()));
        return true;
      })) {
    return true;
  }
  return table.with_field("verbatim_string", [&](value_view parts) { return verbatim(parts); });
}

bool result_writer::verbatim(value_view parts) {
  if (parts.what() != value_view::kind::table) return false;
  return parts.with_field("format", [&](value_view format) {
    if (format.what() != value_view::kind::text) return false;
    std::string letters(format.text().substr(0, format_size));
    letters.resize(format_size, ' ');
    return parts.with_field("string", [&](value_view text) {
      if (text.what() != value_view::kind::text) return false;
      reply_.verbatim(letters, text.text());
      return true;
    });
  });
}

bool result_writer::fields(value_view table, bool is_map, std::size_t depth) {
  return table.with_field(is_map ? "map" : "set", [&](value_view fields) {
    if (fields.what() != value_view::kind::table) return false;
    std::size_t count = 0;
    fields.each_field([&](value_view, value_view) { return ++count > 0; });
    is_map ? reply_.map(count) : reply_.set(count);
    fields.each_field([&](value_view key, value_view field) {
      value(key, depth);
      if (is_map) value(field, depth);
      return true;
    });
    return true;
  });
}

void result_writer::table(value_view table, std::size_t depth) {
  if (depth > deepest) {
    reply_.error("ERR reached lua stack limit");
    return;
  }
  if (named(table) || fields(table, true, depth) || fields(table, false, depth)) return;
  const auto size = table.list_size();
  reply_.array(size);
  for (std::size_t place = 1; place <= size; ++place) {
    table.with_element(static_cast<int>(place), [&](value_view element) {
      value(element, depth);
      return true;
    });
  }
}

void result_writer::boolean(bool value) {
  if (chose_resp3_) {
    reply_.boolean(value);
  } else if (value) {
    reply_.integer(1);
  } else {
    reply_.null();
  }
}

void result_writer::value(value_view value, std::size_t depth) {
  switch (value.what()) {
    case value_view::kind::boolean: boolean(value.truth()); break;
    case value_view::kind::number: reply_.integer(whole(value.number())); break;
    case value_view::kind::text: reply_.bulk(value.text()); break;
    case value_view::kind::table: table(value, depth + 1); break;
    default: reply_.null(); break;
  }
}

}  // namespace

void write_script_value(script::value_writer& writer, std::string_view reply) {
  reply_reader(writer, reply).value();
}

void write_script_error(script::value_writer& writer, std::string_view text) {
  write_named(writer, "err", text);
}

void reply_script_value(proto::reply_writer& reply, value_view value, bool chose_resp3) {
  result_writer(reply, chose_resp3).value(value, 0);
}

std::string error_text(value_view value) {
  switch (value.what()) {
    case value_view::kind::table: break;
    case value_view::kind::number:
    case value_view::kind::text: return "ERR " + std::string(value.text());
    default: return "ERR " + std::string(value.type_name());
  }
  std::string text;
  value.with_field("err", [&text](value_view field) {
    if (field.what() == value_view::kind::text) text = field.text();
    return true;
  });
  if (text.starts_with('-')) text.erase(0, 1);
  return text.empty() ? "ERR unknown error" : text;
}

}  // namespace strata::runtime::cache
