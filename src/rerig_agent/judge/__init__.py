"""What the facts mean: storage class, refusals, proof of bytes, and what may be shared.."""
