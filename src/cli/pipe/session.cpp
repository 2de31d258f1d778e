#include "cli/pipe/session.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "cli/terminal/output.hpp"
#include "net/joint.hpp"
#include "net/message_joint.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using namespace std::chrono_literals;

session::session(loop::loop& loop, const pipe_ends& ends, const pipe_options& options)
    : loop_(loop), ends_(ends), options_(options), changed_(loop) {}

loop::task<exit_code> session::run(std::array<open_end, 2> open,
                                   std::unique_ptr<standard_streams> standard) {
  open_ = std::move(open);
  standard_ = std::move(standard);
  if (standard_) running_.spawn(watch_standard_output());
  running_.spawn(join());
  co_await changed_.wait([this] { return is_over(); });
  if (!is_joined_ && !failed_ && expects_output()) {
    co_await changed_.wait([this] { return is_written_ || is_output_closed_ || failed_; });
  }
  if (failed_ || is_output_closed_) co_await part();
  if (failed_ && !is_output_closed_) complain(describe(*failed_));
  running_.cancel();
  co_return (failed_ && !is_output_closed_) || has_lost_ ? exit_failed : exit_done;
}

// Once all output is written, a user at a terminal need not end the input.
bool session::is_over() const {
  return !is_joined_ || failed_ || is_output_closed_ || (is_written_ && input_is_terminal());
}

bool session::expects_output() const {
  return standard_ != nullptr && !(options_.one_way && ends_[0].is_standard());
}

loop::task<> session::watch_standard_output() {
  for (;;) {
    const auto reported = co_await standard_->next_event();
    switch (reported.what) {
      case standard_streams::happening::output_done: is_written_ = true; break;
      case standard_streams::happening::input_failed:
        failed_ = system_error(reported.sys_errno, "read standard input");
        break;
      case standard_streams::happening::output_failed:
        is_output_closed_ = reported.sys_errno == EPIPE;
        if (!is_output_closed_)
          failed_ = system_error(reported.sys_errno, "write to standard output");
        break;
    }
    changed_.notify();
    if (reported.what != standard_streams::happening::input_failed) co_return;
  }
}

loop::task<> session::join() {
  if (ends_[0].has_messages() || ends_[1].has_messages()) {
    co_await join_messages();
  } else {
    co_await join_streams();
  }
  is_joined_ = false;
  changed_.notify();
}

loop::task<> session::join_streams() {
  net::joint between(loop_, *open_[0].bytes, *open_[1].bytes,
                     {.most_unsent = options_.max_buffer, .is_one_way = options_.one_way});
  auto breach = co_await between.run();
  if (breach) fail(breach->is_of_first, std::move(breach->why));
}

namespace {

// RFC 6455 section 7.4.1: normal closure (the purpose is fulfilled), or going away.
bool is_good(const net::port_farewell& farewell) {
  return farewell.code == 0 || farewell.code == 1000 || farewell.code == 1001;
}

error why_ended(const net::port_farewell& farewell) {
  auto reason = fmt::format("the peer has closed the WebSocket with {}", farewell.code);
  if (!farewell.reason.empty()) reason += ": " + text::printable(farewell.reason);
  return {.code = errc::connection_closed, .operation = "receive", .reason = std::move(reason)};
}

}  // namespace

loop::task<> session::join_messages() {
  const auto framing = proto::framing_of(options_.framing);
  for (auto& each : open_) {
    if (each.messages) continue;
    net::connection made{.bytes = std::move(each.bytes), .messages = nullptr};
    each.messages = net::make_message_port(loop_, std::move(made), framing, options_.max_message);
  }
  net::message_joint::settings how{
      .most_unsent = options_.max_buffer,
      .linger = loop::from_seconds(options_.linger),
      .is_one_way = options_.one_way,
      .on_trouble = [this](bool of_first, const error& why,
                           bool is_new) { on_trouble(of_first, why, is_new); },
      .on_notice =
          [](bool is_trouble, const std::string& text) {
            if (is_trouble) complain(text);
          }};
  net::message_joint between(loop_, *open_[0].messages, *open_[1].messages, std::move(how));
  auto breach = co_await between.run();
  if (breach) fail(breach->is_of_first, std::move(breach->why));
  for (const bool is_first : {true, false}) {
    const auto farewell = open_[is_first ? 0 : 1].messages->farewell();
    if (farewell && !is_good(*farewell)) fail(is_first, why_ended(*farewell));
  }
}

namespace {

void name_end(error& why, const pipe_end& end) {
  const bool is_about_sending = why.operation.starts_with("send");
  why.operation += (is_about_sending ? " to " : " from ") + end.text();
}

}  // namespace

void session::fail(bool of_first, error why) {
  if (failed_) return;
  name_end(why, ends_[of_first ? 0 : 1]);
  if (why.code == errc::limit_exceeded && why.remedy.empty()) why.remedy = "raise --max-message";
  failed_ = std::move(why);
}

void session::on_trouble(bool of_first, error why, bool is_new) {
  if (std::exchange(has_lost_, true) && !is_new) return;
  name_end(why, ends_[of_first ? 0 : 1]);
  if (why.sys_errno == ECONNREFUSED) why.remedy = "check that a server listens there";
  complain(describe(why));
}

loop::task<> session::refuse(std::array<open_end, 2> open) {
  open_ = std::move(open);
  co_await part();
}

void session::break_off() {
  for (auto& each : open_) {
    if (each.bytes) each.bytes->break_off();
    if (each.messages) each.messages->break_off();
  }
}

// Notifies the peers before they are closed. The failure of standard output may become known a
// little later than the break of the stream to it.
loop::task<> session::part() {
  if (standard_ && !is_output_closed_) {
    co_await changed_.wait([this] { return is_output_closed_; }, loop_.now() + 50ms);
  }
  break_off();
  for (auto& each : open_) {
    if (each.messages) co_await each.messages->flushed(loop_.now() + 200ms);
  }
}

}  // namespace strata::cli
