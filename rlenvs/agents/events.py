"""Numbers of a training for TensorBoard, written at once, not by a thread: what cannot be written is an error here."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

NUMBERS = (int, float, np.number)


def events_output(folder: Path) -> Any:
    """A file of events in a folder, as an output format of Stable-Baselines3's logger; only numbers are written.

    Raises:
        OSError: the file cannot be written, now or later.
        ImportError: TensorBoard is not installed.
    """
    from stable_baselines3.common.logger import KVWriter, filter_excluded_keys
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    class EventsOutput(KVWriter):
        def __init__(self) -> None:
            self.file = _new_file(folder)
            self.records = RecordWriter(self.file)
            self._add(file_version="brain.Event:2")

        def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
            kept = filter_excluded_keys(key_values, key_excluded, "tensorboard")
            numbers = [(name, value) for name, value in sorted(kept.items()) if isinstance(value, NUMBERS)]
            values = [Summary.Value(tag=name, simple_value=float(value)) for name, value in numbers]
            self._add(step=step, summary=Summary(value=values))

        def _add(self, **parts: Any) -> None:
            self.records.write(Event(wall_time=time.time(), **parts).SerializeToString())

        def close(self) -> None:
            self.file.close()

    return EventsOutput()


def _new_file(folder: Path) -> BinaryIO:
    stem, number = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}", 0
    while True:
        try:
            return open(folder / f"{stem}.{number}", "xb", buffering=0)
        except FileExistsError:
            number += 1
