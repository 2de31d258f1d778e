#include "runtime/cache/engine/command_info.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(mark), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + mark.size(), text.size()));
  }
  return parts;
}

int number_in(std::string_view text) {
  return static_cast<int>(text::parse_integer(text).value_or(0));
}

// One key specification, taken apart.
struct key_use {
  std::vector<std::string_view> flags;
  std::optional<int> index;  // where keys begin, or where the keyword is looked for
  bool is_hidden = false;    // COMMAND INFO calls it unknown
  bool only_reads = false;
  std::string_view keyword;  // empty: at the index itself
  enum class kind : std::uint8_t { range, counted, unknown } find = kind::unknown;
  int last = 0;
  int step = 0;
  int limit = 0;
  int count_index = 0;
  int first = 0;
};

void read_find(key_use& into, std::span<const std::string_view> words) {
  if (words.empty() || words[0] == "?") return;
  if (words[0].starts_with('n')) {
    into.find = key_use::kind::counted;
    into.count_index = number_in(words[0].substr(1));
    into.first = number_in(words[1]);
    into.step = number_in(words[2]);
    return;
  }
  into.find = key_use::kind::range;
  into.last = number_in(words[0]);
  into.step = number_in(words[1]);
  if (words.size() > 2) into.limit = number_in(words[2]);
}

key_use read_use(std::string_view text) {
  key_use made;
  const auto words = split(text, " ");
  std::size_t at = 0;
  const auto is_begin = [](std::string_view word) {
    return word.starts_with('?') || word.contains('@') || text::parse_integer(word);
  };
  while (at < words.size() && !is_begin(words[at])) made.flags.push_back(words[at++]);
  auto begin = words[at++];
  if (begin.size() > 1 && begin.starts_with('?')) {
    made.is_hidden = true;
    begin.remove_prefix(1);
  }
  if (const auto mark = begin.find('@'); mark != std::string_view::npos) {
    made.keyword = begin.substr(0, mark);
    made.index = number_in(begin.substr(mark + 1));
  } else if (begin != "?") {
    made.index = number_in(begin);
  }
  read_find(made, std::span(words).subspan(at));
  made.only_reads = std::ranges::find(made.flags, "RO") != made.flags.end();
  return made;
}

// A command's, taken apart once: keys are looked for in each change.
std::span<const key_use> uses_of(const command& of) {
  static const auto table = [] {
    std::vector<std::vector<key_use>> all;
    for (const auto& each : all_commands()) {
      auto& uses = all.emplace_back();
      for (const auto& text : split(each.row->key_uses, "; ")) uses.push_back(read_use(text));
    }
    return all;
  }();
  return table[of.index];
}

void reply_pair(proto::reply_writer& to, std::string_view name, int value) {
  to.bulk(name);
  to.integer(value);
}

// One half of a specification: its name and type, and a map of `count` that follows.
void reply_half(proto::reply_writer& to, std::string_view name, std::string_view type,
                std::uint64_t count) {
  to.bulk(name);
  to.map(2);
  to.bulk("type");
  to.bulk(type);
  to.bulk("spec");
  to.map(count);
}

void reply_begin(proto::reply_writer& to, const key_use& use) {
  constexpr std::string_view name = "begin_search";
  if (!use.index || use.is_hidden) {
    reply_half(to, name, "unknown", 0);
  } else if (use.keyword.empty()) {
    reply_half(to, name, "index", 1);
    reply_pair(to, "index", *use.index);
  } else {
    reply_half(to, name, "keyword", 2);
    to.bulk("keyword");
    to.bulk(use.keyword);
    reply_pair(to, "startfrom", *use.index);
  }
}

void reply_find(proto::reply_writer& to, const key_use& use) {
  constexpr std::string_view name = "find_keys";
  switch (use.is_hidden ? key_use::kind::unknown : use.find) {
    case key_use::kind::unknown: reply_half(to, name, "unknown", 0); break;
    case key_use::kind::range:
      reply_half(to, name, "range", 3);
      reply_pair(to, "lastkey", use.last);
      reply_pair(to, "keystep", use.step);
      reply_pair(to, "limit", use.limit);
      break;
    case key_use::kind::counted:
      reply_half(to, name, "keynum", 3);
      reply_pair(to, "keynumidx", use.count_index);
      reply_pair(to, "firstkey", use.first);
      reply_pair(to, "keystep", use.step);
      break;
  }
}

