#include "loop/names/name_lookup.hpp"

#include <netdb.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "loop/names/record_lifetime.hpp"
#include "loop/thread.hpp"

namespace strata::loop {

namespace {

found_host look_up(const std::string& host) {
  // The C library would look up the part before the NUL.
  if (host.contains('\0')) {
    return failure(errc::invalid_argument, "find the address of a host", "its name holds a NUL",
                   "give a host's name");
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) {
    return failure(code == EAI_AGAIN ? errc::timed_out : errc::not_found,
                   "find the address of '" + host + "'", ::gai_strerror(code),
                   "check the name and the name server (/etc/resolv.conf)");
  }
  host_records records;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    records.addresses.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  ::freeaddrinfo(found);
  return records;
}

}  // namespace

class name_lookups {
 public:
  result<void> add(name_lookup& one) {
    const std::scoped_lock guard(lock_);
    const auto [at, is_new] = queries_.try_emplace(one.asked_);
    if (is_new) {
      waiting_.push_back(one.asked_);
      if (auto served = add_thread(one.asked_.first); !served && threads_ == 0) {
        waiting_.pop_back();
        queries_.erase(at);
        return served;
      }
    }
    at->second.asking.push_back(&one);
    return {};
  }

  void withdraw(name_lookup& one) {
    const std::scoped_lock guard(lock_);
    const auto at = queries_.find(one.asked_);
    if (at == queries_.end()) return;
    std::erase(at->second.asking, &one);
    if (at->second.has_begun || !at->second.asking.empty()) return;
    std::erase(waiting_, one.asked_);
    queries_.erase(at);
  }

 private:
  struct query {
    std::vector<name_lookup*> asking;
    bool has_begun = false;
  };

  result<void> add_thread(const std::string& host) {
    if (threads_ == most_lookup_threads) return {};
    auto started = start_thread("find the address of '" + host + "'", [this] { serve(); });
    if (!started) return std::unexpected(started.error());
    started->detach();
    ++threads_;
    return {};
  }

  void serve() {
    std::unique_lock guard(lock_);
    while (!waiting_.empty()) {
      const auto asked = std::move(waiting_.front());
      waiting_.pop_front();
      queries_.at(asked).has_begun = true;
      guard.unlock();
      auto found = look_up(asked.first);
      if (found && asked.second == name_lookup::depth::with_lifetime) {
        found->lifetime = lifetime_of(asked.first, found->addresses);
      }
      guard.lock();
      const auto done = queries_.extract(asked);
      for (auto* const each : done.mapped().asking) each->answer_(found);
    }
    --threads_;
  }

  std::mutex lock_;
  using question = name_lookup::question;
  std::map<question, query> queries_;
  std::deque<question> waiting_;  // not yet begun by a thread, oldest first
  std::size_t threads_ = 0;
};

namespace {

// Never destroyed: at the end of the process its threads may still wait for a name server.
name_lookups& all_lookups() {
  static auto* const all = new name_lookups;
  return *all;
}

}  // namespace

name_lookup::~name_lookup() {
  if (answer_) all_lookups().withdraw(*this);
}

result<void> name_lookup::start(const std::string& host, depth how_deep, answer answer) {
  asked_ = {host, how_deep};
  answer_ = std::move(answer);
  return all_lookups().add(*this);
}

}  // namespace strata::loop
