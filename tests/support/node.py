"""Scripts of live pages, run by Node.js."""

import json
import shutil
import subprocess

import pytest

from support.places import ROOT

STATIC = ROOT / "rlenvs" / "live" / "static"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node.js is not on the PATH")


def run_node(script, *arguments, imports=(), static=STATIC):
    """What a module's text writes as JSON with `tell(value)`.

    Args:
        script: the text; `given` are the arguments.
        arguments: as JSON knows them.
        imports: pairs of names and modules, such as ("Generator", "random").
        static: the folder of modules.
    """
    lines = [
        f"import {{ {names} }} from {json.dumps((static / module).as_uri() + '.js')};" for names, module in imports
    ]
    whole = "\n".join(
        [
            *lines,
            'import fs from "node:fs";',
            "const given = JSON.parse(fs.readFileSync(0, 'utf8'));",
            "const plain = (_, value) => typeof value === 'bigint' ? String(value) : value;",
            "const tell = value => console.log(JSON.stringify(value, plain));",
            "const read = async url => new Uint8Array(fs.readFileSync(url));",
            script,
        ]
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", whole], input=json.dumps(arguments), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
