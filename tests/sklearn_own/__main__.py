"""Print how many of scikit-learn's own tests pass on the estimators here, and why the others fail."""

from __future__ import annotations

from tests.sklearn_own.run import ROWS, count, kind, run, why_not

if __name__ == "__main__":
    found = run()
    print("\n".join(count(found)), end="\n\n")
    for test, one in found.items():
        if kind(one) in ("message", "failed"):
            row = why_not(test)
            said = " ".join((one.get("error") or one.get("message", "")).split())[:160]
            print(f"{test}\n    {'NOT IN THE TABLE' if row is None else ' - '.join(ROWS[row])}\n    {said}")
