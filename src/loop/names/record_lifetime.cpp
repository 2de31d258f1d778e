#include "loop/names/record_lifetime.hpp"

#include <arpa/nameser.h>
#include <resolv.h>

#include <algorithm>
#include <array>
#include <optional>

namespace strata::loop {

namespace {

using namespace std::chrono_literals;

constexpr auto where_nothing_says = 30s;
constexpr std::size_t longest_answer = 65536;

class resolver {
 public:
  resolver() : is_open_(::res_ninit(&state_) == 0) {
    state_.retrans = 1;
    state_.retry = 1;
  }
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;
  ~resolver() {
    if (is_open_) ::res_nclose(&state_);
  }

  std::optional<std::uint32_t> least_ttl(const std::string& host, ns_type of) {
    if (!is_open_) return std::nullopt;
    std::vector<unsigned char> answer(longest_answer);
    const int size = ::res_nsearch(&state_, host.c_str(), ns_c_in, of, answer.data(),
                                   static_cast<int>(answer.size()));
    ns_msg read{};
    if (size <= 0 ||
        ::ns_initparse(answer.data(), std::min<int>(size, longest_answer), &read) != 0) {
      return std::nullopt;
    }
    std::optional<std::uint32_t> least;
    for (int at = 0; at < ns_msg_count(read, ns_s_an); ++at) {
      ns_rr record{};
      if (::ns_parserr(&read, ns_s_an, at, &record) != 0) break;
      least = std::min(least.value_or(ns_rr_ttl(record)), ns_rr_ttl(record));
    }
    return least;
  }

 private:
  struct __res_state state_{};
  bool is_open_;
};

}  // namespace

std::chrono::seconds lifetime_of(const std::string& host,
                                 const std::vector<socket_address>& address) {
  const auto has = [&address](int family) {
    return std::ranges::find(address, family, &socket_address::family) != address.end();
  };
  resolver asked;
  std::optional<std::uint32_t> least;
  const std::array<std::pair<int, ns_type>, 2> kinds = {{{AF_INET, ns_t_a}, {AF_INET6, ns_t_aaaa}}};
  for (const auto& [family, type] : kinds) {
    if (!has(family)) continue;
    if (const auto lives = asked.least_ttl(host, type))
      least = std::min(least.value_or(*lives), *lives);
  }
  return least ? std::chrono::seconds(*least) : where_nothing_says;
}

}  // namespace strata::loop
