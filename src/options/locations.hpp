// Where strata keeps what on this machine: the one place that daemon and CLI agree by.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace strata::options {

/// What the paths depend on. A variable that is unset is empty here.
struct path_environment {
  uid_t uid = 0;
  std::string home;  ///< HOME, or else what the system knows of the user
  std::string xdg_state_home;
  std::string xdg_runtime_dir;
  std::string xdg_config_home;
  std::string xdg_data_home;
  std::string state_dir;   ///< STRATA_STATE_DIR
  std::string socket;      ///< STRATA_SOCKET
  std::string config_dir;  ///< STRATA_CONFIG_DIR
  std::string lua_dir;     ///< STRATA_LUA_DIR
};

/// The environment of this process. Call it before threads may change it.
[[nodiscard]] path_environment current_path_environment();

struct run_paths {
  std::string state_dir;
  std::string socket;
  std::string config_dir;
};

/// STRATA_* first; then, as root, /var/lib/strata, /run/strata/strata.sock and /etc/strata; else
/// the XDG folders with their defaults below the home folder, where the socket too has a folder
/// when there is no XDG_RUNTIME_DIR. What cannot be told for want of a home folder is empty.
[[nodiscard]] run_paths paths_for(const path_environment& environment);

/// Where scripts find the modules that several share, the first first: STRATA_LUA_DIR alone; else
/// strata/lua below XDG_DATA_HOME or ~/.local/share, unless the user is root, and then below
/// /usr/share.
[[nodiscard]] std::vector<std::string> lua_folders_for(const path_environment& environment);

}  // namespace strata::options
