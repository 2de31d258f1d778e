// Commands that depend on the string of a key: DIGEST and DELEX of Redis 8.4, DELIFEQ of Valkey 9.
#include "runtime/cache/commands/strings/string_comparison.hpp"

#include <fmt/format.h>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t digest_size = 16;

std::string digest_text(std::string_view value) { return fmt::format("{:016x}", digest_of(value)); }

void digest_value(call& c) {
  entry* const found = c.read(1);
  if (found == nullptr && c.has_to_fetch(1)) return;
  const auto opened = c.open_string(found);
  if (!opened) return;
  if (*opened == nullptr) {
    c.reply.null();
  } else {
    c.reply.bulk(digest_text(string_view_of(**opened).view()));
  }
}

// Deletes the key at word 1, which may not exist, if it `is_wanted`.
void delete_if(call& c, entry* entry, bool is_wanted) {
  if (entry == nullptr || !is_wanted) {
    c.reply.integer(0);
    return;
  }
  c.propagate_as("DEL", c[1]);
  c.keys().changes().record();
  c.remove(entry, c.hash(1));
  c.reply.integer(1);
}

void delex(call& c) {
  if (c.size() != 2 && c.size() != 4) {
    c.fail_arity();
    return;
  }
  entry* const found = c.find(1);
  if (c.size() == 2 || found == nullptr) {
    delete_if(c, found, true);
    return;
  }
  if (!found->is_string()) {
    c.fail("ERR Key should be of string type if conditions are specified");
    return;
  }
  const auto comparison = read_string_comparison(c, 2);
  if (!comparison) {
    c.fail("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    return;
  }
  const auto passes = passes_comparison(c, *comparison, found);
  if (passes) delete_if(c, found, *passes);
}

void delifeq(call& c) {
  const auto found = c.open_string(c.find(1));
  if (!found) return;
  delete_if(c, *found, *found != nullptr && string_view_of(**found).view() == c[2]);
}

// clang-format off
const command_row string_comparison_rows[] = {
    {"delex", -2, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "string", "8.4.0",
     "deletes a key, if its value or digest is, or is not, a given one", delex},
    {"delifeq", 3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "string", "9.0.0",
     "deletes a key if its value is a given one", delifeq},
    {"digest", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "string", "8.4.0",
     "returns the digest of a string", digest_value},
};
// clang-format on

}  // namespace

std::optional<string_comparison> read_string_comparison(const call& c, std::size_t index) {
  if (index + 1 >= c.size() || !c.knows(version_8_4)) return {};
  const bool by_digest = c.is(index, "IFDEQ") || c.is(index, "IFDNE");
  const bool is_equal = c.is(index, "IFEQ") || c.is(index, "IFDEQ");
  if (!by_digest && !is_equal && !c.is(index, "IFNE")) return {};
  return string_comparison{by_digest, is_equal, c[index + 1]};
}

std::optional<bool> passes_comparison(call& c, const string_comparison& comparison,
                                      const entry* present) {
  if (present == nullptr) return !comparison.is_equal;
  const string_view_of text(*present);
  if (!comparison.by_digest) return (text.view() == comparison.value) == comparison.is_equal;
  if (comparison.value.size() != digest_size) {
    c.fail("ERR must be exactly 16 hexadecimal characters");
    return {};
  }
  return text::same_text(comparison.value, digest_text(text.view())) == comparison.is_equal;
}

command_group string_comparison_commands() { return {"string", string_comparison_rows}; }

}  // namespace strata::runtime::cache
