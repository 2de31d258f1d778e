#include "cli/line/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "cli/line/foreign_flags.hpp"
#include "text/nearest.hpp"

namespace strata::cli {

using options::option_kind;
using options::option_row;

namespace {

bool is_help(std::string_view token) { return token == "--help" || token == "-h"; }

/// Whether the token is a flag. "-" is a word, and so are "-5", "---" and dashes before a space:
/// text that a user sends.
bool is_flag(std::string_view token) {
  if (!token.starts_with('-')) return false;
  const bool is_long = token.starts_with("--");
  token.remove_prefix(is_long ? 2 : 1);
  if (token.empty() || token.front() == '-') return false;
  const auto first = static_cast<unsigned char>(token.front());
  return first > '!' && (is_long || first < '0' || first > '9');
}

/// Finds a row by `--max-message` or `-p`.
const option_row* find_in(std::span<const option_row> rows, std::string_view flag) {
  for (const auto& row : rows) {
    const bool is_short = row.short_flag != 0 && flag.size() == 2 && flag[1] == row.short_flag;
    if (is_short || flag == options::long_flag(row)) return &row;
  }
  return nullptr;
}

class line_reader {
 public:
  line_reader(std::span<const std::string> tokens, const line_rules& rules)
      : tokens_(tokens), rules_(rules) {}

  outcome<parsed_line> read();

 private:
  outcome<> take_word(const std::string& word);
  void take_no_more_flags() {
    has_flags_ = false;
    line_.first_literal = line_.words.size();
  }
  void take_long_flag(std::string_view token);
  void take_short_flags(std::string_view token);
  void take_value(const option_row& row);
  void keep(const option_row& row, result<nlohmann::json> value);
  outcome<parsed_line> finish();

  const option_row* find_row(std::string_view flag);
  void expand_flag_sets();
  void refuse_early_flags();
  void find_type();
  daemon_address daemon() const;
  std::optional<std::string> given_later(std::string_view flag) const;
  void refuse_flag(std::string_view flag);
  std::string command_text() const;
  /// Only the first mistake is reported.
  void complain(std::string text) {
    if (!wrong_) wrong_ = refusal{exit_misused, std::move(text)};
  }

