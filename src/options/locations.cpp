#include "options/locations.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace strata::options {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : value;
}

/// XDG specification: relative paths in these variables are ignored.
bool is_usable(const std::string& folder) { return folder.starts_with('/'); }

std::string home_of(uid_t user) {
  auto home = variable("HOME");
  if (is_usable(home)) return home;
  const auto* const known = ::getpwuid(user);
  return known == nullptr || known->pw_dir == nullptr ? std::string{} : known->pw_dir;
}

std::string user_folder(const std::string& xdg, const std::string& text, const char* below_home) {
  if (is_usable(xdg)) return xdg + "/strata";
  return is_usable(text) ? text + below_home : std::string{};
}

}  // namespace

path_environment current_path_environment() {
  return {.uid = ::geteuid(),
          .home = home_of(::geteuid()),
          .xdg_state_home = variable("XDG_STATE_HOME"),
          .xdg_runtime_dir = variable("XDG_RUNTIME_DIR"),
          .xdg_config_home = variable("XDG_CONFIG_HOME"),
          .xdg_data_home = variable("XDG_DATA_HOME"),
          .state_dir = variable("STRATA_STATE_DIR"),
          .socket = variable("STRATA_SOCKET"),
          .config_dir = variable("STRATA_CONFIG_DIR"),
          .lua_dir = variable("STRATA_LUA_DIR")};
}

run_paths paths_for(const path_environment& environment) {
  run_paths paths{.state_dir = "/var/lib/strata",
                  .socket = "/run/strata/strata.sock",
                  .config_dir = "/etc/strata"};
  if (environment.uid != 0) {
    const auto& home = environment.home;
    paths.state_dir = user_folder(environment.xdg_state_home, home, "/.local/state/strata");
    paths.config_dir = user_folder(environment.xdg_config_home, home, "/.config/strata");
    // Not in /tmp: any user can create a folder of that name there first.
    paths.socket = user_folder(environment.xdg_runtime_dir, home, "/.local/state/strata/run");
    if (!paths.socket.empty()) paths.socket += "/strata.sock";
  }
  if (!environment.state_dir.empty()) paths.state_dir = environment.state_dir;
  if (!environment.socket.empty()) paths.socket = environment.socket;
  if (!environment.config_dir.empty()) paths.config_dir = environment.config_dir;
  return paths;
}

std::vector<std::string> lua_folders_for(const path_environment& environment) {
  if (!environment.lua_dir.empty()) return {environment.lua_dir};
  std::vector<std::string> folders;
  if (environment.uid != 0) {
    auto own = user_folder(environment.xdg_data_home, environment.home, "/.local/share/strata");
    if (!own.empty()) folders.push_back(std::move(own) + "/lua");
  }
  folders.emplace_back("/usr/share/strata/lua");
  return folders;
}

}  // namespace strata::options
