"""Makes each system call of a daemon fail once, and sees what becomes of the daemon."""
