#include "net/listener.hpp"

#include <cerrno>

namespace strata::net {

listener::listener(loop::loop& loop, loop::descriptor listening)
    : loop_(loop), socket_(std::move(listening)), file_(loop.local_address(socket_).path()) {}

listener::~listener() { abandon(); }

void listener::on_completion(loop::completion completion) {
  if (completion.result >= 0) {
    arrived_.push_back({0, loop_.adopt(completion.result)});
  } else {
    arrived_.push_back({-completion.result, {}});
  }
  if (waiter_) std::exchange(waiter_, {}).resume();
}

result<loop::descriptor> listener::take() {
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  if (first.sys_errno != 0) {
    return system_failure(first.sys_errno, "accept a connection");
  }
  return std::move(first.connection);
}

}  // namespace strata::net
