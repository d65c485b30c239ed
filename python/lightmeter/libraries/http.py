# SPDX-License-Identifier: Apache-2.0
"""HTTP by the standard library, and what stands on it (urllib, requests); httpx."""
from lightmeter._shim import NET


def wrap(name, module, wrapper):
    if name == "http.client":
        wrapper.functions(module.HTTPConnection, "receive", "connect getresponse", cause=NET)
        wrapper.functions(module.HTTPConnection, "send", "request", cause=NET)
        wrapper.functions(module.HTTPResponse, "receive", "read readinto", cause=NET)
    elif name == "urllib.request":
        wrapper.functions(module, "receive", "urlopen urlretrieve", cause=NET)
    elif name == "requests.sessions":
        wrapper.function(module.Session, "request", "receive", cause=NET)
    else:
        wrapper.function(getattr(module, "Client", None), "send", "receive", cause=NET)
