// Where strata keeps its files on this machine: the one place that makes daemon and CLI agree.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace strata::options {

/// The inputs of the paths. An unset variable is empty here.
struct path_environment {
  uid_t uid = 0;
  std::string home;  ///< HOME, or else the user's entry in the system
  std::string xdg_state_home;
  std::string xdg_runtime_dir;
  std::string xdg_config_home;
  std::string xdg_data_home;
  std::string state_dir;   ///< STRATA_STATE_DIR
  std::string socket;      ///< STRATA_SOCKET
  std::string config_dir;  ///< STRATA_CONFIG_DIR
  std::string lua_dir;     ///< STRATA_LUA_DIR
};

/// Reads the environment of this process. Call it before threads may change it.
[[nodiscard]] path_environment current_path_environment();

struct run_paths {
  std::string state_dir;
  std::string socket;
  std::string config_dir;
};

/// Returns the paths: STRATA_* first; then, for root, /var/lib/strata, /run/strata/strata.sock and
/// /etc/strata; otherwise the XDG folders with their defaults below the home folder, where the
/// socket has a folder too if there is no XDG_RUNTIME_DIR. A path that needs a missing home folder
/// is empty.
[[nodiscard]] run_paths paths_for(const path_environment& environment);

/// The folders where scripts find shared modules, in order of precedence: STRATA_LUA_DIR alone;
/// otherwise strata/lua below XDG_DATA_HOME or ~/.local/share, unless the user is root, and then
/// below /usr/share.
[[nodiscard]] std::vector<std::string> lua_folders_for(const path_environment& environment);

}  // namespace strata::options
