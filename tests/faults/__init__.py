"""Makes each system call of a daemon fail once, and checks how the daemon behaves."""
