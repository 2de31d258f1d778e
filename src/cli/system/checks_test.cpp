#include "cli/system/checks.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace strata::cli {
namespace {

TEST(checks, kernel_versions) {
  EXPECT_EQ(parse_kernel_version("6.1.0-13-amd64"), (kernel_version{6, 1}));
  EXPECT_EQ(parse_kernel_version("10.20-rc1"), (kernel_version{10, 20}));
  EXPECT_EQ(parse_kernel_version("next"), kernel_version{});
  EXPECT_EQ(parse_kernel_version(""), kernel_version{});
  EXPECT_LT((kernel_version{5, 19}), (kernel_version{6, 1}));
  EXPECT_LT((kernel_version{6, 1}), (kernel_version{6, 10}));
}

TEST(checks, a_folder_that_is_there_or_can_be_made) {
  const auto here = std::filesystem::temp_directory_path();
  EXPECT_EQ(check_folder("x", here, "--x").status, check_status::ok);
  const auto below = check_folder("x", here / "strata-none/deep", "--x");
  EXPECT_EQ(below.status, check_status::ok);
  EXPECT_NE(below.found.find("will be created in"), std::string::npos);
}

TEST(checks, a_folder_that_cannot_be) {
  const auto refused = check_folder("x", "/dev/null/deep", "--x");
  EXPECT_EQ(refused.status, check_status::fail);
  EXPECT_NE(refused.remedy.find("--x"), std::string::npos);
}

TEST(checks, certificates_that_end_are_found_in_whatever_the_daemon_says) {
  const auto end_in = [](nlohmann::json seconds) {
    return nlohmann::json{{"file", "/a.pem"}, {"not_after", "2026"}, {"expires_in_s", seconds}};
  };
  const auto day = 86400;
  const auto found = certificate_checks({{"'a'", {end_in(15 * day), end_in(13 * day)}},
                                         {"'b'", {end_in(-1), end_in(0), end_in(1e300)}}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].found, "/a.pem of 'a' expires within 14 days, on 2026");
  EXPECT_EQ(found[1].found, "/a.pem of 'b' expired on 2026");
  const auto strange = certificate_checks(
      {{"a", nullptr}, {"b", "text"}, {"c", {1, "x", nullptr, {{"expires_in_s", "soon"}}}}});
  ASSERT_EQ(strange.size(), 1U);
  EXPECT_EQ(strange[0].status, check_status::ok);
  EXPECT_TRUE(certificate_checks({{"a", nlohmann::json::array()}}).empty());
}

TEST(checks, whatever_is_not_there_has_a_remedy) {
  auto checks = kernel_checks();
  for (auto& more : network_checks()) checks.push_back(more);
  EXPECT_GE(checks.size(), 14U);
  for (const auto& one : checks) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_FALSE(one.found.empty()) << one.name;
    EXPECT_EQ(one.status == check_status::ok, one.remedy.empty()) << one.name;
  }
}

}  // namespace
}  // namespace strata::cli
