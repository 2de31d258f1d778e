// Runs the unit tests. With STRATA_CI=1 a skip is a failure, unless the file that
// STRATA_ALLOWED_SKIPS names has the test in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "options/own_lookups.hpp"

namespace {

std::set<std::string> allowed_skips() {
  std::set<std::string> names;
  const char* path = std::getenv("STRATA_ALLOWED_SKIPS");
  std::ifstream file(path == nullptr ? "" : path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

class skip_listener : public testing::EmptyTestEventListener {
 public:
  [[nodiscard]] int count() const { return count_; }

 private:
  void OnTestEnd(const testing::TestInfo& test) override {
    // A row of a test with parameters is `prefix/suite.test/row`.
    std::string suite = test.test_suite_name();
    std::string name = test.name();
    suite.erase(0, suite.find('/') + 1);
    name.erase(std::min(name.size(), name.find('/')));
    if (!test.result()->Skipped() || allowed_.contains(suite + '.' + name)) return;
    ++count_;
    std::cout << "SKIPPED " << suite << '.' << name << ": in CI a skip is a failure; see to what "
              << "the test needs, or name it with its reason in tests/allowed_skips.txt\n";
  }

  std::set<std::string> allowed_ = allowed_skips();
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  strata::options::use_own_lookups();
  testing::InitGoogleTest(&argc, argv);
  auto* skips = new skip_listener;  // gtest owns it
  testing::UnitTest::GetInstance()->listeners().Append(skips);
  const int code = RUN_ALL_TESTS();
  const char* in_ci = std::getenv("STRATA_CI");
  const bool strict = in_ci != nullptr && std::string(in_ci) == "1";
  return code == 0 && strict && skips->count() > 0 ? 1 : code;
}
