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

// One key specification, parsed.
struct key_use {
  std::vector<std::string_view> flags;
  std::optional<int> index;  // where keys begin, or where the search for the keyword begins
  bool is_hidden = false;    // COMMAND INFO shows it as unknown
  bool only_reads = false;
  bool reads = false;  // the value
  bool writes = false;
  bool is_key = true;
  bool depends_on_words = false;  // its flags
  std::string_view keyword;       // empty: at the index itself
  enum class kind : std::uint8_t { range, counted, unknown } find = kind::unknown;
  int last = 0;
  int step = 0;
  int limit = 0;
  int count_index = 0;
  int first = 0;
};

void read_find(key_use& use, std::span<const std::string_view> words) {
  if (words.empty() || words[0] == "?") return;
  if (words[0].starts_with('n')) {
    use.find = key_use::kind::counted;
    use.count_index = number_in(words[0].substr(1));
    use.first = number_in(words[1]);
    use.step = number_in(words[2]);
    return;
  }
  use.find = key_use::kind::range;
  use.last = number_in(words[0]);
  use.step = number_in(words[1]);
  if (words.size() > 2) use.limit = number_in(words[2]);
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
  const auto has = [&made](std::string_view flag) {
    return std::ranges::find(made.flags, flag) != made.flags.end();
  };
  made.only_reads = has("RO");
  made.reads = has("access");
  made.writes = has("insert") || has("update") || has("delete");
  made.is_key = !has("not_key");
  made.depends_on_words = has("variable_flags");
  return made;
}

// Returns a command's specifications. They are parsed once, since each change looks for keys.
std::span<const key_use> uses_of(const command& command) {
  static const auto table = [] {
    std::vector<std::vector<key_use>> all;
    for (const auto& each : all_commands()) {
      auto& uses = all.emplace_back();
      for (const auto& text : split(each.row->key_uses, "; ")) uses.push_back(read_use(text));
    }
    return all;
  }();
  return table[command.index];
}

void reply_pair(proto::reply_writer& writer, std::string_view name, int value) {
  writer.bulk(name);
  writer.integer(value);
}

// Writes one half of a specification: its name and type, and the header of a map of `count`.
void reply_half(proto::reply_writer& writer, std::string_view name, std::string_view type,
                std::uint64_t count) {
  writer.bulk(name);
  writer.map(2);
  writer.bulk("type");
  writer.bulk(type);
  writer.bulk("spec");
  writer.map(count);
}

void reply_begin(proto::reply_writer& writer, const key_use& use) {
  constexpr std::string_view name = "begin_search";
  if (!use.index || use.is_hidden) {
    reply_half(writer, name, "unknown", 0);
  } else if (use.keyword.empty()) {
    reply_half(writer, name, "index", 1);
    reply_pair(writer, "index", *use.index);
  } else {
    reply_half(writer, name, "keyword", 2);
    writer.bulk("keyword");
    writer.bulk(use.keyword);
    reply_pair(writer, "startfrom", *use.index);
  }
}

void reply_find(proto::reply_writer& writer, const key_use& use) {
  constexpr std::string_view name = "find_keys";
  switch (use.is_hidden ? key_use::kind::unknown : use.find) {
    case key_use::kind::unknown: reply_half(writer, name, "unknown", 0); break;
    case key_use::kind::range:
      reply_half(writer, name, "range", 3);
      reply_pair(writer, "lastkey", use.last);
      reply_pair(writer, "keystep", use.step);
      reply_pair(writer, "limit", use.limit);
      break;
    case key_use::kind::counted:
      reply_half(writer, name, "keynum", 3);
      reply_pair(writer, "keynumidx", use.count_index);
      reply_pair(writer, "firstkey", use.first);
      reply_pair(writer, "keystep", use.step);
      break;
  }
}

void reply_use(proto::reply_writer& writer, const key_use& use) {
  writer.map(3);
  writer.bulk("flags");
  writer.set(use.flags.size());
  for (const auto& each : use.flags) writer.status(each);
  reply_begin(writer, use);
  reply_find(writer, use);
}

std::vector<std::string> categories_of(const command& command) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view name) { found.push_back("@" + std::string(name)); };
  if (command.has(flag_write)) add("write");
  const bool runs_script = command.row->categories.contains("scripting");
  if (command.has(flag_readonly) && !runs_script) add("read");
  for (const auto& each : split(command.row->categories, " ")) add(each);
  add(command.has(flag_fast) && command.row->name != "set" ? "fast" : "slow");
  return found;
}

// Returns the number of arguments of an option of SORT, so that none of them is taken for STORE.
std::size_t words_of_option(std::string_view option) {
  if (text::same_text(option, "LIMIT")) return 2;
  return text::same_text(option, "BY") || text::same_text(option, "GET") ? 1 : 0;
}

