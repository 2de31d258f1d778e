// Lists the generic netlink families, and one family's multicast groups: families [NAME]
#include <cstdio>
#include <string>

#include "nlctrl.hpp"

int failed(const strata::error& why) { return std::puts(describe(why).c_str()), 1; }

int main(int argc, char** argv) {
  auto controller = nlctrl::client::open();
  if (!controller) return failed(controller.error());
  if (argc == 1) {
    const auto done = controller->dump_getfamily().for_each([](const auto& family) {
      std::printf("%u %s\n", family.family_id().value_or(0),
                  std::string(family.family_name().value_or("?")).c_str());
    });
    return done ? 0 : failed(done.error());
  }
  const auto family = controller->getfamily().family_name(argv[1]).ask();
  if (!family) return failed(family.error());
  for (const auto& group : family->mcast_groups()) {
    std::printf("%u %s\n", group.id().value_or(0), std::string(group.name().value_or("?")).c_str());
  }
}
