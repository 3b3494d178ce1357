"""What the kernel says about files, devices, networks and memory: raw facts, read under a root, never judged."""
