"""The one exception whose text a user is meant to read."""


class UserError(Exception):
    """What the user can mend: one clear sentence, printed to stderr, with exit status 1 or 2.

    ``exit_status`` is 2 for wrong arguments (nothing was tried) and 1 for everything else.
    """

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status
