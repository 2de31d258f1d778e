#include "daemon/api/token_list.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "loop/file_store.hpp"
#include "options/file_text.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/secret.hpp"
#include "text/word.hpp"

namespace strata::daemon {

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view line_form =
    "write 'read TOKEN', 'operate TOKEN', 'admin TOKEN' or 'TOKEN' on a line";

std::string reading(const std::string& file) { return "read the tokens in '" + file + "'"; }

std::string how_to_add(const std::string& file) {
  return fmt::format("use at least {} characters: openssl rand -hex 32 >> {}",
                     token_list::shortest_token, file);
}

result<std::string> read_all(int fd, const std::string& operation) {
  auto text = options::read_text(fd, token_list::max_file_size + 1, operation);
  if (text && text->size() > token_list::max_file_size) {
    return failure(errc::limit_exceeded, operation,
                   fmt::format("it is larger than {} bytes", token_list::max_file_size),
                   "name a file with one token per line");
  }
  return text;
}

}  // namespace

result<token_list> token_list::read(const std::string& file) {
  const auto operation = reading(file);
  auto opened = loop::open_regular(file, O_RDONLY, operation);
  if (!opened) return std::unexpected(opened.error());
  struct stat found{};
  if (::fstat(opened->get(), &found) != 0) return system_failure(errno, operation);
  if ((found.st_mode & 077U) != 0) {
    return failure(errc::permission_denied, operation, "other users may read it",
                   "chmod 600 " + file);
  }
  const auto text = read_all(opened->get(), operation);
  if (!text) return std::unexpected(text.error());
  return parse(*text, file);
}

result<token_list> token_list::parse(std::string_view text, const std::string& file) {
  token_list list;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = text::trimmed(line, blanks);
    if (line.empty() || line.front() == '#') continue;
    if (auto added = list.add_line(line, number, file); !added) {
      return std::unexpected(added.error());
    }
  }
  if (list.empty()) {
    return failure(errc::invalid_argument, reading(file), "it has no token", how_to_add(file));
  }
  return list;
}

// An unknown word may be the beginning of a token, so it is not shown.
result<void> token_list::add_line(std::string_view line, std::size_t number,
                                  const std::string& file) {
  const auto operation = reading(file);
  const auto blank = line.find_first_of(blanks);
  const auto first = line.substr(0, blank);
  const auto named = runtime::find_role(first);
  if (blank == std::string_view::npos) {
    if (named) {
      return failure(errc::invalid_argument, operation,
                     fmt::format("line {} has the role '{}', but no token", number, first),
                     how_to_add(file));
    }
    return add({std::string(line), runtime::role::admin, number}, file);
  }
  const auto token = text::trimmed(line.substr(blank), blanks);
  if (token.find_first_of(blanks) != std::string_view::npos) {
    return failure(errc::invalid_argument, operation,
                   fmt::format("line {} has more than two words", number), std::string(line_form));
  }
  if (!named) {
    return failure(errc::invalid_argument, operation,
                   fmt::format("the first word of line {} is not a role", number),
                   std::string(line_form));
  }
  return add({std::string(token), *named, number}, file);
}

result<void> token_list::add(entry added, const std::string& file) {
  const auto operation = reading(file);
  const auto number = added.line;
  if (added.token.size() < shortest_token) {
    return failure(errc::invalid_argument, operation,
                   fmt::format("the token in line {} has {} characters and could be guessed",
                               number, added.token.size()),
                   how_to_add(file));
  }
  if (added.token.size() > longest_token) {
    return failure(
        errc::limit_exceeded, operation,
        fmt::format("the token in line {} is longer than {} characters", number, longest_token),
        "use a shorter token");
  }
  // The characters that an HTTP field can carry as one word.
  if (!text::is_visible(added.token)) {
    return failure(
        errc::invalid_argument, operation,
        fmt::format("the token in line {} has characters that are not printable ASCII", number),
        how_to_add(file));
  }
  const auto same = std::ranges::find(tokens_, added.token, &entry::token);
  if (same != tokens_.end() && same->role == added.role) return {};
  if (same != tokens_.end()) {
    return failure(errc::invalid_argument, operation,
                   fmt::format("lines {} and {} give one token the roles '{}' and '{}'", same->line,
                               number, name_of(same->role), name_of(added.role)),
                   "remove one of them");
  }
  if (tokens_.size() == max_tokens) {
    return failure(errc::limit_exceeded, operation,
                   fmt::format("it has more than {} tokens", max_tokens), "remove unused tokens");
  }
  tokens_.push_back(std::move(added));
  return {};
}

std::optional<runtime::role> token_list::find(std::string_view guess) const {
  // Otherwise the cost of a long guess would grow with the list.
  if (guess.size() > longest_token) return std::nullopt;
  unsigned found = 0;  // the role's number plus one
  for (const auto& each : tokens_) {
    const auto is_equal = static_cast<unsigned>(text::equal_in_constant_time(guess, each.token));
    found |= (0U - is_equal) & (static_cast<unsigned>(each.role) + 1U);
  }
  if (found == 0) return std::nullopt;
  return static_cast<runtime::role>(found - 1);
}

}  // namespace strata::daemon
