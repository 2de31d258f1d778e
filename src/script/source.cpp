#include "script/source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "loop/file_store.hpp"

namespace strata::script {

result<std::string> read_source(const std::string& path) {
  const auto operation = "read the script '" + path + "'";
  const auto file = loop::open_regular(path, O_RDONLY, operation);
  if (!file) return std::unexpected(file.error());
  std::string text;
  char piece[16384];
  for (;;) {
    const auto got = ::read(file->get(), piece, sizeof piece);
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
    return failure(errc::invalid_argument, operation, "it is compiled Lua",
                   "give the source: bytecode is never run");
  }
  return text;
}

}  // namespace strata::script
