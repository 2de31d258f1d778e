// What the membership of a cluster costs as the cluster grows: daemons with ten runtimes each, one
// of which changes about once a minute, over an etcd in memory and on virtual time, or over a real
// one. bench/cluster_scale.py runs it and draws the result.
//
//   bench_cluster sim DAEMONS SECONDS
//   bench_cluster etcd DAEMONS SECONDS HOST:PORT
//
// Prints a JSON object: figures per daemon and second.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/etcd/etcd_client.hpp"
#include "cluster/etcd/etcd_registry.hpp"
#include "cluster/etcd/testing/etcd_in_memory.hpp"
#include "cluster/membership.hpp"
#include "loop/backends/backend.hpp"
#include "loop/backends/sim_loop.hpp"
#include "net/scheme.hpp"

namespace {

using namespace std::chrono_literals;
using namespace strata;

constexpr auto ttl = 10s;
constexpr std::size_t runtimes = 10;
constexpr auto between_changes = 60s;

/// One daemon, whose runtimes change as those of a real one do.
class member {
 public:
  member(loop::loop& loop, std::unique_ptr<cluster::gateway> gateway, std::size_t number,
         std::size_t crowd)
      : loop_(loop),
        registry_(std::move(gateway), {.prefix = "/bench/daemons/", .ttl = ttl}),
        membership_(
            loop, registry_,
            {.daemon = fmt::format("d{}", number), .ttl = ttl, .pause_seed = number + 1},
            [this] { ++views_; },
            [this](const std::string& trouble) {
              if (troubles_++ == 0) fmt::print(stderr, "d{}: {}\n", number_, trouble);
            }),
        number_(number),
        counting_(std::max<loop::duration>(ttl / 3, crowd * 100ms)) {
    membership_.begin();
    membership_.join(card());
    tasks_.spawn(live());
  }

  [[nodiscard]] std::size_t known() const { return membership_.cards().size(); }
  [[nodiscard]] std::size_t views() const { return views_; }
  [[nodiscard]] bool is_held() const {
    return membership_.present_state() == cluster::membership::state::held;
  }

 private:
  [[nodiscard]] cluster::card card() const {
    cluster::card made{.daemon = fmt::format("d{}", number_), .version = "0.1.0"};
    for (std::size_t at = 0; at < runtimes; ++at) {
      made.runtimes.push_back({.name = fmt::format("service-{}", at),
                               .type = "server",
                               .state = at == 0 && changes_ % 2 == 1 ? "stopped" : "running",
                               .group = fmt::format("group-{}", at),
                               .endpoints = {fmt::format("http://10.1.2.3:{}", 8000 + at)},
                               .labels = {{"tier", "web"}, {"zone", "east"}},
                               .connections = 100 * number_ + counts_});
    }
    return made;
  }
  // The daemons do not begin all at the same moment.
  loop::task<> live() {
    const auto share = static_cast<double>(number_ % 97) / 97;
    auto change = loop_.now() + std::chrono::duration_cast<loop::duration>(between_changes * share);
    auto count = loop_.now() + std::chrono::duration_cast<loop::duration>(counting_ * share);
    for (;;) {
      co_await loop_.sleep(std::max<loop::duration>(std::min(change, count) - loop_.now(), 1ms));
      if (loop_.now() >= change) {
        ++changes_;
        change += between_changes;
      } else {
        ++counts_;
      }
      count = loop_.now() + counting_;
      membership_.update(card());
    }
  }

