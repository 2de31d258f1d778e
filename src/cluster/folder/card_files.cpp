#include "cluster/folder/card_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "cluster/card.hpp"

namespace strata::cluster {

namespace {

constexpr std::string_view card_suffix = ".card";
constexpr std::string_view lock_suffix = ".lock";
constexpr std::string_view new_suffix = ".new";

/// Opening by name follows no link, does not block, and gets no controlling terminal.
constexpr int safely = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

result<void> write_all(int fd, std::string_view rest, const std::string& operation) {
  while (!rest.empty()) {
    const auto written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(errno, operation);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

struct closing {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

result<card_files> card_files::open(std::string folder) {
  const auto operation = fmt::format("use the cluster's folder '{}'", folder);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(errno, operation, "create the folder above it");
  }
  const unique_fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return system_failure(errno, operation);
  struct stat found{};
  if (::fstat(opened.get(), &found) != 0) return system_failure(errno, operation);
  if ((found.st_mode & S_IWOTH) != 0) {
    return failure(errc::permission_denied, operation,
                   "every user may write there, and could add backends to all groups",
                   fmt::format("chmod o-w '{}'", folder));
  }
  return card_files(std::move(folder));
}

result<void> card_files::check() const {
  struct stat found{};
  if (::stat(folder_.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
  return failure(errc::connection_closed, fmt::format("use the cluster's folder '{}'", folder_),
                 "it is not there", "mount its disk, or make it again");
}

std::string card_files::path_of(const std::string& daemon, std::string_view suffix) const {
  return fmt::format("{}/{}{}", folder_, daemon, suffix);
}

result<unique_fd> card_files::lock(const std::string& daemon) const {
  const auto path = path_of(daemon, lock_suffix);
  const auto operation = fmt::format("lock '{}'", path);
  unique_fd lock(::open(path.c_str(), O_RDWR | O_CREAT | safely, 0600));
  if (!lock) return system_failure(errno, operation);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return failure(errc::conflict, operation, "another process has locked it", "");
  }
  return system_failure(errno, operation, "use a disk that knows locks, or etcd");
}

result<void> card_files::write(const std::string& daemon, std::string_view text) const {
  const auto beside = path_of(daemon, new_suffix);
  const auto path = path_of(daemon, card_suffix);
  const auto operation = fmt::format("write '{}'", path);
  // What a killed process left here.
  (void)::unlink(beside.c_str());
  unique_fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | safely, 0644));
  if (!fd) return system_failure(errno, operation);
  if (auto written = write_all(fd.get(), text, operation); !written) {
    (void)::unlink(beside.c_str());
    return written;
  }
  // A network disk may report only now that it is full.
  if (::close(fd.release()) != 0) return system_failure(errno, operation);
  if (::rename(beside.c_str(), path.c_str()) != 0) return system_failure(errno, operation);
  return {};
}

result<std::string> card_files::read(const std::string& daemon) const {
  const auto path = path_of(daemon, card_suffix);
  const auto operation = fmt::format("read '{}'", path);
  const unique_fd fd(::open(path.c_str(), O_RDONLY | safely));
  if (!fd) return system_failure(errno, operation);
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return system_failure(errno, operation);
  const auto size = static_cast<std::size_t>(found.st_size);
  if (!S_ISREG(found.st_mode) || size > longest_card) {
    return failure(errc::malformed, operation,
                   fmt::format("it is not a file of at most {} bytes", longest_card), "");
  }
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const auto got = ::read(fd.get(), text.data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, operation);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

result<void> card_files::remove(const std::string& daemon) const {
  const auto path = path_of(daemon, card_suffix);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return system_failure(errno, fmt::format("remove '{}'", path));
}

result<std::map<std::string, file_version>> card_files::list() const {
  const auto operation = fmt::format("list the cluster's folder '{}'", folder_);
  const std::unique_ptr<DIR, closing> stream(::opendir(folder_.c_str()));
  if (!stream) return system_failure(errno, operation);
  const int descriptor = ::dirfd(stream.get());
  if (descriptor < 0) return system_failure(errno, operation);
  std::map<std::string, file_version> cards;
  for (;;) {
    errno = 0;
    const auto* const entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return system_failure(errno, operation);
    if (entry == nullptr) return cards;
    const std::string_view file = entry->d_name;
    if (!file.ends_with(card_suffix)) continue;
    const std::string daemon(file.substr(0, file.size() - card_suffix.size()));
    struct stat found{};
    const bool is_there = ::fstatat(descriptor, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there || !is_daemon_name(daemon)) continue;
    cards[daemon] = {.inode = found.st_ino,
                     .size = found.st_size,
                     .changed_s = found.st_ctim.tv_sec,
                     .changed_ns = found.st_ctim.tv_nsec};
  }
}

}  // namespace strata::cluster
