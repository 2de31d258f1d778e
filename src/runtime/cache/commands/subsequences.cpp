// LCS: the longest common subsequence of two strings.
#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

struct lcs_words {
  bool wants_size = false;
  bool wants_matches = false;
  bool wants_match_sizes = false;
  std::int64_t least_match = 0;
};

std::optional<lcs_words> read_lcs_words(call& c) {
  lcs_words read;
  for (std::size_t i = 3; i < c.size(); ++i) {
    if (c.is(i, "IDX")) {
      read.wants_matches = true;
    } else if (c.is(i, "LEN")) {
      read.wants_size = true;
    } else if (c.is(i, "WITHMATCHLEN")) {
      read.wants_match_sizes = true;
    } else if (c.is(i, "MINMATCHLEN") && i + 1 < c.size()) {
      const auto least = c.integer(++i);
      if (!least) return {};
      read.least_match = std::max<std::int64_t>(*least, 0);
    } else {
      c.fail_syntax();
      return {};
    }
  }
  if (read.wants_size && read.wants_matches) {
    c.fail("ERR If you want both the length and indexes, please just use IDX.");
    return {};
  }
  return read;
}

// The length of the longest common subsequence of each pair of prefixes.
class size_table {
 public:
  size_table(std::string_view left, std::string_view right)
      : width_(right.size() + 1), sizes_((left.size() + 1) * width_) {
    for (std::size_t i = 1; i <= left.size(); ++i) {
      for (std::size_t j = 1; j <= right.size(); ++j) {
        sizes_[i * width_ + j] = left[i - 1] == right[j - 1] ? at(i - 1, j - 1) + 1
                                                             : std::max(at(i - 1, j), at(i, j - 1));
      }
    }
  }
  [[nodiscard]] std::uint32_t at(std::size_t left, std::size_t right) const {
    return sizes_[left * width_ + right];
  }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> sizes_;
};

// Consecutive bytes that both have.
struct match {
  std::size_t left;
  std::size_t right;
  std::size_t size;
};

// Returns the matches of the common subsequence, the last first. If there are several subsequences,
// returns the one that Redis finds.
std::vector<match> find_matches(const size_table& sizes, std::string_view left,
                                std::string_view right) {
  std::vector<match> found;
  bool goes_on = false;
  for (auto i = left.size(), j = right.size(); i > 0 && j > 0;) {
    if (left[i - 1] == right[j - 1]) {
      --i;
      --j;
      if (!goes_on) found.push_back({i, j, 0});
      goes_on = true;
      found.back() = {i, j, found.back().size + 1};
    } else {
      goes_on = false;
      --(sizes.at(i - 1, j) > sizes.at(i, j - 1) ? i : j);
    }
  }
  return found;
}

void reply_range(call& c, std::size_t first, std::size_t size) {
  c.reply.array(2);
  c.reply.integer(static_cast<std::int64_t>(first));
  c.reply.integer(static_cast<std::int64_t>(first + size - 1));
}

void reply_matches(call& c, const lcs_words& words, std::vector<match> matches,
                   std::uint32_t size) {
  std::erase_if(matches, [&](const match& each) {
    return each.size < static_cast<std::uint64_t>(words.least_match);
  });
  c.reply.map(2);
  c.reply.bulk("matches");
  c.reply.array(matches.size());
  for (const auto& each : matches) {
    c.reply.array(words.wants_match_sizes ? 3 : 2);
    reply_range(c, each.left, each.size);
    reply_range(c, each.right, each.size);
    if (words.wants_match_sizes) c.reply.integer(static_cast<std::int64_t>(each.size));
  }
  c.reply.bulk("len");
  c.reply.integer(size);
}

bool is_string_or_none(const entry* entry) { return entry == nullptr || entry->is_string(); }

std::string text_of(const entry* entry) {
  return entry == nullptr ? std::string() : std::string(string_view_of(*entry).view());
}

void lcs(call& c) {
  const entry* const first = c.read(1);
  const entry* const second = c.read(2);
  if (!is_string_or_none(first) || !is_string_or_none(second)) {
    c.fail("ERR The specified keys must contain string values");
    return;
  }
  const auto how = read_lcs_words(c);
  if (!how) return;
  const auto left = text_of(first);
  const auto right = text_of(second);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow((left.size() + 1) * sizeof(std::uint32_t), right.size() + 1, &bytes) ||
      bytes > static_cast<std::size_t>(c.home().settings().max_bulk)) {
    c.fail("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    return;
  }
  const size_table sizes(left, right);
  const auto size = sizes.at(left.size(), right.size());
  if (how->wants_size) {
    c.reply.integer(size);
    return;
  }
  auto found = find_matches(sizes, left, right);
  if (how->wants_matches) {
    reply_matches(c, *how, std::move(found), size);
    return;
  }
  std::string text;
  for (auto each = found.rbegin(); each != found.rend(); ++each) {
    text += std::string_view(left).substr(each->left, each->size);
  }
  c.reply.bulk(text);
}

// clang-format off
const command_row subsequence_rows[] = {
    {"lcs", -3, "readonly", {1, 2, 1},
     "RO access 1 1 1", "string", "7.0.0",
     "returns the longest common subsequence of two strings", lcs},
};
// clang-format on

}  // namespace

command_group subsequence_commands() { return {"string", subsequence_rows}; }

}  // namespace strata::runtime::cache