// If a keyword is given twice, the last one counts.
std::optional<std::size_t> find_last_keyword(const key_use& use,
                                             std::span<const std::string_view> words) {
  std::optional<std::size_t> position;
  for (auto at = static_cast<std::size_t>(*use.index); at + 1 < words.size(); ++at) {
    if (text::same_text(words[at], use.keyword)) position = at + 1;
    at += words_of_option(words[at]);
  }
  return position;
}

// Returns where this specification's keys begin in the words; nullopt if it has none there.
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
  // The last key must be one of the words.
  if (!count || *count < 1 || first >= words.size() ||
      static_cast<std::uint64_t>(*count - 1) >
          (words.size() - first - 1) / static_cast<std::size_t>(use.step)) {
    return false;
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    positions.push_back(first + static_cast<std::size_t>(i * use.step));
  }
  return true;
}

// MIGRATE has one key, or those behind KEYS, which may be an argument of AUTH or AUTH2 too. Returns
// false if it has both.
bool add_migrated(std::span<const std::string_view> words, std::vector<std::size_t>& positions) {
  constexpr std::size_t single_key = 3;
  for (std::size_t at = 6; at + 1 < words.size(); ++at) {
    if (text::same_text(words[at], "AUTH")) {
      at += 1;
    } else if (text::same_text(words[at], "AUTH2")) {
      at += 2;
    } else if (text::same_text(words[at], "KEYS")) {
      if (!words[single_key].empty()) return false;
      for (++at; at < words.size(); ++at) positions.push_back(at);
      return true;
    }
  }
  positions.push_back(single_key);
  return true;
}

// Adds the positions of this specification's keys. Returns false if they do not follow from the
// words.
bool add_positions(const key_use& use, const command& command,
                   std::span<const std::string_view> words, std::vector<std::size_t>& positions) {
  if (command.row->name == "migrate") {
    return !use.keyword.empty() || add_migrated(words, positions);
  }
  const auto begin = find_begin(use, words);
  if (!begin || *begin >= words.size()) return true;
  if (use.find == key_use::kind::counted) return add_counted(use, *begin, words, positions);
  if (use.find == key_use::kind::range) {
    const auto count = static_cast<int>(words.size());
    const int first = static_cast<int>(*begin);
    const int last = use.last >= 0    ? first + use.last
                     : use.limit >= 2 ? first + (count - first) / use.limit + use.last
                                      : count + use.last;
    for (int at = first; at <= last && at < count; at += use.step) {
      positions.push_back(static_cast<std::size_t>(at));
    }
  }
  return true;
}

// Reports whether a call of BITFIELD only reads. Invalid words may change something.
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

// Whether a word of SET makes it use the present value.
bool reads_value(std::string_view word) {
  constexpr std::string_view readers[] = {"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"};
  return std::ranges::any_of(readers, [word](auto each) { return text::same_text(word, each); });
}

// Returns how these words use the key. For SET and BITFIELD it depends on the other words.
std::vector<std::string_view> flags_of(const key_use& use, const command& command,
                                       std::span<const std::string_view> words) {
  if (!use.depends_on_words) return use.flags;
  if (command.row->name == "bitfield") {
    if (has_only_gets(words)) return {"RO", "access"};
  } else if (std::ranges::none_of(words.subspan(std::min<std::size_t>(words.size(), 3)),
                                  reads_value)) {
    return {"OW", "update"};
  }
  return {"RW", "access", "update"};
}

std::vector<const command*> known_subcommands(const command& container, unsigned version) {
  std::vector<const command*> known;
  for (const auto& row : container.row->subcommands) {
    const auto* const each = find_subcommand(container, row.name);
    if (each->since <= version) known.push_back(each);
  }
  return known;
}

constexpr std::string_view redacted = "(redacted)";

// Hides `count` words from `first` on.
void redact(std::span<std::string_view> words, std::size_t first, std::size_t count) {
  first = std::min(first, words.size());
  std::ranges::fill(words.subspan(first, std::min(count, words.size() - first)), redacted);
}

// Hides the users and passwords of MIGRATE.
void redact_passwords(std::span<std::string_view> words) {
  for (std::size_t at = 6; at < words.size(); ++at) {
    if (text::same_text(words[at], "KEYS")) return;
    const std::size_t count = text::same_text(words[at], "AUTH")    ? 1
                              : text::same_text(words[at], "AUTH2") ? 2
                                                                    : 0;
    redact(words, at + 1, count);
    at += count;
  }
}

bool is_secret_parameter(std::string_view name) {
  return text::same_text(name, "requirepass") || text::same_text(name, "masterauth") ||
         text::same_text(name, "masteruser");
}

}  // namespace

