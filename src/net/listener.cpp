#include "net/listener.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace strata::net {

namespace {

/// Device and inode of what stands at `path`; zeros where nothing does.
std::pair<std::uint64_t, std::uint64_t> identity_of(const std::string& path) {
  struct stat found{};
  if (path.empty() || ::lstat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino};
}

}  // namespace

listener::listener(loop::loop& on, loop::socket listening)
    : loop_(on),
      socket_(std::move(listening)),
      path_(on.local_address(socket_).path()),
      bound_(identity_of(path_)) {}

listener::~listener() {
  abandon();
  if (!path_.empty() && identity_of(path_) == bound_) ::unlink(path_.c_str());
}

void listener::on_completion(loop::completion done) {
  if (done.result >= 0) {
    arrived_.push_back({0, loop_.adopt(done.result)});
  } else {
    arrived_.push_back({-done.result, {}});
  }
  if (waiter_) std::exchange(waiter_, {}).resume();
}

result<loop::socket> listener::take() {
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  if (first.sys_errno != 0) {
    return system_failure(
        first.sys_errno, "accept a connection",
        first.sys_errno == EMFILE ? "raise the limit of open files (ulimit -n)" : "");
  }
  return std::move(first.connection);
}

}  // namespace strata::net
