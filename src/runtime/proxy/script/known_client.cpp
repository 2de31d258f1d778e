#include "runtime/proxy/script/known_client.hpp"

#include <utility>

namespace strata::runtime::proxy {

using scripting::callback;

known_client::known_client(gate_script& script, std::uint64_t id, net::peer_info peer)
    : script_(script), id_(id), peer_(std::move(peer)) {
  script_.enter(*this);
}

known_client::~known_client() { script_.leave(*this); }

loop::task<> known_client::begin() { return script_.announce(id_); }

void known_client::join(bond& bond, std::string backend) {
  joined_ = &bond;
  backend_ = std::move(backend);
}

void known_client::close() {
  is_closed_ = true;
  if (joined_ != nullptr) joined_->break_off();
}

bool known_client::changes(bool from_first) const {
  return script_.has(from_first ? callback::proxy_request : callback::proxy_response);
}

loop::task<result<std::string>> known_client::change(bool from_first, std::string piece) {
  return script_.change_said(from_first ? callback::proxy_request : callback::proxy_response, id_,
                             std::move(piece));
}

}  // namespace strata::runtime::proxy
