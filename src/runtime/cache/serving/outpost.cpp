#include "runtime/cache/serving/outpost.hpp"

#include <utility>

#include "runtime/cache/serving/outpost_connection.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t most_spare_loads = 64;
constexpr std::size_t largest_spare_input = 64U << 10U;

}  // namespace

outpost::outpost(loop::loop& loop, const admission& admission, serve::connection_gauge& connections,
                 std::shared_ptr<journal> log, landing& landing)
    : loop_(loop),
      log_(std::move(log)),
      landing_(landing),
      changed_(loop),
      acceptor_(loop, acceptor_settings(admission, connections)) {}

outpost::~outpost() {
  acceptor_.stop_listening();
  acceptor_.end_connections();
}

serve::acceptor_settings outpost::acceptor_settings(const admission& admission,
                                                    serve::connection_gauge& connections) {
  auto made =
      admission.settings(connections, counters_, *log_, [this] { landing_.count_rejected(); });
  made.serve = [this](auto stream, auto place, unsigned /*listener*/) {
    return serve(std::move(stream), std::move(place));
  };
  return made;
}

result<void> outpost::open(std::vector<net::bind_target>& targets,
                           const std::shared_ptr<net::tls_slot>& identity) {
  for (auto& each : targets) {
    if (each.url.is_for_one()) continue;
    auto opened = each.url.scheme->listen(loop_, each, {.share_port = true});
    if (!opened) return std::unexpected(opened.error());
    acceptor_.add(std::move(opened->streams), 0, each.url.scheme->is_secure ? identity : nullptr);
  }
  acceptor_.begin();
  return {};
}

loop::task<> outpost::serve(std::unique_ptr<net::stream> stream,
                            [[maybe_unused]] serve::connection_gauge::place place) {
  auto shared = std::make_shared<crossing>();
  crossings_.emplace(shared.get(), shared);
  outpost_connection served(*this, std::move(stream), *shared);
  co_await served.run();
}

// The engine's loop ends the connections when nothing of theirs is executed any more.
loop::task<> outpost::close(loop::time_point limit) {
  is_closing_ = true;
  acceptor_.stop_listening();
  co_await changed_.wait([this] { return crossings_.empty(); }, limit);
  acceptor_.end_connections();
  co_await changed_.wait([this] { return crossings_.empty(); });
}

std::unique_ptr<request_load> outpost::take_load() {
  if (spare_loads_.empty()) return std::make_unique<request_load>();
  auto last = std::move(spare_loads_.back());
  spare_loads_.pop_back();
  return last;
}

void outpost::give_back(std::unique_ptr<request_load> load) {
  const bool is_usual = load->input.capacity() <= largest_spare_input;
  if (is_usual && spare_loads_.size() < most_spare_loads) spare_loads_.push_back(std::move(load));
}

void outpost::forget(crossing& ended) {
  crossings_.erase(&ended);
  changed_.notify();
}

void outpost::send(const outpost_message& message) {
  outgoing_.push_back(message);
  loop_.at_turn_end(*this);
}

void outpost::on_turn_end() {
  landing_.loop().post(
      [this, list = std::exchange(outgoing_, {})] { landing_.receive(*this, list); });
}

void outpost::receive(std::string page, const std::vector<landing_message>& messages) {
  using enum landing_message::kind;
  const auto whole = loop::slice::of(std::move(page));
  for (const auto& each : messages) {
    auto* const to = each.of->connection;
    if (to == nullptr) {
      if (each.what == goodbye) forget(*each.of);
      continue;
    }
    switch (each.what) {
      case output:
        to->on_output(whole.part(static_cast<std::uint32_t>(each.offset),
                                 static_cast<std::uint32_t>(each.count)));
        break;
      case settled: to->on_settled(); break;
      case room: to->on_room(each.count); break;
      case leave: to->on_leave(); break;
      case goodbye: to->on_goodbye(); break;
    }
  }
}

}  // namespace strata::runtime::cache
