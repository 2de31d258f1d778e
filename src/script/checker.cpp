#include "script/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "script/lua.hpp"

namespace strata::script {

namespace {

struct token {
  std::string_view text;  // a name, a sign, or empty at the end
  std::size_t line;
  bool is_name;
};

bool begins_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool goes_on(char letter) { return begins_name(letter) || (letter >= '0' && letter <= '9'); }

// Splits a script into names and signs; skips strings, numbers and comments.
class tokens {
 public:
  explicit tokens(std::string_view text) : text_(text) {}

  token next() {
    for (;;) {
      skip_blanks();
      if (at_ >= text_.size()) return {{}, line_, false};
      const char letter = text_[at_];
      if (text_.substr(at_).starts_with("--")) {
        at_ += 2;
        if (!skip_long()) at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (letter == '"' || letter == '\'') {
        skip_text(letter);
        return {"''", line_, false};
      } else if (letter == '[' && skip_long()) {
        return {"''", line_, false};
      } else if (goes_on(letter)) {
        const auto begin = at_;
        while (at_ < text_.size() && goes_on(text_[at_])) ++at_;
        return {text_.substr(begin, at_ - begin), line_, begins_name(letter)};
      } else {
        const auto begin = at_++;  // `.`, `..` and `...` are three signs
        while (letter == '.' && at_ < text_.size() && text_[at_] == '.') ++at_;
        return {text_.substr(begin, at_ - begin), line_, false};
      }
    }
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) {
      pass();
    }
  }
  void pass() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
  void skip_text(char end) {
    for (++at_; at_ < text_.size() && text_[at_] != end; pass()) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) pass();
    }
    ++at_;
  }
  // Skips `[==[ … ]==]`; returns false if none begins here.
  bool skip_long() {
    const auto rest = text_.substr(at_);
    if (!rest.starts_with('[')) return false;
    const auto second = rest.find_first_not_of('=', 1);
    if (second == std::string_view::npos || rest[second] != '[') return false;
    const auto close = "]" + std::string(second - 1, '=') + "]";
    const auto end = rest.find(close, second);
    const auto size = end == std::string_view::npos ? rest.size() : end + close.size();
    for (std::size_t i = 0; i < size; ++i) pass();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

std::vector<token> all_of(std::string_view text) {
  std::vector<token> all;
  for (tokens from(text);;) {
    all.push_back(from.next());
    if (all.back().text.empty()) return all;
  }
}

// Parses Lua's message `name:LINE: what`.
finding read_complaint(std::string_view text, std::string_view name) {
  finding found;
  if (text.starts_with(name)) text.remove_prefix(name.size());
  if (text.starts_with(':')) text.remove_prefix(1);
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), found.line);
  if (trouble == std::errc()) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(": ")) text.remove_prefix(2);
  found.what = text;
  return found;
}

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Reports whether the script defines the name itself: a parameter, a local, a method's self.
bool is_own(const std::vector<token>& all, std::string_view name) {
  for (std::size_t at = 0; at + 1 < all.size(); ++at) {
    if (name == "self" && all[at].text == ":" && at >= 2 && all[at - 2].text == "function") {
      return true;
    }
    if (all[at].text != name) continue;
    const auto before = at == 0 ? std::string_view() : all[at - 1].text;
    const auto behind = all[at + 1].text;
    if (before == "local" || (behind == "=" && all[at + 2].text != "=" && before != "."))
      return true;
    if ((before == "(" || before == ",") && (behind == "," || behind == ")")) {
      // As an argument it is only passed on; as a parameter it is a definition.
      std::size_t open = at;
      while (open > 0 && all[open].text != "(") --open;
      const auto is_head = [&](std::size_t where) { return all[where].text == "function"; };
      if (open >= 1 && is_head(open - 1)) return true;
      if (open >= 2 && is_head(open - 2)) return true;
    }
  }
  return false;
}

void check_table(const std::vector<token>& all, const known_table& table,
                 std::vector<finding>& tokens) {
  if (is_own(all, table.name)) return;
  for (std::size_t at = 0; at + 2 < all.size(); ++at) {
    if (all[at].text != table.name || all[at + 1].text != "." || !all[at + 2].is_name) continue;
    if (at > 0 && (all[at - 1].text == "." || all[at - 1].text == ":")) continue;
    std::string path(all[at + 2].text);
    if (is_in(table.members, path)) continue;
    const bool has_inner = std::ranges::any_of(
        table.members, [&](const auto& each) { return each.starts_with(path + "."); });
    if (has_inner) {
      if (all[at + 3].text != "." || !all[at + 4].is_name) continue;
      path += "." + std::string(all[at + 4].text);
      if (is_in(table.members, path)) continue;
    }
    tokens.push_back({all[at + 2].line, fmt::format("there is no {}.{}", table.name, path)});
  }
}

void check_callbacks(const std::vector<token>& all, const known_names& known,
                     std::vector<finding>& tokens) {
  for (std::size_t at = 0; at + 1 < all.size(); ++at) {
    const auto& [text, line, is_name] = all[at];
    if (!is_name || !text.starts_with("on_") || is_in(known.callbacks, text)) continue;
    const auto before = at == 0 ? std::string_view() : all[at - 1].text;
    const bool is_local = at >= 2 && all[at - 2].text == "local";
    const bool is_function = before == "function" && !is_local && all[at + 1].text == "(";
    const bool is_set = all[at + 1].text == "=" && all[at + 2].text != "=" && before != "." &&
                        before != "local" && before != "," && before != "{" && before != ";";
    if (is_function || is_set) tokens.push_back({line, fmt::format("'{}' is never called", text)});
  }
}

}  // namespace

std::vector<finding> check_source(std::string_view text, const std::string& name,
                                  const known_names& known) {
  std::vector<finding> found;
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  if (!state) return {{0, "there is no memory to compile it"}};
  const auto chunk = "@" + name;
  if (luaL_loadbufferx(state.get(), text.data(), text.size(), chunk.c_str(), "t") != 0) {
    found.push_back(read_complaint(lua_tostring(state.get(), -1), name));
    return found;
  }
  const auto all = all_of(text);
  for (const auto& table : known.tables) check_table(all, table, found);
  check_callbacks(all, known, found);
  std::ranges::stable_sort(found, {}, &finding::line);
  return found;
}

}  // namespace strata::script
