"""A server of a folder of live environments, for a browser on this machine."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# what a system's own table of types may have otherwise
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}


class Handler(SimpleHTTPRequestHandler):
    """Gives files, and no lists of folders."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, **TYPES}

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is printed."""

    def list_directory(self, path: Any) -> None:
        """A folder without a page is not shown."""
        self.send_error(404)

    def end_headers(self) -> None:
        """Files are asked for again each time: another environment may be served at this address later."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback interface, at a free port, as long as the context lasts.

    Yields:
        the address, such as "http://127.0.0.1:54321".
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
