// A client and a backend, joined until both have ended, or one is broken: then the break is
// signalled to the other.
//
// For one loop's thread.
#pragma once

#include <memory>

#include "net/byte_channel.hpp"
#include "net/joint.hpp"
#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/streams/bond.hpp"

namespace strata::runtime::proxy {

/// What a relay carries.
enum class relayed : std::uint8_t { stream, websocket };

class relay final : public bond, private net::joint::observer {
 public:
  /// `most`: how many bytes may wait for a side that reads slowly. `use` outlives this, or is null:
  /// it is told, perhaps twice, that the backend has said something or all has gone well to the
  /// end; or that the backend broke off. `changing`: null, or it outlives this.
  relay(const bond_means& means, relayed content, std::unique_ptr<net::byte_channel> client,
        std::unique_ptr<net::byte_channel> backend, std::size_t most, backend_use* use,
        net::joint::changer* changing = nullptr);

  [[nodiscard]] loop::task<> run();
  void break_off() override { joint_.give_up(); }

 private:
  [[nodiscard]] client_report client() const override;
  [[nodiscard]] std::string backend() const override;
  void on_bytes(bool from_client, byte_span bytes) override;
  loop::task<> break_both(const net::joint::breach& breach);

  std::unique_ptr<net::byte_channel> client_;
  std::unique_ptr<net::byte_channel> backend_;
  backend_use* use_;
  relayed content_;
  bool has_received_ = false;  // data from the backend has arrived
  net::joint joint_;
};

}  // namespace strata::runtime::proxy
