"""The command: python -m benchmarks.accuracy run | report | state."""

import argparse
from collections import Counter
from pathlib import Path

from benchmarks import accuracy, sets
from benchmarks.accuracy.report import of_one_half, write
from benchmarks.accuracy.run import plan
from benchmarks.accuracy.summary import of_half


def listed(text):
    """Names with commas between them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def options():
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.accuracy",
        description=accuracy.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=["run", "report", "state"])
    parser.add_argument("--out", type=Path, default=Path("bench-accuracy"), help="the folder of results")
    parser.add_argument("--data", type=Path, default=sets.FOLDER)
    parser.add_argument("--half", choices=[*sets.HALVES, "all"], default="all")
    parser.add_argument("--sets", type=listed, default=[], help="only these, with commas between them")
    parser.add_argument("--methods", type=listed, default=[], help="only these, with commas between them")
    parser.add_argument("--seeds", type=int, default=3, help="splits of a set")
    parser.add_argument("--threads", type=int, default=1, help="of every method")
    parser.add_argument("--again", metavar="METHOD", help="measure this method again, and the time of boosting with it")
    parser.add_argument(
        "--since", default="9", help="with --again: skip results measured since this time, such as 2030-01-31T12:00"
    )
    parser.add_argument("--docs", type=Path, default=Path("docs/accuracy.md"), help="where the report goes")
    return parser.parse_args()


def state(given):
    """How much there is of each method, what failed, what is to come."""
    done = [row for row in given.kept.read().values() if row["set"] in given.names]
    there = Counter(row["method"] for row in done if "failed" not in row)
    to_come = Counter(method.name for _, _, method in given.jobs())
    for name in dict.fromkeys([*there, *to_come]):
        print(f"{name:24} {there[name]:4} measured, {to_come[name]:4} to come")
    for row in done:
        if "failed" in row:
            print(f"failed: {row['method']} on {row['set']}, split {row['seed']}: {row['failed']}")


def main():
    """Run the command."""
    given = options()
    chosen = [name for name in sets.names(given.data, given.half) if not given.sets or name in given.sets]
    if given.what == "report":
        if given.half == "all":
            write(given.out, given.docs, given.data)
        else:
            print("\n".join(of_one_half(of_half(given.out, given.half, given.data))))
        return
    work = plan(chosen, given.seeds, given.methods, given.out, given.again, given.threads, folder=given.data)
    work.since = given.since
    if given.what == "state":
        state(work)
    else:
        work.run(say=lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
