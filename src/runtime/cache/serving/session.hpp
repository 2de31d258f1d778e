// A client as the engine sees it: executes the requests of its connection, and replies.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "runtime/cache/disk/command_log.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/clients/output_limits.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "runtime/cache/serving/reply_arena.hpp"
#include "runtime/cache/serving/session_link.hpp"
#include "runtime/clients.hpp"

namespace strata::runtime::cache {

class workbench;

class session final : public client, private loop::turn_end_hook {
 public:
  session(workbench& workbench, session_link& link);
  ~session() override;

  // --- for its connection
  /// Called with what has been received, before it is executed.
  void note_received(std::size_t bytes, std::byte first);
  /// Executes the received requests, as far as they may run now.
  void work();
  /// Passes all output to the connection.
  void flush();
  /// Waits until the pending output is sent; not for ever.
  [[nodiscard]] loop::task<> end_of_output();
  /// Reports whether no more of its commands will be executed.
  [[nodiscard]] bool is_over() const { return is_ending || is_broken_ || link_.is_broken(); }
  /// Reports whether received requests wait, not for a command of its own, but for their turn.
  [[nodiscard]] bool has_rest() const { return rest_ != rest::none; }
  /// Has the conditions of those that wait for it checked.
  void look_again() { caught_up_.notify(); }
  /// Waits until `condition` is true, which is checked whenever requests have been executed.
  template <class Condition>
  [[nodiscard]] auto caught_up(Condition condition) {
    return caught_up_.wait(std::move(condition));
  }

  [[nodiscard]] proto::reply_writer& reply() override;
  [[nodiscard]] proto::reply_writer& pushes() override;
  void push(const loop::slice& bytes) override;
  void disconnect(bool after_reply) override;
  void resume(bool has_changed_data) override;
  [[nodiscard]] std::string remote_address() const override;
  [[nodiscard]] std::string local_address() const override;
  [[nodiscard]] std::string_view protocol() const override { return link_.transport(); }
  [[nodiscard]] int descriptor_number() const override { return link_.descriptor_number(); }
  [[nodiscard]] std::size_t output_bytes() override { return link_.unsent(); }
  [[nodiscard]] std::uint64_t traffic() override { return received_ + sent(); }
  [[nodiscard]] std::size_t input_bytes() const override { return link_.input_bytes(); }
  [[nodiscard]] std::size_t input_room() const override { return link_.input_room(); }
  [[nodiscard]] std::size_t held() const override;
  [[nodiscard]] loop::task<> room(std::size_t low) override;

  /// Returns the client's report for `strata clients`.
  [[nodiscard]] client_report report() const;

  /// Determines which replies may be sent: called when there are new ones, and when more of the log
  /// is safe.
  void release_durable();

 private:
  [[nodiscard]] std::uint64_t sent() const { return link_.pushed() - link_.unsent(); }
  void on_turn_end() override;
  void execute_batches();
  /// Executes the requests that `work` has left, when there is room, it is time, or others have had
  /// their turn.
  loop::task<> catch_up();
  loop::task<> leave();
  [[nodiscard]] loop::duration time_to_admission() const;
  [[nodiscard]] loop::time_point write_limit();
  [[nodiscard]] bool try_admit();
  /// Returns false if the rest has to wait.
  bool execute(const request_view& batch);
  void reply_broken();
  void end_reply_mode();
  void count_executed(std::size_t commands, std::size_t without_reply);
  void count_out();
  void push_copy(byte_span bytes);
  void flush_plain();
  [[nodiscard]] const output_limit& limit();
  [[nodiscard]] bool is_too_much(std::size_t bytes);

  workbench& bench_;
  session_link& link_;
  reply_stream reply_;
  struct held_replies {
    command_log::position until;  // the log must be safe up to here
    std::uint64_t replies;        // before these may be sent: the output's first bytes
  };
  std::list<held_replies> held_;
  command_log::position changed_until_ = 0;  // position in the log of its own last change
  std::unique_ptr<kept_reply> plain_;        // set for a client whose first bytes were a plain line
  bool is_new_ = true;                       // nothing has been read yet
  // Unexecuted requests, and what they wait for.
  enum class rest : std::uint8_t { none, its_turn, room_for_replies, rate_limit };
  rest rest_ = rest::none;
  std::int64_t rate_due_ = 0;
  bool is_broken_ = false;
  bool owes_reply_ = false;  // to a blocking command
  loop::time_point came_;
  loop::time_point last_received_;
  std::uint64_t commands_ = 0;                  // executed
  std::uint64_t replies_ = 0;                   // and pushes, as far as counted
  std::uint64_t received_ = 0;                  // received bytes
  std::uint64_t said_ = 0;                      // bytes of the outbox, as far as counted
  std::uint64_t uncounted_ = 0;                 // replies and pushes not yet counted
  std::optional<loop::time_point> over_since_;  // since when the pending output exceeds its soft
                                                // limit
  loop::condition caught_up_;
  loop::task_group catching_up_;  // at most one task
};

}  // namespace strata::runtime::cache
