# SPDX-License-Identifier: Apache-2.0
"""How Lightmeter comes into a Python program: `lightmeter run` puts this folder in front of PYTHONPATH. Takes the
folder off the path again, brings the shim up, and hands over to the sitecustomize that would have been imported."""


def _begin():
    import sys
    here = __file__.rpartition("/")[0]
    sys.path[:] = [entry for entry in sys.path if entry != here]
    if sys.version_info < (3, 8):
        return
    try:
        sys.path.insert(0, here)
        try:
            from lightmeter import _shim
        finally:
            sys.path.remove(here)
            sys.path_importer_cache.pop(here, None)
        _shim.start()
    except Exception:  # pylint: disable=broad-except
        pass  # the program runs without it; the report says so


def _hand_over():
    import sys
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # the next one on the path
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        # What imports us wants to find something; a later import of the program's finds nothing, as ever.
        if ours is not None and "sitecustomize" not in sys.modules:
            sys.modules["sitecustomize"] = ours


_begin()
_hand_over()
del _begin, _hand_over
