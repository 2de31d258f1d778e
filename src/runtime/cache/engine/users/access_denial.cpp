#include "runtime/cache/engine/users/access_denial.hpp"

#include <fmt/format.h>

namespace strata::runtime::cache {

std::string access_denial::object(const command& command,
                                  std::span<const std::string_view> words) const {
  return subject == denied_subject::command ? command.full_name() : std::string(words[position]);
}

std::string access_denial::reply(const command& command) const {
  if (subject == denied_subject::command) {
    return fmt::format("NOPERM this user has no permissions to run the '{}' command",
                       command.full_name());
  }
  return fmt::format(
      "NOPERM this user has no permissions to access one of the {}s used as arguments",
      subject == denied_subject::key ? "key" : "channel");
}

std::string_view access_denial::transaction_error() const {
  switch (subject) {
    case denied_subject::command:
      return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
             "EXEC call. This command is no longer allowed for the following reason: no permission "
             "to execute the command or subcommand";
    case denied_subject::key:
      return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
             "EXEC call. This command is no longer allowed for the following reason: no permission "
             "to touch the specified keys";
    case denied_subject::channel: break;
  }
  return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
         "EXEC call. This command is no longer allowed for the following reason: no permission to "
         "access one of the channels used as arguments";
}

std::string_view access_denial::script_error() const {
  switch (subject) {
    case denied_subject::command:
      return "ERR The user executing the script can't run this command or subcommand";
    case denied_subject::key:
      return "ERR The user executing the script can't access at least one of the keys mentioned in "
             "the command arguments";
    case denied_subject::channel: break;
  }
  return "ERR The user executing the script can't publish to the channel mentioned in the command";
}

std::string access_denial::explanation(const command& command,
                                       std::span<const std::string_view> words) const {
  if (subject == denied_subject::command) {
    return fmt::format("This user has no permissions to run the '{}' command", command.full_name());
  }
  return fmt::format("This user has no permissions to access the '{}' {}", words[position],
                     subject == denied_subject::key ? "key" : "channel");
}

}  // namespace strata::runtime::cache
