// Posts a notice, and lists all: board TEXT. By commands that `strata nl generate` makes of
// noticeboard.yaml.
#include <cstdio>
#include <string>

#include "noticeboard.hpp"

int failed(const strata::error& why) { return std::puts(describe(why).c_str()), 1; }

int main(int argc, char** argv) {
  auto board = noticeboard::client::open();
  if (!board) return failed(board.error());
  if (argc > 1) {
    const auto posted = board->post().text(argv[1]).level(2).ask();
    if (!posted) return failed(posted.error());
  }
  const auto listed = board->dump_list().for_each([](const auto& notice) {
    std::printf("%u %u %s\n", notice.number().value_or(0), notice.level().value_or(0),
                std::string(notice.text().value_or("")).c_str());
  });
  return listed ? 0 : failed(listed.error());
}
