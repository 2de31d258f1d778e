#include "runtime/cache/serving/command_tap.hpp"

#include "proto/resp/resp_request.hpp"
#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

void command_tap::on_command(const client& client, std::span<const std::string_view> words) {
  std::string request;
  proto::append_command(request, words);
  const bool is_connection = !client.is_script && !client.is_replay;
  tap_->write(tapped_form::command, false,
              {.client = is_connection ? client.id : 0,
               .address = client.remote_address(),
               .sender = is_connection      ? client_text(client.id)
                         : client.is_script ? "script"
                                            : "leader",
               .receiver = name_,
               .protocol = client.protocol()},
              as_bytes(request));
}

}  // namespace strata::runtime::cache
