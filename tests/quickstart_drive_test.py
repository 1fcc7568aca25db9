#!/usr/bin/env python3
"""The parts of the quickstart's driver that need no daemon."""

import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "examples", "quickstart"))

import leftovers  # noqa: E402
import openb  # noqa: E402
import screen  # noqa: E402


class Terminal(io.TextIOWrapper):
    def __init__(self, terminal):
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode()


class Screens(unittest.TestCase):
    def setUp(self):
        os.environ["TERM"] = "xterm"

    def test_a_table_is_erased_before_the_next_sentence(self):
        terminal = Terminal(True)
        shown = screen.Screen(terminal)
        shown.table(["a", "b"])
        shown.print("done")
        self.assertEqual(terminal.text(), "\na\nb\n\x1b[3A\x1b[Jdone\n")

    def test_a_table_is_never_higher_than_the_terminal(self):
        os.environ.update(LINES="4", COLUMNS="80")
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("LINES", "COLUMNS")])
        terminal = Terminal(True)
        screen.Screen(terminal).table(["a", "b", "c", "d"])
        self.assertEqual(terminal.text(), "\na\nb\n")

    def test_without_a_terminal_there_are_no_escapes_and_no_repeated_lines(self):
        pipe = Terminal(False)
        shown = screen.Screen(pipe)
        self.assertTrue(shown.line_is_due())
        shown.line("same")
        self.assertFalse(shown.line_is_due())
        shown.line("same")
        shown.print(shown.colour("text", "red"))
        self.assertEqual(pipe.text(), "   0.0 s  · same\ntext\n")

    def test_a_line_never_wraps(self):
        self.assertEqual(screen.cut("abcdef", 6), "abcdef")
        self.assertEqual(screen.cut("abcdefg", 6), "abcde…")
        self.assertEqual(screen.cut("\x1b[32mabcdef\x1b[0m", 6), "\x1b[32mabcdef\x1b[0m")

    def test_columns_ignore_colour(self):
        self.assertEqual(screen.columns([["A", "B"], ["\x1b[1mlong\x1b[0m", "x"]]),
                         ["A     B", "\x1b[1mlong\x1b[0m  x"])

    def test_bars_stay_within_their_width(self):
        self.assertEqual([screen.bar(share, 4) for share in (-1, 0, 0.5, 1, 2)],
                         ["░░░░", "░░░░", "██░░", "████", "████"])


class Leftovers(unittest.TestCase):
    def test_a_process_is_found_by_its_command_line_and_its_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, environment in ((["/bin/sleep", "60"], {"WORK": folder}),
                                       (["/usr/bin/tail", "-f", "/dev/null", folder], {})):
                process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                try:
                    expected = [f"{process.pid} ({os.path.basename(words[0])})"]
                    deadline = time.monotonic() + 10  # a process that has just begun may not show everything
                    while leftovers.processes(folder) != expected and time.monotonic() < deadline:
                        time.sleep(0.01)
                    self.assertEqual(leftovers.processes(folder), expected)
                    self.assertEqual(leftovers.processes(folder, but=(process.pid,)), [])
                finally:
                    process.kill()
                    process.wait()

    def test_a_cgroup_is_found_by_the_state_directory(self):
        with tempfile.TemporaryDirectory() as root:
            mine = "gridfold-" + hashlib.sha256(b"/s/state").hexdigest()[:12]
            os.makedirs(os.path.join(root, "cpu", "gridfold", mine, "task"))
            os.makedirs(os.path.join(root, "cpu", "gridfold", "gridfold-0123456789ab"))
            self.assertEqual(leftovers.cgroups("/s/state", root), [os.path.join(root, "cpu", "gridfold", mine)])

    def test_a_file_is_found_by_the_name_of_the_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"/tmp/x.{os.path.basename(folder)}"
            open(path, "w").close()
            try:
                self.assertEqual(leftovers.files(folder), [path])
            finally:
                os.unlink(path)


class Openb(unittest.TestCase):
    def test_every_policy_has_a_published_figure(self):
        self.assertEqual(sorted(openb.published(ROOT)), sorted(openb.POLICIES))

    def test_the_distance_is_that_of_the_furthest_figure(self):
        rows = openb.compare({"fgd": {"gpu_allocated_ratio_by_arrived": [0.95] * 131}}, {"fgd": (95.25, 94.5)})
        self.assertEqual(rows, [("fgd", 95.0, 95.25, 95.0, 94.5)])
        self.assertEqual(openb.furthest_points(rows), 0.5)


if __name__ == "__main__":
    unittest.main()
