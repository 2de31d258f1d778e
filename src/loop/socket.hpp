// Sole owner of a loop's descriptor (a socket or a file): closes it through its loop, so that
// whatever was asked of it before is handed to the kernel first and a number is never reused early.
#pragma once

#include <utility>

namespace strata::loop {

class loop;

class socket {
 public:
  socket() = default;
  socket(loop& owner, int fd) : loop_(&owner), fd_(fd) {}
  socket(socket&& other) noexcept : loop_(other.loop_), fd_(std::exchange(other.fd_, -1)) {}
  socket& operator=(socket&& other) noexcept {
    close();
    loop_ = other.loop_;
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  socket(const socket&) = delete;
  socket& operator=(const socket&) = delete;
  ~socket() { close(); }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  loop* loop_ = nullptr;
  int fd_ = -1;
};

}  // namespace strata::loop
