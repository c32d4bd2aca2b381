"""Messages only: what travels between kernels, hosts, pages and applets. No I/O, no clock, no state."""
