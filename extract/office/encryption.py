"""Office files that open with a password, as Word, Excel and LibreOffice write them (ECMA-376)."""

from __future__ import annotations

from pathlib import Path

from msoffcrypto import OfficeFile
from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError
from msoffcrypto.format.ooxml import OOXMLFile

from extract.errors import NO_UNLOCKING, Encrypted


def decrypt_office(path: Path, password: str, target: Path) -> bool:
    """Write the package of an encrypted office file to `target`; return False if the password is another.

    Raise `Encrypted` for an encryption that is not known here, that of Excel before 2007 among them.
    """
    with path.open("rb") as file, target.open("wb") as out:
        try:
            office = OfficeFile(file)
            if not isinstance(office, OOXMLFile):
                raise Encrypted(NO_UNLOCKING)
            office.load_key(password=password, verify_password=True)
            office.decrypt(out)
        except InvalidKeyError:
            return False
        except (DecryptionError, FileFormatError, ParseError) as error:
            raise Encrypted(NO_UNLOCKING) from error
    return True
