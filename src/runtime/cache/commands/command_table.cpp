// The list of all commands: the groups of commands/, by name.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/engine/version.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr command_group (*groups[])() = {
    string_commands,
    string_comparison_commands,
    multi_set_commands,
    bit_commands,
    bitfield_commands,
    subsequence_commands,
    key_commands,
    sorting_commands,
    expiry_commands,
    scan_commands,
    serialization_commands,
    list_commands,
    list_move_commands,
    set_commands,
    set_algebra_commands,
    hash_commands,
    hash_combination_commands,
    hash_expiry_commands,
    transaction_commands,
    function_commands,
    script_commands,
    pubsub_commands,
    connection_commands,
    acl_commands,
    client_commands,
    config_commands,
    server_commands,
    latency_commands,
    persistence_commands,
    replication_commands,
    debug_commands,
    command_commands,
    cluster_commands,
    module_commands,
    sorted_set_commands,
    sorted_set_range_commands,
    sorted_set_pop_commands,
    sorted_set_algebra_commands,
    hyperloglog_commands,
    geo_commands,
    geo_search_commands,
    stream_entry_commands,
    stream_deletion_commands,
    stream_group_commands,
    stream_pending_commands,
    stream_reading_commands,
    stream_information_commands,
};

struct flag_name {
  std::string_view name;
  command_flag flag;
};
constexpr flag_name flag_names[] = {
    {"write", flag_write},
    {"denyoom", flag_deny_oom},
    {"admin", flag_admin},
    {"pubsub", flag_pubsub},
    {"no_multi", flag_no_multi},
    {"no_auth", flag_no_auth},
    {"fast", flag_fast},
    {"blocking", flag_blocking},
    {"readonly", flag_readonly},
    {"skip_monitor", flag_skip_monitor},
    {"allow_busy", flag_allow_busy},
    {"movablekeys", flag_movable_keys},
    {"loading", flag_loading},
    {"noscript", flag_no_script},
    {"no_mandatory_keys", flag_no_mandatory_keys},
    {"stale", flag_stale},
};

std::uint32_t flags_of(std::string_view names) {
  std::uint32_t flags = 0;
  while (!names.empty()) {
    const auto end = std::min(names.find(' '), names.size());
    for (const auto& each : flag_names) {
      if (each.name == names.substr(0, end)) flags |= each.flag;
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return flags;
}

// Converts "7.2.0" to 702.
unsigned version_number(std::string_view text) {
  unsigned numbers[2] = {0, 0};
  std::size_t index = 0;
  for (const char each : text) {
    if (each == '.' && ++index == 2) break;
    if (each != '.') numbers[index] = numbers[index] * 10 + static_cast<unsigned>(each - '0');
  }
  return numbers[0] * 100 + numbers[1];
}

std::vector<command> read_tables() {
  std::vector<command> all;
  const auto add = [&all](const command_row& row, const command_row* parent,
                          std::string_view group) {
    auto& made = all.emplace_back();
    made.row = &row;
    made.parent = parent;
    made.group = group;
    made.flags = flags_of(row.flags);
    made.run = row.run;
    made.since = version_number(row.since);
    made.is_plain = row.run != nullptr && row.subcommands.empty() && made.since <= version_7_0;
    made.least_words = static_cast<std::size_t>(std::abs(row.arity));
    made.most_words = row.arity < 0 ? SIZE_MAX : made.least_words;
    made.first_key = static_cast<std::size_t>(std::max(row.keys.first, 0));
    if ((row.traits & trait_quick) != 0) made.flags |= flag_fast;
  };
  for (const auto group : groups) {
    const auto read = group();
    for (const auto& row : read.rows) {
      add(row, nullptr, read.name);
      for (const auto& each : row.subcommands) add(each, &row, read.name);
    }
  }
  std::ranges::sort(all, {}, [](const command& each) { return each.full_name(); });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = i;
  return all;
}

// A name in lower case, as three words, so that three comparisons distinguish two names.
struct folded {
  static constexpr std::size_t longest = 24;
  std::array<std::uint64_t, 3> words{};

  explicit folded(std::string_view name) {
    if (name.size() <= 8) {
      words[0] = load(name);
    } else {
      words[0] = load(name.substr(0, 8));
      words[1] = load(name.substr(8, 8));
      if (name.size() > 16) words[2] = load(name.substr(16));
    }
    for (auto& each : words) each |= 0x2020202020202020;
  }
  // Loads up to eight bytes, padded with zeros, without a loop.
  static std::uint64_t load(std::string_view bytes) {
    const auto size = bytes.size();
    std::uint64_t word = 0;
    if (size == 8) {
      std::memcpy(&word, bytes.data(), 8);
    } else if (size >= 4) {
      std::uint32_t low = 0;
      std::uint32_t high = 0;
      std::memcpy(&low, bytes.data(), 4);
      std::memcpy(&high, bytes.data() + size - 4, 4);
      word = low | std::uint64_t{high} << 8 * (size - 4);
    } else if (size != 0) {
      const auto byte_at = [&](std::size_t offset) {
        return std::uint64_t{static_cast<unsigned char>(bytes[offset])} << 8 * offset;
      };
      word = byte_at(0) | byte_at(size / 2) | byte_at(size - 1);
    }
    return word;
  }
  [[nodiscard]] std::size_t hash() const {
    const auto mixed =
        (words[0] ^ std::rotl(words[1], 23) ^ std::rotl(words[2], 47)) * 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(mixed >> 54U);
  }
  bool operator==(const folded&) const = default;
};

class name_table {
 public:
  name_table() {
    for (const auto& each : all_commands()) {
      if (each.parent != nullptr) continue;
      const folded name(each.row->name);
      auto at = name.hash();
      while (places_[at].what != nullptr) at = (at + 1) % places_.size();
      const auto text = each.row->name;
      places_[at] = {name, text.size(), text.contains('_'), &each};
    }
  }
  [[nodiscard]] const command* find(std::string_view text) const {
    if (text.size() > folded::longest) return nullptr;
    const folded name(text);
    for (auto at = name.hash(); places_[at].what != nullptr; at = (at + 1) % places_.size()) {
      if (places_[at].name != name) continue;
      // Folding converts letters to lower case, and makes some other bytes equal: of those, only
      // '_' matters.
      const auto& found = places_[at];
      if (found.size != text.size()) return nullptr;
      if (found.has_line && !text::same_text(found.what->row->name, text)) return nullptr;
      return found.what;
    }
    return nullptr;
  }

 private:
  struct place {
    folded name{""};
    std::size_t size = 0;
    bool has_line = false;
    const command* what = nullptr;
  };
  std::array<place, 1024> places_;
};

}  // namespace

std::string command::full_name() const {
  if (parent == nullptr) return std::string(row->name);
  return std::string(parent->name) + "|" + std::string(row->name);
}

std::span<const command> all_commands() {
  static const auto all = read_tables();
  return all;
}

const command* find_command(std::string_view name) {
  static const name_table table;
  return table.find(name);
}

const command* find_subcommand(const command& command, std::string_view name) {
  for (const auto& each : all_commands().subspan(command.index + 1)) {
    if (each.parent != command.row) break;
    if (text::same_text(each.row->name, name)) return &each;
  }
  return nullptr;
}

}  // namespace strata::runtime::cache
