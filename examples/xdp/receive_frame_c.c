/* Waits ten seconds for a frame of EtherType 0x88b5 by AF_XDP, in plain C, and shows its text:
 * receive_frame_c INTERFACE [DAEMON_SOCKET]. With a daemon's socket it needs no privileges. */
#include <stdio.h>
#include <strata/strata_xdp.h>

int main(int argc, char** argv) {
  if (argc < 2) return puts("usage: receive_frame_c INTERFACE [DAEMON_SOCKET]"), 2;
  strata_xdp_filter filter;
  strata_xdp_filter_defaults(&filter);
  filter.ethertype = 0x88B5;
  const strata_xdp_port_options options = {.size = sizeof options, .filter = &filter};
  strata_xdp_port* port = NULL;
  int code = argc == 2 ? strata_xdp_port_open(argv[1], 0, &options, &port)
                       : strata_xdp_port_open_through_daemon(argv[2], argv[1], 0, &options, &port);
  struct iovec bytes;
  size_t count = 0;
  if (code == 0) code = strata_xdp_port_receive(port, &bytes, 1, 10000, &count);
  strata_frame frame;
  if (code == 0 && count != 0) code = strata_frame_parse(bytes.iov_base, bytes.iov_len, &frame);
  if (code != 0) puts(strata_last_error());
  if (code == 0 && count != 0) printf("%s\n", (const char*)frame.payload); /* padded with zeros */
  strata_xdp_port_close(port);
  return code != 0 || count == 0;
}
