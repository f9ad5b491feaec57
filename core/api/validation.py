"""From JSON, a form or a query to the pydantic model that declares it, or to the error that names a fault.

The model is the declaration: the API's schema shows it and the request is validated by it. A validator may
raise a `LocusError` of its own, with a code and `param`; it reaches the caller as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic import ValidationError as PydanticError

from core.errors import Conflict, UnknownField, ValidationError

MAX_DIGITS = 9


class ApiModel(BaseModel):
    """What an endpoint takes or answers; unknown fields are refused.

    A field of a reply that has a default is left out unless it was given a value.
    """

    model_config = ConfigDict(extra="forbid")

    def as_json(self) -> dict[str, Any]:
        """Return the reply's body."""
        return self.model_dump(mode="json", exclude_unset=True)


ABSENT: Any = Field(default_factory=lambda: None)
"""The default of a field that may be left out, but is never null unless its type says so."""


def without_nulls(schema: dict[str, Any]) -> None:
    """Take null out of the schema of a query or form: what is not given is left out."""
    for shape in schema["properties"].values():
        if shape.get("default", ...) is None:
            del shape["default"]
        for one in shape.pop("anyOf", []):
            shape.update({} if one == {"type": "null"} else one)


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


def single_or_list(model: type[BaseModel], given: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return what a form or query gives in the way `model` takes it: a list for a list, else one value.

    `name[]` is another way to write the name of a list. Raise `Conflict` for two values where one can be.
    """
    values: dict[str, Any] = {}
    for name, several in given.items():
        field = model.model_fields.get(plain := name.removesuffix("[]"))
        if field is not None and get_origin(field.annotation) is list:
            values[plain] = values.get(plain, []) + several
        elif len(set(several)) == 1:
            values[name] = several[0]
        else:
            raise Conflict(f"{name} is given twice with different values.", param=name)
    return values


# --- Types of fields -------------------------------------------------------------------------------------


def decimal_number(text: str) -> int | None:
    """Read digits; None for anything else, and for more of them than any of our numbers has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def _number(text: str) -> int:
    number = decimal_number(text)
    if number is None:
        raise ValueError("must be a number")
    return number


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be a date or time as ISO 8601 writes them")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a date or time as ISO 8601 writes them") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


DIGITS = BeforeValidator(_number)
"""For a whole number in a query; after its bounds, which the schema would lose otherwise."""
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""A date or a time; what names no time zone is UTC."""
