// Where the connections of outposts reach the engine: on the engine's loop, each has a session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "runtime/cache/scripting/cache_script.hpp"
#include "runtime/cache/serving/crossing.hpp"
#include "runtime/cache/serving/session.hpp"

namespace strata::runtime::cache {

class landing;
class outpost;
class workbench;

/// What waits for an outpost until the end of the turn.
struct landing_list {
  std::string page;  // of output
  std::vector<landing_message> messages;
};

class landing_link final : private session_link {
 public:
  landing_link(landing& landing, outpost& outpost, std::shared_ptr<crossing> shared);
  ~landing_link() override;

  void begin();
  void receive(const outpost_message& message);
  /// Ends the session, without its pending output.
  void end();
  /// Reports whether both ends have said goodbye.
  [[nodiscard]] bool is_over() const { return is_gone_ && has_goodbye_; }

 private:
  [[nodiscard]] request_view next(const proto::request_limits& limits, unsigned database) override;
  void take_back(std::size_t first) override;
  void settle() override;
  [[nodiscard]] std::string_view protocol_error() const override;
  [[nodiscard]] std::size_t input_bytes() const override { return shared_->input_bytes; }
  [[nodiscard]] std::size_t input_room() const override { return shared_->input_room; }
  void push(const loop::slice& bytes) override;
  void allow(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t allowed() const override { return allowed_; }
  [[nodiscard]] std::uint64_t pushed() const override { return pushed_; }
  [[nodiscard]] std::size_t unsent() const override {
    return is_broken() ? 0 : static_cast<std::size_t>(pushed_ - shared_->sent);
  }
  [[nodiscard]] loop::task<> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] bool is_broken() const override { return is_gone_ || shared_->is_broken_off; }
  void leave() override;
  [[nodiscard]] const net::peer_info& peer() const override { return shared_->peer; }
  [[nodiscard]] std::string_view transport() const override { return shared_->transport; }
  [[nodiscard]] int descriptor_number() const override { return shared_->descriptor_number; }

  loop::task<> run();
  void end_session();
  /// Reports whether its client is served no more.
  [[nodiscard]] bool is_done() const;
  void say(landing_message::kind subject, std::size_t count = 0);
  void say_output(std::string_view bytes);

  landing& landing_;
  outpost& outpost_;
  landing_list& list_;  // of that outpost
  std::shared_ptr<crossing> shared_;
  bool is_lent_ = true;  // the requests are this end's
  std::size_t next_ = 0;
  std::size_t last_ = 0;      // the beginning of the last view
  bool is_gone_ = false;      // the outpost's end is
  bool has_goodbye_ = false;  // of this end
  bool is_finished_ = false;  // the outpost waits for its goodbye
  bool is_ended_ = false;     // the client sends nothing more
  std::string held_;          // output that is not allowed yet
  std::uint64_t pushed_ = 0;
  std::uint64_t allowed_ = UINT64_MAX;
  loop::condition changed_;
  std::optional<session> session_;
  loop::task_group running_;
};

class landing final : private loop::turn_end_hook {
 public:
  explicit landing(workbench& bench);
  ~landing() override;
  landing(const landing&) = delete;
  landing& operator=(const landing&) = delete;

  /// Sets the script that is notified of clients, or null; called once, before the first message.
  void set_script(cache_script* script) { script_ = script; }
  /// The loop on which `receive` is called.
  [[nodiscard]] loop::loop& loop() const;
  /// Called when an outpost has turned a client away, from any thread.
  void count_rejected();
  /// Called by an outpost's messages, on the engine's loop.
  void receive(outpost& sender, const std::vector<outpost_message>& messages);
  /// Ends all sessions, and waits until the outposts know of it.
  [[nodiscard]] loop::task<> close();

 private:
  friend class landing_link;
  void on_turn_end() override;
  [[nodiscard]] landing_list& list_for(outpost& outpost);
  void send(outpost& outpost, landing_list& list);
  /// Has messages sent, and links that are over removed, at the end of the turn.
  void look_soon();

  workbench& bench_;
  cache_script* script_ = nullptr;
  bool is_closed_ = false;
  std::unordered_map<outpost*, landing_list> outgoing_;
  std::unordered_map<crossing*, std::unique_ptr<landing_link>> links_;
  loop::condition changed_;
};

}  // namespace strata::runtime::cache
