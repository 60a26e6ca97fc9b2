"""The contract of a world and everything that the core makes of it.

World files import from here: `world` and its parts, `kernel`, the random functions and the field types. The names are
loaded at first use, since `import rlenvs` passes through here and needs none of them.
"""

from typing import TYPE_CHECKING

from rlenvs.core.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.core.kernels import combine_run as combine_run
    from rlenvs.core.kernels import copied as copied
    from rlenvs.core.kernels import kernel as kernel
    from rlenvs.core.kernels import prefetch as prefetch
    from rlenvs.core.layout import b1 as b1
    from rlenvs.core.layout import f4 as f4
    from rlenvs.core.layout import f8 as f8
    from rlenvs.core.layout import i1 as i1
    from rlenvs.core.layout import i2 as i2
    from rlenvs.core.layout import i4 as i4
    from rlenvs.core.layout import i8 as i8
    from rlenvs.core.layout import u1 as u1
    from rlenvs.core.layout import u8 as u8
    from rlenvs.core.parts import PublishedFront as PublishedFront
    from rlenvs.core.parts import Score as Score
    from rlenvs.core.parts import at_most as at_most
    from rlenvs.core.parts import block as block
    from rlenvs.core.parts import choice as choice
    from rlenvs.core.parts import constraint as constraint
    from rlenvs.core.parts import continuous as continuous
    from rlenvs.core.parts import cost as cost
    from rlenvs.core.parts import discrete as discrete
    from rlenvs.core.parts import discrete_block as discrete_block
    from rlenvs.core.parts import flag as flag
    from rlenvs.core.parts import for_data as for_data
    from rlenvs.core.parts import free as free
    from rlenvs.core.parts import image as image
    from rlenvs.core.parts import integer as integer
    from rlenvs.core.parts import multi_binary as multi_binary
    from rlenvs.core.parts import multi_discrete as multi_discrete
    from rlenvs.core.parts import param as param
    from rlenvs.core.parts import published as published
    from rlenvs.core.parts import recipe as recipe
    from rlenvs.core.parts import role as role
    from rlenvs.core.parts import term as term
    from rlenvs.core.rng import below as below
    from rlenvs.core.rng import between as between
    from rlenvs.core.rng import drawn_from as drawn_from
    from rlenvs.core.rng import normal as normal
    from rlenvs.core.rng import uniform as uniform
    from rlenvs.core.spec import World as World
    from rlenvs.core.spec import world as world
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "kernels": "combine_run copied kernel prefetch",
            "layout": "b1 f4 f8 i1 i2 i4 i8 u1 u8",
            "rng": "below between drawn_from normal uniform",
            "parts": "PublishedFront Score at_most block choice constraint continuous cost discrete discrete_block "
            "flag for_data free image integer multi_binary multi_discrete param published recipe role term",
            "spec": "World world",
        },
    )
