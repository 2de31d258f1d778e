#include "options/locations.hpp"

#include <gtest/gtest.h>

namespace strata::options {
namespace {

path_environment user() {
  path_environment environment;
  environment.uid = 1000;
  return environment;
}

TEST(paths, of_root_are_the_systems) {
  path_environment environment;
  environment.home = "/root";
  environment.xdg_runtime_dir = "/run/user/0";
  const auto paths = paths_for(environment);
  EXPECT_EQ(paths.state_dir, "/var/lib/strata");
  EXPECT_EQ(paths.socket, "/run/strata/strata.sock");
  EXPECT_EQ(paths.config_dir, "/etc/strata");
}

TEST(paths, of_a_user_follow_xdg) {
  auto environment = user();
  environment.home = "/home/u";
  environment.xdg_state_home = "/s";
  environment.xdg_runtime_dir = "/run/user/1000";
  environment.xdg_config_home = "/c";
  const auto paths = paths_for(environment);
  EXPECT_EQ(paths.state_dir, "/s/strata");
  EXPECT_EQ(paths.socket, "/run/user/1000/strata/strata.sock");
  EXPECT_EQ(paths.config_dir, "/c/strata");
}

TEST(paths, of_a_user_without_xdg_are_below_home) {
  auto environment = user();
  environment.home = "/home/u";
  environment.xdg_state_home = "relative";
  const auto paths = paths_for(environment);
  EXPECT_EQ(paths.state_dir, "/home/u/.local/state/strata");
  EXPECT_EQ(paths.socket, "/home/u/.local/state/strata/run/strata.sock");
  EXPECT_EQ(paths.config_dir, "/home/u/.config/strata");
}

TEST(paths, of_a_user_without_anything_are_nowhere_rather_than_where_others_can_guess) {
  const auto paths = paths_for(user());
  EXPECT_EQ(paths.state_dir, "");
  EXPECT_EQ(paths.socket, "");
  EXPECT_EQ(paths.config_dir, "");
}

TEST(paths, stratas_own_variables_come_first) {
  for (const uid_t uid : {0U, 1000U}) {
    path_environment environment;
    environment.uid = uid;
    environment.xdg_runtime_dir = "/run/user/1000";
    environment.state_dir = "/a";
    environment.socket = "b.sock";
    environment.config_dir = "/c";
    const auto paths = paths_for(environment);
    EXPECT_EQ(paths.state_dir, "/a");
    EXPECT_EQ(paths.socket, "b.sock");
    EXPECT_EQ(paths.config_dir, "/c");
  }
}

TEST(locations, modules_of_scripts_are_the_users_own_and_the_systems) {
  using folders = std::vector<std::string>;
  path_environment environment{.uid = 1000, .home = "/home/ann"};
  EXPECT_EQ(lua_folders_for(environment),
            (folders{"/home/ann/.local/share/strata/lua", "/usr/share/strata/lua"}));
  environment.xdg_data_home = "/data";
  EXPECT_EQ(lua_folders_for(environment), (folders{"/data/strata/lua", "/usr/share/strata/lua"}));
  environment.uid = 0;
  EXPECT_EQ(lua_folders_for(environment), folders{"/usr/share/strata/lua"});
  environment.lua_dir = "/elsewhere";
  EXPECT_EQ(lua_folders_for(environment), folders{"/elsewhere"});
}

}  // namespace
}  // namespace strata::options
