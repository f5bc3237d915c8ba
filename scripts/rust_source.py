"""Reading Rust source, for scripts/modules and scripts/words."""

import re

# Comments, strings and characters, which are blanked. A lifetime is none: no quote follows it.
BLANKED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)"""
    r"""|"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\\n])'""",
    re.S,
)


def blank(text: str) -> str:
    """The text without comments and strings; lines and columns stay."""
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
