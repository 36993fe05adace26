"""The look of both pages: templates, one style sheet, and the script that exchanges parts of a page."""

from pathlib import Path

FOLDER = Path(__file__).parent