void reply_command_info(proto::reply_writer& writer, const command& command, unsigned version) {
  const auto& row = *command.row;
  writer.array(10);
  writer.bulk(command.full_name());
  writer.integer(command.arity_in(version));
  const auto flags = split(row.flags, " ");
  writer.set(flags.size());
  for (const auto& each : flags) writer.status(each);
  writer.integer(row.keys.first);
  writer.integer(row.keys.last);
  writer.integer(row.keys.step);
  const auto categories = categories_of(command);
  writer.set(categories.size());
  for (const auto& each : categories) writer.status(each);
  writer.array(0);
  const auto uses = uses_of(command);
  writer.array(uses.size());
  for (const auto& each : uses) reply_use(writer, each);
  const auto subcommands = known_subcommands(command, version);
  writer.array(subcommands.size());
  for (const auto* each : subcommands) reply_command_info(writer, *each, version);
}

void reply_command_docs(proto::reply_writer& writer, const command& command, unsigned version) {
  writer.map(command.row->subcommands.empty() ? 3 : 4);
  writer.bulk("summary");
  writer.bulk(command.row->summary);
  writer.bulk("since");
  writer.bulk(command.row->since);
  writer.bulk("group");
  writer.bulk(command.group);
  if (command.row->subcommands.empty()) return;
  writer.bulk("subcommands");
  const auto subcommands = known_subcommands(command, version);
  writer.map(subcommands.size());
  for (const auto* each : subcommands) {
    writer.bulk(each->full_name());
    reply_command_docs(writer, *each, version);
  }
}

bool has_category(const command& command, std::string_view category) {
  const auto all = categories_of(command);
  return std::ranges::any_of(
      all, [&](std::string_view each) { return text::same_text(each.substr(1), category); });
}

bool find_keys(const command& command, std::span<const std::string_view> words,
               std::vector<std::size_t>& positions, key_choice choice) {
  return std::ranges::all_of(uses_of(command), [&](const key_use& use) {
    const bool is_left_out = use.only_reads && choice == key_choice::changed;
    return is_left_out || add_positions(use, command, words, positions);
  });
}

key_accesses find_key_accesses(const command& command, std::span<const std::string_view> words) {
  key_accesses accesses;
  std::vector<std::size_t> positions;
  for (const auto& use : uses_of(command)) {
    if (!use.is_key) continue;
    bool reads = use.reads;
    bool writes = use.writes;
    if (use.depends_on_words) {
      const auto flags = flags_of(use, command, words);
      reads = std::ranges::find(flags, "access") != flags.end();
      writes = std::ranges::find(flags, "update") != flags.end();
    }
    positions.clear();
    if (!add_positions(use, command, words, positions)) return {};
    for (const auto position : positions) accesses.push_back({position, reads, writes});
  }
  return accesses;
}

bool may_have_keys(const command& command) {
  return std::ranges::any_of(uses_of(command), &key_use::is_key);
}

bool lacks_key(const command& command, std::span<const std::string_view> words) {
  return std::ranges::any_of(uses_of(command), [words](const key_use& use) {
    const bool is_fixed = use.index && use.keyword.empty();
    return is_fixed && static_cast<std::size_t>(*use.index) >= words.size();
  });
}

void reply_keys_and_flags(proto::reply_writer& reply, const command& command,
                          std::span<const std::string_view> words) {
  std::vector<std::size_t> positions;
  (void)find_keys(command, words, positions);
  reply.array(positions.size());
  for (const auto& use : uses_of(command)) {
    positions.clear();
    (void)add_positions(use, command, words, positions);
    const auto flags = flags_of(use, command, words);
    for (const auto position : positions) {
      reply.array(2);
      reply.bulk(words[position]);
      reply.set(flags.size());
      for (const auto& each : flags) reply.status(each);
    }
  }
}

std::vector<std::string_view> shown_words(const command& command,
                                          std::span<const std::string_view> words) {
  std::vector<std::string_view> shown(words.begin(), words.end());
  const bool is_of_acl = command.parent != nullptr && command.parent->name == "acl";
  const bool is_setting = command.parent != nullptr && command.parent->name == "config";
  if (command.row->name == "auth") {
    redact(shown, 1, shown.size());
  } else if (is_of_acl && command.row->name == "setuser") {
    redact(shown, 2, shown.size());
  } else if (command.row->name == "hello") {
    const auto found = std::ranges::find_if(
        words, [](std::string_view each) { return text::same_text(each, "AUTH"); });
    redact(shown, static_cast<std::size_t>(found - words.begin()) + 1, 2);
  } else if (command.row->name == "migrate") {
    redact_passwords(shown);
  } else if (is_setting && command.row->name == "set") {
    for (std::size_t at = 2; at + 1 < words.size(); at += 2) {
      if (is_secret_parameter(words[at])) redact(shown, at + 1, 1);
    }
  }
  return shown;
}

}  // namespace strata::runtime::cache