void reply_use(proto::reply_writer& to, const key_use& use) {
  to.map(3);
  to.bulk("flags");
  to.set(use.flags.size());
  for (const auto& each : use.flags) to.status(each);
  reply_begin(to, use);
  reply_find(to, use);
}

std::vector<std::string> categories_of(const command& of) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view name) { found.push_back("@" + std::string(name)); };
  if (of.has(flag_write)) add("write");
  if (of.has(flag_readonly)) add("read");
  for (const auto& each : split(of.row->categories, " ")) add(each);
  add(of.has(flag_fast) && of.row->name != "set" ? "fast" : "slow");
  return found;
}

// Words that belong to an option of SORT, so that none of them is taken for STORE.
std::size_t words_of_option(std::string_view option) {
  if (text::same_text(option, "LIMIT")) return 2;
  return text::same_text(option, "BY") || text::same_text(option, "GET") ? 1 : 0;
}

// Of a keyword that is given twice, the last one counts.
std::optional<std::size_t> find_last_keyword(const key_use& use,
                                             std::span<const std::string_view> words) {
  std::optional<std::size_t> position;
  for (auto at = static_cast<std::size_t>(*use.index); at + 1 < words.size(); ++at) {
    if (text::same_text(words[at], use.keyword)) position = at + 1;
    at += words_of_option(words[at]);
  }
  return position;
}

// Where this specification's keys begin in the words. Nothing: it has none there.
std::optional<std::size_t> find_begin(const key_use& use, std::span<const std::string_view> words) {
  if (!use.index) return {};
  if (use.keyword.empty()) return static_cast<std::size_t>(*use.index);
  if (use.is_hidden) return find_last_keyword(use, words);
  const bool from_end = *use.index < 0;
  const auto count = static_cast<int>(words.size());
  int at = from_end ? count + *use.index : *use.index;
  for (; at > 0 && at + 1 < count; at += from_end ? -1 : 1) {
    if (text::same_text(words[static_cast<std::size_t>(at)], use.keyword)) {
      return static_cast<std::size_t>(at) + 1;
    }
  }
  return {};
}

bool add_counted(const key_use& use, std::size_t begin, std::span<const std::string_view> words,
                 std::vector<std::size_t>& positions) {
  const auto at = begin + static_cast<std::size_t>(use.count_index);
  const auto count = at < words.size() ? text::parse_integer(words[at]) : std::nullopt;
  const auto first = begin + static_cast<std::size_t>(use.first);
  if (!count || *count < 1 || first >= words.size() ||
      static_cast<std::uint64_t>(*count) > words.size() - first) {
    return false;
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    positions.push_back(first + static_cast<std::size_t>(i * use.step));
  }
  return true;
}

// Adds the positions of this specification's keys. False: the words do not say.
bool add_positions(const key_use& use, std::span<const std::string_view> words,
                   std::vector<std::size_t>& positions) {
  const auto begin = find_begin(use, words);
  if (!begin || *begin >= words.size()) return true;
  if (use.find == key_use::kind::counted) return add_counted(use, *begin, words, positions);
  if (use.find == key_use::kind::range) {
    const auto count = static_cast<int>(words.size());
    const int last = use.last < 0 ? count + use.last : static_cast<int>(*begin) + use.last;
    for (int at = static_cast<int>(*begin); at <= last && at < count; at += use.step) {
      positions.push_back(static_cast<std::size_t>(at));
    }
  }
  return true;
}

// Whether a call of BITFIELD only reads. Words that make no sense may change something.
bool has_only_gets(std::span<const std::string_view> words) {
  for (std::size_t at = 2; at < words.size(); ++at) {
    const auto left = words.size() - at - 1;
    if (text::same_text(words[at], "GET") && left >= 2) {
      at += 2;
    } else if (text::same_text(words[at], "OVERFLOW") && left >= 1) {
      at += 1;
    } else {
      return false;
    }
  }
  return true;
}

