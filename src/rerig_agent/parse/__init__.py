"""Text in, plain data out: parsers of tool and kernel output. No module here does I/O."""


class ParseError(ValueError):
    """The text is not what the parser is for; the message says what was missing."""
