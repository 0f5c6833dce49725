"""An agent for tests of `mayday eval`: plays one episode of the laboratory scenario over HTTP.

What it does is its first argument: noop, reference, or a way to go wrong.
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

URL, TASK = os.environ["MAYDAY_URL"], os.environ.get("MAYDAY_TASK")
SECRETS = ["MAYDAY_TOKEN", "MAYDAY_EVAL_SECRET", "MAYDAY_RECORDS", "MAYDAY_CONTROL"]
TRUTH = ["broken-release", "bad_deploy", "server.version", "fails half", "impact_noop", "canary-"]
ROLLBACK = {"action": "rollback", "component": "web"}
session = ""


def ask(path, body):
    global session
    headers = {"content-type": "application/json", "openenv-session-id": session}
    data = json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers)
    with urllib.request.urlopen(request) as answer:
        session = answer.headers.get("openenv-session-id", session)
        text = answer.read().decode()
    assert not [word for word in TRUTH if word in text], text
    return json.loads(text)


def reset():
    return ask("/reset", {"task": TASK, "seed": 1} if TASK else {})


def step(action):
    return ask("/step", {"action": action})


def noop(answer):
    while not answer["done"]:
        left = answer["observation"]["seconds_left"]
        answer = step({"action": "wait", "seconds": max(1, min(600, left))})
    return answer


def reference(counts=True):
    rewards = [step(action)["reward"] for action in (ROLLBACK, {"action": "wait", "seconds": 60})]
    assert rewards == [0, 0], rewards
    answer = step({"action": "resolve"})
    assert answer["done"] and (answer["reward"] > 0.9 if counts else answer["reward"] == 0), answer
    print("paid", answer["reward"])


def twice():
    reset()
    reset()  # nothing has happened yet: the same again
    step({"action": "wait", "seconds": 10})
    reset()
    reference(counts=False)  # practice pays nothing


def killer():
    """Kills the grader once, and says when it has seen what comes of it."""
    folder, grader = sys.argv[2], int(sys.argv[3])
    reset()
    if not os.path.exists(folder + "/killed"):
        open(folder + "/killed", "w").close()
        os.kill(grader, signal.SIGKILL)
    try:
        reference()
    except urllib.error.HTTPError as error:
        print("refused", error.code, error.read())
        open(folder + "/refused", "w").close()


def queue():
    """Plays task after task until there are none for a while."""
    asked = 0
    while asked < 100:
        try:
            reset()
        except urllib.error.HTTPError:
            asked += 1
            time.sleep(0.05)
            continue
        asked = 0
        reference()


def main(how):
    assert not [name for name in SECRETS if name in os.environ], os.environ
    if how == "noop":
        noop(reset())
    elif how == "reference":
        reset()
        reference()
    elif how == "crash":
        reset()
        step(ROLLBACK)
        sys.exit(3)
    elif how == "hang":
        reset()
        step({"action": "wait", "seconds": 10})
        time.sleep(1000)
    elif how == "linger":
        reset()
        reference()
        time.sleep(1000)
    elif how == "idle":
        reset()
    elif how == "absent":
        pass
    else:
        {"twice": twice, "killer": killer, "queue": queue}[how]()


main(sys.argv[1])
