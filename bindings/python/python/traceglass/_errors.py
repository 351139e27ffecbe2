"""What can go wrong."""

from __future__ import annotations


class TraceError(Exception):
    """A trace, or a part of one, cannot be read.

    Damage that leaves the rest readable is no exception: it is a row of :meth:`Trace.gaps`.
    """

    def __init__(
        self,
        message: str,
        *,
        offset: int | None = None,
        element: str | None = None,
        kind: str | None = None,
    ) -> None:
        super().__init__(message)
        #: The byte offset in the file at which reading failed; None if that is not known.
        self.offset = offset
        #: What was being read there, such as ``RFR chunk header``.
        self.element = element
        #: What was wrong with it, a stable code such as ``unexpected-end``.
        self.kind = kind

    def __reduce__(self):
        about = {"offset": self.offset, "element": self.element, "kind": self.kind}
        return (_made, (str(self), about))


def _made(message: str, about: dict) -> TraceError:
    return TraceError(message, **about)
