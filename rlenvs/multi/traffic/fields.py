"""The data and the state of the engine, as parts of a world's declaration.

Lanes and the links that lead from lane to lane across a junction are drivables: lane l is drivable l, link k is
drivable lanes + k. A "begins" array has one entry more than its subject; the entries of subject i are begins[i] ...
begins[i + 1] - 1. Vehicles are numbers of places in arrays; the vehicles of a drivable are a list, the first one ahead.
"""

from rlenvs.core import b1, choice, f8, i4, i8, param, u1
from rlenvs.core.declare.declaration import ENDLESS
from rlenvs.multi.traffic.incidents import INCIDENT_DATA, INCIDENT_STATE

ARRIVALS = choice("random", "regular", doc="whether vehicles of a flow come by chance or at equal intervals")
(REGULAR,) = ARRIVALS.codes("regular")

PARAMS = {
    "interval": param(1.0, 0.1, 2.0, "s", "a step of the engine"),
    "demand": param(1.0, 0.0, 10.0, "", "factor on the vehicles of all flows"),
    "spread": param(0.3, 0.0, 1.0, "", "by how much a flow's own factor may differ from 1, in each episode"),
    "peak": param(0.0, 0.0, 1.0, "", "by how much demand is above its mean in the middle of a period"),
    "period": param(3600.0, 60.0, 86400.0, "s", "time from one low of the demand to the next"),
    "incident_chance": param(1.0, 0.0, 1.0, "", "probability that an incident happens, in each episode"),
}

DATA = {
    "length": f8("drivables"),  # m
    "limit": f8("drivables"),  # m/s
    "lane_road": i4("lanes"),
    "lane_width": f8("lanes"),  # m
    "lane_index": i4("lanes"),  # 0 is the innermost lane of a road
    "leaving_begins": i4("lane_ends"),
    "leaving": i4("links"),  # links that leave a lane
    "link_start": i4("links"),  # lanes
    "link_end": i4("links"),
    "link_gate": i4("links"),
    "link_begins": i4("junction_ends"),  # links of a junction
    "gate_kind": i4("gates"),  # right of way: 3 straight on, 2 left turn, 1 right turn
    "gate_junction": i4("gates"),
    "gate_begins": i4("junction_ends"),
    "phase_begins": i4("junction_ends"),
    "green_begins": i4("phase_ends"),
    "green": u1("greens"),  # 1 where a phase opens a gate of its junction
    "cross_begins": i4("link_ends"),  # crossings on a link, by distance
    "cross_at": f8("crossings"),  # m, on the link; each crossing has an entry for both of its links
    "cross_foe": i4("crossings"),  # the entry for the other link
    "cross_link": i4("crossings"),
    "route_begins": i4("route_ends"),
    "route_road": i4("route_steps"),
    "route_link": i4("route_steps", "road_lanes"),  # link to take, by lane of the road; -1 for none
    "start_begins": i4("route_ends"),
    "start_lane": i4("starts"),  # lanes on which a route may begin
    "flow_kind": i4("flows"),
    "flow_interval": f8("flows"),  # s
    "flow_start": f8("flows"),
    "flow_end": f8("flows"),  # -1 for never
    "car_length": f8("kinds"),  # m
    "car_speed_up": f8("kinds"),  # m/s^2, at most
    "car_slow_down": f8("kinds"),
    "car_usual_up": f8("kinds"),
    "car_usual_down": f8("kinds"),
    "car_gap": f8("kinds"),  # m, to the vehicle ahead at rest
    "car_max_speed": f8("kinds"),  # m/s
    "car_headway": f8("kinds"),  # s
    "car_turn_speed": f8("kinds"),  # m/s
    "car_yield": f8("kinds"),  # m, before a crossing where a vehicle yields
    "toward": i4("drivables"),  # the junction to which a lane leads, or of a link; -1 for none
    "room": f8("lanes"),  # vehicles that fit on a lane
    "draws": i8("draws"),  # random numbers in [0, 2^32) to take first, before those of the world's own generator
    **INCIDENT_DATA,
}

