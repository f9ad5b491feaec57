"""Write `src/locus_client/models.py` from the API's schema.

Call it in the repository, as `python clients/python/generate.py`. It writes what the client returns, and what
that consists of. A test compares the file with what this would write.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE / "src/locus_client/models.py"
RETURNED = (
    "AddedDocuments",
    "Chunk",
    "CollectionDetails",
    "CollectionList",
    "DeletionReceipt",
    "Document",
    "DocumentList",
    "ExecutionDetails",
    "Me",
    "RagResult",
    "SearchResult",
    "WebAnswer",
    "WebResults",
)
HEADER = '"""What the API answers. Made from its schema by `generate.py`: do not edit."""'
CLOSED = ("additionalProperties", "unevaluatedProperties")
_REFERENCE = re.compile(r"#/components/schemas/(\w+)")


def needed(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the returned shapes and all that they refer to."""
    # Of a run of any tool; whoever knows the tool knows the shape.
    execution = schemas["ExecutionDetails"]
    result = {"type": ["object", "null"], "additionalProperties": True}
    properties = execution["properties"] | {"result": result}
    schemas = schemas | {"ExecutionDetails": execution | {"properties": properties}}
    found: dict[str, Any] = {}
    waiting = list(RETURNED)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = schemas[name]
            waiting += _REFERENCE.findall(str(schemas[name]))
    return {name: lenient(found[name]) for name in sorted(found)}


def lenient(shape: Any) -> Any:
    """Return a shape without titles, which repeat names, and open to fields of later releases."""
    if isinstance(shape, list):
        return [lenient(each) for each in shape]
    if not isinstance(shape, dict):
        return shape
    if "prefixItems" in shape:
        # As lists of what is in them: tuples of pydantic would become classes of their own.
        given = shape["prefixItems"]
        kinds = [kind for place, kind in enumerate(given) if kind not in given[:place]]
        shape = {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
    return {
        name: lenient(value)
        for name, value in shape.items()
        if not (name == "title" and isinstance(value, str)) and not (name in CLOSED and value is False)
    }


def written_models(schema: dict[str, Any]) -> str:
    """Return the text of the module for a schema of the API."""
    from datamodel_code_generator import InputFileType, generate
    from datamodel_code_generator.enums import DataModelType
    from datamodel_code_generator.format import Formatter, PythonVersion
    from datamodel_code_generator.parser import LiteralType

    shapes = needed(schema["components"]["schemas"])
    part = {"openapi": "3.1.0", "info": schema["info"], "paths": {}, "components": {"schemas": shapes}}
    text = generate(
        part,
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        custom_file_header=HEADER,
        use_standard_collections=True,
        use_union_operator=True,
        use_annotated=True,
        use_schema_description=True,
        use_double_quotes=True,
        enum_field_as_literal=LiteralType.All,
        collapse_root_models=True,
        formatters=[Formatter.BUILTIN],
        disable_timestamp=True,
        use_single_line_docstring=True,
        builtin_format_line_length=110,
    )
    assert isinstance(text, str)
    # As the rest of the repository is written.
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603


def main() -> None:
    """Write the module."""
    sys.path.insert(0, str(HERE.parent.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    import django

    django.setup()
    from locus.schema import built_schema

    TARGET.write_text(written_models(built_schema()), "utf-8")


if __name__ == "__main__":
    main()
