#include "runtime/server/script/script_client.hpp"

#include "runtime/server/script/shard_script.hpp"

namespace strata::runtime::server {

script_client::script_client(shard_script& script, member& member)
    : id(member.id()), is(&member), turns(script.host(), id, *this), script_(script) {}

bool script_client::is_for_script(std::string_view message) {
  return !is_refused && !is_leaving && !script_.routes().carry(*this, message);
}

void script_client::on_ended(scripting::callback callback, const script::finished& outcome) {
  script_.on_ended(*this, callback, outcome);
}

void script_client::on_settled() { script_.on_settled(*this); }

}  // namespace strata::runtime::server
