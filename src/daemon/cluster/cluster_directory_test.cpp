// Names and groups across the daemons of a cluster, from the cards of others alone.
#include "daemon/cluster/cluster_directory.hpp"

#include <gtest/gtest.h>

#include "loop/backends/sim_loop.hpp"

namespace strata::daemon {
namespace {

using namespace std::chrono_literals;

/// The daemon `a`, which has no runtimes, and knows `b`, which runs two servers.
class cluster_directory_test : public testing::Test {
 protected:
  cluster_directory_test() { subject_.take({{"b", b_}}); }

  /// What a watch of that place reports, one after the other.
  std::vector<net::place_members> reports_of(const std::string& place) {
    std::vector<net::place_members> reports;
    const auto watch = subject_.watch_members(
        asking_, "front", place,
        [&reports](net::place_members members) { reports.push_back(std::move(members)); });
    world_.run_for(1s);
    return reports;
  }

  static cluster::runtime_card server(const std::string& name, const std::string& endpoint) {
    return {.name = name,
            .type = "server",
            .state = "running",
            .group = "web",
            .endpoints = {endpoint}};
  }

  const cluster::card b_{
      .daemon = "b",
      .runtimes = {server("one", "tcp://10.0.0.2:1"), server("two", "tcp://10.0.0.2:2")}};
  loop::sim_world world_{1};
  loop::sim_loop& home_ = world_.add_loop();
  loop::sim_loop& asking_ = world_.add_loop();
  entry_list none_;
  local_directory local_{home_, none_};
  cluster_directory subject_{home_, local_, "a", ""};
};

// A proxy whose first report has no members refuses the clients that wait for it.
TEST_F(cluster_directory_test, the_first_report_has_the_members_of_others) {
  const std::vector<net::place_members> members{{.names = {"one@b", "two@b"}, .circular = {}}};
  EXPECT_EQ(reports_of("@web"), members);
}

TEST_F(cluster_directory_test, a_name_that_is_not_here_stands_for_that_of_another_daemon) {
  const std::vector<net::place_members> members{{.names = {"one@b"}, .circular = {}}};
  EXPECT_EQ(reports_of("one"), members);
  EXPECT_EQ(reports_of("one@b"), members);
}

TEST_F(cluster_directory_test, a_place_without_members_is_reported_too) {
  EXPECT_EQ(reports_of("@other"), std::vector<net::place_members>{{}});
  const std::vector<net::place_members> itself{{.names = {"other"}, .circular = {}}};
  EXPECT_EQ(reports_of("other"), itself);
}

}  // namespace
}  // namespace strata::daemon
