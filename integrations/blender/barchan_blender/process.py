# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program barchan."""

import re
import signal
import subprocess
import threading


class Failed(Exception):
    """The program failed; the text is for the user."""


def run(words):
    """Runs to the end and returns the output."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip() or f"{words[0]} failed")
    return done.stdout


class Run:
    """A program that runs beside Blender and prints lines with `frame 3/60`."""

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.strip())

    @property
    def line(self):
        return self.lines[-1] if self.lines else ""

    def share(self):
        """Share of the frames that are done."""
        found = re.search(r"frame (\d+)/(\d+)", self.line)
        return int(found[1]) / max(int(found[2]), 1) if found else 0.0

    def is_running(self):
        return self.process.poll() is None

    def progress(self):
        """Shares, until the end."""
        while self.is_running():
            self.reader.join(0.1)
            yield self.share()
        self.finish()

    def stop(self):
        """Stops after the frame in hand; the cache stays readable."""
        if self.is_running():
            self.process.send_signal(signal.SIGINT)

    def finish(self):
        self.reader.join()
        if self.process.wait() != 0:
            raise Failed("\n".join(self.lines[-5:]) or "barchan failed")
