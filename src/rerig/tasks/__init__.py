"""The tasks of the command line, one topic a module."""
