#include "runtime/options/script_rights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "options/credentials.hpp"

namespace strata::runtime {

namespace {

using nlohmann::json;
using options::option_reach;
using options::option_row;
namespace fs = std::filesystem;

constexpr std::string_view read_prefix = "read=";
constexpr std::string_view write_prefix = "write=";
constexpr std::string_view unix_prefix = "unix://";

// Resolves links as far as the path exists. Empty if it cannot be resolved.
fs::path resolved(const fs::path& path) {
  std::error_code trouble;
  auto whole = fs::weakly_canonical(path, trouble);
  if (trouble) return {};
  // Creating the file would follow a link that leads nowhere yet.
  if (fs::is_symlink(fs::symlink_status(whole, trouble))) return {};
  return whole;
}

bool is_beneath(const std::string& path, const std::vector<std::string>& folders) {
  const auto whole = resolved(path);
  if (whole.empty()) return false;
  return std::ranges::any_of(folders, [&whole](const std::string& folder) {
    const auto root = resolved(folder);
    const auto parts = std::ranges::mismatch(root, whole);
    return !root.empty() && parts.in1 == root.end();
  });
}

bool are_beneath(const std::vector<std::string>& paths, const std::vector<std::string>& folders) {
  return std::ranges::all_of(paths, [&](const auto& each) { return is_beneath(each, folders); });
}

std::string folder_of(const std::string& script) {
  auto folder = fs::path(script).parent_path().string();
  if (folder.empty()) folder = ".";
  return folder;
}

result<std::string> absolute_folder(std::string_view word, std::string_view prefix) {
  std::string folder(word.substr(prefix.size()));
  if (folder.starts_with('/')) return folder;
  return failure(errc::invalid_argument, fmt::format("use --lua-allow '{}'", word),
                 "the path of its folder is not absolute", fmt::format("write {}/FOLDER", prefix));
}

result<void> add_right(std::string_view word, script_rights& rights) {
  if (word == "net") {
    rights.net = true;
  } else if (word == "runtimes") {
    rights.runtimes = true;
  } else if (word == "unsafe") {
    rights.is_unsafe = true;
  } else if (word.starts_with(read_prefix)) {
    auto folder = absolute_folder(word, read_prefix);
    if (!folder) return std::unexpected(folder.error());
    rights.read_folders.push_back(std::move(*folder));
  } else if (word.starts_with(write_prefix)) {
    auto folder = absolute_folder(word, write_prefix);
    if (!folder) return std::unexpected(folder.error());
    rights.write_folders.push_back(std::move(*folder));
  } else if (word != "none") {
    return failure(errc::invalid_argument, fmt::format("use --lua-allow '{}'", word),
                   "there is no such right",
                   "give net, runtimes, read=DIR, write=DIR, unsafe or none");
  }
  return {};
}

std::unexpected<error> refusal(const option_row& row, std::string reason, std::string_view right) {
  return failure(errc::permission_denied,
                 fmt::format("set {} from a script", options::long_flag(row)), std::move(reason),
                 fmt::format("run the script with --lua-allow {}", right));
}

// Each text behind `unix://` may be a path, up to a blank or as a whole.
std::vector<std::string> unix_paths(std::string_view value) {
  std::vector<std::string> paths;
  for (auto place = value.find(unix_prefix); place != std::string_view::npos;
       place = value.find(unix_prefix, place + 1)) {
    const auto rest = value.substr(place + unix_prefix.size());
    paths.emplace_back(rest.substr(0, rest.find('?')));
    paths.emplace_back(rest.substr(0, rest.find_first_of(" \t,?")));
  }
  return paths;
}

result<void> check_value(const script_rights& rights, const option_row& row,
                         const std::string& value) {
  if (value.empty()) return {};
  switch (row.reach) {
    case option_reach::read_path:
      if (rights.may_read(value)) return {};
      return refusal(row, fmt::format("'{}' is outside the script's folder", value), "read=DIR");
    case option_reach::written_path:
      if (rights.may_write(value)) return {};
      return refusal(row, fmt::format("the script may not write '{}'", value), "write=DIR");
    case option_reach::listening:
    case option_reach::connecting: break;
    default: return {};
  }
  const bool is_listening = row.reach == option_reach::listening;
  for (const auto& path : unix_paths(value)) {
    const bool is_allowed = is_listening ? rights.may_write(path) : rights.may_read(path);
    if (is_allowed) continue;
    return refusal(row, fmt::format("the script may not use the socket '{}'", path), "write=DIR");
  }
  // A runtime's name and @GROUP lead to runtimes of this daemon.
  const bool leaves = is_listening ? value.contains("l2://") || value.contains("xdp://")
                                   : value.contains(':') && !value.starts_with("runtime://");
  if (leaves && !rights.net) return refusal(row, "the script may not use the network", "net");
  return {};
}

result<void> check_secret(const option_row& row, const json& value) {
  if (!value.is_string() || !options::is_reference(value.get_ref<const std::string&>())) return {};
  return refusal(row, "scripts have no access to the daemon's credentials", "unsafe");
}

result<void> check_row(const script_rights& rights, const option_row& row, const json& value) {
  if (row.kind == options::option_kind::secret) return check_secret(row, value);
  if (value.is_string()) return check_value(rights, row, value.get_ref<const std::string&>());
  if (!value.is_array()) return {};
  for (const auto& each : value) {
    if (!each.is_string()) continue;
    auto checked = check_value(rights, row, each.get_ref<const std::string&>());
    if (!checked) return checked;
  }
  return {};
}

template <class Value>
Value value_of(const json& options, const char* key, Value fallback) {
  const auto found = options.find(key);
  if (found == options.end()) return fallback;
  try {
    return found->get<Value>();
  } catch (const json::exception&) {  // the type's own check reports what is wrong
    return fallback;
  }
}

}  // namespace

bool script_rights::may_read(const std::string& path) const {
  return is_unsafe || is_beneath(path, read_folders) || is_beneath(path, write_folders);
}

bool script_rights::may_write(const std::string& path) const {
  return is_unsafe || is_beneath(path, write_folders);
}

bool script_rights::includes(const script_rights& other) const {
  if (is_unsafe) return true;
  const bool is_more = (other.net && !net) || (other.runtimes && !runtimes) || other.is_unsafe ||
                       (other.is_compiled && !is_compiled);
  if (is_more || !are_beneath(other.write_folders, write_folders)) return false;
  return std::ranges::all_of(other.read_folders,
                             [this](const std::string& each) { return may_read(each); });
}

result<script_rights> script_rights_of(const script_options& options) {
  script_rights rights{.is_unsafe = options.lua_unsafe, .is_compiled = options.lua_jit};
  rights.read_folders.push_back(folder_of(options.lua));
  if (options.lua_allow.empty()) rights.net = rights.runtimes = true;
  for (const auto& word : options.lua_allow) {
    if (auto added = add_right(word, rights); !added) return std::unexpected(added.error());
  }
  if (rights.is_unsafe) rights.net = rights.runtimes = true;
  return rights;
}

result<script_rights> script_rights_of(const json& options) {
  return script_rights_of(
      script_options{.lua = value_of<std::string>(options, "lua", ""),
                     .lua_jit = value_of(options, "lua_jit", false),
                     .lua_allow = value_of<std::vector<std::string>>(options, "lua_allow", {}),
                     .lua_unsafe = value_of(options, "lua_unsafe", false)});
}

result<void> check_reach(const script_rights& rights, std::span<const option_row> rows,
                         const json& options) {
  if (rights.is_unsafe || !options.is_object()) return {};
  // Of a program that is run, the environment or the folder says as much as the command.
  const bool runs_programs = std::ranges::any_of(
      rows, [](const option_row& row) { return row.reach == option_reach::running; });
  for (const auto& row : rows) {
    const auto found = options.find(std::string(row.key));
    if (found == options.end()) continue;
    if (runs_programs) return refusal(row, "the script may not run programs", "unsafe");
    if (auto checked = check_row(rights, row, *found); !checked) return checked;
  }
  return {};
}

result<void> check_child(const script_rights& rights, const json& options) {
  const auto script = options.find("lua");
  if (script == options.end() || !script->is_string()) return {};
  if (script->get_ref<const std::string&>().empty()) return {};
  const auto child = script_rights_of(options);
  if (!child || rights.includes(*child)) return {};  // the type reports an error
  return failure(errc::permission_denied, "give rights to a script from a script",
                 fmt::format("--lua-allow {} exceeds the rights of the calling script",
                             fmt::join(words_of(*child), ", ")),
                 "give at most the rights of the calling script");
}

std::vector<std::string> words_of(const script_rights& rights) {
  std::vector<std::string> words;
  if (rights.net) words.emplace_back("net");
  if (rights.runtimes) words.emplace_back("runtimes");
  if (rights.is_unsafe) words.emplace_back("unsafe");
  // The first folder is the script's own, for which there is no word.
  for (std::size_t position = 1; position < rights.read_folders.size(); ++position) {
    words.push_back(std::string(read_prefix) + rights.read_folders[position]);
  }
  for (const auto& folder : rights.write_folders) {
    words.push_back(std::string(write_prefix) + folder);
  }
  if (words.empty()) words.emplace_back("none");
  return words;
}

result<void> check_unix_path(const script_rights& rights, const std::string& path) {
  if (rights.may_read(path)) return {};
  return failure(errc::permission_denied, "connect to unix://" + path,
                 "the socket is outside the script's folder",
                 "run the script with --lua-allow write=DIR, and name the socket's folder");
}

void make_paths_absolute(std::span<const option_row> rows, const std::string& folder,
                         json& options) {
  const auto make_absolute = [&folder](json& value) {
    if (!value.is_string()) return;
    const auto& path = value.get_ref<const std::string&>();
    if (!path.empty()) value = (fs::path(folder) / path).lexically_normal().string();
  };
  for (const auto& row : rows) {
    const auto found = options.find(std::string(row.key));
    if (!options::is_path(row) || found == options.end()) continue;
    if (found->is_array()) {
      std::ranges::for_each(*found, make_absolute);
    } else {
      make_absolute(*found);
    }
  }
}

}  // namespace strata::runtime
