#include "script/module_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "script/source.hpp"

namespace strata::script {

module_folders::module_folders(const std::string& script, std::span<const std::string> libraries) {
  const auto own = std::filesystem::path(script).parent_path().string();
  all_.push_back(own.empty() ? "." : own);
  all_.insert(all_.end(), libraries.begin(), libraries.end());
}

result<module_source> module_folders::find(std::string_view name) const {
  const auto operation = fmt::format("find the module '{}'", name);
  const bool is_plain =
      !name.empty() && !name.starts_with('.') && !name.contains("..") &&
      std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
      });
  if (!is_plain) {
    return failure(errc::invalid_argument, operation,
                   "a name can have letters, digits, '_', '-' and single dots", "name a module");
  }
  std::string relative(name);
  std::ranges::replace(relative, '.', '/');
  std::string tried;
  for (const auto& folder : all_) {
    for (const char* const ending : {".lua", "/init.lua"}) {
      const auto below = relative + ending;
      auto path = folder + "/" + below;
      // The path must not lead out of the script's folder; the other folders are the
      // administrator's.
      auto text = &folder == &all_.front() ? read_source_below(folder, below) : read_source(path);
      if (text) return module_source{std::move(path), std::move(*text)};
      if (text.error().code != errc::not_found) return std::unexpected(text.error());
      tried += (tried.empty() ? "'" : ", '") + path + "'";
    }
  }
  return failure(errc::not_found, operation, "there is no " + tried,
                 "put it into the script's folder");
}

std::string module_folders::package_path() const {
  std::string path;
  for (const auto& each : all_) path += each + "/?.lua;" + each + "/?/init.lua;";
  return path;
}

}  // namespace strata::script
