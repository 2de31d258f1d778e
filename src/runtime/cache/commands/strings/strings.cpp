// Commands on strings.
#include <cmath>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/commands/strings/string_bytes.hpp"
#include "runtime/cache/commands/strings/string_comparison.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void reply_string(call& c, const entry* entry) {
  if (entry == nullptr) {
    c.reply.null();
  } else if (entry->is_integer()) {
    c.reply.bulk_integer(entry->integer());
  } else {
    c.reply.bulk(entry->text());
  }
}

// Sets the key to a string without an expiry.
void set_plain(call& c, std::size_t key, std::string_view text) {
  const auto hash = c.hash(key);
  entry* const old = c.keys().find(c.who.database, c[key], hash);
  if (old != nullptr && old->is_string() && !old->has_expiry() && old->assign(text)) {
    old->set_access(c.keys().access_clock());
  } else {
    c.store(entry::make_text(c[key], text), hash);
  }
  c.changed(c[key], event_string, "set");
}

// Returns the string at the first key, or null. Returns nullopt if the command has replied, or
// waits for a fetched value.
std::optional<entry*> fetch_string(call& c) {
  entry* const value = c.read(1);
  if (value == nullptr && c.has_to_fetch(1)) return {};
  return c.open_string(value);
}

void get(call& c) {
  if (const auto found = fetch_string(c)) reply_string(c, *found);
}

struct set_options {
  bool if_absent = false;
  bool if_present = false;
  bool keep_expiry = false;
  bool give_old = false;
  std::optional<std::int64_t> expires_at_ms;
  std::optional<string_comparison> comparison;
};

// Reads a comparison at word `index`, and moves to its value. Returns false if there is none, or
// another condition too.
bool read_comparison(const call& c, std::size_t& index, set_options& read) {
  if (read.comparison || read.if_absent || read.if_present) return false;
  read.comparison = read_string_comparison(c, index);
  if (!read.comparison) return false;
  ++index;
  return true;
}

// Reports other mistakes before a wrong time.
std::optional<set_options> read_set_options(call& c) {
  set_options read;
  const expiry_word* unit = nullptr;
  std::size_t time = 0;
  for (std::size_t i = 3; i < c.size(); ++i) {
    const bool last = i + 1 == c.size();
    if (c.is(i, "NX") && !read.if_present && !read.comparison) {
      read.if_absent = true;
    } else if (c.is(i, "XX") && !read.if_absent && !read.comparison) {
      read.if_present = true;
    } else if (c.is(i, "GET")) {
      read.give_old = true;
    } else if (c.is(i, "KEEPTTL") && unit == nullptr) {
      read.keep_expiry = true;
    } else if (const auto* const word = find_expiry_word(c[i]);
               word != nullptr && !last && !read.keep_expiry && unit == nullptr) {
      unit = word;
      time = ++i;
    } else if (!read_comparison(c, i, read)) {
      c.fail_syntax();
      return {};
    }
  }
  if (unit != nullptr) {
    read.expires_at_ms = parse_expiry(c, time, *unit);
    if (!read.expires_at_ms) return {};
  }
  return read;
}

void set_with_options(call& c) {
  const auto options = read_set_options(c);
  if (!options) return;
  const auto hash = c.hash(1);
  entry* const old = options->give_old ? c.read(1) : c.keys().find(c.who.database, c[1], hash);
  if ((options->give_old || options->comparison) && !c.open_string(old)) return;
  const auto passes =
      options->comparison ? passes_comparison(c, *options->comparison, old) : std::optional(true);
  if (!passes) return;
  if (options->give_old) reply_string(c, old);
  if ((options->if_absent && old != nullptr) || (options->if_present && old == nullptr) ||
      !*passes) {
    if (!options->give_old) c.reply.null();
    return;
  }
  const bool keeps = options->keep_expiry && old != nullptr;
  const auto expires = keeps ? old->expires_at_ms() : options->expires_at_ms.value_or(entry::never);
  c.store(entry::make_text(c[1], c[2], expires), hash);
  c.changed(c[1], event_string, "set");
  if (options->expires_at_ms) {
    c.keys().notify(event_generic, "expire", c[1], c.who.database);
    c.propagate_as("SET", c[1], c[2], "PXAT", text::integer_text(expires).view());
  } else if (options->comparison && keeps) {
    c.propagate_as("SET", c[1], c[2], "KEEPTTL");
  } else if ((options->give_old || options->comparison) && !keeps) {
    c.propagate_as("SET", c[1], c[2]);
  }
  if (!options->give_old) c.reply.ok();
}

