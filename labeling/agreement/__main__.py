"""The agreement of coders from the command line, without a database: ``python -m labeling.agreement``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from labeling.agreement.cases import CaseError, compare_case, read_cases
from labeling.agreement.dimension import DimensionData
from labeling.agreement.files import FileError, Options, clean, read_dimensions, similar_names
from labeling.agreement.output import as_json, as_text
from labeling.agreement.report import summarise

BAD_INPUT = 2
LARGEST_SEED = 2**63 - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code: 0 done, 1 reference values differ, 2 bad input."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if options.cases is not None:
            return _compare(options.cases)
        if options.file is None:
            parser.error("name a CSV file, or a file of reference cases after --cases")
        return _report(options.file, _options(options), as_data=options.json)
    except (CaseError, FileError) as error:
        sys.stderr.write(f"{error}\n")
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m labeling.agreement",
        description="Report the agreement of coders from a CSV file with the columns unit, coder, category.",
    )
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE.csv", help="one row per unit, coder and category"
    )
    parser.add_argument("--dimension", help="only this value of the column dimension")
    parser.add_argument("--ordinal", type=_names, metavar="A,B,C", help="the categories, in their order")
    parser.add_argument(
        "--categories", type=_names, metavar="A,B,C", help="the declared categories, used or not"
    )
    parser.add_argument(
        "--multiple", action="store_true", help="a unit may have several categories: rows, or a|b"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="of the bootstrap (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON with full precision")
    parser.add_argument("--cases", type=Path, metavar="FILE.json", help="compute reference cases and compare")
    return parser


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name for name in map(clean, text.split(",")) if name)
    if not names or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError("give different names, separated by commas")
    return names


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"give a whole number from 0 to {LARGEST_SEED}")
    return int(text)


def _options(options: argparse.Namespace) -> Options:
    if options.ordinal and options.multiple:
        raise FileError("Use --ordinal or --multiple, not both: sets of categories have no order.")
    if options.ordinal and options.categories and set(options.ordinal) != set(options.categories):
        raise FileError("--ordinal and --categories name different categories; --ordinal alone is enough.")
    return Options(
        dimension=options.dimension,
        categories=options.ordinal or options.categories or (),
        ordinal=bool(options.ordinal),
        multiple=options.multiple,
        seed=options.seed,
    )


def _report(path: Path, options: Options, *, as_data: bool) -> int:
    dimensions = read_dimensions(path, options)
    for data in dimensions:
        _warn_of_similar(data)
    reports = [summarise(data) for data in dimensions]
    if not as_data:
        sys.stdout.write("\n".join(map(as_text, reports)))
        return 0
    single = len(reports) == 1
    content = as_json(reports[0]) if single else {"dimensions": [as_json(report) for report in reports]}
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    return 0


def _warn_of_similar(data: DimensionData) -> None:
    for names in similar_names(data.categories):
        quoted = " and ".join(f'"{name}"' for name in names)
        sys.stderr.write(f"Note: {quoted} count as different categories of {data.key}.\n")


def _compare(path: Path) -> int:
    values = differ = 0
    for case in read_cases(path):
        for comparison in compare_case(case):
            values += 1
            if comparison.difference is not None:
                differ += 1
                sys.stdout.write(f"{comparison.case} {comparison.name}: {comparison.difference}\n")
    sys.stdout.write(f"{values} values, {differ} differ\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
