#include "runtime/scripting/file_reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "http/files/file_root.hpp"
#include "loop/beside.hpp"

namespace strata::runtime::scripting {

namespace {

std::unexpected<error> outside(const std::string& operation) {
  return failure(errc::permission_denied, operation, "it is outside the script's folder",
                 "give a path relative to that folder, or run the script with --lua-allow "
                 "read=DIR");
}

// The folder that contains the path, and the path from there. An absolute path must be in a folder
// that the script may read.
struct place {
  std::string folder;
  std::string relative;
};

std::optional<place> place_of(const std::vector<std::string>& folders, const std::string& path) {
  if (!path.starts_with('/')) return place{folders.front(), path};
  for (const auto& folder : folders) {
    const auto below = std::filesystem::path(path).lexically_relative(folder).string();
    if (!below.empty() && !below.starts_with("..")) return place{folder, below};
  }
  return std::nullopt;
}

result<unique_fd> open_below(const std::vector<std::string>& folders, const std::string& path,
                             const std::string& operation) {
  const auto place = place_of(folders, path);
  if (!place) return outside(operation);
  auto root =
      http::file_root::open(place->folder, operation, "let strata read the script's folder");
  if (!root) return std::unexpected(root.error());
  auto opened = root->open_below(place->relative);
  if (!opened && opened.error() == EXDEV) return outside(operation);
  if (!opened) return system_failure(opened.error(), operation, "check the path");
  if (opened->is_folder) {
    return failure(errc::invalid_argument, operation, "it is a folder", "name a file");
  }
  return std::move(opened->fd);
}

result<std::string> read_whole(const unique_fd& fd, const std::string& operation) {
  std::string bytes;
  char piece[65536];
  for (;;) {
    const auto got = ::read(fd.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, operation, "");
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(got));
    if (bytes.size() > most_file_bytes) {
      return failure(errc::limit_exceeded, operation,
                     fmt::format("it is longer than {} MiB", most_file_bytes >> 20U),
                     "choose a smaller file");
    }
  }
}

result<std::string> read_from(const std::vector<std::string>& folders, const std::string& path,
                              bool is_unsafe) {
  const auto operation = "read the file '" + path + "'";
  const auto whole = path.starts_with('/') ? path : folders.front() + "/" + path;
  auto file = is_unsafe ? loop::open_regular(whole, O_RDONLY, operation)
                        : open_below(folders, path, operation);
  if (!file) return std::unexpected(file.error());
  return read_whole(*file, operation);
}

loop::task<script::answers> read_beside(loop::loop& loop, std::vector<std::string> folders,
                                        std::string path, bool is_unsafe) {
  auto work = [folders = std::move(folders), path = std::move(path), is_unsafe] {
    return read_from(folders, path, is_unsafe);
  };
  auto bytes = co_await loop::beside(loop, std::move(work));
  if (!bytes) co_return std::unexpected(bytes.error());
  co_return std::vector<nlohmann::json>{std::move(*bytes)};
}

}  // namespace

loop::task<script::answers> read_file(host& host, script::call& call) {
  std::string path(call.text(0));
  if (path.empty() || path.contains('\0')) {
    call.fail("the path is none");
    return {};
  }
  const auto& rights = host.rights();
  auto folders = rights.read_folders;
  folders.insert(folders.end(), rights.write_folders.begin(), rights.write_folders.end());
  return read_beside(host.on(), std::move(folders), std::move(path), rights.is_unsafe);
}

}  // namespace strata::runtime::scripting
