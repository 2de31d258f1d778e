// The data queued to be sent on one stream, as slices of shared chunks.
//
// Whatever is pushed during a turn of the loop goes out in one send at the turn's end. Neighbouring
// slices of one chunk are merged, so a connection that receives all broadcasts of a turn costs one
// contiguous send however many messages there were.
//
// A `sealer` turns data into what the wire carries (TLS records) when it leaves, not when it is
// pushed: slices stay shared until the last moment, a turn's output fills its records, and all
// figures here count what was pushed.
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

  /// Returns what the wire carries for all of `plain`, in order, behind what the sealer owes.
  /// Called once for each byte. An empty result for non-empty input means that sealing has failed
  /// for good.
  virtual loop::slice seal(std::span<const loop::slice> plain) = 0;
  /// Whether the sealer has data of its own to send (a handshake message, an alert).
  [[nodiscard]] virtual bool owes() const { return false; }
  /// Returns what ends the wire, behind all that was sealed. Empty on later calls.
  virtual loop::slice seal_end() { return {}; }
};

class outbox final : private loop::request, private loop::turn_end_hook {
 public:
  explicit outbox(loop::descriptor descriptor) : to_(std::move(descriptor)) {}
  /// Ends a sealed stream in good order, as far as that needs no waiting.
  ~outbox() override;
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  [[nodiscard]] const loop::descriptor& socket() const { return to_; }

  /// Queues `data` behind all that was pushed before.
  void push(const loop::slice& data);
  /// Queues bytes of a file behind all that was pushed before, without copying them through this
  /// process. `part` stays open until nothing is queued; push nothing more before that. Not for
  /// sealed streams. A file that has become shorter breaks the stream (ENODATA).
  void push_file(const loop::file_part& part);
  /// Seals everything that is sent from now on; call it while nothing is queued.
  void seal_with(std::unique_ptr<sealer> sealer);

  /// Sends what the sealer owes, at the turn's end.
  void send_owed();
  /// Waits until nothing is queued or owed; reports whether that came true before `limit`.
  auto quiet(loop::time_point limit) {
    return changed().wait([this] { return bytes_ == 0 && !is_owing() && !under_way(); }, limit);
  }

  /// Holds back everything after the first `bytes` pushed bytes, until the next call.
  void allow(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t allowed() const { return rare_ ? rare_->allowed : UINT64_MAX; }
  /// The total number of bytes pushed.
  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }

  /// Bytes that are pushed and that the kernel has not taken yet.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The part of `bytes()` that is in memory, not in a file.
  [[nodiscard]] std::size_t bytes_in_memory() const {
    return bytes_ - (file() != nullptr ? static_cast<std::size_t>(file()->count) : 0);
  }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  /// The errno that ended sending, or 0. Once it is set, everything pushed is dropped.
  [[nodiscard]] int broken() const { return broken_; }

  /// Waits until no more than `low` bytes are queued; reports whether that came true before
  /// `limit`.
  auto room(std::size_t low, loop::time_point limit) {
    return changed().wait([this, low] { return bytes_ <= low; }, limit);
  }
  /// Waits until the peer's side has acknowledged everything. The kernel does not signal that, so
  /// it is polled.
  auto acknowledged(loop::time_point limit) {
    return changed().wait([this] { return bytes_ == 0 && home().unacknowledged(to_) == 0; }, limit,
                          std::chrono::milliseconds(5));
  }
  /// Ends the sending direction behind everything that is queued.
  void end();
  /// Sends the sealer's end if everything was sent, for a stream that is closed next.
  void send_end_at_once();

 private:
  struct sealing {
    std::unique_ptr<sealer> how;
    loop::slice on_its_way = {};  // sealed bytes that the kernel has not taken yet
    std::size_t plain = 0;        // how many queued bytes it contains
  };
  // What few streams need.
  struct rare {
    std::unique_ptr<sealing> sealed;        // null: data is sent as it was pushed
    std::unique_ptr<loop::file_part> file;  // null, or the unsent rest of a file, behind all slices
    std::uint64_t allowed = UINT64_MAX;
  };

  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  [[nodiscard]] loop::loop& home() const { return to_.home(); }
  [[nodiscard]] sealing* sealed() const { return rare_ ? rare_->sealed.get() : nullptr; }
  [[nodiscard]] loop::file_part* file() const { return rare_ ? rare_->file.get() : nullptr; }
  [[nodiscard]] rare& with_rare() {
    if (!rare_) rare_ = std::make_unique<rare>();
    return *rare_;
  }
  [[nodiscard]] std::vector<loop::slice> first_of(std::span<const loop::slice> waiting) const;
  void send_sealed(std::span<const loop::slice> waiting);
  void take_sent_of_file(std::size_t count);
  void break_off(int sys_errno);
  [[nodiscard]] bool is_owing() const {
    const auto* const present = sealed();
    return present != nullptr && (!present->on_its_way.empty() || present->how->owes());
  }
  void take_sent(std::size_t count);
  void compact_last();
  loop::condition& changed() {
    if (!changed_) changed_ = std::make_unique<loop::condition>(home());
    return *changed_;
  }

  loop::descriptor to_;
  std::unique_ptr<loop::condition> changed_;  // null until a coroutine waits: few connections are
                                              // ever waited for
  std::vector<loop::slice> waiting_;
  std::size_t bytes_ = 0;
  std::uint64_t pushed_ = 0;
  std::unique_ptr<rare> rare_;  // null until something in it is needed
  std::uint32_t first_ = 0;     // slices before this one are sent
  std::uint16_t broken_ = 0;    // an errno
  bool is_ending_ = false;
};

}  // namespace strata::net
