#include "runtime/cache/disk/growing_file.hpp"

#include <cerrno>

namespace strata::runtime::cache {

namespace {

constexpr std::size_t largest_write = 1U << 20U;

}  // namespace

result<growing_file> growing_file::create(loop::loop& loop, std::string path) {
  if (auto removed = loop.files().remove(path); !removed) return std::unexpected(removed.error());
  return reopen(loop, std::move(path));
}

result<growing_file> growing_file::reopen(loop::loop& loop, std::string path) {
  auto file = loop.open_append(path);
  if (!file) return std::unexpected(file.error());
  return growing_file(loop, std::move(*file), std::move(path));
}

loop::task<result<void>> growing_file::append(std::string_view bytes) {
  while (!bytes.empty()) {
    loop::awaited_request writing;
    loop_->write(file_, loop::slice::copy_of(as_bytes(bytes.substr(0, largest_write))), writing);
    const int taken = co_await writing;
    if (taken <= 0) {
      co_return system_failure(taken == 0 ? ENOSPC : -taken, "write to '" + path_ + "'");
    }
    appended_ += static_cast<std::uint64_t>(taken);
    bytes.remove_prefix(static_cast<std::size_t>(taken));
  }
  co_return result<void>{};
}

loop::task<result<void>> growing_file::sync() {
  loop::awaited_request syncing;
  loop_->sync(file_, syncing);
  const int code = co_await syncing;
  if (code < 0) co_return system_failure(-code, "sync '" + path_ + "'");
  co_return result<void>{};
}

loop::task<result<void>> growing_file::finish(const std::string& final_path) {
  auto synced = co_await sync();
  if (!synced) co_return synced;
  auto renamed = loop_->files().rename(path_, final_path);
  if (!renamed) co_return renamed;
  path_ = final_path;
  co_return loop_->files().sync_folder_of(path_);
}

}  // namespace strata::runtime::cache
