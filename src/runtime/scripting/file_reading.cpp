#include "runtime/scripting/file_reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "http/files/file_root.hpp"
#include "loop/beside.hpp"

namespace strata::runtime::scripting {

namespace {

result<unique_fd> open_below(const std::string& folder, const std::string& path,
                             const std::string& operation) {
  auto root = http::file_root::open(folder);
  if (!root) {
    auto why = root.error();
    why.operation = operation;
    why.remedy = "let strata read the script's folder";
    return std::unexpected(std::move(why));
  }
  auto opened = root->open_below(path);
  if (!opened && opened.error() == EXDEV) {
    return failure(errc::permission_denied, operation, "it lies outside of the script's folder",
                   "give its path from there, or run the script with --lua-unsafe");
  }
  if (!opened) return system_failure(opened.error(), operation, "check the path");
  if (opened->is_folder) {
    return failure(errc::invalid_argument, operation, "it is a folder", "name a file");
  }
  return std::move(opened->fd);
}

result<std::string> read_whole(const unique_fd& from, const std::string& operation) {
  std::string bytes;
  char piece[65536];
  for (;;) {
    const auto got = ::read(from.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, operation, "");
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(got));
    if (bytes.size() > most_file_bytes) {
      return failure(errc::limit_exceeded, operation,
                     fmt::format("it is longer than {} MiB", most_file_bytes >> 20U),
                     "read a smaller one");
    }
  }
}

result<std::string> read_from(const std::string& folder, const std::string& path, bool is_unsafe) {
  const auto operation = "read the file '" + path + "'";
  const auto whole = path.starts_with('/') ? path : folder + "/" + path;
  auto file = is_unsafe ? loop::open_regular(whole, O_RDONLY, operation)
                        : open_below(folder, path, operation);
  if (!file) return std::unexpected(file.error());
  return read_whole(*file, operation);
}

loop::task<script::answers> read_beside(loop::loop& on, std::string folder, std::string path,
                                        bool is_unsafe) {
  auto work = [folder = std::move(folder), path = std::move(path), is_unsafe] {
    return read_from(folder, path, is_unsafe);
  };
  auto bytes = co_await loop::beside(on, std::move(work));
  if (!bytes) co_return std::unexpected(bytes.error());
  co_return std::vector<nlohmann::json>{std::move(*bytes)};
}

}  // namespace

loop::task<script::answers> read_file(host& of, script::call& with) {
  std::string path(with.text(0));
  if (path.empty() || path.contains('\0')) {
    with.fail("the path is none");
    return {};
  }
  auto folder = std::filesystem::path(with.by().file()).parent_path().string();
  if (folder.empty()) folder = ".";
  return read_beside(of.on(), std::move(folder), std::move(path), with.by().how().is_unsafe);
}

}  // namespace strata::runtime::scripting
