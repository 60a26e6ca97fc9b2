"""The declaration of worlds, and the environments that the core builds from it.

World files import from here: `world` and its parts, `kernel`, the random functions and the field types. The names are
loaded at first use, since `import rlenvs` passes through here and needs none of them.
"""

from typing import TYPE_CHECKING

from rlenvs.core.declare.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.core.declare import maths as maths
    from rlenvs.core.declare.declared_spaces import block as block
    from rlenvs.core.declare.declared_spaces import continuous as continuous
    from rlenvs.core.declare.declared_spaces import discrete as discrete
    from rlenvs.core.declare.declared_spaces import discrete_block as discrete_block
    from rlenvs.core.declare.declared_spaces import image as image
    from rlenvs.core.declare.declared_spaces import multi_binary as multi_binary
    from rlenvs.core.declare.declared_spaces import multi_discrete as multi_discrete
    from rlenvs.core.declare.declared_spaces import published as published
    from rlenvs.core.declare.drop_in import drop_in as drop_in
    from rlenvs.core.declare.drop_in import instead as instead
    from rlenvs.core.declare.drop_in import meaning as meaning
    from rlenvs.core.declare.drop_in import only as only
    from rlenvs.core.declare.drop_in import same_as as same_as
    from rlenvs.core.declare.drop_in import value_of as value_of
    from rlenvs.core.declare.drop_in import view as view
    from rlenvs.core.declare.kernels import combine_run as combine_run
    from rlenvs.core.declare.kernels import copied as copied
    from rlenvs.core.declare.kernels import kernel as kernel
    from rlenvs.core.declare.kernels import prefetch as prefetch
    from rlenvs.core.declare.layout import b1 as b1
    from rlenvs.core.declare.layout import f4 as f4
    from rlenvs.core.declare.layout import f8 as f8
    from rlenvs.core.declare.layout import i1 as i1
    from rlenvs.core.declare.layout import i2 as i2
    from rlenvs.core.declare.layout import i4 as i4
    from rlenvs.core.declare.layout import i8 as i8
    from rlenvs.core.declare.layout import u1 as u1
    from rlenvs.core.declare.layout import u8 as u8
    from rlenvs.core.declare.options import at_most as at_most
    from rlenvs.core.declare.options import choice as choice
    from rlenvs.core.declare.options import constraint as constraint
    from rlenvs.core.declare.options import data_option as data_option
    from rlenvs.core.declare.options import flag as flag
    from rlenvs.core.declare.options import integer as integer
    from rlenvs.core.declare.options import json_option as json_option
    from rlenvs.core.declare.options import param as param
    from rlenvs.core.declare.parts import PublishedFront as PublishedFront
    from rlenvs.core.declare.parts import Score as Score
    from rlenvs.core.declare.parts import cost as cost
    from rlenvs.core.declare.parts import mixed as mixed
    from rlenvs.core.declare.parts import recipe as recipe
    from rlenvs.core.declare.parts import role as role
    from rlenvs.core.declare.parts import term as term
    from rlenvs.core.declare.parts import windows as windows
    from rlenvs.core.declare.rng import below as below
    from rlenvs.core.declare.rng import between as between
    from rlenvs.core.declare.rng import drawn_from as drawn_from
    from rlenvs.core.declare.rng import normal as normal
    from rlenvs.core.declare.rng import uniform as uniform
    from rlenvs.core.declare.spec import World as World
    from rlenvs.core.declare.spec import world as world
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "declare": "maths",
            "declare.kernels": "combine_run copied kernel prefetch",
            "declare.layout": "b1 f4 f8 i1 i2 i4 i8 u1 u8",
            "declare.rng": "below between drawn_from normal uniform",
            "declare.declared_spaces": "block continuous discrete discrete_block image multi_binary multi_discrete "
            "published",
            "declare.drop_in": "drop_in instead meaning only same_as value_of view",
            "declare.options": "at_most choice constraint flag data_option json_option integer param",
            "declare.parts": "PublishedFront Score cost mixed recipe role term windows",
            "declare.spec": "World world",
        },
    )
