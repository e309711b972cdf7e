"""Every module of the vocabulary can be the first that a program imports."""

import subprocess
import sys

from support.sources import ROOT, name_of, python_files

MODULES = [
    "mnemolog." + name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for path in python_files("schemas")
]


def test_all_modules_import_first_in_one_process():
    script = (
        "import importlib, sys\n"
        f"for name in {MODULES!r}:\n"
        "    for loaded in [m for m in sys.modules if m.startswith('mnemolog')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "tests", check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
