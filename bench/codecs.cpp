// What building and parsing costs, a codec at a time: `make bench-codecs`. No kernel takes part. Of
// all programs here this one alone is linked with strata's code.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proto/http/http1_head.hpp"
#include "proto/resp/resp_request.hpp"
#include "proto/websocket/websocket.hpp"
#include "strata/base/bytes.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/genl.hpp"
#include "strata/wire/ipc_frame.hpp"
#include "strata/wire/ipv4.hpp"
#include "strata/wire/netlink.hpp"
#include "strata/wire/udp.hpp"

namespace {

using namespace strata;  // NOLINT(google-build-using-namespace)

const mac_address here = *mac_address::from_text("02:00:00:00:00:01");
const mac_address there = *mac_address::from_text("02:00:00:00:00:02");
constexpr wire::vlan_tci tci{.priority = 7, .vlan_id = 10};
constexpr std::uint16_t type = wire::ethertype_experimental;

std::vector<std::byte> payload_of(const benchmark::State& state) {
  return std::vector<std::byte>(static_cast<std::size_t>(state.range(0)), std::byte{0x5A});
}

void count_bytes(benchmark::State& state, std::size_t each) {
  state.SetBytesProcessed(static_cast<std::int64_t>(each) * state.iterations());
}

// Whoever measures an error measures nothing.
template <class Result>
bool is_wrong(benchmark::State& state, const Result& made) {
  if (made) return false;
  state.SkipWithError("the codec refused what was given to it");
  return true;
}

void build_frame(benchmark::State& state) {
  const auto payload = payload_of(state);
  std::vector<std::byte> memory(2048);
  for (auto _ : state) {
    const auto size = wire::build_simple_frame_into(memory, there, here, type, payload);
    if (is_wrong(state, size)) break;
    benchmark::ClobberMemory();
  }
  count_bytes(state, payload.size());
}

void build_vlan_frame(benchmark::State& state) {
  const auto payload = payload_of(state);
  std::vector<std::byte> memory(2048);
  for (auto _ : state) {
    const auto size = wire::build_vlan_frame_into(memory, there, here, tci, type, payload);
    if (is_wrong(state, size)) break;
    benchmark::ClobberMemory();
  }
  count_bytes(state, payload.size());
}

void parse(benchmark::State& state, const std::vector<std::byte>& frame) {
  for (auto _ : state) {
    const auto view = wire::ethernet_view::parse(frame);
    if (is_wrong(state, view)) break;
    benchmark::DoNotOptimize(view->ethertype());
    benchmark::DoNotOptimize(view->message());
  }
}

void parse_frame(benchmark::State& state) {
  parse(state, *wire::build_simple_frame(there, here, type, payload_of(state)));
}

void parse_vlan_frame(benchmark::State& state) {
  parse(state, *wire::build_vlan_frame(there, here, tci, type, payload_of(state)));
}

constexpr wire::udp_endpoint sender{.address = {{192, 0, 2, 1}}, .port = 9000};
constexpr wire::udp_endpoint receiver{.address = {{192, 0, 2, 2}}, .port = 9001};

void build_udp_packet(benchmark::State& state) {
  const auto payload = payload_of(state);
  std::vector<std::byte> memory(2048);
  for (auto _ : state) {
    const auto size = wire::build_udp_packet_into(memory, sender, receiver, payload);
    if (is_wrong(state, size)) break;
    benchmark::ClobberMemory();
  }
  count_bytes(state, payload.size());
}

void parse_udp_packet(benchmark::State& state) {
  std::vector<std::byte> memory(2048);
  const auto size = wire::build_udp_packet_into(memory, sender, receiver, payload_of(state));
  if (is_wrong(state, size)) return;
  memory.resize(*size);
  for (auto _ : state) {
    const auto packet = wire::ipv4_view::parse(memory);
    if (is_wrong(state, packet)) break;
    const auto datagram = wire::udp_view::parse(packet->payload());
    if (is_wrong(state, datagram)) break;
    benchmark::DoNotOptimize(packet->is_checksum_right());
    benchmark::DoNotOptimize(datagram->is_checksum_right(packet->source(), packet->destination()));
  }
  count_bytes(state, static_cast<std::size_t>(state.range(0)));
}

void build_genl_request(benchmark::State& state) {
  std::array<std::byte, 256> memory;
  for (auto _ : state) {
    wire::netlink_writer writer(memory);
    wire::begin_genl(writer, 16, 1, 3, 1).put_text(2, "nlctrl").put_number(1, std::uint32_t{7});
    const auto bytes = writer.bytes();
    if (is_wrong(state, bytes)) break;
    benchmark::ClobberMemory();
  }
}

void parse_genl_message(benchmark::State& state) {
  std::array<std::byte, 256> memory;
  wire::netlink_writer writer(memory);
  wire::begin_genl(writer, 16, 1, 3, 1).put_text(2, "nlctrl").put_number(1, std::uint32_t{7});
  const auto bytes = *writer.bytes();
  for (auto _ : state) {
    const auto message = wire::netlink_message::parse(bytes);
    if (is_wrong(state, message)) break;
    const auto generic = wire::genl_message::parse(*message);
    if (is_wrong(state, generic)) break;
    for (const auto& each : generic->attributes) benchmark::DoNotOptimize(each.type());
  }
}

// As many messages as one frame takes.
void read_packed_messages(benchmark::State& state) {
  const auto payload = payload_of(state);
  std::vector<std::byte> body(1500);
  std::size_t used = 0;
  std::int64_t messages = 0;
  while (body.size() - used >= payload.size() + wire::ipc_records::head_size) {
    used += wire::ipc_records::write(mutable_byte_span(body).subspan(used), payload);
    ++messages;
  }
  body.resize(used);
  for (auto _ : state) {
    wire::ipc_records records{byte_span(body)};
    while (const auto message = records.next()) benchmark::DoNotOptimize(message->data());
  }
  state.SetItemsProcessed(messages * state.iterations());
}

void read_redis_requests(benchmark::State& state) {
  const auto count = state.range(0);
  std::string arrived;
  for (std::int64_t i = 0; i < count; ++i) {
    arrived += "*3\r\n$3\r\nSET\r\n$7\r\nkey:123\r\n$10\r\n0123456789\r\n";
  }
  proto::request_reader reader;
  std::vector<std::string_view> arguments;
  for (auto _ : state) {
    reader.feed(as_bytes(arrived));
    for (std::int64_t i = 0; i < count; ++i) {
      arguments.clear();
      if (is_wrong(state, reader.next(arguments) == proto::request_reader::outcome::request))
        return;
    }
    reader.keep();
  }
  state.SetItemsProcessed(count * state.iterations());
}

void check_http_head(benchmark::State& state) {
  constexpr std::string_view head =
      "GET /index.html HTTP/1.1\r\nHost: example.org\r\nUser-Agent: a browser\r\n"
      "Accept: text/html,application/xhtml+xml\r\nAccept-Encoding: gzip\r\n"
      "Cookie: session=0123456789abcdef\r\n\r\n";
  for (auto _ : state) {
    if (is_wrong(state, !proto::check_request_head(head))) break;
  }
  count_bytes(state, head.size());
}

// Not masked, as a server sends it.
void read_websocket_message(benchmark::State& state) {
  const auto payload = payload_of(state);
  std::vector<std::byte> frame{std::byte{0x82}};
  if (payload.size() < 126) {
    frame.push_back(static_cast<std::byte>(payload.size()));
  } else {
    frame.push_back(std::byte{126});
    frame.push_back(static_cast<std::byte>(payload.size() >> 8U));
    frame.push_back(static_cast<std::byte>(payload.size() & 0xFFU));
  }
  frame.insert(frame.end(), payload.begin(), payload.end());
  proto::websocket_reader reader(proto::websocket_role::client, 1U << 20U);
  for (auto _ : state) {
    const auto fed = reader.feed(frame, [](const proto::websocket_event& event) {
      benchmark::DoNotOptimize(event.payload.data());
    });
    if (is_wrong(state, fed)) break;
  }
  count_bytes(state, payload.size());
}

BENCHMARK(build_frame)->Arg(50)->Arg(1400);
BENCHMARK(build_vlan_frame)->Arg(50)->Arg(1400);
BENCHMARK(parse_frame)->Arg(50)->Arg(1400);
BENCHMARK(parse_vlan_frame)->Arg(50)->Arg(1400);
BENCHMARK(build_udp_packet)->Arg(50)->Arg(1400);
BENCHMARK(parse_udp_packet)->Arg(50)->Arg(1400);
BENCHMARK(build_genl_request);
BENCHMARK(parse_genl_message);
BENCHMARK(read_packed_messages)->Arg(50);
BENCHMARK(read_redis_requests)->Arg(1)->Arg(64);
BENCHMARK(check_http_head);
BENCHMARK(read_websocket_message)->Arg(50)->Arg(1400);

}  // namespace

BENCHMARK_MAIN();
