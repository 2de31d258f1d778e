#include "runtime/server/script/far_pipe.hpp"

#include <utility>

#include "runtime/runtime_service.hpp"

namespace strata::runtime::server {

far_pipe::far_pipe(loop::loop& loop, runtime_service& others, far_client end,
                   std::function<void()> on_end)
    : loop_(loop),
      others_(others),
      end_(std::move(end)),
      on_end_(std::move(on_end)),
      changed_(loop) {}

bool far_pipe::push(std::string_view message) {
  if (is_over_) return false;
  queue_.emplace_back(message);
  unsent_ += message.size();
  if (carrying_.empty()) carrying_.spawn(carry());
  return true;
}

loop::task<> far_pipe::room() {
  (void)co_await changed_.wait([this] { return unsent_ == 0 || is_over_; });
}

loop::task<> far_pipe::carry() {
  while (!queue_.empty()) {
    const auto size = queue_.front().size();
    service_request request{.verb = service_verb::ask,
                            .name = end_.runtime,
                            .details = {{"operation", "send"},
                                        {"parameters", {{"client", end_.id}}},
                                        {"body", std::move(queue_.front())}}};
    queue_.pop_front();
    const auto sent = co_await others_.perform(loop_, std::move(request));
    unsent_ -= size;
    if (!sent) {
      is_over_ = true;
      queue_.clear();
      unsent_ = 0;
      on_end_();
    }
    changed_.notify();
  }
}

}  // namespace strata::runtime::server
