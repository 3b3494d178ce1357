"""The L4T layer: makes the twin look and behave like a given Jetson. See personalities, layer."""
