#include "runtime/scripting/web/streamed_body.hpp"

#include <chrono>
#include <cstdint>
#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::runtime::scripting {

namespace {

constexpr auto longest_delivery = std::chrono::seconds(1);

class piece_source final : private script::waiter {
 public:
  enum class outcome : std::uint8_t { none, piece, end, failed, wrong, left };

  piece_source(host& host, http::exchange& exchange, script::kept_function& body)
      : now_(exchange), body_(body), changed_(host.on()) {}

  loop::task<outcome> next() {
    come_ = outcome::none;
    if (body_.is_gone()) co_return outcome::failed;
    body_.start({}, this);
    if (come_ == outcome::none) {
      // Only while the function waits: otherwise the room for a piece shows that the client is
      // there.
      loop::task_group watching;
      watching.spawn(watch());
      [[maybe_unused]] const bool is =
          co_await changed_.wait([this] { return come_ != outcome::none; });
    }
    co_return come_;
  }
  [[nodiscard]] const std::string& piece() const { return piece_; }

 private:
  loop::task<> watch() {
    co_await now_.client_left();
    come_ = outcome::left;
    changed_.notify();
  }

  void on_end(const script::finished& outcome) override {
    if (outcome.has_failed()) {
      come_ = outcome::failed;
    } else if (outcome.is_nothing()) {
      come_ = outcome::end;
    } else if (outcome.is_text()) {
      piece_ = outcome.text();
      come_ = outcome::piece;
    } else {
      come_ = outcome::wrong;
    }
    changed_.notify();
  }

  http::exchange& now_;
  script::kept_function& body_;
  loop::condition changed_;
  outcome come_ = outcome::none;
  std::string piece_;
};

}  // namespace

loop::task<> send_in_pieces(host& host, http::exchange& exchange, http_answer head,
                            std::unique_ptr<script::kept_function> body) {
  using outcome = piece_source::outcome;
  const bool has_body = head.begin(exchange) && !exchange.is_head();
  piece_source source(host, exchange, *body);
  for (bool goes_on = has_body; goes_on;) {
    const auto come = co_await source.next();
    if (come == outcome::end) break;
    if (come == outcome::wrong) {
      host.log(level::error,
               "the function for an answer's body did not return a text: return texts, and nil at "
               "the end");
    }
    if (come != outcome::piece) {
      // The client is to receive what was sent before; a reset would overtake it.
      if (come != outcome::left) co_await exchange.delivered(host.on().now() + longest_delivery);
      exchange.abort();
      co_return;
    }
    if (source.piece().empty()) {
      co_await host.on().sleep({});  // nothing waits for room, so yield to other work
      continue;
    }
    goes_on = co_await exchange.write(source.piece());
    if (!goes_on) {
      exchange.abort();
      co_return;
    }
  }
  exchange.finish();
}

}  // namespace strata::runtime::scripting
