"""Other machines over ssh: connections whose host keys are verified, commands on them, and what is brought there."""
