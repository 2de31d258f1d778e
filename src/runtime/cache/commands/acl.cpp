// ACL: users and their permissions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/clients/client_text.hpp"
#include "runtime/cache/engine/users/acl_file.hpp"
#include "runtime/cache/engine/users/acl_text.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::string_view no_acl_file_error =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
    "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
    "configuration file set) in order to store users in the Redis configuration.";

// --- commands and categories

void acl_cat(call& c) {
  if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  if (c.size() == 2) {
    c.reply.array(acl_categories().size());
    for (const auto& name : acl_categories()) c.reply.bulk(name);
    return;
  }
  const auto* const category = find_category(c[2]);
  if (category == nullptr) {
    c.fail(fmt::format("ERR Unknown category '{}'", c[2]));
    return;
  }
  std::vector<std::string> names;
  for (const auto& command : all_commands()) {
    const bool is_shown = (*category)[command.index] && c.home().settings().knows(command.since);
    if (is_shown) names.push_back(command.full_name());
  }
  c.reply.array(names.size());
  for (const auto& name : names) c.reply.bulk(name);
}

// --- users

void acl_whoami(call& c) { c.reply.bulk(user_name(c.who)); }

void acl_users(call& c) {
  const auto& users = c.home().users().all();
  c.reply.array(users.size());
  for (const auto& [name, user] : users) c.reply.bulk(name);
}

void acl_list(call& c) {
  const auto& users = c.home().users().all();
  c.reply.array(users.size());
  for (const auto& [name, user] : users) c.reply.bulk(user.text());
}

void reply_permissions(call& c, const selector& selector) {
  c.reply.bulk("commands");
  c.reply.bulk(selector.command_text());
  c.reply.bulk("keys");
  c.reply.bulk(selector.key_text());
  c.reply.bulk("channels");
  c.reply.bulk(selector.channel_text());
}

void acl_getuser(call& c) {
  const auto* const user = c.home().users().find(c[2]);
  if (user == nullptr) {
    c.reply.null();
    return;
  }
  c.reply.map(6);
  c.reply.bulk("flags");
  const auto flags = user->flags();
  c.reply.set(flags.size());
  for (const auto& flag : flags) c.reply.bulk(flag);
  c.reply.bulk("passwords");
  c.reply.array(user->password_hashes().size());
  for (const auto& hash : user->password_hashes()) c.reply.bulk(hash);
  reply_permissions(c, user->root());
  c.reply.bulk("selectors");
  c.reply.array(user->selectors().size());
  for (const auto& selector : user->selectors()) {
    c.reply.map(3);
    reply_permissions(c, selector);
  }
}

channel_default new_user_channels(const call& c) {
  return c.home().settings().new_user_channels == "allchannels" ? channel_default::all
                                                                : channel_default::none;
}

// Applies all rules or none.
void acl_setuser(call& c) {
  if (!is_user_name(c[2])) {
    c.fail("ERR Usernames can't contain spaces or null characters");
    return;
  }
  const auto rules = join_selectors(c.words.subspan(3));
  if (!rules) {
    c.fail(fmt::format("ERR Unmatched parenthesis in acl selector starting at '{}'.",
                       rules.error().reason));
    return;
  }
  const auto* const known = c.home().users().find(c[2]);
  auto changed = known == nullptr ? user(std::string(c[2]), new_user_channels(c)) : *known;
  for (const auto& rule : *rules) {
    if (const auto applied = changed.apply(rule); !applied) {
      c.fail(
          fmt::format("ERR Error in ACL SETUSER modifier '{}': {}", rule, applied.error().reason));
      return;
    }
  }
  c.home().set_user(std::move(changed));
  c.reply.ok();
}

void acl_deluser(call& c) {
  const auto names = c.words.subspan(2);
  if (std::ranges::find(names, default_user_name) != names.end()) {
    c.fail("ERR The 'default' user cannot be removed");
    return;
  }
  std::int64_t removed = 0;
  for (const auto& name : names) {
    if (c.home().users().find(name) == nullptr) continue;
    c.home().remove_user(name);
    ++removed;
  }
  c.reply.integer(removed);
}

