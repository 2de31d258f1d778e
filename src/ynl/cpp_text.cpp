#include "ynl/cpp_text.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

namespace strata::ynl {

namespace {

using words = std::set<std::string_view>;

const words& keywords() {
  static const words all = {
      "alignas",  "alignof",  "and",       "asm",       "auto",      "bitand",    "bitor",
      "bool",     "break",    "case",      "catch",     "char",      "class",     "compl",
      "concept",  "const",    "consteval", "constexpr", "constinit", "continue",  "decltype",
      "default",  "delete",   "do",        "double",    "else",      "enum",      "explicit",
      "export",   "extern",   "false",     "float",     "for",       "friend",    "goto",
      "if",       "inline",   "int",       "long",      "mutable",   "namespace", "new",
      "noexcept", "not",      "nullptr",   "operator",  "or",        "private",   "protected",
      "public",   "register", "requires",  "return",    "short",     "signed",    "sizeof",
      "static",   "struct",   "switch",    "template",  "this",      "throw",     "true",
      "try",      "typedef",  "typeid",    "typename",  "union",     "unsigned",  "using",
      "virtual",  "void",     "volatile",  "while",     "xor"};
  return all;
}

const words& taken(cpp_place place) {
  static const words none;
  static const words space = {"typed",  "client", "family_name", "family_version",
                              "groups", "std",    "strata"};
  static const words view = {"attributes", "has",   "first",   "all",
                             "elements",   "parse", "command", "view"};
  static const words writer = {"to",   "bytes",    "ask",     "ask_for", "ask_for_ack",
                               "dump", "for_each", "request", "writer"};
  static const words client = {"open", "open_as", "on", "over", "family_id", "join", "client"};
  switch (place) {
    case cpp_place::anywhere: return none;
    case cpp_place::space: return space;
    case cpp_place::view: return view;
    case cpp_place::writer: return writer;
    case cpp_place::client: return client;
  }
  return none;
}

// Independent of the locale.
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }
bool is_plain_letter(char letter) {
  return is_capital(letter) || (letter >= 'a' && letter <= 'z') || letter == '_';
}
/// Reports whether it is a continuation byte of UTF-8.
bool is_rest(char letter) { return (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U; }
bool is_letter(char letter) {
  return is_plain_letter(letter) || static_cast<unsigned char>(letter) >= 0x80U;
}

std::size_t width_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_rest));
}

/// Reports whether a line may end behind the hyphen at `offset`: between two words of letters.
bool breaks_behind(std::string_view word, std::size_t offset) {
  const auto letter = [&](std::size_t place) {
    return place < word.size() && is_letter(word[place]);
  };
  const bool begins =
      offset >= 2 && letter(offset - 1) &&
      (letter(offset - 2) || (offset >= 3 && word[offset - 2] == '-' && letter(offset - 3)));
  if (!begins || !letter(offset + 1)) return false;
  return letter(offset + 2) ||
         (offset + 2 < word.size() && word[offset + 2] == '-' && letter(offset + 3));
}

/// Wraps words into lines of at most 90 characters.
class wrapped_comment {
 public:
  void take(std::string_view word) {
    std::size_t begin = 0;
    for (std::size_t at = 1; at < word.size(); ++at) {
      if (word[at] != '-' || !breaks_behind(word, at)) continue;
      add(word.substr(begin, at + 1 - begin), begin == 0);
      begin = at + 1;
    }
    add(word.substr(begin), begin == 0);
  }
  code finish() {
    end_line();
    return std::move(lines_);
  }

 private:
  static constexpr std::size_t widest = 90;

  void add(std::string_view piece, bool begins_word) {
    const bool is_apart = begins_word && !line_.empty();
    if (!line_.empty() && width_of(line_) + (is_apart ? 1 : 0) + width_of(piece) > widest) {
      end_line();
    }
    if (is_apart && !line_.empty()) line_ += ' ';
    line_ += piece;
  }
  void end_line() {
    if (!line_.empty()) lines_.push_back("/// " + line_);
    line_.clear();
  }

  code lines_;
  std::string line_;
};

}  // namespace

void append(code& destination, const code& more) {
  destination.insert(destination.end(), more.begin(), more.end());
}

std::string cpp_name(std::string_view word, cpp_place place) {
  std::string name;
  for (const auto letter : word) {
    if (is_rest(letter)) continue;
    const bool stays = is_plain_letter(letter) || is_digit(letter);
    name += stays ? static_cast<char>(is_capital(letter) ? letter - 'A' + 'a' : letter) : '_';
  }
  if (!name.empty() && is_digit(name[0])) name.insert(0, 1, '_');
  return keywords().contains(name) || taken(place).contains(name) ? name + "_" : name;
}

code cpp_comment(std::string_view text) {
  std::string plain(text);
  // A line that ends with a backslash would continue the comment on the next line.
  std::ranges::replace(plain, '\\', '/');
  constexpr std::string_view spaces = " \t\n\v\f\r";
  wrapped_comment made;
  for (std::string_view rest = plain;;) {
    const auto begin = rest.find_first_not_of(spaces);
    if (begin == std::string_view::npos) break;
    const auto end = std::min(rest.find_first_of(spaces, begin), rest.size());
    made.take(rest.substr(begin, end - begin));
    rest.remove_prefix(end);
  }
  return made.finish();
}

std::string cpp_literal(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace strata::ynl
