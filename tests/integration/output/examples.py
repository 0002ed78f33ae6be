# SPDX-License-Identifier: Apache-2.0
"""examples.py PAGE PID TID: runs every braid command that a page (Markdown, or the manual) shows, in order, in the
current directory.

PID is a JVM instead of the pages' own, TID one of its threads. Only machine-specific parts are replaced: pids, addresses, names of
threads, and times, such that recordings last half a second and selections begin with them. `braid ctl` gets a running recording.
A command fails by its exit status.
"""
import re
import shlex
import signal
import subprocess
import sys
import time

LIMIT_S = 60
RECORDED_S = 1  # later commands ask about its first half second


def markdown_commands(text):
    """Lines with a prompt in fenced blocks."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line[:2] in ("# ", "$ "):
                yield line[2:]


def man_commands(text):
    """Displayed lines with a prompt, without the manual's escapes."""
    for line in re.findall(r"^\.Dl [#$] (.*)$", text, re.M):
        yield line.replace(r"\-", "-").replace(r"\e", "\\")


def address_in(dump):
    """An object that the report of a heap dump names."""
    report = subprocess.run(["braid", "heap", dump], capture_output=True, check=True).stdout.decode()
    return re.search(r" (0x[0-9a-f]+)\b", report)[1]


def adapted(command, pid, tid):
    command = re.sub(r"(?<= -p )\d+", pid, command)
    command = re.sub(r"(?<=^braid ctl )\d+", pid, command)
    command = re.sub(r"(?<=^braid heap )((?:-n \d+ )?)\d+", r"\g<1>" + pid, command)
    command = re.sub(r"(?<=^braid memory )((?:--\S+ (?:\d\S* )?)*)\d+", r"\g<1>" + pid, command)
    command = re.sub(r"(?<=^braid threads )((?:--deadlocks )?)\d+", r"\g<1>" + pid, command)
    command = re.sub(r"(?<=--path )0x\w+", lambda _: address_in("app.hprof"), command)
    command = re.sub(r"(?<=thread=)\d+", tid, command)
    command = re.sub(r"(?<=--thread )\S+", "main", command)
    command = re.sub(r"(?<= -d )\S+", "0.5", command)
    command = re.sub(r"(?<= --watch )\S+", "0.5", command)
    command = re.sub(r"(?<= --from )\d\S*", "0", command)
    command = re.sub(r"(?<=LogCruncher )\d+", "1", command)
    command = re.sub(r"(?<=--speed )\d+", "100", command)
    if command.startswith("braid top") and " -n " not in command:  # on no terminal, for ever
        command += " -n 1"
    if command.startswith("braid record") and " -d " not in command and " -- " not in command:
        command = command.replace("braid record", "braid record -d 0.5", 1)
    return command


def run(command):
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"not done after {LIMIT_S} s: {command}")
    if done.returncode:
        sys.exit(f"exit status {done.returncode}: {command}\n{done.stderr.decode(errors='replace')}")


def wait_connected(process):
    """Until the JVM's agent is connected to the recording that the process makes."""
    status = ["braid", "ctl", str(process.pid), "status"]
    end = time.monotonic() + LIMIT_S
    while b"connected" not in subprocess.run(status, capture_output=True, check=False).stdout:
        if time.monotonic() > end or process.poll() is not None:
            sys.exit(f"no recording: {shlex.join(process.args)}")
        time.sleep(0.05)


def serve(command):
    """Until Ctrl-C, which comes when there is something to see."""
    process = subprocess.Popen(shlex.split(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_connected(process)
    time.sleep(RECORDED_S)
    process.send_signal(signal.SIGINT)
    if process.wait(LIMIT_S):
        sys.exit(f"exit status {process.returncode}: {command}")


class Recording:
    """A recording for `braid ctl`, from the first such command on."""

    def __init__(self, pid):
        self.pid, self.process = pid, None

    def __enter__(self):
        return self

    def start(self):
        if self.process:
            return
        self.process = subprocess.Popen(["braid", "record", "-q", "-o", "ctl.trace", "-p", self.pid])
        wait_connected(self.process)

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait(LIMIT_S)


def main():
    path, pid, tid = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    commands = markdown_commands(text) if path.endswith(".md") else man_commands(text)
    ran = 0
    with Recording(pid) as recording:
        for command in commands:
            words = shlex.split(command, comments=True)
            if "braid" not in words[:1]:  # commands of make, ls and others are not run
                continue
            if words[1] == "ctl":
                recording.start()
            if words[1] == "serve":
                serve(adapted(command, pid, tid))
            else:
                run(adapted(command, pid, tid))
            ran += 1
    print(f"{path}: {ran} commands")
    shown = len(re.findall(r"^(?:\.Dl )?[#$] braid ", text, re.M))
    if not ran or ran != shown:
        sys.exit(f"{path}: {ran} of {shown} commands were found")


main()
