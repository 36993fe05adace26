"""Know what "number 2" means, without a model: references to earlier tool results, from the message history
alone.
"""

from .arguments import argument
from .choosing import Closeness
from .reading import clear_cache, resolve
from .resolution import PreviousCall, Reference, Resolution
from .wording import describe

__all__ = ["Closeness", "PreviousCall", "Reference", "Resolution", "argument", "clear_cache", "describe", "resolve"]
