#include "runtime/cache/serving/user_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/engine/users/acl_text.hpp"

namespace strata::runtime::cache {

// Rules with a password are refused: the daemon's record and `strata show` have them as they are.
result<void> check_users(const cache_options& options) {
  std::vector<std::string_view> names;
  for (const auto& text : options.user) {
    const auto operation = fmt::format("use the value of --user for '{}'", user_name_in(text));
    if (text.contains(" >") || text.contains(" <")) {
      return failure(errc::invalid_argument, operation,
                     "the option would show the password in clear text",
                     "give its hash: #$(printf %s PASSWORD | sha256sum | cut -d ' ' -f 1)");
    }
    if (const auto read = parse_user(text, channel_default::none); !read) {
      return failure(errc::invalid_argument, operation, read.error().reason,
                     "give a name and rules of ACL SETUSER: \"alice on #HASH ~app:* +@read\"");
    }
    if (std::ranges::find(names, user_name_in(text)) != names.end()) {
      return failure(errc::invalid_argument, operation, "it is given twice", "give each user once");
    }
    names.push_back(user_name_in(text));
  }
  if (!options.user.empty() && !options.acl_file.empty()) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --acl-file", options.acl_file),
                   "users are also given with --user", "give the users in one place");
  }
  return {};
}

}  // namespace strata::runtime::cache
