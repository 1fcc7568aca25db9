"""What the quickstart shows: sentences that stay, and below them a table that
is drawn anew in place. Without a terminal the table becomes a line now and
then."""

import os
import re
import shutil
import sys
import time

LINE_SECONDS = 4.0  # between two lines where there is no terminal
REPEAT_SECONDS = 20.0  # until a line may say the same again
COLOURS = {"green": "32", "yellow": "33", "red": "31", "dim": "2", "bold": "1"}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    def __init__(self, stream=sys.stdout):
        stream.reconfigure(errors="replace", line_buffering=True)
        self._stream = stream
        self.live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._coloured = self.live and not os.environ.get("NO_COLOR")
        self._drawn = 0  # lines of the table that are on the screen
        self._started = time.monotonic()
        self._line, self._line_due, self._repeat_due = "", 0.0, 0.0

    def colour(self, text, name):
        return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if self._coloured and name else text

    def seconds(self):
        return time.monotonic() - self._started

    def title(self, text):
        self.print(f"\n{self.colour(text, 'bold')}")

    def step(self, text):
        """A sentence of the story, with its second."""
        self.print(f"{self.seconds():6.1f} s  {text}")

    def print(self, text=""):
        self._erase()
        self._stream.write(text + "\n")
        self._stream.flush()

    def line_is_due(self):
        return self.seconds() >= self._line_due

    def line(self, text):
        """The table in one line, for where there is no terminal. When nothing
        has changed it is left out, for a while."""
        self._line_due = self.seconds() + LINE_SECONDS
        if text != self._line or self.seconds() >= self._repeat_due:
            self._line, self._repeat_due = text, self.seconds() + REPEAT_SECONDS
            self.step(f"· {text}")

    def table(self, lines):
        """Draws `lines` anew below the sentences; only where there is a terminal."""
        size = shutil.get_terminal_size()
        # What has scrolled away, or wrapped, could not be erased.
        shown = ["", *lines][:max(size.lines - 1, 0)]
        self._erase()
        self._stream.write("".join(cut(line, size.columns - 1) + "\n" for line in shown))
        self._stream.flush()
        self._drawn = len(shown)

    def clear_table(self):
        self._erase()
        self._stream.flush()

    def _erase(self):
        if self._drawn:
            self._stream.write(f"\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0


def cut(line, width):
    """The line in at most `width` columns. Escapes have no width."""
    if len(ESCAPE.sub("", line)) <= width:
        return line
    return ESCAPE.sub("", line)[:max(width - 1, 0)] + "…"


def bar(share, width=10):
    filled = round(min(max(share, 0), 1) * width)
    return "█" * filled + "░" * (width - filled)


def columns(rows, widths=()):
    """Rows of cells as lines, columns as wide as their widest cell and at least
    as the given widths."""
    plain = [[len(ESCAPE.sub("", cell)) for cell in row] for row in rows]
    wide = [max(sizes) for sizes in zip(*plain)]
    wide = [max(size, least) for size, least in zip(wide, (*widths, *[0] * len(wide)))]
    return ["  ".join(cell + " " * (size - length) for cell, size, length in zip(row, wide, lengths)).rstrip()
            for row, lengths in zip(rows, plain)]
