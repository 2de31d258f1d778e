// A client and a backend joined by messages: each receives what the other sends, whatever carries
// the messages.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <memory>

#include "net/message_joint.hpp"
#include "runtime/proxy/streams/bond.hpp"

namespace strata::runtime::proxy {

/// Whether the kernel has learned that there is no receiver (ICMP, or a closed socket).
[[nodiscard]] bool is_nobody_there(const error& why);

class bridge final : public bond {
 public:
  /// The ends, as `clients` and the tap show them.
  struct ends {
    net::peer_info client;
    std::string_view protocol;  ///< the client's, as in `client_report`
    std::string backend;        ///< endpoint of the backend
  };

  /// As of a relay.
  bridge(const bond_means& means, ends ends, std::unique_ptr<net::message_port> client,
         std::unique_ptr<net::message_port> backend, std::size_t most,
         std::function<void(bool is_good)> on_outcome);

  [[nodiscard]] loop::task<> run();
  void break_off() override { joint_.give_up(); }

 private:
  [[nodiscard]] client_report client() const override;
  [[nodiscard]] std::string backend() const override { return ends_.backend; }
  void note_message(bool from_client, byte_span message);
  void note_trouble(bool of_client, const error& why);

  ends ends_;
  std::unique_ptr<net::message_port> client_;
  std::unique_ptr<net::message_port> backend_;
  std::function<void(bool)> on_outcome_;
  net::message_joint joint_;
};

}  // namespace strata::runtime::proxy
