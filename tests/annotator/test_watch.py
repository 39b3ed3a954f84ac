import threading

import pytest

from annotator import watch


@pytest.fixture
def calls(monkeypatch) -> dict[str, list[object]]:
    """What the watch did, with a day of ten-millisecond seconds."""
    seen: dict[str, list[object]] = {"beat": [], "sweep": [], "old files": []}
    monkeypatch.setattr(watch, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(watch, "SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(watch, "close_old_connections", lambda: None)
    monkeypatch.setattr(watch, "beat", seen["beat"].append)
    monkeypatch.setattr(watch, "sweep", lambda: seen["sweep"].append(None))
    monkeypatch.setattr(watch, "remove_old_files", lambda: seen["old files"].append(None))
    return seen


def run_until(condition) -> None:
    """Run the watch until ``condition`` holds, then wait for its threads."""
    before = set(threading.enumerate())
    watch.start(worker="celery@here")
    started = set(threading.enumerate()) - before
    tick = threading.Event()
    for _ in range(500):
        if condition():
            break
        tick.wait(0.01)
    watch.stop()
    for thread in started:
        thread.join(5)
    assert not any(thread.is_alive() for thread in started)
    assert condition()


def test_a_worker_says_its_name_and_sweeps_again_and_again(calls):
    run_until(lambda: len(calls["beat"]) > 2 and len(calls["sweep"]) > 2)
    assert len(calls["old files"]) == 1
    assert set(calls["beat"]) == {"celery@here"}


def test_a_database_that_is_away_for_a_moment_does_not_end_the_watch(calls, monkeypatch, caplog):
    def fail_twice() -> None:
        calls["sweep"].append(None)
        if len(calls["sweep"]) < 3:
            raise OSError("connection refused")

    monkeypatch.setattr(watch, "sweep", fail_twice)
    run_until(lambda: len(calls["sweep"]) > 3)
    assert caplog.text.count("it tries again") == 2
