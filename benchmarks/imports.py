"""How long `import langmem_plugin` takes beside `import langgraph.graph`: best of several fresh processes."""

import subprocess
import sys

ROUNDS = 7
STATEMENTS = {"langgraph.graph": "import langgraph.graph", "langmem_plugin": "import langmem_plugin"}


def seconds(statement: str) -> float:
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    best = dict.fromkeys(STATEMENTS, float("inf"))
    for _ in range(ROUNDS):
        for name, statement in STATEMENTS.items():
            best[name] = min(best[name], seconds(statement))
    for name, taken in best.items():
        print(f"import {name:16} {taken:6.3f} s")
    print(f"ratio {best['langmem_plugin'] / best['langgraph.graph']:.3f} (target < 1.3)")


if __name__ == "__main__":
    main()
