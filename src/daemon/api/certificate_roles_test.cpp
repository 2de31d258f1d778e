#include "daemon/api/certificate_roles.hpp"

#include <gtest/gtest.h>

namespace strata::daemon {
namespace {

using runtime::role;

result<certificate_roles> roles_of(const std::vector<std::string>& rows) {
  return certificate_roles::parse(rows);
}

TEST(certificate_roles, everybody_is_admin_unless_a_row_says_otherwise) {
  EXPECT_EQ(certificate_roles().find("CN=ann"), role::admin);
  const auto roles = roles_of({"read:CN=ann", "operate:CN=bob,O=x:y", "admin:CN=ann"});
  ASSERT_TRUE(roles) << describe(roles.error());
  EXPECT_EQ(roles->find("CN=ann"), role::read) << "the first row wins";
  EXPECT_EQ(roles->find("CN=bob,O=x:y"), role::operate);
  for (const auto* const other : {"", "CN=an", "CN=anne", "cn=ann", "CN=ann,O=x", "CN=bob"}) {
    EXPECT_EQ(roles->find(other), role::admin) << other;
  }
}

TEST(certificate_roles, a_role_alone_is_for_all_others_wherever_it_stands) {
  const auto roles = roles_of({"read", "admin:CN=ann"});
  ASSERT_TRUE(roles) << describe(roles.error());
  EXPECT_EQ(roles->find("CN=ann"), role::admin);
  EXPECT_EQ(roles->find("CN=bob"), role::read);
  EXPECT_EQ(roles->find(""), role::read);
}

TEST(certificate_roles, what_is_no_row_is_named) {
  for (const std::string text :
       {"", ":", ":CN=ann", "root", "root:CN=ann", "Read", "read ", "read:", "CN=ann"}) {
    const auto roles = roles_of({text});
    ASSERT_FALSE(roles) << text;
    EXPECT_TRUE(describe(roles.error()).contains("cannot use --client-role '" + text + "'"));
  }
  EXPECT_FALSE(roles_of({"read", "operate"}));
  EXPECT_TRUE(roles_of({"read:" + std::string(512, 'x')}));
  EXPECT_FALSE(roles_of({"read:" + std::string(513, 'x')}));
}

}  // namespace
}  // namespace strata::daemon