  loop::loop& loop_;
  cluster::etcd_registry registry_;
  cluster::membership membership_;
  std::size_t number_;
  loop::duration counting_;
  std::uint64_t changes_ = 0;
  std::uint64_t counts_ = 0;
  std::size_t views_ = 0;
  std::size_t troubles_ = 0;
  loop::task_group tasks_;
};

using members = std::vector<std::unique_ptr<member>>;

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool are_settled(const members& all) {
  return std::ranges::all_of(
      all, [&all](const auto& each) { return each->is_held() && each->known() == all.size(); });
}

int fail(std::string_view why) {
  fmt::print(stderr, "bench_cluster: {}\n", why);
  return 1;
}

int simulate(std::size_t count, double seconds) {
  loop::sim_world world(1);
  auto& loop = world.add_loop();
  cluster::etcd_in_memory etcd([&world] { return world.now(); });
  members all;
  std::vector<cluster::link_in_memory*> links;
  for (std::size_t number = 0; number < count; ++number) {
    auto link = std::make_unique<cluster::link_in_memory>(loop, etcd, [] { return 0.5; });
    link->faults.slowest = 4ms;
    links.push_back(link.get());
    all.push_back(std::make_unique<member>(loop, std::move(link), number, count));
  }
  for (int tries = 0; tries < 60 && !are_settled(all); ++tries) world.run_for(1s);
  if (!are_settled(all)) return fail("the daemons do not know each other after a minute");
  for (auto* const each : links) each->traffic = {.is_counted = false};
  const auto before = cpu_seconds();
  const auto span = loop::from_seconds(seconds);
  world.run_for(span);
  const auto used = cpu_seconds() - before;
  // Bytes are counted in a second pass: writing all messages as text would count as CPU.
  cluster::link_traffic sum;
  for (auto* const each : links) {
    sum.calls += each->traffic.calls;
    sum.events += each->traffic.events;
    each->traffic = {.is_counted = true};
  }
  world.run_for(span);
  for (auto* const each : links) sum.bytes += each->traffic.bytes;
  if (!are_settled(all)) return fail("the daemons no longer agree");
  const auto per = static_cast<double>(count) * seconds;
  fmt::print(
      "{{\"daemons\": {}, \"seconds\": {}, \"calls\": {:.4f}, \"events\": {:.4f}, \"bytes\": "
      "{:.1f}, \"cpu_us\": {:.1f}}}\n",
      count, seconds, static_cast<double>(sum.calls) / per, static_cast<double>(sum.events) / per,
      static_cast<double>(sum.bytes) / per, used * 1e6 / per);
  return 0;
}

int measure(std::size_t count, double seconds, const std::string& address) {
  auto made = loop::make_loop(loop::backend_kind::epoll);
  if (!made) return fail(describe(made.error()));
  auto& loop = **made;
  const auto url = net::parse_connecting("http://" + address);
  if (!url) return fail(describe(url.error()));
  members all;
  int exit = 1;
  const auto work = [&]() -> loop::task<> {
    for (std::size_t number = 0; number < count; ++number) {
      cluster::etcd_client::settings settings{.members = {*url}, .timeout = 30s};
      auto client = std::make_unique<cluster::etcd_client>(loop, std::move(settings));
      all.push_back(std::make_unique<member>(loop, std::move(client), number, count));
      co_await loop.sleep(20ms);  // daemons do not all begin at once
    }
    for (int tries = 0; tries < 120 && !are_settled(all); ++tries) co_await loop.sleep(500ms);
    if (are_settled(all)) {
      fmt::print(stderr, "settled\n");  // the driver reads etcd's own figures now
      const auto before = cpu_seconds();
      std::size_t views = 0;
      for (const auto& each : all) views += each->views();
      co_await loop.sleep(loop::from_seconds(seconds));
      std::size_t later = 0;
      for (const auto& each : all) later += each->views();
      const auto per = static_cast<double>(count) * seconds;
      fmt::print(
          "{{\"daemons\": {}, \"seconds\": {}, \"views\": {:.4f}, \"cpu_us\": {:.1f}, \"agree\": "
          "{}}}\n",
          count, seconds, static_cast<double>(later - views) / per,
          (cpu_seconds() - before) * 1e6 / per, are_settled(all));
      exit = 0;
    }
    loop.stop();
  };
  loop.spawn(work());
  loop.run();
  all.clear();
  return exit == 0 ? 0 : fail("the daemons do not know each other after a minute");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool is_simulated = words.size() == 3 && words[0] == "sim";
  if (!is_simulated && !(words.size() == 4 && words[0] == "etcd")) {
    return fail("use: bench_cluster sim DAEMONS SECONDS, or etcd DAEMONS SECONDS HOST:PORT");
  }
  const auto count = std::strtoul(words[1].c_str(), nullptr, 10);
  const auto seconds = std::strtod(words[2].c_str(), nullptr);
  if (count == 0 || seconds <= 0) return fail("give at least one daemon, and some time");
  return is_simulated ? simulate(count, seconds) : measure(count, seconds, words[3]);
}