  std::span<const std::string> tokens_;
  const line_rules& rules_;
  std::size_t next_ = 0;  ///< index of the next token
  parsed_line line_;
  std::map<std::string, std::size_t> times_given_;  ///< by long flag, for flags that take one value
  std::optional<refusal> wrong_;
  bool has_flags_ = true;         ///< the next tokens may be flags
  bool is_lost_ = false;          ///< a flag was unknown, so the next token may be its value
  bool has_sought_type_ = false;  ///< looked for once, even if there is none
};

outcome<parsed_line> line_reader::read() {
  while (next_ < tokens_.size()) {
    const auto& token = tokens_[next_++];
    if (has_flags_ && token == "--") {
      take_no_more_flags();
    } else if (has_flags_ && is_help(token)) {
      line_.wants_help = true;
    } else if (is_lost_) {
      continue;
    } else if (!has_flags_ || !is_flag(token)) {
      if (auto taken = take_word(token); !taken) return std::unexpected(taken.error());
    } else if (token.starts_with("--")) {
      take_long_flag(token);
    } else {
      take_short_flags(token);
    }
  }
  return finish();
}

/// The first word names the verb; a family's words and the next word name it together. A word that
/// names no verb may name a runtime.
outcome<> line_reader::take_word(const std::string& word) {
  if (line_.verb != nullptr) {
    if (line_.words.size() == line_.verb->first_of_command && has_flags_) take_no_more_flags();
    line_.words.push_back(word);
    return {};
  }
  const bool is_first = line_.named.empty();
  line_.named += is_first ? word : ' ' + word;
  if (is_family(rules_.verbs, line_.named)) return {};
  auto verb = find_verb(rules_.verbs, line_.named);
  const bool may_be_runtime = !verb && is_first && !word.empty() && rules_.is_runtime != nullptr;
  if (may_be_runtime && rules_.is_runtime(word, daemon())) {
    verb = find_verb(rules_.verbs, rules_.verb_of_runtimes);
    line_.is_shortened = true;
    line_.words.push_back(word);
  }
  if (!verb) return std::unexpected(verb.error());
  line_.verb = *verb;
  refuse_early_flags();
  return {};
}

/// Refuses flags given before the verb if the verb has its own flag of that key: which of the two
/// is meant is ambiguous.
void line_reader::refuse_early_flags() {
  for (const auto& row : line_.verb->flags) {
    if (!line_.flags.contains(row.key)) continue;
    complain(fmt::format("'{0}' has its own flag {1}; write it after '{0}'", line_.verb->name,
                         options::long_flag(row)));
  }
}

void line_reader::take_long_flag(std::string_view token) {
  const auto equals = token.find('=');
  const auto* row = find_row(token.substr(0, equals));
  if (row == nullptr) {
    refuse_flag(token);
  } else if (equals != std::string_view::npos) {
    keep(*row, options::parse_option(*row, token.substr(equals + 1)));
  } else {
    take_value(*row);
  }
}

/// Accepts `-q`, `-qs`, `-p 9000`, `-p9000`, `-qp9000`.
void line_reader::take_short_flags(std::string_view token) {
  for (std::size_t at = 1; at < token.size(); ++at) {
    const auto* row = find_row(std::string{'-', token[at]});
    if (row == nullptr) return refuse_flag(fmt::format("-{}", token.substr(at)));
    const bool has_value = row->kind != option_kind::flag && at + 1 < token.size();
    if (has_value) return keep(*row, options::parse_option(*row, token.substr(at + 1)));
    take_value(*row);
  }
}

/// The value is the next token, even if it looks like a flag. If the value is optional, the next
/// token must be a valid one.
void line_reader::take_value(const option_row& row) {
  if (row.kind == option_kind::flag) return keep(row, true);
  const bool has_next = next_ < tokens_.size() && !is_help(tokens_[next_]);
  if (!row.implicit_text.empty()) {
    auto value = options::parse_option(row, has_next ? tokens_[next_] : row.implicit_text);
    if (has_next && value) ++next_;
    if (!value) value = options::parse_option(row, row.implicit_text);
    return keep(row, std::move(value));
  }
  if (has_next) return keep(row, options::parse_option(row, tokens_[next_++]));
  complain(fmt::format("{0} needs a value: {0} {1}", options::long_flag(row), row.value_name));
}

void line_reader::keep(const option_row& row, result<nlohmann::json> value) {
  const auto flag = options::long_flag(row);
  if (!value) {
    auto why = describe(value.error());
    return complain(why.contains(flag) ? why : fmt::format("{}: {}", flag, why));
  }
  auto& kept = line_.flags[std::string(row.key)];
  if (row.kind == option_kind::list) {
    for (auto& each : options::list_elements(row, value->get_ref<const std::string&>())) {
      kept.push_back(std::move(each));
    }
    return;
  }
  kept = std::move(*value);
  ++times_given_[flag];
}

outcome<parsed_line> line_reader::finish() {
  if (line_.flags.value("help", false)) line_.wants_help = true;
  for (const auto& [flag, times] : times_given_) {
    if (times > 1) complain(fmt::format("{} is given {} times; give it once", flag, times));
  }
  if (line_.wants_help || !wrong_) find_type();
  if (line_.wants_help) return std::move(line_);
  expand_flag_sets();
  if (!wrong_ && line_.named.empty()) {
    complain("the verb is missing; write strata VERB; 'strata --help' lists the verbs");
  }
  if (wrong_) return std::unexpected(*wrong_);
  if (line_.verb == nullptr) return std::unexpected(find_verb(rules_.verbs, line_.named).error());
  return std::move(line_);
}

/// Searches the rows that are valid after the words so far.
const option_row* line_reader::find_row(std::string_view flag) {
  const auto* row = line_.verb == nullptr ? nullptr : find_in(line_.verb->flags, flag);
  if (row == nullptr) row = find_in(rules_.flags, flag);
  if (row != nullptr || line_.verb == nullptr) return row;
  find_type();
  if (line_.type == nullptr) return nullptr;
  row = find_in(line_.type->rows(), flag);
  if (row != nullptr || line_.type->flag_sets == nullptr) return row;
  const auto sets = line_.type->flag_sets();
  const auto found = std::ranges::find_if(
      sets, [flag](const auto& set) { return options::long_flag(set.row) == flag; });
  return found == sets.end() ? nullptr : &found->row;
}

/// Puts the flags for which a set stands in its place, except those that the line has itself.
void line_reader::expand_flag_sets() {
  if (line_.type == nullptr || line_.type->flag_sets == nullptr) return;
  for (const auto& [set, members] : line_.type->flag_sets()) {
    if (line_.flags.erase(std::string(set.key)) == 0) continue;
    for (const auto& [key, text] : members) {
      if (line_.flags.contains(key)) continue;
      const auto* const row =
          &*std::ranges::find(line_.type->rows(), key, &options::option_row::key);
      line_.flags[std::string(key)] = options::parse_option(*row, text).value();
    }
  }
}

/// Looked up only when its rows are needed, since it may take a request to the daemon.
void line_reader::find_type() {
  if (line_.verb == nullptr || line_.verb->find_type == nullptr) return;
  if (line_.words.empty() || has_sought_type_) return;
  has_sought_type_ = true;
  const auto type = line_.verb->find_type(line_.words.front(), daemon());
  if (type) {
    line_.type = *type;
  } else if (!wrong_) {
    wrong_ = type.error();
  }
}

/// The daemon's flags may follow a flag that only the daemon knows, so the remaining tokens are
/// searched for them.
daemon_address line_reader::daemon() const {
  auto found = rules_.usual_daemon;
  if (line_.flags.contains("socket")) {
    found.socket = line_.flags.value("socket", std::string{});
  } else if (const auto later = given_later("--socket")) {
    found.socket = *later;
  }
  if (line_.flags.contains("on")) {
    found.other = line_.flags.value("on", std::string{});
  } else if (line_.flags.value("all", false)) {
    found.other = "*";
  } else if (const auto later = given_later("--on")) {
    found.other = *later;
  }
  if (line_.flags.contains("timeout")) {
    found.timeout = timeout_of(line_.flags.value("timeout", 0.0));
  } else if (const auto later = given_later("--timeout")) {
    if (const auto seconds = options::parse_seconds(*later)) found.timeout = timeout_of(*seconds);
  }
  return found;
}

std::optional<std::string> line_reader::given_later(std::string_view flag) const {
  for (auto at = next_; at < tokens_.size() && tokens_[at] != "--"; ++at) {
    const std::string_view token = tokens_[at];
    if (token == flag && at + 1 < tokens_.size()) return tokens_[at + 1];
    if (token.starts_with(flag) && token.substr(flag.size()).starts_with('=')) {
      return std::string(token.substr(flag.size() + 1));
    }
  }
  return std::nullopt;
}

void line_reader::refuse_flag(std::string_view flag) {
  is_lost_ = true;
  flag = flag.substr(0, flag.find('='));
  std::vector<std::string> known;
  const auto add = [&](std::span<const option_row> rows) {
    for (const auto& row : rows) known.push_back(options::long_flag(row));
  };
  if (line_.verb != nullptr) add(line_.verb->flags);
  add(rules_.flags);
  if (line_.type != nullptr) add(runtime::flags_of(*line_.type));
  const auto command = command_text();
  const auto counterpart = counterpart_of(flag, line_.type == nullptr ? "" : line_.type->name);
  const auto hint =
      counterpart ? fmt::format(": here it is {}", *counterpart) : text::did_you_mean(flag, known);
  auto message =
      fmt::format("'{}' has no flag '{}'{}; see '{} --help'", command, flag, hint, command);
  const auto* verb = line_.verb;
  if (verb != nullptr && verb->find_type != nullptr && line_.words.empty()) {
    message += fmt::format("; write the flags of a type after {}: {}",
                           verb->synopsis.substr(0, verb->synopsis.find(' ')), usage_line(*verb));
  }
  complain(std::move(message));
}

/// The command as far as it is known: `strata l2 send`, `strata create cache`.
std::string line_reader::command_text() const {
  std::string command = "strata";
  if (line_.verb != nullptr) {
    command += fmt::format(" {}", line_.verb->name);
  } else if (!line_.named.empty()) {
    command += fmt::format(" {}", line_.named);
  }
  const bool has_type = line_.type != nullptr && names_type(*line_.verb);
  return has_type ? fmt::format("{} {}", command, line_.type->name) : command;
}

// The daemon's working directory is not the user's.
nlohmann::json absolute_path(const nlohmann::json& typed) {
  if (typed.is_array()) {
    auto all = nlohmann::json::array();
    for (const auto& each : typed) all.push_back(absolute_path(each));
    return all;
  }
  const auto path = typed.get<std::string>();
  std::error_code unreadable;
  auto whole = std::filesystem::absolute(path, unreadable).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return path.empty() || unreadable ? typed : nlohmann::json(whole.string());
}

}  // namespace

outcome<parsed_line> parse_line(std::span<const std::string> tokens, const line_rules& rules) {
  return line_reader(tokens, rules).read();
}

nlohmann::json pick_flags(const nlohmann::json& flags, std::span<const option_row> rows) {
  auto picked = nlohmann::json::object();
  for (const auto& row : rows) {
    const auto found = flags.find(row.key);
    if (found == flags.end()) continue;
    picked[std::string(row.key)] = options::is_path(row) ? absolute_path(*found) : *found;
  }
  return picked;
}

}  // namespace strata::cli
