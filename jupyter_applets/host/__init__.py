"""The host: what knows windows and routes calls to them. It does no I/O and reads no clock: messages in, effects out.

Each module may use the ones above it:

    effects         what a shell is asked to do
    replay          CommandLog: what a reloaded applet needs to be as it was
    state           WindowState: the keys of a window's state, each change with a number
    windows         Window, View: who shows what, and which view answers
    requests        Request: a call under way; the table of them
    outbox          what leaves the host: messages to peers, notes to authors
    checks          params against the manifest, and errors that name what is valid
    restore         brings a fresh document to where the others are, one awaited step at a time
    calls           the life of a call, from the ask to its one reply
    updates         tells views and kernels what changed in the state
    decisions       what people have allowed applets, and the check against it
    subscriptions   who is to be told when a file changes
    desks           which window is active, and the pages that show them all
    sessions        Session, Turn: what was said, and what is under way
    agents          which kernels answer as agents, and for which sessions
    keeping         what was said, on the disk
    audience        who is told what happens in a turn
    turns           the life of a turn, from the prompt to its one end
    answers         what agents say and do in their turns
    acting          what agents do to windows
    speaking        applets that invoke agents, people in chats, and what limits that
    showing         what windows show, and the views that show it
    pages           what pages say
    host            Host: peers, calls of kernels, and what tools use
    driver          runs a Host on an asyncio loop, for the server and for the kernel alike
"""

from .driver import Driver
from .host import Host

__all__ = ["Driver", "Host"]