void set(call& c) {
  if (c.size() > 3) {
    set_with_options(c);
    return;
  }
  set_plain(c, 1, c[2]);
  c.reply.ok();
}

void setnx(call& c) {
  if (c.find(1) != nullptr) {
    c.reply.integer(0);
    return;
  }
  set_plain(c, 1, c[2]);
  c.reply.integer(1);
}

void set_expiring(call& c, expiry_word unit) {
  const auto at_ms = parse_expiry(c, 2, unit);
  if (!at_ms) return;
  c.store(entry::make_text(c[1], c[3], *at_ms), c.hash(1));
  c.changed(c[1], event_string, "set");
  c.keys().notify(event_generic, "expire", c[1], c.who.database);
  c.propagate_as("SET", c[1], c[3], "PXAT", text::integer_text(*at_ms).view());
  c.reply.ok();
}

void setex(call& c) { set_expiring(c, {.is_ms = false, .is_absolute = false}); }
void psetex(call& c) { set_expiring(c, {.is_ms = true, .is_absolute = false}); }

void getset(call& c) {
  const auto old = c.open_string(c.read(1));
  if (!old) return;
  reply_string(c, *old);
  set_plain(c, 1, c[2]);
  c.propagate_as("SET", c[1], c[2]);
}

void getdel(call& c) {
  const auto found = c.open_string(c.read(1));
  if (!found) return;
  reply_string(c, *found);
  if (*found == nullptr) return;
  c.propagate_as("DEL", c[1]);
  c.keys().changes().record();
  c.remove(*found, c.hash(1));
}

void getex(call& c) {
  bool persist = false;
  const expiry_word* unit = nullptr;
  std::size_t time = 0;
  for (std::size_t i = 2; i < c.size(); ++i) {
    const auto* const word = find_expiry_word(c[i]);
    if (c.is(i, "PERSIST") && unit == nullptr) {
      persist = true;
    } else if (word != nullptr && i + 1 < c.size() && !persist && unit == nullptr) {
      unit = word;
      time = ++i;
    } else {
      c.fail_syntax();
      return;
    }
  }
  const auto found = fetch_string(c);
  if (!found) return;
  const auto at_ms =
      *found != nullptr && unit != nullptr ? parse_expiry(c, time, *unit) : std::nullopt;
  if (c.has_failed()) return;
  reply_string(c, *found);
  if (*found == nullptr) return;
  if (at_ms) {
    expire_at(c, 1, *found, *at_ms);
  } else if (persist && (*found)->has_expiry()) {
    c.data().set_expiry(*found, entry::never, c.hash(1));
    c.changed(c[1], event_generic, "persist");
    c.propagate_as("PERSIST", c[1]);
  }
}

void mget(call& c) {
  if (c.has_to_fetch_some(c.words.subspan(1))) return;
  c.reply.array(c.size() - 1);
  for (std::size_t i = 1; i < c.size(); ++i) {
    const entry* const found = c.read(i);
    reply_string(c, found != nullptr && found->is_string() ? found : nullptr);
  }
}

bool check_pairs(call& c) {
  if (c.size() % 2 == 1) return true;
  c.fail("ERR wrong number of arguments for '" + c.what.full_name() + "' command");
  return false;
}

void mset(call& c) {
  if (!check_pairs(c)) return;
  for (std::size_t i = 1; i < c.size(); i += 2) set_plain(c, i, c[i + 1]);
  c.reply.ok();
}

void msetnx(call& c) {
  if (!check_pairs(c)) return;
  for (std::size_t i = 1; i < c.size(); i += 2) {
    if (c.find(i) != nullptr) {
      c.reply.integer(0);
      return;
    }
  }
  for (std::size_t i = 1; i < c.size(); i += 2) set_plain(c, i, c[i + 1]);
  c.reply.integer(1);
}