PICTURE = {
    "line_begins": i4("drivable_ends"),  # middle lines of drivables
    "line": f8("points", 2),  # m
    "place": f8("junctions", 2),  # m, middle of a junction
    "road_begins": i4("road_ends"),  # lanes of a road
    "car_width": f8("kinds"),  # m
}

# of `new_drivable`: the vehicle stays where it is; its route ends; another one takes its place
NOWHERE, ENDED, GONE = -1, -2, -3
OFF = 2**31 - 1  # of `entered_link`: not on a link

_vehicle = i4("vehicles").index_of("vehicles", low=-1)

STATE = {
    "drivable": i4("vehicles").index_of("drivables", low=-1),  # -1 where there is no vehicle
    "before": i4("vehicles").index_of("drivables", low=-1),  # the drivable before this one
    "position": f8("vehicles"),  # m, of the front, from the start of the drivable
    "speed": f8("vehicles"),  # m/s
    "kind": i4("vehicles").index_of("kinds"),
    "flow": i4("vehicles").index_of("flows"),
    "number": i4("vehicles"),  # in its flow
    "leg": i4("vehicles").index_of("route_steps"),  # step of the route
    "priority": i4("vehicles"),
    "entered": f8("vehicles"),  # s, when it was emitted
    "waited": f8("vehicles"),  # s below the speed of a waiting vehicle, on this drivable
    "entered_link": i4("vehicles"),  # step
    "blocker": _vehicle,  # to whom it yields
    "leader": _vehicle,
    "gap": f8("vehicles"),  # m, to the end of the leader
    "partner": _vehicle,  # its shadow while it changes lanes; of a shadow, the vehicle
    "shadow": b1("vehicles"),
    "aside": f8("vehicles"),  # m, from the middle of its lane, outwards
    "asks": b1("vehicles"),  # whether it may ask for room on a lane beside, and
    "target": i4("vehicles").index_of("lanes", low=-1),  # that lane; -1 for none
    "heard": _vehicle,  # who asks it for room
    "behind": _vehicle,  # the next one in its list; of a free place, the next free one
    "ahead": _vehicle,
    "new_drivable": i4("vehicles").index_of("drivables", low=GONE),  # from here on between the parts of a step
    "new_position": f8("vehicles"),
    "new_speed": f8("vehicles"),
    "new_blocker": _vehicle,
    "told": b1("vehicles"),  # whether the partner has set the new speed
    "target_leader": _vehicle,
    "target_follower": _vehicle,
    "target_gap": f8("vehicles"),  # m, to the leader on that lane
    "target_room": f8("vehicles"),  # m, to the follower there
    "moved": i4("vehicles").index_of("vehicles"),
    "first": i4("drivables").index_of("vehicles", low=-1),
    "last": i4("drivables").index_of("vehicles", low=-1),
    "count": i4("drivables"),
    "queue_first": i4("lanes").index_of("vehicles", low=-1),  # vehicles that wait until there is room on the lane
    "queue_last": i4("lanes").index_of("vehicles", low=-1),
    "notified": i4("crossings").index_of("vehicles", low=-1),  # who comes to a crossing
    "notice": f8("crossings"),  # m that it is away from there; negative behind
    "ran_red": i4("junctions"),  # vehicles that have passed a closed gate
    "burnt": f8("junctions"),  # g of carbon dioxide, of vehicles on its links and on lanes to it
    "phase": i4("junctions"),  # phase that is shown, of this junction
    "next_phase": i4("junctions"),  # the same; while both differ, only gates that are open in both are open
    "flow_clock": f8("flows"),
    "rate": f8("flows"),  # factor on the demand of this episode
    "emitted": i4("flows"),
    "clock": f8,  # s, for flows
    "ticks": i8.within(0, ENDLESS),  # steps of the engine
    "free": i4.index_of("vehicles", low=-1),  # a free place below `used`; -1 for none
    "used": i4.up_to("vehicles"),
    "drawn": i8.within(0, ENDLESS),
    "running": i4,  # vehicles on lanes and links
    "present": i4,  # the same, with those that wait to enter
    "finished": i4,
    "travelled": f8,  # s, travel times of finished vehicles
    **INCIDENT_STATE,
}
