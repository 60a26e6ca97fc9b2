"""Names of rooms and things in generated games."""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ROOMS = _listed(
    """
    attic bakery basement bathroom bedroom cellar chapel closet cloakroom corridor courtyard den garage garden
    gallery hall kitchen larder laundry library loft lounge nursery office pantry parlor playroom porch sauna
    scullery shed stable studio study sunroom terrace vault veranda workshop yard
    """
)
CONTAINERS = _listed(
    """
    box chest cabinet crate drawer trunk safe wardrobe suitcase basket locker barrel bin case coffer cupboard
    hamper sack urn vase
    """
)
SUPPORTERS = _listed(
    """
    table shelf desk bench counter stool mantelpiece rack bed chair couch dresser pedestal plinth stand tray
    windowsill workbench sideboard ledge
    """
)
TREASURES = _listed(
    """
    ring lantern book teapot
    """
)
KEYS = _listed(
    """
    brass iron silver golden copper glass
    """
)
DOORS = _listed(
    """
    white black red green blue yellow gray brown oak pine steel tall narrow wide low carved old new heavy round
    """
)
