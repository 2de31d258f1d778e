#include "process/keeper_list.hpp"

#include <fcntl.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "process/keeper_link.hpp"

namespace strata::process {

namespace {

keeper_file parse_file(const std::string& name) {
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) return {.runtime = name};
  unsigned instance = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, code] = std::from_chars(name.data() + dot + 1, end, instance);
  if (code != std::errc() || rest != end || instance == 0) return {.runtime = name};
  return {.runtime = name.substr(0, dot), .instance = instance};
}

std::string path_in(const std::string& state_folder) {
  return state_folder + "/" + std::string(keeper_folder);
}

}  // namespace

std::string keeper_file::name() const {
  return instance == 0 ? runtime : runtime + "." + std::to_string(instance);
}

std::vector<keeper_file> read_keeper_files(const std::string& state_folder) {
  std::vector<keeper_file> files;
  std::error_code failed;
  for (std::filesystem::directory_iterator each(path_in(state_folder), failed), end;
       !failed && each != end; each.increment(failed)) {
    files.push_back(parse_file(each->path().filename().string()));
  }
  return files;
}

std::vector<std::string> end_unwanted(
    const std::string& state_folder, const std::vector<keeper_file>& files,
    const std::function<bool(const keeper_file& file)>& is_wanted) {
  std::vector<std::string> ended;
  const unique_fd folder(
      ::open(path_in(state_folder).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return ended;
  for (const auto& each : files) {
    if (is_wanted(each)) continue;
    const auto connection = connect_to_keeper(folder.get(), each.name());
    if (connection && send_order(connection->get(), keeper_order::end)) {
      ended.push_back(each.name());
    }
  }
  return ended;
}

}  // namespace strata::process
