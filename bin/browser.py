"""The Chromium that the browser tests drive."""

import os
import shutil

import bootstrap

NAMES = ("chromium", "chromium-browser", "google-chrome")


def provide() -> None:
    """Install Chromium where that needs no questions (root on Debian or Ubuntu), else say how."""
    if any(map(shutil.which, NAMES)):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        install()
    else:
        print(
            "No Chromium was found for the browser tests: install it (Debian: sudo apt-get install chromium)."
        )


def install() -> None:
    """Install Debian's package; without it the browser tests say what they miss."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        bootstrap.run("Reading package lists", ["apt-get", "update"], variables=quiet)
        bootstrap.run("Installing Chromium", ["apt-get", "install", "--yes", "chromium"], variables=quiet)
    except bootstrap.BootstrapError as error:
        print(f"Chromium could not be installed for the browser tests: {error}")
