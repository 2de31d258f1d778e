#include "cli/nl/spec_search.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "text/readable.hpp"
#include "ynl/reader.hpp"

namespace strata::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = 1 << 20;

std::vector<std::string> folders() {
  const char* const said = std::getenv("STRATA_YNL_PATH");
  if (said == nullptr) {
    return {STRATA_DATA_DIR "/strata/ynl", "/usr/share/strata/ynl", "/usr/local/share/strata/ynl",
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

std::unexpected<refusal> unreadable(const std::string& file, std::string_view why) {
  return refuse(exit_failed,
                fmt::format("cannot read the specification '{}': {}", text::printable(file), why));
}

outcome<ynl::spec> read_spec_of(std::string_view family, const std::string& file) {
  auto made = read_spec_file(file);
  if (made && made->family != family) {
    return unreadable(file, fmt::format("it is of the family '{}', and not of '{}'",
                                        text::printable(made->family), text::printable(family)));
  }
  return made;
}

}  // namespace

outcome<ynl::spec> read_spec_file(const std::string& file) {
  std::error_code failed;
  const auto status = fs::status(file, failed);
  if (status.type() == fs::file_type::not_found) {
    return unreadable(file, "there is no such file");
  }
  // A pipe would be waited for, and a device may have no end.
  if (!fs::is_regular_file(status)) return unreadable(file, "it is no regular file");
  std::ifstream from(file, std::ios::binary);
  std::string yaml(largest_file + 1, '\0');
  if (!from) return unreadable(file, "it cannot be opened; may you read it?");
  from.read(yaml.data(), static_cast<std::streamsize>(yaml.size()));
  yaml.resize(static_cast<std::size_t>(from.gcount()));
  if (from.bad()) return unreadable(file, "reading it failed");
  if (yaml.size() > largest_file) return unreadable(file, "it has more than 1 MiB");
  auto made = ynl::read_spec(yaml, file);
  if (!made) return refuse(exit_failed, text::printable(describe(made.error())));
  return std::move(*made);
}

outcome<std::optional<ynl::spec>> find_spec(const invocation& call, std::string_view family) {
  if (const auto file = call.text("spec"); !file.empty()) return read_spec_of(family, file);
  if (family.contains('/')) return std::nullopt;
  for (const auto& folder : folders()) {
    const auto file = (fs::path(folder) / family).string() + ".yaml";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    auto made = read_spec_of(family, file);
    if (made) return made;
    made.error().message += "; STRATA_YNL_PATH= does without";
    return std::unexpected(made.error());
  }
  return std::nullopt;
}

}  // namespace strata::cli
