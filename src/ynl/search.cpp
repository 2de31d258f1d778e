#include "ynl/search.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "text/readable.hpp"
#include "ynl/reader.hpp"

namespace strata::ynl {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = 1 << 20;

// An installation that was moved, or installed under another prefix than it was built for, has its
// specifications with it.
fs::path folder_of_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::vector<std::string> folders() {
  const char* const said = std::getenv("STRATA_YNL_PATH");
  if (said == nullptr) {
    const auto program = folder_of_program();
    return {program / "share/strata/ynl",  // in a build tree
            program / STRATA_DATA_FROM_PROGRAM "/strata/ynl", STRATA_DATA_DIR "/strata/ynl",
            "/usr/share/ynl/specs"};
  }
  std::vector<std::string> all;
  for (std::string_view rest = said; !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) all.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

std::unexpected<error> unreadable(const std::string& file, std::string why,
                                  errc code = errc::malformed) {
  return failure(code, fmt::format("read the specification '{}'", text::printable(file)),
                 std::move(why));
}

result<spec> read_spec_of(std::string_view family, const std::string& file) {
  auto made = read_spec_file(file);
  if (made && made->family != family) {
    return unreadable(file, fmt::format("it describes the family '{}', not '{}'",
                                        text::printable(made->family), text::printable(family)));
  }
  return made;
}

}  // namespace

result<spec> read_spec_file(const std::string& file) {
  std::error_code failed;
  const auto status = fs::status(file, failed);
  if (status.type() == fs::file_type::not_found) {
    return unreadable(file, "the file does not exist", errc::not_found);
  }
  // Opening a pipe would block, and a device may have no end.
  if (!fs::is_regular_file(status)) return unreadable(file, "it is not a regular file");
  std::ifstream from(file, std::ios::binary);
  std::string yaml(largest_file + 1, '\0');
  if (!from) {
    return unreadable(file, "it cannot be opened; check its permissions", errc::permission_denied);
  }
  from.read(yaml.data(), static_cast<std::streamsize>(yaml.size()));
  yaml.resize(static_cast<std::size_t>(from.gcount()));
  if (from.bad()) return unreadable(file, "reading it failed");
  if (yaml.size() > largest_file) return unreadable(file, "it is larger than 1 MiB");
  auto made = read_spec(yaml, file);
  if (made) return made;
  auto why = made.error();
  for (auto* const each : {&why.operation, &why.reason, &why.remedy})
    *each = text::printable(*each);
  return std::unexpected(std::move(why));
}

result<std::optional<spec>> find_spec(const std::string& text, std::string_view family) {
  if (!text.empty()) return read_spec_of(family, text);
  if (family.contains('/')) return std::nullopt;
  for (const auto& folder : folders()) {
    const auto file = (fs::path(folder) / family).string() + ".yaml";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    auto made = read_spec_of(family, file);
    if (made) return made;
    auto why = made.error();
    why.remedy = "set STRATA_YNL_PATH= to use no specifications";
    return std::unexpected(std::move(why));
  }
  return std::nullopt;
}

}  // namespace strata::ynl
