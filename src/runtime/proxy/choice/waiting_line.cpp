#include "runtime/proxy/choice/waiting_line.hpp"

#include <chrono>
#include <utility>

namespace strata::runtime::proxy {

namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 100ms;

class place_in_line {
 public:
  explicit place_in_line(std::size_t& size) : size_(size) { ++size_; }
  place_in_line(const place_in_line&) = delete;
  place_in_line& operator=(const place_in_line&) = delete;
  ~place_in_line() { --size_; }

 private:
  std::size_t& size_;
};

}  // namespace

loop::task<bool> waiting_line::wait(std::function<bool()> may_go, loop::time_point limit) {
  const place_in_line taken(size_);
  // A newcomer must not go first, before the others have been asked.
  call();
  bool is_new = true;
  const bool goes = co_await called_.wait(
      [&may_go, &is_new] { return !std::exchange(is_new, false) && may_go(); }, limit,
      look_interval);
  co_return goes;
}

}  // namespace strata::runtime::proxy
