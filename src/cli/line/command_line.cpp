// CLI11 takes the arguments apart: clusters of short flags, `-pVALUE`, `--`. What the values mean
// is the option table's affair, so that the command line and the control API agree. This is the
// only file that includes CLI11.
#include "cli/line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/line/nearest.hpp"

namespace strata::cli {

using options::option_kind;
using options::option_row;

namespace {

const option_row* find_row(std::span<const option_row> rows, std::string_view flag) {
  for (const auto& row : rows) {
    const bool is_short = row.short_flag != 0 && flag.size() == 2 && flag[1] == row.short_flag;
    if (is_short || flag == options::long_flag(row)) return &row;
  }
  return nullptr;
}

bool looks_like_flag(std::string_view token) { return token.size() > 1 && token[0] == '-'; }

/// Spares CLI11 what it reads differently: `--flag=` (it would take the next argument) and flags
/// whose value may be left out (it would take a word for the value).
std::vector<std::string> prepare(std::vector<std::string> tokens,
                                 std::span<const option_row> rows) {
  std::vector<std::string> prepared;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const auto& token = tokens[at];
    if (token == "--") {
      prepared.insert(prepared.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at),
                      tokens.end());
      break;
    }
    const auto equals = token.starts_with("--") ? token.find('=') : std::string::npos;
    const auto* row = find_row(rows, std::string_view(token).substr(0, equals));
    prepared.push_back(token);
    if (row == nullptr || row->kind == option_kind::flag) continue;
    if (equals != std::string::npos) {
      prepared.back() = token.substr(0, equals);
      prepared.push_back(token.substr(equals + 1));
    } else if (!row->implicit_text.empty()) {
      const bool has_value =
          at + 1 < tokens.size() && options::parse_option(*row, tokens[at + 1]).has_value();
      if (has_value) ++at;
      prepared.push_back(has_value ? tokens[at] : std::string(row->implicit_text));
    } else if (at + 1 < tokens.size()) {
      prepared.push_back(tokens[++at]);  // a value, even when it looks like a flag
    }
  }
  return prepared;
}

std::unexpected<refusal> refuse_unknown(std::string_view flag, std::span<const option_row> rows) {
  flag = flag.substr(0, flag.find('='));
  std::vector<std::string> known;
  for (const auto& row : rows) known.push_back(options::long_flag(row));
  return refuse(exit_misused,
                fmt::format("there is no flag '{}' here{}", flag, did_you_mean(flag, known)));
}

outcome<nlohmann::json> read_values(const option_row& row, const std::vector<std::string>& texts) {
  auto list = nlohmann::json::array();
  for (const auto& text : texts) {
    auto value = options::parse_option(row, text);
    if (!value) {
      auto why = describe(value.error());
      const auto flag = options::long_flag(row);
      if (!why.contains(flag)) why = fmt::format("{}: {}", flag, why);
      return refuse(exit_misused, why);
    }
    list.push_back(std::move(*value));
  }
  if (row.kind == option_kind::list) return list;
  if (list.size() > 1) {
    return refuse(exit_misused, fmt::format("{} is given {} times; give it once",
                                            options::long_flag(row), list.size()));
  }
  return list.front();
}

struct split_line {
  std::vector<std::string> words;
  std::vector<std::vector<std::string>> texts;  ///< of each row
};

CLI::Option* add_option(CLI::App& app, const option_row& row) {
  auto names = options::long_flag(row);
  if (row.short_flag != 0) names += fmt::format(",-{}", row.short_flag);
  auto* option = row.kind == option_kind::flag ? app.add_flag(names) : app.add_option(names);
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

outcome<split_line> split(std::vector<std::string> tokens, std::span<const option_row> rows) {
  CLI::App app;
  app.set_help_flag();  // help is a row like all others
  app.allow_extras();   // so that an unknown flag gets our message
  std::vector<CLI::Option*> options;
  try {
    for (const auto& row : rows) options.push_back(add_option(app, row));
    // One positional a word: a positional that takes many would split the word "[a,b]".
    std::vector<CLI::Option*> words;
    words.reserve(tokens.size());
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      words.push_back(app.add_option(fmt::format("word{}", at)));
    }
    std::ranges::reverse(tokens);  // as CLI11 wants them
    app.parse(std::move(tokens));
    for (const auto& extra : app.remaining()) {
      if (extra != "--") return refuse_unknown(extra, rows);
    }
    split_line line;
    line.texts.reserve(options.size());
    for (const auto* word : words) {
      if (word->count() > 0) line.words.push_back(word->results().front());
    }
    for (const auto* option : options) line.texts.push_back(option->results());
    return line;
  } catch (const CLI::ArgumentMismatch& error) {  // "--port: 1 required missing"
    const std::string_view what = error.what();
    const auto flag = what.substr(0, what.find(':'));
    const auto* row = find_row(rows, flag);
    return refuse(exit_misused, fmt::format("{0} needs a value: {0} {1}", flag,
                                            row == nullptr ? "VALUE" : row->value_name));
  } catch (const CLI::Error& error) {
    return refuse(exit_misused, error.what());
  }
}

}  // namespace

outcome<parsed_line> parse_line(std::vector<std::string> tokens, std::span<const option_row> rows) {
  auto line = split(prepare(std::move(tokens), rows), rows);
  if (!line) return std::unexpected(line.error());
  parsed_line parsed{.words = std::move(line->words)};
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (line->texts[at].empty()) continue;
    auto value = read_values(rows[at], line->texts[at]);
    if (!value) return std::unexpected(value.error());
    parsed.flags[std::string(rows[at].key)] = std::move(*value);
  }
  return parsed;
}

outcome<std::optional<std::size_t>> find_first_word(std::span<const std::string> tokens,
                                                    std::span<const option_row> rows) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view token = tokens[at];
    if (token == "--") return at + 1 < tokens.size() ? std::optional(at + 1) : std::nullopt;
    if (!looks_like_flag(token)) return at;
    const auto name =
        token.starts_with("--") ? token.substr(0, token.find('=')) : token.substr(0, 2);
    const auto* row = find_row(rows, name);
    if (row == nullptr) return refuse_unknown(token, rows);
    const bool value_follows = row->kind != option_kind::flag && name == token;
    if (value_follows) ++at;
  }
  return std::nullopt;
}

nlohmann::json pick_flags(const nlohmann::json& flags, std::span<const option_row> rows) {
  auto picked = nlohmann::json::object();
  for (const auto& row : rows) {
    const auto found = flags.find(row.key);
    if (found != flags.end()) picked[std::string(row.key)] = *found;
  }
  return picked;
}

}  // namespace strata::cli
