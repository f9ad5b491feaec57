"""Text that can be stored."""


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store `text`: no NUL, no lone surrogate."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
