// For tests: an authority of their own, and certificates that it issues.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "net/tls/authority.hpp"
#include "net/tls/context.hpp"

namespace strata::net {

/// A folder with an authority; the destructor removes it.
class test_authority {
 public:
  test_authority() {
    std::string pattern = testing::TempDir() + "strata-tls-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    auto opened = open_authority(folder_);
    EXPECT_TRUE(opened) << describe(opened.error());
    files_ = *opened;
  }
  ~test_authority() { std::filesystem::remove_all(folder_); }
  test_authority(const test_authority&) = delete;
  test_authority& operator=(const test_authority&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& certificate() const { return files_.certificate; }
  [[nodiscard]] tls_key_pair issue(std::vector<std::string> names,
                                   std::chrono::seconds life = std::chrono::hours(24)) const {
    auto made = issue_certificate(files_, {std::move(names), life}, folder_);
    EXPECT_TRUE(made) << describe(made.error());
    return {made->certificate, made->key};
  }

 private:
  std::string folder_;
  certificate_files files_;
};

[[nodiscard]] inline std::shared_ptr<const tls_context> test_server(
    const tls_server_settings& settings) {
  auto made = tls_context::for_server(settings);
  EXPECT_TRUE(made) << describe(made.error());
  return *made;
}

[[nodiscard]] inline std::shared_ptr<const tls_context> test_client(
    const tls_client_settings& settings) {
  auto made = tls_context::for_client(settings);
  EXPECT_TRUE(made) << describe(made.error());
  return *made;
}

}  // namespace strata::net
