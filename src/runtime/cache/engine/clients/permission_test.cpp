#include "runtime/cache/engine/clients/permission.hpp"

#include <gtest/gtest.h>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {
namespace {

bool allows(permission permission, std::string_view name, std::string_view subcommand = {}) {
  const auto* what = find_command(name);
  if (what != nullptr && !subcommand.empty()) what = find_subcommand(*what, subcommand);
  if (what == nullptr) {
    ADD_FAILURE() << "there is no " << name << " " << subcommand;
    return false;
  }
  return !denial(permission, *what);
}

TEST(permission, readonly_allows_what_changes_nothing) {
  for (const auto* each : {"get", "mget", "lrange", "scan", "zrange", "exists", "subscribe",
                           "publish", "multi", "exec", "watch", "hello", "auth", "ping", "info"}) {
    EXPECT_TRUE(allows(permission::readonly, each)) << each;
  }
  EXPECT_TRUE(allows(permission::readonly, "client", "setname"));
  for (const auto* each : {"set", "getdel", "getex", "blpop", "flushall", "keys", "monitor"}) {
    EXPECT_FALSE(allows(permission::readonly, each)) << each;
  }
}

TEST(permission, readwrite_allows_changing_data_only) {
  for (const auto* each : {"set", "get", "del", "lpush", "blpop", "expire", "info"}) {
    EXPECT_TRUE(allows(permission::readwrite, each)) << each;
  }
  for (const auto* each : {"flushall", "flushdb", "swapdb", "keys", "monitor", "restore"}) {
    EXPECT_FALSE(allows(permission::readwrite, each)) << each;
  }
  EXPECT_FALSE(allows(permission::readwrite, "config", "set"));
  EXPECT_FALSE(allows(permission::readwrite, "client", "kill"));
}

TEST(permission, admin_allows_everything) {
  for (const auto& each : all_commands()) EXPECT_FALSE(denial(permission::admin, each));
}

TEST(permission, a_denial_names_the_command) {
  EXPECT_EQ(denial(permission::readonly, *find_command("SET")),
            "NOPERM this cache allows readonly access; 'set' changes data");
  EXPECT_EQ(denial(permission::readwrite, *find_subcommand(*find_command("config"), "set")),
            "NOPERM this cache allows readwrite access; 'config|set' requires admin access");
}

}  // namespace
}  // namespace strata::runtime::cache
