#include "options/file_text.hpp"

#include <unistd.h>

#include <cerrno>

namespace strata::options {

result<std::string> read_text(int fd, std::size_t size, const std::string& operation) {
  std::string text(size, '\0');
  std::size_t end = 0;
  while (end < text.size()) {
    const auto count = ::read(fd, text.data() + end, text.size() - end);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(errno, operation);
    if (count == 0) break;
    end += static_cast<std::size_t>(count);
  }
  text.resize(end);
  return text;
}

}  // namespace strata::options
