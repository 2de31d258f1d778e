#include "runtime/cache/disk/users_file.hpp"

#include <unistd.h>

#include <cerrno>

namespace strata::runtime::cache {

result<std::string> users_file::read() {
  const auto view = files_.open(path_);
  if (!view) return std::unexpected(view.error());
  return std::string((*view)->bytes());
}

result<void> users_file::write(std::string_view text) {
  const auto fresh = path_ + ".new";
  const auto operation = "write '" + fresh + "'";
  const auto file = loop::open_regular(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, operation);
  if (!file) return std::unexpected(file.error());
  while (!text.empty()) {
    const auto count = ::write(file->get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(errno, operation);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file->get()) != 0) return system_failure(errno, operation);
  if (auto renamed = files_.rename(fresh, path_); !renamed) return renamed;
  return files_.sync_folder_of(path_);
}

}  // namespace strata::runtime::cache
