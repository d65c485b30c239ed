# SPDX-License-Identifier: Apache-2.0
"""Functions that are a stage. Of generators and coroutines each step is one: between the steps other code of the
thread runs. Used by lightmeter.stage under `lightmeter run` only."""
import functools
import inspect


def staged(agent, number, function):
    """`function` with a stage around its calls, or around the steps of what it returns."""
    begin, end = agent.stage_begin, agent.stage_end
    if isinstance(function, type):
        return function  # making objects is no work that anybody would name
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(staged(agent, number, function.__func__))
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def coroutine(*arguments, **named):
            return await _Steps(begin, end, number, function(*arguments, **named))
        return coroutine
    if inspect.isasyncgenfunction(function):
        @functools.wraps(function)
        async def async_generator(*arguments, **named):
            inner = function(*arguments, **named)
            step = inner.asend(None)
            try:
                while True:
                    try:
                        made = await _Steps(begin, end, number, step)
                    except StopAsyncIteration:
                        return
                    try:
                        value = yield made
                    except GeneratorExit:
                        raise
                    except BaseException as error:  # pylint: disable=broad-except
                        step = inner.athrow(error)
                    else:
                        step = inner.asend(value)
            finally:
                await inner.aclose()
        return async_generator
    if inspect.isgeneratorfunction(function):
        @functools.wraps(function)
        def generator(*arguments, **named):
            return (yield from _Steps(begin, end, number, function(*arguments, **named)))
        return generator

    @functools.wraps(function)
    def call(*arguments, **named):
        begin(number)
        try:
            return function(*arguments, **named)
        finally:
            end()
    return call


class _Steps:
    """A generator or an awaitable of which each step is a stage."""

    __slots__ = ("_begin", "_end", "_number", "_inner")

    def __init__(self, begin, end, number, inner):
        self._begin, self._end, self._number = begin, end, number
        self._inner = inner.__await__() if hasattr(inner, "__await__") else inner

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def _step(self, step, *arguments):
        self._begin(self._number)
        try:
            return step(*arguments)
        finally:
            self._end()

    def __next__(self):
        return self._step(next, self._inner)

    def send(self, value):
        return self._step(self._inner.send, value)

    def throw(self, *error):
        return self._step(self._inner.throw, *error)

    def close(self):
        return self._inner.close()
