#include "runtime/cache/commands/pops.hpp"

#include "runtime/cache/commands/key_counts.hpp"

namespace strata::runtime::cache {

void wait_or_null(call& c, std::size_t first, std::size_t count,
                  std::optional<std::int64_t> deadline_ms) {
  if (c.may_block()) {
    c.wait_for(c.words.subspan(first, count), deadline_ms,
               [](front&, client& client) { client.reply().null_array(); });
  } else {
    c.reply.null_array();
  }
}

std::optional<multi_pop> read_multi_pop(call& c, std::size_t first, std::string_view first_end,
                                        std::string_view other_end) {
  const auto keys = read_key_count(c, first, syntax_error);
  if (!keys) return {};
  multi_pop read{.keys = *keys};
  const auto end = first + 1 + read.keys;
  read.at_first_end = c.is(end, first_end);
  if (!read.at_first_end && !c.is(end, other_end)) {
    c.fail_syntax();
    return {};
  }
  bool has_count = false;
  for (std::size_t i = end + 1; i < c.size(); ++i) {
    if (has_count || !c.is(i, "COUNT") || i + 1 == c.size()) {
      c.fail_syntax();
      return {};
    }
    const auto count = text::parse_integer(c[++i]);
    if (!count || *count <= 0) {
      c.fail("ERR count should be greater than 0");
      return {};
    }
    read.count = *count;
    has_count = true;
  }
  return read;
}

}  // namespace strata::runtime::cache
