// The codec of Ethernet frames under the names that users of the L2 library look for.
#pragma once

#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

using strata::mac_address;
using wire::build_frame_into;
using wire::build_simple_frame;
using wire::build_simple_frame_into;
using wire::build_vlan_frame;
using wire::build_vlan_frame_into;
using wire::ethernet;
using wire::ethernet_view;
using wire::frame_header;
using wire::insert_tag;
using wire::strip_tag;
using wire::vlan_tag;
using wire::vlan_tci;

}  // namespace strata::l2