void acl_genpass(call& c) {
  constexpr std::int64_t most_bits = 4096;
  constexpr std::int64_t digit_bits = 4;
  if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  const auto bits = c.size() == 3 ? c.integer(2) : std::optional<std::int64_t>(256);
  if (!bits) return;
  if (*bits < 1 || *bits > most_bits) {
    c.fail(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to 4096");
    return;
  }
  c.reply.bulk(make_password(static_cast<std::size_t>((*bits + digit_bits - 1) / digit_bits)));
}

// --- checks

void acl_dryrun(call& c) {
  const auto* const user = c.home().users().find(c[2]);
  if (user == nullptr) {
    c.fail(fmt::format("ERR User '{}' not found", c[2]));
    return;
  }
  const auto words = c.words.subspan(3);
  const auto* command = find_command(words[0]);
  if (command != nullptr && !command->row->subcommands.empty() && words.size() > 1) {
    command = find_subcommand(*command, words[1]);
  }
  if (command == nullptr || !c.home().settings().knows(command->since)) {
    c.fail(fmt::format("ERR Command '{}' not found", words[0]));
    return;
  }
  if (!command->takes(words.size())) {
    c.fail(fmt::format("ERR wrong number of arguments for '{}' command", command->full_name()));
    return;
  }
  const auto denied = user->check(*command, words);
  if (denied) {
    c.reply.bulk(denied->explanation(*command, words));
  } else {
    c.reply.ok();
  }
}

void reply_log_entry(call& c, const acl_log_entry& entry) {
  constexpr double ms_per_second = 1000;
  c.reply.map(7);
  c.reply.bulk("count");
  c.reply.integer(static_cast<std::int64_t>(entry.count));
  c.reply.bulk("reason");
  c.reply.bulk(entry.reason);
  c.reply.bulk("context");
  c.reply.bulk(name_of(entry.context));
  c.reply.bulk("object");
  c.reply.bulk(entry.object);
  c.reply.bulk("username");
  c.reply.bulk(entry.user);
  c.reply.bulk("age-seconds");
  c.reply.real(static_cast<double>(c.now_ms() - entry.time_ms) / ms_per_second);
  c.reply.bulk("client-info");
  c.reply.bulk(entry.client);
}

void show_acl_log(call& c) {
  constexpr std::int64_t usual_count = 10;
  if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  if (c.size() == 3 && c.is(2, "RESET")) {
    c.home().denials().clear();
    c.reply.ok();
    return;
  }
  const auto most = c.size() == 3 ? c.integer(2) : std::optional(usual_count);
  if (!most) return;
  const auto& entries = c.home().denials().entries();
  const auto count =
      std::min(entries.size(), static_cast<std::size_t>(std::max<std::int64_t>(*most, 0)));
  c.reply.array(count);
  for (std::size_t i = 0; i < count; ++i) reply_log_entry(c, entries[i]);
}

// --- the file

void acl_load(call& c) {
  auto* const file = c.home().users_file();
  if (file == nullptr) {
    c.fail(no_acl_file_error);
    return;
  }
  const auto text = file->read();
  if (!text) {
    c.fail(fmt::format("ERR Error loading ACLs, opening file '{}': {}", file->path(),
                       describe(text.error())));
    return;
  }
  auto users = parse_acl(*text, file->path(), new_user_channels(c));
  if (!users) {
    c.fail("ERR " + users.error().reason);
    return;
  }
  c.home().replace_users(std::move(*users));
  c.reply.ok();
}

void acl_save(call& c) {
  auto* const file = c.home().users_file();
  if (file == nullptr) {
    c.fail(no_acl_file_error);
    return;
  }
  if (const auto written = file->write(c.home().users().text()); !written) {
    c.fail(fmt::format("ERR There was an error trying to save the ACLs: {}",
                       describe(written.error())));
    return;
  }
  c.reply.ok();
}

void acl_help(call& c) {
  constexpr std::array<std::string_view, 13> lines = {
      "ACL <subcommand>. Subcommands are:",
      "CAT [<category>] -- lists the categories, or the commands of one.",
      "DELUSER <username> ... -- removes users and disconnects their clients.",
      "DRYRUN <username> <command> [<arg> ...] -- says whether a user may execute a command.",
      "GENPASS [<bits>] -- returns a random password; 256 bits unless given.",
      "GETUSER <username> -- returns the rules of a user.",
      "LIST -- lists the users as lines of an ACL file.",
      "LOAD -- reads the users from the ACL file.",
      "LOG [<count> | RESET] -- shows the latest denials, or forgets them.",
      "SAVE -- writes the users to the ACL file.",
      "SETUSER <username> [<rule> ...] -- creates or changes a user.",
      "USERS -- lists the names of the users.",
      "WHOAMI -- returns the name of the connection's user."};
  c.reply_lines(lines);
}

// clang-format off
const command_row acl_rows[] = {
    {"cat", -2, "noscript loading stale", {0, 0, 0},
     "", "", "6.0.0",
     "lists the ACL categories, or the commands of one", acl_cat},
    {"deluser", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "removes users and disconnects their clients", acl_deluser},
    {"dryrun", -4, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "says whether a user may execute a command", acl_dryrun},
    {"genpass", -2, "noscript loading stale", {0, 0, 0},
     "", "", "6.0.0",
     "returns a random password", acl_genpass},
    {"getuser", 3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "returns the rules of a user", acl_getuser},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "6.0.0",
     "lists the subcommands of ACL", acl_help},
    {"list", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "lists the users as lines of an ACL file", acl_list},
    {"load", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "reads the users from the ACL file", acl_load},
    {"log", -2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "shows the latest calls that were denied", show_acl_log},
    {"save", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "writes the users to the ACL file", acl_save},
    {"setuser", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "creates or changes a user", acl_setuser},
    {"users", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "6.0.0",
     "lists the names of the users", acl_users},
    {"whoami", 2, "noscript loading stale", {0, 0, 0},
     "", "", "6.0.0",
     "returns the name of the connection's user", acl_whoami},
};

const command_row acl_group_rows[] = {
    {"acl", -2, "", {0, 0, 0},
     "", "", "6.0.0",
     "manages users and their permissions", nullptr, acl_rows},
};
// clang-format on

}  // namespace

command_group acl_commands() { return {"server", acl_group_rows}; }

}  // namespace strata::runtime::cache
