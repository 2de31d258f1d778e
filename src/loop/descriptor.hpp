// Sole owner of a loop's descriptor, of a socket or a file. Closes it through its loop, so that all
// earlier requests on it reach the kernel first and its number is not reused early.
#pragma once

#include <utility>

namespace strata::loop {

class loop;

class descriptor {
 public:
  descriptor() = default;
  descriptor(loop& loop, int fd) : loop_(&loop), fd_(fd) {}
  descriptor(descriptor&& other) noexcept : loop_(other.loop_), fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    close();
    loop_ = other.loop_;
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }

  [[nodiscard]] int fd() const { return fd_; }
  /// The loop that it was opened on; not of an empty descriptor.
  [[nodiscard]] loop& home() const { return *loop_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  loop* loop_ = nullptr;
  int fd_ = -1;
};

}  // namespace strata::loop
