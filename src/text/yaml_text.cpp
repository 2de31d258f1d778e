#include "text/yaml_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace strata::text {

using json = nlohmann::ordered_json;

namespace {

constexpr std::size_t widest = 100;

/// Reports whether YAML parses the text as itself without quotes, within brackets too.
bool is_plain(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view others = "0123456789 _-./()'$;";
  constexpr std::string_view words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
  if (text.empty() || text.back() == ' ') return false;
  if (text.front() != '/' && !letters.contains(text.front())) return false;
  std::string lower(text);
  for (auto& letter : lower) {
    if (!letters.contains(letter) && !others.contains(letter)) return false;
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return std::ranges::find(words, lower) == std::end(words);
}

std::string quoted(const std::string& text) { return is_plain(text) ? text : json(text).dump(); }

/// Formats the value on one line.
std::string in_line(const json& value) {
  if (value.is_string()) return quoted(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, member] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += quoted(key) + ": ";
    text += in_line(member);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// Reports whether YAML joins the lines of the folded text to the same text again.
bool can_be_folded(std::string_view text) {
  return !text.empty() && text.front() != ' ' && text.back() != ' ' && !text.contains("  ") &&
         std::ranges::none_of(text,
                              [](char each) { return static_cast<unsigned char>(each) < ' '; });
}

std::string folded(std::string_view text, std::size_t indent) {
  std::string lines;
  std::size_t column = widest;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column + 1 + word.size() > widest) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

void write_members(std::string& text, const json& value, std::size_t indent);

/// Writes the value behind a key, or behind the dash of an element.
void write(std::string& text, const json& value, std::size_t indent) {
  const auto column = text.size() - (text.rfind('\n') + 1);
  const auto line = in_line(value);
  const bool fits = column + 1 + line.size() <= widest || value.empty();
  if (!fits && value.is_structured()) {
    text += "\n";
    write_members(text, value, indent + 2);
  } else if (!fits && value.is_string() && can_be_folded(value.get_ref<const std::string&>())) {
    text += " >-" + folded(value.get_ref<const std::string&>(), indent + 2) + "\n";
  } else {
    text += " " + line + "\n";
  }
}

void write_members(std::string& text, const json& value, std::size_t indent) {
  const std::string margin(indent, ' ');
  for (const auto& [key, member] : value.items()) {
    if (value.is_object()) {
      text += margin + quoted(key) + ":";
      write(text, member, indent);
    } else if (member.is_structured() && indent + 2 + in_line(member).size() > widest) {
      // The first member is on the line of the dash, in place of two spaces.
      std::string members;
      write_members(members, member, indent + 2);
      text += margin + "- " + members.substr(indent + 2);
    } else {
      text += margin + "-";
      write(text, member, indent);
    }
  }
}

}  // namespace

std::string to_yaml(const json& value) {
  if (!value.is_structured() || value.empty()) return in_line(value) + "\n";
  std::string text;
  write_members(text, value, 0);
  return text;
}

}  // namespace strata::text
