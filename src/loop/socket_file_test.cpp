#include "loop/socket_file.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "strata/base/unique_fd.hpp"

namespace strata::loop {
namespace {

namespace fs = std::filesystem;

class socket_files : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const char* name) const { return folder_ + "/" + name; }
  [[nodiscard]] unique_fd bind(const std::string& path) const {
    unique_fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return made;
  }
  static int mode_of(const std::string& path) {
    return static_cast<int>(fs::status(path).permissions());
  }

  std::string folder_ = (fs::temp_directory_path() / "strata-socket-file-XXXXXX").string();
};

TEST_F(socket_files, a_socket_gets_its_mode) {
  const auto socket = bind(at("door"));
  ASSERT_TRUE(set_socket_mode(at("door"), 0612));
  EXPECT_EQ(mode_of(at("door")), 0612);
}

// Between bind and chmod another process may put another file there.
TEST_F(socket_files, nothing_that_was_put_in_its_place_gets_it) {
  const auto elsewhere = bind(at("elsewhere"));
  ASSERT_TRUE(set_socket_mode(at("elsewhere"), 0600));
  std::ofstream(at("secret")) << "a secret";
  fs::permissions(at("secret"), fs::perms(0600));
  fs::create_symlink("elsewhere", at("to_socket"));
  fs::create_symlink("secret", at("to_file"));
  for (const auto* const name : {"to_socket", "to_file", "secret"}) {
    const auto refused = set_socket_mode(at(name), 0666);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, errc::conflict) << name;
    EXPECT_FALSE(give_socket(at(name), ::getegid(), 0666)) << name;
  }
  EXPECT_EQ(mode_of(at("secret")), 0600);
  EXPECT_EQ(mode_of(at("elsewhere")), 0600);
  EXPECT_FALSE(set_socket_mode(at("nothing"), 0666));
}

}  // namespace
}  // namespace strata::loop
