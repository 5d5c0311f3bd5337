"""Servers that a check starts on loopback, and that are gone when it is over."""
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Servers:
    """A folder for their files, and the processes: `with Servers() as servers`."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fingerpost-"))
        self.processes = []
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, command, port):
        """Starts a server and waits until it listens on `port`."""
        output = self.folder / f"{port}.out"
        process = subprocess.Popen(command, stdout=open(output, "w"), stderr=subprocess.STDOUT)
        self.processes.append(process)
        deadline = time.time() + 20
        while time.time() < deadline:
            if process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), 0.5).close()
                return process
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{command[0]} does not listen: {output.read_text()}")
