# SPDX-License-Identifier: Apache-2.0
"""Which files of the tree are ours to check, by kind. Build folders and downloads are never among them."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("src", "include", "python", "examples", "tests", "bench", "tools", "docs", ".ci")
C_ENDS = (".c", ".h", ".cc", ".cpp", ".hpp")


def all_files(root=ROOT):
    """Paths from the root, sorted: the files of the root and of the folders above."""
    paths = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name))]
    for top in FOLDERS:
        for folder, names, files in os.walk(os.path.join(root, top)):
            names[:] = [name for name in names if name not in ("__pycache__", "node_modules")]
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(paths)


def c_files(root=ROOT):
    return [path for path in all_files(root) if path.endswith(C_ENDS)]


def shebang(root, path):
    """The first line when it is `#!...`, else an empty text."""
    with open(os.path.join(root, path), "rb") as file:
        line = file.readline(200)
    return line.decode("utf-8", "replace").strip() if line.startswith(b"#!") else ""


def shell_files(root=ROOT):
    return [path for path in all_files(root)
            if path.endswith(".sh") or shebang(root, path).rsplit("/", 1)[-1] in ("sh", "bash", "env bash")]


def python_files(root=ROOT):
    return [path for path in all_files(root)
            if path.endswith(".py") or "python3" in shebang(root, path)]


def man_pages(root=ROOT):
    return [path for path in all_files(root) if path.startswith("docs/man/") and path[-2:] in (".1", ".5", ".7")]


def markdown_files(root=ROOT):
    return [path for path in all_files(root) if path.endswith(".md")]