// How these words use the key. Of SET and BITFIELD it depends on what else they say.
std::vector<std::string_view> flags_of(const key_use& use, const command& what,
                                       std::span<const std::string_view> words) {
  if (std::ranges::find(use.flags, "variable_flags") == use.flags.end()) return use.flags;
  if (what.row->name == "bitfield") {
    if (has_only_gets(words)) return {"RO", "access"};
  } else if (std::ranges::none_of(
                 words.subspan(std::min<std::size_t>(words.size(), 3)),
                 [](std::string_view each) { return text::same_text(each, "GET"); })) {
    return {"OW", "update"};
  }
  return {"RW", "access", "update"};
}

constexpr std::string_view redacted = "(redacted)";

// Hides `count` words from `first` on.
void redact(std::span<std::string_view> words, std::size_t first, std::size_t count) {
  first = std::min(first, words.size());
  std::ranges::fill(words.subspan(first, std::min(count, words.size() - first)), redacted);
}

bool is_secret_parameter(std::string_view name) {
  return text::same_text(name, "requirepass") || text::same_text(name, "masterauth");
}

}  // namespace

void reply_command_info(proto::reply_writer& to, const command& of) {
  const auto& row = *of.row;
  to.array(10);
  to.bulk(of.full_name());
  to.integer(row.arity);
  const auto flags = split(row.flags, " ");
  to.set(flags.size());
  for (const auto& each : flags) to.status(each);
  to.integer(row.keys.first);
  to.integer(row.keys.last);
  to.integer(row.keys.step);
  const auto categories = categories_of(of);
  to.set(categories.size());
  for (const auto& each : categories) to.status(each);
  to.array(0);
  const auto uses = uses_of(of);
  to.array(uses.size());
  for (const auto& each : uses) reply_use(to, each);
  to.array(row.subcommands.size());
  for (const auto& each : row.subcommands) {
    reply_command_info(to, *find_subcommand(of, each.name));
  }
}

void reply_command_docs(proto::reply_writer& to, const command& of) {
  to.map(of.row->subcommands.empty() ? 3 : 4);
  to.bulk("summary");
  to.bulk(of.row->summary);
  to.bulk("since");
  to.bulk(of.row->since);
  to.bulk("group");
  to.bulk(of.group);
  if (of.row->subcommands.empty()) return;
  to.bulk("subcommands");
  to.map(of.row->subcommands.size());
  for (const auto& each : of.row->subcommands) {
    const auto& found = *find_subcommand(of, each.name);
    to.bulk(found.full_name());
    reply_command_docs(to, found);
  }
}

bool has_category(const command& of, std::string_view category) {
  const auto all = categories_of(of);
  return std::ranges::any_of(
      all, [&](std::string_view each) { return text::same_text(each.substr(1), category); });
}

bool find_keys(const command& of, std::span<const std::string_view> words,
               std::vector<std::size_t>& positions, key_choice which) {
  return std::ranges::all_of(uses_of(of), [&](const key_use& use) {
    const bool is_left_out = use.only_reads && which == key_choice::changed;
    return is_left_out || add_positions(use, words, positions);
  });
}

void reply_keys_and_flags(proto::reply_writer& reply, const command& what,
                          std::span<const std::string_view> words) {
  std::vector<std::size_t> positions;
  (void)find_keys(what, words, positions);
  reply.array(positions.size());
  for (const auto& use : uses_of(what)) {
    positions.clear();
    (void)add_positions(use, words, positions);
    const auto flags = flags_of(use, what, words);
    for (const auto position : positions) {
      reply.array(2);
      reply.bulk(words[position]);
      reply.set(flags.size());
      for (const auto& each : flags) reply.status(each);
    }
  }
}

std::vector<std::string_view> shown_words(const command& what,
                                          std::span<const std::string_view> words) {
  std::vector<std::string_view> shown(words.begin(), words.end());
  const bool is_setting = what.parent != nullptr && what.parent->name == "config";
  if (what.row->name == "auth") {
    redact(shown, 1, shown.size());
  } else if (what.row->name == "hello") {
    const auto found = std::ranges::find_if(
        words, [](std::string_view each) { return text::same_text(each, "AUTH"); });
    redact(shown, static_cast<std::size_t>(found - words.begin()) + 1, 2);
  } else if (is_setting && what.row->name == "set") {
    for (std::size_t at = 2; at + 1 < words.size(); at += 2) {
      if (is_secret_parameter(words[at])) redact(shown, at + 1, 1);
    }
  }
  return shown;
}

}  // namespace strata::runtime::cache
