// Reports the events of one client or connection to a script, in order: while a function for one
// event waits, later events are queued.
//
// Messages that arrive together are reported together (`script::series`): that costs much less.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::scripting {

class sequence final : private script::series, private loop::turn_end_hook {
 public:
  class owner {
   public:
    owner() = default;
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    virtual ~owner() = default;

    /// Returns false if the message is not for the script, and has been handled.
    virtual bool is_for_script(std::string_view /*message*/) { return true; }
    virtual void on_ended(callback callback, const script::finished& outcome) = 0;
    /// Nothing is queued any more. The sequence may be destroyed.
    virtual void on_settled() = 0;
  };

  /// Events that may be queued: of data read at once, and of datagrams, whose senders cannot be
  /// held back.
  static constexpr std::size_t most_behind = 10000;

  /// `id`: the number by which the script knows the client or connection.
  sequence(host& script, std::uint64_t id, owner& owner)
      : script_(script), id_(id), owner_(owner) {}

  /// Queues a message: reported soon, at the end of the loop's turn at the latest. Returns false if
  /// too many are queued and this one is dropped.
  bool notify(callback callback, std::string_view message);
  /// Queues an event that is no message: reported at the end of the loop's turn.
  void notify_soon(callback callback);
  /// Reports queued events to the script now, unless a function for one is still waiting.
  void catch_up();
  /// Whether enough is queued to report it now.
  [[nodiscard]] bool has_much() const { return waiting() >= much || said_.size() >= much_said; }
  /// There are no more events: calls `on_settled` at the end of the turn, or once all are reported.
  void settle() { script_.on().at_turn_end(*this); }
  /// Drops the queued events.
  void clear();
  [[nodiscard]] bool is_busy() const { return is_started_ || waiting() != 0; }

 private:
  static constexpr std::size_t much = 256;
  static constexpr std::size_t much_said = 64U << 10U;

  struct turn {
    callback which;
    std::size_t size;  // size of its message
  };

  [[nodiscard]] std::size_t waiting() const { return turns_.size() - first_; }
  [[nodiscard]] static bool is_message(const turn& one) {
    return one.which == callback::message || one.which == callback::client_message ||
           one.which == callback::upstream;
  }
  std::string_view take_first();
  std::optional<script::step> next() override;
  void on_end(const script::finished& outcome) override;
  void on_turn_end() override;

  host& script_;
  std::uint64_t id_;
  owner& owner_;
  // One buffer for all messages: a short message needs no memory of its own.
  std::vector<turn> turns_;
  std::string said_;
  std::size_t first_ = 0;  // turns before this one have been taken
  std::size_t taken_ = 0;  // bytes of said_ that belong to these turns
  callback running_{};
  bool is_started_ = false;  // a function has started and not ended
  bool is_advancing_ = false;
};

}  // namespace strata::runtime::scripting
