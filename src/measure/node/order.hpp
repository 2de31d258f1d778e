// The bench's orders for a node, and the node's results. Both are transferred as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "measure/counting/histogram.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

/// One end's part in one measurement.
struct order {
  std::string role;  ///< `send`, `receive`, `ping` (sends and waits for each answer), `echo`
  std::string path;  ///< a row of the catalogue
  std::string interface;
  std::uint32_t mtu = 1500;
  std::string peer_mac;
  std::string address;
  std::string peer_address;
  std::uint16_t peer_port = 0;
  std::uint64_t payload = 50;
  bool tagged = false;
  std::uint16_t vlan_id = 10;  ///< of the tag, as is `priority`
  std::uint8_t priority = 7;
  bool busy = false;
  std::uint64_t buffer = 0;
  std::uint64_t run = 0;
  double seconds = 0;          ///< for `send` and `ping`; the others continue until stopped
  double rate = 0;             ///< intended messages per second of `send`; 0: unlimited
  double foreign = 0;          ///< additional frames per second of another EtherType
  bool planted_sleep = false;  ///< `receive` sleeps 1 ms every 1000 messages
};

/// The result of one end. An end fills in what its role can measure.
struct end_result {
  std::string failure;                  ///< the error that ended it early; otherwise empty
  std::uint64_t sent = 0;               ///< accepted by the kernel
  std::uint64_t foreign = 0;            ///< additional frames sent with another EtherType
  double seconds = 0;                   ///< duration of sending
  std::uint64_t delivered = 0;          ///< received messages, without duplicates
  double rate = 0;                      ///< `delivered` per second; 0 if unknown
  std::uint64_t duplicates = 0;         ///< received again
  std::uint64_t reordered = 0;          ///< received after a later one
  std::uint64_t strays = 0;             ///< of another run
  std::uint64_t dropped = 0;            ///< by the receiving socket or ring, according to the
                                        ///< kernel
  std::uint64_t interface_dropped = 0;  ///< by the interface, sending or receiving
  std::uint64_t cpu_ns = 0;             ///< of the thread in its loop
  std::int64_t allocations = -1;        ///< in its loop; -1: not counted in this build
  std::int64_t cycles = -1;             ///< of the thread in its loop; -1: not counted here
  std::int64_t instructions = -1;       ///< as `cycles`
  /// Round-trip times; or delays from the intended send time to the receiver.
  histogram::sparse times;
};

/// Errors: malformed for JSON that is no order or no result.
[[nodiscard]] result<order> order_from(const nlohmann::json& value);
[[nodiscard]] result<end_result> end_result_from(const nlohmann::json& value);
[[nodiscard]] nlohmann::json to_json(const order& order);
[[nodiscard]] nlohmann::json to_json(const end_result& result);

}  // namespace strata::measure