void add_to(call& c, std::int64_t delta) {
  const auto found = c.open_string(c.find(1));
  if (!found) return;
  std::int64_t value = 0;
  if (*found != nullptr) {
    const auto before =
        (*found)->is_integer() ? (*found)->integer() : text::parse_integer((*found)->text());
    if (!before) {
      c.fail(not_integer_error);
      return;
    }
    value = *before;
  }
  if (__builtin_add_overflow(value, delta, &value)) {
    c.fail(overflow_error);
    return;
  }
  if (*found != nullptr && (*found)->is_integer()) {
    (*found)->assign_integer(value);
  } else {
    const auto expires = *found == nullptr ? entry::never : (*found)->expires_at_ms();
    c.store(entry::make_text(c[1], text::integer_text(value).view(), expires), c.hash(1));
  }
  c.changed(c[1], event_string, "incrby");
  c.reply.integer(value);
}

void incr(call& c) { add_to(c, 1); }
void decr(call& c) { add_to(c, -1); }

void incrby(call& c) {
  if (const auto delta = c.integer(2)) add_to(c, *delta);
}

void decrby(call& c) {
  const auto delta = c.integer(2);
  if (!delta) return;
  if (*delta == INT64_MIN) {
    c.fail("ERR decrement would overflow");
    return;
  }
  add_to(c, -*delta);
}

void incrbyfloat(call& c) {
  const auto found = c.open_string(c.find(1));
  if (!found) return;
  const auto before = *found == nullptr ? std::optional<long double>(0)
                                        : text::parse_long_real(string_view_of(**found).view());
  const auto delta = before ? text::parse_long_real(c[2]) : std::nullopt;
  if (!delta) {
    c.fail(not_float_error);
    return;
  }
  const long double value = *before + *delta;
  if (std::isnan(value) || std::isinf(value)) {
    c.fail("ERR increment would produce NaN or Infinity");
    return;
  }
  const auto text = text::format_long_real(value);
  const auto expires = *found == nullptr ? entry::never : (*found)->expires_at_ms();
  c.store(entry::make_bytes(c[1], text, expires, false), c.hash(1));
  c.changed(c[1], event_string, "incrbyfloat");
  c.propagate_as("SET", c[1], text, "KEEPTTL");
  c.reply.bulk(text);
}

void append(call& c) {
  const auto opened = c.open_string(c.find(1));
  if (!opened) return;
  entry* found = *opened;
  if (found == nullptr) {
    c.add(entry::make_text(c[1], c[2]), c.hash(1));
    c.changed(c[1], event_string, "append");
    c.reply.integer(static_cast<std::int64_t>(c[2].size()));
    return;
  }
  const auto before = string_view_of(*found).view().size();
  const auto size = before + c[2].size();
  if (size > static_cast<std::uint64_t>(c.home().settings().max_bulk)) {
    c.fail(too_long_error);
    return;
  }
  std::memcpy(widen(c, found, size) + before, c[2].data(), c[2].size());
  c.changed(c[1], event_string, "append");
  c.reply.integer(static_cast<std::int64_t>(size));
}

void strlen(call& c) {
  const auto found = fetch_string(c);
  if (!found) return;
  c.reply.integer(
      *found == nullptr ? 0 : static_cast<std::int64_t>(string_view_of(**found).view().size()));
}

void setrange(call& c) {
  const auto offset = c.integer(2);
  if (!offset) return;
  if (*offset < 0) {
    c.fail("ERR offset is out of range");
    return;
  }
  const auto opened = c.open_string(c.find(1));
  if (!opened) return;
  entry* found = *opened;
  const auto before = found == nullptr ? 0 : string_view_of(*found).view().size();
  if (c[3].empty()) {
    c.reply.integer(static_cast<std::int64_t>(before));
    return;
  }
  const auto end = static_cast<std::uint64_t>(*offset) + c[3].size();
  if (end > static_cast<std::uint64_t>(c.home().settings().max_bulk)) {
    c.fail(too_long_error);
    return;
  }
  std::memcpy(widen(c, found, end) + *offset, c[3].data(), c[3].size());
  c.changed(c[1], event_string, "setrange");
  c.reply.integer(static_cast<std::int64_t>(std::max<std::uint64_t>(before, end)));
}

