#include "runtime/cache/serving/landing.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cache/serving/outpost.hpp"
#include "runtime/cache/serving/workbench.hpp"

namespace strata::runtime::cache {

namespace {

// A page that is larger goes at once: the rest of the turn may bring as much again.
constexpr std::size_t largest_page = 16U << 20U;

}  // namespace

landing_link::landing_link(landing& landing, outpost& outpost, std::shared_ptr<crossing> shared)
    : landing_(landing),
      outpost_(outpost),
      list_(landing.list_for(outpost)),
      shared_(std::move(shared)),
      changed_(landing.loop()) {
  shared_->link = this;
}

landing_link::~landing_link() { shared_->link = nullptr; }

void landing_link::begin() {
  session_.emplace(landing_.bench_, static_cast<session_link&>(*this));
  running_.spawn(run());
}

loop::task<> landing_link::run() {
  auto* const script = landing_.script_;
  const auto id = session_->id;
  if (script != nullptr) co_await script->notify(scripting::callback::connect, id);
  settle();
  co_await session_->caught_up([this] { return is_done(); });
  // A script that it runs goes on without it.
  co_await session_->caught_up([this] { return !session_->is_interrupted; });
  session_->flush();
  if (script != nullptr) co_await script->notify(scripting::callback::disconnect, id);
  end_session();
}

// One that is ended by the engine is done when its outpost has sent its pending output.
bool landing_link::is_done() const {
  const bool is_blocked = session_->is_held() && !session_->is_interrupted;
  return is_finished_ || is_gone_ || (session_->is_over() && !session_->is_ending) ||
         (is_ended_ && is_blocked);
}

void landing_link::end() {
  running_.cancel();
  if (!has_goodbye_) end_session();
}

void landing_link::end_session() {
  session_.reset();
  say(landing_message::kind::goodbye);
  has_goodbye_ = true;
}

void landing_link::receive(const outpost_message& message) {
  using enum outpost_message::kind;
  if (session_ && message.received != 0) {
    session_->note_received(message.received, message.first);
    ++landing_.bench_.count_transfers().threaded_reads;
  }
  if (session_ && message.what == requests) {
    is_lent_ = true;
    next_ = 0;
    session_->work();
  }
  is_ended_ = is_ended_ || message.what == end_of_input;
  is_finished_ = is_finished_ || message.what == finish;
  if (message.what == goodbye) {
    is_gone_ = true;
    landing_.look_soon();
  }
  if (message.what == room) changed_.notify();
  if (session_) session_->look_again();
}

request_view landing_link::next(const proto::request_limits& /*limits*/, unsigned database) {
  if (!is_lent_) return {};
  if (!shared_->load) return {};
  const auto& batch = shared_->load->batch;
  last_ = next_;
  const auto count = std::min(request_batch::most, batch.requests.size() - next_);
  next_ += count;
  const request_view view{batch.words, std::span(batch.requests).subspan(last_, count)};
  if (count <= 1) return view;
  const auto& data = landing_.bench_.data().keys()[database];
  for (const auto& each : view.requests) {
    if (each.hash != 0) data.prefetch_bucket(each.hash);
  }
  for (const auto& each : view.requests) {
    if (each.hash != 0) data.prefetch_entry(each.hash);
  }
  return view;
}

void landing_link::take_back(std::size_t first) { next_ = last_ + first; }

std::string_view landing_link::protocol_error() const {
  return is_lent_ && shared_->is_broken ? std::string_view(shared_->reader.error()) : "";
}

void landing_link::settle() {
  if (!is_lent_ || session_->is_over()) return;
  if (shared_->load && next_ < shared_->load->batch.requests.size()) return;
  is_lent_ = false;
  auto& bench = landing_.bench_;
  shared_->limits = bench.limits(session_->is_trusted);
  shared_->keep_alive_s = bench.data().home().settings().tcp_keepalive_s;
  say(landing_message::kind::settled);
}

void landing_link::push(const loop::slice& bytes) {
  pushed_ += bytes.size();
  if (held_.empty() && pushed_ <= allowed_) {
    say_output(as_text(bytes.bytes()));
    return;
  }
  held_ += as_text(bytes.bytes());
  allow(allowed_);
}

void landing_link::allow(std::uint64_t bytes) {
  allowed_ = bytes;
  const auto passed = pushed_ - held_.size();
  if (held_.empty() || bytes <= passed) return;
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(held_.size(), bytes - passed));
  say_output(std::string_view(held_).substr(0, count));
  held_.erase(0, count);
}

loop::task<> landing_link::room(std::size_t low, loop::time_point limit) {
  if (unsent() <= low) co_return;
  say(landing_message::kind::room, low);
  co_await changed_.wait([this, low] { return unsent() <= low; }, limit);
}

void landing_link::leave() { say(landing_message::kind::leave); }

void landing_link::say(landing_message::kind subject, std::size_t count) {
  landing_.look_soon();
  list_.messages.push_back({.what = subject, .of = shared_.get(), .count = count});
}

void landing_link::say_output(std::string_view bytes) {
  landing_.look_soon();
  auto& messages = list_.messages;
  const bool continues = !messages.empty() && messages.back().of == shared_.get() &&
                         messages.back().what == landing_message::kind::output;
  if (!continues) {
    messages.push_back(
        {.what = landing_message::kind::output, .of = shared_.get(), .offset = list_.page.size()});
    ++landing_.bench_.count_transfers().threaded_writes;
  }
  messages.back().count += bytes.size();
  list_.page += bytes;
  if (list_.page.size() > largest_page) landing_.send(outpost_, list_);
}

landing::landing(workbench& bench) : bench_(bench), changed_(bench.loop()) {}

landing::~landing() = default;

loop::loop& landing::loop() const { return bench_.loop(); }

void landing::look_soon() { bench_.loop().at_turn_end(*this); }

void landing::count_rejected() {
  loop().post([this] { ++bench_.data().home().statistics().counted().rejected; });
}

void landing::receive(outpost& sender, const std::vector<outpost_message>& messages) {
  for (const auto& each : messages) {
    if (each.what == outpost_message::kind::arrival) {
      auto made = std::make_unique<landing_link>(*this, sender, each.of->shared_from_this());
      auto& link = *links_.emplace(each.of, std::move(made)).first->second;
      if (is_closed_) {
        link.end();
      } else {
        link.begin();
      }
      continue;
    }
    each.of->link->receive(each);
  }
}

loop::task<> landing::close() {
  is_closed_ = true;
  for (auto& [shared, link] : links_) link->end();
  co_await changed_.wait([this] { return links_.empty(); });
}

landing_list& landing::list_for(outpost& outpost) { return outgoing_[&outpost]; }

void landing::send(outpost& outpost, landing_list& list) {
  outpost.loop().post([&outpost, list = std::exchange(list, {})]() mutable {
    outpost.receive(std::move(list.page), list.messages);
  });
}

void landing::on_turn_end() {
  for (auto& [outpost, list] : outgoing_) {
    if (!list.messages.empty()) send(*outpost, list);
  }
  if (std::erase_if(links_, [](const auto& each) { return each.second->is_over(); }) != 0) {
    changed_.notify();
  }
}

}  // namespace strata::runtime::cache
