"""Creation of services and controllers from what the parameters of their constructors are named after."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from inspect import signature
from operator import attrgetter
from typing import TypeVar

Created = TypeVar("Created")


def create_from(kind: Callable[..., Created], find: Callable[[str], object], **given: object) -> Created:
    """Call a class or function with what its parameters are named after: one of those `given`, or what `find` returns for the
    name. Parameters with a default keep it unless they are given.
    """
    # That of a class which inherits from one of Qt would be Qt's.
    function = kind.__init__ if isinstance(kind, type) else kind  # type: ignore[misc]  # it is a class
    parameters = list(signature(function).parameters.values())[int(isinstance(kind, type)) :]  # without `self`
    required = [one.name for one in parameters if one.default is one.empty and one.name not in given]
    return kind(**{name: find(name) for name in required}, **given)


def service(kind: Callable[..., Created], **other_names: str) -> cached_property[Created]:
    """Return a property that creates a service once, when it is first asked for, from the attributes that its parameters are
    named after; `other_names` are those of parameters that are called differently, such as `renewed="prompts_outdated"`.
    """

    def create(services: object) -> Created:
        return create_from(kind, lambda name: attrgetter(other_names.get(name, name))(services))

    return cached_property(create)
