let () =
  Bounds_test.all ();
  Frames_test.all ();
  Life_test.all ();
  Threads_test.all ();
  Allocation_test.all ();
  Ethernet_test.all ();
  Netlink_test.all ();
  Own_program_test.all ();
  if !Expect.failures > 0 then (
    Printf.printf "%d tests failed\n" !Expect.failures;
    exit 1)
