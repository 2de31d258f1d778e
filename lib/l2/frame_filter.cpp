#include "strata/l2/frame_filter.hpp"

#include <linux/filter.h>
#include <linux/if_packet.h>

#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

namespace {

constexpr std::uint32_t whole_frame = 0x40000;
constexpr std::uint32_t type_offset = 12;
constexpr std::uint32_t vid_mask = 0x0FFF;

std::uint32_t beside(std::uint32_t what) { return static_cast<std::uint32_t>(SKF_AD_OFF) + what; }

// Writes the program; jumps to the refusal are filled in at the end, when its place is known.
class assembler {
 public:
  void load_word(std::uint32_t offset) { put(BPF_LD | BPF_W | BPF_ABS, offset); }
  void load_half(std::uint32_t offset) { put(BPF_LD | BPF_H | BPF_ABS, offset); }
  void mask(std::uint32_t bits) { put(BPF_ALU | BPF_AND | BPF_K, bits); }
  /// Continues if the accumulator is `value`, and rejects the frame otherwise.
  void need(std::uint32_t value) { jump(value, 0, to_refusal); }
  void need_not(std::uint32_t value) { jump(value, to_refusal, 0); }
  /// Skips the next `count` instructions if the accumulator is `value`.
  void skip_if(std::uint32_t value, std::uint8_t count) { jump(value, count, 0); }
  void skip_unless(std::uint32_t value, std::uint8_t count) { jump(value, 0, count); }
  void skip(std::uint32_t count) { put(BPF_JMP | BPF_JA, count); }
  [[nodiscard]] std::size_t size() const { return code_.size(); }

  std::vector<sock_filter> finish() {
    put(BPF_RET | BPF_K, whole_frame);
    put(BPF_RET | BPF_K, 0);
    const std::size_t refusal = code_.size() - 1;
    for (std::size_t i = 0; i < refusal; ++i) {
      if (BPF_CLASS(code_[i].code) != BPF_JMP) continue;
      const auto distance = static_cast<std::uint8_t>(refusal - i - 1);
      if (code_[i].jt == to_refusal) code_[i].jt = distance;
      if (code_[i].jf == to_refusal) code_[i].jf = distance;
    }
    return std::move(code_);
  }

  static constexpr std::uint8_t to_refusal = 0xFF;

 private:
  void put(unsigned code, std::uint32_t operand) {
    code_.push_back({static_cast<std::uint16_t>(code), 0, 0, operand});
  }
  void jump(std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, if_true, if_false, value});
  }

  std::vector<sock_filter> code_;
};

void need_address(assembler& out, std::uint32_t offset, const mac_address& address) {
  const auto& octets = address.octets();
  const std::uint32_t high = std::uint32_t{octets[0]} << 24U | std::uint32_t{octets[1]} << 16U |
                             std::uint32_t{octets[2]} << 8U | octets[3];
  out.load_word(offset);
  out.need(high);
  out.load_half(offset + 4);
  out.need(std::uint32_t{octets[4]} << 8U | octets[5]);
}

void refuse_source(assembler& out, const mac_address& unwanted) {
  const auto& octets = unwanted.octets();
  const std::uint32_t low = std::uint32_t{octets[2]} << 24U | std::uint32_t{octets[3]} << 16U |
                            std::uint32_t{octets[4]} << 8U | octets[5];
  out.load_half(mac_address::size);
  out.skip_unless(std::uint32_t{octets[0]} << 8U | octets[1], 2);
  out.load_word(mac_address::size + 2);
  out.need_not(low);
}

void need_vlan(assembler& out, std::uint16_t vlan_id) {
  out.load_half(beside(SKF_AD_VLAN_TAG_PRESENT));
  out.skip_if(0, 2);
  out.load_half(beside(SKF_AD_VLAN_TAG));
  out.skip(4);
  // The tag is in the frame.
  out.load_half(type_offset);
  out.skip_if(wire::tpid_service, 1);
  out.need(wire::tpid_customer);
  out.load_half(type_offset + 2);
  out.mask(vid_mask);
  out.need(vlan_id);
}

void need_no_vlan(assembler& out) {
  out.load_half(beside(SKF_AD_VLAN_TAG_PRESENT));
  out.need(0);
  out.load_half(type_offset);
  out.need_not(wire::tpid_customer);
  out.need_not(wire::tpid_service);
}

// Requires the type behind up to `max_vlan_tags` tags.
void need_ethertype(assembler& out, std::uint16_t ethertype) {
  constexpr auto depth = static_cast<std::uint32_t>(wire::max_vlan_tags);
  out.load_half(type_offset);
  for (std::uint32_t tag = 1; tag <= depth; ++tag) {
    // One step is four instructions; a type that is no tag leaves by the fourth, which skips the
    // following steps.
    const std::uint32_t left = depth - tag;
    out.skip_if(wire::tpid_customer, 2);
    out.skip_if(wire::tpid_service, 1);
    out.skip(1 + 4 * left);
    out.load_half(type_offset + tag * static_cast<std::uint32_t>(wire::vlan_tag_size));
  }
  out.need(ethertype);
}

}  // namespace

bool frame_filter::takes_all() const { return *this == frame_filter{}; }

std::vector<sock_filter> frame_filter::program() const {
  assembler out;
  if (interface_index) {
    out.load_word(beside(SKF_AD_IFINDEX));
    out.need(static_cast<std::uint32_t>(*interface_index));
  }
  if (incoming_only) {
    out.load_word(beside(SKF_AD_PKTTYPE));
    out.need_not(PACKET_OUTGOING);
  }
  if (ethertype) need_ethertype(out, *ethertype);
  if (vlan_id) need_vlan(out, *vlan_id);
  if (untagged) need_no_vlan(out);
  if (destination) need_address(out, 0, *destination);
  if (source) need_address(out, mac_address::size, *source);
  if (not_source) refuse_source(out, *not_source);
  return out.finish();
}

}  // namespace strata::l2