void getrange(call& c) {
  auto first = c.integer(2);
  auto last = first ? c.integer(3) : std::nullopt;
  if (!last) return;
  const auto found = fetch_string(c);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.bulk({});
    return;
  }
  const string_view_of text(**found);
  const auto size = static_cast<std::int64_t>(text.view().size());
  if (*first < 0 && *last < 0 && *first > *last) {
    c.reply.bulk({});
    return;
  }
  if (*first < 0) *first = std::max<std::int64_t>(*first + size, 0);
  if (*last < 0) *last = std::max<std::int64_t>(*last + size, 0);
  *last = std::min(*last, size - 1);
  if (*first > *last || size == 0) {
    c.reply.bulk({});
    return;
  }
  c.reply.bulk(text.view().substr(static_cast<std::size_t>(*first),
                                  static_cast<std::size_t>(*last - *first + 1)));
}

void substr(call& c) { getrange(c); }

// clang-format off
const command_row string_rows[] = {
    {"append", 3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "string", "2.0.0",
     "appends to a string", append},
    {"decr", 2, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "1.0.0",
     "subtracts one from a number", decr},
    {"decrby", 3, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "1.0.0",
     "subtracts an integer from a number", decrby},
    {"get", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "string", "1.0.0",
     "returns the string of a key", get},
    {"getdel", 2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "string", "6.2.0",
     "returns the string of a key and removes the key", getdel},
    {"getex", -2, "write fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "6.2.0",
     "returns the string of a key and sets or removes its expiry", getex},
    {"getrange", 4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "string", "2.4.0",
     "returns a part of a string", getrange},
    {"getset", 3, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "1.0.0",
     "sets a key to a string and returns the previous string", getset},
    {"incr", 2, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "1.0.0",
     "adds one to a number", incr},
    {"incrby", 3, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "1.0.0",
     "adds an integer to a number", incrby},
    {"incrbyfloat", 3, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "string", "2.6.0",
     "adds a floating-point number to a number", incrbyfloat},
    {"mget", -2, "readonly fast", {1, -1, 1},
     "RO access 1 -1 1", "string", "1.0.0",
     "returns the strings of several keys", mget},
    {"mset", -3, "write denyoom", {1, -1, 2},
     "OW update 1 -1 2", "string", "1.0.1",
     "sets several keys to strings", mset},
    {"msetnx", -3, "write denyoom", {1, -1, 2},
     "OW insert 1 -1 2", "string", "1.0.1",
     "sets several keys to strings unless one of the keys exists", msetnx},
    {"psetex", 4, "write denyoom", {1, 1, 1},
     "OW update 1 0 1", "string", "2.6.0",
     "sets a key to a string that expires after a time in milliseconds", psetex},
    {"set", -3, "write denyoom", {1, 1, 1},
     "RW access update variable_flags 1 0 1", "string", "1.0.0",
     "sets a key to a string", set, {}, trait_quick},
    {"setex", 4, "write denyoom", {1, 1, 1},
     "OW update 1 0 1", "string", "2.0.0",
     "sets a key to a string that expires after a time in seconds", setex},
    {"setnx", 3, "write denyoom fast", {1, 1, 1},
     "OW insert 1 0 1", "string", "1.0.0",
     "sets a key to a string unless the key exists", setnx},
    {"setrange", 4, "write denyoom", {1, 1, 1},
     "RW update 1 0 1", "string", "2.2.0",
     "overwrites a part of a string", setrange},
    {"strlen", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "string", "2.2.0",
     "returns the length of a string", strlen},
    {"substr", 4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "string", "1.0.0",
     "returns a part of a string; same as GETRANGE", substr},
};
// clang-format on

}  // namespace

command_group string_commands() { return {"string", string_rows}; }

}  // namespace strata::runtime::cache
