// A client as the script of its shard knows it: what waits to be told of it, and its data.
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/server/shard_script.hpp"

namespace strata::runtime::server {

struct shard_script::client {
  struct turn {
    scripting::callback which;
    std::string message;
  };

  class listener final : public script::waiter {
   public:
    listener(shard_script& home, client& of) : home_(home), of_(of) {}

   private:
    void on_end(const script::finished& with) override { home_.on_ended(of_, of_.running, with); }
    shard_script& home_;
    client& of_;
  };

  client(shard_script& home, std::uint64_t number, member* who)
      : id(number), is(who), tell(home, *this) {}

  std::uint64_t id;
  member* is;  // null once it has gone
  std::deque<turn> turns;
  scripting::callback running{};
  bool is_started = false;  // and has not ended
  bool is_advancing = false;
  std::map<std::string, nlohmann::json, std::less<>> data;
  listener tell;
};

}  // namespace strata::runtime::server
