"""From JSON to the pydantic model it should have the shape of, or to the error that names what is wrong."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from core.errors import UnknownField, ValidationError

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], inputs: object) -> Model:
    """Return the inputs as `model` has them, or raise `ValidationError` for the first that is wrong."""
    if not isinstance(inputs, dict):
        raise ValidationError("The body must be a JSON object.")
    try:
        return model.model_validate(inputs)
    except PydanticError as error:
        raise _as_locus_error(error) from None


def _as_locus_error(error: PydanticError) -> ValidationError:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    # A misspelt field explains a missing one.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    param = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "extra_forbidden":
        return UnknownField(f"Unknown field “{param}”.", param=param)
    return ValidationError(f"{param}: {first['msg'].removeprefix('Value error, ')}.", param=param)
