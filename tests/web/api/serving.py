"""A real server in a thread of this process."""

import contextlib
import socket
import threading

import uvicorn


@contextlib.contextmanager
def serving(app):
    """Its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, timeout_keep_alive=3600)
        )
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
