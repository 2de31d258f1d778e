// What the two ends of a connection share that is served by one loop and executed on another:
// `outpost_connection` is the one end, `landing_link` the other.
//
// Each end keeps it until both have sent `goodbye`. What says nothing else is used by one end at a
// time: the outpost's, but the engine's from the message `requests` until its answer `settled`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/byte_channel.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/serving/session_link.hpp"

namespace strata::runtime::cache {

class landing_link;
class outpost_connection;

/// Received bytes, and the requests that refer to them. Loops keep a few for many connections.
struct request_load {
  std::string input;
  request_batch batch;
};

struct crossing : std::enable_shared_from_this<crossing> {
  // --- set before the first message
  net::peer_info peer;
  std::string_view transport;
  int descriptor_number = -1;

  proto::request_reader reader;
  std::unique_ptr<request_load> load;  ///< null while nothing is lent
  bool is_broken = false;              ///< there is an error of the reader instead of requests
  proto::request_limits limits;        ///< for the next requests; set by the engine
  std::int64_t keep_alive_s = 0;       ///< set by the engine; 0: none

  // --- from any thread
  std::atomic<std::uint64_t> sent = 0;       ///< bytes of output that the kernel has taken
  std::atomic<bool> is_broken_off = false;   ///< nothing more can be sent
  std::atomic<std::size_t> input_bytes = 0;  ///< received and not executed
  std::atomic<std::size_t> input_room = 0;   ///< reserved for more of an incomplete request

  outpost_connection* connection = nullptr;  ///< of the outpost; null once it has ended
  landing_link* link = nullptr;              ///< of the engine's loop; null before and after
};

/// From an outpost to the engine.
struct outpost_message {
  enum class kind : std::uint8_t {
    arrival,       ///< the first one
    requests,      ///< there are requests, or the peer does not speak the protocol
    received,      ///< something has come, but no whole request
    end_of_input,  ///< the client sends nothing more
    room,          ///< the answer to `room`
    finish,        ///< the client has all that it wants; output that is pending is still sent
    goodbye,       ///< the last one
  };
  kind what;
  std::byte first = {};  ///< of the received bytes
  crossing* of;
  std::size_t received = 0;  ///< number of bytes since the last message
};

/// From the engine to an outpost.
struct landing_message {
  enum class kind : std::uint8_t {
    output,
    settled,  ///< the requests were executed, or there were none yet
    room,     ///< tell when no more than `count` bytes are unsent
    leave,    ///< end the connection
    goodbye,  ///< the last one
  };
  kind what;
  crossing* of;
  std::size_t count = 0;   ///< of `output`: bytes
  std::size_t offset = 0;  ///< of `output`: from the beginning of the page
};

}  // namespace strata::runtime::cache
