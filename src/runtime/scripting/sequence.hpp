// What happens to one client or connection, told to a script in its order: while a function for it
// waits, the next ones wait behind that.
//
// Messages that come together are told together (`script::series`): that costs much less.
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

    /// False: the message is not the script's any more, and has been taken care of.
    virtual bool is_for_script(std::string_view /*message*/) { return true; }
    virtual void on_ended(callback callback, const script::finished& outcome) = 0;
    /// Nothing waits any more. The sequence may be destroyed.
    virtual void on_settled() = 0;
  };

  /// How many may wait: what is read at once, and datagrams, which nothing holds back.
  static constexpr std::size_t most_behind = 10000;

  /// `id`: what the script knows it by.
  sequence(host& script, std::uint64_t id, owner& owner)
      : script_(script), id_(id), owner_(owner) {}

  /// A message: soon, at the end of the loop's turn at the latest. False: too many wait, and this
  /// is dropped.
  bool tell(callback callback, std::string_view message);
  /// Something that is no message: at the end of the loop's turn.
  void tell_soon(callback callback);
  /// What has been told reaches the script now, unless something for it waits.
  void catch_up();
  /// So much has been gathered that it should.
  [[nodiscard]] bool has_much() const { return waiting() >= much || said_.size() >= much_said; }
  /// Nothing more to tell: has `on_settled` called at the end of the turn, or when all is told.
  void settle() { script_.on().at_turn_end(*this); }
  /// What waits is not told.
  void clear();
  [[nodiscard]] bool is_busy() const { return is_started_ || waiting() != 0; }

 private:
  static constexpr std::size_t much = 256;
  static constexpr std::size_t much_said = 64U << 10U;

  struct turn {
    callback which;
    std::size_t size;  // of its message
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
  // One buffer for all that is said: of many short messages none needs memory of its own.
  std::vector<turn> turns_;
  std::string said_;
  std::size_t first_ = 0;  // turns before it have been taken
  std::size_t taken_ = 0;  // bytes of said_, theirs
  callback running_{};
  bool is_started_ = false;  // and has not ended
  bool is_advancing_ = false;
};

}  // namespace strata::runtime::scripting
