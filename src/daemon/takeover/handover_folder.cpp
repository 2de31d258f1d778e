#include "daemon/takeover/handover_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

namespace strata::daemon::takeover {

namespace {

std::string folder_in(const std::string& state_dir) { return state_dir + "/handover"; }

}  // namespace

result<void> make_handover_folder(const std::string& state_dir) {
  remove_handover_folder(state_dir);
  const auto folder = folder_in(state_dir);
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  return system_failure(errno, "make the folder '" + folder + "'");
}

void remove_handover_folder(const std::string& state_dir) {
  std::error_code ignored;
  std::filesystem::remove_all(folder_in(state_dir), ignored);
}

}  // namespace strata::daemon::takeover
