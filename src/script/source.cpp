#include "script/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "loop/file_store.hpp"

namespace strata::script {

namespace {

result<std::string> read_open_source(const unique_fd& file, const std::string& operation) {
  std::string text;
  char piece[16384];
  for (;;) {
    const auto got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, operation, "");
    if (got == 0) break;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > longest_source) {
      return failure(errc::limit_exceeded, operation, "it is longer than 4 MiB",
                     "split it into modules, and require them");
    }
  }
  if (text.starts_with('\x1b')) {
    return failure(errc::invalid_argument, operation, "it is compiled Lua bytecode",
                   "give the source: strata does not run bytecode");
  }
  return text;
}

}  // namespace

result<std::string> read_source(const std::string& path) {
  const auto operation = "read the script '" + path + "'";
  const auto file = loop::open_regular(path, O_RDONLY, operation);
  if (!file) return std::unexpected(file.error());
  return read_open_source(*file, operation);
}

result<std::string> read_source_below(const std::string& folder, const std::string& relative) {
  const auto operation = "read the script '" + folder + "/" + relative + "'";
  const unique_fd root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root)
    return system_failure(errno, operation, "give strata permission to read the script's folder");
  const unique_fd file(loop::open_beneath(root.get(), relative, loop::for_reading));
  if (!file && errno == EXDEV) {
    return failure(errc::permission_denied, operation, "a link points outside the script's folder",
                   "copy the file into that folder, or run the script with --lua-allow unsafe");
  }
  if (!file) return system_failure(errno, operation, "check the path");
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return system_failure(errno, operation);
  if (!S_ISREG(found.st_mode)) return failure(errc::not_found, operation, "it is not a file");
  return read_open_source(file, operation);
}

}  // namespace strata::script
