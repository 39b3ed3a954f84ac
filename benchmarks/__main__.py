"""Say what machine this is, then run every measurement of this folder that has a ``measure`` function."""

import importlib
import os
import pkgutil
import platform
import sys
from pathlib import Path

import benchmarks


def machine() -> str:
    """Processor, cores, memory and load: without them a time means nothing."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    model = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, load {load:.1f}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def main() -> None:
    """Print one block per measurement."""
    sys.stdout.write(f"Machine: {machine()}\n")
    for module in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda found: found.name):
        if module.name == "__main__":
            continue
        measurement = importlib.import_module(f"benchmarks.{module.name}")
        if not hasattr(measurement, "measure"):
            continue
        sys.stdout.write(f"\n{(measurement.__doc__ or module.name).splitlines()[0]}\n")
        for line in measurement.measure():
            sys.stdout.write(f"  {line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
