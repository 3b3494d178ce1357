"""The agent's archive on another machine, put there when it is missing, and calls of it over a steady shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.remote.call import NO_AGENT, Answer, Call, sentence_of
from rerig.remote.lost import ConnectionLost
from rerig.remote.steady import SteadyShell
from rerig.text import printable
from rerig.zipapp import Agent

if TYPE_CHECKING:
    from rerig.remote.first_look import Look
    from rerig.remote.shell import Shell

ENDED_BY_SIGNAL = 128

Found = TypeVar("Found")


class GivenUp(UserError):
    """The connection was lost for longer than patience lasts; ``why`` in a few words."""

    def __init__(self, host: Host, error: ConnectionLost) -> None:
        self.why = str(error).rstrip(".")
        super().__init__(f"The connection to {printable(host.name)} was lost: {self.why}.")


class FarEnd:
    """Where the agent ``built`` here speaks on ``host``. Every method raises UserError, GivenUp among them."""

    def __init__(self, host: Host, shell: SteadyShell, built: Agent) -> None:
        self.host = host
        self.built = built
        self._shell = shell
        self._looked: Look | None = None
        self._call: Call | None = None

    def look(self) -> Look:
        """What the first look at the machine found: its directories above all."""
        return self.steadily(self._look)

    def steadily(self, action: Callable[[Shell], Found]) -> Found:
        """What ``action`` gives, which is begun anew whenever the connection is lost."""
        try:
            return self._shell.do(action)
        except ConnectionLost as error:
            raise GivenUp(self.host, error) from error

    def do(self, action: Callable[[Call, Shell], Answer]) -> Answer:
        """The answer to one call of the agent, which must do no harm twice."""

        def once(shell: Shell) -> Answer:
            answer = action(self._arrive(shell), shell)
            if answer.status == ENDED_BY_SIGNAL:  # the machine goes down, and ends what it can
                raise ConnectionLost("The command was ended there.")
            return answer

        answer = self.steadily(once)
        if answer.status == NO_AGENT:
            # A reboot may have emptied the directory: once more, from the beginning.
            self._looked = self._call = None
            answer = self.steadily(once)
        return answer

    def say(self, words: list[str], stdin: bytes = b"", limit_s: float = 60) -> Answer:
        """The agent's answer to one command, whatever it is."""
        return self.do(lambda call, shell: call.run(shell, words, stdin, limit_s))

    def ask(self, words: list[str], stdin: bytes = b"", limit_s: float = 60) -> Answer:
        """The answer to a command that must succeed."""
        answer = self.say(words, stdin, limit_s)
        if answer.status:
            raise self.failure(answer)
        return answer

    def heard(self) -> None:
        """The machine was heard: patience begins anew."""
        self._shell.progress()

    def failure(self, answer: Answer) -> UserError:
        """The sentence about a command that failed, with its own status."""
        if answer.status == NO_AGENT:
            said = sentence_of(answer.stderr)
            return UserError(f"The agent on {printable(self.host.name)} did not start: {said}")
        return UserError(answer.last_line(), answer.status)

    def _look(self, shell: Shell) -> Look:
        if self._looked is None:
            from rerig.remote.first_look import look

            self._looked = look(shell, self.host.python)
        return self._looked

    def _arrive(self, shell: Shell) -> Call:
        if self._call is None:
            from rerig.remote.first_look import put_agent

            self._call = Call(self.host.python, put_agent(shell, self._look(shell), self.built))
        return self._call
