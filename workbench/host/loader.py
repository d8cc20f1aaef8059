"""The first thing run on another computer: makes modules of the sources that were sent.

Run with `order`: {"sources": [[name, text], ...] in an order in which each imports only those
before it, "home": our folder there}.
"""

import sys
import types
from typing import Any, Dict


def load(order: Dict[str, Any]) -> types.ModuleType:
    """Makes `workbench.host` of the sources that were sent; returns its module `main`."""
    package = types.ModuleType("workbench.host")
    package.__path__ = []
    sys.modules["workbench"] = types.ModuleType("workbench")
    sys.modules["workbench"].__path__ = []
    sys.modules["workbench.host"] = package
    for name, text in order["sources"]:
        module = types.ModuleType("workbench.host." + name)
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        code = compile(text, "workbench/host/" + name + ".py", "exec")
        exec(code, module.__dict__)  # noqa: S102 - the same sources, the far end of the line
    return sys.modules["workbench.host.main"]


if __name__ == "__main__":
    load(order).main(order["home"])  # type: ignore[name-defined]  # noqa: F821 - see above
