// Runs each fuzz target over its folder of corpus/: what was once worth an input stays harmless.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Each target's LLVMFuzzerTestOneInput has the target's name here.
extern "C" {
#define TARGET(name) int name(const std::uint8_t* data, std::size_t size);
#include "targets.inc"
#undef TARGET
}

namespace {

struct target {
  std::string name;
  int (*run)(const std::uint8_t*, std::size_t);
};

const target targets[] = {
#define TARGET(name) {#name, name},
#include "targets.inc"
#undef TARGET
};

/// How many inputs there were. The path of each is printed before it is run.
std::size_t replay(const target& which, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    inputs.push_back(entry.path());
  }
  std::ranges::sort(inputs);
  for (const auto& path : inputs) {
    std::printf("%s %s\n", which.name.c_str(), path.filename().c_str());
    std::fflush(stdout);
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    which.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return inputs.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
    return 2;
  }
  int code = 0;
  for (const auto& each : targets) {
    const auto folder = std::filesystem::path(argv[1]) / each.name;
    if (!std::filesystem::is_directory(folder) || replay(each, folder) == 0) {
      std::fprintf(stderr, "%s has no input; add some to %s\n", each.name.c_str(), folder.c_str());
      code = 1;
    }
  }
  return code;
}
