// What waits to be sent on one stream, as slices of shared chunks.
//
// Whatever is pushed during a turn of the loop goes out in one send at the turn's end. Neighbouring
// slices of one chunk become one, so a connection that hears all broadcasts of a turn costs one
// contiguous send however many messages there were.
//
// A `sealer` turns what is sent into what the wire carries (TLS's records) when it leaves, and not
// when it is pushed: slices stay shared until the last moment, a turn's output fills its records,
// and all figures here count what was pushed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "loop/condition.hpp"
#include "loop/loop.hpp"

namespace strata::net {

class sealer {
 public:
  sealer() = default;
  sealer(const sealer&) = delete;
  sealer& operator=(const sealer&) = delete;
  virtual ~sealer() = default;

  /// What the wire carries for `plain`, all of it, in order, behind what the sealer owes it. Called
  /// once for each byte. Nothing, of something: it cannot be sealed any more.
  virtual loop::slice seal(std::span<const loop::slice> plain) = 0;
  /// Whether the wire is to carry something of the sealer's own (a handshake's message, an alert).
  [[nodiscard]] virtual bool owes() const { return false; }
  /// What the wire carries at the end, behind all that was sealed. Asked again, nothing.
  virtual loop::slice seal_end() { return {}; }
};

class outbox final : private loop::request, private loop::turn_end_hook {
 public:
  outbox(loop::loop& loop, loop::descriptor descriptor) : loop_(loop), to_(std::move(descriptor)) {}
  /// What is sealed ends in good order, as far as that needs no waiting.
  ~outbox() override;
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  [[nodiscard]] const loop::descriptor& socket() const { return to_; }

  /// Takes `data` to be sent after all that was pushed before.
  void push(const loop::slice& data);
  /// Takes bytes of a file to be sent after all that was pushed before, without copying them
  /// through this process. `part` stays open until nothing waits; before that nothing more may be
  /// pushed. Not for what is sealed. A file that has become shorter breaks the stream (ENODATA).
  void push_file(const loop::file_part& part);
  /// From now on, what leaves is sealed; to be called while nothing waits.
  void seal_with(std::unique_ptr<sealer> sealer);

  /// The sealer owes the wire something: it goes at the turn's end.
  void send_owed();
  /// Awaits that nothing waits, nor is owed; says whether that came true before `limit`.
  auto quiet(loop::time_point limit) {
    return changed().wait([this] { return bytes_ == 0 && !is_owing() && !under_way(); }, limit);
  }

  /// Sends nothing that was pushed after the first `pushed()` bytes, until told otherwise.
  void allow(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t allowed() const { return allowed_; }
  /// Bytes pushed in all.
  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }

  /// Bytes pushed and not yet taken by the kernel.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Those of them that are in memory, and not in a file.
  [[nodiscard]] std::size_t bytes_in_memory() const {
    return bytes_ - (file_ ? static_cast<std::size_t>(file_->count) : 0);
  }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  /// The errno that ended sending, or 0. After it everything pushed is dropped.
  [[nodiscard]] int broken() const { return broken_; }

  /// Awaits that no more than `low` bytes wait; says whether that came true before `limit`.
  auto room(std::size_t low, loop::time_point limit) {
    return changed().wait([this, low] { return bytes_ <= low; }, limit);
  }
  /// Awaits that all has reached the peer's side, of which the kernel tells nobody: it is asked
  /// again and again.
  auto acknowledged(loop::time_point limit) {
    return changed().wait([this] { return bytes_ == 0 && loop_.unacknowledged(to_) == 0; }, limit,
                          std::chrono::milliseconds(5));
  }
  /// Ends the sending direction, behind all that waits.
  void end();
  /// Sends what says that all was sent, if all was, for a stream that is closed next.
  void send_end_at_once();

 private:
  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  [[nodiscard]] std::vector<loop::slice> first_of(std::span<const loop::slice> waiting) const;
  void send_sealed(std::span<const loop::slice> waiting);
  void take_sent_of_file(std::size_t count);
  void break_off(int sys_errno);
  [[nodiscard]] bool is_owing() const {
    return sealing_ && (!sealing_->on_its_way.empty() || sealing_->how->owes());
  }
  void take_sent(std::size_t count);
  void compact_last();
  loop::condition& changed() {
    if (!changed_) changed_ = std::make_unique<loop::condition>(loop_);
    return *changed_;
  }

  loop::loop& loop_;
  loop::descriptor to_;
  std::unique_ptr<loop::condition> changed_;  // null until somebody waits: few connections are
                                              // ever waited for
  std::vector<loop::slice> waiting_;
  std::size_t first_ = 0;  // slices before this one are gone
  std::size_t bytes_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t allowed_ = UINT64_MAX;
  struct sealing {
    std::unique_ptr<sealer> how;
    loop::slice on_its_way;  // what the kernel has not taken yet
    std::size_t plain = 0;   // of those that wait, how many bytes are in it
  };
  std::unique_ptr<sealing> sealing_;       // null: what is pushed is what is sent
  std::unique_ptr<loop::file_part> file_;  // null, or what is left of it: behind all that waits
  int broken_ = 0;
  bool is_ending_ = false;
};

}  // namespace strata::net
