"""A graph of one's own, named as `langgraph.json` names one: `package.module:name`, or `./file.py:name`."""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from langgraph.pregel import Pregel

from langmem_plugin.errors import ConfigurationError

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory


def graph_named(name: str, memory: "PhoneMemory") -> Any:
    """The compiled graph, with this memory's checkpointer where it has none; a function is called first, with the
    memory where it takes an argument. Raises ConfigurationError.
    """
    module, _, attribute = name.rpartition(":")
    if not module or not attribute:
        raise ConfigurationError(f"{name!r} names no graph: say package.module:name, or ./file.py:name")
    found = getattr(_module(module), attribute, None)
    if found is None:
        raise ConfigurationError(f"there is no {attribute} in {module}: say package.module:name, or ./file.py:name")
    if not isinstance(found, Pregel) and callable(found):
        found = found(memory) if inspect.signature(found).parameters else found()
    if not isinstance(found, Pregel):
        raise ConfigurationError(f"{name} is no compiled graph, and no function that gives one")
    return found if found.checkpointer else found.copy({"checkpointer": memory.saver})


def _module(name: str) -> ModuleType:
    if name.endswith(".py"):
        file = Path(name)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None or not file.is_file():
            raise ConfigurationError(f"there is no file {name}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module  # classes of a state are looked up by it
        spec.loader.exec_module(module)
        return module
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` and `langgraph dev` have it
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ConfigurationError(
            f"there is no module {error.name} here: run it where {name} can be imported"
        ) from error
    finally:
        sys.path.pop(0)
